"""What a translation depends on: asked of the translator.

Input: what is known of a folded kernel, its variants, and a translator. One variant of each text is translated with
other numbers, some of them with all. A question that the text itself does not ask (is TM a power of two? is TM * TN
less than 1024?) is forgotten if its answer was changed and the text stayed the same, and no change of the text is
left without a question that was answered in another way. Where there is none, the numbers are exact: their values
must be those of a known set.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from pytriton.emit.python import Node, show
from pytriton.errors import CompileError
from pytriton.fold.known import LARGEST, Known
from pytriton.fold.variants import Defines, Variant, number
from pytriton.pipeline import Translation

MAX_WHOLE: Final = 4  # variants that are translated with all other numbers
MIN_DRAWN: Final = 3  # other numbers of each other variant
MAX_DRAWN: Final = 16  # define sets with random numbers
_SIZES: Final = (2, 3, 16, 96, 1024, 3000, 1, 0, -3, 1 << 33, -(1 << 40))
_DRAWN: Final = (*(1 << n for n in range(13)), 0, -1, -7, 3, 5, 12, 24, 48, 96, 100, 640, 3000, 1 << 31)
_FLOATS: Final = (0.0, 1.0, -1.0, 0.5, 2.0, -3.25, 1e-5, 1e30)

Translate = Callable[[Defines], Translation | CompileError]


def settled(known: Known, variants: Sequence[Variant], translate: Translate) -> set[str]:
    """Let a kernel forget the questions that change nothing; the numbers that are exact."""
    idle: set[Node] = set()
    needed: list[set[Node]] = []
    exact: set[str] = set()
    answers = {id(variant): known.answers(variant.defines) for variant in variants}
    for base, defines in _pairs(known, variants):
        before, after = answers[id(base)], known.answers(defines)
        changed = {question for question in after if after[question] != before[question]}
        if any(map(known.decides, changed)):
            continue
        other = translate(defines)
        if _agree(base, other):
            idle |= changed
        elif _too_large(other):
            idle |= {question for question in changed if show(question).endswith(f"> {LARGEST}")}
        elif changed:
            needed.append(changed)
        else:
            exact |= _least(known, base, defines, translate)
    kept = {*known.undecided} - idle
    for changed in sorted(needed, key=len):
        if not changed & kept:
            kept |= changed
    known.forget({*known.undecided} - kept)
    return exact


def _pairs(known: Known, variants: Sequence[Variant]) -> Iterator[tuple[Variant, Defines]]:
    """Pairs of define sets that differ in numbers alone, as far as the text and the folded body ask."""
    alike: dict[object, Variant] = {}
    bases: dict[str, Variant] = {}
    for variant in sorted(variants, key=lambda variant: list(map(number, variant.defines.values())).count(1)):
        first = alike.setdefault(known.fixed(variant.defines), variant)
        yield first, variant.defines
        bases.setdefault(variant.translation.text, variant)
    whole = [*bases.values()][:: max(1, len(bases) // MAX_WHOLE)]
    for text, base in bases.items():
        draws = list(_resized(known, base.defines))
        count = len(draws) if base in whole else min(len(draws), MIN_DRAWN)
        yield from ((base, defines) for defines in random.Random(text).sample(draws, count))


def _resized(known: Known, defines: Defines) -> Iterator[dict[str, Any]]:
    """The define set with other numbers: one, two that are small, equal or neither, large ones alone, or any."""
    names = [name for name in known.integers if name in defines]
    floats = [name for name in known.numbers if name in defines and name not in names]
    if names:
        yield {**defines, **dict.fromkeys(names, 1024)}
    for name, size in itertools.product(names, _SIZES):
        yield {**defines, name: size}
    yield from ({**defines, name: value} for name, value in itertools.product(floats, _FLOATS))
    for first, second in itertools.combinations(names, 2):
        yield {**defines, first: 16, second: 16}
        yield {**defines, first: defines[second]}
        yield {**defines, first: 64, second: 128}
    chance = random.Random(0)
    for _ in range(MAX_DRAWN if len(names) > 1 else 0):
        yield {**defines, **{name: chance.choice(_DRAWN) for name in names}}


def _least(known: Known, base: Variant, defines: Defines, translate: Translate) -> set[str]:
    """The numbers by which a text changes though no question has another answer, as few as possible."""
    names = {name for name in known.numbers if number(base.defines.get(name)) != number(defines.get(name))}
    for name in sorted(names):
        fewer = {**defines, name: base.defines.get(name)}
        other = translate({n: value for n, value in fewer.items() if value is not None})
        if known.row_of(fewer) == known.row_of(base.defines) and not _agree(base, other):
            defines, names = fewer, names - {name}
    return names


def _agree(base: Variant, other: Translation | CompileError) -> bool:
    return isinstance(other, Translation) and base.translation.text == other.text


def _too_large(other: Translation | CompileError) -> bool:
    """Whether a block has too many elements: Triton refuses it as well."""
    errors = other.diagnostics if isinstance(other, CompileError) else ()
    return any(error.code == "TC306" for error in errors)
