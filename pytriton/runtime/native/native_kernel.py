"""Launches on CPU tensors in C.

Input: a kernel text and a config. Output: the kernel in C, compiled and loaded, or the reason why the interpreter
has to run it: no compiler was found or it fails, or a construct that C cannot print yet.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pytriton.errors import CompileError, UnsupportedError
from pytriton.native.c_module import NativeModule, to_c
from pytriton.runtime.native.c_compiler import VARIABLE, NoLibrary, find
from pytriton.runtime.native.processor import Native, native
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText

INSPECTED: Final = "check_races and traces need the interpreter"


def native_of(text: KernelText, config: Config, *, checked: bool) -> Native | NoLibrary:
    """The kernel of a config in C, with memory checks or without."""
    compiler = find()
    if isinstance(compiler, NoLibrary):
        return compiler
    try:
        return native(native_module(text, config, checked=checked))
    except (CompileError, UnsupportedError) as error:
        return NoLibrary(str(error).partition("\n")[0])


def native_module(text: KernelText, config: Config, *, checked: bool) -> NativeModule:
    """The kernel of a config as C; raises CompileError, TC460 for what has no C yet."""
    settings = replace(
        text.settings, precision=config.precision, fast_math=config.fast_math, checked=checked, on_cpu=True
    )
    return to_c(text.source, config.defines, settings)


def inspected() -> NoLibrary:
    """Why C does not run a launch that is inspected."""
    compiler = find()
    return compiler if isinstance(compiler, NoLibrary) else NoLibrary(INSPECTED)


def runner() -> str:
    """What runs launches on CPU tensors: for ``pytriton info``."""
    compiler = find()
    if isinstance(compiler, NoLibrary):
        return f"Triton's interpreter: {compiler.reason or f'{VARIABLE} is none'}"
    return f"C where that is possible, by {' '.join(compiler.command)} ({compiler.version})"
