# %%
# # Porting an old package
#
# A package of 2021, and two ways into the present: run it as it is, or replace its kernels by modern modules.
# First the package. It has one kernel, with a flag; the script writes it to a temporary folder:

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

import pytriton

folder = Path(tempfile.mkdtemp())
package = folder / "rowops"
package.mkdir()
(package / "__init__.py").write_text("from rowops.rows import scale\n")
(package / "rows.py").write_text(
    '''import torch
import triton

src = """
__global__ void scale(TYPE* y __noalias, TYPE* x, float alpha, int n __multipleof(8)) {
  int i[TN] = 0 ... TN;
  int offset[TN] = get_program_id(0) * n + i;
  bool in[TN] = i < n;
  TYPE v[TN] = in ? *(x + offset) : 0;
#ifdef RELU
  v = v > 0 ? v : 0;
#endif
  *?(in)(y + offset) = v * alpha;
}
"""

kernels = {}


def scale(x, alpha, relu=False):
    rows, n = x.shape
    key = (x.dtype, n, relu)
    if key not in kernels:
        defines = {"TYPE": x.dtype, "TN": triton.next_power_of_2(n)}
        if relu:
            defines["RELU"] = 1
        kernels[key] = triton.kernel(src, device=x.device, defines=defines, num_warps=4)
    y = torch.empty_like(x)
    kernels[key](y.data_ptr(), x.data_ptr(), alpha, n, grid=lambda opt: (rows,))
    return y
'''
)
sys.path.insert(0, str(folder))

# %%
# ## Way one: run it untouched
#
# Inside the packages that are named, `import triton` means pytriton. Everything else keeps the real one.

with pytriton.legacy_imports("rowops"):
    import rowops

x = torch.randn(4, 24)
torch.testing.assert_close(rowops.scale(x, 2.0, relu=True), 2 * x.relu())
print("the package of 2021 runs")

# %%
# ## Way two: replace its kernels
#
# `pytriton port` reads the code without running it, finds the source, and looks for the values of its defines.
# What it cannot find by reading, such as the width of a row, you give with `-D`, or it is observed in a run
# with `--run`.


def port(*options: str) -> str:
    command = [sys.executable, "-m", "pytriton", "port", "rowops", "--kernels-only", *options]
    environment = {**os.environ, "PYTHONPATH": str(Path(pytriton.__file__).parent.parent)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


print(port("-D", "TYPE=float", "-D", "TN=32", "-D", "RELU=1", "--out", "ported"))

# %%
# The module it wrote has the kernel, as a function of today's Triton. It needs triton and nothing else.

module = next(path for path in (folder / "ported").rglob("*.py") if "@triton.jit" in path.read_text())
text = module.read_text()
print(text[text.index("@triton.jit") :].partition("\n\n\n")[0])

# %%
# [Port a package](../walk-port.md) does all of this from a shell, call sites and tests included.
# [Porting](../porting.md) has the report, and what to do where manual work is needed.
