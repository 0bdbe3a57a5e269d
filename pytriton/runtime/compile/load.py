"""Generated text -> functions that Triton can compile or interpret.

Triton wants to see a function's source lines, and torch.compile wants its module in ``sys.modules``, so each
text lies in a real file (``module_cache.py``) under a module of that name. The text that is executed is the one in
memory, after the gate (``check_module``) has read it; ``linecache`` is given the same lines, so that what Triton
reads cannot differ from what runs. Texts that are equal share one module.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType, ModuleType, NoneType
from typing import Any, Final, NoReturn

from pytriton.compat.triton_names import JITFunction
from pytriton.runtime.compile.module_cache import module_name, store
from pytriton.runtime.errors import refusal
from pytriton.runtime.locks import PARSING, Lock

# What generated Python may contain: the last check before its text is executed.
#
# The translator writes modules from names and numbers that come from a user's source. Should it ever let a piece
# of that source through as Python, this gate stops it: it knows the few forms that templates and the emitter use
# and refuses all others. (The interpreter runs a kernel as Python, so the bodies of functions matter too.)


_REASON: Final = re.compile(r"translated for [\w .<>=!&|^~+*/%()-]+")  # of an assertion: lang/conditions.py
_PARTS: Final = (ast.boolop, ast.cmpop, ast.expr_context, ast.operator, ast.unaryop)
_EXPRESSIONS: Final = (
    *(ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.IfExp, ast.Name),
    *(ast.Subscript, ast.Tuple, ast.UnaryOp, ast.List, ast.Slice, ast.keyword, *_PARTS),
)


_STATEMENTS: Final = (
    *(ast.AnnAssign, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Expr, ast.For, ast.If, ast.Pass),
    *(ast.Return, ast.While),
)
_CONSTANTS: Final = (int, float, NoneType, EllipsisType)
_CALLED: Final = frozenset({"range", "printed", "watched"})
# of tl.tensor and of its descriptors
_METHODS: Final = frozenset("broadcast_to cast expand_dims load permute reshape split to trans view".split())
_ATTRIBUTES: Final = frozenset({"T", "dtype", "element_ty", "shape", "type"})
# ``tl.core`` and its like hold modules of Python, builtins among them.
_NAMESPACES: Final = frozenset({"tl", "tl.math", "libdevice"})
# only called, never bound or passed on
_RESERVED: Final = frozenset({"triton", "tl", "libdevice", "range", "float", "printed", "watched"})

_IMPORTS: Final = frozenset(
    {"import triton", "import triton.language as tl", "from triton.language.extra import libdevice"}
)
_REFUSED_FUNCTIONS: Final = frozenset({"inline_asm_elementwise"})  # machine code from a string

_CURE: Final = "this is a bug in pytriton: please report it with the kernel's source"


def check_module(text: str, path: str) -> None:
    """Raise LaunchError (a bug of pytriton, TC521) unless the text has the form of a generated module."""
    try:
        with PARSING:
            tree = ast.parse(text, path)
        _Gate(path).module(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise refusal(f"{path}: generated code cannot be read: {error}", "TC521", _CURE) from error


class _Gate:
    """The check of one text; ``called`` are the functions that it may call by name, its own among them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.called = set(_CALLED)

    def refuse(self, node: ast.AST, description: str) -> NoReturn:
        place = f"{self.path}:{getattr(node, 'lineno', 1)}"
        raise refusal(f"{place}: generated code may not contain {description}", "TC521", _CURE)

    def module(self, tree: ast.Module) -> None:
        self.called.update(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
        for node in tree.body[1:] if ast.get_docstring(tree, clean=False) else tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                if ast.unparse(node) not in _IMPORTS:
                    self.refuse(node, f"'{ast.unparse(node)}'")
            elif isinstance(node, ast.FunctionDef):
                self.kernel(node)
            else:
                self.refuse(node, f"a module-level {type(node).__name__}")

    def kernel(self, node: ast.FunctionDef) -> None:
        if [ast.unparse(decorator) for decorator in node.decorator_list] != ["triton.jit"]:
            self.refuse(node, "a function that is not decorated with exactly @triton.jit")
        given = node.args
        if given.posonlyargs or given.vararg or given.kwonlyargs or given.kwarg or given.defaults:
            self.refuse(node, "parameters other than plain ones without defaults")
        self.name(node, node.name)
        for parameter in given.args:
            self.name(parameter, parameter.arg)
            if parameter.annotation is not None:
                self.annotation(parameter, parameter.annotation)
        if node.returns is not None:
            self.refuse(node, "a return annotation")
        self.statements(node.body[1:] if ast.get_docstring(node, clean=False) else node.body)

    def name(self, node: ast.AST, name: str) -> None:
        """A name that the text binds."""
        if name.startswith("__") or name in _RESERVED:
            self.refuse(node, f"the name '{name}'")

    def annotation(self, node: ast.AST, annotation: ast.expr) -> None:
        """It must be a public name of ``tl``."""
        if not isinstance(annotation, ast.Attribute) or self.namespace(annotation) != "tl":
            self.refuse(node, f"the annotation '{ast.unparse(annotation)}'")

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.AST) -> None:
        if not isinstance(node, _STATEMENTS):
            self.refuse(node, f"a {type(node).__name__} statement")
        if isinstance(node, ast.AnnAssign):
            self.annotation(node, node.annotation)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.For)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                self.target(target)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            else:
                self.expression(child)

    def target(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name):
            self.name(node, node.id)
        elif isinstance(node, (ast.Tuple, ast.List)):
            for element in node.elts:
                self.target(element)
        else:
            self.refuse(node, f"an assignment to '{ast.unparse(node)}'")

    def expression(self, node: ast.AST, *, keyword: bool = False) -> None:
        match node:
            case ast.Constant(value=str()):
                if not keyword:
                    self.refuse(node, f"the text {node.value!r}")
            case ast.Constant(value=value) if not isinstance(value, _CONSTANTS):
                self.refuse(node, f"the constant {value!r}")
            case ast.Name(id=name) if name.startswith("__"):
                self.refuse(node, f"the name '{name}'")
            case ast.Name(id=name) if name in _RESERVED:
                self.refuse(node, f"'{name}' as a value")
            case ast.Attribute():
                self.attribute(node, _ATTRIBUTES)
                return
            case ast.Call():
                self.call(node)
                return
            case _ if not isinstance(node, _EXPRESSIONS):
                self.refuse(node, f"a {type(node).__name__}")
        for child in ast.iter_child_nodes(node):
            self.expression(child, keyword=isinstance(node, ast.keyword))

    def attribute(self, node: ast.Attribute, attributes: frozenset[str]) -> None:
        """``tl.x``, ``tl.math.x``, or a known attribute or method of a value."""
        if self.namespace(node) is None:
            if node.attr not in attributes:
                self.refuse(node, f"the attribute '{node.attr}'")
            self.expression(node.value)

    def call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(func=ast.Name("float"), args=[ast.Constant("inf" | "-inf" | "nan")], keywords=[]):
                return  # how Python spells these numbers
            case ast.Call(
                func=ast.Attribute(value=ast.Name("tl"), attr="static_assert"),
                args=[condition, ast.Constant(value=str(reason))],
                keywords=[],
            ) if _REASON.fullmatch(reason):
                self.expression(condition)
                return
            # A label is text.
            case ast.Call(func=ast.Attribute() as method, args=[ast.Constant(value=str()), *rest]) if (
                ast.unparse(method) == "tl.device_print"
            ):
                for argument in (*rest, *node.keywords):
                    self.expression(argument)
                return
            case ast.Call(func=ast.Name(id=name)):
                if name not in self.called:
                    self.refuse(node, f"a call of '{name}'")
            case ast.Call(func=ast.Attribute() as method):
                self.attribute(method, _METHODS)
            case _:
                self.refuse(node, f"a call of '{ast.unparse(node.func)}'")
        for argument in (*node.args, *node.keywords):
            self.expression(argument)

    def namespace(self, node: ast.Attribute) -> str | None:
        """``tl``, ``tl.math`` or ``libdevice`` if the attribute is a public name of that; else None."""
        owner = ast.unparse(node.value)
        if node.attr.startswith("_") or node.attr in _REFUSED_FUNCTIONS:
            return None
        if (owner, node.attr) == ("triton", "next_power_of_2"):
            return owner
        return owner if owner in _NAMESPACES else None


@dataclass(frozen=True)
class LoadedModule:
    """A generated module and the one kernel in it."""

    module: ModuleType
    function: str
    path: Path

    @property
    def compiled(self) -> Any:
        """The kernel as Triton's compiler takes it, a ``JITFunction``."""
        kernel = getattr(self.module, self.function)
        # With TRITON_INTERPRET set, @triton.jit makes something that cannot be compiled.
        return kernel if isinstance(kernel, JITFunction) else JITFunction(kernel.fn)

    @property
    def python(self) -> Any:
        """The kernel as Python sees it, undecorated."""
        return getattr(self.module, self.function).fn


_lock: Final = Lock()
_loaded: Final[dict[tuple[str, str], LoadedModule]] = {}


def load(function: str, text: str) -> LoadedModule:
    """The module of a generated text; raises LaunchError for text that the gate refuses."""
    with _lock:
        module = _loaded.get((function, text))
        if module is None:
            module = _loaded[function, text] = _execute(function, text)
        return module


def _execute(function: str, text: str) -> LoadedModule:
    name = f"pytriton_{module_name(function, text)}"
    check_module(text, f"{name}.py")
    path = store(function, text)
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        exec(compile(text, str(path), "exec"), vars(module))
        return LoadedModule(module, function, path)
    except BaseException:
        del sys.modules[name]
        raise
