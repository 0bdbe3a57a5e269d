"""The private directory in which generated modules lie as files, and what tuning found.

Triton reads a function's text from its file, debuggers and profilers show it, and users open it. What is
*run* is the text in memory, never what the file holds: a file that was tampered with is overwritten and
changes nothing. Even so the directory must be ours alone: it is made with mode 0700, and one that somebody
else owns or can write is refused. Files are named by content and replaced atomically, so that processes may
share the directory. Nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import threading
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from pytriton.runtime.origin import warn
from pytriton.runtime.refusals import refusal

__all__ = ["DIRECTORY_VARIABLE", "directory", "module_name", "store", "store_bytes"]

DIRECTORY_VARIABLE: Final = "PYTRITON_CACHE_DIR"

_lock: Final = threading.Lock()
_stand_ins: dict[Path, Path] = {}  # a directory that cannot be written -> the private one used instead


def module_name(function: str, text: str) -> str:
    """The name of a generated module: its function and a prefix of its content's SHA-256."""
    return f"{function}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def directory() -> Path:
    """The directory for modules, made and checked; raises LaunchError if others could write to it.

    Where it cannot be made or written (a read-only home), a private temporary directory serves for the rest
    of the process, with one warning.
    """
    wanted = _wanted()
    stand_in = _stand_ins.get(wanted)
    if stand_in is not None:
        return stand_in
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise refusal(f"{wanted} is no directory", "TC520", _CURE) from None
    except OSError as error:
        return _stand_in_for(wanted, error)
    _check_private(wanted)
    if not os.access(wanted, os.W_OK | os.X_OK):
        return _stand_in_for(wanted, PermissionError("it is read-only"))
    return wanted


def store(function: str, text: str) -> Path:
    """Write a module's text under its content's name, unless it is there already; the path."""
    return store_bytes(f"{module_name(function, text)}.py", text.encode())


def store_bytes(name: str, content: bytes) -> Path:
    """Write a file of that name, unless it is there with this content; the path."""
    place = directory()
    try:
        return _write(place / name, content)
    except OSError as error:
        return _write(_stand_in_for(place, error) / name, content)


_CURE: Final = f"chmod 700 it, or name another directory in {DIRECTORY_VARIABLE}"


def _wanted() -> Path:
    chosen = os.environ.get(DIRECTORY_VARIABLE)
    return Path(os.path.abspath(chosen)) if chosen else user_cache_path("pytriton")


def _check_private(place: Path) -> None:
    """Refuse a directory, or a link to one, that belongs to somebody else or that others can write."""
    if not hasattr(os, "geteuid"):
        return  # no owners and modes here
    for found in (place.lstat(), place.stat()):
        if found.st_uid != os.geteuid():
            raise refusal(f"the cache directory {place} belongs to another user", "TC520", _CURE)
    if not stat.S_ISDIR(found.st_mode):
        raise refusal(f"{place} is no directory", "TC520", _CURE)
    if found.st_mode & 0o022:
        mode = stat.S_IMODE(found.st_mode)
        raise refusal(f"other users can write to the cache directory {place} ({mode:o})", "TC520", _CURE)


def _stand_in_for(place: Path, error: OSError) -> Path:
    with _lock:
        if place not in _stand_ins:
            _stand_ins[place] = Path(tempfile.mkdtemp(prefix="pytriton-"))
            warn(
                f"pytriton cannot write to its cache directory {place} ({error}); "
                f"it uses {_stand_ins[place]}. Name another in {DIRECTORY_VARIABLE}."
            )
        return _stand_ins[place]


def _write(path: Path, content: bytes) -> Path:
    with contextlib.suppress(OSError):
        if path.read_bytes() == content:
            return path
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-", suffix=path.suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return path
