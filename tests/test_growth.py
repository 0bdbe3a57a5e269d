"""What translating costs grows with the length of a text, in calls and in memory; neither depends on the clock."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import pytriton
from benchmarks.translate import GENERATED_DEFINES, generated, peak

MOST_MEGABYTES = 150


def calls(source: str) -> int:
    """How many functions are called to translate a text."""
    count = 0

    def seen(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        pytriton.translate(source, GENERATED_DEFINES)
    finally:
        sys.setprofile(None)
    return count


def test_calls_grow_with_the_length() -> None:
    short, long = generated(300), generated(1200)
    calls(short)  # imports, and fills what is made once a process
    ratio = calls("//\n" + long) / calls("//\n" + short)
    lengths = long.count("\n") / short.count("\n")
    assert 0.8 * lengths < ratio < 1.1 * lengths


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_five_thousand_lines() -> None:
    text = generated(5000, remarks=True)
    assert 4900 < text.count("\n") < 5100
    assert peak(text) < MOST_MEGABYTES
