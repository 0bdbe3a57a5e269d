"""The matrix product of dot.py on several GPUs: the ranks of torch.distributed agree on one point.

Each process has a GPU, and multiplies its own rows of A by B. The first call tunes, each rank on its GPU, and all
go on with the choice of the first. Nothing in this file asks for that. A process group is enough.

    torchrun --nproc-per-node 4 examples/dot_ranks.py

Started without torchrun it is a group of one.
"""

from __future__ import annotations

import os
import time
from typing import Any

import torch
import torch.distributed
from dot import kernel, launch, legal_tiles, point, relative_error, text_defines

SIZES = {"cuda": (4096, 4096, 4096), "cpu": (96, 64, 32)}


def rows_of(rank: int, m: int, n: int, k: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """This rank's rows of A [M, K], and B [K, N], which is the same on all."""
    torch.manual_seed(0)
    b = torch.randn(k, n, device=device).half()
    torch.manual_seed(1 + rank)
    return torch.randn(m, k, device=device).half(), b


def told_by_all(text: str) -> list[Any]:
    """What each rank says."""
    said: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(said, text)
    return said


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rank = int(os.environ.get("LOCAL_RANK", "0"))
    if device == "cuda":
        torch.cuda.set_device(rank)
    if "RANK" in os.environ:
        torch.distributed.init_process_group("gloo")
    else:
        store = torch.distributed.HashStore()
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        a, b = rows_of(rank, *SIZES[device], device)
        start = time.perf_counter()
        c = launch(a, b, at=False, bt=False)
        if device == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        error = relative_error(c, a.double() @ b.double())
        choices = told_by_all(f"{point(kernel.best_config)}, first call {seconds:.1f} s, error {error:.1e}")
        if rank == 0:
            defines = text_defines(a.dtype, at=False, bt=False) | legal_tiles(*SIZES[device])
            print(kernel.source(defines))
            for other, choice in enumerate(choices):
                print(f"rank {other}: {choice}")
    finally:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
