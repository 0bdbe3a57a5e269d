"""The classic `dot`: one Triton-C text for every transposition, forward and backward.

How a Triton-C program of 2020 was built. The text leaves holes (TYPE, USE_A, SHAPE_A, STRIDE_AK,
...) that the wrapper fills with defines, so `a @ b`, `^a @ b`, `a @ ^b` and `^a @ ^b` are one
kernel; the tile sizes are lists, and the fastest point of their product is kept. The gradients of a
matrix product are matrix products, so `backward` calls the same kernel with other defines.

    python examples/dot.py [half | float]

prints the Triton-C text, the Python that it became, what tuning chose, and the error against torch.
It runs on the CPU, as C where there is a compiler, and on a CUDA GPU.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping
from itertools import product
from typing import Any

import torch

import pytriton as triton

SOURCE = """
__global__ void dot(TYPE *A __noalias __readonly __aligned(16),
                    TYPE *B __noalias __readonly __aligned(16),
                    TYPE *C __noalias __aligned(16),
                    int M, int N, int K,
                    int lda __multipleof(8),
                    int ldb __multipleof(8),
                    int ldc __multipleof(8)) {
  // prologue
  int pm = get_program_id(0);
  int pn = get_program_id(1);
  int rm[TM] = pm * TM + 0 ... TM;
  int rn[TN] = pn * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  float c[TM, TN] = 0;
  // pointers to operands
  TYPE *pa[SHAPE_A] = A + rk[BROADCAST_AK] * STRIDE_AK + rm[BROADCAST_AM] * STRIDE_AM;
  TYPE *pb[SHAPE_B] = B + rk[BROADCAST_BK] * STRIDE_BK + rn[BROADCAST_BN] * STRIDE_BN;
  // prefetches operands
  TYPE a[SHAPE_A] = *pa;
  TYPE b[SHAPE_B] = *pb;
  // reduction loop
  for (int k = K; k > 0; k -= TK) {
    c += USE_A @ USE_B;
    pa += TK * STRIDE_AK;
    pb += TK * STRIDE_BK;
    a = *pa;
    b = *pb;
  }
  // epilogue
  TYPE *pc[TM, TN] = C + rm[:, newaxis] * ldc + rn[newaxis, :];
  *pc = c;
}
"""

# How an operand is read: as it is stored (rows of A run along k, rows of B along n), or transposed.
A_PLAIN = {
    "USE_A": "a",
    "SHAPE_A": "TM, TK",
    "BROADCAST_AK": "newaxis, :",
    "BROADCAST_AM": ":, newaxis",
    "STRIDE_AK": "1",
    "STRIDE_AM": "lda",
}
A_TRANSPOSED = {
    "USE_A": "^a",
    "SHAPE_A": "TK, TM",
    "BROADCAST_AK": ":, newaxis",
    "BROADCAST_AM": "newaxis, :",
    "STRIDE_AK": "lda",
    "STRIDE_AM": "1",
}
B_PLAIN = {
    "USE_B": "b",
    "SHAPE_B": "TK, TN",
    "BROADCAST_BK": ":, newaxis",
    "BROADCAST_BN": "newaxis, :",
    "STRIDE_BK": "ldb",
    "STRIDE_BN": "1",
}
B_TRANSPOSED = {
    "USE_B": "^b",
    "SHAPE_B": "TN, TK",
    "BROADCAST_BK": "newaxis, :",
    "BROADCAST_BN": ":, newaxis",
    "STRIDE_BK": "1",
    "STRIDE_BN": "ldb",
}
TILES: dict[str, list[int]] = {"TM": [32, 64, 128], "TN": [32, 64, 128], "TK": [8, 16, 32]}
WARPS = [4, 8]

Tiles = Mapping[str, int | list[int]]

kernel = triton.kernel(SOURCE)


def text_defines(dtype: torch.dtype, at: bool, bt: bool) -> dict[str, Any]:
    """The defines that choose the element type and how each operand is read."""
    operand_a = A_TRANSPOSED if at else A_PLAIN
    operand_b = B_TRANSPOSED if bt else B_PLAIN
    return {"TYPE": dtype, "AT": at, "BT": bt, **operand_a, **operand_b}


def legal_tiles(m: int, n: int, k: int) -> dict[str, list[int]]:
    """The listed tiles that divide an m x n x k product: the text has no bounds checks."""
    tiles: dict[str, list[int]] = {}
    for (name, sizes), extent in zip(TILES.items(), (m, n, k), strict=True):
        tiles[name] = [size for size in sizes if extent % size == 0]
        if not tiles[name]:
            raise ValueError(f"no tile in {name} = {sizes} divides an extent of {extent}")
    return tiles


def launch(a: torch.Tensor, b: torch.Tensor, at: bool, bt: bool, tiles: Tiles | None = None) -> torch.Tensor:
    """C [M, N] = op(A) @ op(B), A stored [M, K] (`at`: [K, M]), B stored [K, N] (`bt`: [N, K])."""
    m, k = reversed(a.shape) if at else a.shape
    k_of_b, n = reversed(b.shape) if bt else b.shape
    if k != k_of_b:
        raise ValueError(f"inner sizes differ: {k} and {k_of_b}")
    a, b = a.contiguous(), b.contiguous()
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    kernel(
        *(a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0)),
        grid=lambda opt: (triton.cdiv(m, opt.d("TM")), triton.cdiv(n, opt.d("TN"))),
        defines={**text_defines(a.dtype, at, bt), **(tiles or legal_tiles(m, n, k))},
        num_warps=WARPS if tiles is None else 4,
    )
    return c


class Dot(torch.autograd.Function):
    """The product and its gradients: three calls of one kernel."""

    @staticmethod
    def forward(
        ctx: Any, a: torch.Tensor, b: torch.Tensor, at: bool, bt: bool, tiles: Tiles | None
    ) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        ctx.options = at, bt, tiles
        return launch(a, b, at, bt, tiles)

    @staticmethod
    def backward(ctx: Any, dc: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        a, b = ctx.saved_tensors
        at, bt, tiles = ctx.options
        # With x = op(A), y = op(B): dx = dc @ y^T and dy = x^T @ dc, each stored as its operand is.
        da = launch(b, dc, bt, True, tiles) if at else launch(dc, b, False, not bt, tiles)
        db = launch(dc, a, True, at, tiles) if bt else launch(a, dc, not at, False, tiles)
        return da, db, None, None, None


def dot(
    a: torch.Tensor,
    b: torch.Tensor,
    at: bool = False,
    bt: bool = False,
    tiles: Tiles | None = None,
) -> torch.Tensor:
    """op(a) @ op(b) with gradients; `tiles` (`{"TM": 64, "TN": 64, "TK": 16}`) turns tuning off."""
    return Dot.apply(a, b, at, bt, tiles)


def relative_error(got: torch.Tensor, want: torch.Tensor) -> float:
    """|got - want| / |want| in the Frobenius norm."""
    got, want = got.detach().double(), want.detach().double()
    return float((got - want).norm() / want.norm())


def errors(dtype: torch.dtype, device: str, m: int, n: int, k: int, at: bool, bt: bool) -> list[float]:
    """Relative errors of the product and of both gradients, against torch in double precision."""
    a = torch.randn((k, m) if at else (m, k), device=device).to(dtype).requires_grad_()
    b = torch.randn((n, k) if bt else (k, n), device=device).to(dtype).requires_grad_()
    dc = torch.randn((m, n), device=device).to(dtype)
    c = dot(a, b, at, bt)
    c.backward(dc)
    x, y = (t.detach().double().requires_grad_() for t in (a, b))
    want = (x.t() if at else x) @ (y.t() if bt else y)
    want.backward(dc.double())
    pairs = ((c, want), (a.grad, x.grad), (b.grad, y.grad))
    return [relative_error(got, expected) for got, expected in pairs]


def point(config: Any) -> str:
    """What tells one point of the sweep from another: its tiles, and what tuning chooses beside them."""
    tiles = " ".join(f"{name}={config.defines[name]:<3}" for name in TILES)
    more = {"num_stages": config.num_stages, "swizzle": config.swizzle, "descriptors": config.descriptors}
    extras = "".join(f" {name}={value}" for name, value in more.items() if value)
    return f"{tiles} num_warps={config.num_warps}{extras}"


def print_tuning() -> None:
    """The fastest points of the last sweep, and how many there were."""
    times = {config: time for config, time in kernel.timings.items() if not isinstance(time, str)}
    if not times:
        print(f"not timed on a CPU: the first point is taken, {point(kernel.best_config)}")
        return
    for config, milliseconds in sorted(times.items(), key=lambda item: item[1])[:5]:
        print(f"{milliseconds:9.4f} ms   {point(config)}")
    print(f"of {len(times)} points that were timed, and {len(kernel.timings) - len(times)} that were dropped")


def milliseconds_of(dtype: torch.dtype, device: str, m: int, n: int, k: int) -> float:
    """How long a product takes whose kernel is ready: the least of some calls, with what the host does."""
    a, b = torch.randn(m, k, device=device).to(dtype), torch.randn(k, n, device=device).to(dtype)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        launch(a, b, at=False, bt=False).sum().item()
        seconds.append(time.perf_counter() - start)
    return min(seconds) * 1e3


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    word = sys.argv[1] if len(sys.argv) > 1 else "half"
    dtype = {"half": torch.float16, "float": torch.float32}[word]
    compiled = device == "cuda" or any(map(shutil.which, ("cc", "gcc", "clang")))  # else Triton's interpreter
    m, n, k = (2048, 2048, 2048) if device == "cuda" else (512, 512, 512) if compiled else (96, 64, 32)
    torch.manual_seed(0)

    largest = {name: max(sizes) for name, sizes in legal_tiles(m, n, k).items()}
    lines = SOURCE.strip().count("\n") + 1
    print(f"== {lines} lines of Triton-C, SOURCE in {sys.argv[0]}, became (neither operand transposed) ==\n")
    print(kernel.source({**text_defines(dtype, at=False, bt=False), **largest}))
    rows = [(at, bt, errors(dtype, device, m, n, k, at, bt)) for at, bt in product((False, True), repeat=2)]
    print(f"== tuning: the last sweep, {word} {m} x {n} x {k} on {device} ==\n")
    print_tuning()
    print(f"\none product, compiled before: {milliseconds_of(dtype, device, m, n, k):.2f} ms")
    print(f"\n== relative error against torch (in double), {word} {m} x {n} x {k} ==\n")
    print(f"{'':10}{'forward':>12}{'grad a':>12}{'grad b':>12}")
    for at, bt, row in rows:
        name = f"{'^a' if at else 'a'} @ {'^b' if bt else 'b'}"
        print(f"{name:10}" + "".join(f"{error:12.1e}" for error in row))


if __name__ == "__main__":
    main()
