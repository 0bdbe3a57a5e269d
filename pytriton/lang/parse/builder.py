"""Reductions of the grammar -> nodes of the syntax tree.

A rule is a row of ``_NODES`` or a method of ``Builder``; lark calls it with the parts of the reduction: tokens,
nodes, or None for what is absent. Binary operators come as one flat row, and ``climb`` gives them their precedence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pytriton.frozen import replace
from pytriton.lang.grammar import climb
from pytriton.lang.parse import syntax
from pytriton.lang.tokens import Kind, Token
from pytriton.source import Span


def _over(parts: list[Any]) -> Span:
    """The span of a reduction whose first and last part are there."""
    span: Span = parts[0].span
    return span.to(parts[-1].span)


def _nodes(parts: list[Any]) -> tuple[Any, ...]:
    """The parts that are nodes, not punctuation or absent."""
    return tuple(part for part in parts if part is not None and not isinstance(part, Token))


def _binary(left: syntax.Expr, operator: Token, right: syntax.Expr) -> syntax.Binary:
    return syntax.Binary(left.span.to(right.span), operator.text, left, right)


# The node of each rule, and the places of its parts in the reduction.
_NODES: Final[dict[str, tuple[Any, ...]]] = {
    "function": (syntax.Function, 0, 1, 2),
    "for_": (syntax.For, 2, 3, 5, 7),
    "while_": (syntax.While, 2, 4),
    "do_while": (syntax.DoWhile, 1, 4),
    "return_": (syntax.Return, 1),
    "break_": (syntax.Break,),
    "continue_": (syntax.Continue,),
    "select": (syntax.Select, 0, 2, 4),
    "masked": (syntax.MaskedDeref, 3, 5),
    "cast": (syntax.Cast, 1, 3),
    "bitcast": (syntax.Bitcast, 2, 5),
}


class Builder:
    """A rule of the grammar is one of ``_NODES``, or a method that takes the parts of the reduction."""

    def __getattr__(self, rule: str) -> Callable[[list[Any]], Any]:
        if rule not in _NODES:
            raise AttributeError(rule)
        node, *places = _NODES[rule]
        return lambda parts: node(_over(parts), *[parts[place] for place in places])

    def file(self, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(part for part in parts if part is not None)

    def empty(self, parts: list[Any]) -> None:
        return None

    # declarations

    def declaration(self, parts: list[Any]) -> syntax.Declaration:
        return syntax.Declaration(_over(parts), parts[0], _nodes(parts[1:]))

    def static_assert(self, parts: list[Any]) -> syntax.StaticAssert:
        strings = [part for part in parts if isinstance(part, Token) and part.kind is Kind.STRING]
        message = "".join(part.text[1:-1] for part in strings) if strings else None
        return syntax.StaticAssert(_over(parts), parts[2], message)

    def specifiers(self, parts: list[Any]) -> syntax.Specifiers:
        words = tuple(part for part in parts if isinstance(part, Token))
        attributes = tuple(item for part in parts if isinstance(part, tuple) for item in part)
        enum = next((part for part in parts if isinstance(part, syntax.Enum)), None)
        spanned = [part for part in parts if not isinstance(part, tuple)] or list(attributes)
        return syntax.Specifiers(_over(spanned), words, attributes, enum)

    def enum(self, parts: list[Any]) -> syntax.Enum:
        constants = tuple(part for part in parts if isinstance(part, tuple))
        return syntax.Enum(_over(parts), parts[1], constants)

    def enum_name(self, parts: list[Any]) -> syntax.Enum:
        return syntax.Enum(_over(parts), parts[1], ())

    def enumerator(self, parts: list[Any]) -> tuple[Token, syntax.Expr | None]:
        return parts[0], parts[2]

    def attribute(self, parts: list[Any]) -> tuple[syntax.Attribute, ...]:
        return _nodes(parts)

    def promise(self, parts: list[Any]) -> syntax.Attribute:
        span = _over(parts) if parts[-1] is not None else parts[0].span
        return syntax.Attribute(span, parts[0].text, _nodes(parts[1:]))

    def qualifier_promise(self, parts: list[Any]) -> syntax.Attribute:
        return syntax.Attribute(parts[0].span, parts[0].text)

    def pointer(self, parts: list[Any]) -> tuple[Token | syntax.Attribute, ...]:
        return tuple(item for part in parts for item in (part if isinstance(part, tuple) else (part,)))

    def shape(self, parts: list[Any]) -> tuple[syntax.Expr, ...]:
        return _nodes(parts)

    def trailing(self, parts: list[Any]) -> tuple[syntax.Attribute, ...]:
        return tuple(item for part in parts for item in part)

    def initializer(self, parts: list[Any]) -> list[syntax.Expr]:
        return [parts[1]]

    def parameters(self, parts: list[Any]) -> list[tuple[syntax.Specifiers, syntax.Declarator]]:
        return [part for part in parts if isinstance(part, tuple)]

    def parameter(self, parts: list[Any]) -> tuple[syntax.Specifiers, syntax.Declarator]:
        specifiers, pointer, name, shape, trailing = parts
        declarator = _declarator(specifiers.span, pointer, name, shape, trailing)
        return specifiers, declarator

    def declarator(self, parts: list[Any]) -> syntax.Declarator:
        pointer, name, parameters, shape, trailing, initializer = parts
        return _declarator(
            name.span,
            pointer,
            name,
            shape,
            trailing,
            initializer[0] if initializer else None,
            None if parameters is None else tuple(parameters),
        )

    def type_name(self, parts: list[Any]) -> syntax.TypeName:
        specifiers, pointer, shape = parts
        stars = _stars(pointer)
        last = shape[-1].span if shape else pointer[-1].span if pointer else specifiers.span
        return syntax.TypeName(specifiers.span.to(last), specifiers, stars, shape or ())

    # statements

    def block(self, parts: list[Any]) -> syntax.Block:
        return syntax.Block(_over(parts), _nodes(parts))

    def expression_statement(self, parts: list[Any]) -> syntax.ExpressionStatement:
        expression, semicolon = parts
        span = semicolon.span if expression is None else expression.span.to(semicolon.span)
        return syntax.ExpressionStatement(span, expression)

    def if_(self, parts: list[Any]) -> syntax.If:
        last = parts[4] if parts[6] is None else parts[6]
        return syntax.If(parts[0].span.to(last.span), parts[2], parts[4], parts[6])

    # expressions

    def comma(self, parts: list[Any]) -> syntax.Comma:
        return syntax.Comma(_over(parts), _nodes(parts))

    def assign(self, parts: list[Any]) -> syntax.Assign:
        target, operator, value = parts
        return syntax.Assign(_over(parts), operator.text, target, value)

    def elvis(self, parts: list[Any]) -> syntax.Select:
        return syntax.Select(_over(parts), parts[0], None, parts[3])

    def chain(self, parts: list[Any]) -> syntax.Expr:
        expression: syntax.Expr = climb(parts, _binary)
        return expression

    def prefix(self, parts: list[Any]) -> syntax.Prefix:
        operator, operand = parts
        return syntax.Prefix(operator.span.to(operand.span), operator.text, operand)

    def size_of(self, parts: list[Any]) -> syntax.SizeOf:
        operand = next(part for part in parts if not isinstance(part, Token))
        return syntax.SizeOf(_over(parts), operand)

    def name(self, parts: list[Any]) -> syntax.Name:
        token = parts[0]
        return syntax.Name(token.span, token.text)

    def number(self, parts: list[Any]) -> syntax.Number:
        token = parts[0]
        return syntax.Number(token.span, token.text)

    char = number

    def constexpr(self, parts: list[Any]) -> syntax.Constexpr:
        token = parts[0]
        return syntax.Constexpr(token.span, token.text)

    def string(self, parts: list[Any]) -> syntax.String:
        joined = "".join(part.text[1:-1] for part in parts)
        return syntax.String(_over(parts), f'"{joined}"')

    def group(self, parts: list[Any]) -> syntax.Expr:
        expression: syntax.Expr = parts[1]
        match expression:
            case syntax.MaskedDeref() | syntax.Binary(operator="..."):
                return replace(expression, grouped=True)
        return expression

    def call(self, parts: list[Any]) -> syntax.Call:
        return syntax.Call(_over(parts), parts[0], _nodes(parts[1:]))

    def subscripted(self, parts: list[Any]) -> syntax.Subscript:
        return syntax.Subscript(_over(parts), parts[0], _nodes(parts[1:]))

    def marker(self, parts: list[Any]) -> syntax.Marker:
        return syntax.Marker(parts[0].span, parts[0].text)

    def increment(self, parts: list[Any]) -> syntax.Postfix:
        return syntax.Postfix(_over(parts), parts[1].text, parts[0])

    decrement = increment


def _stars(pointer: tuple[Token | syntax.Attribute, ...]) -> int:
    return sum(isinstance(part, Token) and part.text == "*" for part in pointer)


def _declarator(
    start: Span,
    pointer: tuple[Token | syntax.Attribute, ...],
    name: Token | None,
    shape: tuple[syntax.Expr, ...] | None,
    trailing: tuple[syntax.Attribute, ...],
    initializer: syntax.Expr | None = None,
    parameters: tuple[tuple[syntax.Specifiers, syntax.Declarator], ...] | None = None,
) -> syntax.Declarator:
    """A declarator; qualifiers between the stars count as attributes (``* restrict p``), as attributes do."""
    qualifiers = tuple(
        syntax.Attribute(part.span, part.text) if isinstance(part, Token) else part
        for index, part in enumerate(pointer)
        # A `const` before another star is about what the pointer points to.
        if not isinstance(part, Token)
        or (part.text != "*" and (part.text != "const" or not _stars(pointer[index:])))
    )
    parts = [item.span for item in (*(shape or ()), *trailing)]
    span = start.to(parts[-1] if parts else name.span if name is not None else start)
    return syntax.Declarator(
        span,
        _stars(pointer),
        name,
        shape or (),
        qualifiers + trailing,
        initializer,
        parameters,
    )
