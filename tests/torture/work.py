"""What one tortured process does: run kernels, store and recall times, pin choices; and check all that it gets.

Nothing may be raised, whatever the directory does, but the refusal of a directory that is not private.
"""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import torch

import pytriton
from pytriton.errors import LaunchError, TuneError
from pytriton.runtime.compile.module_cache import module_name
from pytriton.runtime.native.c_compiler import is_whole
from pytriton.runtime.options.defines import Config
from pytriton.tuning import record

TEXT = """\
__global__ void torture(int* z, int* x, int n) {
  int r[TILE] = 0 ... TILE;
  *?(r < n)(z + r) = *?(r < n)(x + r) * FACTOR + OFFSET;
}
"""
FACTORS = range(-3, 4)
POINTS = [Config({"TILE": tile}, warps) for tile in (16, 32, 64, 128) for warps in (1, 2, 4, 8)]


def time_of(point: Config, n: int) -> float:
    """The one right time of a point: a torn or mixed file would show another."""
    return float(point.defines["TILE"]) * point.num_warps + n / 1024  # type: ignore[arg-type]


def work(seed: int, steps: int, refused: bool, faulty: bool) -> None:
    """Some steps in a random order; raises AssertionError, or what escapes from pytriton."""
    warnings.simplefilter("ignore")
    luck = random.Random(seed)
    for _ in range(steps):
        step = luck.choice([run_a_kernel, run_a_kernel, tune, choose])
        try:
            step(luck, faulty)
        except LaunchError as error:
            if not (refused and "TC520" in str(error) and "help: " in str(error)):
                raise
        else:
            assert not refused or step is choose, "a directory that is not private was used"


def run_a_kernel(luck: random.Random, faulty: bool) -> None:
    """Its module is stored and loaded; the numbers must be right."""
    factor, offset, tile = luck.choice(FACTORS), luck.randrange(5), luck.choice([16, 32])
    kernel = pytriton.kernel(TEXT.replace("FACTOR", str(factor)).replace("OFFSET", str(offset)))
    x = torch.arange(-5, 5, dtype=torch.int32)
    z = torch.full((10,), 77, dtype=torch.int32)
    kernel(z, x, 9, grid=1, defines={"TILE": tile})
    assert z.tolist() == [*(x[:9] * factor + offset).tolist(), 77], "a wrong kernel ran"


def question(n: int) -> record.Question:
    return record.Question("torture", "0" * 16, {"num_stages": "None"}, "a GPU", {"n": n}, "bba")


def tune(luck: random.Random, faulty: bool) -> None:
    """What is recalled must be what some tuner found; then some points are measured and kept."""
    n = luck.randrange(3)
    known = record.recall(question(n), POINTS, POINTS)
    for point, found in known.measured.items():
        assert found == record.Timing(time_of(point, n), "code"), f"a wrong time: {point} {found}"
    some = luck.sample(POINTS, 4)
    found_now = {point: record.Timing(time_of(point, n), "code") for point in some}
    record.keep(question(n), found_now, POINTS, some[:2])


def choose(luck: random.Random, faulty: bool) -> None:
    """A pinned choice must be the one right choice for its arguments."""
    n = luck.randrange(20)
    try:
        choice = record.pinned(question(n), POINTS)
    except TuneError as error:
        # The user named this file, so one that cannot be read is refused; a line that is none would be our fault.
        if not faulty or "cannot be read: [Errno" not in str(error):
            raise
        return
    assert choice in (None, POINTS[n % len(POINTS)]), f"a wrong choice: {choice}"
    if choice is None:
        record.pin(question(n), POINTS[n % len(POINTS)])


def whole(place: Path) -> dict[str, Any]:
    """What lies in a directory: how many files of each kind; modules must be what their names say."""
    counts = {"modules": 0, "libraries": 0, "tuned": 0, "left": 0, "torn": 0}
    for path in place.iterdir():
        if path.name.startswith(".writing-"):
            counts["left"] += 1
        elif path.name.startswith("tuned_"):
            counts["tuned"] += 1
        elif path.suffix == ".py":
            counts["modules"] += 1
            named = module_name(path.stem.rpartition("_")[0], path.read_text(encoding="utf-8"))
            counts["torn"] += named != path.stem
        elif path.suffix == ".so":
            counts["libraries"] += 1
            counts["torn"] += not is_whole(path)
        else:
            raise AssertionError(f"a stray file: {path}")
    return counts
