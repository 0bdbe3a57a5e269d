"""A ported package that is called with a define that no run showed: right, or refused, never something else.

A fold of 16 and 256 once left out the branch for 7 and for what follows it, with exit status 0.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytriton.__main__ import main
from tests import processes

INIT = '''\
import torch
import triton

src = """
__global__ void box(float *Y, float *X, int n) {
  int i[16] = get_program_id(0) * 16 + 0 ... 16;
  float x[16] = *?(i < n) (X + i) * K;
CHOICE
  x = x * 0.5f;
#endif
  *?(i < n) (Y + i) = x;
}
"""

def box(x, k):
    y = torch.empty_like(x)
    triton.kernel(src, defines={"K": k}, num_warps=[4])(y, x, x.numel(), grid=[triton.cdiv(x.numel(), 16)])
    return y
'''
ASKED = (7, 16, 256, 5, 6, 8, 35, 80, 96, 97, 100, 112, 128, 1, 0, -7)
PROGRAM = f"""\
import json, torch, boxes
x, results = torch.full((20,), 25.0), []
for k in {ASKED}:
    try:
        results.append(boxes.box(x, k)[19].item())
    except Exception as error:  # Triton's, around a failed static_assert, or the launcher's
        results.append(f"{{type(error).__name__}}: {{error}}")
print(json.dumps(results))
"""


@pytest.mark.parametrize(
    ("choice", "halved"),
    [
        ("#if K == 7", lambda k: k == 7),
        ("#if K * 5 == 35", lambda k: k * 5 == 35),
        ("#if K > 96 && K < 128", lambda k: 96 < k < 128),
        ("#if K % 2", lambda k: k % 2 != 0),
    ],
    ids=["equal", "product", "between", "odd"],
)
def test_a_define_that_no_run_showed(choice: str, halved: Callable[[int], bool], tmp_path: Path) -> None:
    folder = tmp_path / "old" / "boxes"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(INIT.replace("CHOICE", choice))
    use = tmp_path / "use.py"
    use.write_text("import torch, boxes\n[boxes.box(torch.ones(20), k) for k in (16, 256)]\n")
    assert main(["port", str(folder), "--out", str(tmp_path / "new"), "--run", str(use)]) == 0
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "new"), "TRITON_INTERPRET": "1"}
    done = processes.run([sys.executable, "-W", "ignore", "-c", PROGRAM], env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    results = dict(zip(ASKED, json.loads(done.stdout), strict=True))
    wanted = {k: 25.0 * k * (0.5 if halved(k) else 1.0) for k in ASKED}
    given = {k: result for k, result in results.items() if isinstance(result, float)}
    assert given == {k: wanted[k] for k in given}
    assert {16, 256} <= given.keys()
    assert all("port" in result for k, result in results.items() if k not in given), results
