"""A model compiled by AOTInductor, loaded and run: ``python -m tests.operators.aot PROGRAM DEVICE PACKAGE``.

It has a process of its own, because a fault in a loaded library would end all tests. ``plain`` is a program of
torch's operators only: where that fails, AOTInductor does not work at all on this machine.

On a machine whose g++ finds no shared libstdc++, the library of a model carries a copy of its own, of which the
dynamic linker joins one half (the numbers of the facets of a locale, which are unique in a process) with the
libstdc++ that torch has loaded. The first std::regex in it then calls a wrong function and ends the process, in
``torch::aot_inductor::parse_device_str``, before any kernel runs. ``mended`` is the cure: a compiler that links
the shared library.
"""

from __future__ import annotations

import faulthandler
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import torch

from tests.operators.test_compile import Model, bare, operators, tiles
from tests.processes import python


def plain(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(x * 2) + 1


PROGRAMS = {"plain": plain, "bare": bare, "operators": operators, "tiles": tiles}


COMPILER = """\
#!/bin/sh
case " $* " in
*" -shared "*) exec {compiler} -Wl,--no-as-needed {library} "$@" ;;
*) exec {compiler} "$@" ;;
esac
"""


def mended(directory: Path) -> dict[str, str]:
    """What lets Inductor link models with the libstdc++ that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        libraries = {line.split()[-1] for line in maps if "/libstdc++.so.6" in line}
    compiler = directory / "g++"
    found = shutil.which(os.environ.get("CXX", "g++"))
    compiler.write_text(COMPILER.format(compiler=found, library=libraries.pop()), encoding="utf-8")
    compiler.chmod(0o700)
    return {"CXX": str(compiler)}


def run(
    program: str, device: str, directory: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Compile, load and run it in another process; the exit status is 0 where the numbers are right."""
    return python("-m", __name__, program, device, directory / f"{program}.pt2", **(environment or {}))


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
