"""The folded kernels of one text, for more and more define sets.

Input: a text and its known define sets. Output: one function with its variants, or several and why. It is folded
until each known set that can be translated is accepted, then with what no run has shown (explore.py), as long as
the result stays one function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytriton.emit.printer import printed
from pytriton.errors import CompileError
from pytriton.fold.fold import Folded, fold
from pytriton.fold.leaves import Leaves
from pytriton.fold.variants import Unfoldable, Variant
from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Translation
from pytriton.port.jobs.explore import axes
from pytriton.port.jobs.translations import Defines, Translations

MAX_ROUNDS: Final = 4  # of translating, folding and asking which define sets the result refuses
MAX_TRANSLATED: Final = 600  # known define sets
MAX_EXPLORED: Final = 96  # of a kernel, beyond the known ones
_OF_TYPES: Final = re.compile(r"\.element_ty [!=]= (tl\.\w+)")


@dataclass(frozen=True)
class Failure:
    """A define set that cannot be translated."""

    defines: Mapping[str, Any]
    error: CompileError


class Unportable(Exception):
    """No define set of a kernel can be translated. ``failures`` have the reasons."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__(str(failures[0].error) if failures else "there is no define set")
        self.failures = tuple(failures)


Fold = tuple[Folded, Sequence[Variant]]
Like = Callable[[Folded, Folded], bool]


def _folds(
    text: str,
    variants: Sequence[Variant],
    function: str | None,
    groups: bool,
) -> tuple[list[Fold], str | None]:
    """The folded kernels with the variants of each: one, or why there are several."""
    try:
        return [(fold(text, variants, function, groups), variants)], None
    except Unfoldable as error:
        reason = str(error)
    folds: list[Fold] = []
    for members in _by_signature(variants):
        try:
            folds.append((fold(text, members, None, groups), members))
        except Unfoldable:
            folds += [(fold(text, [variant], None, groups), [variant]) for variant in members]
    return folds, reason


def _by_signature(variants: Sequence[Variant]) -> Iterator[list[Variant]]:
    """Variants whose functions have the same name and parameters of the same kind."""
    groups: dict[object, list[Variant]] = {}
    for variant in variants:
        translation = variant.translation
        kinds = tuple(
            (p.identifier, isinstance(p.type, PointerType) or p.type.triton) for p in translation.parameters
        )
        groups.setdefault((translation.function, kinds), []).append(variant)
    yield from groups.values()


class Folds:
    """The folded kernels of one text, for more and more define sets."""

    def __init__(
        self,
        text: str,
        translations: Translations,
        function: str | None,
        swept: bool,
    ) -> None:
        self._text = text
        self._swept = swept
        self._function = function
        self.translations = translations
        self.variants: list[Variant] = []
        self.failures: list[Failure] = []
        self.members: list[Fold] = []
        self.unfoldable: str | None = None  # why there are several

    def add_all(self, sets: Sequence[Defines]) -> None:
        """Fold until every define set that can be translated is accepted. Raises Unportable."""
        wanted = self._of_all_texts(sets)
        for _ in range(MAX_ROUNDS):
            self.failures += self._translate(wanted)
            if not self.variants:
                raise Unportable(self.failures)
            self._fold()
            failed = [failure.defines for failure in self.failures]
            wanted = []
            places: set[object] = set()
            for defines in sets:
                place = tuple(folded.leaves.place(defines) for folded, _ in self.members)
                if place not in places and self._refuses(defines) and defines not in failed:
                    places.add(place)
                    wanted.append(defines)
            if not wanted:
                break

    def _of_all_texts(self, sets: Sequence[Defines]) -> list[Defines]:
        """A define set for each distinct translation, and the first that cannot be translated."""
        firsts: dict[object, Defines] = {}
        for defines in sets[:MAX_TRANSLATED]:
            translation = self.translations(defines)
            firsts.setdefault(translation.text if isinstance(translation, Translation) else None, defines)
        return list(firsts.values())

    def _translate(self, wanted: Sequence[Defines]) -> Iterator[Failure]:
        for defines in wanted:
            translation = self.translations(defines)
            if isinstance(translation, CompileError):
                yield Failure(defines, translation)
            else:
                self.variants.append(Variant(defines, translation))

    def _fold(self) -> None:
        """Fold all variants. Kernels of sweeps may run in groups."""
        traits = [variant.translation.traits for variant in self.variants]
        groups = self._swept and any(trait.swizzles and trait.pipelined for trait in traits)
        self.members, self.unfoldable = _folds(self._text, self.variants, self._function, groups)

    def _refuses(self, defines: Defines) -> bool:
        return all(folded.leaves.refusal(defines) is not None for folded, _ in self.members)

    def explore(self) -> list[Defines]:
        """Add define sets that no run has used (explore.py), axis by axis; returns them.

        First the known sets are varied along each axis, then all of them. An axis is left out where that would be
        too many, and where the result would not be one function.
        """
        initial = len(self.variants)
        if len(self.members) == 1:
            switches = sorted(self.translations.switches.intersection(self._leaves.closed))
            tried = [*axes(self._leaves, self._defines(), switches)]
            for axis, varied in [*((axis, initial) for axis in tried), *((axis, None) for axis in tried)]:
                proposed = axis.varied(self._leaves, self._defines(), varied)
                if len(self.variants) + len(proposed) <= initial + MAX_EXPLORED:
                    self._try(proposed, _is_alike if axis.alike else None)
        return self._defines()[initial:]

    @property
    def _leaves(self) -> Leaves:
        return self.members[0][0].leaves

    def _defines(self) -> list[Defines]:
        return [variant.defines for variant in self.variants]

    def _try(self, proposed: Sequence[Defines], like: Like | None) -> None:
        """Fold with more define sets, if the result is one function, and ``like`` the one before."""
        before = self.variants, self.members, self.unfoldable
        self.variants = [*self.variants]
        list(self._translate(proposed))
        if len(self.variants) > len(before[0]):
            previous = self.members[0][0]
            self._fold()
            if len(self.members) == 1 and (like is None or like(previous, self.members[0][0])):
                return
        self.variants, self.members, self.unfoldable = before


def _is_alike(folded: Folded, other: Folded) -> bool:
    """Whether the second kernel compares no element types that the first does not."""
    first, second = ({*_OF_TYPES.findall(printed(one.tree)[0])} for one in (folded, other))
    return second <= first
