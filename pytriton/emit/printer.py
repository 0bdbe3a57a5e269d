"""A tree -> the source of its module, with the line breaks of ``ruff format``.

Output: the text, and the line of the source for each of its lines that came from one. The skeleton of a module is
``templates/kernel.py.j2``; the body is printed here.

An expression that fits on its line is printed by ``show``; a longer one becomes a document, with the breaks, groups
and optional parentheses of ruff's formatter 0.17 (crates/ruff_python_formatter; the file is named at each rule).
Invariants: the lines parse to what the one line would, and ``ruff format`` leaves them as they are.

A document is text, possible line breaks, and groups of them that are used together or not at all. As in Wadler's "A
prettier printer" a group stays on its line if it fits there together with what follows up to the next break. A
statement may have one pair of parentheses that Python needs only where it breaks outside of any brackets; parts
that depend on whether that pair is there have kinds of their own. Kinds and rules are those of ``ruff format``
(crates/ruff_formatter, printer/mod.rs), so that it chooses the same breaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple, assert_never

from pytriton.emit.python import (
    POSTFIX,
    PRECEDENCE,
    Atom,
    BinOp,
    Block,
    Call,
    Conditional,
    Index,
    KernelFunction,
    Method,
    Node,
    Statement,
    Tuple,
    UnaryOp,
    left_level,
    level,
    show,
)
from pytriton.emit.templates import render

WIDTH: Final = 88
WIDE: Final = 120  # of ports, as Triton's own code
INDENT: Final = 4


class DocKind(Enum):
    """What a part of a document does."""

    LINE = auto()  # a break; where it is not used, its text: nothing or a space
    GROUP = auto()  # its own breaks are used together or not at all
    INDENT = auto()  # lines that begin in it are indented
    IF_BROKEN = auto()  # there only if the breaks around it are used
    OPTIONAL_PARENTHESES = auto()  # the one pair, there if its content does not fit without
    BEST_FIT = auto()  # the same, but there only if the content fits with it
    OPTIONAL_LINE = auto()  # a break if the one pair is there, else a space
    MAY_BREAK = auto()  # brackets: to break in them does not call for the one pair


@dataclass(slots=True)
class Part:
    """``kind`` applied to ``parts``."""

    kind: DocKind
    parts: Sequence[Doc]


Doc = str | Part

SOFT: Final = Part(DocKind.LINE, ("",))
SPACE: Final = Part(DocKind.LINE, (" ",))


class _Measure(Enum):
    """Which lines must not be too long for a text to fit."""

    FIRST = auto()
    ALL = auto()
    NONE = auto()  # only where the text ends matters


class _Item(NamedTuple):
    """A document still to be printed, at an indentation, its breaks used or not."""

    indent: int
    broken: bool
    doc: Doc
    measure: _Measure = _Measure.FIRST


# Operators that ruff parenthesizes where an expression with one of them is a statement (stmt_expr.rs).
_STATEMENTS: Final = frozenset(("|", "^", "<<", ">>", "+", "-"))
_COMMA: Final = Part(DocKind.IF_BROKEN, (",",))
_OPTIONAL_LINE: Final = Part(DocKind.OPTIONAL_LINE, ())
_ATTRIBUTE: Final = POSTFIX  # the dot of a method, which ruff counts as an operator
_UNBROKEN: Final = POSTFIX + 1  # tighter than any operator


class _Where(Enum):
    """What surrounds an expression: it decides whether it may be broken at its operators."""

    BARE = auto()  # nothing, so not at all
    OPTIONAL = auto()  # parentheses that are there only if needed
    BRACKETS = auto()


class _Parentheses(Enum):
    """When an expression that is too long gets parentheses (parentheses.rs, OptionalParentheses)."""

    NEVER = auto()  # it has brackets of its own
    BEST_FIT = auto()  # if it fits with them
    MULTILINE = auto()  # if it has to be broken outside of brackets of its own


def layout(before: str, node: Node, after: str, indent: int, width: int = WIDTH) -> list[str]:
    """``before node after`` as lines, indented by ``indent`` columns, broken where it is too long."""
    line = f"{' ' * indent}{before}{show(node)}{after}"
    if len(line) <= width:
        return [line]
    head: list[Doc] = [before]
    if before.startswith("for "):  # its variable could get parentheses too
        head = ["for ", Part(DocKind.BEST_FIT, (before[4:-4],)), " in "]
    return _Printer(indent, width).lines([*head, *_expression_of(before, node), after])


def _expression_of(before: str, node: Node) -> list[Doc]:
    """The expression of a statement (``maybe_parenthesize_expression`` of expression/mod.rs)."""
    parts: list[Doc] = []
    wanted = _parentheses(node)
    if not before and not (isinstance(node, BinOp) and node.operator in _STATEMENTS):
        wanted = _Parentheses.NEVER
    match wanted:
        case _Parentheses.NEVER:
            _expression(node, _Where.BARE, parts)
            return parts
        case _Parentheses.BEST_FIT:
            _expression(node, _Where.OPTIONAL, parts)
            return [Part(DocKind.BEST_FIT, parts)]
        case _Parentheses.MULTILINE:
            where = _Where.OPTIONAL if _Edges(node).bracketed() else _Where.BRACKETS
            _expression(node, where, parts)
            return [Part(DocKind.OPTIONAL_PARENTHESES, parts)]
        case _:
            assert_never(wanted)


# ---------------------------------------------------------------- optional parentheses


def _parentheses(node: Node) -> _Parentheses:
    """``needs_parentheses`` of the expr_*.rs files: what a chain or a sign begins with decides."""
    while True:
        match node:
            case Atom():
                return _Parentheses.BEST_FIT
            case Tuple():
                return _Parentheses.NEVER
            case BinOp() | Conditional():
                return _Parentheses.MULTILINE
            case Call():
                return _Parentheses.BEST_FIT  # its function is a name
            case UnaryOp(operand=operand):
                wrapped = level(operand) < level(node)
            case Method(operand=operand) | Index(operand=operand):
                if _fluent(node):
                    return _Parentheses.MULTILINE
                wrapped = level(operand) < POSTFIX
            case _:
                assert_never(node)
        if wrapped:
            return _Parentheses.NEVER
        node = operand


class _Edges:
    """Whether to break an expression in brackets at its start or end rather than in parentheses around it.

    ``can_omit_optional_parentheses`` of expression/mod.rs: if its loosest operator occurs once and its first
    or last operand has brackets, as in ``(a + ...) * b`` and ``a + f(...)``.
    """

    def __init__(self, node: Node) -> None:
        self.loosest = _UNBROKEN
        self.count = 0  # how often that operator occurs
        self.first: bool | None = None  # whether the leftmost operand is in brackets; None before it is known
        self.last = False  # whether the rightmost one ends with brackets that are not empty
        self._inside(node)

    def bracketed(self) -> bool:
        return self.count <= 1 and (self.last or self.first is True)

    def _operator(self, precedence: int) -> None:
        if precedence < self.loosest:
            self.loosest, self.count = precedence, 0
        self.count += precedence == self.loosest

    def _begin(self, brackets: bool) -> None:
        if self.first is None:
            self.first = brackets

    def _operand(self, node: Node, wrapped: bool) -> None:
        if wrapped:
            self.last = True
            self._begin(True)
        else:
            self._inside(node)

    def _inside(self, node: Node) -> None:
        match node:
            case Atom():
                self.last = False
                self._begin(False)
            case Tuple(items=items):
                self.last = bool(items)
                self._begin(bool(items))
            case Conditional():
                self._operator(PRECEDENCE["if"])  # it counts twice, for the `if` and the `else`
                self._operator(PRECEDENCE["if"])
            case BinOp():
                operands, operators = _flat(node)
                for operator in operators:
                    self._operator(_rank(operator))
                for operand, wrapped in operands:
                    self._operand(operand, wrapped)
            case UnaryOp(operator=operator, operand=operand):
                if operator == "~":
                    self._operator(PRECEDENCE["unary"])
                self._begin(False)
                self._operand(operand, level(operand) < level(node))
            case Call():
                self._begin(False)
                self.last = bool(node.arguments or node.keywords)
            case Method(operand=operand):
                wrapped = level(operand) < POSTFIX
                self._operand(operand, wrapped)
                if wrapped or not isinstance(operand, Atom):
                    self._operator(_ATTRIBUTE)
                self.last = bool(node.arguments)
            case Index(operand=operand):
                self._operand(operand, level(operand) < POSTFIX)
                self.last = False  # a subscript is no reason to break in it
            case _:
                assert_never(node)


def _rank(operator: str) -> int:
    """How tight an operator binds for ruff, which breaks ``and`` and ``or`` together."""
    return max(PRECEDENCE[operator], PRECEDENCE["and"])


# ---------------------------------------------------------------- documents


def _expression(node: Node, where: _Where, out: list[Doc]) -> None:
    """Append the document of an expression."""
    match node:
        case Atom(text=text):
            out.append(text)
        case Tuple(items=()):
            out.append("()")
        case Tuple(items=items):
            inner = _separated([("", item) for item in items])
            if len(items) == 1:
                inner.append(",")
            _brackets("(", inner, ")", where, out)
        case UnaryOp(operator=operator, operand=operand):
            out.append("not " if operator == "not" else operator)
            _operand(operand, level(operand) < level(node), where, out)
        case BinOp():
            operands, operators = _flat(node)
            _group(operands, operators, where, out)
        case Conditional():
            _choices(node, where, out)
        case Call() | Method() | Index():
            if where is not _Where.BARE and _fluent(node):
                links: list[Doc] = []
                _links(node, where, True, links)
                out.append(Part(DocKind.GROUP, links))
            else:
                _links(node, where, False, out)
        case _:
            assert_never(node)


def _operand(node: Node, wrapped: bool, where: _Where, out: list[Doc]) -> None:
    """An expression, in parentheses if it binds too loosely for its place."""
    if wrapped:
        inner: list[Doc] = []
        _expression(node, _Where.BRACKETS, inner)
        _brackets("(", inner, ")", where, out)
    else:
        _expression(node, where, out)


def _brackets(left: str, inner: list[Doc], right: str, where: _Where, out: list[Doc]) -> None:
    """Brackets that are broken as one group (parentheses.rs, ``FormatParenthesized``)."""
    group = Part(DocKind.GROUP, (Part(DocKind.INDENT, (SOFT, *inner)), SOFT))
    out += (left, Part(DocKind.MAY_BREAK, (group,)) if where is _Where.OPTIONAL else group, right)


def _separated(items: list[tuple[str, Node]]) -> list[Doc]:
    """Items with commas between them, and one after the last if each is on a line of its own."""
    parts: list[Doc] = []
    for before, item in items:
        if parts:
            parts += (",", SPACE)
        if before:
            parts.append(before)
        _expression(item, _Where.BRACKETS, parts)
    if len(items) > 1:
        parts.append(_COMMA)
    return parts


# ---------------------------------------------------------------- operators

_Operand = tuple[Node, bool]  # and whether it is in parentheses


def _flat(node: BinOp) -> tuple[list[_Operand], list[str]]:
    """All operands and operators outside of parentheses, in source order."""
    operands: list[_Operand] = []
    operators: list[str] = []
    spine: list[BinOp] = []
    current: Node = node
    wrapped = False
    while isinstance(current, BinOp) and not wrapped:
        spine.append(current)
        wrapped = level(current.left) < left_level(current)
        current = current.left
    operands.append((current, wrapped))
    for above in reversed(spine):
        operators.append(above.operator)
        right = above.right
        wrapped = level(right) <= level(above)
        if isinstance(right, BinOp) and not wrapped:
            more = _flat(right)
            operands += more[0]
            operators += more[1]
        else:
            operands.append((right, wrapped))
    return operands, operators


def _group(operands: list[_Operand], operators: list[str], where: _Where, out: list[Doc]) -> None:
    """Operands with breaks before the loosest operators; what is between those is a group of its own.

    ``FlatBinaryExpressionSlice`` of binary_like.rs.
    """
    parts: list[Doc] = []
    line: Doc = " "
    if where is not _Where.BARE:
        line = SPACE if where is _Where.BRACKETS else _OPTIONAL_LINE
    loosest = min(map(_rank, operators))
    first = 0
    for end in range(1, len(operands) + 1):
        if end < len(operands) and _rank(operators[end - 1]) != loosest:
            continue
        if first:
            parts += (line, f"{operators[first - 1]} ")
        if end - first == 1:
            _operand(*operands[first], where, parts)
        else:
            _group(operands[first:end], operators[first : end - 1], where, parts)
        first = end
    out.append(Part(DocKind.GROUP, parts))


def _choices(node: Conditional, where: _Where, out: list[Doc]) -> None:
    """``a if p else b if q else c`` with breaks before each ``if`` and ``else`` (expr_if.rs)."""
    parts: list[Doc] = []
    line: Doc = " "
    if where is not _Where.BARE:
        line = SPACE if where is _Where.BRACKETS else _OPTIONAL_LINE
    tight = PRECEDENCE["or"]
    last: Node = node
    while isinstance(last, Conditional):
        _operand(last.then, level(last.then) < tight, where, parts)
        parts += (line, "if ")
        _operand(last.condition, level(last.condition) < tight, where, parts)
        parts += (line, "else ")
        last = last.otherwise
    _expression(last, where, parts)
    out.append(Part(DocKind.GROUP, parts))


# ---------------------------------------------------------------- calls, methods, subscripts


def _fluent(node: Node) -> bool:
    """Whether the methods of a chain are on lines of their own: from the second that follows a bracket.

    ``CallChainLayout::from_expression`` of expression/mod.rs.
    """
    count = 0
    while isinstance(node, Method | Index):
        operand = node.operand
        wrapped = level(operand) < POSTFIX
        count += isinstance(node, Method) and (wrapped or isinstance(operand, Call | Method | Index))
        if wrapped:
            break
        node = operand
    return count >= 2


def _links(node: Call | Method | Index, where: _Where, fluent: bool, out: list[Doc]) -> None:
    """A call, or what it is called or subscripted on and its brackets."""
    if isinstance(node, Call):
        out.append(node.function)
    else:
        operand = node.operand
        wrapped = level(operand) < POSTFIX
        chained = isinstance(operand, Call | Method | Index)
        if isinstance(operand, Call | Method | Index):
            _links(operand, where, fluent, out)
        else:
            _operand(operand, wrapped, where, out)
        if isinstance(node, Index):
            _brackets("[", _items(node.items), "]", where, out)
            return
        if fluent and (wrapped or chained):
            out.append(SOFT)
        out.append(f".{node.name}")
    arguments = [("", argument) for argument in node.arguments]
    if isinstance(node, Call):
        arguments += [(f"{name}=", value) for name, value in node.keywords]
    if arguments:
        _brackets("(", [Part(DocKind.GROUP, _separated(arguments))], ")", where, out)
    else:
        out.append("()")


def _items(items: str) -> list[Doc]:
    """The items of a subscript: several can be broken as those of a tuple."""
    nodes: list[tuple[str, Node]] = [("", Atom(item)) for item in items.split(", ")]
    parts = _separated(nodes)
    return [Part(DocKind.GROUP, parts)] if len(nodes) > 1 else parts


# ---------------------------------------------------------------- from documents to lines


class _Printer:
    """Prints one statement."""

    def __init__(self, indent: int, width: int) -> None:
        self.width = width
        self.line = " " * indent
        self.indent = indent
        self.parentheses = False  # whether the one optional pair is there
        self.fits_without = False  # whether all that it would hold was measured without it, and fits
        self.measured = False  # whether the rest of this line is known to fit
        self.pending: list[_Item] = []

    def lines(self, parts: Sequence[Doc]) -> list[str]:
        done: list[str] = []
        self._push(parts, self.indent, True)
        while self.pending:
            indent, broken, doc, _ = self.pending.pop()
            if isinstance(doc, str):
                self.line += doc
            elif doc.kind is DocKind.LINE and broken:
                done.append(self.line)
                self.line = " " * indent
                self.measured = False
            else:
                self._part(doc, indent, broken)
        return [*done, self.line]

    def _push(self, parts: Sequence[Doc], indent: int, broken: bool) -> None:
        self.pending += [_Item(indent, broken, part) for part in reversed(parts)]

    def _part(self, doc: Part, indent: int, broken: bool) -> None:
        kind, parts = doc.kind, doc.parts
        if kind is DocKind.OPTIONAL_LINE:
            parts = (SPACE,) if self.parentheses else (" ",)
        elif kind is DocKind.INDENT:
            indent += INDENT
        elif kind is DocKind.IF_BROKEN:
            parts = parts if broken else ()
        elif kind is DocKind.GROUP:
            broken = self._breaks(parts, indent, broken)
        elif kind is DocKind.OPTIONAL_PARENTHESES:
            self.parentheses = broken = self._needs_parentheses(parts, indent, broken)
            parts = _in_parentheses(parts) if broken else parts
        elif kind is DocKind.BEST_FIT:
            if self._needs_parentheses(parts, indent, broken):
                self.parentheses = True
                self.parentheses = self._fits(_in_parentheses(parts), indent, True, _Measure.ALL)
            broken = self.parentheses
            parts = _in_parentheses(parts) if broken else parts
        elif kind is DocKind.MAY_BREAK and not self.parentheses:
            self.measured = False
        self._push(parts, indent, broken)

    def _breaks(self, parts: Sequence[Doc], indent: int, broken: bool) -> bool:
        """Whether a group must use its breaks."""
        if not broken and self.measured:
            return False
        self.measured = True
        return not self._fits(parts, indent, False, _Measure.FIRST)

    def _needs_parentheses(self, parts: Sequence[Doc], indent: int, broken: bool) -> bool:
        self.parentheses = self.fits_without = False
        self.fits_without = not self._breaks(parts, indent, broken)
        return not self.fits_without

    def _fits(self, parts: Sequence[Doc], indent: int, broken: bool, measure: _Measure) -> bool:
        """Whether these parts and what follows them fit, as far as ``measure`` checks.

        Groups in them have the breaks of the whole used or not. What follows has its own, and the first
        break there that is used ends the line.
        """
        width = len(self.line)
        left = len(self.pending)
        pending: list[tuple[int, bool, Doc, _Measure]] = [
            (indent, broken, part, measure) for part in reversed(parts)
        ]
        while pending or left:
            if not pending:
                left -= 1
                pending.append(self.pending[left])
            indent, broken, doc, measure = pending.pop()
            if isinstance(doc, str):
                width += len(doc)
                if width > self.width and measure is not _Measure.NONE:
                    return False
                continue
            kind, parts = doc.kind, doc.parts
            if kind is DocKind.OPTIONAL_LINE:
                parts = (SPACE,) if self.parentheses else (" ",)
            elif kind is DocKind.LINE and broken:
                if measure is _Measure.FIRST:
                    return True
                width = indent
                continue
            elif kind is DocKind.INDENT:
                indent += INDENT
            elif kind is DocKind.IF_BROKEN and not broken:
                continue
            elif kind is DocKind.OPTIONAL_PARENTHESES and broken:
                parts = _in_parentheses(parts)
            elif kind is DocKind.MAY_BREAK and not broken and not self.parentheses:
                if self.fits_without:  # so what follows its break was measured with the whole
                    return True
                broken, measure = True, _Measure.NONE
            pending += [(indent, broken, part, measure) for part in reversed(parts)]
        return True


def _in_parentheses(parts: Sequence[Doc]) -> Sequence[Doc]:
    return ("(", Part(DocKind.INDENT, (SOFT, *parts)), SOFT, ")")


# ---------------------------------------------------------------- statements and modules

Line = tuple[str, int]  # and the line of the source that it came from


def printed(kernel: KernelFunction, width: int = WIDTH) -> tuple[str, dict[int, int]]:
    """The module of one kernel, with the imports and helper functions that it needs.

    In a port, which is ``WIDE``, parameters share lines.
    """
    lines = body(kernel.body, INDENT, width)
    text = render(
        "kernel.py.j2",
        kernel=kernel,
        width=width,
        packed=width == WIDE,
        helpers=kernel.helpers,
        checked_accesses=any(name.startswith("checked_") for name in kernel.helpers),
        body="\n".join(line for line, _ in lines),
    )
    first = text.count("\n") - len(lines) + 1
    head = text.count("\n", 0, text.index(f"\ndef {kernel.function}(") + 1) + 1
    return text, {head: kernel.line, **{first + row: line for row, (_, line) in enumerate(lines)}}


def body(statements: Sequence[Statement], indent: int, width: int = WIDTH) -> list[Line]:
    """The lines of one block; ``pass`` where only comments are in it."""
    lines = [line for statement in statements for line in _statement(statement, indent, width)]
    if all(text.lstrip().startswith("#") for text, _ in lines):
        lines.append((f"{' ' * indent}pass", statements[0].line if statements else 0))
    return lines


def _statement(statement: Statement, indent: int, width: int, word: str = "") -> Iterator[Line]:
    """A statement with its comments; ``word``: ``elif`` in the place of ``if``."""
    pad = " " * indent
    after = ":" if isinstance(statement, Block) else ""
    if statement.node is not None:
        lines = layout(word or statement.before, statement.node, after, indent, width)
    else:
        lines = [pad + statement.before] if statement.before else []
    above, beside = statement.above, statement.beside
    # The bytes of a comment are at least the columns that it takes on a screen.
    if beside and (len(lines) != 1 or len(lines[-1]) + len(f"  # {beside}".encode()) > width):
        above, beside = (*above, *beside.split("; ")), ""
    yield from ((f"{pad}# {comment}".rstrip(), statement.line) for comment in above)
    if beside:
        lines[-1] += f"  # {beside}"
    yield from ((line, statement.line) for line in lines)
    if isinstance(statement, Block):
        yield from body(statement.body, indent + INDENT, width)
        yield from _otherwise(statement.otherwise, indent, width)


def _otherwise(statements: Sequence[Statement], indent: int, width: int) -> Iterator[Line]:
    """``elif`` where one ``if`` is all that is in it."""
    match statements:
        case ():
            return
        case (Block(before="if ") as chained,):
            yield from _statement(chained, indent, width, "elif ")
        case _:
            yield f"{' ' * indent}else:", statements[0].line
            yield from body(statements, indent + INDENT, width)
