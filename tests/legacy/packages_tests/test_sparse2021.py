"""sparse2021: block-sparse attention of February 2021, which passes addresses."""

from __future__ import annotations

import sparse2021
import torch
from block_sparse import blocks_of
from sparse_attention import SparseAttention


class TestAttention(SparseAttention):
    package = sparse2021

    def test_to_sparse(self, device, setup) -> None:
        layout, block = setup
        heads, rows, columns = layout.shape
        x = torch.randn(2, heads, rows * block, columns * block, device=device)
        assert torch.equal(sparse2021.to_sparse(x, layout, block), blocks_of(x, layout, block))
        # out of the middle of another tensor, whose strides are odd
        x = torch.randn(2, heads, rows * block, columns * block + 5, device=device)[..., 3:-2]
        assert torch.equal(sparse2021.to_sparse(x, layout, block), blocks_of(x, layout, block))
