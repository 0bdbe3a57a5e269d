"""``translate`` and ``gradient`` of a Python file: the text that it launches, with the defines of the launch."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import pytriton
from pytriton.__main__ import main

ROOT = Path(__file__).parents[2]
SCALE = """
__global__ void scale(TYPE *Y, TYPE *X, int n) {
  int r[TN] = 0 ... TN;
#ifdef TWICE
  *?(r < n) (Y + r) = 2 * *?(r < n) (X + r);
#else
  *?(r < n) (Y + r) = *?(r < n) (X + r);
#endif
}
"""
SUM = "__global__ void total(float *Y, float *X) { int r[TN] = 0 ... TN; float x[TN] = *(X + r); *Y = x[+]; }"
PROGRAM = f'''
import triton

unused = """{SUM}"""
scale = triton.kernel("""{SCALE}""", defines={{"TN": [64, 128], "TWICE": True}})
total = triton.kernel("""{SUM}""")


def run(y, x):
    scale(y, x, x.numel(), grid=(1,), defines={{"TYPE": x.dtype}})
    total(y, x, grid=(1,), defines={{"TN": 32}})
'''


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(PROGRAM)
    return "program.py"


def test_the_first_text_that_is_launched(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", program]) == 0
    out, said = capsys.readouterr()
    assert said.startswith("program.py:5: note: the text of scale, with -D ")
    assert said.endswith("; the file leaves TYPE open; --kernel also knows total\n")
    assert out == pytriton.translate(SCALE, {"TN": 64, "TWICE": True, "TYPE": "half"}).text


@pytest.mark.parametrize("command", ["translate", "gradient"])
def test_the_note_can_be_typed(program: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, program]) == 0
    out, said = capsys.readouterr()
    Path("scale.c").write_text(SCALE)
    given = re.search(r"with (.*?);", said)
    assert given is not None
    assert main([command, "scale.c", *shlex.split(given[1])]) == 0
    assert capsys.readouterr().out == out


def test_a_kernel_by_name_and_defines_that_win(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["translate", program, "--kernel", "total"]) == 0
    assert capsys.readouterr().out == pytriton.translate(SUM, {"TN": 32}).text
    assert main(["translate", program, "-D", "TYPE=float"]) == 0
    out, said = capsys.readouterr()
    assert "float*" in out
    assert "open" not in said


def test_what_is_not_there(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gradient", program, "--kernel", "sum"]) == 2
    assert capsys.readouterr().err == "program.py: error: no kernel 'sum' here, only scale, total\n"
    assert main(["translate", "nowhere.py"]) == 2
    assert capsys.readouterr().err == "nowhere.py: error: No such file or directory\n"


def test_errors_say_where_the_text_is(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(program).write_text(PROGRAM.replace("2 * *?(r < n) (X + r)", "z"))
    assert main(["translate", program]) == 1
    assert "<kernel> (program.py:5):5:" in capsys.readouterr().err


# TC203, TC310: their defines are not read, but put together by objects and from parts of names.
REFUSED = {
    **{"blocksparse_matmul": "TC705", "cross_entropy": "TC704"},
    **{"blocksparse_softmax": "TC203", "permute": "TC310"},
}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
@pytest.mark.sampled(9)
def test_gradients_of_the_examples(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["gradient", str(path)])
    out, said = capsys.readouterr()
    code = REFUSED.get(path.stem)
    assert status == (1 if code else 0)
    assert f"[{code}]" in said if code else out.count("// adjoint of: ") > 0
