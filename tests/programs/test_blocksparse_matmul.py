"""Block-sparse products give torch's numbers: three modes, all transpositions, gradients, shared locks.

Where operands are small whole numbers every sum is exact, and the result must equal torch's bit for
bit, in whatever order the programs of a lock come.
"""

from __future__ import annotations

from itertools import product

import blocksparse_matmul as program
import pytest
import torch
from blocksparse_matmul import BlockSparse, to_blocks, to_dense
from bounds import assert_close, integers

TYPES = [torch.float16, torch.float32]
BY_TRANSPOSITION = pytest.mark.parametrize(("at", "bt"), list(product((False, True), repeat=2)))
BY_MODE = pytest.mark.parametrize("mode", ["sdd", "dsd", "dds"])


def layout_of(heads: int, rows: int, columns: int) -> torch.Tensor:
    """About half of the blocks; a full row and column, and where there is room an empty row and column."""
    layout = (torch.rand(heads, rows, columns) < 0.5).long()
    layout[0, 0], layout[0, :, 0] = 1, 1
    if rows > 2 and columns > 2:
        layout[-1, 1], layout[-1, :, 2] = 0, 0
    return layout


class Case:
    """One layout and operands of small whole numbers, for one mode and transposition."""

    def __init__(
        self,
        mode: str,
        at: bool,
        bt: bool,
        layout: torch.Tensor,
        block: int,
        free: int,
        samples: int,
        dtype: torch.dtype,
        device: str,
    ) -> None:
        """`free`: the size that the layout does not give."""
        self.mode, self.at, self.bt, self.layout, self.block = mode, at, bt, layout, block
        heads, rows, columns = layout.shape
        m, n = rows * block, columns * block
        # op(A) [M, K], op(B) [K, N] and C [M, N], with the sparse one of the layout's size as stored
        if mode == "sdd":
            sizes = (m, free), (free, n)
        elif mode == "dsd":
            sizes = ((n, m) if at else (m, n)), ((m if at else n), free)
        else:
            sizes = (free, (n if bt else m)), ((n, m) if bt else (m, n))
        self.a = self.operand(mode[1], sizes[0], at, (samples, heads), dtype, device)
        self.b = self.operand(mode[2], sizes[1], bt, (samples, heads), dtype, device)

    def operand(
        self,
        kind: str,
        size: tuple[int, int],
        transposed: bool,
        outer: tuple[int, int],
        dtype: torch.dtype,
        device: str,
    ) -> torch.Tensor:
        stored = size[::-1] if transposed else size
        if kind == "d":
            return integers((*outer, *stored), dtype, device, 1)
        return integers((outer[0], int(self.layout.sum()), self.block, self.block), dtype, device, 1)

    def want(self) -> torch.Tensor:
        """In double."""
        dense = [
            to_dense(x.double(), self.layout) if kind == "s" else x.double()
            for kind, x in zip(self.mode[1:], (self.a, self.b), strict=True)
        ]
        x, y = (d.mT if t else d for d, t in zip(dense, (self.at, self.bt), strict=True))
        return to_blocks(x @ y, self.layout, self.block) if self.mode[0] == "s" else x @ y

    def check(self, sparse: BlockSparse) -> None:
        got = sparse.matmul(self.mode, self.a, self.b, self.at, self.bt)
        assert torch.equal(got.double(), self.want())


@BY_MODE
@BY_TRANSPOSITION
@pytest.mark.parametrize(
    "per_segment", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(100, marks=pytest.mark.slow)]
)
def test_exact(mode: str, at: bool, bt: bool, per_segment: int) -> None:
    """Blocks of 16, a free size of 24: a segment for each block, for two, for the whole row."""
    layout = layout_of(2, 3, 4)
    dtype = TYPES[(at + bt) % 2]
    sparse = BlockSparse(layout, 16, per_segment, slices=per_segment % 3 + 1)
    Case(mode, at, bt, layout, 16, 24, 2, dtype, "cpu").check(sparse)
    assert not program.locks[torch.device("cpu")].any()


@BY_MODE
@pytest.mark.parametrize(
    ("block", "tk", "free"), [(16, 16, 8), (32, 16, 72), (32, 32, 128), (48, 16, 40), (24, 24, 64)]
)
@pytest.mark.sampled(4)
def test_block_sizes(mode: str, device: str, block: int, tk: int, free: int) -> None:
    """One to three steps in a block; strips that are ragged and full; sizes that are no powers of two."""
    layout = layout_of(1, 2, 3)
    sparse = BlockSparse(layout, block, tk=tk)
    Case(mode, False, True, layout, block, free, 1, torch.float16, device).check(sparse)


@pytest.mark.gpu
@BY_MODE
@BY_TRANSPOSITION
@pytest.mark.parametrize("block", [16, 32, 64])
def test_exact_gpu(mode: str, at: bool, bt: bool, block: int, dtype: torch.dtype) -> None:
    layout = layout_of(4, 9, 12)
    sparse = BlockSparse(layout, block, per_segment=3, slices=2)
    Case(mode, at, bt, layout, block, 328, 3, dtype, "cuda").check(sparse)


@pytest.mark.gpu
@BY_MODE
def test_hundreds_of_programs_on_each_lock(mode: str, dtype: torch.dtype) -> None:
    """Rows of 400 blocks, one to a segment; for sdd 300 slices of a long reduction."""
    layout = torch.ones(1, 2, 400) if mode == "dsd" else torch.ones(1, 400, 2)
    free = 136
    if mode == "sdd":
        layout, free = layout_of(2, 3, 4), 16 * 300
    sparse = BlockSparse(layout.long(), 16, per_segment=1, slices=300)
    for seed in range(30):
        torch.manual_seed(seed)
        Case(mode, False, False, layout.long(), 16, free, 2, dtype, "cuda").check(sparse)
    assert not program.locks[torch.device("cuda", torch.cuda.current_device())].any()


@BY_MODE
@BY_TRANSPOSITION
@pytest.mark.sampled(9)
def test_gradients(mode: str, at: bool, bt: bool, device: str) -> None:
    """Exact as well: the gradients are products of whole numbers."""
    layout = layout_of(2, 3, 4)
    case = Case(mode, at, bt, layout, 16, 24, 2, torch.float32, device)
    sparse = BlockSparse(layout, 16, per_segment=2)
    a, b = case.a.requires_grad_(), case.b.requires_grad_()
    c = sparse.matmul(mode, a, b, at, bt)
    dc = integers(tuple(c.shape), torch.float32, device, 2)
    got = torch.autograd.grad(c, (a, b), dc)
    want = torch.autograd.grad(case.want(), (a, b), dc.double())
    for one, other in zip(got, want, strict=True):
        assert torch.equal(one, other)


@BY_MODE
def test_rounding(mode: str, device: str, dtype: torch.dtype) -> None:
    """Whole rows: one rounding. In segments, each part is rounded when it is added."""
    layout = layout_of(1, 20, 20) if device == "cuda" else layout_of(1, 3, 4)
    case = Case(mode, False, False, layout, 16, 40, 1, dtype, device)
    case.a, case.b = torch.randn_like(case.a), torch.randn_like(case.b)
    want = case.want()
    assert_close(BlockSparse(layout, 16, 1000).matmul(mode, case.a, case.b), want)
    assert_close(BlockSparse(layout, 16, 2, 3).matmul(mode, case.a, case.b), want, scale=2 * want)


@BY_MODE
def test_a_nan_stays_in_its_row(mode: str, device: str) -> None:
    """What lies beside a tile, and the dead loads of the last step, reach nothing."""
    layout = layout_of(1, 3, 4)
    case = Case(mode, False, False, layout, 16, 24, 1, torch.float32, device)
    case.a.view(-1)[-1] = float("nan")
    sparse = BlockSparse(layout, 16, per_segment=2)
    got, want = sparse.matmul(mode, case.a, case.b), case.want()
    if mode != "dds":  # there a dense product has 0 * NaN in columns that have no block
        assert torch.equal(got.isnan(), want.isnan())
    assert torch.equal(got.nan_to_num(nan=99.0).double()[~want.isnan()], want[~want.isnan()])
    assert bool(got.isnan().any())


def test_attention_of_blocks(device: str) -> None:
    """The three programs together: scores by sdd, softmax of their rows, values by dsd."""
    from blocksparse_softmax import BlockSparseSoftmax

    layout = layout_of(2, 3, 3)
    layout[:, range(3), range(3)] = 1
    q, k, v = torch.randn(3, 2, 2, 48, 32, device=device)
    sparse = BlockSparse(layout, 16, per_segment=2)
    scores = sparse.matmul("sdd", q, k, bt=True)
    out = sparse.matmul("dsd", BlockSparseSoftmax(layout, 16, device)(scores, scale=0.25), v)
    full = q.double() @ k.double().mT * 0.25
    seen = to_dense(torch.ones_like(scores), layout).bool()
    want = full.masked_fill(~seen, -float("inf")).softmax(-1) @ v.double()
    assert_close(out, want, scale=2 * want)
