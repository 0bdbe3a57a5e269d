"""Defines that are integers of a launch -> integer parameters of the kernel.

Old sources choose a layout by texts: ``STRIDE_AM`` is ``lda`` in one launch and ``1`` in another. Each choice would
be an arm of its own in the ported kernel. By hand one writes a parameter, and passes ``lda`` or 1.

Input: a source and the define sets of one kernel. Output: the source with a parameter for each such define, or None
where there is none. A define becomes a parameter of type int where

* in each set it is an integer, the name of an int parameter, or the name of a define that is an integer, and in
  some set it is such a name; no other names are accepted;
* the text has it in expressions only: no directive asks for it, nothing is pasted to it, no other define names it;
* the lines of this kernel have it (there may be others in the text);
* where a set has a translation, there is one with the parameter as well.

The names and numbers are single tokens, so an expression means the same with the parameter. prove.py compares the
compiled kernels with a number for each, which nothing can assign or declare. A name that the text has only once, as
a parameter, then is what was passed, too; with other names each known combination is compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from keyword import kwlist
from typing import Any, Final

from pytriton.errors import Report
from pytriton.fold.variants import names_in, number
from pytriton.lang.preprocess.structure import Directive, lines_of
from pytriton.lang.tokens import Kind, Token, scan
from pytriton.legacy.sources import functions
from pytriton.pipeline import Translation
from pytriton.port.jobs.translations import Defines, Translations, key_of, text_of_kernels
from pytriton.source import Source

PASTING: Final = ("#", "##")  # in the body of a macro


@dataclass(frozen=True)
class Arguments:
    """The source with the parameters, and its translations.

    ``names``: the define of each parameter. ``identifiers``: those of the int parameters that texts may name;
    ``unchanged``: of these, what the text has nowhere else.
    """

    translations: Translations
    names: Mapping[str, str]
    identifiers: Mapping[str, str]
    unchanged: frozenset[str]

    def general(self, defines: Defines) -> dict[str, Any]:
        """The defines that became parameters: as numbers, where the proof of numbers is one of these."""
        own = {name: defines[name] for name in self.names.values()}
        texts = {value for value in map(number, own.values()) if isinstance(value, str)}
        numbers = {name: 1001 + 2 * place for place, name in enumerate(own)}
        return numbers if texts <= self.unchanged else own

    def without(self, defines: Defines) -> dict[str, Any]:
        """The defines that are left."""
        return {name: value for name, value in defines.items() if name not in self.names.values()}

    def values(self, defines: Defines) -> dict[str, int | str]:
        """What each parameter is: a number, or the identifier of another parameter."""
        given = {parameter: _value(defines, name) for parameter, name in self.names.items()}
        return {parameter: self.identifiers.get(value, value) for parameter, value in given.items()}

    def accepts(self, defines: Defines) -> bool:
        """Whether each of the defines is an int, or names one."""
        return all(_is_int(_value(defines, name), self.identifiers) for name in self.names.values())


def integer_arguments(sets: Sequence[Defines], translations: Translations) -> Arguments | None:
    """The source with the parameters; None where no define can be one."""
    first = next((t for t in map(translations, sets) if isinstance(t, Translation)), None)
    if first is None:
        return None
    source = translations.source
    tokens, _ = scan(source, Report())
    named = {number(value) for defines in sets for value in defines.values()}
    identifiers = {p.name: p.identifier for p in first.parameters if str(p.type) == "int" and p.name in named}
    own = text_of_kernels(source, [first.kernel])
    names = dict(_named(tokens, {*_integers(sets, identifiers)}.intersection(names_in(own))))
    general = translations.of(
        Source(_with_parameters(source.text, tokens, names), source.name, source.origin)
    )
    texts = [str(row[name]) for row in sets for name in row.keys() - names.values()]
    words = names_in("\n".join([own, *texts]))
    unchanged = frozenset(name for name in identifiers if words.count(name) == 1 and "##" not in own)
    arguments = Arguments(general, names, identifiers, unchanged)
    rows = {key_of(arguments.without(defines)): defines for defines in sets}.values()
    wanted = [arguments.without(variant.defines) for variant in translations.variants(rows)]
    return arguments if names and len(general.variants(wanted)) == len(wanted) else None


def _value(defines: Defines, name: str) -> Any:
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
