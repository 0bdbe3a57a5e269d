"""A source and its defines -> a kernel that has a backward: its graph, its inputs and outputs.

What has no derivative here is refused: memory that is read and written, pointers that may lead to several
parameters, outputs that are stored at several places.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NoReturn

from pytriton.errors import CompileError, Report
from pytriton.frozen import node
from pytriton.gradient.derive.active import Flow, is_floating
from pytriton.gradient.derive.cancelled import flow_of
from pytriton.gradient.derive.graph import Item, Write, graph_of, refuse
from pytriton.gradient.derive.online.rescaled import without_rescaling
from pytriton.lang.check.checker import check
from pytriton.lang.conditions import instantiated
from pytriton.lang.read import Front, read
from pytriton.lang.tree.typed import (
    Body,
    Break,
    DoWhile,
    For,
    KernelDef,
    Load,
    Return,
    Symbol,
    While,
)
from pytriton.lang.tree.types import PointerType, element_of
from pytriton.lang.tree.unparse import Words
from pytriton.lang.tree.walk import bodies
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.loops.prefetch import prefetch
from pytriton.passes.lower.jumps import jumps
from pytriton.settings import Settings
from pytriton.source import Source


@node
class Forward:
    """A parsed kernel: its typed tree, its graph, and its activity analysis. ``inputs``, ``outputs``: chosen
    parameters; ``refused``: inputs that were not chosen and have no gradient, with the reason; ``loads``:
    all, by number.
    """

    front: Front
    words: Words
    kernel: KernelDef
    items: list[Item]
    flow: Flow
    inputs: tuple[Symbol, ...]
    outputs: tuple[Symbol, ...]
    refused: Mapping[str, CompileError]
    settings: Settings
    defines: Mapping[str, object]
    loads: tuple[Load, ...]
    never: set[int]  # loads whose programs cannot be looped over
    backwards: dict[Any, Any]  # by their passes
    reads_outputs: bool = True  # as the forward left them
    checkpoints: bool = False  # carried values are saved for segments of iterations
    leaves_rows: bool = (
        True  # a pass may leave numbers of rows for another: both are launched with the same defines
    )

    def loads_of(self, symbol: Symbol) -> list[int]:
        """The numbers of the loads that read an input."""
        return [at for at, load in enumerate(self.loads) if symbol in self.flow.roots(load.pointer)]

    def cached(self, key: Hashable, derive: Callable[..., Any], *how: Any) -> Any:
        """What was derived from this before, for its options."""
        key = key, self.checkpoints, self.leaves_rows
        if key not in self.backwards:
            self.backwards[key] = derive(self, *how)
        return self.backwards[key]

    def input_of(self, load: Load) -> Symbol:
        """The input that a load reads."""
        roots = self.flow.roots(load.pointer)
        return next(symbol for symbol in self.inputs if symbol in roots)


def forward_of(
    source: Source,
    defines: Mapping[str, object],
    settings: Settings,
    inputs: Collection[str] | None = None,
    outputs: Collection[str] | None = None,
) -> Forward:
    """Parse a kernel and choose its inputs and outputs; raises a ``CompileError``."""
    report = Report()
    front = read(source, defines, report, settings.include_dirs)
    recorded = check(front.tree, report, settings, front.numbers, front.macros)
    kernel = instantiated(recorded, front.given_numbers())  # derived for these numbers: plain ones from here
    if kernel.buffers:
        refuse(
            "TC702",
            "a kernel with a constant buffer has no derived backward",
            kernel.buffers[0].span,
            help="pass the buffer as a parameter",
        )
    items = graph_of(normalised(kernel))
    flow = Flow(items, kernel.parameters, ())
    read_, written = flow.read(), flow.written()
    floating = [symbol for symbol in kernel.parameters if _is_tensor(symbol)]
    chosen_in = _chosen(inputs, [s for s in floating if s in read_ and s not in written], kernel, "input")
    chosen_out = _chosen(outputs, [s for s in floating if s in written], kernel, "output")
    if not chosen_out:
        refuse(
            "TC700",
            f"kernel '{kernel.name}' stores no floating values",
            kernel.span,
        )
    _check_memory(flow, chosen_out)
    if not chosen_in:
        refuse("TC700", f"kernel '{kernel.name}' reads no floating values but those it writes", kernel.span)
    refused: dict[str, CompileError] = {}
    kept: list[Symbol] = []
    for symbol in chosen_in:
        try:
            _check_input(flow, symbol)
            kept.append(symbol)
        except CompileError as error:
            if inputs is not None:
                raise
            refused[symbol.name] = error
    if not kept:
        raise next(iter(refused.values()))
    items = without_rescaling(items, flow, chosen_out)
    flow = flow_of(items, kernel.parameters, frozenset(kept), chosen_out)
    types = {
        key: " ".join(token.text for token in front.macros[key].body) for key in front.macros.keys() & defines
    }
    words, chosen = Words(types, kernel.parameters), (tuple(kept), tuple(chosen_out))
    return Forward(
        *(front, words, kernel, items, flow, *chosen, refused, settings, dict(defines)),
        *(tuple(flow.loads()), set(), {}),
    )


def normalised(kernel: KernelDef) -> KernelDef:
    """Without ``continue``, and with loads that were made ahead at the top of their loop: they are no sums."""
    _refuse_jumps(kernel.body, False)
    return prefetch(jumps(kernel, PassContext()), PassContext())


def _refuse_jumps(body: Body, inside: bool) -> None:
    for statement in body:
        if isinstance(statement, Break | DoWhile) or (inside and isinstance(statement, Return)):
            refuse(
                "TC702",
                "no derivative goes through this jump",
                statement.span,
                help="write the loop so that it ends by its condition, and what an iteration skips under 'if'",
            )
        for inner in bodies(statement):
            _refuse_jumps(inner, inside or isinstance(statement, For | While))


def _is_tensor(symbol: Symbol) -> bool:
    return isinstance(symbol.type, PointerType) and is_floating(symbol.type.element)


def _chosen(
    names: Collection[str] | None, default: Sequence[Symbol], kernel: KernelDef, what: str
) -> list[Symbol]:
    if names is None:
        return list(default)
    by_name = {symbol.name: symbol for symbol in kernel.parameters}
    for name in names:
        symbol = by_name.get(name)
        if symbol is None or not _is_tensor(symbol):
            choices = ", ".join(s.name for s in default)
            refuse(
                "TC700",
                f"'{name}' is not an {what} of kernel '{kernel.name}'",
                kernel.span if symbol is None else symbol.span,
                help=f"its {what}s are {choices}" if choices else None,
            )
    return [symbol for symbol in kernel.parameters if symbol.name in names]


def _check_memory(flow: Flow, outputs: Sequence[Symbol]) -> None:
    """Refuse memory that is written and read, and outputs that may be stored twice."""
    reads = flow.read()
    for write in flow.writes():
        span = write.statement.span
        roots = flow.roots(write.pointer)
        if len(roots) != 1 or None in roots:
            refuse("TC703", "cannot tell which parameter this writes", span)
        (root,) = roots
        assert root is not None
        if root in reads or (
            None in reads and any(None in flow.roots(load.pointer) for load in flow.loads())
        ):
            refuse(
                "TC704",
                f"'{root.name}' is written here, and memory that may be the same is read: the backward would read "
                "what the kernel left there",
                span,
                help="write to another parameter",
            )
        if flow.reinterpreted(write.pointer):
            refuse("TC706", f"a pointer cast to another type points into '{root.name}'", span)
    for symbol in outputs:
        writes = flow.writes_of(symbol)
        if len({write.atomic for write in writes}) > 1:
            refuse_stores(symbol, writes)
        if not writes:
            refuse("TC700", f"'{symbol.name}' is never written", symbol.span)


def refuse_stores(symbol: Symbol, writes: Sequence[Write]) -> NoReturn:
    """Refuse an output whose elements may be stored twice."""
    refuse(
        "TC707",
        f"'{symbol.name}' is stored at {len(writes)} places: an element may be stored twice",
        writes[-1].statement.span,
        help="store each element once: choose the value by '?:' or 'if', or store to disjoint addresses, as in "
        "y + 2 * i and y + 2 * i + 1",
    )


def _check_input(flow: Flow, symbol: Symbol) -> None:
    loads = [load for load in flow.loads() if symbol in flow.roots(load.pointer)]
    if not loads:
        refuse("TC700", f"'{symbol.name}' is never read", symbol.span)
    for load in loads:
        if len(flow.roots(load.pointer)) > 1:
            refuse("TC703", f"whether this reads '{symbol.name}' cannot be determined", load.span)
        if flow.reinterpreted(load.pointer):
            refuse("TC706", f"a pointer cast to another type points into '{symbol.name}'", load.span)
        if symbol.target != element_of(load.type):
            refuse("TC706", f"'{symbol.name}' is read as another type", load.span)
