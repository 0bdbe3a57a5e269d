"""The blocks of GPU memory that torch's allocator gave out: where addresses and pointers from memory may go."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from pytriton.runtime.checks.memory import Range

__all__ = ["known_blocks", "merged"]


def known_blocks(device: int) -> list[Range]:
    """In rising order, those that touch made one; of other allocators nothing is known."""
    ranges: list[Range] = []
    for segment in torch.cuda.memory_snapshot():  # type: ignore[no-untyped-call]
        if segment["device"] != device:
            continue
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                ranges.append((address, address + block["size"]))
            address += block["size"]
    return merged(ranges)


def merged(ranges: Iterable[Range]) -> list[Range]:
    """The ranges in rising order, those that touch made one."""
    result: list[Range] = []
    for low, end in sorted(ranges):
        if result and low <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((low, end))
    return result
