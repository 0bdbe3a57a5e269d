"""Which questions about sizes matter to a kernel: asked of the translator.

Input: a folded kernel, its variants, and a translator. Some of the variants are translated with other sizes, which
turns the answers to questions that the known define sets answer in one way only (is TM a power of two? is TM * TN <
1024?). A question is idle if its answer was turned and the text stayed the same, and no text changed where nothing
but its answer was turned. The folded kernel serves both answers to an idle question.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from pytriton.emit.python import Node
from pytriton.errors import CompileError
from pytriton.fold.known import Known
from pytriton.fold.variants import Defines, Variant, number
from pytriton.pipeline import Translation

__all__ = ["drop_doubts"]

MAX_BASES: Final = 2  # variants whose sizes are changed
_SIZES: Final = (2, 3, 16, 96, 1024, 3000)  # not 1: the translator drops `% 1`, as Triton does
_LARGE: Final = 1024

Translate = Callable[[Defines], Translation | CompileError]


def drop_doubts(known: Known, variants: Sequence[Variant], translate: Translate) -> None:
    """Let a kernel forget the idle questions."""
    doubtful = known.doubtful()
    turned: set[Node] = set()  # without a change of the text
    matter: set[Node] = set()
    names = _names(doubtful, known)
    for base in _bases(variants, names):
        before = known.answers(base.defines)
        for defines in _resized(base.defines, [name for name in names if name in base.defines]):
            after = known.answers(defines)
            changed = {question for question in after if after[question] != before.get(question)}
            if not changed & doubtful - turned or any(map(known.asked_by_text, changed)):
                continue
            translation = translate(defines)
            if isinstance(translation, CompileError):
                continue
            if translation.text == base.translation.text:
                turned |= changed
            elif len(changed) == 1:
                matter |= changed
    known.forget((turned & doubtful) - matter)


def _names(doubtful: set[Node], known: Known) -> list[str]:
    return sorted({name for question in doubtful for name in known.numbers_of(question)})


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
    """The define set with another size, with two small ones, or with large ones alone."""
    yield {**defines, **dict.fromkeys(names, _LARGE)}
    for name, size in itertools.product(names, _SIZES):
        yield {**defines, name: size}
    for first, second in itertools.combinations(names, 2):
        yield {**defines, first: 16, second: 16}
