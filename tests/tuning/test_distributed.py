"""All ranks of torch.distributed end with the same choice: real processes, each with times of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytriton.runtime.options.defines import Config
from pytriton.tuning import record
from pytriton.tuning.record import Question
from tests.work import PATIENCE

ROOT = Path(__file__).parents[2]


def run(program: str, ranks: int, directory: Path, **more: str) -> list[dict[str, Any]]:
    """What each rank reports."""
    started = []
    for rank in range(ranks):
        own = {"PYTRITON_CACHE_DIR": str(directory / f"cache{rank}"), "PYTRITON_PROGRESS": "0", **more}
        command = [
            sys.executable,
            "-m",
            "tests.tuning.ranks",
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_late_rank(tmp_path: Path) -> None:
    one, other = run("late", 2, tmp_path)
    assert one["records"] == one["local"] == other["late"]


@pytest.mark.gpu
def test_recorded_times_differ_on_a_gpu(tmp_path: Path) -> None:
    chosen_alike(run("from_records", 2, tmp_path))


@pytest.mark.gpu
def test_measured(tmp_path: Path) -> None:
    """Two processes tune at the same time, on two GPUs where there are two; eager and compiled."""
    one, other = run("measured", 2, tmp_path)
    assert one["chosen"] == other["chosen"]
    assert "None" not in one["chosen"]


def test_a_store_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rank that keeps it has ended: a warning, and this rank's own choice."""

    def gone() -> Any:
        raise RuntimeError("connection reset")

    monkeypatch.setattr(record, "several_ranks", lambda: True)
    monkeypatch.setattr(record, "default_store", gone)
    question, point = Question("k", "text", {}, "GPU", {"n": 1}), Config({"TILE": 32}, 4)
    with pytest.warns(RuntimeWarning) as warned:
        found = [record.agreed(question, [point], choice) for choice in (None, point)]
    assert found == [None, point]
    assert "connection reset" in " ".join(str(warning.message) for warning in warned)
