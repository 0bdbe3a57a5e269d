"""Expressions of the scanned Python -> values.

What is not known becomes an ``Unknown``, in one place (``Evaluator.value``): its text is the expression with the
values of its names put in. After ``M, K = a.shape`` the name ``M`` stands for ``a.shape[0]``.

That text is the identity of an unknown value. A name that a loop assigns gets a new one. Two calls with one
text (``sizes.pop()``) are taken for equal: combinations may be missing then, and none is wrong.
"""

from __future__ import annotations

import ast
import operator
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import PurePath
from typing import Any, Final

from pytriton.port.read import library, strings
from pytriton.port.read.scopes import Frame
from pytriton.port.read.values import (
    FAILURES,
    BoundMethod,
    Library,
    NotKnown,
    ScannedFunction,
    Unknown,
    is_open,
    literal,
    part,
    traced,
)

_OPERATORS: Final[dict[type[ast.operator] | type[ast.unaryop] | type[ast.cmpop], Callable[..., Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
    ast.USub: operator.neg,
}
_POSITIVE: Final = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}
MAX_NUMBER: Final = 1 << 64


class Evaluator:
    """Evaluates expressions in a frame. Statements and calls of functions are ``interpret.py``'s."""

    def __init__(self) -> None:
        self.count = 0  # of values that must not be taken for one another

    # What interpret.py gives.
    choices: Any
    path: Any

    def value(self, node: ast.expr, frame: Frame) -> Any:
        """The value of any expression."""
        self.choices.step()
        handler = getattr(self, f"on_{type(node).__name__.lower()}", None)
        if handler is not None:
            with suppress(*FAILURES):
                return handler(node, frame)
        return Unknown(closed(node, frame), kind_of(node))

    def truth(self, value: Any) -> bool:
        """A condition: known, or decided for this run."""
        return bool(value) if has_truth(value) else bool(self.choices.decide(repr(value)))

    def on_constant(self, node: ast.Constant, frame: Frame) -> Any:
        if isinstance(node.value, str):
            text = traced(((node.value, node.lineno),))
            text.at = (frame.module, node.lineno, node.col_offset)
            if "\n" in text and frame.module not in (None, self.path):
                text.path = frame.module  # a kernel's text in a module that this one imports
            return text
        return node.value

    def on_name(self, node: ast.Name, frame: Frame) -> Any:
        return frame.find(node.id)

    def on_joinedstr(self, node: ast.JoinedStr, frame: Frame) -> Any:
        values: list[Any] = []
        for piece in node.values:
            if isinstance(piece, ast.FormattedValue):
                if piece.format_spec is not None or piece.conversion not in (-1, ord("s")):
                    raise NotKnown
                piece = piece.value
            values.append(self.value(piece, frame))
        text = traced((("%s" * len(values), node.lineno),))
        return strings.operation(text, "__mod__", [tuple(values)], {})

    def on_list(self, node: ast.List | ast.Tuple | ast.Set, frame: Frame) -> Any:
        elements: list[Any] = []
        for element in node.elts:
            value = self.value(element.value if isinstance(element, ast.Starred) else element, frame)
            if not isinstance(element, ast.Starred):
                elements.append(value)
            elif isinstance(value, (list, tuple)):
                elements += value
            else:
                elements.append(Unknown(f"*{part(value)}"))
        return tuple(elements) if isinstance(node, ast.Tuple) else elements

    on_tuple = on_list

    def on_dict(self, node: ast.Dict, frame: Frame) -> Any:
        entries: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            enter(entries, None if key is None else self.value(key, frame), self.value(item, frame))
        return entries

    def on_attribute(self, node: ast.Attribute, frame: Frame) -> Any:
        return self.attribute(self.value(node.value, frame), node.attr)

    def attribute(self, base: Any, name: str) -> Any:
        """``base.name``."""
        match base:
            case PurePath() if name == "parent":
                return base.parent
            case Library():
                return library.attribute(base, name)
            case Frame():
                return base.names.get(name, Unknown(f"{base}.{name}"))
            case str() | list() | dict() | tuple() | PurePath():
                return BoundMethod(base, name)
            case _:
                return Unknown(f"{part(base)}.{name}", "dtype" if name == "dtype" else None)

    def on_subscript(self, node: ast.Subscript, frame: Frame) -> Any:
        base = self.value(node.value, frame)
        return self.entry(base, self.value(node.slice, frame))

    def entry(self, base: Any, key: Any) -> Any:
        """``base[key]``; an entry of a known dict under an unknown key is decided, one question a key."""
        if isinstance(base, dict):
            if key in base:
                return base[key]
            if base and None not in base and not literal(key):
                *others, last = base
                return self.decided({other: base[other] for other in others}, key, base[last])
        elif isinstance(base, (list, tuple, str)) and isinstance(key, int) and not is_open(base):
            with suppress(IndexError):
                return base[key]
        return Unknown(f"{part(base)}[{key!r}]")

    def decided(self, entries: dict[Any, Any], key: Any, otherwise: Any) -> Any:
        """The entry of a key, which is decided where it is unknown: one question an entry."""
        if literal(key):
            return entries.get(key, otherwise)
        same = (other for other in entries if self.truth(Unknown(f"{part(key)} == {other!r}")))
        other = next(same, None)
        return otherwise if other is None else entries[other]

    def on_binop(self, node: ast.BinOp, frame: Frame) -> Any:
        return computed(node.op, self.value(node.left, frame), self.value(node.right, frame))

    def on_unaryop(self, node: ast.UnaryOp, frame: Frame) -> Any:
        value = self.value(node.operand, frame)
        return not self.truth(value) if isinstance(node.op, ast.Not) else computed(node.op, value)

    def on_compare(self, node: ast.Compare, frame: Frame) -> Any:
        positive = _POSITIVE.get(type(node.ops[0]))
        if positive is not None and not node.ops[1:]:  # decided as its opposite is
            return not self.truth(self.value(ast.Compare(node.left, [positive()], node.comparators), frame))
        operands = [self.value(operand, frame) for operand in (node.left, *node.comparators)]
        if any(isinstance(value, bool) for value in operands):  # ``False != flag`` is decided as ``flag`` is
            operands = [value if has_truth(value) else self.truth(value) for value in operands]
        return computed(node.ops[0], *operands)

    def on_boolop(self, node: ast.BoolOp, frame: Frame) -> Any:
        """Operands before the last that are unknown make all of it unknown."""
        *firsts, last = node.values
        for operand in firsts:
            value = self.value(operand, frame)
            if not has_truth(value):
                raise NotKnown
            if bool(value) is isinstance(node.op, ast.Or):
                return value
        return self.value(last, frame)

    def on_ifexp(self, node: ast.IfExp, frame: Frame) -> Any:
        """One unknown value where both are; else it is decided which."""
        condition = self.value(node.test, frame)
        if isinstance(condition, Unknown):
            arms = [self.value(arm, frame) for arm in (node.body, node.orelse)]
            if all(isinstance(arm, Unknown) for arm in arms):
                return Unknown(f"{part(arms[0])} if {part(condition)} else {part(arms[1])}", arms[0].kind)
        return self.value(node.body if self.truth(condition) else node.orelse, frame)

    def on_lambda(self, node: ast.Lambda, frame: Frame) -> Any:
        return ScannedFunction(node, frame)

    def on_listcomp(self, node: ast.ListComp | ast.GeneratorExp, frame: Frame) -> Any:
        inner = Frame(around=frame, module=frame.module)
        return [self.value(node.elt, inner) for _ in self._rows(node.generators, inner)]

    on_generatorexp = on_listcomp

    def on_dictcomp(self, node: ast.DictComp, frame: Frame) -> Any:
        inner = Frame(around=frame, module=frame.module)
        rows = self._rows(node.generators, inner)
        return {self.value(node.key, inner): self.value(node.value, inner) for _ in rows}

    def _rows(self, generators: list[ast.comprehension], frame: Frame) -> Iterator[None]:
        """Bind the names of each iteration of a comprehension; raises NotKnown.

        An unknown filter is one decision: it keeps all, or nothing.
        """
        if not generators:
            yield
            return
        first, *others = generators
        for item in library.items_of(self.value(first.iter, frame)):
            self.bind(first.target, item, frame)
            tests = [self.value(test, frame) for test in first.ifs]
            wholes = [Unknown(ast.unparse(test)) for test in first.ifs]
            if all(
                self.truth(test if has_truth(test) else whole)
                for test, whole in zip(tests, wholes, strict=True)
            ):
                yield from self._rows(others, frame)

    # ---------------------------------------------------------------- assignments

    def bind(self, target: ast.expr, value: Any, frame: Frame) -> None:
        """Assign a value to names; the parts of an unknown one are its elements."""
        if isinstance(target, ast.Name):
            frame.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            if any(isinstance(element, ast.Starred) for element in target.elts):
                self.forget([target], frame)
                return
            for position, element in enumerate(target.elts):
                self.bind(element, self.entry(value, position), frame)
        elif isinstance(target, ast.Attribute):
            base = self.value(target.value, frame)
            if isinstance(base, Frame):
                base.names[target.attr] = value
        elif isinstance(target, ast.Subscript):
            base, key = self.value(target.value, frame), self.value(target.slice, frame)
            if isinstance(base, dict) or (isinstance(base, list) and key in range(len(base))):
                base[key] = value
            else:
                self.changed(base)

    def changed(self, value: Any) -> None:
        """A known list or dict was written to in a way that is not followed: it has an unknown part now."""
        self.count += 1
        if isinstance(value, list):
            value[:] = [Unknown(f"*list_{self.count}")]
        elif isinstance(value, dict):
            value[None] = Unknown(f"dict_{self.count}")

    def forget(self, nodes: Iterable[ast.AST], frame: Frame) -> None:
        """Names and objects that code writes which is not followed, or not as often as it runs, are unknown."""
        for node in (inner for outer in nodes for inner in ast.walk(outer)):
            match node:
                case ast.Name(id=name, ctx=ast.Store()):
                    self.count += 1
                    kind = "bool" if isinstance(frame.names.get(name), bool) else None
                    frame.names[name] = Unknown(f"{name}_{self.count}", kind)
                case (
                    ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))))
                    | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store())
                ):
                    self.changed(frame.find(name))


def has_truth(value: Any) -> bool:
    """Whether a value as a condition is known."""
    return not isinstance(value, (Unknown, Library)) and (
        not isinstance(value, (list, dict)) or not is_open(value)
    )


def computed(op: ast.operator | ast.unaryop | ast.cmpop, *operands: Any) -> Any:
    """What an operator gives for known operands, within bounds; raises one of ``FAILURES`` where it is unknown."""
    match op, *operands:
        case ast.Mod(), str(text), right:
            return strings.operation(text, "__mod__", [right], {})
        case ast.Add(), str(left), str(right):
            return strings.add(left, right)
        case ((ast.In() | ast.NotIn()), left, dict(entries)):
            fits = None not in entries and (left in entries or literal(left) or not entries)
        case ((ast.Is() | ast.IsNot()), left, right):
            fits = (right is None or isinstance(right, bool)) and not isinstance(left, (Unknown, Library))
        case (ast.operator(), int() | float(), int() | float()):
            small = 64 if isinstance(op, (ast.Pow, ast.LShift)) else MAX_NUMBER
            fits = abs(operands[0]) < MAX_NUMBER and abs(operands[1]) <= small
        case ast.Add(), (list() | tuple()) as left, right:
            fits = type(left) is type(right)
        case _:
            fits = isinstance(op, (ast.cmpop, ast.USub, ast.Div)) and literal(operands)
    if not fits:
        raise NotKnown
    return _OPERATORS[type(op)](*operands)


_pickled = cache(pickle.dumps)  # to copy nodes: faster than by ``copy``


class _Closing(ast.NodeTransformer):
    """Names of a frame -> their values."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(part(self.frame.find(node.id)))


def closed(node: ast.expr, frame: Frame) -> str:
    """An expression that is not known, with known parts put in: names mean little outside of their function."""
    return ast.unparse(_Closing(frame).visit(pickle.loads(_pickled(node))))


def kind_of(node: ast.expr) -> str | None:
    """The type that an unknown value has by its expression."""
    match node:
        case ast.Compare() | ast.BoolOp():
            return "bool"
        case ast.Call(func=ast.Name(id="bool" | "int" as name)):
            return name
    return None


def enter(entries: dict[Any, Any], key: Any, value: Any) -> None:
    """Add an entry to a dict, or the entries ``**value`` (``key`` None); the key None is for unknown ones."""
    entries.update({key: value} if key is not None else value if isinstance(value, dict) else {None: value})
