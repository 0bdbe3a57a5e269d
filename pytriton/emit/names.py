"""One Python identifier for each symbol and define.

A user's name stays as it is unless Python or the module needs it (``lambda``, ``tl``): then it gets a
trailing underscore. A second variable of a name takes the name over only if it has the same type and the
first is out of scope; else it is numbered (``check_1``), as one Python variable cannot have two types.
"""

from __future__ import annotations

import keyword
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Final

from pytriton.emit.element_types import Value
from pytriton.lang.tree.builtins import Printed
from pytriton.lang.tree.convert import COMPARISONS
from pytriton.lang.tree.typed import Binary, Body, Declare, For, RangeLoop, Symbol, Unary
from pytriton.lang.tree.walk import bodies, names
from pytriton.passes.check.sites import Site

_HELPERS: Final = ("cut_from_loads", "widen_lhs", "widen_rhs", "ieee_ceil", "ieee_floor")
_ACCESSES: Final = ("load", "store", "atomic_add", "atomic_cas", "atomic_xchg")
# The helpers of checked code, and of inspectors.
_CHECKED: Final = frozenset(["note", "places", "reached", *(f"checked_{access}" for access in _ACCESSES)])
_INSPECTORS: Final = frozenset(
    [
        "looked_up",
        "spread",
        "is_far",
        *(f"{name}_{rank}" for name in ("inspected", "narrow") for rank in range(9)),
    ]
)
_TAKEN: Final = frozenset(
    [*keyword.kwlist, "tl", "triton", "libdevice", "range", "float", "printed", "watched", *_HELPERS]
)
# Names that a launch `kernel[grid](..., num_warps=4)` gives a meaning of its own.
_LAUNCH: Final = frozenset("grid warmup num_warps num_stages num_ctas stream device self".split())


def identifier(name: str, taken: Set[str] = frozenset()) -> str:
    """A name that Python accepts and the module does not use otherwise."""
    if name.startswith("__") or not name.strip("_"):
        name = (name.strip("_") or "underscore") + "_"  # a name that Python might mean something by
    while name in _TAKEN or name in taken:
        name += "_"
    return name


class Names:
    """The identifiers of one kernel."""

    def __init__(
        self, parameters: tuple[Symbol, ...], defines: frozenset[str], *, checked: bool = False
    ) -> None:
        """``checked``: the code has one more parameter, ``table``, and calls the helpers that check accesses."""
        self.weak: set[Symbol] = set()  # may be a bare number when the kernel runs
        self.natural: set[Symbol] = set()  # is at least 0: a range, or the variable of a loop over one
        self.constexprs: dict[str, int | float] = {}
        self.defines: dict[str, str] = {}  # those that are constexprs -> their identifiers
        self._names: dict[Symbol, str] = {}
        self._open: set[str] = set()
        self._closed: dict[str, object] = {}
        self._next: dict[tuple[str, object], int] = {}  # lower numbers are taken, until something is closed
        self._defines = {name: identifier(name, _LAUNCH) for name in sorted(defines)}
        self._open.update(self._defines.values())
        self.helpers = _CHECKED | _INSPECTORS if checked else frozenset[str]()
        self._open |= self.helpers
        taken = self._open | _LAUNCH
        for symbol in parameters:
            name = identifier(symbol.name, taken)
            self._names[symbol] = name
            self._open.add(name)
            taken.add(name)
        self.table = identifier("table", taken) if checked else None
        if self.table is not None:
            self._open.add(self.table)

    def __getitem__(self, symbol: Symbol) -> str:
        return self._names[symbol]

    def is_constexpr(self, name: str) -> bool:
        """Whether a define has an identifier; others are printed as numbers."""
        return name in self._defines

    def constexpr(self, name: str, value: int | float) -> str:
        """The identifier of a define that is used as a value."""
        self.defines[name] = self._defines[name]
        self.constexprs.setdefault(self._defines[name], value)
        return self._defines[name]

    def declare(self, body: Body) -> None:
        """Name the variables that a block and the blocks in it declare."""
        opened: list[Symbol] = []
        for statement in body:
            match statement:
                case Declare(symbol=symbol):
                    self._open_name(symbol, opened)
                case RangeLoop(symbol=symbol, body=inner):
                    own: list[Symbol] = []
                    self._open_name(symbol, own)
                    self.declare(inner)
                    self._close(own)
                case For(init=init, body=inner, step=step):
                    self.declare(init + inner + step)
                case _:
                    for inner in bodies(statement):
                        self.declare(inner)
        self._close(opened)

    def _open_name(self, symbol: Symbol, opened: list[Symbol]) -> None:
        if symbol not in self._names:
            self._names[symbol] = self._choose(symbol)
            self._open.add(self._names[symbol])
            opened.append(symbol)

    def _close(self, opened: list[Symbol]) -> None:
        if opened:
            self._next.clear()
        for symbol in opened:
            self._open.discard(self._names[symbol])
            self._closed[self._names[symbol]] = symbol.type

    def _choose(self, symbol: Symbol) -> str:
        base = identifier(symbol.name)
        number = self._next.get((base, symbol.type), 0)
        name = f"{base}_{number}" if number else base
        while name in self._open or self._closed.get(name, symbol.type) != symbol.type:
            number += 1
            name = f"{base}_{number}"
        self._next[base, symbol.type] = number
        return name


@dataclass(slots=True)
class EmitContext:
    """One kernel's choice of identifiers and options, and what its module needs besides its function."""

    names: Names
    precision: str  # of products of floats
    helpers: set[str] = field(default_factory=set)  # of templates/helpers.py.j2
    libdevice: bool = False  # whether the module imports it
    sites: tuple[Site, ...] = ()  # of checked code: its accesses by number
    on_cpu: bool = False  # whether it is for the interpreter
    prints: list[Printed] = field(default_factory=list)  # its calls of printf, by number
    numbers: dict[Symbol, Value] = field(default_factory=dict)  # variables that are assigned a bare number
    bare: bool = False  # whether those are read as numbers (bare.py)
    read: set[Symbol] = field(default_factory=set)  # those read since the last statement
    spelled: frozenset[Symbol] = frozenset()  # those that are assigned tensors instead

    def grows(self, expr: Unary | Binary, *operands: Value) -> bool:
        """Whether Python, whose integers have no width, may find another number than C does."""
        if not self.bare or expr.operator in _WITHIN or all(value.number is not None for value in operands):
            return False
        symbols = names(expr)
        return not symbols.isdisjoint(self.numbers) and not any(symbol.parameter for symbol in symbols)


# Operators whose result has the width of its operands.
_WITHIN: Final = frozenset((*COMPARISONS, "&", "|", "^", "~"))
