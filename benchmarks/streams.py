"""Rows: kernels that only move memory. Vector add, sin, copy and transpose, as shares of a device copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from benchmarks.measure import Contender, Row, Settings, milliseconds, ours

import copy_transpose  # isort: skip  (examples/, on the path by measure.py)
import sin as sines  # isort: skip
import vector_add  # isort: skip

import pytriton

TILES = [1024, 2048, 4096, 8192]


def copy_bandwidth(x: torch.Tensor, out: torch.Tensor) -> float | None:
    """GB/s, bytes read plus bytes written, of a copy by the driver; None on the CPU."""
    if not x.is_cuda:
        return None
    return 2 * x.nbytes / 1e6 / milliseconds(lambda: out.copy_(x), rep=100)


def streams(settings: Settings) -> Iterator[Row]:
    """All four over one pair of float buffers of 2^28 elements."""
    side = 32 if settings.smoke else 1 << 14
    x, y = torch.randn(2, side * side, device=settings.device)
    out = torch.empty_like(x)
    ceiling = copy_bandwidth(x, out)
    power = f"2^{(side * side).bit_length() - 1} float"
    launch: dict[str, Any] = {"num_warps": 4} if settings.smoke else {"num_warps": [4, 8]}
    tiles = [256] if settings.smoke else TILES
    n = x.numel()

    def row(name: str, contenders: list[Contender], want: torch.Tensor, passes: int) -> Row:
        return Row(name, power, contenders, want, 1e-6, passes * x.nbytes, "GB/s", ceiling, 0.93)

    def add() -> None:
        vector_add.many_blocks(
            *(out, x, y, n),
            grid=lambda opt: (pytriton.cdiv(n, opt.TILE),),
            defines={"TYPE": x.dtype, "TILE": tiles},
            **launch,
        )

    torch_add = Contender("torch.add", lambda: torch.add(x, y, out=out), out=out)
    yield row("vector add", [ours(vector_add.many_blocks, add, out, ["TILE"]), torch_add], x + y, 3)

    def sin() -> None:
        sines.forward_kernel(
            *(out, x, 1.0, n),
            grid=lambda opt: (pytriton.cdiv(n, opt.TILE),),
            defines={"TYPE": x.dtype, "TILE": tiles},
            **launch,
        )

    torch_sin = Contender("torch.sin", lambda: torch.sin(x, out=out), out=out)
    want = x.double().sin().float()
    yield row("sin", [ours(sines.forward_kernel, sin, out, ["TILE"]), torch_sin], want, 2)
    yield from _copies(x.view(side, side), out.view(side, side), ceiling, settings)


def _copies(x: torch.Tensor, out: torch.Tensor, ceiling: float | None, settings: Settings) -> Iterator[Row]:
    cases = [
        ("copy", copy_transpose.copy_kernel, x, {"TM": [1, 4, 16], "TN": [256, 1024]}),
        ("transpose", copy_transpose.transpose_kernel, x.t(), {"TM": [32, 64], "TN": [32, 64]}),
    ]
    for name, kernel, want, usual in cases:
        tiles: dict[str, Any] = {"TM": 16, "TN": 8} if settings.smoke else usual

        def call(kernel: Any = kernel, tiles: Any = tiles) -> None:
            copy_transpose.launch(kernel, out, x, tiles)

        torch_copy = Contender(f"torch {name}", lambda want=want: out.copy_(want), out=out)
        contenders = [ours(kernel, call, out, ["TM", "TN"]), torch_copy]
        case = f"{len(x)} x {len(x)} float"
        # nothing is asked of the transpose
        target = 0.93 if name == "copy" else None
        yield Row(name, case, contenders, want, 0.0, 2 * x.nbytes, "GB/s", ceiling, target)
