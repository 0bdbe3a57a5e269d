"""The syntax tree: what was written, before anything is known about names and types.

Nodes are frozen, carry the span of their text and nothing else that is not in it. Parentheses leave no node,
only a wider span.
"""

from __future__ import annotations

from pytriton.frozen import dataclass
from pytriton.lang.tokens import Comment, Token
from pytriton.source import Span

__all__ = [
    "Assign",
    "Attribute",
    "Binary",
    "Bitcast",
    "Block",
    "Break",
    "Call",
    "Cast",
    "Comma",
    "Constexpr",
    "Continue",
    "Declaration",
    "Declarator",
    "DoWhile",
    "Enum",
    "Expr",
    "ExpressionStatement",
    "File",
    "For",
    "Function",
    "If",
    "Marker",
    "MaskedDeref",
    "Name",
    "Number",
    "Postfix",
    "Prefix",
    "Return",
    "Select",
    "SizeOf",
    "Specifiers",
    "Statement",
    "StaticAssert",
    "String",
    "Subscript",
    "TypeName",
    "While",
]


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    span: Span
    id: str


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number or character constant, as spelled."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Constexpr:
    """A define with a number as its value, used as a value: which one, the checker is told."""

    span: Span
    id: str


@dataclass(frozen=True, slots=True, eq=False)
class String:
    span: Span
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    span: Span
    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Postfix:
    span: Span
    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class MaskedDeref:
    """``*?(mask) pointer``; ``grouped``: it stands in parentheses of its own."""

    span: Span
    mask: Expr
    pointer: Expr
    grouped: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Binary:
    """``grouped``: it is a range and stands in parentheses of its own."""

    span: Span
    operator: str
    left: Expr
    right: Expr
    operator_span: Span
    grouped: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    """``condition ? yes : no``; ``yes`` is None in GNU's ``condition ?: no``."""

    span: Span
    condition: Expr
    yes: Expr | None
    no: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """``target operator value`` with ``=`` or a compound operator."""

    span: Span
    operator: str
    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Comma:
    span: Span
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TypeName:
    """A type in a cast, a bitcast, ``sizeof`` or an argument list."""

    span: Span
    specifiers: Specifiers
    stars: int
    shape: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cast:
    span: Span
    type: TypeName
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Bitcast:
    span: Span
    type: TypeName
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class SizeOf:
    span: Span
    operand: TypeName | Expr


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    span: Span
    callee: Expr
    arguments: tuple[Expr | TypeName, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Marker:
    """``:``, ``+`` or ``-`` as an item of a subscript."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Subscript:
    span: Span
    operand: Expr
    items: tuple[Expr | Marker, ...]


Expr = (
    Name
    | Number
    | Constexpr
    | String
    | Prefix
    | Postfix
    | MaskedDeref
    | Binary
    | Select
    | Assign
    | Comma
    | Cast
    | Bitcast
    | SizeOf
    | Call
    | Subscript
)


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """One promise of an ``__attribute__``."""

    span: Span
    name: str
    arguments: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Enum:
    span: Span
    name: Token | None
    constants: tuple[tuple[Token, Expr | None], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Specifiers:
    """Type words, qualifiers and storage words as tokens, in order; at most one enum."""

    span: Span
    words: tuple[Token, ...]
    attributes: tuple[Attribute, ...] = ()
    enum: Enum | None = None

    def has(self, word: str) -> bool:
        return any(token.text == word for token in self.words)


@dataclass(frozen=True, slots=True, eq=False)
class Declarator:
    """``*name[shape] attributes = initializer``; with ``parameters``, a function. A parameter may lack a name."""

    span: Span
    stars: int
    name: Token | None
    shape: tuple[Expr, ...]
    attributes: tuple[Attribute, ...]
    initializer: Expr | None = None
    parameters: tuple[tuple[Specifiers, Declarator], ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    span: Span
    specifiers: Specifiers
    declarators: tuple[Declarator, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StaticAssert:
    span: Span
    condition: Expr
    message: str | None


@dataclass(frozen=True, slots=True, eq=False)
class ExpressionStatement:
    """``expression ;`` or the empty statement."""

    span: Span
    expression: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    span: Span
    items: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class If:
    span: Span
    condition: Expr
    then: Statement
    otherwise: Statement | None


@dataclass(frozen=True, slots=True, eq=False)
class For:
    span: Span
    init: Declaration | ExpressionStatement
    condition: Expr | None
    step: Expr | None
    body: Statement


@dataclass(frozen=True, slots=True, eq=False)
class While:
    span: Span
    condition: Expr
    body: Statement


@dataclass(frozen=True, slots=True, eq=False)
class DoWhile:
    span: Span
    body: Statement
    condition: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    span: Span
    value: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Break:
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Continue:
    span: Span


Statement = (
    Declaration
    | StaticAssert
    | ExpressionStatement
    | Block
    | If
    | For
    | While
    | DoWhile
    | Return
    | Break
    | Continue
)


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    span: Span
    specifiers: Specifiers
    declarator: Declarator
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """A whole text: its functions and declarations in order, and every comment that was kept.

    ``spelled``: the negative defines that follow an operand, where their sign is an operator.
    """

    span: Span
    items: tuple[Function | Declaration | StaticAssert, ...]
    comments: tuple[Comment, ...]
    spelled: frozenset[str] = frozenset()
