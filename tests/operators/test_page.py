"""docs/pytorch.md and the tests that it names are in step."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "pytorch.md"
EVERYWHERE = ("threads", "eager call", "AOTInductor", "several GPUs in one process")


def rows() -> dict[str, tuple[str, str]]:
    """The cells of the table by what they are about."""
    table = PAGE.read_text(encoding="utf-8").split("## What works where")[1]
    found = re.findall(r"^\| ([^|]+) \| ([^|]*) \| ([^|]*) \|$", table, re.MULTILINE)
    return {about.strip(): (cpu.strip(), gpu.strip()) for about, cpu, gpu in found}


def found_tests() -> dict[str, str]:
    """``file::name`` of each test, with the text of all that decides where it runs."""
    found: dict[str, str] = {}
    for path in (*HERE.glob("test_*.py"), HERE.parent / "tuning" / "test_distributed.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        marks = [ast.unparse(node) for node in tree.body if "pytestmark" in ast.unparse(node).split(" = ")[0]]
        owners = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        for owner in (tree, *owners):
            around = [*marks, *map(ast.unparse, getattr(owner, "decorator_list", []))]
            for node in owner.body:
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                    own = [*map(ast.unparse, node.decorator_list), *(one.arg for one in node.args.args)]
                    found[f"{path.stem}::{node.name}"] = "\n".join([*around, *own])
    return found


def test_cells_name_tests() -> None:
    known = found_tests()
    for about, cells in rows().items():
        for cell in cells:
            assert cell == "-" or cell in known, f"{about}: there is no test {cell}"


def test_no_cell_is_empty() -> None:
    table = rows()
    assert set(EVERYWHERE) <= set(table)
    assert [about for about, (_, gpu) in table.items() if gpu in ("", "-")] == []
    # What a CPU cannot have.
    only_gpu = {about for about, (cpu, _) in table.items() if cpu in ("", "-")}
    assert only_gpu == {
        '`mode="reduce-overhead"`',
        '`mode="reduce-overhead"`, training step',
        "CUDA graphs by hand",
        "side streams",
        "several GPUs in one process",
        "several GPUs, compiled",
        "several GPUs, overridden",
        "DataParallel",
    }


def test_gpu_cells_run_on_a_gpu() -> None:
    """They are marked gpu, or take the fixture or the parameter that runs a test on both devices."""
    known = found_tests()
    for about, (_, gpu) in rows().items():
        assert re.search(r"mark\.gpu|\bdevice\b|DEVICES", known[gpu]), f"{about}: {gpu} runs on the CPU only"
