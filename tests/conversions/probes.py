"""Many expressions in one kernel: each is stored as double (and as long), and compared with its expected values.

A kernel costs more than what it computes, so all types that meet one type share a kernel (``check_together``).

A double holds every int, float and half exactly, so it shows in which type an expression was computed: a sum
that wrapped, a product that was rounded to half, a sign that was not extended. What a double cannot hold, a
result of 64 bits, is stored as a long too; the sign of the double tells long from unsigned long.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import torch

import pytriton
from tests.conversions.c_arithmetic import Expected
from tests.conversions.c_types import DOUBLE, LONG, ULONG, CType, convert, tensor_of, values_of

__all__ = ["Input", "Part", "Probe", "agree", "check", "check_together", "disagreements", "thinned"]


@dataclass(frozen=True)
class Probe:
    """An expression, what it must be for each element, the type it must have, what to call it in a failure."""

    expression: str
    kind: CType
    expected: Sequence[Expected]
    label: str = ""
    inputs: Sequence[object] = ()


@dataclass
class Input:
    """A pointer parameter and what it points to."""

    name: str
    kind: CType
    values: Sequence[Any] = field(repr=False)

    def declared(self) -> str:
        return f"{self.kind} *{self.name} __noalias __readonly"


def agree(expected: Expected, got: float | int) -> bool:
    """Whether a result is what is expected: NaN is NaN, -0.0 is not 0.0, ``None`` is anything."""
    if expected is None:
        return True
    if isinstance(expected, tuple):
        low, high = expected
        return low <= got <= high
    if expected != expected:
        return got != got
    if expected == 0 and isinstance(expected, float):
        return got == 0 and math.copysign(1, got) == math.copysign(1, expected)
    return expected == got


def disagreements(probe: Probe, got: Sequence[float | int], seen_as: CType) -> list[str]:
    """One line for each element that is wrong, at most three."""
    lines = []
    for i, (expected, value) in enumerate(zip(probe.expected, got, strict=False)):
        if isinstance(expected, tuple):
            wanted: Expected = tuple(convert(end, seen_as) for end in expected)
        else:
            wanted = convert(expected, seen_as)
        if not agree(wanted, value):
            given = f" for {probe.inputs[i]}" if probe.inputs else ""
            lines.append(
                f"{probe.label or probe.expression}{given}: {wanted} wanted as {seen_as}, got {value}"
            )
    return lines[:3] + ([f"... {len(lines)} of {len(probe.expected)} wrong"] if len(lines) > 3 else [])


def thinned(sequence: Sequence[Any], every: int, label: str) -> Sequence[Any]:
    """One in so many of a sequence, from a place that depends on the label alone."""
    return sequence[crc32(label.encode()) % every :: every]


@dataclass
class Part:
    """Probes that share declarations, in a scope of their own.

    ``declarations`` may use ``r`` (the range, or the program's number), the inputs' pointers and the parameters,
    pairs of a declaration and a value. ``label`` stands before the probes' own in a failure.
    """

    declarations: str
    inputs: Sequence[Input]
    probes: Sequence[Probe]
    parameters: Sequence[tuple[str, Any]] = ()
    label: str = ""

    def thinned(self, every: int) -> Part:
        """One in so many of its probes; which ones differs from label to label."""
        return replace(self, probes=thinned(self.probes, every, self.label))

    def numbered(self, number: int) -> Part:
        """The same with the number behind the name of each parameter, so that parts can share a kernel."""
        names = [given.name for given in self.inputs]
        names += [declaration.split()[-1] for declaration, _ in self.parameters]
        names_of_this = re.compile(rf"\b({'|'.join(names)})\b") if names else re.compile("(?!)")

        def renamed(text: str) -> str:
            return names_of_this.sub(rf"\1_{number}", text)

        return Part(
            renamed(self.declarations),
            [Input(renamed(given.name), given.kind, given.values) for given in self.inputs],
            [
                Probe(
                    renamed(probe.expression),
                    probe.kind,
                    probe.expected,
                    f"{self.label}: {probe.label or probe.expression}",
                    probe.inputs,
                )
                for probe in self.probes
            ],
            [(renamed(declaration), value) for declaration, value in self.parameters],
        )


def check(
    device: str,
    declarations: str,
    inputs: Sequence[Input],
    probes: Sequence[Probe],
    *,
    size: int = 0,
    parameters: Sequence[tuple[str, Any]] = (),
    grid: int = 1,
    defines: dict[str, Any] | None = None,
    **options: Any,
) -> None:
    """Run the probes of one part in a kernel and compare."""
    part = Part(declarations, inputs, probes, parameters)
    _run(device, [part], size, grid, defines or {}, options)


def check_together(
    device: str,
    parts: Sequence[Part],
    every: int,
    *,
    size: int = 0,
    grid: int = 1,
    defines: dict[str, Any] | None = None,
    **options: Any,
) -> None:
    """Run one in so many of each part's probes, all in one kernel, and compare."""
    numbered = [part.thinned(every).numbered(number) for number, part in enumerate(parts)]
    numbered = [part for part in numbered if part.probes]
    _run(device, numbered, size, grid, defines or {}, options)


def _run(
    device: str,
    parts: Sequence[Part],
    size: int,
    grid: int,
    defines: dict[str, Any],
    options: dict[str, Any],
) -> None:
    """``size`` is the length of the block that each expression yields, 0 for a scalar: then each program of the
    grid gives one element.
    """
    count = size or grid
    lines, plan = [f"int r[{size}] = 0 ... {size};" if size else "int r = get_program_id(0);"], []
    lengths = {"D": 0, "L": 0}
    for part in parts:
        lines += ["{", *part.declarations.splitlines()]
        for probe in part.probes:
            for out in ("D", "L") if probe.kind in (LONG, ULONG) else ("D",):
                lines.append(f"*({out} + {lengths[out]} + r) = {probe.expression};")
                plan.append((out, probe, lengths[out]))
                lengths[out] += count
        lines.append("}")
    inputs = [given for part in parts for given in part.inputs]
    parameters = [parameter for part in parts for parameter in part.parameters]
    declared = ", ".join(
        ["double *D __noalias", "long *L __noalias"]
        + [given.declared() for given in inputs]
        + [declaration for declaration, _ in parameters]
    )
    body = "\n".join(f"  {line}" for line in lines)
    text = f"__global__ void f({declared}) {{\n{body}\n}}\n"
    out = {
        "D": torch.full((max(lengths["D"], 1),), 12345.0, dtype=torch.float64, device=device),
        "L": torch.full((max(lengths["L"], 1),), 12345, dtype=torch.int64, device=device),
    }
    kernel = pytriton.kernel(text, defines, **options)
    # Where parts share a grid, one may have fewer values than there are programs.
    tensors = [
        tensor_of(
            itertools.islice(itertools.cycle(given.values), max(count, len(given.values))), given.kind, device
        )
        for given in inputs
    ]
    kernel(out["D"], out["L"], *tensors, *(value for _, value in parameters), grid=grid)
    results = {"D": values_of(out["D"], DOUBLE), "L": values_of(out["L"], LONG)}
    wrong: list[str] = []
    for name, probe, offset in plan:
        seen_as = DOUBLE if name == "D" else LONG
        wrong += disagreements(probe, results[name][offset : offset + count], seen_as)
    assert not wrong, "\n".join([f"{len(wrong)} lines", *wrong[:40], text])
