"""A job translated at every point of its sweeps: points whose text is equal share one ``Variant``.

This is the rule of the house (translate each config with its concrete values, print names, share equal
texts). So a define that is text, or a number that ``#if`` reads, gives several variants; a number that is
only used as a value gives one, and becomes a ``tl.constexpr``.

What an open define can be is tried: a type with the element types, a flag with both ways, a number with
powers of two and some others. A number is *any* (or any positive one) where all that were tried give one
text, else those that do.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from pytriton.errors import CompileError, Diagnostic
from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Translation, translate_as
from pytriton.port.jobs.gather import Job
from pytriton.port.jobs.points import ODD, TYPES, Point, points_of, promoted
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = ["Failure", "Numbers", "Ported", "Variant", "is_power", "translate_all"]

_MORE_TYPES: Final = ("bfloat16", "double")  # served where their text is that of one of these
_NUMBERS: Final = (*(1 << power for power in range(15)), *ODD[:3], 0, -1)
MAX_TRIES: Final = 400
MAX_POINTS: Final = 600

Numbers = Literal["any", "positive", "odd"] | tuple[int, ...]


@dataclass(eq=False)
class Variant:
    """One text and the points that gave it. ``rows``: the element types it was made for, by pointer;
    ``samples`` the points of each.

    ``numbers``: for each open number the values that were tried and give this text; or ``any``, ``positive``,
    ``odd``: all, all from 1, all that are no powers of two.
    """

    key: str
    translation: Translation
    points: list[Point]
    rows: list[dict[str, str]] = field(default_factory=list)
    samples: list[tuple[dict[str, str], Point]] = field(default_factory=list)
    numbers: dict[str, Numbers] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Failure:
    """A point that cannot be translated."""

    point: Point
    error: CompileError


@dataclass(eq=False)
class Ported:
    """One kernel of a job."""

    name: str
    variants: list[Variant]
    failures: list[Failure]
    more: int = 0  # points that were left out because there are too many


class _Translator:
    """Translates each set of defines once."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._made: dict[Any, Translation | CompileError] = {}

    @property
    def made(self) -> int:
        """How many sets of defines were tried."""
        return len(self._made)

    def knows(self, point: Point) -> bool:
        """Whether the translation of a point costs nothing."""
        return _key_of(point.values, point.use.kernel, point.use.strict) in self._made

    def __call__(
        self, values: Mapping[str, Any], kernel: str | None, strict: bool
    ) -> Translation | CompileError:
        key = _key_of(values, kernel, strict)
        if key not in self._made:
            try:
                self._made[key] = self._translated(values, kernel, strict)
            except CompileError as error:
                self._made[key] = error
            except RecursionError:
                self._made[key] = _too_deep(self.job)
        return self._made[key]

    def _translated(self, values: Mapping[str, Any], kernel: str | None, strict: bool) -> Translation:
        """A translation that relies on no promise: ``@triton.jit`` itself looks which sizes divide by 16."""
        text, name = self.job.text, self.job.found.path.name
        settings = Settings(kernel, strict_literals=strict)
        translation = translate_as(text, values, settings, name)
        promised = tuple(
            parameter.name
            for parameter in translation.parameters
            if parameter.multiple_of > 1 or parameter.aligned > 1
        )
        if not promised:
            return translation
        return translate_as(text, values, replace(settings, without_promises=promised), name)


def _key_of(values: Mapping[str, Any], kernel: str | None, strict: bool) -> Any:
    return (*sorted((name, repr(value)) for name, value in values.items()), kernel, strict)


def _too_deep(job: Job) -> CompileError:
    where = Source(job.text, job.found.path.name)
    return CompileError((Diagnostic("error", "TC318", "the text is nested too deeply", where),))


def translate_all(job: Job) -> list[Ported]:
    """Every kernel of a job, at all its points."""
    translator = _Translator(job)
    points: list[Point] = []
    for use in job.uses:
        points += itertools.islice(points_of(use, job.text, translator), 4 * MAX_POINTS)
    points = points if len(points) <= 8 * MAX_POINTS else _distinct(points)
    left_out = max(0, len(points) - 8 * MAX_POINTS)
    del points[8 * MAX_POINTS :]
    groups: dict[str, Ported] = {}
    known: set[str] = set()
    lost: list[Failure] = []
    for point in points:
        if translator.made > MAX_POINTS and not translator.knows(point):
            left_out += 1
            continue
        translation = translator(point.values, point.use.kernel, point.use.strict)
        if isinstance(translation, CompileError):
            lost.append(Failure(point, translation))
            continue
        known.update(translation.kernels)
        _place(groups, translation, point)
    for name in sorted(known - set(groups)):
        _other_kernel(name, points, translator, groups)
    for ported in groups.values():
        ported.more = left_out
        ported.failures += [failure for failure in lost if failure.point.use.kernel in (None, ported.name)]
        for variant in ported.variants:
            _try_numbers(variant, ported.variants[: ported.variants.index(variant)], translator)
            _try_types(variant, ported, translator)
    if not groups:
        groups[""] = Ported("", [], lost)
    return list(groups.values())


def _distinct(points: Sequence[Point]) -> list[Point]:
    """The points without those that say nothing new. The first of each launch leads: it has a grid."""
    firsts = {point.use: point for point in reversed(points)}
    seen: set[Any] = set()
    others: list[Point] = []
    for candidate in points:
        key = (
            *(
                _key_of(candidate.values, candidate.use.kernel, candidate.use.strict),
                repr(candidate.use.decisions),
            ),
            *(candidate.tuned, candidate.opened, candidate.warps, candidate.stages),
        )
        if key not in seen and firsts[candidate.use] is not candidate:
            others.append(candidate)
        seen.add(key)
    return [*dict.fromkeys(firsts[point.use] for point in points), *others]


def _place(groups: dict[str, Ported], translation: Translation, point: Point) -> None:
    ported = groups.setdefault(translation.kernel, Ported(translation.kernel, [], []))
    key = _without_types(translation.text)
    placed = next((variant for variant in ported.variants if variant.key == key), None)
    if placed is None:
        placed = Variant(key, translation, [])
        ported.variants.append(placed)
    placed.points.append(point)
    _add_types(placed, translation, point)


def _add_types(variant: Variant, translation: Translation, point: Point) -> None:
    row = {
        parameter.name: str(parameter.type)
        for parameter in translation.parameters
        if isinstance(parameter.type, PointerType)
    }
    if row not in variant.rows:
        variant.rows.append(row)
    variant.samples.append((row, point))


def _other_kernel(
    name: str, points: Sequence[Point], translator: _Translator, groups: dict[str, Ported]
) -> None:
    """A kernel of the text that no launch names: with the defines of the others."""
    strangers = {other.use: replace(other.use, line=0, arguments=(), grid=None) for other in points}
    for other in points:
        point = replace(other, use=strangers[other.use])
        translation = translator(point.values, name, point.use.strict)
        if isinstance(translation, CompileError):
            groups.setdefault(name, Ported(name, [], [])).failures.append(Failure(point, translation))
        else:
            _place(groups, translation, point)


_POINTER_NOTE: Final = re.compile(r"^(    \w+,  # )(?:half|bfloat16|float|double)(\*)", re.MULTILINE)


def _without_types(text: str) -> str:
    """The text less the element types in the comments of its pointers: what Triton sees of it."""
    return _POINTER_NOTE.sub(r"\1...\2", text)


# What else gives the same text


def _try_numbers(variant: Variant, before: Sequence[Variant], translator: _Translator) -> None:
    """What each open number may be. A variant like one before it is only tried at the ends of its rule."""
    point = variant.points[0]
    for name in sorted(point.opened):
        if isinstance(point.values[name], (bool, str)) or name not in variant.translation.mentioned:
            continue
        own = point.values[name]
        alike = [other.numbers[name] for other in before if name in other.numbers]
        rule = next((other for other in alike if _allows(other, own)), None)
        ends = [number for number in _NUMBERS if rule is not None and _allows(rule, number)]
        tried = [*ends[:1], *ends[-1:]] if rule is not None else list(_NUMBERS)
        if translator.made > MAX_POINTS + MAX_TRIES:
            variant.numbers[name] = (own,)
            continue
        same = [number for number in tried if _gives(variant, point, {name: number}, translator)]
        if rule is not None and same != tried:
            same = [number for number in _NUMBERS if _gives(variant, point, {name: number}, translator)]
            rule = None
        variant.numbers[name] = _rule(same) if rule is None else rule


def _allows(rule: Numbers, number: int) -> bool:
    if isinstance(rule, tuple):
        return number in rule
    return rule == "any" or (number > 0 and (rule == "positive" or not is_power(number)))


def is_power(number: int) -> bool:
    """Whether a number is a power of two."""
    return number > 0 and number & (number - 1) == 0


def _rule(same: Sequence[int]) -> Numbers:
    if len(same) == len(_NUMBERS):
        return "any"
    if all(number in same for number in _NUMBERS if number > 0):
        return "positive"
    if all(number in same for number in ODD[:3]) and not any(is_power(number) for number in same):
        return "odd"
    return tuple(sorted(number for number in same if number > 0))


def _try_types(variant: Variant, ported: Ported, translator: _Translator) -> None:
    """Further element types, where the kernel text for them is one that is there already."""
    point = variant.points[0]
    roots = [name for name in point.opened if point.values[name] in TYPES]
    if not roots:
        return
    for word in _MORE_TYPES:
        if any(word in point.use.types.get(name, ()) for name in roots):
            continue
        changed = {
            name: (promoted(word) if point.values[name] != point.values[roots[0]] else word) for name in roots
        }
        values = {**point.values, **changed}
        translation = translator(values, ported.name, point.use.strict)
        if isinstance(translation, Translation) and _without_types(translation.text) == variant.key:
            _add_types(variant, translation, replace(point, values=values))


def _gives(variant: Variant, point: Point, changed: Mapping[str, Any], translator: _Translator) -> bool:
    translation = translator({**point.values, **changed}, variant.translation.kernel, point.use.strict)
    return isinstance(translation, Translation) and _without_types(translation.text) == variant.key
