"""Fifty wrong launches, one after another in one process; each prints a line.

``python -m tests.runtime.checks.hostile``: a line a launch, its number and the code of what was said (``done``
where it is right to launch or to do nothing), and ``alive`` in the end. ``... hostile cuda``: the same on a GPU,
with ``check=True``.
"""

from __future__ import annotations

import re
import sys
import warnings
from typing import Any

import torch

import pytriton
from pytriton.errors import PytritonError

COPY = """\
__global__ void copy(float* z, float* x, int n) {
  int i[16] = get_program_id(0) * 16 + 0 ... 16;
  *?(i < n)(z + i) = *?(i < n)(x + i);
}
"""
BARE = "__global__ void bare(float* z, float* x) { int i[16] = 0 ... 16; *(z + i) = *(x + i); }"
STRIDED = """\
__global__ void strided(float* z, float* x, int ldz, int ldx) {
  int i[16] = 0 ... 16;
  int j[16] = 0 ... 16;
  *(z + i[:, newaxis] * ldz + j[newaxis, :]) = *(x + i[:, newaxis] * ldx + j[newaxis, :]);
}
"""
FAR = "__global__ void far(float* z, long at) { *(z + at) = 1; }"
CHASE = "__global__ void chase(float** t, float* z) { *z = *(*t); *(*t) = 2; }"
GATHER = "__global__ void gather(float* z, int* at) { int i[16] = 0 ... 16; *(z + *(at + i)) = 1; }"
LOCK = (
    "__global__ void lock(int* l, float* z) { while (atomic_cas(l, 0, 1) == 1); *z = 1; atomic_xchg(l, 0); }"
)
ADD = "__global__ void sum(float* z, int at) { int i[16] = 0 ... 16; atomic_add(z + i * at, 1.0f); }"
LOOP = "__global__ void loop(float* z, int n) { for (int k = 0; k < n; k += 1) *(z + k) = 1; }"

a, b = torch.zeros(16), torch.ones(16)
square = torch.zeros(16, 16)
numbers = torch.arange(16, dtype=torch.int32)
INT = 2**31 - 1

# text, arguments, grid, the codes that may be said
Launch = tuple[str, tuple[Any, ...], Any, str]
LAUNCHES: list[Launch] = [
    # null pointers, empty tensors, and sizes of zero
    (BARE, (None, b), 1, "TC550"),
    (BARE, (a, None), 1, "TC551"),
    (BARE, (None, None), 1, "TC550"),
    (BARE, (0, b), 1, "TC550"),
    (BARE, (a, torch.empty(0)), 1, "TC551"),
    (BARE, (torch.empty(0, 5), b), 1, "TC550"),
    (COPY, (None, None, 0), 1, "done"),
    (COPY, (torch.empty(0), torch.empty(0), 0), 0, "done"),
    (COPY, (a, b, 0), (0, 3), "done"),
    (COPY, (a, b, -5), 1, "done"),
    # addresses that are none
    (BARE, (1, b), 1, "TC550"),
    (BARE, (a, 1), 1, "TC551"),
    (BARE, (4096, b), 1, "TC550"),
    (BARE, (a, 0xDEAD_BEEF), 1, "TC551"),
    (BARE, (1 << 47, b), 1, "TC550"),
    (BARE, (a, 1 << 63), 1, "TC551"),
    (BARE, ((1 << 64) - 8, b), 1, "TC550"),
    (BARE, (a, (1 << 64) - 1), 1, "TC551"),
    (BARE, (-8, b), 1, "TC505"),
    (BARE, (1 << 64, b), 1, "TC505"),
    (CHASE, (torch.tensor([0]), a), 1, "TC550"),
    (CHASE, (torch.tensor([-1]), a), 1, "TC550"),
    (CHASE, (torch.tensor([1 << 62]), a), 1, "TC550"),
    (CHASE, (None, a), 1, "TC550"),
    # strides and offsets
    (STRIDED, (square, square, -16, 16), 1, "TC550"),
    (STRIDED, (square, square, 16, -16), 1, "TC551"),
    (STRIDED, (square, square, 16, 17), 1, "TC551"),
    (STRIDED, (square, square, 1 << 24, 16), 1, "TC550"),
    (STRIDED, (square, square, -INT, 16), 1, "TC550"),
    (STRIDED, (square, square, 0, 0), 1, "done"),
    (FAR, (a, 1 << 31), 1, "TC550"),
    (FAR, (a, -(1 << 31)), 1, "TC550"),
    (FAR, (a, 1 << 60), 1, "TC550"),
    (FAR, (a, -(1 << 60)), 1, "TC550"),
    (FAR, (a, -1), 1, "TC550"),
    (FAR, (a, 16), 1, "TC550"),
    (GATHER, (a, numbers * 1000), 1, "TC550"),
    (GATHER, (a, -numbers), 1, "TC550"),
    (GATHER, (a, numbers[:4].clone()), 1, "TC551"),
    # atomics and locks
    (LOCK, (None, a), 1, "TC550"),
    (LOCK, (64, a), 2, "TC550"),
    (ADD, (a, 2), 1, "TC550"),
    (ADD, (None, 1), 1, "TC550"),
    # all below 64 KiB, where nothing is mapped: with 1 << 20 it met the heap in one process of twenty
    (ADD, (8, 1 << 10), 1, "TC550"),
    # sizes, and grids
    (COPY, (a, b, 17), 2, "TC550"),
    (COPY, (a, b, INT), 3, "TC550"),
    (COPY, (a, b, 1 << 31), 1, "TC506"),
    (LOOP, (a, 100), 1, "TC550"),
    (COPY, (a, b, 16), (1 << 31,), "TC512"),
    (COPY, (a, b, 16), (1, 65536), "TC512"),
    (COPY, (a, b, 16), (INT, 65535, 65535), "TC512"),
    (COPY, (a, b, 16), (-1,), "TC512"),
    (COPY, (a, b, 16), (1.5,), "TC511"),
    # other devices, and what is no tensor
    (COPY, (torch.empty(16, device="meta"), b, 16), 1, "TC510"),
    (COPY, (a, b.to_sparse(), 16), 1, "TC510"),
    (COPY, ("z", b, 16), 1, "TC505"),
]


def placed(value: Any, device: str) -> Any:
    """An argument on a device; a tensor that is on no CPU stays where it is."""
    return value.to(device) if isinstance(value, torch.Tensor) and value.device.type == "cpu" else value


def said(launch: Launch, device: str) -> str:
    """The codes of a launch, the error first; ``done`` if there is none."""
    text, arguments, grid, _ = launch
    with warnings.catch_warnings(record=True, action="always") as caught:
        error = ""
        try:
            pytriton.kernel(text, check=True)(*[placed(x, device) for x in arguments], grid=grid)
        except PytritonError as raised:
            error = str(raised)
    codes = re.findall(r"\[(TC\d+)\]", "\n".join([error, *(str(one.message) for one in caught)]))
    return codes[0] if codes else "done"


def main(device: str = "cpu") -> int:
    for number, launch in enumerate(LAUNCHES):
        print(number, said(launch, device), flush=True)
    z, x = torch.zeros(16, device=device), b.to(device)
    pytriton.kernel(BARE)(z, x, grid=1)
    print("alive" if torch.equal(z, x) else "wrong", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
