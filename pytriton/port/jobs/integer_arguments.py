"""Defines that are integers of a launch -> integer parameters of the kernel.

Old sources choose a layout by texts: ``STRIDE_AM`` is ``lda`` in one launch and ``1`` in another. Each choice would
be an arm of its own in the ported kernel. By hand one writes a parameter, and passes ``lda`` or 1.

Input: a source and the define sets of one kernel. Output: the source with a parameter for each such define, or None
where there is none. A define becomes a parameter of type int where

* in each set it is an integer, the name of an int parameter, or the name of a define that is an integer, and in
  some set it is such a name; no other names are accepted;
* the text has it in expressions only: no directive asks for it, nothing is pasted to it, no other define names it;
* this kernel reads it (there may be others in the text);
* every set that has a translation has one with the parameter as well.

The names and numbers are single tokens, so an expression means the same with the parameter. What the translator
makes of it may differ (a barrier that a stride of 1 proves needless): prove.py compares the compiled kernels of all
sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from keyword import kwlist
from typing import Any, Final

from pytriton.errors import Report
from pytriton.fold.polish import names_read
from pytriton.fold.variants import names_in, number
from pytriton.lang.preprocess.structure import Directive, lines_of
from pytriton.lang.tokens import Kind, Token, scan
from pytriton.legacy.sources import functions
from pytriton.pipeline import Translation
from pytriton.port.jobs.translations import Defines, Translations
from pytriton.source import Source

PASTING: Final = ("#", "##")  # in the body of a macro


@dataclass(frozen=True)
class Arguments:
    """The source with the parameters, and its translations.

    ``names``: the define of each parameter. ``identifiers``: those of the int parameters that texts may name.
    """

    source: Source
    translations: Translations
    names: Mapping[str, str]
    identifiers: Mapping[str, str]

    def without(self, defines: Defines) -> dict[str, Any]:
        """The defines that are left."""
        return {name: value for name, value in defines.items() if name not in self.names.values()}

    def defines(self, defines: Defines) -> dict[str, Any]:
        """The defines that became parameters."""
        return {name: defines[name] for name in self.names.values()}

    def values(self, defines: Defines) -> dict[str, int | str]:
        """What each parameter is: a number, or the identifier of another parameter. Raises KeyError for others."""
        given = {parameter: _value(defines, name) for parameter, name in self.names.items()}
        return {
            parameter: value if isinstance(value, int) else self.identifiers[str(value)]
            for parameter, value in given.items()
        }

    def accepts(self, defines: Defines) -> bool:
        """Whether each of the defines is an int, or names one."""
        return all(_is_int(_value(defines, name), self.identifiers) for name in self.names.values())


def integer_arguments(sets: Sequence[Defines], translations: Translations) -> Arguments | None:
    """The source with the parameters; None where no define can be one."""
    pairs = [(defines, translations(defines)) for defines in sets]
    translated = [(defines, t) for defines, t in pairs if isinstance(t, Translation)]
    if not translated:
        return None
    source = translations.source
    tokens, _ = scan(source, Report())
    named = {number(value) for defines in sets for value in defines.values()}
    identifiers = {
        p.name: p.identifier
        for p in translated[0][1].parameters
        if getattr(p.type, "name", "") == "int" and p.name in named
    }
    sets = [defines for defines, _ in translated]
    names = dict(_named(tokens, set(_integers(sets, identifiers))))
    while names:
        text = _with_parameters(source.text, tokens, names)
        general = translations.of(Source(text, source.name, source.origin))
        arguments = Arguments(general.source, general, names, identifiers)
        results = [general(arguments.without(defines)) for defines in sets]
        if not all(isinstance(result, Translation) for result in results):
            return None
        read = {name for t in results if isinstance(t, Translation) for name in names_read(t.tree.body)}
        if names.keys() <= read:
            return arguments
        names = {parameter: define for parameter, define in names.items() if parameter in read}
    return None


def _value(defines: Defines, name: str) -> object:
    """The value of a define, or of the define that it names."""
    value = number(defines.get(name))
    return number(defines[value]) if isinstance(value, str) and value in defines else value


def _is_int(value: object, identifiers: Collection[str]) -> bool:
    """Whether a value is of the parameters' type, or names a parameter that is."""
    return value in identifiers if isinstance(value, str) else type(value) is int and abs(value) < 2**31


def _integers(sets: Sequence[Defines], identifiers: Mapping[str, str]) -> Iterator[str]:
    """The defines that are an int in all sets, and a name in some."""
    texts = {value for defines in sets for value in map(number, defines.values()) if isinstance(value, str)}
    named = {word for text in texts for word in names_in(text)}
    for name in set().union(*sets) - named:
        values = [_value(defines, name) for defines in sets]
        named_once = any(isinstance(number(defines.get(name)), str) for defines in sets)
        if named_once and all(_is_int(value, identifiers) for value in values):
            yield name


def _named(tokens: Sequence[Token], defines: Collection[str]) -> Iterator[tuple[str, str]]:
    """The parameter of each define that is in expressions only, its name in lower case, in their order."""
    words = [token.text for token in tokens if token.kind is Kind.IDENT]
    taken, asked = {*words, *kwlist}, set[str]()
    for line in lines_of(tokens):
        if isinstance(line, Directive):
            plain = line.word == "define" and not any(token.text in PASTING for token in line.tokens[1:])
            asked.update(line.names[:1] if plain else line.names)
    for define in dict.fromkeys(words):
        if define in defines and define not in asked:
            parameter = define.lower()
            while parameter in taken:
                parameter += "_"
            taken.add(parameter)
            yield parameter, define


def _with_parameters(text: str, tokens: Sequence[Token], names: Mapping[str, str]) -> str:
    """The text with the parameters at the end of each function's."""
    added = "".join(f", int {parameter}" for parameter in names)
    parameter_of = {define: parameter for parameter, define in names.items()}
    lines = list(lines_of(tokens))
    code = [line for line in lines if isinstance(line, Token)]
    edits = [(t.span.start, t.span.end, parameter_of[t.text]) for t in tokens if t.text in parameter_of]
    for _, start, _ in functions(lines):
        ends = (t.span.start for t, after in pairwise(code) if after.text == "{" and t.span.start >= start)
        end = next(ends)
        edits.append((end, end, added))
    parts: list[str] = []
    at = 0
    for first, last, written in sorted(edits):
        parts += [text[at:first], written]
        at = last
    return "".join([*parts, text[at:]])
