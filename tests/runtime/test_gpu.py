"""What only a GPU can show: Triton's launcher, streams, devices, clocks, and memory put back."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import TuneError
from tests.runtime.kernels import ADD, greedy

pytestmark = pytest.mark.gpu

N = 1000


def cdiv_grid(opt: Any) -> tuple[int]:
    return (pytriton.cdiv(N, opt.TILE),)


def vectors() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.zeros(N, device="cuda"), torch.randn(N, device="cuda"), torch.randn(N, device="cuda")


class TestLaunch:
    def test_ones(self) -> None:
        text = """\
__global__ void f(int* z, int n, long m, unsigned int k) {
  *z = (n - 4) / 2; *(z + 1) = (int)((m << 40) >> 40); *(z + 2) = (int)((k - 2) >> 31);
}"""
        kernel = pytriton.kernel(text)
        for one, wanted in ((1, [-1, 1, 1]), (2, [-1, 2, 0]), (3, [0, 3, 0])):
            z = torch.zeros(3, dtype=torch.int32, device="cuda")
            kernel(z, one, one, one, grid=1)
            assert z.tolist() == wanted

    def test_scalars_of_every_type(self) -> None:
        kinds = {
            "bool": (True, 1),
            "char": (-100, -100),
            "unsigned char": (200, 200),
            "short": (-30000, -30000),
            "unsigned short": (60000, 60000),
            "int": (-(2**31), -(2**31)),
            "unsigned int": (-1, 2**32 - 1),
            "long": (-(2**40), -(2**40)),
            "half": (0.1, 0.0999755859375),
            "bfloat16": (0.1, 0.10009765625),
            "float": (0.5, 0.5),
            "double": (0.1, 0.1),
        }
        declared = ", ".join(f"{kind} p{i}" for i, kind in enumerate(kinds))
        stores = " ".join(f"*(z + {i}) = (double)p{i};" for i in range(len(kinds)))
        kernel = pytriton.kernel(f"__global__ void f(double* z, {declared}) {{ {stores} }}")
        z = torch.zeros(len(kinds), dtype=torch.float64, device="cuda")
        kernel(z, *(value for value, _ in kinds.values()), grid=1)
        assert z.tolist() == [wanted for _, wanted in kinds.values()]

    def test_graph(self) -> None:
        z, x, y = vectors()
        kernel = pytriton.kernel(ADD, {"TILE": [128, 256]})
        kernel(z, x, y, N, grid=cdiv_grid)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            kernel(z, x, y, N, grid=cdiv_grid)
        x.fill_(5)
        graph.replay()
        assert torch.equal(z, x + y)

    @pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
    def test_other_device(self) -> None:
        z, x, y = (tensor.to("cuda:1") for tensor in vectors())
        pytriton.kernel(ADD, {"TILE": 128})(z, x, y, N, grid=cdiv_grid)
        assert torch.equal(z, x + y)
        assert torch.cuda.current_device() == 0


ACCUMULATE = """\
__global__ void f(float* z, float* x, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(z + r) = *?(r < n)(z + r) + *?(r < n)(x + r);
}
"""


class TestTuning:
    def test_view_and_neighbours(self) -> None:
        whole = torch.ones(3 * N, device="cuda")
        _, x, _ = vectors()
        pytriton.kernel(ACCUMULATE, {"TILE": [64, 128]})(whole[N : 2 * N], x, N, grid=cdiv_grid)
        assert torch.equal(whole[N : 2 * N], x + 1)
        assert bool((whole[:N] == 1).all() and (whole[2 * N :] == 1).all())

    def test_nothing_fits(self) -> None:
        x, z = torch.randn(64 * 2048, device="cuda").half(), torch.zeros(64, 64, device="cuda")
        with pytest.raises(TuneError, match="TC601"):
            pytriton.kernel(greedy("= a @ b"), {"T": 2048}, [4, 8])(z, x, grid=1)

    def test_bench(self) -> None:
        z, x, _ = vectors()
        time = pytriton.kernel(ACCUMULATE, {"TILE": 128})(z, x, N, grid=cdiv_grid, bench=20)
        assert isinstance(time, int)
        assert 100 < time < 10**8
        assert torch.equal(z, x)


class TestAsm:
    def test_present_device(self) -> None:
        assert ".entry add(" in pytriton.kernel(ADD, {"TILE": 128}).asm()

    def test_of_the_last_call(self) -> None:
        z, x, y = vectors()
        kernel = pytriton.kernel(ADD, {"TILE": 128})
        kernel(z[1:], x[1:], y[1:], N - 1, grid=cdiv_grid)
        assert "tt.divisibility = 16" not in kernel.asm("ttir")
