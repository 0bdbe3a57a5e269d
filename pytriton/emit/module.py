"""A kernel after the passes -> the text of a module.

Everything printed is either from the templates, or a Python expression of python.py, or an identifier of
names.py, or a comment; no text of the user is ever template text. The result stands on its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pytriton.emit.names import Names, identifier
from pytriton.emit.stmt import Statements
from pytriton.frozen import dataclass
from pytriton.lang import typed
from pytriton.lang.typed import Comments, KernelDef, Symbol
from pytriton.lang.types import FLOAT, INT, PointerType
from pytriton.lang.walk import assigned, expressions, walk
from pytriton.passes.provenance import Provenance

__all__ = ["Module", "emit", "render"]


@dataclass(frozen=True, slots=True)
class Module:
    """The text, the name of its function, the identifiers of the parameters, the constexprs in order."""

    text: str
    function: str
    identifiers: Mapping[Symbol, str]
    constexprs: Mapping[str, int | float]
    lines: Mapping[int, int]


def emit(kernel: KernelDef, provenance: Provenance, precision: str = "ieee") -> Module:
    """Print one kernel; ``precision`` is that of products of floats."""
    names = Names(kernel.parameters, _defines(kernel))
    names.declare(kernel.body)
    numbers = {symbol for symbol in kernel.parameters if symbol.type == INT}
    names.weak |= numbers  # Triton turns the value 1 into a constant
    names.natural |= numbers
    statements = Statements(names, provenance, precision)
    statements.body(kernel.body)
    function = identifier(kernel.name)
    body = "\n".join(line.text for line in statements.lines)
    text = _template("module.py.j2").render(
        headline="Translated from Triton-C by pytriton.",
        libdevice=statements.expressions.libdevice,
        helpers=[
            _template(f"{name}.py.j2").render().rstrip() for name in sorted(statements.expressions.helpers)
        ],
        head=kernel.comments.above,
        function=function,
        parameters=_parameters(kernel, names),
        body=body,
    )
    first = text.count("\n", 0, len(text) - len(body) - 1) + 1
    lines = {first + row: line.source for row, line in enumerate(statements.lines)}
    identifiers = {symbol: names[symbol] for symbol in kernel.parameters}
    return Module(text, function, identifiers, names.constexprs, lines)


def render(template: str, **values: object) -> str:
    """A template of ``templates/`` with these values: for reports and modules of ``port``."""
    return str(_template(template).render(**values))


@cache
def _environment() -> Environment:
    """The templates: inside the package in a wheel, one level up in a checkout."""
    package = Path(__file__).resolve().parent.parent
    roots = [package / "templates", package.parent / "templates"]
    return Environment(
        loader=FileSystemLoader(roots),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
    )


@cache
def _template(name: str):  # type: ignore[no-untyped-def]
    return _environment().get_template(name)


def _parameters(kernel: KernelDef, names: Names) -> list[dict[str, object]]:
    comments = kernel.parameter_comments or (Comments(),) * len(kernel.parameters)
    rows: list[dict[str, object]] = []
    for symbol, comment in zip(kernel.parameters, comments, strict=True):
        notes = [_note(symbol), *comment.behind]
        rows.append(
            {
                "above": comment.above,
                "declaration": names[symbol] + _annotation(symbol),
                "note": "; ".join(note for note in notes if note),
            }
        )
    for name in names.constexprs:
        rows.append({"above": (), "declaration": f"{name}: tl.constexpr", "note": ""})
    return rows


def _annotation(symbol: Symbol) -> str:
    """Triton takes the type of a number from its value; every type but int and float must be spelled."""
    if isinstance(symbol.type, PointerType) or symbol.type in (INT, FLOAT):
        return ""
    return f": tl.{symbol.type.triton}"  # type: ignore[union-attr]


def _note(symbol: Symbol) -> str:
    """What Python cannot say about a parameter: the element type, and the promises."""
    notes: list[str] = []
    if isinstance(symbol.type, PointerType):
        notes.append(str(symbol.type))
    if symbol.multiple_of > 1:
        notes.append(f"multiple of {symbol.multiple_of:d}")
    if symbol.buffer:
        notes.append(f"a buffer of {symbol.buffer} bytes")
    return ", ".join(notes)


def _defines(kernel: KernelDef) -> frozenset[str]:
    """Every define that may be printed: in expressions, and in the sizes of blocks."""
    found: set[str] = set()
    pending = list(expressions(kernel.body))
    locals_ = assigned(kernel.body)
    sized = [symbol.type for symbol in locals_]
    promised = (symbol.multiple_of for symbol in locals_)
    pending += [size.expr for size in promised if isinstance(size, typed.Size) and size.expr is not None]
    while pending or sized:
        if pending:
            for node in walk(pending.pop()):
                if isinstance(node, typed.Constexpr):
                    found.add(node.name)
                sized.append(node.type)  # type: ignore[arg-type]
            continue
        for size in getattr(sized.pop(), "shape", ()):
            if isinstance(size, typed.Size) and size.expr is not None:
                for node in walk(size.expr):
                    if isinstance(node, typed.Constexpr):
                        found.add(node.name)
    return frozenset(found)
