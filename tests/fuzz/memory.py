"""What a generated kernel can name: variables in scopes, sizes, parameters, and the memory behind them.

Inputs are read by every program. Outputs have one slot per program, which only that program touches. Tight inputs
are exactly as long as the value of a bound, so an address that a mask should have stopped lies in a guard zone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np

from tests.fuzz.choices import Choices
from tests.fuzz.rules import Scalar, by_name

__all__ = ["LENGTH", "SLAB", "SLOT", "Frame", "Parameter", "Variable", "contents"]

Shape = tuple[int, ...]
INT = by_name("int")
LENGTH = 144  # elements of an input
SLOT = 160  # elements of an output per program
SLAB = 1024  # elements per program of memory that loops read and write


@dataclass(frozen=True, slots=True)
class Variable:
    """A name in scope. ``fixed`` ones are never assigned."""

    name: str
    type: Scalar
    shape: Shape = ()
    fixed: bool = False


@dataclass(slots=True)
class Parameter:
    """A parameter: a scalar with its value, or a pointer to a buffer from an offset (in elements)."""

    name: str
    type: Scalar
    pointer: bool = False
    value: int | float = 0
    buffer: int = -1
    offset: int = 0
    attributes: str = ""
    table: tuple[int, ...] = ()  # it points to pointers: the elements of the next buffer that they point to


@dataclass(slots=True)
class Block:
    """A buffer: its element type, its length, how its contents are chosen."""

    type: Scalar
    length: int
    role: str  # "in", "out", "slab", "tight n3", "walked", "steps 16", "atomic", "lock"


@dataclass(slots=True)
class Frame:
    """One kernel under construction."""

    choices: Choices
    sizes: tuple[int, ...]
    types: tuple[Scalar, ...]
    grid: tuple[int, ...]
    functions: bool
    avoid: frozenset[str] = frozenset()
    macros: bool = False
    constants: bool = False  # many literals and defines
    named: bool = False  # the text has an enum and a static const
    strict: bool = False  # unsuffixed floating literals are double
    constant_buffers: dict[str, Scalar] = field(default_factory=dict)  # of LENGTH elements
    tables: bool = False  # some inputs are reached through tables of pointers
    aliases: dict[str, str] = field(default_factory=dict)  # words of types -> names of a typedef
    spelled: dict[int, str] = field(default_factory=dict)  # size -> the name that stands for it
    parameters: list[Parameter] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    scopes: list[list[Variable]] = field(default_factory=lambda: [[]])
    count: int = 0
    ranges: set[int] = field(default_factory=lambda: {1})  # sizes for which r<size> is declared
    exact: set[str] = field(default_factory=set)  # variables whose initialiser has their very type

    @property
    def programs(self) -> int:
        return prod(self.grid)

    # ------------------------------------------------------------ names

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def visible(self) -> list[Variable]:
        """The variables in scope; an inner one hides an outer one of its name."""
        found = {v.name: v for scope in self.scopes for v in scope}
        return list(found.values())

    def declare(self, variable: Variable) -> Variable:
        self.scopes[-1].append(variable)
        return variable

    def size(self, size: int) -> str:
        name = self.spelled.get(size)
        return name if name is not None and self.choices.below(3) else str(size)

    def spell(self, type_: Scalar, shape: Shape) -> str:
        """``float[8, TN]``; the word alone for a scalar."""
        return self.word(type_) + (f"[{', '.join(map(self.size, shape))}]" if shape else "")

    def word(self, type_: Scalar) -> str:
        """The word of a type, or the name that a typedef gives it."""
        name = self.aliases.get(type_.word)
        return name if name is not None and self.choices.below(2) else type_.word

    def iota(self, shape: Shape) -> str:
        """An index block that counts the elements of a shape in row-major order, as a sum."""
        terms, stride = [], 1
        for axis in reversed(range(len(shape))):
            items = [":" if other == axis else "newaxis" for other in range(len(shape))]
            self.ranges.add(shape[axis])
            text = f"r{shape[axis]}" + (f"[{', '.join(items)}]" if len(shape) > 1 else "")
            terms.append(text if stride == 1 else f"{text} * {stride}")
            stride *= shape[axis]
        return " + ".join(reversed(terms)) if terms else "0"

    # ------------------------------------------------------------ memory

    def input(self, type_: Scalar) -> tuple[str, int]:
        """A pointer to an input of this type, and how many elements it has."""
        for name, held in self.constant_buffers.items():
            if held == type_ and self.choices.below(3):
                return name, LENGTH
        if self.tables and self.choices.chance(3):
            return self.pointed(type_), LENGTH
        for parameter in self.parameters:
            if parameter.pointer and parameter.type == type_ and self.role(parameter) == "in":
                return parameter.name, LENGTH
        return self.pointer(type_, "in", LENGTH, self.fresh("X")).name, LENGTH

    def pointed(self, type_: Scalar) -> str:
        """A pointer that is loaded, to LENGTH elements of an input of this type, as an operand."""
        found = [p for p in self.parameters if p.table and p.type == type_]
        if not found:
            table = (0, 16, self.choices.below(17))
            found = [self.pointer(type_, "table", len(table), self.fresh("PP"))]
            found[0].table = table
            self.blocks.append(Block(type_, LENGTH + 16, "pointed"))
        name, at = found[0].name, self.choices.below(len(found[0].table))
        return f"(*({name} + {at}))" if at else f"(*{name})"

    def role(self, parameter: Parameter) -> str:
        return self.blocks[parameter.buffer].role

    def pointer(self, type_: Scalar, role: str, length: int, name: str) -> Parameter:
        """A new pointer parameter with a buffer of its own."""
        self.blocks.append(Block(type_, length, role))
        parameter = Parameter(name, type_, pointer=True, buffer=len(self.blocks) - 1)
        self.parameters.append(parameter)
        return parameter

    def output(self, type_: Scalar) -> str:
        """The address of this program's slot in an output of this type, as a sum."""
        for parameter in self.parameters:
            if parameter.pointer and parameter.type == type_ and self.role(parameter) == "out":
                if self.choices.chance(6):
                    continue
                return f"{parameter.name} + pid * {SLOT}"
        return f"{self.pointer(type_, 'out', SLOT * self.programs, self.fresh('Y')).name} + pid * {SLOT}"

    def slab(self, type_: Scalar) -> str:
        """The address of this program's slab of this type, as a sum."""
        for parameter in self.parameters:
            if parameter.pointer and parameter.type == type_ and self.role(parameter) == "slab":
                return f"{parameter.name} + pid * {SLAB}"
        return f"{self.pointer(type_, 'slab', SLAB * self.programs, self.fresh('Z')).name} + pid * {SLAB}"

    def own(self, type_: Scalar) -> str | None:
        """The address of this program's slot in some output that there is already."""
        found = [p for p in self.parameters if p.pointer and p.type == type_ and self.role(p) == "out"]
        return f"{self.choices.pick(found).name} + pid * {SLOT}" if found else None

    def bound(self, value: int) -> str | None:
        """An int parameter of this value (or of some other, if there are many)."""
        bounds = [p for p in self.parameters if not p.pointer and p.name.startswith("n")]
        if len(bounds) >= 2:
            return bounds[value % len(bounds)].name
        self.parameters.append(Parameter(self.fresh("n"), INT, value=value))
        return self.parameters[-1].name

    def tight(self, type_: Scalar, bound: str) -> str | None:
        """A pointer to exactly as many elements as the bound says."""
        length = next(int(p.value) for p in self.parameters if p.name == bound)
        for parameter in self.parameters:
            if parameter.pointer and parameter.type == type_ and self.role(parameter) == f"tight {bound}":
                return parameter.name
        return self.pointer(type_, f"tight {bound}", length, self.fresh("T")).name


def contents(block: Block, random: np.random.Generator, special: bool) -> np.ndarray:
    """Bytes for a buffer. Floats are small multiples of 1/4, so that most arithmetic on them is exact."""
    n = block.length
    if block.role == "lock":
        return np.zeros(n * (block.type.bits // 8), np.uint8)
    if block.role.startswith("steps"):
        most = int(block.role.split()[1])
        return np.where(random.random(n) < 0.6, most, random.integers(0, most + 1, n)).astype("i4").view("u1")
    if block.type.floating:
        values = random.integers(-16, 17, n) / 4.0
        if special and n:
            for value in (np.nan, np.inf, -np.inf, -0.0, 1000.0, 1e-3):
                values[random.integers(0, n)] = value
        if block.type.word == "bfloat16":
            narrow = values.astype(np.float32).view(np.uint32)
            return (narrow >> 16).astype(np.uint16).view(np.uint8)
        return values.astype({16: np.float16, 32: np.float32, 64: np.float64}[block.type.bits]).view(np.uint8)
    if block.type.kind == "b":
        return random.integers(0, 2, n).astype(np.uint8)
    dtype = np.dtype(f"{'i' if block.type.kind == 'i' else 'u'}{block.type.bits // 8}")
    limits = np.iinfo(dtype)
    values = random.integers(-9 if limits.min else 0, 10, n).astype(dtype)
    if special and n:
        for value in (limits.min, limits.max, limits.max // 2 + 1, limits.max // 3):
            values[random.integers(0, n)] = value
    return values.view(np.uint8)
