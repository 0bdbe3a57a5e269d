"""Launches that run as C: when they do, what threads find outside, what waits, when fast code runs."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import pytriton
from pytriton.__main__ import main
from pytriton.errors import LaunchError
from pytriton.native.c_module import to_c
from pytriton.runtime import errors
from pytriton.runtime.interpret import interpreter
from pytriton.runtime.native import c_compiler, native_kernel, processor
from pytriton.runtime.native.c_compiler import NoLibrary, find
from pytriton.settings import Settings
from tests.native.interrupts import interrupted
from tests.together import in_threads

pytestmark = pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")


@pytest.fixture(autouse=True)
def in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTRITON_CC", "cc")


COPY = """void copy(float *x, float *z) {
  int i[16] = get_program_id(0) * 16 + 0 ... 16;
  *(z + i) = *(x + i);
}"""


@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_threads_report_the_first_program(monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    monkeypatch.setenv("PYTRITON_THREADS", threads)
    x, z = torch.arange(4096.0), torch.zeros(1000)
    with pytest.raises(LaunchError) as caught:
        pytriton.kernel(COPY, name="copy.c")(x, z, grid=256)
    assert "copy.c:3:3: error: store outside 'z': 1 element past the end [TC550]" in str(caught.value)
    assert "in program (62, 0, 0) of a grid of (256, 1, 1), element [8] of the block [16]" in str(
        caught.value
    )
    assert "3095 more elements, in 194 programs" in str(caught.value)
    assert torch.equal(z, x[:1000])


def test_blocks_that_are_not_rows_are_checked() -> None:
    text = "void f(int *x, int *z, int s) { int i[8] = 0 ... 8; *(z + i * s) = *(x + i); }"
    z = torch.zeros(16).int()
    with pytest.raises(LaunchError, match=r"element \[6\] of the block \[8\]; 1 more element"):
        pytriton.kernel(text)(torch.arange(8).int(), z, 3, grid=1)
    assert z[::3].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("body", "waits"),
    [
        ("while (atomic_cas(p, 0, 1) == 1);", True),
        ("for (;;) { int old = *p; if (old == 3) break; }", True),
        ("int v = 0; do { if (n > 2) v = *p; } while (v == 0);", True),
        ("while (n > 0) { if (*p) n -= 1; n -= 1; }", True),
        ("int k = *p; while (k > 0) k -= 1;", False),
        ("for (int k = 0; k < n; k++) atomic_add(p, k);", False),
        ("int s = 0; while (n > 0) { s += *p; n -= 1; } *p = s;", False),
    ],
)
def test_loops_that_may_wait(body: str, waits: bool) -> None:
    text = f"void f(int *p, int n) {{ {body} }}"
    assert bool(to_c(text, {}, Settings()).loops) == waits


def test_fast_code_runs_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """It replaces the quickly compiled code in the middle of a launch, and is taken from the cache later."""
    built = []
    given = processor.build

    def build(name: str, text: str, *flags: str) -> object:
        built.append(flags)
        return given(name, text, *flags)

    monkeypatch.setattr(processor, "build", build)
    text = COPY.replace("*(x + i)", "*(x + i) + 17")
    x, z = torch.arange(4096.0), torch.zeros(4096)
    pytriton.kernel(text)(x, z, grid=256)
    assert built == [()]
    monkeypatch.setattr(processor, "COMPILATION", 0)
    pytriton.kernel(text)(x, z, grid=256)
    assert built == [(), (), (c_compiler.FAST,)]
    pytriton.kernel(text)(x, z, grid=256)
    assert built[3:] == [(c_compiler.FAST,)]
    assert torch.equal(z, x + 17)


@pytest.mark.parametrize("keep", [0, 100, -1])
def test_a_torn_library_is_compiled_again(keep: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading the first half of one may end the process."""
    monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path))
    text = COPY.replace("*(x + i)", "*(x + i) + 19")
    x, z = torch.arange(4096.0), torch.zeros(4096)
    pytriton.kernel(text)(x, z, grid=256)
    (library,) = tmp_path.glob("*.so")
    library.with_suffix(".torn").write_bytes(library.read_bytes()[:keep])
    library.with_suffix(".torn").rename(library)
    assert not c_compiler.is_whole(library)
    pytriton.kernel(text)(x, z.zero_(), grid=256)
    assert torch.equal(z, x + 19)
    assert c_compiler.is_whole(library)


def test_a_library_that_cannot_be_written_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter runs the kernel."""
    monkeypatch.setattr(c_compiler, "store_bytes", lambda name, content: tmp_path / name)
    x, z = torch.arange(64.0), torch.zeros(64)
    pytriton.kernel(COPY.replace("*(x + i)", "*(x + i) + 23"))(x, z, grid=4)
    assert torch.equal(z, x + 23)


def test_what_runs_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = pytriton.kernel(COPY.replace("16", "TILE"), {"TILE": [8, 16]})
    text = kernel.asm("c", defines={"TILE": 4})
    (tmp_path / "copy.c").write_text(COPY.replace("16", "4"))
    assert main(["translate", str(tmp_path / "copy.c"), "--to", "c"]) == 0
    assert [line.strip() for line in text.splitlines() if "for (" in line] == [
        line.strip() for line in capsys.readouterr().out.splitlines() if "for (" in line
    ]
    kernel(torch.arange(16.0), torch.zeros(16), grid=1)
    assert "copy_programs" in kernel.asm("c") != text


def test_an_interrupt_ends_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two chunks of programs; no thread runs on."""
    monkeypatch.setenv("PYTRITON_THREADS", "3")
    text = "void f(int *z, int n) { for (int i = 0; i < n; i++) atomic_add(z, 1); }"
    z = torch.zeros(1).int()
    with interrupted(z):
        pytriton.kernel(text)(z, 100_000, grid=1_000_000)
    done = z.item()
    time.sleep(0.1)
    assert 0 < done == z.item()


def reports(kernel: Callable[..., object], *arguments: object) -> list[str]:
    """The warnings of a launch."""
    with warnings.catch_warnings(record=True, action="always") as seen:
        kernel(*arguments, grid=1)
    return [str(w.message) for w in seen]


class TestWhoRuns:
    STORE = "void f(int *p, int n) { *p = n; }"

    @pytest.fixture(autouse=True)
    def untold(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(errors, "_warned", set())

    def test_none_is_the_interpreter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTRITON_CC", "none")
        monkeypatch.setattr(processor, "build", None)
        for check in (None, False):
            p = torch.zeros(1).int()
            said = reports(pytriton.kernel(self.STORE, check=check), p, 3)
            assert (p.item(), said) == (3, [f"{interpreter._NOTICE} [TC560]"] if check is None else [])
        assert native_kernel.runner() == "Triton's interpreter: PYTRITON_CC is none"

    def test_who_compiles(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """The compiler that is named; if it is named in ``CC`` only, the next one where it does not run."""
        for name in ("cc", "clang", "gcc", "named"):
            (tmp_path / name).write_text(f"#!/bin/sh\necho {name}")
            (tmp_path / name).chmod(0o700)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setattr(c_compiler, "find_spec", lambda _: None)
        for ours, cc, found in (
            ("clang", "named", "clang"),
            ("", "named", "named"),
            ("", "no-such-compiler", "cc"),
            ("", "named '", "cc"),
            ("", "", "cc"),
        ):
            monkeypatch.setenv("PYTRITON_CC", ours)
            monkeypatch.setenv("CC", cc)
            compiler = find()
            assert isinstance(compiler, c_compiler.CCompiler)
            assert compiler.version == found
        monkeypatch.setenv("PATH", "")
        (said,) = reports(pytriton.kernel(self.STORE), torch.zeros(1).int(), 3)
        assert said.endswith("no C compiler was found: install gcc or clang, or ziglang by pip [TC560]")

    @pytest.mark.parametrize("check", [None, False])
    def test_c_runs(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        check: bool | None,
    ) -> None:
        monkeypatch.setattr(interpreter.Interpreted, "run", None)
        p = torch.zeros(1).int()
        assert reports(pytriton.kernel(self.STORE, check=check), p, 3) == []
        assert p.item() == 3
        main(["info"])
        assert "C where that is possible, by cc (" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("compiler", "why"),
        [
            ("no-such-compiler", "PYTRITON_CC is 'no-such-compiler', which does not run"),
            ("cc '", """PYTRITON_CC is "cc '", which does not run"""),
            ("true", "true failed"),
        ],
    )
    def test_one_notice_of_a_compiler_that_does_not_work(
        self, monkeypatch: pytest.MonkeyPatch, compiler: str, why: str
    ) -> None:
        monkeypatch.setenv("PYTRITON_CC", compiler)
        for value in (3, 4):
            p = torch.zeros(1).int()
            said = reports(pytriton.kernel(self.STORE), p, value)
            assert p.item() == value
            assert [why in text for text in said] == ([True] if value == 3 else [])

    def test_each_reason_once(self) -> None:
        for body, why in (('printf("%d", n);', "printf cannot be printed as C yet"),):
            kernel = pytriton.kernel(f"void f(int *p, int n) {{ {body} }}")
            (said,) = reports(kernel, torch.zeros(4).int(), 3)
            assert said.startswith(interpreter._NOTICE)
            assert why in said
            assert reports(kernel, torch.zeros(4).int(), 3) == []
        (said,) = reports(kernel.check_races, torch.zeros(4).int(), 3)
        assert "check_races and traces need the interpreter" in said


def test_launches_of_several_threads_run_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the default stream of a GPU: a program may count in memory that launches share."""
    monkeypatch.setenv("PYTRITON_THREADS", "1")
    count = pytriton.kernel("void count(int *c, int n) { for (int k = 0; k < n; k += 1) *c = *c + k % 2; }")
    counter = torch.zeros(1).int()
    in_threads(lambda _: [count(counter, 2_000_000, grid=1) for _ in range(3)], range(4))
    assert counter.item() == 12_000_000


def test_huge_pages_are_asked_for() -> None:
    """Of the memory of large tensors that a kernel writes, also where it gets a part of one."""
    smaps = Path("/proc/self/smaps")
    if not smaps.exists() or "VmFlags" not in smaps.read_text():
        pytest.skip("the system does not show what was asked for")

    def flags(address: int) -> list[str]:
        """Those of the piece of memory that an address is in."""
        for piece in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", smaps.read_text()):
            low, high = (int(bound, 16) for bound in piece.split()[0].split("-"))
            if low <= address < high:
                return piece.partition("VmFlags:")[2].split()
        raise AssertionError(f"no memory at {address:#x}")

    x, whole, part = (torch.zeros(1 << 24) for _ in range(3))
    kernel = pytriton.kernel(COPY)
    kernel(x, whole, grid=1)
    kernel(x, part[1 << 23 :], grid=1)
    asked = ["hg" in flags(tensor.data_ptr() + (1 << 25)) for tensor in (x, whole, part)]
    assert asked == [False, True, True]
