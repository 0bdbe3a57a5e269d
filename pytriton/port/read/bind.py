"""Assignments: what a target gets, and what a write does to names that stand for unknown values.

An unknown value is known by the expression that computes it, so two values must never share an expression. A name
whose object is written to (``shape[0] = 7``, ``numbers.pop()``) gets a new one.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from pytriton.port.read.frames import Frame
from pytriton.port.read.values import Class, Dtype, Instance, Unknown, leaf, node_of, text_of


class Binder:
    """Assigns values to targets. Values are ``evaluate.py``'s."""

    def __init__(self) -> None:
        self.count = 0  # of values that must not be taken for one another

    # What evaluate.py gives.
    value: Callable[[ast.expr, Frame], Any]
    entry: Callable[[Any, Any], Any]

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
        """What one of several targets gets; a starred one takes what the others leave."""
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
        """What an expression stands for was written to: from here on its name stands for something else."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            node = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name) and isinstance(frame.find(node.id)[1], Unknown):
            self.count += 1
            frame.names[node.id] = leaf(f"{node.id}_changed_{self.count}")

    def disturbed(self, values: list[Any]) -> None:
        """A known list was written to in a way that is not followed: from here on nothing is known of it."""
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
        """Names that the body of a loop assigns: after unknown iterations they stand for something else."""
        for name in _assigned(body):
            if name not in frame.names:
                continue
            value = frame.names[name]
            if value is None or isinstance(value, (Unknown, bool, int, float, str)):
                self.count += 1
                kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else None
                frame.names[name] = leaf(f"{name}_changed_{self.count}", kind)


def _assigned(body: list[ast.stmt]) -> list[str]:
    names = (
        node.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return list(dict.fromkeys(names))


class _Closing(ast.NodeTransformer):
    """Names of a frame -> what they stand for."""

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
    """A key for a dict: what is known as itself, the rest by its text."""
    if isinstance(key, (list, tuple, Unknown, dict)) or not isinstance(
        key, (str, int, float, Dtype, type(None))
    ):
        return ("key", text_of(node_of(key)))
    return str(key) if isinstance(key, str) else key
