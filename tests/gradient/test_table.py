"""``pytriton gradient FOLDER``: which kernels derive, and by which code others are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytriton.__main__ import main

ROOT = Path(__file__).parents[2]
FILE = '''
import triton

SOURCE = """
__global__ void twice(TYPE* Y, TYPE* X, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n) (Y + r) = 2 * *?(r < n) (X + r);
}
__global__ void in_place(TYPE* X) {
  int r[TILE] = 0 ... TILE;
  *(X + r) = 2 * *(X + r);
}
"""
kernel = triton.kernel(SOURCE, defines={"TYPE": "half", "TILE": 64})
'''


def test_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each kernel, and how many derive."""
    (tmp_path / "kernels.py").write_text(FILE)
    (tmp_path / "count.c").write_text(
        "__global__ void count(int *Y) { *(Y + 0 ... 8) = 1; }\n__global__ void broken(float *Y) { *Y = 1 +; }\n"
    )
    assert main(["gradient", str(tmp_path)]) == 0
    *lines, total = capsys.readouterr().out.replace(f"{tmp_path}/", "").splitlines()
    assert [line for line in lines if line.startswith("kernels")] == [
        "kernels.py:4: twice: differentiates Y with respect to X",
        "kernels.py:4: in_place: TC704: 'X' is written here, and memory that may be the same is read: the backward "
        "would read what the kernel left there",
    ]
    assert total.startswith(f"{len(lines)} kernels, derive: 1, TC")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "total"),
    [
        ("examples", "32 kernels, derive: 24, TC203: 3, TC310: 1, TC704: 2, TC705: 2"),
        ("tests/legacy/packages", "31 kernels, derive: 21, TC203: 4, TC704: 5, not known: 1"),
    ],
)
def test_all(folder: str, total: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The kernels of the examples and of the old packages; the counts stand in docs/gradients.md, too."""
    assert main(["gradient", str(ROOT / folder)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == total
    assert total in (ROOT / "docs" / "gradients.md").read_text(encoding="utf-8")
    verdict = r"differentiates .* with respect to .*|TC\d{3}: .*|its source is only known .*"
    line_of = re.compile(rf".*:\d+: \w[\w ]*: ({verdict})")
    assert [line for line in lines if not line_of.fullmatch(line)] == []
