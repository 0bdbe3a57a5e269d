"""Runs the classic dot on operands that end where readable memory ends; run by test_guard_page.py, with a word for
each transposition (``01``: only B), or ``touch``.

Each operand is placed against a page that may not be touched. The text loads a tile before its loop
and again at the end of the last turn; that last load is dead, and points past the operands. A
program that makes it dies here by SIGSEGV, as it might have died on a GPU.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from pathlib import Path

sys.path[:0] = [str(path) for path in (Path(__file__).parents[2], Path(__file__).parents[2] / "examples")]

import torch  # noqa: E402
from dot import dot  # noqa: E402

libc = ctypes.CDLL(None, use_errno=True)
PROT_NONE = 0
keep: list[mmap.mmap] = []


def against_a_wall(x: torch.Tensor) -> torch.Tensor:
    """A copy of x whose last byte is the last byte of readable memory."""
    size = x.numel() * x.element_size()
    pages = -(-size // mmap.PAGESIZE)
    region = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    keep.append(region)
    start = ctypes.addressof(ctypes.c_char.from_buffer(region))
    wall = ctypes.c_void_p(start + pages * mmap.PAGESIZE)
    if libc.mprotect(wall, ctypes.c_size_t(mmap.PAGESIZE), PROT_NONE):
        raise OSError(ctypes.get_errno(), "mprotect failed")
    y = torch.frombuffer(region, dtype=x.dtype, count=x.numel(), offset=pages * mmap.PAGESIZE - size).view(
        x.shape
    )
    return y.copy_(x)


def main(word: str) -> None:
    at, bt = word[0] == "1", word[1] == "1"
    m, n, k = 64, 32, 48
    a = against_a_wall(torch.randint(-3, 4, (k, m) if at else (m, k)).float())
    b = against_a_wall(torch.randint(-3, 4, (n, k) if bt else (k, n)).float())
    if word == "touch":  # proves that the wall stands
        ctypes.string_at(a.data_ptr(), a.numel() * 4 + 1)
    c = dot(a, b, at, bt, {"TM": 32, "TN": 32, "TK": 16})
    assert torch.equal(c, (a.t() if at else a) @ (b.t() if bt else b))
    print(word, "right", flush=True)


if __name__ == "__main__":
    for word in sys.argv[1:]:
        main(word)
