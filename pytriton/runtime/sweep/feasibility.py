"""Points of a sweep that cannot fit a GPU: found by arithmetic, before the compiler spends a second on each.

Three bounds, each of which holds for Triton 3.6 to 3.9 on NVIDIA GPUs from sm_80 on
(tests/runtime/sweep/test_feasibility.py compares them with what the compiler allocates):

* a program has ``32 * num_warps`` threads;
* a loop keeps the tiles that it loads for its matrix products in shared memory, and once more for each stage beyond
  the second. That it loads them ahead at all is certain for elements of four bytes; for narrower ones only where a
  variant that was compiled already shows it;
* sums of 32-bit products that a loop carries stand in registers. Where they alone take more than there are the
  kernel would run, from memory, many times slower; such points are left out if others remain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from triton.runtime.driver import driver

from pytriton.pipeline import Translation
from pytriton.runtime.options.defines import Config

__all__ = ["Limits", "limits_of", "spills", "too_large"]

_WARP: Final = 32  # threads
_REGISTERS: Final = 255  # of 32 bits, a thread
_DEFAULT_STAGES: Final = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """What a GPU gives one program: bytes of shared memory, threads."""

    shared: int
    threads: int = 1024


def limits_of(device: int) -> Limits | None:
    """Those of a CUDA device; None where the bounds say nothing."""
    target = driver.active.get_current_target()
    if target.backend != "cuda" or target.arch < 80:
        return None
    return Limits(driver.active.utils.get_device_properties(device)["max_shared_mem"])


def too_large(
    translation: Translation, config: Config, limits: Limits, compiled: Mapping[Config, int]
) -> str:
    """Why a point cannot fit; empty where nothing proves it.

    ``compiled`` holds the bytes of shared memory of points that were compiled, for this device and arguments.
    """
    threads = _WARP * config.num_warps
    if threads > limits.threads:
        return f"it needs {threads} threads, but the device has {limits.threads}"
    needed = translation.traits.tiles.loaded * _copies(translation, config, compiled)
    if needed > limits.shared:
        return f"it needs at least {needed} of shared memory, but the device has {limits.shared}"
    return ""


def spills(translation: Translation, config: Config) -> str:
    """Why a point would keep its sums in memory; empty where nothing proves it."""
    needed = translation.traits.tiles.summed // (_WARP * config.num_warps)
    return (
        f"its sums need {needed} registers per thread, but there are {_REGISTERS}"
        if needed > _REGISTERS
        else ""
    )


def _copies(translation: Translation, config: Config, compiled: Mapping[Config, int]) -> int:
    """How often the tiles stand in shared memory at least."""
    copies = max(1, _stages(config) - 1)
    ahead = translation.traits.tiles.width >= 4 or any(
        shared >= 2 * translation.traits.tiles.loaded > 0
        for other, shared in compiled.items()
        if _stages(other) >= _DEFAULT_STAGES and _alike(other, config)
    )
    return copies if ahead else 1


def _stages(config: Config) -> int:
    return _DEFAULT_STAGES if config.num_stages is None else config.num_stages


def _alike(one: Config, other: Config) -> bool:
    """Whether two points are the same but for their stages and the order of their programs."""
    return replace(one, num_stages=None, swizzle=0) == replace(other, num_stages=None, swizzle=0)
