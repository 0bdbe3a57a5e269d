"""Follows Python from its syntax tree, to learn which kernels it makes and with which defines it launches them.

Nothing is executed. Module code is followed from top to bottom, then every function on its own with unknown
parameters (defaults count), calls of the project's own functions inside them with what is known of their
arguments; a function that another one makes, never called, is followed where that one ends. Loops over known
lists are unrolled; others are followed once. All that is found goes to ``launches``, once per path.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any, Final

from pytriton.port.read import library, strings
from pytriton.port.read.evaluate import Evaluator, hashed, is_open, items_of
from pytriton.port.read.scopes import Choices, Frame, StopPath, paths
from pytriton.port.read.values import (
    FAILURES,
    Class,
    Instance,
    KernelObject,
    LaunchSite,
    Library,
    NotKnown,
    ScannedFunction,
    Traced,
    Unknown,
    leaf,
    literal,
    node_of,
    text_of,
)

MAX_DEPTH: Final = 12  # of calls
MAX_ITERATIONS: Final = 256  # of a loop that is unrolled
_TRITON: Final = ("triton", "pytriton")
# Functions and methods that give another value each time, or change the object that they belong to.
_CHANGES: Final = frozenset(
    "next pop popleft popitem read readline input random randint randrange choice append extend insert remove"
    " sort reverse clear update add discard resize_ t_ transpose_ squeeze_ unsqueeze_ as_strided_ set_".split()
)
_IMPORTS: Final = frozenset({"__import__", "importlib.__import__", "importlib.import_module"})
_NO_DEFINES: Final = ("grid", "num_warps", "num_stages", "bench")  # keywords of a call


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Leave(Exception):
    """``break`` or ``continue``."""


class Interpreter(Evaluator):
    """One run through a module and one of its functions."""

    def __init__(self, path: Path, root: Path, choices: Choices) -> None:
        super().__init__()
        self.path = path
        self.root = root
        self.choices = choices
        self.launches: list[LaunchSite] = []
        self.depth = 0
        self.uncalled: dict[ast.AST, ScannedFunction] = {}  # made by functions: escaping closures
        self.defined: dict[ast.AST, tuple[ScannedFunction, Class | None]] = {}  # with the class of a method
        self.modules: dict[Path, Frame] = {}

    # Modules

    def module(self, path: Path, tree: ast.Module, name: str = "__main__") -> Frame:
        """The names of a module after its code."""
        frame = Frame({"__file__": str(path), "__name__": name})
        frame.module = path
        self.modules[path.resolve()] = frame
        with contextlib.suppress(_Return, _Leave, StopPath):
            self.body(tree.body, frame)
        return frame

    def imported(self, name: str, level: int, frame: Frame) -> Any:
        """A module of the project, or the library of this name."""
        root = name.split(".")[0]
        if level == 0 and root in _TRITON:
            return Library(".".join(["triton", *name.split(".")[1:]]))
        folders = [frame.module.parent]
        for _ in range(level - 1):
            folders = [folders[0].parent]
        if level == 0:
            folders += [parent for parent in frame.module.parents if parent.is_relative_to(self.root)]
        parts = name.split(".") if name else []
        for folder in folders:
            for path in (folder.joinpath(*parts).with_suffix(".py"), folder.joinpath(*parts, "__init__.py")):
                if parts and path.is_file() and path.resolve().is_relative_to(self.root.resolve()):
                    return self._project_module(path, name)
        return Library(name) if name else None

    def _project_module(self, path: Path, name: str) -> Any:
        module = self.modules.get(path.resolve())
        if module is not None:
            return module
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError, RecursionError):
            return Library(name)
        mine, self.launches = self.launches, []
        try:
            return self.module(path, tree, name)
        finally:
            self.launches = mine

    def attribute(self, base: Any, name: str) -> Any:
        if isinstance(base, Frame):
            return base.names.get(name, leaf(name))
        return super().attribute(base, name)

    # Statements

    def body(self, statements: list[ast.stmt], frame: Frame) -> None:
        for statement in statements:
            self.choices.step()
            handler = getattr(self, f"do_{type(statement).__name__.lower()}", None)
            if handler is not None:
                handler(statement, frame)

    def do_expr(self, node: ast.Expr, frame: Frame) -> None:
        self.value(node.value, frame)

    def do_assign(self, node: ast.Assign, frame: Frame) -> None:
        value = self.value(node.value, frame)
        for target in node.targets:
            self.bind(target, value, frame)

    def do_delete(self, node: ast.Delete, frame: Frame) -> None:
        for target in node.targets:
            self.deleted(target, frame)

    def do_annassign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            self.bind(node.target, self.value(node.value, frame), frame)

    def do_augassign(self, node: ast.AugAssign, frame: Frame) -> None:
        target = node.target
        old, new = self.value(target, frame), self.value(node.value, frame)
        if isinstance(old, list) and isinstance(new, (list, tuple)) and isinstance(node.op, ast.Add):
            old.extend(new)
            return
        self.bind(target, self.binary(node.op, old, new), frame)

    def do_return(self, node: ast.Return, frame: Frame) -> None:
        raise _Return(None if node.value is None else self.value(node.value, frame))

    def do_raise(self, node: ast.Raise, frame: Frame) -> None:
        raise StopPath

    def do_break(self, node: ast.stmt, frame: Frame) -> None:
        raise _Leave

    do_continue = do_break

    def do_functiondef(self, node: ast.FunctionDef, frame: Frame) -> None:
        frame.names[node.name] = function = ScannedFunction(node, frame)
        self.defined[node] = function, None
        if self.depth:
            self.uncalled[node] = function

    do_asyncfunctiondef = do_functiondef

    def do_classdef(self, node: ast.ClassDef, frame: Frame) -> None:
        kind = Class(node.name, {}, tuple(self.value(base, frame) for base in node.bases))
        frame.names[node.name] = kind
        inner = Frame(kind.names, frame, node.name, frame.module)
        self.body(node.body, inner)
        for method, (function, _) in self.defined.items():
            if function.around is inner:
                function.around = frame  # a method does not see the class body
                self.defined[method] = function, kind

    def do_if(self, node: ast.If, frame: Frame) -> None:
        condition = self.value(node.test, frame)
        if isinstance(condition, Unknown):
            if _only_raises(node.body):
                self.body(node.orelse, frame)
                return
            if self._tells_nothing([*node.body, *node.orelse], frame):
                return
        self.body(node.body if self.truth(condition) else node.orelse, frame)

    def _tells_nothing(self, statements: list[ast.stmt], frame: Frame) -> bool:
        """Whether all these statements only give names unknown values; then they have it now."""
        unknowns: list[tuple[str, Any]] = []
        for statement in statements:
            if isinstance(statement, ast.Pass):
                continue
            if not isinstance(statement, ast.Assign) or not all(
                isinstance(t, ast.Name) for t in statement.targets
            ):
                return False
            if not isinstance(statement.value, (ast.Call, ast.Attribute)):
                return False
            if any(
                isinstance(self.callee(n.func, frame), (ScannedFunction, KernelObject))
                for n in _calls(statement)
            ):
                return False
            value = self.value(statement.value, frame)
            if not isinstance(value, Unknown):
                return False
            for target in statement.targets:
                assert isinstance(target, ast.Name)
                bound, old = frame.find(target.id)
                if bound and not isinstance(old, Unknown):
                    return False
                unknowns.append((target.id, old if bound else value))
        frame.names.update(unknowns)
        return True

    def do_for(self, node: ast.For, frame: Frame) -> None:
        values = self.value(node.iter, frame)
        items = items_of(values, MAX_ITERATIONS)
        finite = items is not None
        if items is None:
            items = [Unknown(ast.Call(ast.Name("next", ast.Load()), [node_of(values)], []))]
            self.carried(node.body, frame)
        for value in items:
            self.bind(node.target, value, frame)
            try:
                self.body(node.body, frame)
            except _Leave:
                continue
        if not finite:
            self.carried(node.body, frame)
        self.body(node.orelse, frame)

    def do_while(self, node: ast.While, frame: Frame) -> None:
        self.carried(node.body, frame)
        with contextlib.suppress(_Leave):
            self.value(node.test, frame)
            self.body(node.body, frame)
        self.carried(node.body, frame)

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
            value = self.imported(alias.name, 0, frame)
            name = alias.asname or alias.name.split(".")[0]
            if alias.asname is None and "." in alias.name:
                value = self.imported(name, 0, frame)
            frame.names[name] = value

    def do_importfrom(self, node: ast.ImportFrom, frame: Frame) -> None:
        module = self.imported(node.module or "", node.level, frame)
        for alias in node.names:
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
        self, function: ScannedFunction, arguments: list[Any] | None, named: dict[str, Any], unknown: Unknown
    ) -> Any:
        """The result of a function of the project; ``arguments`` None: called with unknown ones."""
        if self.depth >= MAX_DEPTH:
            return unknown
        node = function.node
        self.uncalled.pop(node, None)
        frame = Frame({}, function.around, getattr(node, "name", "lambda"), function.around.module)
        bound = _bound(node, function.owner)
        if bound and arguments is not None:
            arguments = [function.owner, *arguments]
        self._bind_parameters(node.args, arguments, named, frame)
        if bound:
            frame.names[[*node.args.posonlyargs, *node.args.args][0].arg] = function.owner
        self.depth += 1
        try:
            if isinstance(node, ast.Lambda):
                return self.value(node.body, frame)
            self.body(node.body, frame)
            return unknown if any(isinstance(child, ast.Yield) for child in ast.walk(node)) else None
        except _Return as result:
            return result.value
        except _Leave:
            return unknown
        finally:
            self.depth -= 1

    def _bind_parameters(
        self, parameters: ast.arguments, arguments: list[Any] | None, named: dict[str, Any], frame: Frame
    ) -> None:
        """``arguments`` None: nothing is known of the call, and booleans may be either."""
        positional = [*parameters.posonlyargs, *parameters.args]
        padding: list[ast.expr | None] = [None] * (len(positional) - len(parameters.defaults))
        defaults = dict(
            zip((parameter.arg for parameter in positional), [*padding, *parameters.defaults], strict=True)
        )
        defaults |= dict(
            zip((parameter.arg for parameter in parameters.kwonlyargs), parameters.kw_defaults, strict=True)
        )
        annotations = {
            parameter.arg: parameter.annotation for parameter in (*positional, *parameters.kwonlyargs)
        }
        passed = dict(zip((parameter.arg for parameter in positional), arguments or (), strict=False)) | {
            name: value for name, value in named.items() if name in defaults
        }
        for name, default in defaults.items():
            if name in passed:
                frame.names[name] = passed[name]
                continue
            value = (
                self._any(name, annotations.get(name), frame)
                if default is None
                else self.value(default, frame)
            )
            if arguments is None and isinstance(value, bool):
                value = leaf(name, "bool")
            frame.names[name] = value
        if parameters.vararg is not None:
            more_positional = (arguments or [])[len(positional) :]
            frame.names[parameters.vararg.arg] = (
                tuple(more_positional) if arguments is not None else leaf(parameters.vararg.arg)
            )
        if parameters.kwarg is not None:
            more = {name: value for name, value in named.items() if name not in defaults}
            frame.names[parameters.kwarg.arg] = more if arguments is not None else leaf(parameters.kwarg.arg)

    def _any(self, name: str, annotation: ast.expr | None, frame: Frame) -> Any:
        """An unknown argument; one that is annotated with a class of the project is an object of it."""
        word = annotation.value if isinstance(annotation, ast.Constant) else getattr(annotation, "id", None)
        kind = frame.find(word)[1] if isinstance(word, str) else None
        if isinstance(kind, Class) and self.depth < 3:
            self.depth += 1
            try:
                return self.make(kind, None, {}, name)
            finally:
                self.depth -= 1
        return leaf(name, {"bool": "bool", "int": "int"}.get(word) if isinstance(word, str) else None)

    def make(
        self, kind: Class, arguments: list[Any] | None, named: dict[str, Any], label: str = ""
    ) -> Instance:
        """An object of a class of the project, after its ``__init__``; ``arguments`` None: with unknown ones."""
        self.count += not label
        instance = Instance(
            kind, label=label or (f"{kind.name}_{self.count}" if arguments is not None else "self")
        )
        constructor = kind.find("__init__")
        if isinstance(constructor, ScannedFunction):
            bound = ScannedFunction(constructor.node, constructor.around, instance)
            self.call_function(bound, arguments, named, leaf("_"))
        return instance

    def launched(
        self,
        kernel: KernelObject,
        arguments: list[Any] | None,
        named: dict[str, Any],
        unnamed: Any,
        line: int,
    ) -> Any:
        """Note a kernel object that was made (``arguments`` None), or a call of one."""
        if arguments is None:
            self.launches.append(LaunchSite(kernel, 0, decisions=self.choices.trail(), file=self.path))
            return kernel
        named = {name: value for name, value in named.items() if name not in _NO_DEFINES}
        defines = named.pop("defines", None)
        merged: dict[Any, Any] = dict(defines) if isinstance(defines, dict) else {}
        if defines is not None and not isinstance(defines, dict):
            merged[None] = defines
        merged.update({hashed(key): value for key, value in named.items()})
        if unnamed is not None:
            merged[None] = unnamed
        self.launches.append(LaunchSite(kernel, line, merged, self.choices.trail(), self.path))
        return None

    # Calls of anything

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
        """The called function; a method of a known value is a pair of the value and the name."""
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
            case ScannedFunction():
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
                computable = True
            case ("insert", [int(), _]) | ("pop", [int()] | []):
                computable = not is_open(base)
            case (("index" | "count" | "sort" | "remove"), _):
                computable = not named and literal([base, arguments])
            case _:
                computable = False
        if computable:
            return getattr(base, name)(*arguments)
        if name in _CHANGES:
            self.disturbed(base)
        raise NotKnown

    def _text_method(self, base: str, name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
        if name == "format":
            return strings.format_fields(base, arguments, named, self.hole)
        if name == "join" and arguments and isinstance(arguments[0], (list, tuple)):
            return strings.join(base, arguments[0], self.hole)
        if name == "read" and isinstance(base, Traced) and base.path is not None:
            return base  # open(path).read()
        if name == "replace" and len(arguments) >= 2 and isinstance(arguments[1], Unknown):
            arguments = [arguments[0], strings.spelled(arguments[1], self.hole)]
        return strings.method(base, name, arguments)

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


def _bound(node: Any, owner: Any) -> bool:
    """Whether a call passes the owner as first argument."""
    decorators = [ast.unparse(decorator) for decorator in getattr(node, "decorator_list", ())]
    arguments = [*node.args.posonlyargs, *node.args.args]
    return owner is not None and bool(arguments) and "staticmethod" not in decorators


def _only_raises(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (child for child in ast.walk(node) if isinstance(child, ast.Call))


def follow(path: Path, tree: ast.Module, root: Path) -> tuple[list[LaunchSite], list[Unknown]]:
    """All kernels and launches of a module, and the holes of their texts by number."""
    launches: list[LaunchSite] = []
    holes: dict[str, Unknown] = {}
    for entry in (None, *_functions(tree)):
        for choices in paths():
            run = Interpreter(path, root, choices)
            run.holes = holes
            try:
                run.module(path, tree, path.stem if entry else "__main__")
                if entry is not None:
                    run.launches.clear()
                    _enter(run, entry)
            except (StopPath, RecursionError):
                pass
            choices.outcome = [_outcome(launch) for launch in run.launches]
            launches += run.launches
    return launches, list(holes.values())


def _outcome(launch: LaunchSite) -> str:
    """The options of a launch, as text: runs with equal outcomes are one."""
    kernel = launch.kernel
    return "; ".join(map(_shown, (kernel.source, kernel.defines, launch.defines)))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_shown(item)}" for key, item in value.items())
    return value if isinstance(value, str) else text_of(node_of(value))


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods of a module, those inside other functions aside; names may recur."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child
        elif isinstance(child, (ast.stmt, ast.excepthandler)):
            yield from _functions(child)


def _enter(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Follow one function with unknown parameters; a method gets an object made with unknown ones."""
    function, kind = run.defined.get(node, (None, None))
    if function is None:
        return  # on another path
    owner: Any = None
    if _bound(node, kind):
        decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
        owner = kind if "classmethod" in decorators or kind is None else run.make(kind, None, {})
    if kind is None or node.name != "__init__":
        run.call_function(ScannedFunction(node, function.around, owner), None, {}, leaf("_"))
    while run.uncalled:
        run.call_function(next(iter(run.uncalled.values())), None, {}, leaf("_"))
