"""Triton's own cache directory, moved into ours where it cannot be written.

Triton stores what it compiles, and the C code with which it launches, and stops where it cannot: in a read-only
home, on a full disk. Each compilation looks whether its directory can be written at all (``usable_cache``);
a disk that fills up later is met where it stops the compiler (``move_cache``).
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from triton import knobs

from pytriton.runtime.compile.module_cache import directory
from pytriton.runtime.errors import warn_once

__all__ = ["move_cache", "usable_cache"]


def usable_cache() -> None:
    """Move the cache if its directory cannot be made or written."""
    place = str(knobs.cache.dir)
    try:
        Path(place).mkdir(parents=True, exist_ok=True)
        if not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "it is read-only")
    except OSError as error:
        move_cache(error)


def move_cache(error: OSError) -> bool:
    """Let Triton use a directory in ours from now on; False if it does already."""
    place = str(directory() / "triton")
    if place == knobs.cache.dir:
        return False
    warn_once(
        f"Triton cannot use its cache directory {knobs.cache.dir} ({error.strerror}); "
        f"it uses {place}. Name another in TRITON_CACHE_DIR."
    )
    knobs.cache.dir = place
    return True
