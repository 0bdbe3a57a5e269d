"""Block shapes: what a scalar, a block of lower rank, of size-1 axes or of equal count becomes.

Initialising, assigning, casting and storing convert to the declared shape and to the declared type in one;
binary operators broadcast as NumPy does. Expected values are NumPy's.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import pytriton
from tests.conversions.c_types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    UCHAR,
    CType,
    Value,
    common,
    convert,
    tensor_of,
    values_of,
)
from tests.conversions.probes import agree

Shape = tuple[int, ...]
# What converts to what: the shape had, the shape declared.
SHAPES: list[tuple[Shape, Shape]] = [
    ((), (1,)),  # a scalar fills the block
    ((), (8,)),
    ((), (4, 8)),
    ((), (2, 1, 4, 2)),
    ((8,), (8,)),
    ((8,), (4, 8)),  # missing leading axes
    ((8,), (1, 8)),
    ((2, 4), (4, 2, 4)),
    ((4,), (2, 2, 4, 4)),
    ((1,), (8,)),  # axes of size 1 repeat
    ((1, 8), (4, 8)),
    ((4, 1), (4, 8)),
    ((1, 1), (4, 8)),
    ((2, 1, 4), (2, 8, 4)),
    ((4, 1), (2, 4, 8)),  # both at once
    ((32,), (4, 8)),  # equal counts at another rank: row-major
    ((4, 8), (32,)),
    ((2, 4, 8), (8, 8)),
    ((2, 4, 8), (64,)),
    ((64,), (2, 4, 2, 4)),
    ((2, 4, 2, 4), (8, 8)),
    ((1,), ()),  # a one-element block becomes a scalar
    ((1, 1), ()),
    ((1, 1, 1, 1), ()),
    ((1, 1), (1,)),
    ((1,), (1, 1)),
    ((3,), (2, 3)),  # sizes that are no powers of two
    ((3, 1), (3, 5)),
    ((6,), (2, 3)),
    ((3, 4), (12,)),
    ((), (3,)),
]
TYPES = [(INT, INT), (FLOAT, HALF), (CHAR, LONG), (HALF, DOUBLE), (FLOAT, UCHAR), (LONG, BOOL)]
NUMBERS = [3, -0.75, 100, 0, 65519.0, 2.5, -7, 1, 127, 0.1]


def indices(shape: Shape) -> str:
    """Row-major offsets of the elements of a block, as Triton-C text."""
    if not shape:
        return "0"
    terms = []
    for axis, size in enumerate(shape):
        around = ", ".join(":" if k == axis else "newaxis" for k in range(len(shape)))
        place = f"(0 ... {size})[{around}]" if len(shape) > 1 else f"(0 ... {size})"
        terms.append(f"{place} * {math.prod(shape[axis + 1 :])}")
    return " + ".join(terms)


def sized(name: str, shape: Shape) -> str:
    return f"{name}[{', '.join(map(str, shape))}]" if shape else name


def shaped(values: list[Value], have: Shape, want: Shape) -> list[Value]:
    """The values of a block of one shape as a block of the other, row-major."""
    block = np.array(values, dtype=object).reshape(have)
    if block.size == 1 or block.size != math.prod(want) or len(have) == len(want):
        block = block.reshape(()) if block.size == 1 else block
        return list(np.broadcast_to(block, want).reshape(-1))
    return list(block.reshape(-1))


def fits(have: Shape, want: Shape) -> bool:
    """Whether NumPy broadcasts the one to the other."""
    try:
        return np.broadcast_shapes(have, want) == want
    except ValueError:
        return False


def samples(kind: CType, target: CType, count: int) -> list[Value]:
    numbers = [convert(number, kind) for number in NUMBERS]
    numbers = [number for number in numbers if convert(number, target) is not None]
    return [numbers[i % len(numbers)] for i in range(count)]


def title(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"


@pytest.mark.parametrize(
    ("have", "want"), [pytest.param(*pair, id=f"{title(pair[0])}-{title(pair[1])}") for pair in SHAPES]
)
@pytest.mark.sampled(12)
def test_shapes(device: str, have: Shape, want: Shape) -> None:
    """Cast, initialisation and assignment, to every shape that language.md allows, for pairs of types."""
    count = math.prod(want)
    ways = [f"({sized('{0}', want)})x" if want else "({0})x", "i", "a"]
    for source, target in TYPES:
        values = samples(source, target, math.prod(have))
        lines = [
            f"  {source} {sized('x', have)} = *(X + {indices(have)});",
            f"  {target} {sized('i', want)} = x;",
            f"  {target} {sized('a', want)};",
            "  a = x;",
        ]
        if want:  # a scalar's cast keeps the shape: only its initialiser makes a scalar of a block
            lines.append(f"  *(Z + {indices(want)}) = {ways[0].format(target)};")
        lines += [f"  *(Z + {k * count} + {indices(want)}) = {ways[k]};" for k in (1, 2)]
        text = f"void f({target} *Z __noalias, {source} *X __noalias) {{\n" + "\n".join(lines) + "\n}\n"
        z = tensor_of([0] * (3 * count), target, device)
        pytriton.kernel(text)(z, tensor_of(values, source, device), grid=1)
        expected = [convert(value, target) for value in shaped(values, have, want)]
        got = values_of(z, target)
        for k in range(0 if want else 1, 3):
            part = got[k * count : (k + 1) * count]
            same = all(agree(value, result) for value, result in zip(expected, part, strict=True))
            assert same, f"{ways[k]}: wanted {expected}, got {part}\n{text}"


# Those of them that broadcast; a store does not reshape.
STORES = [pair for pair in SHAPES if pair[1] and fits(*pair)]


@pytest.mark.parametrize(
    ("have", "want"), [pytest.param(*pair, id=f"{title(pair[0])}-{title(pair[1])}") for pair in STORES]
)
@pytest.mark.sampled(12)
def test_stores(device: str, have: Shape, want: Shape) -> None:
    """The value stored is converted to the pointed-to type and broadcast to the pointer's shape."""
    count = math.prod(want)
    for source, target in TYPES:
        values = samples(source, target, math.prod(have))
        text = f"""\
void f({target} *Z __noalias, {source} *X __noalias) {{
  {source} {sized("x", have)} = *(X + {indices(have)});
  *(Z + {indices(want)}) = x;
  *?({indices(want)} >= 0)(Z + {count} + {indices(want)}) = x;
  *?(x == x)(Z + {2 * count} + {indices(want)}) = x;
}}
"""
        z = tensor_of([0] * (3 * count), target, device)
        pytriton.kernel(text)(z, tensor_of(values, source, device), grid=1)
        expected = [convert(value, target) for value in shaped(values, have, want)] * 3
        got = values_of(z, target)
        assert all(map(agree, expected, got)), f"wanted {expected}, got {got}\n{text}"


OPERANDS: list[tuple[Shape, Shape]] = [
    *(((), (4,)), ((4,), ()), ((1,), (4,)), ((4,), (2, 4)), ((2, 4), (4,)), ((4, 1), (1, 8)), ((4, 1), (8,))),
    *(((2, 1, 4), (8, 1)), ((1, 1), (2, 2, 2)), ((3,), (2, 1)), ((5, 1), (3,)), ((2, 4, 1, 2), (4, 2))),
]


@pytest.mark.parametrize(
    ("left", "right"), [pytest.param(*pair, id=f"{title(pair[0])}-{title(pair[1])}") for pair in OPERANDS]
)
@pytest.mark.sampled(3)
def test_operators_broadcast(device: str, left: Shape, right: Shape) -> None:
    """Sums, comparisons and ``?:`` of blocks of different shapes, and of different types."""
    shape = np.broadcast_shapes(left, right)
    count = math.prod(shape)
    for first, second in ((INT, INT), (CHAR, HALF), (LONG, FLOAT)):
        kind = common(first, second)
        a = samples(first, INT, math.prod(left))
        b = samples(second, INT, math.prod(right))
        text = f"""\
void f(double *Z __noalias, {first} *X __noalias, {second} *Y __noalias) {{
  {first} {sized("x", left)} = *(X + {indices(left)});
  {second} {sized("y", right)} = *(Y + {indices(right)});
  *(Z + {indices(shape)}) = x + y;
  *(Z + {count} + {indices(shape)}) = x < y;
  *(Z + {2 * count} + {indices(shape)}) = x < y ? x : y;
  *(Z + {3 * count} + {indices(shape)}) = y > 0 ? x : 1;
  *(Z + {4 * count} + {indices(shape)}) = max(x, y);
}}
"""
        z = tensor_of([0] * (5 * count), DOUBLE, device)
        pytriton.kernel(text)(z, tensor_of(a, first, device), tensor_of(b, second, device), grid=1)
        x, y = np.broadcast_arrays(
            np.array([convert(value, kind) for value in a], dtype=object).reshape(left),
            np.array([convert(value, kind) for value in b], dtype=object).reshape(right),
        )
        pairs = list(zip(x.reshape(-1), y.reshape(-1), strict=True))
        expected = [convert(p + q, kind) for p, q in pairs] + [int(p < q) for p, q in pairs]
        expected += [min(p, q) for p, q in pairs] + [p if q > 0 else 1 for p, q in pairs]
        expected += [max(p, q) for p, q in pairs]
        assert values_of(z, DOUBLE) == [float(value) for value in expected], text


@pytest.mark.parametrize("shape", [(4, 8), (2, 4, 8), (2, 4, 1, 8), (3, 2, 5)], ids=title)
@pytest.mark.parametrize("written", ["trans(x)", "^x"])
def test_the_first_axis_goes_to_the_end(device: str, shape: Shape, written: str) -> None:
    """``trans(x)`` is ``^x``: with more than two axes it is not a transposition, and not its own inverse."""
    moved = (*shape[1:], shape[0])
    text = f"""\
void f(int *Z __noalias, int *X __noalias) {{
  int {sized("x", shape)} = *(X + {indices(shape)});
  *(Z + {indices(moved)}) = {written};
}}
"""
    x = np.arange(math.prod(shape))
    z = tensor_of([0] * x.size, INT, device)
    pytriton.kernel(text)(z, tensor_of(x.tolist(), INT, device), grid=1)
    assert values_of(z, INT) == np.moveaxis(x.reshape(shape), 0, -1).reshape(-1).tolist()
