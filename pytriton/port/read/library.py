"""What calls of libraries give: triton's of every era, torch's dtypes, paths, and the built-in functions.

Each model takes values and gives a value, or raises one of ``FAILURES`` where the call stays unknown. None of them
has an effect outside: the only files read are Triton-C texts and modules inside the scanned project.
"""

from __future__ import annotations

import ast
import itertools
import os.path
import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pytriton.lang.tree.types import SCALARS
from pytriton.port.read import strings
from pytriton.port.read.values import (
    Dtype,
    KernelObject,
    Library,
    NotKnown,
    Traced,
    is_open,
    literal,
    traced,
)
from pytriton.settings import order_of

# What is asked of triton: names that a port replaces, and names that today's Triton has.
NAMES: Final = frozenset(
    """Kernel bench_registry cdiv_sum config ctx_registry empty function kernel read shape synchronize testing
    utils""".split()
)
PASSED: Final = frozenset(
    "Config __version__ autotune cdiv heuristics jit language next_power_of_2 runtime".split()
)
MAX_ELEMENTS: Final = 256  # of a list that a function makes, or that a loop visits

DTYPES: Final = {name: type_.torch for type_ in SCALARS for name in (type_.torch, type_.word)}


def parsed(data: str | bytes) -> ast.Module:
    """The tree of a file, in which ``from triton import *`` has the names that the file uses."""
    tree = ast.parse(data)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="triton", level=0, names=[ast.alias(name="*")]):
                node.names = [ast.alias(name) for name in sorted(used & (NAMES | PASSED))] or node.names
    return tree


def attribute(library: Library, name: str) -> Any:
    """``torch.float16`` and the like."""
    if library.name == "torch" and name in DTYPES:
        return Dtype(DTYPES[name])
    return Library(f"{library.name}.{name}")


def call(name: str, arguments: list[Any], named: dict[str, Any], root: Path) -> Any:
    """The value of a call of a library function; raises one of ``FAILURES`` where it is unknown."""
    if name in ("triton.read", "open", "builtins.open"):
        return _read(arguments, named, root)
    model = _MODELS.get(name)
    if model is None and literal([arguments, named]):
        model = _EXACT.get(name)
    if model is None:
        raise NotKnown
    result = model(*arguments, **named)
    if isinstance(result, Iterator):
        result = list(itertools.islice(result, MAX_ELEMENTS + 1))
    if isinstance(result, list) and len(result) > MAX_ELEMENTS:
        raise NotKnown
    return result


# triton


def kernel_object(arguments: list[Any], named: dict[str, Any], line: int, root: Path) -> KernelObject:
    """``triton.kernel`` of any era; arguments after the source are distinguished as by the runtime."""
    source, *positional = arguments or [named.get("src", "")]
    if isinstance(source, PurePosixPath):
        source = _read([source], {}, root)
    if not all(isinstance(name, str) for name in named):
        raise NotKnown
    options = dict(zip(order_of(positional), positional, strict=False))
    options |= {key: value for key, value in named.items() if value is not None}
    defines = options.get("defines")
    kernel = options.get("kernel")
    if kernel is None and isinstance(source, Traced) and source.kernels:
        kernel = source.kernels[0]
    return KernelObject(
        source,
        line,
        dict(defines) if isinstance(defines, dict) else {} if defines is None else {None: defines},
        options.get("autotune_configs") or options.get("autotune_vals") or (),
        kernel,
        options.get("strict_literals") is True,
    )


# files

MAX_FILE: Final = 1 << 20  # bytes


def _read(arguments: list[Any], named: dict[str, Any], root: Path) -> Any:
    """The text of a file inside the project; raises NotKnown for anything else, which is not read."""
    name = arguments[0] if arguments else None
    if not isinstance(name, (str, PurePosixPath)) or not literal(name):
        raise NotKnown
    path = Path(os.path.normpath(name))
    try:
        resolved = path.resolve()
        if not resolved.is_relative_to(root.resolve()) or resolved.stat().st_size > MAX_FILE:
            raise NotKnown
        text = traced(((resolved.read_text(encoding="utf-8"), 1),))
    except (OSError, ValueError):
        raise NotKnown from None
    text.path = path
    names = named.get("kernel_names", arguments[1] if len(arguments) > 1 else None)
    if isinstance(names, (list, tuple)) and all(isinstance(kernel, str) for kernel in names):
        text.kernels = tuple(names)
    return text


# built-in functions


def items_of(values: Any) -> list[Any]:
    """The items that a loop over a value visits; raises NotKnown if they are unknown, or too many."""
    if not isinstance(values, (dict, list, tuple, str)) or is_open(values) or len(values) > MAX_ELEMENTS:
        raise NotKnown
    return list(values)


# Functions whose effect on unknown values, or on lists of them, is known.
_MODELS: Final[dict[str, Callable[..., Any]]] = {
    "triton.config": lambda defines=None, num_warps=4, **_: dict(defines or {}),
    "textwrap.dedent": lambda text: strings.operation(text, "dedent", [], {}),
    "list": lambda value=(): items_of(value),
    "tuple": lambda value=(): tuple(items_of(value)),
    "dict": dict,
    "enumerate": lambda value, start=0: enumerate(items_of(value), start),
    "zip": lambda *lists, strict=False: zip(*map(items_of, lists), strict=strict),
    "itertools.product": lambda *lists, repeat=1: itertools.product(*map(items_of, lists), repeat=repeat),
}
# Functions that are called as they are, if their arguments are known to the end.
_EXACT: Final[dict[str, Callable[..., Any]]] = {
    "os.path.join": posixpath.join,
    "os.path.dirname": posixpath.dirname,
    **dict.fromkeys(("os.path.realpath", "os.path.abspath"), str),
    "pathlib.Path": lambda *parts: PurePosixPath(*map(str, parts)),
    "range": lambda *bounds: iter(range(*bounds)),
    **{function.__name__: function for function in (len, min, max, sorted, str, int, float, bool)},
}
