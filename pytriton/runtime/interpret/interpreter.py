"""CPU tensors: the kernel runs on Triton's interpreter, one program after another, in NumPy.

Left to itself the interpreter guesses a scalar's type from its value (a ``long`` of 5 would be int32) and
copies the storage of every tensor forth and back. It is given finished values instead: scalars of the
declared types and bare addresses, so that views may overlap, addresses may be passed as numbers, and an
absent tensor is a null pointer, all as on a GPU. It needs no environment variable.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, Final

import numpy
import triton.language as tl

from pytriton.compat.interpreter_names import (
    ASTTransformer,
    InterpretedFunction,
    InterpreterBuilder,
    TensorHandle,
)
from pytriton.compat.triton_names import JITFunction
from pytriton.lang.tree.builtins import FLOATS, Conversion, Printed, pieces
from pytriton.lang.tree.types import INT, PointerType, ScalarType
from pytriton.pipeline import Parameter
from pytriton.progress import bar
from pytriton.runtime.compile.load import LoadedModule
from pytriton.runtime.errors import remark, warn_once
from pytriton.runtime.interpret import patches
from pytriton.runtime.interpret.accesses import CheckedAccesses
from pytriton.runtime.interpret.waiting import waiting
from pytriton.runtime.locks import PARSING, interpreting

# Which programs of a grid the interpreter runs, and in which order; what they read of the grid stays the same.
#
# A GPU starts programs by number, the first axis fastest, so a program may wait for one with a lower number.
# Triton's interpreter counts the last axis fastest.


Grid = tuple[int, int, int]

ONE: Final[Grid] = (1, 1, 1)  # the grid to run for ``only``


def only(program: Grid, grid: Grid) -> patches.Patches:
    """One program of the grid, when a grid of ``ONE`` is run."""
    return {
        (InterpreterBuilder, "set_grid_dim"): lambda given: lambda self, *_: given(self, *grid),
        (InterpreterBuilder, "set_grid_idx"): lambda given: lambda self, *_: given(self, *program),
    }


def in_order(grid: Grid, *, backwards: bool = False) -> patches.Patches:
    """All programs of the grid by number, or the last one first."""
    width, height, depth = grid

    def set_grid_idx(given: Any) -> Any:
        def numbered(self: Any, x: int, y: int, z: int) -> None:
            number = (x * height + y) * depth + z
            number = width * height * depth - 1 - number if backwards else number
            given(self, number % width, number // width % height, number // (width * height))

        return numbered

    return {(InterpreterBuilder, "set_grid_idx"): set_grid_idx}


# ``printf`` on the CPU: C's text on Python's standard output, program after program.
#
# A block prints element after element, row by row; what else the call prints is broadcast to it, as operands are.


_BASES: Final = {"o": "o", "x": "x", "X": "X", "p": "x"}


def _printer(prints: Sequence[Printed]) -> Callable[..., None]:
    """What generated code calls for these calls of ``printf``, by their numbers."""
    known = [(*pieces(printed.text), tuple(map(int, printed.shape))) for printed in prints]

    def printed(number: int, *values: Any) -> None:
        conversions, after, shape = known[number]
        columns = [numpy.broadcast_to(patches.array_of(value, shape), shape).reshape(-1) for value in values]
        rows = zip(*columns, strict=True) if columns else [()]
        for row in rows:
            parts = [
                part
                for conversion, value in zip(conversions, row, strict=True)
                for part in (conversion.before, _formatted(conversion, value))
            ]
            sys.stdout.write("".join(parts) + after)

    return printed


def _formatted(conversion: Conversion, value: Any) -> str:
    """One value as C prints it. Python's ``%`` is C's for characters and finite floats."""
    letter, flags = conversion.letter, conversion.flags
    if letter in FLOATS or letter == "c":
        shown = float(value) if letter in FLOATS else int(value) & 255
        kept = flags if numpy.isfinite(shown) else flags.replace("0", "")
        return f"%{kept}{conversion.width}{conversion.precision}{letter}" % shown
    number, sign = int(value), ""
    if letter in "di":
        sign = "-" if number < 0 else "+" if "+" in flags else " " * (" " in flags)
    else:
        number &= (1 << 8 * value.dtype.itemsize) - 1
    least = int(conversion.precision[1:] or 0) if conversion.precision else 1
    digits = format(abs(number), _BASES.get(letter, "d")).zfill(least) if number or least else ""
    if letter == "o" and "#" in flags and digits[:1] != "0":
        digits = "0" + digits
    if letter == "p" or (letter in "xX" and "#" in flags and number):
        sign = "0X" if letter == "X" else "0x"
    width = int(conversion.width or 0)
    if "0" in flags and "-" not in flags and not conversion.precision:
        digits = digits.zfill(width - len(sign))
    return (sign + digits).ljust(width) if "-" in flags else (sign + digits).rjust(width)


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
        self._function = InterpretedFunction(_twin(module.python, **replaced))
        if ones:
            self._function.rewriter.ast_transformer = _Assigned()
        self._wrap = tuple(_wrapper(parameter.type) for parameter in parameters)
        self._names = tuple(parameter.identifier for parameter in parameters)
        self._ones = {
            place: parameter.identifier
            for place, parameter in enumerate(parameters)
            if ones and parameter.type == INT
        }
        self._constexprs = dict(constexprs)

    def run(
        self,
        grid: tuple[int, int, int],
        values: Sequence[Any],
        accesses: CheckedAccesses | None = None,
        order: patches.Patches | None = None,
        *,
        why: str = "",
    ) -> None:
        """Run all programs of the grid; raises what Triton's interpreter raises. ``accesses``: of checked code.
        ``order``: ``in_order`` or ``only``. ``why``: the reason why C does not run it, where the user asked for C;
        each is reported once."""
        message = f"{_NOTICE} C does not run this one: {why}" if why else _NOTICE
        warn_once(remark(message, "TC560"), _NOTICE + why.partition("\n")[0])
        applied = {**_ALL_PATCHES, **(order or in_order(grid))}
        with PARSING:
            hangs = waiting(self._function.rewrite().__code__)
        shown = _progress(self._function.fn.__name__, grid)
        with (
            interpreting(),
            patches.patched(applied),
            patches.patched(hangs),
            shown,
            numpy.errstate(all="ignore"),
        ):
            wrapped = [wrap(value) for wrap, value in zip(self._wrap, values, strict=True)]
            self._make_ones_constants(values, wrapped)
            named = dict(zip(self._names, wrapped, strict=True))
            helpers = {} if accesses is None else accesses.functions
            try:
                self._function.fn.__globals__.update(helpers)
                self._function[grid](**named, **self._constexprs)
            finally:
                self._function.fn.__globals__.update(dict.fromkeys(helpers))  # they hold the user's tensors

    def _make_ones_constants(self, values: Sequence[Any], wrapped: list[Any]) -> None:
        for place, name in self._ones.items():
            annotations = self._function.rewrite().__annotations__
            annotations.pop(name, None)
            if values[place] == 1:
                annotations[name], wrapped[place] = tl.constexpr, 1


@contextmanager
def _progress(kernel: str, grid: tuple[int, int, int]) -> Iterator[None]:
    """A bar that counts the programs of a grid which takes more than two seconds."""
    shown = bar(f"{kernel} on the CPU", math.prod(grid), after=2.0)
    if shown is None:
        yield
        return

    def counting(given: Any) -> Any:
        def set_grid_idx(builder: InterpreterBuilder, *place: int) -> None:
            given(builder, *place)
            shown.update()

        return set_grid_idx

    with patches.patched({(InterpreterBuilder, "set_grid_idx"): counting}), shown:
        yield


class _Assigned(ASTTransformer):  # type: ignore[misc]
    """``n += 1`` makes a tensor of a Python number, as ``n = n + 1`` does: the compiler has it so, too."""

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        assert isinstance(node.target, ast.Name)
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return self.visit(ast.copy_location(ast.Assign([node.target], value), node))


def _twin(function: Any, **replaced: Any) -> FunctionType:
    """The same function over a copy of its globals: the interpreter adds names to those.

    It replaces functions in the modules ``tl`` and ``tl.core`` as far as it sees them among the globals, and
    puts them back at the end. Helpers in Triton's library use both, so the kernel must show it both.
    """
    namespace = {**function.__globals__, "__triton_core__": tl.core, **replaced}
    if "libdevice" in namespace:
        namespace["libdevice"] = patches.LIBDEVICE
    twin = FunctionType(function.__code__, namespace, function.__name__)
    twin.__annotations__ = dict(function.__annotations__)
    twin.__module__ = function.__module__
    return twin


_helpers: Final[dict[Any, Any]] = {}


def _callable(_: Any) -> Any:
    """Let ``@triton.jit`` functions be called while a kernel is interpreted.

    Helpers of the kernel, and much of ``tl`` itself (``tl.zeros``, ``tl.sum``), are such functions; without
    TRITON_INTERPRET in the environment their ``__call__`` only raises.
    """

    def call(function: JITFunction[Any], *arguments: Any, **keywords: Any) -> Any:
        plain = function.fn  # hashing a JITFunction would analyse what is replaced just now
        if plain not in _helpers:
            _helpers[plain] = InterpretedFunction(_twin(plain)).rewrite()
        return _helpers[plain](*arguments, **keywords)

    return call


_ALL_PATCHES: Final = {**patches.PATCHES, **patches.EXACT_BFLOAT16, (JITFunction, "__call__"): _callable}


def _wrapper(type_: ScalarType | PointerType) -> Callable[[Any], Any]:
    """What makes the interpreter's value of a launch value (an array of one element, as Triton does)."""
    triton_type = _triton_type(type_)
    if isinstance(type_, ScalarType) and type_.word == "bfloat16":
        return lambda value: tl.tensor(TensorHandle(patches.bits_of([value]), triton_type), triton_type)
    if isinstance(type_, PointerType):
        dtype = numpy.dtype(numpy.uint64)
    else:
        dtype = numpy.dtype(type_.torch)

    def wrap(value: Any) -> Any:
        return tl.tensor(TensorHandle(numpy.array([value], dtype), triton_type), triton_type)

    return wrap


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
