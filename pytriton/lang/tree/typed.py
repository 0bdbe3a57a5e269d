"""The typed tree: what the source means.

Every expression has a type and every node a span. C's implicit conversions are explicit here (``Cast`` for
elements, ``Broadcast`` and ``Reshape`` for shapes), except that the operands of one operator may still differ
in shape: they broadcast together as in NumPy. Every declaration has a ``Symbol`` of its own, so scopes are
gone: two variables of one name are two symbols. Passes rebuild what they change and keep the rest identical.
"""

from __future__ import annotations

from typing import Literal as Choice

from pytriton.frozen import node
from pytriton.lang.recording import RecordedInt, pinned, plain
from pytriton.lang.tree.builtins import Printed
from pytriton.lang.tree.types import BlockType, PointerType, ScalarType, Type, element_of
from pytriton.source import Span

# ---------------------------------------------------------------- known
# Room in the typed tree for what walk.py found out about a node, so that it is found out once.
#
# These are not fields: equality, printing and ``replace`` ignore them, and a new node has none.


class NodeFacts:
    """Of an expression: the nodes below; the symbols in it; the classes of its nodes. Of a pointer: the variables
    that it is computed from, or None where memory or a number is (passes/memory/provenance.py).
    """

    __slots__ = ("bases", "below", "kinds", "symbols")
    bases: frozenset[Symbol] | None
    below: tuple[Expr, ...]
    kinds: frozenset[type]
    symbols: frozenset[Symbol]


class KnownInside:
    """Of a statement and the blocks in it: the symbols that are read; those that are set; the classes of nodes."""

    __slots__ = ("kinds", "reads", "sets")
    kinds: frozenset[type]
    reads: frozenset[Symbol]
    sets: frozenset[Symbol]


class Size(int):
    """One size of a block: a number that remembers the expression which gave it, for printing."""

    expr: Expr | None

    def __new__(cls, value: int, expr: Expr | None = None) -> Size:
        size: Size
        if isinstance(value, RecordedInt):
            size = RecordedInt.__new__(RecordedSize, value, value.term, value.log, value.span)
        else:
            size = int.__new__(Size, value)
        size.expr = expr
        return size

    def __str__(self) -> str:
        return str(pinned(self)) if self.expr is None else spell(self.expr)


class RecordedSize(RecordedInt, Size):
    """A size that depends on defines."""

    __str__ = Size.__str__


def value_of(size: int) -> int:
    """The number of a size, without the expression that gave it."""
    if isinstance(size, RecordedInt):
        recorded: int = RecordedInt(size, size.term, size.log, size.span)
        return recorded
    number: int = plain(size)
    return number


@node
class Symbol:
    """A declared name; compared by identity. The promises hold for parameters and some locals."""

    name: str
    type: ScalarType | PointerType | BlockType
    span: Span
    parameter: bool = False
    declaration: str = ""  # as written; "" for a variable that the translator adds
    word: str = ""  # of its type, as written: `unsigned int`, or a define that gives it
    multiple_of: int = 1
    aligned: int = 1
    noalias: bool = False
    const: bool = False  # it cannot be assigned to
    const_target: bool = False  # `const T *p`: what it points to is const
    readonly: bool = False  # an implicit promise: passes/memory/provenance.py
    writeonly: bool = False
    retune: bool = False
    value: int | float | None = None  # of a local that holds one number for life: `static const int T = 64;`
    buffer: int = 0  # the bytes of a constant buffer: `char __constant__* tab = calloc(64);`

    @property
    def target(self) -> ScalarType:
        """The type at the end of its pointers, which a declaration begins with."""
        type_ = element_of(self.type)
        while isinstance(type_, PointerType):
            type_ = type_.element
        return type_


# ---------------------------------------------------------------- expressions


@node
class _Expression(NodeFacts):
    """What every expression has."""

    span: Span
    type: Type


@node
class Literal(_Expression):
    """A number. A ``weak`` one is an unsuffixed floating literal that has met no type yet."""

    value: int | float
    weak: bool = False


@node
class Constexpr(_Expression):
    """A define with a number as its value; a floating one is weak like a literal."""

    name: str
    value: int | float
    weak: bool = False


@node
class Name(_Expression):
    symbol: Symbol


@node
class Unary(_Expression):
    """``-`` ``~`` on a promoted operand, ``!`` on a bool."""

    operator: str
    operand: Expr


@node
class Binary(_Expression):
    """An operator on operands of its common element type; ``&&`` and ``||`` on bools.

    ``+`` and ``-`` also move pointers by an integer right operand, or subtract two pointers.
    """

    operator: str
    left: Expr
    right: Expr


@node
class Select(_Expression):
    """``condition ? yes : no``, elementwise, both evaluated."""

    condition: Expr
    yes: Expr
    no: Expr


@node
class Load(_Expression):
    """``*pointer`` where ``mask`` holds, ``other`` elsewhere (0 if None)."""

    pointer: Expr
    mask: Expr | None = None
    other: Expr | None = None
    site: int | None = None  # its number in checked code (passes/check/sites.py); so of atomics and stores


@node
class Cast(_Expression):
    """Conversion of the elements to those of ``type``; pointers are reinterpreted."""

    operand: Expr


@node
class Bitcast(_Expression):
    operand: Expr


@node
class Broadcast(_Expression):
    """The operand repeated to the shape of ``type``; a scalar fills it."""

    operand: Expr


@node
class Reshape(_Expression):
    """The same elements in row-major order in another shape; () makes one element a scalar."""

    operand: Expr


@node
class Expand(_Expression):
    """``x[:, newaxis]``: one entry of ``axes`` an axis of the result, True for a new one."""

    operand: Expr
    axes: tuple[bool, ...]


@node
class Gather(_Expression):
    """Element i of the result is element ``index[i]`` of the operand; both have one axis (passes/lower/pad.py)."""

    operand: Expr
    index: Expr


@node
class Permute(_Expression):
    """Result axis i is operand axis ``order[i]``."""

    operand: Expr
    order: tuple[int, ...]


@node
class Reduce(_Expression):
    operator: Choice["+", "max", "min"]
    operand: Expr
    axis: int


@node
class Range(_Expression):
    """``start ... stop`` of constants."""

    start: Expr
    stop: Expr


@node
class Dot(_Expression):
    """``left @ right``, plus ``accumulator`` where a pass has chained one."""

    left: Expr
    right: Expr
    accumulator: Expr | None = None


@node
class Call(_Expression):
    """A built-in function by its canonical name (see builtins.py). Only a barrier and a ``printf`` do anything."""

    function: str
    arguments: tuple[Expr, ...]
    printed: Printed | None = None  # of printf


@node
class Atomic(_Expression):
    """``add``, ``cas`` or ``xchg`` on memory; the value is the old one."""

    operation: Choice["add", "cas", "xchg"]
    pointer: Expr
    compare: Expr | None  # of cas
    value: Expr
    mask: Expr | None = None
    site: int | None = None


@node
class Sequenced(_Expression):
    """Statements, then a value: ``a++``, ``a = b``. Only the checker sees one (effects.py)."""

    statements: Body
    value: Expr


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
    | Sequenced
)

# ---------------------------------------------------------------- statements


@node
class Comments:
    """The comments above a statement and at the end of its last line."""

    above: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


NO_COMMENTS = Comments()


@node
class _Statement(KnownInside):
    """What every statement has."""

    span: Span


@node
class Remark(_Statement):
    """Comments that belong to no statement: those before a closing brace."""

    comments: Comments = NO_COMMENTS
    ends: tuple[Symbol, ...] = ()  # in traced code: the variables of an inner block that ends here


@node
class Declare(_Statement):
    symbol: Symbol
    value: Expr | None
    comments: Comments = NO_COMMENTS


@node
class Assign(_Statement):
    symbol: Symbol
    value: Expr
    comments: Comments = NO_COMMENTS


@node
class Store(_Statement):
    """``*pointer = value`` where ``mask`` holds; the value has the element type of the pointer."""

    pointer: Expr
    value: Expr
    mask: Expr | None = None
    comments: Comments = NO_COMMENTS
    site: int | None = None


@node
class Evaluate(_Statement):
    """An expression for its effect: an atomic, or the call of a barrier."""

    value: Expr
    comments: Comments = NO_COMMENTS


@node
class If(_Statement):
    condition: Expr
    then: Body
    otherwise: Body
    comments: Comments = NO_COMMENTS


@node
class For(_Statement):
    """C's loop. ``init`` runs before it in a scope of its own; no condition means true."""

    init: Body
    condition: Expr | None
    step: Body
    body: Body
    comments: Comments = NO_COMMENTS


@node
class RangeLoop(_Statement):
    """``for symbol in range(start, stop, step)`` (passes/loops/counted.py; of stages passes/speed/traits.py)."""

    symbol: Symbol
    start: Expr
    stop: Expr
    step: Expr
    body: Body
    comments: Comments = NO_COMMENTS
    stages: int | None = None


@node
class While(_Statement):
    condition: Expr
    body: Body
    comments: Comments = NO_COMMENTS


@node
class DoWhile(_Statement):
    body: Body
    condition: Expr
    comments: Comments = NO_COMMENTS


@node
class Return(_Statement):
    comments: Comments = NO_COMMENTS


@node
class Break(_Statement):
    comments: Comments = NO_COMMENTS


@node
class Continue(_Statement):
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


@node
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
