"""Typed trees -> Triton-C, as a person writes it.

The typed tree has C's implicit conversions in it; they are left out again where C makes the same conversion by
itself, which is where node and operand have the same span. Nodes without a source have the span
``ADDED``; their conversions are written. Constants and types are spelled as they were where that is known: numbers
with their digits, defines by name. Parentheses are those that C needs, by the one table of precedence
(lang/grammar.py). What ``format`` keeps (comments, directives, macros) is in no tree, so it works on tokens.

``kernel_text`` prints a kernel with its comments. Two variables of one name in one scope get numbers; a declaration
begins with the ``word`` of its variable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Final

from pytriton.lang.grammar import PRECEDENCE
from pytriton.lang.tree import typed
from pytriton.lang.tree.typed import Comments, Expr, KernelDef, Statement, Symbol
from pytriton.lang.tree.types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    HALF,
    TYPE_NAMES,
    ElementType,
    PointerType,
    ScalarType,
    common_scalar,
    element_of,
    shape_of,
)
from pytriton.lang.tree.walk import same, walk
from pytriton.source import Source, Span

ADDED: Final = Span(Source("", ""), 0, 0)
# How tightly an outermost operator binds, next to the binary ones.
POSTFIX: Final = 16
UNARY: Final = 15
_TERNARY: Final = 2
_ASSOCIATIVE: Final = frozenset(("&&", "||"))
_NUMBER: Final = re.compile(r"-?(\d[\w.]*|\.\d[\w.]*|\d[\w.]*[eE][+-]\d+f?|F32_INFINITY|INFINITY)")
_CALLED: Final = {"program_id": "get_program_id", "num_programs": "get_num_programs"}

Bound = tuple[str, int]  # source, and how tightly it binds


def element(expr: Expr) -> ElementType:
    """Of a value; nothing else can be written."""
    return element_of(expr.type)


def is_implicit(expr: Expr) -> bool:
    """Whether C makes this conversion by itself."""
    if not isinstance(expr, typed.Cast | typed.Broadcast) or expr.span is ADDED:
        return False
    if expr.span != expr.operand.span:
        return False
    pointer = isinstance(element(expr), PointerType)
    return isinstance(expr, typed.Broadcast) or (not pointer and not in_macro(expr))


def bare(expr: Expr) -> Expr:
    """Without the conversions that C makes by itself."""
    while is_implicit(expr):
        expr = expr.operand  # type: ignore[union-attr]
    return expr


def in_macro(expr: typed.Cast) -> bool:
    """Whether it came out of a macro, where all spans are equal and do not show what the user wrote."""
    where = expr.span.start, expr.span.end
    inside = any(
        node.span.expansion is not None and (node.span.start, node.span.end) == where
        for node in walk(expr.operand)
    )
    return inside and not (isinstance(expr.operand, typed.Constexpr) and expr.span.text == expr.operand.name)


def sizes(shape: Iterable[int]) -> str:
    """``TM, TK``: by the defines that gave the sizes, where no other names are in them."""
    return ", ".join(str(_plain(size)) for size in shape)


def _plain(size: int) -> int | str:
    expr = size.expr if isinstance(size, typed.Size) else None
    if expr is None:
        return int(size)
    kinds = typed.Literal | typed.Constexpr | typed.Unary | typed.Binary | typed.Cast
    return str(size) if all(isinstance(node, kinds) for node in walk(expr)) else int(size)


class Words:
    """The user's names of types. ``types``: what the defines stand for that may name one; ``stored``: those that
    parameters point to.
    """

    def __init__(self, types: Mapping[str, str], parameters: Iterable[Symbol]) -> None:
        self.types = types
        pointers = [symbol for symbol in parameters if isinstance(symbol.type, PointerType)]
        self.stored: set[str] = {symbol.word for symbol in pointers} & types.keys()

    def word(self, element: ElementType) -> str:
        """A type that is not in the source: ``TYPE`` for half, where tensors are that."""
        defines = [word for word in self.stored if self.types[word] == str(element)]
        return defines[0] if len(defines) == 1 and element in (HALF, BFLOAT16, DOUBLE) else str(element)

    def type_word(self, symbol: Symbol) -> str:
        """``ACC`` of ``ACC x[TN] = ...`` and of a parameter ``ACC *X``, as it was written if that means the same
        in another text.
        """
        if symbol.word and all(word in TYPE_NAMES or word in self.types for word in symbol.word.split()):
            return symbol.word
        return self.word(symbol.target)


def _word(symbol: Symbol) -> str:
    return symbol.word or str(symbol.target)


class Unparser:
    """Expressions as text. ``names``: of variables, where not their own."""

    def __init__(self, words: Words, strict: bool = False) -> None:
        self._words, self._strict = words, strict
        self.names: dict[Symbol, str] = {}
        self._tested: list[Expr] = []  # the conditions of the branches of ?: that are being written

    def __call__(self, expr: Expr) -> str:
        return self.bound(expr)[0]

    def inside(self, expr: Expr, binds: int = UNARY) -> str:
        """With parentheses where it binds less tightly."""
        return _inside(self.bound(expr), binds)

    def bound(self, expr: Expr) -> Bound:
        """The source, and how tightly it binds."""
        expr = bare(expr)
        match expr:
            case typed.Literal() | typed.Constexpr():
                return _constant(self._constant(expr))
            case typed.Name(symbol=symbol):
                name = self.names.get(symbol, symbol.name)
                return _constant(name if symbol.value is None else repr(symbol.value))
            case typed.Unary(operator="-", operand=operand):
                return self._negated(operand)
            case typed.Unary(operator=operator, operand=operand):
                return f"{operator}{self.inside(operand)}", UNARY
            case typed.Binary(operator=operator, left=left, right=right):
                return self._binary(operator, left, _converted_by(left, right))
            case typed.Dot(left=left, right=right):
                return self._binary("@", left, right)
            case typed.Select():
                return self._select(expr)
            case typed.Load():
                return self._load(expr)
            case typed.Range(start=start, stop=stop):
                return f"{self.inside(start)} ... {self.inside(stop)}", PRECEDENCE["..."]
            case typed.Call(function=function, arguments=arguments):
                return f"{_CALLED.get(function, function)}({', '.join(map(self, arguments))})", POSTFIX
            case typed.Bitcast(operand=operand):
                return f"bitcast<{self._type(expr)}>({self(operand)})", POSTFIX
            case (
                typed.Cast(operand=operand)
                | typed.Broadcast(operand=operand)
                | typed.Reshape(operand=operand)
            ):
                if isinstance(expr, typed.Cast) and expr.type == bare(operand).type:
                    return self.bound(operand)
                return f"({self._type(expr)}){self.inside(operand)}", UNARY
            case _:
                return self._shaped(expr)

    def _negated(self, operand: Expr) -> Bound:
        inner = bare(operand)
        if isinstance(inner, typed.Unary) and inner.operator == "-":
            return self.bound(inner.operand)
        text, binds = self.bound(inner)
        if binds == PRECEDENCE["*"] and text[0] != "-":  # (-a) * b
            return f"-{text}", binds
        return f"-{_inside((text, binds), UNARY + text.startswith('-'))}", UNARY

    def _binary(self, operator: str, left: Expr, right: Expr) -> Bound:
        binds = PRECEDENCE[operator]
        first, second = binds, binds if operator in _ASSOCIATIVE else binds + 1
        bound_left, bound_right = self.bound(left), self.bound(right)
        if operator in ("*", "/", "%") and PRECEDENCE["..."] in (bound_left[1], bound_right[1]):
            first = second = UNARY  # (0 ... TN) / BLOCK, as people write it
        return f"{_inside(bound_left, first)} {operator} {_inside(bound_right, second)}", binds

    def _select(self, expr: typed.Select) -> Bound:
        test = self.inside(expr.condition, _TERNARY + 1)
        self._tested.append(expr.condition)
        yes = self.inside(expr.yes, _TERNARY + 1)
        self._tested.pop()
        return f"{test} ? {yes} : {self.inside(expr.no, _TERNARY + 1)}", _TERNARY

    def _load(self, expr: typed.Load) -> Bound:
        where, mask, other = self.inside(expr.pointer), expr.mask, expr.other
        if mask is None or any(same(mask, tested) for tested in self._tested):
            return f"*{where}", UNARY
        if other is None or (isinstance(other, typed.Literal) and other.span == expr.span):
            return f"*?({self(mask)}) {where}", UNARY
        no = self.inside(other, _TERNARY + 1)
        return f"{self.inside(mask, _TERNARY + 1)} ? *{where} : {no}", _TERNARY

    def _shaped(self, expr: Expr) -> Bound:
        match expr:
            case typed.Expand(operand=operand, axes=axes):
                items: Sequence[str] = ["newaxis" if new else ":" for new in axes]
                if not shape_of(operand.type):
                    return f"({element(operand)}[{sizes(shape_of(expr.type))}]){self.inside(operand)}", UNARY
            case typed.Permute(operand=operand, order=order):
                if len(order) == 2:
                    return f"^{self.inside(operand)}", UNARY
                items = [f"^{axis}" for axis in order]
            case typed.Reduce(operand=operand, operator=operator, axis=axis):
                gone = {axis}
                while expr.span is operand.span is ADDED and isinstance(operand, typed.Reduce):
                    gone.add(operand.axis)  # the last axis first
                    operand = operand.operand
                items = [operator if at in gone else ":" for at in range(len(shape_of(operand.type)))]
            case _:
                raise AssertionError(expr)
        return f"{self.inside(operand, POSTFIX)}[{', '.join(items)}]", POSTFIX

    def _type(self, expr: Expr) -> str:
        """The type of a conversion, as it was written: by a define, without a shape that stays."""
        written = re.match(r"\(\s*(\w+)\s*(\[|\))", expr.span.text)
        own, shape = str(element(expr)), shape_of(expr.type)
        if isinstance(expr, typed.Reshape):
            own = self._words.word(element(expr))
        if written is not None and self._words.types.get(written[1]) == own:
            own = written[1]
        stays = isinstance(expr, typed.Cast) and shape == shape_of(expr.operand.type)
        plain = not shape or (stays and (written is None or written[2] == ")"))
        return own if plain else f"{own}[{sizes(shape)}]"

    def _constant(self, expr: typed.Literal | typed.Constexpr) -> str:
        if isinstance(expr, typed.Constexpr):
            return expr.name
        text = expr.span.text.strip()
        if expr.type == BOOL:
            return "true" if expr.value else "false"
        if expr.span.expansion is None and _NUMBER.fullmatch(text):
            return text
        if isinstance(expr.value, float) and abs(expr.value) == math.inf:
            return "F32_INFINITY" if expr.value > 0 else "-F32_INFINITY"
        suffix = "f" if self._strict and element(expr) != DOUBLE and isinstance(expr.value, float) else ""
        return f"{expr.value!r}{suffix}"


def _inside(bound: Bound, binds: int) -> str:
    return bound[0] if bound[1] >= binds else f"({bound[0]})"


def _constant(text: str) -> Bound:
    return text, UNARY if text.startswith("-") else POSTFIX


def _converted_by(left: Expr, right: Expr) -> Expr:
    """The right operand without a conversion that the left one causes by itself."""
    inner = right.operand if isinstance(right, typed.Broadcast) else right
    other = left.operand if isinstance(left, typed.Broadcast) else left
    kept = not isinstance(other, typed.Cast) or other.span != other.operand.span or in_macro(other)
    if not kept or not isinstance(inner, typed.Cast) or isinstance(element(left), PointerType):
        return right
    if not in_macro(inner):
        return right
    to, of = element(inner), element(inner.operand)
    both = isinstance(to, ScalarType) and isinstance(of, ScalarType) and to == element(other)
    return inner.operand if both and common_scalar(to, of) == to else right  # type: ignore[arg-type]


# ---------------------------------------------------------------- statements

MAX_WIDTH: Final = 110
_COMPOUND: Final = frozenset(("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"))


def kernel_text(kernel: KernelDef, words: Words, strict: bool = False, taken: Collection[str] = ()) -> str:
    """A kernel as source. ``taken``: names not for variables."""
    printer = _Printer(Unparser(words, strict))
    printer.body(kernel.body, "  ", {*taken, *(symbol.name for symbol in kernel.parameters)})
    start = f"__global__ void {kernel.name}("
    head = f"{start}{', '.join(map(parameter, kernel.parameters))}) {{".replace(" ", "\0").replace(
        ",\0", ", "
    )
    lines = wrap(head, MAX_WIDTH, subsequent_indent=" " * len(start), break_long_words=False)
    lines = [line.replace("\0", " ") for line in lines]  # only what is between parameters is a place to break
    return "\n".join([*_above(kernel.comments, ""), *lines, *printer.lines, "}", ""])


def _above(comments: Comments, indent: str) -> list[str]:
    return [f"{indent}// {line}".rstrip() for comment in comments.above for line in comment.splitlines()]


def parameter(symbol: Symbol) -> str:
    """The declaration of a parameter, with its promises."""
    numbers = {"aligned": symbol.aligned, "multipleof": symbol.multiple_of}
    promises = [word for word in ("noalias", "readonly", "writeonly", "retune") if getattr(symbol, word)]
    promises += [f"{word}({sizes((number,))})" for word, number in numbers.items() if number > 1]
    const = "const " * (symbol.const or symbol.const_target)
    declared = f"{const}{_word(symbol)} {'*' * str(symbol.type).count('*')}{symbol.name}"
    return " ".join([declared, *(f"__{promise}" for promise in promises)])


class _Printer:
    """Statements, line by line; ``taken`` are the names in scope."""

    def __init__(self, unparser: Unparser) -> None:
        self.expr, self.names = unparser, unparser.names
        self.lines: list[str] = []

    def body(self, body: Iterable[Statement], indent: str, taken: set[str]) -> None:
        for statement in body:
            self.lines += _above(statement.comments, indent)
            self.statement(statement, indent, taken)
            if statement.comments.beside:
                self.lines[-1] += "  // " + " ".join(" ".join(statement.comments.beside).split())

    def statement(self, statement: Statement, indent: str, taken: set[str]) -> None:
        match statement:
            case typed.Declare():
                self.lines.append(f"{indent}{_word(statement.symbol)} {self.declared(statement, taken)};")
            case typed.Assign():
                self.lines.append(f"{indent}{self.assigned(statement)};")
            case typed.Store(pointer=pointer, value=value, mask=mask):
                masked = f"?({self.expr(mask)}) " if mask is not None else ""
                self.lines.append(f"{indent}*{masked}{self.expr.inside(pointer)} = {self.expr(value)};")
            case typed.Evaluate(value=typed.Atomic(operation="add") as atomic):
                masked = f", {self.expr(atomic.mask)}" if atomic.mask is not None else ""
                operands = f"{self.expr(atomic.pointer)}, {self.expr(atomic.value)}{masked}"
                self.lines.append(f"{indent}atomic_add({operands});")
            case typed.For():
                self.loop(statement, indent, taken)
            case typed.If(condition=condition, then=then, otherwise=otherwise):
                self.lines.append(f"{indent}if ({self.expr(condition)}) {{")
                self.body(then, indent + "  ", set(taken))
                if otherwise:
                    self.lines.append(f"{indent}}} else {{")
                    self.body(otherwise, indent + "  ", set(taken))
                self.lines.append(f"{indent}}}")
            case _:
                raise AssertionError(statement)

    def loop(self, loop: typed.For, indent: str, taken: set[str]) -> None:
        inner = set(taken)
        heads = [head for head in loop.init if isinstance(head, typed.Declare)]
        declared = [self.declared(head, inner) for head in heads]
        words = [_word(head.symbol) for head in heads]
        if len(set(words)) > 1 or any(shape_of(head.symbol.type) for head in heads):
            self.lines += [f"{indent}{word} {head};" for word, head in zip(words, declared, strict=True)]
            taken |= inner
            declared = []
        first = f"{words[0]} {', '.join(declared)}" if declared else ""
        condition = "" if loop.condition is None else self.expr(loop.condition)
        start = len(self.lines)
        self.body(loop.body, indent + "  ", inner)
        step = ", ".join(
            self.assigned(statement) for statement in loop.step if isinstance(statement, typed.Assign)
        )
        if not first and not step and condition:
            head = f"while ({condition})"
        else:
            head = f"for ({first};{' ' * bool(condition)}{condition};{' ' * bool(step)}{step})"
        self.lines.insert(start, f"{indent}{head} {{")
        self.lines.append(f"{indent}}}")

    def declared(self, statement: typed.Declare, taken: set[str]) -> str:
        """A declarator with its value; the variable gets its name."""
        symbol, stars = statement.symbol, str(element_of(statement.symbol.type)).count("*")
        name, count = symbol.name, 1
        while name in taken:
            count += 1
            name = f"{symbol.name}_{count}"
        value = "" if statement.value is None else f" = {self.expr(statement.value)}"
        taken.add(name)
        self.names[symbol] = name
        shape = f"[{sizes(shape_of(symbol.type))}]" if shape_of(symbol.type) else ""
        return f"{'*' * stars}{name}{shape}{value}"

    def assigned(self, statement: typed.Assign) -> str:
        name, value = self.names.get(statement.symbol, statement.symbol.name), bare(statement.value)
        if isinstance(value, typed.Binary) and value.operator in _COMPOUND:
            left = bare(value.left)
            if isinstance(left, typed.Name) and left.symbol is statement.symbol:
                return f"{name} {value.operator}= {self.expr(value.right)}"
        return f"{name} = {self.expr(statement.value)}"
