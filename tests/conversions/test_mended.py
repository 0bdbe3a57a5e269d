"""What the translator once did not do as language.md says, each reduced to its smallest text."""

from __future__ import annotations

import pytest

from tests.conversions.c_types import BFLOAT16, DOUBLE, HALF, LONG, CType, Value
from tests.conversions.probes import Input, Probe, check


def case(name: str, kind: CType, x: Value, expression: str, wanted: Value, **defines: object) -> object:
    """``expression`` of x, one scalar of a type, must be the number wanted."""
    return pytest.param(kind, x, expression, wanted, defines, id=name)


OF_THE_INTERPRETER = [
    case("bfloat16 to half, large", BFLOAT16, 3e38, "(half)x", float("inf")),
    case("bfloat16 to half, small", BFLOAT16, -1.0010069081221042e-38, "(half)x", -0.0),
]
CASES = [
    case("half by literal", HALF, 2050.0, "x / 0.1", 20512.0),
    case("literal by half", HALF, -2.5, "0.1 / x", -0.03997802734375),
    case("half by define", HALF, 3.0, "x / K", 0.0, K=1e5),
    case("bfloat16 by literal", BFLOAT16, 0.10009765625, "x / 100000", 1.0058283805847168e-06),
    case("-0.0f or an integer", LONG, 5, "1 / (x > 9 ? *X : -0.0f)", -float("inf")),
    case("0.0f or an integer", LONG, 5, "1 / (x > 9 ? *X : 0.0f)", float("inf")),
    case("a define or an integer", LONG, 5, "1 / (x > 9 ? *X : K)", -float("inf"), K=-0.0),
    case("1.0f / 0.0f", LONG, 0, "1.0f / 0.0f", float("inf")),
]


@pytest.mark.parametrize(("kind", "x", "expression", "wanted", "defines"), CASES)
def test_once_open(
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
def test_on_the_interpreter(
    kind: CType, x: Value, expression: str, wanted: Value, defines: dict[str, object]
) -> None:
    check(
        "cpu",
        f"{kind} x = *X;",
        [Input("X", kind, [x])],
        [Probe(expression, DOUBLE, [wanted])],
        defines=defines,
    )
