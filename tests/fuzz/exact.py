"""Kernels that leave known numbers: the classes of programs that are about single expressions.

- ``constants``: constants of every type in every operator, where C has them: values, sizes, ``#if``, enumerators,
  ``static const``, defines given as numbers and as texts;
- ``arguments``: the same operators on scalar parameters that are often 1, which plain ``@triton.jit`` makes a
  constant (plain.py runs the module so);
- ``zeros``: 0.0 and -0.0, bit for bit; the kernel object is launched with the other sign first.

What each element of memory must be was computed by c.py when the program was made, and gcc is asked for it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pytriton.lang.tree.types import BOOL as CHECKED_BOOL
from pytriton.lang.tree.types import TYPE_WORDS, ScalarType
from tests.fuzz.c import Number, Unspecified, binary, bits, converted, spelled
from tests.fuzz.choices import Choices
from tests.fuzz.expressions import POSTFIX
from tests.fuzz.known import Known, Node
from tests.fuzz.rules import FLOATS, INTEGERS, SCALARS, Scalar, by_name
from tests.oracle.evaluator import Address
from tests.oracle.judges import Buffer, Case

__all__ = ["Building", "ExactCase", "Question", "Slots", "arguments", "checked_type", "constants", "zeros"]

INT, BOOL, FLOAT = by_name("int"), by_name("bool"), by_name("float")
LENGTH = 160  # elements of an output
INTEGER_DEFINES: tuple[object, ...] = (
    *(5, -3, 3000000000, -2147483648, 2147483648, 4294967295, -1, 0, 1, 2147483647, 1 << 40, -(1 << 62)),
    *("-2147483648", "0xffffffff", "3000000000", "0x80000000", "1u", "-7", "4294967295u", True, False),
)
FLOAT_DEFINES = (0.5, -2.5, 0.1, 3.0, 1e10, 0.0, -0.0, 1e-3)


@dataclass(frozen=True, slots=True)
class Question:
    """What gcc is asked: lines before, constant expressions, and what each of them is."""

    before: str = ""
    texts: tuple[tuple[str, Number], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ExactCase(Case):
    """A case whose memory is known: ``wanted`` has the bytes of each buffer, and which of them are known.

    ``first``: defines of a launch that the same kernel object makes before. ``lenient``: something unspecified
    stands where it is not taken, or thrown away.
    """

    wanted: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    question: Question = Question()
    first: Mapping[str, object] = field(default_factory=dict)
    lenient: bool = False


def checked_type(type_: Scalar) -> ScalarType:
    if type_.word == "bool":
        return CHECKED_BOOL
    return TYPE_WORDS[tuple(sorted(type_.word.split()))]


class Slots:
    """The outputs of a kernel, one for each type: who takes a slot says what will be in it."""

    def __init__(self) -> None:
        self.names: dict[Scalar, str] = {}
        self.values: dict[Scalar, list[Number | None]] = {}  # None: any; behind the end, zero
        self.texts: list[tuple[str, Number]] = []

    def take(self, node: Node, type_: Scalar, count: int = 1, kept: bool = False) -> str:
        """A place for a value converted to a type; it stays as it is if ``kept``. Its address as a sum."""
        name = self.names.setdefault(type_, f"Y{len(self.names)}")
        held = self.values.setdefault(type_, [])
        at = len(held)
        value = None if node.value is None else converted(node.settled(type_).value or node.value, type_)
        zero = Number(type_, 0.0 if type_.floating else 0)
        held += [zero if kept else value] * count
        settled = node.settled(type_)
        if value is not None and settled.c and type_.word != "bfloat16":
            word = {"half": "_Float16", "bool": "_Bool"}.get(type_.word, type_.word)
            self.texts.append((f"({word})({settled.c})", value))
        return f"{name} + {at}"

    def put(self, type_: Scalar, values: Sequence[Number]) -> str:
        """A place for these values, which are of the type."""
        name = self.names.setdefault(type_, f"Y{len(self.names)}")
        held = self.values.setdefault(type_, [])
        held += values
        return f"{name} + {len(held) - len(values)}"

    def full(self) -> bool:
        return any(len(held) > LENGTH - 16 for held in self.values.values())

    def wanted(self, type_: Scalar) -> tuple[np.ndarray, np.ndarray]:
        width = max(type_.bits, 8) // 8
        data, known = np.zeros(LENGTH * width, np.uint8), np.ones(LENGTH * width, bool)
        for at, value in enumerate(self.values[type_]):
            place = slice(at * width, (at + 1) * width)
            if value is None:
                known[place] = False
            else:
                data[place] = np.frombuffer(bits(value), np.uint8)
        return data, known


class Building:
    """A kernel under construction: its memory, its parameters, and what stands before it."""

    def __init__(self, c: Choices, **options: object) -> None:
        self.c, self.slots = c, Slots()
        self.known = Known(c, **options)  # type: ignore[arg-type]
        self.inputs: list[tuple[str, Scalar, np.ndarray]] = []  # a name and its bytes
        self.parameters: list[tuple[str, Number]] = []
        self.defines: dict[str, object] = {}
        self.before: list[str] = []
        self.asked: list[str] = []  # the same lines for gcc
        self.lines: list[str] = []
        self.count = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def parameter(self, type_: Scalar, value: float) -> None:
        """A scalar parameter, which is an operand."""
        number = Number(type_, value)
        name = self.fresh("n")
        self.parameters.append((name, number))
        self.known.variables.append(Node(name, POSTFIX, type_, number, spelled(number)))

    def case(self) -> ExactCase:
        memory = [(name, type_, *self.slots.wanted(type_)) for type_, name in self.slots.names.items()]
        memory += [(name, type_, data, np.ones(data.size, bool)) for name, type_, data in self.inputs]
        outputs = len(self.slots.names)
        buffers = tuple(
            Buffer(checked_type(type_), data if at >= outputs else np.zeros_like(data))
            for at, (_, type_, data, _) in enumerate(memory)
        )
        declared = [f"{type_.word} *{name}" for name, type_, *_ in memory]
        declared += [f"{number.type.word} {name}" for name, number in self.parameters]
        head = [*self.before, f"void f({', '.join(declared)}) {{"]
        text = "\n".join([*head, *("  " + line for line in self.lines), "}", ""])
        values = [bool(n.value) if n.type == BOOL else n.value for _, n in self.parameters]
        return ExactCase(
            *(text, buffers, (*map(Address, range(len(memory))), *values), (1,), self.defines),
            strict=self.known.strict,
            wanted=tuple((data, known) for *_, data, known in memory),
            question=Question("\n".join(self.asked), tuple(self.slots.texts)),
            lenient=self.known.lenient,
        )


class _Kernel(Building):
    """One of single expressions."""

    def depth(self) -> int:
        return self.c.pick((2, 1, 3, 2, 4))

    # ------------------------------------------------------------ what stands before

    def constant(self, depth: int) -> Node:
        """An integer constant expression."""
        self.known.constant = True
        node = self.known.integer(depth)
        self.known.constant = False
        return node

    def define(self) -> None:
        """An integer or a float that is given, or that the text defines."""
        c, name = self.c, self.fresh("D")
        if c.chance(3):
            value: object = c.pick(FLOAT_DEFINES)
        else:
            value = c.pick(INTEGER_DEFINES)
        text = str(int(value)) if isinstance(value, bool) else str(value)
        if c.chance(3):
            self.before.append(f"#define {name} {text}")
        else:
            self.defines[name] = value
        if isinstance(value, float):
            self.known.names.append(self.known.unsuffixed(name, text))
        else:
            self.known.tokens[name] = text

    def enumerators(self) -> None:
        node = self.constant(2)
        if node.value is None or not INT.lowest <= node.value.value < INT.highest:
            node = self.known.whole("40")
        assert node.value is not None
        first, second = self.fresh("E"), self.fresh("E")
        self.before.append(f"enum {{ {first} = {node.text}, {second} }};")
        self.asked.append(f"enum {{ {first} = {node.c}, {second} }};")
        for name, more in ((first, 0), (second, 1)):
            self.known.names.append(Node(name, POSTFIX, INT, Number(INT, int(node.value.value) + more), name))

    def static(self) -> None:
        node, name = self.constant(2), self.fresh("S")
        type_ = self.c.pick((INT, INT, *INTEGERS))
        assert node.value is not None
        word = self.c.pick(("static const", "const static")) if self.c.chance(3) else "static const"
        self.before.append(f"{word} {type_.word} {name} = {node.text};")
        value = converted(node.value, type_)
        self.known.names.append(Node(name, POSTFIX, type_, value, f"(({type_.word})({node.c}))"))

    def directive(self) -> None:
        """A macro that one of two arms defines."""
        known, name = self.known, self.fresh("B")
        known.directive = True
        node = known.expr(self.depth())
        known.directive = False
        if node.value is None:
            return
        for lines, text in ((self.before, node.text), (self.asked, node.c)):
            lines += [f"#if {text}", f"#define {name} 11", "#else", f"#define {name} 22", "#endif"]
        known.names.append(Node(name, POSTFIX, INT, Number(INT, 11 if node.value.true else 22), name))

    # ------------------------------------------------------------ statements

    def statement(self) -> list[str]:
        kinds: list[tuple[int, Callable[[], list[str]]]] = [
            *((6, self.store), (4, self.declaration), (2, self.compound), (2, self.branch)),
            *((2, self.block), (1, self.masked), (1, self.loop), (1, self.counted)),
        ]
        return self.c.weighted(kinds)()

    def value(self, type_: Scalar) -> Node:
        return self.known.storable(self.known.expr(self.depth()), type_)

    def store(self) -> list[str]:
        type_ = self.c.pick(self.known.types)
        node = self.value(type_)
        if self.c.chance(2) and node.type in self.known.types:  # without a conversion
            type_ = node.type
        return [f"*({self.slots.take(node, type_)}) = {node.text};"]

    def declaration(self) -> list[str]:
        """A variable, which is an operand from then on."""
        type_ = self.c.pick(self.known.types)
        node, name = self.value(type_), self.fresh("v")
        if node.value is not None:
            number = converted(node.settled(type_).value or node.value, type_)
            self.known.variables.append(Node(name, POSTFIX, type_, number, spelled(number)))
        return [f"{type_.word} {name} = {node.text};", f"*({self.slots.take(node, type_)}) = {name};"]

    def compound(self) -> list[str]:
        """``v op= e``."""
        type_ = self.c.pick(self.known.types)
        start, node, name = self.value(type_), self.value(type_), self.fresh("v")
        operator = self.c.pick(
            ("+", "-", "*", *(() if type_.floating else ("&", "|", "^", "<<", ">>", "/", "%")))
        )
        if start.value is None or node.value is None:
            return self.store()
        held = converted(start.settled(type_).value or start.value, type_)
        other = node.settled(type_)
        assert other.value is not None
        try:
            if other.type.floating and operator not in ("+", "-", "*"):
                return self.store()
            result = converted(binary(operator, held, other.value), type_)
        except Unspecified:
            return self.store()
        c = f"{spelled(held)} {operator} ({other.c})" if other.c else None
        place = self.slots.take(
            Node(
                "",
                POSTFIX,
                result.type,
                result,
                c and f"({type_.word})({c})" if type_ not in FLOATS and type_ != BOOL else None,
            ),
            type_,
        )
        return [
            f"{type_.word} {name} = {start.text};",
            f"{name} {operator}= {node.text};",
            f"*({place}) = {name};",
        ]

    def branch(self) -> list[str]:
        condition, type_ = self.known.expr(self.depth()), self.c.pick(self.known.types)
        yes, no = self.value(type_), self.value(type_)
        if condition.value is None:
            return self.store()
        place = self.slots.take(yes if condition.value.true else no, type_)
        return [f"if ({condition.text}) *({place}) = {yes.text};", f"else *({place}) = {no.text};"]

    def masked(self) -> list[str]:
        condition, type_ = self.known.expr(self.depth()), self.c.pick(self.known.types)
        node = self.value(type_)
        if condition.value is None or self.known.zeros:  # a launch before may have written there
            return self.store()
        place = self.slots.take(node, type_, kept=not condition.value.true)
        return [f"*?({condition.text})({place}) = {node.text};"]

    def block(self) -> list[str]:
        """A block of one value, whose size is a constant expression."""
        type_, name = self.c.pick(self.known.types), self.fresh("v")
        node, size = self.value(type_), self.constant(2)
        mask = self.known.joined("&", size, self.known.whole("7"))
        size = mask and self.known.joined("+", mask, self.known.whole("1"))
        assert size is not None
        assert size.value is not None
        count = int(size.value.value)
        place = self.slots.take(node, type_, count)
        stop = size.text if size.level == POSTFIX else f"({size.text})"
        index = stop if self.c.chance(2) else str(count)
        return [
            f"{type_.word} {name}[{size.text}] = {node.text};",
            f"*({place} + 0 ... {index}) = {name};",
        ]

    def loop(self) -> list[str]:
        """A loop whose bound is an expression; it counts in a type."""
        type_ = self.c.pick((INT, INT, *INTEGERS))
        bound = self.known.integer(self.depth())
        mask = self.known.joined("&", bound, self.known.whole("3"))
        assert mask is not None
        assert mask.value is not None
        trips = Number(INT, int(mask.value.value))
        i, v = self.fresh("i"), self.fresh("v")
        node = self.value(INT)
        if node.value is None:
            return self.store()
        total = Number(INT, 0)
        for _ in range(int(trips.value)):
            try:
                total = converted(binary("+", total, node.settled(INT).value or node.value), INT)
            except Unspecified:
                return self.store()
        place = self.slots.take(Node("", POSTFIX, INT, total, None), INT)
        return [
            f"int {v} = 0;",
            f"for ({type_.word} {i} = 0; {i} < ({mask.text}); {i}++) {v} += {node.text};",
            f"*({place}) = {v};",
        ]

    def counted(self) -> list[str]:
        """The counter of a loop in an expression: a few turns from a start that is an expression."""
        start, node = self.known.integer(1), self.value(INT)
        assert start.value is not None
        value, i, v = converted(start.value, INT), self.fresh("i"), self.fresh("v")
        if node.value is None or node.type.floating or not INT.lowest < value.value < INT.highest - 4:
            return self.store()
        total = Number(INT, 0)
        operator = self.c.pick(("+", "-", "*", "^", "&"))
        for more in range(3):
            turn = binary(operator, Number(INT, int(value.value) + more), node.value)
            total = converted(binary("+", total, turn), INT)
        place = self.slots.take(Node("", POSTFIX, INT, total, None), INT)
        text = f"{i} {operator} ({node.text})"
        if self.c.chance(2):
            head = f"for (int {i} = {start.text}; {i} < {value.value} + 3; {i}++)"
        else:
            first = self.fresh("v")
            head = f"int {first} = {start.text}; for (int {i} = {first}; {i} <= {first} + 2; {i} += 1)"
        return [f"int {v} = 0;", f"{head} {v} += {text};", f"*({place}) = {v};"]

    def filled(self, count: int) -> ExactCase:
        for _ in range(count):
            if not self.slots.full():
                self.lines += self.statement()
        return self.case()


def _types(c: Choices, *always: Scalar) -> tuple[Scalar, ...]:
    return tuple(dict.fromkeys([*always, *(c.pick(SCALARS) for _ in range(1 + c.below(4)))]))


def _before(kernel: _Kernel, some: int) -> None:
    for make in (kernel.define, kernel.define, kernel.enumerators, kernel.static, kernel.directive):
        if kernel.c.chance(some):
            make()


def constants(c: Choices) -> ExactCase:
    kernel = _Kernel(c, strict=c.chance(2), types=_types(c, INT))
    _before(kernel, 2)
    for _ in range(c.below(3)):
        argument(kernel)
    return kernel.filled(1 + c.below(8))


def argument(kernel: _Kernel) -> None:
    """A scalar parameter: an int most of the time, and 1."""
    c = kernel.c
    type_ = c.pick((INT, INT, INT, INT, *INTEGERS, BOOL, *FLOATS))
    value = c.pick((1, 1, 1, 1, 0, 16, -1, 2, 7, 2147483647, -2147483648, 33))
    if type_ == BOOL:
        kernel.parameter(type_, value & 1)
    elif type_.floating:
        kernel.parameter(type_, float(value) if abs(value) < 100 else 0.25)
    else:
        kernel.parameter(type_, value if type_.lowest <= value <= type_.highest else 1)


def arguments(c: Choices) -> ExactCase:
    kernel = _Kernel(c, strict=c.chance(6), types=_types(c, INT, by_name("long"), by_name("unsigned int")))
    kernel.known.late = 2
    _before(kernel, 8)
    kernel.parameter(INT, 1)
    for _ in range(1 + c.below(4)):
        argument(kernel)
    return kernel.filled(1 + c.below(8))


def zeros(c: Choices) -> ExactCase:
    types = tuple(dict.fromkeys([FLOAT, *(c.pick(FLOATS) for _ in range(1 + c.below(3)))]))
    kernel = _Kernel(c, strict=c.chance(3), types=types, zeros=True)
    value = c.pick((-0.0, 0.0))
    kernel.defines["Z"] = value
    kernel.known.names.append(kernel.known.unsuffixed("Z", str(value)))
    if c.chance(2):
        kernel.parameter(c.pick(types), c.pick((-0.0, 0.0)))
    case = kernel.filled(1 + c.below(6))
    return replace(case, first={**case.defines, "Z": -value})
