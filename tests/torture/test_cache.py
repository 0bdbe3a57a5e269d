"""A small run of the torture; the whole one is ``python -m tests.torture.cache --processes 16 --rounds 50``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.torture.cache import SCENES, torture

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="kills, forks and reads /proc"),
    pytest.mark.xdist_group("torture"),
]


@pytest.mark.slow
def test_a_few_rounds(tmp_path: Path) -> None:
    """Five processes and each scene once."""
    made = torture(5, len(SCENES), 5, tmp_path)
    assert made.failures == []
    counts = made.counts
    assert counts["processes"] == 5 * sum(counts[f"scene {scene}"] for scene in set(SCENES))
    assert counts["scene shared"] == 4
    assert counts["killed"] > 5
    assert counts["finished"] > 10
    assert counts["EIO"] + counts["ENOSPC"] + counts["EACCES"] > 5
    if os.geteuid() == 0:
        assert counts["scene stranger"] == counts["scene homeless"] == 1
