"""The questions of `benchmarks.regret`: kernels of `examples/`, sizes, and a sweep for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks.measure import ROOT

import attention  # isort: skip  (examples/, on the path by measure.py)
import blocksparse_matmul as blocksparse  # isort: skip
import cross_entropy  # isort: skip
import dot  # isort: skip
import layer_norm  # isort: skip
import softmax  # isort: skip

import pytriton

__all__ = ["QUESTIONS", "ROOT", "Question"]


@dataclass(frozen=True)
class Question:
    """One call to be tuned. ``arguments`` makes them on a device; ``grid`` asks its argument by ``[name]``."""

    name: str
    source: str
    defines: Mapping[str, Any]
    warps: Sequence[int]
    grid: Callable[[Any], tuple[int, ...]]
    arguments: Callable[[str], tuple[Any, ...]]
    stages: Sequence[int] | None = None
    kernel: str | None = None

    @property
    def shown(self) -> list[str]:
        """The defines that are swept."""
        return [name for name, value in self.defines.items() if isinstance(value, list)]


WIDE: Mapping[str, Any] = {"TM": [64, 128, 256], "TN": [64, 128, 256], "TK": [32, 64]}
FLOAT: Mapping[str, Any] = {"TM": [32, 64, 128], "TN": [32, 64, 128], "TK": [16, 32]}


def _dot(dtype: torch.dtype, n: int, at: bool, bt: bool, tiles: Mapping[str, Any]) -> Question:
    def arguments(device: str) -> tuple[Any, ...]:
        a, b = torch.randn(2, n, n, device=device).to(dtype)
        return a, b, torch.empty_like(a), n, n, n, n, n, n

    kind = {torch.float16: "half", torch.float32: "float"}[dtype]
    return Question(
        f"dot-{kind}-{n}-{'^a' if at else 'a'}{'^b' if bt else 'b'}",
        dot.SOURCE,
        {**dot.text_defines(dtype, at, bt), **tiles},
        [4, 8],
        lambda opt: (n // opt["TM"], n // opt["TN"]),
        arguments,
    )


def _softmax(n: int) -> Question:
    def arguments(device: str) -> tuple[Any, ...]:
        x = torch.randn(4096, n, device=device)
        return torch.empty_like(x), x, n, n

    defines = {**softmax.types(torch.float32), "TN": pytriton.next_power_of_2(n)}
    warps = [1, 2, 4, 8, 16]
    return Question(f"softmax-{n}", softmax.FORWARD, defines, warps, lambda _: (4096,), arguments)


def _layer_norm(n: int) -> Question:
    def arguments(device: str) -> tuple[Any, ...]:
        x = torch.randn(4096, n, device=device).half()
        gamma, beta = torch.randn(2, n, device=device).half()
        mean, rstd = torch.empty((2, 4096), device=device)
        return x, torch.empty_like(x), gamma, beta, mean, rstd, n, 1e-5

    sample = torch.empty(1, n, dtype=torch.float16)
    return Question(
        f"layer-norm-{n}",
        layer_norm.SOURCE,
        layer_norm.defines(sample),
        [1, 2, 4, 8, 16],
        lambda _: (4096,),
        arguments,
        kernel="forward",
    )


def _cross_entropy(n: int) -> Question:
    def arguments(device: str) -> tuple[Any, ...]:
        scores = torch.randn(4096, n, device=device)
        label = torch.randint(n, (4096,), device=device)
        return scores, scores, label, torch.empty(4096, device=device), n

    defines = cross_entropy.defines(torch.empty(1, n))
    return Question(
        f"cross-entropy-{n}",
        cross_entropy.SOURCE,
        defines,
        [4, 8, 16, 32],
        lambda _: (4096,),
        arguments,
        kernel="forward",
    )


def _attention(d: int, causal: bool) -> Question:
    heads, n = 32, 4096

    def arguments(device: str) -> tuple[Any, ...]:
        q, k, v = torch.randn(3, heads, n, d, device=device).half()
        strides = [stride for x in (q, k, v) for stride in x.stride()[:2]]
        return q, k, v, torch.empty_like(q), n, n, d**-0.5, *strides

    tiles = {"TM": [64, 128], "TN": [32, 64, 128]}
    return Question(
        f"attention-{d}{'-causal' * causal}",
        attention.SOURCE,
        attention.defines(torch.float16, d, causal, tiles),
        [4, 8],
        lambda opt: (pytriton.cdiv(n, opt["TM"]), heads),
        arguments,
        stages=[2, 3],
    )


def _block_sparse(block: int, density: float) -> Question:
    """A [n, n] of random blocks times B [n, n]; a row of blocks is one segment, so that no program waits."""
    n = 4096
    torch.manual_seed(0)
    layout = (torch.rand(1, n // block, n // block) < density).long()
    layout[0, :, 0] = 1  # no row is empty
    strips = [32, 64, 128, 256]
    sparse = blocksparse.BlockSparse(layout, block, per_segment=layout.shape[2], tk=block)

    def arguments(device: str) -> tuple[Any, ...]:
        blocks = torch.randn(1, int(layout.sum()), block, block, device=device).half()
        b = torch.randn(1, 1, n, n, device=device).half()
        table = sparse.table("dsd", False, b.device)
        locks = table.rows * pytriton.cdiv(n, min(strips))
        tensors = (blocks, b, torch.empty_like(b))
        strides = [x.stride(axis) for axis in (0, 1) for x in tensors]
        sizes = (block, n, n, block, n, n)
        return *tensors, *sizes, *strides, table.data, blocksparse.locks_for(locks, b.device), locks

    return Question(
        f"block-sparse-{block}",
        blocksparse.SOURCE,
        {
            **{"TYPE": torch.float16, "NAME": "dsd_nn", "DSD": 1, "BLOCK": block},
            **{"TM": block, "TN": strips, "TK": block},
            **blocksparse.A_PLAIN,
            **blocksparse.B_PLAIN,
        },
        [2, 4, 8],
        lambda opt: (n // block, pytriton.cdiv(n, opt["TN"]), 1),
        arguments,
        stages=[3, 4],
    )


HALF_SIZES, FLOAT_SIZES = (1024, 2048, 4096, 8192), (512, 1024, 2048, 4096)

QUESTIONS: Sequence[Question] = [
    *(_dot(torch.float16, n, False, bt, WIDE) for n in HALF_SIZES for bt in (False, True)),
    *(_dot(torch.float32, n, at, False, FLOAT) for n in FLOAT_SIZES for at in (False, True)),
    *(_softmax(n) for n in (1024, 8192)),
    *(_layer_norm(n) for n in (1024, 8192)),
    _cross_entropy(30_000),
    *(_attention(d, causal) for d, causal in ((64, False), (128, False), (128, True))),
    *(_block_sparse(block, 0.3) for block in (32, 64)),
]
