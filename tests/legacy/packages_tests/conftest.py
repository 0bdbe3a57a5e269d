"""The tests that the packages came with: they import torch, pytest and their package, and nothing else.

So they run with the packages as they were written, where ``import triton`` means pytriton, and as they are ported:

    PYTHONPATH=tests/legacy/packages pytriton run --legacy lean2019 \
        -m pytest tests/legacy/packages_tests/test_lean2019.py
    PYTHONPATH=ported TRITON_INTERPRET=1 python -m pytest tests/legacy/packages_tests/test_lean2019.py

On a machine with a GPU they use it, at larger sizes; ``CUDA_VISIBLE_DEVICES=`` hides it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture
def large(device: str) -> Callable[[Any, Any], Any]:
    """``large(small, large)``: a size for an interpreter, or one for a GPU."""
    return lambda small, large: large if device == "cuda" else small


@pytest.fixture
def compare() -> Callable[..., None]:
    return _compare


def _compare(
    ours: Any, theirs: Any, inputs: tuple[torch.Tensor, ...], rtol: float = 1e-4, atol: float = 1e-5
) -> None:
    """Results and gradients of two functions of the same inputs, for a random cotangent.

    ``atol`` is relative to the largest element wanted, or to 1 where that is less.
    """
    torch.manual_seed(1)
    results: list[list[torch.Tensor]] = []
    dy: torch.Tensor | None = None
    for function in (theirs, ours):
        leaves = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
        y = function(*leaves)
        dy = torch.randn_like(y) if dy is None else dy
        y.backward(dy)
        results.append([y.detach(), *(leaf.grad for leaf in leaves if leaf.requires_grad)])
    for got, wanted in zip(results[1], results[0], strict=True):
        assert got.dtype == wanted.dtype
        scale = max(1.0, wanted.abs().max().item()) if wanted.numel() else 1.0
        torch.testing.assert_close(got, wanted, rtol=rtol, atol=atol * scale)
