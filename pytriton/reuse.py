"""Translations that are used again for other defines.

A translation is the same, byte for byte, for all defines for which every recorded comparison has the same outcome
(lang/recording.py). Only the numbers that it holds beside its text differ, and those are terms over the defines. So
the configs of a sweep are translated once for each set of outcomes.

Input: a source, its settings and defines. Output: a translation equal to their own in every field, or None.
Invariant: a template and its terms stay here; what leaves has plain numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pytriton.errors import Report
from pytriton.lang.conditions import Conditions, satisfied
from pytriton.lang.preprocess.macros import given_macros
from pytriton.source import Source

_NOWHERE: Final = Source("", "defines")  # errors in these are found again by the translation itself
MAX_SOURCES: Final = 16
MAX_TEMPLATES: Final = 16  # of one source: sets of outcomes

T = TypeVar("T")


class _Template(NamedTuple):
    """A result with terms for numbers, and what it depends on."""

    result: Any
    conditions: Conditions


class Templates(Generic[T]):
    """The latest results, by source and settings. ``instantiate``: one with plain numbers, for defines."""

    def __init__(self, instantiate: Callable[[T, Mapping[str, int | float]], T]) -> None:
        self._instantiate = instantiate
        self._templates: dict[Hashable, tuple[_Template, ...]] = {}

    def find(self, key: Hashable, defines: Mapping[str, object]) -> T | None:
        """The result for these defines, if one for others is equal to it. ``key``: all else that it depends on."""
        templates = self._templates.get(key, ())
        if not templates:
            return None
        report = Report()
        given = given_macros(defines, _NOWHERE, report)
        if report.errors:
            return None
        values = {name: macro.value for name, macro in given.items() if macro.value is not None}
        for result, conditions in templates:
            if conditions.are_given(given) and satisfied(conditions.entries, values):
                return self._instantiate(result, values)
        return None

    def keep(self, key: Hashable, result: T, conditions: Conditions) -> None:
        """Take a result with terms in it."""
        before = self._templates.pop(key, ())  # so that it is last
        self._templates[key] = (*before[1 - MAX_TEMPLATES :], _Template(result, conditions))
        for oldest in list(self._templates)[:-MAX_SOURCES]:
            self._templates.pop(oldest, None)

    def clear(self) -> None:
        """Forget all."""
        self._templates.clear()
