"""The C compiler of the system: C -> a shared object in the private cache.

Input: a module's source. Output: the loaded library, or a ``NoLibrary`` with the reason why there is none. Objects
are named by source, compiler version, flags and processor, and replaced atomically: processes may compile at once.
An object ends in its own digest, which loaders do not look at: one that a disk tore is compiled again.
Any optimisation gives the same bits: no flag lets a compiler change arithmetic, and it knows no function of the
library, so that it computes none of them itself.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pytriton.frozen import record
from pytriton.runtime.compile.module_cache import directory, read_bytes, store_bytes

VARIABLE: Final = "PYTRITON_CC"
COMPILERS: Final = ("cc", "clang", "gcc")
FLAGS: Final = (
    "-std=c11 -O0 -march=native -ffp-contract=off -fwrapv -fno-strict-aliasing -fno-math-errno -fno-builtin "
    "-fno-trapping-math -fno-delete-null-pointer-checks -fno-sanitize=undefined -fPIC -shared -pipe"
).split()
FAST: Final = "-O3"  # a flag for code that runs long
LIBRARIES: Final = ("-nostdlib", "-lm", "-lgcc") if sys.platform == "linux" else ("-lm",)  # libc is there
MAX_SECONDS: Final = 300  # of one compilation
MAX_OBJECT_BYTES: Final = 1 << 26
DIGEST_BYTES: Final = 32


@record
class CCompiler:
    """A compiler: the words that start it, and what it calls itself."""

    command: tuple[str, ...]
    version: str


@record
class NoLibrary:
    """The reason why no library could be built; empty where the user wants none."""

    reason: str


def find() -> CCompiler | NoLibrary:
    """The compiler that the user names, else the first one that is installed."""
    named = os.environ.get(VARIABLE)
    if named == "none":
        return NoLibrary("")
    if named:
        refused = NoLibrary(f"{VARIABLE} is {named!r}, which does not run: name a C compiler in it")
        return _started(_words(named)) or refused
    missing = NoLibrary("no C compiler was found: install gcc or clang, or ziglang by pip")
    return next(filter(None, map(_started, _installed())), missing)


def _installed() -> Iterator[tuple[str, ...]]:
    yield _words(os.environ.get("CC", ""))
    for path in map(shutil.which, COMPILERS):
        yield (path,) if path else ()
    yield (sys.executable, "-m", "ziglang", "cc") if find_spec("ziglang") else ()


def _words(command: str) -> tuple[str, ...]:
    """The words of a command; none where a quote has no end."""
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


@cache
def _started(command: tuple[str, ...]) -> CCompiler | None:
    """The compiler of a command, if it runs."""
    try:
        run = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=MAX_SECONDS)
    except (OSError, IndexError, subprocess.SubprocessError):  # IndexError: no words
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
    if isinstance(compiler, NoLibrary):
        return compiler
    path = directory() / _file(compiler, name, text, flags)
    if not is_whole(path):
        binary = _compiled(compiler, text, flags)
        if isinstance(binary, NoLibrary):
            return binary
        path = store_bytes(path.name, binary + hashlib.sha256(binary).digest())
        if not is_whole(path):
            return NoLibrary(f"{path} cannot be written")
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        return NoLibrary(f"{path} cannot be loaded: {error}")


def is_built(name: str, text: str, *flags: str) -> bool:
    """Whether the library is in the cache."""
    compiler = find()
    return isinstance(compiler, CCompiler) and is_whole(directory() / _file(compiler, name, text, flags))


def is_whole(path: Path) -> bool:
    """Whether a file can be read and holds a library with its digest."""
    try:
        content = read_bytes(path, MAX_OBJECT_BYTES)
    except (OSError, ValueError):
        return False
    return hashlib.sha256(content[:-DIGEST_BYTES]).digest() == content[-DIGEST_BYTES:]


def _file(compiler: CCompiler, name: str, text: str, flags: Sequence[str]) -> str:
    """The name of a library's file."""
    parts = (text, compiler.version, *compiler.command, *FLAGS, *LIBRARIES, *flags, _processor())
    return f"{name}_{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}.so"


def _compiled(compiler: CCompiler, text: str, flags: Sequence[str]) -> bytes | NoLibrary:
    """The bytes of a shared object."""
    try:
        with tempfile.TemporaryDirectory(prefix="pytriton-cc-") as place:
            source, target = Path(place, "kernel.c"), Path(place, "kernel.so")
            source.write_text(text, encoding="utf-8")
            command = [*compiler.command, *FLAGS, *flags, str(source), "-o", str(target), *LIBRARIES]
            run = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=MAX_SECONDS, cwd=place
            )
            if run.returncode:
                return NoLibrary(f"{shlex.join(compiler.command)} failed:\n{run.stderr[:4000]}")
            return target.read_bytes()
    except (OSError, subprocess.SubprocessError) as error:
        return NoLibrary(f"{shlex.join(compiler.command)} failed:\n{error}")
