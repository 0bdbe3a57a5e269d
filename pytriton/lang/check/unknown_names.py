"""Cures for names that are unknown at their place.

Input: the name, where it stands, and what the text declares and defines. Output: notes and a cure for the
message. The likeliest reason comes first: a word of another language, a macro without its arguments, a variable
whose block has ended or that is declared only later, a misspelling, a missing define.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pytriton.errors import closest
from pytriton.frozen import record
from pytriton.lang.check.context import Scope
from pytriton.lang.parse import syntax
from pytriton.lang.parse.habits import OTHER_FUNCTIONS, OTHER_NAMES
from pytriton.lang.tree.builtins import function_names
from pytriton.source import Span

_LIKE_A_DEFINE: Final = re.compile(r"[A-Z][A-Z0-9_]+")
_INFINITIES: Final = {"INFINITY", "F32_INFINITY", "F16_INFINITY"}


@record
class Cure:
    """The notes and the help of a message."""

    help: str
    notes: tuple[tuple[str, Span], ...] = ()


def unknown_name(name: str, at: Span, scope: Scope, body: syntax.Block | None) -> Cure:
    """For a variable that is not declared at ``at``; ``body`` is that of the kernel."""
    if name in OTHER_NAMES:
        return Cure(OTHER_NAMES[name])
    if name in scope.numbers:
        return Cure("it is in defines, but an '#undef' in the source removes it: delete that line")
    macro = scope.macros.get(name)
    if macro is not None and macro.params is not None:
        notes = (("the macro is defined here", macro.where),) if macro.where is not None else ()
        return Cure(f"write '{name}({', '.join(macro.params)})'", notes)
    elsewhere = _declared_elsewhere(name, at, body)
    if elsewhere is not None:
        return elsewhere
    constants = {word for word, macro in scope.macros.items() if macro.params is None and word[:2] != "__"}
    near = closest(name, (scope.visible() | constants | _INFINITIES) - {name})
    define = f"give it in defines, as in defines={{'{name}': ...}}"
    if near is None:
        return Cure(f"{define}, or declare it")
    return Cure(f"did you mean '{near}'?" + (f" Else {define}" if _LIKE_A_DEFINE.fullmatch(name) else ""))


def unknown_function(name: str, scope: Scope) -> Cure:
    """For a call of an unknown function."""
    if name in OTHER_FUNCTIONS:
        return Cure(OTHER_FUNCTIONS[name])
    macros = (word for word, macro in scope.macros.items() if macro.params is not None)
    near = closest(name, (*function_names(), *macros))
    return Cure(f"did you mean '{near}'?" if near else "only built-in functions can be called; write a macro")


def _declared_elsewhere(name: str, at: Span, body: syntax.Block | None) -> Cure | None:
    """For a variable of this kernel whose block has ended, or whose declaration is still to come."""
    later: Span | None = None
    earlier: Span | None = None
    for declarator in _declarators(body):
        assert declarator.name is not None
        where = declarator.name.span
        if declarator.name.text != name or where.source is not at.source:
            continue
        value = declarator.initializer
        if value is not None and value.span.start <= at.start < value.span.end:
            return Cure("a variable has no value yet where it is declared")
        if where.start < at.start:
            earlier = where
        elif later is None:
            later = where
    if earlier is not None:
        help_ = "declare it before that block"
        return Cure(help_, (("it was declared here, in an inner block that has ended", earlier),))
    if later is not None:
        return Cure("declare it before it is used", (("it is declared here, later", later),))
    return None


def _declarators(body: syntax.Block | None) -> Iterator[syntax.Declarator]:
    """The variables that a block declares, those of inner blocks included, in order."""
    pending: list[syntax.Statement | None] = [body]
    while pending:
        match pending.pop():
            case syntax.Declaration(specifiers=specifiers, declarators=declarators):
                if not specifiers.has("typedef"):
                    yield from (declarator for declarator in declarators if declarator.name is not None)
            case syntax.Block(items=items):
                pending += reversed(items)
            case syntax.If(then=then, otherwise=otherwise):
                pending += (otherwise, then)
            case syntax.For(init=init, body=inner):
                pending += (inner, init)
            case syntax.While(body=inner) | syntax.DoWhile(body=inner):
                pending.append(inner)
