"""A kernel after the passes -> the tree of a module.

Everything printed is either from ``templates/kernel.py.j2``, or a Python expression of python.py, or an identifier
of names.py, or a comment. The result needs only Triton.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pytriton.emit.bare import built
from pytriton.emit.names import Names, identifier
from pytriton.emit.python import CONSTEXPR, FunctionParameter, KernelFunction
from pytriton.emit.stmt import Statements
from pytriton.lang.tree import typed
from pytriton.lang.tree.builtins import Printed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import Comments, Declare, Expr, KernelDef, Symbol
from pytriton.lang.tree.types import FLOAT, INT, BlockType, PointerType, shape_of
from pytriton.lang.tree.walk import assigned, assigned_once, expressions, walk
from pytriton.passes.check.sites import Site
from pytriton.passes.memory.provenance import Provenance
from pytriton.settings import Settings

__all__ = ["Module", "emit"]


class Module(NamedTuple):
    """Its tree, the identifiers of the parameters, the constexprs in order."""

    tree: KernelFunction
    identifiers: Mapping[Symbol, str]
    constexprs: Mapping[str, int | float]
    defines: Mapping[str, str]  # the defines of these -> their identifiers
    table: str | None = None  # of checked code: the parameter after those of the user
    prints: tuple[Printed, ...] = ()


def emit(
    kernel: KernelDef,
    provenance: Provenance,
    settings: Settings,
    sites: tuple[Site, ...] = (),
    digits: frozenset[str] = frozenset(),
) -> Module:
    """One kernel. ``sites``: of checked code, its accesses; ``digits``: the defines printed as numbers."""
    names = Names(kernel.parameters, _defines(kernel) - digits, checked=bool(sites))
    names.declare(kernel.body)
    # Triton makes constants of ones.
    names.weak |= {symbol for symbol in kernel.parameters if symbol.type == INT}
    names.natural |= {
        statement.symbol
        for statement in assigned_once(kernel.body)
        if isinstance(statement, Declare) and _counts_up(statement.value)
    }
    weak, natural = names.weak, names.natural

    def start() -> Statements:
        names.weak, names.natural = set(weak), set(natural)
        statements = Statements(names, provenance, settings.precision)
        statements.context.sites = sites
        statements.context.on_cpu = settings.on_cpu
        return statements

    statements = built(kernel.body, start)
    tree = KernelFunction(
        identifier(kernel.name, names.helpers),
        kernel.comments.above,
        (*_parameters(kernel, names), *_table(names), *_constexprs(names)),
        statements.kernel_body,
        kernel.span.line,
        frozenset(statements.context.helpers),
        statements.context.libdevice,
    )
    identifiers = {symbol: names[symbol] for symbol in kernel.parameters}
    prints = tuple(statements.context.prints)
    return Module(tree, identifiers, names.constexprs, names.defines, names.table, prints)


def _parameters(kernel: KernelDef, names: Names) -> Iterator[FunctionParameter]:
    comments = kernel.parameter_comments or (Comments(),) * len(kernel.parameters)
    for symbol, comment in zip(kernel.parameters, comments, strict=True):
        note = "; ".join(note for note in (_note(symbol), *comment.beside) if note)
        yield FunctionParameter(names[symbol], _annotation(symbol), comment.above, note)


def _table(names: Names) -> Iterator[FunctionParameter]:
    """The parameter of checked code that holds the storages, and takes the reports."""
    if names.table is not None:
        note = "long*: the storages that accesses may reach, and what was found of those that did not"
        yield FunctionParameter(names.table, "", (), note)


def _constexprs(names: Names) -> Iterator[FunctionParameter]:
    return (FunctionParameter(name, CONSTEXPR) for name in names.constexprs)


def _annotation(symbol: Symbol) -> str:
    """Triton takes the type of a number from its value; every type but int and float must be spelled."""
    if isinstance(symbol.type, PointerType) or symbol.type in (INT, FLOAT):
        return ""
    return f"tl.{symbol.type.triton}"  # type: ignore[union-attr]


def _note(symbol: Symbol) -> str:
    """What Python cannot express of a parameter: the element type, and the promises."""
    notes: list[str] = []
    if isinstance(symbol.type, PointerType):
        notes.append(str(symbol.type))
    if symbol.multiple_of > 1:
        notes.append(f"multiple of {symbol.multiple_of}")
    if symbol.buffer:
        notes.append(f"a buffer of {symbol.buffer} bytes")
    return ", ".join(notes)


def _counts_up(value: Expr | None) -> bool:
    """Whether a value is a range of numbers that are at least 0."""
    return isinstance(value, typed.Range) and (constant(value.start) or 0) >= 0


def _defines(kernel: KernelDef) -> frozenset[str]:
    """Every define that may be printed: in expressions, and in the sizes of blocks."""
    names: set[str] = set()
    shapes: dict[int, tuple[int, ...]] = {}  # kept, so that their ids are theirs
    sizes: dict[int, Expr] = {}

    def look(expr: Expr) -> None:
        for node in walk(expr):
            if node.__class__ is typed.Constexpr:
                names.add(node.name)
            type_ = node.type
            if type_.__class__ is BlockType:
                shapes[id(type_.shape)] = type_.shape

    for symbol in assigned(kernel.body):
        shape = shape_of(symbol.type)
        shapes[id(shape)] = shape
        if isinstance(symbol.multiple_of, typed.Size) and symbol.multiple_of.expr is not None:
            sizes[id(symbol.multiple_of.expr)] = symbol.multiple_of.expr
    for expr in expressions(kernel.body):
        look(expr)
    for shape in shapes.values():
        for size in shape:
            if isinstance(size, typed.Size) and size.expr is not None:
                sizes[id(size.expr)] = size.expr
    for expr in sizes.values():
        look(expr)
    return frozenset(names)
