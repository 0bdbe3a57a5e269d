"""What the compiler gets about a kernel's arguments: signature, constants and attributes.

Three separate decisions:

* *Types* are the declared ones, never guessed from Python values (``signature_type``).
* *Divisibility*: an address or integer that is a multiple of 16, or of 8, is compiled as one. (Triton itself looks
  for 16 only; 8 halves are 16 bytes, so with sizes such as 1000 it loses every vector.) Any other keeps what its
  ``__multipleof`` or ``__aligned`` promises; the launcher has checked that, so it is exact.
* *Ones*: an integer that is 1, a stride as a rule, is compiled as the constant 1 (``pin_ones``). Triton makes
  it a ``constexpr``, a Python number that divides by floor and has neither width nor methods. Here the text
  gets ``lda = tl.full((), 1, tl.int32)``: the same knowledge with the declared type. Bools and floats are
  never specialised by value.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytriton.emit.python import Atom, Call, Node
from pytriton.lang.tree.types import BFLOAT16, PointerType, ScalarType
from pytriton.passes.analysis.affine import is_wide_integer
from pytriton.pipeline import Parameter, Translation, begun_with
from pytriton.runtime.launch.arguments import BY_8, BY_16, ONE, PLAIN

_LETTERS: Final = {"bool": "i", "int": "i", "uint": "u", "float": "fp"}


def signature_type(type_: ScalarType | PointerType) -> str:
    """Triton's code of a parameter type: ``i32``, ``*fp16``; a pointer to pointers is ``*i64``."""
    if isinstance(type_, PointerType):
        pointed = type_.element
        return "*i64" if isinstance(pointed, PointerType) else f"*{_code(pointed)}"
    return "u1" if type_.kind == "bool" else _code(type_)


def _code(type_: ScalarType) -> str:
    return "bf16" if type_ == BFLOAT16 else f"{_LETTERS[type_.kind]}{type_.bits}"


_DIVISORS: Final = {BY_16: 16, BY_8: 8}


def specialize(
    parameters: Sequence[Parameter],
    constexprs: Mapping[str, int | float],
    specialization: Sequence[int],
    argument_names: Sequence[str],
) -> dict[str, Any]:
    """The arguments of ``triton.compiler.ASTSource`` beside the function, for a specialization (a kind for each
    parameter).

    ``argument_names`` are those of the generated function: the parameters in order, then the constexprs.
    """
    signature = {param.identifier: signature_type(param.type) for param in parameters}
    signature |= dict.fromkeys(argument_names[len(parameters) :], "constexpr")
    if list(signature) != list(argument_names) or set(argument_names[len(parameters) :]) != set(constexprs):
        raise AssertionError(f"the generated function takes {argument_names}, not {list(signature)}")
    constants: dict[tuple[int, ...], Any] = {
        (position,): constexprs[name]
        for position, name in enumerate(argument_names)
        if position >= len(parameters)
    }
    attributes: dict[tuple[int, ...], list[list[Any]]] = {}
    for position, (parameter, kind) in enumerate(zip(parameters, specialization, strict=True)):
        divisor = max(_DIVISORS.get(kind, 1), _promised(parameter))
        if divisor > 1:
            attributes[position,] = [["tt.divisibility", divisor]]
    return {"signature": signature, "constexprs": constants, "attrs": attributes}


def _promised(parameter: Parameter) -> int:
    """The largest power of two that divides the promise; Triton uses no more than 16."""
    promise = parameter.aligned if isinstance(parameter.type, PointerType) else parameter.multiple_of
    return min(16, promise & -promise)


def common_specialization(parameters: Sequence[Parameter]) -> tuple[int, ...]:
    """The specialization of the common call: aligned pointers, and nothing known about integers."""
    return tuple(BY_16 if isinstance(p.type, PointerType) else PLAIN for p in parameters)


def pin_ones(translation: Translation, specialization: Sequence[int]) -> Translation:
    """The translation with the integers that are 1 fixed at the top of the kernel's body."""
    kinds = zip(translation.parameters, specialization, strict=True)
    ones = [
        param
        for param, kind in kinds
        if kind == ONE and isinstance(param.type, ScalarType) and is_wide_integer(param.type)
    ]
    return begun_with(translation, [_set(param, "1") for param in ones])


def pin_types(translation: Translation) -> Translation:
    """The translation with every scalar cast to its declared type at the top of the kernel's body.

    For launchers other than ours, which guess a scalar's type from its value and make a 1 a ``constexpr``.
    """
    scalars = [param for param in translation.parameters if isinstance(param.type, ScalarType)]
    return begun_with(translation, [_set(param, param.identifier) for param in scalars])


def _set(parameter: Parameter, value: str) -> tuple[str, Node]:
    """``n = tl.full((), 1, tl.int32)``"""
    assert isinstance(parameter.type, ScalarType)
    given = Atom("()"), Atom(value), Atom(f"tl.{parameter.type.triton}")
    return f"{parameter.identifier} = ", Call("tl.full", given)


def reads_parameter(translation: Translation, position: int) -> bool:
    """Whether the kernel's body reads the parameter at a 0-based position at all."""
    name = translation.parameters[position].identifier
    return any(
        isinstance(node, ast.Name) and node.id == name for node in ast.walk(ast.parse(translation.text))
    )
