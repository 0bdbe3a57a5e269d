"""A translation, compiled for one specialization and loaded onto one GPU."""

from __future__ import annotations

import torch
from triton.runtime.driver import driver
from triton.runtime.errors import OutOfResources

from pytriton.pipeline import Translation
from pytriton.runtime.compile.compiler import compile_kernel
from pytriton.runtime.compile.failures import does_not_fit
from pytriton.runtime.compile.triton_cache import usable_cache
from pytriton.runtime.launch.device import DeviceKernel
from pytriton.runtime.locks import check_not_forked
from pytriton.runtime.options.defines import Config
from pytriton.source import Source

__all__ = ["compiled_on"]


def compiled_on(
    translation: Translation, specialization: tuple[int, ...], config: Config, device: int, source: Source
) -> DeviceKernel:
    """The kernel on a device; raises UnsupportedError or LaunchError where there can be none."""
    check_not_forked(translation.kernel)
    usable_cache()
    with torch.cuda.device(device):
        target = driver.active.get_current_target()
        compiled = compile_kernel(translation, specialization, config, target, source)
    constexprs = translation.constexprs
    names = compiled.src.fn.arg_names[len(translation.parameters) :]
    try:
        return DeviceKernel(compiled, device, translation.parameters, [constexprs[name] for name in names])
    except OutOfResources as error:
        raise does_not_fit(error, translation.kernel) from error
