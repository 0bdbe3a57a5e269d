"""Expressions whose value is known while they are made, by the rules of C (c.py), with their text as C.

Operands are constants (literals, enumerators, defines, ``static const``) and scalar parameters, of every type, in
every operator. Nothing unspecified is computed but in an arm that is not taken, or where the result is thrown away.
A ``weak`` number is an unsuffixed floating literal that has met no type yet (docs/language.md, Operators).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.fuzz.c import Number, Unspecified, binary, converted, literal, spelled, unary
from tests.fuzz.choices import Choices
from tests.fuzz.expressions import (
    CHOICE,
    EQUAL,
    LESS,
    LEVELS,
    LOR,
    PLUS,
    POSTFIX,
    PREFIX,
)
from tests.fuzz.rules import INTEGERS, SCALARS, Scalar, by_name, common, promoted

__all__ = ["Known", "Node"]

INT, LONG, BOOL, FLOAT, DOUBLE = (by_name(word) for word in ("int", "long", "bool", "float", "double"))
UNSIGNED_LONG = by_name("unsigned long")
WHOLE = """0 1 2 3 5 7 16 31 32 100 255 65535 2147483647 2147483648 3000000000 4294967295 4294967296
 9223372036854775807 0x7fffffff 0x80000000 0xffffffff 0x100000000 0x8000000000000000 0xffffffffffffffff 0b101 017
 'a' 1u 3000000000u 4294967295u 0u 5l 2147483648l 7ul 18446744073709551615ul 0xFFu 1L 2LL 3ull""".split()
FEW = "1 0 2 3 5 7 31 16 100 2147483647 1u 4294967295u 5l".split()
PREPROCESSED = [text for text in WHOLE if text[-1] not in "lL"] + ["1ul", "2l"]
REAL = "0.5 0.1 1.5 3. 1e3 0.0 2.5e-3 .25 16777217.0 1e-9 1e-30".split()
ZEROS = "0.0 1.0 0. 2.5 .0 0e0".split()


@dataclass(frozen=True, slots=True)
class Node:
    """An expression: its text, its level, its value (None: any), its text in C (None: not asked)."""

    text: str
    level: int
    type: Scalar
    value: Number | None
    c: str | None
    weak: Callable[[Scalar], Node] | None = None

    def at(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"

    def settled(self, type_: Scalar) -> Node:
        """It beside an operand of this type."""
        return self.weak(type_) if self.weak and type_.floating else self


class Known:
    """The expressions of one kernel. ``lines``: what stands before it, ``defines``: what is given."""

    def __init__(
        self, c: Choices, *, strict: bool, types: tuple[Scalar, ...] = SCALARS, zeros: bool = False
    ) -> None:
        self.choices, self.strict, self.types, self.zeros = c, strict, types, zeros
        self.names: list[Node] = []  # enumerators, floating defines, static constants
        self.tokens: dict[str, str] = {}  # integer defines: a literal, perhaps with a minus
        self.variables: list[Node] = []  # parameters, and variables assigned before
        self.lenient = False  # something unspecified stands somewhere
        self.late = 12  # a leaf is a variable once in so many times
        self.directive = False  # inside #if: integers of 64 bits, nothing else
        self.constant = False  # where C wants an integer constant expression: no variables, no floats

    # ------------------------------------------------------------ leaves

    def leaf(self) -> Node:
        c = self.choices
        if self.variables and not (self.directive or self.constant) and c.chance(self.late):
            return c.pick(self.variables)
        if self.directive:
            if self.tokens and c.chance(3):
                return self.token(c.pick(sorted(self.tokens)))
            return self.whole(c.pick(PREPROCESSED))
        if (self.names or self.tokens) and c.chance(4):
            names = [n for n in self.names if not (self.constant and n.type.floating)]
            return c.pick([*map(self.token, sorted(self.tokens)), *names, self.whole("4")])
        kind = c.below(8)
        if self.constant and kind in (4, 7):
            return self.whole(c.pick(WHOLE))
        if self.zeros and kind < 6 and not self.constant:
            return self.real(c.pick(ZEROS))
        if kind < 4:
            return self.whole(c.pick(WHOLE if self.late > 4 else FEW))
        if kind == 4:
            return self.real(c.pick(REAL))
        if kind == 5:
            type_ = c.pick(SCALARS)
            return Node(f"sizeof({type_.word})", PREFIX, *self._size(max(type_.bits, 8) // 8))
        real = not self.constant and c.chance(3)
        inner = self.real(c.pick(ZEROS if self.zeros else REAL)) if real else self.whole(c.pick(FEW))
        return self.cast(inner, self.type())

    def type(self) -> Scalar:
        return self.choices.pick([t for t in self.types if not (self.constant and t.floating)] or [INT])

    def _size(self, size: int) -> tuple[Scalar, Number, str]:
        return UNSIGNED_LONG, Number(UNSIGNED_LONG, size), f"(unsigned long){size}"

    def whole(self, text: str) -> Node:
        number = literal(text)
        if self.directive:
            number = Number(UNSIGNED_LONG if number.type.kind == "u" and "u" in text else LONG, number.value)
            if number.value > (1 << 63) - 1:
                number = Number(UNSIGNED_LONG, number.value)
        return Node(text, POSTFIX, number.type, number, text)

    def token(self, name: str) -> Node:
        """An integer define."""
        text = self.tokens[name]
        number = self.whole(text.removeprefix("-"))
        if text.startswith("-"):
            number = self.prefixed("-", number)
        return Node(name, POSTFIX, number.type, number.value, f"({number.c})")

    def real(self, text: str) -> Node:
        """A floating literal, unsuffixed most of the time."""
        if self.choices.chance(3):
            number = literal(text + "f")
            return Node(text + "f", POSTFIX, FLOAT, number, text + "f")
        return self.unsuffixed(text, text)

    def unsuffixed(self, text: str, token: str) -> Node:
        """The literal ``token`` under its text: itself, or the name of a define."""
        sign, digits = ("-", token[1:]) if token.startswith("-") else ("", token)

        def meet(type_: Scalar) -> Node:
            exact = literal(digits)
            double = Number(exact.type, -exact.value if sign else exact.value)
            once = literal(digits + "f") if type_ == FLOAT else converted(exact, type_)
            number = Number(type_, -once.value if sign else once.value) if type_ != DOUBLE else double
            return Node(text, POSTFIX, type_, number, spelled(number))

        if self.strict:
            return meet(DOUBLE)
        weak = meet(FLOAT)
        return Node(text, weak.level, FLOAT, weak.value, weak.c, meet)

    # ------------------------------------------------------------ forms

    def expr(self, depth: int) -> Node:
        if depth <= 0:
            return self.leaf()
        c = self.choices
        forms: list[tuple[int, Callable[[int], Node]]] = [
            (2, lambda d: self.leaf()),
            (9, self.arithmetic),
            (3, self.one),
            (3, self.compared),
            (2, self.logic),
            (4, self.chosen),
            (2, self.guarded),
        ]
        if not self.directive:
            forms += [(3, self.function), (4, lambda d: self.cast(self.sub(d), self.type()))]
            forms.append((1, self.beside))
        return c.weighted(forms)(depth)

    def sub(self, depth: int) -> Node:
        return self.expr(self.choices.below(depth) if depth > 1 else 0)

    def cast(self, operand: Node, type_: Scalar) -> Node:
        """``(T)operand``; into a floating type where the value does not fit."""
        if operand.value is not None:
            try:
                value = converted(operand.settled(type_).value or operand.value, type_)
            except Unspecified:
                return self.cast(operand, FLOAT)
        else:
            value = None
        operand = operand.settled(type_)
        word = {"half": "_Float16", "bool": "_Bool"}.get(type_.word, type_.word)
        c = f"({word})({operand.c})" if operand.c and type_.word != "bfloat16" else None
        return Node(f"({type_.word}){operand.at(PREFIX)}", PREFIX, type_, value, c)

    def settle(self, left: Node, right: Node) -> tuple[Node, Node]:
        """Two operands as they meet."""
        if left.weak and right.weak:  # whether the sum of two is weak is unspecified
            left = self.cast(left, FLOAT)
        return left.settled(right.type), right.settled(left.type)

    def joined(self, operator: str, left: Node, right: Node) -> Node | None:
        """``left operator right``; None where the language does not say what it is."""
        if operator not in ("&&", "||", "<<", ">>"):
            left, right = self.settle(left, right)
        level = LEVELS[operator]
        text = f"{left.at(level)} {operator} {right.at(level + 1)}"
        c = f"({left.c}) {operator} ({right.c})" if left.c and right.c else None
        if left.value is None or right.value is None:
            shifts = operator in ("<<", ">>")
            truth = operator in ("&&", "||") or level in (LESS, EQUAL)
            type_ = BOOL if truth else promoted(left.type) if shifts else common(left.type, right.type)
            return Node(text, level, self.truth(type_), None, c)
        try:
            value = binary(operator, left.value, right.value)
        except Unspecified:
            return None
        return Node(text, level, self.truth(value.type), Number(self.truth(value.type), value.value), c)

    def truth(self, type_: Scalar) -> Scalar:
        """In #if what is true is a number of 64 bits."""
        return LONG if self.directive and type_ == BOOL else type_

    def arithmetic(self, depth: int) -> Node:
        c = self.choices
        left, right = self.sub(depth), self.sub(depth)
        operators = ["+", "-", "*", "/"]
        if not left.type.floating and not right.type.floating:
            operators += ["%", "<<", ">>", "&", "|", "^", "/", "%", "<<", ">>"]
        operator = c.pick(operators)
        found = self.joined(operator, left, right)
        if found is None and operator in ("<<", ">>"):
            mask = self.joined("&", right, self.whole(str(promoted(left.type).bits - 1)))
            found = mask and self.joined(operator, left, mask)
        return found or self.joined("-", left, right) or left

    def one(self, depth: int) -> Node:
        operand = self.sub(depth)
        return self.prefixed(
            self.choices.pick(("-", "-", "+", "!") + (("~", "~") if not operand.type.floating else ())),
            operand,
        )

    def prefixed(self, operator: str, operand: Node) -> Node:
        blank = " " if operand.at(PREFIX).startswith(operator) else ""
        value = None if operand.value is None else unary(operator, operand.value)
        type_ = self.truth(BOOL if operator == "!" else promoted(operand.type))
        if value is not None:
            value = Number(type_, value.value)
        text = f"{operator}{blank}{operand.at(PREFIX)}"
        c = f"{operator}({operand.c})" if operand.c else None
        if operand.weak and operator != "!":
            met = operand.settled

            def meet(other: Scalar) -> Node:
                return self.prefixed(operator, met(other))

            return Node(text, PREFIX, type_, value, c, meet)
        return Node(text, PREFIX, type_, value, c)

    def compared(self, depth: int) -> Node:
        left, right = self.sub(depth), self.sub(depth)
        found = self.joined(self.choices.pick(("<", ">", "<=", ">=", "==", "!=")), left, right)
        assert found is not None
        return found

    def logic(self, depth: int) -> Node:
        found = self.joined(self.choices.pick(("&&", "||")), self.sub(depth), self.sub(depth))
        assert found is not None
        return found

    def beside(self, depth: int) -> Node:
        """``5 X`` where X is a negative number: the define is its tokens."""
        names = [name for name, text in sorted(self.tokens.items()) if text.startswith("-")]
        left = self.sub(depth)
        if not names:
            return left
        name = self.choices.pick(names)
        found = self.joined("-", left.settled(INT), self.whole(self.tokens[name][1:]))
        assert found is not None
        return Node(f"{left.at(PLUS)} {name}", PLUS, found.type, found.value, found.c)

    def chosen(self, depth: int) -> Node:
        condition, yes, no = self.sub(depth), self.sub(depth), self.sub(depth)
        kind = self.choices.below(8)
        if kind == 7 and not self.directive and not yes.weak:
            return self.choice(yes, yes, no, "{0} ?: {2}", "({0}) ? ({1}) : ({2})")
        if kind == 6 and not (self.directive or self.constant):
            return self.choice(condition, yes, no, "select({0}, {1}, {2})", "({0}) ? ({1}) : ({2})")
        return self.choice(condition, yes, no)

    def choice(
        self,
        condition: Node,
        yes: Node,
        no: Node,
        form: str = "{0} ? {1} : {2}",
        c: str = "({0}) ? ({1}) : ({2})",
    ) -> Node:
        """Both sides in their common type; weak if a floating literal is all that is floating."""
        both = yes.weak and no.weak
        first, second = (yes, no) if both else self.settle(yes, no)
        level = POSTFIX if form.endswith(")") else CHOICE
        texts = (
            (condition.text, yes.text, no.text)
            if level == POSTFIX
            else (condition.at(LOR), yes.text, no.at(CHOICE))
        )
        taken = None if condition.value is None else first if condition.value.true else second
        type_ = common(first.type, second.type)
        value = None if taken is None or taken.value is None else converted(taken.value, type_)
        asked = all((condition.c, first.c, second.c))
        node = Node(
            form.format(*texts),
            level,
            type_,
            value,
            c.format(condition.c, first.c, second.c) if asked else None,
        )
        if not (yes.weak or no.weak) or any(side.type.floating and not side.weak for side in (yes, no)):
            return node
        if not all(side.weak or side.text in WHOLE for side in (yes, no)):
            return self.cast(node, FLOAT)  # whether it is weak beside a non-literal is unspecified

        def meet(
            other: Scalar,
        ) -> Node:  # beside a double it keeps a double's digits; a half is not spoken of
            return (
                self.choice(condition, self._double(yes), self._double(no), form, c)
                if other == DOUBLE
                else node
            )

        return replace(node, weak=meet)

    def _double(self, side: Node) -> Node:
        """A side of a choice that met a double: the text stays."""
        if side.weak:
            return side.weak(DOUBLE)
        value = None if side.value is None else converted(side.value, DOUBLE)
        return Node(side.text, side.level, DOUBLE, value, side.c and f"(double)({side.c})")

    def guarded(self, depth: int) -> Node:
        """An arm or an operand that is not taken, without a value."""
        c, good, wrong = self.choices, self.sub(depth), self.nonsense()
        kind = c.below(4)
        if kind >= 2:  # the left side decides
            word = ("&&", "||")[kind - 2]
            left = self.decided(kind == 3)
            level = LEVELS[word]
            truth = self.truth(BOOL)
            text = f"{left.at(level)} {word} {wrong.at(level + 1)}"
            asked = f"({left.c}) {word} ({wrong.c})" if left.c else None
            return Node(text, level, truth, Number(truth, kind - 2), asked)
        condition = self.decided(kind == 0)
        return self.choice(condition, *((good, wrong) if kind == 0 else (wrong, good)))

    def decided(self, wanted: bool) -> Node:
        """A condition of this value."""
        node = self.sub(2)
        if node.value is None:
            return self.whole(str(int(wanted)))
        return node if node.value.true == wanted else self.prefixed("!", node)

    def nonsense(self) -> Node:
        """A shift by too much, a division by zero: integers."""
        self.lenient = True
        c = self.choices
        left = self.whole(c.pick(FEW))
        if not (self.directive or self.constant) and c.chance(2) and self.variables:
            left = c.pick([v for v in self.variables if not v.type.floating] or [left])
        zero, count = self.whole("0"), self.whole(c.pick(("64", "200000", "100", "64")))
        operator, right = c.pick((("/", zero), ("%", zero), ("<<", count), (">>", count), ("<<", None)))
        right = right or self.prefixed("-", self.whole("1"))
        type_ = promoted(left.type) if operator in ("<<", ">>") else common(left.type, right.type)
        level = LEVELS[operator]
        text = f"{left.at(level)} {operator} {right.at(level + 1)}"
        return Node(text, level, type_, None, f"({left.c}) {operator} ({right.c})" if left.c else None)

    def function(self, depth: int) -> Node:
        name = self.choices.pick(("min", "max") if self.constant else ("min", "max", "abs"))
        left, right = self.sub(depth), self.sub(depth)
        if name == "abs":
            return self.absolute(left)
        return self.extreme(name, left, right)

    def extreme(self, name: str, left: Node, right: Node) -> Node:
        """``min`` or ``max``: a choice, compared in the type that the choice has."""
        less = self.joined("<" if name == "min" else ">", *self.settle(left, right))
        condition = Node("", POSTFIX, BOOL, None if less is None else less.value, "unused")
        form = f"{name}({{1}}, {{2}})"
        node = self.choice(condition, left, right, form, form)
        if not node.weak:
            return node

        def meet(other: Scalar) -> Node:
            return self.extreme(name, self._double(left), self._double(right)) if other == DOUBLE else node

        return replace(node, weak=meet)

    def absolute(self, operand: Node) -> Node:
        type_ = promoted(operand.type)
        text = f"abs({operand.text})"
        if operand.value is None:
            return Node(text, POSTFIX, type_, None, None)
        value = converted(operand.value, type_)
        if type_.floating:
            c = f"({'_Float16' if type_.word == 'half' else type_.word})__builtin_fabs({operand.c})"
            c_text = c if operand.c and type_.word != "bfloat16" else None
            return Node(text, POSTFIX, type_, Number(type_, math.fabs(value.value)), c_text)
        if type_.kind == "i" and value.value < 0:
            value = unary("-", value)
        return Node(text, POSTFIX, type_, value, f"abs({operand.c})" if operand.c else None)

    # ------------------------------------------------------------ wanted ones

    def integer(self, depth: int, types: tuple[Scalar, ...] = INTEGERS) -> Node:
        """An integer expression whose value is known."""
        for _ in range(4):
            node = self.expr(depth)
            if not node.type.floating and node.value is not None:
                return node
        return self.whole("5")

    def storable(self, node: Node, type_: Scalar) -> Node:
        """The node, or one of it that converts to a type."""
        if node.value is None:
            return node
        try:
            converted(node.settled(type_).value or node.value, type_)
        except Unspecified:
            return self.prefixed("!", node)
        return node
