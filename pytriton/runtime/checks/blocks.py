"""The blocks of GPU memory that torch's allocator gave out: where addresses and pointers from memory may go."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from pytriton.runtime.checks.memory import Range, merged

__all__ = ["blocks", "known_blocks"]


def blocks() -> Iterator[tuple[int, int, int, str]]:
    """Device, address, bytes and state of each block."""
    for segment in torch.cuda.memory_snapshot():  # type: ignore[no-untyped-call]
        address = segment["address"]
        for block in segment["blocks"]:
            yield segment["device"], address, block["size"], block["state"]
            address += block["size"]


def known_blocks(device: int) -> list[Range]:
    """Those of a device in rising order, those that touch made one; of other allocators nothing is known."""
    rows = (
        (at, at + size) for on, at, size, state in blocks() if on == device and state == "active_allocated"
    )
    return merged(rows)
