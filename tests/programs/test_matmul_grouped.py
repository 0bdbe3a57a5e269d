"""The grouped matrix product gives torch's numbers at any size and with any strides."""

from __future__ import annotations

import matmul_grouped
import pytest
import torch
from bounds import assert_gradients, assert_nothing_beside, integers, on_each
from matmul_grouped import matmul

import pytriton as triton

RAGGED = [(1, 1, 1), (1, 40, 7), (33, 17, 70), (64, 32, 16), (50, 1, 33)]
REAL = [(1, 1, 1), (513, 257, 129), (1000, 1003, 511), (2048, 1024, 512)]


@on_each("size", RAGGED, REAL)
def test_forward_and_backward(device: str, size: tuple[int, int, int], dtype: torch.dtype) -> None:
    m, n, k = size
    a, b = (torch.randn(shape, device=device).to(dtype) for shape in ((m, k), (k, n)))
    assert_gradients(matmul, torch.matmul, a, b)


def test_every_group_is_complete(dtype: torch.dtype, device: str) -> None:
    """Whole numbers, so exact: 5 x 4 tiles in groups of 2 rows, the last group of one."""
    a, b = integers((130, 40), dtype, device), integers((40, 60), dtype, device)
    assert torch.equal(matmul(a, b).double(), a.double() @ b.double())


@pytest.mark.parametrize("at", [False, True])
@pytest.mark.parametrize("bt", [False, True])
def test_any_strides(at: bool, bt: bool, device: str) -> None:
    a = integers((40, 90) if at else (90, 40), torch.float32, device)[3:36, 2:35]
    b = integers((80, 40) if bt else (40, 80), torch.float32, device)[1:34, 5:38]
    x, y = a.t() if at else a, b.t() if bt else b
    assert torch.equal(matmul(x, y), x @ y)


def test_outside_is_neither_read_nor_written(device: str) -> None:
    """Operands lie in a sea of NaN, the result in a sea of sevens."""
    sea = torch.full((2, 90, 90), float("nan"), device=device)
    a, b = sea[0, 10:43, 10:29], sea[1, 10:29, 10:31]
    a.copy_(integers((33, 19), torch.float32, device))
    b.copy_(integers((19, 21), torch.float32, device))
    c = torch.full((90, 90), 7.0, device=device)[5:38, 5:26]
    kernel = matmul_grouped.kernel_for(a.dtype, a.device)
    kernel(
        *(a, b, c, 33, 21, 19, *a.stride(), *b.stride(), 90),
        grid=lambda opt: (triton.cdiv(33, opt.TM) * triton.cdiv(21, opt.TN),),
    )
    assert torch.equal(c, a @ b)
    assert_nothing_beside(c)


def test_special_numbers(device: str) -> None:
    """NaN and infinity stay in their row, whatever the padding of a ragged tile adds to it."""
    a, b = integers((35, 19), torch.float32, device), torch.ones(19, 35, device=device)
    a[3, 3], a[34, 18], a[17, 0] = float("nan"), float("inf"), -float("inf")
    assert torch.equal(matmul(a, b).nan_to_num(nan=99.0), (a @ b).nan_to_num(nan=99.0))


def test_called_with_addresses(device: str) -> None:
    """The calls of 2021 passed `a.data_ptr()`; the constructor says which device that is."""
    a, b = integers((33, 20), torch.float32, device), integers((20, 17), torch.float32, device)
    c = torch.empty(33, 17, device=device)
    kernel = matmul_grouped.kernel_for(a.dtype, a.device)
    kernel(
        *(a.data_ptr(), b.data_ptr(), c.data_ptr(), 33, 17, 20, *a.stride(), *b.stride(), 17),
        grid=lambda opt: (triton.cdiv(33, opt.TM) * triton.cdiv(17, opt.TN),),
    )
    assert torch.equal(c, a @ b)


@pytest.mark.gpu
def test_tuned_again_when_a_named_size_changes() -> None:
    kernel = triton.kernel(
        *(matmul_grouped.SOURCE, torch.device("cuda")),
        defines={"TYPE": torch.float16},
        autotune_configs=matmul_grouped.CONFIGS,
        autotune_key=["M", "N", "K"],
    )
    for m, n, k in ((64, 64, 64), (2048, 2048, 512)):
        a = integers((m, k), torch.float16, "cuda", 1)
        b = integers((k, n), torch.float16, "cuda", 1)
        c = torch.empty(m, n, dtype=torch.float16, device="cuda")
        kernel(
            *(a, b, c, m, n, k, *a.stride(), *b.stride(), n),
            grid=lambda opt, m=m, n=n: (triton.cdiv(m, opt.TM) * triton.cdiv(n, opt.TN),),
        )
        assert torch.equal(c.double(), a.double() @ b.double())
        users = [each for each in kernel.timings if each.swizzle == 0 and each.num_stages is None]
        assert len(users) == len(matmul_grouped.CONFIGS)
