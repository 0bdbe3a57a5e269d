"""What memory checks cost: the time of launches checked, over that unchecked; ``python -m benchmarks.checked``.

Without a GPU, the launches of each example run on the interpreter, unchecked and checked by turns; what is compared
is the least processor time of several rounds.

On a GPU each kernel is compiled for one point, and all versions run on the same arguments, side by side.
*Checked* is what a launch costs in which nothing is outside: the inspector, and the plain code after it. *Each
element* is the code that runs where something is outside, and while a CUDA graph is captured. Both are times of
kernels alone: a checked call also copies a small table to the GPU and waits for the inspector, which *a call more*
has in microseconds.
"""

from __future__ import annotations

import io
import os
import runpy
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time

import torch
from triton.testing import do_bench

from pytriton.pipeline import Translation
from pytriton.runtime.checks.memory import bounds, filled
from pytriton.runtime.launch.candidate import Launch

ROOT = Path(__file__).parents[1]
ROUNDS = 5  # on a CPU


def launches_of(program: Callable[[], object]) -> list[Launch]:
    """The launches that a program makes."""
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
    return launches


def cost(name: str, program: Callable[[], object]) -> None:
    """Time the last launch that a program makes, with ``check=True`` in force for its kernels."""
    launch = launches_of(program)[-1]
    plain_time, checked_time, each_time = do_bench_all(launch)
    whole = do_bench(launch)
    ratios = f"{checked_time / plain_time:5.2f} times, each element {each_time / plain_time:5.2f} times"
    print(f"{name:24} {plain_time:8.4f} ms {ratios}   a call {1000 * (whole - checked_time):4.0f} us more")


def do_bench_all(launch: Launch) -> tuple[float, float, float]:
    """Milliseconds of a launch unchecked, checked, and with each element checked."""
    candidate, device, memory, kinds = launch.candidate, launch.device, launch.memory, launch.specialization
    assert memory is not None
    checked = candidate._checked
    unchecked = candidate.kernel_on(device, kinds)
    made, executor, whole = checked._inspector, checked._executor, checked._whole
    assert made.inspected is not None
    assert checked._is_inside(launch, memory)

    def with_table(code: Translation, words: list[int]) -> Callable[[], None]:
        kernel = checked._kernel_of(code, device, kinds)
        table = torch.tensor(words, dtype=torch.int64, device=f"cuda:{device}")
        return lambda: kernel(launch.grid, [*launch.values, table.data_ptr()])

    inspect = with_table(made, bounds(made.inspected, memory))
    runs = lambda: unchecked(launch.grid, launch.values)  # noqa: E731
    work = with_table(executor, filled(executor.sites, memory)) if executor.sites else runs

    def both() -> None:
        inspect()
        work()

    return do_bench(runs), do_bench(both), do_bench(with_table(whole, filled(whole.sites, memory)))


def programs() -> dict[str, Callable[[], object]]:
    """A launch of each kind, large enough to fill a GPU."""
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
        "the same, dense @ sparse": lambda: sparse.launch("dds", dense, blocks, False, False),
        "the same, sparse result": lambda: sparse.launch("sdd", dense, dense, False, True),
        "attention, half 2048": lambda: attention.attention(*flat, False, tiles={"TM": 128, "TN": 64}),
        "the same, causal": lambda: attention.attention(*flat, True, tiles={"TM": 128, "TN": 64}),
        "the same, 2000 of 2048": lambda: attention.attention(
            *[x[:, :2000] for x in flat], False, tiles={"TM": 128, "TN": 64}
        ),
    }


def on_cpu() -> None:
    """A line for each example, and one for all of them."""
    total = [0.0, 0.0]
    for path in sorted((ROOT / "examples").glob("*.py")):
        with redirect_stdout(io.StringIO()):
            launches = launches_of(partial(runpy.run_path, str(path), run_name="__main__"))
        rounds = [[_seconds(launches, checked) for checked in (False, True)] for _ in range(ROUNDS)]
        least = [min(times) for times in zip(*rounds, strict=True)]
        total = [sum(pair) for pair in zip(total, least, strict=True)]
        print(f"{path.stem:24} {1000 * least[0]:8.1f} ms   {least[1] / least[0]:5.2f} times", flush=True)
    print(f"{'all':24} {1000 * total[0]:8.1f} ms   {total[1] / total[0]:5.2f} times")


def _seconds(launches: list[Launch], checked: bool) -> float:
    start = process_time()
    for launch in launches:
        memory = launch.memory if checked else None
        launch.candidate.launch(replace(launch, memory=memory))
    return process_time() - start


def main() -> None:
    """All of it, on a GPU if there is one."""
    os.environ["PYTRITON_CHECK"] = "1"  # before any kernel is made
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(ROOT / "examples"))
    if not torch.cuda.is_available():
        on_cpu()
        return
    for name, program in programs().items():
        with torch.no_grad():
            cost(name, program)


if __name__ == "__main__":
    main()
