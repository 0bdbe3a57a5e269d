"""Makes the programs in examples/ and the bounds in bounds.py importable by their plain names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "examples"), str(HERE.parents[1])]


@pytest.fixture(params=[torch.float16, torch.float32], ids=["half", "float"])
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    found: torch.dtype = request.param
    return found


@pytest.fixture(autouse=True)
def _same_numbers_every_time() -> Iterator[None]:
    """Seeds torch, and keeps torch itself from using TF32 as a reference."""
    torch.manual_seed(1)
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    yield
    torch.backends.cuda.matmul.allow_tf32 = before
