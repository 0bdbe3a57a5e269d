"""What translating costs grows with the length of a text, in steps and in memory; neither depends on the clock."""

from __future__ import annotations

import gc
import os
import sys

import pytest

import pytriton
from benchmarks.translate import GENERATED_DEFINES, generated, peak
from pytriton.collecting import not_collecting
from pytriton.pipeline import translate_as
from pytriton.settings import Settings
from tests.work import counted

MOST_MEGABYTES = 150


def steps(source: str) -> int:
    """How many steps it takes to translate a text."""
    return counted(lambda: translate_as(source, GENERATED_DEFINES, Settings()))[0]


@pytest.mark.parametrize("lines", [1200, pytest.param(5000, marks=pytest.mark.slow)])
def test_steps_grow_with_the_length(lines: int) -> None:
    short, long = generated(300), generated(lines)
    steps(short)  # imports, and fills what is made once a process
    seen = f"// {lines}\n"  # never before: what was read of a short text is kept
    ratio = steps(seen + long) / steps(seen + short)
    lengths = long.count("\n") / short.count("\n")
    assert 0.8 * lengths < ratio < 1.1 * lengths


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.slow
def test_memory_of_five_thousand_lines() -> None:
    text = generated(5000)
    assert 4900 < text.count("\n") < 5100
    before, behind = peak(text)
    assert behind - before < MOST_MEGABYTES


def test_nothing_is_left_for_the_collector() -> None:
    """It waits while a text is translated, so what only it can free would pile up.

    Other threads of a test run may leave something meanwhile, so the least of three counts.
    """
    text = generated(300)
    pytriton.translate(text, GENERATED_DEFINES)
    left = []
    for number in range(3):
        gc.collect()
        try:
            gc.disable()
            pytriton.translate(f"//{number}\n{text}", GENERATED_DEFINES)
            assert not gc.isenabled()
            left.append(gc.collect())
        finally:
            gc.enable()
    assert min(left) < 100


def test_the_collector_waits() -> None:
    """Inside, in whatever thread, and is on again behind the last: after an error, too."""
    assert gc.isenabled()
    with not_collecting():
        with not_collecting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(pytriton.CompileError):
        pytriton.translate("void")
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_collects_that_was_forked_meanwhile() -> None:
    with not_collecting():
        child = os.fork()
        if not child:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert not gc.isenabled()
    assert gc.isenabled()
