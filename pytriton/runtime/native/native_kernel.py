"""Launches on CPU tensors in C, where that is possible.

Input: a kernel text and a config. Output: the kernel in C, compiled and loaded, or the reason why the interpreter
has to run it: no compiler, a construct that C cannot print yet, or loops in which a program may wait for another
one (TC555), which nothing would end in C.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Final

from pytriton.errors import CompileError, UnsupportedError
from pytriton.native.c_module import to_c
from pytriton.runtime.native.c_compiler import NoLibrary, find, why_none
from pytriton.runtime.native.processor import Native, native
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText

WAITS = "it may wait for another program, which the interpreter can end (TC555)"


ASK: Final = "set PYTRITON_CC=cc to run kernels as C"
"""It is not the default yet: compiling takes longer than most tests of a small kernel."""


def native_of(text: KernelText, config: Config, *, checked: bool) -> Native | NoLibrary:
    """The kernel of a config in C, with memory checks or without."""
    if not os.environ.get("PYTRITON_CC"):
        return NoLibrary(ASK)
    if find() is None:
        return NoLibrary(why_none())
    settings = replace(
        text.settings, precision=config.precision, fast_math=config.fast_math, checked=checked, on_cpu=True
    )
    try:
        module = to_c(text.source, config.defines, settings)
    except (CompileError, UnsupportedError) as error:
        return NoLibrary(str(error).partition("\n")[0])
    return NoLibrary(f"{module.entry.removesuffix('_programs')}: {WAITS}") if module.waits else native(module)


def runner() -> str:
    """What runs kernels on CPU tensors, and why: for ``pytriton info``."""
    if not os.environ.get("PYTRITON_CC"):
        return f"Triton's interpreter; {ASK}"
    compiler = find()
    if compiler is None:
        return f"Triton's interpreter; {why_none()}"
    return f"C, by {' '.join(compiler.command)} ({compiler.version})"
