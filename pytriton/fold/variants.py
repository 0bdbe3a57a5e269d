"""What a fold is given, and the questions that its stages ask of it.

A set of variants is an integer: bit n stands for the variant number n. So the sets of a few hundred variants are
compared and cut in one instruction, and can be keys.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from pytriton.fold.walk import names_read
from pytriton.lang.preprocess.structure import conditions, directives
from pytriton.lang.tokens import plain_number
from pytriton.lang.tree.types import FLOAT, TYPE_NAMES, PointerType, ScalarType
from pytriton.pipeline import Translation

Set = int
Defines = Mapping[str, object]
_PROMISE: Final = re.compile(r"\b__(?:multipleof|aligned)\s*\([^()]*\)")
_SKIPPED: Final = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|\\\n', re.DOTALL)
_NAME: Final = re.compile(r"\b[A-Za-z_]\w*")


def names_in(text: str) -> list[str]:
    """The names in a text, but for comments and strings, as often as they occur."""
    return _NAME.findall(_code(text))


def _code(text: str) -> str:
    """A text without comments and strings; lines that go on are joined."""
    return _SKIPPED.sub(lambda skipped: " " * (skipped[0] != "\\\n"), text)


def asked_if_given(text: str) -> dict[str, bool]:
    """The defines that a text asks for by ``#ifdef``: True for those that it uses for nothing else.

    To ``#ifdef`` a define that is False is given. Where nothing else is asked, its value means nothing at all.
    ``##`` makes names that the text does not have.
    """
    asked = Counter(name for directive in directives(text) for name in directive.given)
    mentions = Counter(names_in(text))
    return {name: mentions[name] == count and "##" not in text for name, count in asked.items()}


def asked_names(text: str) -> set[str]:
    """The names that an ``#if`` or ``#ifdef`` of the text asks for, and that it does not define itself."""
    own = {
        name for directive in directives(text) if directive.word == "define" for name in directive.names[:1]
    }
    return {name for condition in conditions(text) for name in condition.names} - own


class Word(str):
    """What Triton calls a type: ``tl.float16``."""


class Unfoldable(Exception):
    """Variants that cannot be one function; the message gives the reason."""


class Variant(NamedTuple):
    """One define set, and what the text is with it."""

    defines: Defines
    translation: Translation


def number(value: object) -> object:
    """A define as Python has it: a text that is a number is that number."""
    if not isinstance(value, str):
        return value
    parsed = plain_number(value)
    return value if parsed is None else parsed


def as_number(value: object) -> object:
    """The value of a define that is not a flag: True is 1 in C."""
    return int(value) if isinstance(value, bool) else value


class Variants:
    """All variants of one kernel."""

    def __init__(self, variants: Sequence[Variant], text: str = "") -> None:
        self.variants = tuple(variants)
        given = (value for variant in variants for value in variant.defines.values())
        inner = self.inner = {name for value in given if isinstance(value, str) for name in names_in(value)}
        asked = asked_if_given(text)
        self._valued = {name for name, alone in asked.items() if not alone}
        self.switches = {name for name, alone in asked.items() if alone} - inner  # given or not, no value
        self._mentions = Counter(names_in(text))
        macros = (directive.names for directive in directives(text) if directive.word == "define")
        self.macros = {names[0]: names[1:] for names in macros if names}
        valued = [condition for condition in conditions(text) if condition.word in ("if", "elif")]
        tested = Counter(name for condition in valued for name in condition.names)
        self.in_conditions = {name for name in tested if tested[name] == self._mentions[name]} - inner
        self.promised = {*self._mentions} - {*_NAME.findall(_PROMISE.sub(" ", _code(text)))} - inner
        self.spelled = frozenset[str]().union(*(variant.translation.spelled for variant in variants))
        self.all: Set = (1 << len(self.variants)) - 1
        self.count = len(self.variants)
        self.values: dict[str, list[object]] = {}
        names = dict.fromkeys(name for variant in variants for name in variant.defines)
        for name in (name for name in names if name not in self.promised):
            self.values[name] = [number(variant.defines.get(name)) for variant in variants]
            if not self.is_flag(name):
                self.values[name] = [*map(as_number, self.values[name])]

    def where(self, holds: Callable[[int], bool]) -> Set:
        """The variants, by number, for which something holds."""
        return sum(1 << n for n in range(self.count) if holds(n))

    def members(self, chosen: Set) -> Iterator[int]:
        return (n for n in range(self.count) if chosen >> n & 1)

    def of(self, variant: int) -> dict[str, object]:
        """The defines of one variant, those of other variants as None."""
        return {name: values[variant] for name, values in self.values.items()}

    def is_type(self, name: str) -> bool:
        """Whether a define is a type wherever it is given."""
        return all(value is None or _is_type(value) for value in self.values[name])

    def is_element_type(self, name: str) -> bool:
        """Whether a define is a type, and where all pointers point to the same types its value is the same."""
        pairs = set(zip(zip(*self.asked.values(), strict=True), map(str, self.values[name]), strict=False))
        return self.is_type(name) and len(pairs) == len({elements for elements, _ in pairs})

    def is_flag(self, name: str) -> bool:
        """Whether a define is given or not, or True or False: not both.

        One that the text asks for by ``#ifdef`` and by its value is none: False is another answer than none.
        """
        values = self.values[name]
        absent = any(value is None for value in values)
        return name not in self._valued and all(
            value is None or value is True or value == "" or (value is False and not absent)
            for value in values
        )

    def truths(self, name: str) -> tuple[object, ...]:
        """The values that a flag can have, if its value is read. Where only ``#if`` reads it, none is 0."""
        given = dict.fromkeys(self.values[name])
        if name in self.in_conditions and not {None, False}.isdisjoint(given):
            given |= dict.fromkeys((None, False))
        return tuple(given)

    def names_kernel(self, name: str) -> bool:
        """Whether a define is the name of the kernel, and nothing else."""
        named = all(variant.defines.get(name) == variant.translation.kernel for variant in self.variants)
        return named and self._mentions[name] == 1

    @cached_property
    def elements(self) -> dict[str, list[str]]:
        """For each pointer parameter of all variants the type that it points to, in each variant."""
        return {name: [*words.values()] for name, words in self.pointers.items() if len(words) == self.count}

    @cached_property
    def read(self) -> frozenset[str]:
        """The names that all variants read."""
        bodies = {variant.translation.text: variant.translation.tree.body for variant in self.variants}
        return frozenset.intersection(*map(names_read, bodies.values()))

    @cached_property
    def asked(self) -> dict[str, list[str]]:
        """Those of the ``elements`` of which any variant can be asked: other pointers may be None."""
        return {name: words for name, words in self.elements.items() if name in self.read}

    @cached_property
    def padded(self) -> dict[str, Set]:
        """For each define the variants in which it is not a power of two."""
        odd = {
            name: [isinstance(size, int) and size & (size - 1) != 0 for size in sizes]
            for name, sizes in self.values.items()
        }
        return {name: self.where(row.__getitem__) for name, row in odd.items()}

    @cached_property
    def pointers(self) -> dict[str, dict[int, str]]:
        """For each pointer the type that it points to, as Triton calls it, by the variants that have it."""
        pointers: dict[str, dict[int, str]] = {}
        for n, variant in enumerate(self.variants):
            for parameter in variant.translation.parameters:
                if isinstance(parameter.type, PointerType):
                    element = parameter.type.element
                    word = element.triton if isinstance(element, ScalarType) else "int64"
                    pointers.setdefault(parameter.identifier, {})[n] = word
        return pointers

    @cached_property
    def floats(self) -> frozenset[str]:
        """The parameters that are floats in all variants."""
        types = {(p.identifier, p.type) for variant in self.variants for p in variant.translation.parameters}
        others = {name for name, type_ in types if type_ != FLOAT}
        return frozenset(name for name, _ in types if name not in others)

    @cached_property
    def type_defines(self) -> dict[str, tuple[str, dict[str, Word]]]:
        """The defines that pointers are declared with: of each a pointer, and what Triton calls the types."""
        found: dict[str, tuple[str, dict[str, Word]]] = {}
        for parameter in self.variants[0].translation.parameters:
            words = self.asked.get(parameter.identifier)
            for name in {*re.findall(r"\w+", parameter.declaration)[:-1]} & self.values.keys():
                pairs = {*zip(map(str, self.values[name]), words or (), strict=False)}
                of = {value: Word(f"tl.{word}") for value, word in pairs}
                if words and self.is_type(name) and len(pairs) == len(of) == len({*of.values()}):
                    found.setdefault(name, (parameter.identifier, of))
        return found


def _is_type(value: object) -> bool:
    if isinstance(value, str):
        return value.split()[:1] != [] and value.split()[0] in TYPE_NAMES
    return str(value).startswith("torch.")
