"""sparse2020: block-sparse attention of September 2020, with times."""

from __future__ import annotations

import sparse2020
import torch
from block_sparse import blocks_of, masked
from sparse_attention import SparseAttention


class TestAttention(SparseAttention):
    package = sparse2020

    def test_times_add_up(self, device, setup) -> None:
        layout, block = setup
        x = torch.randn(1, layout.size(0), layout.size(2) * block, 16, device=device, requires_grad=True)
        q = torch.randn(1, layout.size(0), layout.size(1) * block, 16, device=device)
        attention = sparse2020.Attention(layout, block, bench=2)
        attention(q, x, x).sum().backward()
        assert set(attention.qk.times) == {"c", "db"}
        assert set(attention.softmax.times) == {"y", "dx"}
        assert set(attention.pv.times) == {"c", "da", "db"}
        assert attention.time() >= 7

    def test_to_dense(self, device, setup) -> None:
        layout, block = setup
        heads, rows, columns = layout.shape
        x = torch.randn(2, heads, rows * block, columns * block, device=device)
        dense = sparse2020.to_dense(blocks_of(x, layout, block), layout, block)
        assert torch.equal(dense, masked(x, layout, block))
        # into the middle of another tensor, whose strides are odd
        out = torch.zeros(2, heads, rows * block, columns * block + 5, device=device)[..., 3:-2]
        sparse2020.to_dense(blocks_of(x, layout, block), layout, block, out)
        assert torch.equal(out, dense)
