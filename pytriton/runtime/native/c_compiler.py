"""The system's C compiler: C -> a shared object in the private cache.

Input: a module's source. Output: the loaded library, or a ``NoLibrary`` with the compiler's message. Objects are
named by source, compiler version, flags and processor, and replaced atomically: processes may compile at once.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from pytriton.frozen import record
from pytriton.runtime.compile.module_cache import directory, load_bytes, store_bytes

COMPILER_VARIABLES: Final = ("PYTRITON_CC", "CC")
COMPILERS: Final = ("cc", "clang", "gcc")
FLAGS: Final = (
    "-std=c11 -O3 -march=native -ffp-contract=off -fwrapv -fno-strict-aliasing -fno-math-errno "
    "-fno-trapping-math -fno-delete-null-pointer-checks -fPIC -shared"
).split()
MAX_SECONDS: Final = 300  # of one compilation
MAX_OBJECT_BYTES: Final = 1 << 26


@record
class CCompiler:
    """A compiler: the words that start it, and what it calls itself."""

    command: tuple[str, ...]
    version: str


@record
class NoLibrary:
    """The reason why there is no library."""

    reason: str


def find() -> CCompiler | None:
    """The compiler that the environment names, else the first one in PATH."""
    for variable in COMPILER_VARIABLES:
        named = os.environ.get(variable)
        if named:
            try:
                return _started(tuple(shlex.split(named)))
            except ValueError:  # a quote without its end
                return None
    found = (_started((path,)) for path in map(shutil.which, COMPILERS) if path)
    return next((compiler for compiler in found if compiler), None)


@cache
def _started(command: tuple[str, ...]) -> CCompiler | None:
    try:
        run = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=MAX_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return None
    return CCompiler(command, run.stdout.partition("\n")[0]) if run.returncode == 0 else None


@cache
def _processor() -> str:
    """What ``-march=native`` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return platform.processor() + platform.machine()
    return "".join(
        line for line in dict.fromkeys(lines) if line.startswith(("flags", "Features", "model name"))
    )


def build(name: str, text: str, *flags: str) -> ctypes.CDLL | NoLibrary:
    """The library of a module. ``flags``: more for the compiler."""
    compiler = find()
    if compiler is None:
        return NoLibrary("no C compiler was found: install gcc or clang, or name one in PYTRITON_CC")
    parts = (text, compiler.version, *compiler.command, *FLAGS, *flags, _processor())
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    file = f"{name}_{key}.so"
    if load_bytes(file, MAX_OBJECT_BYTES) is None:
        made = _compiled(compiler, text, flags)
        if isinstance(made, NoLibrary):
            return made
        path = store_bytes(file, made)
    else:
        path = directory() / file
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        return NoLibrary(f"{path} cannot be loaded: {error}")


def _compiled(compiler: CCompiler, text: str, flags: tuple[str, ...]) -> bytes | NoLibrary:
    """The bytes of a shared object."""
    try:
        with tempfile.TemporaryDirectory(prefix="pytriton-cc-") as place:
            source, target = Path(place, "kernel.c"), Path(place, "kernel.so")
            source.write_text(text, encoding="utf-8")
            command = [*compiler.command, *FLAGS, *flags, str(source), "-o", str(target), "-lm"]
            run = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=MAX_SECONDS, cwd=place
            )
            if run.returncode:
                return NoLibrary(f"{shlex.join(compiler.command)} failed:\n{run.stderr[:4000]}")
            return target.read_bytes()
    except (OSError, subprocess.SubprocessError) as error:
        return NoLibrary(f"{shlex.join(compiler.command)} failed:\n{error}")
