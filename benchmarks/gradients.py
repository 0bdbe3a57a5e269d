"""Derived backwards against hand-written ones and torch.compile's: ``python -m benchmarks.gradients``.

Element-wise and row programs are those of ``examples/derived_gradients.py``: GELU with a bias, softmax, layer norm,
cross-entropy out of place. Both texts are tuned over the same numbers of warps; torch.compile's backward runs on a
graph that is kept. For dot, forward plus derived backward is timed against three ``torch.mm``. Convolution and
block-sparse products are derived where the rules admit them, and named with the code where not. Attention stands
beside a hand-written backward after FlashAttention-2, and torch's. Two programs walk long rows in loops: statistics
that outputs hold, read and computed again; and a logarithm of a sum of exponentials.

    python -m benchmarks.gradients [--smoke] [--quick] [--only NAME ...]

All sides allocate what they return, as a backward does. Runs are long enough to hide the host.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from benchmarks import handwritten_attention_backward as hand
from benchmarks.attentions import sdpa_by
from benchmarks.measure import OURS, Contender, Row, Settings, first_line, keep, parsed, printed
from benchmarks.tuned import Tuned, points

import attention  # isort: skip  (examples/, on the path by measure.py)
import blocksparse_matmul as sparse  # isort: skip
import conv2d  # isort: skip
import derived_gradients as pairs  # isort: skip
import dot as classic  # isort: skip

import pytriton
from pytriton.gradient.backward import Gradient

HAND, COMPILED = "hand-written", "torch.compile"
TO_REACH = 0.95  # of the hand-written backward; of torch.compile's, as a geometric mean
TO_REACH_OF_DOT = 0.90  # of three torch.mm
HALF_ERROR, FLOAT_ERROR = 2e-3, 2e-5
WARPS = [4, 8, 16]

Size = tuple[int, int]


def rows_and_elements(settings: Settings) -> Iterator[Row]:
    """The four programs, at sizes at which memory decides."""
    warps: Any = 4 if settings.smoke else WARPS
    cases: list[tuple[Callable[..., pairs.Pair], list[Size], float]] = [
        (pairs.gelu, [(32768, 4096)], HALF_ERROR),
        (pairs.softmax, [(32768, 4096), (65536, 1000)], FLOAT_ERROR),
        (pairs.layer_norm, [(32768, 4096), (65536, 1600)], HALF_ERROR),
        (pairs.cross_entropy, [(8192, 30_000)], FLOAT_ERROR),
    ]
    for make, sizes, error in cases:
        for rows, n in settings.sizes(sizes, sizes[:1], [(8, 100)]):
            yield _row(settings, make(settings.device, rows, n, warps=warps), (rows, n), error)


def _row(settings: Settings, pair: pairs.Pair, size: Size, error: float) -> Row:
    leaves = [tensor.detach().requires_grad_() for tensor in pair.inputs]
    (flow,) = pair.flowing.values()
    held: list[torch.Tensor] = []

    def compiled() -> tuple[torch.Tensor, ...]:
        if not held:
            held.append(settings.compiled(pair.torch_forward)(*leaves))
        return torch.autograd.grad(held[0], leaves, flow, retain_graph=True)

    contenders = [
        Contender(OURS, pair.by_derivation),
        Contender(HAND, pair.by_hand, TO_REACH),
        Contender(COMPILED, compiled),
    ]
    work = sum(t.nbytes for t in pair.inputs) * 2 + flow.nbytes
    case = f"{size[0]} x {size[1]} {str(flow.dtype)[6:]}"
    return Row(pair.name, case, contenders, pair.exact(), error, work, "GB/s")


def products(settings: Settings) -> Iterator[Row]:
    """Forward plus derived backward of dot, against three products by cuBLAS."""
    for n in settings.sizes([2048, 4096, 8192], [4096], [32]):
        forward: Any = {"TM": 16, "TN": 16, "TK": 16} if settings.smoke else FORWARD_TILES
        backward: Any = forward if settings.smoke else BACKWARD_TILES
        pair = pairs.dot(settings.device, n, n, n, tiles=backward)
        kernel = pytriton.kernel(classic.SOURCE, num_warps=4 if settings.smoke else [4, 8])
        a, b, c = pair.arguments[:3]
        (dc,) = pair.flowing.values()
        defines = {**classic.text_defines(a.dtype, at=False, bt=False), **forward}

        def ours(pair: Any = pair, kernel: Any = kernel, defines: Any = defines) -> tuple[torch.Tensor, ...]:
            kernel(*pair.arguments, grid=pair.grid, defines=defines)
            return pair.arguments[2], *pair.by_derivation()

        def theirs(a: Any = a, b: Any = b, dc: Any = dc) -> tuple[torch.Tensor, ...]:
            return torch.mm(a, b), torch.mm(dc, b.t()), torch.mm(a.t(), dc)

        want = [left.float() @ right.float() for left, right in ((a, b), (dc, b.t()), (a.t(), dc))]
        contenders = [Contender(OURS, ours, out=c), Contender("torch.mm", theirs, TO_REACH_OF_DOT)]
        yield Row("dot", f"{n}³ half", contenders, tuple(want), HALF_ERROR, 6.0 * n**3, "TFLOP/s")


FORWARD_TILES: dict[str, Any] = {"TM": [128], "TN": [128, 256], "TK": [64]}
# tiles of A are TM x TK, and TN is what is summed over; tiles of B are TK x TN, summed over TM
BACKWARD_TILES: dict[str, Any] = {"TM": [64, 128], "TN": [64, 128], "TK": [128, 256]}


def convolutions(settings: Settings) -> Iterator[Row]:
    """The derived backward of a convolution, against torch's; reported, without a target."""
    for images, channels, size, filters in settings.sizes(
        [(32, 128, 56, 256), (32, 512, 14, 512)], [(32, 128, 56, 256)], [(1, 3, 7, 4)]
    ):
        x = torch.randn(images, channels, size, size, device=settings.device).half()
        weight = torch.randn(filters, channels, 3, 3, device=settings.device).half()
        tiles = conv2d.SMALL if settings.smoke else {"TM": [32, 64, 128], "TN": [32, 64], "TK": 32}
        arguments, grid = conv2d.launch(x, weight, (1, 1), (1, 1), (1, 1), tiles["TK"])
        defines = conv2d.defines(torch.half, channels * 9, 3, 3, tiles)
        derived = pytriton.gradient(
            pytriton.kernel(conv2d.SOURCE, num_warps=_warps(settings)), defines=defines
        )

        def forward(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.conv2d(x, weight, padding=1)

        case = f"{images}x{channels}x{size}x{size} -> {filters}"
        yield _against_torch(derived, arguments, grid, forward, ("convolution", case), "C")


STANDARDIZED = """
__global__ void standardized(float *X, float *Y, float *MEAN, float *SCALE, int n, float eps) {
  int row = get_program_id(0);
  int r[TN] = 0 ... TN;
  float *px[TN] = X + (long)row * n + r;
  float sum[TN] = 0;
  for (int k = 0; k < n; k += TN)
    sum += r + k < n ? *(px + k) : 0;
  float mean = sum[+] / n;
  float squares[TN] = 0;
  for (int k = 0; k < n; k += TN) {
    float d[TN] = r + k < n ? *(px + k) - mean : 0;
    squares += d * d;
  }
  float scale = rsqrt(squares[+] / n + eps);
  *(MEAN + row) = mean;
  *(SCALE + row) = scale;
  for (int k = 0; k < n; k += TN)
    *?(r + k < n) (Y + (long)row * n + r + k) = ((r + k < n ? *(px + k) : 0) - mean) * scale;
}
"""
LOGSUMEXP = """
__global__ void logsumexp(float *X, float *Y, int n) {
  int row = get_program_id(0);
  int r[TN] = 0 ... TN;
  float m = -F32_INFINITY;
  float l = 0;
  for (int k = 0; k < n; k += TN) {
    float x[TN] = r + k < n ? *(X + (long)row * n + r + k) : -F32_INFINITY;
    float larger = max(m, x[max]);
    l = l * exp(m - larger) + exp(x - larger)[+];
    m = larger;
  }
  *(Y + row) = m + log(l);
}
"""


def loops(settings: Settings) -> Iterator[Row]:
    """Long rows: what a loop has computed is read from an output, or kept for all iterations, or neither."""
    block = 64 if settings.smoke else 2048
    for rows, n in settings.sizes([(8192, 16_384)], [(8192, 16_384)], [(3, 100)]):
        x = torch.randn(rows, n, device=settings.device)
        flow, y = torch.randn_like(x), torch.empty_like(x)
        kernel = pytriton.kernel(STANDARDIZED, defines={"TN": block}, num_warps=_warps(settings))
        arguments = (x, y, *torch.empty(2, rows, device=settings.device), n, 1e-5)
        kernel(*arguments, grid=(rows,))
        ways = {
            "computed again": Gradient(kernel, None, None, None, reads_outputs=False),
            OURS: pytriton.gradient(kernel),
        }
        forward = partial(torch.nn.functional.layer_norm, normalized_shape=(n,))
        yield _of_ways("statistics", ways, (arguments, (rows,)), forward, flow)
        y, flow = y[:, 0].clone(), flow[:, 0].clone()
        kernel = pytriton.kernel(LOGSUMEXP, defines={"TN": block}, num_warps=_warps(settings))
        kernel(x, y, n, grid=(rows,))  # its backward reads what it stored
        ways = {"segments": pytriton.gradient(kernel, checkpoints=True), OURS: pytriton.gradient(kernel)}
        yield _of_ways("online softmax", ways, ((x, y, n), (rows,)), partial(torch.logsumexp, dim=1), flow)


def _of_ways(
    name: str, ways: dict[str, Any], launch: tuple[tuple[Any, ...], Any], forward: Any, flow: torch.Tensor
) -> Row:
    """The row of several derived backwards of a function of one tensor, with torch's beside them."""
    arguments, grid = launch
    x = arguments[0]

    def by_torch(dtype: torch.dtype) -> Callable[[], tuple[torch.Tensor, ...]]:
        leaf = x.detach().to(dtype).requires_grad_()
        made = forward(leaf)
        return lambda: torch.autograd.grad(made, leaf, flow.to(dtype), retain_graph=True)

    contenders = [
        Contender(way, lambda derived=derived: derived(*arguments, grid=grid, d_outputs={"Y": flow})["X"])
        for way, derived in ways.items()
    ]
    (want,) = by_torch(torch.double)()
    torchs = by_torch(torch.float)
    contenders.append(Contender("torch", lambda: torchs()[0]))
    case = f"{x.shape[0]} x {x.shape[1]} float"
    return Row(name, case, contenders[::-1], want.float(), FLOAT_ERROR, 2 * x.nbytes + flow.nbytes, "GB/s")


TILES_OF_ATTENTION: dict[str, Any] = {"TM": [64, 128], "TN": [32, 64, 128]}
ROWS_OF_ATTENTION = 1 << 18  # queries of all heads
TO_REACH_OF_ATTENTION = 0.90  # of the hand-written kernels
# The forward for training: it stores the logarithms of the sums, as the published algorithm does.
STORING = attention.SOURCE.replace(
    "int M, int N,", "float *LSE __noalias __writeonly, int M, int N,"
).replace("  acc = acc / l", "  *?(rm < M) (LSE + (head * (long)M + rm)) = m + log(l);\n  acc = acc / l")


def attentions(settings: Settings) -> Iterator[Row]:
    """The derived backward of `examples/attention.py`, which stores LSE or not; by hand after the published
    algorithm, and torch's.
    """
    usual = [(d, n, causal) for d in (64, 128) for n in (1024, 4096, 16384) for causal in (False, True)]
    quick = [(64, 4096, False), (128, 4096, True)]
    for d, n, causal in settings.sizes(usual, quick, [(16, 64, False), (16, 64, True)]):
        yield _attention(settings, d, n, causal, stores=True)
    for d, n, causal in settings.sizes(quick, [], [(16, 64, True)]):
        yield _attention(settings, d, n, causal, stores=False)


def _attention(settings: Settings, d: int, n: int, causal: bool, stores: bool) -> Row:
    heads = 2 if settings.smoke else ROWS_OF_ATTENTION // n
    tiles = {"TM": [32], "TN": [16]} if settings.smoke else TILES_OF_ATTENTION
    stages = 2 if settings.smoke else [1, 2, 3]
    q, k, v, flow = torch.randn(4, heads, n, d, device=settings.device).half()
    out, scale = torch.empty_like(q), d**-0.5
    sums = [torch.empty(heads, n, device=settings.device)] if stores else []
    source = STORING if stores else attention.SOURCE
    pytriton.kernel(source)(
        *(arguments := (q, k, v, out, *sums, n, n, scale, *(s for x in (q, k, v) for s in x.stride()[:2]))),
        grid=lambda opt: (pytriton.cdiv(n, opt.TM), heads),
        defines=attention.defines(q.dtype, d, causal, attention.tiles_for(q)),
    )
    kernel = pytriton.kernel(source, num_warps=_warps(settings), num_stages=stages)
    derived = pytriton.gradient(kernel, defines=attention.defines(q.dtype, d, causal, tiles))

    def ours() -> tuple[torch.Tensor, ...]:
        grid: Any = lambda opt: (pytriton.cdiv(n, opt.TM), heads)  # noqa: E731
        return tuple(derived(*arguments, grid=grid, d_outputs={"O": flow}).values())

    lse = torch.cat([_log_sums(q[at], k[at], scale, causal) for at in range(heads)])
    delta, d_q, d_k, d_v = torch.empty_like(lse), *torch.empty_like(torch.stack([q, k, v]))
    options = {"D": d, "num_warps": _warps(settings), "num_stages": stages}
    both = {**options, "CAUSAL": causal}
    steps = [
        Tuned(
            hand.deltas, points(TM=32, **options), lambda point: (heads * n // point["TM"],), out, flow, delta
        ),
        Tuned(
            hand.keys_and_values,
            [p for p in points(TM=tiles["TN"], TN=tiles["TM"], **both) if p["TN"] % p["TM"] == 0],
            lambda point: (n // point["TN"], heads),
            *(q, k, v, flow, lse, delta, d_k, d_v, n, scale),
        ),
        Tuned(
            hand.queries,
            [p for p in points(**tiles, **both) if p["TM"] % p["TN"] == 0],
            lambda point: (n // point["TM"], heads),
            *(q, k, v, flow, lse, delta, d_q, n, scale),
        ),
    ]

    def by_hand() -> tuple[torch.Tensor, ...]:
        for step in steps:
            step()
        return d_q, d_k, d_v

    def by_torch(dtype: torch.dtype) -> Callable[[], tuple[torch.Tensor, ...]]:
        leaves = [tensor[None].to(dtype).requires_grad_() for tensor in (q, k, v)]
        made = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal)
        return lambda: torch.autograd.grad(made, leaves, flow[None].to(dtype), retain_graph=True)

    contenders = [
        Contender(OURS, ours),
        Contender(HAND, by_hand, TO_REACH_OF_ATTENTION, chosen=lambda: "; ".join(s.chosen() for s in steps)),
        Contender(
            sdpa_by(q, k, v, causal),
            (torchs := by_torch(q.dtype)) and (lambda: tuple(x[0] for x in torchs())),
        ),
    ]
    want = tuple(gradient[0] for gradient in by_torch(torch.float)())
    case = f"{heads} heads x {n}, size {d}{', causal' * causal}{', without LSE' * (not stores)}"
    work = 10.0 * heads * n * n * d * (0.5 if causal else 1)
    return Row("attention", case, contenders, want, 2 * HALF_ERROR, work, "TFLOP/s")


def _log_sums(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """The logarithm to base 2 of the sum of the exponentials of each row, of one head."""
    pieces = []
    for at in range(0, len(q), 1024):
        scores = q[at : at + 1024].float() @ k.float().T * scale
        if causal:
            hidden = torch.ones_like(scores, dtype=torch.bool).triu(1 + at)
            scores = scores.masked_fill_(hidden, -math.inf)
        pieces.append(scores.logsumexp(1))
    return torch.cat(pieces) * math.log2(math.e)


def _warps(settings: Settings) -> int | list[int]:
    return 4 if settings.smoke else [4, 8]


def _against_torch(
    derived: Any, arguments: tuple[Any, ...], grid: Any, forward: Any, named: tuple[str, str], output: str
) -> Row:
    """The row of a derived backward, with torch's own in half beside it and in double for the errors."""
    inputs = [arguments[derived.parameters.index(name)] for name in derived.inputs]
    y = arguments[derived.parameters.index(output)]
    y.copy_(forward(*inputs))
    flow = torch.randn_like(y)

    def by_torch(dtype: torch.dtype) -> Callable[[], tuple[torch.Tensor, ...]]:
        leaves = [tensor.detach().to(dtype).requires_grad_() for tensor in inputs]
        made = forward(*leaves)
        return lambda: torch.autograd.grad(made, leaves, flow.to(dtype), retain_graph=True)

    def ours() -> tuple[torch.Tensor, ...]:
        return tuple(derived(*arguments, grid=grid, d_outputs={output: flow}).values())

    contenders = [Contender(OURS, ours), Contender("torch", by_torch(torch.half))]
    work = sum(tensor.nbytes for tensor in inputs) * 2 + flow.nbytes
    return Row(*named, contenders, by_torch(torch.double)(), 2 * HALF_ERROR, work, "GB/s")


def reported() -> Iterator[str]:
    """What else is derived, and what is refused: a line each."""
    sparse_defines = {"TYPE": "half", "NAME": "sdd", "SDD": 1, "BLOCK": 32, "TM": 32, "TN": 32, "TK": 16}
    sparse_defines |= {**sparse.A_PLAIN, **sparse.B_PLAIN}
    texts: list[tuple[str, Any, dict[str, Any]]] = [
        ("convolution", conv2d.kernel, conv2d.defines(torch.half, 64, 3, 3, conv2d.SMALL)),
        ("block-sparse product", sparse.kernel, sparse_defines),
        ("attention", attention.kernel, attention.defines(torch.half, 64, False, attention.SMALL)),
    ]
    for name, kernel, defines in texts:
        try:
            derived = pytriton.gradient(kernel, defines=defines)
            yield f"{name}: derived by {', '.join(derived.inputs)}, {len(derived.steps)} launches"
        except pytriton.CompileError as error:
            yield f"{name}: refused, {first_line(error)}"


BENCHMARKS = {
    "rows": rows_and_elements,
    "dot": products,
    "convolution": convolutions,
    "loops": loops,
    "attention": attentions,
}


def main() -> int:
    options = parsed("gradients", __doc__, [*BENCHMARKS, "reported"])
    settings, wrong = Settings(options.smoke, options.quick), 0
    results: list[dict[str, Any]] = []
    for name in (name for name in BENCHMARKS if name in options.only):
        found, failed = printed(BENCHMARKS[name](settings), settings)
        results, wrong = results + found, wrong + failed
    ratios = [result["ratios"][COMPILED] for result in results if COMPILED in result["ratios"]]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean of the ratios to torch.compile: {mean:.2f} of {TO_REACH}")
    if "reported" in options.only:
        print("\n".join(reported()))
    keep(results, options.json)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
