"""Tests that run on both devices: ``device`` is where new tensors lie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
import torch


@pytest.fixture
def device(device: str) -> Iterator[str]:
    """The device of a test, which factory functions use as their default."""
    with nullcontext() if device == "cpu" else torch.device(device):
        yield device
