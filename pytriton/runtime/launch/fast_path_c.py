"""The fast path in C: optional, and the same step by step as the generated Python (``fast_path.py``).

Between a call and the CUDA driver, Python's own steps cost about as much as the driver. So where a C compiler is
found, the same steps run in C: one small module for all kernels (``templates/launcher.c.j2``), built on first use
by Triton's own builder, which keeps it in Triton's cache. It is given a table of what the generated text says. The
generated text stays the reference, and is what runs where there is no compiler, or with ``PYTRITON_NO_NATIVE=1``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import torch
from triton.runtime import build

from pytriton.emit.templates import render

__all__ = ["Row", "native_launcher", "native_recall", "packed_dtypes"]

NO_NATIVE_VARIABLE: Final = "PYTRITON_NO_NATIVE"

# kind, keyed, byte, low, high, divisor, dtypes: as the C structure ``Parameter`` describes them
Row = tuple[str, bool, bool, int, int, int, int]

_DLPACK_CODES: Final[Mapping[torch.dtype, int]] = {
    **dict.fromkeys((torch.int8, torch.int16, torch.int32, torch.int64), 0),
    **dict.fromkeys((torch.uint8, torch.uint16, torch.uint32, torch.uint64), 1),
    **dict.fromkeys((torch.float16, torch.float32, torch.float64), 2),
    torch.bfloat16: 4,
    torch.bool: 6,
}


def packed_dtypes(dtypes: Iterable[torch.dtype]) -> int:
    """Up to four dtypes as the C code compares them: 8 bits each, DLPack's code and the logarithm of the width."""
    packed = 0
    for dtype in dtypes:
        packed = packed << 8 | _DLPACK_CODES[dtype] << 4 | (8 * dtype.itemsize).bit_length() - 1
    return packed


# What the C code reads out of the names around a generated text, in its order.
_NAMES: Final = ("records", "missed", "hooks")
_CALLED: Final = (
    *("current_device", "current_stream", "grad_enabled", "increment_version"),
    *("allocate", "release"),
)


def native_launcher(
    rows: Sequence[Row],
    details: Sequence[Any],
    tuned: Sequence[int],
    changed: Sequence[int],
    gradients: bool,
    packed: bool,
    extra: int,
    devices: tuple[int | None, int | None],
    surroundings: Mapping[str, Any],
) -> Callable[[Sequence[Any], Any], None] | None:
    """A launcher in C; None where there can be none.

    ``rows`` describe the parameters in order; ``details`` are what rounds a floating number, else None;
    ``devices`` the one where calls without tensors run, and the only one there is; the rest as in ``Shape``.
    """
    module = _module()
    if module is None:
        return None
    named = [surroundings[name] for name in _NAMES]
    called = [surroundings[name] for name in _CALLED]
    objects = (tuple(details), *named, devices[1], *called, torch.Tensor, torch.nn.Parameter, [None])
    try:
        made: Callable[[Sequence[Any], Any], None] = module.make(
            *(tuple(rows), tuple(tuned), tuple(changed), gradients, packed, extra, devices[0], objects)
        )
    except ValueError:  # more parameters than it has room for, or a torch that lacks what it calls
        return None
    return made


def native_recall(seen: list[Any]) -> Callable[..., Any] | None:
    """What looks a call's defines up in ``Recent``'s list; None unless a launcher in C was made before.

    (A program that runs on CPU tensors only is to build nothing.)
    """
    module = _module() if _built.cache_info().currsize else None
    made: Callable[..., Any] | None = None if module is None else module.make_recall(seen)
    return made


def _module() -> Any:
    return _built() if os.environ.get(NO_NATIVE_VARIABLE, "") in ("", "0") else None


@cache
def _built() -> Any:
    """The compiled module; None where it cannot be built, for whatever reason: nothing depends on it."""
    try:
        return build.compile_module_from_src(render("launcher.c.j2"), "pytriton_launcher")
    except Exception:
        return None
