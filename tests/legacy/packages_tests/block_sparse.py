"""Block-sparse tensors in torch alone: layouts, the blocks of a tensor, and a tensor without some blocks.

A layout is [heads, rows, columns], 1 where there is a block; the blocks of a tensor [batch, heads, rows * block,
columns * block] are [batch, number, block, block], in the order of ``layout.nonzero()``.
"""

from __future__ import annotations

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
