"""A plan -> the text of a stand-alone module: kernels, their configs, and a launcher.

The kernels are the translator's text, renamed; the rest is printed so that ``ruff format`` leaves it alone.
The first line carries a checksum of all that follows it: a module that was edited since is not overwritten.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytriton.emit.document import WIDTH
from pytriton.emit.names import identifier
from pytriton.emit.templates import render
from pytriton.errors import Report
from pytriton.lang.tokens import tokenize
from pytriton.lang.tree.types import ScalarType
from pytriton.port.jobs.launcher import POWER, Entry, Plan, Setting, pointers
from pytriton.port.jobs.variants import Variant
from pytriton.port.read.scan import MARK
from pytriton.port.write.arguments import bracketed, launcher, torch_dtype
from pytriton.source import Source

__all__ = ["Written", "comments_of", "edited", "signed", "write"]


@dataclass(frozen=True)
class Written:
    """A module: its text, the names of the launcher and the kernels, and what became of the comments."""

    text: str
    function: str
    kernels: tuple[str, ...]
    comments: int  # in the source
    moved: tuple[str, ...]  # comments that have no statement to stand at: they head the module
    lost: tuple[str, ...]  # comments that the module does not have: none, if all is well


def write(plan: Plan, where: str, source: str, foreign: Sequence[str] = ()) -> Written:
    """The module of a kernel. ``foreign``: comments that belong to other kernels of the text."""
    function = _free(identifier(plan.ported.name))
    names = _kernel_names(plan, function)
    constants = _constants(plan, names, function)
    shown = _shown(plan, names, constants)
    helpers: dict[str, None] = {}
    kernels: list[dict[str, Any]] = []
    for variant, name in names.items():
        *shared, text = _functions(variant)
        helpers.update(dict.fromkeys(shared))
        kernels.append(_kernel(plan, variant, name, text, alone=len(names) == 1))
    body = "\n".join(kernel["text"] for kernel in kernels)
    every = comments_of(source)
    moved = tuple(
        element for element in every if element not in foreign and not _stands_in(element, body, kernels)
    )
    values: dict[str, Any] = {
        "mark": MARK,
        "where": where,
        "head": moved,
        "libdevice": any("import libdevice" in variant.translation.text for variant in names),
        "bits": any(_is_whole(parameter.type) for parameter in plan.parameters),
        "helpers": list(helpers),
        "kernels": kernels,
        "configs": [line for setting, name in constants.items() for line in _config(setting, f"{name} = ")],
        "tuned": "all" if not constants else "some" if any(map(_tuned, plan.settings.values())) else "none",
        "function": function,
        "names": [parameter.identifier for parameter in plan.parameters],
        **_table(plan, shown, function),
        **launcher(plan, shown, function),
    }
    text = re.sub(r"[ ]+$", "", render("port.py.j2", **values, checksum=""), flags=re.MULTILINE)
    lost = tuple(element for element in every if element not in foreign and element not in text)
    return Written(signed(text), function, tuple(names.values()), len(every), moved, lost)


def signed(text: str) -> str:
    """The text with its checksum in the first line, which ends in ``[]``."""
    first, body = text.split("\n", 1)
    return f"{first.removesuffix('[]')}[{_checksum(text)}]\n{body}"


def _checksum(text: str) -> str:
    return hashlib.sha256(text.split("\n", 1)[1].encode()).hexdigest()[:12]


def edited(text: str) -> bool:
    """Whether a module of ours was changed by hand: its checksum no longer fits, or it has none."""
    signature = re.match(re.escape(MARK) + r".*\[([0-9a-f]{12})\]\n", text)
    return signature is None or signature[1] != _checksum(text)


_OURS: Final = frozenset(("torch", "triton", "tl", "contextlib", "operator", "libdevice", "config", "grid"))


def _free(name: str) -> str:
    return f"{name}_" if name in _OURS else name


# Kernels


def _kernel_names(plan: Plan, function: str) -> dict[Variant, str]:
    """``dot_kernel``, or ``dot_kernel_1`` and so on."""
    used = list(dict.fromkeys(variant for entry in plan.entries for variant in entry.variants))
    if len(used) == 1:
        return {used[0]: f"{function}_kernel"}
    return {variant: f"{function}_kernel_{number}" for number, variant in enumerate(used, 1)}


def _functions(variant: Variant) -> list[str]:
    """The functions of a translated module, helpers first, each with its decorator and head comment."""
    _, *functions = variant.translation.text.rstrip("\n").split("\n\n\n")
    return functions


def _kernel(plan: Plan, variant: Variant, name: str, text: str, alone: bool) -> dict[str, Any]:
    head, _, definition = text.partition("@triton.jit\n")
    above = [line.removeprefix("#").strip() for line in head.splitlines()]
    if not alone:
        above += _purpose(plan, variant)
    old = f"def {variant.translation.function}("
    assert definition.startswith(old), definition[:40]
    body = f"@triton.jit\ndef {name}({definition.removeprefix(old)}"
    settings = plan.settings[variant]
    restored = _restored(plan, variant)
    return {
        "above": above,
        "tuned": _tuned(settings),
        "configs": [line for setting in settings for line in _config(setting)],
        "key": _named("key", plan.key),
        "restored": _named("restore_value", restored) if restored else [],
        "text": _with_all_types(body, variant),
    }


def _named(name: str, values: Sequence[str]) -> list[str]:
    """A keyword with a list of names."""
    return bracketed(f"{name}=[", [f'"{value}"' for value in values], "],")


def _purpose(plan: Plan, variant: Variant) -> list[str]:
    """What a variant is for, a line for each way to it."""
    lines: list[str] = []
    for entry in plan.entries:
        if variant in entry.variants:
            pairs = zip((name for name, _ in plan.selectors), entry.selected, strict=True)
            parts = [
                *entry.words,
                *(f"{name}={value!r}".replace(f"{POWER}", "power of two ") for name, value in pairs),
            ]
            lines.append(f"for {', '.join(parts)}" if parts else "for some configs")
    return list(dict.fromkeys(lines))


def _restored(plan: Plan, variant: Variant) -> list[str]:
    """What a timed launch could have changed for the next: memory that is written and may be read."""
    writes, reads = variant.translation.writes, variant.translation.reads
    return [
        pointer.identifier
        for pointer in pointers(plan.parameters)
        if pointer.name in writes
        and (pointer.name in reads or not re.search(r"\b(__noalias|restrict|noalias)\b", pointer.declaration))
    ]


def _config(setting: Setting, assigned: str = "") -> list[str]:
    """One ``triton.Config`` on one line if it fits: of a list, or ``assigned`` to a name."""
    numbers = [f'"{name}": {value!r}' for name, value in setting.numbers]
    more = [] if setting.warps is None else [f"num_warps={setting.warps}"]
    more += [] if setting.stages is None else [f"num_stages={setting.stages}"]
    end, indent = ("", 0) if assigned else (",", 8)
    line = f"{assigned}triton.Config({', '.join(['{' + ', '.join(numbers) + '}', *more])}){end}"
    if len(line) + indent <= WIDTH:
        return [line]
    entries = ["        " + number + "," for number in numbers]
    lines = [f"    {option}," for option in more]
    return [f"{assigned}triton.Config(", "    {", *entries, "    },", *lines, f"){end}"]


def _tuned(settings: Sequence[Setting]) -> bool:
    """Whether there is a choice: a kernel with one config is launched with that."""
    return len(settings) > 1


def _constants(plan: Plan, names: dict[Variant, str], function: str) -> dict[Setting, str]:
    """A name for each config that is the only one of a kernel."""
    alone = dict.fromkeys(
        plan.settings[variant][0] for variant in names if not _tuned(plan.settings[variant])
    )
    name = f"{function.upper()}_CONFIG"
    return {variant: name if len(alone) == 1 else f"{name}_{place}" for place, variant in enumerate(alone, 1)}


def _shown(plan: Plan, names: dict[Variant, str], constants: dict[Setting, str]) -> dict[Variant, str]:
    """How each kernel is written where they are listed: with its only config, or None, if any has one only."""
    if not constants:
        return names
    return {
        variant: f"({name}, {'None' if _tuned(plan.settings[variant]) else constants[plan.settings[variant][0]]})"
        for variant, name in names.items()
    }


def _with_all_types(text: str, variant: Variant) -> str:
    """The comments of the pointers with all their element types."""
    for name in variant.rows[0] if variant.rows else ():
        words = list(dict.fromkeys(row[name] for row in variant.rows))
        if len(words) > 1:
            parameter = identifier(name)
            pattern = rf"^(    {re.escape(parameter)}_?,  # ){re.escape(words[0])}"
            joined = ", ".join(words[:-1]) + f" or {words[-1]}"
            text = re.sub(pattern, lambda match, joined=joined: match[1] + joined, text, flags=re.MULTILINE)  # type: ignore[misc]
    return text


# Comments


def comments_of(source: str) -> list[str]:
    """The comments of a text, a line each, without their decoration; empty ones do not count."""
    comments: list[str] = []
    for token in tokenize(Source(source), Report()):
        for comment in token.comments:
            rows = [row.strip().lstrip("*/!").strip() for row in comment.text.splitlines()]
            comments += [row.rstrip("*").rstrip() for row in rows if row.strip("*/ ")]
    return comments


def _stands_in(comment: str, body: str, kernels: Sequence[dict[str, Any]]) -> bool:
    return comment in body or any(comment in line for kernel in kernels for line in kernel["above"])


# The table of kernels


def _is_whole(type_: Any) -> bool:
    return isinstance(type_, ScalarType) and type_.kind in ("int", "uint")


def _table(plan: Plan, shown: dict[Variant, str], function: str) -> dict[str, Any]:
    """The table from types and selectors to kernels; empty where there is nothing to pick."""
    if not plan.groups and not plan.selectors:
        return {"table": [], "table_key": "", "table_name": "", "details": [], "details_of": ""}
    rows: list[str] = []
    details: list[str] = []
    for entry in plan.entries:
        parts = [*map(torch_dtype, entry.words), *(repr(value).replace("'", '"') for value in entry.selected)]
        details += _detail_row(plan, entry, parts)
        kernels = [shown[variant] for variant in entry.variants]
        rows += _row(parts, kernels)
    columns = [f"dtype of {' and '.join(group)}" for group in plan.groups]
    columns += [
        f"whether {name.removeprefix(POWER)} is a power of two" if name.startswith(POWER) else keyword
        for name, keyword in plan.selectors
    ]
    return {
        "table": rows,
        "table_key": ", ".join(columns),
        "table_name": f"{function.upper()}_KERNELS",
        "details": details,
        "details_of": ", ".join(f"dtype of {detail.parameter}" for detail in plan.details),
    }


def _detail_row(plan: Plan, entry: Entry, key: Sequence[str]) -> list[str]:
    """What differs for one entry, as a line of the second table."""
    if not plan.details:
        return []
    details = [detail.of(entry) for detail in plan.details]
    return _row(key, [torch_dtype(str(detail)) for detail in details])


def _row(key: Sequence[str], values: Sequence[str]) -> list[str]:
    """An entry of a table with two tuples, broken where it is too long."""
    left, right = _tuple(key), _tuple(values)
    if len(f"    {left}: {right},") <= WIDTH:
        return [f"{left}: {right},"]
    if len(f"    {left}: (") <= WIDTH:
        return [f"{left}: (", *(f"    {value}," for value in values), "),"]
    head = ["(", *(f"    {entry}," for entry in key)]
    if len(f"    ): {right},") <= WIDTH:
        return [*head, f"): {right},"]
    return [*head, "): (", *(f"    {value}," for value in values), "),"]


def _tuple(items: Sequence[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
