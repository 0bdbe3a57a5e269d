"""What the translator does not do as language.md says, each reduced to its smallest text.

A strict expected failure: when it is mended its test fails, and the mark goes (with the same entry in
``is_open`` of the table that leaves it out).
"""

from __future__ import annotations

import pytest

from tests.conversions.c_types import BFLOAT16, BOOL, DOUBLE, HALF, INT, LONG, UINT, ULONG, CType, Value
from tests.conversions.probes import Input, Probe, check


def case(
    name: str, reason: str, kind: CType, x: Value, expression: str, wanted: Value, **defines: object
) -> object:
    """``expression`` of x, one scalar of a type, must be the number wanted."""
    mark = pytest.mark.xfail(strict=True, reason=reason)
    return pytest.param(kind, x, expression, wanted, defines, id=name, marks=mark)


DIVISION = "/ does not convert a constant to half or bfloat16 first"
BOOLS = "bool beside a constant of type unsigned, long or unsigned long"
NEGATIVE = "a negative define beside an unsigned operand: TC532"
BFLOAT16_TO_HALF = "Triton's interpreter shifts bits from bfloat16 to half"
OF_THE_INTERPRETER = [
    case("bfloat16 to half, large", BFLOAT16_TO_HALF, BFLOAT16, 3e38, "(half)x", float("inf")),
    case("bfloat16 to half, small", BFLOAT16_TO_HALF, BFLOAT16, -1.0010069081221042e-38, "(half)x", -0.0),
]
FUNCTIONS = "fabs, floor and ceil of half, bfloat16 and integers are float"
CASES = [
    case("fabs(half)", FUNCTIONS, HALF, -2050.0, "fabs(x) * 3", 6152.0),
    case("floor(half)", FUNCTIONS, HALF, 2050.0, "floor(x) * 3", 6152.0),
    case("ceil(bfloat16)", FUNCTIONS, BFLOAT16, 258.0, "ceil(x) * 3", 776.0),
    case("floor(int)", FUNCTIONS, INT, 16777217, "floor(x)", 16777217.0),
    case("fabs(unsigned)", FUNCTIONS, UINT, 2**32 - 1, "fabs(x)", 2.0**32 - 1),
    case("ceil(long)", FUNCTIONS, LONG, 2**53 - 1, "ceil(x)", 2.0**53 - 1),
    case("half by literal", DIVISION, HALF, 2050.0, "x / 0.1", 20512.0),
    case("literal by half", DIVISION, HALF, -2.5, "0.1 / x", -0.03997802734375),
    case("half by define", DIVISION, HALF, 3.0, "x / K", 0.0, K=1e5),
    case("bfloat16 by literal", DIVISION, BFLOAT16, 0.10009765625, "x / 100000", 1.0058283805847168e-06),
    case("bool - 3u", BOOLS, BOOL, 1, "x - 3u", 2.0**32 - 2),
    case("bool - 2147483648", BOOLS, BOOL, 1, "x - 2147483648", 1 - 2.0**31),
    case("2147483648 << bool", BOOLS, BOOL, 1, "2147483648 << x", 2.0**32),
    case("unsigned + define", NEGATIVE, UINT, 7, "x + K", 4.0, K=-3),
    case("unsigned < define", NEGATIVE, UINT, 7, "x < K", 1.0, K=-3),
    case("? : define", NEGATIVE, UINT, 7, "x ? x : K", 7.0, K=-3),
    case("unsigned long / define", NEGATIVE, ULONG, 2**64 - 1, "x / K", 1.0, K=-3),
    case("1.0f / 0.0f", "TC532: Python divides the constants", LONG, 0, "1.0f / 0.0f", float("inf")),
]


@pytest.mark.parametrize(("kind", "x", "expression", "wanted", "defines"), CASES)
def test_open(
    device: str, kind: CType, x: Value, expression: str, wanted: Value, defines: dict[str, object]
) -> None:
    check(
        device,
        f"{kind} x = *X;",
        [Input("X", kind, [x])],
        [Probe(expression, DOUBLE, [wanted])],
        defines=defines,
    )


@pytest.mark.parametrize(("kind", "x", "expression", "wanted", "defines"), OF_THE_INTERPRETER)
def test_open_on_the_interpreter(
    kind: CType, x: Value, expression: str, wanted: Value, defines: dict[str, object]
) -> None:
    check(
        "cpu",
        f"{kind} x = *X;",
        [Input("X", kind, [x])],
        [Probe(expression, DOUBLE, [wanted])],
        defines=defines,
    )
