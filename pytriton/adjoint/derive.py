"""The passes of a backward -> its text: kernels in launch order.

A pass is reversed, what nobody reads is dropped, a walk is put around it, and it is printed. What was made is read
again by the same front end before it is given out.

A launch knows its integers, a text does not. So what is printed takes an input to be read once if there are
ordinary sizes for which it is; ``pytriton.gradient`` looks again at each launch.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from pytriton.adjoint import formula as f
from pytriton.adjoint.access import Accesses
from pytriton.adjoint.active import Flow, every
from pytriton.adjoint.formula import Formula
from pytriton.adjoint.forward import Forward, forward_of
from pytriton.adjoint.graph import Item, Loop
from pytriton.adjoint.plan import Pass, added, cost, planned
from pytriton.adjoint.print import printed
from pytriton.adjoint.program import Declare, Line, Repeat, Variable, live, read_by, renamed, tidy
from pytriton.adjoint.reverse import NotShared, Reversed
from pytriton.adjoint.walk import Turned, turned
from pytriton.errors import CompileError, Report
from pytriton.frozen import dataclass, replace
from pytriton.lang.check.kernel import check
from pytriton.lang.read import read
from pytriton.lang.tokens import decode
from pytriton.lang.tree.typed import Symbol
from pytriton.lang.tree.types import BFLOAT16, DOUBLE, FLOAT, HALF, INT, LONG, PointerType, ScalarType
from pytriton.settings import Settings
from pytriton.source import Source

__all__ = [
    "SUM_BLOCK",
    "Backward",
    "Derived",
    "State",
    "backward",
    "derivable",
    "derived_text",
    "every_loop",
    "usual",
]

SUFFIX: Final = "_backward"
TYPICAL_SIZES: Final = ((64, 4096), (4096, 64), (1, 4096), (4096, 4096))  # of integers, in turn
TYPICAL_GRID: Final = 3  # programs along each axis that the text asks for

Point = tuple[Forward, Accesses, Sequence[int]]


@dataclass(frozen=True, slots=True)
class State:
    """Scratch for what each iteration of the forward's loop number ``loop`` begins with. ``parameter``: the
    pointer; ``iterations``: the parameter that says for how many there is room; ``count``: elements for each.
    """

    parameter: str
    iterations: str
    loop: int
    count: int
    element: ScalarType


@dataclass(frozen=True, slots=True)
class Derived:
    """One kernel of a backward. ``parameters``: in order; ``d_inputs``, ``d_outputs``: gradient parameter by name
    of the parameter. ``count``: the parameter that says how many programs the forward has along the axis that is
    walked, and ``text_of_count`` the text in which that is a define; ``sizes``: by input, the parameter that says
    how many elements a part of its gradient has.
    """

    text: str
    kernel: str
    parameters: tuple[str, ...]
    d_inputs: Mapping[str, str]
    d_outputs: Mapping[str, str]
    at: Pass
    count: str | None
    text_of_count: str
    sizes: Mapping[str, str]
    states: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class Backward:
    """The kernels in launch order. ``sums``: of inputs whose gradient comes in parts, the kernel that adds them up,
    with its text. ``wide``: inputs whose gradient is added up in float, and converted afterwards; ``atomic``: by
    atomics.
    """

    passes: tuple[Derived, ...]
    sums: Mapping[str, tuple[str, str]]
    wide: frozenset[str]
    atomic: frozenset[str]

    @property
    def text(self) -> str:
        """All kernels."""
        texts = [each.text for each in self.passes]
        return "\n".join([*texts, *dict(self.sums.values()).values()])


def backward(points: Sequence[Point], whole: Collection[str]) -> tuple[tuple[Pass, ...], list[Backward]]:
    """The passes for a launch, and the backward of each point of its sweep; ``whole``: inputs that are dense."""
    while True:
        never = {number for forward, _, _ in points for number in forward.never}
        passes = planned(points, whole, never)
        try:
            return passes, [_derived(forward, passes) for forward, _, _ in points]
        except _Unwalkable as reason:
            points[0][0].never.update(reason.loads)


class _Unwalkable(Exception):
    def __init__(self, loads: Collection[int]) -> None:
        self.loads = loads


def usual(forward: Forward) -> tuple[tuple[Pass, ...], Backward]:
    """The backward in the best of some ordinary launches."""
    grid = tuple(TYPICAL_GRID if axis in forward.flow.programs() else 1 for axis in range(3))
    found: dict[tuple[Pass, ...], Backward] = {}
    for sizes in TYPICAL_SIZES:
        whole = {
            symbol.name: sizes[at % 2]
            for at, symbol in enumerate(forward.kernel.parameters)
            if isinstance(symbol.type, ScalarType) and symbol.type.is_integer
        }
        point = forward, Accesses(forward.items, whole, grid), grid
        passes, (made,) = backward([point], {symbol.name for symbol in forward.inputs})
        found[passes] = made
    best = min(found, key=cost)
    return best, found[best]


def derivable(
    source: Source,
    defines: Mapping[str, object],
    settings: Settings,
    inputs: Collection[str] | None = None,
    outputs: Collection[str] | None = None,
) -> Forward:
    """A kernel with a backward. Inputs that nobody asked for by name, and that have none, are in ``refused``;
    raises a CompileError if none is left.
    """
    forward = forward_of(source, defines, settings, inputs, outputs)
    try:
        usual(forward)
        return forward
    except CompileError:
        if inputs is not None or len(forward.inputs) < 2:
            raise
    refused = dict(forward.refused)
    for symbol in forward.inputs:
        try:
            usual(forward_of(source, defines, settings, (symbol.name,), outputs))
        except CompileError as error:
            refused[symbol.name] = error
    kept = [symbol.name for symbol in forward.inputs if symbol.name not in refused]
    if not kept:
        raise refused[forward.inputs[0].name]
    return replace(forward_of(source, defines, settings, kept, outputs), refused=refused)


def derived_text(
    data: bytes,
    defines: Mapping[str, object],
    *,
    kernel: str | None,
    name: str,
    include_dirs: Sequence[str | os.PathLike[str]],
    strict_literals: bool,
    outputs: Collection[str] | None,
    inputs: Collection[str] | None,
) -> tuple[str, tuple[str, ...]]:
    """The text, and what is to be said about it: inputs that have no gradient. Raises CompileError."""
    folders = tuple(os.fspath(folder) for folder in include_dirs)
    single = {key: value[0] if isinstance(value, list) else value for key, value in defines.items()}
    source = decode(data, name, Report())
    forward = derivable(source, single, Settings(kernel, folders, strict_literals), inputs, outputs)
    told = tuple(str(error).replace(": error: ", ": warning: ", 1) for error in forward.refused.values())
    return usual(forward)[1].text, told


def _derived(forward: Forward, passes: tuple[Pass, ...]) -> Backward:
    """The text for these passes, made once."""
    if passes not in forward.made:
        forward.made[passes] = _made(forward, passes)
    made: Backward = forward.made[passes]
    return made


def _made(forward: Forward, passes: Sequence[Pass]) -> Backward:
    wide = added(forward, passes)
    of = [[forward.input_of(forward.loads[number]) for number, _ in each.ways] for each in passes]
    apart = len({symbol for symbols in of for symbol in symbols}) == sum(len(set(symbols)) for symbols in of)
    made: list[Derived] = []
    for at, (each, symbols) in enumerate(zip(passes, of, strict=True)):
        name = f"{forward.kernel.name}{SUFFIX}"
        if len(passes) > 1 and apart:
            name += "".join(f"_{symbol.name}" for symbol in dict.fromkeys(symbols))
        elif at:
            name += f"_{at + 1}"
        made.append(_Kernel(forward, each, list(dict.fromkeys(symbols)), wide, name).derived())
    sums: dict[str, tuple[str, str]] = {}
    for kernel, symbols in zip(made, of, strict=True):
        for symbol in symbols:
            if symbol.name in kernel.sizes:
                sums[symbol.name] = _sum(forward, symbol, dict(sums.values()))
    atomic = {
        symbol.name
        for each, symbols in zip(passes, of, strict=True)
        for symbol, (_, way) in zip(symbols, each.ways, strict=True)
        if way == "atomic"
    }
    narrow = {symbol.name for symbol in wide if target(symbol) in (HALF, BFLOAT16)}
    return Backward(tuple(made), sums, frozenset(narrow - sums.keys()), frozenset(atomic))


class _Kernel:
    """One pass, on its way to a text."""

    def __init__(
        self, forward: Forward, at: Pass, inputs: Sequence[Symbol], wide: Collection[Symbol], name: str
    ) -> None:
        self.forward, self.at, self.name = forward, at, name
        kernel = forward.kernel
        macros = forward.front.macros
        types = {
            key: " ".join(token.text for token in macros[key].body)
            for key in forward.defines
            if key in macros
        }
        ways = {forward.loads[number]: way for number, way in at.ways}
        self.summed = [forward.input_of(load) for load, way in ways.items() if way == "sum"]
        self.turn: Turned | None = None
        parameters, items = list(kernel.parameters), forward.items
        self.sizes: dict[Symbol, Symbol] = {}
        if at.axis is not None:
            shared = [load for load, way in ways.items() if way == "sum"]
            self.turn = turned(items, at.axis, at.loop, shared, kernel.span)
            items, loads = self.turn.items, self.turn.loads
            ways = {new: ways[old] for new, old in loads.items() if old in ways}
            parameters.append(self.turn.count)
            if at.has_parts:
                for symbol in self.summed:
                    size = f"size_{symbol.name}"
                    self.sizes[symbol] = Symbol(size, INT, kernel.span, True, f"int {size}")
                parameters += self.sizes.values()
        self.parameters, self.items = parameters, items
        flow = Flow(items, parameters, frozenset(inputs), forward.outputs)
        strict = forward.settings.strict_literals
        self.reversed = Reversed(ways, flow, parameters, inputs, wide, forward.outputs, types, strict)

    def derived(self) -> Derived:
        """The text, and its parameters."""
        forward, front = self.forward, self.forward.front
        lines = tidy(self.lines())
        used = read_by(lines)
        taken = {*_RESERVED, *front.macros, *front.numbers, *(s.name for s in forward.kernel.parameters)}
        names: dict[int, str] = {}
        chosen: dict[Symbol, str] = {}
        declarations: dict[Symbol, str] = {}
        for symbol, variable in self.reversed.parameters.items():
            of = self._of(symbol)
            name = f"parts_{of.name}" if of is not symbol and of in self.sizes else symbol.name
            while symbol not in forward.kernel.parameters and name in taken:
                name += "_"
            names[variable.number] = name
            taken.add(name)
            if variable.number in used:
                chosen[symbol] = name
                declarations[symbol] = self._declaration(symbol, name)
        counted = None if self.turn is None else self.turn.count
        text, text_of_count = (
            printed(self.name, kept, lines, self.reversed.variables, dict(names), taken, self._head(chosen))
            for kept in (
                list(declarations.values()),
                [said for symbol, said in declarations.items() if symbol is not counted],
            )
        )
        _read_again(text, self.name, forward)
        twins = {self._of(symbol): name for symbol, name in chosen.items() if self._of(symbol) is not symbol}
        return Derived(
            text,
            self.name,
            tuple(chosen.values()),
            {symbol.name: twins[symbol] for symbol in forward.inputs if symbol in twins},
            {symbol.name: twins[symbol] for symbol in forward.outputs if symbol in twins},
            self.at,
            None if counted is None else chosen.get(counted),
            text_of_count,
            {symbol.name: chosen[size] for symbol, size in self.sizes.items() if size in chosen},
            self._states(chosen),
        )

    def _head(self, chosen: Mapping[Symbol, str]) -> list[str]:
        """What a launch has to know: the grid, and what the parameters are that the forward has not."""
        at, forward = self.at, self.forward.kernel.name
        grid = f"grid: that of {forward}"
        if at.axis is not None:
            programs = (
                "as many programs or fewer" if at.has_parts else "one program for each iteration of the loop"
            )
            grid += f"; along axis {at.axis} {programs}"
        head = [grid]
        if self.turn is not None and self.turn.count in chosen:
            head.append(f"{chosen[self.turn.count]}: the programs of {forward} along axis {at.axis}")
        for of, size in self.sizes.items():
            name = chosen[self.reversed.twin(of)]
            head.append(
                f"{name} [programs, {chosen[size]}]: for each program its part of the gradient of {of.name}"
            )
        added = [
            self.forward.input_of(self.forward.loads[number]) for number, way in at.ways if way == "atomic"
        ]
        if added:
            names = ", ".join(chosen[self.reversed.twin(of)] for of in dict.fromkeys(added))
            head.append(f"{names}: added to; zeroed before the first kernel")
        for kept in self.reversed.kept:
            if kept.state in chosen:
                shape = ", ".join(["programs", chosen[kept.iterations], *filter(None, [f.sizes(kept.shape)])])
                head.append(f"{chosen[kept.state]} [{shape}]: {kept.name} as each iteration begins with it")
        return head

    def _states(self, chosen: Mapping[Symbol, str]) -> tuple[State, ...]:
        loops = every_loop(self.forward.items)
        return tuple(
            State(
                chosen[kept.state],
                chosen[kept.iterations],
                loops.index(kept.loop),
                math.prod(kept.shape),
                kept.element,
            )
            for kept in self.reversed.kept
            if kept.state in chosen
        )

    def _of(self, symbol: Symbol) -> Symbol:
        """The parameter that this is the gradient of; itself where it is none."""
        return self.reversed.twin_of.get(symbol, symbol)

    def _declaration(self, symbol: Symbol, name: str) -> str:
        """A parameter as it was declared, without macros, which the backward does not have; of a gradient, without
        words about reading and writing.
        """
        of = self._of(symbol)
        text, macros = of.declaration, self.forward.front.macros.keys()
        if not (macros - self.forward.defines.keys() - _PRELUDE).isdisjoint(re.findall(r"\w+", text)):
            text = f"{of.type} {of.name}".replace("* ", " *", 1)
        if of is symbol:
            return text.replace(symbol.name, name) if symbol not in self.forward.kernel.parameters else text
        pattern = r"(.*?)\s*\*\s*((?:restrict|__restrict__)\s+)?" + of.name + r"\b(.*)$"
        written = re.match(pattern, text, re.DOTALL)
        if written is None:
            return f"{target(symbol)} *{name}"
        before = re.sub(r"\b(__readonly|__writeonly|const)\b\s*", "", written[1]).strip()
        after = re.sub(r"\s*\b(__readonly|__writeonly)\b", "", written[3])
        kept = symbol.type == of.type and not (of in self.reversed.wide and target(of) == FLOAT)
        return f"{before if kept else target(symbol)} *{name}{after}".rstrip()

    def lines(self) -> list[Line]:
        """What the pass does."""
        if self.turn is None:
            return live(self.reversed.run(self.items))
        self.reversed.alone = False
        part = self.reversed.declared(self.turn.part)
        try:
            lines = live(self.reversed.run(self.items))
        except NotShared:
            raise self._unwalkable() from None
        unknown = {self.reversed.top.numbers[symbol] for symbol in self.turn.unknown}
        again = self.at.loop is not None and _has_loops(lines)
        if again or not unknown.isdisjoint(read_by(lines)):
            raise self._unwalkable()  # it takes the whole loop
        return self._in_parts(lines, part) if self.at.has_parts else lines

    def _unwalkable(self) -> _Unwalkable:
        return _Unwalkable([number for number, way in self.at.ways if way == "sum"])

    def _in_parts(self, lines: list[Line], part: Variable) -> list[Line]:
        """The lines with pointers to this program's part of each sum."""
        name = Formula(f.marked(part.number), f.POSTFIX, INT)
        number, many = _of_grid("get_program_id", self.at.axis), _of_grid("get_num_programs", self.at.axis)
        tops: list[Line] = [Declare(part, number)]
        for axis in self.at.others:
            number = f.add(number, f.multiply(many, _of_grid("get_program_id", axis)))
            many = f.multiply(many, _of_grid("get_num_programs", axis))
        for symbol, size in self.sizes.items():
            given = self.reversed.parameters[self.reversed.twin(symbol)]
            pointer = self.reversed.new(f"d_{symbol.name}", given.word, "*")
            lines = [renamed(line, given.number, pointer.number) for line in lines]
            whole = Formula(f.marked(given.number), f.POSTFIX, PointerType(FLOAT))
            offset = f.cast(name if not self.at.others else number, LONG)
            tops.append(
                Declare(pointer, f.binary("+", whole, f.multiply(offset, self.reversed.parameter(size))))
            )
        return [*tops, *lines]


def every_loop(items: list[Item]) -> list[Loop]:
    """All loops of a forward, by number."""
    return [item for item in every(items) if isinstance(item, Loop)]


def _has_loops(lines: Sequence[Line]) -> bool:
    """Whether there are others than the one that walks the programs."""
    loops = [line for line in lines if isinstance(line, Repeat)]
    return len(loops) > 1 or any(isinstance(line, Repeat) for loop in loops for line in loop.body)


def _of_grid(function: str, axis: int | None) -> Formula:
    return f.call(function, INT, f.number(str(axis)))


def target(symbol: Symbol) -> object:
    """What a pointer points to."""
    return symbol.type.element if isinstance(symbol.type, PointerType) else None


def _sum(forward: Forward, symbol: Symbol, known: Mapping[str, str]) -> tuple[str, str]:
    """The kernel that adds up the parts of a gradient: its name and its text."""
    word = re.match(r"\s*(?:const\s+)?(\w+)\s*\*", symbol.declaration)
    macros = forward.front.macros.keys() - forward.defines.keys() - _PRELUDE
    plain = word is not None and word[1] not in macros and word[1] not in ("restrict", "__restrict__")
    to = word[1] if word is not None and plain else str(target(symbol))
    exact = "double" if target(symbol) == DOUBLE else "float"
    name = f"{forward.kernel.name}{SUFFIX}_sum"
    text = _SUM.replace("TO", to).replace("EXACT", exact)
    while known.get(name, text.replace("NAME", name)) != text.replace("NAME", name):
        name += "_"
    return name, text.replace("NAME", name)


_SUM: Final = """// grid: (size + 31) / 32
// total [size]: the sum of parts [count, size]
__global__ void NAME(EXACT *parts, TO *total, int count, int size) {
  int r[32] = get_program_id(0) * 32 + 0 ... 32;
  int p[64] = 0 ... 64;
  EXACT sum[32] = 0;
  for (int first = 0; first < count; first += 64) {
    bool inside[64, 32] = (p < count - first)[:, newaxis] && (r < size)[newaxis, :];
    EXACT part[64, 32] = inside ? *(parts + (long)first * size + p[:, newaxis] * (long)size + r[newaxis, :]) : 0;
    sum += part[+, :];
  }
  *?(r < size) (total + r) = sum;
}
"""
SUM_BLOCK: Final = 32


def _read_again(text: str, kernel: str, forward: Forward) -> None:
    """The text that was made must be a kernel."""
    report = Report()
    front = read(Source(text, kernel), forward.defines, report, forward.settings.include_dirs)
    settings = Settings(kernel, forward.settings.include_dirs, forward.settings.strict_literals)
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
