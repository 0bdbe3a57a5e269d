"""An evaluator of Triton-C: runs the typed tree as the checker returns it, with NumPy, one program after the other.

Written from language.md alone: it shares no code with the passes, the emitter and the runtime, and is the judge
of all three. ``run`` gives the memory after a launch, or raises ``Undefined`` where the program does what the
language leaves undefined: an unspecified value that reaches memory, an address or a branch, an address outside
its buffer, a race between programs, a broken ``__multipleof``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pytriton.lang.tree import typed
from pytriton.lang.tree.types import (
    BOOL,
    FLOAT,
    BlockType,
    ElementType,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
)
from tests.oracle import arithmetic
from tests.oracle.arithmetic import CERTAIN, INTERPRETER, Rules
from tests.oracle.memory import NOWHERE, Memory, Undefined
from tests.oracle.values import Array, Value, both, broadcast, converted, dtype_of, rounded

__all__ = ["ROUNDING", "Address", "Undefined", "run"]

ROUNDING = " (rounding decides)"
MOST_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Address:
    """A pointer argument: a buffer of the launch and a byte in it."""

    buffer: int
    offset: int = 0


class _Left(Exception):
    """``break``, ``continue`` or ``return`` on its way out."""


class _Broke(_Left): ...


class _Continued(_Left): ...


class _Returned(_Left): ...


def run(
    kernel: typed.KernelDef,
    buffers: Sequence[Array],
    arguments: Sequence[Address | int | float | None],
    grid: tuple[int, ...],
    *,
    rules: Rules = INTERPRETER,
    backwards: bool = False,
    promises: bool = True,
    zeros: bool = False,
) -> Memory:
    """The memory after a launch.

    ``buffers``: arrays, copied; ``arguments``: one per parameter, a number, an ``Address`` or None for an absent
    tensor. Programs run in order of their ids, axis 0 fastest, or ``backwards``. Raises ``Undefined``;
    without ``promises``, not for a broken ``__multipleof`` of a local. With ``zeros``, elements that a mask left
    unspecified are 0 ("we give 0"): what this translator promises beyond the language.

    Where a program is defined if every float is as calculated here, and not if it strays, ``ROUNDING`` ends the
    message: an integer or a branch hangs on the last digits (or on the bits of a NaN).
    """
    try:
        return _run(kernel, buffers, arguments, grid, rules, backwards, promises, zeros)
    except Undefined as error:
        try:
            _run(kernel, buffers, arguments, grid, CERTAIN, backwards, promises, zeros)
        except Undefined:
            raise error from None
        raise Undefined(f"{error}{ROUNDING}") from None


def _run(
    kernel: typed.KernelDef,
    buffers: Sequence[Array],
    arguments: Sequence[Address | int | float | None],
    grid: tuple[int, ...],
    rules: Rules,
    backwards: bool,
    promises: bool,
    zeros: bool,
) -> Memory:
    grid = (*grid, 1, 1)[:3]
    programs = [(x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
    memory = Memory(list(buffers), len(programs))
    order = range(len(programs))
    with np.errstate(all="ignore"):
        for number in reversed(order) if backwards else order:
            _Program(memory, number, programs[number], grid, rules, promises, zeros).run(kernel, arguments)
    return memory


class _Program:
    """One program instance."""

    def __init__(
        self,
        memory: Memory,
        number: int,
        ids: tuple[int, ...],
        grid: tuple[int, ...],
        rules: Rules,
        promises: bool,
        zeros: bool,
    ) -> None:
        self.memory, self.number, self.ids, self.grid = memory, number, ids, grid
        self.rules, self.promises, self.zeros = rules, promises, zeros
        self.variables: dict[typed.Symbol, Value] = {}
        self.steps = 0
        self.reason = ""

    def run(self, kernel: typed.KernelDef, arguments: Sequence[Address | int | float | None]) -> None:
        for symbol, argument in zip(kernel.parameters, arguments, strict=True):
            self.variables[symbol] = self._argument(symbol, argument)
        with contextlib.suppress(_Returned):
            self.body(kernel.body)

    def _argument(self, symbol: typed.Symbol, argument: Address | int | float | None) -> Value:
        if isinstance(symbol.type, PointerType):
            assert argument is None or isinstance(argument, Address)
            address = 0 if argument is None else self.memory.address(argument.buffer, argument.offset)
            return Value(np.array(address, np.int64))
        assert isinstance(symbol.type, ScalarType)
        assert isinstance(argument, int | float)
        if symbol.multiple_of > 1 and argument % symbol.multiple_of:
            raise Undefined(f"{symbol.name} is not a multiple of {symbol.multiple_of}")
        return _number(argument, symbol.type)

    # ------------------------------------------------------------ statements

    def body(self, statements: typed.Body) -> None:
        for statement in statements:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise Undefined("the program does not end")
            _STATEMENTS[type(statement)](self, statement)

    def _remark(self, statement: typed.Remark) -> None:
        pass

    def _declare(self, statement: typed.Declare) -> None:
        symbol = statement.symbol
        if statement.value is None:
            data = np.zeros(shape_of(symbol.type), dtype_of(element_of(symbol.type)))
            self.variables[symbol] = Value(data, self.because("never assigned", np.ones(data.shape, bool)))
            return
        self._set(symbol, statement.value)
        if symbol.multiple_of > 1 and self.promises:
            value = self.variables[symbol]
            if (self.known(value, "a promise") % symbol.multiple_of != 0).any():
                raise Undefined(f"{symbol.name} is not a multiple of {symbol.multiple_of}")

    def _assign(self, statement: typed.Assign) -> None:
        self._set(statement.symbol, statement.value)

    def _set(self, symbol: typed.Symbol, expr: typed.Expr) -> None:
        value = self.value(expr)
        assert expr.type == symbol.type, (expr.type, symbol)
        assert value.shape == shape_of(symbol.type), (value.shape, symbol)
        assert value.data.dtype == dtype_of(element_of(symbol.type)), (value.data.dtype, symbol)
        self.variables[symbol] = value

    def _store(self, statement: typed.Store) -> None:
        pointer = self.value(statement.pointer)
        value = self.value(statement.value)
        mask = None if statement.mask is None else self.value(statement.mask)
        place = element_of(statement.pointer.type)  # type: ignore[arg-type]
        assert isinstance(place, PointerType)
        shape = np.broadcast_shapes(pointer.shape, value.shape, () if mask is None else mask.shape)
        active = self.active(mask, shape)
        addresses = self.known(broadcast(pointer, shape), "an address", active)
        value = broadcast(value, shape)
        self.known(value, "a stored value", active)
        self.memory.store(
            addresses[active], value.mapped(lambda array: array[active]), place.element, self.number
        )

    def _evaluate(self, statement: typed.Evaluate) -> None:
        if not isinstance(statement.value.type, BlockType | ScalarType | PointerType):
            return  # a barrier: one program is one stream, so nothing to do
        self.value(statement.value)

    def _if(self, statement: typed.If) -> None:
        self.body(statement.then if self.truth(statement.condition) else statement.otherwise)

    def _for(self, statement: typed.For) -> None:
        self.body(statement.init)
        self._loop(statement.body, statement.condition, statement.step)

    def _while(self, statement: typed.While) -> None:
        self._loop(statement.body, statement.condition, ())

    def _do_while(self, statement: typed.DoWhile) -> None:
        self._loop(statement.body, statement.condition, (), first=True)

    def _loop(
        self, body: typed.Body, condition: typed.Expr | None, step: typed.Body, *, first: bool = False
    ) -> None:
        while first or condition is None or self.truth(condition):
            first = False
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise Undefined("the program does not end")
            try:
                with contextlib.suppress(_Continued):
                    self.body(body)
                self.body(step)  # the checker puts the effects of a condition here, and may leave from here
            except _Broke:
                break

    def _break(self, statement: typed.Break) -> None:
        raise _Broke

    def _continue(self, statement: typed.Continue) -> None:
        raise _Continued

    def _return(self, statement: typed.Return) -> None:
        raise _Returned

    # ------------------------------------------------------------ what must be known

    def because(self, reason: str, bad: Array | None) -> Array | None:
        """Remember why elements are unspecified, for the message."""
        if bad is not None and bad.any():
            self.reason = reason
        return bad

    def known(self, value: Value, what: str, active: Array | None = None) -> Array:
        """The elements, which must be specified where ``active``."""
        if value.bad is not None:
            bad = value.bad if active is None else value.bad & active
            if bad.any():
                raise Undefined(f"{what} is unspecified: {self.reason}")
        return value.data

    def truth(self, expr: typed.Expr) -> bool:
        return bool(self.known(self.value(expr), "a condition"))

    def active(self, mask: Value | None, shape: tuple[int, ...]) -> Array:
        if mask is None:
            return np.ones(shape, bool)
        return broadcast(Value(self.known(mask, "a mask")), shape).data

    # ------------------------------------------------------------ expressions

    def value(self, expr: typed.Expr) -> Value:
        """The value of an expression; its data has exactly the expression's shape and type."""
        value = _EXPRESSIONS[type(expr)](self, expr)
        if not self.rules.strays:
            value = Value(value.data, value.bad)
        shape = shape_of(expr.type)
        assert value.shape == shape, (type(expr), value.shape, expr.type)
        assert value.data.dtype == dtype_of(element_of(expr.type)), (type(expr), value.data.dtype, expr.type)
        return value

    def _literal(self, expr: typed.Literal | typed.Constexpr) -> Value:
        assert isinstance(expr.type, ScalarType)
        return _number(expr.value, expr.type)

    def _name(self, expr: typed.Name) -> Value:
        symbol = expr.symbol
        if symbol in self.variables:
            return self.variables[symbol]
        assert symbol.value is not None, f"{symbol.name} has no value"
        assert isinstance(symbol.type, ScalarType)
        return _number(symbol.value, symbol.type)

    def _unary(self, expr: typed.Unary) -> Value:
        return arithmetic.unary(expr.operator, self.value(expr.operand), _element(expr))

    def _binary(self, expr: typed.Binary) -> Value:
        left, right = self.value(expr.left), self.value(expr.right)
        value = arithmetic.binary(expr.operator, left, right, _element(expr.left), _element(expr), self.rules)
        if value.bad is not None and left.bad is None and right.bad is None:
            self.because(f"operator {expr.operator} at {expr.span.text!r}", value.bad)
        return value

    def _select(self, expr: typed.Select) -> Value:
        yes, no = self.value(expr.yes), self.value(expr.no)
        value = arithmetic.select(self.value(expr.condition), yes, no)
        condition = expr.condition
        if not (
            self.rules.zeros and isinstance(condition, typed.Binary) and condition.operator in ("<", ">")
        ):
            return value
        if isinstance(_element(expr), PointerType) or not _element(expr).is_float:
            return value
        zeros = [self.value(side).data == 0 for side in (condition.left, condition.right)]
        met = np.broadcast_to(zeros[0] & zeros[1] & arithmetic.zeros_meet(yes, no), value.shape)
        return arithmetic.either_zero(value, met)

    def _load(self, expr: typed.Load) -> Value:
        shape = shape_of(expr.type)
        element = _element(expr)
        pointer = broadcast(self.value(expr.pointer), shape)
        mask = None if expr.mask is None else self.value(expr.mask)
        active = self.active(mask, shape)
        place = element_of(expr.pointer.type)  # type: ignore[arg-type]
        assert isinstance(place, PointerType)
        assert place.element == element
        addresses = pointer.data
        if pointer.bad is not None:  # nowhere: a load whose value is never used may have such an address
            addresses = np.where(pointer.bad, NOWHERE, addresses)
        found = self.memory.load(addresses[active], element, self.number)
        if found.bad is not None:
            self.because(f"loaded from outside every buffer at {expr.span.text!r}", found.bad)
        if active.all():
            return found.mapped(lambda array: array.reshape(shape))
        if expr.other is not None and (self.zeros or not _made_up(expr)):
            other = broadcast(self.value(expr.other), shape)
        else:
            bad = self.because(f"masked off at {expr.span.text!r}", np.ones(shape, bool))
            other = Value(np.zeros(shape, found.data.dtype), bad)
        return _filled(found, active, other)

    def _cast(self, expr: typed.Cast) -> Value:
        operand = self.value(expr.operand)
        value = converted(operand, _element(expr.operand), _element(expr))
        if value.bad is not None and operand.bad is None:
            self.because(f"conversion of {expr.span.text!r}", value.bad)
        return value

    def _bitcast(self, expr: typed.Bitcast) -> Value:
        value = self.value(expr.operand)
        have, want = _element(expr.operand), _element(expr)
        if isinstance(have, PointerType) or isinstance(want, PointerType):
            return Value(value.data.astype(dtype_of(want)), value.bad)
        data = np.ascontiguousarray(value.data).reshape(value.shape)
        bad = value.bad
        if value.error is not None:
            bad = both(bad, value.error > 0)
        if have.is_float and self.rules.strays:
            bad = both(bad, np.isnan(data))  # which NaN it is, is unspecified
        bits = {1: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
        if dtype_of(have).itemsize * 8 == have.bits or have == BOOL:
            raw = data.view(bits[have.bits])
        else:
            raw = (data.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        if dtype_of(want).itemsize * 8 == want.bits or want == BOOL:
            return Value(raw.view(dtype_of(want)), bad)
        return Value((raw.astype(np.uint32) << np.uint32(16)).view(np.float32), bad)

    def _broadcast(self, expr: typed.Broadcast) -> Value:
        return broadcast(self.value(expr.operand), shape_of(expr.type))

    def _reshape(self, expr: typed.Reshape) -> Value:
        return self.value(expr.operand).mapped(lambda array: array.reshape(shape_of(expr.type)))

    def _expand(self, expr: typed.Expand) -> Value:
        where = tuple(None if new else slice(None) for new in expr.axes)
        return self.value(expr.operand).mapped(lambda array: array[where])

    def _permute(self, expr: typed.Permute) -> Value:
        return self.value(expr.operand).mapped(lambda array: np.transpose(array, expr.order))

    def _reduce(self, expr: typed.Reduce) -> Value:
        have, want = _element(expr.operand), _element(expr)
        assert isinstance(have, ScalarType)
        assert isinstance(want, ScalarType)
        value = self.value(expr.operand)
        return _as_array(arithmetic.reduce(expr.operator, value, expr.axis, have, want, self.rules))

    def _range(self, expr: typed.Range) -> Value:
        start, stop = int(self.value(expr.start).data), int(self.value(expr.stop).data)
        return Value(np.arange(start, stop, dtype=np.int64).astype(np.int32))

    def _dot(self, expr: typed.Dot) -> Value:
        assert expr.accumulator is None
        want = _element(expr)
        assert _element(expr.left) == _element(expr.right)
        assert isinstance(want, ScalarType)
        return arithmetic.dot(self.value(expr.left), self.value(expr.right), want, self.rules)

    def _call(self, expr: typed.Call) -> Value:
        if expr.function in ("program_id", "num_programs"):
            axis = int(self.value(expr.arguments[0]).data)
            source = self.ids if expr.function == "program_id" else self.grid
            return Value(np.array(source[axis], np.int32))
        type_ = _element(expr)
        assert isinstance(type_, ScalarType)
        values = tuple(self.value(argument) for argument in expr.arguments)
        return _as_array(arithmetic.call(expr.function, values, type_, self.rules))

    def _atomic(self, expr: typed.Atomic) -> Value:
        shape = shape_of(expr.type)
        element = _element(expr)
        pointer, value = broadcast(self.value(expr.pointer), shape), broadcast(self.value(expr.value), shape)
        mask = None if expr.mask is None else self.value(expr.mask)
        compare = None if expr.compare is None else broadcast(self.value(expr.compare), shape)
        active = self.active(mask, shape)
        addresses = self.known(pointer, "an address", active)[active]
        self.known(value, "a value of an atomic", active)
        if compare is not None:
            self.known(compare, "a compared value", active)
            compare = compare.mapped(lambda array: array[active])
        old = self.memory.atomic(
            expr.operation,
            addresses,
            value.mapped(lambda array: array[active]),
            compare,
            element,
            self.number,
        )
        if active.all():
            return old.mapped(lambda array: array.reshape(shape))
        bad = self.because("the old value of a masked-off atomic", np.ones(shape, bool))
        return _filled(old, active, Value(np.zeros(shape, old.data.dtype), bad))


def _element(expr: typed.Expr) -> ElementType:
    assert isinstance(expr.type, ScalarType | PointerType | BlockType)
    return element_of(expr.type)


def _number(value: int | float, type_: ScalarType) -> Value:
    """A number as C converts it to a type; an integer wraps."""
    if type_.is_float:
        kind = (
            float
            if isinstance(value, float) or type_ != FLOAT
            else np.int64
            if value < 1 << 63
            else np.uint64
        )
        return _as_array(Value(rounded(np.array(value, kind), type_)))  # rounded once
    if type_ == BOOL:
        return Value(np.array(bool(value)))
    whole = int(value) & ((1 << type_.bits) - 1)
    return Value(np.array(whole, np.uint64).astype(dtype_of(type_)))


def _made_up(load: typed.Load) -> bool:
    """Whether the other value is the checker's 0 for what the language leaves unspecified.

    It stands at the load's own place; the other value of ``m ? *p : 0`` stands at the text's 0.
    """
    return isinstance(load.other, typed.Literal) and load.other.span == load.span


def _as_array(value: Value) -> Value:
    return value.mapped(np.asarray)


def _filled(found: Value, active: Array, other: Value) -> Value:
    """The flat elements found at the active places, the other's elsewhere."""

    def place(flat: Array | None, rest: Array | None, nothing: bool | float) -> Array | None:
        if flat is None and rest is None:
            return None
        result = np.full(active.shape, nothing) if rest is None else np.array(rest)
        result[active] = nothing if flat is None else flat
        return result

    data = np.array(other.data)
    data[active] = found.data
    return Value(data, place(found.bad, other.bad, False), place(found.error, other.error, 0.0))


_STATEMENTS: dict[type, Callable[..., None]] = {
    typed.Remark: _Program._remark,
    typed.Declare: _Program._declare,
    typed.Assign: _Program._assign,
    typed.Store: _Program._store,
    typed.Evaluate: _Program._evaluate,
    typed.If: _Program._if,
    typed.For: _Program._for,
    typed.While: _Program._while,
    typed.DoWhile: _Program._do_while,
    typed.Return: _Program._return,
    typed.Break: _Program._break,
    typed.Continue: _Program._continue,
}

_EXPRESSIONS: dict[type, Callable[..., Value]] = {
    typed.Literal: _Program._literal,
    typed.Constexpr: _Program._literal,
    typed.Name: _Program._name,
    typed.Unary: _Program._unary,
    typed.Binary: _Program._binary,
    typed.Select: _Program._select,
    typed.Load: _Program._load,
    typed.Cast: _Program._cast,
    typed.Bitcast: _Program._bitcast,
    typed.Broadcast: _Program._broadcast,
    typed.Reshape: _Program._reshape,
    typed.Expand: _Program._expand,
    typed.Permute: _Program._permute,
    typed.Reduce: _Program._reduce,
    typed.Range: _Program._range,
    typed.Dot: _Program._dot,
    typed.Call: _Program._call,
    typed.Atomic: _Program._atomic,
}
