"""The define sets of one text, and its translations: each distinct set of mentioned defines is translated once."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from pytriton.emit.printer import printed
from pytriton.emit.python import Atom, Call, Simple, Tuple
from pytriton.errors import CompileError, Diagnostic
from pytriton.fold.variants import Variant, asked_if_given, names_in
from pytriton.lang.tree.types import BFLOAT16, DOUBLE, FLOAT, HALF, INT, SCALARS, PointerType
from pytriton.legacy.sources import kernels_of, of_kernels
from pytriton.pipeline import Translation, translate_as
from pytriton.settings import Settings
from pytriton.source import Source

Defines = Mapping[str, Any]

MAX_POINTS: Final = 100_000  # of one sweep that are looked at

_WORDS: Final = {f"torch.{type_.torch}": type_.name for type_ in SCALARS}


def normal(defines: Defines) -> dict[str, Any]:
    """Defines as the translator has them: a ``torch.dtype`` is its word; None is not given."""
    return {name: _plain(value) for name, value in defines.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(map(_plain, value))
    return _WORDS.get(str(value), value)


def key_of(defines: Defines) -> tuple[tuple[str, str], ...]:
    """What is equal for equal define sets."""
    return tuple(sorted((name, repr(value)) for name, value in defines.items() if value is not None))


def products(defines: Defines) -> Iterator[dict[str, Any]]:
    """Every point of a sweep, as single values."""
    axes = [value if isinstance(value, tuple) and value else (value,) for value in defines.values()]
    for row in itertools.islice(itertools.product(*axes), MAX_POINTS):
        yield dict(zip(defines, row, strict=True))


def text_of_kernels(source: Source, names: Sequence[str]) -> str:
    """The source with the lines of its other kernels empty; all of it where a define names the kernel."""
    try:
        declared = set(names) <= set(kernels_of(source.text))
        return of_kernels(source, names) if declared else source.text
    except CompileError:
        return source.text


class Translations:
    """The translations of one text that were asked for. ``text``: it, without kernels other than the one named.

    They rely on no promise: ``@triton.jit`` looks by itself which sizes divide by 16. ``constants``: defines that
    all translations have, as if they were in the text.
    """

    def __init__(
        self, source: Source, settings: Settings, constants: Mapping[str, int | float] = MappingProxyType({})
    ) -> None:
        self.source, self.constants = source, constants
        self._settings = settings
        # not a number, which is a parameter
        self._fixed = {name: v if v is True else f"({v})" for name, v in constants.items()}
        self._results: dict[object, Translation | CompileError] = {}
        self.text = text_of_kernels(source, [settings.kernel]) if settings.kernel else source.text
        self._words = frozenset(names_in(self.text))
        self._promised: set[str] = set()
        asked = asked_if_given(source.text)
        self.switches = frozenset(name for name, alone in asked.items() if alone and name not in constants)

    def in_groups(self, group: int) -> Translations:
        """The same text with its programs in groups."""
        return Translations(self.source, replace(self._settings, swizzle=group))

    def of(self, source: Source) -> Translations:
        """The same of another text."""
        return Translations(source, self._settings, self.constants)

    def with_constants(self, constants: Mapping[str, int | float]) -> Translations:
        """The same text with these constants."""
        return Translations(self.source, self._settings, constants)

    def free(self, defines: Defines) -> dict[str, Any]:
        """The defines that are not constants."""
        return {name: value for name, value in defines.items() if name not in self.constants}

    def variants(self, sets: Iterable[Defines]) -> list[Variant]:
        """Those of the define sets that can be translated."""
        return [Variant(defines, t) for defines in sets if isinstance(t := self(defines), Translation)]

    def mentioned(self, defines: Defines) -> dict[str, Any]:
        """The defines that the text mentions, or the text of a define that it mentions; switches are True."""
        reached: set[str] = set()
        read: set[str] = set()  # by the text of a define: their values matter
        fresh = [name for name in defines if name in self._words or "##" in self.text]
        while fresh:
            name = fresh.pop()
            reached.add(name)
            if isinstance(defines[name], str):
                inner = names_in(defines[name])
                read |= {*inner}
                fresh += [other for other in inner if other in defines and other not in reached]
        return {
            name: True if name in self.switches - read else value
            for name, value in defines.items()
            if name in reached and value is not None
        }

    def __call__(self, defines: Defines) -> Translation | CompileError:
        """The translation with the defines that the source mentions, or the errors of it."""
        defines = self.free(self.mentioned(defines))
        key = key_of(defines)
        if key not in self._results:
            try:
                self._results[key] = self._translated(defines)
            except CompileError as error:
                self._results[key] = error
            except RecursionError:
                deep = Diagnostic("error", "TC318", "the source is nested too deeply", self.source)
                self._results[key] = CompileError((deep,))
        return self._results[key]

    def _translated(self, defines: Defines) -> Translation:
        defines = {**defines, **self._fixed}
        while True:
            settings = replace(self._settings, without_promises=tuple(self._promised), portable=True)
            translation = self._alone(defines, settings)
            promised = {p.name for p in translation.parameters if p.multiple_of > 1 or p.aligned > 1}
            if promised <= self._promised:
                return _rounded(translation, defines)
            self._promised |= promised

    def _alone(self, defines: Defines, settings: Settings) -> Translation:
        """The translation; where other kernels of the source lack defines, without them."""
        try:
            return translate_as(self.source, defines, settings)
        except CompileError:
            if self.text == self.source.text:
                raise
        alone = translate_as(replace(self.source, text=self.text), defines, settings)
        return replace(alone, kernels=(*kernels_of(self.source.text),))


def _rounded(translation: Translation, defines: Defines) -> Translation:
    """Halves, and numbers of a type that is a define, passed as doubles and rounded once, in the body.

    So one function takes the numbers of all these types. An int is one of them if the define is the type of a
    pointer as well: for others Triton knows whether they are multiples of 16.
    """
    tree = translation.tree
    words = {
        p.identifier: defines.keys() & re.findall(r"\w+", p.declaration)[:-1] for p in translation.parameters
    }
    of_pointers = {
        word
        for p in translation.parameters
        if isinstance(p.type, PointerType)
        for word in words[p.identifier]
    }
    types = {
        p.identifier: p.type
        for p in translation.parameters
        if p.type == HALF
        or (p.type in (FLOAT, DOUBLE, BFLOAT16) and words[p.identifier])
        or (p.type == INT and words[p.identifier] & of_pointers)
    }
    wide = (p._replace(annotation="tl.float64") if p.name in types else p for p in tree.parameters)
    rounded = (
        Simple(f"{name} = ", Call("tl.full", (Tuple(()), Atom(name), Atom(f"tl.{type_.triton}"))), tree.line)
        for name, type_ in types.items()
    )
    tree = tree._replace(parameters=tuple(wide), body=(*rounded, *tree.body))
    text, lines = printed(tree)
    return replace(translation, tree=tree, text=text, lines=lines) if types else translation
