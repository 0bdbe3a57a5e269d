"""The accesses of a kernel: their numbers, their places in the text, and what decides where they go."""

from __future__ import annotations

from typing import Any

import pytest

from pytriton.passes.check.sites import Site
from pytriton.pipeline import Translation, translate_as
from pytriton.settings import Settings

TEXT = """\
#define AT(p, i) (p + (i) * STRIDE)
__global__ void f(float* y, float* x, int* idx, int n, int m, int lda, int* lock) {
  int i[16] = get_program_id(0) * 16 + 0 ... 16;
  float a[16] = 0;
  for (int k = 0; k < m; k += 4)
    a += *(x + i * lda + k);
  while (atomic_cas(lock, 0, 1) == 1);
  *?(i < n) AT(y, i) = a + *(x + *?(i < n)(idx + i));
  atomic_xchg(lock, 0);
}
"""


def checked(text: str = TEXT, **settings: Any) -> Translation:
    return translate_as(text, {"STRIDE": "lda"}, Settings(checked=True, **settings))


def at(shown: str) -> Site:
    (site,) = [site for site in checked().sites if site.span.text == shown]
    return site


def test_each_access_has_a_site_and_a_place() -> None:
    shown = [(site.kind, site.span.text) for site in checked().sites]
    assert shown == [
        ("load", "*(x + i * lda + k)"),
        ("atomic", "atomic_cas(lock, 0, 1)"),
        ("load", "*?(i < n)(idx + i)"),
        ("load", "*(x + *?(i < n)(idx + i))"),
        ("store", "*?(i < n) AT(y, i)"),
        ("atomic", "atomic_xchg(lock, 0)"),
    ]


def test_what_decides() -> None:
    load = at("*(x + i * lda + k)")
    assert (load.roots, load.width, load.shape, load.masked) == (("x",), 4, (16,), False)
    assert (load.offsets, load.limits, load.bounds) == (("lda", "m"), (), ("m",))
    store = at("*?(i < n) AT(y, i)")
    assert (store.roots, store.masked, store.offsets, store.limits) == (("y",), True, ("lda",), ("n",))
    gather = at("*(x + *?(i < n)(idx + i))")
    assert gather.gathered == ("idx",)


def test_roots() -> None:
    text = """\
__global__ void f(float** t, float* x, float* y, int n) {
  float* p = x;
  if (n > 0) p = y;
  *p = 1;
  *(*t + n) = 2;
}
"""
    roots = {site.span.text: site.roots for site in checked(text).sites}
    assert roots == {"*p": ("x", "y"), "*t": ("t",), "*(*t + n)": None}


def test_the_plain_text_is_as_it_was() -> None:
    plain = translate_as(TEXT, {"STRIDE": "lda"}, Settings())
    assert plain.sites == ()
    assert plain.table is None
    assert "checked" not in plain.text


def test_names_of_the_helpers_are_taken() -> None:
    made = checked(
        "__global__ void f(float* table, int within) { int reached = within; *(table + reached) = 1; }"
    )
    assert "checked_store(table + reached_1, 1.0, True, table_, 0, 0)" in made.text
    assert made.table is not None
    assert made.table.identifier == "table_"


@pytest.mark.parametrize(("part", "access"), [("", "store(y"), ("inspector", "room_y, 4")])
def test_lines_are_those_of_the_source(part: str, access: str) -> None:
    made = checked(part=part)
    lines = made.text.splitlines()
    stored = {made.lines[number] for number, line in enumerate(lines, 1) if access in line}
    assert stored == {8}


def test_a_kernel_named_like_a_helper() -> None:
    """Of two functions of one name the helper would be the kernel."""
    made = checked("void places(int *Y, int n) { *(Y + n) = n; }")
    assert made.function == "places_"
    assert made.text.count("def places(") == 1
