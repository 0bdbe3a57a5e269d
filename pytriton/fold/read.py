"""The text of a generated module -> its statements.

Input: the text of a ``Translation``. Output: a ``Kernel``: parameters with their comments, and the statements of
the body, each with the comments above and beside it and the line of the source that it came from. Python's ``ast``
gives the structure, the tokens give the comments. Invariant: what is read, printed again, is the text.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from pytriton.emit.python import Atom, BinOp, Call, Conditional, Index, Method, Node, Tuple, UnaryOp
from pytriton.frozen import dataclass

__all__ = ["Block", "Kernel", "Parameter", "Simple", "Statement", "Unfoldable", "expression", "read"]

_MODULES: Final = frozenset(("tl", "triton", "libdevice"))
_OPERATORS: Final[Mapping[type[ast.AST], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
    ast.Invert: "~",
    ast.USub: "-",
}


class Unfoldable(Exception):
    """Variants that cannot be one function; the message says why."""


@dataclass(frozen=True, slots=True)
class Simple:
    """A statement on its own: ``before node``. Without a node, ``before`` is all of it (``pass``), and where that
    is empty too, only the comments above are left."""

    before: str
    node: Node | None
    line: int = 0
    above: tuple[str, ...] = ()
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """``before node:`` and the statements in it; ``otherwise`` is for ``if`` only."""

    before: str
    node: Node
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()
    line: int = 0
    above: tuple[str, ...] = ()
    beside: str = ""


Statement = Simple | Block


class Parameter(NamedTuple):
    """``name: annotation,  # note`` under the comments above it."""

    name: str
    annotation: str
    above: tuple[str, ...]
    note: str


class Kernel(NamedTuple):
    """``helpers`` are the functions before the kernel, as text; ``above`` the comments before it."""

    function: str
    above: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    helpers: tuple[str, ...]
    imports: tuple[str, ...]


class _Comment(NamedTuple):
    line: int
    column: int
    text: str
    alone: bool  # nothing else stands on its line


def read(text: str, function: str, lines: Mapping[int, int]) -> Kernel:
    """The kernel named ``function``; ``lines`` gives the source line of each line of the text.

    Raises Unfoldable for statements that no translation has had so far.
    """
    return _read(text, function, tuple(lines.items()))


@lru_cache(maxsize=1024)  # texts are folded again and again, each time with some more
def _read(text: str, function: str, lines: tuple[tuple[int, int], ...]) -> Kernel:
    module = ast.parse(text)
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    kernel = next(node for node in functions if node.name == function)
    header = max(argument.lineno for argument in kernel.args.args) if kernel.args.args else kernel.lineno
    reader = _Reader(text, dict(lines))
    first = kernel.decorator_list[0].lineno
    imports = [node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)]
    before = module.body[module.body.index(kernel) - 1].end_lineno or 0
    return Kernel(
        function,
        reader.above(before, first),
        tuple(reader.parameters(kernel)),
        reader.body(kernel.body, header, (kernel.end_lineno or 0) + 1),
        tuple(_with_decorators(text, node) for node in functions if node is not kernel),
        tuple(ast.unparse(node) for node in imports),
    )


def expression(text: str) -> Node:
    """An expression on its own; raises SyntaxError, and Unfoldable for what no translation has."""
    return _Reader(text, {}).node(ast.parse(text, mode="eval").body)


def _with_decorators(text: str, function: ast.FunctionDef) -> str:
    return "\n".join(text.splitlines()[function.decorator_list[0].lineno - 1 : function.end_lineno])


class _Reader:
    """Statements of one text."""

    def __init__(self, text: str, lines: Mapping[int, int]) -> None:
        self._rows = [row.encode() for row in text.split("\n")]
        self._lines = lines
        self._comments = list(_comments(text))

    def above(self, after: int, before: int, column: int = 0) -> tuple[str, ...]:
        """The comments on lines of their own between two lines; those indented less belong to others."""
        between = (comment for comment in self._comments if after < comment.line < before)
        return tuple(comment.text for comment in between if comment.alone and comment.column >= column)

    def _beside(self, first: int, last: int) -> str:
        within = (comment for comment in self._comments if first <= comment.line <= last)
        return "; ".join(comment.text for comment in within if not comment.alone)

    def parameters(self, kernel: ast.FunctionDef) -> Iterator[Parameter]:
        previous = kernel.lineno
        for argument in kernel.args.args:
            line = argument.lineno
            annotation = ast.unparse(argument.annotation) if argument.annotation else ""
            yield Parameter(argument.arg, annotation, self.above(previous, line), self._beside(line, line))
            previous = line

    def body(self, statements: Sequence[ast.stmt], after: int, limit: int) -> tuple[Statement, ...]:
        """The statements of one block, whose header ends on line ``after``; it ends before line ``limit``."""
        column = statements[0].col_offset
        made: list[Statement] = []
        for number, statement in enumerate(statements):
            end = statements[number + 1].lineno if number + 1 < len(statements) else limit
            made.append(self._statement(statement, self.above(after, statement.lineno, column), end))
            after = statement.end_lineno or 0
        remark = self.above(after, limit, column)
        if remark:
            made.append(Simple("", None, self._line(after + 1), remark))
        return tuple(made)

    def _line(self, line: int) -> int:
        return self._lines.get(line, 0)

    def _statement(self, statement: ast.stmt, above: tuple[str, ...], limit: int) -> Statement:
        line = self._line(statement.lineno)
        if isinstance(statement, ast.If | ast.While | ast.For):
            return self._block(statement, above, limit)
        beside = self._beside(statement.lineno, statement.end_lineno or 0)
        match statement:
            case ast.Expr(value=value):
                return Simple("", self.node(value), line, above, beside)
            case ast.Assign(targets=[target], value=value):
                return Simple(f"{_target(target)} = ", self.node(value), line, above, beside)
            case ast.AugAssign(target=target, op=operator, value=value):
                before = f"{_target(target)} {_OPERATORS[type(operator)]}= "
                return Simple(before, self.node(value), line, above, beside)
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Return(value=None):
                return Simple(ast.unparse(statement), None, line, above, beside)
            case ast.Return(value=value):
                assert value is not None
                return Simple("return ", self.node(value), line, above, beside)
        raise Unfoldable(f"{type(statement).__name__} is no statement of a translation")

    def _block(self, statement: ast.If | ast.While | ast.For, above: tuple[str, ...], limit: int) -> Block:
        header = statement.iter if isinstance(statement, ast.For) else statement.test
        before = "while " if isinstance(statement, ast.While) else "if "
        if isinstance(statement, ast.For):
            before = f"for {_target(statement.target)} in "
        first = statement.body[0]
        own = [comment.line for comment in self._comments if comment.alone and comment.line < first.lineno]
        after = first.lineno - 1
        while after in own:
            after -= 1
        middle = self._else(statement) if statement.orelse else limit
        otherwise: tuple[Statement, ...] = ()
        if statement.orelse:
            otherwise = self.body(statement.orelse, middle, limit)
        return Block(
            before,
            self.node(header),
            self.body(statement.body, after, middle),
            otherwise,
            self._line(statement.lineno),
            above,
            self._beside(statement.lineno, after),
        )

    def _else(self, statement: ast.If | ast.While | ast.For) -> int:
        """The line of ``else:``, or the one before ``elif``."""
        line = statement.orelse[0].lineno - 1
        while line > (statement.body[-1].end_lineno or 0) and self._rows[line - 1].strip() != b"else:":
            line -= 1
        return line

    def node(self, expr: ast.expr) -> Node:
        match expr:
            case ast.Name(id=name):
                return Atom(name)
            case ast.Constant():
                return Atom(self._spelled(expr))
            case ast.Attribute():
                return Atom(_dotted(expr))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as number):
                return Atom(f"-{self._spelled(number)}")
            case ast.UnaryOp(op=operator, operand=operand):
                return UnaryOp(_OPERATORS[type(operator)], self.node(operand))
            case ast.BinOp(left=left, op=operator, right=right):
                return BinOp(_OPERATORS[type(operator)], self.node(left), self.node(right))
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return BinOp(_OPERATORS[type(operator)], self.node(left), self.node(right))
            case ast.BoolOp(op=operator, values=values):
                node = self.node(values[0])
                for value in values[1:]:
                    node = BinOp(_OPERATORS[type(operator)], node, self.node(value))
                return node
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                return Conditional(self.node(test), self.node(body), self.node(otherwise))
            case ast.Call():
                return self._call(expr)
            case ast.Subscript(value=value, slice=items):
                return Index(self.node(value), ast.unparse(items).strip("()"))
            case ast.Tuple(elts=items):
                return Tuple(tuple(map(self.node, items)))
        raise Unfoldable(f"{ast.unparse(expr)} is no expression of a translation")

    def _spelled(self, constant: ast.Constant) -> str:
        """A constant as it is written, on one line."""
        row = self._rows[constant.lineno - 1]
        return row[constant.col_offset : constant.end_col_offset].decode()

    def _call(self, call: ast.Call) -> Node:
        arguments = tuple(map(self.node, call.args))
        keywords = tuple((keyword.arg or "", self.node(keyword.value)) for keyword in call.keywords)
        function = call.func
        if isinstance(function, ast.Attribute) and _root(function) not in _MODULES:
            if keywords and not isinstance(function.value, ast.Name):
                raise Unfoldable(f"{ast.unparse(call)} is no call of a translation")
            if not keywords:
                return Method(self.node(function.value), function.attr, arguments)
        return Call(_dotted(function), arguments, keywords)


def _comments(text: str) -> Iterator[_Comment]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            yield _Comment(line, column, token.string[1:].removeprefix(" "), not token.line[:column].strip())


def _root(expr: ast.expr) -> str:
    while isinstance(expr, ast.Attribute):
        expr = expr.value
    return expr.id if isinstance(expr, ast.Name) else ""


def _dotted(expr: ast.expr) -> str:
    if not isinstance(expr, ast.Name) and not _root(expr):
        raise Unfoldable(f"{ast.unparse(expr)} is no expression of a translation")
    return ast.unparse(expr)


def _target(target: ast.expr) -> str:
    if isinstance(target, ast.Tuple):
        return ", ".join(map(_target, target.elts))
    return ast.unparse(target)
