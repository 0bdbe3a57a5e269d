"""Huge pages for what a kernel writes on the CPU.

The system supplies a page of a new tensor when it is first stored to. With pages of 4 KiB that takes longer than
most kernels do. NumPy asks for pages of 2 MiB, and torch does not. Memory that has its pages stays as it is.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, Final

import torch

MIN_BYTES: Final = 1 << 22  # of a tensor, as in NumPy
_ADVICE: Final = getattr(mmap, "MADV_HUGEPAGE", None)  # on Linux


def ask_for_huge_pages(argument: Any) -> None:
    """Ask for the memory of an argument that is a large tensor. The system may do otherwise."""
    if _ADVICE is None or not isinstance(argument, torch.Tensor):
        return
    storage = argument.untyped_storage()
    if (size := storage.nbytes()) >= MIN_BYTES:
        rest = -storage.data_ptr() % mmap.PAGESIZE  # before its first whole page
        ctypes.CDLL(None).madvise(
            ctypes.c_void_p(storage.data_ptr() + rest), ctypes.c_size_t(size - rest), _ADVICE
        )
