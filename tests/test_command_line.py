"""The command line as a whole: help, examples that the parser takes, completion. Each command has its own tests."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytriton.__main__ import main
from pytriton.command_line import parser
from tests.processes import python

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "command-line.md"
TOP = parser("0")


def commands() -> dict[str, Any]:
    (found,) = (action.choices for action in TOP._actions if isinstance(action.choices, dict))
    return dict(found)


@pytest.mark.parametrize("name", commands())
def test_help_has_examples_and_exit_status(name: str) -> None:
    text = commands()[name].format_help()
    examples = re.findall(r"^  (pytriton [^|>\n]*)", text.partition("\nexample")[2], re.MULTILINE)
    assert examples
    assert "\nexit status: " in text
    for example in examples:
        assert TOP.parse_args(shlex.split(example)[1:]).command == name


def test_every_command_is_on_its_page() -> None:
    told = re.findall(r"\{output\} pytriton (\w+) --help", PAGE.read_text(encoding="utf-8"))
    assert sorted(told) == sorted(commands())


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["port", "--help"], []])
def test_only_the_chosen_command_is_imported(arguments: list[str]) -> None:
    code = f"""
import contextlib, sys
from pytriton.__main__ import main
with contextlib.suppress(SystemExit):
    main({arguments})
print(*sys.modules, file=sys.stderr)
"""
    done = python("-c", code)
    assert done.stdout.startswith(("pytriton ", "usage: pytriton "))
    loaded = set(done.stderr.split())
    ours = {name for name in loaded if name.startswith("pytriton.")}
    quick = {"boundary", "command_line", "errors", "frozen", "gradient", "source", "__main__"}
    assert ours <= {f"pytriton.{name}" for name in quick}  # of gradient only the head of the folder
    assert not loaded & {"torch", "triton", "numpy", "lark", "jinja2"}


def test_the_first_of_a_list_is_taken_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "fill.c"
    source.write_text("__global__ void fill(int* x) { int i[T] = 0 ... T; *(x + i) = i; }")
    assert main(["translate", str(source), "-D", "T=16,32", "-D", "TT=1"]) == 0
    wanted = f"note: T is 16, the first of 2 values\n{source}: warning: the source does not mention the define 'TT'"
    assert capsys.readouterr().err.startswith(wanted)


def test_a_module_is_printed_as_utf_8(tmp_path: Path) -> None:
    """On Windows a pipe has another encoding, which not all comments fit."""
    (tmp_path / "one.c").write_text("void one(float* x) {\n  *x = 1;  // 一\n}\n", encoding="utf-8")
    command = (sys.executable, "-m", "pytriton", "translate", "one.c")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "cp1252"}
    printed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True).stdout
    assert "  # 一" in printed.decode("utf-8")


def test_a_reader_that_has_enough() -> None:
    """``pytriton explain --list | head -1``: no traceback. The reader is gone before the first line."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "pytriton", "explain", "--list"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_unknown_options_show_the_usage_of_their_command(capsys: pytest.CaptureFixture[str]) -> None:
    for command, prog in (["translate", "add.c"], "pytriton translate"), ([], "pytriton"):
        with pytest.raises(SystemExit) as stopped:
            main([*command, "--nope"])
        assert stopped.value.code == 2
        error = capsys.readouterr().err
        assert error.startswith(f"usage: {prog} [-h]")
        assert error.endswith(f"{prog}: error: unrecognized arguments: --nope\n")


@pytest.mark.parametrize("command", ["translate", "gradient", "port"])
def test_a_missing_define(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fill.c").write_text("void fill(int* x) { int i[TILE] = 0 ... TILE; *(x + i) = i; }")
    assert main([command, "fill.c"]) == 1
    error = capsys.readouterr().err
    assert "'TILE' is not declared" in error
    assert "give it with -D TILE=..., or declare it" in error


def test_port_names_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fill.c").write_text("void fill(int* x) { *x = 1; }")
    assert main(["port", "fill.c", "--report", "pages/fill.html"]) == 0
    assert "pages/fill.html: report written\n" in capsys.readouterr().out
    assert main(["port", "fill.c", "--report", "fill.json", "--diff"]) == 0
    assert "fill.json" not in (printed := capsys.readouterr()).out
    assert "fill.json: report written\n" in printed.err
    assert main(["port", "fill.c", "--report", "fill.c/fill.json"]) == 2
    assert capsys.readouterr().err.startswith("pytriton port: error: fill.c/fill.json: ")


class TestFormat:
    UGLY, NICE = "void f(float* x){\n *x=1;\n}\n", "void f(float *x) {\n  *x = 1;\n}\n"

    @pytest.fixture(autouse=True)
    def _files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for name, text in {"ugly.c": self.UGLY, "nice.c": self.NICE, "windows.c": self.UGLY}.items():
            Path(name).write_bytes(text.encode().replace(b"\n", b"\r\n" if name == "windows.c" else b"\n"))

    def test_several_are_printed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["format", "ugly.c", "nice.c"]) == 0
        assert capsys.readouterr().out == 2 * self.NICE

    def test_check(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["format", "--check", "nice.c"]) == 0
        assert main(["format", "--check", "ugly.c", "nice.c", "windows.c"]) == 1
        assert capsys.readouterr().out == "ugly.c: is not formatted\nwindows.c: is not formatted\n"
        assert Path("ugly.c").read_text() == self.UGLY

    def test_in_place(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("nice.c").chmod(0o444)
        os.utime("nice.c", (1, 1))
        names = ["ugly.c", "nice.c", "windows.c"]
        assert main(["format", "--in-place", *names]) == 0
        assert main(["format", "--check", *names]) == 0
        assert capsys.readouterr().out == ""
        assert Path("ugly.c").read_text() == self.NICE
        assert os.stat("nice.c").st_mtime == 1

    def test_a_file_that_cannot_be_read_does_not_stop_the_others(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("wrong.c").write_text('"')
        assert main(["format", "--check", "wrong.c", "ugly.c"]) == 1
        assert main(["format", "--in-place", "wrong.c", "absent.c", "ugly.c"]) == 2
        assert "absent.c: error: No such file or directory\n" in capsys.readouterr().err
        assert Path("ugly.c").read_text() == self.NICE
        assert Path("wrong.c").read_text() == '"'

    def test_misuse(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["format", "ugly.c", "nice.c", "-o", "out.c"]) == 2
        error = capsys.readouterr().err
        assert error.startswith("usage: pytriton format ")
        assert error.endswith("-o takes one FILE; --in-place changes several\n")
        Path("kernels.py").write_text("x = 1\n")
        assert main(["format", "--in-place", "kernels.py"]) == 2
        assert capsys.readouterr().err == "kernels.py: error: a Python file; format takes Triton-C\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in commands())
    if shell == "bash":
        assert "_shtab_pytriton_translate_pos_0_COMPGEN=_shtab_compgen_files" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_completion_without_shtab(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'pytriton-c[completion]'" in capsys.readouterr().err
