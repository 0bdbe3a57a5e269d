"""Which era's constructor was called: positional arguments told apart by their types.

2019  kernel(src, ['C'])                       names of the outputs
2020  kernel(src, defines, num_warps)
2021  kernel(src, device, defines, num_warps, autotune_configs, autotune_key)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch

from pytriton.runtime.errors import refusal

__all__ = ["Given", "by_era", "device_of"]


@dataclass(frozen=True, slots=True)
class Given:
    """A constructor's arguments, whatever era wrote them."""

    device: Any = None
    defines: Mapping[str, Any] | None = None
    num_warps: Any = None
    autotune_configs: tuple[Any, ...] = ()
    autotune_key: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


_2019: Final = ("outputs", "defines", "num_warps")
_2020: Final = ("defines", "num_warps")
_2021: Final = ("device", "defines", "num_warps", "autotune_configs", "autotune_key")


_ORDERS: Final = "the order is kernel(src, defines, num_warps) or kernel(src, device, defines, num_warps)"


def by_era(positional: tuple[Any, ...], **keywords: Any) -> Given:
    """Positional and keyword arguments together; raises LaunchError if they do not fit any era."""
    order = _order(positional)
    if len(positional) > len(order):
        raise refusal(
            f"pytriton.kernel takes {len(order)} arguments after the source ({', '.join(order)}), "
            f"not {len(positional)}",
            "TC515",
            _ORDERS,
        )
    for name, value in zip(order, positional, strict=False):
        if keywords.get(name) not in (None, ()) and value is not None:
            raise refusal(f"pytriton.kernel got '{name}' twice", "TC515")
        if value is not None:
            plain = tuple(value) if isinstance(value, list) and name != "num_warps" else value
            keywords[name] = plain
    given = Given(**keywords)
    cure = _ORDERS if positional else "give defines={'TM': 64}"
    if given.defines is not None and not isinstance(given.defines, Mapping):
        raise refusal(f"defines must be a dict, not {given.defines!r}", "TC515", cure)
    if positional and isinstance(given.num_warps, (str, torch.device, Mapping)):
        raise refusal(f"num_warps is {given.num_warps!r}", "TC515", cure)
    return given


def _order(positional: tuple[Any, ...]) -> tuple[str, ...]:
    if not positional or isinstance(positional[0], Mapping):
        return _2020
    first, second = (*positional, None)[:2]
    if isinstance(first, (list, tuple)):
        return _2019
    if first is None and isinstance(second, (int, list)):
        return _2020
    return _2021


def device_of(given: Any) -> torch.device | None:
    """The constructor's device as torch knows it; None where none was given."""
    if given is None or isinstance(given, torch.device):
        return given
    try:
        return torch.device("cuda", given) if isinstance(given, int) else torch.device(given)
    except (RuntimeError, TypeError) as error:
        raise refusal(
            f"{given!r} is not a device", "TC515", "give 'cuda', 'cuda:1', 'cpu' or a torch.device"
        ) from error
