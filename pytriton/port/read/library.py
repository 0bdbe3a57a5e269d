"""What calls of libraries give: triton's of every era, torch's dtypes, paths, and the built-in functions.

Each model takes values and gives a value, or ``NOTHING`` where the call stays unknown. None of them has an
effect outside: the only files read are Triton-C texts and modules inside the scanned project.
"""

from __future__ import annotations

import ast
import itertools
import math
import os.path
import posixpath
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from pytriton.port.read import texts
from pytriton.port.read.values import (
    ConfigPoint,
    Dtype,
    Filtered,
    KernelObject,
    Library,
    Traced,
    Unknown,
    literal,
    node_of,
    traced,
)

__all__ = ["DTYPES", "NOTHING", "attribute", "call", "configs", "kernel_object", "unknown_call"]


class _Nothing:
    """Says that a model does not know."""


NOTHING: Final = _Nothing()

DTYPES: Final = {
    **{name: name for name in "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 bool".split()},
    **{"half": "float16", "float": "float32", "double": "float64"},
    **{"char": "int8", "short": "int16", "int": "int32", "long": "int64"},
}


def attribute(library: Library, name: str) -> Any:
    """``torch.float16`` and the like."""
    if library.name == "torch" and name in DTYPES:
        return Dtype(DTYPES[name])
    if library.name == "math" and name in ("inf", "pi", "e"):
        return getattr(math, name)
    if library.name == "os" and name == "sep":
        return "/"
    return Library(f"{library.name}.{name}")


def unknown_call(name: str, arguments: Sequence[Any], kind: str | None = None) -> Unknown:
    """A call that stays as it is written."""
    function = ast.Name(name, ast.Load())
    return Unknown(ast.Call(function, [node_of(one) for one in arguments], []), kind)


def call(name: str, arguments: list[Any], named: dict[str, Any], root: Path) -> Any:
    """The value of a call of a library function, or ``NOTHING``."""
    model = _MODELS.get(name)
    if name == "triton.read" or name in ("open", "builtins.open"):
        return _read(arguments, named, root)
    if model is None:
        return NOTHING
    try:
        return model(*arguments, **named)
    except (TypeError, ValueError, OverflowError, IndexError, KeyError, ZeroDivisionError, AttributeError):
        return NOTHING


# triton


def kernel_object(arguments: list[Any], named: dict[str, Any], line: int, root: Path) -> KernelObject:
    """``triton.kernel`` of any era; what stands after the source is told apart as the runtime does."""
    source, *positional = arguments or [named.get("src", "")]
    if isinstance(source, Traced) and source.is_path:
        text = _read([source], {}, root)
        source = unknown_call("open", [source]) if text is NOTHING else text
    given = dict(zip(_order(positional), positional, strict=False))
    given = {**given, **{key: value for key, value in named.items() if value is not None}}
    defines = given.get("defines")
    path = source.path if isinstance(source, Traced) else None
    kernel = given.get("kernel")
    if kernel is None and isinstance(source, Traced) and source.kernels:
        kernel = source.kernels[0]
    return KernelObject(
        source,
        line,
        dict(defines) if isinstance(defines, dict) else {} if defines is None else {None: defines},
        given.get("num_warps"),
        given.get("num_stages"),
        configs(given.get("autotune_configs") or given.get("autotune_vals") or ()),
        given.get("autotune_key") or (),
        kernel,
        path,
        given.get("strict_literals") is True,
    )


def _order(positional: list[Any]) -> tuple[str, ...]:
    first, second = (*positional, None, None)[:2]
    if isinstance(first, dict) or (first is None and isinstance(second, (int, list))):
        return ("defines", "num_warps")
    if isinstance(first, (list, tuple)):
        return ("outputs", "defines", "num_warps")
    return ("device", "defines", "num_warps", "autotune_configs", "autotune_key")


def configs(given: Any) -> Any:
    """The points of ``autotune_configs``: a tuple, or the Unknown that it is."""
    if not isinstance(given, (list, tuple)):
        return given
    points: list[Any] = []
    for one in given:
        if isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], dict):
            points.append(ConfigPoint(one[0], one[1]))
        else:
            points.append(ConfigPoint(one) if isinstance(one, dict) else one)
    return tuple(points)


def _config(defines: Any = None, num_warps: Any = 4, **_: Any) -> Any:
    return ConfigPoint(dict(defines or {}), num_warps)


def _cdiv(a: Any, b: Any) -> Any:
    if _integers(a, b):
        return -(-a // b)
    return unknown_call("triton.cdiv", [a, b], "int")


def _cdiv_sum(values: Any, b: Any) -> Any:
    if isinstance(values, list) and _integers(*values, b):
        return sum(-(-one // b) for one in values)
    return NOTHING


def _next_power_of_2(n: Any) -> Any:
    if _integers(n) and 0 <= n < 1 << 40:
        return 1 << max(n - 1, 0).bit_length()
    return unknown_call("triton.next_power_of_2", [n], "int")


def _integers(*values: Any) -> bool:
    return all(isinstance(one, int) for one in values)


# files

_LARGEST_FILE: Final = 1 << 20


def _read(arguments: list[Any], named: dict[str, Any], root: Path) -> Any:
    """The text of a file inside the project; anything else is not read."""
    if not arguments or not isinstance(arguments[0], str) or not literal(arguments[0]):
        return NOTHING
    path = Path(os.path.normpath(arguments[0]))
    try:
        resolved = path.resolve()
        if not resolved.is_relative_to(root.resolve()) or resolved.stat().st_size > _LARGEST_FILE:
            return NOTHING
        text = traced(((resolved.read_text(encoding="utf-8"), 1),))
    except (OSError, ValueError):
        return NOTHING
    text.path = path
    names = named.get("kernel_names", arguments[1] if len(arguments) > 1 else None)
    if isinstance(names, (list, tuple)) and all(isinstance(one, str) for one in names):
        text.kernels = tuple(names)
    return text


def _join_paths(*parts: Any) -> Any:
    if not all(isinstance(part, str) and literal(part) for part in parts):
        return NOTHING
    return posixpath.join(*(str(part) for part in parts))


def _pathlib(*parts: Any) -> Any:
    joined = _join_paths(*parts)
    if joined is NOTHING:
        return NOTHING
    made = traced(((joined, 0),))
    made.is_path = True
    return made


def _path(one: Any) -> Any:
    return str(one) if isinstance(one, str) else NOTHING


# built-in functions


def _dedent(text: Any) -> Any:
    made = texts.method(text, "dedent", []) if isinstance(text, str) else ()
    return NOTHING if made == () else made


def _length(value: Any) -> Any:
    return len(value) if isinstance(value, (str, list, tuple, dict, set)) and literal(value) else NOTHING


def _number(kind: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def convert(value: Any = 0) -> Any:
        if isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) < 64):
            return kind(value)
        if isinstance(value, Unknown):
            return Unknown(value.node, kind.__name__)
        return NOTHING

    return convert


def _known(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is only called with numbers, or with one list of them."""

    def checked(*arguments: Any) -> Any:
        flat = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], (list, tuple)) else arguments
        return function(*arguments) if all(isinstance(one, (int, float)) for one in flat) else NOTHING

    return checked


def _range(*bounds: Any) -> Any:
    if _integers(*bounds) and len(range(*bounds)) <= 1024:
        return list(range(*bounds))
    return NOTHING


def _items(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)) or (isinstance(value, str) and literal(value)):
        return list(value)
    if isinstance(value, dict) and None not in value:
        return list(value)
    raise TypeError("no known items")


def _dict(*given: Any, **named: Any) -> Any:
    if not given:
        return dict(named)
    if isinstance(given[0], dict):
        return {**given[0], **named}
    pairs = _items(given[0])
    return dict(pairs) | named


def _product(*given: Any, repeat: int = 1) -> Any:
    lists = [_items(one) for one in given] * repeat
    if math.prod(len(one) for one in lists) > 4096:
        return NOTHING
    return list(itertools.product(*lists))


def _permutations(value: Any, r: int | None = None) -> Any:
    items = _items(value)
    if math.perm(len(items), r) > 4096:
        return NOTHING
    return list(itertools.permutations(items, r))


def _next(value: Any, *default: Any) -> Any:
    """The first item; of a list that a condition filters, which one is not known."""
    if isinstance(value, Filtered):
        return NOTHING
    return next(iter(_items(value)), *default)


def _set(value: Any = ()) -> Any:
    """A list without doubles: sets of known values are only counted and searched."""
    return list(dict.fromkeys(_items(value))) if literal(value) else NOTHING


def _sorted(value: Any) -> Any:
    return sorted(value) if literal(value) else NOTHING


_MODELS: Final[dict[str, Callable[..., Any]]] = {
    "triton.config": _config,
    "triton.cdiv": _cdiv,
    "triton.cdiv_sum": _cdiv_sum,
    "triton.next_power_of_2": _next_power_of_2,
    "os.path.join": _join_paths,
    "os.path.dirname": lambda path: posixpath.dirname(path) if literal(path) else NOTHING,
    "os.path.realpath": _path,
    "os.path.abspath": _path,
    "os.path.normpath": _path,
    "os.fspath": _path,
    "pathlib.Path": _pathlib,
    "textwrap.dedent": _dedent,
    "len": _length,
    "int": _number(int),
    "float": _number(float),
    "bool": lambda value: bool(value) if literal(value) else Unknown(node_of(value), "bool"),
    "abs": _known(abs),
    "min": _known(min),
    "max": _known(max),
    "sum": _known(sum),
    "round": _known(round),
    "hex": _known(hex),
    "math.ceil": _known(math.ceil),
    "math.floor": _known(math.floor),
    "math.log2": _known(math.log2),
    "math.sqrt": _known(math.sqrt),
    "range": _range,
    "list": lambda value=(): _items(value),
    "tuple": lambda value=(): tuple(_items(value)),
    "dict": _dict,
    "collections.OrderedDict": _dict,
    "collections.defaultdict": lambda *_: {},
    "set": _set,
    "frozenset": _set,
    "next": _next,
    "sorted": _sorted,
    "reversed": lambda value: _items(value)[::-1],
    "enumerate": lambda value, start=0: [(start + i, one) for i, one in enumerate(_items(value))],
    "zip": lambda *lists, strict=False: list(zip(*map(_items, lists), strict=strict)),
    "itertools.product": _product,
    "itertools.permutations": _permutations,
    "itertools.chain": lambda *lists: [one for some in lists for one in _items(some)],
    "copy.copy": lambda value: dict(value) if isinstance(value, dict) else value,
    "copy.deepcopy": lambda value: dict(value) if isinstance(value, dict) else value,
}
