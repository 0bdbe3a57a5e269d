"""The points of a launch: every set of single values that its defines can be. The defines of each are a dict.

What is known is multiplied out. What an open define can be is tried: a type with the element types, a flag both
ways, a number with one with which the text can be translated, and with one for which blocks are padded. A promise
and the name of the kernel change nothing: they get one value. Where a run has launched the text, a number is that
of the run.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytriton.lang.preprocess.structure import only_promises, stands_for_type
from pytriton.pipeline import Translation
from pytriton.port.jobs.gather import Use
from pytriton.port.jobs.translations import Translations
from pytriton.port.read.values import Unknown

TYPES: Final = ("half", "float")  # what programs of the time were called with
ODD: Final = 96  # not a power of two
_BASES: Final = (64, 32, 16, 128, 8, 1)


def points_of(
    use: Use, text: str, translations: Translations, shown: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """All points of one launch, first values first.

    ``shown``: the defines of a run, which replace guesses. A launch that needs other guesses has no points.
    """
    if shown is not None and use.dark is not None:
        return
    for chosen, numbers in _chosen(use, text):
        if shown is not None and not shown.keys() >= {*numbers}:
            return
        base: dict[str, Any] = {}
        for values in use.points or ({},):
            for row in itertools.product(*use.swept.values()):
                point = {**values, **use.fixed, **dict(zip(use.swept, row, strict=True)), **chosen}
                if numbers and not base:
                    base = {n: shown[n] for n in numbers} if shown else _base(point, numbers, translations)
                    yield from _padded(point | base, numbers, translations)
                yield point | base


def _chosen(use: Use, text: str) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Values for the open defines: all types and flags; and those that are numbers."""
    groups: dict[str, list[str]] = {}
    free: dict[str, Any] = {name: 1 for name in use.open if only_promises(name, text)}
    kernel = re.sub(r"\W+", "_", f"{use.file.stem}_kernel")
    free |= {name: kernel for name in use.open if re.search(rf"\bvoid\s+{name}\s*\(", text)}
    for name, value in use.open.items():
        if name in free:
            continue
        groups.setdefault(value.text, []).append(name)
    axes: list[list[dict[str, Any]]] = []
    numbers: list[str] = []
    for names in groups.values():
        kinds = {_kind(name, use.open[name], text) for name in names}
        if "type" in kinds:
            words = [word for word in TYPES if not any(word in use.types.get(name, ()) for name in names)]
            axes.append([dict.fromkeys(names, word) for word in words])
        elif "flag" in kinds:
            axes.append([dict.fromkeys(names, way) for way in (False, True)])
        else:
            numbers += names
    for combination in itertools.product(*axes):
        yield free | {name: value for part in combination for name, value in part.items()}, numbers


def _padded(
    point: Mapping[str, Any], names: Sequence[str], translations: Translations
) -> Iterator[dict[str, Any]]:
    """The same with one or two open sizes that are not a power of two, where the translation asks for that.

    Blocks of a product of matrices are left as they are: sizes there were always powers of two.
    """
    plain = translations(point)
    if isinstance(plain, Translation) and "tl.dot(" not in plain.text:
        asked = {entry.left for entry in plain.conditions.entries if entry.operator == "is_power_of_2"}
        sizes = [name for name in names if name in asked]
        for some in (*((name,) for name in sizes), *itertools.combinations(sizes, 2)):
            yield {**point, **dict.fromkeys(some, ODD)}


def _kind(name: str, value: Unknown, text: str) -> str:
    """What an open define is, by its expression or by its place in the text."""
    if value.kind == "dtype":
        return "type"
    if value.kind == "bool":
        return "flag"
    if value.kind is None and stands_for_type(name, text):
        return "type"
    return "number"


def _base(point: Mapping[str, Any], names: Sequence[str], translations: Translations) -> dict[str, Any]:
    """One number for all open ones, with which the text can be translated; the first where none can."""
    for number in _BASES:
        base = dict.fromkeys(names, number)
        if isinstance(translations({**point, **base}), Translation):
            return base
    return dict.fromkeys(names, _BASES[0])
