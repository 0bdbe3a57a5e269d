"""Built-in functions: in which type each computes and what type its result has (language.md, section 6).

``exp`` and its kin give double for double and float for everything else; a half argument is converted first and
the result is not rounded back. Bounds: 16 ulp of float and 4 of double, where Triton's interpreter and a GPU
(whose ``exp2``, ``sin`` and ``/`` are approximations) may differ from the exact value; a result that was rounded to
half or bfloat16 is thousands of ulp off, and one computed in float is far outside the bound for double.
``min max select abs floor ceil fma`` compute in the common type of their operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from tests.conversions.c_arithmetic import Expected
from tests.conversions.c_types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    FLOATS,
    HALF,
    INT,
    TYPES,
    CType,
    Value,
    common,
    convert,
    promoted,
    rounded,
    wrapped,
)
from tests.conversions.probes import Input, Part, Probe, check, check_together
from tests.conversions.samples import FEW, representable

SIZE = 16
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "log": math.log,
    "sqrtf": math.sqrt,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "erf": math.erf,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "log2": math.log2,
    "exp2": lambda x: 2**x,
}
# Integers, and fractions that neither half nor float holds: what stands in a type is what that type rounds to.
POSITIVE = [1, 2, 3, 5, 7, 11]
FRACTIONS = [0.1, 0.3, 1.7, 2.9, 3.3, 0.77]


def arguments(kind: CType) -> list[Value]:
    return representable(kind, POSITIVE + FRACTIONS if kind.floating else POSITIVE)


def near(value: float, kind: CType) -> Expected:
    """The value and what a right implementation may give instead."""
    ulps = 4 if kind is DOUBLE else 16
    slack = ulps * math.ldexp(1, math.frexp(value)[1] - kind.digits) + 2.0**-52 * (kind is FLOAT)
    return value - slack, value + slack


def block(kind: CType, values: list[Value], name: str = "X") -> Input:
    return Input(name, kind, values + [1] * (SIZE - len(values)))


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.sampled(2)
def test_mathematics(device: str, kind: CType) -> None:
    """Blocks and scalars of every type."""
    values = arguments(kind)
    result = DOUBLE if kind is DOUBLE else FLOAT
    probes = []
    for name, function in FUNCTIONS.items():
        exact = [function(float(value)) for value in values]
        probes.append(Probe(f"{name}(x)", result, [near(value, result) for value in exact], inputs=values))
    check(device, f"{kind} x[{SIZE}] = *(X + r);", [block(kind, values)], probes, size=SIZE)
    check(device, f"{kind} x = *(X + r);", [Input("X", kind, values)], probes, grid=len(values))


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_power(device: str, kind: CType) -> None:
    values = arguments(kind)[:6]
    result = DOUBLE if kind is DOUBLE else FLOAT
    probes = []
    for exponent in (2.0, 0.5, -1.5):
        exact = [near(float(value) ** exponent, result) for value in values]
        probes.append(Probe(f"pow(x, {exponent})", result, exact, inputs=values))
    check(device, f"{kind} x[{SIZE}] = *(X + r);", [block(kind, values)], probes, size=SIZE)


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_result_is_not_rounded_back(device: str, kind: CType) -> None:
    """What follows computes in the call's type: ``exp(h) * h`` is a float product, and overflows no half."""
    values = representable(kind, [12, 3]) if not kind.floating else [12.0, 2.75]
    if kind is BOOL:
        values = [1, 1]
    result = common(DOUBLE if kind is DOUBLE else FLOAT, kind)
    exact = [near(math.exp(value) * value, result) for value in values]
    probes = [Probe("exp(x) * x", result, exact, inputs=values)]
    probes.append(Probe("exp(x) > 65504 ? 1 : 0", INT, [int(math.exp(value) > 65504) for value in values]))
    check(device, f"{kind} x[{SIZE}] = *(X + r);", [block(kind, values)], probes, size=SIZE)


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_abs_floor_ceil(device: str, kind: CType) -> None:
    """In the operand's type after promotion; the lowest int and long have no absolute value."""
    result = promoted(kind)
    values = [value for value in FEW[kind] if result.floating or value != result.lowest]
    if kind in FLOATS:
        values = [*values[:-1], rounded(1.7, kind), rounded(-1.2, kind), rounded(-0.3, kind)]
    if device == "cuda":  # a GPU's ceil takes a subnormal float for 0: docs/verified.md
        values = [value for value in values if value == 0 or not abs(value) < 2.0**-126]
    values = values[:SIZE]
    steps = {"abs": abs, "fabs": abs, "floor": whole(math.floor), "ceil": whole(math.ceil)}
    probes = []
    for name, function in steps.items():
        wanted = [function(value) for value in values]
        probes.append(Probe(f"{name}(x)", result, wanted, inputs=values))
        twice = [rounded(v * 3, result) if result.floating else wrapped(v * 3, result) for v in wanted]
        probes.append(Probe(f"{name}(x) * 3", result, twice, inputs=values))
    check(device, f"{kind} x[{SIZE}] = *(X + r);", [block(kind, values)], probes, size=SIZE)
    check(device, f"{kind} x = *(X + r);", [Input("X", kind, values)], probes, grid=len(values))


def whole(function: Callable[[float], int]) -> Callable[[Value], Value]:
    """floor or ceil that keep the sign of zero, infinity and NaN."""

    def each(value: Value) -> Value:
        if isinstance(value, int) or not math.isfinite(value):
            return value
        return math.copysign(float(function(value)), value)

    return each


@pytest.mark.parametrize("left", TYPES, ids=str)
def test_select_and_fma(device: str, left: CType, every: int) -> None:
    """``select(c, a, b)`` and ``fma(a, a, b)`` in the common type of a and b."""
    check_together(
        device, [part for right in TYPES for part in select_and_fma(left, right)], every, size=SIZE
    )


def select_and_fma(left: CType, right: CType) -> tuple[Part, Part]:
    kind = common(left, right)
    both = list(zip(FEW[left], reversed(FEW[right]), strict=False))[:SIZE]
    chosen = [convert(a if i % 2 else b, kind) for i, (a, b) in enumerate(both)]
    small = [(a, b) for a, b in both if abs(a) < 1000 and abs(b) < 1000 and (abs(a) > 1e-3 or a == 0)]
    summed: list[Expected] = []
    for a, b in small:
        a, b = convert(a, kind), convert(b, kind)
        if kind.floating:
            fused = rounded(Fraction(a) * Fraction(a) + Fraction(b), kind)
            ends = (rounded(rounded(a * a, kind) + b, kind), fused)  # language.md allows both
            summed.append((min(ends), max(ends)))
        else:
            summed.append(wrapped(a * a + b, kind))
    lines = f"{left} x[{SIZE}] = *(X + r);\n{right} y[{SIZE}] = *(Y + r);"
    given = [block(left, [a for a, _ in both]), block(right, [b for _, b in both], "Y")]
    selected = Part(
        lines,
        given,
        [Probe("select(r & 1, x, y)", kind, chosen, inputs=both)],
        label=f"select of {left} and {right}",
    )
    given = [block(left, [a for a, _ in small]), block(right, [b for _, b in small], "Y")]
    fused = Part(
        lines, given, [Probe("fma(x, x, y)", kind, summed, inputs=small)], label=f"fma of {left} and {right}"
    )
    return selected, fused


def test_program_ids_are_ints(device: str) -> None:
    """``get_program_id`` and ``get_num_programs`` are int: they wrap at 32 bits and lose against unsigned."""
    probes = [
        Probe("(get_program_id(0) + 65536) * 65536 / 65536", INT, [0, 1, 2, 3]),
        Probe("get_program_id(0) - 1 < 0", BOOL, [1, 0, 0, 0]),
        Probe("get_program_id(0) - 1 < 0u", BOOL, [0, 0, 0, 0]),
        Probe("get_program_id(0) - 3 / 2", INT, [-1, 0, 1, 2]),
        Probe("(get_program_id(0) - 3) / 2", INT, [-1, -1, 0, 0]),
        Probe("get_num_programs(0) << 30", INT, [0, 0, 0, 0]),
        Probe("get_num_programs(0) / 3 * 2.5f", FLOAT, [2.5, 2.5, 2.5, 2.5]),
        Probe("get_num_programs(1) - 2", INT, [-1, -1, -1, -1]),
    ]
    check(device, "", [], probes, grid=4)


def test_half_with_bfloat16(device: str) -> None:
    """Their common type is float, in functions too."""
    given = [Input("X", HALF, [2.0**-24] * SIZE), Input("Y", BFLOAT16, [2.0**-126] * SIZE)]
    lines = f"half x[{SIZE}] = *(X + r);\nbfloat16 y[{SIZE}] = *(Y + r);"
    total = rounded(2.0**-24 + 2.0**-126, FLOAT)
    probes = [
        Probe("x + y", FLOAT, [total] * SIZE),
        Probe("min(x, y)", FLOAT, [2.0**-126] * SIZE),
        Probe("max(y, x)", FLOAT, [2.0**-24] * SIZE),
        Probe("select(r < 8, x, y)", FLOAT, [2.0**-24] * 8 + [2.0**-126] * 8),
    ]
    check(device, lines, given, probes, size=SIZE)
