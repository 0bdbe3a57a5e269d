"""The evaluator of C beside gcc and beside what C11 says; the judge that is plain ``@triton.jit`` sees ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.fuzz import gcc
from tests.fuzz.c import Number, Unspecified, binary, converted, literal, spelled, unary
from tests.fuzz.choices import Recorded
from tests.fuzz.exact import constants
from tests.fuzz.judge import judged
from tests.fuzz.plain import Plain
from tests.fuzz.rules import SCALARS, by_name
from tests.oracle.judges import Case, emitted, launch, made

GCC = pytest.mark.skipif(not gcc.there(), reason="no gcc that knows _Float16")
EDGES = (
    -(1 << 63),
    -(1 << 31),
    -129,
    -1,
    0,
    1,
    2,
    127,
    128,
    255,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    (1 << 64) - 1,
)
OPERATORS = "+ - * / % << >> & | ^ < > <= >= == != && ||".split()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        *(("2147483647", "int"), ("2147483648", "long"), ("4294967295", "long"), ("0x7fffffff", "int")),
        *(("0x80000000", "unsigned int"), ("0x100000000", "long"), ("0x8000000000000000", "unsigned long")),
        *(
            ("017", "int"),
            ("0b101", "int"),
            ("'a'", "int"),
            ("1u", "unsigned int"),
            ("4294967296u", "unsigned long"),
        ),
        *(("1l", "long"), ("0x1ll", "long"), ("7ul", "unsigned long"), ("0.5", "double"), ("1e3f", "float")),
    ],
)
def test_the_type_of_a_literal(text: str, word: str) -> None:
    """C11 6.4.4.1, the table; 6.4.4.2."""
    assert literal(text).type.word == word


def test_what_has_no_value() -> None:
    one, zero = literal("1"), literal("0")
    for operator, right in (("/", zero), ("%", zero), ("<<", literal("32")), (">>", unary("-", one))):
        with pytest.raises(Unspecified):
            binary(operator, one, right)
    with pytest.raises(Unspecified):
        converted(literal("1e10"), by_name("int"))


def test_zeros_have_signs() -> None:
    zero = Number(by_name("float"), -0.0)
    assert math.copysign(1, binary("+", zero, zero).value) == -1
    assert math.copysign(1, binary("+", zero, literal("0")).value) == 1
    assert math.copysign(1, binary("*", literal("0"), Number(by_name("half"), -2.0)).value) == -1
    assert math.copysign(1, converted(zero, by_name("double")).value) == -1


@GCC
def test_as_gcc() -> None:
    """Every operator on the edges of every integer type, and of the floating ones but bfloat16."""
    numbers = [
        Number(type_, value / 4 if type_.floating else value)
        for type_ in SCALARS
        if type_.word != "bfloat16"
        for value in ((0, 1) if type_.kind == "b" else (-6, 0, 1, 10) if type_.floating else EDGES)
        if type_.floating
        or -(1 << type_.bits - 1) * (type_.kind == "i") <= value < 1 << type_.bits - (type_.kind == "i")
    ]
    texts: list[str] = []
    known: list[Number] = []
    for at, left in enumerate(numbers):
        for operator in OPERATORS:
            for right in numbers[at % 3 :: 3]:
                if operator in "% << >> & | ^".split() and (left.type.floating or right.type.floating):
                    continue
                try:
                    known.append(binary(operator, left, right))
                except Unspecified:
                    continue
                texts.append(f"{spelled(left)} {operator} {spelled(right)}")
    whole = [at for at, number in enumerate(known) if not number.type.floating]
    real = [at for at, number in enumerate(known) if number.type.floating]
    answers = gcc.answers("", [texts[at] for at in whole], [texts[at] for at in real])
    assert answers is not None
    assert len(whole) > 5000
    assert len(real) > 1000
    long = by_name("long")
    wrong = [
        texts[at]
        for at, answer in zip(whole, answers[0], strict=True)
        if converted(known[at], long).value != answer
    ]
    wrong += [
        texts[at]
        for at, answer in zip(real, answers[1], strict=True)
        if repr(float(known[at].value)) != repr(answer)
    ]
    assert wrong == []


@GCC
def test_gcc_is_a_judge() -> None:
    """A program whose values are said wrongly differs."""
    case = next(case for case in map(constants, map(Recorded, range(50))) if case.question.texts)
    text, number = case.question.texts[0]
    other = Number(number.type, number.value + 1)
    object.__setattr__(case.question, "texts", ((text, other),))
    assert judged(case).detail == "gcc"


def test_without_gcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gcc, "there", lambda: False)
    case = next(case for case in map(constants, map(Recorded, range(50))) if case.question.texts)
    verdict = judged(case)
    assert verdict.ok
    assert "without gcc" in verdict.about


def ones(expression: str, *numbers: int) -> Case:
    return launch(
        f"void f(int *Y, int n, long m, unsigned u) {{ *Y = {expression}; }}", np.zeros(1, "i4"), *numbers
    )


def test_ones_become_constants() -> None:
    case = ones("n + m + u", 1, 1, 1)
    changed = Plain(case, made(case)).changed(case.arguments)
    assert changed == (None, "constexpr", None, None)  # those that say their type keep it
    assert judged(case).about == ("", "plain @triton.jit")
    assert judged(ones("n + m + u", 2, 1, 1)).about == ("",)


def test_a_one_is_what_python_has() -> None:
    """A module that leaves out a conversion is found: Python's number does not wrap."""
    case = ones("n", 1, 1, 1)
    run = Plain(case, made(case))
    text = run.translation.text.replace("tl.store(Y, n)", "tl.store(Y, ((n << 31) >> 3))")
    assert text != run.translation.text
    found = emitted(case, run=Plain(case, made(case), text))
    assert found[0].view("i4")[0] == 1 << 28  # and -(1 << 28) in C


@pytest.mark.parametrize("text", ["n += 1; *Y = n <= n ? n : 4294967295u;", "atomic_add(Y, 3, n > 0);"])
def test_a_one_that_becomes_a_tensor(text: str) -> None:
    """Found by the run from seed 77000000: ``+=`` makes a tensor of a number, and atomics take none for a mask."""
    verdict = judged(launch(f"void f(int *Y, int n) {{ {text} }}", np.zeros(1, "i4"), 1))
    assert verdict.ok, verdict.message
    assert "plain @triton.jit" in verdict.about


def test_a_result_beyond_every_double() -> None:
    large = Number(by_name("double"), 1e300)
    assert binary("*", large, large).value == math.inf
    assert binary("/", large, Number(large.type, -1e-300)).value == -math.inf
