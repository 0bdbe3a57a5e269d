"""These tests judge what the passes make: Triton's interpreter runs it, not C."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _by_interpreter(by_interpreter: None) -> None:
    """Launches on CPU tensors run the module."""
