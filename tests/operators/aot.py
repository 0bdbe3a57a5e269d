"""A model compiled by AOTInductor, loaded and run: ``python -m tests.operators.aot PROGRAM DEVICE PACKAGE``.

It has a process of its own, because a fault in a loaded library would end all tests. ``plain`` is a program of
torch's operators only: where that fails, AOTInductor does not work at all on this machine.
"""

from __future__ import annotations

import faulthandler
import subprocess
import sys
from pathlib import Path

import torch

from tests.operators.test_compile import Model, bare, operators


def plain(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x * 2) + 1


PROGRAMS = {"plain": plain, "bare": bare, "operators": operators}


def run(program: str, device: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Compile, load and run it in another process; the exit status is 0 where the numbers are right."""
    command = [sys.executable, "-m", __name__, program, device, str(directory / f"{program}.pt2")]
    root = Path(__file__).parents[2]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=250)


def main(name: str, device: str, path: str) -> None:
    show = getattr(torch._C, "_set_print_stack_traces_on_fatal_signal", None)
    faulthandler.enable()
    if show is not None:
        show(True)  # the C++ side, too
    program = PROGRAMS[name]
    exported = torch.export.export(Model(program), (torch.randn(70, device=device),))
    package = torch._inductor.aoti_compile_and_package(exported, package_path=path)
    print(f"{name}: compiled", flush=True)
    loaded = torch._inductor.aoti_load_package(package)
    print(f"{name}: loaded", flush=True)
    x = torch.randn(70, device=device)
    torch.testing.assert_close(loaded(x), program(x))
    print(f"{name}: right", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
