"""CPU tensors: the kernel runs on Triton's interpreter, one program after another, in NumPy.

Left to itself the interpreter guesses a scalar's type from its value (a ``long`` of 5 would be int32) and
copies the storage of every tensor forth and back. It is given finished values instead: scalars of the
declared types and bare addresses, so that views may overlap, addresses may be passed as numbers, and an
absent tensor is a null pointer, all as on a GPU. It needs no environment variable.
"""

from __future__ import annotations

import ast
import ctypes
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import FunctionType
from typing import Any, Final, cast

import numpy

from pytriton.compat.interpreter_names import (
    ASTTransformer,
    InterpretedFunction,
    InterpreterBuilder,
    tl,
)
from pytriton.compat.triton_names import JITFunction
from pytriton.lang.tree.builtins import FLOATS, Conversion, Printed, pieces
from pytriton.lang.tree.types import INT, PointerType, ScalarType
from pytriton.pipeline import Parameter
from pytriton.runtime.bfloat16 import bits_of
from pytriton.runtime.checks.diagnostics import Program, program_of
from pytriton.runtime.compile.load import LoadedModule
from pytriton.runtime.errors import remark, warn_once
from pytriton.runtime.interpret import patches
from pytriton.runtime.interpret.accesses import CheckedAccesses
from pytriton.runtime.interpret.waiting import waiting
from pytriton.runtime.locks import PARSING, interpreting

# ``printf`` on the CPU: C's text on Python's standard output, program after program.
#
# A block prints element after element, row by row; what else the call prints is broadcast to it, as operands are.


def _printer(prints: Sequence[Printed]) -> Callable[..., None]:
    """What generated code calls for these calls of ``printf``, by their numbers."""
    formats = [(*pieces(printed.text), tuple(map(int, printed.shape))) for printed in prints]

    def printed(number: int, *values: Any) -> None:
        conversions, after, shape = formats[number]
        columns = [patches.spread(value, shape).reshape(-1) for value in values]
        for row in zip(*columns, strict=True) if columns else [()]:
            parts = [
                conversion.before + _formatted(conversion, value)
                for conversion, value in zip(conversions, row, strict=True)
            ]
            sys.stdout.write("".join(parts) + after)

    return printed


def _formatted(conversion: Conversion, value: Any) -> str:
    """One value as C prints it; a null pointer is 0x0, and NaN has no sign."""
    letter, given = conversion.letter, cast(Any, ctypes.c_double(value if value == value else math.nan))
    if letter not in FLOATS:
        number = int(value) if letter in "di" else int(value) & (1 << 8 * value.dtype.itemsize) - 1
        given = ctypes.c_longlong(number)
        letter = letter if letter == "c" else "ll" + letter
    if conversion.letter == "p":
        letter, given = "s", ctypes.c_char_p(hex(number).encode())
    printed = f"%{conversion.flags}{conversion.width}{conversion.precision}{letter}".encode()
    snprintf = ctypes.CDLL(None).snprintf
    shown = ctypes.create_string_buffer(1 + snprintf(None, 0, printed, given))
    snprintf(shown, len(shown), printed, given)
    return shown.raw[:-1].decode("latin-1")


class Interpreted:
    """One kernel, ready to run on CPU memory."""

    def __init__(
        self,
        module: LoadedModule,
        parameters: Sequence[Parameter],
        constexprs: Mapping[str, int | float],
        *,
        ones: bool = False,
        prints: Sequence[Printed] = (),
    ) -> None:
        """``ones``: an int that is 1 becomes a Python number, as where ``@triton.jit`` is called. ``prints`` are
        its calls of ``printf``."""
        replaced = {"range": patches.counted, "printed": _printer(prints)}
        self._function = InterpretedFunction(_copied(module.python, **replaced))
        if ones:
            self._function.rewriter.ast_transformer = _Assigned()
        self._parameters = parameters
        self._wrap = [partial(_wrapped, parameter.type) for parameter in parameters]
        self._ones = ones
        self._constexprs = dict(constexprs)

    def run(
        self,
        grid: Program,
        values: Sequence[Any],
        accesses: CheckedAccesses | None = None,
        numbers: Sequence[int] = (),
        *,
        why: str = "",
    ) -> None:
        """Run the programs of these ``numbers``, one after another; raises what Triton's interpreter raises.
        Without numbers all run, as a GPU starts them: a program may wait for one with a lower number.
        ``accesses``: of checked code. ``why``: the reason why C does not run it, where the user asked for C;
        each is reported once."""
        message = f"{_NOTICE} C does not run this one: {why}" if why else _NOTICE
        warn_once(remark(message, "TC560"), _NOTICE + why.partition("\n")[0])
        with PARSING:
            kernel = self._function.rewrite()
        numbers = numbers or range(math.prod(grid))
        with (
            interpreting(),
            patches.patched({**_ALL_PATCHES, **_started(numbers, grid)}),
            patches.patched(waiting(kernel.__code__.co_filename)),
            numpy.errstate(all="ignore"),
        ):
            named = {}
            for parameter, wrap, value in zip(self._parameters, self._wrap, values, strict=True):
                name = parameter.identifier
                named[name] = wrap(value)
                if self._ones and parameter.type == INT:
                    kernel.__annotations__.pop(name, None)
                    if value == 1:
                        kernel.__annotations__[name], named[name] = tl.constexpr, 1
            helpers = {} if accesses is None else accesses.functions
            try:
                self._function.fn.__globals__.update(helpers)
                self._function[(len(numbers),)](**named, **self._constexprs)
            finally:
                self._function.fn.__globals__.update(dict.fromkeys(helpers))  # they hold the user's tensors


def _started(numbers: Sequence[int], grid: Program) -> patches.Patches:
    """The programs of these numbers, instead of those of a grid."""
    left = iter(numbers)

    return {
        (InterpreterBuilder, "set_grid_dim"): lambda given: lambda self, *_: given(self, *grid),
        (InterpreterBuilder, "set_grid_idx"): lambda given: (
            lambda self, *_: given(self, *program_of(next(left), grid))
        ),
    }


class _Assigned(ASTTransformer):  # type: ignore[misc]
    """``n += 1`` makes a tensor of a Python number, as ``n = n + 1`` does: the compiler has it so, too."""

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        assert isinstance(node.target, ast.Name)
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return self.visit(ast.copy_location(ast.Assign([node.target], value), node))


def _copied(function: Any, **replaced: Any) -> FunctionType:
    """The same function over a copy of its globals: the interpreter adds names to those.

    It replaces functions in the modules ``tl`` and ``tl.core`` as far as it sees them among the globals, and
    puts them back at the end. Helpers in Triton's library use both, so the kernel must show it both.
    """
    namespace = {**function.__globals__, "__triton_core__": tl.core, **replaced}
    if "libdevice" in namespace:
        namespace["libdevice"] = patches.LIBDEVICE
    copied = FunctionType(function.__code__, namespace, function.__name__)
    copied.__annotations__ = dict(function.__annotations__)
    copied.__module__ = function.__module__
    return copied


@cache
def _interpreted(function: Any) -> Any:
    return InterpretedFunction(_copied(function)).rewrite()


def _callable(_: Any) -> Any:
    """Let ``@triton.jit`` functions be called while a kernel is interpreted.

    Helpers of the kernel, and much of ``tl`` itself (``tl.zeros``, ``tl.sum``), are such functions; without
    TRITON_INTERPRET in the environment their ``__call__`` only raises.
    """
    # hashing a JITFunction would analyse what is replaced just now
    return lambda function, *arguments, **keywords: _interpreted(function.fn)(*arguments, **keywords)


_ALL_PATCHES: Final = {**patches.PATCHES, **patches.EXACT_BFLOAT16, (JITFunction, "__call__"): _callable}


def _wrapped(type_: ScalarType | PointerType, value: Any) -> Any:
    """The interpreter's value of a launch value (an array of one element, as Triton does)."""
    if isinstance(type_, PointerType):
        data = numpy.array([value], numpy.uint64)
    else:
        data = bits_of([value]) if type_.word == "bfloat16" else numpy.array([value], type_.torch)
    return patches.tensor(data, _triton_type(type_))


def _triton_type(type_: ScalarType | PointerType) -> Any:
    if isinstance(type_, PointerType):
        pointed = type_.element
        # A pointer to pointers points to addresses, which are numbers to Triton.
        return tl.pointer_type(tl.int64 if isinstance(pointed, PointerType) else _triton_type(pointed))
    return getattr(tl, type_.triton)


_NOTICE: Final = (
    "pytriton runs kernels on CPU tensors with Triton's interpreter: correct but slow "
    "(about 1 ms per program). Move the tensors to a GPU for speed."
)
