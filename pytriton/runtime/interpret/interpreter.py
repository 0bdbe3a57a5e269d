"""CPU tensors: the kernel runs on Triton's interpreter, one program after another, in NumPy.

Left to itself the interpreter guesses a scalar's type from its value (a ``long`` of 5 would be int32) and
copies the storage of every tensor forth and back. It is given finished values instead: scalars of the
declared types and bare addresses, so that views may overlap, addresses may be passed as numbers, and an
absent tensor is a null pointer, all as on a GPU. It needs no environment variable.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, Final

import numpy
import triton.language as tl
from triton.runtime.interpreter import ASTTransformer, InterpretedFunction, InterpreterBuilder, TensorHandle
from triton.runtime.jit import JITFunction

from pytriton.lang.tree.formats import Printed
from pytriton.lang.tree.types import INT, PointerType, ScalarType
from pytriton.pipeline import Parameter
from pytriton.progress import bar
from pytriton.runtime.compile.exclusion import interpreting
from pytriton.runtime.compile.load import LoadedModule
from pytriton.runtime.errors import warn_once
from pytriton.runtime.interpret.bfloat16 import EXACT_BFLOAT16, bits_of
from pytriton.runtime.interpret.checked import CheckedAccesses, Launched
from pytriton.runtime.interpret.order import in_order
from pytriton.runtime.interpret.patches import LIBDEVICE, MENDS, Mends, counted, mended
from pytriton.runtime.interpret.prints import Printer
from pytriton.runtime.interpret.waiting import waiting
from pytriton.runtime.locks import PARSING

__all__ = ["Interpreted"]


class Interpreted:
    """One kernel, ready to run on CPU memory."""

    def __init__(
        self,
        module: LoadedModule,
        parameters: Sequence[Parameter],
        constexprs: Mapping[str, int | float],
        *,
        ones: bool = False,
        accesses: CheckedAccesses | None = None,
        prints: Sequence[Printed] = (),
    ) -> None:
        """``ones``: an int that is 1 becomes a Python number, as where ``@triton.jit`` is called. ``accesses``
        stand in for the helpers of checked code; ``prints`` are its calls of ``printf``."""
        helpers = {**({} if accesses is None else accesses.functions), **Printer(prints).functions}
        self._function = InterpretedFunction(_twin(module.python, range=counted, **helpers))
        self._accesses = accesses
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
        launched: Launched | None = None,
        order: Mends | None = None,
    ) -> None:
        """Run all programs of the grid; raises what Triton's interpreter raises. ``launched``: for checked code.
        ``order``: see order.py."""
        warn_once(_NOTICE)
        mends = {**_ALL_MENDS, **(order or in_order(grid))}
        with PARSING:
            hangs = waiting(self._function.rewrite().__code__)
        shown = _progress(self._function.fn.__name__, grid)
        with interpreting(), mended(mends), mended(hangs), shown, numpy.errstate(all="ignore"):
            wrapped = [wrap(value) for wrap, value in zip(self._wrap, values, strict=True)]
            self._make_ones_constants(values, wrapped)
            if self._accesses is None or launched is None:
                named = dict(zip(self._names, wrapped, strict=True))
                self._function[grid](**named, **self._constexprs)
                return
            with self._accesses.of(launched):
                table = (0,) if self._accesses.sites else ()  # which nobody reads
                self._function[grid](*wrapped, *table, **self._constexprs)

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

    with mended({(InterpreterBuilder, "set_grid_idx"): counting}), shown:
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
        namespace["libdevice"] = LIBDEVICE
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


_ALL_MENDS: Final = {**MENDS, **EXACT_BFLOAT16, (JITFunction, "__call__"): _callable}


def _wrapper(type_: ScalarType | PointerType) -> Callable[[Any], Any]:
    """What makes the interpreter's value of a launch value (an array of one element, as Triton does)."""
    triton_type = _triton_type(type_)
    if isinstance(type_, ScalarType) and type_.word == "bfloat16":
        return lambda value: tl.tensor(TensorHandle(bits_of([value]), triton_type), triton_type)
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
