"""Calls in the scanned Python: kernels, the project's own functions, libraries, methods of known values."""

from __future__ import annotations

import ast
from pathlib import PurePath
from typing import Any, Final

from pytriton.port.read import library, texts
from pytriton.port.read.bind import hashed
from pytriton.port.read.evaluate import Evaluator, is_open
from pytriton.port.read.frames import Frame
from pytriton.port.read.values import (
    FAILURES,
    Class,
    Function,
    KernelObject,
    Library,
    NotKnown,
    Traced,
    Unknown,
    leaf,
    literal,
    node_of,
)

# Functions and methods that give another value each time, or change the object that they belong to.
_CHANGES: Final = frozenset(
    "next pop popleft popitem read readline input random randint randrange choice append extend insert remove"
    " sort reverse clear update add discard resize_ t_ transpose_ squeeze_ unsqueeze_ as_strided_ set_".split()
)
_IMPORTS: Final = frozenset({"__import__", "importlib.__import__", "importlib.import_module"})


class Caller(Evaluator):
    """An evaluator that also knows calls. What they do to a run is interpret.py's."""

    def on_call(self, node: ast.Call, frame: Frame) -> Any:
        function = self.callee(node.func, frame)
        arguments = self.on_list(ast.Tuple(node.args, ast.Load()), frame)
        named: dict[str, Any] = {}
        more: Any = None
        for keyword in node.keywords:
            value = self.value(keyword.value, frame)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif isinstance(value, dict):
                more = value.pop(None, more) if None in value else more
                named.update({str(key): item for key, item in value.items()})
            else:
                more = value
        return self._called(function, list(arguments), named, more, node, frame)

    def callee(self, node: ast.expr, frame: Frame) -> Any:
        """What is called; a method of a known value is a pair of the value and the name."""
        if isinstance(node, ast.Attribute):
            base = self.value(node.value, frame)
            if isinstance(base, (str, list, dict, tuple, PurePath)):
                return base, node.attr
            return self.attribute(base, node.attr)
        return self.value(node, frame)

    def _called(
        self,
        function: Any,
        arguments: list[Any],
        named: dict[str, Any],
        more: Any,
        node: Any,
        frame: Frame,
    ) -> Any:
        unknown = Unknown(
            ast.Call(
                node_of(function) if not isinstance(function, tuple) else node.func,
                [node_of(argument) for argument in arguments],
                [ast.keyword(key, node_of(argument)) for key, argument in named.items()],
            )
        )
        match function:
            case KernelObject():
                return self.launched(function, arguments, named, more, node.lineno)
            case Function():
                return self.call_function(function, arguments, named, unknown)
            case Class():
                return self.make(function, arguments, named)
            case Library(name="triton.kernel"):
                if more is not None:
                    named["defines"] = {**(named.get("defines") or {}), None: more}
                return self.launched(
                    library.kernel_object(arguments, named, node.lineno, self.root), None, {}, None, 0
                )
            case Library(name=name) if name in _IMPORTS:
                top = name != "importlib.import_module"
                return self._imported(arguments, named, frame, unknown, top=top)
            case Library(name="random.shuffle") if arguments and isinstance(arguments[0], list):
                self.disturbed(arguments[0])
            case Library(name=name):
                try:
                    return library.call(name, arguments, named, self.root)
                except FAILURES:
                    return self._fresh(name, unknown)
            case (base, str(name)):
                try:
                    return self._method(base, name, arguments, named, more)
                except FAILURES:
                    return unknown
        if isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            self.changed(node.func.value, frame)
            return self._fresh(node.func.attr, unknown)
        return unknown

    def _imported(
        self, arguments: list[Any], named: dict[str, Any], frame: Frame, unknown: Unknown, top: bool
    ) -> Any:
        """What ``importlib.import_module('.testing', 'triton')`` gives, or the ``top`` of what was named."""
        name = arguments[0] if arguments else named.get("name")
        package = arguments[1] if len(arguments) > 1 else named.get("package")
        if not isinstance(name, str):
            return unknown
        if top:
            return self.imported(name.split(".")[0], 0, frame)
        level = len(name) - len(name.lstrip("."))
        if level == 1 and isinstance(package, str):
            name, level = package + name, 0
        return self.imported(name.lstrip("."), level, frame)

    def _fresh(self, name: str, unknown: Unknown) -> Unknown:
        """Calls that give another value each time are not taken for one another."""
        if name.rsplit(".", 1)[-1] not in _CHANGES:
            return unknown
        self.count += 1
        return leaf(f"{name}_{self.count}")

    def _method(self, base: Any, name: str, arguments: list[Any], named: dict[str, Any], more: Any) -> Any:
        if isinstance(base, str):
            return self._text_method(base, name, arguments, named)
        if isinstance(base, PurePath):
            return self._path_method(base, name, arguments)
        if isinstance(base, dict):
            return self._dict_method(base, name, arguments, named, more)
        if isinstance(base, list):
            return self._list_method(base, name, arguments, named)
        if name not in ("index", "count") or not literal([base, arguments]):
            raise NotKnown
        return getattr(base, name)(*arguments)

    def _list_method(self, base: list[Any], name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
        """A method of a list, done to the list itself."""
        match name, arguments:
            case ("append", [_]) | ("extend", [list() | tuple()]) | ("reverse" | "clear" | "copy", []):
                known = True
            case ("insert", [int(), _]) | ("pop", [int()] | []):
                known = not is_open(base)
            case (("index" | "count" | "sort" | "remove"), _):
                known = not named and literal([base, arguments])
            case _:
                known = False
        if known:
            return getattr(base, name)(*arguments)
        if name in _CHANGES:
            self.disturbed(base)
        raise NotKnown

    def _text_method(self, base: str, name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
        if name == "format":
            return texts.format_fields(base, arguments, named, self.hole)
        if name == "join" and arguments and isinstance(arguments[0], (list, tuple)):
            return texts.join(base, arguments[0], self.hole)
        if name == "read" and isinstance(base, Traced) and base.path is not None:
            return base  # open(path).read()
        if name == "replace" and len(arguments) >= 2 and isinstance(arguments[1], Unknown):
            arguments = [arguments[0], texts.spelled(arguments[1], self.hole)]
        return texts.method(base, name, arguments)

    def _path_method(self, base: PurePath, name: str, arguments: list[Any]) -> Any:
        if name in ("read_text", "open"):
            return library.call("open", [base], {}, self.root)
        if name in ("resolve", "absolute"):
            return base
        if name not in ("as_posix", "joinpath", "with_name", "with_suffix") or not literal(arguments):
            raise NotKnown
        return getattr(base, name)(*map(str, arguments))

    def _dict_method(
        self, base: dict[Any, Any], name: str, arguments: list[Any], named: dict[str, Any], more: Any
    ) -> Any:
        if name == "update":
            for argument in arguments:
                base.update(argument if isinstance(argument, dict) else {None: argument})
            base.update(named)
            if more is not None:
                base[None] = more
            return None
        if name in ("get", "setdefault", "pop") and arguments:
            key = hashed(arguments[0])
            if None in base and key not in base:  # more entries than are known
                raise NotKnown
            entry = base.get(key, arguments[1] if len(arguments) > 1 else None)
            if name == "setdefault":
                base[key] = entry
            if name == "pop":
                base.pop(key, None)
            return entry
        if name in ("copy", "clear"):
            return getattr(base, name)()
        if name in ("items", "keys", "values"):
            return [*map(tuple, base.items())] if name == "items" else [*getattr(base, name)()]
        raise NotKnown
