"""The folded kernel of one text, for more and more define sets.

Input: a text and its known define sets. Output: one function with its variants, and why other sets failed: they
cannot be translated, or cannot be one function with the first. It is folded until each other known set is accepted,
then with what no run has shown (explore.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from pytriton.emit.printer import printed
from pytriton.errors import CompileError, Diagnostic
from pytriton.fold.fold import Folded, fold
from pytriton.fold.variants import Unfoldable, Variant
from pytriton.pipeline import Translation
from pytriton.port.jobs.explore import axes
from pytriton.port.jobs.translations import Defines, Translations

MAX_ROUNDS: Final = 4  # of translating, folding and asking which define sets the result refuses
MAX_TRANSLATED: Final = 600  # known define sets
MAX_EXPLORED: Final = 96  # of a kernel, beyond the known ones; or as many as are known
_OF_TYPES: Final = re.compile(r"\.element_ty [!=]= (tl\.\w+)")


@dataclass(frozen=True)
class Failure:
    """A define set that is not ported. ``alone``: it can be translated, but not be one function with the first."""

    defines: Mapping[str, Any]
    error: CompileError
    alone: bool = False


class Unportable(Exception):
    """No define set of a kernel can be translated. ``failures`` have the reasons."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__(str(failures[0].error) if failures else "there is no define set")
        self.failures = tuple(failures)


Like = Callable[[Folded, Folded], bool]


class Folds:
    """The folded kernel of one text, for more and more define sets."""

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
        self.folded: Folded

    def add_all(self, sets: Sequence[Defines]) -> None:
        """Fold until every define set that can be translated is accepted. Raises Unportable."""
        self._add(self._of_all_texts(sets))
        self.complete(sets)

    def complete(self, sets: Sequence[Defines]) -> None:
        """Add the known define sets that are refused: others came to differ from those that they were equal to."""
        for _ in range(MAX_ROUNDS):
            failed = [failure.defines for failure in self.failures]
            refused: dict[object, Defines] = {}
            for defines in sets:
                if self.folded.leaves.refusal(defines) is not None and defines not in failed:
                    refused.setdefault(self.folded.leaves.place(defines), defines)
            if not refused:
                return
            self._add([*refused.values()])

    def _add(self, wanted: Sequence[Defines]) -> None:
        self.failures += self._translate(wanted)
        self._fold_alike()

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

    def _fold_alike(self) -> None:
        """Fold the variants, each of which is one function with those before it."""
        with suppress(Unfoldable):
            self._fold()
            return
        variants, self.variants = self.variants, []
        for variant in variants:
            self.variants.append(variant)
            try:
                self._fold()
            except Unfoldable as reason:
                self.variants.pop()
                first = f" with {dict(self.variants[0].defines)}" if self.variants else ""
                message = f"it cannot be one function{first}: {reason}"
                error = CompileError((Diagnostic("error", "TC318", message, self.translations.source),))
                self.failures.append(Failure(variant.defines, error, alone=bool(first)))
        self._fold()

    def _fold(self) -> None:
        """Fold all variants; kernels of sweeps may run in groups. Raises Unfoldable, and Unportable for none."""
        if not self.variants:
            raise Unportable(self.failures)
        traits = [variant.translation.traits for variant in self.variants]
        groups = self._swept and any(trait.swizzles and trait.pipelined for trait in traits)
        self.folded = fold(self._text, self.variants, self._function, groups)

    def explore(self, known: Sequence[Defines]) -> list[Defines]:
        """Add define sets that no run has used (explore.py), axis by axis; returns them.

        First the known sets are varied along each axis, then all of them. An axis is left out where that would be
        too many, and where the result would not be one function; all are, where known sets would be lost.
        """
        before = self.variants, self.folded, [*self.failures]
        initial = len(self.variants)
        for varied in (initial, None):
            leaves = self.folded.leaves
            switches = sorted(self.translations.switches.intersection(leaves.closed))
            for axis in [*axes(leaves, self._defines(), switches)]:
                proposed = axis.varied(self.folded.leaves, self._defines(), varied)
                if len(self.variants) + len(proposed) <= initial + max(initial, MAX_EXPLORED):
                    self._try(proposed, _is_alike if axis.alike else None)
        explored = self._defines()[initial:]
        self.complete(known)
        if len(self.failures) > len(before[2]):
            self.variants, self.folded, self.failures = before
            return []
        return explored

    def _defines(self) -> list[Defines]:
        return [variant.defines for variant in self.variants]

    def _try(self, proposed: Sequence[Defines], like: Like | None) -> None:
        """Fold with more define sets, if the result is one function, and ``like`` the one before."""
        variants, folded = before = self.variants, self.folded
        self.variants = [*variants]
        list(self._translate(proposed))
        if len(self.variants) > len(variants):
            with suppress(Unfoldable):
                self._fold()
                if like is None or like(folded, self.folded):
                    return
        self.variants, self.folded = before


def _is_alike(folded: Folded, other: Folded) -> bool:
    """Whether the second kernel compares no element types that the first does not."""
    first, second = ({*_OF_TYPES.findall(printed(one.tree)[0])} for one in (folded, other))
    return second <= first
