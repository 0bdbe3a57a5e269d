"""All ranks of torch.distributed end with the same choice: real processes, each with times of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.work import PATIENCE

ROOT = Path(__file__).parents[3]


def run(program: str, ranks: int, directory: Path, **more: str) -> list[dict[str, Any]]:
    """What each rank reports; nothing for one that died."""
    started = []
    for rank in range(ranks):
        own = {"PYTRITON_CACHE_DIR": str(directory / f"cache{rank}"), "PYTRITON_PROGRESS": "0", **more}
        command = [
            sys.executable,
            "-m",
            "tests.runtime.tune.ranks",
            program,
            str(rank),
            str(ranks),
            str(directory),
        ]
        started.append(
            subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **own},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    found = []
    try:
        for process in started:
            out, errors = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, f"{out}\n{errors}"
            found += [json.loads(line) for line in out.splitlines()[-1:]]
    finally:
        for process in started:
            process.kill()
            process.wait()
    return found


def test_agreement_and_recorded_times_that_differ(tmp_path: Path) -> None:
    """The first choice counts; another sweep is another question. Then as below."""
    reports = run("by_store from_records", 2, tmp_path)
    assert all(report["before"] == ["None"] for report in reports)
    assert len({tuple(report["chosen"]) for report in reports}) == 1
    assert all(report["again"] == reports[0]["chosen"] for report in reports)
    assert all(report["other"] == "None" for report in reports)
    chosen_alike(reports)


def chosen_alike(reports: list[dict[str, Any]]) -> None:
    """Alone the ranks would choose differently; together they do not, on GPUs of different names too."""
    for at, local in enumerate(zip(*(report["local"] for report in reports), strict=True)):
        assert len(set(local)) > 1
        assert len({report["records"][at] for report in reports}) == 1
        assert reports[0]["records"][at] in local


BEST, POINTS = "Config(TILE=128, num_warps=2)", 12


def shared_alike(reports: list[dict[str, Any]]) -> None:
    """All points were timed, each rank takes the best, and knows the times of all on one scale."""
    assert len(set().union(*(report["timed"] for report in reports))) == POINTS
    for report in reports:
        assert report["chosen"] == BEST
        assert len(report["times"]) == POINTS
        assert report["times"] == pytest.approx(reports[0]["times"], rel=0.05)  # some are timed twice
        assert report["times"]["Config(TILE=256, num_warps=4)"] / report["times"][BEST] == pytest.approx(
            1.7, rel=0.05
        )


@pytest.mark.slow
def test_late_rank_and_a_sweep_that_is_shared(tmp_path: Path) -> None:
    one, other = run("late shared", 2, tmp_path)
    assert one["records"] == one["local"] == other["late"]
    shared_alike([one, other])
    assert max(len(report["timed"]) for report in (one, other)) < POINTS


@pytest.mark.slow
def test_a_rank_dies_that_has_taken_a_lot(tmp_path: Path) -> None:
    """The others wait for it a bounded time, and take what it had."""
    reports = run("shared", 3, tmp_path, TEST_RANK_1_DIES="1", PYTRITON_TUNE_PATIENCE="1")
    assert len(reports) == 2
    shared_alike(reports)


@pytest.mark.slow
def test_a_rank_that_never_calls(tmp_path: Path) -> None:
    """The other has taken all before anybody is missed."""
    one, other = run("shared", 2, tmp_path, TEST_RANK_1_NEVER_CALLS="1")
    shared_alike([one])
    assert other["chosen"] is None


@pytest.mark.gpu
def test_recorded_times_differ_on_a_gpu(tmp_path: Path) -> None:
    chosen_alike(run("from_records", 2, tmp_path))


@pytest.mark.gpu
def test_measured(tmp_path: Path) -> None:
    """Two processes tune at the same time, on two GPUs where there are two; eager and compiled."""
    one, other = run("measured", 2, tmp_path)
    assert one["chosen"] == other["chosen"]
    assert "None" not in one["chosen"]
