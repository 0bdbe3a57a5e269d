"""triton.ops and triton.nn were ready-made kernels, not the language. Who imports one is told what to do."""

from __future__ import annotations

from typing import Final

__all__ = ["PACKAGES", "explain"]

PACKAGES: Final = ("ops", "nn")

# What serves today, by the last word of the name.
_TODAY: Final = {
    "matmul": "torch.matmul",
    "dot": "torch.matmul",
    "einsum": "torch.einsum",
    "bmm": "torch.bmm",
    "conv": "torch.nn.functional.conv2d",
    "conv2d": "torch.nn.functional.conv2d",
    "Conv2d": "torch.nn.Conv2d",
    "Linear": "torch.nn.Linear",
    "softmax": "torch.softmax",
    "cross_entropy": "torch.nn.functional.cross_entropy",
    "batchnorm": "torch.nn.functional.batch_norm",
    "batch_norm": "torch.nn.functional.batch_norm",
    "blocksparse": "torch.nn.attention.flex_attention",
    "attention": "torch.nn.functional.scaled_dot_product_attention",
}


def explain(name: str) -> str:
    """Why there is no ``triton.ops.matmul`` (or the like) here, and what to do."""
    last = name.rpartition(".")[2]
    today = f"use {_TODAY[last]}, or " if last in _TODAY else ""
    return (
        f"{name} was a ready-made operator of old Triton, not part of the language; pytriton does not provide it: "
        f"{today}copy the operator's Python and Triton-C files from that release into your package, "
        "where pytriton.kernel runs them"
    )
