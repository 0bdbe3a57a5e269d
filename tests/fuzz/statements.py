"""Statements of generated kernels: declarations, assignments, stores, branches, loops, atomics.

Loops run at most a few times; their counters are fixed names that no statement of the body assigns. A store goes
to the program's own slot, through an index that meets no address twice.
"""

from __future__ import annotations

from math import prod

from tests.fuzz.choices import Choices
from tests.fuzz.expressions import MOST, PREFIX, E, Expressions
from tests.fuzz.memory import SLOT, Frame, Parameter, Variable
from tests.fuzz.rules import SCALARS, Scalar, by_name, common, promoted

__all__ = ["Statements"]

Shape = tuple[int, ...]
INT, BOOL = by_name("int"), by_name("bool")


class Statements(Expressions):
    """The body of one kernel, as lines."""

    def __init__(self, choices: Choices, frame: Frame) -> None:
        super().__init__(choices, frame)
        self.loops = 0

    def shape(self) -> Shape:
        """A block shape of rank 0 to 3."""
        c = self.c
        rank = c.pick((1, 2, 0, 1, 2, 3, 1, 2, 3, 4))
        shape: Shape = ()
        for _ in range(rank):
            sizes = [s for s in self.frame.sizes if s * prod(shape) <= MOST]
            shape += (c.pick(sizes),) if sizes else ()
        return shape

    # ------------------------------------------------------------ conversion to a declared type

    def initialiser(self, type_: Scalar, shape: Shape, stored: bool = False) -> E:
        """An expression that converts to the type and shape declared; what is stored only broadcasts."""
        c = self.c
        depth = c.pick((2, 1, 3, 2, 4))
        if c.chance(2):
            return self.expr(type_, shape, depth)
        source = c.pick(self.frame.types)
        inner = shape
        if shape and c.chance(3):
            inner = self.narrower(shape)
        elif stored:
            pass
        elif len(shape) >= 2 and c.chance(3):
            inner = (prod(shape),)
        elif len(shape) == 1 and shape[0] % 2 == 0 and c.chance(3):
            inner = (2, shape[0] // 2)
        elif shape and prod(shape) == 1 and c.chance(2):
            inner = ()
        return self.clamped(self.expr(source, inner, depth), type_)

    # ------------------------------------------------------------ statements

    def body(self, count: int, depth: int) -> list[str]:
        """A list of lines in the scope at hand."""
        lines: list[str] = []
        for _ in range(count):
            kinds = [
                (6, self.declaration),
                (5, self.assignment),
                (3, self.store),
                (1, self.atomic),
                (1, self.late_assignment),
                (1, self.owned_atomic),
                (1, self.pointers),
                (1, self.effect),
                (1, self.absent),
            ]
            if depth > 0:
                kinds += [(3, self.branch), (3, self.loop), (1, self.inner_block), (3, self.stream)]
            lines += self.c.weighted(kinds)(depth)
        return lines

    def stream(self, depth: int) -> list[str]:
        """A loop over memory: streams.py."""
        raise NotImplementedError

    def declaration(self, depth: int) -> list[str]:
        c = self.c
        shape, type_ = self.shape(), c.pick(self.frame.types)
        value = self.initialiser(type_, shape)
        name = fresh = self.frame.fresh("v")
        here = {v.name for v in self.frame.scopes[-1]}
        outer = [v.name for v in self.frame.visible() if v.name not in here and not v.fixed]
        if outer and len(self.frame.scopes) > 2 and c.chance(4):
            name = c.pick(outer)  # shadows; its own initialiser must not mean itself
            if name in value.text:
                name = self.frame.fresh("v")
        if (value.type, value.shape) == (type_, shape) and value.level < PREFIX and name == fresh:
            self.frame.exact.add(name)
        elif name != fresh:  # two variables of one name: the tree tells them apart, a name does not
            self.frame.exact.discard(name)
        self.frame.declare(Variable(name, type_, shape))
        return [f"{self.declared(type_, name, shape)} = {value.text};"]

    def declared(self, type_: Scalar, name: str, shape: Shape) -> str:
        sizes = f"[{', '.join(map(self.frame.size, shape))}]" if shape else ""
        return f"{self.frame.word(type_)} {name}{sizes}"

    def targets(self) -> list[Variable]:
        return [v for v in self.frame.visible() if not v.fixed]

    def assignment(self, depth: int) -> list[str]:
        targets = self.targets()
        if not targets:
            return self.declaration(depth)
        variable = self.c.pick(targets)
        if self.c.chance(3):
            return [self.compound(variable)]
        if variable.type.bits > 1 and not variable.shape and self.c.chance(6):
            return [self.c.pick((f"{variable.name}++;", f"--{variable.name};"))]
        return [f"{variable.name} = {self.initialiser(variable.type, variable.shape).text};"]

    def effect(self, depth: int) -> list[str]:
        """An assignment or a step inside an expression that names the variable once."""
        c = self.c
        targets = [v for v in self.targets() if not v.shape and v.type.kind in "iu" and v.type.bits >= 32]
        if not targets:
            return self.assignment(depth)
        variable = c.pick(targets)
        self.frame.scopes.append([Variable(v.name, BOOL, (7, 7, 7)) for v in (variable,)])  # hides it
        value, more = self.expr(variable.type, (), 1), self.expr(variable.type, (), 1)
        self.frame.scopes.pop()
        x, name = variable.name, self.frame.fresh("v")
        inner = c.pick((f"{x}++", f"--{x}", f"({x} = {value.text})", f"({x} += {value.text})"))
        self.frame.declare(Variable(name, variable.type))
        if c.chance(3):
            return [f"{variable.type.word} {name};", f"{name} = {x} = {value.text};"]
        operator = c.pick(("+", "-", "^"))
        return [f"{variable.type.word} {name} = {more.at(14)} {operator} {inner};"]

    def absent(self, depth: int) -> list[str]:
        """A tensor that is not there: nothing is loaded through it."""
        c, shape, type_ = self.c, self.shape(), self.c.pick(self.frame.types)
        found = [
            p
            for p in self.frame.parameters
            if p.type == type_ and p.pointer and self.frame.role(p) == "absent"
        ]
        pointer = (found[0] if found else self.frame.pointer(type_, "absent", 1, self.frame.fresh("N"))).name
        name, has = self.frame.fresh("v"), self.frame.fresh("m")
        other = self.expr(type_, shape, 1)
        place = f"*({pointer} + {self.frame.iota(shape)})" if shape else f"*{pointer}"
        load = c.pick((f"{has} ? {place} : {other.text}", f"!{has} ? {other.text} : {place}"))
        self.frame.declare(Variable(name, type_, shape))
        return [f"bool {has} = {pointer};", f"{self.declared(type_, name, shape)} = {load};"]

    def compound(self, variable: Variable) -> str:
        """``x += e``, where the value converts back without leaving the range."""
        c, type_ = self.c, variable.type
        shape = self.narrower(variable.shape)
        if type_.floating:
            other = self.expr(c.pick([t for t in self.frame.types if t != BOOL] or [type_]), shape, 2)
            return f"{variable.name} {c.pick(('+', '-', '*', '/'))}= {other.text};"
        integers = [t for t in self.frame.types if not t.floating] or [INT]
        operator = c.pick(("+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"))
        other = self.expr(c.pick(integers), shape, 2)
        if operator in ("<<", ">>"):
            other = self.binary(
                "&", other, E(str(promoted(type_).bits - 1), 15, INT), common(other.type, INT)
            )
        elif operator in ("/", "%"):
            other = self.binary("|", other, E("1", 15, INT), common(other.type, INT))
        return f"{variable.name} {operator}= {other.text};"

    def store(self, depth: int) -> list[str]:
        c = self.c
        shape, type_ = self.shape(), c.pick(self.frame.types)
        value = self.initialiser(type_, shape, stored=True)
        return [self.stored(type_, shape, value, masked=c.chance(3))]

    def stored(self, type_: Scalar, shape: Shape, value: E, masked: bool = False) -> str:
        """A store into this program's slot."""
        c = self.c
        base = self.frame.output(type_)
        iota = self.frame.iota(shape)
        room = SLOT - prod(shape)
        offset = f" + {c.below(room + 1)}" if c.chance(2) else ""
        place = base + (offset if offset != " + 0" else "") + (f" + {iota}" if shape else "")
        if not masked:
            return f"*({place}) = {value.text};"
        mask = self.expr(BOOL if not c.chance(4) else c.pick(self.frame.types), self.narrower(shape), 2)
        return f"*?({mask.text})({place}) = {value.text};"

    def atomic(self, depth: int) -> list[str]:
        """An addition that every program may do to the same memory: order does not show."""
        c = self.c
        type_ = by_name(c.pick(("int", "float", "int")))
        if type_ not in self.frame.types:
            return self.store(depth)
        shape = self.shape()
        found = [
            p
            for p in self.frame.parameters
            if p.pointer and p.type == type_ and self.frame.role(p) == "atomic"
        ]
        pointer = found[0] if found else self.frame.pointer(type_, "atomic", SLOT, self.frame.fresh("A"))
        if type_.floating:  # small multiples of 1/4: sums are exact
            small = self.expr(INT, shape, 2)
            value = f"({small.at(6)} & 15) * 0.25f"
        else:
            value = self.expr(INT, shape, 2).text
        place = f"{pointer.name} + {self.frame.iota(shape)}" if shape else f"{pointer.name} + {c.below(SLOT)}"
        mask = f", {self.expr(BOOL, shape, 1).text}" if c.chance(2) else ""
        return [f"atomic_add({place}, {value}{mask});"]

    def owned_atomic(self, depth: int) -> list[str]:
        """An atomic on this program's own slot, so that its old value is known."""
        c = self.c
        type_ = c.pick([t for t in (INT, by_name("long"), by_name("unsigned int")) if t in self.frame.types])
        at = f"{self.frame.output(type_)} + {c.below(SLOT)}"
        value = self.expr(type_, (), 1).text
        kind = c.below(3)
        if kind == 0:
            call = f"atomic_add({at}, {value})"
        elif kind == 1:
            call = f"atomic_xchg({at}, {value})"
        else:
            call = f"atomic_cas({at}, {self.expr(type_, (), 1).text}, {value})"
        name = self.frame.fresh("v")
        self.frame.declare(Variable(name, type_))
        return [f"{type_.word} {name} = {call};"]

    def late_assignment(self, depth: int) -> list[str]:
        """Declared first, assigned on every path before it is read."""
        shape, type_ = self.shape(), self.c.pick(self.frame.types)
        values = [self.initialiser(type_, shape).text for _ in range(2)]
        condition = self.condition()
        name = self.frame.fresh("v")
        self.frame.declare(Variable(name, type_, shape))
        return [
            f"{self.declared(type_, name, shape)};",
            f"if ({condition})",
            f"  {name} = {values[0]};",
            "else",
            f"  {name} = {values[1]};",
        ]

    def condition(self) -> str:
        """A scalar condition."""
        kind = BOOL if not self.c.chance(4) else self.c.pick(self.frame.types)
        return self.expr(kind, (), 2).text

    def nested(self, depth: int, most: int = 3) -> list[str]:
        """The lines of an inner scope, indented."""
        self.frame.scopes.append([])
        lines = self.body(1 + self.c.below(most), depth - 1)
        self.frame.scopes.pop()
        return ["  " + line for line in lines]

    def branch(self, depth: int) -> list[str]:
        lines = [f"if ({self.condition()}) {{", *self.nested(depth)]
        if self.c.chance(3):
            lines += [f"}} else if ({self.condition()}) {{", *self.nested(depth)]
        if self.c.chance(2):
            lines += ["} else {", *self.nested(depth)]
        if self.c.chance(6):
            lines.append("  return;")
        return [*lines, "}"]

    def inner_block(self, depth: int) -> list[str]:
        return ["{", *self.nested(depth), "}"]

    def pointers(self, depth: int) -> list[str]:
        """A block of pointers in a variable, moved, read, compared, subtracted."""
        c = self.c
        type_, shape = c.pick(self.frame.types), self.shape()
        base, length = self.frame.input(type_)
        if not shape or prod(shape) > length // 2:
            return self.assignment(depth)
        name, value, apart = (self.frame.fresh(stem) for stem in ("p", "v", "v"))
        sizes = ", ".join(map(self.frame.size, shape))
        step = c.below(length - prod(shape) + 1)
        lines = [
            f"{type_.word} *{name}[{sizes}] = {base} + ({self.frame.iota(shape)});",
            f"{name} += {step};",
            f"{self.declared(type_, value, shape)} = *{name};",
            f"long {apart}[{sizes}] = {name} - {base};",
        ]
        self.frame.declare(Variable(value, type_, shape))
        self.frame.declare(Variable(apart, by_name("long"), shape))
        kind = c.below(4)
        if kind == 1:
            lines.append(f"{apart} += {name} == {base} + {c.below(9)} || {name} < {base};")
        elif kind == 2:
            lines.append(f"{apart} -= {name} ? 1 : {base} ? 2 : 3;")
        elif kind == 3:
            other = c.pick([t for t in SCALARS if t.bits == type_.bits])
            if other.kind != "b" and type_.kind != "b" and not type_.floating:
                more = self.frame.fresh("v")
                lines.append(f"{self.declared(other, more, shape)} = *({other.word}*[{sizes}]){name};")
                self.frame.declare(Variable(more, other, shape))
        return lines

    def split_sum(self) -> list[str]:
        """The programs add their blocks to one, each in turn under a spin lock."""
        size = self.c.pick(self.frame.sizes)
        total = self.frame.pointer(INT, "atomic", size, self.frame.fresh("S")).name
        lock = self.frame.pointer(INT, "lock", 2, self.frame.fresh("L")).name
        value, at, turn, count = (self.frame.fresh(stem) for stem in ("v", "p", "i", "c"))
        return [
            f"int {value}[{size}] = {self.expr(INT, (size,), 2).text};",
            f"int *{at}[{size}] = {total} + {self.frame.iota((size,))};",
            f"for (int {turn} = 1; {turn} == 1; {turn} = atomic_cas({lock}, 0, 1));",
            f"int {count} = *({lock} + 1);",
            f"if ({count} == 0)",
            f"  *{at} = {value};",
            "else",
            f"  *{at} = {value} + *{at};",
            f"atomic_xchg({lock} + 1, ({count} + 1) % {self.frame.programs});",
            f"atomic_xchg({lock}, 0);",
        ]

    # ------------------------------------------------------------ loops

    def loop(self, depth: int) -> list[str]:
        if self.loops >= 2:
            return self.branch(depth)
        self.loops += 1
        c = self.c
        name = self.frame.fresh("i")
        type_ = c.pick(
            (INT, INT, by_name("long"), by_name("unsigned int"), by_name("short"), by_name("char"))
        )
        trips, step = c.pick((2, 3, 1, 0, 4)), c.pick((1, 2, 3))
        bound = trips * step - c.below(step) if trips else 0
        kind = c.below(5)
        self.frame.scopes.append([Variable(name, type_, (), fixed=True)])
        inside = self.nested(depth)
        jump = self.jump(name, bound)
        inside = [*(jump or ()), *inside]
        self.frame.scopes.pop()
        self.loops -= 1
        limit = self.limit(bound)
        if kind == 0 and step == 1:
            return [f"for ({type_.word} {name} = 0; {name} < {limit}; {name}++) {{", *inside, "}"]
        if kind <= 1:
            return [f"for ({type_.word} {name} = 0; {name} < {limit}; {name} += {step}) {{", *inside, "}"]
        if kind == 2 and c.chance(2) and type_.kind == "i":
            low = -c.below(4)
            head = f"{type_.word} {name} = {low}; {name} < {low} + {limit}; {name} = {name} + {step}"
            return [f"for ({head}) {{", *inside, "}"]
        if kind == 2:
            test = c.pick((f"{name} > 0", f"{name} >= 1", f"0 < {name}"))
            start = trips * step
            return [
                f"for ({type_.word} {name} = {self.limit(start)}; {test}; {name} -= {step}) {{",
                *inside,
                "}",
            ]
        self.frame.declare(Variable(name, type_, (), fixed=True))
        if kind == 3:
            head = f"{type_.word} {name} = 0;"
            if any("continue" in line for line in inside):
                return [f"{head}", f"for (; {name} < {limit}; {name} += {step}) {{", *inside, "}"]
            return [head, f"while ({name} < {limit}) {{", *inside, f"  {name} += {step};", "}"]
        if any("continue" in line for line in inside):
            inside = [line for line in inside if "continue" not in line and "// jump" not in line]
        return [
            f"{type_.word} {name} = 0;",
            "do {",
            *inside,
            f"  {name} += {step};",
            f"}} while ({name} < {limit});",
        ]

    def jump(self, name: str, bound: int) -> list[str] | None:
        """A ``break`` or ``continue`` at the head of a body."""
        if not self.c.chance(3):
            return None
        word = self.c.pick(("break", "continue"))
        return [f"  if ({name} == {self.c.below(bound + 1)}) {word};"]

    def limit(self, value: int) -> str:
        """A loop bound of this value: a literal or a parameter."""
        if not self.c.chance(3):
            return str(value)
        for parameter in self.frame.parameters:
            if not parameter.pointer and parameter.name.startswith("k") and parameter.value == value:
                return parameter.name
        if sum(p.name.startswith("k") for p in self.frame.parameters) >= 2:
            return str(value)
        self.frame.parameters.append(Parameter(self.frame.fresh("k"), INT, value=value))
        return self.frame.parameters[-1].name
