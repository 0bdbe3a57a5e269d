"""Expressions of the scanned Python -> values.

What is unknown becomes an ``Unknown`` whose node is the expression with known parts put in: after
``M, K = a.shape`` the name ``M`` stands for ``a.shape[0]``.

That expression is the identity of an unknown value, so two values must never share one. A name whose object is
written to (``shape[0] = 7``, ``numbers.pop()``) gets a new one.
"""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePath
from typing import Any, Final

from pytriton.port.read import library, strings
from pytriton.port.read.scopes import Frame, StopPath
from pytriton.port.read.values import (
    FAILURES,
    HOLE,
    Class,
    ConfigPoint,
    Dtype,
    Filtered,
    Instance,
    KernelObject,
    Library,
    NotKnown,
    ScannedFunction,
    Unknown,
    leaf,
    literal,
    node_of,
    text_of,
    traced,
)

_OPERATORS: Final[dict[type[ast.operator] | type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
MAX_ELEMENTS: Final = 1024  # of a comprehension
MAX_REPEATED: Final = 4096  # elements of ``[0] * n``
MAX_BITS: Final = 4096  # of two numbers together


class Evaluator:
    """Evaluates expressions in a frame. Statements and calls of functions are ``interpret.py``'s."""

    def __init__(self) -> None:
        self.count = 0  # of values that must not be taken for one another
        self.holes: dict[str, Unknown] = {}  # by their text: equal values are one hole

    # What interpret.py gives.
    choices: Any
    path: Any

    def hole(self, value: Any) -> str:
        """The mark of an unknown part of a text."""
        unknown = value if isinstance(value, Unknown) else Unknown(node_of(value))
        self.holes.setdefault(unknown.text, unknown)
        return HOLE.format(list(self.holes).index(unknown.text))

    def value(self, node: ast.expr, frame: Frame) -> Any:
        """The value of any expression."""
        self.choices.step()
        handler = getattr(self, f"on_{type(node).__name__.lower()}", None)
        if handler is None:
            return Unknown(closed(node, frame))
        return handler(node, frame)

    def truth(self, value: Any) -> bool:
        """A condition: known, or decided for this run."""
        if isinstance(value, Unknown):
            return bool(self.choices.decide(value))
        if isinstance(value, (Library, ScannedFunction, Class, Instance, KernelObject, Dtype)):
            return True
        return bool(value)

    def on_constant(self, node: ast.Constant, frame: Frame) -> Any:
        if isinstance(node.value, str):
            text = traced(((node.value, node.lineno),))
            if "\n" in text and frame.module not in (None, self.path):
                text.path = frame.module  # a kernel's text in a module that this one imports
            return text
        return node.value

    def on_name(self, node: ast.Name, frame: Frame) -> Any:
        bound, value = frame.find(node.id)
        if isinstance(value, Unknown) and self.choices.refined:
            return self.choices.refined.get(value.text, value)
        if bound:
            return value
        return Library(node.id)

    def on_joinedstr(self, node: ast.JoinedStr, frame: Frame) -> Any:
        pieces: list[tuple[str, int]] = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                pieces.append((str(part.value), part.lineno))
            elif isinstance(part, ast.FormattedValue):
                value = self.value(part.value, frame)
                form = self._form(part)
                if form and isinstance(value, (int, float)):
                    with suppress(ValueError):
                        value = strings.format_fields("{:" + form + "}", [value], {}, self.hole)
                pieces.append((strings.spelled(value, self.hole), part.lineno))
        return traced(_lines_set_right(node, pieces))

    def _form(self, part: ast.FormattedValue) -> str:
        spec = part.format_spec
        if isinstance(spec, ast.JoinedStr) and all(isinstance(value, ast.Constant) for value in spec.values):
            return "".join(str(value.value) for value in spec.values)  # type: ignore[attr-defined]
        return ""

    def on_list(self, node: ast.List | ast.Tuple | ast.Set, frame: Frame) -> Any:
        elements: list[Any] = []
        for element in node.elts:
            value = self.value(element.value if isinstance(element, ast.Starred) else element, frame)
            if not isinstance(element, ast.Starred):
                elements.append(value)
            elif isinstance(value, (list, tuple)):
                elements += value
            else:
                elements.append(Unknown(ast.Starred(node_of(value), ast.Load())))
        return tuple(elements) if isinstance(node, ast.Tuple) else elements

    on_tuple = on_list

    def on_set(self, node: ast.Set, frame: Frame) -> Any:
        elements = self.on_list(node, frame)
        return list(dict.fromkeys(elements)) if literal(elements) else elements

    def on_dict(self, node: ast.Dict, frame: Frame) -> Any:
        entries: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item, frame)
            if key is not None:
                entries[hashed(self.value(key, frame))] = value
            else:
                entries.update(value if isinstance(value, dict) else {None: value})
        return entries

    def on_attribute(self, node: ast.Attribute, frame: Frame) -> Any:
        return self.attribute(self.value(node.value, frame), node.attr)

    def attribute(self, base: Any, name: str) -> Any:
        """``base.name``."""
        match base:
            case PurePath() if name in ("parent", "name", "stem", "suffix"):
                return getattr(base, name)
            case Library():
                return library.attribute(base, name)
            case Instance():
                own = name in base.names  # a function among these is not a method
                member = base.names[name] if own else base.kind.find(name)
                method = isinstance(member, ScannedFunction) and not own
                bound = ScannedFunction(member.node, member.around, base) if method else member
                return leaf(f"{base.label}.{name}") if bound is None and name not in base.names else bound
            case Class():
                member = base.find(name)
                if member is None and name == "apply" and isinstance(base.find("forward"), ScannedFunction):
                    return _applied(base.find("forward"))
                return leaf(f"{base.name}.{name}") if member is None and name not in base.names else member
            case ConfigPoint() if name in ("defines", "num_warps"):
                return getattr(base, name)
            case _:
                kind = "dtype" if name == "dtype" else None
                return Unknown(ast.Attribute(node_of(base), name, ast.Load()), kind)

    def on_subscript(self, node: ast.Subscript, frame: Frame) -> Any:
        base = self.value(node.value, frame)
        if isinstance(node.slice, ast.Slice):
            return self._slice(base, node.slice, frame)
        return self.entry(base, self.value(node.slice, frame))

    def entry(self, base: Any, key: Any) -> Any:
        """``base[key]``."""
        if isinstance(base, dict):
            if hashed(key) in base:
                return base[hashed(key)]
            if not literal(key) and len(base) == 1:
                return next(iter(base.values()))
            if isinstance(key, Unknown) and len(base) > 1:
                return self._chosen(base, key)
        elif isinstance(base, (list, tuple, str)) and isinstance(key, int) and not is_open(base):
            with suppress(IndexError):
                return base[key]
        return Unknown(ast.Subscript(_unsliced(base, key), node_of(key), ast.Load()))

    def _chosen(self, base: dict[Any, Any], key: Unknown) -> Any:
        """An entry of a known dict under an unknown key: decided, one question a key."""
        *others, last = base
        for other in others:
            if other is not None and self.truth(
                Unknown(ast.Compare(key.node, [ast.Eq()], [node_of(other)]), "bool")
            ):
                return base[other]
        return base[last]

    def _slice(self, base: Any, bounds: ast.Slice, frame: Frame) -> Any:
        limits = [
            None if b is None else self.value(b, frame) for b in (bounds.lower, bounds.upper, bounds.step)
        ]
        constant = all(item is None or isinstance(item, int) for item in limits)
        if constant and isinstance(base, (list, tuple, str)) and 0 not in limits[2:] and not is_open(base):
            return base[slice(*limits)]
        parts = [None if item is None else node_of(item) for item in limits]
        return Unknown(ast.Subscript(node_of(base), ast.Slice(*parts), ast.Load()))

    def on_binop(self, node: ast.BinOp, frame: Frame) -> Any:
        return self.binary(node.op, self.value(node.left, frame), self.value(node.right, frame))

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        """``left op right``."""
        try:
            return self._computed(op, left, right)
        except FAILURES:
            kind = "int" if isinstance(op, (ast.FloorDiv, ast.Mod)) else None
            return Unknown(ast.BinOp(node_of(left), op, node_of(right)), kind)

    def _computed(self, op: ast.operator, left: Any, right: Any) -> Any:
        """``left op right``, within bounds; raises one of ``FAILURES`` where it is unknown."""
        match op, left, right:
            case ast.Mod(), str(), _:
                return strings.interpolate(left, right, self.hole)
            case (ast.Add(), str(), str() | Unknown()) | (ast.Add(), Unknown(), str()):
                return strings.add(strings.spelled(left, self.hole), strings.spelled(right, self.hole))
            case ast.Div(), PurePath(), str() if literal(right):
                return left / str(right)
            case ast.BitOr(), dict(), dict():
                return {**left, **right}
            case ast.Pow() | ast.LShift() | ast.RShift(), int(), int():
                bounded = 0 <= right <= 64 and abs(left) < 1 << 32
            case _, int() | float(), int() | float():
                bounded = _bits(left) + _bits(right) <= MAX_BITS
            case ast.Mult(), list() | str(), int():
                bounded = len(left) * right <= MAX_REPEATED
            case ast.Add(), list() | tuple(), list() | tuple():
                bounded = type(left) is type(right)
            case _:
                bounded = False
        if not bounded:
            raise NotKnown
        return _OPERATORS[type(op)](left, right)

    def on_unaryop(self, node: ast.UnaryOp, frame: Frame) -> Any:
        value = self.value(node.operand, frame)
        if isinstance(node.op, ast.Not):
            decided = not isinstance(value, Unknown)
            return (
                not self.truth(value) if decided else Unknown(ast.UnaryOp(ast.Not(), node_of(value)), "bool")
            )
        if isinstance(value, (int, float)):
            if isinstance(node.op, ast.Invert):
                return ~value if isinstance(value, int) else Unknown(closed(node, frame))
            return -value if isinstance(node.op, ast.USub) else value
        return Unknown(ast.UnaryOp(node.op, node_of(value)))

    def on_boolop(self, node: ast.BoolOp, frame: Frame) -> Any:
        value: Any = None
        for position, part in enumerate(node.values):
            value = self.value(part, frame)
            if position == len(node.values) - 1:
                break
            if isinstance(value, Unknown):
                others = [self.value(operand, frame) for operand in node.values[position + 1 :]]
                if all(isinstance(part_value, (Unknown, bool)) for part_value in others):
                    return Unknown(ast.BoolOp(node.op, [value.node, *map(node_of, others)]), value.kind)
            if self.truth(value) is isinstance(node.op, ast.Or):
                break
        return value

    def on_compare(self, node: ast.Compare, frame: Frame) -> Any:
        values = [self.value(operand, frame) for operand in (node.left, *node.comparators)]
        results = [
            self._compared(op, left, right)
            for op, left, right in zip(node.ops, values, values[1:], strict=False)
        ]
        if False in results:
            return False
        if all(result is True for result in results):
            return True
        return Unknown(
            ast.Compare(node_of(values[0]), node.ops, [node_of(value) for value in values[1:]]), "bool"
        )

    def _compared(self, op: ast.cmpop, left: Any, right: Any) -> bool | None:
        """True or False; None if unknown."""
        if isinstance(op, (ast.Is, ast.IsNot)) and right is None:
            return None if isinstance(left, Unknown) else (left is None) is isinstance(op, ast.Is)
        if isinstance(op, (ast.In, ast.NotIn)):
            contained = self._contained(left, right)
            return None if contained is None else contained is isinstance(op, ast.In)
        decided = all(
            operand is None
            or (isinstance(operand, (str, int, float, list, tuple, Dtype)) and literal(operand))
            for operand in (left, right)
        )
        if not decided or type(op) not in _OPERATORS:
            return None
        try:
            return bool(_OPERATORS[type(op)](left, right))
        except TypeError:
            return None

    def _contained(self, left: Any, right: Any) -> bool | None:
        if isinstance(right, dict) and None not in right:
            if hashed(left) in right:
                return True
            return False if literal(left) or not right else None
        if isinstance(right, (list, tuple, str)) and literal(right) and literal(left):
            try:
                return left in right
            except TypeError:
                return None
        return None

    def on_ifexp(self, node: ast.IfExp, frame: Frame) -> Any:
        condition = self.value(node.test, frame)
        if isinstance(condition, Unknown):
            arms = [self.value(arm, frame) for arm in (node.body, node.orelse)]
            if all(isinstance(arm, Unknown) for arm in arms):
                return Unknown(ast.IfExp(condition.node, arms[0].node, arms[1].node), arms[0].kind)
        return self.value(node.body if self.truth(condition) else node.orelse, frame)

    def on_lambda(self, node: ast.Lambda, frame: Frame) -> Any:
        return ScannedFunction(node, frame)

    def on_namedexpr(self, node: ast.NamedExpr, frame: Frame) -> Any:
        frame.names[node.target.id] = value = self.value(node.value, frame)
        return value

    def on_starred(self, node: ast.Starred, frame: Frame) -> Any:
        return Unknown(ast.Starred(node_of(self.value(node.value, frame)), ast.Load()))

    def on_listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, frame: Frame) -> Any:
        elements = Filtered()
        inner = Frame(around=frame, module=frame.module)

        def put() -> None:
            if len(elements) >= MAX_ELEMENTS:
                raise StopPath
            elements.append(self.value(node.elt, inner))

        if self._each(node.generators, inner, put, elements):
            return elements if elements.condition else list(elements)
        return Unknown(closed(node, frame))

    on_generatorexp = on_setcomp = on_listcomp

    def on_dictcomp(self, node: ast.DictComp, frame: Frame) -> Any:
        entries: dict[Any, Any] = {}
        inner = Frame(around=frame, module=frame.module)

        def put() -> None:
            entries[hashed(self.value(node.key, inner))] = self.value(node.value, inner)

        return entries if self._each(node.generators, inner, put) else Unknown(closed(node, frame))

    def _each(
        self,
        generators: list[ast.comprehension],
        frame: Frame,
        then: Callable[[], None],
        filtered: Filtered | None = None,
    ) -> bool:
        """Run ``then`` for each iteration of a comprehension; False if these are unknown.

        Of a list whose filter is unknown, every element stays, and ``filtered`` remembers the filter.
        """
        first, *inner = generators
        items = items_of(self.value(first.iter, frame), MAX_ELEMENTS)
        if items is None:
            return False
        for value in items:
            self.bind(first.target, value, frame)
            tests = [self.value(test, frame) for test in first.ifs]
            for test in tests:
                if isinstance(test, Unknown) and filtered is not None:
                    filtered.condition = filtered.condition or ast.unparse(first.ifs[0])
            if all(
                (isinstance(test, Unknown) and filtered is not None) or self.truth(test) for test in tests
            ):
                if inner and not self._each(inner, frame, then, filtered):
                    return False
                if not inner:
                    then()
        return True

    # ---------------------------------------------------------------- assignments

    def bind(self, target: ast.expr, value: Any, frame: Frame) -> None:
        """Assign a value to names; the parts of an unknown one are its elements."""
        if isinstance(target, ast.Name):
            frame.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            for position, element in enumerate(target.elts):
                inner = element.value if isinstance(element, ast.Starred) else element
                self.bind(inner, self._part(value, target.elts, position), frame)
        elif isinstance(target, ast.Attribute):
            base = self.value(target.value, frame)
            if isinstance(base, (Instance, Class)):
                base.names[target.attr] = value
            elif isinstance(base, Unknown):
                self.changed(target.value, frame)
        elif isinstance(target, ast.Subscript) and (place := self._place(target, frame)):
            base, key = place
            base[key] = value

    def _place(self, target: ast.Subscript, frame: Frame) -> tuple[Any, Any] | None:
        """The dict or list and the key of an entry that is written to; None, noted as a change, if unknown."""
        base = self.value(target.value, frame)
        key = None if isinstance(target.slice, ast.Slice) else self.value(target.slice, frame)
        if isinstance(base, dict):
            return base, hashed(key)
        if isinstance(base, list):
            if isinstance(key, int) and -len(base) <= key < len(base):
                return base, key
            self.disturbed(base)
        else:
            self.changed(target.value, frame)
        return None

    def _part(self, value: Any, targets: list[ast.expr], position: int) -> Any:
        """The value of one of several targets; a starred one takes the rest."""
        stars = [at for at, target in enumerate(targets) if isinstance(target, ast.Starred)]
        if not stars or position < stars[0]:
            return self.entry(value, position)
        after = len(targets) - 1 - position
        if position > stars[0]:
            return self.entry(value, -1 - after)
        if isinstance(value, (list, tuple)):
            return list(value[position : len(value) - after])
        end = ast.Constant(-after) if after else None
        return Unknown(ast.Subscript(node_of(value), ast.Slice(ast.Constant(position), end), ast.Load()))

    def changed(self, node: ast.expr, frame: Frame) -> None:
        """The object of an expression was written to: from here on its name has another value."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name) and isinstance(frame.find(node.id)[1], Unknown):
            self.count += 1
            frame.names[node.id] = leaf(f"{node.id}_changed_{self.count}")

    def disturbed(self, values: list[Any]) -> None:
        """A known list was written to in a way that is not followed: from here on it is unknown."""
        self.count += 1
        values[:] = [Unknown(ast.Starred(ast.Name(f"list_changed_{self.count}", ast.Load()), ast.Load()))]

    def deleted(self, target: ast.expr, frame: Frame) -> None:
        """``del target``."""
        if isinstance(target, ast.Name):
            frame.names.pop(target.id, None)
        elif isinstance(target, ast.Subscript) and (place := self._place(target, frame)):
            base, key = place
            if key in base or isinstance(base, list):
                del base[key]

    def carried(self, body: list[ast.stmt], frame: Frame) -> None:
        """Names that the body of a loop assigns: after unknown iterations they have other values."""
        for name in _assigned(body):
            if name not in frame.names:
                continue
            value = frame.names[name]
            if value is None or isinstance(value, (Unknown, bool, int, float, str)):
                self.count += 1
                kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else None
                frame.names[name] = leaf(f"{name}_changed_{self.count}", kind)


def items_of(values: Any, most: int) -> list[Any] | None:
    """The items that a loop over a value visits; None if unknown, or more than ``most``."""
    listed = isinstance(values, (dict, list, tuple)) or (isinstance(values, str) and literal(values))
    return list(values) if listed and len(values) <= most else None


def is_open(values: Any) -> bool:
    """Whether a list has a part ``*rest`` of unknown length."""
    return any(isinstance(value, Unknown) and isinstance(value.node, ast.Starred) for value in values)


def _bits(number: float) -> int:
    return number.bit_length() if isinstance(number, int) else 0


def _applied(forward: ScannedFunction) -> ScannedFunction:
    """``Op.apply`` of an autograd function: its ``forward``, with a ctx."""
    assert not isinstance(forward.node, ast.Lambda)
    plain = copy.copy(forward.node)
    plain.decorator_list = []
    return ScannedFunction(plain, forward.around, Instance(Class("ctx"), label="ctx"))


def _unsliced(base: Any, key: Any) -> ast.expr:
    """``x.shape[:2][1]`` is ``x.shape[1]``: the expression to take the entry of."""
    node = node_of(base)
    match node:
        case ast.Subscript(value=whole, slice=ast.Slice(lower=None, step=None)):
            return whole if isinstance(key, int) and key >= 0 else node
    return node


def _lines_set_right(node: ast.JoinedStr, pieces: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Python 3.11 gives all parts of a triple-quoted f-string the line of its start: count line breaks."""
    line = node.lineno
    fixed: list[tuple[str, int]] = []
    exact = len({at for _, at in pieces}) > 1
    for text, at in pieces:
        fixed.append((text, at if exact else line))
        line += text.count("\n")
    return fixed


def _assigned(body: list[ast.stmt]) -> list[str]:
    names = (
        node.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return list(dict.fromkeys(names))


class _Closing(ast.NodeTransformer):
    """Names of a frame -> their values."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def visit_Name(self, node: ast.Name) -> ast.expr:
        bound, value = self.frame.find(node.id)
        return node_of(value) if bound and isinstance(node.ctx, ast.Load) else node


def closed(node: ast.expr, frame: Frame) -> ast.expr:
    """An expression that is not followed, with known parts put in: names mean little outside of their function."""
    expression: ast.expr = _Closing(frame).visit(copy.deepcopy(node))
    return expression


def hashed(key: Any) -> Any:
    """A key for a dict: a known value itself, an unknown one as text."""
    if isinstance(key, (list, tuple, Unknown, dict)) or not isinstance(
        key, (str, int, float, Dtype, type(None))
    ):
        return ("key", text_of(node_of(key)))
    return str(key) if isinstance(key, str) else key
