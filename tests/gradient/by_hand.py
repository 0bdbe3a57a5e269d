"""A backward, run from what ``pytriton.gradient`` describes: ``source``, ``steps`` and ``scratch``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

import pytriton

__all__ = ["by_hand"]


def by_hand(
    derived: Any,
    arguments: Mapping[str, Any],
    grid: tuple[int, ...],
    flowing: Mapping[str, torch.Tensor],
    defines: Mapping[str, Any],
) -> dict[str, torch.Tensor]:
    """The gradients. The gradient of ``x`` is ``d_x``, or that with underscores where the name is taken."""
    sizes = {f"grid_{axis}": size for axis, size in enumerate((*grid, 1, 1)[:3])}
    values: dict[str, Any] = {}
    device = next(value.device for value in arguments.values() if isinstance(value, torch.Tensor))
    for each in derived.scratch:
        if each.value is not None:
            assert each.shape(arguments) == ()
            values[each.name] = each.value(
                {**sizes, **arguments}, None if sizes.keys().isdisjoint(arguments) else grid
            )
        else:
            shape = each.shape(arguments, grid)
            values[each.name] = torch.full(
                shape, 0 if each.zeroed else torch.nan, dtype=each.dtype, device=device
            )
    names = {name for step in derived.steps for name in step.parameters}

    def named(name: str) -> str:
        while name in arguments:
            name += "_"
        return name if name in names or f"{name}_" not in names else f"{name}_"

    for name, flow in flowing.items():
        values[named(f"d_{name}")] = flow
    for name in derived.inputs:
        values.setdefault(named(f"d_{name}"), torch.zeros_like(arguments[name]))
    values = {**arguments, **values}
    for step in derived.steps:
        kernel = pytriton.kernel(derived.source, kernel=step.kernel.name, defines=dict(defines))
        kernel(
            *(values[name] for name in step.parameters),
            grid=lambda opt, step=step: step.grid(grid, arguments, opt),
        )
    return {name: values[named(f"d_{name}")].to(arguments[name].dtype) for name in derived.inputs}
