"""Checked code for a GPU: what is in the table, which version runs, and that loops stay pipelined."""

from __future__ import annotations

import re
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.pipeline import translate_as
from pytriton.runtime.checks.diagnostics import tell
from pytriton.runtime.checks.memory import filled, found_in, merged
from pytriton.runtime.compile.compiler import compile_kernel, parse_target
from pytriton.runtime.compile.specialize import common_specialization
from pytriton.runtime.options.defines import Config
from pytriton.settings import Settings
from pytriton.source import Source
from pytriton.tuning.compiled import with_table

PRODUCT = """\
__global__ void product(half* A __aligned(16), half* B __aligned(16), float* C __aligned(16), int M, int N, int K,
                        int lda __multipleof(8), int ldb __multipleof(8), int ldc __multipleof(8)) {
  int rm[64] = get_program_id(0) * 64 + 0 ... 64;
  int rn[64] = get_program_id(1) * 64 + 0 ... 64;
  int rk[32] = 0 ... 32;
  half* pa[64, 32] = A + rm[:, newaxis] * lda + rk[newaxis, :];
  half* pb[32, 64] = B + rk[:, newaxis] * ldb + rn[newaxis, :];
  float c[64, 64] = 0;
  for (int k = 0; k < K; k += 32) {
    half a[64, 32] = *pa;
    half b[32, 64] = *pb;
    c += a @ b;
    pa += 32;
    pb += 32 * ldb;
  }
  *(C + rm[:, newaxis] * ldc + rn[newaxis, :]) = c;
}
"""
COPY = """\
__global__ void copy(float* z, float* x, int n) {
  int i[128] = get_program_id(0) * 128 + 0 ... 128;
  *?(i < n)(z + i) = *?(i < n)(x + i);
}
"""


def translated(text: str, **settings: Any) -> pytriton.Translation:
    return translate_as(text, {}, Settings(checked=True, **settings))


def part(text: str, which: str) -> str:
    """The kernel ``f`` of an inspector or an executor, without the helpers before it."""
    return translated(f"__global__ void f({text}", part=which).text.split("def f(")[1]


def ptx(text: str, **settings: Any) -> str:
    made = translate_as(text, {}, Settings(**settings))
    made, kinds = with_table(made, common_specialization(made.parameters))
    compiled = compile_kernel(made, kinds, Config({}), parse_target("cuda:90"), Source(text))
    return str(compiled.asm["ptx"])


def copies(text: str) -> int:
    return len(re.findall(r"cp\.async\.c[ag]", text))


def test_a_product_stays_pipelined() -> None:
    plain = copies(ptx(PRODUCT))
    assert plain >= 8
    assert copies(ptx(PRODUCT, checked=True)) == 0  # why there are inspectors
    assert translated(PRODUCT, part="executor").text == pytriton.translate(PRODUCT).text


@pytest.mark.slow
def test_the_examples_compile() -> None:
    folder = Path(__file__).parents[3] / "examples"
    sys.path.insert(0, str(folder))
    try:
        import split_k  # locks, atomics, a loop
    finally:
        sys.path.remove(str(folder))
    text = split_k.SOURCE if hasattr(split_k, "SOURCE") else split_k.kernel._definition.text.source.text
    defines = {"TYPE": "half", "TM": 32, "TN": 32, "TK": 16, "TZ": 2, "MULTIPLE_K": "", "MULTIPLE_N": ""}
    for which, helper, instruction in (
        ("", "checked_atomic_cas", "atom."),
        ("inspector", "inspected_2", "min."),
    ):
        made = translate_as(text, defines, Settings(checked=True, part=which))  # type: ignore[arg-type]
        whole, kinds = with_table(made, common_specialization(made.parameters))
        compiled = compile_kernel(whole, kinds, Config(defines), parse_target("cuda:90"), Source(text))
        assert helper in made.text
        assert instruction in compiled.asm["ptx"]


@pytest.mark.parametrize(
    "text",
    [
        "int* x, int* at) { *(at + *(x + *at)) = 1; }",  # memory that is written decides
        "float* x, float* y, int n) { float* p = x; if (n > 0) p = y; *p = 1; }",
        "float* x, int n) { int i = 0; while (i < n) { *(x + i) = 1; i += 2; } }",
        "float* x, int* at) { *(x + atomic_add(at, 1)) = 1; }",
        "float** x) { **x = 1; }",
        "float* x, int s) { int i[8] = 0 ... 8; *(x + i[:, newaxis] * i[newaxis, :]) = 1; }",
    ],
)
def test_what_is_not_known_stays_checked(text: str) -> None:
    lines = [line for line in part(text, "executor").splitlines() if "store(" in line]
    assert lines
    assert all("checked_store(" in line for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        "float* x, int n) { *(x + 2 * n + (0 ... 16)) = 1; }",
        "float* x, int* at) { *(x + *at) = 1; }",  # a table
        "float* x, int n) { *(x + n % 7) = 1; }",
        "float* x, int n) { if (n > 3) n = 1; *(x + n) = 1; }",
        "float* x, int* at) { float* p = x; for (int k = 0; k < 9; k += 1) { *p = 1; p += *(at + k); } }",
        "float* x, int* at) { int i[8] = 0 ... 8; *(x + *(at + i)) = 1; }",
    ],
)
def test_what_is_known_is_inspected_and_runs_unchecked(text: str) -> None:
    assert "inspected_" in part(text, "inspector")
    assert "checked_" not in part(text, "executor")


def test_an_inspector_is_small() -> None:
    assert part("float* z, float* x, int n) { int i[16] = 0 ... 16; *?(i < n)(z + i) = exp(*?(i < n)(x + i)); }",
        "inspector").split("):\n", 1)[1] == """\
    first_x = tl.load(table + 1)
    room_x = tl.load(table + 2)
    first_z = tl.load(table + 3)
    room_z = tl.load(table + 4)
    i = tl.arange(0, 16)
    inspected_1(table, x, True, first_x, room_x, 4, i, i < n)
    inspected_1(table, z, True, first_z, room_z, 4, i, i < n)
"""  # fmt: skip


def test_a_captured_launch_is_told_of_when_its_tensors_are_gone() -> None:
    z, x = torch.zeros(1000), torch.ones(2000)
    kernel = pytriton.kernel(COPY)
    plan, bound = kernel._plan((z, x, 1024), None, None, None)._bound((z, x, 1024))
    launch = plan._launch_of(bound, (z, x, 1024), (8,))
    assert launch is not None
    assert launch.memory is not None
    memory, gone = launch.memory.outlived("pinned"), weakref.ref(z)
    sites = translated(COPY).sites
    words = filled(sites, memory)
    at = 16 * (1 + len(sites) - 1)  # the store's
    assert words[at + 1] == 1
    words[at + 2 : at + 8] = [24, z.data_ptr() + 4000, 104, 7, 0, 0]
    words[at + 9 : at + 13] = [z.data_ptr() + 4000, z.data_ptr() + 4092, 7, 7]
    del z, launch, bound
    assert gone() is None
    with pytest.raises(LaunchError) as raised:
        tell(found_in(words, sites), memory, (8, 1, 1))
    assert "store outside 'z': 1 element past the end" in str(raised.value)
    assert "element [104] of the block [128]; 23 more elements" in str(raised.value)
    assert "'z' is a tensor of float32, shape (1000,), strides (1,)" in str(raised.value)


def test_points_that_tuning_adds_are_checked_as_the_users_own() -> None:
    text = pytriton.kernel(PRODUCT)._definition.text
    for point in (Config({}, swizzle=8), Config({}, descriptors=True)):
        checked = text.translate(point, checked=True)
        assert text.translate(point).text != checked.text
        assert checked.text == text.translate(Config({}), checked=True).text


def test_neighbouring_blocks_are_one() -> None:
    assert merged([(10, 20), (0, 5), (20, 30), (12, 14)]) == [(0, 5), (10, 30)]


# On a GPU.


@pytest.mark.gpu
class TestOnGPU:
    def test_a_store_outside(self) -> None:
        x = torch.arange(1024.0, device="cuda")
        z = torch.zeros(1000, device="cuda")
        kernel = pytriton.kernel(COPY, check=True)
        with pytest.raises(LaunchError, match="store outside 'z': ") as raised:
            kernel(z, x, 1024, grid=8)
        assert "23 more elements" in str(raised.value)
        assert torch.equal(z, x[:1000])
        kernel(z, x, 1000, grid=8)  # the CUDA context lives

    def test_none(self) -> None:
        z = torch.ones(128, device="cuda")
        with pytest.warns(RuntimeWarning, match="load from 'x', which is None"):
            pytriton.kernel(COPY, check=True)(z, None, 128, grid=1)
        assert not z.any()

    def test_addresses_of_known_blocks(self) -> None:
        x, z = torch.ones(128, device="cuda"), torch.zeros(128, device="cuda")
        kernel = pytriton.kernel(COPY, check=True)
        kernel(z.data_ptr(), x.data_ptr(), 128, grid=1)
        assert torch.equal(x, z)
        with pytest.raises(LaunchError, match="there is no memory at 0x40"):
            kernel(64, x, 128, grid=1)

    def test_in_a_graph(self) -> None:
        x, z = torch.ones(256, device="cuda"), torch.zeros(128, device="cuda")
        kernel = pytriton.kernel(COPY, check=True)
        kernel(z, x, 128, grid=1)
        graph = torch.cuda.CUDAGraph()
        with pytest.warns(RuntimeWarning, match="CUDA graph"), torch.cuda.graph(graph):
            kernel(z, x, 130, grid=2)
        graph.replay()
        with pytest.raises(LaunchError, match="store outside 'z'"):
            kernel(z, x, 128, grid=1)
        kernel(z, x, 128, grid=1)  # told once

    def test_products(self) -> None:
        a, b = (torch.randn(256, 256, device="cuda").half() for _ in range(2))
        c = torch.zeros(256, 256, device="cuda")
        pytriton.kernel(PRODUCT, check="strict")(a, b, c, 256, 256, 256, 256, 256, 256, grid=(4, 4))
        torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-2, atol=1e-2)

    def test_a_sweep_is_tuned_unchecked(self) -> None:
        kernel = pytriton.kernel(COPY.replace("128", "TILE"), defines={"TILE": [128, 256, 512]}, check=True)
        z = torch.zeros(1000, device="cuda")
        with pytest.raises(LaunchError, match="store outside 'z'"):
            kernel(z, torch.ones(1024, device="cuda"), 1024, grid=lambda opt: pytriton.cdiv(1024, opt.TILE))
        plan = kernel._plan((z, z, 1024), None, None, None)
        with_checks = [one for one in plan._sweep.translated() if "_checked" in vars(one)]
        assert with_checks == [plan.chosen]

    def test_plain_code_where_all_is_inside(self) -> None:
        x, z = torch.ones(1000, device="cuda"), torch.zeros(1000, device="cuda")
        kernel = pytriton.kernel(COPY, check=True)
        kernel(z, x, 1000, grid=8)
        checked = kernel._plan((z, x, 1000), None, None, None).first._checked
        assert [made for made, *_ in checked._kernels] == [checked._inspector.text]
        assert torch.equal(z, x)

    def test_unchecked_by_default(self) -> None:
        kernel = pytriton.kernel(COPY)
        z = torch.zeros(256, device="cuda")[:128]
        kernel(z, torch.ones(256, device="cuda"), 256, grid=2)  # inside the storage
        assert "_checked" not in vars(kernel._default.first)
