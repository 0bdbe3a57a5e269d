"""Rows as tables: each says what the rows say, in fewer words."""

from __future__ import annotations

import itertools
import random

import pytest

from pytriton.fold.tables import tables

FLAGS = ("SDD", "DSD")
NAMES = (*FLAGS, "TYPE", "SHAPE_A", "ALONG_A", "USE_A", "STRIDE_A", "SHAPE_B", "STRIDE_B")


def layouts() -> list[tuple[object, ...]]:
    """Three modes; A is packed in one of them, and of two layouts; so is B."""
    rows = []
    for mode, a, b, type_ in itertools.product(((1, 0), (0, 1), (0, 0)), "nt", "nt", ("half", "float")):
        texts = (f"shape {a}", f"along {a}", f"use {a}", f"{'BLOCK' if mode[1] else 'lda'} {a}")
        rows.append((*map(bool, mode), type_, *texts, b, "ldb" if b == "n" else 1))
    return rows


def test_layouts_are_told_apart() -> None:
    made = {table.names: len(table.rows) for table in tables(NAMES, layouts(), FLAGS)}
    assert made == {
        ("TYPE",): 2,
        ("SHAPE_A", "ALONG_A", "USE_A"): 2,
        ("DSD", "SHAPE_A", "STRIDE_A"): 4,
        ("SHAPE_B", "STRIDE_B"): 2,
        ("SDD", "DSD"): 3,
    }


@pytest.mark.parametrize("seed", range(40))
def test_the_join_is_the_input(seed: int) -> None:
    chance = random.Random(seed)
    names = ("F", "G", "A", "B", "C")
    every = list(itertools.product((False, True), (False, True), "ab", "ab", (1, 2, None)))
    rows = chance.sample(every, chance.randint(1, len(every)))
    if seed % 2:  # a row of F tells A, and B tells C
        rows = [(f, g, "a" if f else "b", b, 1 if b == "a" else 2) for f, g, _, b, _ in rows]
    made = tables(names, rows, ("F", "G"))
    served = [
        row for row in every if all(table.has(dict(zip(names, row, strict=True)).get) for table in made)
    ]
    free = {(f, g, *rest) for _, _, *rest in rows for f, g in itertools.product((False, True), repeat=2)}
    wanted = set(rows)
    named = {name for table in made for name in table.names}
    if not {"F", "G"} <= named:  # a flag in no table is free of all others
        assert wanted <= set(served) <= free
    else:
        assert set(served) == wanted
