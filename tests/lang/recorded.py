"""What a translation logs, and the checks of its conditions.

``checked(source, defines, ...)`` translates a source, then with other values of its defines: some with the same
outcomes of all comparisons, some for which only the conditions hold, and some just outside each condition.
"""

from __future__ import annotations

import io
import math
import random
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any
from unittest import mock

import torch

from pytriton import pipeline
from pytriton.errors import CompileError, Report
from pytriton.lang import read
from pytriton.lang.conditions import Condition, holds, instantiated, satisfied
from pytriton.lang.preprocess.macros import Digits, given_macros
from pytriton.lang.recording import Comparison, Log, Term
from pytriton.lang.tree import convert
from pytriton.lang.tree.types import ScalarType
from pytriton.pipeline import Translation, translate_as
from pytriton.runtime.compile.load import load as loaded
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.settings import Settings
from pytriton.source import Source

Memory = list[torch.Tensor]
Launch = Callable[[Translation, Mapping[str, int | float]], Memory]


@dataclass
class Recorded:
    """A translation and its log. ``raw``: before its numbers were instantiated; None where it failed."""

    defines: dict[str, Any]
    values: dict[str, int | float]
    comparisons: list[Comparison]
    made: Translation | None = None
    raw: Translation | None = None
    errors: tuple[str, ...] = ()


def recorded(source: str, defines: dict[str, Any], settings: Settings) -> Recorded:
    """Translate, without the cache of sources that were read."""
    logs: list[Log] = []
    raws: list[Translation] = []

    def logging() -> Log:
        logs.append(Log())
        return logs[-1]

    def instantiating(result: Translation, values: Mapping[str, int | float]) -> Translation:
        raws.append(result)
        return plain(result, values)

    plain = pipeline._plain
    read._entries.clear()
    pipeline._templates.clear()
    made: Translation | None = None
    errors: tuple[str, ...] = ()
    with (
        mock.patch.object(pipeline, "Log", logging),
        mock.patch.object(pipeline, "_plain", instantiating),
    ):
        try:
            made = translate_as(source, defines, settings, "kernel.c")
        except CompileError as error:
            errors = tuple(found.render() for found in error.diagnostics)
    comparisons = list(logs[0].entries) if logs else []
    return Recorded(defines, numbers(source, defines), comparisons, made, raws[0] if raws else None, errors)


def numbers(source: str, defines: Mapping[str, Any]) -> dict[str, int | float]:
    """The defines that are numbers; raises where one is refused."""
    report = Report()
    given = given_macros(defines, Source(source, "kernel.c"), report)
    report.check()
    return {name: macro.value for name, macro in given.items() if macro.value is not None}


# ---------------------------------------------------------------- other values

POWERS = [1 << power for power in (*range(12), 15, 16, 20, 24, 30, 31, 32, 62, 63)]
INTEGERS = sorted({sign * power + near for power in POWERS for sign in (1, -1) for near in (-1, 0, 1)})
FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 0.1, 1e-40, -1e-40, 1.1754943508222875e-38, 1e-45, 5e-324, 1e30, 1e300),
    *(
        3.4028234663852886e38,
        3.5e38,
        -1e300,
        math.inf,
        -math.inf,
        math.nan,
        65504.0,
        65520.0,
        1e-8,
        3e9,
        -3e9,
    ),
    *(2147483647.0, 2147483648.0, -2147483649.0, 16777217.0, 1e19, 7.5),
)


def constants_in(term: Term) -> Iterator[int]:
    if isinstance(term, int):
        yield term
    elif isinstance(term, tuple) and term[0] != "float":
        for operand in term[1:]:
            yield from constants_in(operand)


def spelled(source: str, found: Recorded) -> frozenset[str]:
    """The defines that # and ## spell, or may spell where the translation failed."""
    if found.made is not None:
        return frozenset(found.made.conditions.texts)
    calls = re.findall(r"(?:SPELLED|JOINED)\(([^)]*)\)", source) if "##" in source else ()
    return frozenset(re.findall(r"\w+", " ".join(calls)))


def free(source: str, found: Recorded, texts: frozenset[str]) -> list[str]:
    """The numbers in the source that are not fixed by the log."""
    fixed = {
        comparison.left
        for comparison in found.comparisons
        if comparison.operator in ("==", "is") and comparison.holds and not isinstance(comparison.right, str)
    }
    return [
        name
        for name in found.values
        if name not in fixed and name not in texts and re.search(rf"\b{name}\b", source)
    ]


def other_values(
    rng: random.Random, found: Recorded, names: list[str], near: list[int]
) -> dict[str, int | float]:
    values = dict(found.values)
    for name in rng.sample(names, rng.choice((1, 1, 2, len(names))) if len(names) > 1 else 1):
        value = values[name]
        if isinstance(value, float):
            values[name] = rng.choice(
                (*FLOATS, value * 1.5, math.nextafter(value, math.inf), rng.gauss(0, 3))
            )
            continue
        kind = rng.randrange(6)
        if kind == 0:
            values[name] = rng.choice(near) + rng.randrange(-1, 2)
        elif kind == 1:
            values[name] = rng.choice(INTEGERS)
        elif kind == 2:
            values[name] = int(value) + rng.randrange(-3, 4)
        elif kind == 3:
            values[name] = 1 << rng.randrange(11)
        elif kind == 4:
            values[name] = rng.randrange(0, 100)
        else:
            values[name] = int(value) * 2 if rng.randrange(2) else int(value) // 2
    return values


def is_given(value: int | float) -> bool:
    """Whether a define may have the value."""
    return isinstance(value, float) or -(1 << 63) <= value < 1 << 64


def steps(value: int | float, power: bool) -> Iterator[list[int | float]]:
    """Sorted values on each side of one, far apart; between two of them the least step is searched."""
    if isinstance(value, float):
        for sign in (1, -1):
            yield [value, *(value + sign * 10.0**exponent for exponent in range(-3, 39, 2)), sign * 1e300]
    elif power and value > 0:
        yield [value << count for count in range(40)]
        yield [value >> count for count in range(value.bit_length() + 1)]
    else:
        for sign in (1, -1):
            yield [value, *(value + sign * (1 << count) for count in range(64))]


def beyond(
    found: Recorded, conditions: list[Condition], condition: Condition
) -> Iterator[dict[str, int | float]]:
    """Values that violate one condition by one step of one define, and no other condition."""
    others = [other.comparison for other in conditions if other is not condition]
    for name in sorted(condition.names):
        power = any(
            other.comparison.operator == "is_power_of_2" and other.names == {name}
            for other in conditions
            if other is not condition
        )
        for line in steps(found.values[name], power):
            flip = None
            for inside, outside in pairwise(line):
                if not holds(condition.comparison, {**found.values, name: outside}):
                    flip = inside, outside
                    break
            if flip is None:
                continue
            inside, outside = flip
            while not power:
                middle = (inside + outside) / 2 if isinstance(inside, float) else (inside + outside) // 2
                if middle in (inside, outside) or (isinstance(inside, int) and abs(outside - inside) <= 1):
                    break
                if holds(condition.comparison, {**found.values, name: middle}):
                    inside = middle
                else:
                    outside = middle
            values = {**found.values, name: outside}
            if satisfied(others, values) and is_given(outside):
                yield values


# ---------------------------------------------------------------- checks


@dataclass
class Outcome:
    """``leaks``, ``wrong``: of each, the other defines and what differs."""

    counts: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    conservative: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        self.counts += other.counts
        self.leaks += other.leaks
        self.wrong += other.wrong
        self.conservative += other.conservative


IGNORED = ("tree",)


def differences(first: Recorded, second: Recorded) -> list[str]:
    """What differs between two translations with the same outcomes, but for the numbers of the second."""
    if first.raw is None or second.made is None:
        same = first.raw is None and second.made is None and first.errors == second.errors
        return [] if same else [f"errors: {first.errors} | {second.errors}"]
    expected = instantiated(first.raw, second.values)
    found = [
        f"{one.name}: {getattr(expected, one.name)!r} | {getattr(second.made, one.name)!r}"
        for one in fields(Translation)
        if one.name not in IGNORED and not equal(getattr(expected, one.name), getattr(second.made, one.name))
    ]
    if set(first.comparisons) != set(second.comparisons):
        found.append(f"log: {set(first.comparisons) ^ set(second.comparisons)}")
    return found


def equal(first: object, second: object) -> bool:
    """Whether two results are equal, floats by their bits."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(equal(first[key], second[key]) for key in first)
    if isinstance(first, float) and isinstance(second, float):
        return first.hex() == second.hex()
    return type(first) is type(second) and first == second


def checked(
    source: str,
    defines: dict[str, Any],
    rng: random.Random,
    launch: Launch | None = None,
    settings: Settings | None = None,
    *,
    tries: int = 60,
    wanted: int = 3,
    reach: int | None = None,
) -> Outcome:
    """The checks of one source. ``reach``: the largest integer to launch it with; any if None."""
    settings = settings or Settings()
    outcome = Outcome()
    expected: Translation
    first = recorded(source, defines, settings)
    outcome.counts["sources"] += 1
    outcome.counts["refused sources"] += first.made is None
    conditions = list(first.made.conditions) if first.made else []
    if first.made is not None and not first.made.conditions.holds(defines):
        outcome.wrong.append(f"{source}\n{defines}\n{first.made.conditions}\nrefuses its own defines")
    texts = spelled(source, first)
    names = free(source, first, texts)
    near = [0, *(x for c in first.comparisons for side in (c.left, c.right) for x in constants_in(side))]
    seen = Counter[str]()
    done: list[dict[str, int | float]] = []
    for _ in range(tries if names else 0):
        values = other_values(rng, first, names, near)
        if not all(map(is_given, values.values())):
            continue
        if any(all(equal(values[name], one[name]) for name in values) for one in (*done, first.values)):
            continue
        others = {**defines, **{name: values[name] for name in names}}
        if satisfied(first.comparisons, values):
            kind = "same outcomes"
        elif first.made and satisfied((condition.comparison for condition in conditions), values):
            kind = "conditions only"
        else:
            continue
        if seen[kind] >= wanted:
            continue
        done.append(values)
        seen[kind] += 1
        small = all(
            isinstance(value, float) or value == first.values[name] or abs(value) <= reach
            for name, value in values.items()
            if reach is not None
        )
        where = f"{source}\n{defines}\n{others}"
        if first.made and not first.made.conditions.holds(others):
            outcome.leaks.append(f"{where}\nconditions.holds refuses it")
            continue
        second = recorded(source, others, settings)
        if kind == "same outcomes":
            if found := differences(first, second):
                outcome.leaks.append("\n".join((where, *found)))
            elif launch is not None and first.raw is not None and small:
                outcome.counts["launched"] += 1
                expected = instantiated(first.raw, second.values)
                literal, is_undefined = spelled_out(source, others, settings)
                problem = unequal(launch, expected, literal)
                if problem and is_undefined:
                    outcome.counts["undefined"] += 1
                elif problem:
                    outcome.wrong.append(f"{where}\n{problem}\n{expected.text}")
            continue
        assert first.made is not None
        assert first.raw is not None
        if second.made is None:
            outcome.wrong.append(f"{where}\nrefused: {second.errors[0]}")
        elif launch is not None and small:
            outcome.counts["launched"] += 1
            expected = instantiated(first.raw, second.values)
            if problem := unequal(launch, expected, second.made):
                outcome.wrong.append(
                    f"{where}\n{first.made.conditions}\n{problem}\n{first.made.text}\n{second.made.text}"
                )
    outcome.counts += seen
    for condition in conditions:
        for values in beyond(first, conditions, condition):
            others = {**defines, **{name: values[name] for name in first.values if name not in texts}}
            second = recorded(source, others, settings)
            outcome.counts["outside"] += 1
            if second.made is not None and second.made.text == first.made.text:  # type: ignore[union-attr]
                outcome.conservative.append(f"{source}\n{defines}\n{others}\n{condition}")
            break
    return outcome


def spelled_out(
    source: str, defines: Mapping[str, Any], settings: Settings
) -> tuple[Translation | None, bool]:
    """The translation in which all finite numbers are literals, None where it is refused; and whether a constant
    is a floating number that its integer type cannot hold, for which C leaves the integer undefined."""
    given = {
        name: Digits(value) if isinstance(value, int | float) and math.isfinite(value) else value
        for name, value in defines.items()
    }
    undefined: list[bool] = []
    plain = convert._converted

    def converted(value: int | float, type_: ScalarType) -> int | float:
        is_out = not math.isfinite(value) or not convert.fits(int(value), type_)
        undefined.append(isinstance(value, float) and type_.kind in ("int", "uint") and is_out)
        return plain(value, type_)

    pipeline._templates.clear()
    with mock.patch.object(convert, "_converted", converted):
        try:
            made = translate_as(source, given, settings, "kernel.c")
        except CompileError:
            made = None
    return made, any(undefined)


def unequal(launch: Launch, first: Translation, second: Translation | None) -> str:
    """How the results of two modules differ; the second one may fail."""
    if second is None:
        return ""
    try:
        wanted = launch(second, second.constexprs)
    except Exception:  # it has no meaning for these values
        return ""
    try:
        found = launch(first, first.constexprs)
    except Exception as error:
        return "" if "TimeoutError" in repr(error) else f"failed: {error!r}"
    same = all(map(same_memory, found, wanted))
    return "" if same else "\n".join(map(shown, found, wanted))


def shown(left: torch.Tensor, right: torch.Tensor) -> str:
    """Where two memories differ."""
    if left.dtype == torch.uint8 or left.shape != right.shape:
        return f"{bytes(left.tolist())!r} | {bytes(right.tolist())!r}"
    places = (left != right).nonzero().flatten()
    return f"{(places - MARGIN).tolist()}: {left[places].tolist()} | {right[places].tolist()}"


def same_memory(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two memories hold the same, NaN included; sums of other sizes are rounded otherwise."""
    if left.dtype == torch.float64:  # what generated sources store sums in
        return torch.allclose(left, right, rtol=1e-3, atol=1e-5, equal_nan=True)
    if left.dtype.is_floating_point:  # the bits of a NaN are not specified
        unordered = left.isnan() & right.isnan()
        left, right = left.masked_fill(unordered, 0), right.masked_fill(unordered, 0)
    return torch.equal(left.view(torch.uint8), right.view(torch.uint8))


# ---------------------------------------------------------------- launches

MARGIN = 1 << 12  # elements


def launched(made: Translation, constexprs: Mapping[str, int | float]) -> Memory:
    """All memory after a launch of a generated source, and what it printed."""
    torch.manual_seed(0)
    types = {parameter.name: parameter.type for parameter in made.parameters}
    word = str(getattr(types["w"], "element", "")).split(".")[-1]
    dtypes = [torch.int32, torch.int64, torch.float32, torch.float64, torch.float16, torch.int64, torch.int32]
    tensors = [torch.zeros(2 * MARGIN, dtype=dtype) for dtype in dtypes]
    for tensor in tensors:
        inside = tensor[MARGIN : MARGIN + 64]
        values = torch.randint(-9, 9, (64,))
        inside.copy_(values if not tensor.dtype.is_floating_point else values / 4)
    del word
    arguments = [tensor.data_ptr() + MARGIN * tensor.element_size() for tensor in tensors]
    signal.signal(signal.SIGALRM, endless)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    printed = io.StringIO()
    scalars = [24, 64][: len(made.parameters) - len(arguments)]
    try:
        with redirect_stdout(printed):
            module = loaded(made.function, made.text)
            kernel = Interpreted(module, made.parameters, constexprs, prints=made.prints)
            kernel.run((1, 1, 1), [*arguments, *scalars])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    lines = [
        line.rpartition(": ")[2] for line in printed.getvalue().splitlines()
    ]  # without what names the values
    text = torch.frombuffer(bytearray("\n".join(lines).encode() or b"\0"), dtype=torch.uint8)
    return [*tensors, text]


def endless(*_: object) -> None:
    raise TimeoutError
