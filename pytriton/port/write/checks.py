"""A pytest file that compares a ported module with its old source: ``port/equivalence.py`` does the work.

One case for each way to pick a kernel, and a second config where one is tuned; the small configs first, as
the interpreter is slow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytriton.emit.document import WIDTH
from pytriton.emit.names import identifier
from pytriton.emit.templates import render
from pytriton.port.jobs.launcher import POWER, Entry, Plan, setting_of
from pytriton.port.jobs.points import Point
from pytriton.port.jobs.variants import Variant
from pytriton.port.read.scan import MARK
from pytriton.port.write.module import Written, signed

__all__ = ["named", "test_module"]

MAX_CASES: Final = 8
_CALLERS_GRID: Final = ", grid=(2, 2, 2)"


_MODULE: Final = "@MODULE@"


def named(text: str, module: str) -> str:
    """The finished test for the module at this path, which is below the test's folder."""
    return signed(text.replace(_MODULE, module))


def test_module(plan: Plan, written: Written, where: str, source: str) -> str:
    """The text of the test file of a module, less the module's path (see ``named``)."""
    cases = [_case(plan, variant, point) for variant, point in _chosen(plan)][:MAX_CASES]
    return render(
        "port_test.py.j2",
        mark=MARK,
        module=_MODULE,
        where=where,
        source=_literal(source),
        cases=cases,
        strict=any(point.use.strict for variant in plan.ported.variants for point in variant.points),
        function=written.function,
        kernel=plan.ported.name,
        grid=_CALLERS_GRID if plan.grid is None else "",
        sizes=_sizes(plan),
        checksum="",
    )


def _sizes(plan: Plan) -> tuple[int, int]:
    """What the integer parameters are, twice: a number of many powers and an odd one, within constant buffers.

    A buffer is taken to hold words of 4 bytes, as many as some parameter says.
    """
    words = [parameter.buffer // 4 for parameter in plan.parameters if parameter.buffer]
    return min([16, *words]), min([7, *words])


def _chosen(plan: Plan) -> Iterator[tuple[Variant, Point]]:
    """The variants and points to compare, each combination once."""
    seen: set[str] = set()
    for entry in plan.entries:
        for variant in entry.variants:
            fitting = sorted(_samples(plan, entry, variant), key=_elements)
            for point in (fitting[0], fitting[len(fitting) // 2]) if fitting else ():
                key = repr((sorted(point.values.items(), key=repr), point.warps, point.stages))
                if key not in seen:
                    seen.add(key)
                    yield variant, point


def _samples(plan: Plan, entry: Entry, variant: Variant) -> list[Point]:
    """The points of a variant that were translated for these very types and selectors."""
    return [
        point
        for row, point in variant.samples
        if tuple(row[group[0]].rstrip("*") for group in plan.groups) == entry.words
        and any(plan.selected(point, decision) == entry.selected for decision in point.use.decisions or [{}])
    ]


def _elements(point: Point) -> int:
    """How large the blocks of a point are, roughly."""
    size = 1
    for value in point.values.values():
        if isinstance(value, int) or (isinstance(value, str) and value.isdigit()):
            size *= max(1, int(value))
    return size


def _case(plan: Plan, variant: Variant, point: Point) -> dict[str, Any]:
    setting = setting_of(variant, point, frozenset(keyword.define for keyword in plan.keywords))
    decisions = (point.use.decisions or [{}])[0]
    keywords = {
        keyword: value
        for (name, keyword), value in zip(plan.selectors, plan.selected(point, decisions), strict=True)
        if not name.startswith(POWER)
    }
    keywords |= {
        keyword.name: point.values[keyword.define]
        for keyword in plan.keywords
        if keyword.define in point.values
    }
    mentioned = {name: value for name, value in point.values.items() if _used(name, variant)}
    return {
        "defines": _dict(mentioned, len("        defines=,")),
        "config": _dict(dict(setting.numbers), len("        config=,")),
        "keywords": _dict(keywords, len("        keywords=,")) if keywords else "",
        "num_warps": setting.warps,
        "num_stages": setting.stages,
    }


def _used(name: str, variant: Variant) -> bool:
    return name in variant.translation.mentioned or identifier(name) in variant.translation.constexprs


def _dict(values: Mapping[str, Any], around: int) -> str:
    """A dict on one line if it fits, else an entry a line."""
    entries = [f"{json.dumps(name)}: {_value(value)}" for name, value in values.items()]
    line = "{" + ", ".join(entries) + "}"
    if len(line) + around <= WIDTH:
        return line
    return "{\n" + "".join(f"            {entry},\n" for entry in entries) + "        }"


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _literal(source: str) -> str:
    """The text as a literal that ``ruff format`` keeps."""
    body = source.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    return f'"""{body}"""'
