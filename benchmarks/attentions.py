"""Rows: attention forward (`examples/attention.py`), half, 16,384 queries of 16 heads in all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend

from benchmarks import handwritten_attention
from benchmarks.measure import Contender, Row, Settings, ours
from benchmarks.tuned import Tuned, by_hand, points

import attention as classic  # isort: skip  (examples/, on the path by measure.py)

import pytriton

TILES: dict[str, Any] = {"TM": [64, 128], "TN": [64, 128]}
SMALL: dict[str, Any] = {"TM": [32], "TN": [16]}
WARPS, STAGES = [4, 8], [2, 3]
HEADS, TOKENS = 16, 16384
# Probabilities are rounded to half before they meet the values, and the result once more.
ERROR = 2e-3
FAST = pytriton.kernel(classic.SOURCE, fast_math=True)


def attention(settings: Settings) -> Iterator[Row]:
    """Head sizes 64 and 128, sequences of 1k to 16k; one case is causal."""
    usual = [(d, n, False) for d in (64, 128) for n in (1024, 4096, 16384)]
    quick = [(64, 4096, False), (128, 4096, False), (128, 4096, True)]
    for d, n, causal in settings.sizes([*usual, (128, 4096, True)], quick, [(16, 64, False), (16, 64, True)]):
        yield _case(settings, d, n, causal, fast=False)
        yield _case(settings, d, n, causal, fast=True)


def _case(settings: Settings, d: int, n: int, causal: bool, fast: bool) -> Row:
    """With `fast` the same text, allowed to round as the hand-written kernel does."""
    heads = 2 if settings.smoke else HEADS * TOKENS // n
    tiles = SMALL if settings.smoke else TILES
    q, k, v = torch.randn(3, heads, n, d, device=settings.device).half()
    out, by, exact = (torch.empty_like(q) for _ in range(3))
    scale = d**-0.5
    kernel = FAST if fast else classic.kernel
    defines = classic.defines(q.dtype, d, causal, tiles)
    strides = [stride for x in (q, k, v) for stride in x.stride()[:2]]

    def call() -> None:
        kernel(
            *(q, k, v, out, n, n, scale, *strides),
            grid=lambda opt: (pytriton.cdiv(n, opt.TM), heads),
            defines=defines,
            num_warps=WARPS,
            num_stages=STAGES,
        )

    def hand(memory: torch.Tensor, folded: bool) -> Tuned:
        return Tuned(
            handwritten_attention.attention,
            points(**tiles, D=d, CAUSAL=causal, FOLDED=folded, num_warps=WARPS, num_stages=STAGES),
            lambda point: (n // point["TM"], heads),
            *(q, k, v, memory, n, scale, n * d, d),
        )

    contenders = [
        ours(kernel, call, out, list(tiles)),
        by_hand(hand(by, folded=True), by, (1.00 if d == 64 else 0.98) if fast else 0.95),
        *(
            []
            if fast
            else [by_hand(hand(exact, folded=False), exact, None, "the same, rounding as the text")]
        ),
        Contender(
            sdpa_by(q, k, v, causal),
            lambda: F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0],
            None if d == 64 else 0.75 if causal else 0.80,
        ),
    ]
    want = reference(q, k, v, causal)
    case = f"{heads} heads x {n}, size {d}{', causal' * causal}"
    work = 4.0 * heads * n * n * d * (0.5 if causal else 1)
    return Row(
        "attention, fast_math" if fast else "attention", case, contenders, want, ERROR, work, "TFLOP/s"
    )


def sdpa_by(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> str:
    """What the table calls torch's own attention: with the back end that it takes for these tensors."""
    chosen = torch._fused_sdp_choice(q[None], k[None], v[None], None, 0.0, causal)
    return f"torch sdpa, {SDPBackend(chosen).name.partition('_')[0].lower()}"


def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """In float, so many heads at a time that the scores stay below 2 GB."""
    n, d = q.shape[1:]
    step = max(1, (1 << 29) // (n * n))
    pieces = []
    for at in range(0, len(q), step):
        scores = q[at : at + step].float() @ k[at : at + step].float().mT * d**-0.5
        if causal:
            hidden = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1)
            scores.masked_fill_(hidden, float("-inf"))
        pieces.append(scores.softmax(-1) @ v[at : at + step].float())
    return torch.cat(pieces)
