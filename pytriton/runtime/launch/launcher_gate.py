"""What a generated launcher may contain: the last check before its text is executed, as ``gate.py`` is for kernels.

The only words in it that stem from a user are the names of a kernel and of its parameters. Should they, or a slip
in the template, ever put anything else into the text, this gate stops it: it knows the few forms of the template.
"""

from __future__ import annotations

import ast
from typing import Final, NoReturn

from pytriton.runtime.errors import refusal

__all__ = ["check_launcher"]

# What a launcher may call by name, and the methods and attributes of tensors, records and Triton's hooks.
_CALLED: Final = frozenset(
    "callable current_device current_stream float grad_enabled grid increment_version launch len missed "
    "to_bfloat16 to_half type".split()
)
_METHODS: Final = frozenset({"data_ptr", "get", "get_device", "is_contiguous", "is_neg", "numel"})
_ATTRIBUTES: Final = frozenset({"calls", "dtype", "launch_enter_hook", "launch_exit_hook", "requires_grad"})

_FORMS: Final = (
    *(ast.Assign, ast.AugAssign, ast.ExceptHandler, ast.Expr, ast.If, ast.Return, ast.Try),
    *(ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.IfExp, ast.Name),
    *(ast.Subscript, ast.Tuple, ast.UnaryOp),
    *(ast.boolop, ast.cmpop, ast.expr_context, ast.operator, ast.unaryop),
)


def check_launcher(text: str, path: str) -> None:
    """Raise LaunchError (a bug of pytriton, TC521) unless the text has the form of a generated launcher."""
    try:
        body = ast.parse(text, path).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise refusal(f"{path}: a generated launcher cannot be read: {error}", "TC521", _CURE) from error
    if body and isinstance(body[0], ast.ImportFrom):
        if body[0].module != "torch" or any(each.asname for each in body[0].names):
            _refuse(body[0], path)
        body = body[1:]
    match body:
        case [ast.FunctionDef(decorator_list=[], returns=None, args=given) as function]:
            if [each.arg for each in given.args] != ["arguments", "grid"] or given.defaults:
                _refuse(function, path)
            for statement in function.body:
                for node in ast.walk(statement):
                    if not _is_known(node):
                        _refuse(node, path)
        case _:
            _refuse(ast.Module(body, []), path)


_CURE: Final = "this is a bug in pytriton: please report it with the kernel's source"


def _refuse(node: ast.AST, path: str) -> NoReturn:
    place = f"{path}:{getattr(node, 'lineno', 1)}"
    raise refusal(f"{place}: a generated launcher may not contain '{ast.unparse(node)}'", "TC521", _CURE)


def _is_known(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=called), keywords=[]):
            return called in _CALLED
        case ast.Call(func=ast.Attribute(attr=method), keywords=[]):
            return method in _METHODS
        case ast.Call():
            return False
        case ast.Attribute(attr=name):
            return name in _METHODS | _ATTRIBUTES
        case ast.Name(id=name):
            return not name.startswith("__")
        case ast.Constant(value=value):
            return value is None or isinstance(value, int)
    return isinstance(node, _FORMS)
