"""A package that reads its sources from files, with kernels named by a define: ported by a run, it works alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pytriton.__main__ import main
from tests import processes

SOURCES = """\
import os
import sys

folder = os.path.dirname(os.path.realpath(__file__))
for file in os.listdir(folder):
    if file.endswith(".tr"):
        with open(os.path.join(folder, file)) as text:
            setattr(sys.modules[__name__], file[:-3], text.read())
"""
READS = [  # other ways to read a file
    "scale = pathlib.Path(__file__).with_name('scale.tr').read_text()",
    "scale = pkgutil.get_data(__name__, 'scale.tr').decode()",
    "scale = importlib.resources.files(__name__).joinpath('scale.tr').read_text()",
    "with open(os.path.join(os.path.dirname(__file__), 'scale.tr')) as file:\n    scale = ''.join(file)",
]
SCALE = """\
__global__ void NAME(TYPE *X, TYPE *Y, int n) {
  // as many programs as blocks
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  *?(i < n) (Y + i) = FACTOR * *?(i < n) (X + i);
}
"""
INIT = """\
import torch
import triton
from scaling.sources import scale

def scaled(x, factor):
    defines = {"NAME": f"scale_{factor}", "TYPE": x.dtype, "TN": 16, "FACTOR": factor}
    y = torch.empty_like(x)
    triton.kernel(scale, defines=defines, num_warps=[4])(
        x, y, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.d("TN"))]
    )
    return y
"""
USE = """\
import pytest
import torch
import scaling

@pytest.mark.parametrize("factor", [2, 3])
def test_scaled(factor):
    x = torch.arange(40.0)
    assert torch.equal(scaling.scaled(x, factor), x * factor)
"""


@pytest.fixture
def package(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path / "old" / "scaling"
    (folder / "sources").mkdir(parents=True)
    lines = ["import importlib.resources, os, pathlib, pkgutil", getattr(request, "param", SOURCES), ""]
    (folder / "sources" / "__init__.py").write_text("\n".join(lines))
    (folder / "sources" / "scale.tr").write_text(SCALE)
    (folder / "__init__.py").write_text(INIT)
    (tmp_path / "test_scaling.py").write_text(USE)
    return folder


@pytest.mark.parametrize(
    "package", [SOURCES, *(pytest.param(read, marks=pytest.mark.slow) for read in READS)], indirect=True
)
def test_a_file_is_read_as_before(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path / "old")
    run = f"-m pytest -q -p no:cacheprovider {tmp_path / 'test_scaling.py'}"
    assert main(["port", "scaling", "--out", str(tmp_path / "new"), "--run", run]) == 0
    ported = tmp_path / "new" / "scaling"
    assert (ported / "sources" / "scale.tr").read_text() == SCALE
    assert "as many programs as blocks" in (ported / "kernels" / "scale.py").read_text()
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "pytriton.py").write_text('raise ImportError("pytriton is not here")\n')
    paths = os.pathsep.join(map(str, (blocked, ported.parent)))
    environment = {**os.environ, "PYTHONPATH": paths, "TRITON_INTERPRET": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_scaling.py"]
    done = processes.run(command, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-500:]


def test_a_file_is_looked_up_as_a_whole(package: Path, tmp_path: Path) -> None:
    """Its single kernels have names only where the code asks for some of them."""
    (package / "sources" / "scale.tr").write_text(SCALE.replace("NAME", "scale"))
    run = f"pytest -q -p no:cacheprovider {tmp_path / 'test_scaling.py'}"
    assert main(["port", str(package), "--out", str(tmp_path / "new"), "--run", run]) == 0
    text = (tmp_path / "new" / "scaling" / "kernels" / "__init__.py").read_text()
    assert text.count("# sources/scale.tr\n") == text.count(" scale.SCALE,") == 1


def test_a_name_that_is_only_known_at_run_time(package: Path, tmp_path: Path) -> None:
    """Without a run: the name of the kernel is chosen, and that of each launch is ignored."""
    (package / "sources" / "__init__.py").write_text(f'scale = """\\\n{SCALE}"""\n')
    (package / "sources" / "scale.tr").unlink()
    (package / "__init__.py").write_text(INIT.replace("scaling.sources", ".sources"))
    assert main(["port", str(package), "--out", str(tmp_path / "new")]) == 0
    program = (
        "import torch, scaling; x = torch.ones(40); print(*(scaling.scaled(x, f)[39].item() for f in (2, 3)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "new"), "TRITON_INTERPRET": "1"}
    done = processes.run([sys.executable, "-c", program], env=environment, cwd=tmp_path)
    assert done.stdout == "2.0 3.0\n", done.stderr
