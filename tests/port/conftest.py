"""A port looks its written files up in a process of its own; in most tests, in one that has Triton already."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from unittest import mock

import pytest

from pytriton.port.package import check
from tests import processes


@pytest.fixture(autouse=True)
def _warm() -> Iterator[None]:
    """In every test; fixtures of a session (test_port.py) start a process as users do."""
    with mock.patch.object(check, "subprocess", SimpleNamespace(run=processes.run)):
        yield
