"""Reductions: the element has the type after integer promotion, sums wrap in it, NaN is skipped by max and min.

Sums of floats are of numbers that a float adds exactly in any order, so that the result has no bound; half and
bfloat16 are accumulated in float and rounded once.
"""

from __future__ import annotations

import math

import pytest

import pytriton
from tests.conversions.c_types import (
    BFLOAT16,
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    FLOATS,
    HALF,
    INT,
    INTEGERS,
    LONG,
    SHORT,
    TYPES,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    CType,
    Value,
    promoted,
    rounded,
    tensor_of,
    values_of,
    wrapped,
)
from tests.conversions.probes import agree

SIZES = [1, 2, 3, 16, 48, 64]
NAN, INF = math.nan, math.inf


def ends(kind: CType) -> list[Value]:
    """Values whose sums leave the type, none of them zero: max and min need not tell 0.0 from -0.0."""
    if kind is HALF:
        return [2048.0, 1.0, 1.0, 1.0, -0.5, 65504.0, 32.0, -7.0, 0.25, 4096.0]
    if kind is BFLOAT16:
        return [256.0, 1.0, 1.0, 1.0, -0.5, 65536.0, 128.0, -7.0, 2.0**-4, 512.0]
    if kind is FLOAT:
        return [65536.0, -0.5, 1.5, -32768.0, -7.0, 3.0, 1024.5]
    if kind is DOUBLE:
        return [2.0**44, -0.5, 1.5, -(2.0**40), -7.0, 3.0, 1e6 + 0.25]
    return [kind.highest, kind.lowest, kind.highest, kind.highest - 1, kind.lowest + 1, 1, kind.highest // 2]


def added(values: list[Value], kind: CType) -> Value:
    if kind.floating:
        return rounded(math.fsum(values), kind)
    return wrapped(sum(values), kind)


def reduced(values: list[Value], kind: CType) -> dict[str, Value]:
    numbers = [value for value in values if value == value] or [NAN]
    result = promoted(kind)
    return {"+": added(values, result), "max": max(numbers), "min": min(numbers)}


def run(
    device: str, kind: CType, values: list[Value], size: int, texts: list[str]
) -> tuple[list[Value], list[Value]]:
    """Each text, an expression of the block x, as double and as long."""
    d = tensor_of([-1.5] * len(texts), DOUBLE, device)
    whole = tensor_of([-1] * len(texts), LONG, device)
    body = "".join(f"  *(D + {i}) = {text}; *(L + {i}) = (long)({text});\n" for i, text in enumerate(texts))
    text = (
        f"void f(double *D __noalias, long *L __noalias, {kind} *X __noalias) {{\n"
        f"  {kind} x[{size}] = *(X + 0 ... {size});\n{body}}}\n"
    )
    pytriton.kernel(text)(d, whole, tensor_of(values, kind, device), grid=1)
    return values_of(d, DOUBLE), values_of(whole, LONG)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.sampled(12)
def test_vectors(device: str, kind: CType, size: int) -> None:
    """Of every type, at sizes that are powers of two and not; the type seen by what follows the reduction."""
    values = [ends(kind)[i % len(ends(kind))] for i in range(size)]
    result = promoted(kind)
    wanted: list[Value] = []
    texts = []
    for operator, value in reduced(values, kind).items():
        texts += [f"x[{operator}]", f"x[{operator}] * 3", f"-x[{operator}]"]
        for exact in (value, value * 3, -value):
            wanted.append(rounded(exact, result) if result.floating else wrapped(exact, result))
    doubles, longs = run(device, kind, values, size, texts)
    for text, value, double, whole in zip(texts, wanted, doubles, longs, strict=True):
        assert agree(rounded(value, DOUBLE), double), f"{text} of {values}: {value} wanted, got {double}"
        if isinstance(value, int):
            assert wrapped(value, LONG) == whole, f"{text} of {values}: {value} wanted, got {whole}"


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.sampled(9)
def test_axes(device: str, kind: CType) -> None:
    """Rows, columns, both, of 4 x 8 and of 3 x 5; the padding of the second is never seen."""
    for rows, columns in ((4, 8), (3, 5)):
        values = [ends(kind)[(i * 3) % len(ends(kind))] for i in range(rows * columns)]
        table = [values[i * columns : (i + 1) * columns] for i in range(rows)]
        for operator in ("+", "max", "min"):
            text = f"""\
void f(double *D __noalias, {kind} *X __noalias) {{
  int i[{rows}] = 0 ... {rows};
  int k[{columns}] = 0 ... {columns};
  {kind} x[{rows}, {columns}] = *(X + i[:, newaxis] * {columns} + k[newaxis, :]);
  *(D + i) = x[:, {operator}];
  *(D + {rows} + k) = x[{operator}, :];
  *(D + {rows + columns}) = x[{operator}, {operator}];
}}
"""
            d = tensor_of([-1.5] * (rows + columns + 1), DOUBLE, device)
            pytriton.kernel(text)(d, tensor_of(values, kind, device), grid=1)
            groups = [*table, *(list(column) for column in zip(*table, strict=True))]
            wanted = [reduced(group, kind)[operator] for group in groups]
            assert values_of(d, DOUBLE)[:-1] == [float(value) for value in wanted], text
            if kind not in (HALF, BFLOAT16) or operator != "+":  # two sums of half round twice
                assert values_of(d, DOUBLE)[-1] == float(reduced(values, kind)[operator]), text


@pytest.mark.parametrize("size", [1, 4, 5])
@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_nan_and_infinity(device: str, kind: CType, size: int) -> None:
    for values in (
        [NAN, -3.0, 2.0, NAN, 7.0][:size],
        [2.0, NAN, -3.0, 8.0, NAN][:size],
        [NAN] * size,
        [-INF] * size,
        [INF, -4.0, -INF, 2.0, 1.0][:size],
        [-4.0, -5.0, -6.0, -7.0, -8.0][:size],
        [4.0, 5.0, 6.0, 7.0, 8.0][:size],
    ):
        doubles, _ = run(device, kind, values, size, ["x[max]", "x[min]", "x[+]"])
        expected = reduced([value for value in values if math.isfinite(value)] or [0.0], kind)
        infinite = [value for value in values if value in (INF, -INF)]
        numbers = [value for value in values if value == value]
        wanted = [max(numbers, default=NAN), min(numbers, default=NAN)]
        total = (
            NAN
            if len(numbers) < size or len(set(infinite)) == 2
            else infinite[0]
            if infinite
            else expected["+"]
        )
        for text, value, got in zip(("max", "min", "+"), [*wanted, total], doubles, strict=True):
            assert agree(value, got), f"x[{text}] of {values}: {value} wanted, got {got}"


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_lowest_and_highest(device: str, kind: CType) -> None:
    """Blocks of nothing but the type's ends: what fills the padding must not show."""
    for size in (1, 3, 8):
        for value in {kind.lowest, kind.highest}:
            doubles, longs = run(device, kind, [value] * size, size, ["x[max]", "x[min]", "x[+]"])
            total = wrapped(value * size, promoted(kind))
            assert doubles == [rounded(number, DOUBLE) for number in (value, value, total)]
            assert longs == [wrapped(number, LONG) for number in (value, value, total)]


# An expression of x, its type, what it is for one element.
EXPRESSIONS = [
    ("(x > 0)", INT, lambda x: int(x > 0)),
    ("(x == x)", INT, lambda x: 1),
    ("!x", INT, lambda x: int(x == 0)),
    ("(x > 0 && x < 50)", INT, lambda x: int(0 < x < 50)),
    ("(bool[48])x", INT, lambda x: int(x != 0)),
    ("(char)x", INT, lambda x: wrapped(int(x), CHAR)),
    ("(unsigned char)x", INT, lambda x: wrapped(int(x), UCHAR)),
    ("(unsigned short)(x * 300)", INT, lambda x: wrapped(int(x) * 300, USHORT)),
    ("(short)(x * 300)", INT, lambda x: wrapped(int(x) * 300, SHORT)),
    ("((unsigned int)x * 0x10000001)", UINT, lambda x: wrapped(int(x) * 0x10000001, UINT)),
    ("((long)x << 33)", LONG, lambda x: int(x) << 33),
    ("((unsigned long)x >> 1)", ULONG, lambda x: wrapped(int(x), ULONG) >> 1),
    ("((half)x * 8)", HALF, lambda x: float(x * 8)),
]


@pytest.mark.parametrize(("text", "kind", "each"), EXPRESSIONS, ids=[text for text, _, _ in EXPRESSIONS])
def test_of_expressions(device: str, text: str, kind: CType, each: object) -> None:
    """Counts of bools, sums of what a cast made narrow, at a size that is padded."""
    values: list[Value] = [(i * 37) % 201 - 100 for i in range(48)]
    elements = [each(value) for value in values]  # type: ignore[operator]
    doubles, longs = run(
        device, INT, values, 48, [f"({text})[{operator}]" for operator in ("+", "max", "min")]
    )
    wanted = [added(elements, kind), max(elements), min(elements)]
    assert doubles == [rounded(value, DOUBLE) for value in wanted]
    if not kind.floating:
        assert longs == [wrapped(value, LONG) for value in wanted]


def test_half_is_accumulated_in_float(device: str) -> None:
    """2048 and 64 ones: in half every 1 would be lost; a sum past 65504 comes back by its negative part."""
    for kind, values in (
        (HALF, [2048.0] + [1.0] * 63),
        (HALF, [60000.0, 60000.0, -60000.0, -49984.0]),
        (BFLOAT16, [256.0] + [1.0] * 63),
        (HALF, [1.0] + [2.0**-11] * 3),
        (BFLOAT16, [1.0] + [2.0**-8] * 3),
    ):
        doubles, _ = run(device, kind, values, len(values), ["x[+]", "(float)x[+]", "x[+] - x[+]"])
        wanted = rounded(math.fsum(values), kind)
        assert doubles == [wanted, wanted, 0.0]


def test_bools(device: str) -> None:
    for count in (0, 1, 2, 37, 48):
        values: list[Value] = [int(i < count) for i in range(48)]
        doubles, _ = run(device, BOOL, values, 48, ["x[+]", "x[max]", "x[min]", "x[+] / 2", "~x[max]"])
        most, least = int(count > 0), int(count == 48)
        assert doubles == [count, most, least, count // 2, ~most]
