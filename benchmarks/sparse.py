"""Rows: block-sparse times dense (`dsd` of `examples/blocksparse_matmul.py`), beside a dense product.

`torch.mm x density` is the time of the dense product times the share of blocks that are there: what a perfect use
of the sparsity would take.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from benchmarks import handwritten
from benchmarks.measure import Contender, Row, Settings, ours
from benchmarks.products import HALF_ERROR
from benchmarks.tuned import Tuned, by_hand, points

import blocksparse_matmul as blocksparse  # isort: skip  (examples/, on the path by measure.py)

import pytriton

STRIPS = [64, 128]


def block_sparse(settings: Settings) -> Iterator[Row]:
    """A [n, n] with random blocks, B [n, n] dense, both half."""
    n = 64 if settings.smoke else 4096
    every = [(block, density) for block in (16, 32, 64) for density in (0.1, 0.5)]
    for block, density in settings.sizes(every, [(32, 0.1), (32, 0.5)], [(16, 0.5)]):
        layout = (torch.rand(1, n // block, n // block) < density).long()
        layout[0, :, 0] = 1  # no row is empty
        yield _product(settings, layout, block, n)


def _product(settings: Settings, layout: torch.Tensor, block: int, n: int) -> Row:
    device, count = settings.device, int(layout.sum())
    blocks = torch.randn(1, count, block, block, device=device).half()
    b = torch.randn(1, 1, n, n, device=device).half()
    out, by, dense_out = (torch.empty_like(b) for _ in range(3))
    starts = torch.nn.functional.pad(layout[0].sum(1).cumsum(0), (1, 0)).int().to(device)
    columns = layout[0].nonzero()[:, 1].int().to(device)
    warps = [4, 8] if block == 64 else [2, 4]
    hand = Tuned(
        handwritten.sparse_times_dense,
        points(TN=STRIPS, BLOCK=block, num_warps=warps, num_stages=[3, 4]),
        lambda point: (n // block, pytriton.cdiv(n, point["TN"])),
        *(blocks, b, by, starts, columns, n, n, n),
    )
    dense = blocksparse.to_dense(blocks, layout)
    share = count / layout.numel()
    contenders = [
        _ours(settings, layout, blocks, b, out, warps),
        by_hand(hand, by, 0.97),
        Contender(
            "torch.mm x density", lambda: torch.mm(dense[0, 0], b[0, 0], out=dense_out[0, 0])[None, None]
        ),
    ]
    want = (dense[0, 0].float() @ b[0, 0].float())[None, None]
    case = f"blocks of {block}, {100 * share:.0f} % of {n}²"
    work = 2.0 * count * block * block * n
    scaled = {"torch.mm x density": share}
    return Row("block-sparse", case, contenders, want, HALF_ERROR, work, "TFLOP/s", scaled=scaled)


def _ours(
    settings: Settings,
    layout: torch.Tensor,
    blocks: torch.Tensor,
    b: torch.Tensor,
    out: torch.Tensor,
    warps: list[int],
) -> Contender:
    """One segment a row of blocks, so that no program waits for a lock; a step is a whole block."""
    block, n = blocks.shape[-1], b.shape[-1]
    # what no row reaches: rows are not cut
    sparse = blocksparse.BlockSparse(layout, block, per_segment=layout.shape[2], tk=block)
    table = sparse.table("dsd", False, b.device)
    strips = pytriton.cdiv(n, min(STRIPS))
    locks = table.rows * strips
    tensors = [blocks, b, out]
    strides = [x.stride(axis) for axis in (0, 1) for x in tensors]
    defines = {
        **{"TYPE": b.dtype, "NAME": "dsd_nn", "DSD": 1, "BLOCK": block},
        **{"TM": block, "TN": STRIPS, "TK": block},
        **blocksparse.A_PLAIN,
        **blocksparse.B_PLAIN,
    }

    def call() -> None:
        blocksparse.kernel(
            *(*tensors, block, n, n, block, n, n, *strides),
            *(table.data, blocksparse.locks_for(locks, b.device), locks),
            grid=lambda opt: (table.segments, pytriton.cdiv(n, opt.TN), 1),
            defines=defines,
            num_warps=4 if settings.smoke else warps,
            num_stages=None if settings.smoke else [3, 4],
        )

    return ours(blocksparse.kernel, call, out, ["TN", "TK"])
