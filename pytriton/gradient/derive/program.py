"""What is printed: statements over formulas, with the names of variables still open.

    Declare   a variable and its first value; most are never changed
    Update    a changed variable: what a loop carries, a sum of adjoints
    Put       a store or an atomic
    Repeat    a loop: heads (declared in a for), condition, body, steps (in the head, or at the end of the body)
    Choose    an if

``live`` drops what nobody reads. ``tidy`` then joins copies: a loop changes the variable that it starts from
where that is not read again, and ``c_1 = c + x; c = c_1`` becomes ``c += x``.

``printed`` gives names and layout. A variable gets the name that it hints at, or that with a number where another
one in scope has it. The statements of the forward keep their comments; before the adjoint of a statement stands
what it is the adjoint of.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from pytriton.gradient.derive.formula import Formula
from pytriton.lang.tree.typed import Binary, Expr, Load, Name, Symbol
from pytriton.lang.tree.unparse import Unparser, bare, sizes
from pytriton.lang.tree.walk import names, with_children


@dataclass(eq=False)
class Variable:
    """``symbol``: with the name that it gets if it is free. ``word``: its element type; ``stars``, ``shape``: the
    rest. ``raw``: as it was loaded, so that a larger floating type holds the same.
    """

    symbol: Symbol
    word: str
    stars: str = ""
    shape: tuple[int, ...] = ()
    raw: bool = False


@dataclass(eq=False)
class Line:
    """``above``: comments of the forward; ``about``: the statement whose adjoint it belongs to, as text."""

    above: tuple[str, ...] = field(default=(), kw_only=True)
    beside: tuple[str, ...] = field(default=(), kw_only=True)
    about: str | None = field(default=None, kw_only=True)


@dataclass(eq=False)
class Declare(Line):
    variable: Variable
    value: Formula | None


@dataclass(eq=False)
class Update(Line):
    """``variable = value``, or ``+=`` where ``adds``."""

    symbol: Symbol
    value: Formula
    adds: bool = False


@dataclass(eq=False)
class Put(Line):
    pointer: Formula
    value: Formula
    mask: Formula | None
    atomic: bool
    saves: Symbol | None = None  # only for what reads this pointer
    fills: Load | None = None  # stores the gradient of all that this load reads, and reads nothing there


@dataclass(eq=False)
class Repeat(Line):
    heads: list[Declare]
    condition: Formula | None
    body: list[Line]
    steps: list[Update]


@dataclass(eq=False)
class Choose(Line):
    condition: Formula
    then: list[Line]
    otherwise: list[Line]


def _names(*formulas: Formula | None) -> set[Symbol]:
    return set().union(*(names(formula.expr) for formula in formulas if formula is not None))


def read_by(lines: Iterable[Line]) -> set[Symbol]:
    """The variables that these lines read; one that is added to counts."""
    result: set[Symbol] = set()
    for line in lines:
        match line:
            case Declare(value=value):
                result |= _names(value)
            case Update(symbol=number, value=value, adds=adds):
                result |= _names(value) | ({number} if adds else set())
            case Put(pointer=pointer, value=value, mask=mask):
                result |= _names(pointer, value, mask)
            case Repeat(heads=heads, condition=condition, body=body, steps=steps):
                result |= _names(condition) | read_by(heads) | read_by(body) | read_by(steps)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                result |= _names(condition) | read_by(then) | read_by(otherwise)
    return result


# ---------------------------------------------------------------- dead statements


def live(lines: Sequence[Line], after: Iterable[Symbol] = ()) -> list[Line]:
    """The lines without those whose results nobody reads."""
    return _live(lines, set(after))[0]


def _live(lines: Sequence[Line], needed: set[Symbol]) -> tuple[list[Line], set[Symbol]]:
    kept: list[Line] = []
    for line in reversed(lines):
        match line:
            case Declare(variable=variable, value=value):
                if variable.symbol not in needed:
                    continue
                needed = (needed - {variable.symbol}) | _names(value)
            case Update(symbol=number, value=value):
                if number not in needed:
                    continue
                needed = needed | _names(value)  # and its declaration is needed still
            case Put(pointer=pointer, value=value, mask=mask, saves=saves):
                if saves is not None and saves not in needed:
                    continue
                needed = needed | _names(pointer, value, mask)
            case Repeat():
                result = _live_loop(line, needed)
                if result is None:
                    continue
                line, needed = result
            case Choose(condition=condition, then=then, otherwise=otherwise):
                yes, first = _live(then, needed)
                no, second = _live(otherwise, needed)
                if not yes and not no:
                    continue
                line = replace(line, then=yes, otherwise=no)
                needed = first | second | _names(condition)
        kept.append(line)
    return kept[::-1], needed


def _live_loop(loop: Repeat, after: set[Symbol]) -> tuple[Repeat, set[Symbol]] | None:
    """The loop and what it needs; None where it has no effect."""
    if not _live_body(loop, after, set())[0]:
        return None
    body, needed = _live_body(loop, after, _names(loop.condition))
    steps = [line for line in body if line in loop.steps]
    kept = [line for line in body if line not in loop.steps]
    before, needed = _live(loop.heads, needed)
    heads = [line for line in before if isinstance(line, Declare)]
    updates = [line for line in steps if isinstance(line, Update)]
    return replace(loop, heads=heads, body=kept, steps=updates), needed


def _live_body(loop: Repeat, after: set[Symbol], tested: set[Symbol]) -> tuple[list[Line], set[Symbol]]:
    lines, end = [*loop.body, *loop.steps], after | tested
    while True:
        kept, start = _live(lines, set(end))
        if start <= end:
            return kept, end
        end |= start


# ---------------------------------------------------------------- copies


def tidy(lines: list[Line]) -> list[Line]:
    """The lines without needless copies, inner blocks first."""
    result: list[Line] = []
    for line in lines:
        if isinstance(line, Repeat):
            line = _with_steps_inside(_tidy_ends(replace(line, body=tidy(line.body))))
        elif isinstance(line, Choose):
            line = replace(line, then=tidy(line.then), otherwise=tidy(line.otherwise))
        result.append(line)
    return _join_starts(result)


def _with_steps_inside(loop: Repeat) -> Repeat:
    """Steps that read what the body declares stand at its end, where C can see it."""
    inner = {line.variable.symbol for line in loop.body if isinstance(line, Declare)}
    return (
        loop
        if inner.isdisjoint(read_by(loop.steps))
        else replace(loop, body=[*loop.body, *loop.steps], steps=[])
    )


def _join_starts(lines: list[Line]) -> list[Line]:
    """``T w = v`` where v was declared in this block and is not read again: w is v."""
    declared: dict[Symbol, Variable] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        if isinstance(line, Declare):
            source = _copied(line.value)
            alike = source in declared and (declared[source].raw or _alike(declared[source], line.variable))
            if source is not None and alike and source not in read_by(lines[at + 1 :]):
                declared[source].word = line.variable.word
                rest = [renamed(other, line.variable.symbol, source) for other in lines[at + 1 :]]
                lines = [*lines[:at], *rest]
                continue
            declared[line.variable.symbol] = line.variable
        at += 1
    return lines


def _alike(left: Variable, right: Variable) -> bool:
    return (left.word, left.stars, left.shape) == (right.word, right.stars, right.shape)


def _copied(value: Formula | None) -> Symbol | None:
    return None if value is None else value.symbol


def _tidy_ends(loop: Repeat) -> Repeat:
    """The ends of an iteration, ``w = w_1``: the statement that gave w_1 sets w itself, there or at the end."""
    while True:
        ends = [line for line in loop.body if isinstance(line, Update) and not line.adds]
        changed = next(filter(None, (_tidy_end(loop, end) for end in [*ends, *loop.steps])), None)
        if changed is None:
            return loop
        loop = changed


def _tidy_end(loop: Repeat, end: Update) -> Repeat | None:
    last = _copied(end.value)
    at = next((at for at, line in enumerate(loop.body) if _declares(line, last)), None)
    declared = None if at is None else loop.body[at]
    if at is None or last is None or not isinstance(declared, Declare) or declared.value is None:
        return None
    others = [line for line in [*loop.body, *loop.steps] if line is not end and line is not declared]
    behind = [line for line in [*loop.body[at + 1 :], *loop.steps] if line is not end]
    if end not in loop.steps and end.symbol not in read_by(behind):  # there
        update = Update(
            end.symbol, declared.value, above=declared.above, beside=declared.beside, about=declared.about
        )
        loop = _replaced(loop, {id(declared): update, id(end): None})
        return replace(loop, body=[renamed(line, last, end.symbol) for line in loop.body])
    if last not in read_by(others) and not _moves_past(loop, end, declared.value):  # at the end
        return _replaced(loop, {id(declared): None, id(end): replace(end, value=declared.value)})
    return None


def _declares(line: Line, number: Symbol | None) -> bool:
    return isinstance(line, Declare) and line.variable.symbol is number


def _moves_past(loop: Repeat, end: Update, value: Formula) -> bool:
    """Whether a variable that the value reads is set before the end, or in between."""
    lines = [*loop.body, *loop.steps]
    before, reads = lines[: lines.index(end)], _names(value)
    return any(isinstance(line, Update) and line.symbol in reads for line in before)


def _replaced(loop: Repeat, change: dict[int, Update | None]) -> Repeat:
    def apply(lines: Sequence[Line]) -> list[Line]:
        changed = [change.get(id(line), line) for line in lines]
        return [line for line in changed if line is not None]

    steps = [line for line in apply(loop.steps) if isinstance(line, Update)]
    return replace(loop, body=apply(loop.body), steps=steps)


def renamed(line: Line, old: Symbol, new: Symbol) -> Line:
    """The line with another variable in place of one."""

    def change(expr: Expr) -> Expr:
        if isinstance(expr, Name):
            return replace(expr, symbol=new) if expr.symbol is old else expr
        return with_children(expr, change)

    def formula(value: Formula) -> Formula:
        return Formula(change(value.expr))

    def maybe(value: Formula | None) -> Formula | None:
        return None if value is None else formula(value)

    match line:
        case Declare(value=value):
            return replace(line, value=maybe(value))
        case Update(symbol=number, value=value):
            return replace(line, symbol=new if number == old else number, value=formula(value))
        case Put(pointer=pointer, value=value, mask=mask):
            return replace(line, pointer=formula(pointer), value=formula(value), mask=maybe(mask))
        case Repeat(heads=heads, condition=condition, body=body, steps=steps):
            inner = [[renamed(each, old, new) for each in block] for block in (heads, body, steps)]
            starts = [each for each in inner[0] if isinstance(each, Declare)]
            ends = [each for each in inner[2] if isinstance(each, Update)]
            return replace(line, heads=starts, condition=maybe(condition), body=inner[1], steps=ends)
        case Choose(condition=condition, then=then, otherwise=otherwise):
            yes, no = ([renamed(each, old, new) for each in block] for block in (then, otherwise))
            return replace(line, condition=formula(condition), then=yes, otherwise=no)
        case _:
            raise AssertionError(line)


# ---------------------------------------------------------------- print

MAX_WIDTH = 110
_COMPOUND = frozenset(("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"))


class _Printer:
    def __init__(self, unparser: Unparser, names: dict[Symbol, str]) -> None:
        self.unparser, self.names = unparser, names
        self.out: list[str] = []
        self.about: str | None = None

    def text(self, formula: Formula) -> str:
        return self.unparser(formula.expr)

    def block(self, lines: Iterable[Line], indent: str, taken: set[str]) -> None:
        for line in lines:
            self.comments(line, indent)
            self.line(line, indent, taken)
            if line.beside and self.out:
                self.out[-1] += "  // " + " ".join(" ".join(line.beside).split())

    def comments(self, line: Line, indent: str) -> None:
        self.out += [f"{indent}// {text}".rstrip() for comment in line.above for text in comment.splitlines()]
        if line.about is not None and line.about != self.about:
            self.out.append(f"{indent}// adjoint of: {line.about}")
        self.about = line.about

    def line(self, line: Line, indent: str, taken: set[str]) -> None:
        match line:
            case Declare():
                self.out.append(f"{indent}{self.declared(line, taken)};")
            case Update():
                self.out.append(f"{indent}{self.updated(line)};")
            case Put(pointer=pointer, value=value, mask=mask, atomic=atomic):
                where = self.text(pointer)
                if atomic:
                    masked = f", {self.text(mask)}" if mask is not None else ""
                    self.out.append(f"{indent}atomic_add({where}, {self.text(value)}{masked});")
                else:
                    where = self.unparser.inside(pointer.expr)
                    masked = f"?({self.text(mask)}) " if mask is not None else ""
                    self.out.append(f"{indent}*{masked}{where} = {self.text(value)};")
            case Repeat():
                self.loop(line, indent, taken)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                self.out.append(f"{indent}if ({self.text(condition)}) {{")
                self.block(then, indent + "  ", set(taken))
                if otherwise:
                    self.out.append(f"{indent}}} else {{")
                    self.block(otherwise, indent + "  ", set(taken))
                self.out.append(f"{indent}}}")

    def loop(self, line: Repeat, indent: str, taken: set[str]) -> None:
        inner = set(taken)
        heads = [self.declared(head, inner) for head in line.heads]
        words = {head.variable.word for head in line.heads}
        if len(words) > 1 or any(head.variable.shape for head in line.heads):
            self.out += [f"{indent}{head};" for head in heads]
            taken |= inner
            heads = []
        first = ", ".join([*heads[:1], *(head.partition(" ")[2] for head in heads[1:])])
        condition = "" if line.condition is None else self.text(line.condition)
        start = len(self.out)
        self.block(line.body, indent + "  ", inner)
        steps = ", ".join(map(self.updated, line.steps))
        if not first and not steps and condition:
            head = f"while ({condition})"
        else:
            head = f"for ({first};{' ' * bool(condition)}{condition};{' ' * bool(steps)}{steps})"
        self.out.insert(start, f"{indent}{head} {{")
        self.out.append(f"{indent}}}")

    def declared(self, line: Declare, taken: set[str]) -> str:
        variable = line.variable
        name, count = variable.symbol.name, 1
        while name in taken:
            count += 1
            name = f"{variable.symbol.name}_{count}"
        value = "" if line.value is None else f" = {self.text(line.value)}"
        taken.add(name)
        self.names[variable.symbol] = name
        shape = f"[{sizes(variable.shape)}]" if variable.shape else ""
        return f"{variable.word} {variable.stars}{name}{shape}{value}"

    def updated(self, line: Update) -> str:
        name, value = self.names[line.symbol], line.value
        if line.adds:
            if value.opposite is not None:
                return f"{name} -= {self.text(value.opposite)}"
            return f"{name} += {self.text(value)}"
        whole = bare(value.expr)
        update = whole if isinstance(whole, Binary) and whole.operator in _COMPOUND else None
        if update is not None and Formula(update.left).symbol is line.symbol:
            return f"{name} {update.operator}= {self.unparser(update.right)}"
        return f"{name} = {self.text(value)}"


def printed(
    name: str,
    declarations: Sequence[str],
    lines: Sequence[Line],
    unparser: Unparser,
    names: dict[Symbol, str],
    taken: Collection[str],
    head: Sequence[str] = (),
) -> str:
    """The kernel as text. ``names``: of the parameters; ``taken``: not for variables; ``head``: comments."""
    printer = _Printer(unparser, names)
    printer.block(lines, "  ", set(taken))
    start = f"__global__ void {name}("
    joined = start + ", ".join(declarations) + ") {"
    if len(joined) > MAX_WIDTH:
        joined = start + f",\n{' ' * len(start)}".join(declarations) + ") {"
    comments = [f"// {line}".rstrip() for line in head]
    return "\n".join([*comments, joined, *printer.out, "}", ""])
