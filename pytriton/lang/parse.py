"""Tokens -> syntax tree, by lark's LALR(1) tables for grammar/triton_c.lark.

Input: preprocessed tokens. Output: a ``File``. Invariants: every node's span covers its text, parentheses
included; what is not Triton-C at all (``struct``, ``goto``, ...) is refused by name before parsing; the first
syntax error ends the work, as what follows one is guesswork.

Three things that a C grammar cannot say are settled here, before parsing: which identifiers are type names
(``typedef``, with scopes), that ``bitcast`` before ``<`` is an operator, and precedence (see ``_climb``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from lark import Lark, UnexpectedInput, UnexpectedToken
from lark import Token as LarkToken
from lark.lexer import Lexer, PatternStr

from pytriton.errors import Report
from pytriton.lang import syntax
from pytriton.lang.scope import closest
from pytriton.lang.syntax import PRECEDENCE
from pytriton.lang.tokens import Kind, Token
from pytriton.lang.types import TYPE_WORDS
from pytriton.source import Span

__all__ = ["grammar_text", "parse"]

_QUALIFIERS: Final = frozenset(
    "const restrict __restrict __restrict__ volatile __constant__ inline __inline __inline__".split()
)
_STORAGE: Final = frozenset("typedef static extern register __global__".split())
_TYPES: Final = frozenset(word for words in TYPE_WORDS for word in words) | {"void"}
_REFUSED: Final = {
    "struct": "pass the members as separate parameters",
    "union": "use bitcast<T>(x) to reinterpret bits",
    "goto": "use a loop or an if",
    "switch": "use if / else if",
    "case": "use if / else if",
    "default": "use if / else if",
    "asm": "Triton has no inline assembly in this form",
    "__asm__": "Triton has no inline assembly in this form",
    "_Generic": "pass the type as a define",
    "complex": "keep real and imaginary parts apart",
    "_Complex": "keep real and imaginary parts apart",
}


def parse(tokens: list[Token], report: Report) -> syntax.File:
    """Parse preprocessed tokens (``END`` last).

    Raises ``ParseError`` or ``UnsupportedError`` through ``report`` for the first thing that does not fit.
    """
    lark, names = _parser()
    fed = list(_classify(tokens, names, report))
    report.check()
    try:
        items = lark.parse(fed)  # type: ignore[arg-type]
    except UnexpectedToken as error:
        _refuse(error, fed, report)
    except UnexpectedInput:
        report.fatal("TC201", "this is not Triton-C", tokens[-1].span)
    assert isinstance(items, tuple)
    first = tokens[0].span
    whole = Span(first.source, 0, len(first.source.text))
    comments = tuple(comment for token in tokens for comment in token.comments)
    return syntax.File(whole, items, comments)


def grammar_text() -> str:
    """The grammar: inside the package in a wheel, one level up in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for root in (package, package.parent):
        path = root / "grammar" / "triton_c.lark"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise FileNotFoundError("grammar/triton_c.lark is missing from this installation of pytriton")


# ---------------------------------------------------------------- tokens for lark


class _Fed(LarkToken):
    """One of our tokens as lark wants it: a string with a ``type``."""

    __slots__ = ("token",)
    token: Token

    @classmethod
    def of(cls, terminal: str, token: Token) -> _Fed:
        self = cls.__new__(cls, terminal, token.text)
        self.token = token
        return self


class _Feed(Lexer):
    """Hands lark the tokens that were classified before."""

    def __init__(self, conf: object) -> None:
        pass

    def lex(self, data: list[_Fed]) -> Iterator[_Fed]:  # type: ignore[override]
        return iter(data)


@cache
def _parser() -> tuple[Lark, dict[str, str]]:
    """The tables, built once a process, and the terminal name of every fixed spelling."""
    lark = Lark(
        grammar_text(),
        parser="lalr",
        lexer=_Feed,
        transformer=_Builder(),
        keep_all_tokens=True,
        maybe_placeholders=True,
    )
    names = {
        terminal.pattern.value: terminal.name
        for terminal in lark.terminals
        if isinstance(terminal.pattern, PatternStr)
    }
    names |= dict.fromkeys(_QUALIFIERS, "QUALIFIER")
    names |= dict.fromkeys(_STORAGE, "STORAGE")
    names |= dict.fromkeys(_TYPES, "TYPE")
    return lark, names


_KINDS: Final = {
    Kind.NUMBER: "NUMBER",
    Kind.CHAR: "CHAR",
    Kind.STRING: "STRING",
    Kind.CONSTEXPR: "CONSTEXPR",
}


def _classify(tokens: list[Token], names: dict[str, str], report: Report) -> Iterator[_Fed]:
    """Give each token its terminal name."""
    typedefs = _Typedefs()
    for index, token in enumerate(tokens[:-1]):
        text = token.text
        if token.kind is Kind.IDENT:
            terminal = names.get(text)
            if text in _REFUSED:
                report.error("TC401", f"Triton-C has no '{text}'", token.span, help=_REFUSED[text])
            elif terminal is None:
                if text == "bitcast" and tokens[index + 1].text == "<":
                    terminal = "BITCAST"
                else:
                    terminal = typedefs.terminal(text, tokens[index - 1] if index else None)
            typedefs.saw(token, terminal or "IDENT", tokens[index + 1])
            yield _Fed.of(terminal or "IDENT", token)
        elif token.kind is Kind.PUNCT:
            terminal = names.get(text)
            if terminal is None:
                what = "member access" if text in (".", "->") else f"'{text}'"
                report.error("TC402", f"Triton-C has no {what}", token.span)
                continue
            typedefs.saw(token, terminal, tokens[index + 1])
            yield _Fed.of(terminal, token)
        else:
            yield _Fed.of(_KINDS[token.kind], token)


class _Typedefs:
    """Which identifiers are type names here: C's "typedef name" problem, for one scope stack.

    A name is a type from the end of its ``typedef`` to the end of its scope. Directly behind a type word
    it is being declared anew and is an ordinary name, there and in the rest of the scope.
    """

    def __init__(self) -> None:
        self.scopes: list[dict[str, bool]] = [{}]
        self.pending: Token | None = None
        self.inside = False
        self.depth = 0
        self.after_type = False

    def terminal(self, text: str, previous: Token | None) -> str:
        known = next((scope[text] for scope in reversed(self.scopes) if text in scope), False)
        if not known:
            return "IDENT"
        if self.after_type:
            if not self.inside:
                self.scopes[-1][text] = False
            return "IDENT"
        return "TYPENAME"

    def saw(self, token: Token, terminal: str, following: Token) -> None:
        text = token.text
        if text == "typedef":
            self.inside, self.pending, self.depth = True, None, 0
        elif self.inside and terminal == "IDENT" and self.depth == 0:
            self.pending = token
        if self.inside and terminal in ("LSQB", "LPAR", "LBRACE"):
            self.depth += 1
        elif self.inside and terminal in ("RSQB", "RPAR", "RBRACE"):
            self.depth -= 1
        elif self.inside and self.depth == 0 and terminal in ("SEMICOLON", "COMMA"):
            if self.pending is not None:
                self.scopes[-1][self.pending.text] = True
            self.inside = terminal == "COMMA"
        elif terminal == "LBRACE":
            self.scopes.append({})
        elif terminal == "RBRACE" and len(self.scopes) > 1:
            self.scopes.pop()
        keeps = terminal in ("QUALIFIER", "STAR")
        self.after_type = terminal in ("TYPE", "TYPENAME") or (self.after_type and keeps)


# ---------------------------------------------------------------- syntax errors

_SPELLED: Final = {
    "IDENT": "a name",
    "NUMBER": "a number",
    "TYPE": "a type",
    "STRING": "a string",
    "$END": "the end of the text",
}


def _refuse(error: UnexpectedToken, fed: list[_Fed], report: Report) -> None:
    """Say what was found and what would have fitted."""
    _, names = _parser()
    spelled = {terminal: f"'{text}'" for text, terminal in names.items() if terminal.isupper()}
    spelled |= _SPELLED
    accepts: set[str] = set(error.accepts or error.expected)
    index = next((i for i, token in enumerate(fed) if token is error.token), len(fed))
    before = fed[index - 1].token if index else None
    found = fed[index].token if index < len(fed) else None
    span = found.span if found else fed[-1].token.span if fed else None
    if span is None:
        return
    shown = f"'{found.text}'" if found else "the end of the text"
    unknown = _unknown_type(before, found, fed[index - 1] if index else None, accepts)
    if unknown is not None:
        near = closest(unknown.text, _TYPES)
        help = f"give it in defines, as in defines={{'{unknown.text}': 'float'}}, or by a typedef"
        help = f"did you mean '{near}'?" if near else help
        report.fatal("TC203", f"'{unknown.text}' is no type", unknown.span, help=help)
    if before is not None and "SEMICOLON" in accepts and (found is None or found.newline):
        end = Span(before.span.source, before.span.end - 1, before.span.end, before.span.expansion)
        report.fatal("TC202", f"expected ';' after '{before.text}'", end)
    if {"IDENT", "NUMBER"} <= accepts:
        wanted = "an expression" if "TYPE" not in accepts else "a statement or an expression"
    elif "TYPE" in accepts and len(accepts) > 3:
        wanted = "a type"
    else:
        words = sorted(spelled.get(terminal, terminal.lower()) for terminal in accepts)
        closing = [word for word in words if word in ("';'", "')'", "']'", "'}'", "','", "'('")]
        words = closing or words
        wanted = " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    report.fatal("TC201", f"expected {wanted}, found {shown}", span)


def _unknown_type(
    before: Token | None, found: Token | None, previous: _Fed | None, accepts: set[str]
) -> Token | None:
    if found is None or found.kind is not Kind.IDENT:
        return None
    if previous is not None and before is not None and previous.type == "IDENT":
        return before
    if "TYPE" in accepts and "IDENT" not in accepts:
        return found
    return None


# ---------------------------------------------------------------- reductions


def _span(part: Any) -> Span:
    return part.token.span if isinstance(part, _Fed) else part.span


def _over(parts: list[Any]) -> Span:
    """The span of a reduction: from its first to its last part that is there."""
    there = [part for part in parts if part is not None and not isinstance(part, tuple)]
    return _span(there[0]).to(_span(there[-1]))


def _nodes(parts: list[Any]) -> tuple[Any, ...]:
    """The parts that are nodes, not punctuation or absent."""
    return tuple(part for part in parts if part is not None and not isinstance(part, _Fed))


def _climb(parts: list[Any]) -> syntax.Expr:
    """Precedence climbing over operand, operator, operand, ...; everything is left-associative."""
    operands: list[Any] = [parts[0]]
    operators: list[Token] = []

    def reduce() -> None:
        right, operator = operands.pop(), operators.pop()
        left = operands.pop()
        span = left.span.to(right.span)
        operands.append(syntax.Binary(span, operator.text, left, right, operator.span))

    for operator, operand in zip(parts[1::2], parts[2::2], strict=True):
        level = PRECEDENCE[operator.text]
        while operators and PRECEDENCE[operators[-1].text] >= level:
            reduce()
        operators.append(operator)
        operands.append(operand)
    while operators:
        reduce()
    expression: syntax.Expr = operands[0]
    return expression


class _Builder:
    """One method a rule of the grammar; lark calls it with the parts of the reduction."""

    def start(self, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(part for part in parts if part is not None)

    def empty(self, parts: list[Any]) -> None:
        return None

    # declarations

    def function(self, parts: list[Any]) -> syntax.Function:
        return syntax.Function(_over(parts), *parts)

    def declaration(self, parts: list[Any]) -> syntax.Declaration:
        return syntax.Declaration(_over(parts), parts[0], _nodes(parts[1:]))

    def static_assert(self, parts: list[Any]) -> syntax.StaticAssert:
        strings = [part for part in parts if isinstance(part, _Fed) and part.type == "STRING"]
        message = "".join(str(part)[1:-1] for part in strings) if strings else None
        return syntax.StaticAssert(_over(parts), parts[2], message)

    def specifiers(self, parts: list[Any]) -> syntax.Specifiers:
        words = tuple(part.token for part in parts if isinstance(part, _Fed))
        attributes = tuple(item for part in parts if isinstance(part, tuple) for item in part)
        enum = next((part for part in parts if isinstance(part, syntax.Enum)), None)
        spanned = [part for part in parts if not isinstance(part, tuple)] or list(attributes)
        return syntax.Specifiers(_over(spanned), words, attributes, enum)

    def enum(self, parts: list[Any]) -> syntax.Enum:
        name = parts[1].token if parts[1] is not None else None
        constants = tuple(part for part in parts if isinstance(part, tuple))
        return syntax.Enum(_span(parts[0]).to(_span(parts[-1])), name, constants)

    def enum_name(self, parts: list[Any]) -> syntax.Enum:
        return syntax.Enum(_over(parts), parts[1].token, ())

    def enumerator(self, parts: list[Any]) -> tuple[Token, syntax.Expr | None]:
        return parts[0].token, parts[2]

    def attribute(self, parts: list[Any]) -> tuple[syntax.Attribute, ...]:
        return _nodes(parts)

    def promise(self, parts: list[Any]) -> syntax.Attribute:
        return syntax.Attribute(_over(parts), parts[0].token.text, _nodes(parts[1:]))

    def qualifier_promise(self, parts: list[Any]) -> syntax.Attribute:
        return syntax.Attribute(_over(parts), parts[0].token.text)

    def pointer(self, parts: list[Any]) -> tuple[Token, ...]:
        return tuple(part.token for part in parts)

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
            _span(name),
            pointer,
            name,
            shape,
            trailing,
            initializer[0] if initializer else None,
            None if parameters is None else tuple(parameters),
        )

    def type_name(self, parts: list[Any]) -> syntax.TypeName:
        specifiers, pointer, shape = parts
        stars = sum(token.text == "*" for token in pointer)
        last = shape[-1].span if shape else pointer[-1].span if pointer else specifiers.span
        return syntax.TypeName(specifiers.span.to(last), specifiers, stars, shape or ())

    # statements

    def block(self, parts: list[Any]) -> syntax.Block:
        return syntax.Block(_over(parts), _nodes(parts))

    def expression_statement(self, parts: list[Any]) -> syntax.ExpressionStatement:
        return syntax.ExpressionStatement(_over(parts), parts[0])

    def if_(self, parts: list[Any]) -> syntax.If:
        return syntax.If(_over(parts), parts[2], parts[4], parts[6])

    def for_(self, parts: list[Any]) -> syntax.For:
        _, _, init, condition, _, step, _, body = parts
        return syntax.For(_over(parts), init, condition, step, body)

    def while_(self, parts: list[Any]) -> syntax.While:
        return syntax.While(_over(parts), parts[2], parts[4])

    def do_while(self, parts: list[Any]) -> syntax.DoWhile:
        return syntax.DoWhile(_over(parts), parts[1], parts[4])

    def return_(self, parts: list[Any]) -> syntax.Return:
        return syntax.Return(_over(parts), parts[1])

    def break_(self, parts: list[Any]) -> syntax.Break:
        return syntax.Break(_over(parts))

    def continue_(self, parts: list[Any]) -> syntax.Continue:
        return syntax.Continue(_over(parts))

    # expressions

    def comma(self, parts: list[Any]) -> syntax.Comma:
        return syntax.Comma(_over(parts), _nodes(parts))

    def assign(self, parts: list[Any]) -> syntax.Assign:
        target, operator, value = parts
        return syntax.Assign(_over([target, value]), operator.text, target, value)

    def assign_op(self, parts: list[Any]) -> Token:
        return parts[0].token  # type: ignore[no-any-return]

    binary_op = prefix_op = assign_op

    def select(self, parts: list[Any]) -> syntax.Select:
        return syntax.Select(_over(parts), parts[0], parts[2], parts[4])

    def elvis(self, parts: list[Any]) -> syntax.Select:
        return syntax.Select(_over(parts), parts[0], None, parts[3])

    def chain(self, parts: list[Any]) -> syntax.Expr:
        return _climb(parts)

    def prefix(self, parts: list[Any]) -> syntax.Prefix:
        operator, operand = parts
        return syntax.Prefix(operator.span.to(operand.span), operator.text, operand)

    def masked(self, parts: list[Any]) -> syntax.MaskedDeref:
        return syntax.MaskedDeref(_over(parts), parts[3], parts[5])

    def cast(self, parts: list[Any]) -> syntax.Cast:
        return syntax.Cast(_over(parts), parts[1], parts[3])

    def size_of(self, parts: list[Any]) -> syntax.SizeOf:
        operand = next(part for part in parts if not isinstance(part, _Fed))
        return syntax.SizeOf(_over(parts), operand)

    def name(self, parts: list[Any]) -> syntax.Name:
        token = parts[0].token
        return syntax.Name(token.span, token.text)

    def number(self, parts: list[Any]) -> syntax.Number:
        token = parts[0].token
        return syntax.Number(token.span, token.text)

    char = number

    def constexpr(self, parts: list[Any]) -> syntax.Constexpr:
        token = parts[0].token
        return syntax.Constexpr(token.span, token.text, token.value)

    def string(self, parts: list[Any]) -> syntax.String:
        token = parts[0].token
        return syntax.String(token.span, token.text)

    def group(self, parts: list[Any]) -> syntax.Expr:
        expression: syntax.Expr = parts[1]
        return expression

    def bitcast(self, parts: list[Any]) -> syntax.Bitcast:
        return syntax.Bitcast(_over(parts), parts[2], parts[5])

    def call(self, parts: list[Any]) -> syntax.Call:
        return syntax.Call(_over(parts), parts[0], _nodes(parts[1:]))

    def subscripted(self, parts: list[Any]) -> syntax.Subscript:
        return syntax.Subscript(_over(parts), parts[0], _nodes(parts[1:]))

    def marker(self, parts: list[Any]) -> syntax.Marker:
        return syntax.Marker(_span(parts[0]), str(parts[0]))

    def increment(self, parts: list[Any]) -> syntax.Postfix:
        return syntax.Postfix(_over(parts), str(parts[1]), parts[0])

    decrement = increment


def _declarator(
    start: Span,
    pointer: tuple[Token, ...],
    name: _Fed | None,
    shape: tuple[syntax.Expr, ...] | None,
    trailing: tuple[syntax.Attribute, ...],
    initializer: syntax.Expr | None = None,
    parameters: tuple[tuple[syntax.Specifiers, syntax.Declarator], ...] | None = None,
) -> syntax.Declarator:
    """A declarator; qualifiers between the stars count as attributes (``* restrict p``)."""
    stars = sum(token.text == "*" for token in pointer)
    qualifiers = tuple(
        syntax.Attribute(token.span, token.text) for token in pointer if token.text != "*"
    )
    ends = [*(item.span for item in trailing), *(item.span for item in shape or ()), start]
    span = start.to(ends[0] if trailing else ends[-2] if shape else _span(name) if name else start)
    return syntax.Declarator(
        span,
        stars,
        name.token if name is not None else None,
        shape or (),
        qualifiers + trailing,
        initializer,
        parameters,
    )
