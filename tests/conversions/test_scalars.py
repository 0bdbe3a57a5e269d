"""The usual arithmetic conversions where an operand is a scalar: a parameter, or a number that was loaded."""

from __future__ import annotations

import itertools

import pytest

from tests.conversions.c_arithmetic import binary, operators_for, select, spell
from tests.conversions.c_types import TYPES, CType, Value
from tests.conversions.probes import Input, Part, Probe, check_together
from tests.conversions.samples import FEW

SIZE = 16


def some(kind: CType) -> list[Value]:
    """The first sample, 1 (which Triton makes a constant) and the last one but NaN."""
    values = [value for value in FEW[kind] if value == value]
    return [values[0], type(values[0])(1), values[-1]]


@pytest.mark.parametrize("left", TYPES, ids=str)
@pytest.mark.sampled(9)
def test_block_with_parameter(device: str, left: CType, every: int) -> None:
    """``x op s`` and ``s op x`` for a block x and a parameter s; what C leaves open is computed, not looked at."""
    check_together(device, [block_with_parameter(left, right) for right in TYPES], every, size=SIZE)


def block_with_parameter(left: CType, right: CType) -> Part:
    probes = []
    values = FEW[left]
    scalars = some(right)
    # 1 is a constant to Triton where it is an integer; for a floating parameter the last sample says more.
    on_the_left = 2 if right.floating else 1
    sides = ((0, False), (on_the_left, True))
    for operator, (i, swapped) in itertools.product(operators_for(left, right), sides):
        operands = [(scalars[i], right, a, left) if swapped else (a, left, scalars[i], right) for a in values]
        results = [binary(operator, *each) for each in operands]
        text = spell(operator, f"s{i}", "x") if swapped else spell(operator, "x", f"s{i}")
        expected = [result for result, _ in results]
        probes.append(Probe(text, results[0][1], expected, inputs=[(a, c) for a, _, c, _ in operands]))
    chosen = [select(a, a, left, scalars[0], right) for a in values]
    probes.append(Probe("x ? x : s0", chosen[0][1], [value for value, _ in chosen], inputs=values))
    chosen = [select(scalars[2], scalars[2], right, a, left) for a in values]
    probes.append(Probe("s2 ? s2 : x", chosen[0][1], [value for value, _ in chosen], inputs=values))
    given = [Input("X", left, values + [1] * (SIZE - len(values)))]
    parameters = [(f"{right} s{i}", scalar) for i, scalar in enumerate(scalars)]
    return Part(f"{left} x[{SIZE}] = *(X + r);", given, probes, parameters, f"{left} and {right}")


@pytest.mark.parametrize("left", TYPES, ids=str)
@pytest.mark.sampled(9)
def test_parameter_with_parameter(device: str, left: CType, every: int) -> None:
    check_together(device, [parameter_with_parameter(left, right) for right in TYPES], every)


def parameter_with_parameter(left: CType, right: CType) -> Part:
    probes = []
    lefts, rights = some(left), some(right)
    for i, k in ((0, 2), (2, 1)):
        a, b = lefts[i], rights[k]
        for operator in operators_for(left, right):
            result, kind = binary(operator, a, left, b, right)
            if result is not None:
                probes.append(Probe(spell(operator, f"p{i}", f"q{k}"), kind, [result], inputs=[(a, b)]))
        result, kind = select(a, a, left, b, right)
        probes.append(Probe(f"p{i} ? p{i} : q{k}", kind, [result], inputs=[(a, b)]))
    parameters = [(f"{left} p{i}", a) for i, a in enumerate(lefts)]
    parameters += [(f"{right} q{i}", b) for i, b in enumerate(rights)]
    return Part("", [], probes, parameters, f"{left} and {right}")


@pytest.mark.parametrize("left", TYPES, ids=str)
@pytest.mark.sampled(9)
def test_loaded_with_loaded(device: str, left: CType, every: int) -> None:
    """Scalars that each program loads: pairs for which every operator is defined."""
    parts = [loaded_with_loaded(left, right) for right in TYPES]
    check_together(device, parts, every, grid=max(len(part.inputs[0].values) for part in parts))


def loaded_with_loaded(left: CType, right: CType) -> Part:
    pairs = [
        (a, b)
        for a, b in itertools.product(FEW[left], FEW[right])
        if all(binary(operator, a, left, b, right)[0] is not None for operator in operators_for(left, right))
    ]
    pairs = pairs[:: max(1, len(pairs) // 2)][:3]
    probes = []
    for operator in operators_for(left, right):
        results = [binary(operator, a, left, b, right) for a, b in pairs]
        expected = [result for result, _ in results]
        probes.append(Probe(spell(operator, "x", "y"), results[0][1], expected, inputs=pairs))
    given = [Input("X", left, [a for a, _ in pairs]), Input("Y", right, [b for _, b in pairs])]
    lines = f"{left} x = *(X + r);\n{right} y = *(Y + r);"
    return Part(lines, given, probes, label=f"{left} and {right}")
