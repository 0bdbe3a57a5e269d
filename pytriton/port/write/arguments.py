"""A plan -> the launcher's function: its keywords, its docstring, and the statements of its body.

They look at the tensors to pick a kernel, fill in what the old code computed, check what pytriton's own launcher
would check, and launch. All lines are printed so that ``ruff format`` leaves them alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytriton.emit.document import WIDTH
from pytriton.emit.layout import layout
from pytriton.emit.names import identifier
from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.pipeline import Parameter
from pytriton.port.jobs.launcher import POWER, Keyword, Plan, pointers
from pytriton.port.jobs.variants import Variant

__all__ = ["bracketed", "launcher", "torch_dtype"]

_TORCH: Final = {"half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16"}


def torch_dtype(type_: Any) -> str:
    """``torch.float16`` for ``half*``."""
    if isinstance(type_, PointerType):
        element = type_.element
        return "torch.int64" if isinstance(element, PointerType) else f"torch.{element.torch}"
    return f"torch.{_TORCH.get(type_, type_)}"


def launcher(plan: Plan, kernels: Mapping[Variant, str], function: str) -> dict[str, Any]:
    """What the template takes for the function. ``kernels``: how each variant is written in a tuple of kernels."""
    keywords = [keyword for name, keyword in plan.selectors if not name.startswith(POWER)]
    keywords += [
        keyword.name if keyword.default is None else f"{keyword.name}=None"
        for keyword in plan.keywords
        if keyword.name not in keywords
    ]
    keywords += ["grid"] if plan.grid is None else []
    keywords += ["config" if plan.filtered else "config=None"]
    declared = [parameter.declaration for parameter in plan.parameters if not parameter.buffer]
    description = [f"void {plan.ported.name}(", *(f"    {declaration}," for declaration in declared)]
    description[-1] = description[-1].removesuffix(",") + ")"
    description = [re.sub(r"[\\\"]", "", line) for line in description]
    return {
        "summary": f"Launch {plan.ported.name}, which was declared in Triton-C as",
        "description": ["    " + line for line in description] + ["", *_explained(plan)],
        "keywords": keywords,
        "body": _body(plan, kernels, function),
    }


def _explained(plan: Plan) -> list[str]:
    """What the keywords mean, a line or two each."""
    lines = ["Pointers take tensors (None: address 0), numbers are checked as C would hold them."]
    lines += [
        f"{parameter.name}: the constant buffer, which had {parameter.buffer} bytes"
        for parameter in plan.parameters
        if parameter.buffer
    ]
    for name, keyword in plan.selectors:
        if name.startswith(POWER):
            continue
        values = list(dict.fromkeys(entry.selected[_position(plan, name)] for entry in plan.entries))
        lines.append(f"{keyword}: {' or '.join(map(repr, values))}".replace('"', "'"))
    lines += [f"{keyword.name}: {_rule(keyword)}" for keyword in plan.keywords]
    if plan.grid is None:
        lines.append('grid: a tuple, or a function of the config: lambda meta: (meta["..."],)')
    if plan.filtered:
        lines.append("config: one of the configs above; the old code chose among them those with")
        lines.append(f"    {plan.filtered}".replace('"', "'"))
    else:
        tuned = any(len(setting) > 1 for setting in plan.settings.values())
        instead = "instead of tuning" if tuned else "perhaps with another num_warps"
        lines.append(f"config: one of the configs above, {instead}.")
    return [line if len(line) + 4 <= 100 else line[:93] + "..." for line in lines]


def _position(plan: Plan, name: str) -> int:
    return [selector for selector, _ in plan.selectors].index(name)


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


def _body(plan: Plan, kernels: Mapping[Variant, str], function: str) -> list[str]:
    tensors = [pointer.identifier for pointer in pointers(plan.parameters)]
    given = f"({', '.join(tensors)},)" if len(tensors) == 1 else f"({', '.join(tensors)})"
    lines = _fitted("some = [one for one in ", given, " if one is not None]")
    lines.append("device = some[0].device")
    parts: list[str] = []
    for count, group in enumerate(plan.groups, 1):
        name = "dtype" if len(plan.groups) == 1 else f"dtype_{count}"
        own = [parameter.identifier for parameter in plan.parameters if parameter.name in group]
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
        lines += bracketed("key = (", parts, ")")
        lines += [f"if key not in {table}:", f"    known = list({table})"]
        lines.append('    raise ValueError(f"no kernel was ported for {key}: {known}")')
        lines.append(f"kernels = {table}[key]")
        lines += _details(plan, function)
    else:
        every = [kernels[variant] for variant in plan.entries[0].variants]
        lines += bracketed("kernels = (", every, ")")
        for detail in plan.details:
            lines.append(f"{detail.name} = {torch_dtype(str(detail.of(plan.entries[0])))}")
    lines += _checks(plan)
    for one in plan.keywords:
        lines += _number(one)
    if plan.grid is not None:
        returned = [line[4:] for line in layout("return ", plan.grid, "", 8)]
        lines += ["", "def grid(meta):", *returned, ""]
    passed = [parameter.identifier for parameter in plan.parameters]
    arguments = f"({', '.join(passed)},)" if len(passed) == 1 else f"({', '.join(passed)})"
    numbers = "{" + ", ".join(f'"{identifier(one.define)}": {one.name}' for one in plan.keywords) + "}"
    call = f"_launch(kernels, config, grid, device, {arguments}, {numbers})"
    if len(call) + 4 <= WIDTH:
        return [*lines, call]
    lines += bracketed("arguments = (", passed, ")")
    return [
        *lines,
        *bracketed("_launch(", ["kernels", "config", "grid", "device", "arguments", numbers], ")"),
    ]


def _fitted(before: str, listed: str, after: str) -> list[str]:
    """A statement on one line, or with its tuple in a name of its own."""
    if len(before + listed + after) + 4 <= WIDTH:
        return [before + listed + after]
    items = listed.strip("()").rstrip(",").split(", ")
    return [*bracketed("these = (", items, ")"), f"{before}these{after}"]


def bracketed(head: str, items: Sequence[str], tail: str) -> list[str]:
    """A call, tuple or list in a body on one line, or with an item a line where that is too long.

    One item in ``(`` is a tuple of one.
    """
    line = f"{head}{', '.join(items)}{',' if len(items) == 1 and head.endswith('(') else ''}{tail}"
    return [line] if len(line) + 4 <= WIDTH else [head, *(f"    {item}," for item in items), tail]


def _checks(plan: Plan) -> list[str]:
    lines: list[str] = []
    groups = {name: number for number, group in enumerate(plan.groups, 1) for name in group}
    details = {detail.parameter: detail.name for detail in plan.details}
    for parameter in plan.parameters:
        name = parameter.identifier
        arguments = [f'"{name}"', name]
        if isinstance(parameter.type, PointerType):
            varying = "dtype" if len(plan.groups) == 1 else f"dtype_{groups.get(parameter.name)}"
            arguments += [varying if parameter.name in groups else torch_dtype(parameter.type), "device"]
            lines += bracketed(f"{name} = _tensor(", arguments, ")")
        else:
            lines += _scalar(parameter, arguments, details)
    return lines


def _details(plan: Plan, function: str) -> list[str]:
    """Take what differs from the second table."""
    if not plan.details:
        return []
    names = [detail.name for detail in plan.details]
    if len(names) == 1:
        return [f"({names[0]},) = {function.upper()}_DETAILS[key]"]
    line = f"{', '.join(names)} = {function.upper()}_DETAILS[key]"
    if len(line) + 4 <= WIDTH:
        return [line]
    return ["(", *(f"    {name}," for name in names), f") = {function.upper()}_DETAILS[key]"]


def _scalar(parameter: Parameter, arguments: list[str], details: dict[str, str]) -> list[str]:
    assert isinstance(parameter.type, ScalarType)
    name, type_ = parameter.identifier, parameter.type
    if type_.kind == "bool":
        return [f"{name} = bool({name})"]
    if parameter.name in details:
        return [f"{name} = torch.tensor(float({name}), dtype={details[parameter.name]}).item()"]
    if type_.kind == "float":
        if type_.word in ("half", "bfloat16"):
            return [f"{name} = torch.tensor(float({name}), dtype={torch_dtype(type_.word)}).item()"]
        return [f"{name} = float({name})"]
    arguments += [f"bits={type_.bits}"] if type_.bits != 32 else []
    arguments += ["signed=False"] if type_.kind == "uint" else []
    return bracketed(f"{name} = _integer(", arguments, ")")


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
    return bracketed(f"{name} = (", text.strip("()").rstrip(",").split(", "), ")")


def _powers(values: Sequence[int]) -> str:
    """``[1 << i for i in range(4, 14)]`` for a row of powers of two, else the values."""
    powers = [value.bit_length() - 1 for value in values]
    row = len(values) > 3 and all(value > 0 for value in values) and [1 << p for p in powers] == list(values)
    if row and powers == list(range(powers[0], powers[-1] + 1)):
        bounds = f"{powers[0]}, {powers[-1] + 1}" if powers[0] else f"{powers[-1] + 1}"
        return f"[1 << power for power in range({bounds})]"
    return f"({', '.join(map(str, values))},)" if len(values) == 1 else f"({', '.join(map(str, values))})"
