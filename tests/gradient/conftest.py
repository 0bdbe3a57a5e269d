"""Memory that is not zeroed holds NaN, so that a gradient that is not stored is seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def filled_memory() -> Iterator[None]:
    """With deterministic algorithms, torch fills what ``empty`` gives."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    yield
    torch.use_deterministic_algorithms(before)
