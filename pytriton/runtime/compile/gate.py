"""What a generated module may contain: the last check before its text is executed.

The translator writes modules from names and numbers that come from a user's source. Should it ever let a
piece of that source through as Python, this gate stops it: it knows the few forms that the emitter uses and
refuses all others. (The interpreter runs a kernel as Python, so the bodies of functions matter too.)
"""

from __future__ import annotations

import ast
from typing import Final, NoReturn

from pytriton.runtime.errors import refusal

__all__ = ["check_module"]

_IMPORTS: Final = frozenset(
    {
        "import triton",
        "import triton.language as tl",
        "from triton.language.extra import libdevice",
    }
)
# Where functions and types come from. ``tl.core`` and its like hold modules of Python, builtins among them.
_NAMESPACES: Final = frozenset({"tl", "tl.math", "libdevice"})
_REFUSED_FUNCTIONS: Final = frozenset({"inline_asm_elementwise"})  # machine code from a string
_RESERVED: Final = frozenset({"triton", "tl", "libdevice", "range", "float"})
_BUILTINS: Final = frozenset({"range", "float"})

# Methods of tl.tensor, and of its descriptors, that the emitter may write, and the attributes of tensors and types.
_METHODS: Final = frozenset(
    {"broadcast_to", "cast", "expand_dims", "load", "permute", "reshape", "split", "to", "trans", "view"}
)
_ATTRIBUTES: Final = frozenset({"T", "dtype", "element_ty", "shape", "type"})

_STATEMENTS: Final = (
    ast.AnnAssign,
    ast.Assign,
    ast.AugAssign,
    ast.Break,
    ast.Continue,
    ast.Expr,
    ast.For,
    ast.If,
    ast.Pass,
    ast.Return,
    ast.While,
)
_EXPRESSIONS: Final = (
    ast.Attribute,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.Constant,
    ast.IfExp,
    ast.List,
    ast.Name,
    ast.Slice,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
)
_PARTS: Final = (
    ast.boolop,
    ast.cmpop,
    ast.expr_context,
    ast.keyword,
    ast.operator,
    ast.unaryop,
)


def check_module(text: str, path: str) -> None:
    """Raise LaunchError (a bug of pytriton, TC521) unless the text has the form of a generated module."""
    try:
        tree = ast.parse(text, path)
        _Gate(path, tree).check()
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise refusal(f"{path}: generated code cannot be read: {error}", "TC521", _CURE) from error


_CURE: Final = "this is a bug in pytriton: please report it with the kernel's source"


class _Gate:
    """One module's check; ``functions`` are the names that it defines and may call."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        place = f"{self.path}:{getattr(node, 'lineno', 1)}"
        raise refusal(f"{place}: generated code may not contain {what}", "TC521", _CURE)

    def check(self) -> None:
        body = self.tree.body[1:] if ast.get_docstring(self.tree, clean=False) else self.tree.body
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                if ast.unparse(node) not in _IMPORTS:
                    self.refuse(node, f"'{ast.unparse(node)}'")
            elif isinstance(node, ast.FunctionDef):
                self.function(node)
            else:
                self.refuse(node, f"a module-level {type(node).__name__}")

    def function(self, node: ast.FunctionDef) -> None:
        if [ast.unparse(decorator) for decorator in node.decorator_list] != ["triton.jit"]:
            self.refuse(node, "a function that is not decorated with exactly @triton.jit")
        given = node.args
        if given.posonlyargs or given.vararg or given.kwonlyargs or given.kwarg or given.defaults:
            self.refuse(node, "parameters other than plain ones without defaults")
        self.name(node, node.name)
        for parameter in given.args:
            self.name(parameter, parameter.arg)
            if parameter.annotation is not None and not _is_annotation(parameter.annotation):
                self.refuse(parameter, f"the annotation '{ast.unparse(parameter.annotation)}'")
        if node.returns is not None:
            self.refuse(node, "a return annotation")
        body = node.body[1:] if ast.get_docstring(node, clean=False) else node.body
        for statement in body:
            self.statement(statement)

    def name(self, node: ast.AST, name: str) -> None:
        """A name that the module binds."""
        if name.startswith("__") or name in _RESERVED:
            self.refuse(node, f"the name '{name}'")

    def statement(self, node: ast.stmt) -> None:
        if not isinstance(node, _STATEMENTS):
            self.refuse(node, f"a {type(node).__name__} statement")
        if isinstance(node, ast.AnnAssign) and not _is_annotation(node.annotation):
            self.refuse(node, f"the annotation '{ast.unparse(node.annotation)}'")
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
            case ast.Constant(value=str()) if not keyword:
                self.refuse(node, f"the text {node.value!r}")
            case ast.Constant(value=bytes() | complex()):
                self.refuse(node, f"the constant {node.value!r}")
            case ast.Name(id=name) if name.startswith("__"):
                self.refuse(node, f"the name '{name}'")
            case ast.Name(id=name) if name in _RESERVED:
                self.refuse(node, f"'{name}' as a value")
            case ast.Attribute():
                self.attribute(node)
                return
            case ast.Call():
                self.call(node)
                return
            case _ if not isinstance(node, (*_EXPRESSIONS, *_PARTS)):
                self.refuse(node, f"a {type(node).__name__}")
        for child in ast.iter_child_nodes(node):
            self.expression(child, keyword=isinstance(node, ast.keyword))

    def attribute(self, node: ast.Attribute) -> None:
        """``tl.x``, ``tl.math.x`` or a known attribute of a value."""
        if node.attr.startswith("_"):
            self.refuse(node, f"the attribute '{node.attr}'")
        if _namespace(node) is not None:
            return
        if node.attr not in _ATTRIBUTES:
            self.refuse(node, f"the attribute '{node.attr}'")
        self.expression(node.value)

    def call(self, node: ast.Call) -> None:
        called = node.func
        if isinstance(called, ast.Name):
            if called.id not in self.functions | _BUILTINS:
                self.refuse(node, f"a call of '{called.id}'")
            if called.id == "float":
                self.float_literal(node)
                return
        elif isinstance(called, ast.Attribute):
            if called.attr.startswith("_"):
                self.refuse(node, f"a call of '{called.attr}'")
            if _namespace(called) is None:
                if called.attr not in _METHODS:
                    self.refuse(node, f"a call of the method '{called.attr}'")
                self.expression(called.value)
        else:
            self.refuse(node, f"a call of '{ast.unparse(called)}'")
        for argument in (*node.args, *node.keywords):
            self.expression(argument)

    def float_literal(self, node: ast.Call) -> None:
        """``float("inf")`` and its like are how Python spells these numbers."""
        match node:
            case ast.Call(args=[ast.Constant(value="inf" | "-inf" | "nan")], keywords=[]):
                return
        self.refuse(node, f"'{ast.unparse(node)}'")


def _namespace(node: ast.Attribute) -> str | None:
    """``tl``, ``tl.math`` or ``libdevice`` if the attribute is a public name of that; else None."""
    found = ast.unparse(node.value)
    if (found, node.attr) == ("triton", "next_power_of_2"):
        return found
    return found if found in _NAMESPACES and node.attr not in _REFUSED_FUNCTIONS else None


def _is_annotation(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and _namespace(node) == "tl"
