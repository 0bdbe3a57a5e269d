"""A test that leaves Triton replaced, or a variable set, fails and is named; the next one does not suffer."""

from __future__ import annotations

import copyreg
import os

import pytest
import triton.language as tl

from tests import leaks

pytest_plugins = "pytester"


def test_nothing_is_left() -> None:
    leaks.note()
    assert leaks.undone() == []


def test_what_is_left_is_named_and_put_back() -> None:
    load, add = tl.load, tl.tensor.__add__
    tl.load = print
    tl.tensor.__add__ = print
    tl.tensor.__index__ = print
    del tl.core.store
    os.environ["TRITON_INTERPRET"] = "1"
    assert leaks.undone() == [
        "triton.language.load",
        "triton.language.core.store",
        "triton.language.core.tensor.__add__",
        "triton.language.core.tensor.__index__",
        "$TRITON_INTERPRET",
    ]
    assert (tl.load, tl.tensor.__add__, hasattr(tl.tensor, "__index__")) == (load, add, False)
    assert tl.core.store is tl.store
    assert "TRITON_INTERPRET" not in os.environ
    assert leaks.undone() == []


def test_python_keeps_the_slots_of_what_is_pickled() -> None:
    leaks.note()
    copyreg._slotnames(tl.core.dtype)  # type: ignore[attr-defined]
    assert "__slotnames__" in vars(tl.core.dtype)
    assert leaks.undone() == []


def test_the_test_is_named(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        from tests.conftest import pytest_runtest_setup, pytest_runtest_teardown
        """
    )
    pytester.makepyfile(
        """
        import triton.language as tl

        def test_it():
            tl.load = print

        def test_next():
            assert tl.load is not print
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["ERROR *::test_it - Failed: left replaced: triton.lang*"])
