"""``python -m pytriton port`` on a small repository that has a text of every kind."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from pytriton.__main__ import main
from pytriton.port.equivalence import Case, compare, load_ported

ROOT = Path(__file__).parent.parent.parent

ADD = """\
// Z = X + Y, any length
__global__ void add(TYPE *Z, TYPE *X, TYPE *Y, int n) {
  // this program's elements
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool inside[TILE] = i < n; // the last program may own a few that do not exist
  *?(inside)(Z + i) = *?(inside)(X + i) + *?(inside)(Y + i);
}
"""
SCALE = """\
__global__ void scale(float *X, float s, int n __multipleof(8)) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
#if MODE == 2
  // twice
  *?(i < n)(X + i) = s * 2 * *?(i < n)(X + i);
#else
  // once
  *?(i < n)(X + i) = s * *?(i < n)(X + i);
#endif
}
"""
PACKAGE = f'''\
import torch
import triton

SOURCE = """{ADD}"""
kernel = triton.kernel(SOURCE, num_warps=[2, 4])


def add(x, y):
    z = torch.empty_like(x)
    n = z.numel()
    kernel(z, x, y, n, grid=lambda opt: (triton.cdiv(n, opt.TILE),), defines={{"TYPE": x.dtype, "TILE": [32, 64]}})
    return z


def scale(x, s, twice=False):
    k = triton.kernel(triton.read("scale.c"), defines={{"TILE": 32, "MODE": 2 if twice else 1}})
    k(x, s, x.numel(), grid=lambda opt: (triton.cdiv(x.numel(), opt.TILE),))
'''
CPP = (
    'const char* src = R"(\n'
    + ADD.replace("TYPE", "float").replace("TILE", "32").replace("add", "plus")
    + ')";\n'
)
TINY = ADD.replace("TYPE", "int").replace("TILE", "8").replace("add", "tiny")
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Adding"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import triton\n", f'S = """{ADD}"""']},
        {"cell_type": "code", "source": ["k = triton.kernel(S, {'TYPE': 'half', 'TILE': 16})"]},
    ]
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "ops/add.py": PACKAGE.replace('"scale.c"', '__file__.replace("add.py", "scale.c")'),
        "ops/scale.c": SCALE,
        "src/plus.cc": CPP,
        "README.md": f"# Adding\n\n```c\n{TINY}```\n",
        "docs/guide.rst": "Guide\n\n.. code-block:: c\n\n"
        + "".join(f"   {line}\n" for line in ADD.splitlines()),
        "notebooks/adding.ipynb": json.dumps(NOTEBOOK),
        "src/cuda.cpp": 'const char* c = R"(__global__ void f(float* x) { x[threadIdx.x] = 0; })";\n',
    }
    for name, text in files.items():
        (tmp_path / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repo" / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def port(*options: str) -> int:
    return main(["port", "repo", "--out", "new", *options])


def report(folder: Path) -> dict[str, Any]:
    data = json.loads((folder / "report.json").read_text())
    return {entry["file"] + ":" + entry["kernel"]: entry for entry in data["kernels"]} | {
        "sums": data["sums"]
    }


def test_finds_every_kind_and_grades_it(repository: Path) -> None:
    assert port("--report", "report.json") == 1
    found = report(repository)
    grades = {name: entry["grade"] for name, entry in found.items() if name != "sums"}
    assert grades == {
        "README.md:tiny": "ported with notes",
        "docs/guide.rst:add": "needs a person",
        "notebooks/adding.ipynb:add": "ported with notes",
        "ops/add.py:add": "ported",
        "ops/scale.c:scale": "ported with notes",
        "src/plus.cc:plus": "ported with notes",
    }
    assert found["notebooks/adding.ipynb:add"]["place"] == "cell 2, line 3"
    person = found["docs/guide.rst:add"]["reasons"]
    assert person[0]["place"] == "line 6"
    assert person[0]["code"] == "TC203"
    assert "give its defines with -D" in person[-1]["text"]
    (note,) = found["ops/scale.c:scale"]["reasons"]
    assert note["text"] == "'twice' selects the text: the launcher takes it as 'twice'"
    assert note["place"].startswith("add.py, line ")
    assert found["sums"]["kernels"] == {"ported": 1, "ported with notes": 4, "needs a person": 1}


def test_defines_of_the_command_line_finish_the_work(repository: Path) -> None:
    assert port("-D", "TYPE=float", "-D", "TILE=16,32") == 0
    assert '"TILE": 32' in (repository / "new/docs/guide_add.py").read_text()


def test_the_modules_stand_alone_and_are_formatted(repository: Path) -> None:
    port("--with-tests")
    modules = [path for path in (repository / "new").rglob("*.py") if not path.name.startswith("test_")]
    assert len(modules) == 5
    for path in modules:
        roots = {
            alias.name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in ([ast.alias(node.module or "")] if isinstance(node, ast.ImportFrom) else node.names)
        }
        assert roots <= {"contextlib", "operator", "torch", "triton"}
    for path in (repository / "new").rglob("test_*.py"):
        assert re.findall(r"pytriton(?:\.\w+)+", path.read_text()) == ["pytriton.testing"]
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--check", "--diff", "new"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    text = (repository / "new/ops/add.py").read_text()
    assert 'triton.Config({"TILE": 64}, num_warps=2)' in text
    assert 'triton.cdiv(n, meta["TILE"])' in text
    assert 'key=["n"]' in text
    assert 'restore_value=["Z"]' in text  # nothing says that Z is not X


def test_comments_survive(repository: Path) -> None:
    port("--report", "report.json")
    for name, entry in report(repository).items():
        if name != "sums" and entry["new"]:
            old = [line.split("//")[1].strip() for line in entry["old"].splitlines() if "//" in line]
            assert [comment for comment in old if comment not in entry["new"]] == []
    sums = report(repository)["sums"]["comments"]
    assert sums["at their statement"] >= 0.95 * sums["in ported kernels"] > 0
    assert sums["lost"] == 0


def test_twice_changes_nothing(repository: Path) -> None:
    options = ("--with-tests", "--report", "report.html")
    port(*options)
    before = {path: path.stat().st_mtime_ns for path in (repository / "new").rglob("*.py")}
    page = (repository / "report.html").read_text()
    port(*options)
    assert {path: path.stat().st_mtime_ns for path in (repository / "new").rglob("*.py")} == before
    assert (repository / "report.html").read_text() == page


def test_our_own_files_are_not_scanned(repository: Path) -> None:
    main(["port", "repo", "--out", "repo/new", "--with-tests"])
    before = sorted((repository / "repo").rglob("*.py"))
    main(["port", "repo", "--out", "other", "--report", "report.json"])
    assert len([name for name in report(repository) if name != "sums"]) == 6
    assert sorted((repository / "repo").rglob("*.py")) == before


def test_check_and_diff_write_nothing(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "repo/docs/guide.rst").unlink()
    assert port("--check") == 1
    assert port("--diff") == 0
    assert "+++ b/new/ops/add.py" in capsys.readouterr().out
    assert not (repository / "new").exists()
    assert port() == 0
    assert port("--check") == 0


def test_what_was_edited_is_left_alone(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "repo/docs/guide.rst").unlink()
    assert port() == 0
    path = repository / "new/ops/add.py"
    path.write_text(path.read_text().replace("num_warps=2", "num_warps=8"))
    assert port() == 1
    assert "1 edited by hand and left alone" in capsys.readouterr().out
    assert "num_warps=8" in path.read_text()


def test_wrong_usage(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", "nowhere"]) == 2
    assert port("--check", "--diff") == 2
    assert port("--report", "report.txt") == 2
    (repository / "file").write_text("")
    assert main(["port", "repo", "--out", "file"]) == 2
    with pytest.raises(SystemExit) as stopped:
        main(["port"])
    assert stopped.value.code == 2


def test_nothing_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", str(tmp_path), "--out", str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out == "no Triton-C was found\n"


def test_the_report_shows_both_sides_escaped(repository: Path) -> None:
    port("--report", "report.html")
    page = (repository / "report.html").read_text()
    assert "bool inside[TILE] = i &lt; n;" in page
    assert "def add_kernel" in page
    assert "<script" not in page


@pytest.mark.slow
def test_the_written_tests_are_green(repository: Path) -> None:
    port("--with-tests")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "new"]
    done = subprocess.run(
        command,
        cwd=repository,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "HOME": str(repository)},
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


CASE = Case(defines={"TYPE": "float", "TILE": 32}, config={"TILE": 32}, num_warps=2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tl.load(X + i, mask=inside, other=0.0) + ", "tl.load(X + i, mask=inside, other=0.0) - "),
        ("inside = i < n", "inside = i <= n"),
        ("(Z, X, Y, n)", "(Z, Y, Y, n)"),
    ],
)
def test_a_wrong_module_is_caught(repository: Path, old: str, new: str) -> None:
    port()
    path = repository / "new/ops/add.py"
    compare(ADD, "add", load_ported(path).add, CASE, 7)
    text = path.read_text()
    assert old in text
    path = path.with_name("wrong.py")
    path.write_text(text.replace(old, new))
    with pytest.raises(AssertionError, match=r"Z\[\d+\] is .*, but the old source gives"):
        compare(ADD, "add", load_ported(path).add, CASE, 7)


def test_the_launcher_refuses_what_the_old_one_refused(repository: Path) -> None:
    port()
    add = load_ported(repository / "new/ops/add.py").add
    x = torch.zeros(64)
    with pytest.raises(ValueError, match="which 32 bits do not hold"):
        add(x, x, x, 1 << 31)
    with pytest.raises(TypeError, match=r"Y is a tensor of torch\.float16"):
        add(x, x, x.half(), 64)
    with pytest.raises(ValueError, match="no kernel was ported for"):
        add(x.int(), x.int(), x.int(), 64)


def test_the_scanner_needs_neither_torch_nor_triton(repository: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['triton'] = None\n"
        "from pytriton.__main__ import main; sys.exit(main(['port', 'repo', '--with-tests', '--out', 'bare']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=repository,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 1, done.stderr
    assert "6 kernels in 6 files" in done.stdout


PROMISES = """\
__global__ void scale(TYPE *X, TYPE s, int n PROMISE) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(i < n)(X + i) = s * *?(i < n)(X + i);
}
"""


def test_promises_and_types_of_numbers_differ_from_kernel_to_kernel(repository: Path) -> None:
    """No ported kernel relies on a promise; a number is rounded to its own kernel's type."""
    (repository / "repo/promises.py").write_text(
        f"import triton\nS = '''{PROMISES}'''\n"
        "def scale(x, s, eight=False):\n"
        "    d = {'TYPE': x.dtype, 'TILE': 32, 'PROMISE': '__multipleof(8)' if eight else ''}\n"
        "    triton.kernel(S, defines=d)(x, s, x.numel(), grid=(triton.cdiv(x.numel(), 32),))\n"
    )
    main(["port", "repo/promises.py", "--out", "new", "--with-tests"])
    scale = load_ported(repository / "new/promises_scale.py").scale
    broken = (
        "import torch, promises_scale as new; x = torch.ones(64); new.scale(x[1:], 2.0, 30); print(x.sum())"
    )
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", broken],
        cwd=repository / "new",
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "tensor(94.)\n", done.stderr
    for dtype, word in ((torch.float32, "float"), (torch.float16, "half")):
        for promise in ("__multipleof(8)", ""):
            case = Case({"TYPE": word, "TILE": 32, "PROMISE": promise}, {"TILE": 32})
            compare(PROMISES, "scale", scale, case, 7)
            assert dtype in {key[0] for key in scale.__globals__["SCALE_KERNELS"]}


MODES = '''\
import triton

SOURCE = """
__global__ void NAME(float *X, int n) {
  int i[32] = 0 ... 32;
#ifdef TWICE
  *?(i < n)(X + i) = 2 * *?(i < n)(X + i);
#else
  *?(i < n)(X + i) = 3 * *?(i < n)(X + i);
#endif
}
"""
kernel = triton.kernel(SOURCE)


def scale(x, mode):
    defines = {"NAME": mode, mode.upper(): 1}
    kernel(x, x.numel(), grid=(1,), defines=defines)


def main(x):
    scale(x, "twice")
'''


def test_what_no_call_leads_to_is_named(repository: Path) -> None:
    """A kernel that callers pick by a mode is ported for the modes that calls give, and the report says so."""
    (repository / "modes").mkdir()
    (repository / "modes" / "ops.py").write_text(MODES)
    assert main(["port", "modes", "--out", "new", "--report", "report.json"]) == 0
    entries = report(repository)
    assert sorted(entries) == ["ops.py:twice", "sums"]
    reason = {"place": "line 18", "text": entries["ops.py:twice"]["reasons"][0]["text"], "code": None}
    assert entries["ops.py:twice"]["reasons"] == [reason]
    assert "its callers decide some defines of this launch (the name mode.upper())" in reason["text"]
    assert "a call in a file that is given too shows more" in reason["text"]
    (repository / "modes" / "use.py").write_text(
        "from ops import scale\n\n\ndef f(x):\n    scale(x, 'thrice')\n"
    )
    assert main(["port", "modes", "--out", "new", "--report", "report.json"]) == 0
    entries = report(repository)
    assert sorted(entries) == ["ops.py:thrice", "ops.py:twice", "sums"]
    assert entries["ops.py:thrice"]["place"] == "line 4"


def test_a_single_config_is_launched_without_tuning(repository: Path) -> None:
    """And of several texts, each has its own config; where one is tuned, both ways are in the launcher."""
    (repository / "ops.py").write_text(
        f"import triton\nS = '''{PROMISES}'''\n"
        "def scale(x, s):\n"
        "    d = {'TYPE': 'float', 'TILE': 32, 'PROMISE': ''}\n"
        "    k = triton.kernel(S, defines=d)\n"
        "    k(x, s, x.numel(), grid=lambda opt: (triton.cdiv(x.numel(), opt.TILE),))\n"
    )
    assert main(["port", "ops.py", "--out", "one", "--with-tests"]) == 0
    text = (repository / "one" / "ops_scale.py").read_text()
    assert "autotune" not in text
    assert 'SCALE_CONFIG = triton.Config({"TILE": 32})\n' in text
    # blocks of 48 are padded, so they are another text
    (repository / "ops.py").write_text(
        (repository / "ops.py").read_text().replace("'TILE': 32", "'TILE': [32, 64, 48]")
    )
    assert main(["port", "ops.py", "--out", "three", "--with-tests"]) == 0
    text = (repository / "three" / "ops_scale.py").read_text()
    assert text.count("@triton.autotune") == 1
    assert "((scale_kernel_1, None), (scale_kernel_2, SCALE_CONFIG))" in text
    command = [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "one", "three"]
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(repository)}
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout
    scale = load_ported(repository / "three" / "ops_scale.py")
    with pytest.raises(ValueError, match="is none of the configs above"):
        scale.scale(torch.zeros(64), 2.0, 64, config=scale.triton.Config({"TILE": 16}))
    lines = [sys.executable, "-m", "ruff", "format", "--isolated", "--check", "one", "three"]
    assert subprocess.run(lines, cwd=repository, capture_output=True).returncode == 0


def test_parameters_that_depend_on_defines_need_a_person(repository: Path) -> None:
    text = PROMISES.replace("int n PROMISE", "int n\n#if MORE\n, int m\n#endif\n")
    (repository / "repo/more.py").write_text(
        f"import triton\nS = '''{text}'''\n"
        "def scale(x, more=False):\n"
        "    k = triton.kernel(S, defines={'TYPE': 'float', 'TILE': 32, 'MORE': more})\n"
        "    k(x, 1.0, 1, grid=(1,))\n"
    )
    assert main(["port", "repo/more.py", "--out", "new", "--report", "report.json"]) == 1
    (entry,) = (one for name, one in report(repository).items() if name != "sums")
    assert entry["reasons"][0]["text"] == "its parameters depend on its defines: give some with -D"
    assert main(["port", "repo/more.py", "--out", "new", "-D", "MORE=0"]) == 0


def test_long_names_and_many_choices_are_formatted_too(repository: Path) -> None:
    name = "a_kernel_whose_name_is_as_long_as_some_people_write_them"
    flags = [f"ANOTHER_CHOICE_{letter}" for letter in "ABCD"]
    arms = "".join(f"#if {flag}\n  x = x + {at};\n#endif\n" for at, flag in enumerate(flags, 1))
    text = (
        f"__global__ void {name}(TYPE *the_only_pointer_of_it, int n __multipleof(8)) {{\n"
        f"  int i[TILE] = 0 ... TILE;\n  TYPE x[TILE] = *(the_only_pointer_of_it + i);\n{arms}"
        "  *?(i < n)(the_only_pointer_of_it + i) = x;\n}\n"
    )
    given = ", ".join(f"'{flag}': {flag.lower()}" for flag in flags)
    (repository / "repo/long.py").write_text(
        f"import triton\nS = '''{text}'''\n"
        f"def f(x, n, {', '.join(f'{flag.lower()}=False' for flag in flags)}):\n"
        f"    d = {{'TYPE': x.dtype, 'TILE': [32, 64], {given}}}\n"
        "    triton.kernel(S, defines=d)(x, n, grid=(1,))\n"
    )
    assert main(["port", "repo/long.py", "--out", "new", "--with-tests"]) == 0
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--check", "--diff", "new"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
