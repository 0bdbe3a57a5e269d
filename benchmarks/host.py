"""Rows about the host: what a call costs, and how long a cold sweep takes.

The launch rows call kernels of nine and eleven arguments, `examples/dot.py` and `examples/matmul_grouped.py`, on
matrices so small that the GPU is never behind: by our launcher, the very text that pytriton generates as a plain
`@triton.jit` function, that under a `triton.autotune` of two configs, and `torch.add(x, y, out=z)`. Hundred calls
are timed at a time, the ways in turns; the median counts. The tuning row times first calls, caches empty: 18
points of the same text.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import triton

from benchmarks.measure import OURS, Settings, relative_error
from benchmarks.products import HALF_ERROR
from pytriton.runtime.launch.device import describes

import dot as classic  # isort: skip  (examples/, on the path by measure.py)
import matmul_grouped as grouped  # isort: skip

import pytriton

Call = Callable[[], object]

TILE = {"TM": 32, "TN": 32, "TK": 32}
CALLS, TURNS = 100, 60
SWEEP: dict[str, list[int]] = {"TM": [32, 64, 128], "TN": [32, 64, 128], "TK": [32]}
WARPS = [4, 8]


def modern(kernel: Any, defines: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The generated kernel as a user of plain Triton would import it, and the constexprs that it takes."""
    translation = kernel.translation(defines)
    path = Path(tempfile.mkdtemp(prefix="pytriton-benchmark-")) / "generated.py"
    path.write_text(translation.text)
    spec = importlib.util.spec_from_file_location("benchmarks_generated", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, translation.function), dict(translation.constexprs)


def row(case: str, values: Mapping[str, float], unit: str, at_most: Mapping[str, float]) -> dict[str, Any]:
    """A line of the table whose figures are costs: ours is to be at most a share of the others."""
    return {
        "program": "launch" if unit == "us" else "tuning",
        "case": case,
        "unit": unit,
        "rates": dict(values),
        "ratios": {name: values[OURS] / value for name, value in values.items() if name != OURS},
        "at_most": dict(at_most),
    }


def microseconds(calls: Mapping[str, Call]) -> dict[str, float]:
    """The median cost of one call of each."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for call in calls.values():
        for _ in range(20):
            call()
    gc.collect()
    gc.disable()
    try:
        for turn in range(TURNS):
            at = turn % len(names)
            for name in [*names[at:], *names[:at]]:
                times[name].append(_batch(calls[name]))
    finally:
        gc.enable()
    return {name: statistics.median(found) for name, found in times.items()}


def _batch(call: Call) -> float:
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    took = time.perf_counter() - start
    torch.cuda.synchronize()
    return took / CALLS * 1e6


def launch(settings: Settings) -> Iterator[dict[str, Any]]:
    """Steady calls, as programs of all years make them; each beside the same kernel by plain Triton."""
    n = 64
    a, b = torch.randn(2, n, n, device=settings.device).half()
    out = torch.empty_like(a)
    yield from nine_arguments(settings, a, b, out, n)
    yield from eleven_arguments(settings, a, b, out, n)


def nine_arguments(
    settings: Settings, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, n: int
) -> Iterator[dict[str, Any]]:
    """The product of 2019: defines with the constructor or with each call, grids of all kinds, any sizes."""
    text = classic.text_defines(a.dtype, at=False, bt=False)
    defines = {**text, **TILE}
    fixed = pytriton.kernel(classic.SOURCE, defines, name="launch_fixed")
    free = pytriton.kernel(classic.SOURCE, name="launch_free")
    swept = pytriton.kernel(classic.SOURCE, defines, [4, 8], name="launch_swept")
    grid = (n // TILE["TM"], n // TILE["TN"])
    arguments = (a, b, out, n, n, n, n, n, n)
    # sizes of the same divisibility; each runs a part of the product
    sizes = [(a, b, out, m, n, k, n, n, n) for m in (32, 64) for k in (32, 64)]
    turn = iter(range(1 << 62))

    def by_grid(opt: Any) -> tuple[int, int]:
        return n // opt.TM, n // opt.TN

    ways: dict[str, Call] = {
        "defines with the constructor": lambda: fixed(*arguments, grid=grid),
        "the same, the grid a function": lambda: fixed(*arguments, grid=by_grid),
        "18 defines with each call": lambda: free(*arguments, grid=grid, defines=defines),
        "the same as keywords, the grid last": lambda: free(*arguments, grid, **defines),
        "sizes change from call to call": lambda: fixed(*sizes[next(turn) & 3], grid=grid),
        "a sweep of two points": lambda: swept(*arguments, grid=grid),
    }
    if not settings.smoke and describes():
        transposed = {**classic.text_defines(a.dtype, at=False, bt=True), **TILE}
        points = [pytriton.config(transposed, 4, descriptors=True)]
        described = pytriton.kernel(classic.SOURCE, autotune_configs=points, name="launch_described")
        by_columns = (a, b.t().contiguous(), *arguments[2:])
        ways["tiles through descriptors"] = lambda: described(*by_columns, grid=grid)
    yield from _beside(settings, "9 arguments", ways, fixed, defines, arguments, grid)


def eleven_arguments(
    settings: Settings, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, n: int
) -> Iterator[dict[str, Any]]:
    """The grouped product of 2021: strides are arguments, one is 1; tensors, or addresses."""
    defines = {"TYPE": a.dtype, **TILE, "GROUP": 2}
    kernel = pytriton.kernel(grouped.SOURCE, a.device, defines, name="launch_grouped")
    numbers = (n, n, n, *a.stride(), *b.stride(), out.stride(0))
    arguments, addresses = (a, b, out, *numbers), (a.data_ptr(), b.data_ptr(), out.data_ptr(), *numbers)
    grid = ((n // TILE["TM"]) * (n // TILE["TN"]),)
    ways: dict[str, Call] = {"tensors": lambda: kernel(*arguments, grid=grid)}
    if not settings.smoke:
        alone = pytriton.kernel(grouped.SOURCE, a.device, defines, name="launch_addresses")
        ways["addresses"] = lambda: alone(*addresses, grid=grid)
    yield from _beside(settings, "11 arguments", ways, kernel, defines, arguments, grid)


def _beside(
    settings: Settings,
    case: str,
    ways: Mapping[str, Call],
    kernel: Any,
    defines: Mapping[str, Any],
    arguments: Sequence[Any],
    grid: tuple[int, ...],
) -> Iterator[dict[str, Any]]:
    """A row for each of our ways, beside the very text of this kernel under plain Triton, and one call of torch."""
    a, b, out = (each for each in arguments if isinstance(each, torch.Tensor))
    jit, constexprs = modern(kernel, defines)
    others: dict[str, Call] = {"@triton.jit": lambda: jit[grid](*arguments, **constexprs)}
    _check([*ways.values(), *others.values()], a, b, out)
    if settings.smoke:
        yield from (row(f"{case}: {way}", {OURS: 1.0}, "us", {}) | {"rates": {}} for way in ways)
        return
    tuned = triton.autotune([triton.Config(constexprs, num_warps=warps) for warps in (4, 8)], ["M", "N", "K"])
    autotuned = tuned(jit)
    x, y, z = (torch.empty_like(a) for _ in range(3))
    others |= {
        "triton.autotune, 2 configs": lambda: autotuned[grid](*arguments),
        "torch.add(x, y, out=z)": lambda: torch.add(x, y, out=z),
    }
    at_most = {"@triton.jit": 0.45, "triton.autotune, 2 configs": 0.32, "torch.add(x, y, out=z)": 1.05}
    measured = microseconds({**ways, **others})
    theirs = {name: measured[name] for name in others}
    for way in ways:
        yield row(f"{case}: {way}", {OURS: measured[way], **theirs}, "us", at_most)


def _check(calls: Sequence[Call], a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    """Every way computes the product; the ways whose sizes change do so in their last call of four."""
    want = a.float() @ b.float()
    for call in calls:
        out.fill_(float("nan"))
        for _ in range(4):
            call()
        error = relative_error(out, want)
        if not error <= HALF_ERROR:
            raise AssertionError(f"relative error {error:.2e}")


def tuning(settings: Settings) -> Iterator[dict[str, Any]]:
    """Wall time of a first call that sweeps 18 points, caches empty; then of one that finds the answer on disk."""
    n = 64 if settings.smoke else 2048
    a, b = torch.randn(2, n, n, device=settings.device).half()
    out = torch.empty_like(a)
    lists: dict[str, Any] = {name: sizes[:1] for name, sizes in SWEEP.items()} if settings.smoke else SWEEP
    defines = {**classic.text_defines(a.dtype, at=False, bt=False), **lists}
    source = f"// a text that no cache knows: {time.time_ns()}\n{classic.SOURCE}"
    arguments = (a, b, out, n, n, n, n, n, n)

    def first_call() -> float:
        # stages are given, so that both sweep the same points (ours tries other orders of program ids beside)
        kernel = pytriton.kernel(source, defines, WARPS, num_stages=[3])
        return _seconds(lambda: kernel(*arguments, grid=lambda opt: (n // opt.TM, n // opt.TN)))

    if settings.smoke:
        out.fill_(float("nan"))
        first_call()
        if not relative_error(out, a.float() @ b.float()) <= HALF_ERROR:
            raise AssertionError("the sweep left a wrong product")
        yield row("18 points", {OURS: 1.0}, "s", {}) | {"rates": {}}
        return
    jit, constexprs = modern(classic.kernel, {**defines, "TM": 16, "TN": 16})
    swept = [
        triton.Config({**constexprs, "TM": tm, "TN": tn}, num_warps=warps, num_stages=3)
        for tm in SWEEP["TM"]
        for tn in SWEEP["TN"]
        for warps in WARPS
    ]
    jit[(1, 1)](*arguments, **constexprs, num_warps=4)  # the compiler is loaded before anything is timed
    with tempfile.TemporaryDirectory() as folder:
        mine, foreign = Path(folder, "ours"), Path(folder, "theirs")
        with caches(mine):
            took = first_call()
        with caches(foreign):
            autotuned = triton.autotune(swept, ["M", "N", "K"])(jit)
            theirs = _seconds(lambda: autotuned[lambda meta: (n // meta["TM"], n // meta["TN"])](*arguments))
        case = f"18 points, {os.cpu_count()} cores"
        values = {OURS: took, "triton.autotune": theirs}
        yield row(f"{case}, cold", values, "s", {"triton.autotune": 0.5})
        with caches(mine):
            values[OURS] = first_call()
        yield row(f"{case}, known on disk", values, "s", {})


def _seconds(call: Call) -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start


@contextmanager
def caches(folder: Path) -> Iterator[None]:
    """Both caches are in this folder, empty where it is new."""
    before = dict(os.environ)
    for variable in ("TRITON_CACHE_DIR", "PYTRITON_CACHE_DIR"):
        place = folder / variable
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ[variable] = str(place)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
