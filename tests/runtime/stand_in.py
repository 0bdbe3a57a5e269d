"""A GPU for machines that have none, up to the last step: Triton's real launcher, over a driver that only listens.

``driver_stub.c`` is built as libcuda.so.1, ``hip_stub.c`` as libamdhip64.so, and Triton's own C code is built and
linked against one of them, so that all four versions of Triton run their real argument parsing. CPU tensors play
the tensors of a GPU: their ``get_device()`` is -1, so the device that is current has that number. Nothing is
computed; a test asks what was launched.
"""

from __future__ import annotations

import contextlib
import ctypes
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import CompiledKernel
from triton.runtime.driver import driver

from pytriton.runtime import plan
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.launch import fast_path
from pytriton.tuning import translated_config, tuner
from tests.work import PATIENCE

HERE = Path(__file__).parent
DEVICE = -1  # what CPU tensors say
NO_DEVICE = -9  # what stands for the CPU instead
STREAM = 4242
LAUNCHES, PARAMETERS = 65536, 16


class _Launch(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_ulonglong * 3),
        ("stream", ctypes.c_ulonglong),
        ("function", ctypes.c_ulonglong),
        ("parameters", ctypes.c_ulonglong * PARAMETERS),
    )


@dataclass(frozen=True)
class Launched:
    """One launch, as the driver saw it. ``parameters`` are 64 bits each; narrower ones have anything above."""

    grid: tuple[int, ...]
    stream: int
    function: int
    parameters: tuple[int, ...]

    def pointer(self, at: int) -> int:
        return self.parameters[at]

    def integer(self, at: int, bits: int = 32) -> int:
        value = self.parameters[at] & (1 << bits) - 1
        return value - (1 << bits) if value >> bits - 1 else value


class StandIn:
    """The driver: what was launched, and which specialisation of a kernel that was."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._launches = (_Launch * LAUNCHES).in_dll(library, "launches")
        self._launched = ctypes.c_int.in_dll(library, "launched")
        self._parameters = ctypes.c_int.in_dll(library, "parameters")
        self.stream = STREAM
        self.current = DEVICE
        self.has_fast_path = True

    def expect(self, parameters: int) -> None:
        """From now on kernels have so many parameters; what was launched before is forgotten."""
        self._parameters.value = parameters
        self._launched.value = 0

    def all(self) -> list[Launched]:
        """What was launched since."""
        count = self._launched.value
        assert count <= LAUNCHES
        return [
            Launched(
                tuple(each.grid), each.stream, each.function, tuple(each.parameters[: self._parameters.value])
            )
            for each in self._launches[:count]
        ]

    def last(self) -> Launched:
        return self.all()[-1]

    def attributes(self, kernel: Kernel, launched: Launched) -> dict[int, int]:
        """The divisors with which the launched code was compiled, by the position of a parameter."""
        compiled = self.compiled(kernel, launched)
        return {at[0]: attributes[0][1] for at, attributes in compiled.src.attrs.items()}

    def compiled(self, kernel: Kernel, launched: Launched) -> Any:
        """Triton's compiled kernel of a launch."""
        plans = [each for made in kernel._plans.values() for each in (made, *made._others.values())]
        for made in plans:
            for each in made._sweep._candidates.values():
                for loaded in each._kernels.values():
                    if loaded.compiled.function == launched.function:
                        return loaded.compiled
        raise AssertionError(f"no kernel has the handle {launched.function}")


def without_c(patch: pytest.MonkeyPatch) -> None:
    """From now on there is no C compiler for launchers: every call takes the slow path."""
    patch.setattr(fast_path, "_module", cache(lambda: None))


class Vendor(NamedTuple):
    """``library`` is what Triton opens, ``driver`` its class in ``triton.backends``."""

    folder: str
    stub: str
    library: str
    driver: str
    target: GPUTarget


CUDA = Vendor("nvidia", "driver_stub.c", "libcuda.so.1", "CudaDriver", GPUTarget("cuda", 90, 32))
HIP = Vendor("amd", "hip_stub.c", "libamdhip64.so", "HIPDriver", GPUTarget("hip", "gfx942", 64))


@cache
def _library(vendor: Vendor, folder: Path) -> ctypes.CDLL | None:
    """The driver, built once; None where there is no C compiler or no Python.h."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        return None
    headers = Path(triton.__file__).parent / "backends" / vendor.folder / "include"
    options = ["-shared", "-fPIC", "-O1", "-Wl,-Bsymbolic", f"-I{headers}", f"-Wl,-soname,{vendor.library}"]
    built = folder / vendor.library
    subprocess.run([compiler, *options, "-o", built, HERE / vendor.stub], check=True, timeout=PATIENCE)
    return ctypes.CDLL(str(built), ctypes.RTLD_GLOBAL)


@cache
def _driver(vendor: Vendor) -> Any:
    return getattr(import_module(f"triton.backends.{vendor.folder}.driver"), vendor.driver)()


@contextlib.contextmanager
def standing_in(
    patch: pytest.MonkeyPatch, folder: Path, devices: int, vendor: Vendor = CUDA
) -> Iterator[StandIn]:
    """Let CPU tensors pass for tensors of a GPU, one of so many. What is built, once, lies in ``folder``."""
    if torch.cuda.is_available():
        pytest.skip("there is a GPU: its driver is loaded, and nothing can stand in for it")
    patch.setenv("TRITON_LIBCUDA_PATH", str(folder))
    patch.setenv("TRITON_LIBHIP_PATH", str(folder / HIP.library))
    library = _library(vendor, folder)
    if library is None:
        pytest.skip("no C compiler")
    made = StandIn(library)
    active = _driver(vendor)
    active.get_current_target = lambda: vendor.target
    active.get_current_device = lambda: DEVICE
    active.get_current_stream = lambda device: made.stream
    for module in (translated_config, tuner, plan):
        patch.setattr(module, "CPU", NO_DEVICE)
    patch.setattr(torch.cuda, "current_device", lambda: made.current)
    patch.setattr(torch._C, "_cuda_getDevice", lambda: made.current, raising=False)  # of a torch with CUDA
    patch.setattr(torch.cuda, "is_available", lambda: True)
    patch.setattr(torch.cuda, "device_count", lambda: devices)
    patch.setattr(torch.cuda, "device", lambda index: contextlib.nullcontext())
    patch.setattr(driver, "_active", active)
    loaded: list[CompiledKernel] = []
    load = CompiledKernel._init_handles

    def remembered(compiled: CompiledKernel) -> None:
        loaded.append(compiled)
        load(compiled)

    patch.setattr(CompiledKernel, "_init_handles", remembered)
    yield made
    for compiled in loaded:
        compiled.module = None  # it is not to be unloaded: the driver is gone
