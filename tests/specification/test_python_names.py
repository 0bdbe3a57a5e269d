"""python-api, section 1: the names beside ``kernel``."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton as triton
from tests.specification.asking import same

pytestmark = pytest.mark.filterwarnings("ignore:pytriton runs kernels on CPU")


def test_small_functions() -> None:
    assert [triton.cdiv(a, b) for a, b in ((0, 4), (1, 4), (4, 4), (5, 4), (10**12 + 1, 10))] == [
        0,
        1,
        1,
        2,
        10**11 + 1,
    ]
    assert triton.cdiv_sum([1, 4, 5], 4) == 4
    assert [triton.next_power_of_2(n) for n in (1, 2, 3, 768, 1024, 1025)] == [1, 2, 4, 1024, 1024, 2048]
    assert triton.shape(torch.zeros(2, 3)) == (2, 3)
    made = triton.empty((2, 3))
    assert (made.shape, made.dtype) == ((2, 3), torch.float32)
    assert triton.empty([4], dtype=torch.int8).dtype == torch.int8
    triton.synchronize()
    assert triton.config().num_warps == 4
    assert isinstance(triton.__version__, str)


def test_read(tmp_path: Path) -> None:
    path = tmp_path / "k.c"
    path.write_text("#define TWO 2\nvoid one(float* X) { *X = 1; }\nvoid two(float* X) { *X = TWO; }\n")
    assert triton.read(str(path)) == path.read_text()
    part = triton.read(path, kernel_names=["two"])
    assert "one" not in part
    z = torch.zeros(1)
    triton.kernel(part)(z, grid=1)
    assert z.item() == 2


def test_function_and_its_registry() -> None:
    class _square(triton.function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
            y = triton.empty(x.shape)
            triton.kernel(
                "void f(float* X, float* Y, float s) { *(Y + 0 ... 4) = *(X + 0 ... 4) * *(X + 0 ... 4) * s; }"
            )(x, y, scale, grid=(1,))
            ctx.save_for_backward(x)
            ctx.scale = scale
            return y

        @staticmethod
        def backward(ctx: Any, dy: torch.Tensor) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * dy * ctx.scale, None

    x = torch.tensor([1.0, -2.0, 3.0, -4.0], requires_grad=True)
    y = _square.apply(x, scale=0.5)
    same(y.detach(), [0.5, 2, 4.5, 8])
    assert triton.ctx_registry[y].scale == 0.5
    y.sum().backward()
    same(x.grad, [1, -2, 3, -4])


def test_id_dict_is_weak_and_keyed_by_identity() -> None:
    table = triton.utils.id_dict()
    a, b = torch.ones(2), torch.ones(2)
    table[a] = 1
    table[b] = 2
    assert (table[a], table[b], a in table, len(table)) == (1, 2, True, 2)
    del a
    gc.collect()
    assert len(table) == 1


def test_testing() -> None:
    testing = triton.testing
    median, low, high = testing.do_bench(lambda: torch.ones(8).sum(), warmup=1, rep=2)
    assert 0 < low <= median <= high
    assert isinstance(testing.do_bench(lambda: None, warmup=1, rep=1, percentiles=None), float)
    x = torch.tensor([1.0, -100.0])
    assert testing.allclose(x, x + 0.5)
    assert not testing.allclose(x, x + 1.5)
    assert testing.allclose(x, x + 1.5, tol=0.02)
    assert not testing.allclose(x, x.double())
    dense = torch.arange(16.0).reshape(1, 1, 4, 4)
    mask = torch.tensor([[[1, 0], [0, 1]]])
    masked = testing.mask_tensor(dense, mask, 2, value=-1)
    same(masked, [0, 1, -1, -1, 4, 5, -1, -1, -1, -1, 10, 11, -1, -1, 14, 15])
    assert dense[0, 0, 0, 2] == 2
    sparse = testing.sparsify_tensor(dense, mask, 2)
    assert sparse.shape == (1, 2, 2, 2)
    same(sparse, [0, 1, 4, 5, 10, 11, 14, 15])


def test_perf_report(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = triton.testing.Benchmark(["n"], [1, 2], "way", ["a", "b"], ["A", "B"], "plot", {"z": 10})

    @triton.testing.perf_report(benchmark)
    def measure(n: int, way: str, z: int) -> Any:
        return n * z + (way == "b")

    measure.run(print_data=True)
    shown = capsys.readouterr().out
    for word in ("A", "B", "11", "21", "10", "20"):
        assert word in shown


@pytest.mark.parametrize("name", ["ops", "nn"])
def test_ready_made_kernels_are_not_reproduced(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"old_{name}_package").mkdir()
    (tmp_path / f"old_{name}_package" / "__init__.py").write_text(f"import triton.{name}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with triton.legacy_imports(f"old_{name}_package"), pytest.raises(ImportError, match=name):
        __import__(f"old_{name}_package")
