"""What sparse2020 and sparse2021 have to compute: the same operators, written against two versions."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import torch
from block_sparse import check_product, masked, random_layout

MASKS = {
    "none": {},
    "rpe": {"rpe": True},
    "added": {"key_padding_mask": "add", "attn_mask": "add"},
    "multiplied": {"key_padding_mask": "mul", "attn_mask": "mul"},
    "all": {"rpe": True, "key_padding_mask": "mul", "attn_mask": "add"},
}


class SparseAttention:
    """Tests of ``package``, which a subclass names."""

    package: ModuleType

    @pytest.fixture
    def setup(self, device, large) -> tuple[torch.Tensor, int]:
        """A layout and a block size."""
        heads, rows, columns, longest, block = large((2, 2, 4, 3, 16), (4, 24, 20, 5, 32))
        return random_layout(heads, rows, columns, longest, device), block

    @pytest.mark.parametrize("trans_b", [False, True])
    @pytest.mark.parametrize("trans_a", [False, True])
    @pytest.mark.parametrize("mode", ["sdd", "dsd", "dds"])
    def test_matmul(self, device, large, compare, setup, mode: str, trans_a: bool, trans_b: bool) -> None:
        layout, block = setup
        free = large(20, 200)
        check_product(self.package.MatMul, compare, device, layout, block, mode, trans_a, trans_b, free)

    @pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
    def test_attention(self, device, large, compare, setup, masks: dict[str, Any]) -> None:
        layout, block = setup
        heads, rows, columns = layout.shape
        batch, features = 2, large(20, 64)
        q = torch.randn(batch, heads, rows * block, features, device=device)
        k, v = (torch.randn(batch, heads, columns * block, features, device=device) for _ in range(2))
        given: dict[str, Any] = {}
        bias = torch.zeros(batch, heads, rows * block, columns * block, device=device)
        if "rpe" in masks:
            given["rpe"] = torch.randn(heads, rows * block, columns * block, device=device)
            bias = bias + given["rpe"]
        shapes = {"key_padding_mask": (batch, columns * block), "attn_mask": (rows * block, columns * block)}
        for mask, shape in shapes.items():
            if mask not in masks:
                continue
            kept = (torch.rand(*shape, device=device) < 0.7).float()
            kept[..., ::3] = 1  # no row is hidden altogether
            given[f"{mask}_mode"] = masks[mask]
            given[mask] = kept if masks[mask] == "mul" else 10 * (kept - 1)
            hidden = torch.where(kept == 0, -float("inf"), 0.0) if masks[mask] == "mul" else given[mask]
            bias = bias + (hidden[:, None, None] if mask == "key_padding_mask" else hidden)
        bias = masked(bias, layout, block, value=-float("inf"))

        def theirs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return torch.softmax(q @ k.transpose(2, 3) * features**-0.5 + bias, dim=-1) @ v

        attention = self.package.Attention(layout, block)
        compare(lambda q, k, v: attention(q, k, v, **given), theirs, (q, k, v), atol=3e-5)

    def test_attention_in_half(self, device, compare, setup) -> None:
        layout, block = setup
        heads, rows, columns = layout.shape
        q = torch.randn(1, heads, rows * block, 32, device=device).half()
        k, v = (torch.randn(1, heads, columns * block, 32, device=device).half() for _ in range(2))
        bias = torch.zeros(1, heads, rows * block, columns * block, device=device)
        bias = masked(bias, layout, block, value=-float("inf"))

        def theirs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            scores = q.float() @ k.float().transpose(2, 3) * 32**-0.5 + bias
            return (torch.softmax(scores, dim=-1) @ v.float()).half()

        compare(self.package.Attention(layout, block), theirs, (q, k, v), rtol=1e-2, atol=4e-3)
