"""What generated Python may contain: the last check before its text is executed.

The translator and the fast path write modules from names and numbers that come from a user's source. Should they
ever let a piece of that source through as Python, this gate stops it: it knows the few forms that their templates
and the emitter use and refuses all others. (The interpreter runs a kernel as Python, so the bodies of functions
matter too.) One walk serves both; what may stand in a kernel and in a launcher are two tables.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import EllipsisType, NoneType
from typing import Final, NoReturn

from pytriton.runtime.errors import refusal

__all__ = ["check_launcher", "check_module"]

_PARTS: Final = (ast.boolop, ast.cmpop, ast.expr_context, ast.operator, ast.unaryop)
_EXPRESSIONS: Final = (
    *(ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.IfExp, ast.Name),
    *(ast.Subscript, ast.Tuple, ast.UnaryOp),
)
_STATEMENTS: Final = (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.Return)


@dataclass(frozen=True)
class _Table:
    """What one kind of generated text may contain; ``what`` names it in messages.

    ``called`` are the functions that may be called by name, ``namespaces`` those whose public names may be used,
    ``methods`` and ``attributes`` those of values. ``reserved`` names are only called, never bound or passed on.
    """

    what: str
    statements: tuple[type[ast.AST], ...]
    expressions: tuple[type[ast.AST], ...]
    constants: tuple[type, ...]
    called: frozenset[str]
    methods: frozenset[str]
    attributes: frozenset[str]
    namespaces: frozenset[str] = frozenset()
    reserved: frozenset[str] = frozenset()


_KERNEL: Final = _Table(
    what="generated code",
    statements=(*_STATEMENTS, ast.AnnAssign, ast.Break, ast.Continue, ast.For, ast.Pass, ast.While),
    expressions=(*_EXPRESSIONS, *_PARTS, ast.List, ast.Slice, ast.keyword),
    constants=(int, float, NoneType, EllipsisType),
    called=frozenset({"range", "printed", "watched"}),
    # of tl.tensor and of its descriptors
    methods=frozenset("broadcast_to cast expand_dims load permute reshape split to trans view".split()),
    attributes=frozenset({"T", "dtype", "element_ty", "shape", "type"}),
    # ``tl.core`` and its like hold modules of Python, builtins among them.
    namespaces=frozenset({"tl", "tl.math", "libdevice"}),
    reserved=frozenset({"triton", "tl", "libdevice", "range", "float", "printed", "watched"}),
)
_LAUNCHER: Final = _Table(
    what="a generated launcher",
    statements=(*_STATEMENTS, ast.ExceptHandler, ast.Try),
    expressions=(*_EXPRESSIONS, *_PARTS),
    constants=(int, NoneType),
    called=frozenset(
        "callable current_device current_stream float grad_enabled grid increment_version launch len missed "
        "to_bfloat16 to_half type".split()
    ),
    methods=frozenset({"data_ptr", "get_device", "is_contiguous", "is_neg", "numel", "get"}),
    attributes=frozenset({"calls", "dtype", "launch_enter_hook", "launch_exit_hook", "requires_grad"}),
)

_IMPORTS: Final = frozenset(
    {"import triton", "import triton.language as tl", "from triton.language.extra import libdevice"}
)
_REFUSED_FUNCTIONS: Final = frozenset({"inline_asm_elementwise"})  # machine code from a string

_CURE: Final = "this is a bug in pytriton: please report it with the kernel's source"


def check_module(text: str, path: str) -> None:
    """Raise LaunchError (a bug of pytriton, TC521) unless the text has the form of a generated module."""
    _check(text, path, _KERNEL)


def check_launcher(text: str, path: str) -> None:
    """Raise LaunchError (a bug of pytriton, TC521) unless the text has the form of a generated launcher."""
    _check(text, path, _LAUNCHER)


def _check(text: str, path: str, table: _Table) -> None:
    try:
        gate = _Gate(path, table)
        tree = ast.parse(text, path)
        if table is _KERNEL:
            gate.module(tree)
        else:
            gate.launcher(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise refusal(f"{path}: {table.what} cannot be read: {error}", "TC521", _CURE) from error


class _Gate:
    """The check of one text; ``called`` are the functions that it may call by name, its own among them."""

    def __init__(self, path: str, table: _Table) -> None:
        self.path = path
        self.table = table
        self.called = set(table.called)

    def refuse(self, node: ast.AST, description: str) -> NoReturn:
        place = f"{self.path}:{getattr(node, 'lineno', 1)}"
        raise refusal(f"{place}: {self.table.what} may not contain {description}", "TC521", _CURE)

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

    def launcher(self, tree: ast.Module) -> None:
        body = tree.body
        if body and isinstance(body[0], ast.ImportFrom):
            if body[0].module != "torch" or any(alias.asname for alias in body[0].names):
                self.refuse(body[0], f"'{ast.unparse(body[0])}'")
            body = body[1:]
        match body:
            case [ast.FunctionDef(decorator_list=[], returns=None, args=given) as function]:
                if ast.unparse(given) != "arguments, grid":
                    self.refuse(function, f"the parameters '{ast.unparse(given)}'")
                self.statements(function.body)
            case _:
                self.refuse(tree, "anything but one plain function")

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
        if name.startswith("__") or name in self.table.reserved:
            self.refuse(node, f"the name '{name}'")

    def annotation(self, node: ast.AST, annotation: ast.expr) -> None:
        """It must be a public name of ``tl``."""
        if not isinstance(annotation, ast.Attribute) or self.namespace(annotation) != "tl":
            self.refuse(node, f"the annotation '{ast.unparse(annotation)}'")

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.AST) -> None:
        if not isinstance(node, self.table.statements):
            self.refuse(node, f"a {type(node).__name__} statement")
        if isinstance(node, ast.AnnAssign):
            self.annotation(node, node.annotation)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.For)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                self.target(target)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.stmt, ast.ExceptHandler)):
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
            case ast.Constant(value=value) if not isinstance(value, self.table.constants):
                self.refuse(node, f"the constant {value!r}")
            case ast.Name(id=name) if name.startswith("__"):
                self.refuse(node, f"the name '{name}'")
            case ast.Name(id=name) if name in self.table.reserved:
                self.refuse(node, f"'{name}' as a value")
            case ast.Attribute():
                self.attribute(node, self.table.attributes)
                return
            case ast.Call():
                self.call(node)
                return
            case _ if not isinstance(node, self.table.expressions):
                self.refuse(node, f"a {type(node).__name__}")
        for child in ast.iter_child_nodes(node):
            self.expression(child, keyword=isinstance(node, ast.keyword))

    def attribute(self, node: ast.Attribute, known: frozenset[str]) -> None:
        """``tl.x``, ``tl.math.x``, or a known attribute or method of a value."""
        if self.namespace(node) is None:
            if node.attr not in known:
                self.refuse(node, f"the attribute '{node.attr}'")
            self.expression(node.value)

    def call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(func=ast.Name("float"), args=[ast.Constant("inf" | "-inf" | "nan")], keywords=[]):
                return  # how Python spells these numbers
            # A label is text.
            case ast.Call(func=ast.Attribute() as method, args=[ast.Constant(value=str()), *rest]) if (
                self.table is _KERNEL and ast.unparse(method) == "tl.device_print"
            ):
                for argument in (*rest, *node.keywords):
                    self.expression(argument)
                return
            case ast.Call(func=ast.Name(id=name)):
                if name not in self.called:
                    self.refuse(node, f"a call of '{name}'")
            case ast.Call(func=ast.Attribute() as method):
                self.attribute(method, self.table.methods)
            case _:
                self.refuse(node, f"a call of '{ast.unparse(node.func)}'")
        for argument in (*node.args, *node.keywords):
            self.expression(argument)

    def namespace(self, node: ast.Attribute) -> str | None:
        """``tl``, ``tl.math`` or ``libdevice`` if the attribute is a public name of that; else None."""
        owner = ast.unparse(node.value)
        if node.attr.startswith("_") or node.attr in _REFUSED_FUNCTIONS:
            return None
        if self.table is _KERNEL and (owner, node.attr) == ("triton", "next_power_of_2"):
            return owner
        return owner if owner in self.table.namespaces else None
