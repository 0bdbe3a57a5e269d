"""The syntax tree: what was written, before anything is known about names and types.

Nodes are frozen, carry the span of their text and nothing else that is not in it. Parentheses leave no node,
only a wider span.
"""

from __future__ import annotations

from pytriton.frozen import node
from pytriton.lang.tokens import Comment, Token
from pytriton.source import Span


@node
class _Node:
    """What every node has."""

    span: Span


@node
class Name(_Node):
    id: str


@node
class Number(_Node):
    """A number or character constant, as spelled."""

    text: str


@node
class Constexpr(_Node):
    """A define with a number as its value, used as a value: the checker has the number."""

    id: str


@node
class String(_Node):
    text: str


@node
class Prefix(_Node):
    operator: str
    operand: Expr


@node
class Postfix(_Node):
    operator: str
    operand: Expr


@node
class MaskedDeref(_Node):
    """``*?(mask) pointer``; ``grouped``: it has parentheses of its own."""

    mask: Expr
    pointer: Expr
    grouped: bool = False


@node
class Binary(_Node):
    """``grouped``: it is a range with parentheses of its own."""

    operator: str
    left: Expr
    right: Expr
    grouped: bool = False


@node
class Select(_Node):
    """``condition ? yes : no``; ``yes`` is None in GNU's ``condition ?: no``."""

    condition: Expr
    yes: Expr | None
    no: Expr


@node
class Assign(_Node):
    """``target operator value`` with ``=`` or a compound operator."""

    operator: str
    target: Expr
    value: Expr


@node
class Comma(_Node):
    items: tuple[Expr, ...]


@node
class TypeName(_Node):
    """A type in a cast, a bitcast, ``sizeof`` or an argument list."""

    specifiers: Specifiers
    stars: int
    shape: tuple[Expr, ...]


@node
class Cast(_Node):
    type: TypeName
    operand: Expr


@node
class Bitcast(_Node):
    type: TypeName
    operand: Expr


@node
class SizeOf(_Node):
    operand: TypeName | Expr


@node
class Call(_Node):
    callee: Expr
    arguments: tuple[Expr | TypeName, ...]


@node
class Marker(_Node):
    """``:``, ``+`` or ``-`` as an item of a subscript."""

    text: str


@node
class Subscript(_Node):
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


@node
class Attribute(_Node):
    """One promise of an ``__attribute__``."""

    name: str
    arguments: tuple[Expr, ...] = ()


@node
class Enum(_Node):
    name: Token | None
    constants: tuple[tuple[Token, Expr | None], ...]


@node
class Specifiers(_Node):
    """Type words, qualifiers and storage words as tokens, in order; at most one enum."""

    words: tuple[Token, ...]
    attributes: tuple[Attribute, ...] = ()
    enum: Enum | None = None

    def has(self, word: str) -> bool:
        return word in [token.text for token in self.words]


@node
class Declarator(_Node):
    """``*name[shape] attributes = initializer``; with ``parameters``, a function. A parameter may lack a name."""

    stars: int
    name: Token | None
    shape: tuple[Expr, ...]
    attributes: tuple[Attribute, ...]
    initializer: Expr | None = None
    parameters: tuple[tuple[Specifiers, Declarator], ...] | None = None


@node
class Declaration(_Node):
    specifiers: Specifiers
    declarators: tuple[Declarator, ...]


@node
class StaticAssert(_Node):
    condition: Expr
    message: str | None


@node
class ExpressionStatement(_Node):
    """``expression ;`` or the empty statement."""

    expression: Expr | None


@node
class Block(_Node):
    items: tuple[Statement, ...]


@node
class If(_Node):
    condition: Expr
    then: Statement
    otherwise: Statement | None


@node
class For(_Node):
    init: Declaration | ExpressionStatement
    condition: Expr | None
    step: Expr | None
    body: Statement


@node
class While(_Node):
    condition: Expr
    body: Statement


@node
class DoWhile(_Node):
    body: Statement
    condition: Expr


@node
class Return(_Node):
    value: Expr | None


@node
class Break(_Node):
    """``break;``"""


@node
class Continue(_Node):
    """``continue;``"""


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


@node
class Function(_Node):
    specifiers: Specifiers
    declarator: Declarator
    body: Block


@node
class File(_Node):
    """A whole source: its functions and declarations in order, and every comment that was kept.

    ``spelled``: the negative defines that follow an operand, where their sign is an operator.
    """

    items: tuple[Function | Declaration | StaticAssert, ...]
    comments: tuple[Comment, ...]
    spelled: frozenset[str] = frozenset()
