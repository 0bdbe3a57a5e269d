"""``python -m benchmarks --smoke`` runs every row on the CPU; the parent survives a worker that does not."""

from __future__ import annotations

import argparse
import json
import queue
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import __main__ as command
from benchmarks.table import markdown, picture
from tests.processes import python

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_every_row_is_right_on_the_cpu(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = python("-m", "benchmarks", "--smoke", "--json", report)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(report.read_text())["rows"]
    assert {row["program"] for row in rows} == {
        *(
            "dot half",
            "dot half, wide sweep",
            "dot half, masked",
            "dot float, ieee",
            "dot float, ieee or bf16x6",
            "launch",
            "tuning",
        ),
        *(
            "vector add",
            "sin",
            "copy",
            "transpose",
            "softmax",
            "attention",
            "attention, fast_math",
            "block-sparse",
        ),
        *("layer norm", "batch norm", "cross-entropy"),
    }
    assert not [row for row in rows if "error" in row or row.get("failed")]
    for row in rows:
        assert f"| {row['program']} | {row['case']} | right, not timed |" in done.stdout


def test_every_gradient_is_right_on_the_cpu() -> None:
    done = python("-m", "benchmarks.gradients", "--smoke")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in done.stdout.splitlines() if "right (" in line or "failed" in line]
    assert len(rows) == 11
    for row in rows:
        assert "failed" not in row.partition("hand-written failed: RuntimeError: 0 active drivers")[0], row


@pytest.mark.slow
def test_every_kernel_of_the_gallery_is_right_on_the_cpu(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = python("-m", "benchmarks.gallery", "--smoke", "--json", report)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(report.read_text())["rows"]
    assert len(rows) == 27
    assert not [row for row in rows if row["failed"]]


WORKER = """
import json, os, sys, time
def tell(**message): os.write(1, (json.dumps(message) + "\\n").encode())
names = [name for name in sys.argv[1:] if not name.startswith("-")]
tell(machine={"gpu": "none"})
for name in names:
    tell(begin=name)
    if name == "dot": os._exit(1)
    if name == "ragged": open("hangs", "w").close(), time.sleep(3600)
    tell(row={"program": name, "case": "", "unit": "GB/s", "rates": {}})
    tell(end=name)
    if name == "launch": os._exit(1)
"""


def a_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, budget: float) -> command.Run:
    """A run whose workers are the text above: the first benchmark ends the process, the second hangs, the
    third is the last that its process can run. No clock runs: who hangs says so."""
    hangs = tmp_path / "hangs"

    class Lines(queue.Queue[str | None]):
        def get(self, block: bool = True, timeout: float | None = None) -> str | None:
            while True:
                try:
                    return super().get(timeout=0.02)
                except queue.Empty:
                    if hangs.exists():
                        hangs.unlink()
                        raise

    monkeypatch.setattr(command, "queue", SimpleNamespace(Queue=Lines, Empty=queue.Empty))
    monkeypatch.setattr(command, "time", SimpleNamespace(perf_counter=lambda: 0.0))
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "worker.py").write_text(WORKER)
    (tmp_path / "benchmarks" / "__init__.py").touch()
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "ROW_LIMIT", 3.0)
    options = argparse.Namespace(smoke=False, quick=False, json=tmp_path / "report.json", budget=budget)
    run = command.Run(options, {"PYTHONPATH": str(tmp_path)})
    run.all(["dot", "ragged", "launch", "streams"])
    return run


def test_a_lost_worker_and_a_hanging_row_cost_themselves_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = a_run(monkeypatch, tmp_path, budget=100.0).report["rows"]
    assert [row["program"] for row in rows] == ["dot", "ragged", "launch", "streams"]
    assert "the process ended" in rows[0]["error"]
    assert "no result within 3 s" in rows[1]["error"]
    assert not any("error" in row for row in rows[2:])


def test_the_budget_ends_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = a_run(monkeypatch, tmp_path, budget=2.5).report["rows"]
    assert "budget" in rows[-1]["error"]
    assert [row["program"] for row in rows] == ["dot", "ragged"]


def test_the_picture_is_a_png(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    row = {"program": "sin", "case": "", "ratios": {"torch": 1.5, "C": 0.9}, "targets": {"torch": 1.0}}
    assert picture({"date": "2000-01-01", "rows": [row]}, tmp_path / "report.png")
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")
    assert not picture({"date": "2000-01-01", "rows": []}, tmp_path / "none.png")


def test_the_table_says_what_is_reached() -> None:
    report = {
        "date": "2000-01-01",
        "seconds": 1.0,
        "rows": [
            {
                **{"program": "dot half", "case": "2048³", "unit": "TFLOP/s"},
                "rates": {"pytriton": 980.0, "hand-written": 1000.0, "torch.mm": 900.0},
                "ratios": {"hand-written": 0.975, "torch.mm": 1.09},
                "targets": {"hand-written": 0.98, "torch.mm": 0.95},
                **{"errors": {"pytriton": 2e-4}, "failed": {"cuda | C": "no such thing"}},
            },
            {
                **{"program": "dot half", "case": "4096³", "unit": "TFLOP/s"},
                "rates": {"pytriton": 20.0, "hand-written": 10.0},
                "ratios": {"hand-written": 2.0},
            },
            {
                **{"program": "launch", "case": "", "unit": "us"},
                "rates": {"pytriton": 4.5, "jit": 10.0},
                **{"ratios": {"jit": 0.45}, "at_most": {"jit": 0.45}},
            },
            {"program": "sin", "case": "", "error": "RuntimeError: a | b"},
        ],
    }
    text = markdown(report)
    assert (
        "| dot half | 2048³ | 980 TFLOP/s | hand-written 1000 (0.975 < 0.98); torch.mm 900 (1.090 ≥ 0.95); "
        "cuda | C failed: no such thing | 2.0e-04 |"
    ) in text
    assert "| launch |  | 4.50 us | jit 10.0 (0.450 ≤ 0.45) |  |" in text
    assert "| sin |  | failed | RuntimeError: a \\| b | |" in text
    assert text.endswith("\n- dot half, hand-written: 1.396 ≥ 1.00 (2 cases, worst 0.975)")
