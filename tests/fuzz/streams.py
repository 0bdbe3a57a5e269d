"""Loops over memory, as real kernels have them: what the loop passes, the masks and the barriers are for.

- ``prefetch``: operands loaded before the loop and at its end, the last of those loads dead and out of bounds, in
  every shape (masks carried, one operand of two, increments loaded or prefetched themselves,
  indices computed anew, work behind each load, second names, pointers that advance after the load ...);
- ``walk``: loads and stores of one stretch of memory in turn, steps as long as the block, shorter, longer, back;
- ``sweep``: blocks over n elements, the last one masked, with every way to write that mask;
- ``softmax``: a running maximum and sum of ``exp`` over such blocks, from -INFINITY on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from tests.fuzz.expressions import MOST
from tests.fuzz.memory import SLAB, SLOT, Parameter, Variable
from tests.fuzz.rules import Scalar, by_name, common, promoted
from tests.fuzz.statements import Statements

__all__ = ["Streams"]

Shape = tuple[int, ...]
INT, FLOAT, BOOL = by_name("int"), by_name("float"), by_name("bool")
LARGE = (64, 128)


@dataclass(slots=True)
class _Loop:
    """The head of a streaming loop, and what its counter says. ``now`` elements are left at the head of a turn."""

    head: str
    counter: str
    before: list[str]
    block: int
    total: str  # how many elements there are
    step: str
    now: str
    past: str  # how many elements were done
    follows: str  # whether another turn follows


@dataclass(slots=True)
class _Operand:
    """A value that a streaming loop reads turn by turn; lines for their places."""

    value: Variable
    use: str
    before: list[str] = field(default_factory=list)
    top: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)  # loads of the next turn, before the use
    tail: list[str] = field(default_factory=list)
    masks: list[str] = field(default_factory=list)  # of the next turn, in front of its load


class Streams(Statements):
    """The body of one kernel, streaming loops included."""

    def stream(self, depth: int) -> list[str]:
        if self.loops:
            return self.assignment(depth)
        kinds = [(6, self.prefetch), (4, self.walk), (4, self.sweep)]
        if {FLOAT, by_name("half"), by_name("bfloat16")} & {*self.frame.types}:
            kinds.append((2, self.softmax))
        return self.c.weighted(kinds)(depth)

    # ------------------------------------------------------------ the head

    def bound(self, value: int, before: list[str]) -> str:
        """A count: a literal, a parameter, a parameter assigned before the loop, a local."""
        c = self.c
        kind = c.below(5)
        if kind == 4:
            name = self.frame.fresh("b")
            self.frame.parameters.append(Parameter(name, INT, value=value * 2))
            before.append(c.pick((f"{name} = {name} / 2;", f"{name} /= 2;", f"{name} = {name} - {value};")))
            return name
        if kind == 3:
            name = self.frame.fresh("b")
            before.append(f"int {name} = {self.limit(value)};")
            return name
        return self.limit(value)

    def head(self, block: int, count: int, step: int | None = None) -> _Loop:
        """A loop over ``count`` elements in blocks, which advances by ``step`` (the block's size if None)."""
        c = self.c
        before: list[str] = []
        total = self.bound(count, before)
        k = self.frame.fresh("k")
        size = self.frame.size(block) if step is None else str(step)
        if c.chance(4):
            local = self.frame.fresh("t")
            before.append(f"{c.pick(('int', 'const int'))} {local} = {size};")
            size = local
        if c.chance(2):
            tests = (f"{k} > 0", f"0 < {k}", f"{k} >= 1")
            steps = (f"{k} -= {size}", f"{k} = {k} - {size}")
            head = f"for (int {k} = {total}; {c.pick(tests)}; {c.pick(steps)})"
            return _Loop(head, k, before, block, total, size, k, f"({total} - {k})", f"{k} > {size}")
        tests = (f"{k} < {total}", f"{total} > {k}", f"{k} <= {total} - 1")
        steps = (f"{k} += {size}", f"{k} = {size} + {k}")
        head = f"for (int {k} = 0; {c.pick(tests)}; {c.pick(steps)})"
        return _Loop(head, k, before, block, total, size, f"{total} - {k}", k, f"{k} + {size} < {total}")

    def within(self, index: str, left: str, loop: _Loop | None = None) -> str:
        """Whether an index block lies below what is left, written one way or another."""
        c = self.c
        kind = c.below(4)
        if kind == 1:
            return f"{left} > {index}"
        if kind == 2 and loop is not None:
            return f"{loop.past} + ({index}) < {loop.total}"
        if kind == 3:
            return f"{index} <= {left} - 1"
        return f"{index} < {left}"

    # ------------------------------------------------------------ prefetched operands

    def prefetch(self, depth: int) -> list[str]:
        c = self.c
        block, trips = c.pick(self.frame.sizes), c.pick((2, 3, 1, 4))
        ragged = c.chance(2)
        count = block * trips - (c.below(block) if ragged else 0)
        loop = self.head(block, count)
        plain = [t for t in self.frame.types if t != BOOL] or [INT]
        kind = c.below(4)
        rows = c.pick([s for s in self.frame.sizes if s * block <= MOST] or [1])
        if kind == 3 and rows * rows <= MOST:
            type_ = c.pick([t for t in plain if t.word in ("half", "float", "bfloat16")] or [FLOAT])
            total_type, shape = FLOAT, (rows, rows)
            operands = [
                self.operand(loop, type_, (rows, block), 1, count, ragged),
                self.operand(loop, type_, (block, rows), 0, count, ragged),
            ]
            value = f"({operands[0].use}) @ ({operands[1].use})"
        else:
            shape = (rows, block) if kind == 2 else (block,)
            axis = len(shape) - 1
            operands = [self.operand(loop, c.pick(plain), shape, axis, count, ragged)]
            value, total_type = operands[0].use, promoted(operands[0].value.type)
            if c.chance(3):
                operands.append(self.operand(loop, c.pick(plain), shape, axis, count, ragged))
                value = f"({value}) {c.pick(('*', '+', '-'))} ({operands[1].use})"
                total_type = common(total_type, promoted(operands[1].value.type))
        total = self.frame.fresh("v")
        update = f"{total} += {value};" if c.below(3) else f"{total} = {total} * 3 + ({value});"
        lines = [*loop.before, *(line for o in operands for line in o.before)]
        lines += [f"{self.declared(total_type, total, shape)} = 0;", f"{loop.head} {{"]
        hidden = [
            Variable(o.value.name, o.value.type, o.value.shape, fixed=True)
            for o in operands
            if o.use == o.value.name  # else some elements are unspecified
        ]
        work = self.inside(loop, [*hidden, Variable(total, total_type, shape, fixed=True)])
        body = [line for o in operands for line in o.top + o.early]
        body += [update, *work] if c.chance(2) else [*work, update]
        body += [line for o in operands for line in o.tail]
        self.frame.declare(Variable(total, total_type, shape))
        return [*lines, *("  " + line for line in body), "}"]

    def inside(self, loop: _Loop, variables: list[Variable]) -> list[str]:
        """Some other statement in the body of a streaming loop."""
        self.loops += 1
        self.frame.scopes.append([*variables, Variable(loop.counter, INT, (), fixed=True)])
        work = self.body(self.c.below(2), 0)
        self.frame.scopes.pop()
        self.loops -= 1
        return work

    def operand(
        self, loop: _Loop, type_: Scalar, shape: Shape, axis: int, count: int, ragged: bool
    ) -> _Operand:
        """One operand: ``axis`` is that along which the loop goes, ``count`` its length there."""
        c = self.c
        trips = -(-count // loop.block)
        others = prod(shape) // shape[axis]
        along = self.axis(shape, axis)
        if len(shape) == 1:
            unit, index = 1, along
        elif axis == 1:  # rows one behind the other
            unit, index = 1, f"{self.axis(shape, 0)} * {count} + {along}"
        else:
            unit, index = shape[1], f"{along} * {shape[1]} + {self.axis(shape, 1)}"
        own = c.chance(4) and count * others <= SLOT // 2
        base = (
            self.frame.output(type_)  # memory that the loop may write: the order must stay
            if own
            else self.frame.pointer(type_, "walked", count * others, self.frame.fresh("P")).name
        )
        value = Variable(self.frame.fresh("v"), type_, shape)
        a = value.name
        operand = _Operand(value, a)
        step = loop.step if unit == 1 else f"{loop.step} * {unit}"
        advance: list[str] = []
        if c.chance(4):  # the index is computed anew
            place = f"{base} + {index}"
            behind = f"{loop.past} + {loop.step}"
            at = [place, *(f"{place} + ({past})" + f" * {unit}" * (unit > 1) for past in (loop.past, behind))]
        else:
            p = self.frame.fresh("p")
            operand.before.append(f"{self.pointers_of(type_, p, shape)} = {base} + {index};")
            moved, advance = self.advanced(operand, p, step, loop.block * unit, trips)
            at = [p, p, p]
            if c.chance(5):  # the pointer advances behind the load
                at[2] = f"{p} + {moved}"
                operand.tail, advance = advance, []
        first, again, now = self.loads(operand, loop, at, along, shape, ragged)
        if c.chance(6):  # not prefetched at all
            operand.before.append(f"{self.declared(type_, a, shape)};")
            operand.top.append(f"{a} = {now};")
            operand.tail = [*operand.masks, *advance, *operand.tail]
            return operand
        work = self.worked(a, type_)
        operand.before += [f"{self.declared(type_, a, shape)} = {first};", *work]
        if c.chance(5) and not work:  # into a second name
            other = self.frame.fresh("v")
            load = f"{self.declared(type_, other, shape)} = {again};"
            if c.chance(2) and not own:
                operand.early += [*operand.masks, *advance, load]
            else:
                operand.tail[:0] = [*operand.masks, *advance, load]
            operand.tail.append(f"{a} = {other};")
        else:
            load = f"{a} = {again};"
            if not ragged and c.chance(6):
                load = f"if ({loop.follows}) {load}"
            operand.tail[:0] = [*advance, *operand.masks, load, *work]
        return operand

    def axis(self, shape: Shape, axis: int) -> str:
        """The numbers along one axis of a shape."""
        self.frame.ranges.add(shape[axis])
        if len(shape) == 1:
            return f"r{shape[0]}"
        return f"r{shape[axis]}[{', '.join(':' if at == axis else 'newaxis' for at in range(len(shape)))}]"

    def pointers_of(self, type_: Scalar, name: str, shape: Shape) -> str:
        return f"{type_.word} *{name}[{', '.join(map(self.frame.size, shape))}]"

    def advanced(
        self, operand: _Operand, p: str, step: str, elements: int, trips: int
    ) -> tuple[str, list[str]]:
        """By how much a pointer moves, and the lines that move it: the first is the move."""
        c = self.c
        kind = c.below(8)
        if kind < 4:
            return step, [f"{p} += {step};"]
        if kind == 4:
            inc = self.frame.fresh("d")
            operand.before.append(f"int {inc} = *{self.steps(elements, 1)};")
            return inc, [f"{p} += {inc};"]
        table, d = self.frame.fresh("q"), self.frame.fresh("d")
        operand.before.append(f"int *{table} = {self.steps(elements, trips)};")
        if kind == 5:  # the increment is prefetched itself; the last of those loads is dead, too
            operand.before.append(f"int {d} = *{table};")
            return d, [f"{p} += {d};", f"{table} += 1;", f"{d} = *{table};"]
        operand.before.append(f"int {d} = 0;")
        operand.top += [f"{d} = *{table};", f"{table} += 1;"]
        return d, [f"{p} += {d};"]

    def steps(self, elements: int, count: int) -> str:
        """A table of increments, none of them greater than ``elements``."""
        return self.frame.pointer(INT, f"steps {elements}", count, self.frame.fresh("D")).name

    def loads(
        self, operand: _Operand, loop: _Loop, at: list[str], along: str, shape: Shape, ragged: bool
    ) -> tuple[str, str, str]:
        """The load before the loop, that at the end of a turn, and one at its head."""
        c = self.c
        if not ragged and c.below(3):
            return tuple(f"*({place})" if " " in place else f"*{place}" for place in (at[0], at[2], at[1]))  # type: ignore[return-value]
        first = self.within(along, loop.total)
        again = self.within(along, f"{loop.now} - {loop.step}")
        now = self.within(along, loop.now, loop)
        hidden = c.chance(3)  # the elements left out are unspecified
        if hidden:
            operand.use = f"{self.within(along, loop.now)} ? {operand.use} : 0"
        if c.chance(3):  # the mask is carried
            mask = self.frame.fresh("m")
            operand.before.append(f"{self.declared(BOOL, mask, shape)} = {first};")
            operand.tail.append(f"{mask} = {again};")
            if operand.use != operand.value.name and c.chance(2):
                operand.use = f"{mask} ? {operand.value.name} : 0"
            first, now = mask, mask
            # at the end of a turn the next mask counts: it is set in front of the load
            if c.chance(2):
                operand.masks.append(operand.tail.pop())
                again = mask
                operand.use = operand.value.name if not hidden else operand.use
        forms = ("*?({m})({p})", "*?({m}) ({p})") if hidden else ("{m} ? *({p}) : 0", "!({m}) ? 0 : *({p})")
        form = c.pick(forms)
        return tuple(form.format(m=m, p=p) for m, p in ((first, at[0]), (again, at[2]), (now, at[1])))  # type: ignore[return-value]

    def worked(self, a: str, type_: Scalar) -> list[str]:
        """What happens to a value behind each of its loads."""
        kind = self.c.below(8)
        if kind == 1:
            return [f"{a} = {a} > 0 ? {a} : 0;"]
        if kind == 2 and type_.floating:
            return [f"{a} = {a} * 0.5f;", f"{a} = max({a}, 0);"]
        if kind == 3:
            return [f"{a} += 1;"]
        return []

    # ------------------------------------------------------------ one stretch of memory, read and written

    def walk(self, depth: int) -> list[str]:
        """Loads and stores of this program's own slab: what one turn writes, another may read."""
        c = self.c
        type_ = c.pick([t for t in self.frame.types if t != BOOL] or [INT])
        n = c.pick(self.frame.sizes + LARGE)
        rows = c.pick((1, 1, 1, 2, 4)) if n <= 32 else 1
        shape, pitch = ((rows, n), c.pick((n, n + 1, 2 * n))) if rows > 1 else ((n,), 0)
        span = (rows - 1) * pitch + n
        trips = c.pick((3, 2, 4, 1))
        step = c.pick((n, -n, 1, n - 1, n + 1, -1, 2 * n, 0, max(n // 2, 1), -(n + 1)))
        away = c.pick((0, 0, step, -step, n, 1, -1, n // 2, span))
        low = min(0, step * (trips - 1)) + min(0, away)
        high = max(0, step * (trips - 1)) + max(0, away) + span
        if high - low > SLAB:
            return self.assignment(depth)
        start = -low + c.below(min(SLAB - (high - low), 9) + 1)
        index = self.axis(shape, len(shape) - 1)
        if rows > 1:
            index = f"{self.axis(shape, 0)} * {pitch} + {index}"
        base = f"{self.frame.slab(type_)} + {start} + {index}"
        i, p, x, total = (self.frame.fresh(stem) for stem in ("i", "p", "v", "v"))
        lines = [f"{self.declared(type_, total, shape)} = {self.initialiser(type_, shape).text};"]
        advance: list[str] = []
        if c.chance(2):
            lines.append(f"{self.pointers_of(type_, p, shape)} = {base};")
            advance = [f"{p} += {step};" if step >= 0 and c.below(2) else f"{p} -= {-step};"]
            source, target = p, f"({p} + {away})" if away else p
            if c.chance(3):
                q = self.frame.fresh("q")
                lines.append(f"{self.pointers_of(type_, q, shape)} = {p} + {away};")
                target, advance = q, [*advance, f"{q} += {step};"]
        else:
            source = f"({base} + {i} * {step})"
            target = f"({base} + {i} * {step} + {away})" if away else source
        mask = f"?({index} < {c.below(n + 1)})" if c.chance(4) else ""
        value = c.pick((f"{x} + 1", f"{x} + {total}", f"{x} * 2", total))
        load = f"{self.declared(type_, x, shape)} = *{source};"
        store, again = f"*{mask}{target} = {value};", f"{total} += *{source};"
        self.loops += 1
        hidden = [Variable(i, INT, (), fixed=True), Variable(total, type_, shape, fixed=True)]
        self.frame.scopes.append([*hidden, Variable(x, type_, shape, fixed=True)])
        work = self.body(c.below(2), 0)
        self.frame.scopes.pop()
        self.loops -= 1
        body = [load, f"{total} += {x};", store, *work]
        if c.chance(2):
            body.append(again)
        self.frame.declare(Variable(total, type_, shape))
        head = f"for (int {i} = 0; {i} < {self.limit(trips)}; {i}++) {{"
        return [*lines, head, *("  " + line for line in [*body, *advance]), "}"]

    # ------------------------------------------------------------ n elements in blocks

    def sweep(self, depth: int) -> list[str]:
        """Blocks over n elements, with a mask that only the last one needs (or not even that)."""
        c = self.c
        type_ = c.pick([t for t in self.frame.types if t != BOOL] or [INT])
        n = c.pick(self.frame.sizes + LARGE)
        step = None if c.below(4) else c.pick((max(n // 2, 1), n + 1, 1, 2 * n))
        count = c.pick((n * 2, n * 2 + n // 2, n, n * 3 - 1, n - 1, n + 1, 0, n * 3))
        if count > SLAB or (step == 1 and count > 8):
            return self.assignment(depth)
        loop = self.head(n, count, step)
        pointer = self.frame.pointer(type_, "walked", count, self.frame.fresh("P")).name
        index = self.axis((n,), 0)
        x, total = self.frame.fresh("v"), self.frame.fresh("v")
        mask = self.within(index, loop.now, loop)
        if c.chance(6):
            mask = f"{mask} && {self.expr(BOOL, (n,), 1).at(5)}"
        body = []
        if c.chance(2):
            name = self.frame.fresh("m")
            body.append(f"{self.declared(BOOL, name, (n,))} = {mask};")
            mask = name
        place = f"{pointer} + {loop.past} + {index}"
        other = c.pick(("0", "0", "1", *(("-INFINITY", "-F32_INFINITY") if type_.word == "float" else ())))
        load = c.pick((f"{mask} ? *({place}) : {other}", f"!({mask}) ? {other} : *({place})"))
        sum_type = promoted(type_)
        whole = c.chance(3)
        shape: Shape = () if whole else (n,)
        use = f"{x}[{c.pick(('+', 'max', 'min'))}]" if whole else x
        body += [f"{self.declared(type_, x, (n,))} = {load};", f"{total} += {use};"]
        if c.chance(2):
            value = c.pick((x, f"{x} * 2", f"{x} + {self.expr(type_, (n,), 1).at(10)}"))
            body.append(f"*?({mask})({self.frame.slab(type_)} + {loop.past} + {index}) = {value};")
        work = self.inside(loop, [Variable(x, type_, (n,), fixed=True)])
        self.frame.declare(Variable(total, sum_type, shape))
        lines = [*loop.before, f"{self.declared(sum_type, total, shape)} = 0;", f"{loop.head} {{"]
        return [*lines, *("  " + line for line in [*body, *work]), "}"]

    def softmax(self, depth: int) -> list[str]:
        """A running maximum and the sum of ``exp`` below it, rescaled whenever the maximum grows."""
        c = self.c
        n = c.pick(self.frame.sizes)
        count = c.pick((n * 2, n * 2 + n // 2, n, n * 3 - 1, n - 1, n + 1, 0))
        if count > SLAB:
            return self.assignment(depth)
        words = ("half", "bfloat16", "float")
        type_ = c.pick([t for t in self.frame.types if t.word in words] or [FLOAT])
        loop = self.head(n, count)
        pointer = self.frame.pointer(type_, "walked", count, self.frame.fresh("P")).name
        index = self.axis((n,), 0)
        x, most, more, total, part = (self.frame.fresh("v") for _ in range(5))
        scale = c.pick(("", "", " * 0.5f", f" * {self.limit(2)}"))
        power = c.pick(("exp", "exp", "exp2"))
        low = c.pick(("-INFINITY", "-F32_INFINITY", "-100"))
        mask, place = self.within(index, loop.now, loop), f"{pointer} + {loop.past} + {index}"
        lines = [
            *loop.before,
            f"float {most} = {low};",
            f"float {total} = 0;",
            f"{loop.head} {{",
            f"  float {x}[{self.frame.size(n)}] = {mask} ? *({place}) : -INFINITY;",
            f"  float {more} = max({most}, {x}[max]);",
            f"  float {part}[{self.frame.size(n)}] = {power}(({x} - {more}){scale});",
            f"  {total} = {total} * {power}({most} - {more}) + {part}[+];",
            f"  {most} = {more};",
            "}",
        ]
        self.frame.declare(Variable(most, FLOAT, ()))
        self.frame.declare(Variable(total, FLOAT, ()))
        return lines
