"""Block-sparse tensors in torch alone: layouts, the blocks of a tensor, and a tensor without some blocks.

A layout is [heads, rows, columns], 1 where there is a block; the blocks of a tensor [batch, heads, rows * block,
columns * block] are [batch, number, block, block], in the order of ``layout.nonzero()``.
"""

from __future__ import annotations

from typing import Any

import torch


def random_layout(heads: int, rows: int, columns: int, longest: int, device: str) -> torch.Tensor:
    """Up to ``longest`` blocks a row, at least one; the first row has all of these."""
    layout = torch.zeros(heads, rows, columns, dtype=torch.int64)
    for h in range(heads):
        for i in range(rows):
            count = longest if h == i == 0 else int(torch.randint(1, longest + 1, ()))
            layout[h, i, torch.randperm(columns)[:count]] = 1
    return layout.to(device)


def blocks_of(x: torch.Tensor, layout: torch.Tensor, block: int) -> torch.Tensor:
    batch, heads, rows, columns = x.shape
    tiles = x.reshape(batch, heads, rows // block, block, columns // block, block).transpose(3, 4)
    h, i, j = layout.nonzero(as_tuple=True)
    return tiles[:, h, i, j]


def masked(x: torch.Tensor, layout: torch.Tensor, block: int, value: float = 0.0) -> torch.Tensor:
    """``x`` with ``value`` where the layout has no block."""
    kept = layout.bool().repeat_interleave(block, 1).repeat_interleave(block, 2)
    return x.masked_fill(~kept, value)


def check_product(
    make: Any,
    compare: Any,
    device: str,
    layout: torch.Tensor,
    block: int,
    mode: str,
    trans_a: bool,
    trans_b: bool,
    free: int,
    dtype: torch.dtype = torch.float32,
    **more: float,
) -> None:
    """One product and its gradients; ``free`` is the size of the dimension that has no blocks."""
    heads, rows, columns = layout.shape
    rows, columns = rows * block, columns * block
    # the layout is that of the sparse matrix as it is stored
    m, k, n = {
        "sdd": (rows, free, columns),
        "dsd": (columns, rows, free) if trans_a else (rows, columns, free),
        "dds": (free, columns, rows) if trans_b else (free, rows, columns),
    }[mode]
    a = torch.randn(2, heads, *((k, m) if trans_a else (m, k)), device=device).to(dtype)
    b = torch.randn(2, heads, *((n, k) if trans_b else (k, n)), device=device).to(dtype)
    product = make(layout, block, mode, trans_a=trans_a, trans_b=trans_b, **more)

    def ours(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a = blocks_of(a, layout, block) if mode == "dsd" else a
        b = blocks_of(b, layout, block) if mode == "dds" else b
        return product(a, b)

    def theirs(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a = masked(a.float(), layout, block) if mode == "dsd" else a.float()
        b = masked(b.float(), layout, block) if mode == "dds" else b.float()
        c = more.get("alpha", 1) * (
            (a.transpose(2, 3) if trans_a else a) @ (b.transpose(2, 3) if trans_b else b)
        )
        return (blocks_of(c, layout, block) if mode == "sdd" else c).to(dtype)

    tolerance = 1e-4 if dtype == torch.float32 else 4e-3
    compare(ours, theirs, (a, b), rtol=tolerance, atol=3e-5 if dtype == torch.float32 else tolerance)
