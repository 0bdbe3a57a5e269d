"""Block-sparse matrix products: one text, three algorithms, every transposition, gradients.

Of a sparse matrix [samples, heads, M, N] only the blocks that a layout [heads, rows, columns] names
are stored: [samples, blocks, BLOCK, BLOCK]. A product has one sparse matrix, and its place names
the mode, C first: `sdd` (C is sparse), `dsd` (A is), `dds` (B is). `#ifdef` picks the arm.

* `sdd`: a program has one block of C, which a table finds, or a slice of its reduction.
* `dsd`, `dds`: a program has a tile of C and walks a row of blocks. A table holds the steps: how far
  the sparse and how far the dense operand move. Long rows are cut into segments of several blocks
  each, whose programs share a lock and a counter for each tile of C.

The gradients of each mode are the other two, so all nine forms are this text.

    python examples/blocksparse_matmul.py
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import torch

import pytriton as triton

SOURCE = """
__global__ void NAME(TYPE *A __noalias __readonly __aligned(16),
                     TYPE *B __noalias __readonly __aligned(16),
                     TYPE *C __noalias __aligned(16),
                     int M __multipleof(8), int N __multipleof(8), int K __multipleof(8),
                     int lda __multipleof(8), int ldb __multipleof(8), int ldc __multipleof(8),
                     long stride_az __multipleof(8), long stride_bz __multipleof(8),
                     long stride_cz __multipleof(8), long stride_ah __multipleof(8),
                     long stride_bh __multipleof(8), long stride_ch __multipleof(8),
                     int *TABLE __noalias __readonly __aligned(16),
                     int *LOCKS, int locks) {
  /* ------------- */
  /*   prologue    */
  /* ------------- */
  int z = get_program_id(2);
  int rk[TK] = 0 ... TK;
#ifdef SDD
  // the block of C: its head, row and column
  int block = get_program_id(0);
  int *header = TABLE + block * 4;
  int h = *(header + 0);
  int i = *(header + 1);
  int j = *(header + 2);
  // the slice of the reduction
  int parts = get_num_programs(1);
  int lock = block;
  int slice = (K + TK * parts - 1) / (TK * parts) * TK;
  int first = get_program_id(1) * slice;
  K = min(K - first, slice);
  // rows and columns, in the operands and in C
  int ram[TM] = i * BLOCK + 0 ... TM;
  int rbn[TN] = j * BLOCK + 0 ... TN;
  int rcm[TM] = 0 ... TM;
  int rcn[TN] = 0 ... TN;
  long offset_a = z * stride_az + h * stride_ah + first * STRIDE_AK;
  long offset_b = z * stride_bz + h * stride_bh + first * STRIDE_BK;
  long offset_c = z * stride_cz + (long)block * (BLOCK * BLOCK);
#else
  // the segment: its head and row, its steps, and where it starts
  int strip = get_program_id(1);
  int *header = TABLE + get_program_id(0) * 8;
  int h = *(header + 0);
  int i = *(header + 1);
  K = *(header + 2) * TK;
  int *pinc = TABLE + *(header + 3);
  int block = *(header + 4);
  int first __multipleof(8) = *(header + 5);
  int parts = *(header + 6);
  int lock = *(header + 7) * get_num_programs(1) + strip;
#ifdef DSD
  int ram[TM] = 0 ... TM;
  int rbn[TN] = strip * TN + 0 ... TN;
  int rcm[TM] = i * BLOCK + 0 ... TM;
  int rcn[TN] = rbn;
  long offset_a = z * stride_az + (long)block * (BLOCK * BLOCK);
  long offset_b = z * stride_bz + h * stride_bh + (long)first * STRIDE_BK;
#else
  int ram[TM] = strip * TM + 0 ... TM;
  int rbn[TN] = 0 ... TN;
  int rcm[TM] = ram;
  int rcn[TN] = i * BLOCK + 0 ... TN;
  long offset_a = z * stride_az + h * stride_ah + (long)first * STRIDE_AK;
  long offset_b = z * stride_bz + (long)block * (BLOCK * BLOCK);
#endif
  long offset_c = z * stride_cz + h * stride_ch;
#endif
  // pointers to operands
  TYPE *pa[SHAPE_A] = A + offset_a + ram[AT_M] * STRIDE_AM + rk[AT_AK] * STRIDE_AK;
  TYPE *pb[SHAPE_B] = B + offset_b + rbn[AT_N] * STRIDE_BN + rk[AT_BK] * STRIDE_BK;
  // prefetches operands
  bool checkm[TM] = ram < M;
  bool checkn[TN] = rbn < N;
  bool checka[SHAPE_A] = checkm[AT_M] && (rk < K)[AT_AK];
  bool checkb[SHAPE_B] = checkn[AT_N] && (rk < K)[AT_BK];
  TYPE a[SHAPE_A] = checka ? *pa : 0;
  TYPE b[SHAPE_B] = checkb ? *pb : 0;
  /* ------------- */
  /*   reduction   */
  /* ------------- */
  float acc[TM, TN] = 0;
  for (int k = K; k > 0; k -= TK) {
    acc += USE_A @ USE_B;
    // advance
#ifdef SDD
    int inc_a __multipleof(TK) = TK * STRIDE_AK;
    int inc_b __multipleof(TK) = TK * STRIDE_BK;
#elif defined(DSD)
    int inc_a __multipleof(TK) = *pinc;
    int inc_b __multipleof(TK) = *(pinc + 1) * STRIDE_BK;
    pinc += 2;
#else
    int inc_a __multipleof(TK) = *(pinc + 1) * STRIDE_AK;
    int inc_b __multipleof(TK) = *pinc;
    pinc += 2;
#endif
    pa += inc_a;
    pb += inc_b;
    // prefetch the next operands
    bool checka[SHAPE_A] = checkm[AT_M] && (rk < k - TK)[AT_AK];
    bool checkb[SHAPE_B] = checkn[AT_N] && (rk < k - TK)[AT_BK];
    a = checka ? *pa : 0;
    b = checkb ? *pb : 0;
  }
  /* ------------- */
  /*   epilogue    */
  /* ------------- */
  TYPE c[TM, TN] = acc;
  TYPE *pc[TM, TN] = C + offset_c + rcm[:, newaxis] * ldc + rcn[newaxis, :];
  bool checkc[TM, TN] = checkm[:, newaxis] && checkn[newaxis, :];
  if (parts == 1)
    *?(checkc) pc = c;
  else {
    // the first of the programs that share this tile stores, the others add
    int *plock = LOCKS + z * locks + lock;
    int *pcount = plock + get_num_programs(2) * locks;
    for (int repeat = 1; repeat == 1; repeat = atomic_cas(plock, 0, 1));
    int count = *pcount;
    if (count == 0)
      *?(checkc) pc = c;
    else
      *?(checkc) pc = c + *?(checkc) pc;
    atomic_xchg(pcount, (count + 1) % parts);
    atomic_xchg(plock, 0);
  }
}
"""

# How an operand is read: as it is stored, or transposed.
A_PLAIN = {
    "USE_A": "a",
    "SHAPE_A": "TM, TK",
    "AT_M": ":, newaxis",
    "AT_AK": "newaxis, :",
    "STRIDE_AM": "lda",
    "STRIDE_AK": "1",
}
A_TRANSPOSED = {
    "USE_A": "^a",
    "SHAPE_A": "TK, TM",
    "AT_M": "newaxis, :",
    "AT_AK": ":, newaxis",
    "STRIDE_AM": "1",
    "STRIDE_AK": "lda",
}
B_PLAIN = {
    "USE_B": "b",
    "SHAPE_B": "TK, TN",
    "AT_N": "newaxis, :",
    "AT_BK": ":, newaxis",
    "STRIDE_BN": "1",
    "STRIDE_BK": "ldb",
}
B_TRANSPOSED = {
    "USE_B": "^b",
    "SHAPE_B": "TN, TK",
    "AT_N": ":, newaxis",
    "AT_BK": "newaxis, :",
    "STRIDE_BN": "ldb",
    "STRIDE_BK": "1",
}
# Of the dense matrix that a sparse one is multiplied with: how much of its free axis a program takes.
STRIP = 64

kernel = triton.kernel(SOURCE, num_warps=4)
locks: dict[torch.device, torch.Tensor] = {}


def locks_for(count: int, device: torch.device) -> torch.Tensor:
    """`count` locks and as many counters: zero whenever no product runs."""
    if device not in locks or locks[device].numel() < 2 * count:
        locks[device] = torch.zeros(2 * count, dtype=torch.int32, device=device)
    return locks[device]


class Table:
    """The steps of `dsd` or `dds`: a header of 8 numbers for each segment, then two for each step."""

    def __init__(self, blocks: torch.Tensor, block: int, tk: int, along_k: int, per_segment: int) -> None:
        """`blocks` [heads, rows, columns]: the number of each block, -1 where none is.

        A step moves TK along a block, whose elements lie `along_k` apart in that direction.
        """
        headers: list[list[int]] = []
        steps: list[int] = []
        size, inside = block * block, block // tk
        for row, numbers in enumerate(blocks.flatten(0, 1)):
            columns = (numbers >= 0).nonzero()[:, 0].tolist()
            parts = max(triton.cdiv(len(columns), per_segment), 1)
            for part in range(parts):
                mine = columns[part * per_segment : (part + 1) * per_segment]
                ids = [int(numbers[column]) for column in mine]
                starts = ids[0] if ids else 0, mine[0] * block if mine else 0
                head, place = divmod(row, blocks.shape[1])
                headers.append([head, place, len(mine) * inside, len(steps), *starts, parts, row])
                for at, (number, column) in enumerate(zip(ids, mine, strict=True)):
                    steps += [tk * along_k, tk] * (inside - 1)
                    # to the next block; nowhere from the last one
                    there = min(at + 1, len(ids) - 1)
                    back = tk - block if there > at else 0
                    steps += [
                        (ids[there] - number) * size + back * along_k,
                        (mine[there] - column) * block + back,
                    ]
        for header in headers:
            header[3] += 8 * len(headers)
        self.segments = len(headers)
        self.rows = blocks.shape[0] * blocks.shape[1]
        self.data = torch.tensor([*chain(*headers), *steps], dtype=torch.int32)


class BlockSparse:
    """Products with sparse matrices of one layout [heads, rows, columns].

    Blocks are numbered in the order of `layout.nonzero()`. `per_segment`: after how many blocks a row
    is cut; `slices`: into how many parts the reduction of `sdd` is.
    """

    def __init__(
        self, layout: torch.Tensor, block: int, per_segment: int = 8, slices: int = 1, tk: int = 16
    ) -> None:
        self.block, self.per_segment, self.slices, self.tk = block, per_segment, slices, tk
        self.heads, self.rows, self.columns = layout.shape
        self.places = layout.nonzero()
        self.numbers = torch.full(layout.shape, -1)
        self.numbers[tuple(self.places.t())] = torch.arange(len(self.places))
        self.tables: dict[Any, Any] = {}

    def table(self, mode: str, transposed: bool, device: torch.device) -> Any:
        """The table of a mode, whose sparse matrix is read transposed or not. Made once."""
        key = mode, transposed, device
        if key not in self.tables:
            if mode == "sdd":
                places = torch.nn.functional.pad(self.places, (0, 1)).int()
                self.tables[key] = places.flatten().to(device)
            else:
                # dsd walks the rows of op(A), dds the columns of op(B)
                by_column = transposed == (mode == "dsd")
                numbers = self.numbers.transpose(1, 2) if by_column else self.numbers
                along_k = self.block if by_column else 1
                table = Table(numbers, self.block, self.tk, along_k, self.per_segment)
                table.data = table.data.to(device)
                self.tables[key] = table
        return self.tables[key]

    def launch(self, mode: str, a: torch.Tensor, b: torch.Tensor, at: bool, bt: bool) -> torch.Tensor:
        """C = op(A) @ op(B) in one of the three modes."""
        a, b = a.contiguous(), b.contiguous()
        (m, k), (k_of_b, n) = self.extents(mode[1], a, at), self.extents(mode[2], b, bt)
        if k != k_of_b:
            raise ValueError(f"inner sizes differ: {k} and {k_of_b}")
        samples, block, dense = a.shape[0], self.block, (a.shape[0], self.heads, m, n)
        c = a.new_empty((samples, len(self.places), block, block) if mode[0] == "s" else dense)
        tiles = {"TM": block, "TN": block, "TK": self.tk}
        if mode == "sdd":
            table = data = self.table(mode, False, a.device)
            grid, count = (len(self.places), self.slices, samples), len(self.places)
        else:
            table = self.table(mode, at if mode == "dsd" else bt, a.device)
            data = table.data
            tiles["TN" if mode == "dsd" else "TM"] = STRIP
            strips = triton.cdiv(n if mode == "dsd" else m, STRIP)
            grid, count = (table.segments, strips, samples), table.rows * strips
            m, n = (block, n) if mode == "dsd" else (m, block)
        strides = [stride for axis in (0, 1) for stride in (a.stride(axis), b.stride(axis), c.stride(axis))]
        kernel(
            *(a, b, c, m, n, k, a.stride(2), b.stride(2), c.stride(2), *strides),
            *(data, locks_for(samples * count, a.device), count),
            grid=grid,
            defines={
                **{"TYPE": a.dtype, "NAME": f"{mode}_{'t' if at else 'n'}{'t' if bt else 'n'}"},
                **{mode.upper(): 1, "BLOCK": block, **tiles},
                **(A_TRANSPOSED if at else A_PLAIN),
                **(B_TRANSPOSED if bt else B_PLAIN),
            },
        )
        return c

    def extents(self, kind: str, x: torch.Tensor, transposed: bool) -> tuple[int, int]:
        """Rows and columns of op(x)."""
        shape = (self.rows * self.block, self.columns * self.block) if kind == "s" else tuple(x.shape[2:])
        return (shape[1], shape[0]) if transposed else shape

    def matmul(
        self, mode: str, a: torch.Tensor, b: torch.Tensor, at: bool = False, bt: bool = False
    ) -> torch.Tensor:
        """op(A) @ op(B) with gradients; `mode` is `sdd`, `dsd` or `dds`.

        Dense matrices are [samples, heads, rows, columns], sizes multiples of 8; sparse ones [samples,
        blocks, BLOCK, BLOCK]. Half and float. `at`, `bt`: the operand is stored transposed; the layout
        is always that of the sparse matrix as it is stored.
        """
        return Product.apply(self, mode, a, b, at, bt)


class Product(torch.autograd.Function):
    """Each gradient is the product of dC and the other operand, in the mode that their kinds give."""

    @staticmethod
    def forward(
        ctx: Any, sparse: BlockSparse, mode: str, a: torch.Tensor, b: torch.Tensor, at: bool, bt: bool
    ) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        ctx.options = sparse, mode, at, bt
        return sparse.launch(mode, a, b, at, bt)

    @staticmethod
    def backward(ctx: Any, dc: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        a, b = ctx.saved_tensors
        sparse, (kind_c, kind_a, kind_b), at, bt = ctx.options
        launch = sparse.launch
        if at:
            da = launch(kind_a + kind_b + kind_c, b, dc, bt, True)
        else:
            da = launch(kind_a + kind_c + kind_b, dc, b, False, not bt)
        if bt:
            db = launch(kind_b + kind_c + kind_a, dc, a, True, at)
        else:
            db = launch(kind_b + kind_a + kind_c, a, dc, not at, False)
        return None, None, da, db, None, None


def to_dense(x: torch.Tensor, layout: torch.Tensor) -> torch.Tensor:
    """The dense matrix [samples, heads, M, N] of blocks x, zero where the layout is."""
    block = x.shape[-1]
    heads, rows, columns = layout.shape
    dense = x.new_zeros((x.shape[0], heads, rows, columns, block, block))
    h, i, j = layout.nonzero().t()
    dense[:, h, i, j] = x
    return dense.transpose(3, 4).reshape(x.shape[0], heads, rows * block, columns * block)


def to_blocks(dense: torch.Tensor, layout: torch.Tensor, block: int) -> torch.Tensor:
    """The blocks [samples, blocks, BLOCK, BLOCK] that the layout names."""
    heads, rows, columns = layout.shape
    h, i, j = layout.nonzero().t()
    split = dense.reshape(-1, heads, rows, block, columns, block).transpose(3, 4)
    return split[:, h, i, j]


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    samples, heads, size, block, other = (2, 8, 32, 32, 512) if device == "cuda" else (1, 2, 4, 16, 40)
    torch.manual_seed(0)
    layout = (torch.rand(heads, size, size) < 0.4).long()
    sparse = BlockSparse(layout, block, per_segment=4 if device == "cuda" else 1)
    x = to_dense(torch.randn(samples, int(layout.sum()), block, block, device=device), layout).half()
    y = torch.randn(samples, heads, size * block, other, device=device).half()
    blocks = to_blocks(x, layout, block)
    shown = {"TYPE": "half", "NAME": "dsd", "DSD": 1, "BLOCK": 32, "TM": 32, "TN": 64, "TK": 16}
    print(kernel.source({**shown, **A_PLAIN, **B_PLAIN}))
    results = {
        "sdd, y @ y^T": (
            sparse.matmul("sdd", y, y, bt=True),
            to_blocks(y.double() @ y.double().mT, layout, block),
        ),
        "dsd, x @ y": (sparse.matmul("dsd", blocks, y), x.double() @ y.double()),
        "dsd, x^T @ y": (sparse.matmul("dsd", blocks, y, at=True), x.double().mT @ y.double()),
        "dds, y^T @ x": (sparse.matmul("dds", y, blocks, at=True), y.double().mT @ x.double()),
    }
    for name, (got, want) in results.items():
        print(f"relative error, {name}: {float((got.double() - want).norm() / want.norm()):.1e}")


if __name__ == "__main__":
    main()
