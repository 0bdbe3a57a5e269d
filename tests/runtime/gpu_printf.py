"""What ``printf`` prints on a GPU, and how often, to be looked at: ``python tests/runtime/gpu_printf.py``."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import torch

import pytriton

TEXT = r"""__global__ void show(float* z, half* x, char* b, int n) {
  int i[TILE] = 0 ... TILE;
  printf("i = %d, hexadecimal %x: %5.2f\n", i, i - 1, *(x + i));
  if (get_program_id(0) == 1) {
    printf("scalar %u", n);
    printf("only text\n");
    printf("%p", z);
    printf("half[0] %f byte %d", *x, *b);
  }
  *(z + i) = *(x + i);
}"""


def main() -> None:
    """One program of 32 threads prints a block of 32, a second one scalars."""
    show = pytriton.kernel(TEXT, {"TILE": [32, 64]}, num_warps=1)
    z = torch.zeros(64, device="cuda")
    x = torch.arange(64, device="cuda").half() / 2
    for warps in (1, 4):
        show(z, x, torch.full((1,), -5, dtype=torch.int8, device="cuda"), -1, grid=(2,), num_warps=warps)
    torch.cuda.synchronize()
    print("tile", show.best_config, "right:", torch.equal(z[:32], x[:32].float()))


if __name__ == "__main__" and len(sys.argv) > 1:
    main()
elif __name__ == "__main__":  # it prints past Python, on the standard output of the process
    ran = subprocess.run([sys.executable, __file__, "run"], capture_output=True, text=True, check=False)
    print(ran.stderr[-3000:])
    counts = Counter(ran.stdout.splitlines())
    print(len(counts), "different lines")
    for line, count in sorted(counts.items())[:: max(1, len(counts) // 60)]:
        print(f"{count:5} x {line}")
    for line, count in counts.items():
        if "idx ()" in line or "text" in line or "right" in line:
            print(f"{count:5} x {line}")
