"""What a translation depends on: asked of the translator.

Input: what is known of a folded kernel, its variants, and a translator. Some of the variants are translated with
other numbers.

``drop_doubts``: a question that is not asked by the text (is TM a power of two? is TM * TN < 1024?) is dropped if
its answer was changed and the text stayed the same, and no text changed where nothing but its answer was changed.

``uneven``: the numbers that a text depends on in a way that no question asks: two define sets of one row, of which
only one can be translated, or which have different texts. Their values must be those of a known set.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pytriton.emit.python import Node, show
from pytriton.errors import CompileError
from pytriton.fold.known import LARGEST, Known
from pytriton.fold.variants import Defines, Variant, number
from pytriton.pipeline import Translation

__all__ = ["drop_doubts", "uneven"]

MAX_BASES: Final = 2  # variants whose sizes are changed
MAX_DRAWN: Final = 150  # define sets that are drawn to find uneven numbers
_SIZES: Final = (2, 3, 16, 96, 1024, 3000, 1, 0, -3, 1 << 33)
_LARGE: Final = 1024
_DRAWN: Final = (
    *(1 << n for n in range(13)),
    0,
    -1,
    -7,
    3,
    5,
    12,
    24,
    48,
    96,
    100,
    640,
    3000,
    1 << 31,
    -(1 << 40),
)
_DRAWN_FLOATS: Final = (0.0, 1.0, -1.0, 0.5, 2.0, -3.25, 1e-5, 1e30)

Translate = Callable[[Defines], Translation | CompileError]


def drop_doubts(known: Known, variants: Sequence[Variant], translate: Translate) -> None:
    """Let a kernel forget the questions that change nothing."""
    doubtful = set(known.undecided)
    idle: set[Node] = set()
    matter: set[Node] = set()
    names = sorted({name for question in doubtful for name in known.numbers_of(question)})
    for base in _bases(variants, names):
        before = known.answers(base.defines)
        for defines in _resized(base.defines, [name for name in names if name in base.defines]):
            after = known.answers(defines)
            changed = {question for question in after if after[question] != before[question]}
            if not changed & doubtful - idle or any(map(known.decides, changed)):
                continue
            translation = translate(defines)
            if isinstance(translation, Translation) and translation.text == base.translation.text:
                idle |= changed
            elif _too_large(translation):
                idle |= {question for question in changed if show(question).endswith(f"> {LARGEST}")}
            elif len(changed) == 1:
                matter |= changed
    known.forget((idle & doubtful) - matter)


def _bases(variants: Sequence[Variant], names: Sequence[str]) -> list[Variant]:
    """Variants of different texts, of which few numbers are 1: conditions ask for that.

    One has each name, and not 0.
    """
    firsts: dict[str, Variant] = {}
    for variant in sorted(variants, key=lambda variant: list(map(number, variant.defines.values())).count(1)):
        firsts.setdefault(variant.translation.text, variant)
    distinct = list(firsts.values())
    bases = [distinct[0], *distinct[1 :: max(1, len(distinct) // MAX_BASES)]][:MAX_BASES]
    for name in names:
        if not any(number(base.defines.get(name)) for base in bases):
            bases += [variant for variant in variants if number(variant.defines.get(name))][:1]
    return bases


def _resized(defines: Defines, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The define set with another size, with two that are small or equal, or with large ones alone."""
    yield {**defines, **dict.fromkeys(names, _LARGE)}
    for name, size in itertools.product(names, _SIZES):
        yield {**defines, name: size}
    for first, second in itertools.combinations(names, 2):
        yield {**defines, first: 16, second: 16}
        yield {**defines, first: defines[second]}
        yield {**defines, first: 64, second: 128}


def uneven(known: Known, variants: Sequence[Variant], translate: Translate) -> set[str]:
    """The numbers that a text depends on, where sets of one row were translated."""
    texts: dict[object, Variant] = {}
    found: set[str] = set()
    for variant in variants:
        first = texts.setdefault(known.row_of(variant.defines), variant)
        if first.translation.text != variant.translation.text:
            found |= _differing(known, first.defines, variant.defines)
    chance = random.Random(0)
    rows = list(texts.values())
    for number_ in range(MAX_DRAWN if known.numbers else 0):
        base = rows[number_ % len(rows)]
        drawn = _drawn(known, base.defines, chance, single=number_ % 2 == 0)
        if known.refusal(drawn) is not None:
            continue
        same = texts.get(known.row_of(drawn))
        if same is None or _agree(same, translate(drawn)):
            continue
        for name in sorted(_differing(known, same.defines, drawn) - {*same.defines.keys() - drawn.keys()}):
            fewer = {**drawn, name: same.defines[name]}  # is it the others?
            if texts.get(known.row_of(fewer)) is same and not _agree(same, translate(fewer)):
                drawn = fewer
        found |= _differing(known, same.defines, drawn)
    return found


def _drawn(known: Known, defines: Mapping[str, Any], chance: random.Random, single: bool) -> dict[str, Any]:
    """The define set with other numbers, one or all."""
    names = [name for name in known.numbers if name in defines]
    chosen = chance.sample(names, min(1, len(names))) if single else names
    sizes = {name: chance.choice(_DRAWN if name in known.integers else _DRAWN_FLOATS) for name in chosen}
    return {**defines, **sizes}


def _agree(variant: Variant, other: Translation | CompileError) -> bool:
    if not isinstance(other, Translation):
        return _too_large(other)
    return variant.translation.text == other.text


def _too_large(translation: Translation | CompileError) -> bool:
    """Whether a block has too many elements: Triton refuses it as well."""
    errors = translation.diagnostics if isinstance(translation, CompileError) else ()
    return bool(errors) and all(error.code == "TC306" for error in errors)


def _differing(known: Known, one: Defines, other: Defines) -> set[str]:
    return {name for name in known.numbers if number(one.get(name)) != number(other.get(name))}
