"""The launcher module of a ported package, on Triton's own interpreter: sweeps, and work on the host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytriton.__main__ import main

MAX_CALLS = 16  # of functions of the launcher, in a launch like an earlier one

PACKAGE = '''\
import triton

src = """
__global__ void scale(TYPE *Y, TYPE *X __readonly, int N) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  bool ok[TN] = i < N;
  TYPE *py[TN] = Y + i;
  *?(ok) py = *?(ok) py + *?(ok) (X + i);
}
"""
kernel = triton.kernel(src, defines={'TYPE': 'float', 'TN': [16, 32, 64]}, num_warps=[1, 2])


def add(y, x):
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
'''

PROGRAM = """\
import functools
import sys
import torch
import triton

tried = []

def measured(call, quantiles):
    call()
    tried.append(call)
    return [float(len(tried) != 4)] * 3  # the fourth is the fastest

triton.autotune = functools.partial(triton.autotune, do_bench=measured)
import old
from old import _triton
_triton.DEVICE = "cuda"

y, x = torch.zeros(100), torch.ones(100)
old.add(y, x)
assert len(tried) == 6, len(tried)
assert y.eq(1).all(), "what is written while tuning is put back"
launch, = old.kernel.launches.values()
assert (launch.point.options.TN, launch.point.options.num_warps) == (32, 2), launch.point.options
called = []
sys.setprofile(lambda frame, event, _: event == "call" and called.append(frame.f_code))
old.add(y, x)
sys.setprofile(None)
assert y.eq(2).all()
assert len(tried) == 6
print(*(code.co_name for code in called if code.co_filename == _triton.__file__))
old.add(y[:50], x[:50])
assert len(tried) == 12, "another size is tuned anew"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "__init__.py").write_text(PACKAGE)
    assert main(["port", str(tmp_path / "old"), "--out", str(tmp_path / "new")]) == 0
    return tmp_path / "new"


def test_a_sweep_is_tuned_once_and_leaves_nothing_behind(folder: Path) -> None:
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) <= MAX_CALLS, done.stdout
