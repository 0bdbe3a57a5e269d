"""Defines that are integers of a launch -> integer variables of the kernel.

Old sources choose a layout by texts: ``STRIDE_AM`` is ``lda`` in one launch and ``1`` in another. Each choice would
be an arm of its own in the ported kernel. So such a define is an int parameter while the kernel is folded; what is
written has a variable in its place: ``stride_am = lda if STRIDE_AM == "lda" else int_of_c(STRIDE_AM)``. The helper
refuses what is not an int of C. Triton makes a tensor of a number that is assigned, so arithmetic is that of the
parameter.

Input: a source and the define sets of one kernel. Output: the source with a parameter for each such define, or None
where there is none. A define becomes a parameter of type int where

* in each set it is an integer, the name of an int parameter, or the name of a define that is an integer, and in
  some set it is such a name; no other names are accepted;
* the text has it in expressions only: no directive asks for it, nothing is pasted to it, no other define names it;
* the lines of this kernel have it (there may be others in the text);
* these parameters are int in all sets, and the text has their names nowhere else, so they are what was passed;
* where a set has a translation, there is one with the parameter, and one with a number, as well.

The names and numbers are single tokens, so an expression means the same with the parameter. prove.py compares the
compiled kernels with a number for each, which nothing can assign or declare.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from keyword import kwlist
from typing import Any, Final

from pytriton.emit.python import CONSTEXPR, Atom, BinOp, Call, Conditional, FunctionParameter, Node, Simple
from pytriton.errors import Report
from pytriton.fold.fold import Folded, asserting
from pytriton.fold.variants import names_in, number
from pytriton.lang.preprocess.structure import Directive, lines_of
from pytriton.lang.tokens import Kind, Token, scan
from pytriton.legacy.sources import functions
from pytriton.pipeline import Translation
from pytriton.port.jobs.translations import Defines, Translations
from pytriton.source import Source

INT: Final = "int_of_c"  # a helper of templates/helpers.py.j2
PASTING: Final = ("#", "##")  # in the body of a macro


@dataclass(frozen=True)
class Arguments:
    """The source with the parameters, and its translations.

    ``names``: the define of each parameter. ``named``: the int parameters and the defines that each of them named.
    """

    translations: Translations
    names: Mapping[str, str]
    named: Mapping[str, Collection[str]]

    @property
    def numbers(self) -> dict[str, int]:
        """The defines that became parameters, each another number: what is proved with them is for all values."""
        return {name: 101 + 2 * place for place, name in enumerate(self.names.values())}

    def without(self, defines: Defines) -> dict[str, Any]:
        """The defines that are left."""
        return {name: value for name, value in defines.items() if name not in self.names.values()}

    def in_body(self, folded: Folded) -> Folded:
        """The kernel with variables in place of the parameters."""
        tree = folded.tree
        own = {parameter.name: parameter for parameter in tree.parameters if parameter.name not in self.names}
        for name in chain(self.names.values(), *self.named.values()):
            own.setdefault(name, FunctionParameter(name, CONSTEXPR))
        variables = (Simple(f"{x} = ", self._choice(name)) for x, name in self.names.items())
        whole = tree._replace(
            parameters=tuple(own.values()),
            body=(*variables, *tree.body),
            helpers=tree.helpers | {INT},
        )
        return asserting(whole, folded.leaves, folded.grouped)

    def _choice(self, name: str) -> Node:
        """``lda if STRIDE_AM == "lda" else int_of_c(STRIDE_AM)``."""
        choice: Node = Call(INT, (Atom(name),))
        for other in self.named[name]:
            choice = Conditional(BinOp("==", Atom(name), Atom(f'"{other}"')), Atom(other), choice)
        return choice

    def accepts(self, defines: Defines) -> bool:
        """Whether each of the defines is an int, or names one as it did."""
        return all(
            _is_int(_value(defines, name), named)
            and number(defines.get(name)) in (_value(defines, name), *named)
            for name, named in self.named.items()
        )


def integer_arguments(sets: Sequence[Defines], translations: Translations) -> Arguments | None:
    """The source with the parameters; None where no define can be one."""
    source = translations.source
    tokens, _ = scan(source, Report())
    words = [token.text for token in scan(Source(translations.text), Report())[0]]
    named = {number(value) for defines in sets for value in defines.values()}
    first = next((t for t in map(translations, sets) if isinstance(t, Translation)), None)
    identifiers = tuple(
        name for name in (_ints(first) if first else ()) if name in named and words.count(name) == 1
    )

    def named_by(identifiers: Collection[str]) -> dict[str, str]:
        return dict(_named(tokens, {*_integers(sets, identifiers)}.intersection(words)))

    names = named_by(identifiers)
    texts = [str(row[name]) for row in sets for name in row.keys() - names.values()]
    others = {*names_in("\n".join(texts))}  # they may be changed by what other defines do with them
    identifiers = tuple(name for name in identifiers if name not in others)
    general = translations.of(
        Source(_with_parameters(source.text, tokens, names), source.name, source.origin)
    )
    values = {name: {number(row.get(name)): None for row in sets} for name in names.values()}
    arguments = Arguments(
        general,
        names,
        {name: tuple(value for value in of if isinstance(value, str)) for name, of in values.items()},
    )

    def is_right(row: Defines) -> bool:
        if not translations.variants([{**row, **arguments.numbers}]):
            return not translations.variants([row])
        found = general(arguments.without(row))
        return isinstance(found, Translation) and _ints(found).keys() >= {*identifiers}

    certain = PASTING[1] not in words and named_by(identifiers) == names
    return arguments if names and certain and all(map(is_right, sets)) else None


def _ints(translation: Translation) -> dict[str, None]:
    """The int parameters that are called as in the source."""
    return {p.name: None for p in translation.parameters if str(p.type) == "int" and p.name == p.identifier}


def _value(defines: Defines, name: str) -> Any:
    """The value of a define, or of the define that it names."""
    value = number(defines.get(name))
    return number(defines[value]) if isinstance(value, str) and value in defines else value


def _is_int(value: object, identifiers: Collection[str]) -> bool:
    """Whether a value is of the parameters' type, or names a parameter that is."""
    return value in identifiers if isinstance(value, str) else type(value) is int and abs(value) < 2**31


def _integers(sets: Sequence[Defines], identifiers: Collection[str]) -> Iterator[str]:
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
