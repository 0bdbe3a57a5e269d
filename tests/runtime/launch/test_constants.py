"""Constant buffers: zero until set, one a kernel object and device, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import LaunchError

LOOKUP = """\
#define SIZE (4 * T)
char __constant__* unused = calloc(8);
int __constant__* tab = calloc(SIZE);
__global__ void lookup(int* z, int n) {
  int r[T] = 0 ... T;
  *?(r < n)(z + r) = *(tab + r) - 1;
}
__global__ void plain(int* z, int n) { *z = n; }
__global__ void count(int* z, int n) {
  int r[T] = 0 ... T;
  int seen[T] = *(tab + r) + 1;
  *(tab + r) = seen;
  *(z + r) = seen;
}
"""


def lookup(kernel: Any, n: int = 8) -> list[int]:
    z = torch.full((8,), 9, dtype=torch.int32)
    kernel(z, n, grid=1)
    return z.tolist()


def test_zero_until_set() -> None:
    assert lookup(pytriton.kernel(LOOKUP, {"T": 8}), 6) == [-1] * 6 + [9, 9]


VALUES: dict[str, Callable[[list[int]], Any]] = {
    "tensor": lambda numbers: torch.tensor(numbers, dtype=torch.int32),
    "array": lambda numbers: numpy.array(numbers, dtype=numpy.int32),
    "bytes": lambda numbers: numpy.array(numbers, dtype=numpy.int32).tobytes(),
    "strided": lambda numbers: torch.tensor(numbers, dtype=torch.int32).repeat_interleave(2)[::2],
    "negative": lambda numbers: torch._neg_view(-torch.tensor(numbers, dtype=torch.int32)),
    "two axes": lambda numbers: torch.tensor(numbers, dtype=torch.int32).reshape(1, -1),
}


@pytest.mark.parametrize("make", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("device", [None, "cpu", torch.device("cpu")], ids=str)
def test_set(make: Callable[[list[int]], Any], device: Any) -> None:
    kernel = pytriton.kernel(LOOKUP, {"T": 8})
    where = () if device is None else (device,)
    kernel.set_constant(*where, "tab", make([5, -6, 7, 2**31 - 1, -(2**31), 0, 1, 2]))
    assert lookup(kernel) == [4, -7, 6, 2**31 - 2, 2**31 - 1, -1, 0, 1]
    kernel.set_constant(*where, "tab", make([-1, -2]))
    assert lookup(kernel)[:4] == [-2, -3, 6, 2**31 - 2]  # what lies behind stays
    kernel.set_constant(*where, "tab", make([]))
    assert lookup(kernel)[:2] == [-2, -3]


def test_each_kernel_has_its_own() -> None:
    first, second = (pytriton.kernel(LOOKUP, {"T": 8}) for _ in range(2))
    first.set_constant("tab", torch.ones(8, dtype=torch.int32))
    assert lookup(first) == [0] * 8
    assert lookup(second) == [-1] * 8


def test_before_the_defines_are_known() -> None:
    kernel = pytriton.kernel(LOOKUP)
    kernel.set_constant("tab", torch.ones(3, dtype=torch.int32))
    z = torch.empty(8, dtype=torch.int32)
    kernel(z, 8, (1,), T=8)
    assert z.tolist() == [0] * 3 + [-1] * 5


def test_it_grows_with_the_define() -> None:
    kernel = pytriton.kernel(LOOKUP)
    kernel.set_constant("tab", torch.ones(3, dtype=torch.int32))
    z = torch.full((16,), 9, dtype=torch.int32)
    kernel(z, 16, (1,), T=4)
    assert z.tolist() == [0] * 3 + [-1] + [9] * 12
    kernel(z, 16, (1,), T=16)
    assert z.tolist() == [0] * 3 + [-1] * 13


def test_its_largest_size_counts() -> None:
    kernel = pytriton.kernel(LOOKUP)
    for tile in (4, 8):
        kernel(torch.zeros(8, dtype=torch.int32), 8, grid=1, T=tile)
    kernel.set_constant("tab", torch.ones(8, dtype=torch.int32))
    assert refused("tab", bytes(33), kernel=kernel).startswith("<kernel>: constant buffer 'tab' has 32 bytes")


def test_a_kernel_that_does_not_use_it() -> None:
    kernel = pytriton.kernel(LOOKUP, {"T": 8}, kernel="plain")
    kernel.set_constant("tab", torch.ones(8, dtype=torch.int32))
    kernel.set_constant("unused", torch.zeros(8, dtype=torch.int8))
    assert lookup(kernel, -4)[0] == -4
    assert pytriton.translate(LOOKUP, {"T": 8}, kernel="plain").text.count("tab") == 0


def test_it_may_be_written_and_bench_leaves_one_launch() -> None:
    kernel = pytriton.kernel(LOOKUP, {"T": 8}, kernel="count")
    z = torch.zeros(8, dtype=torch.int32)
    assert pytriton.translate(LOOKUP, {"T": 8}, kernel="count").writes == ("z", "tab")
    kernel(z, 0, grid=1)
    assert kernel(z, 0, grid=1, bench=5) >= 1
    kernel(z, 0, grid=1)
    assert z.tolist() == [3] * 8


def test_heuristics_share_the_buffers() -> None:
    kernel = pytriton.kernel(LOOKUP, heuristics={"T": lambda arguments: 8})
    kernel.set_constant("tab", torch.ones(8, dtype=torch.int32))
    assert lookup(kernel) == [0] * 8
    assert lookup(pytriton.heuristics({"OTHER": lambda arguments: 1})(kernel)) == [0] * 8


def test_addresses_only() -> None:
    kernel = pytriton.kernel(LOOKUP, "cpu", {"T": 8})
    kernel.set_constant("tab", torch.ones(8, dtype=torch.int32))
    z = torch.empty(8, dtype=torch.int32)
    kernel(z.data_ptr(), 8, grid=1)
    assert z.tolist() == [0] * 8


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    kernel = pytriton.kernel(LOOKUP, {"T": 8}, num_warps=[1, 2], kernel="count")
    kernel.set_constant("tab", torch.arange(8, dtype=torch.int32, device="cuda"))
    z = torch.empty(8, dtype=torch.int32, device="cuda")
    for wanted in (1, 2):
        kernel(z, 0, grid=1)
        assert z.tolist() == [wanted + index for index in range(8)]
    kernel.set_constant(torch.device("cuda"), "tab", torch.zeros(8, dtype=torch.int32))
    kernel(z, 0, grid=1)
    assert z.tolist() == [1] * 8


def refused(*given: Any, kernel: Any = None) -> str:
    with pytest.raises(LaunchError) as caught:
        (kernel or pytriton.kernel(LOOKUP, {"T": 8}, name="k.c")).set_constant(*given)
    return str(caught.value)


class TestRefusals:
    def test_too_long(self) -> None:
        assert refused("tab", torch.zeros(33, dtype=torch.int8)) == (
            "k.c: constant buffer 'tab' has 32 bytes, not 33 [TC519]\nhelp: write calloc(33) in the source"
        )

    def test_unknown(self) -> None:
        assert refused("tabs", torch.zeros(2)) == (
            "k.c: the source declares no constant buffer 'tabs' [TC519]\n"
            "help: it has unused, tab; write 'char __constant__* tabs = calloc(8);' outside kernels"
        )

    def test_unknown_when_the_defines_come(self) -> None:
        kernel = pytriton.kernel(LOOKUP)
        kernel.set_constant("tabs", torch.zeros(2))
        with pytest.raises(
            LaunchError, match=r"lookup: the source declares no constant buffer 'tabs' \[TC519"
        ):
            kernel(torch.zeros(8, dtype=torch.int32), 8, (1,), T=8)

    def test_no_array(self) -> None:
        assert refused("tab", [1, 2]) == (
            "constant buffer 'tab' is set to a list, whose bytes are not known [TC519]\n"
            "help: give a tensor or a NumPy array of the type that the kernel reads"
        )

    @pytest.mark.parametrize(
        "value",
        [
            numpy.arange(4, dtype=">i4"),
            numpy.array([(1, 2)], dtype=[("a", "i4"), ("b", ">i4")]),
            *(numpy.array([1, None]), numpy.array(["1"]), numpy.array(["2026"], dtype="datetime64[Y]")),
            *(torch.ones(4, device="meta"), torch.ones(4).to_sparse(), torch.ones(2, 2).to_sparse_csr()),
        ],
        ids=lambda value: str(getattr(value, "layout", value.dtype)),
    )
    def test_bytes_that_are_not_numbers(self, value: Any) -> None:
        assert "whose bytes are not known [TC519]" in refused("tab", value)

    def test_arguments(self) -> None:
        assert refused("tab") == (
            "set_constant got 1 arguments, of which None is to be the name [TC515]\n"
            "help: call set_constant(name, array) or set_constant(device, name, array)"
        )
        assert "which 3 is to be the name" in refused("cpu", 3, torch.zeros(1))

    def test_count_of_arguments(self) -> None:
        """Buffers are none of the user's arguments."""
        with pytest.raises(LaunchError, match=r"lookup: it takes 2 arguments, not 3 \[TC501\]"):
            pytriton.kernel(LOOKUP, {"T": 8})(torch.zeros(8, dtype=torch.int32), 8, 0, grid=1)
