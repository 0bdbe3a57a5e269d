"""What to say of a name that means nothing at its place.

Input: the name, where it stands, and what the text declares and defines. Output: notes and a cure for the
message. The likeliest reason comes first: a word of another language, a macro without its arguments, a variable
whose block has ended or that is declared only later, a misspelling, a missing define.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Final

from pytriton.errors import closest
from pytriton.frozen import dataclass
from pytriton.lang.check.context import Scope
from pytriton.lang.parse import syntax
from pytriton.lang.tree.builtins import function_names
from pytriton.source import Span

__all__ = ["Cure", "unknown_function", "unknown_name"]

_LIKE_A_DEFINE: Final = re.compile(r"[A-Z][A-Z0-9_]+")
_INFINITIES: Final = {"INFINITY", "F32_INFINITY", "F16_INFINITY"}

# What people write who know C, CUDA, Python or today's Triton.
_OTHER_NAMES: Final = {
    **dict.fromkeys(["NULL", "nullptr", "None"], "write '0'; a pointer can be compared with it"),
    **dict.fromkeys(["inf", "HUGE_VAL", "HUGE_VALF"], "write 'INFINITY'"),
    **dict.fromkeys(["nan", "NAN"], "write 'INFINITY - INFINITY'"),
    **dict.fromkeys(["M_PI", "pi"], "write '3.141592653589793f'"),
    **dict.fromkeys(["FLT_MAX", "FLT_MIN", "DBL_MAX", "HALF_MAX"], "write the number, or 'INFINITY'"),
    "INT_MAX": "write '0x7fffffff'",
    "INT_MIN": "write '(-0x7fffffff - 1)'",
    "True": "write 'true'",
    "False": "write 'false'",
    "threadIdx": "a program works on whole blocks, as in 'int rm[TM] = 0 ... TM'",
    "blockIdx": "write 'get_program_id(axis)'",
}
_OTHER_FUNCTIONS: Final = {
    "bitcast": "write 'bitcast<int>(x)'",
    "__syncthreads": "write '__debug_barrier()'",
    "__threadfence": "write '__debug_barrier()'; atomics order memory between programs",
    "__ldg": "write '*p'",
    "arange": "write '0 ... TM'",
    "calloc": "a buffer is declared outside of kernels",
    "assert": "'_Static_assert(condition, \"why\")' tests a constant; test values in Python",
    "static_assert": "write '_Static_assert(condition, \"why\")'",
    "atomicAdd": "write 'atomic_add(p, x)'",
    "atomicCAS": "write 'atomic_cas(p, old, new)'",
    "atomicExch": "write 'atomic_xchg(p, x)'",
    **dict.fromkeys(
        ["atomicMax", "atomicMin", "atomicSub", "atomic_max", "atomic_min", "atomic_sub"],
        "there are atomic_add, atomic_cas and atomic_xchg",
    ),
    "cdiv": "write '(a + b - 1) / b'",
    "broadcast_to": "write '(float[TM, TN])x'",
    **dict.fromkeys(["elif", "elseif", "elsif"], "write 'else if (...)'"),
    "expand_dims": "write 'x[:, newaxis]'",
    **dict.fromkeys(["fmax", "fmaxf", "maximum"], "write 'max(a, b)'"),
    **dict.fromkeys(["fmin", "fminf", "minimum"], "write 'min(a, b)'"),
    "fmodf": "write 'x - floor(x / y) * y'",
    "load": "write '*p', or '*?(mask)p'",
    "malloc": "declare a block, as in 'float x[TM]'",
    **dict.fromkeys(["matmul", "mm"], "write 'a @ b'"),
    "multiple_of": "write 'int n __multipleof(8)' where it is declared",
    **dict.fromkeys(["permute", "transpose"], "write 'x[^1, ^0]', or '^x'"),
    **dict.fromkeys(["fprintf", "print", "puts"], "write 'printf(\"x %f\", x)'"),
    "program_id": "write 'get_program_id(axis)'",
    "num_programs": "write 'get_num_programs(axis)'",
    "range": "write '0 ... TM', or 'for (int i = 0; i < n; i += 1)'",
    "reshape": "write '(float[TM * TN])x'",
    **dict.fromkeys(["static_cast", "reinterpret_cast"], "write '(float)x', or 'bitcast<float>(x)'"),
    "store": "write '*p = x', or '*?(mask)p = x'",
    "sum": "write 'x[+]', or 'x[:, +]' for the second of two axes",
    "swap": "write three assignments",
    "where": "write 'condition ? a : b'",
    "zeros": "write 'float x[TM, TN] = 0'",
    "zeros_like": "write 'float x[TM, TN] = 0'",
}


@dataclass(frozen=True, slots=True)
class Cure:
    """The notes and the help of a message."""

    help: str
    notes: tuple[tuple[str, Span], ...] = field(default=())


def unknown_name(name: str, at: Span, scope: Scope, body: syntax.Block | None) -> Cure:
    """For a variable that is not declared at ``at``; ``body`` is that of the kernel."""
    if name in _OTHER_NAMES:
        return Cure(_OTHER_NAMES[name])
    if name in scope.numbers:
        return Cure("it is in defines, but an '#undef' of the text takes it away: remove that")
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
    """For a call of something that is no built-in function."""
    if name in _OTHER_FUNCTIONS:
        return Cure(_OTHER_FUNCTIONS[name])
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
        return Cure(help_, (("it was declared in an inner block, which has ended: here", earlier),))
    if later is not None:
        return Cure("declare it before it is used", (("it is declared only later, here", later),))
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
