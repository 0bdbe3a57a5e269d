"""Which parameters a text stores to, whatever the defines are that are not known.

Input: a text, the defines that are known, and the names of those that are given without their value showing.
Output: the positions of the parameters that are stored to *for certain* and *perhaps*. Nothing is guessed: the two
differ wherever it depends on what is not known.

Each ``#if`` that asks for something unknown is tried both ways. For each way the syntax tree is read, in which an
unknown define is a name like any other: what is stored through, and first in an atomic, is followed back through
pointer variables to parameters. Such a define stands for a type, a number, a name or an expression that stores
nothing. Where it could be more (a statement, the thing that is stored to, a function that is given a pointer),
everything is possible.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pytriton.errors import CompileError, Report
from pytriton.lang.open_defines import stands_for_type, unknown_names
from pytriton.lang.parse import syntax
from pytriton.lang.parse.terminals import terminals
from pytriton.lang.read import read
from pytriton.lang.tokens import Kind, Token, scan, tokenize
from pytriton.lang.tree.builtins import atomic_add_name, function_names
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = ["Stores", "stores"]

MAX_CONDITIONS: Final = 6  # that are tried both ways, so 64 texts
MAX_PARAMETERS: Final = 256  # where a text stores to is anybody's guess: at all these positions

_FUNCTIONS: Final = frozenset(function_names())


class Stores(NamedTuple):
    """Positions of parameters: those that are stored to for certain, and those that may be."""

    sure: frozenset[int]
    may: frozenset[int]


ANYTHING: Final = Stores(frozenset(), frozenset(range(MAX_PARAMETERS)))


class _Unclear(Exception):
    """It may store to anything."""


def stores(
    source: Source, settings: Settings, known: Mapping[str, object], unknown: Set[str], more: bool
) -> Stores:
    """What a kernel of a text stores to. ``unknown``: names that are given; ``more``: others may be given, too."""
    try:
        ways = [Source(text, source.name) for text in _ways(source, known, unknown, more)]
        results = [_of_one_way(way, settings, known, unknown) for way in ways]
    except (CompileError, _Unclear):
        return ANYTHING
    if not results:
        return ANYTHING
    return Stores(
        frozenset.intersection(*(result.sure for result in results)),
        frozenset.union(*(result.may for result in results)),
    )


# One way through the text.


def _of_one_way(source: Source, settings: Settings, known: Mapping[str, object], unknown: Set[str]) -> Stores:
    """The stores of a text, all of whose conditions are decided; raises CompileError and _Unclear."""
    file = read(source, {**_fillers(source, unknown), **known}, Report(), settings.include_dirs).tree
    functions = [item for item in file.items if isinstance(item, syntax.Function)]
    kernels = [item for item in functions if settings.kernel in (None, _name(item.declarator))]
    if not kernels:
        raise _Unclear
    parameters = [declarator for _, declarator in kernels[0].declarator.parameters or ()]
    buffers = [node for item in file.items if item not in functions for node in _nodes(item)]
    pointers = [*parameters, *(node for node in buffers if isinstance(node, syntax.Declarator))]
    walk = _Walk({_name(declarator) for declarator in pointers if declarator.stars})
    for node in _nodes(kernels[0].body):
        walk.visit(node)
    origins = [walk.origins(names) for names in walk.stored]
    at = {_name(declarator): position for position, declarator in enumerate(parameters)}
    return Stores(
        frozenset(at[name] for names in origins if len(names) == 1 for name in names if name in at),
        frozenset(at[name] for names in origins for name in names if name in at),
    )


def _fillers(source: Source, unknown: Set[str]) -> dict[str, str]:
    """What unknown defines must be for the text to have a syntax: a type, or nothing beside an operand."""
    tokens = _code(source)
    unknown = unknown | unknown_names(tokens)
    fillers: dict[str, str] = {}
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        name = token.text
        if name not in unknown:
            continue
        if stands_for_type(name, source.text):
            fillers[name] = "float"
        elif _is_operand(before) or (before.text in _WITHIN and _is_operand(after)):
            fillers.setdefault(name, "")  # "x HOLE" and "= HOLE x"
    return fillers


def _code(source: Source) -> list[Token]:
    """The tokens outside of directives."""
    code: list[Token] = []
    directive = False
    for token in tokenize(source, Report()):
        directive = token.text == "#" if token.newline else directive
        code += [] if directive else [token]
    return code


def _is_operand(token: Token) -> bool:
    return token.kind in (Kind.IDENT, Kind.CONSTEXPR, Kind.NUMBER) and token.text not in terminals()


_WITHIN: Final = frozenset("( , = + - * / % & | ^ < > ? :".split())  # an expression goes on after them


def _name(declarator: syntax.Declarator) -> str:
    return declarator.name.text if declarator.name else ""


def _nodes(node: Any) -> Iterator[Any]:
    """A node of the syntax tree, and all below it."""
    if isinstance(node, tuple):
        for item in node:
            yield from _nodes(item)
    elif type(node).__module__ == syntax.__name__:
        yield node
        for name in type(node).__match_args__:
            yield from _nodes(getattr(node, name))


@dataclass
class _Walk:
    """One body. ``given``: the pointers among the parameters, and the constant buffers; ``leads``: what pointers
    are made of; ``stored``: what the pointer of each store is made of.
    """

    given: set[str]
    leads: dict[str, set[str]] = field(default_factory=dict)
    stored: list[set[str]] = field(default_factory=list)

    def visit(self, node: Any) -> None:
        match node:
            case syntax.ExpressionStatement(expression=syntax.Name()):
                raise _Unclear  # a define that may be any statement
            case syntax.Declarator() if node.stars and node.initializer is not None:
                self.lead(_name(node), node.initializer)
            case syntax.Assign(target=syntax.Name(id=name), value=value):
                if node.operator == "=":
                    self.lead(name, value)
            case syntax.Assign(target=target):
                self.store(target)
            case syntax.Prefix(operator="++" | "--", operand=target) | syntax.Postfix(operand=target):
                if not isinstance(target, syntax.Name):
                    self.store(target)
            case syntax.Call():
                self.call(node)

    def lead(self, name: str, value: syntax.Expr) -> None:
        self.leads.setdefault(name, set()).update(_bases(value))

    def store(self, target: syntax.Expr) -> None:
        match target:
            case syntax.Prefix(operator="*", operand=pointer) | syntax.MaskedDeref(pointer=pointer):
                self.stored.append(_bases(pointer))
            case _:
                raise _Unclear

    def call(self, node: syntax.Call) -> None:
        callee = node.callee
        if isinstance(callee, syntax.Call):  # atomic_add(TYPE, TM, TN)(p, v, m)
            callee = callee.callee
        elif node.arguments and isinstance(node.arguments[0], syntax.TypeName):
            return  # the inner one
        name = callee.id if isinstance(callee, syntax.Name) else ""
        bases = [_bases(argument) for argument in node.arguments]
        if atomic_add_name(name) or name in ("atomic_cas", "atomic_xchg"):
            self.stored.append(bases[0] if bases else set())
        elif name not in _FUNCTIONS and any(
            base in self.given or base in self.leads for base in set().union(*bases)
        ):
            raise _Unclear  # an unknown define may be an atomic

    def origins(self, names: Set[str]) -> set[str]:
        """The parameters and buffers that pointers may come from; raises _Unclear if there are none."""
        reached, left, origins = set[str](), set(names), set[str]()
        while left:
            name = left.pop()
            reached.add(name)
            left |= self.leads.get(name, set()) - reached
            if name in self.given:
                origins.add(name)
        if not origins:
            raise _Unclear
        return origins


def _bases(node: Any) -> set[str]:
    """The names that a pointer may be made of: not what is loaded, called, asked or indexed on the way."""
    match node:
        case syntax.Name(id=name):
            return {name}
        case syntax.Prefix(operator="*") | syntax.MaskedDeref():
            return set()
        case syntax.Subscript(operand=operand) | syntax.Cast(operand=operand):
            return _bases(operand)
        case syntax.Select(yes=yes, no=no):
            return _bases(yes) | _bases(no)
        case syntax.Call(arguments=arguments):
            return set[str]().union(*map(_bases, arguments))
        case syntax.Assign(value=value):
            return _bases(value)
        case syntax.Binary(left=left, right=right):
            return _bases(left) | _bases(right)
        case (
            syntax.Prefix(operand=operand) | syntax.Postfix(operand=operand) | syntax.Bitcast(operand=operand)
        ):
            return _bases(operand)
    return set()


# The arms of #if.


@dataclass(frozen=True)
class _Condition:
    """A directive that asks, as the text has it from ``start`` to ``end``; ``names``: all it may depend on."""

    start: int
    end: int
    word: str
    tokens: tuple[str, ...]


def _ways(source: Source, known: Mapping[str, object], unknown: Set[str], more: bool) -> Iterator[str]:
    """The text with each undecided condition decided, once for each way; nothing if there are too many."""
    conditions, macros, includes = _directives(source)
    more = more or includes
    decided: dict[_Condition, bool] = {}
    undecided: dict[tuple[str, ...], list[_Condition]] = {}
    for condition in conditions:
        if condition.word in ("ifdef", "ifndef"):
            name = condition.tokens[0] if condition.tokens else ""
            if name in unknown:
                decided[condition] = condition.word == "ifdef"
            elif more and name not in known and name not in macros:
                undecided.setdefault(("defined", name), []).append(condition)
        elif any(_is_unknown(name, known, unknown, macros, more) for name in condition.tokens):
            undecided.setdefault(condition.tokens, []).append(condition)
    if len(undecided) > MAX_CONDITIONS:
        return
    for answers in itertools.product([False, True], repeat=len(undecided)):
        way = dict(decided)
        for answer, alike in zip(answers, undecided.values(), strict=True):
            way |= {each: answer != (each.word == "ifndef") for each in alike}
        text = source.text
        for each in sorted(way, key=lambda asked: asked.start, reverse=True):
            word = "elif" if each.word == "elif" else "if"
            text = f"{text[: each.start]}{word} {int(way[each])}{text[each.end :]}"
        yield text


def _directives(source: Source) -> tuple[list[_Condition], dict[str, set[str]], bool]:
    """The conditions of a text, the names in the bodies of its macros, and whether it includes others."""
    tokens, _ = scan(source, Report())
    conditions: list[_Condition] = []
    macros: dict[str, set[str]] = {}
    includes = False
    for at, token in enumerate(tokens):
        if token.text != "#" or not token.newline:
            continue
        line = list(itertools.takewhile(lambda later: not later.newline, tokens[at + 1 :]))
        word = line[0].text if line else ""
        if word in ("if", "ifdef", "ifndef", "elif"):
            words = tuple(later.text for later in line[1:])
            conditions.append(_Condition(line[0].span.start, line[-1].span.end, word, words))
        elif word == "define" and len(line) > 1:
            macros.setdefault(line[1].text, set()).update(later.text for later in line[2:])
        includes |= word == "include"
    return conditions, macros, includes


def _is_unknown(
    name: str, known: Mapping[str, object], unknown: Set[str], macros: Mapping[str, Set[str]], more: bool
) -> bool:
    """Whether a word of a condition depends on a define without a value, by itself or through macros."""
    reached, left = set[str](), {name}
    while left:
        word = left.pop()
        reached.add(word)
        if word in unknown:
            return True
        if word not in known:
            if more and word.isidentifier() and word not in macros and word != "defined":
                return True
            left |= macros.get(word, set()) - reached
    return False
