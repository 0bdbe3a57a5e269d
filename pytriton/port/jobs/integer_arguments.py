"""Defines that are integers of a launch -> integer parameters of the kernel.

Old sources choose a layout by texts: ``STRIDE_AM`` is ``lda`` in one launch and ``1`` in another. Each choice would
be an arm of its own in the ported kernel. By hand one writes a parameter, and passes ``lda`` or 1.

Input: a source and the define sets of one kernel. Output: the source with a parameter for each such define, or None
where there is none. A define becomes a parameter of type int where

* in each set it is an integer, the name of an int parameter, or the name of a define that is an integer, and in
  some set it is such a name;
* the text has it in expressions only: no directive asks for it, nothing is pasted to it, no other define names it;
* every set that has a translation has one with the parameter as well.

The names and numbers are single tokens, so an expression means the same with the parameter. What the translator
makes of it may differ (a barrier that a stride of 1 proves needless): prove.py compares the compiled kernels of all
sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytriton.fold.variants import number
from pytriton.pipeline import Translation
from pytriton.port.jobs.translations import Defines, Translations
from pytriton.source import Source

_NO_CODE: Final = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"', re.DOTALL)
_DIRECTIVE: Final = re.compile(r"^[ \t]*#[ \t]*(\w+)((?:\\\n|[^\n])*)", re.MULTILINE)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_FUNCTION: Final = re.compile(r"\bvoid\s+\w+\s*\(")


@dataclass(frozen=True)
class Arguments:
    """``names``: the define of each parameter. ``identifiers``: those of the int parameters that texts may name."""

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
        values: dict[str, int | str] = {}
        for parameter, name in self.names.items():
            value = _value(defines, name)
            values[parameter] = value if isinstance(value, int) else self.identifiers[str(value)]
        return values

    def accepts(self, defines: Defines) -> bool:
        """Whether each of the defines is a number, or names an int."""
        values = (_value(defines, name) for name in self.names.values())
        return all(isinstance(value, int) or value in self.identifiers for value in values)


def integer_arguments(sets: Sequence[Defines], translations: Translations) -> Arguments | None:
    """The source with the parameters; None where no define can be one."""
    known = [(defines, translations(defines)) for defines in sets]
    translated = [(defines, t) for defines, t in known if isinstance(t, Translation)]
    if not translated:
        return None
    identifiers = {
        p.name: p.identifier for p in translated[0][1].parameters if getattr(p.type, "name", "") == "int"
    }
    source = translations.source
    integers = set(_integers([defines for defines, _ in translated], identifiers))
    chosen = [word for word in dict.fromkeys(_WORD.findall(source.text)) if word in integers]
    names = dict(_named(source.text, chosen))
    text = _with_parameters(source.text, names) if names else None
    if text is None:
        return None
    general = translations.of(Source(text, source.name, source.origin))
    arguments = Arguments(general.source, general, names, identifiers)
    served = (isinstance(general(arguments.without(defines)), Translation) for defines, _ in translated)
    return arguments if all(served) else None


def _value(defines: Defines, name: str) -> object:
    """The value of a define, or of the define that it names."""
    value = number(defines.get(name))
    return number(defines[value]) if isinstance(value, str) and value in defines else value


def _integers(sets: Sequence[Defines], identifiers: Mapping[str, str]) -> Iterator[str]:
    """The defines that are an integer in all sets, and a name in some."""
    texts = {value for defines in sets for value in map(number, defines.values()) if isinstance(value, str)}
    named = {word for text in texts for word in _WORD.findall(text)}
    for name in set().union(*sets) - named:
        values = [_value(defines, name) for defines in sets]
        whole = all(type(value) is int or value in identifiers for value in values)
        if whole and any(isinstance(number(defines.get(name)), str) for defines in sets):
            yield name


def _named(text: str, defines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The parameter of each define that is in expressions only: its name in lower case."""
    code = _NO_CODE.sub(" ", text)
    taken = set(_WORD.findall(code))
    asked: set[str] = set()
    for word, rest in _DIRECTIVE.findall(code):
        body = rest.split(None, 1)[1:]
        pasted = word == "define" and not any("#" in part for part in body)
        asked |= {*_WORD.findall(rest)[: 1 if pasted else None]}
    for define in defines:
        if define in taken - asked:
            parameter = define.lower()
            while parameter in taken:
                parameter += "_"
            taken.add(parameter)
            yield parameter, define


def _with_parameters(text: str, names: Mapping[str, str]) -> str | None:
    """The text with the parameters at the end of each function's; None where there is no function."""
    code = _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    ends = list(_ends_of_parameters(code))
    if not ends:
        return None
    added = "".join(f", int {parameter}" for parameter in names)
    parameter_of = {define: parameter for parameter, define in names.items()}
    parts: list[str] = []
    start = 0
    edits = [(end, end, added) for end in ends]
    edits += [
        (match.start(), match.end(), parameter_of[match[0]])
        for match in _WORD.finditer(code)
        if match[0] in parameter_of
    ]
    for first, last, written in sorted(edits):
        parts += [text[start:first], written]
        start = last
    return "".join([*parts, text[start:]])


def _ends_of_parameters(code: str) -> Iterator[int]:
    """Where the parameters of each function with a body end."""
    for match in _FUNCTION.finditer(code):
        depth, place = 1, match.end()
        while depth and place < len(code):
            depth += {"(": 1, ")": -1}.get(code[place], 0)
            place += 1
        if not depth and code[place:].lstrip().startswith("{"):
            yield place - 1
