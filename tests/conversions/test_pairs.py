"""Conversions: every scalar type to every other, by cast, initialisation, assignment and store.

Blocks and scalars, with the values at which the types end. Float-to-integer out of range is left out: C leaves
it open, and language.md with it.
"""

from __future__ import annotations

import itertools

import pytest

import pytriton
from tests.conversions.c_types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    LONG,
    TYPES,
    CType,
    Value,
    convert,
    tensor_of,
    values_of,
)
from tests.conversions.probes import Input, Part, Probe, agree, check_together
from tests.conversions.samples import EVERY, pairs

SIZE = 128


def defined(source: CType, target: CType) -> list[Value]:
    """The samples whose conversion C defines."""
    return [value for value in EVERY[source] if convert(value, target) is not None]


def filled(values: list[Value]) -> list[Value]:
    return list(itertools.islice(itertools.cycle(values), SIZE))


def stored(
    device: str, source: CType, target: CType, values: list[Value], body: str, ways: list[str], grid: int = 1
) -> None:
    """Each of the ways writes one stretch of Z, of SIZE elements, and each must be the values converted."""
    z = tensor_of([0] * (SIZE * len(ways)), target, device)
    x = tensor_of(values, source, device)
    text = f"void f({target} *Z __noalias, {source} *X __noalias __readonly) {{\n{body}\n}}\n"
    pytriton.kernel(text)(z, x, grid=grid)
    got = values_of(z, target)
    wrong = []
    for i, way in enumerate(ways):
        for value, result in zip(values, got[i * SIZE :], strict=False):
            if not agree(convert(value, target), result):
                wrong.append(f"{way}: {value} of {source} gave {result}, not {convert(value, target)}")
    assert not wrong, "\n".join([f"{len(wrong)} wrong", *wrong[:20], text])


@pytest.mark.parametrize(("source", "target"), pairs(1))
@pytest.mark.sampled(9)
def test_blocks(device: str, source: CType, target: CType) -> None:
    ways = [
        "cast",
        "cast to a block",
        "initialised",
        "assigned",
        "stored",
        "masked store",
        "cast of an operand",
    ]
    results = [f"({target})x", f"({target}[{SIZE}])x", "i", "a", "x", "*?(r >= 0)", f"({target})*(X + r)"]
    lines = [
        f"  int r[{SIZE}] = 0 ... {SIZE};",
        f"  {source} x[{SIZE}] = *(X + r);",
        f"  {target} i[{SIZE}] = x;",
        f"  {target} a[{SIZE}];",
        "  a = x;",
    ]
    for i, result in enumerate(results):
        masked = result.startswith("*?")
        lines.append(
            f"  {'*?(r >= 0)' if masked else '*'}(Z + {i * SIZE} + r) = {'x' if masked else result};"
        )
    stored(device, source, target, filled(defined(source, target)), "\n".join(lines), ways)


@pytest.mark.parametrize(("source", "target"), pairs(2))
@pytest.mark.sampled(9)
def test_scalars(device: str, source: CType, target: CType) -> None:
    """One program for each of up to twelve samples."""
    values = defined(source, target)
    values = values[:: max(1, len(values) // 12)]
    ways = ["cast", "initialised", "assigned", "stored", "fills a block"]
    body = f"""\
  int r = get_program_id(0);
  {source} x = *(X + r);
  {target} i = x;
  {target} a;
  a = x;
  {target} b[2] = x;
  *(Z + r) = ({target})x;
  *(Z + {SIZE} + r) = i;
  *(Z + {2 * SIZE} + r) = a;
  *(Z + {3 * SIZE} + r) = x;
  *((Z + {4 * SIZE} + r) + 0 * (0 ... 2)) = b;"""
    stored(device, source, target, values, body, ways, grid=len(values))


def folded(value: Value, source: CType, target: CType, last: CType) -> bool:
    """Whether LLVM makes one conversion of two and gives something else for it: docs/verified.md."""
    if target in (FLOAT, DOUBLE) and not source.floating:
        return convert(value, last) != convert(convert(value, target), last)
    return source is BFLOAT16 and not target.floating and last is HALF and abs(value) > 65504


@pytest.mark.parametrize("source", TYPES, ids=str)
@pytest.mark.sampled(9)
def test_cast_and_back(device: str, source: CType, every: int) -> None:
    """``(U)(T)x`` for every T and U: the cast in the middle is never lost, whatever stands around it."""
    parts = [cast_and_back(source, target, on_gpu=device == "cuda") for target in TYPES]
    check_together(device, parts, every, size=SIZE)


def cast_and_back(source: CType, target: CType, *, on_gpu: bool) -> Part:
    values = defined(source, target)
    probes = []
    for last in TYPES:
        middle = [convert(value, target) for value in values]
        expected = [convert(value, last) for value in middle]
        if on_gpu:
            pairs = zip(expected, values, strict=True)
            expected = [None if folded(value, source, target, last) else known for known, value in pairs]
        if any(value is not None for value in expected):
            probes.append(Probe(f"({last})({target})x", last, expected, inputs=values))
    probes.append(Probe(f"({target})x", target, middle, inputs=values))
    zeros = [int(value == 0) for value in middle]
    probes.append(Probe(f"({target})x == 0", BOOL, zeros, inputs=values))
    probes.append(Probe(f"!({target})x", BOOL, zeros, inputs=values))
    probes.append(Probe(f"({target})x < 0", BOOL, [int(value < 0) for value in middle], inputs=values))
    probes.append(
        Probe(f"({target})x ? 1l : -1l", LONG, [-1 if zero else 1 for zero in zeros], inputs=values)
    )
    given = [Input("X", source, filled(values))]
    return Part(f"{source} x[{SIZE}] = *(X + r);", given, probes, label=f"{source} by way of {target}")


@pytest.mark.parametrize("source", TYPES, ids=str)
@pytest.mark.sampled(9)
def test_parameters(device: str, source: CType, every: int) -> None:
    """Parameters: the lowest, the highest and 1, cast, initialised, filling a block."""
    check_together(device, [as_parameters(source, target) for target in TYPES], every, size=2)


def as_parameters(source: CType, target: CType) -> Part:
    values = [value for value in defined(source, target) if value == value]
    values = [min(values), max(values), 1]
    lines, probes = [], []
    for i, value in enumerate(values):
        lines += [f"{target} i{i} = p{i};", f"{target} b{i}[2] = p{i};"]
        wanted = convert(value, target)
        for text in (f"({target})p{i}", f"i{i}", f"b{i}", f"({target}[2])p{i}"):
            probes.append(Probe(text, target, [wanted, wanted], inputs=[value, value]))
    parameters = [(f"{source} p{i}", value) for i, value in enumerate(values)]
    return Part("\n".join(lines), [], probes, parameters, f"{source} as {target}")
