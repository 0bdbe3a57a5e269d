"""How much of a matrix is looked at, and no warnings of NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(params=["some", pytest.param("all", marks=pytest.mark.slow)])
def every(request: pytest.FixtureRequest) -> int:
    """Of what two types do with each other, one in how many is looked at: an eighth, and with ``--slow`` all."""
    return {"some": 8, "all": 1}[request.param]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """No notice of the interpreter; NumPy's word on overflow and NaN is expected: those are the cases."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        yield
