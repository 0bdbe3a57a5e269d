"""Expressions of a wanted type and shape, free of undefined behaviour by construction.

``Expressions.expr(type, shape, depth)`` gives a text whose value has exactly that element type and shape by the
rules of language.md. Divisors are odd, shift counts masked, floats clamped before they become integers, addresses
built from ranges; the evaluator checks all of that again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from tests.fuzz.choices import Choices
from tests.fuzz.memory import SLOT, Frame, Variable
from tests.fuzz.rules import INTEGERS, SCALARS, Scalar, by_name, common, fill, promoted

__all__ = ["E", "Expressions"]

Shape = tuple[int, ...]
INT, FLOAT, HALF, BOOL = by_name("int"), by_name("float"), by_name("half"), by_name("bool")
BFLOAT16, DOUBLE = by_name("bfloat16"), by_name("double")
MOST = 128  # elements of a block

# language.md, section 4: the tightest is the highest
POSTFIX, PREFIX, RANGE, PRODUCT, TIMES, PLUS, SHIFT, LESS, EQUAL, AND, XOR, OR, LAND, LOR, CHOICE = range(
    15, 0, -1
)
LEVELS = {
    "*": TIMES,
    "/": TIMES,
    "%": TIMES,
    "+": PLUS,
    "-": PLUS,
    "<<": SHIFT,
    ">>": SHIFT,
    "<": LESS,
    ">": LESS,
    "<=": LESS,
    ">=": LESS,
    "==": EQUAL,
    "!=": EQUAL,
    "&": AND,
    "^": XOR,
    "|": OR,
    "&&": LAND,
    "||": LOR,
    "@": PRODUCT,
}


@dataclass(frozen=True, slots=True)
class E:
    """A text, its level of precedence, its element type and shape."""

    text: str
    level: int
    type: Scalar
    shape: Shape = ()

    def at(self, level: int) -> str:
        """The text as an operand of that level."""
        return self.text if self.level >= level else f"({self.text})"


class Expressions:
    """The expressions of one kernel; ``frame`` knows its variables and memory."""

    def __init__(self, choices: Choices, frame: Frame) -> None:
        self.c, self.frame = choices, frame
        self.guards: list[tuple[str, str, Shape]] = []  # (index, bound, shape) that hold in this branch

    @property
    def shape_changes(self) -> tuple[Callable[..., E | None], ...]:
        return (self.reduction, self.expansion, self.permutation, self.product)

    # ------------------------------------------------------------ leaves

    def leaf(self, type_: Scalar, shape: Shape) -> E:
        """A variable, a literal or a range."""
        if self.frame.constants and shape == () and self.c.chance(2):
            return self.literal(type_)
        known = [v for v in self.frame.visible() if v.type == type_ and v.shape == shape]
        if known and not self.c.chance(4):
            return self.name(self.c.pick(known))
        if shape == ():
            return self.literal(type_)
        if type_ == INT and len(shape) == 1 and self.c.chance(2):
            return self.range(shape[0])
        near = [v for v in self.frame.visible() if v.shape and fill(v.shape, shape) == shape]
        if near and self.c.chance(2):
            variable = self.c.pick(near)
            return self.cast(self.name(variable), type_, shape)
        return E(
            f"({self.frame.spell(type_, shape)}){self.literal(type_, bare=True).at(PREFIX)}",
            PREFIX,
            type_,
            shape,
        )

    def name(self, variable: Variable) -> E:
        return E(variable.name, POSTFIX, variable.type, variable.shape)

    def range(self, size: int) -> E:
        start = self.c.pick((0, 0, 0, 1, 5))
        stop = self.frame.size(size) if start == 0 else str(start + size)
        blank = " " if self.c.below(4) else ""
        stop = stop if stop.isidentifier() or stop.isdigit() else f"({stop})"
        return E(f"{start}{blank}...{blank}{stop}", RANGE, INT, (size,))

    def defines_for(self, type_: Scalar) -> bool:
        """Whether the defines KI and KF may stand for numbers of this type."""
        return self.frame.constants and ("float_defines" not in self.frame.avoid or type_ in (INT, FLOAT))

    def literal(self, type_: Scalar, bare: bool = False) -> E:
        """A literal of exactly this type; ``bare`` ones are converted afterwards and need not be."""
        c = self.c
        if self.defines_for(type_) and not bare and c.chance(3):
            if type_ in (INT, FLOAT):
                if type_ == FLOAT and self.frame.strict:
                    return E("(float)(KF + 1.0f)", PREFIX, type_)
                return E("KI" if type_ == INT else "(KF + 1.0f)", POSTFIX, type_)
            return E(f"({type_.word})({self.clamped(E('KF', POSTFIX, FLOAT), type_).text})", PREFIX, type_)
        if type_.floating:
            value = c.pick(("1.5", "0.5", "2.0", "0.25", "3.0", "10.0"))
            if bare or type_ == FLOAT:
                return E(value + ("" if bare and c.chance(2) else "f"), POSTFIX, FLOAT)
            return E(f"({type_.word}){value}f", PREFIX, type_)
        small = str(c.pick((1, 2, 3, 0, 5, 7, 10, 100)))
        if type_ == INT or bare:
            if self.frame.named and c.chance(6) and not bare:
                return E(c.pick(("FIVE", "MINUS", "SIX")), POSTFIX, INT)
            if self.frame.spelled and c.chance(6) and not bare:
                return E(c.pick(sorted(self.frame.spelled.values())), POSTFIX, INT)
            odd = ("0x1f", "0b101", "'a'", "017", "2147483647", "65536", "0x7fff0001")
            return E(c.pick(odd) if c.chance(6) and not bare else small, POSTFIX, INT)
        if type_.bits >= 32:
            suffix = {"unsigned int": "u", "long": "l", "unsigned long": "ul"}[type_.word]
            large = {
                "unsigned int": ("0xffffffff", "4294967295u", "0x80000000"),
                "long": ("2147483648", "0x100000001", "9223372036854775807"),
                "unsigned long": ("0xffffffffffffffff", "18446744073709551615u", "0x8000000000000001"),
            }[type_.word]
            return E(c.pick(large) if c.chance(5) else small + suffix, POSTFIX, type_)
        return E(f"({type_.word}){small}", PREFIX, type_)

    # ------------------------------------------------------------ conversions

    def clamped(self, e: E, target: Scalar) -> E:
        """A floating value inside the range of an integer type, NaN included; anything else as it is."""
        if not e.type.floating or target.floating or target == BOOL:
            return e
        low = "0" if target.kind == "u" else "-100"
        return E(f"min(max({e.text}, {low}), 100)", POSTFIX, e.type, e.shape)

    def cast(self, e: E, type_: Scalar, shape: Shape) -> E:
        """An explicit cast."""
        e = self.clamped(e, type_)
        if e.shape == shape and not (shape and self.c.chance(3)):
            if e.type == type_ and not self.c.chance(3):
                return e
            return E(f"({type_.word}){e.at(PREFIX)}", PREFIX, type_, shape)
        return E(f"({self.frame.spell(type_, shape)}){e.at(PREFIX)}", PREFIX, type_, shape)

    def narrower(self, shape: Shape) -> Shape:
        """A shape that broadcasts to this one."""
        c = self.c
        if not shape or c.below(3) == 0:
            return shape
        choice = c.below(4)
        if choice == 0:
            return ()
        if choice == 1:
            return shape[c.below(len(shape)) :]
        axis = c.below(len(shape))
        return (*shape[:axis], 1, *shape[axis + 1 :])

    def pair(self, shape: Shape) -> tuple[Shape, Shape]:
        """Two shapes that broadcast together to this one."""
        first, second = shape, self.narrower(shape)
        if len(shape) >= 2 and self.c.chance(6):
            first = (*shape[:-1], 1)
            second = shape[-1:] if self.c.chance(2) else (1,) * (len(shape) - 1) + shape[-1:]
        return (second, first) if self.c.chance(2) else (first, second)

    # ------------------------------------------------------------ forms

    def expr(self, type_: Scalar, shape: Shape, depth: int) -> E:
        """An expression of exactly this type and shape."""
        if depth <= 0:
            if self.c.chance(4):
                return self.load(type_, shape) or self.leaf(type_, shape)
            return self.leaf(type_, shape)
        forms: list[tuple[int, Callable[[Scalar, Shape, int], E | None]]] = [
            (2, lambda t, s, d: self.leaf(t, s)),
            (3, self.cast_of_any),
            (2, lambda t, s, d: self.load(t, s)),
        ]
        if type_ == BOOL:
            forms += [(6, self.comparison), (3, self.logic)]
        elif type_ == promoted(type_):
            forms += [(8, self.arithmetic), (2, self.unary), (3, self.choice), (2, self.function)]
            forms += [(3, self.reduction), (2, self.guarded)]
        if type_ in (FLOAT, DOUBLE):
            forms.append((2, self.real_function))
        if len(shape) in (2, 3) and (type_ in (FLOAT, DOUBLE, INT) or type_.bits >= 32):
            forms.append((4 if len(shape) == 2 else 1, self.product))
        if shape:
            forms += [(2, self.permutation), (3 if 1 in shape else 0, self.expansion)]
        if type_.bits >= 8:
            forms.append((1, self.bitcast))
        form = self.c.weighted([f for f in forms if f[0]])
        guards = self.guards
        if form in self.shape_changes:  # inside, elements stand elsewhere
            self.guards = []
        found = form(type_, shape, depth)
        self.guards = guards
        if found is None:
            return self.leaf(type_, shape)
        if self.frame.macros and found.type.bits >= 32 and self.c.chance(6):
            inner = f"({found.text})" if "," in found.text else found.text
            return E(f"TWICE({inner})", POSTFIX, type_, shape)
        if self.c.chance(12):
            return E(f"({found.text})", POSTFIX, found.type, found.shape)
        return found

    def any_type(self) -> Scalar:
        return self.c.pick(self.frame.types)

    def some(self, type_: Scalar, shape: Shape, depth: int) -> E:
        return self.expr(type_, shape, self.c.below(depth) if depth > 1 else 0)

    def cast_of_any(self, type_: Scalar, shape: Shape, depth: int) -> E:
        inner = self.some(self.any_type(), self.narrower(shape), depth)
        return self.cast(inner, type_, shape)

    def operands(self, type_: Scalar, shape: Shape, depth: int) -> tuple[E, E]:
        """Two operands whose common type is this one and which broadcast to the shape."""
        first, second = self.pair(shape)
        others = [t for t in self.frame.types if common(type_, t) == type_]
        left, right = type_, self.c.pick(others) if others and self.c.chance(2) else type_
        if type_ == INT and self.c.chance(4):
            left = self.c.pick([t for t in SCALARS if promoted(t) == INT])
        if type_ == FLOAT and self.c.chance(12):
            left, right = HALF, BFLOAT16
        if self.c.chance(2):
            left, right = right, left
        a, b = self.some(left, first, depth), self.some(right, second, depth)
        return a, b

    def binary(self, operator: str, a: E, b: E, type_: Scalar) -> E:
        level = LEVELS[operator]
        shape = fill(a.shape, b.shape)
        assert shape is not None, (a, b)
        return E(f"{a.at(level)} {operator} {b.at(level + 1)}", level, type_, shape)

    def arithmetic(self, type_: Scalar, shape: Shape, depth: int) -> E:
        c = self.c
        if type_.floating:
            operator = c.pick(("+", "-", "*", "/"))
            if c.chance(4):
                words = ("0.5", "2.0", "1.5", "0.1", "1e1", "3.")
                words += ("KF",) if self.defines_for(type_) else ()
                weak = E(c.pick(words), POSTFIX, type_)
                other = self.some(type_, shape, depth)
                pair = (weak, other) if c.chance(3) else (other, weak)
                value = self.binary(operator, *pair, type_)
                if self.frame.strict and type_ != DOUBLE:
                    return E(f"({type_.word})({value.text})", PREFIX, type_, value.shape)
                return value
            pair = self.operands(type_, shape, depth)
            return self.binary(operator, *pair, type_)
        operator = c.pick(("+", "-", "*", "&", "|", "^", "/", "%", "<<", ">>"))
        if operator in ("<<", ">>"):
            first, second = self.pair(shape)
            narrow = [t for t in SCALARS if promoted(t) == type_ and t != BOOL]
            left = self.some(c.pick(narrow) if c.chance(3) else type_, first, depth)
            if c.chance(2):
                count = E(str(c.pick((1, 3, 8, type_.bits - 1))), POSTFIX, INT)
                if fill(left.shape, ()) == shape:
                    return self.binary(operator, left, count, type_)
            raw = self.some(c.pick(INTEGERS), second, depth)
            count = self.binary("&", raw, E(str(type_.bits - 1), POSTFIX, INT), common(raw.type, INT))
            return self.binary(operator, left, count, type_)
        a, b = self.operands(type_, shape, depth)
        if operator in ("/", "%"):
            if c.chance(3):
                b = E(c.pick(("3", "7", "2", "(-3)", "16", "1")), POSTFIX, INT)
                a = a if a.shape == shape else self.some(type_, shape, depth)
                if common(a.type, b.type) != type_:
                    a = self.some(type_, shape, depth)
            else:
                b = self.binary("|", b, E("1", POSTFIX, INT), common(b.type, INT))
        return self.binary(operator, a, b, type_)

    def unary(self, type_: Scalar, shape: Shape, depth: int) -> E:
        operator = self.c.pick(("-", "+") if type_.floating else ("-", "~", "+"))
        inner = self.some(type_, shape, depth)
        if type_ == INT and self.c.chance(3):
            inner = self.some(self.c.pick([t for t in SCALARS if promoted(t) == INT]), shape, depth)
        if "zero_otherwise" in self.frame.avoid and type_.floating and not shape:
            operator = "+"
        text = inner.at(PREFIX)
        blank = " " if text.startswith(operator) else ""
        return E(f"{operator}{blank}{text}", PREFIX, type_, shape)

    def comparison(self, type_: Scalar, shape: Shape, depth: int) -> E:
        operator = self.c.pick(("<", ">", "<=", ">=", "==", "!="))
        first, second = self.pair(shape)
        left = self.any_type()
        right = self.any_type() if self.c.chance(2) else left
        a, b = self.some(left, first, depth), self.some(right, second, depth)
        return self.binary(operator, a, b, BOOL)

    def logic(self, type_: Scalar, shape: Shape, depth: int) -> E:
        operator = self.c.pick(("&&", "||", "!"))
        if operator == "!":
            return E("!" + self.some(self.any_type(), shape, depth).at(PREFIX), PREFIX, BOOL, shape)
        first, second = self.pair(shape)
        kinds = [BOOL if not self.c.chance(3) else self.any_type() for _ in range(2)]
        return self.binary(
            operator, self.some(kinds[0], first, depth), self.some(kinds[1], second, depth), BOOL
        )

    def choice(self, type_: Scalar, shape: Shape, depth: int) -> E:
        condition = self.some(BOOL if not self.c.chance(4) else self.any_type(), self.narrower(shape), depth)
        yes, no = self.operands(type_, shape, depth)
        if self.c.chance(8) and promoted(type_) == type_:
            first = self.some(type_, shape, depth)
            return E(f"{first.at(LOR)} ?: {no.at(CHOICE)}", CHOICE, type_, shape)
        if self.c.chance(5):
            return E(f"select({condition.text}, {yes.text}, {no.text})", POSTFIX, type_, shape)
        return E(f"{condition.at(LOR)} ? {yes.text} : {no.at(CHOICE)}", CHOICE, type_, shape)

    def function(self, type_: Scalar, shape: Shape, depth: int) -> E:
        c = self.c
        names = ["min", "max", "abs", "fma"] + (["fabs", "floor", "ceil"] if type_.floating else [])
        name = c.pick(names)
        if name in ("min", "max"):
            a, b = self.operands(type_, shape, depth)
            return E(f"{name}({a.text}, {b.text})", POSTFIX, type_, shape)
        if name == "fma":
            a, b = self.operands(type_, shape, depth)
            third = self.some(type_, self.narrower(shape), depth)
            return E(f"fma({a.text}, {b.text}, {third.text})", POSTFIX, type_, shape)
        return E(f"{name}({self.some(type_, shape, depth).text})", POSTFIX, type_, shape)

    def real_function(self, type_: Scalar, shape: Shape, depth: int) -> E | None:
        if not self.frame.functions:
            return None
        name = self.c.pick(
            ("exp", "log", "sqrt", "sqrtf", "sin", "cos", "erf", "tanh", "sigmoid", "log2", "exp2", "rsqrt")
        )
        kind = type_ if type_ == DOUBLE else self.c.pick([t for t in SCALARS if t != DOUBLE])
        inner = self.some(kind, shape, depth)
        if name in ("log", "log2", "sqrt", "sqrtf", "rsqrt"):
            return E(f"{name}(abs({inner.text}) + 1)", POSTFIX, type_, shape)
        return E(f"{name}(min(max({inner.text}, -3), 3))", POSTFIX, type_, shape)

    # ------------------------------------------------------------ shapes

    def reduction(self, type_: Scalar, shape: Shape, depth: int) -> E | None:
        c = self.c
        if len(shape) >= 3 or prod(shape) * min(self.frame.sizes) > MOST:
            return None
        sizes = [s for s in self.frame.sizes if s * prod(shape) <= MOST]
        axis = c.below(len(shape) + 1)
        size = c.pick(sizes)
        kinds = [t for t in SCALARS if promoted(t) == type_]
        kind = c.pick(kinds) if c.chance(3) else type_
        whole = (*shape[:axis], size, *shape[axis:])
        items = [":"] * len(whole)
        items[axis] = c.pick(("+", "max", "min"))
        if len(whole) < 3 and c.chance(5):  # a second axis in the same subscript
            more = [s for s in self.frame.sizes if s * prod(whole) <= MOST]
            if more:
                second = c.below(len(whole) + 1)
                whole = (*whole[:second], c.pick(more), *whole[second:])
                items.insert(second, items[axis])
        inner = self.some(kind, whole, depth)
        return E(f"{inner.at(POSTFIX)}[{', '.join(items)}]", POSTFIX, type_, shape)

    def expansion(self, type_: Scalar, shape: Shape, depth: int) -> E | None:
        ones = [axis for axis, size in enumerate(shape) if size == 1]
        kept = [axis for axis in ones if len(shape) > 1 and self.c.chance(4)]
        new = [axis for axis in ones if axis not in kept]
        if not new or len(new) == len(shape):
            return None
        inner = self.some(type_, tuple(s for axis, s in enumerate(shape) if axis not in new), depth)
        items = ["newaxis" if axis in new else ":" for axis in range(len(shape))]
        return E(f"{inner.at(POSTFIX)}[{', '.join(items)}]", POSTFIX, type_, shape)

    def permutation(self, type_: Scalar, shape: Shape, depth: int) -> E | None:
        rank = len(shape)
        if rank < 2:
            return None
        if self.c.chance(2):
            inner = self.some(type_, (shape[-1], *shape[:-1]), depth)
            if self.c.chance(2):
                return E(f"trans({inner.text})", POSTFIX, type_, shape)
            return E(f"^{inner.at(PREFIX)}", PREFIX, type_, shape)
        order = list(range(rank))
        for at in range(rank - 1):
            other = at + self.c.below(rank - at)
            order[at], order[other] = order[other], order[at]
        operand = [0] * rank
        for axis, source in enumerate(order):
            operand[source] = shape[axis]
        inner = self.some(type_, tuple(operand), depth)
        return E(f"{inner.at(POSTFIX)}[{', '.join(f'^{k}' for k in order)}]", POSTFIX, type_, shape)

    def product(self, type_: Scalar, shape: Shape, depth: int) -> E | None:  # axes after two are batches
        rows, columns, *batch = shape
        most = MOST // prod(batch)
        sizes = [s for s in self.frame.sizes if s * max(rows, columns) <= most]
        if not sizes:
            return None
        inner = self.c.pick(sizes)
        if not type_.floating:
            kinds = [t for t in INTEGERS if promoted(t) == type_]
            left, right = self.c.pick(kinds), self.c.pick(kinds)
        elif type_ == DOUBLE:
            left, right = DOUBLE, self.c.pick((DOUBLE, FLOAT))
        else:
            left, right = self.c.pick(((HALF, HALF), (FLOAT, FLOAT), (BFLOAT16, BFLOAT16), (HALF, FLOAT)))
        a, b = (
            self.some(kind, (*sizes_, *batch), depth)
            for kind, sizes_ in ((left, (rows, inner)), (right, (inner, columns)))
        )
        if self.c.chance(5):
            return E(f"dot({a.text}, {b.text})", POSTFIX, type_, shape)
        return E(f"{a.at(PRODUCT)} @ {b.at(RANGE)}", PRODUCT, type_, shape)

    def bitcast(self, type_: Scalar, shape: Shape, depth: int) -> E | None:
        same = [t for t in SCALARS if t.bits == type_.bits and t.kind != type_.kind]
        if not same:
            return None
        inner = self.leaf(self.c.pick(same), shape)
        spelled = self.frame.spell(type_, shape) if self.c.chance(3) else type_.word
        return E(f"bitcast<{spelled}>({inner.text})", POSTFIX, type_, shape)

    # ------------------------------------------------------------ memory

    def load(self, type_: Scalar, shape: Shape) -> E | None:
        """A load that every program may do."""
        guard = next((g for g in reversed(self.guards) if g[2] == shape), None)
        if guard is not None and self.c.chance(2):
            pointer = self.frame.tight(type_, guard[1])
            if pointer is not None:
                return E(f"*({pointer} + {guard[0]})", PREFIX, type_, shape)
        pointer, length = self.frame.input(type_)
        own = self.frame.own(type_) if self.c.chance(4) else None
        if own is not None:
            pointer, length = own, SLOT
        if shape == ():
            at = self.c.below(length)
            return E(f"*({pointer} + {at})" if at or own else f"*{pointer}", PREFIX, type_, ())
        return E(f"*({pointer} + {self.index(shape, length)})", PREFIX, type_, shape)

    def index(self, shape: Shape, length: int) -> str:
        """An index block of this shape with values from 0 to length - 1, at the level of a sum's operand."""
        c = self.c
        iota = self.frame.iota(shape)
        room = length - prod(shape)
        if c.chance(3):
            inner = self.expr(c.pick((INT, by_name("unsigned int"), by_name("long"))), shape, 1)
            mask = 1
            while mask * 2 <= length:
                mask *= 2
            return f"({inner.at(AND)} & {mask - 1})"
        if room > 0 and c.chance(3):
            return f"{iota} + {1 + c.below(room)}"
        if c.chance(5):
            return f"({length - 1} - ({iota}))"
        return iota

    def guarded(self, type_: Scalar, shape: Shape, depth: int) -> E | None:
        """``m ? ... *(P + i) ... : v`` where only m keeps the addresses inside."""
        bound = self.frame.bound(self.c.below(prod(shape) + 1))
        if bound is None:
            return None
        iota = self.frame.iota(shape)
        pointer = self.frame.tight(type_, bound)
        if pointer is None:
            return None
        flipped = self.c.chance(3)
        self.guards.append((iota, bound, shape))
        load = E(f"*({pointer} + {iota})", PREFIX, type_, shape)
        if self.c.chance(4):
            load = E(f"*?({iota} < {bound})({pointer} + {iota})", PREFIX, type_, shape)
        inside = load
        if self.c.chance(2):
            inside = self.binary(
                self.c.pick(("+", "-", "*")), load, self.some(type_, self.narrower(shape), depth), type_
            )
        self.guards.pop()
        other = self.some(type_, self.narrower(shape), depth)
        if flipped:
            return E(f"{iota} >= {bound} ? {other.text} : {inside.at(CHOICE)}", CHOICE, type_, shape)
        return E(f"{iota} < {bound} ? {inside.text} : {other.at(CHOICE)}", CHOICE, type_, shape)
