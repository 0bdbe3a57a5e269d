"""Every kind of file that ``port`` reads: the text is found, at its line, and its module computes what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytriton.__main__ import main
from pytriton.runtime.compare import Case, compare, ported

ADD = """\
// Z = X + Y
__global__ void add(float *Z, float *X, float *Y, int n) {
  int i[32] = get_program_id(0) * 32 + 0 ... 32;
  *?(i < n)(Z + i) = *?(i < n)(X + i) + *?(i < n)(Y + i); // as far as it goes
}
"""

# name of the case: name of the file, its text, where the kernel is
KINDS = {
    "c": ("add.c", ADD, "line 1"),
    "c with other functions": ("add.c", "typedef float T;\n" + ADD.replace("float", "T"), "line 2"),
    "tr": ("add.tr", "\n\n" + ADD, "line 3"),
    "h": ("add.h", ADD, "line 1"),
    "py": ("add.py", f'import triton\nk = triton.kernel("""{ADD}""")\n', "line 2"),
    "py, never used": ("add.py", f'UNUSED = """{ADD}"""\n', "line 1"),
    "py, an f-string with known parts": (
        "add.py",
        'import triton\n\nT, SIZE = \'float\', 2 ** 5\nk = triton.kernel(f"""{}""")\n'.format(
            ADD.replace("{", "{{").replace("}", "}}").replace("float", "{T}").replace("32", "{SIZE}")
        ),
        "line 4",
    ),
    "py, put together": (
        "add.py",
        "import triton\n\nTEXT = '''{}'''\nk = triton.kernel(TEXT.replace('SIZE', str(32)))\n".format(
            ADD.replace("32", "SIZE")
        ),
        "line 3",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(9)
def test_kind(tmp_path: Path, kind: str) -> None:
    name, text, place = KINDS[kind]
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / name).write_text(text)
    out, told = tmp_path / "new", tmp_path / "report.json"
    assert main(["port", str(tmp_path / "old"), "--out", str(out), "--report", str(told)]) == 0
    (entry,) = json.loads(told.read_text())["kernels"]
    _, _, line = place.rpartition(" ")  # the comment above the kernel
    assert (entry["place"], entry["name"]) == (f"{name}:{int(line) + 1}", "add")
    module = (out / "add.py").read_text()
    assert "# Z = X + Y\n" in module
    assert "# as far as it goes" in module
    assert "pytriton" not in module
    compare(ADD, "add", ported(out, "add", "ADD", {}), Case({}, {}), 37, (2,))


@pytest.mark.parametrize(
    "name", ["add.cu", "add.cc", "add.txt", "add.md", "build/add.c", ".hidden/add.c", "venv/lib/add.py"]
)
def test_what_is_not_looked_at(tmp_path: Path, name: str, capsys: Any) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(ADD)
    assert main(["port", str(tmp_path), "--out", str(tmp_path / "new")]) == 0
    assert capsys.readouterr().err == "no Triton-C was found\n"
