"""Pointers that move by unsigned numbers, blocks of one pointer, products of small integers: kernels that leave
known numbers (exact.py).

- ``offsets``: scalars and blocks of every unsigned type are added to pointers and taken away, as operands, by
  ``+=`` and ``-=``, negated, in loops, beside constants around 2^31, 2^32 and 2^63. Each address is a sum that a
  last constant brings back into the buffer; a pointer may stand anywhere until it is used. One-element blocks of
  pointers become scalar pointers on the way;
- ``products``: ``@`` of 8, 16 and 32 bits, signed and unsigned, mixed, of every size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.fuzz.c import Number, binary, converted, spelled, unary, wrapped
from tests.fuzz.choices import Choices
from tests.fuzz.exact import Building, ExactCase
from tests.fuzz.expressions import LEVELS, PREFIX
from tests.fuzz.known import Node
from tests.fuzz.memory import Block, contents
from tests.fuzz.rules import SCALARS, Scalar, by_name, common, promoted

__all__ = ["offsets", "products"]

INT, LONG, BOOL = by_name("int"), by_name("long"), by_name("bool")
UNSIGNED = tuple(by_name(f"unsigned {word}") for word in ("char", "int", "short", "long"))
NARROW = tuple(s for s in SCALARS if s.kind in "iu" and s.bits <= 32)
VALUES = (2, 1, 3, 0, 5, 100, 255, 65535, 1 << 31, (1 << 31) + 5, (1 << 32) - 1, 1 << 63, (1 << 64) - 3)
ROOM = 400  # elements of an input
TIMES = LEVELS["*"]


class _Builder(Building):
    """A kernel with inputs of random contents."""

    def __init__(self, c: Choices) -> None:
        super().__init__(c, strict=False, types=(INT, *UNSIGNED))
        self.known.late = 2
        self.random = np.random.default_rng(c.below(1 << 16))

    def input(self, type_: Scalar, length: int, special: bool = False) -> tuple[str, list[Number]]:
        """A pointer parameter and what lies behind it."""
        data = contents(Block(type_, length, "in"), self.random, special)
        name = f"X{len(self.inputs)}"
        self.inputs.append((name, type_, data))
        return name, elements(data, type_)


def elements(data: np.ndarray, type_: Scalar) -> list[Number]:
    """The numbers in some bytes."""
    if type_.word == "bfloat16":
        values = (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        values = data.view(f"{'u' if type_.kind in 'ub' else type_.kind}{max(type_.bits, 8) // 8}")
    return [Number(type_, value) for value in values.tolist()]


def least(offsets: Sequence[int]) -> int:
    """The lowest of some offsets that lie near each other, round the end of 64 bits too."""
    return offsets[0] + min(wrapped(offset - offsets[0], LONG) for offset in offsets)


class _Offsets(_Builder):
    """Addresses, and statements that use them."""

    def __init__(self, c: Choices) -> None:
        super().__init__(c)
        self.ranges: dict[tuple[Scalar, int], str] = {}
        for _ in range(1 + c.below(3)):
            type_ = c.pick((*UNSIGNED, *UNSIGNED, INT, LONG))
            value = c.pick(VALUES)
            number = Number(type_, wrapped(value, type_))
            if c.chance(4):  # loaded
                data = np.frombuffer(
                    int(number.value).to_bytes(type_.bits // 8, "little", signed=type_.kind == "i"), np.uint8
                )
                name = f"X{len(self.inputs)}"
                self.inputs.append((name, type_, data))
                self.known.variables.append(Node(f"*{name}", PREFIX, type_, number, spelled(number)))
            else:
                self.parameter(type_, number.value)
        self.source, self.held = self.input(c.pick(SCALARS), ROOM)

    @property
    def type(self) -> Scalar:
        return self.held[0].type

    # ------------------------------------------------------------ offsets

    def term(self) -> Node:
        """A scalar offset: a variable or constant most of the time."""
        c = self.c
        if c.chance(8):
            return self.known.whole(
                c.pick(("2147483648", "0x80000000", "4294967295u", "4294967296", "0xffffffffffffffff"))
            )
        return c.pick(self.known.variables) if c.below(3) else self.known.integer(2)

    def range(self, type_: Scalar, size: int) -> tuple[str, list[Number]]:
        """A variable that counts from 0 in a type."""
        if (type_, size) not in self.ranges:
            self.ranges[type_, size] = name = self.fresh("r")
            self.lines.append(f"{type_.word} {name}[{size}] = 0 ... {size};")
        return self.ranges[type_, size], [Number(type_, at) for at in range(size)]

    def block(self, size: int) -> tuple[str, list[Number]]:
        """A block of offsets that lie near each other, at the level of an operand of a sum."""
        c = self.c
        name, values = self.range(c.pick((*UNSIGNED, INT)), size)
        kind, other = c.below(6), self.term()
        assert other.value is not None
        plain = name, values
        if kind == 1:
            name, values = f"{name} * 2", [binary("*", v, Number(INT, 2)) for v in values]
        elif kind in (2, 3):
            sign = "+-"[kind - 2]
            name = f"({other.at(LEVELS['+'])} {sign} {name})"
            values = [binary(sign, other.value, v) for v in values]
        elif kind == 4:
            name, values = f"-{name}", [unary("-", v) for v in values]
        numbers = [int(v.value) for v in values]
        return (name, values) if max(wrapped(n - least(numbers), LONG) for n in numbers) < 64 else plain

    def moves(self, size: int | None, count: int) -> tuple[list[tuple[str, str]], list[int]]:
        """``+`` and ``-`` with their operands, and by how much each element moves in all."""
        c, found, total = self.c, [], [0] * (size or 1)
        block = c.below(count) if size is not None else -1
        for at in range(count):
            sign = c.pick(("-", "-", "+"))
            if at == block and size is not None:
                text, values = self.block(size)
            else:
                term = self.term()
                assert term.value is not None
                text, values = term.at(TIMES), [term.value] * len(total)
            found.append((sign, text))
            total = [
                t + (int(v.value) if sign == "+" else -int(v.value))
                for t, v in zip(total, values, strict=True)
            ]
        return found, total

    def back(self, now: int, wanted: int) -> tuple[str, str] | None:
        """The move of a constant from one element to another; None if there is none to make."""
        by = wrapped(wanted - now, LONG)
        if by == 0 or by == -(1 << 63):
            return None if by == 0 else ("+", "0x8000000000000000")
        sign = "+" if by > 0 else "-"
        if self.c.chance(4):  # reversed, at 64 bits
            return ("-", f"{-by % (1 << 64)}ul") if by > 0 else ("+", f"{by % (1 << 64)}ul")
        return sign, str(abs(by)) + self.c.pick(("", "", "l", "u"))

    def address(self, base: str, lowest: int, size: int | None = None) -> tuple[str, list[int]]:
        """An address, or a block of them, of which the lowest is that element; and which elements they are."""
        moves, total = self.moves(size, 1 + self.c.below(3))
        last = self.back(least(total), lowest)
        if last is not None:
            moves.insert(self.c.below(len(moves) + 1), last)
        text = base + "".join(f" {sign} {operand}" for sign, operand in moves)
        return text, [wrapped(t - least(total), LONG) + lowest for t in total]

    def lowest(self) -> int:
        return self.c.pick((0, 298, 7, ROOM - 80)) + self.c.below(16)

    def size(self) -> int | None:
        return self.c.pick((None, 4, 8, 3, 1, None))

    # ------------------------------------------------------------ statements

    def statement(self) -> None:
        self.c.weighted(
            [
                (4, self.load),
                (4, self.moved),
                (3, self.loop),
                (2, self.store),
                (2, self.apart),
                (2, self.single),
                (1, self.chosen),
                (1, self.reread),
            ]
        )()

    def sizes(self, size: int | None) -> str:
        return "" if size is None else f"[{size}]"

    def keep(self, type_: Scalar, name: str, values: Sequence[Number], size: int | None) -> None:
        """Store a variable."""
        place = self.slots.put(type_, values)
        self.lines.append(f"*({place}{'' if size is None else f' + 0 ... {size}'}) = {name};")

    def load(self) -> None:
        size, name = self.size(), self.fresh("v")
        text, at = self.address(self.source, self.lowest(), size)
        self.lines.append(f"{self.type.word} {name}{self.sizes(size)} = *({text});")
        self.keep(self.type, name, [self.held[i] for i in at], size)

    def moved(self) -> None:
        """A pointer in a variable, moved by assignments."""
        c, size, q, name = self.c, self.size(), self.fresh("q"), self.fresh("v")
        moves, total = self.moves(size, 1)
        first = f"{self.source} {moves[0][0]} {moves[0][1]}" if size is not None else self.source
        total = total if size is not None else [0]
        self.lines.append(f"{self.type.word} *{q}{self.sizes(size)} = {first};")
        for _ in range(1 + c.below(2)):
            (move,), by = self.moves(None, 1)
            total = [t + by[0] for t in total]
            self.lines.append(self.step(q, *move))
        lowest = self.lowest()
        last = self.back(least(total), lowest)
        if last is not None:
            self.lines.append(self.step(q, *last))
        self.lines.append(f"{self.type.word} {name}{self.sizes(size)} = *{q};")
        self.keep(self.type, name, [self.held[wrapped(t - least(total), LONG) + lowest] for t in total], size)

    def step(self, pointer: str, sign: str, operand: str) -> str:
        return self.c.pick((f"{pointer} {sign}= {operand};", f"{pointer} = {pointer} {sign} {operand};"))

    def loop(self) -> None:
        """A sum over a few elements, by a counter that is unsigned or by a pointer that moves."""
        c, size, type_ = self.c, self.size(), promoted(self.type)
        total, i = self.fresh("s"), self.fresh("i")
        counter, trips, step = c.pick(UNSIGNED), 1 + c.below(4), c.pick((1, 2, 3))
        kind, middle = c.below(4), 100 + c.below(100)
        base, at = self.address(self.source, middle, size)
        q = self.fresh("q")
        up = [step * turn for turn in range(trips)]
        start = step * trips
        heads = (
            (f"{counter.word} {i} = 0; {i} < {start}; {i} += {step}", up),
            (f"{counter.word} {i} = {start}; {i} > 0; {i} -= {step}", [start - turn for turn in up]),
        )
        head, counts = c.pick(heads)
        self.lines.append(f"{self.type.word} *{q}{self.sizes(size)} = {base};")
        self.lines.append(f"{type_.word} {total}{self.sizes(size)} = 0;")
        if kind < 2:
            sign = "-+"[kind]
            offset = c.pick((i, f"{i} * 2", f"({i} + 1)"))
            away = [n * 2 if "*" in offset else n + 1 if "1)" in offset else n for n in counts]
            body = f"{total} += *({q} {sign} {offset});"
        else:
            sign = "-"
            number = Number(c.pick(UNSIGNED), c.pick((1, 2, 5)))
            name = self.fresh("u")
            self.parameters.append((name, number))
            by = c.pick((name, i)) if kind == 3 else name
            moved = counts if by == i else [int(number.value)] * trips
            before = [sum(moved[:turn]) for turn in range(trips)]
            early = c.chance(2)
            away = [done + more if early else done for done, more in zip(before, moved, strict=True)]
            lines = [f"{total} += *{q};", f"{q} -= {by};"]
            body = " ".join(reversed(lines) if early else lines)
        self.lines.append(f"for ({head}) {{ {body} }}")
        values = []
        for where in at:
            value = Number(type_, 0.0 if type_.floating else 0)
            for n in away:
                value = converted(
                    binary("+", value, self.held[where - n if sign == "-" else where + n]), type_
                )
            values.append(value)
        self.keep(type_, total, values, size)

    def store(self) -> None:
        size = self.size()
        text, at = self.address(self.source, self.lowest(), size)
        values = [self.held[i] for i in at]
        place = self.slots.put(self.type, [Number(self.type, 0)] * len(at))
        name, first = place.split(" + ")
        target, to = self.address(name, int(first), size)
        if len(set(to)) < len(to) or max(to) >= int(first) + len(at):
            target, to = (
                f"{place}{'' if size is None else f' + 0 ... {size}'}",
                [int(first) + i for i in range(len(at))],
            )
        for i, value in zip(to, values, strict=True):
            self.slots.values[self.type][i] = value
        self.lines.append(f"*({target}) = *({text});")

    def apart(self) -> None:
        """The difference of two pointers, or whether one lies before the other."""
        size, name = self.size(), self.fresh("d")
        text, at = self.address(self.source, self.lowest(), size)
        other = self.c.below(ROOM)
        if self.c.chance(2):
            self.lines.append(f"bool {name}{self.sizes(size)} = {text} < {self.source} + {other};")
            self.keep(BOOL, name, [Number(BOOL, int(i < other)) for i in at], size)
        else:
            self.lines.append(f"long {name}{self.sizes(size)} = ({text}) - ({self.source} + {other}u);")
            self.keep(LONG, name, [Number(LONG, i - other) for i in at], size)

    def chosen(self) -> None:
        """A load under a mask."""
        c, size, name = self.c, self.size(), self.fresh("v")
        text, at = self.address(self.source, self.lowest(), size)
        number, taken = c.pick(self.known.variables), c.below(2)
        assert number.value is not None
        mask = number.text if number.value.true == bool(taken) else f"!{number.text}"
        zero = Number(self.type, 0.0 if self.type.floating else 0)
        form = c.pick(("{m} ? *({p}) : 0", "!({m}) ? 0 : *({p})"))
        self.lines.append(f"{self.type.word} {name}{self.sizes(size)} = {form.format(m=mask, p=text)};")
        self.keep(self.type, name, [self.held[i] if taken else zero for i in at], size)

    def reread(self) -> None:
        """The memory as bytes."""
        size, name, byte = self.size(), self.fresh("v"), by_name("unsigned char")
        data = next(data for source, _, data in self.inputs if source == self.source)
        text, at = self.address(f"(unsigned char *){self.source}", self.c.below(ROOM - 80), size)
        self.lines.append(f"unsigned char {name}{self.sizes(size)} = *({text});")
        self.keep(byte, name, [Number(byte, int(data[i])) for i in at], size)

    def single(self) -> None:
        """One-element blocks of pointers where a scalar pointer is wanted."""
        c, word = self.c, self.type.word
        block, q, name = self.fresh("b"), self.fresh("q"), self.fresh("v")
        text, (at,) = self.address(self.source, self.lowest(), 1)
        kind = c.below(6)
        if kind == 0:
            self.lines += [f"{word} *{block}[1] = {text};", f"{word} *{q} = {block};"]
        elif kind == 1:
            self.lines += [f"{word} *{q} = {text};"]
        elif kind == 2:
            self.lines += [
                f"{word} *{block}[1, 1] = {text};",
                f"{word} *{q} = {self.source};",
                f"{q} = {block};",
            ]
        elif kind == 3:
            number = c.pick(self.known.variables)
            assert number.value is not None
            self.lines += [
                f"{word} *{q} = {self.source};",
                f"if ({number.text}) {q} = {text};",
                f"else {q} = {text};",
            ]
        elif kind == 4:
            self.lines += [f"{word} *{block}[1] = {text};", f"{word} *{q} = {block} - 2u;", f"{q} += 2;"]
        else:
            i = self.fresh("i")
            self.lines += [f"{word} *{block}[1] = {text};", f"{word} *{q} = {self.source};"]
            self.lines += [f"for (unsigned {i} = 0; {i} < 3; {i}++) {{ {q} = {block}; {block} -= 1u; }}"]
            at -= 2
            if at < 0:
                self.lines.append(f"{q} += {-at};")
                at = 0
        self.lines.append(f"{word} {name} = *{q};")
        self.keep(self.type, name, [self.held[at]], None)
        if c.chance(3):  # and as what is stored to
            place = self.slots.put(self.type, [self.held[at]])
            w = self.fresh("q")
            self.lines += [f"{word} *{w} = {place} + 0 ... 1;", f"*{w} = {name};"]


def offsets(c: Choices) -> ExactCase:
    builder = _Offsets(c)
    for _ in range(1 + c.below(6)):
        if not builder.slots.full():
            builder.statement()
    return builder.case()


# ---------------------------------------------------------------- products


def products(c: Choices) -> ExactCase:
    """One or two products of integers."""
    builder = _Builder(c)
    for _ in range(1 + c.below(2)):
        left, right = c.pick(NARROW), c.pick(NARROW)
        if c.chance(8):
            right = c.pick((LONG, by_name("unsigned long")))
        m, k, n = (c.pick((4, 2, 8, 1, 3, 5, 6, 16)) for _ in range(3))
        if m * n > 64:
            m, n = 4, 4
        _product(builder, left, right, (m, k, n))
        if builder.slots.full():
            break
    return builder.case()


def _product(builder: _Builder, left: Scalar, right: Scalar, sizes: tuple[int, int, int]) -> None:
    c, lines, (m, k, n) = builder.c, builder.lines, sizes
    a, first = _operand(builder, left, (m, k))
    b, second = _operand(builder, right, (k, n))
    type_ = common(promoted(left), promoted(right))
    declared = c.pick((type_, type_, INT if type_.bits == 32 else LONG))
    sums = [
        sum(
            int(converted(first[i * k + t], type_).value) * int(converted(second[t * n + j], type_).value)
            for t in range(k)
        )
        for i in range(m)
        for j in range(n)
    ]
    name = builder.fresh("c")
    start = c.pick((0, 3, -1))
    head = f"{declared.word} {name}[{m}, {n}] ="
    kind = c.below(5)
    if kind == 0:
        lines.append(f"{head} {a} @ {b};")
        start = 0
    elif kind == 1:
        lines.append(f"{head} dot({a}, {b});")
        start = 0
    elif kind == 2:
        lines += [f"{head} {start};", f"{name} += {a} @ {b};"]
    elif kind == 3:
        lines += [f"{head} {start};", f"{name} = dot({a}, {b}, {name});"]
    else:
        lines += [f"{head} {start};", f"for (int t = 0; t < 2; t++) {name} += {a} @ {b};"]
        sums = [2 * value for value in sums]
    values = [Number(declared, wrapped(value + start, declared)) for value in sums]
    place = builder.slots.put(declared, values)
    rows, columns = f"(0 ... {m})[:, newaxis]", f"(0 ... {n})[newaxis, :]"
    lines.append(f"*({place} + {rows} * {n} + {columns}) = {name};")


def _operand(builder: _Builder, type_: Scalar, shape: tuple[int, int]) -> tuple[str, list[Number]]:
    """A block of a type in a variable, loaded or of one constant."""
    c, (rows, columns), name = builder.c, shape, builder.fresh("a")
    if c.chance(6):
        number = Number(type_, c.pick((type_.highest, 1, type_.highest // 2 + 1)))
        builder.lines.append(
            f"{type_.word} {name}[{rows}, {columns}] = {number.value}{'ul' * (type_.kind == 'u')};"
        )
        return name, [number] * (rows * columns)
    pointer, held = builder.input(type_, rows * columns, special=not c.chance(3))
    index = f"(0 ... {rows})[:, newaxis] * {columns} + (0 ... {columns})[newaxis, :]"
    if c.chance(4):  # transposed in memory
        index = f"(0 ... {columns})[newaxis, :] * {rows} + (0 ... {rows})[:, newaxis]"
        held = [held[j * rows + i] for i in range(rows) for j in range(columns)]
    builder.lines.append(f"{type_.word} {name}[{rows}, {columns}] = *({pointer} + {index});")
    return name, held
