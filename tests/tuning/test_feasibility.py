"""What arithmetic says of a point that was never compiled, held against what the compiler allocates."""

from __future__ import annotations

from typing import Any

import pytest

import pytriton
from pytriton.pipeline import Translation
from pytriton.runtime.compile.compiler import compile_kernel, parse_target
from pytriton.runtime.compile.specialize import common_specialization
from pytriton.runtime.options.defines import Config
from pytriton.source import Source
from pytriton.tuning.measure import Limits, spills, too_large
from tests.tuning.test_tune import FakeGpu, gpu

__all__ = ["gpu"]

DOT = """\
__global__ void dot(T* A, T* B, float* C, int K, int lda __multipleof(16), int ldb __multipleof(16)) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  float c[TM, TN] = 0;
  T* pa[TM, TK] = A + PA;
  T* pb[TK, TN] = B + PB;
  for (int k = K; k > 0; k -= TK) {
    T a[TM, TK] = *?(rk[newaxis, :] < k) pa;
    T b[TK, TN] = *pb;
    c += a @ b;
    pa += TK * SA;
    pb += TK * SB;
  }
  *(C + rm[:, newaxis] * 512 + rn[newaxis, :]) = c;
}
"""
LAYOUTS = {
    "rows": {
        "PA": "rm[:, newaxis] * lda + rk[newaxis, :]",
        "SA": 1,
        "PB": "rk[:, newaxis] * ldb + rn[newaxis, :]",
        "SB": "ldb",
    },
    "columns": {
        "PA": "rm[:, newaxis] + rk[newaxis, :] * lda",
        "SA": "lda",
        "PB": "rk[:, newaxis] + rn[newaxis, :] * ldb",
        "SB": 1,
    },
    "scattered": {
        "PA": "rm[:, newaxis] * lda + rk[newaxis, :] * ldb",
        "SA": "ldb",
        "PB": "rk[:, newaxis] * ldb + rn[newaxis, :] * lda",
        "SB": "ldb",
    },
}
ENOUGH = Limits(1 << 30)


def translated(type_: str, tiles: tuple[int, int, int], layout: str = "rows") -> Translation:
    defines: dict[str, Any] = {
        "T": type_,
        **dict(zip(("TM", "TN", "TK"), tiles, strict=True)),
        **LAYOUTS[layout],
    }
    return pytriton.translate(DOT, defines)


def least(translation: Translation, config: Config) -> int:
    """The bytes of which it is said that they are needed."""
    low, high = 0, 1 << 24
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if too_large(translation, config, Limits(middle)) else (low, middle)
    return low


@pytest.mark.parametrize(
    ("layout", "type_", "tiles", "stages"),
    [
        ("rows", "half", (64, 64, 64), None),
        ("columns", "half", (128, 32, 32), 1),
        ("scattered", "half", (64, 64, 64), 4),
        ("rows", "float", (64, 32, 32), 4),
        ("scattered", "float", (64, 32, 32), None),
        ("columns", "bfloat16", (32, 64, 16), 4),
        ("rows", "char", (64, 64, 64), 4),
    ],
)
@pytest.mark.sampled(12)
def test_never_more_than_the_compiler_takes(
    layout: str, type_: str, tiles: tuple[int, int, int], stages: int | None
) -> None:
    text = DOT if type_ != "char" else DOT.replace("float c", "int c").replace("float* C", "int* C")
    defines: dict[str, Any] = {
        "T": type_,
        **dict(zip(("TM", "TN", "TK"), tiles, strict=True)),
        **LAYOUTS[layout],
    }
    translation = pytriton.translate(text, defines)
    config = Config(defines, 4, stages)
    specialization = common_specialization(translation.parameters)
    compiled = compile_kernel(translation, specialization, config, parse_target("cuda:90"), Source(text))
    said = least(translation, config)
    assert 0 < said <= compiled.metadata.shared


def test_what_is_loaded_and_summed() -> None:
    tiles = translated("half", (128, 256, 32)).traits.tiles
    assert (tiles.loaded, tiles.width, tiles.summed) == (2 * 32 * (128 + 256), 2, 128 * 256)
    none = pytriton.translate(
        "__global__ void f(float* x, int n) { int r[32] = 0 ... 32; *?(r < n)(x + r) = 1; }"
    )
    assert (none.traits.tiles.loaded, none.traits.tiles.width, none.traits.tiles.summed) == (0, 0, 0)


def test_stages_count_where_loads_run_ahead() -> None:
    """Certain for four bytes."""
    wide, narrow = translated("float", (64, 64, 32)), translated("half", (64, 64, 64))
    tile = 16384
    assert [least(wide, Config(num_stages=n)) for n in (1, 2, None, 4, 5)] == [
        tile,
        tile,
        2 * tile,
        3 * tile,
        4 * tile,
    ]
    assert [least(narrow, Config(num_stages=n)) for n in (1, 2, None, 4, 5)] == [tile] * 5


def test_threads() -> None:
    translation = translated("half", (64, 64, 32))
    assert too_large(translation, Config({}, 64), ENOUGH) == "it needs 2048 threads, but the device has 1024"
    assert not too_large(translation, Config({}, 32), ENOUGH)


@pytest.mark.parametrize(
    ("tiles", "warps", "needed"),
    [((128, 256, 32), 4, 256), ((256, 256, 32), 4, 512), ((128, 256, 32), 8, 0), ((128, 128, 32), 4, 0)],
)
def test_registers(tiles: tuple[int, int, int], warps: int, needed: int) -> None:
    why = spills(translated("half", tiles), Config({}, warps))
    assert why == (f"its sums need {needed} registers per thread, but there are 255" if needed else "")


class TestSweep:
    def call(self, defines: dict[str, Any], warps: Any = 4, stages: Any = None) -> Any:
        kernel = pytriton.kernel(
            DOT, "cuda:0", {"T": "float", **LAYOUTS["rows"], **defines}, warps, num_stages=stages
        )
        kernel(4096, 8192, 12288, 512, 512, 512, grid=(1, 1))
        return kernel

    @pytest.fixture(autouse=True)
    def _tiles(self, gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
        gpu.times = dict.fromkeys((32, 64, 128, 256, 512), 1.0)
        monkeypatch.setattr(
            pytriton.runtime.options.defines.Options, "TILE", property(lambda self: self.TM), raising=False
        )

    def test_what_cannot_fit_is_not_compiled(self, gpu: FakeGpu) -> None:
        kernel = self.call({"TM": [64, 128, 256], "TN": 64, "TK": 64})
        dropped = {
            config.defines["TM"]: why
            for config, why in kernel.timings.items()
            if isinstance(why, str) and config.num_stages is None and not config.swizzle
        }
        assert dropped == {
            256: "dot: it needs at least 163840 of shared memory, but the device has 131072 [TC531]"
        }
        assert 256 not in {config.defines["TM"] for config in gpu.compiled}

    def test_what_spills_is_left_out(self, gpu: FakeGpu) -> None:
        kernel = self.call({"TM": [128, 256], "TN": 128, "TK": 16})
        assert isinstance(kernel.timings[kernel._definition.configs({}, None, None)[1]], str)
        assert 256 not in {config.defines["TM"] for config in gpu.compiled}

    def test_unless_all_do(self, gpu: FakeGpu) -> None:
        self.call({"TM": [256, 512], "TN": 128, "TK": 16})
        assert {256, 512} <= {config.defines["TM"] for config in gpu.compiled}

    def test_all_are_too_large(self, gpu: FakeGpu) -> None:
        with pytest.raises(pytriton.TuneError, match="no variant of the sweep is left"):
            self.call({"TM": [256, 512], "TN": 256, "TK": 128})
        assert gpu.compiled == []
