"""2020: defines and num_warps at the constructor, bench as a time, set_constant, hexadecimal defines."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import pytriton as triton

ADD = """\
__global__ void add(float* z, float* x, float* y, int N) {
  int pid = get_program_id(0);
  int offset[BLOCK] = pid * BLOCK + 0 ... BLOCK;
  bool check[BLOCK] = offset < N;
  *?(check)(z + offset) = *?(check)(x + offset) + *?(check)(y + offset);
}
"""


def make(**keywords: Any) -> Any:
    return triton.kernel(ADD, **keywords)


def test_2020_sweep_and_bench() -> None:
    kernel = make(defines={"BLOCK": [16, 32]}, num_warps=[2, 4])
    x, y, z = torch.arange(50.0), torch.ones(50), triton.empty([50]).cpu()
    time = kernel(z, x, y, 50, grid=lambda opt: [triton.cdiv(50, opt.d("BLOCK"))], bench=100)
    assert isinstance(time, int)
    assert time >= 1
    assert torch.equal(z, x + 1)
    assert triton.bench_registry[z] == time


def test_2020_no_bench_gives_none() -> None:
    for none in (0, False, None, -1):
        x, z = torch.ones(4), torch.zeros(4)
        assert make(defines={"BLOCK": 4})(z, x, z, 4, grid=lambda opt: (1,), bench=none) is None
        assert z.tolist() == [1.0] * 4
        assert z not in triton.bench_registry


def test_2020_options() -> None:
    seen: list[Any] = []

    def grid(opt: Any) -> list[int]:
        seen.append((opt.d("BLOCK"), opt.D("BLOCK"), opt["BLOCK"], opt.num_warps, dict(opt.defines)))
        return [1]

    z = torch.zeros(4)
    make(defines={"BLOCK": "0x20", "NAME": "add", "HALF": torch.float16}, num_warps=2)(z, z, z, 4, grid=grid)
    assert seen == [(32, 32, 32, 2, {"BLOCK": 32, "NAME": "add", "HALF": torch.float16})]


def test_2020_set_constant() -> None:
    src = """\
char __constant__* table = calloc(64);
__global__ void gather(int* Y, int n) {
  int r[16] = 0 ... 16;
  int __constant__* p[16] = (int __constant__*)table + r;
  *?(r < n)(Y + r) = *p;
}
"""
    kernel = triton.kernel(src)
    kernel.set_constant("table", torch.tensor([4, -5, 6], dtype=torch.int32))
    y = torch.full((16,), 9, dtype=torch.int32)
    kernel(y, 4, grid=lambda opt: [1])
    assert y[:5].tolist() == [4, -5, 6, 0, 9]
    kernel.set_constant(torch.device("cpu"), "table", numpy.array([-1, -2], dtype=numpy.int32))
    kernel(y, 4, grid=lambda opt: [1])
    assert y[:5].tolist() == [-1, -2, 6, 0, 9]


def test_2020_absent_tensors() -> None:
    src = """\
__global__ void f(float* Y, float* X, float* MASK, int n) {
  int r[16] = 0 ... 16;
  bool has[16] = MASK;
  float m[16] = has && r < n ? *(MASK + r) : 1;
  *?(r < n)(Y + r) = *?(r < n)(X + r) * m;
}
"""
    kernel = triton.kernel(src)
    x, mask = torch.arange(10.0), torch.full((10,), -2.0)
    for absent in (None, torch.empty(0), torch.empty(0, dtype=torch.int64), 0):
        y = torch.zeros(10)
        kernel(y, x, absent, 10, grid=(1,))
        assert torch.equal(y, x)
    y = torch.zeros(10)
    kernel(y, x, mask, 10, grid=(1,))
    assert torch.equal(y, -2 * x)


def test_2020_numbers_of_every_make() -> None:
    src = "__global__ void f(double* Y, int i, long l, float x, half h, bool b) { *Y = (double)l + i + x + h + b; }"
    kernel = triton.kernel(src)
    for numbers in (
        (-3, -(2**40), 0.5, 0.25, True),
        (numpy.int32(-3), numpy.int64(-(2**40)), numpy.float32(0.5), numpy.float16(0.25), numpy.bool_(True)),
        (torch.tensor(-3), torch.tensor(-(2**40)), torch.tensor(0.5), torch.tensor(0.25), torch.tensor(True)),
    ):
        y = torch.zeros(1, dtype=torch.float64)
        kernel(y, *numbers, grid=[1, 1, 1])
        assert y.item() == -3 - 2**40 + 0.5 + 0.25 + 1


def test_2020_empty() -> None:
    wanted = "cuda" if torch.cuda.is_available() else "cpu"
    for shape in ([2, 3], (2, 3), torch.Size([2, 3])):
        x = triton.empty(shape)
        assert (x.shape, x.dtype, x.device.type) == ((2, 3), torch.float32, wanted)
    assert triton.empty([4], dtype=torch.half).dtype == torch.float16
    assert triton.empty([0, 4]).numel() == 0


def test_2020_synchronize() -> None:
    assert triton.synchronize() is None
    assert triton.synchronize("cpu") is None
    assert triton.synchronize(torch.device("cpu")) is None


@pytest.mark.gpu
def test_2020_synchronize_waits() -> None:
    x = torch.randn(4096, 4096, device="cuda")
    for device in (None, 0, "cuda", torch.device("cuda:0")):
        for _ in range(20):
            x = x @ x
        event: Any = torch.cuda.Event()
        event.record()
        triton.synchronize(device)
        assert event.query()


def test_2020_strided_tensors_pass_by_address() -> None:
    whole = torch.arange(32.0)
    z = torch.zeros(8)
    make(defines={"BLOCK": 8})(z, whole[::4], whole[1:], 8, grid=(1,))
    assert torch.equal(z, whole[:8] + whole[1:9])
