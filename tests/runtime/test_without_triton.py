"""Launches on CPU tensors where Triton is not installed, as on macOS and Windows: C runs them."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from tests import processes

pytestmark = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no C compiler")

BEFORE = '''
import sys

class NoTriton:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "triton":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoTriton())
import pickle
import torch
import pytriton

MUL = """
__global__ void mul(TYPE *X, TYPE *Y, TYPE *Z, int n) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  *?(i < n)(Z + i) = *?(i < n)(X + i) * *?(i < n)(Y + i);
}
"""
x, y = torch.randn(2, 1000)
z = torch.empty(1000)
grid = lambda opt: (pytriton.cdiv(1000, opt.TN),)
kernel = pytriton.kernel(MUL, defines={"TYPE": "float", "TN": 64})
'''


def printed(program: str, **environment: str) -> str:
    paths = os.pathsep.join([str(processes.ROOT), *filter(None, sys.path)])
    run = processes.run(
        [sys.executable, "-W", "ignore", "-c", BEFORE + program],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": paths, **environment},
        triton=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("kernel(x, y, z, 1000, grid=grid); print(torch.equal(z, x * y))", "True"),
        (
            "kernel = pytriton.kernel(MUL, defines={'TYPE': 'float', 'TN': [64, 128]})\n"
            "kernel(x, y, z, 1000, grid=grid); print(torch.equal(z, x * y))",
            "True",
        ),
        (
            "kernel = pytriton.kernel(MUL, autotune_configs=[pytriton.config({'TYPE': 'float', 'TN': 32}, 2)])\n"
            "kernel(x, y, z, 1000, grid=grid); print(torch.equal(z, x * y))",
            "True",
        ),
        (
            "kernel = pickle.loads(pickle.dumps(kernel))\n"
            "kernel(x, y, z, 1000, grid=grid); print(torch.equal(z, x * y))",
            "True",
        ),
        (
            "a, b, c = x.bfloat16(), y.bfloat16(), z.bfloat16()\n"
            "kernel(a, b, c, 1000, grid=grid, defines={'TYPE': a.dtype}); print(torch.equal(c, a * b))",
            "True",
        ),
        (
            "try: kernel(x, y, torch.empty(900), 1000, grid=grid)\n"
            "except pytriton.LaunchError as error: print(str(error).split(': ', 1)[1].split(chr(10))[0])",
            "error: store outside 'Z': 1 element past the end [TC550]",
        ),
        (
            "found = pytriton.gradient(kernel)(x, y, z, 1000, grid=grid, d_outputs={'Z': torch.ones(1000)})\n"
            "print(torch.equal(found['X'], y), torch.equal(found['Y'], x))",
            "True True",
        ),
        (
            "@pytriton.op('without::mul', gradient=True)\n"
            "def mul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:\n"
            "    c = torch.empty_like(a)\n"
            "    kernel(a, b, c, a.numel(), grid=grid)\n"
            "    return c\n"
            "a = x.clone().requires_grad_()\n"
            "mul(a, y).sum().backward()\n"
            "compiled = torch.compile(lambda a: mul(a, y) + 1, backend='aot_eager')\n"
            "print(torch.equal(a.grad, y), torch.equal(compiled(x), x * y + 1))",
            "True True",
        ),
        (
            "def run(a):\n"
            "    c = torch.empty_like(a)\n"
            "    kernel(a, y, c, 1000, grid=(16,))\n"
            "    return c + 1\n"
            "print(torch.equal(torch.compile(run, backend='eager')(x), x * y + 1))",
            "True",
        ),
        ("print('void mul' in kernel.asm('c'), '@triton.jit' in kernel.source())", "True True"),
    ],
)
def test_c_runs_it(program: str, wanted: str) -> None:
    assert printed(program).strip() == wanted


@pytest.mark.parametrize(
    ("program", "environment", "wanted"),
    [
        ("kernel(x, y, z, 1000, grid=grid)", {"PATH": ""}, "no C compiler was found"),
        ("kernel.check_races(x, y, z, 1000, grid=grid)", {}, "check_races and traces need the interpreter"),
        ("kernel.trace(x, y, z, 1000, grid=grid)", {}, "check_races and traces need the interpreter"),
        (
            "pytriton.kernel('__global__ void f(int n) { printf(\"%d\", n); }')(1, grid=1)",
            {},
            "printf cannot be printed as C yet [TC460]",
        ),
    ],
)
def test_what_needs_the_interpreter_is_refused(
    program: str, environment: dict[str, str], wanted: str
) -> None:
    shown = printed(f"try: {program}\nexcept pytriton.LaunchError as error: print(error)", **environment)
    message, _, cure = shown.partition("\nhelp: ")
    assert message.endswith(": this launch needs Triton's interpreter, and Triton is not installed [TC565]")
    assert wanted in cure
