"""Recomputes the forward values that the backward needs.

Each block that is written is a ``Level``, with the variables that it declares. A value that a loop carries
becomes a variable that the loop changes. A pointer into an input or an output has a *gradient pointer*: the same
pointer into its gradient, computed next to it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from pytriton.frozen import record, replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.active import Flow, converts_floats
from pytriton.gradient.derive.graph import Branch, Carried, Define, Item, Loop, refuse
from pytriton.gradient.derive.stored import SavedValue, at_one
from pytriton.lang.tree.typed import (
    NO_COMMENTS,
    Assign,
    Atomic,
    Body,
    Broadcast,
    Cast,
    Comments,
    Declare,
    Expand,
    Expr,
    For,
    Gather,
    If,
    Literal,
    Load,
    Name,
    Sequenced,
    Statement,
    Symbol,
)
from pytriton.lang.tree.types import (
    BFLOAT16,
    FLOAT,
    HALF,
    LONG,
    BlockType,
    PointerType,
    ScalarType,
    Type,
    shape_of,
    with_element,
)
from pytriton.lang.tree.unparse import ADDED, Words, element, is_implicit
from pytriton.lang.tree.walk import with_children
from pytriton.source import Span


@dataclass(eq=False)
class Level:
    """One block that is being written. ``symbols``: its variables; ``values``: names of values, by expression;
    ``about``: the statement that is being reversed.
    """

    parent: Level | None = None
    lines: list[Statement] = field(default_factory=list)
    symbols: ChainMap[Symbol, Symbol] = field(default_factory=ChainMap)
    values: ChainMap[Expr, Expr] = field(default_factory=ChainMap)
    about: Span | None = None

    def inner(self) -> Level:
        """A block inside this one, which sees what is declared here."""
        return Level(self, symbols=self.symbols.new_child(), values=self.values.new_child())


class Recomputed:
    """Recomputes statements. ``inputs`` and ``outputs`` are parameters; ``wide``: inputs whose gradients are
    added up in memory, in float if they are half.
    """

    def __init__(
        self,
        flow: Flow,
        parameters: Iterable[Symbol],
        inputs: Collection[Symbol],
        wide: Collection[Symbol],
        outputs: Iterable[Symbol],
        words: Words,
    ) -> None:
        self.flow = flow
        self.inputs, self.wide, self.outputs = inputs, wide, frozenset(outputs)
        self.level = Level()
        self.top = self.level
        self.words = words
        self._gradients: dict[Symbol, Symbol] = {}
        self._variables: dict[Symbol, set[Symbol]] = {}  # in all blocks
        self.ones: set[Symbol] = set()  # variables that are 1
        self.left: dict[Symbol, Expr] = {}  # where variables are kept for a later pass (walk/rows.py)
        self._program: Symbol | None = None
        self.heads = 0  # lines before all else
        self.saved: Mapping[Symbol, SavedValue] = {}  # variables that are read from outputs
        self._repeated: dict[Loop, tuple[For, Level]] = {}  # where each loop was written last
        self.parameters: dict[Symbol, Symbol] = {}  # as variables here
        self.primal_of: dict[Symbol, Symbol] = {}  # gradients of parameters
        for symbol in parameters:
            self.parameters[symbol] = self.declare(symbol)
            if symbol in inputs or symbol in self.outputs:
                gradient = self.gradient(symbol)
                self.primal_of[gradient] = symbol
                self.parameters[gradient] = self.declare(gradient)

    # ------------------------------------------------------------ variables

    def new(self, hint: str, type_: Type, word: str = "", *, scratch: bool = False) -> Symbol:
        """A variable that is not declared yet; ``scratch``: a pointer to memory that only its loads need."""
        assert isinstance(type_, ScalarType | PointerType | BlockType)
        return Symbol(hint, type_, ADDED, word=word, noalias=scratch)

    def declare(self, symbol: Symbol) -> Symbol:
        """A variable for a symbol, in this block."""
        word = self.words.type_word(symbol)
        variable = self.level.symbols[symbol] = self.new(symbol.name, symbol.type, word)
        self._variables.setdefault(symbol, set()).add(variable)
        return variable

    def wide_word(self, word: str, element: object) -> str:
        """The type of a cotangent: float, not ``TYPE`` of tensors that could be half; the user's word for
        others.
        """
        narrow = element in (HALF, BFLOAT16) or (element == FLOAT and word in self.words.stored)
        return "float" if narrow else word

    def symbol_of(self, symbol: Symbol) -> Symbol:
        """The variable that a symbol is here."""
        return self.level.symbols[symbol]

    def variables_of(self, symbols: Iterable[Symbol]) -> set[Symbol]:
        """The variables that these symbols are in any block, and their pointers into gradients."""
        versions = [version for symbol in symbols for version in self.with_gradient(symbol)]
        return set().union(*(self._variables.get(symbol, ()) for symbol in versions))

    def add_parameter(self, symbol: Symbol) -> None:
        """Add a parameter that the forward does not have."""
        self.parameters[symbol] = self.top.symbols[symbol] = self.new(symbol.name, symbol.type)

    def program(self) -> Expr:
        """The number of a program among all; a variable declared before all else."""
        if self._program is None:
            self._program = self.new("program", LONG)
            number = f.program_number(sorted(self.flow.programs()))
            self.top.lines.insert(0, f.declare(self._program, number))
            self.heads += 1
        return f.named(self._program)

    def enter(self) -> None:
        """Begin an inner block."""
        self.level = self.level.inner()

    def leave(self) -> list[Statement]:
        """End it: its lines."""
        lines, outer = self.level.lines, self.level.parent
        assert outer is not None
        self.level = outer
        return lines

    def load(self, symbol: Symbol, value: Expr, above: tuple[str, ...] = ()) -> None:
        """Declare a variable, loaded from memory."""
        variable = self.declare(symbol)
        self.emit(f.declare(variable, value, Comments(above)))

    def _read(self, proof: SavedValue) -> None:
        """Declare a variable, loaded from the output that it is saved in."""
        value = f.load(self._spell(proof.pointer))
        if proof.mask is not None:
            outside = f.number(proof.outside, f.scalar(f.named(proof.symbol)))
            value = f.select(self._spell(proof.mask), value, outside)
        self.load(proof.symbol, value, ("as the forward left it",))

    def emit(self, statement: Statement) -> Statement:
        """Write a statement; one of an adjoint is where the forward's statement is."""
        if self.level.about is not None:
            statement = replace(statement, span=self.level.about)
        self.level.lines.append(statement)
        return statement

    def _spell(self, expr: Expr, *, exact: bool = False) -> Expr:
        """An expression of the forward, over the variables here; ``exact``: with a conversion that C would make
        only where it stood.
        """
        value = self.level.values.get(expr)
        if value is not None:
            return value
        if self._is_one(expr):
            return f.number(1, f.scalar(expr))
        if isinstance(expr, Broadcast) and is_implicit(expr):
            return self._spell(expr.operand, exact=exact)
        if (
            isinstance(expr, Cast)
            and expr.span == expr.operand.span
            and isinstance(element(expr), ScalarType)
        ):
            inner, own = self._spell(expr.operand), element(expr)
            assert isinstance(own, ScalarType)
            if not is_implicit(expr) or (exact and not f.is_harmless(expr)):
                return f.cast(inner, own)
            operand = inner if inner.span == expr.span else replace(inner, span=expr.span)
            return replace(expr, operand=operand, type=with_element(own, f.shape(inner)))
        return self._now(expr)

    def _now(self, expr: Expr) -> Expr:
        """The same over the variables here; a cached value by its name, at the same place."""
        value = self.level.values.get(expr)
        if value is not None:
            return replace(value, span=expr.span)
        if isinstance(expr, Name):
            return (
                expr if expr.symbol.value is not None else replace(expr, symbol=self.symbol_of(expr.symbol))
            )
        if isinstance(expr, Literal) and expr.value != expr.value:
            refuse("TC702", "this constant is NaN", expr.span, help="pass it as a parameter")
        if isinstance(expr, Gather | Atomic | Sequenced):
            refuse(
                "TC702",
                "this expression cannot be recomputed in a backward",
                expr.span,
                help="write it with other operators, or compute it before and pass it as a parameter",
            )
        kept = at_one(expr, self._is_one)
        return (
            with_children(expr, self._now) if kept is None else f.filled(self._now(kept), shape_of(expr.type))
        )

    def _is_one(self, expr: Expr) -> bool:
        """Whether all elements are a variable that is 1."""
        inner = f.inside(expr, Expand, Broadcast)
        return isinstance(inner, Name) and inner.symbol in self.ones

    # ------------------------------------------------------------ pointers of gradients

    def _root(self, pointer: Expr) -> Symbol | None:
        """The input or output that a pointer points into."""
        roots = self.flow.roots(pointer)
        root = next(iter(roots)) if len(roots) == 1 else None
        return root if root in self.inputs or root in self.outputs else None

    def gradient(self, symbol: Symbol) -> Symbol:
        """The same pointer, into the gradient, which is read and written."""
        if symbol not in self._gradients:
            root = self._root(f.named(symbol)) or symbol
            target, word = root.target, self.words.type_word(symbol)
            if root in self.wide:  # added up in memory
                target = FLOAT if target in (HALF, BFLOAT16) else target
                word = self.wide_word(word, root.target)
            type_ = with_element(PointerType(target), shape_of(symbol.type))
            own = {"name": f"d_{symbol.name}", "type": type_, "word": word}
            self._gradients[symbol] = replace(symbol, **own, const_target=False, readonly=False)
        return self._gradients[symbol]

    def with_gradient(self, symbol: Symbol) -> list[Symbol]:
        """A variable, and the same pointer into the gradient if there is one."""
        return [symbol, self.gradient(symbol)] if self._has_gradient(symbol) else [symbol]

    def _gradient_pointer(self, pointer: Expr) -> Expr:
        """The same pointer into the gradient; pointers that its offset is loaded from stay."""
        if not f.is_pointer(pointer) or isinstance(pointer, Load):
            return pointer
        if isinstance(pointer, Name):
            gradient = self.gradient(pointer.symbol)
            return Name(pointer.span, gradient.type, gradient)
        return with_children(pointer, self._gradient_pointer)

    # ------------------------------------------------------------ recomputation

    def recompute(self, items: Iterable[Item]) -> None:
        for item in items:
            match item:
                case Define():
                    self.define(item)
                case Loop():
                    self._recompute_loop(item)
                case Branch():
                    self._recompute_branch(item)

    def define(self, item: Define) -> None:
        """Recompute a definition."""
        if item.symbol in self.saved:
            self._read(self.saved[item.symbol])
            if item.value is not None:
                self.level.values[item.value] = self.name_of(item.symbol)
            self._leave(item.symbol)
            return
        value = None if item.value is None else self._spell(item.value)
        lines = [(item.symbol, value)]
        if self._has_gradient(item.symbol):
            gradient = self.gradient(item.symbol)
            lines.append(
                (gradient, None if item.value is None else self._spell(self._gradient_pointer(item.value)))
            )
        for symbol, formula in lines:
            own, comments = symbol is item.symbol, item.statement.comments
            variable = self.declare(symbol)
            beside = comments.beside if isinstance(item.statement, Declare) else ()
            self.emit(f.declare(variable, formula, Comments(comments.above, beside) if own else NO_COMMENTS))
        if item.value is not None:
            name = self.name_of(item.symbol)
            self.level.values[item.value] = name
            proof = exact_conversion(item.value)
            if proof is not None:
                self.level.values[proof.conversion.operand] = name  # the converted value is read instead
        self._leave(item.symbol)

    def _leave(self, symbol: Symbol) -> None:
        """Keep a variable for a later pass, if one needs it."""
        if symbol in self.left:
            self.emit(f.store(self._spell(self.left[symbol]), self.name_of(symbol), None))

    def _has_gradient(self, symbol: Symbol) -> bool:
        pointer = f.is_pointer(symbol)
        return pointer and self._root(f.named(symbol)) is not None

    def name_of(self, symbol: Symbol) -> Expr:
        """A symbol of the forward, by its name here."""
        return f.named(self.symbol_of(symbol))

    def _starts(self, loop: Loop, inner: Level) -> tuple[list[Declare], list[Carried]]:
        """Declare carried values in the block around a loop; returns those declared in its head, and all."""
        heads: list[Declare] = []
        every: list[Carried] = []
        for carry in loop.carried:
            every.append(carry)
            if self._has_gradient(carry.inside):
                inside, last, after = map(self.gradient, (carry.inside, carry.last, carry.after))
                before = self._gradient_pointer(carry.before)
                every.append(Carried(before, inside, last, after, carry.counter))
        for carry in every:
            before = self._spell(carry.before)
            variable = self.declare(carry.inside)
            inner.symbols[carry.inside] = self.level.symbols[carry.after] = variable
            line = f.declare(variable, before)
            if carry.counter:
                heads.append(line)
            else:
                self.emit(line)
        return heads, every

    def ends(self, every: list[Carried]) -> list[Assign]:
        """Assign carried values at the end of an iteration. Emits all but the steps of the head."""
        steps: list[Assign] = []
        for carry in every:
            if carry.last is carry.inside:
                continue
            update = f.assign(self.symbol_of(carry.inside), self.name_of(carry.last))
            if carry.counter:
                steps.append(update)
            else:
                self.level.lines.append(update)
        return steps

    def _recompute_loop(self, loop: Loop) -> None:
        if loop.computed:
            self.ones.update(loop.ones)
            for after, variable in loop.computed.items():
                for own, other in zip(self.with_gradient(after), self.with_gradient(variable), strict=True):
                    self.level.symbols[own] = self.symbol_of(other)
            return
        self._repeated[loop] = self._repeat(loop, self.recompute, loop.statement.comments.above)
        for carry in loop.carried:
            if carry.after in self.saved:
                self._read(self.saved[carry.after])
            self._leave(carry.after)

    def _repeat(
        self, loop: Loop, write: Callable[[list[Item]], None], above: Iterable[str]
    ) -> tuple[For, Level]:
        """Write a loop, and its body by a function; also returns the block of the body."""
        inner = self.level.inner()
        heads, every = self._starts(loop, inner)
        outer, self.level = self.level, inner
        condition = None if loop.condition is None else self._spell(loop.condition)
        write(loop.body)
        steps = self.ends(every)
        self.level = outer
        repeat = self.emit(f.loop(heads, condition, steps, inner.lines, *above))
        assert isinstance(repeat, For)
        return repeat, inner

    def _decide(
        self, branch: Branch, write: Callable[[list[Item], int], None], above: tuple[str, ...] = ()
    ) -> None:
        """Write a branch, and each arm by a function of its statements and number."""
        condition, blocks = self._spell(branch.condition), list[Body]()
        for at, arm in enumerate((branch.then, branch.otherwise)):
            self.enter()
            write(arm, at)
            blocks.append(tuple(self.leave()))
        then, otherwise = blocks
        self.emit(If(ADDED, condition, then, otherwise, Comments(above)))

    def _recompute_branch(self, branch: Branch) -> None:
        afters: list[tuple[Symbol, ...]] = []
        for merge in branch.merges:
            afters += zip(*map(self.with_gradient, (merge.after, merge.yes, merge.no)), strict=False)
        for after, *_ in afters:
            self.emit(f.declare(self.declare(after), None))

        def write(arm: list[Item], at: int) -> None:
            self.recompute(arm)
            for after, *ends in afters:
                self.level.lines.append(f.assign(self.symbol_of(after), self.name_of(ends[at])))

        self._decide(branch, write, branch.statement.comments.above)


@record
class Exact:
    """Proof that a conversion keeps every value."""

    conversion: Cast


def exact_conversion(expr: Expr) -> Exact | None:
    """Proof that an expression converts to a larger floating type, which holds every value of the smaller."""
    return (
        Exact(expr) if converts_floats(expr) and f.scalar(expr).bits > f.scalar(expr.operand).bits else None
    )
