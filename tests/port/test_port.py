"""``pytriton port`` on a small repository, not a package, that has a text of every kind."""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import triton

from pytriton.__main__ import main
from pytriton.runtime.compare import Case, compare, ported
from tests import processes
from tests.processes import python

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
PLUS = ADD.replace("TYPE", "float").replace("TILE", "32").replace("add", "plus")
TINY = ADD.replace("TYPE", "int").replace("TILE", "8").replace("add", "tiny")


FILES = {
    "ops/add.py": PACKAGE.replace('"scale.c"', '__file__.replace("add.py", "scale.c")'),
    "ops/scale.c": SCALE,
    "src/plus.h": PLUS,
    "tiny.c": TINY,
    "docs/guide.c": ADD,
    "src/cuda.cpp": 'const char* c = R"(__global__ void f(float* x) { x[threadIdx.x] = 0; })";\n',
}


def written(folder: Path, *names: str) -> None:
    for name in names or FILES:
        (folder / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "repo" / name).write_text(FILES[name])


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    written(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same with one text."""
    written(tmp_path, "tiny.c")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def ported_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with its port, its tests and a report: what those who change nothing need is made once."""
    folder = tmp_path_factory.mktemp("ported")
    written(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert port("--with-tests", "--report", "report.json") == 0
    return folder


@pytest.fixture
def finished(ported_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it."""
    shutil.copytree(ported_once, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def port(*options: str) -> int:
    return main(["port", "repo", "--out", "new", *options])


def report(folder: Path) -> dict[str, Any]:
    """The kernels of a report by their files and names, and its sums."""
    data = json.loads((folder / "report.json").read_text())
    kernels = {f"{entry['place'].partition(':')[0]}:{entry['name']}": entry for entry in data["kernels"]}
    return kernels | {"sums": data["sums"], "problems": data["problems"]}


def test_finds_every_kind_and_grades_it(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same text in three files is one, where it is launched; what is missing is said with its place."""
    (repository / "repo/docs/other.c").write_text(ADD.replace("add(", "other("))
    assert port("--report", "report.json") == 1
    found = report(repository)
    grades = {name: entry["grade"] for name, entry in found.items() if name not in ("sums", "problems")}
    assert grades == {
        "tiny.c:tiny": "ported with notes",
        "ops/add.py:add": "ported",
        "ops/scale.c:scale": "ported",
        "src/plus.h:plus": "ported with notes",
    }
    assert found["ops/add.py:add"]["place"] == "ops/add.py:5"
    assert found["ops/scale.c:scale"]["launches"] == ["ops/add.py:24"]
    first, last = found["problems"][0], found["problems"][-1]
    assert (first["place"], first["code"]) == ("docs/other.c:2", "TC203")
    assert "give its defines with -D" in last["text"]
    assert f"{first['place']}: {first['text']} [TC203]" in capsys.readouterr().err
    assert found["sums"]["kernels"] == {"ported": 2, "ported with notes": 2, "needs manual work": 0}


def test_defines_of_the_command_line_finish_the_work(small: Path) -> None:
    (small / "repo/guide.c").write_text(ADD.replace("add(", "more("))
    assert port() == 1
    assert port("-D", "TYPE=float", "-D", "TILE=16,32", "--out", "all") == 0
    assert "def more(" in (small / "all/guide.py").read_text()


def test_the_modules_stand_alone_and_are_formatted(finished: Path) -> None:
    modules = sorted((finished / "new").glob("*.py"))
    assert [path.name for path in modules] == [
        "__init__.py", "_triton.py", "add.py", "plus.py", "scale.py", "tiny.py",
    ]  # fmt: skip
    for path in modules:
        imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import)]
        roots = {alias.name.split(".")[0] for node in imports for alias in node.names}
        assert not roots & {"pytriton"}
    tests = sorted((finished / "new_comparison").glob("*.py"))
    assert [path.name for path in tests] == [f"test_{n}.py" for n in ("add", "plus", "scale", "tiny")]
    for path in tests:
        assert re.findall(r"pytriton(?:\.\w+)+", path.read_text()) == ["pytriton.testing"]
    command = "-m ruff format --isolated --line-length=120 --check --diff new new_comparison"
    done = python(*command.split(), cwd=finished)
    assert done.returncode == 0, done.stdout


def test_comments_survive(finished: Path) -> None:
    entries = [entry for name, entry in report(finished).items() if ":" in name]
    for entry in entries:
        old = [line.split("//")[1].strip() for line in entry["old"].splitlines() if "//" in line]
        assert [comment for comment in old if comment not in entry["new"]] == []
        assert not any("comments" in note["text"] for note in entry["notes"])


def test_twice_changes_nothing(finished: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (finished / "new").rglob("*.py")}
    told = (finished / "report.json").read_text()
    port("--with-tests", "--report", "report.json")
    assert {path: path.stat().st_mtime_ns for path in (finished / "new").rglob("*.py")} == before
    assert (finished / "report.json").read_text() == told


def test_our_own_files_are_not_scanned(small: Path) -> None:
    main(["port", "repo", "--out", "repo/new", "--with-tests"])
    assert (small / "repo/new_comparison/test_tiny.py").exists()
    main(["port", "repo", "--out", "other"])
    names = [{path.name for path in (small / folder).glob("*.py")} for folder in ("repo/new", "other")]
    assert names[0] == names[1]


def test_check_and_diff_write_nothing(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert port("--check") == 1
    assert port("--diff") == 0
    assert "+++ b/new/tiny.py" in capsys.readouterr().out
    assert not (small / "new").exists()
    assert port() == 0
    assert port("--check") == 0
    (small / "new/tiny.py").write_text("")
    assert port("--check") == 1


def test_what_was_edited_is_left_alone(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = finished / "new/add.py"
    path.write_text(path.read_text() + "# mine\n")
    assert port() == 2
    assert "has other files than those of this port: add.py" in capsys.readouterr().err
    assert path.read_text().endswith("# mine\n")


def test_wrong_usage(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", "nowhere"]) == 2
    assert capsys.readouterr().err == "nowhere: error: No such file or directory\n"
    assert port("--in-place") == 2
    assert capsys.readouterr().err.startswith("usage: pytriton port ")
    assert port("--report", "report.txt") == 2
    with pytest.raises(SystemExit):
        port("--check", "--diff")
    assert "--diff: not allowed with argument --check" in capsys.readouterr().err
    (repository / "file").write_text("")
    assert main(["port", "repo", "--out", "file"]) == 2
    with pytest.raises(SystemExit) as stopped:
        main(["port"])
    assert stopped.value.code == 2


def test_nothing_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", str(tmp_path), "--out", str(tmp_path / "new")]) == 0
    assert capsys.readouterr().err == "no Triton-C was found\n"


@pytest.mark.slow
def test_the_written_tests_are_green(finished: Path) -> None:
    done = written_tests(finished)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def written_tests(folder: Path, *environment: tuple[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "new_comparison"]
    given = {"PYTHONPATH": str(ROOT), "HOME": str(folder), **dict(environment)}
    return processes.run(command, cwd=folder, env=given)


@pytest.mark.slow
def test_the_written_tests_skip_without_pytriton(finished: Path) -> None:
    (finished / "blocked").mkdir()
    (finished / "blocked/pytriton.py").write_text("raise ModuleNotFoundError('it is not here')\n")
    done = written_tests(finished, ("PYTHONPATH", str(finished / "blocked")))
    assert done.returncode in (0, 5), done.stdout
    assert "4 skipped" in done.stdout


DEFINES = {"TYPE": "float", "TILE": 32}
CASE = Case(defines=DEFINES, config={})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tl.load(X + i, mask=inside, other=0.0) + ", "tl.load(X + i, mask=inside, other=0.0) - "),
        ("inside = i < n", "inside = i <= n"),
        ("+ tl.load(Y + i", "+ tl.load(X + i"),
    ],
)
def test_a_wrong_module_is_caught(finished: Path, old: str, new: str) -> None:
    compare(ADD, "add", ported(finished / "new", "add", "ADD", DEFINES), CASE, 7, (2,))
    path = finished / "new/add.py"
    text = path.read_text()
    assert old in text
    (finished / "new/wrong.py").write_text(text.replace(old, new))
    with pytest.raises(AssertionError, match=r"Z\[\d+\] is .*, but the old source gives"):
        compare(ADD, "add", ported(finished / "new", "wrong", "ADD", DEFINES), CASE, 7, (2,))


def test_the_launcher_refuses_what_was_not_proved(finished: Path) -> None:
    x = torch.zeros(64)
    for defines, why in (({"TILE": 32.5}, "TILE=32.5: "), ({"tile": 1}, "tile=1")):
        add = ported(finished / "new", "add", "ADD", {**DEFINES, **defines})
        with pytest.raises(ValueError, match=f"no kernel was ported for {why}"):
            add(x, x, x, 64, config=triton.Config({}), grid=(1,))


def test_the_scanner_needs_neither_torch_nor_triton(repository: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['triton'] = None\n"
        "from pytriton.__main__ import main; sys.exit(main(['port', 'repo', '--with-tests', '--out', 'bare']))"
    )
    done = python("-c", code, cwd=repository)
    assert done.returncode == 0, done.stderr
    assert "Triton is not installed: the kernels are not proved" in done.stdout
    assert re.search(r"^bare: 4 kernels, .*, 6 files written$", done.stdout, re.MULTILINE)


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


def test_what_no_call_leads_to_is_named(small: Path) -> None:
    """A kernel that callers pick by a mode is ported for the modes that calls give, and the report says so."""
    (small / "modes").mkdir()
    (small / "modes" / "ops.py").write_text(MODES)
    assert main(["port", "modes", "--out", "new", "--report", "report.json"]) == 0
    (note,) = report(small)["ops.py:twice"]["notes"]
    assert note["place"] == "ops.py:18"
    assert "its callers decide some defines of this launch (the name mode.upper())" in note["text"]
    (small / "modes" / "use.py").write_text("from ops import scale\n\n\ndef f(x):\n    scale(x, 'thrice')\n")
    assert main(["port", "modes", "--out", "more", "--report", "report.json"]) == 0
    names = {defines["NAME"] for defines in report(small)["ops.py:ops_kernel"]["sets"]}
    assert names == {"twice", "thrice"}


def test_many_flags_of_which_few_combinations_are_known(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the kernel asserts is then more than a person reads."""
    flags = "ABCDEFGHIJKL"
    chance = random.Random(0)
    sets = [dict.fromkeys(chance.sample(flags, 6), True) for _ in range(24)]
    steps = "".join(f"#ifdef {flag}\n  x = x * {n} + 1;\n#endif\n" for n, flag in enumerate(flags, 2))
    text = f"__global__ void f(float *X) {{\n  float x = *X;\n{steps}  *X = x;\n}}\n"
    (small / "repo/more.py").write_text(
        f"import triton\nS = '''{text}'''\ndef f(x):\n    for defines in {sets}:\n"
        "        triton.kernel(S, defines=defines)(x, grid=(1,))\n"
    )
    assert main(["port", "repo/more.py", "--out", "new"]) == 0
    assert "defines are accepted in the combinations that were proved: a --run" in capsys.readouterr().out


def test_a_define_that_no_source_has_is_wrong_usage(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert port("-D", "TYL=8") == 2
    assert "-D TYL: no source has this name" in capsys.readouterr().err


def test_kernels_whose_parameters_depend_on_defines(small: Path) -> None:
    """They are one function all the same; what is absent is not passed."""
    text = SCALE.replace("int n __multipleof(8)", "int n\n#if MODE == 2\n, int m\n#endif\n")
    (small / "repo/more.py").write_text(
        f"import triton\nS = '''{text}'''\n"
        "def scale(x, more=False):\n"
        "    k = triton.kernel(S, defines={'TILE': 32, 'MODE': 2 if more else 1})\n"
        "    k(x, 1.0, 1, grid=(1,))\n"
    )
    assert main(["port", "repo/more.py", "--out", "new", "--with-tests"]) == 0
    for mode in (1, 2):
        defines = {"TILE": 32, "MODE": mode}
        compare(text, "scale", ported(small / "new", "more", "SCALE", defines), Case(defines, {}), 7, (2,))


def test_constant_buffers_are_passed(small: Path) -> None:
    text = (
        "__constant__ int *table = calloc(64);\n"
        "__global__ void look(int *X) { int i[16] = 0 ... 16; *(X + i) = *(table + i); }\n"
    )
    (small / "look.c").write_text(text)
    assert main(["port", "look.c", "--out", "new", "--with-tests"]) == 0
    compare(text, "look", ported(small / "new", "look", "LOOK", {}), Case({}, {}), 7, (1,))


UNREAD = f'''\
import importlib
import triton

SOURCE = """{TINY}"""
kernel = triton.kernel(SOURCE)


class Scale:
    def __init__(self):
        self.kernel = triton.kernel(SOURCE)


def scale(x, scaling):
    kernel(x, x, x, x.numel(), grid=(1,))
    LAUNCH
'''


@pytest.mark.parametrize(
    "launch",
    [
        "scaling.kernel(x, x, x, x.numel(), grid=lambda opt: (1,), defines={'MORE': 1})",
        "importlib.import_module(scaling).kernel(x, x, x, x.numel(), grid=[1])",
        "[one for one in (kernel,)].pop()(x, x, x, x.numel(), grid=(1,))",
        "getattr(Scale(), 'kernel')(x, x, x, x.numel(), grid=(1,))",
        "triton.kernel(open(scaling).read())(x, x, x, x.numel(), grid=(1,))",
        "triton.kernel(SOURCE, **scaling)(x, x, x, x.numel(), grid=(1,))",
    ],
)
@pytest.mark.parametrize("package", [True, False])
def test_a_launch_that_is_not_read_is_named(
    small: Path, launch: str, package: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though its kernel is ported for another launch: its defines may be others."""
    (small / "scaling").mkdir()
    (small / "scaling" / ("__init__.py" if package else "ops.py")).write_text(
        UNREAD.replace("LAUNCH", launch)
    )
    assert main(["port", "scaling", "--out", "new"]) == 1
    name = "__init__.py" if package else "ops.py"
    line = UNREAD[: UNREAD.index("LAUNCH")].count("\n") + 1
    assert f"{name}:{line}: this launch is only known at run time: use --run" in capsys.readouterr().err


PASSED_ON = UNREAD.replace(
    "    LAUNCH\n",
    """    run(kernel, x, grid=lambda opt: (1,))
    torch.nn.functional.grid_sample(x, grid=scaling)
    return Scale().again(x, scaling)


def run(kernel, x, grid):
    kernel(x, x, x, x.numel(), grid=grid)
""",
).replace(
    "        self.kernel = triton.kernel(SOURCE)\n",
    """        self.kernel = triton.kernel(SOURCE)

    def again(self, x, grid):
        return self.once(x, grid=grid)

    def once(self, x, grid):
        return x
""",
)


def test_a_grid_that_is_passed_on_is_no_launch(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (small / "scaling").mkdir()
    (small / "scaling" / "__init__.py").write_text(PASSED_ON)
    assert main(["port", "scaling", "--out", "new"]) == 0, capsys.readouterr().err


def test_a_launch_inside_a_call_is_named(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the line of a call that passes a grid on."""
    (small / "scaling").mkdir()
    inner = "run(scaling.kernel(x, x, x, x.numel(), grid=lambda opt: (1,)), x, grid=(1,))"
    (small / "scaling" / "__init__.py").write_text(
        PASSED_ON.replace("run(kernel, x, grid=lambda opt: (1,))", inner)
    )
    assert main(["port", "scaling", "--out", "new"]) == 1
    assert "this launch is only known at run time: use --run" in capsys.readouterr().err


NUMBER_OF_TYPE = """\
import torch
import triton

src = '''
__global__ void scale(TYPE *Y, TYPE *X, NUMBER a) {
  int i[16] = 0 ... 16;
  *(Y + i) = *(X + i) * a;
}
'''


def scaled(x, a):
    y, long = torch.empty_like(x), 'long' if x.dtype == torch.int32 else x.dtype
    triton.kernel(src, defines={'TYPE': x.dtype, 'LONG': long})(y, x, a, grid=(1,))
    return y


def all():
    for dtype in (torch.half, torch.float, torch.bfloat16, torch.double, torch.int32):
        scaled(torch.ones(16, dtype=dtype), 3)
"""


@pytest.mark.parametrize(("number", "status"), [("TYPE", 0), ("LONG", 1)])
def test_numbers_of_one_type_are_of_one_function(
    number: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long is not passed as a double: such a define set is named, and the launcher refuses it."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "__init__.py").write_text(NUMBER_OF_TYPE.replace("NUMBER", number))
    use = tmp_path / "use.py"
    use.write_text("import old\nold.all()\n")
    command = ["port", str(tmp_path / "old"), "--out", str(tmp_path / "new"), "--run", str(use)]
    assert main(command) == status
    text = (tmp_path / "new/old/kernels/old.py").read_text()
    assert text.count("@triton.jit") == 1
    assert "    a = tl.full((), a, " in text
    said = capsys.readouterr().err
    assert ("not ported: it cannot be one function with " in said) == bool(status), said
