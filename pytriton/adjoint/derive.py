"""A text and its defines -> the text of its backward.

``derive`` reads and checks the text, finds the inputs and outputs, refuses what has no derivative here, reverses
the statements and prints them. What was made is read again by the same front end before it is given out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from pytriton.adjoint.access import Accesses
from pytriton.adjoint.active import Flow, is_floating
from pytriton.adjoint.again import Way
from pytriton.adjoint.graph import Item, graph_of
from pytriton.adjoint.print import printed
from pytriton.adjoint.program import live, read_by, tidy
from pytriton.adjoint.refuse import refuse
from pytriton.adjoint.reverse import Reversed
from pytriton.adjoint.rotate import rotate
from pytriton.errors import CompileError, Report
from pytriton.frozen import dataclass
from pytriton.lang.check.kernel import check
from pytriton.lang.read import Front, read
from pytriton.lang.tree.typed import KernelDef, Symbol
from pytriton.lang.tree.types import BFLOAT16, HALF, PointerType, element_of
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = ["Derived", "Forward", "derive", "forward_of"]

SUFFIX: Final = "_backward"


@dataclass(frozen=True, slots=True, eq=False)
class Forward:
    """A kernel, read: its typed tree, its graph, and what flows in it. ``inputs``, ``outputs``: chosen
    parameters; ``refused``: inputs that nobody asked for and that have no gradient, with the reason.
    """

    front: Front
    kernel: KernelDef
    items: list[Item]
    flow: Flow
    inputs: tuple[Symbol, ...]
    outputs: tuple[Symbol, ...]
    refused: Mapping[str, CompileError]
    settings: Settings
    defines: Mapping[str, object]

    def ways(self, accesses: Accesses) -> dict[str, Way]:
        """How the gradient of each input gets to memory, in a launch with these accesses."""
        result: dict[str, Way] = {}
        for symbol in self.inputs:
            loads = [load for load in self.flow.loads() if symbol in self.flow.roots(load.pointer)]
            touched = [accesses.loads[load] for load in loads if load in accesses.loads]
            if len(touched) < len(loads) or not all(map(accesses.once, touched)):
                result[symbol.name] = "atomic"
            elif len(loads) == 1:
                result[symbol.name] = "store"
            else:
                result[symbol.name] = "add" if accesses.apart(touched) else "atomic"
        return result


@dataclass(frozen=True, slots=True)
class Derived:
    """``parameters``: of the backward kernel, in order; ``d_inputs``, ``d_outputs``: gradient parameter by
    name of the parameter; ``floats``: inputs whose gradient is added up in float, and converted afterwards.
    """

    text: str
    kernel: str
    parameters: tuple[str, ...]
    d_inputs: Mapping[str, str]
    d_outputs: Mapping[str, str]
    atomic: frozenset[str]
    floats: frozenset[str]


def forward_of(
    source: Source,
    defines: Mapping[str, object],
    settings: Settings,
    inputs: Collection[str] | None = None,
    outputs: Collection[str] | None = None,
) -> Forward:
    """Read a kernel and choose what is derived; raises a ``CompileError``."""
    report = Report()
    front = read(source, defines, report, settings.include_dirs)
    kernel = check(front.tree, report, settings, front.numbers, front.macros)
    if kernel.buffers:
        refuse("TC702", "a text with a constant buffer has no backward here", kernel.buffers[0].span)
    items = graph_of(kernel)
    rotate(items)
    flow = Flow(items, kernel.parameters, ())
    read_, written = _touched(flow)
    floating = [symbol for symbol in kernel.parameters if _is_tensor(symbol)]
    chosen_in = _chosen(inputs, [s for s in floating if s in read_ and s not in written], kernel, "input")
    chosen_out = _chosen(outputs, [s for s in floating if s in written], kernel, "output")
    if not chosen_out:
        refuse(
            "TC700",
            f"kernel '{kernel.name}' stores no floating values",
            kernel.span,
        )
    _check_memory(flow, kernel, chosen_out)
    if not chosen_in:
        refuse("TC700", f"kernel '{kernel.name}' reads no floating values but those it writes", kernel.span)
    refused: dict[str, CompileError] = {}
    kept: list[Symbol] = []
    for symbol in chosen_in:
        try:
            _check_input(flow, symbol, written)
            kept.append(symbol)
        except CompileError as error:
            if inputs is not None:
                raise
            refused[symbol.name] = error
    if not kept:
        raise next(iter(refused.values()))
    flow = Flow(items, kernel.parameters, frozenset(kept))
    return Forward(
        front, kernel, items, flow, tuple(kept), tuple(chosen_out), refused, settings, dict(defines)
    )


def _is_tensor(symbol: Symbol) -> bool:
    return isinstance(symbol.type, PointerType) and is_floating(symbol.type.element)


def _touched(flow: Flow) -> tuple[set[Symbol | None], set[Symbol | None]]:
    reads = {root for load in flow.loads() for root in flow.roots(load.pointer)}
    return reads, {root for write in flow.writes() for root in flow.roots(write.pointer)}


def _chosen(
    names: Collection[str] | None, default: Sequence[Symbol], kernel: KernelDef, what: str
) -> list[Symbol]:
    if names is None:
        return list(default)
    by_name = {symbol.name: symbol for symbol in kernel.parameters}
    for name in names:
        symbol = by_name.get(name)
        if symbol is None or not _is_tensor(symbol):
            known = ", ".join(s.name for s in default)
            refuse(
                "TC700",
                f"'{name}' is no {what} of kernel '{kernel.name}'",
                kernel.span if symbol is None else symbol.span,
                help=f"its {what}s are {known}" if known else None,
            )
    return [symbol for symbol in kernel.parameters if symbol.name in names]


def _check_memory(flow: Flow, kernel: KernelDef, outputs: Sequence[Symbol]) -> None:
    """Refuse what is written and read, and outputs that may be stored twice."""
    reads, _ = _touched(flow)
    for write in flow.writes():
        span = write.statement.span
        roots = flow.roots(write.pointer)
        if len(roots) != 1 or None in roots:
            refuse("TC703", "which parameter this writes cannot be said", span)
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
            refuse("TC706", f"a pointer cast to another type leads into '{root.name}'", span)
    for symbol in outputs:
        writes = [write for write in flow.writes() if symbol in flow.roots(write.pointer)]
        if len({write.atomic for write in writes}) > 1 or (len(writes) > 1 and not writes[0].atomic):
            refuse(
                "TC707",
                f"'{symbol.name}' is stored at {len(writes)} places: an element may be stored twice",
                writes[-1].statement.span,
                help="store each output once, the value chosen by '?:'",
            )
        if not writes:
            refuse("TC700", f"'{symbol.name}' is never written", symbol.span)


def _check_input(flow: Flow, symbol: Symbol, written: set[Symbol | None]) -> None:
    loads = [load for load in flow.loads() if symbol in flow.roots(load.pointer)]
    if not loads:
        refuse("TC700", f"'{symbol.name}' is never read", symbol.span)
    for load in loads:
        if len(flow.roots(load.pointer)) > 1:
            refuse("TC703", f"whether this reads '{symbol.name}' cannot be said", load.span)
        if flow.reinterpreted(load.pointer):
            refuse("TC706", f"a pointer cast to another type leads into '{symbol.name}'", load.span)
        element = element_of(symbol.type)
        if isinstance(element, PointerType) and element.element != element_of(load.type):  # type: ignore[arg-type]
            refuse("TC706", f"'{symbol.name}' is read as another type", load.span)


def derive(forward: Forward, ways: Mapping[str, Way], head: Sequence[str] = ()) -> Derived:
    """The backward, for launches in which the gradients of inputs may go these ways."""
    kernel = forward.kernel
    types = {name: value for name, value in forward.defines.items() if name in forward.front.macros}
    inputs = {symbol: ways[symbol.name] for symbol in forward.inputs}
    reversed_ = Reversed(
        forward.flow, kernel.parameters, inputs, forward.outputs, types, forward.settings.strict_literals
    )
    lines = tidy(live(reversed_.run(forward.items)))
    used = read_by(lines)
    taken = {*_RESERVED, *forward.front.macros, *forward.front.numbers, *(s.name for s in kernel.parameters)}
    own = forward.front.macros.keys() - forward.defines.keys() - _PRELUDE
    names: dict[int, str] = {}
    declarations: list[str] = []
    parameters: dict[Symbol, str] = {}
    for symbol, variable in reversed_.parameters.items():
        twin = symbol not in kernel.parameters
        name = symbol.name
        while twin and name in taken:
            name += "_"
        names[variable.number] = name
        taken.add(name)
        if variable.number in used:
            parameters[symbol] = name
            same = not twin or any(
                s.type == symbol.type for s in kernel.parameters if f"d_{s.name}" == symbol.name
            )
            declarations.append(_declaration(symbol, name, twin, same, own))
    text = printed(f"{kernel.name}{SUFFIX}", declarations, lines, reversed_.variables, names, taken, head)
    atomic = frozenset(symbol.name for symbol, way in inputs.items() if way == "atomic")
    narrow = {
        symbol.name
        for symbol, way in inputs.items()
        if way != "store" and _target(symbol) in (HALF, BFLOAT16)
    }
    twins = {
        symbol.name.removeprefix("d_"): name
        for symbol, name in parameters.items()
        if symbol not in kernel.parameters
    }
    derived = Derived(
        text,
        f"{kernel.name}{SUFFIX}",
        tuple(parameters.values()),
        {s.name: twins[s.name] for s in forward.inputs if s.name in twins},
        {s.name: twins[s.name] for s in forward.outputs if s.name in twins},
        atomic,
        frozenset(narrow),
    )
    _read_again(derived, forward)
    return derived


def _target(symbol: Symbol) -> object:
    """What a pointer points to."""
    return symbol.type.element if isinstance(symbol.type, PointerType) else None


def _declaration(symbol: Symbol, name: str, twin: bool, same: bool, own: Collection[str]) -> str:
    """A parameter as it was declared; of a gradient, without words about reading and writing. ``own``: macros of
    the text, which the backward does not have.
    """
    text = symbol.declaration
    if not set(re.findall(r"\w+", text)).isdisjoint(own):
        text = f"{symbol.type} {symbol.name}".replace("* ", " *", 1)
    if not twin:
        return text
    of, word = symbol.name.removeprefix("d_"), str(_target(symbol))
    written = re.match(r"(.*?)\s*\*\s*((?:restrict|__restrict__)\s+)?" + of + r"\b(.*)$", text, re.DOTALL)
    if written is None:
        return f"{word} *{name}"
    before = re.sub(r"\b(__readonly|__writeonly|const)\b\s*", "", written[1]).strip()
    after = re.sub(r"\s*\b(__readonly|__writeonly)\b", "", written[3])
    return f"{before if same else word} *{name}{after}".rstrip()


def _read_again(derived: Derived, forward: Forward) -> None:
    """The text that was made must be a kernel."""
    report = Report()
    source = Source(derived.text, f"{derived.kernel}")
    front = read(source, forward.defines, report, forward.settings.include_dirs)
    settings = Settings(derived.kernel, forward.settings.include_dirs, forward.settings.strict_literals)
    check(front.tree, report, settings, front.numbers, front.macros)


_PRELUDE: Final = frozenset(
    "bool __readonly __writeonly __noalias __retune __aligned __multipleof restrict".split()
)
_RESERVED: Final = frozenset(
    """bool char short int long unsigned signed half float double bfloat16 void const restrict if else for
    while do return exp log sqrt sin cos erf rsqrt tanh sigmoid log2 exp2 pow floor ceil fma min max abs
    select trans dot atomic_add get_program_id get_num_programs newaxis true false sizeof bitcast
    static""".split()
)
