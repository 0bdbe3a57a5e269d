"""Launches on CPU tensors in C, for users who ask for it.

Input: a kernel text and a config. Output: the kernel in C, compiled and loaded, or the reason why the interpreter
has to run it: the compiler does not run or fails, a construct that C cannot print yet, or loops in which a program
may wait for another one (TC555), which nothing would end in C.

C is not the default: a compilation takes longer than most launches of a small kernel on the interpreter.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Final

from pytriton.errors import CompileError, UnsupportedError
from pytriton.native.c_module import to_c
from pytriton.runtime.native.c_compiler import COMPILER_VARIABLES, NoLibrary, find
from pytriton.runtime.native.processor import Native, native
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText

VARIABLE: Final = COMPILER_VARIABLES[0]
WAITS: Final = "it may wait for another program, which only the interpreter can end (TC555)"


def asked_for() -> str:
    """The compiler by which launches on CPU tensors are to run as C; empty where the user did not ask for it."""
    named = os.environ.get(VARIABLE, "")
    return "" if named == "none" else named


def native_of(text: KernelText, config: Config, *, checked: bool) -> Native | NoLibrary:
    """The kernel of a config in C, with memory checks or without; without a reason where C was not asked for."""
    if not asked_for():
        return NoLibrary("")
    if find() is None:
        return NoLibrary(_does_not_run())
    settings = replace(
        text.settings, precision=config.precision, fast_math=config.fast_math, checked=checked, on_cpu=True
    )
    try:
        module = to_c(text.source, config.defines, settings)
    except (CompileError, UnsupportedError) as error:
        return NoLibrary(str(error).partition("\n")[0])
    return NoLibrary(f"{module.entry.removesuffix('_programs')}: {WAITS}") if module.waits else native(module)


def runner() -> str:
    """What runs launches on CPU tensors: for ``pytriton info``."""
    if not asked_for():
        return f"Triton's interpreter ({VARIABLE}=cc: as C, where that is possible)"
    compiler = find()
    if compiler is None:
        return f"Triton's interpreter: {_does_not_run()}"
    return f"C where that is possible, by {' '.join(compiler.command)} ({compiler.version})"


def _does_not_run() -> str:
    return f"{VARIABLE} is {asked_for()!r}, which does not run: name a C compiler in it"
