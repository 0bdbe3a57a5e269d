"""Statements as C.

Input: the body of a kernel. Output: lines. A variable is declared where the source declares it, or at the top where
a use is outside of that block. Values that are stored, and read memory, are computed as a whole before the first
element is stored. A loop whose condition needs temporaries tests it inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import assert_never

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import Body, Expr, Symbol
from pytriton.lang.tree.types import BOOL, PointerType, ScalarType, element_of, shape_of
from pytriton.lang.tree.walk import bodies, expressions, has_memory, names
from pytriton.native import scalars
from pytriton.native.blocks import Blocks
from pytriton.native.elements import Elements, count
from pytriton.native.inline import advance
from pytriton.native.scalars import ATOM
from pytriton.native.waits import Loop, carried
from pytriton.native.writer import Writer


def comment(text: str) -> str:
    """A line comment that ends where its line does."""
    shown = "".join(char if char.isprintable() else " " for char in text).replace("??/", "? ?/").rstrip()
    return f"// {shown} ." if shown.endswith("\\") else f"// {shown}".rstrip()


def outlived(body: Body, parameters: Iterable[Symbol]) -> list[Symbol]:
    """The variables that are used outside of the block that declares them, in order."""
    result: dict[Symbol, None] = {}

    def visit(block: Body, scope: set[Symbol]) -> None:
        scope = set(scope)
        for statement in block:
            inner = scope
            if isinstance(statement, typed.For):
                visit_into(statement.init, scope)
            if isinstance(statement, typed.RangeLoop):
                inner = scope | {statement.symbol}
            used = {symbol for expr in expressions((statement,), deep=False) for symbol in names(expr)}
            if isinstance(statement, typed.Assign):
                used.add(statement.symbol)
            result.update(dict.fromkeys(used - inner))
            if isinstance(statement, typed.Declare):
                if statement.symbol in scope:
                    result[statement.symbol] = None
                scope.add(statement.symbol)
            for part in bodies(statement):
                if not (isinstance(statement, typed.For) and part is statement.init):
                    visit(part, inner)

    def visit_into(block: Body, scope: set[Symbol]) -> None:
        for statement in block:
            if isinstance(statement, typed.Declare):
                scope.add(statement.symbol)

    visit(body, set(parameters))
    return sorted(
        (symbol for symbol in result if symbol.value is None),
        key=lambda symbol: (symbol.span.start, symbol.name),
    )


class Actions:
    """The statements of one kernel."""

    def __init__(
        self, elements: Elements, writer: Writer, top: Iterable[Symbol], waiting: Sequence[Loop] = ()
    ) -> None:
        """``waiting``: the loops in which a program may wait for another one."""
        self.elements = elements
        self.writer = writer
        self.blocks = Blocks(elements, writer)
        self._top = frozenset(top)
        self._waiting = waiting
        self._continue: list[str | None] = []  # for each loop around: the label that ``continue`` goes to
        self._labels: set[str] = set()  # those that are used
        for symbol in top:
            if symbol not in elements.inline:
                self._zero(symbol)

    def body(self, body: Body) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: typed.Statement) -> None:
        beside = [] if isinstance(statement, typed.If) else list(statement.comments.beside)
        for text in (*statement.comments.above, *beside):
            self.writer.line(comment(text))
        match statement:
            case typed.Remark():
                pass
            case typed.Declare() | typed.Assign():
                self._set(statement)
            case typed.Store():
                self._store(statement)
            case typed.Evaluate():
                self._evaluate(statement.value)
            case typed.If():
                self._if(statement)
            case typed.For():
                self.body(statement.init)
                with self._watched(statement) as first:
                    self._loop(statement.condition, statement.body, statement.step, first)
            case typed.While():
                with self._watched(statement) as first:
                    self._loop(statement.condition, statement.body, (), first)
            case typed.DoWhile():
                with self._watched(statement) as first:
                    self._do(statement, first)
            case typed.RangeLoop():
                self._range(statement)
            case typed.Return():
                self.writer.line("return;")
            case typed.Break():
                self.writer.line("break;")
            case typed.Continue():
                label = self._continue[-1]
                self.writer.line(f"goto {label};" if label else "continue;")
                self._labels.add(label or "")
            case _:
                assert_never(statement)

    # ---------------------------------------------------------------- variables

    def _zero(self, symbol: Symbol) -> None:
        element = element_of(symbol.type)
        if shape_of(symbol.type):
            self.blocks.declare(symbol, "{0}")
            return
        plain = isinstance(element, PointerType) or element != BOOL
        self.blocks.declare(symbol, "0" if plain else "false")

    def _set(self, statement: typed.Declare | typed.Assign) -> None:
        symbol, value = statement.symbol, statement.value
        inline = self.elements.inline.get(symbol)
        if inline is not None:
            if inline.offset is not None and value is not None:
                self._advance(inline.offset, symbol, statement)
            return
        new = isinstance(statement, typed.Declare) and symbol not in self._top
        if value is None:
            if new:
                self._zero(symbol)
            return
        self.blocks.set_to(symbol, value, new=new)

    def _advance(self, offset: Symbol, symbol: Symbol, statement: typed.Declare | typed.Assign) -> None:
        """Pointers that only move: their offset."""
        name = self.elements.names[offset]
        if isinstance(statement, typed.Declare):
            self.writer.line(f"{name} = 0;" if symbol in self._top else f"int64_t {name} = 0;")
            return
        moved = advance(symbol, statement.value)
        assert moved is not None
        operator, step = moved
        text = self.elements.element(self.blocks.ready(step))
        self.writer.line(f"{name} {operator}= (int64_t){text.at(ATOM)};")

    # ---------------------------------------------------------------- memory

    def _store(self, statement: typed.Store) -> None:
        if self.elements.is_waiting:
            self.writer.line("wait->changes++;")
        value, mask, pointer = self._operands(statement)
        self.blocks.transfers.store(pointer, value, mask, statement.site)

    def _operands(self, statement: typed.Store) -> tuple[Expr, Expr | None, Expr]:
        """The value, the mask and the pointer of a store, none of which reads memory that it may change."""
        size = count(statement.pointer)
        operands: list[Expr | None] = []
        for operand in (statement.value, statement.mask, statement.pointer):
            ready = None if operand is None else self.blocks.ready(operand)
            if ready is not None and size > 1 and has_memory(ready):
                ready = self.blocks.keep(ready)
            operands.append(ready)
        value, mask, pointer = operands
        assert value is not None and pointer is not None
        return value, mask, pointer

    def _evaluate(self, value: Expr) -> None:
        while isinstance(value, typed.Cast | typed.Broadcast):
            value = value.operand
        value = self.blocks.ready(value)
        if not isinstance(value, typed.Atomic):
            self.writer.line(f"{self.elements.text(value)};")
            return
        with self.writer.loops(shape_of(value.pointer.type)) as indices:
            text = self.elements.text(replace(value, mask=None), indices)
            if value.mask is not None:
                text = f"if ({self.elements.operand(value.mask, indices).text}) {text}"
            self.writer.line(f"{text};")

    # ---------------------------------------------------------------- control flow

    def _condition(self, condition: Expr | None) -> str:
        return "true" if condition is None else self.elements.text(self.blocks.ready(condition))

    def _if(self, statement: typed.If) -> None:
        condition = self._condition(statement.condition)
        with self.writer.block(f"if ({condition})"):
            self.body(statement.then)
        if statement.otherwise:
            self.writer.lines[-1] += " else {"
            self.writer.depth += 1
            self.body(statement.otherwise)
            self.writer.depth -= 1
            self.writer.line("}")

    @contextmanager
    def _watched(self, loop: Loop) -> Iterator[list[str]]:
        """Around a loop: the lines that its body begins with, which end a wait without end."""
        if loop not in self._waiting:
            yield []
            return
        fresh, elements = self.elements.names.fresh, self.elements
        watch, kept, state = fresh("watch"), fresh("kept"), fresh("state")
        inline = {symbol: inlined.offset for symbol, inlined in elements.inline.items()}
        variables = [inline.get(symbol, symbol) for symbol in carried(loop, self._top)]
        parts = [elements.names[symbol] for symbol in variables if symbol is not None]
        size = " + ".join(f"sizeof {part}" for part in parts) or "1"
        self.writer.line(f"uint8_t {kept}[{size}] = {{0}}, {state}[{size}] = {{0}};")
        self.writer.line(f"struct watch {watch} = {{wait->changes, 0, 1}};")
        copies = [
            f"__builtin_memcpy({' + '.join([state, *(f'sizeof {before}' for before in parts[:place])])}, "
            f"&{part}, sizeof {part});"
            for place, part in enumerate(parts)
        ]
        self.writer.bytes += 16 * sum(count(symbol) for symbol in variables if symbol is not None)
        number = self._waiting.index(loop)
        outer, elements.is_waiting = elements.is_waiting, True
        yield [
            *copies,
            f"if (is_over(wait, &{watch}, {number}, {kept}, {state}, sizeof {state})) return;",
        ]
        elements.is_waiting = outer

    def _loop(self, condition: Expr | None, body: Body, step: Body, first: Sequence[str]) -> None:
        """``while``, or ``for`` where the step is one line."""
        head = len(self.writer.lines)
        with self.writer.block("while (true)"):
            text = self._condition(condition)
            simple = len(self.writer.lines) == head + 1
            if not simple:
                self.writer.line(f"if (!({text})) break;")
            after = self._written(step)
            one_line = simple and len(after) == 1 and isinstance(step[0], typed.Assign)
            if simple:
                pad = "    " * (self.writer.depth - 1)
                if one_line:
                    self.writer.lines[head] = f"{pad}for (; {text}; {after[0].strip()[:-1]}) {{"
                else:
                    self.writer.lines[head] = f"{pad}while ({text}) {{"
            label = None if one_line or not after else self.elements.names.fresh("next")
            self._inside(body, label, first)
            if not one_line:
                self.writer.lines += after

    def _written(self, body: Body) -> list[str]:
        """The lines of some statements, not yet in place."""
        start = len(self.writer.lines)
        self.body(body)
        lines = self.writer.lines[start:]
        del self.writer.lines[start:]
        return lines

    def _inside(self, body: Body, label: str | None, first: Sequence[str] = ()) -> None:
        """The body of a loop after some lines, and the label behind it."""
        for line in first:
            self.writer.line(line)
        self._continue.append(label)
        self.body(body)
        self._continue.pop()
        if label in self._labels:
            self.writer.line(f"{label}:;")

    def _do(self, statement: typed.DoWhile, first: Sequence[str]) -> None:
        with self.writer.block("while (true)"):
            self._inside(statement.body, self.elements.names.fresh("next"), first)
            self.writer.line(f"if (!({self._condition(statement.condition)})) break;")

    def _range(self, statement: typed.RangeLoop) -> None:
        element = statement.symbol.type
        assert isinstance(element, ScalarType)
        name = self.elements.names[statement.symbol]
        start, stop, step = (
            self.elements.element(self.blocks.ready(bound))
            for bound in (statement.start, statement.stop, statement.step)
        )
        down = (constant(statement.step) or 0) < 0
        compare = ">" if down else "<"
        stands = statement.symbol in self._top or statement.symbol in names(statement.start)  # k = k - 1
        first = name if stands else scalars.declared(element, name)
        head = f"for ({first} = {start.text}; {name} {compare} {stop.at(7)}; {name} += {step.text})"
        with self.writer.block(head):
            self._inside(statement.body, None)
