"""The commonest mistakes of a first hour, and exactly what is said of each."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch
import triton

import pytriton
from pytriton.__main__ import main
from tests.processes import python

ADD = """
__global__ void add(float* z, float* x, float* y, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool ok[TILE] = i < n;
  *?(ok)(z + i) = *?(ok)(x + i) + *?(ok)(y + i);
#ifdef EVEN_N
  *z = 0;
#endif
}
"""
N = 100
x, y, z = torch.arange(N).float(), torch.ones(N), torch.zeros(N)
ORDERS = "help: the order is kernel(src, defines, num_warps) or kernel(src, device, defines, num_warps)"


def grid(opt: Any) -> tuple[int]:
    return (pytriton.cdiv(N, opt.TILE),)


def add(**options: Any) -> pytriton.Kernel:
    return pytriton.kernel(ADD, **{"defines": {"TILE": 32}, **options})


ASSERTING = '_Static_assert(TILE > 64, "too small");' + ADD
MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "no argument": (
        lambda: add()(),
        "<kernel>: a call needs a grid [TC511]\n"
        "help: give grid=(n,), or a function of the options such as lambda opt: (pytriton.cdiv(n, opt.TILE),)",
    ),
    "the grid forgotten": (
        lambda: add()(z, x, y, N),
        "add: it takes 4 arguments, not 3 [TC501]\n"
        "note: without grid= the last argument is the grid: 100 was taken for it\n"
        "help: call it as add(float *z, float *x, float *y, int n), with grid= or the grid as last argument",
    ),
    "a tensor taken for the grid": (
        lambda: pytriton.kernel("void one(float* x) { *x = 1; }")(x),
        "one: it takes 1 argument, not 0 [TC501]\n"
        "note: without grid= the last argument is the grid: a Tensor was taken for it\n"
        "help: call it as one(float *x), with grid= or the grid as last argument",
    ),
    "a tensor as keyword": (
        lambda: add()(z=z, x=x, y=y, n=N, grid=grid),
        "define 'z' is a tensor: a keyword of a call is a define [TC513]\n"
        "help: pass the arguments of the kernel by position, 'z' too",
    ),
    "a grid without options": (
        lambda: add()(z, x, y, N, grid=lambda: (4,)),
        "add: the grid is a function that does not take the options: <lambda>() takes 0 positional arguments but 1 "
        "was given [TC511]\nhelp: write lambda opt: (pytriton.cdiv(n, opt.TILE),), with one argument",
    ),
    "num_warp= of the constructor": (
        lambda: add(num_warp=4),
        "pytriton.kernel has no option 'num_warp' [TC515]\nhelp: did you mean 'num_warps'?",
    ),
    "a define of the constructor": (
        lambda: add(TILE=4),
        "pytriton.kernel has no option 'TILE' [TC515]\nhelp: a define is given in defines={'TILE': ...}",
    ),
    "an assertion under a sweep": (
        lambda: pytriton.kernel(ASSERTING, name="add.c", defines={"TILE": [16, 32]}),
        "no variant of the sweep is left [TC601]\n"
        "  Config(TILE=16, num_warps=4): add.c:1:16: error: static assertion failed: too small [TC316]\n"
        "  Config(TILE=32, num_warps=4): add.c:1:16: error: static assertion failed: too small [TC316]\n"
        "help: give values for which the source's own 'TILE > 64' holds",
    ),
    "the device after the defines": (
        lambda: pytriton.kernel(ADD, {"TILE": 32}, torch.device("cpu")),
        f"num_warps is device(type='cpu') [TC515]\n{ORDERS}",
    ),
    "num_warps after the device": (
        lambda: pytriton.kernel(ADD, "cuda", 4, {"TILE": 32}),
        f"defines must be a dict, not 4 [TC515]\n{ORDERS}",
    ),
    "the device between": (
        lambda: pytriton.kernel(ADD, {"TILE": 32}, "cuda", 4),
        f"pytriton.kernel takes 2 arguments after the source (defines, num_warps), not 3 [TC515]\n{ORDERS}",
    ),
    "no text": (
        lambda: pytriton.translate(3),  # type: ignore[arg-type]
        "expected source text or a Path, got int [TC515]\nhelp: give a str, bytes, or a pathlib.Path",
    ),
    "no dict": (
        lambda: pytriton.translate(ADD, ["TILE"]),  # type: ignore[arg-type]
        "defines must be a dict, not ['TILE'] [TC515]\nhelp: give defines={'TM': 64}",
    ),
    "a grid function without a return": (
        lambda: add()(z, x, y, N, grid=lambda opt: None),
        "add: the grid is None: does its function return nothing? [TC511]\n"
        "help: give a function of the options, or 1 to 3 integers; round up with pytriton.cdiv(a, b)",
    ),
    "a define of the grid misspelt": (
        lambda: add()(z, x, y, N, grid=lambda opt: (N // opt.TILES,)),
        "the options have no define 'TILES' [TC514]\nhelp: did you mean 'TILE'?",
    ),
    "a sparse tensor": (
        lambda: add()(z.to_sparse(), x, y, N, grid=grid),
        "add: argument 1 'z' (float *z) is a sparse_coo tensor [TC510]\n"
        "help: pass its .to_dense(), or its .values() and indices",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    mistake, wanted = MISTAKES[name]
    with pytest.raises(pytriton.PytritonError) as caught:
        mistake()
    said = str(caught.value).replace("<lambda>.<locals>.", "")
    assert said == wanted


def test_the_name_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "add.c"
    file.write_text(ADD)
    for take in (pytriton.kernel, pytriton.translate):
        with pytest.raises(
            pytriton.ParseError, match="this is the name of a file, not kernel source"
        ) as caught:
            take(str(file))
        assert str(caught.value).endswith(f"help: give pathlib.Path('{file}')")
    assert pytriton.gradient(file, defines={"TILE": 32}).steps
    assert pytriton.translate(file, {"TILE": 32}).text == pytriton.translate(ADD, {"TILE": 32}).text


@pytest.mark.filterwarnings("ignore:.*runs kernels on CPU tensors")
@pytest.mark.parametrize(
    ("given", "meant"), [("num_warp", "num_warps"), ("EVENN", "EVEN_N"), ("girds", None), ("CHECK", None)]
)
def test_a_define_that_nobody_asks_for(given: str, meant: str | None, recwarn: Any) -> None:
    kernel = add()
    for _ in range(2):
        kernel(z, x, y, N, grid=grid, **{given: 4})
    said = [str(warning.message) for warning in recwarn if "TC528" in str(warning.message)]
    wanted = f"the source does not mention the define '{given}' [TC528]\nhelp: did you mean '{meant}'?"
    assert said == ([] if meant is None else [wanted])


def test_a_grid_function_of_the_user_raises_its_own_error() -> None:
    def wrong(opt: Any) -> tuple[int]:
        return (len(opt.TILE),)

    with pytest.raises(TypeError, match="has no len"):
        add()(z, x, y, N, grid=wrong)


def test_subscripted_by_the_grid() -> None:
    z.zero_()
    add()[(4,)](z, x, y, N)
    assert torch.equal(z, x + y)


def test_configs_of_triton() -> None:
    points = [triton.Config({"TILE": 32}, num_warps=2, num_stages=3)]
    kernel = pytriton.kernel(ADD, autotune_configs=points)
    kernel(z, x, y, N, grid=grid)
    assert kernel.best_config == pytriton.config({"TILE": 32}, 2, num_stages=3)


def test_as_text() -> None:
    translation = pytriton.translate("#define A 1\n#define A 2\n" + ADD, {"TILE": 32})
    assert str(translation) == translation.text
    assert str(translation.warnings[0]) == translation.warnings[0].render()


class TestRoundedDownGrids:
    """A floor where a ceiling was meant leaves the end of the output; what may be meant is left alone."""

    FILL = (
        "void fill(float* z, int n) { int i[16] = get_program_id(0) * 16 + 0 ... 16; *?(i < n)(z + i) = 1; }"
    )

    def said(self, kernel: pytriton.Kernel, *arguments: Any, grid: int) -> list[str]:
        with warnings.catch_warnings(record=True, action="always") as caught:
            kernel(*arguments, grid=grid)
        return [str(warning.message) for warning in caught if "TC556" in str(warning.message)]

    def test_is_told_of_once(self) -> None:
        kernel = pytriton.kernel(self.FILL, name="fill.c")
        bare = pytriton.kernel(self.FILL.replace("?(i < n)", ""))
        assert self.said(kernel, torch.zeros(40), 40, grid=2) == [
            "fill.c:1:77: warning: no program stores to the end of 'z': the last 8 of its 40 elements are left as "
            f"before [TC556]\n    1 | {self.FILL}\n      | {'^'.rjust(77)}{'~' * 15}\n"
            "note: a grid of (2, 1, 1) with blocks of 16 covers 32 elements\n"
            "help: round the grid up, pytriton.cdiv(40, 16)"
        ]
        assert not self.said(kernel, torch.zeros(40), 40, grid=2)
        (said,) = self.said(bare, torch.zeros(33), 33, grid=2)
        assert "the last of its 33 elements is left as before" in said
        assert said.endswith("and mask the block that is then not full: *?(i < n)(p + i)")

    @pytest.mark.parametrize(
        ("size", "n", "grid"),
        [(40, 40, 3), (32, 32, 2), (40, 32, 2), (64, 64, 2), (10, 10, 1)],
        ids=["round up", "nothing left", "n is what is done", "a whole block is left", "one program"],
    )
    def test_silent(self, size: int, n: int, grid: int) -> None:
        assert not self.said(pytriton.kernel(self.FILL), torch.zeros(size), n, grid=grid)

    def test_silent_for_views(self) -> None:
        assert not self.said(pytriton.kernel(self.FILL), torch.zeros(80)[::2], 40, grid=2)


class TestCommandLine:
    @pytest.fixture(autouse=True)
    def _here(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.captured = capfd
        monkeypatch.chdir(tmp_path)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        try:
            status = main(arguments)
        except SystemExit as done:  # argparse
            status = int(done.code or 0)
        out, error = self.captured.readouterr()
        return status, out, error

    def test_nothing(self) -> None:
        status, out, _ = self.run()
        assert status == 0
        assert out.startswith("usage: pytriton")

    def test_version_and_info(self) -> None:
        assert self.run("--version") == (0, f"pytriton {pytriton.__version__}\n", "")
        status, out, _ = self.run("info")
        printed = dict(line.split(None, 1) for line in out.splitlines())
        assert status == 0
        assert printed["torch"] == version("torch")
        assert {"Python", "triton", "device", "cache", "executable"} <= printed.keys()

    def test_explain(self) -> None:
        status, out, _ = self.run("explain", "--list")
        assert status == 0
        assert any(line.startswith("TC012  The name of a file") for line in out.splitlines())
        status, out, error = self.run("explain", "TC999")
        assert (status, out) == (2, "")
        assert error == (
            "usage: pytriton explain [-h] [--list] [CODE]\n"
            "pytriton explain: error: unknown code 'TC999'; --list shows all\n"
        )

    def test_translate(self, tmp_path: Path) -> None:
        (tmp_path / "add.c").write_text(ADD)
        (tmp_path / "add.py").write_text("import triton\n")
        assert self.run("translate", "add.py") == (2, "", "add.py: error: no Triton-C in it\n")
        status, _, error = self.run("translate", "add.c")
        assert status == 1
        assert error.endswith("help: give it with -D TILE=..., or declare it\n")
        for value in ("TILE=32", "TILE=32,64"):
            status, out, _ = self.run("translate", "add.c", "-D", value)
            assert (status, out) == (0, pytriton.translate(ADD, {"TILE": 32}).text)

    def test_run_without_the_package(self, tmp_path: Path) -> None:
        (tmp_path / "script.py").write_text("print('done')\n")
        status, out, error = self.run("run", "--legacy", "oldpkgs", "script.py")
        assert (status, out) == (0, "done\n")
        assert error == "pytriton run: warning: nothing imported 'oldpkgs' (--legacy oldpkgs)\n"
        (tmp_path / "oldpkg.py").write_text("")
        (tmp_path / "script.py").write_text("import oldpkg\n")
        _, _, error = self.run("run", "--legacy", "oldpkgs", "script.py")
        assert error.endswith("(--legacy oldpkgs); did you mean 'oldpkg'?\n")
        del sys.modules["oldpkg"]
        (tmp_path / "script.py").write_text("print('done')\n")  # it may end before it imports anything
        _, _, error = self.run("run", "--legacy", "oldpkgs", "script.py")
        assert error.endswith("(--legacy oldpkgs); did you mean 'oldpkg'?\n")
        _, _, error = self.run("run", "--legacy", "oldpkg", "script.py")
        assert error.endswith("(--legacy oldpkg)\n")


def test_without_torch(tmp_path: Path) -> None:
    """A sentence, and the translator works."""
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import pytriton\n"
        "print(len(pytriton.translate('void one(float* x) { *x = 1; }').text) > 0)\n"
        "try: pytriton.kernel\n"
        "except ImportError as error: print(error, error.__context__)\n"
    )
    assert python("-c", program).stdout == (
        "True\npytriton.kernel needs torch, which is not installed: pip install 'pytriton-c[torch]'; "
        "pytriton.translate does not need it None\n"
    )
