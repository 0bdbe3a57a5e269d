"""What the levers do to the machine code, for sm_90; no GPU is needed.

Counts are of instructions in the PTX text: ``wgmma`` (tensor cores), ``cp.async`` (loads that run ahead),
accesses of 16 bytes, exponentials. What spills is asked of the machine code itself.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import triton

import pytriton
from pytriton.runtime.compile.compiler import compile_kernel, parse_target
from pytriton.runtime.compile.specialize import common_specialization
from pytriton.runtime.launch.arguments import BY_16
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText
from pytriton.settings import Settings
from pytriton.source import Source

sys.path.append(str(Path(__file__).parents[3] / "examples"))
TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"

# The points of benchmarks/ at which the programs run.
DOT = {"TM": 128, "TN": 256, "TK": 64}
ATTENTION = {"TYPE": "half", "D": 64, "TM": 128, "TN": 64}


def defines_of(example: str, **more: Any) -> dict[str, Any]:
    """How an example is usually defined."""
    module = import_module(example)
    if example == "dot":
        return {"TYPE": "half", "AT": 0, "BT": 0, **module.A_PLAIN, **module.B_PLAIN, **DOT, **more}
    if example == "blocksparse_matmul":
        sparse = {"TYPE": "half", "NAME": "dsd", "DSD": 1, "BLOCK": 64, "TM": 64, "TN": 128, "TK": 64}
        return {**sparse, **module.A_PLAIN, **module.B_PLAIN, **more}
    return more


@cache
def _compiled(
    example: str,
    config: Config,
    kernel: str | None,
    aligned: bool,
    less: str = "",
    target: str = "cuda:90",
) -> Any:
    module = import_module(example)
    written = getattr(module, "SOURCE", None) or module.FORWARD
    assert less in written
    source = Source(written.replace(less, "") if less else written, f"{example}.c")
    text = KernelText(source, Settings(kernel))
    translation = text.translate(config)
    specialization = common_specialization(translation.parameters)
    if aligned:  # sizes and strides are multiples of 16, as a rule
        specialization = (BY_16,) * len(specialization)
    return compile_kernel(translation, specialization, config, parse_target(target), source)


def compiled(
    example: str,
    defines: Mapping[str, Any],
    warps: int,
    stages: int | None = None,
    kernel: str | None = None,
    **more: Any,
) -> tuple[str, bytes]:
    """PTX and machine code of an example."""
    config = Config(defines, warps, stages, **more)
    found = _compiled(example, config, kernel, aligned=True)
    return found.asm["ptx"], found.asm["cubin"]


def count(pattern: str, ptx: str) -> int:
    return len(re.findall(pattern, ptx))


def loop(ptx: str) -> str:
    """What stands between the label to which the first loop jumps back and that jump."""
    for jump in re.finditer(r"^\s*@%p\d+ bra\s+(\$L__BB\d+_\d+);", ptx, re.M):
        label = re.search(rf"^{re.escape(jump[1])}:", ptx, re.M)
        if label and label.start() < jump.start():
            return ptx[label.start() : jump.start()]
    raise AssertionError("no loop")


def told_of(machine_code: bytes, question: str, tmp_path: Path) -> str:
    """What NVIDIA's tool says of machine code."""
    file = tmp_path / "kernel.cubin"
    file.write_bytes(machine_code)
    command = [TOOLS / "cuobjdump", question, file]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def stack(machine_code: bytes, tmp_path: Path) -> int:
    """Bytes of stack: what spilled."""
    told = told_of(machine_code, "--dump-resource-usage", tmp_path)
    found = re.search(r"STACK:(\d+)", told)
    assert found, told
    return int(found[1])


class TestDot:
    """Half product of the benchmarks: everything wide, everything ahead, nothing spilt."""

    @pytest.mark.parametrize("swizzle", [0, 8])
    @pytest.mark.sampled(9)
    def test_as_by_hand(self, swizzle: int, tmp_path: Path) -> None:
        ptx, code = compiled("dot", defines_of("dot"), 8, 3, swizzle=swizzle)
        assert count(r"wgmma\.mma_async", ptx) == 4
        assert count(r"cp\.async\.cg\.shared\.global .*0x10", ptx) == 36
        assert count(r"ld\.global", ptx) == 0
        assert count(r"st\.global\.v4", ptx) == count(r"st\.global", ptx) == 16
        assert stack(code, tmp_path) == 0

    @pytest.mark.parametrize("stages", [3, pytest.param(4, marks=pytest.mark.slow)])
    @pytest.mark.parametrize(
        ("at", "bt"),
        [(0, 0), (1, 1), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((1, 0), (0, 1)))],
    )
    def test_no_product_is_waited_for(self, at: int, bt: int, stages: int, tmp_path: Path) -> None:
        """As ptxas makes a program do that can leave out the loop, but not its wait (passes/speed/guard.py)."""
        ptx, code = compiled("dot", {**defines_of("dot"), **self.form(at, bt)}, 8, stages)
        told = told_of(code, "--dump-sass", tmp_path)
        assert count("HGMMA", told) == count(r"wgmma\.mma_async", ptx) == 4
        assert count("HGMMA.* gsb0", told) == 1  # after the last of an iteration
        assert count(r"cp\.async\.cg\.shared\.global .*0x10", ptx) == 12 * stages
        assert stack(code, tmp_path) == 0

    @pytest.mark.parametrize("at", [0, 1])
    def test_the_wait_is_in_the_question(self, at: int) -> None:
        ptx, _ = compiled("dot", {**defines_of("dot"), **self.form(at, 1)}, 8, 3)
        behind = ptx[ptx.rindex("wgmma.mma_async") :]
        assert "\n$L__BB" not in behind[: behind.index("wgmma.wait_group.sync.aligned 0")]

    def form(self, at: int, bt: int) -> dict[str, Any]:
        module = import_module("dot")
        a = module.A_TRANSPOSED if at else module.A_PLAIN
        b = module.B_TRANSPOSED if bt else module.B_PLAIN
        return {"AT": at, "BT": bt, **a, **b}

    @pytest.mark.parametrize("swizzle", [pytest.param(0, marks=pytest.mark.slow), 8])
    @pytest.mark.parametrize(("columns", "warps", "products"), [(128, 4, 8), (256, 8, 4)])
    @pytest.mark.parametrize("at", [pytest.param(0, marks=pytest.mark.slow), 1])
    @pytest.mark.sampled(12)
    def test_tiles_by_descriptors(
        self, at: int, columns: int, warps: int, products: int, swizzle: int, tmp_path: Path
    ) -> None:
        """One copy of each operand a stage, started by one thread; no address is computed in the loop."""
        defines = {**defines_of("dot", TN=columns), **self.form(at, 1)}
        ptx, code = compiled("dot", defines, warps, 3, swizzle=swizzle, descriptors=True)
        assert count(r"cp\.async\.bulk\.tensor", ptx) == 2 * 3
        assert count(r"cp\.async\.c[ag]|ld\.global", ptx) == 0
        assert count(r"wgmma\.mma_async", ptx) == products
        told = told_of(code, "--dump-sass", tmp_path)
        assert count("HGMMA", told) == products
        assert stack(code, tmp_path) == 0

    @pytest.mark.parametrize(("tiles", "warps", "copies"), [((128, 256, 64), 8, 36), ((128, 128, 32), 4, 24)])
    @pytest.mark.slow
    def test_ragged_rows_by_copies(self, tiles: tuple[int, int, int], warps: int, copies: int) -> None:
        """Sizes and strides that nothing divides: 16 bytes at a time from copies, 2 bytes without."""
        defines = {"TYPE": "half", "GROUP": 8, **dict(zip(("TM", "TN", "TK"), tiles, strict=True))}
        told, plain = (
            _compiled("matmul_grouped", Config(defines, warps, 3, packed=packed), None, False).asm["ptx"]
            for packed in (True, False)
        )
        assert count(r"cp\.async\.cg\.shared\.global .*0x10", told) == copies
        assert count(r"ld\.global", told) == count(r"cp\.async\.c[ag]", plain) == 0
        assert count(r"wgmma\.mma_async", told) == 4
        assert count(r"ld\.global\.b16", plain) >= 128

    @pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "cuda:100", "hip:gfx942"])
    @pytest.mark.sampled(9)
    def test_descriptors_compile_everywhere(self, target: str) -> None:
        """Where they are not offered, too: a user may name them."""
        config = Config({**defines_of("dot", TN=128), **self.form(0, 1)}, 4, 2, descriptors=True)
        found = _compiled("dot", config, None, True, target=target)
        assert ("tensormap" in found.asm.get("ptx", "")) == (target in ("cuda:90", "cuda:100"))

    @pytest.mark.sampled(3)
    def test_promises_are_worth_it(self) -> None:
        """Strides that are multiples of 8 by ``__multipleof(8)`` alone; without it each load is of 2 bytes."""
        config = Config(defines_of("dot"), 8, 3)
        told = _compiled("dot", config, None, aligned=False).asm["ptx"]
        not_told = _compiled("dot", config, None, aligned=False, less="__multipleof(8)").asm["ptx"]
        assert count(r"cp\.async\.cg\.shared\.global .*0x10", told) == 36
        assert count(r"ld\.global", told) == count(r"cp\.async\.cg", not_told) == 0
        assert count(r"ld\.global\.b16", not_told) == 96

    def test_sums_are_chained_and_indices_narrow(self) -> None:
        """The tensor cores add; `int` arithmetic of 32 bits is multiplied as such, addresses alone have 64."""
        ptx, _ = compiled("dot", defines_of("dot"), 8, 3)
        assert count(r"add\.\S*f32", ptx) == 0
        assert count(r"(?:mul|mad)\.lo\.[su]64", ptx) == 0

    @pytest.mark.slow
    def test_six_products_for_one(self, tmp_path: Path) -> None:
        """``bf16x6``: float operands split for the tensor cores, which IEEE float does not use."""
        defines = defines_of("dot", TYPE="float", TM=128, TN=64, TK=32)
        split, code = compiled("dot", defines, 4, 3, precision="bf16x6")
        exact, _ = compiled("dot", defines, 4, 3)
        assert count(r"wgmma\.mma_async", split) >= 6
        assert count(r"wgmma\.mma_async", exact) == 0
        assert count(r"cp\.async\.cg", split) == count(r"cp\.async\.cg", exact) > 0
        assert stack(code, tmp_path) == 0


class TestAttention:
    """The loop has what the hand-written one has: no selects of masks, one instruction an exponential."""

    @pytest.mark.parametrize(("d", "warps"), [(64, 4), (64, 8), (128, 8)])
    @pytest.mark.sampled(2)
    def test_as_by_hand(self, d: int, warps: int, tmp_path: Path) -> None:
        ptx, code = compiled("attention", {**ATTENTION, "D": d}, warps, 3)
        assert count(r"ex2\.approx\.ftz\.f32", ptx) > 0
        assert count(r"ex2\.approx\.f32", ptx) == 0
        assert count(r"cp\.async\.cg", ptx) > 0
        assert stack(code, tmp_path) == 0
        iteration = loop(ptx)
        assert count(r"wgmma\.mma_async", iteration) > 0
        assert count(r"selp\.f32", iteration) <= 4  # of the largest score of a row, not of each score

    @pytest.mark.parametrize(("d", "tile", "warps"), [(64, 64, 4), (128, 64, 4), (128, 128, 8)])
    @pytest.mark.sampled(9)
    def test_causal(self, d: int, tile: int, warps: int, tmp_path: Path) -> None:
        """The same under a causal mask, which only the last iteration asks."""
        defines = {**ATTENTION, "D": d, "TM": tile, "TN": tile, "CAUSAL": 1}
        ptx, code = compiled("attention", defines, warps, 3)
        assert stack(code, tmp_path) == 0
        iteration = loop(ptx)
        assert count(r"wgmma\.mma_async", iteration) > 0
        assert count(r"selp\.f32", iteration) <= 4
        assert count(r"selp\.f32", ptx) >= tile * tile // (32 * warps)

    @pytest.mark.parametrize(("d", "warps"), [(64, 4), (64, 8), (128, 8)])
    @pytest.mark.sampled(9)
    def test_no_mask_is_kept_over_the_loop(self, d: int, warps: int) -> None:
        """Of rows, a predicate for each load of queries: 4 or 8 in a thread that has 7 (speed/rematerialise.py)."""
        ptx, _ = compiled("attention", {**ATTENTION, "D": d}, warps, 3)
        before, after = ptx.split(loop(ptx))
        kept = set(re.findall(r"setp\S*\s+(%p\d+)", before)) & set(re.findall(r"%p\d+\b", after))
        assert kept == set()


class TestFastMath:
    """``fast_math=True``, lever by lever, beside the exact code (speed/fast_math.py)."""

    @pytest.mark.parametrize(("d", "warps"), [(64, 4), (64, 8), (128, 8)])
    @pytest.mark.sampled(9)
    def test_scores(self, d: int, warps: int, tmp_path: Path) -> None:
        """For each score one multiply-add is left; two multiplications are gone."""
        exact, _ = compiled("attention", {**ATTENTION, "D": d}, warps, 3)
        fast, code = compiled("attention", {**ATTENTION, "D": d}, warps, 3, fast_math=True)
        scores = 128 * 64 // (32 * warps)
        rows = scores // 16  # of which a thread has scores
        instructions = ("mul", "sub", "fma", "ex2", "max", "selp")
        before, after = ({name: self.floats(name, ptx) for name in instructions} for ptx in (exact, fast))
        assert before["ex2"] == after["ex2"] == scores + rows
        assert before["fma"] == after["fma"] == scores + rows
        assert before["mul"] - after["mul"] == 2 * scores
        assert (before["selp"], after["selp"]) == (rows, 0)
        assert after["max"] - before["max"] == rows
        assert before["sub"] == after["sub"] == rows
        assert stack(code, tmp_path) == 0

    def floats(self, name: str, ptx: str) -> int:
        """Instructions of that name in the loop, on float."""
        return count(rf"\b{name}\.(?:ftz\.|rn\.|approx\.)*f32", loop(ptx))

    @pytest.mark.parametrize(
        ("formula", "exact", "fast"),
        [
            ("x / sum[:, newaxis]", {"div.full": 4}, {"div.full": 1}),
            ("x / s", {"div.full": 4}, {"div.full": 1}),
            ("x / y", {"div.full": 4}, {"div.approx": 4}),
            ("x / sqrt(y)", {"div.full": 4, "sqrt.approx": 4}, {"rsqrt.approx": 4}),
            ("exp(x)", {"ex2.approx": 4}, {"ex2.approx.ftz": 4}),
            ("max(x, y)", {"selp.f32": 4}, {"max.f32": 4}),
        ],
    )
    def test_formulas(self, formula: str, exact: dict[str, int], fast: dict[str, int]) -> None:
        text = f"""
void f(float *X, float *Y, float *Z __noalias, float s) {{
  int at[16, 32] = (0 ... 16)[:, newaxis] * 32 + (0 ... 32)[newaxis, :];
  float x[16, 32] = *(X + at), y[16, 32] = *(Y + at);
  float sum[16] = y[:, +];
  *(Z + at) = {formula};
}}"""
        for is_fast, wanted in ((False, exact), (True, fast)):
            ptx = pytriton.kernel(text, fast_math=is_fast).asm("ptx", "cuda:90")
            for name, number in wanted.items():
                assert count(rf"\b{re.escape(name)}(?=[.\s])", ptx) == number, name
            if is_fast:
                gone = exact.keys() - fast.keys() - {"ex2.approx"}
                assert not any(count(rf"\b{re.escape(name)}", ptx) for name in gone)

    def test_double_is_contracted(self) -> None:
        text = "void f(double *X, double *Y, double s) { double y = *X * s; y += *Y; *Y = y; }"
        for is_fast in (False, True):
            ptx = pytriton.kernel(text, fast_math=is_fast).asm("ptx", "cuda:90")
            assert count(r"fma\.rn\.f64", ptx) == is_fast


def test_masks_of_a_table_are_gone(tmp_path: Path) -> None:
    """Block-sparse: K is a multiple of TK, so its masks go, and no iteration is left to be taken under them."""
    defines = defines_of("blocksparse_matmul")
    ptx, code = compiled("blocksparse_matmul", defines, 4, 3)
    assert count(r"cp\.async\.cg\.shared\.global .*0x10", ptx) > 0
    assert stack(code, tmp_path) == 0
    unknown = _compiled("blocksparse_matmul", Config(defines, 4, 3), None, aligned=True, less=" * TK").asm[
        "ptx"
    ]
    assert count("setp", loop(ptx)) == count("setp", loop(unknown)) == 6  # of the loop itself and its stages
    assert count(r"wgmma\.mma_async", ptx) == 4
    assert count(r"wgmma\.mma_async", unknown) == 8  # those of the last iteration, too


@pytest.mark.parametrize("kernel", ["forward", "backward"])
def test_streams_run_ahead(kernel: str, tmp_path: Path) -> None:
    """Batch norm: loads by asynchronous copies of 16 bytes where tuning asks for stages, else none."""
    defines = {"TYPE": "float", "TM": 4096}
    plain, _ = compiled("batch_norm", defines, 16, None, kernel)
    ahead, code = compiled("batch_norm", defines, 16, 3, kernel)
    assert count(r"cp\.async", plain) == 0
    assert count(r"cp\.async\.cg\.shared\.global .*0x10", ahead) > 0
    assert count(r"st\.global\.v4", ahead) > 0
    assert stack(code, tmp_path) == 0


@pytest.mark.parametrize(
    ("example", "kernel", "defines"),
    [
        ("softmax", "forward", {"TYPE": "float", "ACC": "float", "TN": 4096}),
        ("layer_norm", "forward", {"TYPE": "half", "TN": 4096}),
        ("cross_entropy", "forward", {"TYPE": "float", "TN": 8192}),
        ("cross_entropy", "backward", {"TYPE": "float", "TN": 8192}),
    ],
)
def test_rows_are_wide(example: str, kernel: str, defines: dict[str, Any], tmp_path: Path) -> None:
    """Memory-bound programs load and store 16 bytes at a time."""
    ptx, code = compiled(example, defines, 8, None, kernel)
    assert count(r"ld\.global[\w.:]*\.v4", ptx) > 0
    assert count(r"st\.global[\w.:]*\.v4", ptx) > 0
    assert stack(code, tmp_path) == 0
