"""Launches that are written as Triton's own: which forms of a file are, and which need a launcher."""

from __future__ import annotations

import ast
import math
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from pytriton.__main__ import main
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, PortedKernel, port_kernel
from pytriton.port.package.edits import Edit, PythonFile, edited, tensors
from pytriton.port.package.plain import NotPlain, Plain, ReadLaunch
from pytriton.port.read.extract import extract
from pytriton.settings import Settings
from pytriton.source import Source
from tests import processes

SOURCE = """
__global__ void scale(TYPE *Y, TYPE *X, float f, int n __multipleof(MULT)) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  TYPE x[TN] = *?(i < n)(X + i);
#ifdef DOUBLED
  x += x;
#endif
  *?(i < n)(Y + i) = x * f;
}
"""
HEAD = f"import torch\nimport triton\nsrc = '''{SOURCE}'''\n"


@pytest.fixture(scope="module")
def kernel() -> PortedKernel:
    """Numbers TN, a flag, a type, and a promise that the function does not have."""
    rows = [{"TYPE": t, "TN": n, "MULT": 8} for t in ("float", "half") for n in (16, 32)]
    rows += [row | {"DOUBLED": True} for row in rows]
    ported = port_kernel(Translations(Source(SOURCE), Settings(None)), [*map(DefineSet, rows)])
    return ported


def plain(text: str, kernel: PortedKernel, folder: Path) -> str:
    """The file without a launcher, its first lines aside; raises NotPlain."""
    path = folder / "ops.py"
    path.write_text(HEAD + text)
    launches = [launch for found in extract(path, folder) for launch in found.launches]
    if any(getattr(launch.kernel.source, "at", None) is None for launch in launches):
        raise NotPlain
    places = {launch.kernel.source.at[1:]: {"": "scale"} for launch in launches}
    file = PythonFile(path.read_bytes())
    edits = [
        *Plain(file, [ReadLaunch(launch, kernel) for launch in launches], places).edits(),
        *tensors(file),
    ]
    _assert_apart(edits)
    changed = edited(file, ".", {}, edits).decode()
    ast.parse(changed)
    assert changed.startswith("import torch\nimport triton\nsrc = scale\n")
    return changed.removeprefix("import torch\nimport triton\nsrc = scale\n")


def _assert_apart(edits: list[Edit]) -> None:
    ordered = sorted(edits)
    assert all(first.end <= second.start for first, second in pairwise(ordered)), ordered


def ran(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """A program with the ported package of a folder, on Triton's interpreter."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(folder / "new")}
    return processes.run([sys.executable, "-c", program], env=environment)


CALL = "    kernel(y.data_ptr(), x.data_ptr(), 2.0, n, grid=lambda opt: [triton.cdiv(n, opt.TN)])\n"
CALLED = """\
    grid = lambda opt: (triton.cdiv(n, opt['TN']),)
    with torch.cuda.device_of(y):
        kernel[grid](y, x, 2.0, int(n))
"""
MADE = "kernel = triton.kernel(src, defines={'TYPE': 'half', 'TN': 16})\n"
FORMS = {
    "a dict of numbers, in strings as well": (
        "kernel = triton.kernel(src, defines={'TYPE': 'float', 'TN': '16', 'MULT': 8}, num_warps=2)\n"
        f"def f(y, x, n):\n{CALL}",
        f"kernel = triton.autotune([triton.Config({{'TN': 16}}, 2)], key=[])(src)\ndef f(y, x, n):\n{CALLED}",
    ),
    "entries that no function takes are removed": (
        "def f(y, x, n):\n    defines = {\n        'TYPE': x.dtype,\n        'TN': 16,  # elements\n"
        "        'MULT': 8,\n    }\n"
        f"    kernel = triton.kernel(src, x.device, defines=defines)\n{CALL}",
        "def f(y, x, n):\n    defines = {\n        'TN': 16,  # elements\n    }\n"
        f"    kernel = triton.autotune([triton.Config(defines, 4)], key=[])(src)\n{CALLED}",
    ),
    "a class, and a function with a dict of its own": (
        "class C:\n    kernel = triton.kernel(src, defines={'TYPE': 'half', 'TN': 32})\n"
        "    def f(self, y, x):\n        defines = {'TYPE': x.dtype, 'TN': True}\n"
        "        k = triton.kernel(src, defines=defines)\n        k(y, x, 1.0, x.numel(), grid=[1])\n",
        "class C:\n    kernel = triton.autotune([triton.Config({'TN': 32}, 4)], key=[])(src)\n"
        "    def f(self, y, x):\n        defines = {'TN': 1}\n"
        "        k = triton.autotune([triton.Config(defines, 4)], key=[])(src)\n"
        "        with torch.cuda.device_of(y):\n            k[(1,)](y, x, 1.0, x.numel())\n",
    ),
    "conditions in conditions, and a truth value for a number": (
        "def f(y, x, a, b):\n"
        "    defines = {'TYPE': x.dtype, 'TN': ('16' if a else 32) if (b if a else a) else 64}\n"
        "    k = triton.kernel(src, x.device, defines=defines)\n    k(y, x, 1.0, True, grid=[1])\n",
        "def f(y, x, a, b):\n    defines = {'TN': (16 if a else 32) if (b if a else a) else 64}\n"
        "    k = triton.autotune([triton.Config(defines, 4)], key=[])(src)\n"
        "    with torch.cuda.device_of(y):\n        k[(1,)](y, x, 1.0, int(True))\n",
    ),
    "entries that are set later": (
        "def f(y, x, n, twice):\n    defines = {'TYPE': x.dtype, 'TN': 16}\n    if twice:\n"
        f"        defines['DOUBLED'] = True\n    kernel = triton.kernel(src, defines=defines)\n{CALL}",
        "def f(y, x, n, twice):\n    defines = {'TN': 16}\n    if twice:\n        defines['DOUBLED'] = True\n"
        f"    kernel = triton.autotune([triton.Config(dict(defines), 4)], key=[])(src)\n{CALLED}",
    ),
    "one that the function lacks is left out when it runs": (
        "def f(y, x, n):\n    defines = {'TYPE': x.dtype, 'TN': 16}\n    defines['MULT'] = 8\n"
        f"    kernel = triton.kernel(src, defines=defines)\n{CALL}",
        "def f(y, x, n):\n    defines = {'TN': 16}\n    defines['MULT'] = 8\n    kernel = triton.autotune(\n"
        "        [triton.Config({x: y for x, y in defines.items() if x in src.arg_names}, 4)],\n"
        f"        key=[],\n    )(src)\n{CALLED}",
    ),
    "a number of warps of two branches, a number that str() gives": (
        "def f(y, x, n):\n    warps = 4 if n < 512 else 8\n    size = str(16 if n < 512 else n)\n"
        "    defines = {'TYPE': x.dtype, 'TN': size}\n"
        f"    kernel = triton.kernel(src, defines=defines, num_warps=warps)\n{CALL}",
        "def f(y, x, n):\n    warps = 4 if n < 512 else 8\n    size = str(16 if n < 512 else n)\n"
        "    defines = {'TN': int(size, 0)}\n"
        f"    kernel = triton.autotune([triton.Config(defines, warps)], key=[])(src)\n{CALLED}",
    ),
    "grids by name and as tuples; lines stay aligned": (
        "kernel = triton.kernel(src, defines={'TYPE': 'half', 'TN': 32})\n"
        "def f(y, x, n):\n    g = lambda opt: (triton.cdiv(n, opt.d('TN')), 1)\n    kernel(y.data_ptr(),\n"
        "           x.data_ptr(), 2.0, n,\n           grid=g)\n    args = [y.data_ptr(), x.data_ptr(), 1.0, n]\n"
        "    kernel(*args, grid=[4])\n",
        "kernel = triton.autotune([triton.Config({'TN': 32}, 4)], key=[])(src)\n"
        "def f(y, x, n):\n    g = lambda opt: (triton.cdiv(n, opt['TN']), 1)\n"
        "    with torch.cuda.device_of(y):\n        kernel[g](y,\n                  x, 2.0, int(n))\n"
        "    args = [y, x, 1.0, int(n)]\n    with torch.cuda.device_of(args[0]):\n        kernel[(4,)](*args)\n",
    ),
    "numbers that are numbers for sure, and others": (
        "kernel = triton.kernel(src, defines={'TYPE': 'half', 'TN': 32})\n"
        "def f(y, x, f, sizes):\n    m, k = x.shape\n    a, b = 2 * m, sizes[0]\n    for i in range(4):\n"
        "        kernel(y, x, f, m * k - x.stride(0) + i, grid=[1])\n        kernel(y, x, 1 / 3, a, grid=[1])\n"
        "        kernel(y, x, float(f), b, grid=[1])\n        kernel(y, x, f.item(), a + b, grid=[1])\n",
        "kernel = triton.autotune([triton.Config({'TN': 32}, 4)], key=[])(src)\n"
        "def f(y, x, f, sizes):\n    m, k = x.shape\n    a, b = 2 * m, sizes[0]\n    for i in range(4):\n"
        + "".join(
            f"        with torch.cuda.device_of(y):\n            kernel[(1,)](y, x, {numbers})\n"
            for numbers in (
                "float(f), m * k - x.stride(0) + i",
                "1 / 3, a",
                "float(f), int(b)",
                "float(f.item()), int(a + b)",
            )
        ),
    ),
    "a number that divides, and one that is made of itself": (
        "kernel = triton.kernel(src, defines={'TYPE': 'half', 'TN': 32})\n"
        "def f(y, x):\n    n = x.numel()\n    n = n // 2\n    k = x.numel() / 2\n"
        "    kernel(y, x, 1.0, n, grid=[1])\n    kernel(y, x, k, k, grid=[1])\n",
        "kernel = triton.autotune([triton.Config({'TN': 32}, 4)], key=[])(src)\n"
        "def f(y, x):\n    n = x.numel()\n    n = n // 2\n    k = x.numel() / 2\n"
        "    with torch.cuda.device_of(y):\n        kernel[(1,)](y, x, 1.0, n)\n"
        "    with torch.cuda.device_of(y):\n        kernel[(1,)](y, x, k, int(k))\n",
    ),
    "a number that a function shares": (
        f"{MADE}count = None\ndef f(y, x):\n    global count\n    count = 4\n"
        "    kernel(y, x, 2.0, count, grid=[1])\n",
        "kernel = triton.autotune([triton.Config({'TN': 16}, 4)], key=[])(src)\n"
        "count = None\ndef f(y, x):\n    global count\n    count = 4\n    with torch.cuda.device_of(y):\n"
        "        kernel[(1,)](y, x, 2.0, int(count))\n",
    ),
    "a long grid": (
        f"{MADE}def f(y, x, n):\n    kernel(y, x, 2.0, n, "
        "grid=lambda opt: [triton.cdiv(x.shape[0] * x.shape[1], opt.TN), x.shape[2]])\n",
        "kernel = triton.autotune([triton.Config({'TN': 16}, 4)], key=[])(src)\ndef f(y, x, n):\n"
        "    grid = lambda opt: (\n        triton.cdiv(x.shape[0] * x.shape[1], opt['TN']),\n"
        "        x.shape[2],\n    )\n    with torch.cuda.device_of(y):\n"
        "        kernel[grid](y, x, 2.0, int(n))\n",
    ),
    "a list of configs": (
        "configs = [triton.config(defines={'TN': '16'}, num_warps=2), triton.config({'TN': '32'})]\n"
        "kernel = triton.kernel(src, defines={'TYPE': 'half'}, autotune_configs=configs, autotune_key=['n'])\n"
        f"def f(y, x, n):\n{CALL}",
        "configs = [triton.config(defines={'TN': '16'}, num_warps=2), triton.config({'TN': '32'})]\n"
        "kernel = triton.autotune(\n"
        "    [triton.Config(config.kwargs | {}, config.num_warps) for config in configs],\n"
        f"    key=['n'],\n    restore_value=[\"Y\"],\n)(src)\ndef f(y, x, n):\n{CALLED}",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form(form: str, kernel: PortedKernel, tmp_path: Path) -> None:
    before, after = FORMS[form]
    assert plain(before, kernel, tmp_path) == after


OTHERS = {
    "a flag that may be false": "def f(y, x, n, twice):\n"
    "    defines = {'TYPE': x.dtype, 'TN': 16, 'DOUBLED': twice}\n"
    f"    kernel = triton.kernel(src, defines=defines)\n{CALL}",
    "a flag that is false": "kernel = triton.kernel(src, defines={'TYPE': 'half', 'TN': 16, 'DOUBLED': 0})\n"
    f"def f(y, x, n):\n{CALL}",
    "a sweep": f"kernel = triton.kernel(src, defines={{'TYPE': 'half', 'TN': [16, 32]}})\ndef f(y, x, n):\n{CALL}",
    "a sweep by name": "sizes = [16, 32]\nkernel = triton.kernel(src, defines={'TYPE': 'half', 'TN': sizes})\n"
    f"def f(y, x, n):\n{CALL}",
    "a sweep over warps": "kernel = triton.kernel(src, defines={'TYPE': 'half', 'TN': 16}, num_warps=[1, 2])\n"
    f"def f(y, x, n):\n{CALL}",
    "a dict of elsewhere": f"def f(y, x, n, defines):\n    kernel = triton.kernel(src, defines=defines)\n{CALL}",
    "a dict that is updated": "def f(y, x, n, **more):\n    defines = {'TYPE': x.dtype, 'TN': 16}\n"
    f"    defines.update(more)\n    kernel = triton.kernel(src, defines=defines)\n{CALL}",
    "a dict that is passed on": "def f(y, x, n, g):\n    defines = {'TYPE': x.dtype, 'TN': 16}\n    g(defines)\n"
    f"    kernel = triton.kernel(src, defines=defines)\n{CALL}",
    "defines of a call": f"{MADE}def f(y, x, n):\n    kernel(y, x, 2.0, n, grid=[1], TN=32)\n",
    "a result": f"{MADE}def f(y, x, n):\n    return kernel(y, x, 2.0, n, grid=[1])\n",
    "defines by their place": f"kernel = triton.kernel(src, {{'TYPE': 'half', 'TN': 16}})\ndef f(y, x, n):\n{CALL}",
    "two kernel objects of a dict": "def f(y, x, n):\n    defines = {'TYPE': x.dtype, 'TN': 16}\n"
    f"    k = triton.kernel(src, defines=defines)\n    kernel = triton.kernel(src, defines=defines)\n{CALL}",
    "a dict that others may import": "defines = {'TYPE': 'half', 'TN': 16}\n"
    f"kernel = triton.kernel(src, defines=defines)\ndef f(y, x, n):\n{CALL}",
    "a global": "def f(y, x, n):\n    global defines\n    defines = {'TYPE': x.dtype, 'TN': 16}\n"
    f"    kernel = triton.kernel(src, defines=defines)\n{CALL}",
    "a string": "def f(y, x, n):\n    defines = {'TYPE': x.dtype, 'TN': '%d' % n}\n"
    f"    kernel = triton.kernel(src, defines=defines)\n{CALL}",
    "parentheses around the kernel": f"{MADE}def f(y, x, n):\n    (kernel)(y, x, 2.0, n, grid=[1])\n",
    "parentheses around an argument": f"{MADE}def f(y, x, n):\n    kernel(y, x, 2.0, (n), grid=[1])\n",
    "parentheses around a grid": f"{MADE}def f(y, x, n):\n    kernel(y, x, 2.0, n, grid=([1]))\n",
    "a grid before arguments": f"{MADE}def f(y, *x):\n    kernel(grid=[1], *x)\n",
    "a comment in a launch": f"{MADE}def f(y, x, n):\n    kernel(y, x, 2.0, n,  # elements\n           grid=[1])\n",
    "a comment in a kernel object": "kernel = triton.kernel(src,  # scale\n"
    f"    defines={{'TYPE': 'half', 'TN': 16}})\ndef f(y, x, n):\n{CALL}",
    "a list that is changed": f"{MADE}def f(y, x, n):\n    args = [y, 2.0, n]\n    args.insert(1, x)\n"
    "    kernel(*args, grid=[1])\n",
    "a list for two launches": f"{MADE}def f(y, x, n):\n    args = [y, x, 2.0, n]\n"
    "    kernel(*args, grid=[1])\n    kernel(*args, grid=[1])\n",
    "a grid that is called": f"{MADE}def f(y, x, n):\n    g = lambda opt: [1]\n    print(g(n))\n"
    "    kernel(y, x, 2.0, n, grid=g)\n",
    "a dict of another function": "def f(y, x, n):\n    defines = {'TYPE': x.dtype, 'TN': 32}\n"
    "    return defines\ndefines = {'TYPE': 'half', 'TN': 16}\nkernel = triton.kernel(src, defines=defines)\n",
    "a grid of elsewhere": f"{MADE}def f(y, x, n, grid):\n    kernel(y, x, 2.0, n, grid=grid)\n",
    "a grid with more of its options": f"{MADE}def f(y, x, n):\n"
    "    kernel(y, x, 2.0, n, grid=lambda opt: [g(opt)])\n",
    "a grid with warps": f"{MADE}def f(y, x, n):\n    kernel(y, x, 2.0, n, grid=lambda opt: [opt.num_warps])\n",
    "a key by a name": "key = 'n'\n"
    "kernel = triton.kernel(src, defines={'TYPE': 'half'}, autotune_configs=[], autotune_key=[key])\n"
    f"def f(y, x, n):\n{CALL}",
    "a copy of the text": "kernel = triton.kernel(str(src), defines={'TYPE': 'half', 'TN': 16})\n"
    f"def f(y, x, n):\n{CALL}",
    "a grid with a define that the kernel lacks": f"{MADE}def f(y, x, n):\n"
    "    kernel(y, x, 2.0, n, grid=lambda opt: [opt.MULT])\n",
    "a tensor that is calculated": f"{MADE}def f(y, x, n):\n    kernel(y.view(-1), x, 2.0, n, grid=[1])\n",
    "a list that grows": f"{MADE}def f(y, x, n):\n    args = [y, x, 2.0]\n    args += [n]\n"
    "    kernel(*args, grid=[1])\n",
    "a statement in a line": f"{MADE}def f(y, x, n):\n    if n: kernel(y, x, 2.0, n, grid=[1])\n",
    "another text": "kernel = triton.kernel(src.strip(), defines={'TYPE': 'half', 'TN': 16})\n"
    f"def f(y, x, n):\n{CALL}",
    "a function of another name": f"{MADE}k = triton.kernel\ndef f(y, x, n):\n{CALL}",
    "an argument that changes what the grid reads": f"{MADE}def f(y, x, n):\n"
    "    kernel(y, x, 2.0, n.pop(), grid=[len(n)])\n",
    "an argument that gives the grid its number": f"{MADE}def f(y, x):\n"
    "    kernel(y, x, 2.0, (n := x.numel()), grid=[n])\n",
    "a define by its place, with a word in it": "kernel = triton.kernel(src, of_device(x.device))\n"
    f"def f(y, x, n):\n{CALL}",
    "a flag in a config": "configs = [triton.config({'TN': '16', 'DOUBLED': '0'})]\n"
    "kernel = triton.kernel(src, defines={'TYPE': 'half'}, autotune_configs=configs, autotune_key=['n'])\n"
    f"def f(y, x, n):\n{CALL}",
    "a config that is a pair": "configs = [({'TN': '16'}, 4)]\n"
    "kernel = triton.kernel(src, defines={'TYPE': 'half'}, autotune_configs=configs, autotune_key=['n'])\n"
    f"def f(y, x, n):\n{CALL}",
    "a type in a config": "configs = [triton.config({'TN': 16, 'TYPE': 'half'})]\n"
    "kernel = triton.kernel(src, autotune_configs=configs, autotune_key=['n'])\n"
    f"def f(y, x, n):\n{CALL}",
    "a float in a config": "configs = [triton.config({'TN': 16.5})]\n"
    "kernel = triton.kernel(src, defines={'TYPE': 'half'}, autotune_configs=configs, autotune_key=['n'])\n"
    f"def f(y, x, n):\n{CALL}",
    "configs that are not known": "kernel = triton.kernel(src, defines={'TYPE': 'half'}, "
    f"autotune_configs=configs(), autotune_key=['n'])\ndef f(y, x, n):\n{CALL}",
    "numbers in a list of strings": "def f(y, x, n):\n"
    "    defines = {'TYPE': x.dtype, 'TN': ['16', '32'][n > 64]}\n"
    f"    kernel = triton.kernel(src, defines=defines)\n{CALL}",
    "a name of Python with another meaning": f"from torch import float, int\n{MADE}def f(y, x, n):\n{CALL}",
    "a grid with a parameter of its own": f"{MADE}def f(y, x, n):\n"
    "    kernel(y, x, 2.0, n, grid=lambda opt, *, m=4: [m])\n",
    "a comment in a grid": f"{MADE}def f(y, x, n):\n    kernel(y, x, 2.0, n, grid=lambda opt: [\n"
    "        triton.cdiv(n, opt.TN),  # a program for each tile\n    ])\n",
    "a comment above an entry": "def f(y, x, n):\n    defines = {'TYPE': x.dtype,\n"
    "               # 8 is too small\n               'TN': 16}\n"
    f"    kernel = triton.kernel(src, x.device, defines=defines)\n{CALL}",
    "a source by the name that a comprehension has": "table = {'a': src}\n"
    "def make(y, x):\n    defines = {'TYPE': x.dtype, 'TN': 16}\n    defines['MULT'] = 8\n"
    "    return triton.kernel(table[y], defines=defines)\n",
    "another kernel name": "kernel = triton.kernel(src, kernel='scale', defines={'TN': 16})\n"
    f"def f(y, x, n):\n{CALL}",
}


@pytest.mark.parametrize("form", OTHERS)
def test_another_form_needs_a_launcher(form: str, kernel: PortedKernel, tmp_path: Path) -> None:
    with pytest.raises(NotPlain):
        plain(OTHERS[form], kernel, tmp_path)


LOADER = """\
import os
import torch
import triton


def load(name):
    return triton.read(os.path.join(os.path.dirname(__file__), name))


def f(x, name):
    y = torch.zeros_like(x)
    n = x.numel()
    kernel = triton.kernel(load(name), x.device, defines={'TYPE': 'float', 'TN': 16, 'MULT': 1})
    kernel(y.data_ptr(), x.data_ptr(), 3.0, n, grid=lambda opt: [triton.cdiv(n, opt.TN)])
    return y


def both(x):
    return f(x, 'mul.c'), f(x, 'add.c')
"""


def test_one_read_for_two_files_needs_a_launcher(tmp_path: Path) -> None:
    """Both kernels have one name."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "__init__.py").write_text(LOADER)
    (tmp_path / "old" / "mul.c").write_text(SOURCE)
    (tmp_path / "old" / "add.c").write_text(SOURCE.replace("x * f", "x + f"))
    assert main(["port", str(tmp_path / "old"), "--out", str(tmp_path / "new")]) == 0
    assert "class kernel" in (tmp_path / "new" / "old" / "_triton.py").read_text()
    program = "import torch, old; print(*(y.sum().item() for y in old.both(torch.full((20,), 2.0))))"
    done = ran(tmp_path, program)
    assert done.stdout.split() == ["120.0", "100.0"], done.stderr


PACKAGE = f"""\
import numpy
import torch
import triton

src = '''{SOURCE}'''
kernels = {{}}
defines = {{'TYPE': 'float', 'TN': 16}}


def scaled(x, twice, size):
    key = (twice, size)
    if key not in kernels:
        defines = {{'TYPE': x.dtype, 'MULT': 1}}
        defines['TN'] = size
        if twice:
            defines['DOUBLED'] = True
        kernels[key] = triton.kernel(src, x.device, defines=defines)
        defines['TN'] = 1  # the kernel object has its own
    y = torch.zeros_like(x)
    n = x.numel()
    half = torch.tensor(0.5) if twice else numpy.float32(0.5)
    count = torch.tensor(n) if twice else numpy.int64(n)
    kernels[key](y.data_ptr(), x.data_ptr(), half, count, grid=lambda opt: [triton.cdiv(n, opt.TN)])
    return y
"""
PROGRAM = """\
import torch, old
x = torch.tensor([-3.0, float("nan"), 5.0] * 11)
for dtype in (torch.float32, torch.float16):
    for size in (16, 32):
        torch.testing.assert_close(old.scaled(x.to(dtype), False, size), x.to(dtype) / 2, equal_nan=True)
        torch.testing.assert_close(old.scaled(x.to(dtype), True, size), x.to(dtype), equal_nan=True)
print(type(old.kernels[True, 32]).__name__, old.kernels[True, 32].configs[0].kwargs)
"""


def test_a_package_without_a_launcher(tmp_path: Path) -> None:
    """It has no other modules than its kernels', and a define that is set later does not change a kernel object."""
    assert port(PACKAGE, tmp_path) == 0
    written = sorted(
        path.relative_to(tmp_path / "new").as_posix() for path in (tmp_path / "new").rglob("*.py")
    )
    assert written == ["old/__init__.py", "old/kernels_/__init__.py", "old/kernels_/old.py"]
    done = ran(tmp_path, PROGRAM)
    assert done.stdout.split(maxsplit=1) == ["Autotuner", "{'TN': 32, 'DOUBLED': True}\n"], done.stderr


CHOSEN = """\
import torch
import triton

src = '''
__global__ void pick(float *Y, TYPE *A, TYPE *B, int N) {
  int i[32] = 0 ... 32;
#ifdef FIRST
  float x[32] = *?(i < N) (A + i);
#else
  float x[32] = *?(i < N) (B + i);
#endif
  *?(i < N) (Y + i) = x;
}
'''


def pick(x, first, dtype):
    y = torch.empty(len(x))
    defines = {'TYPE': dtype}
    if first:
        defines['FIRST'] = 1
    kernel = triton.kernel(src, defines=defines)
    kernel(y, x if first else None, None if first else x, len(x), grid=[1])
    return y.tolist()
"""


def test_pointers_of_a_type_of_which_none_is_always_read(tmp_path: Path) -> None:
    """The define is asked, not a pointer, which may be None; a tensor of another type is refused in each arm."""
    assert port(CHOSEN, tmp_path) == 0
    program = """\
import itertools, torch, old
for first, dtype, given in itertools.product((True, False), *[(torch.half, torch.float)] * 2):
    try:
        print(old.pick(torch.arange(3.0).to(given), first, dtype))
    except Exception as error:
        print("pass tensors of these types" in str(error) and dtype is not given)
"""
    done = ran(tmp_path, program)
    row = ["[0.0, 1.0, 2.0]", "True", "True", "[0.0, 1.0, 2.0]"]
    assert done.stdout.splitlines() == row * 2, done.stderr


ALIKE = """\
import torch
import triton

src = '''
__global__ void scale(TYPE *Y, TYPE *X, int N __multipleof(ROUND)) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  float x[TN] = *?(i < N) (X + i);
#ifdef RELU
  x = x > 0 ? x : SLOPE * x;
#endif
#if TN > 32
  x = x + BIAS;
#endif
  *?(i < N) (Y + i) = x * TIMES;
}
'''


def scale(x, tn=64):
    y = torch.empty_like(x)
    defines = {'RELU': True, 'TN': TN, 'SLOPE': 0.5, 'BIAS': -2, 'ROUND': 8, 'TIMES': 3, 'TYPE': 'float'}
    kernel = triton.kernel(src, x.device, defines=defines)
    kernel(y.data_ptr(), x.data_ptr(), x.numel(), grid=[4])
    return y.tolist()
"""


@pytest.mark.parametrize(("tn", "plain"), [("'64'", True), ("tn", False), ("64, 'RELU': ''", False)])
def test_defines_that_all_launches_give_alike(tn: str, plain: bool, tmp_path: Path) -> None:
    """With ``--simplify`` they are not parameters; where the code may give others, the launcher refuses these."""
    text = ALIKE.replace("TN': TN", f"TN': {tn}")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "__init__.py").write_text(text)
    command = ["port", str(tmp_path / "old"), "--out", str(tmp_path / "new"), "--simplify"]
    assert main(command) == 0
    written = (tmp_path / "new/old/kernels/old.py").read_text()
    assert written.count("tl.constexpr") == 0
    assert "tl.program_id(0) * 64 + tl.arange(0, 64)" in written
    assert ("kernel[(4,)](y, x, x.numel())" in (tmp_path / "new/old/__init__.py").read_text()) is plain
    program = "import torch, old; print(old.scale(torch.arange(-2.0, 3)))"
    done = ran(tmp_path, program)
    assert done.stdout.splitlines()[-1:] == ["[-9.0, -7.5, -6.0, -3.0, 0.0]"], done.stderr
    if tn == "tn":
        done = ran(tmp_path, program.replace("3)", "3), 32"))
        assert "no kernel was ported for TN=32: " in done.stderr


@pytest.mark.parametrize(("tn", "number"), [("tn", False), ("64", True)])
def test_a_define_that_callers_give_stays_a_parameter(tn: str, number: bool, tmp_path: Path) -> None:
    """Also with ``--simplify``: what reading tries for it is a guess. A grid has the number of another one."""
    text = ALIKE.replace("TN': TN", f"TN': {tn}").replace("tn=64", "tn")
    text = text.replace("[4]", "lambda opt: [triton.cdiv(x.numel(), opt.TN)]")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "__init__.py").write_text(text)
    assert main(["port", str(tmp_path / "old"), "--out", str(tmp_path / "new"), "--simplify"]) == 0
    written = (tmp_path / "new/old/kernels/old.py").read_text()
    assert ("TN: tl.constexpr" in written) is not number
    assert "SLOPE: tl.constexpr" not in written
    code = (tmp_path / "new/old/__init__.py").read_text()
    assert ("(triton.cdiv(x.numel(), 64),)" in code) is number
    assert ("opt['TN']" in code) is not number


OF_A_NUMBER = """\
import torch
import triton

src = '''
__global__ void halve(int *Y, int *X, int n) {
  int i[16] = 0 ... 16;
  *?(i < n)(Y + i) = *?(i < n)(X + i) + SCALE / 2;
}
'''


def f(x, scale=3):
    y = torch.empty_like(x)
    kernel = triton.kernel(src, x.device, defines={'SCALE': scale})
    kernel(y.data_ptr(), x.data_ptr(), x.numel(), grid=[1])
    return y.tolist()
"""


def port(text: str, folder: Path) -> int:
    """The exit status of a port of a package, from ``old`` to ``new``."""
    (folder / "old").mkdir(exist_ok=True)
    (folder / "old" / "__init__.py").write_text(text)
    return main(["port", str(folder / "old"), "--out", str(folder / "new")])


@pytest.mark.parametrize("size", [0, 1 << 40])
def test_a_float_in_the_place_of_an_integer_is_refused(size: int, tmp_path: Path) -> None:
    text = OF_A_NUMBER.replace("int *", "long *").replace("scale=3", f"scale={size + 3}")
    assert port(text, tmp_path) == 0
    program = "import torch, old; print(*old.f(torch.zeros(3, dtype=torch.int64), {}))"
    numbers = (size + 7, size + 11, float(size + 7))
    done = [ran(tmp_path, program.format(n)) for n in numbers]
    halves = [str(int(number / 2)) for number in numbers]
    assert [one.stdout.split()[:1] for one in done] == [halves[:1], halves[1:2], []]
    assert "port again with -D SCALE=..." in done[2].stderr


@pytest.mark.parametrize(
    "code",
    [
        "    p, q = y.data_ptr(), x.data_ptr()\n    k(p, q, N, grid=g)",
        "    p = [t.data_ptr() for t in (y, x)]\n    k(*p, N, grid=g)",
        "    p = {'y': y.data_ptr(), 'x': x.data_ptr()}\n    k(p['y'], p['x'], N, grid=g)",
        "    p: int = y.data_ptr()\n    k(p, x, N, grid=g)",
        "    inner(y.data_ptr(), x.data_ptr())",
        "    inner(*map(torch.Tensor.data_ptr, (y, x)))",
        "    k(y.data_ptr(), x.data_ptr(), N, **dict(grid=g))",
        "    k(y, address(x), N, grid=g)",
        "    k(y, x.untyped_storage().data_ptr(), N, grid=g)",
        "    big = torch.cat([x, x])\n    k(y, big.data_ptr() + 4 * N, N, grid=g)",
        "    Both(y.data_ptr(), x.data_ptr())",
    ],
)
def test_addresses_that_a_launch_gets_in_any_way(code: str, tmp_path: Path) -> None:
    """The launcher makes pointers of them, of the types that the text declares."""
    text = (
        OF_A_NUMBER.split("def f")[0]
        + f"""
N, g = 5, [1]
k = triton.kernel(src, defines={{'SCALE': 3}})


def inner(y, x):
    k(y, x, N, grid=g)


def address(x):
    return x.data_ptr()


class Both:
    def __init__(self, *addresses):
        k(*addresses, N, grid=g)


def f(x):
    y = torch.empty_like(x)
{code}
    return y.tolist()
"""
    )
    assert port(text, tmp_path) == 0
    program = "import torch, old; print(old.f(torch.arange(-2, 3, dtype=torch.int32)))"
    done = ran(tmp_path, program)
    assert done.stdout.splitlines()[-1:] == ["[-1, 0, 1, 2, 3]"], done.stderr


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "    y = ",
            "    if triton.__version__ < '1':\n        scale += 1\n    y = ",
            "__init__.py: triton.__version__ is that of today's Triton: decide what it chooses",
        ),
    ],
)
def test_what_a_person_must_decide_is_named(
    before: str, after: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert OF_A_NUMBER.count(before) == 1
    assert port(OF_A_NUMBER.replace(before, after), tmp_path) == 1
    assert message in capsys.readouterr().err


def test_a_package_that_works_without_triton(tmp_path: Path) -> None:
    text = OF_A_NUMBER.replace(
        "import triton\n", "try:\n    import triton\nexcept ImportError:\n    triton = None\n"
    )
    assert port(text, tmp_path) == 0
    program = "import torch, old; print(*old.f(torch.zeros(3, dtype=torch.int32)), old.triton is None)"
    done = ran(tmp_path, program)
    assert done.stdout == "1 1 1 False\n", done.stderr
    program = "import sys; sys.modules['triton'] = None; import old; print(old.triton, old.src)"
    done = ran(tmp_path, program)
    assert done.stdout == "None None\n", done.stderr


OF_TWO_TYPES = """\
import torch
import triton

src = '''
__global__ void axpy(TYPE *Y, TYPE *X,
#ifdef WHOLE
                     int alpha,
#else
                     float alpha,
#endif
                     int n) {
  int i[16] = 0 ... 16;
  *?(i < n)(Y + i) = *?(i < n)(X + i) * alpha;
}
'''


def axpy(x, alpha):
    y = torch.empty_like(x)
    defines = {'TYPE': x.dtype}
    if isinstance(alpha, int):
        defines['WHOLE'] = True
    kernel = triton.kernel(src, x.device, defines=defines)
    kernel(y.data_ptr(), x.data_ptr(), alpha, x.numel(), grid=[1])
    return y.tolist()
"""
OF_NONE = """\
import torch
import triton

src = '''
__global__ void add(TYPE *B, TYPE *X, TYPE *Y, int n) {
  int i[16] = 0 ... 16;
  TYPE x[16] = *?(i < n)(X + i);
#ifdef BIAS
  x += *?(i < n)(B + i);
#endif
  *?(i < n)(Y + i) = x;
}
'''


def add(x, bias=None):
    y = torch.empty_like(x)
    defines = {'TYPE': x.dtype}
    if bias is not None:
        defines['BIAS'] = True
    kernel = triton.kernel(src, x.device, defines=defines)
    kernel(bias, x, y, x.numel(), grid=[1])
    return y.tolist()
"""
OF_INFINITY = """\
import torch
import triton

src = '''
__global__ void fill(float *Y, float *X, int n) {
  int i[4] = 0 ... 4;
  float x[4] = *?(i < n)(X + i);
  *(Y + i) = i < n ? x : LOW;
}
'''


def filled(x):
    y = torch.empty(4)
    kernel = triton.kernel(src, x.device, defines={'LOW': float('-inf')})
    kernel(y.data_ptr(), x.data_ptr(), x.numel(), grid=[1])
    return y.tolist()
"""


@pytest.mark.parametrize(
    ("text", "calls", "want"),
    [
        (OF_TWO_TYPES, "old.axpy(x, 0.5) + old.axpy(x, 2)", [1.0, -2.0, 4.0, -8.0]),
        (OF_NONE, "old.add(x) + old.add(x, x)", [2.0, -4.0, 4.0, -8.0]),
        (OF_INFINITY, "old.filled(x)", [2.0, -4.0, -math.inf, -math.inf]),
    ],
    ids=["a number of two types", "no tensor in the first place", "a define that is infinite"],
)
def test_arguments_of_a_ported_launch(text: str, calls: str, want: list[float], tmp_path: Path) -> None:
    assert port(text, tmp_path) == 0
    program = f"import torch, old; x = torch.tensor([2.0, -4.0]); print(*({calls}))"
    done = ran(tmp_path, program)
    assert [*map(float, done.stdout.split())] == want, done.stderr


def test_a_file_that_does_not_parse_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And stays as it is; the others are ported."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "setup_2.py").write_text("import os\nprint 'of Python 2'\n")
    assert port(OF_A_NUMBER, tmp_path) == 1
    assert "setup_2.py:2: this Python cannot be read (" in capsys.readouterr().err
    assert (tmp_path / "new" / "old" / "setup_2.py").read_text() == "import os\nprint 'of Python 2'\n"
    assert "@triton.jit" in (tmp_path / "new" / "old" / "kernels" / "old.py").read_text()


def test_a_port_into_the_package_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "__init__.py").write_text(OF_A_NUMBER)
    for out in ("old", "old/new"):
        assert main(["port", str(tmp_path / "old"), "--out", str(tmp_path / out)]) == 2
        assert f"{tmp_path / out}: is inside the package" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["__init__.py"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "__init__.py").write_text(OF_A_NUMBER)
    assert main(["port", str(tmp_path / "old"), "--out", "/proc/none"]) == 2
    assert "pytriton port: error: /proc/none" in capsys.readouterr().err


def test_kernels_are_proved_where_triton_interprets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert port(OF_A_NUMBER, tmp_path) == 0
    assert "proved by TTIR" in capsys.readouterr().out


def test_a_kernel_of_a_string_that_is_chosen_by_its_name_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = OF_A_NUMBER.replace("defines={'SCALE': scale}", "defines={'SCALE': scale}, kernel='halve'")
    assert port(text, tmp_path) == 1
    assert (
        "kernel='halve' chooses a kernel of a string: give it a source of its own" in capsys.readouterr().err
    )


def test_its_comparison_tests(tmp_path: Path) -> None:
    """They launch the functions themselves."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "__init__.py").write_text(PACKAGE)
    assert main(["port", str(tmp_path / "old"), "--out", str(tmp_path / "new"), "--with-tests"]) == 0
    done = processes.python(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path / "new" / "old_comparison"
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
