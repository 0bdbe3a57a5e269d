"""Tests that run on both devices: ``device`` is where new tensors lie."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """The device of a test; factory functions use it without being told."""
    name: str = request.param
    if name == "cpu":
        yield name  # without the mode below, so that operators may go their short way
        return
    with torch.device(name):
        yield name
