"""What the translator does not do as language.md says, each reduced to its smallest text.

A strict expected failure: when it is mended its test fails, and the mark goes (with the same entry in
``is_open`` of the table that leaves it out).
"""

from __future__ import annotations

import pytest

from tests.conversions.c_types import BFLOAT16, BOOL, DOUBLE, HALF, LONG, UINT, ULONG, CType, Value
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
FOLDED = "constants of type float are computed in double"
BFLOAT16_TO_HALF = "Triton's interpreter shifts bits from bfloat16 to half"
BFLOAT16_COMPARED = "Triton's interpreter: a comparison of bfloat16 to float is TC532"
OF_THE_INTERPRETER = [
    case("bfloat16 to half, large", BFLOAT16_TO_HALF, BFLOAT16, 3e38, "(half)x", float("inf")),
    case("bfloat16 to half, small", BFLOAT16_TO_HALF, BFLOAT16, -1.0010069081221042e-38, "(half)x", -0.0),
    case("(float)(bfloat16 < 2)", BFLOAT16_COMPARED, BFLOAT16, 1.0, "(float)(x < 2)", 1.0),
]
CASES = [
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
    case("2049 * 0.1f", FOLDED, LONG, 0, "2049 * 0.1f", 204.90000915527344),
    case("0.1f * 0.1f", FOLDED, LONG, 0, "0.1f * 0.1f", 0.010000000707805157),
    case("2147483647 + 1e5f", FOLDED, LONG, 0, "2147483647 + 1e5f", 2147583744.0),
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
