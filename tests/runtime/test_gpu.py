"""What only a GPU can show: Triton's launcher, streams, devices, clocks, and memory put back."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError, TuneError
from tests.runtime.kernels import ADD, greedy

pytestmark = pytest.mark.gpu

N = 1000


def cdiv_grid(opt: Any) -> tuple[int]:
    return (pytriton.cdiv(N, opt.TILE),)


def vectors() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.zeros(N, device="cuda"), torch.randn(N, device="cuda"), torch.randn(N, device="cuda")


class TestLaunch:
    def test_tensors(self) -> None:
        z, x, y = vectors()
        assert pytriton.kernel(ADD, {"TILE": 128})(z, x, y, N, grid=cdiv_grid) is None
        assert torch.equal(z, x + y)

    def test_addresses(self) -> None:
        z, x, y = vectors()
        kernel = pytriton.kernel(ADD, z.device, {"TILE": 128})
        kernel(z.data_ptr(), x.data_ptr(), y.data_ptr(), N, grid=cdiv_grid)
        assert torch.equal(z, x + y)

    def test_every_alignment(self) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": 128})
        for shift in range(5):
            z, x, y = (tensor[shift:] for tensor in vectors())
            kernel(z, x, y, N - shift, grid=cdiv_grid)
            assert torch.equal(z, x + y)

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

    def test_absent_tensor(self) -> None:
        text = "__global__ void f(float* z, float* b) { bool has = b; *z = has ? *b : 7; }"
        z = torch.zeros(1, device="cuda")
        for absent in (None, 0, torch.empty(0), torch.empty(0, device="cuda")):
            pytriton.kernel(text)(z, absent, grid=1)
            assert z.item() == 7
        pytriton.kernel(text)(z, torch.full((1,), 3.0, device="cuda"), grid=1)
        assert z.item() == 3

    def test_largest_grids(self) -> None:
        text = "__global__ void f(int* z) { atomic_add(z, 1); }"
        for grid in ((1, 65535), (1, 1, 65535), (70000,)):
            z = torch.zeros(1, dtype=torch.int32, device="cuda")
            pytriton.kernel(text)(z, grid=grid)
            assert z.item() == torch.tensor(grid).prod()

    def test_current_stream(self) -> None:
        z, x, y = vectors()
        kernel = pytriton.kernel(ADD, {"TILE": 128})
        kernel(z, x, y, N, grid=cdiv_grid)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            x.fill_(1)
            y.fill_(2)
            kernel(z, x, y, N, grid=cdiv_grid)
        stream.synchronize()
        assert torch.equal(z, torch.full_like(z, 3))

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

    def test_mixed_devices(self) -> None:
        z, x, y = vectors()
        with pytest.raises(LaunchError, match=r"'y' .* is on cpu, but argument 1 'z' is on cuda:0 \[TC503\]"):
            pytriton.kernel(ADD, {"TILE": 128})(z, x, y.cpu(), N, grid=cdiv_grid)


ACCUMULATE = """\
__global__ void f(float* z, float* x, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(z + r) = *?(r < n)(z + r) + *?(r < n)(x + r);
}
"""


class TestTuning:
    @pytest.mark.parametrize("by_address", [False, True])
    def test_effect_of_one_launch(self, by_address: bool) -> None:
        z, x, _ = vectors()
        kernel = pytriton.kernel(ACCUMULATE, z.device, {"TILE": [64, 128, 256]}, [2, 4])
        for wanted in (x, x + x):
            kernel(*((z.data_ptr(), x.data_ptr()) if by_address else (z, x)), N, grid=cdiv_grid)
            assert torch.equal(z, wanted)
        assert kernel.best_config in kernel.timings
        assert all(isinstance(time, float) and time > 0 for time in kernel.timings.values())
        assert len(kernel.timings) >= 6  # and points of our own

    def test_view_and_neighbours(self) -> None:
        whole = torch.ones(3 * N, device="cuda")
        _, x, _ = vectors()
        pytriton.kernel(ACCUMULATE, {"TILE": [64, 128]})(whole[N : 2 * N], x, N, grid=cdiv_grid)
        assert torch.equal(whole[N : 2 * N], x + 1)
        assert bool((whole[:N] == 1).all() and (whole[2 * N :] == 1).all())

    def test_what_does_not_fit_is_dropped(self) -> None:
        kernel = pytriton.kernel(greedy("= a @ b"), {"T": [2048, 64]})
        x, z = torch.randn(64 * 2048, device="cuda").half(), torch.zeros(64, 64, device="cuda")
        kernel(z, x, grid=1)
        assert kernel.best_config is not None
        assert kernel.best_config.defines["T"] == 64
        assert [reason for reason in kernel.timings.values() if "TC531" in str(reason)] != []

    def test_nothing_fits(self) -> None:
        x, z = torch.randn(64 * 2048, device="cuda").half(), torch.zeros(64, 64, device="cuda")
        with pytest.raises(LaunchError, match=r"needs \d+ of shared memory, but the device has"):
            pytriton.kernel(greedy("= a @ b"), {"T": 2048})(z, x, grid=1)
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
