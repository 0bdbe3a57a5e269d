"""Rows: matrix products. `examples/dot.py` in half and float, `examples/matmul_grouped.py` on ragged sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from benchmarks import handwritten
from benchmarks.measure import Contender, Row, Settings, ours
from benchmarks.tuned import Point, Tuned, by_hand, points

import dot as classic  # isort: skip  (examples/, on the path by measure.py)
import matmul_grouped  # isort: skip

import pytriton

# Rounded once to half, after a sum in float (tests/programs/bounds.py).
HALF_ERROR = 2.0**-11 + 2e-6
FLOAT_ERROR = 2e-6

TILES: dict[str, Any] = {"TM": [128], "TN": [128, 256], "TK": [64]}
SMALL: dict[str, Any] = {"TM": [32], "TN": [16], "TK": [16]}
# 36 points with 4 and 8 warps, and 32 with 3 and 4 stages, too
WIDE: dict[str, Any] = {"TM": [64, 128, 256], "TN": [64, 128, 256], "TK": [32, 64]}
HAND_WIDE: dict[str, Any] = {"TM": [64, 128], "TN": [128, 256], "TK": [32, 64]}
FORMS = [(False, False), (True, False), (False, True), (True, True)]  # which operands are transposed
FLOAT_TILES: dict[str, Any] = {"TM": [128], "TN": [64, 128], "TK": [16, 32]}


def dot_half(settings: Settings) -> Iterator[Row]:
    """The classic dot in its four transpositions against the hand-written kernel and cuBLAS."""
    sizes = settings.sizes([2048, 4096, 8192], [2048, 4096], [32])
    forms = settings.sizes(FORMS, FORMS[:1], FORMS)
    for n, (at, bt) in itertools.product(sizes, forms):
        tiles = SMALL if settings.smoke else TILES
        yield _half(settings, n, at, bt, tiles, tiles, [3, 4])


def wide(settings: Settings) -> Iterator[Row]:
    """A sweep of 36 points, stages left open, against a hand-written kernel tuned over 32 points of its own."""
    for n in settings.sizes([1024, 2048, 4096, 8192], [4096, 8192], [32]):
        ours, theirs = (SMALL, SMALL) if settings.smoke else (WIDE, HAND_WIDE)
        row = _half(settings, n, False, False, ours, theirs, None)
        yield replace(row, program="dot half, wide sweep")


def _half(
    settings: Settings,
    n: int,
    at: bool,
    bt: bool,
    tiles: Mapping[str, Any],
    by_tiles: Mapping[str, Any],
    stages: list[int] | None,
) -> Row:
    """One square product; the operands are stored as they are read, or transposed. ``stages`` are ours; the
    hand-written kernel always tries 3 and 4."""
    warps = [4, 8]
    stored = torch.randn(2, n, n, device=settings.device).half()
    a, b = (x.t() if transposed else x for x, transposed in zip(stored, (at, bt), strict=True))
    out, by, mm = (torch.empty_like(stored[0]) for _ in range(3))
    hand = Tuned(
        handwritten.product,
        points(**by_tiles, num_warps=warps, num_stages=[3, 4], GROUP=8, MASKED=False, PRECISION="tf32"),
        lambda point: (n // point["TM"] * (n // point["TN"]),),
        *(a, b, by, n, n, n, *a.stride(), *b.stride(), n),
    )
    defines = {**classic.text_defines(a.dtype, at, bt), **tiles}
    contenders = [
        _classic(classic.kernel, stored, out, defines, num_warps=warps, num_stages=stages),
        by_hand(hand, by, 0.98),
        Contender("torch.mm", lambda: torch.mm(a, b, out=mm), 1.0 if n == 8192 else 0.95, mm),
    ]
    case = f"{n}³, {'^a' if at else 'a'} @ {'^b' if bt else 'b'}"
    return Row("dot half", case, contenders, a.float() @ b.float(), HALF_ERROR, 2.0 * n**3, "TFLOP/s")


def _classic(
    kernel: Any, stored: torch.Tensor, out: torch.Tensor, defines: Mapping[str, Any], **launch: Any
) -> Contender:
    a, b = stored
    n = len(a)

    def call() -> None:
        kernel(
            *(a, b, out, n, n, n, n, n, n),
            grid=lambda opt: (pytriton.cdiv(n, opt.TM), pytriton.cdiv(n, opt.TN)),
            defines=defines,
            **launch,
        )

    return ours(kernel, call, out, list(TILES))


def dot_float(settings: Settings) -> Iterator[Row]:
    """True IEEE float against the hand-written `ieee` kernel; then with the opt-in split against torch.mm."""
    n = settings.sizes([2048], [2048], [32])[0]
    tiles = SMALL if settings.smoke else FLOAT_TILES
    torch.backends.cuda.matmul.allow_tf32 = False
    stored = torch.randn(2, n, n, device=settings.device)
    a, b = stored
    out, by, mm = (torch.empty_like(a) for _ in range(3))
    defines = classic.text_defines(a.dtype, at=False, bt=False) | tiles
    hand = Tuned(
        handwritten.product,
        points(**tiles, num_warps=[4, 8], num_stages=[3], GROUP=8, MASKED=False, PRECISION="ieee"),
        lambda point: (n // point["TM"] * (n // point["TN"]),),
        *(a, b, by, n, n, n, n, 1, n, 1, n),
    )
    want = a.double() @ b.double()
    work = 2.0 * n**3
    launch: dict[str, Any] = {"num_warps": [4, 8], "num_stages": [3]}

    def mm_at(target: float | None) -> Contender:
        return Contender("torch.mm", lambda: torch.mm(a, b, out=mm), target, mm)

    exact = pytriton.kernel(classic.SOURCE, name="dot_float")
    contenders = [_classic(exact, stored, out, defines, **launch), by_hand(hand, by, 0.98), mm_at(None)]
    yield Row("dot float, ieee", f"{n}³", contenders, want, FLOAT_ERROR, work, "TFLOP/s")
    opted = pytriton.kernel(classic.SOURCE, name="dot_split", precision=["ieee", "bf16x6"])
    contenders = [_classic(opted, stored, out, defines, **launch), mm_at(1.20)]
    yield Row("dot float, ieee or bf16x6", f"{n}³", contenders, want, FLOAT_ERROR, work, "TFLOP/s")


def ragged(settings: Settings) -> Iterator[Row]:
    """Sizes that nothing divides, all accesses masked; both take the points of the example."""
    configs = matmul_grouped.SMALL if settings.smoke else matmul_grouped.CONFIGS
    listed: list[Point] = [
        {name: int(value) for name, value in config.defines.items()}
        | {"num_warps": config.num_warps, "num_stages": stages, "MASKED": True, "PRECISION": "tf32"}
        for config in configs
        for stages in (3, 4)
    ]
    every = [(4097, 4099, 4101), (1000, 1000, 1000)]
    for m, n, k in settings.sizes(every, every, [(37, 19, 41)]):
        a = torch.randn(m, k, device=settings.device).half()
        b = torch.randn(k, n, device=settings.device).half()
        out, by = (torch.empty((m, n), device=settings.device, dtype=torch.float16) for _ in range(2))
        kernel = matmul_grouped.kernel_for(a.dtype, a.device)
        arguments = (m, n, k, *a.stride(), *b.stride(), n)

        def call(kernel: Any = kernel, tensors: Any = (a, b, out), arguments: Any = arguments) -> None:
            m, n = arguments[:2]
            grid = lambda opt: (pytriton.cdiv(m, opt.TM) * pytriton.cdiv(n, opt.TN),)  # noqa: E731
            kernel(*tensors, *arguments, grid=grid)

        hand = Tuned(
            handwritten.product,
            listed,
            lambda p, m=m, n=n: (pytriton.cdiv(m, p["TM"]) * pytriton.cdiv(n, p["TN"]),),
            *(a, b, by, *arguments),
        )
        contenders = [
            ours(kernel, call, out, ("TM", "TN", "TK", "GROUP")),
            by_hand(hand, by, 0.98),
            Contender("torch.mm", lambda a=a, b=b: torch.mm(a, b), 1.0 if k == 1000 else 2.5),
        ]
        want = a.float() @ b.float()
        yield Row(
            "dot half, masked", f"{m} x {n} x {k}", contenders, want, HALF_ERROR, 2.0 * m * n * k, "TFLOP/s"
        )
