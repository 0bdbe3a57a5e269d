"""The classic dot program beside cuBLAS and a hand-written kernel of today, on a CUDA GPU.

Three contenders compute the same product of half matrices: `dot` of examples/dot.py, translated by
pytriton and tuned over lists of tiles; `grouped` below, what one would write by hand now (ids
grouped for the L2 cache, loads at the top of a `range` loop), tuned by `triton.autotune` over the
same points; and `torch.mm`. All run in one process on the same random operands, in turns (A B C, B
C A, ...), so that clocks and temperature are shared; each figure is a median of medians. Every
output is checked first.

    python -m benchmarks.matmul [--sizes 2048 4096 8192] [--transpositions] [--json FILE]

About three minutes on an H200, nearly all of it compiling and tuning; `--transpositions` adds the
three transposed forms of the first size, and a few minutes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl
from triton.testing import do_bench

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

import dot as classic  # noqa: E402

import pytriton  # noqa: E402

TILES = {"TM": [64, 128], "TN": [128, 256], "TK": [32, 64]}
WARPS, STAGES = [4, 8], [3, 4]
ROUNDS = 5
# Rounded once to half, after a sum in float (tests/programs/bounds.py).
LARGEST_ERROR = 2.0**-11 + 2e-6

CONFIGS = [
    triton.Config(dict(zip(TILES, tiles, strict=True)) | {"GROUP": 8}, num_warps=warps, num_stages=stages)
    for *tiles, warps, stages in product(*TILES.values(), WARPS, STAGES)
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def grouped(
    A,
    B,
    C,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    ldc,
    TM: tl.constexpr,
    TN: tl.constexpr,
    TK: tl.constexpr,
    GROUP: tl.constexpr,
):
    """C = A @ B for sizes that the tiles divide: what `dot` asks for, too."""
    pid = tl.program_id(0)
    columns = N // TN
    first = pid // (GROUP * columns) * GROUP
    rows = min(M // TM - first, GROUP)
    local = pid % (GROUP * columns)
    rm = (first + local % rows) * TM + tl.arange(0, TM)
    rn = local // rows * TN + tl.arange(0, TN)
    rk = tl.arange(0, TK)
    pa = A + rm[:, None] * stride_am + rk[None, :] * stride_ak
    pb = B + rk[:, None] * stride_bk + rn[None, :] * stride_bn
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for _ in range(0, K, TK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += TK * stride_ak
        pb += TK * stride_bk
    pc = C + rm[:, None] * ldc + rn[None, :]
    tl.store(pc, acc.to(C.dtype.element_ty))


class Problem:
    """One product of square matrices, stored as they are or transposed, and its contenders."""

    def __init__(self, size: int, at: bool = False, bt: bool = False) -> None:
        self.size, self.at, self.bt = size, at, bt
        self.stored = torch.randn(2, size, size, device="cuda", dtype=torch.float16)
        a, b = self.stored
        self.a, self.b = a.t() if at else a, b.t() if bt else b
        self.contenders: dict[str, Callable[[], torch.Tensor]] = {
            "dot": self.classic,
            "hand-written": self.grouped,
            "torch.mm": lambda: torch.mm(self.a, self.b, out=self.out["torch.mm"]),
        }
        self.out = {name: torch.empty_like(a) for name in self.contenders}

    @property
    def name(self) -> str:
        return f"{'^a' if self.at else 'a'} @ {'^b' if self.bt else 'b'}"

    def classic(self) -> torch.Tensor:
        """The Triton-C program."""
        (a, b), c, n = self.stored, self.out["dot"], self.size
        classic.kernel(
            *(a, b, c, n, n, n, n, n, n),
            grid=lambda opt: (pytriton.cdiv(n, opt.TM), pytriton.cdiv(n, opt.TN)),
            defines=classic.text_defines(a.dtype, self.at, self.bt) | TILES,
            num_warps=WARPS,
            num_stages=STAGES,
        )
        return c

    def grouped(self) -> torch.Tensor:
        """The hand-written program."""
        c, n = self.out["hand-written"], self.size
        grouped[lambda meta: (n // meta["TM"] * (n // meta["TN"]),)](
            *(self.a, self.b, c, n, n, n, *self.a.stride(), *self.b.stride(), n)
        )
        return c

    def check(self) -> dict[str, float]:
        """Run (and tune) every contender once; the relative errors, refused where too large."""
        want = self.a.float() @ self.b.float()
        errors = {}
        for name, contender in self.contenders.items():
            start = time.perf_counter()
            error = float((contender().float() - want).norm() / want.norm())
            print(
                f"  {self.size} {self.name} {name}: error {error:.1e}, "
                f"first call {time.perf_counter() - start:.1f} s",
                file=sys.stderr,
            )
            if not error <= LARGEST_ERROR:
                raise SystemExit(f"{name} is wrong at {self.size}: relative error {error:.2e}")
            errors[name] = error
        return errors

    def measure(self) -> dict[str, float]:
        """TFLOP/s of each contender: medians over interleaved rounds, the order turning."""
        names = list(self.contenders)
        times: dict[str, list[float]] = {name: [] for name in names}
        for turn in range(ROUNDS):
            for name in names[turn % 3 :] + names[: turn % 3]:
                milliseconds = do_bench(self.contenders[name], warmup=10, rep=50, return_mode="median")
                times[name].append(milliseconds)
        return {name: 2 * self.size**3 / (statistics.median(values) * 1e9) for name, values in times.items()}


def point(config: triton.Config) -> str:
    """What a config says that the sweep varies."""
    tiles = " ".join(f"{name}={config.kwargs[name]:<3}" for name in TILES)
    return f"{tiles} num_warps={config.num_warps} num_stages={config.num_stages}"


def run(problem: Problem) -> dict[str, Any]:
    """Everything that one row of the table says."""
    errors = problem.check()
    speeds = problem.measure()
    chosen = classic.kernel.best_config
    return {
        "size": problem.size,
        "form": problem.name,
        "tflops": speeds,
        "dot / hand-written": speeds["dot"] / speeds["hand-written"],
        "dot / torch.mm": speeds["dot"] / speeds["torch.mm"],
        "errors": errors,
        "chosen": {
            "dot": f"{classic.point(chosen)} num_stages={chosen.num_stages} swizzle={chosen.swizzle}",
            "hand-written": point(grouped.best_config),
        },
    }


def table(report: dict[str, Any]) -> str:
    """The report as markdown."""
    lines = [
        f"Half matrix products, TFLOP/s (medians, one run). {report['date']}, {report['gpu']}, "
        f"torch {report['torch']}, Triton {report['triton']}, pytriton {report['pytriton']}.",
        "",
        "| size | form | dot (Triton-C) | hand-written | torch.mm | dot / hand | dot / mm |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in report["rows"]:
        speeds = " | ".join(f"{speed:.0f}" for speed in row["tflops"].values())
        ratios = f"{row['dot / hand-written']:.2f} | {row['dot / torch.mm']:.2f}"
        lines.append(f"| {row['size']}³ | `{row['form']}` | {speeds} | {ratios} |")
    lines += ["", "Chosen points:", ""]
    for row in report["rows"]:
        for name, chosen in row["chosen"].items():
            lines.append(f"- {row['size']} `{row['form']}`, {name}: {chosen}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[2048, 4096, 8192])
    parser.add_argument("--transpositions", action="store_true", help="also ^a @ b, a @ ^b, ^a @ ^b")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report here, too")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("benchmarks.matmul needs a CUDA GPU; there is none", file=sys.stderr)
        return
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    problems = [(size, False, False) for size in options.sizes]
    if options.transpositions:
        problems += [(options.sizes[0], at, bt) for at, bt in ((1, 0), (0, 1), (1, 1))]
    start = time.perf_counter()
    report = {
        "date": datetime.date.today().isoformat(),
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "pytriton": pytriton.__version__,
        "rows": [run(Problem(size, bool(at), bool(bt))) for size, at, bt in problems],
        "seconds": 0.0,
    }
    report["seconds"] = time.perf_counter() - start
    print(table(report))
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
