"""The typed tree: what the text means.

Every expression has a type and every node a span. C's implicit conversions are explicit here (``Cast`` for
elements, ``Broadcast`` and ``Reshape`` for shapes), except that the operands of one operator may still differ
in shape: they broadcast together as in NumPy. Every declaration has a ``Symbol`` of its own, so scopes are
gone: two variables of one name are two symbols. Passes rebuild what they change and keep the rest identical.
"""

from __future__ import annotations

from typing import Literal as Choice

from pytriton.frozen import dataclass
from pytriton.lang.tree.formats import Printed
from pytriton.lang.tree.known import Known, KnownInside
from pytriton.lang.tree.types import BlockType, PointerType, ScalarType, Type
from pytriton.source import Span

__all__ = [
    "Assign",
    "Atomic",
    "Binary",
    "Bitcast",
    "Body",
    "Break",
    "Broadcast",
    "Call",
    "Cast",
    "Comments",
    "Constexpr",
    "Continue",
    "Declare",
    "DoWhile",
    "Dot",
    "Evaluate",
    "Expand",
    "Expr",
    "For",
    "Gather",
    "If",
    "KernelDef",
    "Literal",
    "Load",
    "Name",
    "Permute",
    "Range",
    "RangeLoop",
    "Reduce",
    "Remark",
    "Reshape",
    "Return",
    "Select",
    "Size",
    "Statement",
    "Store",
    "Symbol",
    "Unary",
    "While",
    "spell",
]


class Size(int):
    """One size of a block: a number that remembers the expression which gave it, for printing."""

    expr: Expr | None

    def __new__(cls, value: int, expr: Expr | None = None) -> Size:
        self = super().__new__(cls, value)
        self.expr = expr
        return self

    def __str__(self) -> str:
        return int.__repr__(self) if self.expr is None else spell(self.expr)


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A declared name; compared by identity. The promises hold for parameters and some locals."""

    name: str
    type: ScalarType | PointerType | BlockType
    span: Span
    parameter: bool = False
    declaration: str = ""
    multiple_of: int = 1
    aligned: int = 1
    noalias: bool = False
    const: bool = False  # it cannot be assigned to
    const_target: bool = False  # `const T *p`: what it points to is const
    readonly: bool = False  # what the author believed: passes/memory/qualifiers.py
    writeonly: bool = False
    retune: bool = False
    value: int | float | None = None  # of a local that holds one number for life: `static const int T = 64;`
    buffer: int = 0  # the bytes of a constant buffer: `char __constant__* tab = calloc(64);`


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Known):
    """A number. A ``weak`` one is an unsuffixed floating literal that has met no type yet."""

    span: Span
    type: Type
    value: int | float
    weak: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Constexpr(Known):
    """A define with a number as its value; a floating one is weak like a literal."""

    span: Span
    type: Type
    name: str
    value: int | float
    weak: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Name(Known):
    span: Span
    type: Type
    symbol: Symbol


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Known):
    """``-`` ``~`` on a promoted operand, ``!`` on a bool."""

    span: Span
    type: Type
    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Known):
    """An operator on operands of its common element type; ``&&`` and ``||`` on bools.

    ``+`` and ``-`` also move pointers by an integer right operand, or subtract two pointers.
    """

    span: Span
    type: Type
    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Select(Known):
    """``condition ? yes : no``, elementwise, both evaluated."""

    span: Span
    type: Type
    condition: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Load(Known):
    """``*pointer`` where ``mask`` holds, ``other`` elsewhere (0 if None)."""

    span: Span
    type: Type
    pointer: Expr
    mask: Expr | None = None
    other: Expr | None = None
    site: int | None = None  # its number in checked code (passes/check/sites.py); so of atomics and stores


@dataclass(frozen=True, slots=True, eq=False)
class Cast(Known):
    """Conversion of the elements to those of ``type``; pointers are reinterpreted."""

    span: Span
    type: Type
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Bitcast(Known):
    span: Span
    type: Type
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Broadcast(Known):
    """The operand repeated to the shape of ``type``; a scalar fills it."""

    span: Span
    type: Type
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Reshape(Known):
    """The same elements in row-major order in another shape; () makes one element a scalar."""

    span: Span
    type: Type
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Expand(Known):
    """``x[:, newaxis]``: one entry of ``axes`` an axis of the result, True for a new one."""

    span: Span
    type: Type
    operand: Expr
    axes: tuple[bool, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Gather(Known):
    """Element i of the result is element ``index[i]`` of the operand; both have one axis (passes/lower/pad.py)."""

    span: Span
    type: Type
    operand: Expr
    index: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Permute(Known):
    """Result axis i is operand axis ``order[i]``."""

    span: Span
    type: Type
    operand: Expr
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reduce(Known):
    span: Span
    type: Type
    operator: Choice["+", "max", "min"]
    operand: Expr
    axis: int


@dataclass(frozen=True, slots=True, eq=False)
class Range(Known):
    """``start ... stop`` of constants."""

    span: Span
    type: Type
    start: Expr
    stop: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Dot(Known):
    """``left @ right``, plus ``accumulator`` where a pass has chained one."""

    span: Span
    type: Type
    left: Expr
    right: Expr
    accumulator: Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Call(Known):
    """A built-in function by its canonical name (see builtins.py). Only a barrier and a ``printf`` do anything."""

    span: Span
    type: Type
    function: str
    arguments: tuple[Expr, ...]
    printed: Printed | None = None  # of printf


@dataclass(frozen=True, slots=True, eq=False)
class Atomic(Known):
    """``add``, ``cas`` or ``xchg`` on memory; the value is the old one."""

    span: Span
    type: Type
    operation: Choice["add", "cas", "xchg"]
    pointer: Expr
    value: Expr
    compare: Expr | None = None
    mask: Expr | None = None
    site: int | None = None


Expr = (
    Literal
    | Constexpr
    | Name
    | Unary
    | Binary
    | Select
    | Load
    | Cast
    | Bitcast
    | Broadcast
    | Reshape
    | Expand
    | Gather
    | Permute
    | Reduce
    | Range
    | Dot
    | Call
    | Atomic
)

# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True, eq=False)
class Comments:
    """The comments that stand above a statement and at the end of its last line."""

    above: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


NO_COMMENTS = Comments()


@dataclass(frozen=True, slots=True, eq=False)
class Remark(KnownInside):
    """Comments that belong to no statement: those before a closing brace."""

    span: Span
    comments: Comments = NO_COMMENTS


@dataclass(frozen=True, slots=True, eq=False)
class Declare(KnownInside):
    span: Span
    symbol: Symbol
    value: Expr | None
    comments: Comments = NO_COMMENTS


@dataclass(frozen=True, slots=True, eq=False)
class Assign(KnownInside):
    span: Span
    symbol: Symbol
    value: Expr
    comments: Comments = NO_COMMENTS


@dataclass(frozen=True, slots=True, eq=False)
class Store(KnownInside):
    """``*pointer = value`` where ``mask`` holds; the value has the element type of the pointer."""

    span: Span
    pointer: Expr
    value: Expr
    mask: Expr | None = None
    comments: Comments = NO_COMMENTS
    site: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evaluate(KnownInside):
    """An expression for its effect: an atomic, or the call of a barrier."""

    span: Span
    value: Expr
    comments: Comments = NO_COMMENTS


@dataclass(frozen=True, slots=True, eq=False)
class If(KnownInside):
    span: Span
    condition: Expr
    then: Body
    otherwise: Body
    comments: Comments = NO_COMMENTS


@dataclass(frozen=True, slots=True, eq=False)
class For(KnownInside):
    """C's loop. ``init`` runs before it in a scope of its own; no condition means true."""

    span: Span
    init: Body
    condition: Expr | None
    step: Body
    body: Body
    comments: Comments = NO_COMMENTS


@dataclass(frozen=True, slots=True, eq=False)
class RangeLoop(KnownInside):
    """``for symbol in range(start, stop, step)`` (passes/loops/counted.py; of stages passes/speed/stages.py)."""

    span: Span
    symbol: Symbol
    start: Expr
    stop: Expr
    step: Expr
    body: Body
    comments: Comments = NO_COMMENTS
    stages: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class While(KnownInside):
    span: Span
    condition: Expr
    body: Body
    comments: Comments = NO_COMMENTS


@dataclass(frozen=True, slots=True, eq=False)
class DoWhile(KnownInside):
    span: Span
    body: Body
    condition: Expr
    comments: Comments = NO_COMMENTS


@dataclass(frozen=True, slots=True, eq=False)
class Return(KnownInside):
    span: Span
    comments: Comments = NO_COMMENTS


@dataclass(frozen=True, slots=True, eq=False)
class Break(KnownInside):
    span: Span
    comments: Comments = NO_COMMENTS


@dataclass(frozen=True, slots=True, eq=False)
class Continue(KnownInside):
    span: Span
    comments: Comments = NO_COMMENTS


Statement = (
    Remark
    | Declare
    | Assign
    | Store
    | Evaluate
    | If
    | For
    | RangeLoop
    | While
    | DoWhile
    | Return
    | Break
    | Continue
)
Body = tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class KernelDef:
    span: Span
    name: str
    parameters: tuple[Symbol, ...]
    body: Body
    comments: Comments = NO_COMMENTS
    parameter_comments: tuple[Comments, ...] = ()
    buffers: tuple[Symbol, ...] = ()  # all in scope; those used are parameters too


# ---------------------------------------------------------------- spelling


def spell(expr: Expr) -> str:
    """A constant expression as C, for shapes in messages."""
    match expr:
        case Literal(value=value):
            return str(value)
        case Constexpr(name=name):
            return name
        case Name(symbol=symbol):
            return symbol.name
        case Unary(operator=operator, operand=operand):
            return f"{operator}{spell(operand)}"
        case Binary(operator=operator, left=left, right=right):
            return f"{_spell_operand(left)} {operator} {_spell_operand(right)}"
        case Cast(operand=operand):
            return spell(operand)
        case _:
            return expr.span.text


def _spell_operand(expr: Expr) -> str:
    return f"({spell(expr)})" if isinstance(expr, Binary) else spell(expr)
