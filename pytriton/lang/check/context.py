"""What the checker knows at one place of a kernel: the names in scope, the comments ahead, the report.

Each part of the checker is a file of functions over the ``CheckContext``, and imports only from those before it::

    context, operators, words, masks, calls, expressions, declarations, kernel

Only the last three look into expressions as parsed; the others take typed operands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pytriton.errors import Report
from pytriton.lang.parse import syntax
from pytriton.lang.preprocess.macros import Macro
from pytriton.lang.tokens import Comment
from pytriton.lang.tree.typed import Expr, Literal, Symbol
from pytriton.lang.tree.types import ERROR, BlockType, PointerType, ScalarType
from pytriton.source import Span

ValueType = ScalarType | PointerType | BlockType


class Scope:
    """Names in scope, as C has them: a stack of blocks, the innermost last.

    ``numbers``: the defines that are numbers; ``integer_types``: the types of the integers that were used.
    ``macros``: those of the source, for suggestions.
    """

    def __init__(self, numbers: Mapping[str, int | float], macros: Mapping[str, Macro]) -> None:
        self.numbers = numbers
        self.integer_types: dict[str, ScalarType] = {}
        self.macros = macros
        self._symbols: list[dict[str, Symbol]] = [{}]
        self._types: list[dict[str, tuple[ValueType, Span]]] = [{}]

    def push(self) -> None:
        """Enter a block."""
        self._symbols.append({})
        self._types.append({})

    def pop(self) -> None:
        """Leave the innermost block."""
        self._symbols.pop()
        self._types.pop()

    def find(self, name: str) -> Symbol | None:
        """The symbol that a name means here."""
        for names in reversed(self._symbols):
            if name in names:
                return names[name]
        return None

    def type(self, name: str) -> ValueType | None:
        """The type that a typedef name means here."""
        return next((types[name][0] for types in reversed(self._types) if name in types), None)

    def declare(self, symbol: Symbol, report: Report) -> None:
        """Enter a symbol; a second one of its name in the same block is an error."""
        earlier = self._symbols[-1].get(symbol.name)
        if earlier is not None:
            report.error(
                "TC307",
                f"'{symbol.name}' is declared twice in the same scope",
                symbol.span,
                ("it was declared here first", earlier.span),
                help="assign to the first one, or give this one another name",
            )
        self._symbols[-1][symbol.name] = symbol

    def define_type(self, name: str, type_: ValueType, span: Span, report: Report) -> None:
        """Enter a typedef name; a second one in the same block must have the same type (C11 6.7)."""
        declared, before = self._types[-1].get(name, (type_, span))
        if declared != type_:
            report.error(
                "TC307",
                f"'{name}' is a typedef of {type_} here, and of {declared} before, in the same scope",
                span,
                ("it was declared here first", before),
                help="give this one another name",
            )
        self._types[-1][name] = type_, span

    def visible(self) -> set[str]:
        """Every variable name in scope."""
        return {name for names in self._symbols for name in names}


class CommentCursor:
    """Walks once through the comments of one source, in the order of the statements.

    Each statement takes the comments before its first character, and those at the end of its last line; what is
    left before a closing brace becomes a remark.
    """

    def __init__(self, comments: Sequence[Comment], span: Span) -> None:
        self._comments = [c for c in comments if c.span.source is span.source]
        self._taken = 0

    def skip(self, offset: int) -> None:
        """Drop the comments before an offset, those of other kernels."""
        self.above(offset)

    def above(self, offset: int) -> tuple[str, ...]:
        """The comments before an offset that were not taken yet."""
        lines: list[str] = []
        while self._taken < len(self._comments):
            comment = self._comments[self._taken]
            if comment.span.start >= offset:
                break
            lines += _lines(comment.text)
            self._taken += 1
        return tuple(lines)

    def after(self, span: Span) -> tuple[str, ...]:
        """The comments after a span on the line where it ends."""
        if self._taken >= len(self._comments):
            return ()
        comment = self._comments[self._taken]
        text, start, end = span.source.text, span.end, comment.span.start
        if comment.own_line or end < start or text.find("\n", start, end) >= 0:
            return ()
        between = text[start:end]
        if any(char not in " \t\r;,)" for char in between):
            return ()
        lines = _lines(comment.text)
        if len(lines) > 1:
            return ()
        self._taken += 1
        return tuple(lines)


def _lines(text: str) -> list[str]:
    """The lines of a comment without their decoration (``*`` and blanks)."""
    lines = [
        line.strip().lstrip("*").strip() if i else line.strip() for i, line in enumerate(text.splitlines())
    ]
    lines = [line.lstrip("/!*").strip() if not i else line for i, line in enumerate(lines)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


@dataclass(slots=True)
class CheckContext:
    """What the functions of the checker know and record about one kernel.

    The first group is input; the second is the position of the checker, restored once a node is checked; the
    third only grows.
    """

    scope: Scope
    report: Report
    comments: CommentCursor
    kernels: Mapping[str, Span]  # all kernels of the source
    strict_literals: bool = False
    traced: bool = False  # whether the ends of scopes are noted for passes/check/steps.py
    without_promises: Collection[str] = ()  # parameters of which a launch breaks what they promise

    kernel_body: syntax.Block | None = None
    returns_value: bool = False  # the kernel is not void: reported, so that its `return x;` is silent
    expression_depth: int = 0
    block_depth: int = 0
    loop_depth: int = 0
    else_ifs: int = 0  # of the chain at hand
    branch_depth: int = 0  # of operands that C may not evaluate
    unsure: int = 0  # above 0 in what need not be executed: branches, loops, whatever follows a `return`

    buffers: list[Symbol] = field(default_factory=list)  # the constant buffers declared so far
    unknown_names: set[str] = field(default_factory=set)  # reported, each once
    blamed: list[frozenset[str]] = field(default_factory=list)  # defines of a wrong size, reported once
    branch_nodes: int = 0  # in branches of `?:`, again for each `?:` around them

    def refuse(
        self, code: str, message: str, where: Span, *notes: str | tuple[str, Span], help: str | None = None
    ) -> Expr:
        """Report an error; returns an expression of type ``ERROR``."""
        self.report.error(code, message, where, *notes, help=help)
        return failed(where)


def failed(span: Span) -> Expr:
    """An expression whose error was reported already."""
    return Literal(span, ERROR, 0)


def declare_failed(declarator: syntax.Declarator, context: CheckContext) -> None:
    """Enter a name whose declaration is wrong, so that its uses are silent."""
    if declarator.name is not None:
        symbol = Symbol(declarator.name.text, ERROR, declarator.span)  # type: ignore[arg-type]
        context.scope.declare(symbol, context.report)
