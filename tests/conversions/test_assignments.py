"""Assignment that computes: ``a op= b``, ``++``, ``--``, chains; bits reinterpreted; half rounding at each step.

``a op= b`` is ``a = a op b`` (C11 6.5.16.2): computed in the common type, converted back to the type of a.
"""

from __future__ import annotations

import itertools
import struct

import pytest
import torch

import pytriton
from tests.conversions.c_arithmetic import binary, operators_for
from tests.conversions.c_types import (
    BFLOAT16,
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    TYPES,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    CType,
    Value,
    convert,
    rounded,
    tensor_of,
    values_of,
)
from tests.conversions.probes import Input, Probe, agree, check
from tests.conversions.samples import FEW, pairs

SIZE = 16
COMPOUND = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")


def ends(operator: str, a: Value, left: CType, b: Value, right: CType) -> tuple[Value, Value] | None:
    """What ``a op= b`` leaves in a: the two ends of what is allowed, None where it is unspecified."""
    result, _ = binary(operator, a, left, b, right)
    low, high = result if isinstance(result, tuple) else (result, result)
    low, high = convert(low, left), convert(high, left)
    return None if low is None or high is None else (low, high)


def narrowed(a: Value, left: CType, b: Value, right: CType) -> bool:
    """Whether LLVM computes a product of half and bfloat16 that becomes half in half: docs/verified.md."""
    return {left, right} == {HALF, BFLOAT16} and any(convert(value, HALF) != value for value in (a, b))


@pytest.mark.parametrize(("left", "right"), pairs(0))
@pytest.mark.sampled(9)
def test_compound(device: str, left: CType, right: CType) -> None:
    """Of a block, of a scalar, and of what a pointer points to."""
    operators = [operator for operator in COMPOUND if operator in operators_for(left, right)]
    lines, wanted, inputs = [], [], []
    x: list[Value] = []
    y: list[Value] = []
    for k, operator in enumerate(operators):
        pairs = [
            (a, b)
            for a, b in itertools.product(FEW[left], FEW[right])
            if ends(operator, a, left, b, right) is not None
            and not (device == "cuda" and narrowed(a, left, b, right))
        ]
        pairs = [pairs[i * 7 % len(pairs)] for i in range(SIZE)]
        x += [a for a, _ in pairs]
        y += [b for _, b in pairs]
        at = k * SIZE
        lines += [
            f"  {{ {left} a[{SIZE}] = *(X + {at} + r); a {operator}= *(Y + {at} + r); *(Z + {3 * at} + r) = a; }}",
            f"  {{ {left} a = *(X + {at}); {right} b = *(Y + {at}); a {operator}= b;",
            f"    *(Z + {3 * at + SIZE}) = a; }}",
            f"  *(Z + {3 * at + 2 * SIZE} + r) = *(X + {at} + r);",
            f"  *(Z + {3 * at + 2 * SIZE} + r) {operator}= *(Y + {at} + r);",
        ]
        results = [ends(operator, a, left, b, right) for a, b in pairs]
        wanted += [*results, results[0], *([None] * (SIZE - 1)), *results]
        inputs += [*pairs, pairs[0], *([None] * (SIZE - 1)), *pairs]
    text = f"void f({left} *Z __noalias, {left} *X __noalias, {right} *Y __noalias) {{\n"
    text += f"  int r[{SIZE}] = 0 ... {SIZE};\n" + "\n".join(lines) + "\n}\n"
    z = tensor_of([0] * len(wanted), left, device)
    pytriton.kernel(text)(z, tensor_of(x, left, device), tensor_of(y, right, device), grid=1)
    wrong = []
    for i, (result, got) in enumerate(zip(wanted, values_of(z, left), strict=True)):
        if result is not None and not (agree(result[0], got) or result[0] <= got <= result[1]):
            way = ("block", "scalar", "through a pointer")[i // SIZE % 3]
            wrong.append(
                f"{way}: {operators[i // SIZE // 3]}= for {inputs[i]}: {result[0]} wanted, got {got}"
            )
    assert not wrong, "\n".join([f"{len(wrong)} wrong", *wrong[:20], text])


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_increments(device: str, kind: CType) -> None:
    """``++`` and ``--`` add 1 in the type: char wraps, half rounds, a bool becomes true, or toggles."""
    values = FEW[kind]
    up = [convert(binary("+", value, kind, 1, INT)[0], kind) for value in values]
    down = [convert(binary("-", value, kind, 1, INT)[0], kind) for value in values]
    lines = f"""\
{kind} x[{SIZE}] = *(X + r);
{kind} a[{SIZE}] = x; {kind} b[{SIZE}] = x; {kind} c[{SIZE}] = x; {kind} d[{SIZE}] = x;
a++; --b;
{kind} e[{SIZE}] = c++; {kind} g[{SIZE}] = --d;"""
    probes = [
        Probe(name, kind, result, inputs=values)
        for name, result in {"a": up, "b": down, "c": up, "d": down, "e": values, "g": down}.items()
    ]
    check(device, lines, [Input("X", kind, values + [1] * (SIZE - len(values)))], probes, size=SIZE)
    lines = lines.replace(f"[{SIZE}]", "")
    check(device, lines, [Input("X", kind, values)], probes, grid=len(values))


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_conditions(device: str, kind: CType) -> None:
    """A number as a condition counts as ``!= 0``: of if, while, for, ``?:``, ``&&``, ``!``, a mask."""
    values = FEW[kind]
    truth = [int(value != 0) for value in values]
    lines = f"""\
{kind} x = *(X + r);
int i = 0; if (x) i = 1;
int w = 0; while (x && w < 1) w++;
int n = 0; for (int k = 0; x ? k < 2 : k < 1; k++) n++;
bool b = x; bool c; c = x;"""
    probes = [
        *(
            Probe(name, INT, truth, inputs=values)
            for name in ("i", "w", "n - 1", "b", "c", "!!x", "x ? 1 : 0")
        ),
        *(Probe(name, INT, truth, inputs=values) for name in ("(bool)x", "x && 1", "x || 0", "*?(x)(O + r)")),
    ]
    given = [Input("X", kind, values), Input("O", INT, [1] * len(values))]
    check(device, lines, given, probes, grid=len(values))


FORMATS = {
    CHAR: "b",
    UCHAR: "B",
    SHORT: "h",
    USHORT: "H",
    INT: "i",
    UINT: "I",
    LONG: "q",
    ULONG: "Q",
    HALF: "e",
    FLOAT: "f",
    DOUBLE: "d",
}
SAME_WIDTH = [
    pytest.param(a, b, id=f"{a}-{b}") for a in TYPES for b in TYPES if a.bits == b.bits and BOOL not in (a, b)
]


def reinterpreted(value: Value, source: CType, target: CType) -> Value:
    if source is BFLOAT16:
        data = struct.pack("f", value)[2:]
    else:
        data = struct.pack(FORMATS[source], value)
    if target is BFLOAT16:
        return struct.unpack("f", b"\0\0" + data)[0]
    return struct.unpack(FORMATS[target], data)[0]


@pytest.mark.parametrize(("source", "target"), SAME_WIDTH)
@pytest.mark.sampled(3)
def test_bitcast(device: str, source: CType, target: CType) -> None:
    """Every pair of types of one width; ``bitcast`` of a sum takes the sum's type."""
    values = [value for value in FEW[source] if value == value]
    bits = [reinterpreted(value, source, target) for value in values]
    probes = [
        Probe(f"bitcast<{target}>(x)", target, bits, inputs=values),
        Probe(f"bitcast<{target}[{SIZE}]>(x)", target, bits, inputs=values),
    ]
    if source.bits < 32 and not source.floating:
        both = [reinterpreted(value + value, INT, FLOAT) for value in values]
        probes.append(Probe("bitcast<float>(x + x)", FLOAT, both, inputs=values))
    given = Input("X", source, values + [1] * (SIZE - len(values)))
    check(device, f"{source} x[{SIZE}] = *(X + r);", [given], probes, size=SIZE)
    check(device, f"{source} x = *(X + r);", [Input("X", source, values)], probes[:1], grid=len(values))


@pytest.mark.parametrize("kind", [HALF, BFLOAT16], ids=str)
def test_each_step_rounds(device: str, kind: CType) -> None:
    """``a + b - c`` in half rounds twice, whatever it is assigned to; with a float in it, it is float."""
    generator = torch.Generator().manual_seed(1)
    columns = [
        [
            rounded(float(value), kind)
            for value in torch.randn(SIZE, generator=generator, dtype=torch.float64) * scale
        ]
        for scale in (100, 1, 1000)
    ]
    triples = list(zip(*columns, strict=True))

    def chain(*operators: str, last: CType = kind) -> list[Value]:
        results = []
        for a, b, c in triples:
            step, _ = binary(operators[0], a, kind, b, kind)
            results.append(binary(operators[1], step, kind, convert(c, last), last)[0])
        return results

    lines = "\n".join(f"{kind} {name}[{SIZE}] = *({name.upper()} + r);" for name in "abc")
    lines += f"\nfloat s[{SIZE}] = a - b; double t[{SIZE}] = a * c; float g[{SIZE}] = c;"
    lines += f"\n{kind} h[{SIZE}] = a; h += b; h += c; h -= a;"
    sums = [rounded(a + b, kind) for a, b, _ in triples]
    once = [rounded(a - b, kind) for a, b, _ in triples]
    product = [rounded(a * c, kind) for a, _, c in triples]
    slow = [rounded(rounded(rounded(a + b, kind) + c, kind) - a, kind) for a, b, c in triples]
    probes = [
        Probe("a + b - c", kind, chain("+", "-")),
        Probe("a - b + c", kind, chain("-", "+")),
        Probe("a * b * c", kind, chain("*", "*")),
        Probe("(a + b) * c", kind, chain("+", "*")),
        Probe("(float)(a + b)", kind, sums),
        Probe("(float)a + b", FLOAT, [rounded(a + b, FLOAT) for a, b, _ in triples]),
        Probe("a + b + g", FLOAT, chain("+", "+", last=FLOAT)),
        Probe("a + b + 1", kind, [rounded(step + 1, kind) for step in sums]),
        Probe(
            "a + b - 0.3",
            kind,
            [rounded(rounded(a + b, kind) - rounded(0.3, kind), kind) for a, b, _ in triples],
        ),
        Probe(
            "a + b - 0.3f",
            FLOAT,
            [rounded(rounded(a + b, kind) - rounded(0.3, FLOAT), FLOAT) for a, b, _ in triples],
        ),
        Probe("s", FLOAT, once),
        Probe("t", DOUBLE, product),
        Probe("h", kind, slow),
        Probe("a - b < c ? a - b : c", kind, [min(rounded(a - b, kind), c) for a, b, c in triples]),
        Probe("min(a - b, c)", kind, [min(rounded(a - b, kind), c) for a, b, c in triples]),
    ]
    given = [Input(name, kind, column) for name, column in zip("ABC", columns, strict=True)]
    check(device, lines, given, probes, size=SIZE)
