"""Kernels with effects in every place of an expression, and what they do, by C's rules and from left to right.

``Effects(choices).kernel()`` gives a text; ``run`` on its result what memory holds afterwards. An expression is a
text and a function that evaluates it, made together: nothing here knows of the translator. All values are ints;
indices are cut to a buffer by ``& 7``. In a branch of ``?:``, and right of ``&&`` and ``||``, there is no effect,
unless ``refused`` is asked for: then there is one in such a place, and the text is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fuzz import c as arithmetic
from tests.fuzz.c import Number, Unspecified
from tests.fuzz.choices import Choices
from tests.fuzz.rules import by_name

__all__ = ["SIZE", "Effects", "Endless", "Kernel", "State", "wrapped"]

INT = by_name("int")
SIZE = 16
MOST_STEPS = 400
MOST_EFFECTS = 9  # in one kernel: its text stays readable


class Endless(Exception):
    """The kernel runs for too long, or divides by zero: C does not say what it does."""


@dataclass
class State:
    """Memory, variables, and steps so far."""

    memory: dict[str, list[int]]
    variables: dict[str, int]
    steps: int = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Endless


Run = Callable[[State], int]


@dataclass(frozen=True)
class E:
    """An expression, with parentheses of its own. ``idle``: parts of a discarded one that have no effect."""

    text: str
    run: Run
    acts: bool = False
    idle: int | None = None

    @property
    def discarded(self) -> int:
        return (0 if self.acts else 1) if self.idle is None else self.idle


class _Left(Exception):
    def __init__(self, word: str) -> None:
        self.word = word


@dataclass
class Kernel:
    """A text, what it does, whether it is wrong, and how many of its expressions have no effect."""

    text: str
    run: Callable[[State], None]
    refused: bool
    idle: int


def wrapped(value: int) -> int:
    """An int of 32 bits."""
    return arithmetic.wrapped(value, INT)


def calculated(operator: str, a: int, b: int) -> int:
    """By the model of C's arithmetic; a division that wraps does so here."""
    if operator in "/%" and (a, b) == (-(1 << 31), -1):
        return a if operator == "/" else 0
    try:
        return int(arithmetic.binary(operator, Number(INT, a), Number(INT, b)).value)
    except Unspecified:
        raise Endless from None


OPERATORS = "+ - * / % & | ^ < == != >=".split()
_ATOMICS: dict[str, Callable[[int, int, int], int]] = {
    "atomic_add": lambda old, value, _: wrapped(old + value),
    "atomic_xchg": lambda _, value, __: value,
    "atomic_cas": lambda old, value, compare: value if old == compare else old,
}


@dataclass
class Effects:
    """Makes kernels."""

    c: Choices
    refused: bool = False
    left: int = MOST_EFFECTS
    idle: int = 0
    loops: int = 0
    did_refuse: bool = False
    scopes: list[list[str]] = field(default_factory=lambda: [["n", "m"]])
    fixed: set[str] = field(default_factory=set)

    # ------------------------------------------------------------ expressions

    def expr(self, depth: int, acts: bool = True) -> E:
        """An expression; with ``acts``, perhaps with effects."""
        c = self.c
        if depth <= 0:
            return self.leaf(acts)
        kinds: list[tuple[int, Callable[[int, bool], E]]] = [
            (4, self.binary),
            (2, self.load),
            (1, self.unary),
            (2, self.logic),
            (2, self.choice),
            (1, self.comma),
            (2, self.function),
            (1, self.reduced),
            (1, self.size_of),
            (1, lambda _, acts: self.leaf(acts)),
        ]
        if acts and self.left > 0:
            kinds += [(5, self.atomic), (3, self.assignment), (3, self.store), (2, self.step)]
        return c.weighted(kinds)(depth, acts)

    def leaf(self, acts: bool) -> E:
        c = self.c
        if acts and self.left > 0 and c.chance(3):
            return self.weighted_effect()
        if c.chance(3):
            number = c.pick((0, 1, 2, 3, 5, 7, -1, -4))
            return E(f"({number})", lambda _: number)
        return self.name(c.pick(self.visible()))

    def weighted_effect(self) -> E:
        return self.c.weighted([(2, self.atomic), (1, self.step)])(0, True)

    def visible(self) -> list[str]:
        return [name for names in self.scopes for name in names]

    def target(self) -> str:
        names = [name for name in self.visible() if name not in self.fixed]
        return self.c.pick(names)

    def name(self, name: str) -> E:
        return E(name, lambda state: state.variables[name])

    def place(self, depth: int, acts: bool, buffers: tuple[str, ...] = ("p", "q")) -> tuple[str, str, E]:
        """A pointer: its text, its buffer, and its index."""
        buffer, index = self.c.pick(buffers), self.expr(depth - 1, acts)
        if self.c.chance(4):  # the index comes first
            second = self.expr(depth - 1, acts)

            def run(state: State) -> int:
                first = index.run(state) & 3
                return first + (second.run(state) & 3)

            text = f"(({index.text} & 3) + ({buffer} + ({second.text} & 3)))"
            return text, buffer, E("", run, index.acts or second.acts)
        return (
            f"({buffer} + ({index.text} & 7))",
            buffer,
            E("", lambda state: index.run(state) & 7, index.acts),
        )

    def binary(self, depth: int, acts: bool) -> E:
        operator = self.c.pick(OPERATORS)
        left, right = self.expr(depth - 1, acts), self.expr(depth - 1, acts)
        if operator in "/%" and not (right.acts and self.c.chance(2)):  # a constant 0 is an error
            right = E(f"({right.text} | 1)", lambda state, inner=right.run: inner(state) | 1, right.acts)  # type: ignore[misc]

        def run(state: State) -> int:
            first = left.run(state)
            return calculated(operator, first, right.run(state))

        return E(f"({left.text} {operator} {right.text})", run, left.acts or right.acts)

    def unary(self, depth: int, acts: bool) -> E:
        operand = self.expr(depth - 1, acts)
        operator, run = self.c.pick(
            (
                ("-", lambda value: wrapped(-value)),
                ("~", lambda value: ~value),
                ("!", lambda value: int(not value)),
                ("(int)(float)7 & ", lambda value: 7 & value),
            )
        )
        return E(f"({operator}{operand.text})", lambda state: run(operand.run(state)), operand.acts)

    def load(self, depth: int, acts: bool) -> E:
        if self.c.chance(3):  # masked: 0 elsewhere
            mask = self.expr(depth - 1, acts)
            text, buffer, index = self.place(depth, acts)

            def masked(state: State) -> int:
                wanted, at = mask.run(state), index.run(state)
                return state.memory[buffer][at] if wanted else 0

            return E(f"(*?({mask.text}){text})", masked, mask.acts or index.acts)
        text, buffer, index = self.place(depth, acts)
        return E(f"(*{text})", lambda state: state.memory[buffer][index.run(state)], index.acts)

    def unsure(self, depth: int) -> E:
        """What C might not evaluate."""
        if self.refused and self.left > 0 and self.c.chance(2):
            self.did_refuse = True
            wrong = self.c.weighted(
                [(2, self.atomic), (1, self.assignment), (1, self.store), (1, self.step), (1, self.nested)]
            )
            return wrong(max(depth - 1, 1), True)
        return self.expr(depth - 1, False)

    def nested(self, depth: int, acts: bool) -> E:
        """An effect below something else."""
        inner = self.atomic(depth, True)
        return E(f"(1 + min({inner.text}, 2))", lambda state: 1 + min(inner.run(state), 2), True)

    def logic(self, depth: int, acts: bool) -> E:
        both = self.c.chance(2)
        left, right = self.expr(depth - 1, acts), self.unsure(depth)

        def run(state: State) -> int:
            first = bool(left.run(state))
            return int(bool(right.run(state)) if first == both else first)

        return E(f"({left.text} {'&&' if both else '||'} {right.text})", run, left.acts or right.acts)

    def choice(self, depth: int, acts: bool) -> E:
        test = self.expr(depth - 1, acts)
        if self.c.chance(3):
            other = self.unsure(depth)

            def elvis(state: State) -> int:
                value = test.run(state)
                return value if value else other.run(state)

            return E(f"({test.text} ?: {other.text})", elvis, test.acts or other.acts)
        yes, no = self.unsure(depth), self.unsure(depth)
        return E(
            f"({test.text} ? {yes.text} : {no.text})",
            lambda state: yes.run(state) if test.run(state) else no.run(state),
            test.acts or yes.acts or no.acts,
        )

    def comma(self, depth: int, acts: bool) -> E:
        first, second = self.expr(depth - 1, acts), self.expr(depth - 1, acts)
        self.idle += first.discarded

        def run(state: State) -> int:
            first.run(state)
            return second.run(state)

        return E(f"({first.text}, {second.text})", run, first.acts or second.acts, second.discarded)

    def function(self, depth: int, acts: bool) -> E:
        name, run = self.c.pick(
            (
                ("min", lambda a, b, _: min(a, b)),
                ("max", lambda a, b, _: max(a, b)),
                ("select", lambda a, b, c: b if a else c),
                ("abs", lambda a, b, c: wrapped(abs(a))),
            )
        )
        count = {"select": 3, "abs": 1}.get(name, 2)
        parts = [self.expr(depth - 1, acts) for _ in range(count)]

        def call(state: State) -> int:
            values = [part.run(state) for part in parts]
            return run(*[*values, 0, 0][:3])

        text = f"{name}({', '.join(part.text for part in parts)})"
        return E(text, call, any(part.acts for part in parts))

    def reduced(self, depth: int, acts: bool) -> E:
        """A block with effects in it: ``((0 ... 4) * e)[+]``, a block of loads, one of atomics."""
        c = self.c
        kind = c.below(3 if acts and self.left > 0 else 2)
        inner = self.expr(depth - 1, acts)
        if kind == 0:
            return E(
                f"((0 ... 4) * {inner.text})[+]", lambda state: wrapped(6 * inner.run(state)), inner.acts
            )
        text, buffer, index = self.place(depth, acts)
        if kind == 1:

            def loads(state: State) -> int:
                factor, at = inner.run(state), index.run(state)
                return wrapped(sum(wrapped(factor * value) for value in state.memory[buffer][at : at + 4]))

            return E(f"({inner.text} * *({text} + 0 ... 4))[+]", loads, inner.acts or index.acts)
        self.left -= 1

        def atomics(state: State) -> int:
            at, value = index.run(state), inner.run(state)
            old = state.memory[buffer][at : at + 4]
            state.memory[buffer][at : at + 4] = [wrapped(each + value) for each in old]
            return max(old)

        return E(f"atomic_add({text} + 0 ... 4, {inner.text})[max]", atomics, True)

    def size_of(self, depth: int, acts: bool) -> E:
        """Its operand is not evaluated."""
        inner = self.c.pick(("n++", "(m = 3)", "atomic_add(q, 1)", "*p"))
        return E(f"(int)sizeof({inner})", lambda _: 4)

    # ------------------------------------------------------------ effects

    def atomic(self, depth: int, acts: bool) -> E:
        self.left -= 1
        name = self.c.pick(tuple(_ATOMICS))
        text, buffer, index = self.place(depth, True)
        parts = [self.expr(depth - 1) for _ in range(1 + (name == "atomic_cas"))]
        masked = name == "atomic_add" and self.c.chance(4)
        mask = self.expr(depth - 1) if masked else None

        def run(state: State) -> int:
            at = index.run(state)
            values = [part.run(state) for part in parts]
            wanted = True if mask is None else bool(mask.run(state))
            old = state.memory[buffer][at]
            if wanted:
                state.memory[buffer][at] = _ATOMICS[name](old, values[-1], values[0])
            return old

        words = [text, *(part.text for part in (*parts, *([mask] if mask else [])))]
        call = f"{name}({', '.join(words)})"
        if mask is None:
            return E(call, run, True)
        return E(
            f"({call}, 1)", lambda state: (run(state) and 1) or 1, True, 1
        )  # its old value is not specified

    def assignment(self, depth: int, acts: bool) -> E:
        self.left -= 1
        name, value, compound = self.target(), self.expr(depth - 1), self.c.chance(2)

        def run(state: State) -> int:
            old, new = state.variables[name], 0
            new = value.run(state)
            state.variables[name] = wrapped(old + new) if compound else new
            return state.variables[name]

        return E(f"({name} {'+=' if compound else '='} {value.text})", run, True)

    def store(self, depth: int, acts: bool) -> E:
        self.left -= 1
        c = self.c
        mask = self.expr(depth - 1) if c.chance(3) else None
        text, buffer, index = self.place(depth, True)
        kind = c.below(3)  # =, +=, ++ after or before
        after = kind == 2 and c.chance(2)
        value = E("1", lambda _: 1) if kind == 2 else self.expr(depth - 1)

        def run(state: State) -> int:
            wanted = True if mask is None else bool(mask.run(state))
            at = index.run(state)
            old = state.memory[buffer][at] if wanted else 0
            new = value.run(state)
            new = wrapped(old + new) if kind else new
            if wanted:
                state.memory[buffer][at] = new
            return old if after else new

        target = f"*{text}" if mask is None else f"*?({mask.text}){text}"
        if kind == 2:
            return E(f"(({target})++)" if after else f"(++{target})", run, True)
        return E(f"({target} {'+=' if kind else '='} {value.text})", run, True)

    def step(self, depth: int, acts: bool) -> E:
        self.left -= 1
        name, after, by = self.target(), self.c.chance(2), self.c.pick((1, -1))

        def run(state: State) -> int:
            old = state.variables[name]
            state.variables[name] = wrapped(old + by)
            return old if after else state.variables[name]

        word = "++" if by > 0 else "--"
        return E(f"({name}{word})" if after else f"({word}{name})", run, True)

    # ------------------------------------------------------------ statements

    def body(self, count: int, depth: int, inside: bool = False) -> tuple[list[str], Callable[[State], None]]:
        """Statements; ``inside`` of a loop."""
        self.scopes.append([])
        lines: list[str] = []
        runs: list[Callable[[State], None]] = []
        for _ in range(count):
            kinds = [(3, self.declared), (3, self.discarded), (3, self.stored), (2, self.assigned)]
            if depth > 0:
                kinds += [(3, self.branch), (4, self.loop)]
            kinds += [(1, self.jump)] if inside else []
            text, run = self.c.weighted(kinds)(depth)
            lines += text
            runs.append(run)
        self.scopes.pop()

        def all_of(state: State) -> None:
            for run in runs:
                state.step()
                run(state)

        return lines, all_of

    def fresh(self) -> str:
        return f"v{sum(map(len, self.scopes)) + self.c.below(1)}_{self.loops}_{len(self.scopes)}"

    def declared(self, depth: int) -> tuple[list[str], Callable[[State], None]]:
        name = self.fresh()
        if name in self.visible():
            return self.discarded(depth)
        value = self.expr(3)
        self.scopes[-1].append(name)

        def run(state: State) -> None:
            state.variables[name] = value.run(state)

        return [f"int {name} = {value.text};"], run

    def discarded(self, depth: int) -> tuple[list[str], Callable[[State], None]]:
        value = self.expr(3)
        self.idle += value.discarded
        return [f"{value.text};"], lambda state: void(value.run(state))

    def assigned(self, depth: int) -> tuple[list[str], Callable[[State], None]]:
        self.left += 1
        value = self.assignment(3, True)
        return [f"{value.text[1:-1]};"], lambda state: void(value.run(state))

    def stored(self, depth: int) -> tuple[list[str], Callable[[State], None]]:
        self.left += 1
        value = self.store(3, True)
        return [f"{value.text[1:-1]};"], lambda state: void(value.run(state))

    def branch(self, depth: int) -> tuple[list[str], Callable[[State], None]]:
        test = self.expr(3)
        then, run_then = self.body(1 + self.c.below(2), depth - 1)
        other, run_other = self.body(self.c.below(2), depth - 1)

        def run(state: State) -> None:
            (run_then if test.run(state) else run_other)(state)

        indented = [f"if ({test.text}) {{", *("  " + line for line in then)]
        if other:
            indented += ["} else {", *("  " + line for line in other)]
        return [*indented, "}"], run

    def jump(self, depth: int) -> tuple[list[str], Callable[[State], None]]:
        test, word = self.expr(2), self.c.pick(("break", "continue"))

        def run(state: State) -> None:
            if test.run(state):
                raise _Left(word)

        return [f"if ({test.text}) {word};"], run

    def loop(self, depth: int) -> tuple[list[str], Callable[[State], None]]:
        """A loop of a few iterations: what ends it is a counter that nothing else sets, or an atomic of its own."""
        c, number = self.c, self.loops
        self.loops += 1
        counter, bound, kind = f"k{number}", 1 + c.below(3), c.below(3)
        self.scopes.append([counter])
        self.fixed.add(counter)
        count = E(f"({counter}++ < {bound})", lambda state: _counts(state, counter, bound), True)
        if c.chance(2) and number < SIZE:
            text = c.pick(
                (f"(atomic_add(w + {number}, 1) < {bound})", f"({bound} > atomic_add(w + {number}, 1))")
            )
            count = E(text, lambda state: _ticks(state, number, bound), True)
        test = count
        if c.chance(3):
            more = self.expr(2)
            test = E(f"(({more.text} | 1) * {count.text})", lambda s: (more.run(s) | 1) * count.run(s), True)
        elif c.chance(3):
            pure = self.expr(1, False)
            test = E(f"({count.text} && ({pure.text}, 1))", count.run, True)
            self.idle += pure.discarded
        lines, body = self.body(1 + c.below(2), depth - 1, inside=True)
        step = self.expr(2) if kind == 0 and c.chance(2) else None
        if step is not None:
            self.idle += step.discarded
        self.scopes.pop()
        inside = ["  " + line for line in lines]

        def run(state: State) -> None:
            state.variables[counter] = 0
            first = kind == 2
            while first or test.run(state):
                first = False
                state.step()
                try:
                    body(state)
                except _Left as left:
                    if left.word == "break":
                        break
                if step is not None:
                    step.run(state)

        if kind == 0:
            head = f"for (int {counter} = 0; {test.text}; {step.text if step else ''}) {{"
            return [head, *inside, "}"], run
        head = f"int {counter} = 0;"
        if kind == 1:
            return ["{", head, f"while ({test.text}) {{", *inside, "}", "}"], run
        return ["{", head, "do {", *inside, f"}} while ({test.text});", "}"], run

    def kernel(self) -> Kernel:
        """A whole kernel; what its variables are at the end is stored."""
        lines, run = self.body(1 + self.c.below(4), 2)
        text = "\n".join(
            [
                "void f(int *p, int *q, int *w, int *o, int n, int m) {",
                *("  " + line for line in lines),
                "  *o = n;",
                "  *(o + 1) = m;",
                "}",
                "",
            ]
        )

        def whole(state: State) -> None:
            run(state)
            state.memory["o"][:2] = state.variables["n"], state.variables["m"]

        return Kernel(text, whole, self.did_refuse, self.idle)


def void(_: int) -> None:
    """A statement has no value."""


def _counts(state: State, counter: str, bound: int) -> int:
    state.variables[counter] += 1
    return int(state.variables[counter] - 1 < bound)


def _ticks(state: State, place: int, bound: int) -> int:
    state.memory["w"][place] += 1
    return int(state.memory["w"][place] - 1 < bound)
