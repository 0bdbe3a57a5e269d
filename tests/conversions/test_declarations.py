"""A parameter in messages stands there as it was written, its promises in front of the type included."""

from __future__ import annotations

import pytest

import pytriton


@pytest.mark.parametrize(
    "declaration",
    [
        "int N",
        "int N __multipleof(8)",
        "__aligned(16) float *X",
        "__noalias __aligned(16) int *X __readonly",
        "int __multipleof(8) K",
        "__attribute__((aligned(16))) float* Z",
        "__attribute__ ((readonly, aligned(4))) int *V __attribute__((noalias))",
        "const float *__restrict__ W",
    ],
)
def test_as_written(declaration: str) -> None:
    text = f"void f(int *Y, {declaration}, int n) {{ *Y = n; }}"
    assert pytriton.translate(text).parameters[1].declaration == declaration


def test_on_one_line() -> None:
    (one,) = pytriton.translate("void f(__noalias\n    int  *Y) { *Y = 1; }").parameters
    assert one.declaration == "__noalias int *Y"


def test_a_promise_by_a_define() -> None:
    text = "void f(PROMISE int *Y) { *Y = 1; }"
    (one,) = pytriton.translate(text, {"PROMISE": "__aligned(16)"}).parameters
    assert (one.declaration, one.aligned) == ("PROMISE int *Y", 16)
