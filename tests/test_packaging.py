"""The package as a user gets it: built, installed, and used without torch or triton."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# All that translating needs beside the standard library.
NEEDED = ("jinja2", "lark", "markupsafe")
INSTALLED = {*NEEDED, "pip", "pytriton-c", "setuptools"}
BIN = "Scripts" if sys.platform == "win32" else "bin"

KERNEL = """\
__global__ void add(float* x, float* y, float* z, int n) {
  int off[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool check[TILE] = off < n;
  *?(check)(z + off) = *?(check)(x + off) + *?(check)(y + off);
}
"""

SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"

# Refuses the heavy libraries, and remembers that somebody asked: a swallowed ImportError shows too.
GUARD = """\
import runpy, sys

class Refuse:
    asked = []

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "triton", "numpy", "platformdirs"):
            self.asked.append(name)
            raise ImportError(name + " is missing here")

sys.meta_path.insert(0, Refuse())
import pytriton

kernel_file = sys.argv[1]
with open(kernel_file) as file:
    translation = pytriton.translate(file.read(), {"TILE": 64}, name=kernel_file)
sys.argv = ["pytriton", "translate", kernel_file, "-D", "TILE=64", "-o", kernel_file + ".py"]
try:
    runpy.run_module("pytriton", run_name="__main__")
except SystemExit as exit:
    assert exit.code in (None, 0), exit.code
with open(kernel_file + ".py", encoding="utf-8") as file:
    assert file.read() == translation.text
assert not Refuse.asked, Refuse.asked
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command that must succeed; what it said, if it does not."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(source: Path, target: str, into: Path) -> Path:
    """The one file that the build backend makes of a source tree (``target``: wheel or sdist)."""
    run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", into, cwd=source)
    (built,) = into.iterdir()
    return built


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    path = tmp_path / "add.c"
    path.write_text(KERNEL)
    return path


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = names_in(wheel)
    expected = {
        f"{target}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder, target in (
            ("pytriton", "pytriton"),
            ("grammar", "pytriton/grammar"),
            ("templates", "pytriton/templates"),
            ("docs/errors", "pytriton/explanations"),
        )
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"pytriton/grammar/triton_c.lark", "pytriton/grammar/triton_c.json"} <= names
    assert any(re.fullmatch(r"pytriton/templates/\S+\.j2", name) for name in names)
    assert {name for name in names if ".dist-info/" not in name} == expected


def test_a_missing_library_is_one_line(tmp_path: Path) -> None:
    """As after ``pip install --no-deps``."""
    for command, status in ("translate -", 1), ("--version", 0):
        program = (
            f"import runpy, sys; sys.modules['lark'] = None; sys.argv = ['pytriton', *'{command}'.split()]; "
        )
        program += "runpy.run_module('pytriton', run_name='__main__')"
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
        wanted = "pytriton: error: no module named 'lark'; pip install pytriton-c installs it\n"
        assert (done.returncode, done.stderr) == (status, wanted * status)


@pytest.mark.slow
def test_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    sdist = build(ROOT, "sdist", tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    assert names_in(build(source, "wheel", tmp_path / "again")) == names_in(wheel)
    assert (source / "tests" / "test_packaging.py").is_file()


def test_wheel_translates_in_a_clean_environment(wheel: Path, kernel_file: Path) -> None:
    folder = kernel_file.parent
    run(sys.executable, "-m", "venv", "--without-pip", folder / "env", cwd=folder)
    python = folder / "env" / BIN / "python"
    flags = ("install", "--quiet", "--no-deps", "--no-index")
    run(sys.executable, "-m", "pip", "--python", python, *flags, wheel, cwd=folder)
    site = Path(run(python, "-c", SITE, cwd=folder).strip())
    for package in NEEDED:
        spec = find_spec(package)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        shutil.copytree(spec.submodule_search_locations[0], site / package)
    for missing in ("torch", "triton", "numpy"):
        probe = f"import importlib.util as u; print(u.find_spec({missing!r}))"
        assert run(python, "-I", "-c", probe, cwd=folder) == "None\n"

    command = (python, "-I", "-m", "pytriton", "translate", kernel_file, "-D", "TILE=64")
    text = run(*command, cwd=folder)
    assert "@triton.jit\ndef add(" in text
    run(*command, "-o", folder / "add.py", cwd=folder)
    assert (folder / "add.py").read_text(encoding="utf-8") == text
    page = run(python, "-I", "-m", "pytriton", "explain", "TC302", cwd=folder)
    assert page == (ROOT / "docs" / "errors" / "TC302.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_only_translate(wheel: Path, kernel_file: Path) -> None:
    """The line of docs/start.md for machines without torch and Triton, in an empty environment (asks an index)."""
    start = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    assert "\n$ pip install pytriton-c\n" in start
    folder = kernel_file.parent
    run(sys.executable, "-m", "venv", folder / "env", cwd=folder)
    python = folder / "env" / BIN / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    listed = run(python, "-I", "-m", "pip", "list", "--format=freeze", cwd=folder).lower()
    assert {line.partition("==")[0].partition(" ")[0] for line in listed.splitlines()} <= INSTALLED
    assert run(python, "-I", "-m", "pip", "check", cwd=folder) == "No broken requirements found.\n"
    command = (folder / "env" / BIN / "pytriton", "translate", kernel_file, "-D", "TILE=64")
    assert "@triton.jit\ndef add(" in run(*command, cwd=folder)
    assert "TC302" in run(python, "-m", "pytriton", "explain", "TC302", cwd=folder)


def test_translating_asks_for_neither_torch_nor_triton(kernel_file: Path) -> None:
    run(sys.executable, "-c", GUARD, kernel_file, cwd=ROOT)


def test_readme_shows_what_translate_prints(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"<!-- (add\.c|add\.py) -->\n```\w+\n(.*?)```\n", readme, re.DOTALL))
    (tmp_path / "add.c").write_text(blocks["add.c"])
    command = (sys.executable, "-m", "pytriton", "translate", tmp_path / "add.c", "-D", "TILE=1024")
    assert run(*command, cwd=ROOT) == blocks["add.py"]
