"""Follows Python from its syntax tree, to learn which kernels it makes and with which defines it launches them.

Nothing is executed. Module code is followed from top to bottom, then every function on its own with unknown
parameters (defaults count), calls of the project's own functions inside them with what is known of their
arguments. Loops over known lists are unrolled; others are followed once, and what they assign is unknown. All
that is found goes to ``launches``, once per path.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Final

from pytriton.port.read import library, strings
from pytriton.port.read.evaluate import Evaluator, enter
from pytriton.port.read.scopes import Choices, Frame, StopPath, paths
from pytriton.port.read.values import (
    FAILURES,
    BoundMethod,
    KernelObject,
    LaunchSite,
    Library,
    NotKnown,
    ScannedFunction,
    Traced,
    Unknown,
    is_open,
    literal,
)

MAX_DEPTH: Final = 12  # of calls
_TRITON: Final = ("triton", "pytriton")
_IMPORTS: Final = ("__import__", "importlib.import_module")
_NO_DEFINES: Final = ("grid", "num_warps", "num_stages", "bench")  # keywords of a call


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class Interpreter(Evaluator):
    """One run through a module and one of its functions."""

    def __init__(self, path: Path, root: Path, choices: Choices) -> None:
        super().__init__()
        self.path = path
        self.root = root
        self.choices = choices
        self.launches: list[LaunchSite] = []
        self.passed_on: set[tuple[int, int]] = (
            set()
        )  # where calls of functions end: these launch nothing themselves
        self.depth = 0
        self.defined: dict[ast.AST, ScannedFunction] = {}
        self.modules: dict[Path, Frame] = {}

    # Modules

    def module(self, path: Path, tree: ast.Module, name: str = "__main__") -> Frame:
        """The names of a module after its code."""
        frame = Frame({"__file__": str(path), "__name__": name})
        frame.module = path
        self.modules[path.resolve()] = frame
        with contextlib.suppress(_Return, StopPath):
            self.body(tree.body, frame)
        frame.names |= {name: Unknown(name) for name in _globals(tree)}
        return frame

    def imported(self, name: str, level: int, frame: Frame) -> Any:
        """A module of the project, or the library of this name."""
        first, *rest = name.split(".")
        if level == 0 and first in _TRITON:
            return Library(".".join(["triton", *rest]))
        parents = list(frame.module.parents)
        folders = parents[max(level, 1) - 1 :][:1]
        if level == 0:
            folders += [parent for parent in parents if parent.is_relative_to(self.root)]
        for folder in folders if name else ():
            base = folder.joinpath(first, *rest)
            for path in (base.with_suffix(".py"), base / "__init__.py"):
                if path.is_file() and path.resolve().is_relative_to(self.root.resolve()):
                    return self._project_module(path, name)
        return Library(name) if name else None

    def _project_module(self, path: Path, name: str) -> Any:
        module = self.modules.get(path.resolve())
        if module is not None:
            return module
        try:
            tree = library.parsed(path.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError, RecursionError):
            return Library(name)
        return self.module(path, tree, name)

    # Statements

    def body(self, statements: list[ast.stmt], frame: Frame) -> None:
        for statement in statements:
            self.choices.step()
            handler = getattr(self, f"do_{type(statement).__name__.lower()}", None)
            if handler is not None:
                handler(statement, frame)
            else:
                self.forget([statement], frame)

    def do_expr(self, node: ast.Expr, frame: Frame) -> None:
        self.value(node.value, frame)

    def do_assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self.value(node.value, frame)
        for target in node.targets:
            self.bind(target, value, frame)

    def do_annassign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self.bind(node.target, self.value(node.value, frame), frame)

    def do_augassign(self, node: ast.AugAssign, frame: Frame) -> None:
        old, new = self.value(node.target, frame), self.value(node.value, frame)
        if isinstance(old, list) and isinstance(new, (list, tuple)) and isinstance(node.op, ast.Add):
            old.extend(new)
        else:
            self.changed(old)
            self.bind(node.target, self.value(ast.BinOp(node.target, node.op, node.value), frame), frame)

    def do_return(self, node: ast.Return, frame: Frame) -> None:
        raise _Return(None if node.value is None else self.value(node.value, frame))

    def do_raise(self, node: ast.Raise, frame: Frame) -> None:
        raise StopPath

    def do_functiondef(self, node: ast.FunctionDef, frame: Frame) -> None:
        frame.names[node.name] = self.defined[node] = ScannedFunction(node, frame)

    def do_classdef(self, node: ast.ClassDef, frame: Frame) -> None:
        inner = Frame({}, frame, node.name, frame.module)
        self.body(node.body, inner)
        for member in inner.names.values():
            if isinstance(member, ScannedFunction) and member.around is inner:
                member.around = frame  # a method does not see the class body
                if "classmethod" in map(ast.unparse, getattr(member.node, "decorator_list", ())):
                    member.owner = inner
        forward = inner.names.get("forward")
        if isinstance(forward, ScannedFunction):  # an autograd function
            inner.names["apply"] = ScannedFunction(forward.node, frame, Unknown("ctx"))
        frame.names[node.name] = inner

    def do_if(self, node: ast.If, frame: Frame) -> None:
        """A check that raises is taken as passed."""
        checks = isinstance(node.body[-1], ast.Raise)
        wanted = not checks and self.truth(self.value(node.test, frame))
        self.body(node.body if wanted else node.orelse, frame)

    def do_for(self, node: ast.For, frame: Frame) -> None:
        values = self.value(node.iter, frame)
        try:
            if any(isinstance(inner, (ast.Break, ast.Continue)) for inner in ast.walk(node)):
                raise NotKnown
            items = library.items_of(values)
        except NotKnown:
            self._once(node, Unknown(f"next({values!r})"), frame)
            return
        for item in items:
            self.bind(node.target, item, frame)
            self.body(node.body, frame)
        self.body(node.orelse, frame)

    def do_while(self, node: ast.While, frame: Frame) -> None:
        self._once(node, None, frame)

    def _once(self, node: ast.For | ast.While, item: Any, frame: Frame) -> None:
        """A round of a loop of which the number of rounds is unknown; what ``break`` leaves out is followed."""
        self.forget([node], frame)
        if isinstance(node, ast.For):
            self.bind(node.target, item, frame)
        self.body(node.body, frame)
        self.body(node.orelse, frame)
        self.forget([node], frame)

    def do_with(self, node: ast.With, frame: Frame) -> None:
        for item in node.items:
            value = self.value(item.context_expr, frame)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, frame)
        self.body(node.body, frame)

    def do_try(self, node: ast.Try, frame: Frame) -> None:
        self.body(node.body, frame)
        self.body(node.orelse, frame)
        self.body(node.finalbody, frame)

    def do_import(self, node: ast.Import, frame: Frame) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            frame.names[name] = self.imported(alias.name if alias.asname else name, 0, frame)

    def do_importfrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        module = self.imported(node.module or "", node.level, frame)
        for alias in node.names:
            if alias.name == "*" and isinstance(module, Frame):
                frame.names |= {name: value for name, value in module.names.items() if name[0] != "_"}
            inner = f"{node.module}.{alias.name}" if node.module else alias.name
            if isinstance(module, Frame) and alias.name in module.names:
                value = module.names[alias.name]
            elif isinstance(module, Frame) or module is None:
                value = self.imported(inner, node.level, frame)
            else:
                value = self.attribute(module, alias.name)
            frame.names[alias.asname or alias.name] = value

    # Calls of functions of the project

    def call_function(
        self, function: ScannedFunction, arguments: list[Any] | None, named: dict[str, Any]
    ) -> Any:
        """The result of a function of the project; ``arguments`` None: called with unknown ones."""
        if self.depth >= MAX_DEPTH:
            raise NotKnown
        node = function.node
        frame = Frame({}, function.around, getattr(node, "name", "lambda"), function.around.module)
        if function.owner is not None and arguments is not None:
            arguments = [function.owner, *arguments]
        self._bind_parameters(function, arguments, named, frame)
        self.depth += 1
        try:
            if isinstance(node, ast.Lambda):
                return self.value(node.body, frame)
            self.body(node.body, frame)
            raise NotKnown  # None, or a generator
        except _Return as result:
            return result.value
        finally:
            self.depth -= 1

    def _bind_parameters(
        self, function: ScannedFunction, arguments: list[Any] | None, named: dict[str, Any], frame: Frame
    ) -> None:
        """``arguments`` None: nothing is known of the call; a boolean may be either, and None something else."""
        node = function.node.args
        positional = [*node.posonlyargs, *node.args]
        padding: list[ast.expr | None] = [None] * (len(positional) - len(node.defaults))
        defaults = [*padding, *node.defaults, *node.kw_defaults]
        passed = {
            parameter.arg: value for parameter, value in zip(positional, arguments or (), strict=False)
        } | named
        for parameter, default in zip([*positional, *node.kwonlyargs], defaults, strict=True):
            name, word = parameter.arg, getattr(parameter.annotation, "id", None)
            if name in passed:
                value = passed.pop(name)
            elif default is None:
                value = Unknown(name, word if word in ("bool", "int") else None)
            else:
                value = self.value(default, frame)
                if arguments is None and (value is None or isinstance(value, bool)):
                    value = Unknown(name, None if value is None else "bool")
            frame.names[name] = value
        rest = [(node.vararg, tuple((arguments or ())[len(positional) :])), (node.kwarg, passed)]
        for parameter_of_rest, values in rest:
            if parameter_of_rest is not None:
                name = parameter_of_rest.arg
                frame.names[name] = Unknown(name) if arguments is None else values

    def followed(self, function: ScannedFunction) -> None:
        """Call a function with unknown arguments, and the function that it makes."""
        made: Any = function
        while isinstance(made, ScannedFunction):
            try:
                made = self.call_function(made, None, {})
            except FAILURES:
                return

    def launched(self, kernel: KernelObject, line: int, named: dict[Any, Any], frame: Frame) -> None:
        """Note a kernel object that was made (``line`` 0), or a call of one."""
        named = {name: value for name, value in named.items() if name not in _NO_DEFINES}
        defines: dict[Any, Any] = {}
        enter(defines, None, named.pop("defines", None) or {})
        self.launches.append(LaunchSite(kernel, line, defines | named, self.choices.trail(), frame.module))

    # Calls of anything

    def on_call(self, node: ast.Call, frame: Frame) -> Any:
        function = self.value(node.func, frame)
        arguments = list(self.on_list(ast.Tuple(node.args, ast.Load()), frame))
        named: dict[Any, Any] = {}
        for keyword in node.keywords:
            enter(named, keyword.arg, self.value(keyword.value, frame))
        try:
            if isinstance(function, (ScannedFunction, Library)) and frame.module == self.path:
                self.passed_on.add((node.end_lineno or 0, node.end_col_offset or 0))
            result = self._called(function, arguments, named, node.lineno, frame)
            if isinstance(result, Traced) and function == Library("triton.read"):
                result.at = (frame.module, node.lineno, node.col_offset)
            return result
        except FAILURES:
            for value in (*arguments, getattr(function, "base", None)):
                self.changed(value)
            raise

    def _called(
        self, function: Any, arguments: list[Any], named: dict[Any, Any], line: int, frame: Frame
    ) -> Any:
        """The result; raises one of ``FAILURES`` where it is unknown."""
        match function:
            case KernelObject():
                self.launched(function, line, named, frame)
                return None
            case ScannedFunction() if not is_open(named) and not is_open(arguments):
                return self.call_function(function, arguments, named)
            case Library(name="triton.kernel"):
                kernel = library.kernel_object(arguments, named, line, self.root)
                self.launched(kernel, 0, {}, frame)
                return kernel
            case Library(name=name) if name in _IMPORTS and arguments and isinstance(arguments[0], str):
                module = arguments[0].split(".")[0] if name == "__import__" else str(arguments[0])
                return self.imported(module, 0, frame)
            case Library(name=name):
                return library.call(name, arguments, named, self.root)
            case BoundMethod():
                return self._method(function.base, function.name, arguments, named)
        raise NotKnown

    def _method(self, base: Any, name: str, arguments: list[Any], named: dict[Any, Any]) -> Any:
        """A method of a known value; raises one of ``FAILURES`` where it is not followed."""
        match base, name, arguments:
            case Traced(), "read", _ if base.path is not None:
                return base  # open(path).read()
            case str(), _, _:
                return strings.operation(base, name, arguments, named)
            case PurePath(), ("read_text" | "open"), _:
                return library.call("open", [base], {}, self.root)
            case PurePath(), "resolve", _:
                return base
            case PurePath(), "joinpath", _ if literal(arguments):
                return base.joinpath(*map(str, arguments))
            case dict(), "update", _:
                for argument in [*arguments, named]:
                    enter(base, None, argument)
                return None
            case dict(), "get", [key, *default] if None not in base:
                return self.decided(base, key, *(default or [None]))
            case dict(), "copy" | "items" | "keys" | "values", [] if None not in base:
                result = getattr(base, name)()
                return result if name == "copy" else list(result)
            case (list(), "append", [_]) | (list(), "extend", [list() | tuple()]) | (list(), "copy", []):
                return getattr(base, name)(*arguments)
        raise NotKnown


def follow(path: Path, tree: ast.Module, root: Path) -> tuple[list[LaunchSite], set[tuple[int, int]]]:
    """All kernels and launches of a module, and where calls end that launch nothing themselves."""
    launches: list[LaunchSite] = []
    passed_on: set[tuple[int, int]] = set()
    for entry in (None, *_functions(tree)):
        for choices in paths():
            run = Interpreter(path, root, choices)
            try:
                names = run.module(path, tree, path.stem if entry else "__main__").names
                made = [value for value in names.values() if isinstance(value, ScannedFunction)]
                if entry is None:
                    made = [function for function in made if function.around.function]
                else:
                    run.launches.clear()
                    made = [run.defined[entry]] if entry in run.defined else []  # else on another path
                for function in made:
                    run.followed(function)
            except (StopPath, RecursionError, *FAILURES):
                pass
            choices.outcome = [
                repr([launch.kernel.source, launch.kernel.defines, launch.defines]) for launch in run.launches
            ]
            launches += run.launches
            passed_on |= run.passed_on
    return launches, passed_on


@cache
def _globals(tree: ast.Module) -> set[str]:
    """The names that a function assigns by ``global``: they are unknown in all functions."""
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods of a module, those inside other functions aside; names may recur."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child
        elif isinstance(child, (ast.stmt, ast.excepthandler)):
            yield from _functions(child)
