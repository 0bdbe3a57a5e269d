"""The usual arithmetic conversions: every pair of types under every operator, blocks and scalars.

Expected values: c_arithmetic.py. A failure names the pair, the operator and the operands.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from operator import and_, eq, ge, gt, le, lt, ne, or_, xor

import pytest

from tests.conversions.c_arithmetic import binary, operators_for, select, spell, unary
from tests.conversions.c_types import BOOL, FLOAT, FLOATS, INT, TYPES, CType
from tests.conversions.probes import Input, Part, Probe, check, check_together
from tests.conversions.samples import FEW

SIZE = 256


def combinations(operator: str, left: CType, right: CType) -> list[tuple[float, float]]:
    """Pairs of values: all for most operators; for division and shifts those that C defines."""
    both = list(itertools.product(FEW[left], FEW[right]))
    if operator in ("/", "%", "<<", ">>"):
        return [(a, b) for a, b in both if binary(operator, a, left, b, right)[0] is not None]
    return both


def family(operator: str) -> str:
    """Operators of one family share their operands."""
    return {"/": "d", "%": "d", "<<": "s", ">>": "s"}.get(operator, "")


def probe(
    operator: str, x: str, y: str, left: CType, right: CType, pairs: Sequence[tuple[float, float]]
) -> Probe:
    results = [binary(operator, a, left, b, right) for a, b in pairs]
    label = spell(operator, str(left), str(right))
    return Probe(spell(operator, x, y), results[0][1], [result for result, _ in results], label, pairs)


@pytest.mark.parametrize("left", TYPES, ids=str)
@pytest.mark.sampled(9)
def test_block_with_block(device: str, left: CType, every: int) -> None:
    check_together(device, [block_with_block(left, right) for right in TYPES], every, size=SIZE)


def block_with_block(left: CType, right: CType) -> Part:
    inputs, lines, probes = [], [], []
    for operator in operators_for(left, right):
        name, pairs = family(operator), combinations(operator, left, right)
        if f"X{name}" not in [given.name for given in inputs]:
            filled = list(itertools.islice(itertools.cycle(pairs), SIZE))
            inputs += [
                Input(f"X{name}", left, [a for a, _ in filled]),
                Input(f"Y{name}", right, [b for _, b in filled]),
            ]
            lines += [
                f"{left} x{name}[{SIZE}] = *(X{name} + r);",
                f"{right} y{name}[{SIZE}] = *(Y{name} + r);",
            ]
        probes.append(probe(operator, f"x{name}", f"y{name}", left, right, pairs))
    both = combinations("?", left, right)
    chosen = [select(a, a, left, b, right) for a, b in both]
    probes.append(Probe("x ? x : y", chosen[0][1], [value for value, _ in chosen], "", both))
    chosen = [select(0, a, left, b, right) for a, b in both]
    probes.append(Probe("r < 0 ? x : y", chosen[0][1], [value for value, _ in chosen], "", both))
    return Part("\n".join(lines), inputs, probes, label=f"{left} and {right}")


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_unary(device: str, kind: CType) -> None:
    values = FEW[kind]
    probes = []
    for operator in "+-!" if kind in FLOATS else "+-~!":
        results = [unary(operator, a, kind) for a in values]
        probes.append(Probe(f"{operator}x", results[0][1], [value for value, _ in results], "", values))
        twice = [unary("-", *unary(operator, a, kind)) for a in values]
        probes.append(Probe(f"-({operator}x)", twice[0][1], [value for value, _ in twice], "", values))
    given = [Input("X", kind, values + [0] * (16 - len(values)))]
    check(device, f"{kind} x[16] = *(X + r);", given, probes, size=16)
    check(device, f"{kind} x = *(X + r);", given, probes, grid=len(values))


def test_bits_of_a_truth_value_and_a_number_taken_for_a_truth_value(device: str) -> None:
    """``b & 6`` of a bool is an int, 0 whatever b is: there is no telling it from ``b`` by the truth of 6."""
    flags = [0, 1, 1, 0, 0, 1, 0, 1]
    probes = []
    for number in (0, 1, 2, 3, 6, -1):
        for symbol, bits in (("&", and_), ("|", or_), ("^", xor)):
            truth = [int(bits(flag, number) != 0) for flag in flags]
            other = [int(bits(number, 1 - flag) != 0) for flag in flags]
            probes.append(Probe(f"(bool)(b {symbol} {number})", INT, truth, inputs=flags))
            probes.append(Probe(f"({number} {symbol} !b) ? 1 : 0", INT, other, inputs=flags))
    given = [Input("X", BOOL, flags)]
    check(device, "bool b[8] = *(X + r);", given, probes, size=8)
    check(device, "bool b = *(X + r);", given, probes, grid=8)


def test_comparisons_with_nan_and_their_negations(device: str) -> None:
    """``!(x < y)`` holds where either is NaN; ``x >= y`` does not."""
    nan = float("nan")
    pairs = [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (nan, 1.0), (1.0, nan), (nan, nan), (-0.0, 0.0), (3.0, nan)]
    probes = []
    for symbol, holds in {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}.items():
        truth = [int(holds(x, y)) for x, y in pairs]
        probes.append(Probe(f"x {symbol} y", INT, truth, inputs=pairs))
        probes.append(Probe(f"!(x {symbol} y)", INT, [1 - one for one in truth], inputs=pairs))
        probes.append(
            Probe(f"(!(x {symbol} y) ? 5 : 6)", INT, [6 - (1 - one) for one in truth], inputs=pairs)
        )
    given = [Input("X", FLOAT, [x for x, _ in pairs]), Input("Y", FLOAT, [y for _, y in pairs])]
    check(device, "float x[8] = *(X + r); float y[8] = *(Y + r);", given, probes, size=8)
    check(device, "float x = *(X + r); float y = *(Y + r);", given, probes, grid=8)
