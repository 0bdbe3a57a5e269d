"""The private directory in which generated modules lie as files, and what tuning found.

Triton reads a function's text from its file, debuggers and profilers show it, and users open it. What is
*run* is the text in memory, never what the file holds: a file that was tampered with is overwritten and
changes nothing. Even so the directory must be ours alone: it is made with mode 0700, and one that is a link,
that somebody else owns or that others can write is refused. Nothing is ever unpickled.

Files are named by content and replaced atomically (``files.py``), so that processes may share the
directory, be killed at any moment and find the disk full: what cannot be written here is written to a
private directory under the temporary one, and what cannot be written there is not written at all. No
failure of a disk stops a kernel.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from pytriton.errors import LaunchError
from pytriton.runtime.compile.files import read_bytes, replace_file
from pytriton.runtime.errors import refusal, warn
from pytriton.runtime.locks import Lock

__all__ = ["DIRECTORY_VARIABLE", "directory", "load_bytes", "module_name", "store", "store_bytes"]

DIRECTORY_VARIABLE: Final = "PYTRITON_CACHE_DIR"

_lock: Final = Lock()
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
        _make_private(wanted)
    except OSError as error:
        return _stand_in_for(wanted, error)
    return wanted


def store(function: str, text: str) -> Path:
    """Write a module's text under its content's name, unless it is there already; the path.

    Where no directory can be written there is no file at that path; the module runs all the same.
    """
    return store_bytes(f"{module_name(function, text)}.py", text.encode())


def store_bytes(name: str, content: bytes) -> Path:
    """Write a file of that name, unless it is there with this content; the path. Never raises OSError."""
    place = directory()
    try:
        return replace_file(place / name, content)
    except OSError as error:
        place = _stand_in_for(place, error)
    try:
        return replace_file(place / name, content)
    except OSError:
        return place / name


def load_bytes(name: str, largest: int) -> bytes | None:
    """What a file of that name holds; None where there is none, and where it is larger or cannot be read."""
    return read_bytes(directory() / name, largest)


_CURE: Final = f"chmod 700 it, or name another directory in {DIRECTORY_VARIABLE}"


def _wanted() -> Path:
    """The directory as the user or the system names it; not absolute where it cannot be known."""
    chosen = os.environ.get(DIRECTORY_VARIABLE)
    if not chosen:
        return user_cache_path("pytriton")  # relative where there is no home
    try:
        return Path(os.path.abspath(chosen))
    except OSError:  # the current directory is gone
        return Path(chosen)


def _make_private(place: Path) -> None:
    """Make the directory; raises LaunchError if it is not ours alone, OSError if it cannot be used."""
    if not place.is_absolute():
        raise OSError(errno.ENOENT, "there is no home directory")
    if place.is_symlink():
        target = os.path.realpath(place)
        raise refusal(
            f"the cache directory {place} is a link to {target}",
            "TC520",
            f"set {DIRECTORY_VARIABLE}={target}, or remove the link",
        )
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise refusal(f"{place} is not a directory", "TC520", _CURE) from None
    _check_private(place)
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "it is read-only")


def _check_private(place: Path) -> None:
    """Refuse a directory that belongs to somebody else or that others can write."""
    if not hasattr(os, "geteuid"):
        return  # no owners and modes here
    status = place.lstat()
    if status.st_uid != os.geteuid():
        raise refusal(f"the cache directory {place} belongs to another user", "TC520", _CURE)
    if not stat.S_ISDIR(status.st_mode):
        raise refusal(f"{place} is not a directory", "TC520", _CURE)
    if status.st_mode & 0o022:
        mode = stat.S_IMODE(status.st_mode)
        raise refusal(f"other users can write to the cache directory {place} ({mode:o})", "TC520", _CURE)


def _stand_in_for(place: Path, error: OSError) -> Path:
    """The directory used instead of one that failed, with a warning when it is first used."""
    with _lock:
        if place in _stand_ins.values():
            return place  # it failed too, and there is no third
        if place not in _stand_ins:
            _stand_ins[place] = _temporary()
            warn(
                f"pytriton cannot write to its cache directory {place} ({error.strerror or error}); "
                f"it uses {_stand_ins[place]}. Name another in {DIRECTORY_VARIABLE}."
            )
        return _stand_ins[place]


def _temporary() -> Path:
    """One directory a user under the temporary one, so that none is left behind by each process.

    If somebody else took that name, one of this process alone; it is left to the system to remove.
    """
    try:
        root = Path(tempfile.gettempdir())
    except OSError:
        return Path(os.sep, "nonexistent", "pytriton")  # nothing can be written anywhere
    place = root / f"pytriton-{os.geteuid() if hasattr(os, 'geteuid') else 'cache'}"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        _check_private(place)
    except LaunchError:
        return Path(tempfile.mkdtemp(prefix="pytriton-"))
    except OSError:
        pass  # nothing can be written there
    return place
