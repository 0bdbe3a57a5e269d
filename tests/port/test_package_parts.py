"""The parts of a package's port: edits of Python files, places of texts, the launcher's size, written files."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytriton.__main__ import main
from pytriton.emit.printer import WIDE
from pytriton.port.command import _given
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, port_kernel
from pytriton.port.package.edits import (
    PythonFile,
    Replacement,
    Uses,
    edited,
    imports,
    tensors,
    uses_of,
)
from pytriton.port.package.launcher import TESTING, launcher, module_of_tests
from pytriton.port.package.modules import ModuleKernel, module
from pytriton.port.package.output import diff, uncommitted
from pytriton.port.package.texts import Places, digest
from pytriton.port.read.library import NAMES
from pytriton.settings import Settings
from pytriton.source import Source
from tests import processes
from tests.processes import python

MAX_WITH_ALL = 270  # lines of a launcher with all parts; no package has them all (test_packages.py)


def shown(text: str, dots: str = ".") -> str:
    file = PythonFile(text.encode())
    changed = edited(file, dots, {}, [*imports(file, dots), *tensors(file)])
    ast.parse(changed)
    return changed.decode()


IMPORTS = [
    ("import triton\n", "from . import _triton as triton\n"),
    ("import torch, triton as tt  # both\n", "import torch\nfrom . import _triton as tt  # both\n"),
    (
        "try:\n    import triton\nexcept ImportError:\n    triton = None\n",
        "try:\n    from . import _triton as triton\nexcept ImportError:\n    triton = None\n",
    ),
    ("from triton import kernel, cdiv as c\n", "from ._triton import kernel, cdiv as c\n"),
    ("from triton.testing import do_bench\n", "from ._testing import do_bench\n"),
    ("import triton.testing as tt\n", "from . import _testing as tt\n"),
    (
        "triton = __import__('triton')\n",
        "triton = __import__('importlib').import_module('._triton', __package__)\n",
    ),
    (
        "from importlib import import_module as load\nload('triton')\n",
        "from importlib import import_module as load\nload('._triton', __package__)\n",
    ),
    (
        "import importlib as i\nk = i.import_module('triton').kernel\n",
        "import importlib as i\nk = i.import_module('._triton', __package__).kernel\n",
    ),
    ("import triton.ops\nx = 'import triton'\n", "import triton.ops\nx = 'import triton'\n"),
    ("import torch\r\nimport triton\r\n", "import torch\r\nfrom . import _triton as triton\r\n"),
    ("\ufeffimport triton\n", "\ufefffrom . import _triton as triton\n"),
    ("é = 'é'; import triton\n", "é = 'é'; from . import _triton as triton\n"),
]


@pytest.mark.parametrize(("before", "after"), IMPORTS)
def test_imports(before: str, after: str) -> None:
    assert shown(before) == after


def test_imports_of_a_folder_below() -> None:
    assert shown("import triton\n", "..") == "from .. import _triton as triton\n"


TESTED = [
    "import triton.testing as tt\ntt.do_bench(f)\n",
    "from triton import testing\ntesting.do_bench(f)\n",
    "import triton.testing\ntriton.testing.do_bench(f)\n",
    "from triton.testing import do_bench\n",
]


@pytest.mark.parametrize("text", TESTED)
def test_uses_of_testing(text: str) -> None:
    uses = uses_of(ast.parse(text))
    assert uses.testing == {"do_bench"}
    assert uses.names <= {"testing"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("k(a.data_ptr(), b[0].data_ptr(), n, grid=g)", "k(a, b[0], n, grid=g)"),
        ("k(0 if a is None else a.data_ptr(), grid=g)", "k(0 if a is None else a, grid=g)"),
        ("k((a if c else b).data_ptr() if use else 0, grid=g)", "k((a if c else b) if use else 0, grid=g)"),
        ("k(f(a.data_ptr()).data_ptr(), grid=g)", "k(f(a.data_ptr()), grid=g)"),
        ("all = (a.data_ptr(), n); k(*all, grid=g)", "all = (a, n); k(*all, grid=g)"),
        ("all = a.data_ptr(), (b + c).data_ptr(); k(*all, grid=g)", "all = a, (b + c); k(*all, grid=g)"),
        (
            "all = [a.data_ptr()]; all += [b.data_ptr(), n]; k(*all, grid=g)",
            "all = [a]; all += [b, n]; k(*all, grid=g)",
        ),
        ("all = [a.data_ptr()]; k(*all, grid=g); print(all)", None),
        ("all = [a.data_ptr()]; k(*all, grid=g); host(*all)", None),
        ("p = a.data_ptr(); k(p, grid=g)", None),
        ("k(a.data_ptr() + 4, grid=g)", None),
        ("host(a.data_ptr(), n)", None),
        ("k(a, grid=host(a.data_ptr()))", None),
    ],
)
def test_tensors_in_place_of_addresses(before: str, after: str | None) -> None:
    assert shown(before) == (after or before)


def test_two_strings_on_one_line() -> None:
    """Each is replaced by its own name."""
    line = f"A, B = {'a' * 50!r}, {'b' * 50!r}\n"
    strings = {(1, 7): Replacement("ONE", "kernels.x"), (1, 61): Replacement("TWO", "kernels.x")}
    changed = edited(PythonFile(line.encode()), ".", strings, ()).decode()
    assert changed == "from .kernels.x import ONE, TWO\nA, B = ONE, TWO\n"


KERNEL = "__global__ void {name}(float *X __noalias) {{ int i[TN] = 0 ... TN; *(X + i) = {value}; }}"


TEXT = KERNEL.format(name="f", value=3)
LAUNCHED = [  # what code does with a string until it is launched: it becomes the name of its kernel
    "SRC = TEXT\nkernel = triton.kernel(SRC, defines={'TN': 4})\nx = kernel.source % 3",
    "class A:\n    src = TEXT\n    def go(self):\n        return triton.kernel(self.src, defines=self.d)",
    "SRC = {'f': TEXT}\ndef made(name, n):\n    return triton.kernel(SRC[name], defines={'TN': n})",
    "class A:\n    def __init__(self, src):\n        self.src = src\n        triton.kernel(self.src)\nA(TEXT)",
    "make = functools.partial(triton.kernel, TEXT)\nmake(defines=d)",
]
ASKED = [  # it stays, also where that is not worth a proof
    "for name, src in [('f', TEXT)]:\n    made[name] = kernel(src)\nmade['f'].replace('a', 'b')",
    "def source(): return TEXT\nk = triton.kernel(source())\nprint(k)",
    "def h(code):\n    match code:\n        case str(): triton.kernel(code)\nh(TEXT)",
    "@functools.singledispatch\ndef launch(code, x): return x\nlaunch(TEXT, x)",
    "TABLE = {'a': TEXT}\ntry:\n    TABLE['a'][0]\nexcept TypeError: pass",
    "SRC = TEXT\nif SRC < '~': pass",
    "L = []\nL.append(TEXT)\nL[0].replace('a', 'b')",
    "def mk(q, *, tpl=TEXT): return tpl.replace('a', 'b')",
    "mk = lambda q, tpl=TEXT: tpl.replace('a', 'b')",
    "def mk(*args): return args[0].replace('a', 'b')\nmk(TEXT)",
    "o = dict(z=TEXT)\nbuild(**o)",
    "class A:\n    def setup(self, tpl): tpl.strip()\nclass B:\n    def setup(self, w): pass\nA().setup(TEXT)",
    "class A:\n    def __init__(self, z): z.strip()\nclass B(A):\n    def __init__(self, z):\n"
    "        super().__init__(z)\nB(TEXT)",
    "def mk(tpl, q): return tpl.strip()\nb = functools.partial(mk, TEXT)",
    "def d():\n    TEXT\ntriton.kernel(d.__doc__)",
    "class S(enum.Enum):\n    A = TEXT\nS.A.value.replace('a', 'b')",
    "SRC = TEXT\ngetattr(mod, 'SRC').replace('a', 'b')",
    "def texts(): yield TEXT",
    "async def text():\n    return TEXT\ntext().strip()",
    "class C:\n    def __init_subclass__(cls, tpl=None): cls.z = tpl.strip()\nclass D(C, tpl=TEXT): pass",
    "SRC = TEXT\nSRC.replace('3', '4')",
    "len(TEXT)",
    "SRC = TEXT\n'float' in SRC",
    "SRC = TEXT\nHEAD + SRC",
    "SRC = TEXT\nSRC += '//'",
    "SRC = TEXT\nf'{HEAD}{SRC}'",
    "SRC = TEXT\nSRC[3:]",
    "SRC = {'f': TEXT}\nclass A:\n    def go(self, name):\n        self.src = SRC[name]\nre.findall('a', A().src)",
    "def changed(text): return text.split()\nchanged(TEXT)",
    "def changed(n, text=TEXT): return text % n",
    "def source(): return TEXT\nk = triton.kernel(textwrap.dedent(source()))",
    "for src in [TEXT]:\n    ''.join([src, src])",
    "all = [text.strip() for text in [TEXT]]",
    "class A:\n    def __init__(self): self.src = TEXT\ntorch.save(A(), 'file')",
]


@pytest.mark.parametrize(("code", "asked"), [*((c, False) for c in LAUNCHED), *((c, True) for c in ASKED)])
def test_what_is_done_with_a_string(code: str, asked: bool, tmp_path: Path) -> None:
    (tmp_path / "texts.py").write_text(code.replace("TEXT", f"'''{TEXT}'''"))
    place = Places(tmp_path).of_text(TEXT, tmp_path)
    assert place.owner == tmp_path / "texts.py"
    assert (len(place.strings) == 0) is asked


def test_places_of_files_and_of_what_is_put_together(tmp_path: Path) -> None:
    for name in ("one.c", "two.c"):
        (tmp_path / name).write_text(f"{TEXT}\r\n")
    (tmp_path / "broken.py").write_text("print 'of Python 2'\n")
    places = Places(tmp_path)
    assert places.of_text(f"\n{TEXT}", tmp_path) == (
        tmp_path / "one.c",
        (),
        (tmp_path / "one.c", tmp_path / "two.c"),
    )
    assert places.of_text(f"#define A\n{TEXT}", tmp_path / "ops.py") == (tmp_path / "ops.py", (), ())
    assert [*places.broken] == [tmp_path / "broken.py"]
    assert places.is_asked((tmp_path.parent / "of_another_package.py", 1, 0))


def test_a_digest_is_of_the_text_but_for_sizes_of_buffers() -> None:
    text = "__constant__ int* lut = calloc(16);\nvoid f() {}"
    assert digest(text) == digest(f"\n{text.replace('16', '2048')}\n".replace("\n", "\r\n"))
    assert (
        len(
            {
                digest(text),
                digest(text.replace("int", "long")),
                digest(text, ("f",)),
                digest(text, ("f", "g")),
            }
        )
        == 4
    )


def test_launcher_with_all_parts_is_small(tmp_path: Path) -> None:
    uses = Uses(set(NAMES) | {"cdiv"}, set(TESTING))
    uses.keywords |= {"bench", "num_warps"}
    uses.attributes |= {"set_constant", "strip", "deepcopy"}
    uses.by_place |= {"triton.kernel", "triton.read"}
    text = launcher("kernels", uses, [], ["0"], True)
    assert len(text.splitlines()) <= MAX_WITH_ALL
    (tmp_path / "_triton.py").write_text(text)
    (tmp_path / "_testing.py").write_text(module_of_tests(uses))
    assert (
        python("-m", "ruff", "format", "--isolated", "--line-length=120", "--check", tmp_path).returncode == 0
    )


# ---------------------------------------------------------------- where it is written

CALL = """\
import triton
kernel = triton.kernel(SOURCE, defines={'TN': 16})
def run(x):
    kernel(x, grid=lambda o: [1])
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "small"
    root.mkdir()
    (root / "__init__.py").write_text("from .fill import run\n")
    text = KERNEL.format(name="fill", value=1)
    (root / "fill.py").write_text(CALL.replace("SOURCE", f"'''{text}'''"))
    (root / "data.bin").write_bytes(b"\x00\xff")
    monkeypatch.chdir(tmp_path)
    return root


def test_a_second_run_changes_nothing_and_edits_are_kept(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["port", "small", "--out", "new"]) == 0
    assert (small.parent / "new/small/data.bin").read_bytes() == b"\x00\xff"
    assert main(["port", "small", "--out", "new"]) == 0
    assert "0 files written" in capsys.readouterr().out
    kernels = small.parent / "new/small/kernels/fill.py"
    kernels.write_text(kernels.read_text() + "# mine\n")
    assert main(["port", "small", "--out", "new"]) == 2
    assert kernels.read_text().endswith("# mine\n")


@pytest.mark.parametrize(("progress", "wanted"), [("1", r"porting \S+\.py \(1 of 1\)\n"), ("0", "")])
def test_standard_error_has_the_progress_and_nothing_else(small: Path, progress: str, wanted: str) -> None:
    """No warning of Triton, which has one for everybody who compiles."""
    command = [sys.executable, "-m", "pytriton", "port", "small", "--out", "new"]
    variables = {**os.environ, "PYTHONPATH": str(processes.ROOT), "PYTRITON_PROGRESS": progress}
    done = processes.run(command, env=variables)
    assert done.returncode == 0
    assert re.fullmatch(wanted, done.stderr)


def test_a_module_of_ones_own_in_another_encoding_is_refused(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (small / "_triton.py").write_bytes(b"# -*- coding: latin-1 -*-\n# \xe9\n")
    assert main(["port", "small", "--out", "new"]) == 2
    assert "_triton.py: a port has a module of this name" in capsys.readouterr().err


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_in_place_is_the_diff(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--diff`` can be applied by git, and gives what ``--in-place`` makes; that wants a committed tree."""
    assert main(["port", "small", "--in-place"]) == 2
    assert "--in-place makes commits: fatal: not a git repository" in capsys.readouterr().err
    git(small.parent, "init", "-q")
    git(small.parent, "config", "user.name", "a")
    git(small.parent, "config", "user.email", "a@b")
    assert uncommitted(small)
    assert main(["port", "small", "--in-place"]) == 2
    git(small.parent, "add", "-A")
    git(small.parent, "commit", "-qm", "old")
    capsys.readouterr()
    assert main(["port", "small", "--diff"]) == 0
    (small.parent / "change.diff").write_text(capsys.readouterr().out)
    assert main(["port", "small", "--in-place"]) == 0
    made = {path.name: path.read_bytes() for path in small.rglob("*.py")}
    commits = git(small.parent, "log", "--format=%s", "HEAD").splitlines()
    new = ["small/_triton.py", "small/kernels/fill.py", "small/kernels/__init__.py"]
    assert commits[0] == "port fill.py to @triton.jit"
    assert git(small.parent, "show", "--name-only", "--format=").split() == ["small/fill.py"]
    assert sorted(git(small.parent, "diff", "--name-only", "HEAD~4", "HEAD~1").split()) == sorted(new)
    assert len(commits) == 5
    assert main(["port", "small", "--in-place"]) == 0
    assert git(small.parent, "status", "--porcelain", "small") == ""
    git(small.parent, "checkout", "-q", "HEAD~4", "--", "small")
    git(small.parent, "rm", "-rqf", "small/kernels", "small/_triton.py")
    git(small.parent, "apply", "change.diff")
    assert {path.name: path.read_bytes() for path in small.rglob("*.py")} == made


def test_what_a_port_has_not_seen_is_named(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", "small", "--out", "new"]) == 0
    ported = small.parent / "new" / "small"
    assert main(["port", str(ported)]) == 0
    assert capsys.readouterr().out.endswith("small: is already ported\n")
    (ported / "later.py").write_text(CALL.replace("SOURCE", f"'''{TEXT}'''"))
    assert main(["port", str(ported)]) == 1
    assert capsys.readouterr().out == f"small: is already ported, but not {ported / 'later.py'}\n"


def test_kernels_only_writes_no_package(small: Path) -> None:
    main(["port", "small", "--out", "new", "--kernels-only"])
    assert not (small.parent / "new/small/_triton.py").exists()
    assert list((small.parent / "new").rglob("*.py"))


def test_diff_of_a_file_that_leaves(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("x\n")
    name = tmp_path.name
    wanted = f"--- a/{name}/a.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert diff(tmp_path, {"a.c": None}) == wanted


def test_what_is_declared_on_many_defines_has_short_lines() -> None:
    flags = [f"A_LONG_FLAG_{number}" for number in range(9)]
    numbers = [f"A_LONG_NUMBER_{number}" for number in range(9)]
    asked = "\n".join(
        f"#ifdef {flag}\n*X += {number};\n#endif" for flag, number in zip(flags, numbers, strict=True)
    )
    head = f"#ifdef {flags[0]}\nvoid dot(double *X, T n) {{\n#else\nvoid dot(double *X) {{ T n = 0;\n#endif"
    text = f"{head}\n{asked}\n*X += n; }}"
    sets: list[dict[str, Any]] = [dict.fromkeys(numbers, 2)]
    sets += [sets[0] | {flag: True} for flag in flags]
    sets = [defines | {"T": "long"} for defines in sets]
    one = port_kernel(Translations(Source(text), Settings(None)), [*map(DefineSet, sets)])
    entries = [ModuleKernel("ONE", one, "dot")]
    written = module("dot.c", entries)
    assert max(map(len, written.splitlines())) <= WIDE
    given: dict[str, Any] = {"Source": lambda *_, **named: named}
    names = {**given, "dot": None}
    exec("\nONE = " + written.partition("\nONE = ")[2], names)
    ((condition, missing),) = names["ONE"]["absent"]
    assert missing == ["n"]
    assert condition()
    assert not condition(**{flags[0]: True})


def test_defines_of_the_command_line() -> None:
    """A text with a comma is in quotes; without them a comma makes a list."""
    given = _given(["TM=64", "TN=32,64", "FLAG", "ALONG=':, newaxis'", "USE='a', '(^a, 1)'", "BROKEN='a"])
    assert given == {
        "TM": "64",
        "TN": ["32", "64"],
        "FLAG": "1",
        "ALONG": ":, newaxis",
        "USE": ["a", "(^a, 1)"],
        "BROKEN": "'a",
    }
