"""What memory checks cost a kernel on a GPU: its time checked, over its time unchecked; ``python -m
benchmarks.checked``.

Each kernel is compiled for one point, unchecked and checked; both run on the same arguments, side by side. What is
timed is the kernel alone: a checked launch also copies a table to the GPU and waits for what the kernel leaves
there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
from triton.testing import do_bench

from pytriton.runtime.checks.table import filled
from pytriton.runtime.tune.benchmark import Launch

ROOT = Path(__file__).parents[1]


def cost(name: str, program: Callable[[], object]) -> None:
    """Time the last launch that a program makes, with ``check=True`` in force for its kernels."""
    launches: list[Launch] = []
    plain = Launch.__call__

    def record(launch: Launch) -> None:
        launches.append(launch)
        plain(launch)

    Launch.__call__ = record  # type: ignore[method-assign]
    try:
        program()
    finally:
        Launch.__call__ = plain  # type: ignore[method-assign]
    launch = launches[-1]
    candidate, device, memory = launch.candidate, launch.device, launch.memory
    assert memory is not None
    unchecked = candidate.kernel_on(device, launch.specialization)
    checked = candidate._checked._kernel_on(device, launch.specialization)
    words = filled(candidate._checked._for_gpu.sites, memory)
    table = torch.tensor(words, dtype=torch.int64, device=f"cuda:{device}")
    times = [
        do_bench(lambda: unchecked(launch.grid, launch.values)),
        do_bench(lambda: checked(launch.grid, [*launch.values, table.data_ptr()])),
    ]
    outside = int(table[: 8 * (1 + len(candidate._checked._for_gpu.sites))].view(-1, 8)[1:, 2].sum())
    ratio = times[1] / times[0]
    print(f"{name:24} {times[0]:8.4f} ms {times[1]:8.4f} ms   {ratio:5.2f} times   {outside} outside")


def programs() -> dict[str, Callable[[], object]]:
    """A launch of each kind, large enough to fill a GPU."""
    sys.path.insert(0, str(ROOT / "examples"))
    import attention
    import blocksparse_matmul
    import dot
    import softmax

    import pytriton

    def on(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
        return torch.randn(*shape, device="cuda").to(dtype)

    tiles = {"TM": 128, "TN": 128, "TK": 32}
    a, b = on(4096, 4096), on(4096, 4096)
    q, k, v = (on(4, 16, 2048, 64) for _ in range(3))
    rows = on(4096, 8192, dtype=torch.float32)
    wide = on(1 << 26, dtype=torch.float32)
    copy = pytriton.kernel(
        "__global__ void copy(float* z, float* x, int n) {"
        " int i[1024] = get_program_id(0) * 1024 + 0 ... 1024; *?(i < n)(z + i) = *?(i < n)(x + i); }"
    )
    out = torch.empty_like(wide)
    layout = (torch.rand(1, 128, 128) < 0.2).long()
    layout[0, :, 0] = 1  # no row is empty
    sparse = blocksparse_matmul.BlockSparse(layout, 32)
    blocks, dense = on(1, int(layout.sum()), 32, 32), on(1, 1, 4096, 4096)
    flat = [x.flatten(0, 1) for x in (q, k, v)]
    return {
        "copy": lambda: copy(out, wide, wide.numel(), grid=(wide.numel() // 1024,)),
        "softmax": lambda: softmax.Softmax.apply(rows),
        "dot, half 4096": lambda: dot.launch(a, b, False, False, tiles),
        "block-sparse, half 4096": lambda: sparse.launch("dsd", blocks, dense, False, False),
        "attention, half 2048": lambda: attention.attention(*flat, False, tiles={"TM": 128, "TN": 64}),
    }


def main() -> None:
    import os

    os.environ["PYTRITON_CHECK"] = "1"  # before any kernel is made
    for name, program in programs().items():
        with torch.no_grad():
            cost(name, program)


if __name__ == "__main__":
    main()
