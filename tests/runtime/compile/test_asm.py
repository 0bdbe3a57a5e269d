"""Assembly without a GPU: modes, targets, the common case, and refusals."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from tests.runtime.kernels import ADD

PROMISES = """\
__global__ void f(float* z __aligned(16), float* x, int n __multipleof(8), double s) {
  int r[1024] = 0 ... 1024;
  *(z + r) = *(x + r * n) * (float)s;
}
__global__ void g(half* z) { *z = 1; }
"""


def test_modes() -> None:
    kernel = pytriton.kernel(ADD, {"TILE": 128})
    assert "tt.func public @add" in kernel.asm("ttir", "cuda:90")
    assert 'ttg.target = "cuda:90"' in kernel.asm("ttgir", "cuda:90")
    assert "define ptx_kernel void @add" in kernel.asm("llir", "cuda:80")
    assert ".visible .entry add(" in kernel.asm("ptx", "cuda:80")
    assert kernel.asm(target="cuda:80") == kernel.asm("ptx", "cuda:80")
    assert ".amdgcn_target" in kernel.asm("amdgcn", "hip:gfx942")


@pytest.mark.parametrize(("target", "wanted"), [("cuda:80", "sm_80"), ("cuda:90", "sm_90a")])
def test_targets(target: str, wanted: str) -> None:
    assert f".target {wanted}\n" in pytriton.kernel(ADD, {"TILE": 128}).asm("ptx", target)


def test_common_case() -> None:
    ttir = pytriton.kernel(PROMISES).asm("ttir", "cuda:90")
    (signature,) = re.findall(r"@f\((.*)\) attributes", ttir)
    assert re.findall(r"%\w+: ([^ )]+(?: \{.*?\})?)", re.sub(r" loc\(.*?\)", "", signature)) == [
        "!tt.ptr<f32> {tt.divisibility = 16 : i32}",
        "!tt.ptr<f32> {tt.divisibility = 16 : i32}",
        "i32 {tt.divisibility = 8 : i32}",
        "f64",
    ]


def test_first_point_of_a_sweep() -> None:
    kernel = pytriton.kernel(ADD, {"TILE": [64, 128]}, [2, 4])
    ttgir = kernel.asm("ttgir", "cuda:90")
    assert "tensor<64xi32" in ttgir
    assert '"ttg.num-warps" = 2' in ttgir
    assert '"ttg.num-warps" = 8' in kernel.asm("ttgir", "cuda:90", num_warps=8)
    assert "tensor<256xi32" in kernel.asm("ttgir", "cuda:90", {"TILE": 256})


def test_another_kernel_of_the_text() -> None:
    assert ".entry g(" in pytriton.kernel(PROMISES).asm("ptx", "cuda:90", kernel="g")


@pytest.mark.slow
def test_num_stages() -> None:
    text = """\
__global__ void f(float* z, float* x, int n) {
  int r[64] = 0 ... 64;
  float acc[64, 64] = 0;
  for (int k = 0; k < n; k += 64)
    acc += *(x + r[:, newaxis] * 64 + r[newaxis, :] + k) @ *(x + r[:, newaxis] * 64 + r[newaxis, :] + k);
  *(z + r[:, newaxis] * 64 + r[newaxis, :]) = acc;
}
"""
    one = pytriton.kernel(text, num_stages=1).asm("ptx", "cuda:80")
    three = pytriton.kernel(text, num_stages=3).asm("ptx", "cuda:80")
    assert "cp.async" not in one
    assert "cp.async" in three


def refused(*arguments: Any) -> str:
    with pytest.raises(LaunchError) as caught:
        pytriton.kernel(ADD, {"TILE": 128}).asm(*arguments)
    return str(caught.value)


class TestRefusals:
    @pytest.mark.parametrize("target", ["cuda", "sm_90", "cuda:9", "hip:90", "cuda:90 ", 90])
    def test_target(self, target: Any) -> None:
        assert refused("ptx", target) == (
            f"unknown target {target!r} [TC518]\nhelp: write cuda:80, cuda:90 or hip:gfx942"
        )

    def test_mode(self) -> None:
        assert refused("sass", "cuda:90") == (
            "there is no 'sass' of a kernel for cuda [TC518]\nhelp: ask for ttir, ttgir, llir, ptx"
        )
        assert refused("ptx", "hip:gfx942").endswith("help: ask for ttir, ttgir, llir, amdgcn")

    @pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
    def test_no_gpu(self) -> None:
        assert refused("ptx") == (
            "there is no GPU here to compile for [TC518]\nhelp: name a target, for example 'cuda:90'"
        )
