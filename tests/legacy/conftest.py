"""What the tests of old programs share: silence about the interpreter."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _no_notice() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="pytriton runs kernels on CPU tensors")
        yield
