"""The C compiler's objects, kept from one run of the tests to the next.

An object is named by all that it is made of: text, compiler, flags, processor. It goes a week after its last use.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pytriton.runtime.native import c_compiler
from pytriton.runtime.native.c_compiler import DIGEST_BYTES, CCompiler, NoLibrary

KEPT_SECONDS = 7 * 24 * 3600


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """What is compiled within is in the folder, or comes from it."""
    compiled = c_compiler._compiled

    def kept(compiler: CCompiler, text: str, flags: Sequence[str]) -> bytes | NoLibrary:
        path = folder / c_compiler._file(compiler, "kernel", text, flags)
        if c_compiler.is_whole(path):
            path.touch()
            return path.read_bytes()[:-DIGEST_BYTES]
        binary = compiled(compiler, text, flags)
        if isinstance(binary, bytes):
            new = path.with_suffix(f".{os.getpid()}")
            new.write_bytes(binary + hashlib.sha256(binary).digest())
            new.replace(path)
        return binary

    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another process was faster
            if path.stat().st_mtime < time.time() - KEPT_SECONDS:
                path.unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(c_compiler, "_compiled", kept)
        yield
