"""What is learnt from Python without running it: texts, defines, sweeps, grids, and the lines they stand on."""

from __future__ import annotations

# ruff: noqa: E501 (a module on a line, so that the table can be read)
import ast
from pathlib import Path
from typing import Any

import pytest

from pytriton.port.jobs.gather import Use, gather
from pytriton.port.jobs.points import points_of
from pytriton.port.jobs.translations import Translations
from pytriton.port.read.extract import extract
from pytriton.port.read.interpret import follow
from pytriton.settings import Settings
from pytriton.source import Source
from tests.work import counted

KERNEL = """
__global__ void add(TYPE *Z, TYPE *X, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(i < n)(Z + i) = *?(i < n)(X + i) + AT;
}
"""
HEAD = f'import torch\nimport triton\nSRC = """{KERNEL}"""\n'


def uses(tmp_path: Path, code: str, head: str = HEAD) -> list[Use]:
    """The uses of the one text in a module."""
    path = tmp_path / "ops.py"
    path.write_text(head + code)
    (found,) = extract(path, tmp_path)
    return gather(found, {}).uses


def known(tmp_path: Path, code: str, head: str = HEAD) -> dict[str, Any]:
    """The defines of the one use: values, tuples for sweeps, expressions for what is open."""
    (use,) = uses(tmp_path, code, head)
    return {**use.fixed, **use.swept, **{name: f"?{value.text}" for name, value in use.open.items()}}


CALL = "k(z, x, n, grid=(4,), defines=d)\n"


@pytest.mark.parametrize(
    ("code", "defines"),
    [
        ("k = triton.kernel(SRC, defines={'TYPE': 'float', 'TILE': 64, 'AT': 1})", {"TILE": 64}),
        ("k = triton.kernel(SRC, {'TYPE': torch.float16, 'TILE': [64, 128], 'AT': 1})", {"TYPE": "half", "TILE": (64, 128)}),
        ("d = {'TILE': 0x40}\nd['AT'] = 2\nd.update(TYPE='float')\nk = triton.kernel(SRC)\n" + CALL, {"TILE": 64, "AT": 2}),
        ("d = dict(TILE=2 ** 5, **{'AT': 1})\nk = triton.kernel(SRC)\n" + CALL, {"TILE": 32, "AT": 1}),
        ("d = {'TILE': [1 << i for i in range(5, 7)]}\nk = triton.kernel(SRC)\n" + CALL, {"TILE": (32, 64)}),
        ("k = triton.kernel(SRC, ['Z'])\nk(z, x, n, (4,), TILE=[32, 64], TYPE='half', AT=0)", {"TILE": (32, 64), "AT": 0}),
        ("def f(x):\n  k = triton.kernel(SRC)\n  k(x, x, x.numel(), grid=(1,), defines={'TYPE': x.dtype, 'TILE': 8, 'AT': 1})", {"TYPE": "?x.dtype", "TILE": 8}),
        ("def f(x, t=128):\n  k = triton.kernel(SRC)\n  k(x, x, 1, grid=(1,), defines={'TILE': t, 'AT': 1, 'TYPE': 'float'})", {"TILE": 128}),
        ("for t in (16,):\n  d = {'TILE': t}\nk = triton.kernel(SRC)\n" + CALL, {"TILE": 16}),
        ("class A:\n  d = {'TILE': 4}\n  k = triton.kernel(SRC)\n  @staticmethod\n  def f(x):\n    A.k(x, x, 1, grid=(1,), defines=A.d)", {"TILE": 4}),
        ("made = {}\ndef f(x, key):\n  if key not in made:\n    made[key] = triton.kernel(SRC, defines={'TILE': 4})\n  made[key](x, x, 1, grid=(1,))", {"TILE": 4}),
        ("k = triton.kernel(SRC, None, {'TILE': '128'}, 4)", {"TILE": "128"}),
    ],
)  # fmt: skip
def test_defines(tmp_path: Path, code: str, defines: dict[str, Any]) -> None:
    found = known(tmp_path, code)
    assert {name: found.get(name) for name in defines} == defines


def test_a_condition_splits_the_defines_and_keeps_them_in_step(tmp_path: Path) -> None:
    code = (
        "def f(x, at=False):\n"
        "  k = triton.kernel(SRC)\n"
        "  d = {'TILE': 64 if at else 32, 'AT': at}\n"
        "  k(x, x, 1, grid=(1,), defines=d)\n"
    )
    assert {(use.fixed["TILE"], use.fixed["AT"]) for use in uses(tmp_path, code)} == {(64, True), (32, False)}


@pytest.mark.parametrize("first", ["(name == 'B') != trans", "trans is False", "trans == False"])
def test_a_flag_that_is_compared_is_decided_once(first: str, tmp_path: Path) -> None:
    code = f"""
def describe(name, trans):
  first = {first}
  return {{'AT': 1 if first else 2, 'TILE': 16 if trans else 32, 'TYPE': 'float'}}
def f(x, trans):
  k = triton.kernel(SRC, defines=describe('A', trans))
  k(x, x, 1, grid=(1,))
"""
    assert {(use.fixed["AT"], use.fixed["TILE"]) for use in uses(tmp_path, code)} in (
        {(1, 16), (2, 32)},
        {(2, 16), (1, 32)},
    )


def test_a_number_that_a_condition_asks_for_is_not_1(tmp_path: Path) -> None:
    code = """
def f(x, slope):
  d = {'TILE': 16, 'TYPE': 'float'}
  if slope:
    d['AT'] = slope
  triton.kernel(SRC)(x, x, 1, grid=(1,), defines=d)
"""
    assert {use.open["AT"].text for use in uses(tmp_path, code) if use.open} == {"slope"}


def test_functions_that_a_function_makes(tmp_path: Path) -> None:
    code = """
def make(at, tile):
  def f(x, twice=None):
    triton.kernel(SRC, defines={'TYPE': 'float', 'AT': at if twice is None else 9, 'TILE': tile})(x, x, 1, grid=(1,))
  return f
one, two = make(1, 16), make(2, [32, 64])
"""
    found = {
        (use.fixed.get("AT"), use.fixed.get("TILE", use.swept.get("TILE"))) for use in uses(tmp_path, code)
    }
    assert {(1, 16), (9, 16), (2, (32, 64)), (9, (32, 64))} <= found


def test_an_entry_that_may_be_missing(tmp_path: Path) -> None:
    code = """
def f(x):
  k = triton.kernel(SRC, defines={'TILE': 16, 'TYPE': x.dtype, 'AT': {torch.float16: 2}.get(x.dtype, 3)})
  k(x, x, 1, grid=(1,))
"""
    assert {use.fixed["AT"]: use.types["TYPE"] for use in uses(tmp_path, code)}.keys() == {2, 3}
    assert {use.fixed["AT"]: "half" in use.types["TYPE"] for use in uses(tmp_path, code)} == {
        2: False,
        3: True,
    }


@pytest.mark.parametrize("asked", ["w is not None", "not w is None"])
def test_an_argument_that_is_none_by_default_may_be_given(asked: str, tmp_path: Path) -> None:
    code = f"""
def f(x, w=None):
  d = {{'TILE': 16, 'TYPE': 'float', 'AT': 1 if w is None else 2}}
  if {asked}:
    d['TILE'] = 32
  triton.kernel(SRC)(x, x, 1, grid=(1,), defines=d)
"""
    found = {(use.fixed["AT"], use.fixed["TILE"]) for use in uses(tmp_path, code)}
    assert found == {(1, 16), (2, 32)}


def test_a_dtype_that_a_condition_names(tmp_path: Path) -> None:
    code = (
        "def f(x):\n"
        "  k = triton.kernel(SRC)\n"
        "  d = {'TYPE': x.dtype, 'AT': 1 if x.dtype == torch.float16 else 2}\n"
        "  k(x, x, 1, grid=(1,), defines=d)\n"
    )
    by_value = {use.fixed["AT"]: use.types["TYPE"] for use in uses(tmp_path, code)}
    assert "float" in by_value[1]
    assert by_value[2] == {"half"}


def test_what_a_caller_gives_is_in_the_dark(tmp_path: Path) -> None:
    (use,) = uses(tmp_path, "def f(x, **more):\n  triton.kernel(SRC)(x, x, 1, grid=(1,), defines=more)\n")
    assert use.dark == "more"


def test_a_filtered_sweep(tmp_path: Path) -> None:
    code = "def f(x, n):\n  t = [s for s in (32, 64) if n % s == 0]\n  triton.kernel(SRC)(x, x, n, grid=(1,), defines={'TILE': t})\n"
    kept, unknown = uses(tmp_path, code)
    assert kept.swept["TILE"] == (32, 64)
    assert "TILE" in unknown.open


@pytest.mark.parametrize(
    "code",
    [
        "t = [32]\n  random.shuffle(t)\n  t = t[0]",
        "s = [32, 64]\n  s.sort(key=x.order)\n  t = s[0]",
        "s = [32, 64]\n  s[x.i] = 16\n  t = s[0]",
        "d = {'a': 32}\n  d.popitem()\n  t = d.get('b', 64)",
        "t = 32\n  for i in x.all():\n    t = 2 * t",
        "t = 32\n  while x.any():\n    t += 1",
        "for t in (64, 32):\n    if x.n % t == 0:\n      break",
        "t = 32\n  for u in (64, 32):\n    if x.n % u == 0:\n      continue\n    t = u",
        "t = rows(x)[0]",
        "t = 64 >> 1",
        "t = sum([16, 16])",
        "t = ([32] * 2)[0]",
        "t = 32\n  match x.n:\n    case 1:\n      t = 64",
        "s = [32]\n  for i in x.all():\n    s.append(i)\n  t = len(s)",
        "s = []\n  for i in x.all():\n    s.append('1')\n  t = '+'.join(s)",
        "d = {'a': 32}\n  while x.any():\n    d['b'] = 16\n  t = d.get('c', 64)",
        "t = 32\n  while x.any():\n    pass\n  else:\n    t = 64",
        "t, *_ = [32, 64]",
        "t = one(*x.sizes)",
        "t = one(**x.sizes)",
        "t = GLOBAL",
        "t = list(zip([*x.sizes, 16], [32, 64]))[0][1]",
        "t = self.t",
    ],
)
def test_what_is_not_followed_is_unknown(tmp_path: Path, code: str) -> None:
    """Never a value that a run may not have."""
    head = (
        HEAD
        + "import random\nGLOBAL = 32\ndef change(n):\n  global GLOBAL\n  GLOBAL = n\ndef one(n=32):\n  return n\n"
        + "def rows(x):\n  yield 32\n"
    )
    rest = "\n  triton.kernel(SRC)(x, x, 1, grid=(1,), defines={'TILE': t, 'TYPE': 'float', 'AT': 1})\n"
    for use in uses(tmp_path, f"class A:\n  t = 32\ndef f(self, x):\n  {code}{rest}", head):
        assert "TILE" in use.open


def test_further_defines_of_a_dict_stay_in_the_dark(tmp_path: Path) -> None:
    code = (
        "def f(x, **more):\n  d = {'TILE': 32, **more}\n  dict(**d)\n"
        "  triton.kernel(SRC)(x, x, 1, grid=(1,), defines=d)\n"
    )
    assert all(use.dark for use in uses(tmp_path, code))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ('f"void {name}("', "void add("),
        ('"void %s(%d" % (name, 3)', "void add(3"),
        ('"void {}({x}".format(name, x=3)', "void add(3"),
        ('"".join(["void ", name])', "void add"),
        ('"void NAME".replace("NAME", name)', "void add"),
        ('textwrap.dedent("  void").strip()', "void"),
        ('f"{16} {name!s}"', "16 add"),
    ],
)
def test_assembled_texts(tmp_path: Path, expression: str, text: str) -> None:
    code = f"import textwrap, triton\nname = 'add'\nk = triton.kernel({expression})\n"
    launches, _ = follow(tmp_path / "x.py", ast.parse(code), tmp_path)
    assert str(launches[0].kernel.source) == text


@pytest.mark.parametrize(
    "code",
    [
        "import importlib\ntriton = importlib.import_module('triton')\nk = triton.kernel('void f(')\n",
        "def f():\n  t = __import__('triton.testing')\n  k = t.kernel('void f(')\n",
        "import importlib\ntriton = None\ndef f():\n  global triton\n  if triton is None:\n"
        "    triton = importlib.import_module('triton')\n  k = triton.kernel('void f(')\n",
        "import triton, importlib\nk = triton.kernel(importlib.import_module('.own', __package__).SRC)\n",
    ],
)
def test_imported_by_a_call(tmp_path: Path, code: str) -> None:
    (tmp_path / "own.py").write_text("SRC = 'void f('\n")
    path = tmp_path / "x.py"
    launches, _ = follow(path, ast.parse(code), tmp_path)
    assert [str(launch.kernel.source) for launch in launches] == ["void f("]


@pytest.mark.parametrize(
    "source",
    [
        "open(os.path.join(os.path.dirname(os.path.realpath(__file__)), 'trsrc', 'add.tr')).read()",
        "open('%s/trsrc/%s.tr' % (os.path.dirname(__file__), 'add')).read()",
        "triton.read(os.path.join(os.path.dirname(__file__), 'trsrc/add.tr'))",
        "Path(__file__).parent / 'trsrc' / 'add.tr'",
        "(Path(__file__).resolve().parent.joinpath('trsrc') / 'add.tr').read_text()",
        "opened('add')",
    ],
)
def test_a_text_in_a_file_with_a_computed_path(tmp_path: Path, source: str) -> None:
    (tmp_path / "trsrc").mkdir()
    (tmp_path / "trsrc" / "add.tr").write_text(KERNEL)
    code = (
        "import os\nfrom pathlib import Path\nimport triton\n"
        "def opened(name):\n"
        "  with open(os.path.join(os.path.dirname(__file__), 'trsrc', name + '.tr')) as f:\n"
        "    return f.read()\n"
        f"k = triton.kernel({source}, defines={{'TILE': 8}})\n"
    )
    path = tmp_path / "ops.py"
    path.write_text(code)
    (found,) = extract(path, tmp_path)
    assert (found.path, found.text) == (tmp_path / "trsrc" / "add.tr", KERNEL)
    assert gather(found, {}).uses[0].fixed["TILE"] == 8


@pytest.mark.parametrize(
    "source", ["SRC.replace('TILE', tile)", "SRC + tile", "SRC % tile", "f'{SRC}{tile}'"]
)
def test_a_text_with_an_unknown_part_is_unknown(tmp_path: Path, source: str) -> None:
    """What is left is its known string, which nothing launches."""
    (use,) = uses(tmp_path, f"def make(tile):\n  return triton.kernel({source}, defines={{'AT': 1}})\n")
    assert (use.line, use.fixed, use.open) == (0, {}, {})


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ops.py"
    path.write_text(
        "import triton\nA = '''\n'''\nB = A + '''\nvoid f(float *X) {\n  *X = get_program_id(0);\n}\n'''\nk = triton.kernel(B)\n"
    )
    (found,) = extract(path, tmp_path)
    assert found.text.line_at(found.text.index("void")) == 5
    assert found.text.line_at(found.text.index("*X = get")) == 6


def test_nothing_is_executed(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    code = f"open({str(marker)!r}, 'w').write('x')\nimport os\nos.mkdir({str(marker)!r})\nexec('1/0')\n"
    assert uses(tmp_path, code + "k = triton.kernel(SRC, defines={'TILE': 1})\n")
    assert not marker.exists()


@pytest.mark.parametrize(
    "code",
    [
        "x = 'a' * 10 ** 10\n",
        "x = 2 ** 10 ** 8\n",
        "x = '%999999999d' % 3\n",
        "x = f'{3:999999999d}'\n",
        "while True:\n  x = 1\n",
        pytest.param("def f(n):\n  return f(n + 1) + f(n)\nf(1)\n", marks=pytest.mark.slow),
        "x = y\n" + "x = x + x\n" * 200,
        pytest.param(
            "x = [list(range(250)) for a in range(1000) for b in range(1000)]\n", marks=pytest.mark.slow
        ),
        "".join(f"if a{i}:\n  b{i} = 1\n" for i in range(200)),
        "x = " + "(" * 300 + "1" + ")" * 300 + "\n",
        "x = {}\nx['x'] = x\ny = str(x)\n",
    ],
)
def test_hostile_code_ends(tmp_path: Path, code: str) -> None:
    path = tmp_path / "ops.py"
    path.write_text(HEAD + code + "k = triton.kernel(SRC, defines={'TILE': 1})\n")
    assert counted(lambda: extract(path, tmp_path), most=80_000_000)[1]


def test_no_file_outside_of_the_project_is_read(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret.c").write_text(KERNEL)
    path = project / "ops.py"
    path.write_text("import triton\nk = triton.kernel(triton.read('../secret.c'))\n")
    assert extract(path, project) == []


ROWS = """
__global__ void largest(float *X, float *Y) {
  int r[LENGTH] = 0 ... LENGTH;
  float x[LENGTH] = *(X + r);
  *Y = x[max];
}
"""


def test_an_open_size_is_tried_with_padded_blocks_too(tmp_path: Path) -> None:
    """A caller may give any size; the kernel of a power of two has no masks for another one."""
    code = "def run(n):\n  triton.kernel(SRC, defines={'LENGTH': str(n)})(1)\n"
    (use,) = uses(tmp_path, code, f'import triton\nSRC = """{ROWS}"""\n')
    points = list(points_of(use, ROWS, Translations(Source(ROWS), Settings())))
    assert [point["LENGTH"] for point in points] == [96, 64]


def test_a_star_leaves_the_names_that_begin_with_an_underscore(tmp_path: Path) -> None:
    """``__file__`` above all: the file next to the module that imports is read, not one next to the other."""
    text = "__global__ void {}(float *X) {{ int i[T] = get_program_id(0) + 0 ... T; *(X + i) = 1; }}"
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "__init__.py").write_text("TILE = 32\n_HIDDEN = 1\n")
    (tmp_path / "inner" / "fill.c").write_text(text.format("other"))
    (tmp_path / "fill.c").write_text(text.format("fill"))
    (tmp_path / "ops.py").write_text(
        "import os, triton\nfrom inner import *\n"
        "path = os.path.join(os.path.dirname(__file__), 'fill.c')\n"
        "kernel = triton.kernel(open(path).read(), defines={'T': TILE})\n"
        "kernel(None, grid=(1,))\n"
    )
    found = [text for text in extract(tmp_path / "ops.py", tmp_path) if text.launches]
    assert [(text.text.split()[2], text.launches[0].kernel.defines) for text in found] == [
        ("fill(float", {"T": 32})
    ]
