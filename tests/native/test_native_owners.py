"""Which program stored an element, as threads note it (TC557, TC558): exact whatever their number."""

from __future__ import annotations

import warnings

import pytest
import torch

import pytriton
from pytriton.runtime import errors
from pytriton.runtime.native.c_compiler import NoLibrary, find

pytestmark = pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")

# Rows of 64 elements, which may begin and end within the 32 of a word.
ROWS = """void f(float *z, int step, int value) {{
  int pid = get_program_id(0);
  int i[64] = pid * step + 0 ... 64;
  *(z + {place}) = {value};
}}"""
COUNTED = ROWS.replace("int value", "int value, int *count").replace("  *(z", "  atomic_add(count, 1); *(z")


@pytest.fixture(params=["1", "2", "5"], autouse=True)
def in_c(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTRITON_CC", "cc")
    monkeypatch.setenv("PYTRITON_THREADS", request.param)
    monkeypatch.setattr(errors, "_warned", set())


def reports(value: str, place: str, step: int, size: int, grid: int, *counts: torch.Tensor) -> list[str]:
    """The warnings of a launch; with a tensor more, each program adds 1 to that by an atomic."""
    z, text = torch.zeros(size), COUNTED if counts else ROWS
    with warnings.catch_warnings(record=True, action="always") as seen:
        pytriton.kernel(text.format(value=value, place=place))(z, step, size, *counts, grid=grid)
    return [str(warning.message) for warning in seen]


@pytest.mark.parametrize("place", ["i", "i * 2 - i"])  # by rows, by elements
class TestStores:
    def test_equal_values_compete_silently(self, place: str) -> None:
        for step in (0, 1, 17, 33):
            assert reports("7", place, step, 500 * step + 64, 500) == []

    @pytest.mark.parametrize(("step", "grid", "count"), [(0, 11, 640), (48, 21, 320), (63, 500, 499)])
    def test_each_conflict_is_counted(self, place: str, step: int, grid: int, count: int) -> None:
        (message,) = reports("pid", place, step, grid * step + 64, grid)
        assert "store different values to element" in message
        assert f"in a grid of ({grid}, 1, 1); {count} such elements" in message

    def test_neighbours_do_not_compete(self, place: str) -> None:
        for step in (64, 65, 100):
            assert reports("pid", place, step, 100 * step, 100) == []

    def test_what_is_left(self, place: str) -> None:
        (message,) = reports("pid", place, 100, 3000, 7)
        assert "only 448 of its 3000 elements were" in message

    def test_with_atomics_elements_are_counted_once(self, place: str) -> None:
        """Whether programs are ordered is not known, so their values are not compared."""
        for step, grid, stored in [(16, 20, 368), (33, 7, 262), (100, 7, 448)]:
            count = torch.zeros(1, dtype=torch.int32)
            (message,) = reports("pid", place, step, 3000, grid, count)
            assert f"only {stored} of its 3000 elements were" in message
            assert count.item() == grid
            errors._warned.clear()
