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
from pytriton.emit.layout import layout
from pytriton.emit.names import identifier
from pytriton.emit.templates import render
from pytriton.errors import Report
from pytriton.lang.tokens import tokenize
from pytriton.lang.types import PointerType, ScalarType
from pytriton.pipeline import Parameter
from pytriton.port.launcher import POWER, Entry, Keyword, Plan, Setting, pointers
from pytriton.port.scan import MARK
from pytriton.port.variants import Variant
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
    helpers: dict[str, None] = {}
    kernels: list[dict[str, Any]] = []
    for variant, name in names.items():
        *shared, text = _functions(variant)
        helpers.update(dict.fromkeys(shared))
        kernels.append(_kernel(plan, variant, name, text, alone=len(names) == 1))
    body = "\n".join(kernel["text"] for kernel in kernels)
    every = comments_of(source)
    moved = tuple(one for one in every if one not in foreign and not _stands_in(one, body, kernels))
    values: dict[str, Any] = {
        "mark": MARK,
        "where": where,
        "head": moved,
        "libdevice": any("import libdevice" in variant.translation.text for variant in names),
        "bits": any(_is_whole(one.type) for one in plan.parameters),
        "helpers": list(helpers),
        "kernels": kernels,
        "function": function,
        "names": [one.identifier for one in plan.parameters],
        **_table(plan, names, function),
        **_launcher(plan, names, function),
    }
    text = re.sub(r"[ ]+$", "", render("port.py.j2", **values, checksum=""), flags=re.MULTILINE)
    lost = tuple(one for one in every if one not in foreign and one not in text)
    return Written(signed(text), function, tuple(names.values()), len(every), moved, lost)


def signed(text: str) -> str:
    """The text with its checksum in the first line, which ends in ``[]``."""
    first, rest = text.split("\n", 1)
    return f"{first.removesuffix('[]')}[{_checksum(text)}]\n{rest}"


def _checksum(text: str) -> str:
    return hashlib.sha256(text.split("\n", 1)[1].encode()).hexdigest()[:12]


def edited(text: str) -> bool:
    """Whether a module of ours was changed by hand: its checksum no longer fits, or it has none."""
    found = re.match(re.escape(MARK) + r".*\[([0-9a-f]{12})\]\n", text)
    return found is None or found[1] != _checksum(text)


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
    head, _, rest = text.partition("@triton.jit\n")
    above = [line.removeprefix("#").strip() for line in head.splitlines()]
    if not alone:
        above += _purpose(plan, variant)
    old = f"def {variant.translation.function}("
    assert rest.startswith(old), rest[:40]
    body = f"@triton.jit\ndef {name}({rest.removeprefix(old)}"
    settings = plan.settings[variant]
    restored = _restored(plan, variant) if len(settings) > 1 else []
    return {
        "above": above,
        "configs": [line for one in settings for line in _config(one)],
        "key": _named("key", plan.key if len(settings) > 1 else ()),
        "restored": _named("restore_value", restored) if restored else [],
        "text": _with_all_types(body, variant),
    }


def _named(name: str, values: Sequence[str]) -> list[str]:
    """A keyword with a list of names."""
    line = f"{name}=[{', '.join(repr(one) for one in values)}],".replace("'", '"')
    return [line] if len(line) + 4 <= WIDTH else [f"{name}=[", *(f'    "{one}",' for one in values), "],"]


def _purpose(plan: Plan, variant: Variant) -> list[str]:
    """What a variant is for, a line for each way to it."""
    found: list[str] = []
    for entry in plan.entries:
        if variant in entry.variants:
            pairs = zip((name for name, _ in plan.selectors), entry.selected, strict=True)
            parts = [
                *entry.words,
                *(f"{name}={value!r}".replace(f"{POWER}", "power of two ") for name, value in pairs),
            ]
            found.append(f"for {', '.join(parts)}" if parts else "for some configs")
    return list(dict.fromkeys(found))


def _restored(plan: Plan, variant: Variant) -> list[str]:
    """What a timed launch could have changed for the next: memory that is written and may be read."""
    writes, reads = variant.translation.writes, variant.translation.reads
    return [
        one.identifier
        for one in pointers(plan.parameters)
        if one.name in writes
        and (one.name in reads or not re.search(r"\b(__noalias|restrict|noalias)\b", one.declaration))
    ]


def _config(setting: Setting) -> list[str]:
    """One ``triton.Config``, on one line if it fits."""
    numbers = [f'"{name}": {value!r}' for name, value in setting.numbers]
    more = [] if setting.warps is None else [f"num_warps={setting.warps}"]
    more += [] if setting.stages is None else [f"num_stages={setting.stages}"]
    line = f"triton.Config({', '.join(['{' + ', '.join(numbers) + '}', *more])}),"
    if len(line) + 8 <= WIDTH:
        return [line]
    entries = ["        " + one + "," for one in numbers]
    return ["triton.Config(", "    {", *entries, "    },", *(f"    {one}," for one in more), "),"]


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
    found: list[str] = []
    for token in tokenize(Source(source), Report()):
        for comment in token.comments:
            rows = [row.strip().lstrip("*/!").strip() for row in comment.text.splitlines()]
            found += [row.rstrip("*").rstrip() for row in rows if row.strip("*/ ")]
    return found


def _stands_in(comment: str, body: str, kernels: Sequence[dict[str, Any]]) -> bool:
    return comment in body or any(comment in line for kernel in kernels for line in kernel["above"])


# The launcher

_TORCH: Final = {"half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16"}


def _dtype(type_: Any) -> str:
    """``torch.float16`` for ``half*``."""
    if isinstance(type_, PointerType):
        element = type_.element
        return "torch.int64" if isinstance(element, PointerType) else f"torch.{element.torch}"
    return f"torch.{_TORCH.get(type_, type_)}"


def _is_whole(type_: Any) -> bool:
    return isinstance(type_, ScalarType) and type_.kind in ("int", "uint")


def _table(plan: Plan, names: dict[Variant, str], function: str) -> dict[str, Any]:
    """The table from types and selectors to kernels; empty where there is nothing to pick."""
    if not plan.groups and not plan.selectors:
        return {"table": [], "table_key": "", "table_name": "", "details": [], "details_of": ""}
    rows: list[str] = []
    details: list[str] = []
    for entry in plan.entries:
        parts = [*map(_dtype, entry.words), *(repr(one).replace("'", '"') for one in entry.selected)]
        details += _detail_row(plan, entry, parts)
        kernels = [names[one] for one in entry.variants]
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
        "details_of": ", ".join(f"{one.what} of {one.parameter}" for one in plan.details),
    }


def _detail_row(plan: Plan, entry: Entry, key: Sequence[str]) -> list[str]:
    """What differs for one entry, as a line of the second table."""
    if not plan.details:
        return []
    found = [one.of(entry) for one in plan.details]
    return _row(key, [str(one) if isinstance(one, int) else _dtype(str(one)) for one in found])


def _row(key: Sequence[str], values: Sequence[str]) -> list[str]:
    """An entry of a table with two tuples, broken where it is too long."""
    left, right = _tuple(key), _tuple(values)
    if len(f"    {left}: {right},") <= WIDTH:
        return [f"{left}: {right},"]
    if len(f"    {left}: (") <= WIDTH:
        return [f"{left}: (", *(f"    {one}," for one in values), "),"]
    head = ["(", *(f"    {one}," for one in key)]
    if len(f"    ): {right},") <= WIDTH:
        return [*head, f"): {right},"]
    return [*head, "): (", *(f"    {one}," for one in values), "),"]


def _tuple(items: Sequence[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _launcher(plan: Plan, names: dict[Variant, str], function: str) -> dict[str, Any]:
    keywords = [keyword for name, keyword in plan.selectors if not name.startswith(POWER)]
    keywords += [
        one.name if one.default is None else f"{one.name}=None"
        for one in plan.keywords
        if one.name not in keywords
    ]
    keywords += ["grid"] if plan.grid is None else []
    keywords += ["config" if plan.filtered else "config=None"]
    declared = [one.declaration for one in plan.parameters if not one.buffer]
    description = [f"void {plan.ported.name}(", *(f"    {one}," for one in declared)]
    description[-1] = description[-1].removesuffix(",") + ")"
    description = [re.sub(r"[\\\"]", "", line) for line in description]
    return {
        "summary": f"Launch {plan.ported.name}, which was declared in Triton-C as",
        "description": ["    " + line for line in description] + ["", *_explained(plan)],
        "keywords": keywords,
        "body": _body(plan, names, function),
    }


def _explained(plan: Plan) -> list[str]:
    """What the keywords mean, a line or two each."""
    lines = ["Pointers take tensors (None: address 0), numbers are checked as C would hold them."]
    lines += [
        f"{one.name}: the constant buffer, which had {one.buffer} bytes"
        for one in plan.parameters
        if one.buffer
    ]
    for name, keyword in plan.selectors:
        if name.startswith(POWER):
            continue
        values = list(dict.fromkeys(entry.selected[_position(plan, name)] for entry in plan.entries))
        lines.append(f"{keyword}: {' or '.join(map(repr, values))}".replace('"', "'"))
    lines += [f"{one.name}: {_rule(one)}" for one in plan.keywords]
    if plan.grid is None:
        lines.append('grid: a tuple, or a function of the config: lambda meta: (meta["..."],)')
    if plan.filtered:
        lines.append("config: one of the configs above; the old code chose among them those with")
        lines.append(f"    {plan.filtered}".replace('"', "'"))
    else:
        lines.append("config: one of the configs above, instead of tuning.")
    return [line if len(line) + 4 <= 100 else line[:93] + "..." for line in lines]


def _position(plan: Plan, name: str) -> int:
    return [one for one, _ in plan.selectors].index(name)


def _rule(keyword: Keyword) -> str:
    was = "" if keyword.was == keyword.define else f"; the old code gave {keyword.was}"
    match keyword.rule:
        case "any":
            return f"an integer{was}"
        case "positive":
            return f"a positive integer{was}"
        case values:
            listed = ", ".join(map(str, values))
            if len(values) > 6:
                listed = f"{', '.join(map(str, values[:3]))}, ..., {values[-1]}"
            odd = ", or any that is no power of two" if keyword.odd else ""
            return f"one of {listed}{odd}{was}"


def _body(plan: Plan, names: dict[Variant, str], function: str) -> list[str]:
    tensors = [one.identifier for one in pointers(plan.parameters)]
    given = f"({', '.join(tensors)},)" if len(tensors) == 1 else f"({', '.join(tensors)})"
    lines = _fitted("some = [one for one in ", given, " if one is not None]")
    lines.append("device = some[0].device")
    parts: list[str] = []
    for count, group in enumerate(plan.groups, 1):
        name = "dtype" if len(plan.groups) == 1 else f"dtype_{count}"
        own = [one.identifier for one in plan.parameters if one.name in group]
        listed = f"({', '.join(own)},)" if len(own) == 1 else f"({', '.join(own)})"
        lines += _fitted(f"{name} = next(one.dtype for one in ", listed, " if one is not None)")
        parts.append(name)
    called = {one.define: one.name for one in plan.keywords}
    for name, keyword in plan.selectors:
        number = called.get(name.removeprefix(POWER), keyword)
        parts.append(f"{number} & ({number} - 1) == 0" if name.startswith(POWER) else keyword)
    for one in plan.keywords:
        lines += _default(one)
    if parts:
        table = f"{function.upper()}_KERNELS"
        lines += _exploded("key = (", parts, ")")
        lines += [f"if key not in {table}:", f"    known = list({table})"]
        lines.append('    raise ValueError(f"no kernel was ported for {key}: {known}")')
        lines.append(f"kernels = {table}[key]")
        lines += _details(plan, function)
    else:
        every = [names[one] for one in plan.entries[0].variants]
        lines += _exploded("kernels = (", every, ")")
        for detail in plan.details:
            found = detail.of(plan.entries[0])
            lines.append(f"{detail.name} = {found if isinstance(found, int) else _dtype(str(found))}")
    lines += _checks(plan)
    for one in plan.keywords:
        lines += _number(one)
    if plan.grid is not None:
        returned = [line[4:] for line in layout("return ", plan.grid, "", 8)]
        lines += ["", "def grid(meta):", *returned, ""]
    passed = [one.identifier for one in plan.parameters]
    arguments = f"({', '.join(passed)},)" if len(passed) == 1 else f"({', '.join(passed)})"
    numbers = "{" + ", ".join(f'"{identifier(one.define)}": {one.name}' for one in plan.keywords) + "}"
    call = f"_launch(kernels, config, grid, device, {arguments}, {numbers})"
    if len(call) + 4 <= WIDTH:
        return [*lines, call]
    lines += _exploded("arguments = (", passed, ")")
    return [*lines, *_fitted_call("_launch", ["kernels", "config", "grid", "device", "arguments", numbers])]


def _fitted(before: str, listed: str, behind: str) -> list[str]:
    """A statement on one line, or with its tuple in a name of its own."""
    if len(before + listed + behind) + 4 <= WIDTH:
        return [before + listed + behind]
    items = listed.strip("()").rstrip(",").split(", ")
    return [*_exploded("these = (", items, ")"), f"{before}these{behind}"]


def _exploded(head: str, items: Sequence[str], tail: str) -> list[str]:
    line = f"{head}{', '.join(items)}{',' if len(items) == 1 and head.endswith('(') else ''}{tail}"
    return [line] if len(line) + 4 <= WIDTH else [head, *(f"    {one}," for one in items), tail]


def _fitted_call(function: str, arguments: Sequence[str]) -> list[str]:
    line = f"{function}({', '.join(arguments)})"
    if len(line) + 4 <= WIDTH:
        return [line]
    return [f"{function}(", *(f"    {one}," for one in arguments), ")"]


def _checks(plan: Plan) -> list[str]:
    lines: list[str] = []
    groups = {name: number for number, group in enumerate(plan.groups, 1) for name in group}
    details = {(one.what, one.parameter): one.name for one in plan.details}
    for one in plan.parameters:
        name = one.identifier
        arguments = [f'"{name}"', name]
        if isinstance(one.type, PointerType):
            varying = "dtype" if len(plan.groups) == 1 else f"dtype_{groups.get(one.name)}"
            arguments += [varying if one.name in groups else _dtype(one.type), "device"]
            if ("aligned", one.name) in details:
                arguments.append(details["aligned", one.name])
            elif one.aligned > 1:
                arguments.append(str(one.aligned))
            lines += _fitted_call(f"{name} = _tensor", arguments)
        else:
            lines += _scalar(one, arguments, details)
    return lines


def _details(plan: Plan, function: str) -> list[str]:
    """Take what differs from the second table."""
    if not plan.details:
        return []
    names = [one.name for one in plan.details]
    if len(names) == 1:
        return [f"({names[0]},) = {function.upper()}_DETAILS[key]"]
    line = f"{', '.join(names)} = {function.upper()}_DETAILS[key]"
    if len(line) + 4 <= WIDTH:
        return [line]
    return ["(", *(f"    {one}," for one in names), f") = {function.upper()}_DETAILS[key]"]


def _scalar(one: Parameter, arguments: list[str], details: dict[tuple[str, str], str]) -> list[str]:
    assert isinstance(one.type, ScalarType)
    name, type_ = one.identifier, one.type
    if type_.kind == "bool":
        return [f"{name} = bool({name})"]
    if ("dtype", one.name) in details:
        return [f"{name} = torch.tensor(float({name}), dtype={details['dtype', one.name]}).item()"]
    if type_.kind == "float":
        if type_.word in ("half", "bfloat16"):
            return [f"{name} = torch.tensor(float({name}), dtype={_dtype(type_.word)}).item()"]
        return [f"{name} = float({name})"]
    arguments += [f"bits={type_.bits}"] if type_.bits != 32 else []
    if ("multiple", one.name) in details:
        arguments.append(f"multiple={details['multiple', one.name]}")
    elif one.multiple_of > 1:
        arguments.append(f"multiple={one.multiple_of}")
    arguments += ["signed=False"] if type_.kind == "uint" else []
    return _fitted_call(f"{name} = _integer", arguments)


def _default(keyword: Keyword) -> list[str]:
    """What the old code computed, where the caller gives nothing."""
    if keyword.default is None:
        return []
    lines = layout(f"{keyword.name} = ", keyword.default, "", 8)
    return [f"if {keyword.name} is None:", *(line[4:] for line in lines)]


def _number(keyword: Keyword) -> list[str]:
    """The check of a number that the caller gives."""
    name = keyword.name
    lines: list[str] = []
    if keyword.rule == "any":
        return []
    if keyword.rule == "positive":
        test = f"{name} < 1"
    else:
        assert isinstance(keyword.rule, tuple)
        power = f"{name} < 1 or {name} & ({name} - 1) == 0 and " if keyword.odd else ""
        test = f"{power}{name} not in {_powers(keyword.rule)}"
        if len(f"    if {test}:") > WIDTH:
            lines += _fitted_list("allowed", _powers(keyword.rule))
            test = f"{power}{name} not in allowed"
    message = f'f"{name} is {{{name}}}: the kernel was not ported for that"'
    return [*lines, f"if {test}:", f"    raise ValueError({message})"]


def _fitted_list(name: str, text: str) -> list[str]:
    if len(f"    {name} = {text}") <= WIDTH or text.startswith("["):
        return [f"{name} = {text}"]
    return _exploded(f"{name} = (", text.strip("()").rstrip(",").split(", "), ")")


def _powers(values: Sequence[int]) -> str:
    """``[1 << i for i in range(4, 14)]`` for a row of powers of two, else the values."""
    powers = [value.bit_length() - 1 for value in values]
    row = len(values) > 3 and all(one > 0 for one in values) and [1 << p for p in powers] == list(values)
    if row and powers == list(range(powers[0], powers[-1] + 1)):
        bounds = f"{powers[0]}, {powers[-1] + 1}" if powers[0] else f"{powers[-1] + 1}"
        return f"[1 << power for power in range({bounds})]"
    return f"({', '.join(map(str, values))},)" if len(values) == 1 else f"({', '.join(map(str, values))})"
