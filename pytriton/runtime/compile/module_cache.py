"""The private directory in which generated modules lie as files, and what tuning found.

Triton reads a function's text from its file, debuggers and profilers show it, and users open it. What is
*run* is the text in memory, never what the file holds: a file that was tampered with is overwritten and
changes nothing. Even so the directory must be ours alone: it is made with mode 0700, and one that is a link,
that another user owns or that others can write is refused. Nothing is ever unpickled.

Files are named by content and replaced atomically, so that processes may share the
directory, be killed at any moment and find the disk full: what cannot be written here is written to a
private directory under the temporary one, and what cannot be written there is not written at all. No
failure of a disk stops a kernel.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

from pytriton.errors import LaunchError
from pytriton.runtime.errors import refusal, remark, warn
from pytriton.runtime.locks import Lock

# One file, replaced as a whole: a reader sees the old content or the new, whenever the writer is killed.
#
# The content is written to a temporary file beside it, which then takes its name. A writer that is killed leaves
# its temporary file; the first write of a later process removes those that are a day old.


try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]


_PREFIX: Final = ".writing-"
_DAY: Final = 86400.0  # seconds
MAX_LINE_BYTES: Final = 1 << 16

_cleaned: set[Path] = set()


def read_bytes(path: Path, largest: int) -> bytes:
    """The content of a file; raises OSError, or ValueError for one that has more than ``largest`` bytes."""
    with open(path, "rb") as file:  # not Path.read_bytes: /dev/zero has no end
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError("it is too large")
    return content


def replace_file(path: Path, content: bytes) -> Path:
    """Make a file hold this content; raises OSError where that cannot be done."""
    with contextlib.suppress(OSError, ValueError):
        if read_bytes(path, len(content)) == content and not path.is_symlink():
            return path
    _clean_once(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_PREFIX, suffix=path.suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return path


def append_line(path: Path, line: bytes, is_whole: Callable[[bytes], bool]) -> None:
    """Add a line to a file that processes share; raises OSError where that cannot be done.

    A writer that was killed, or that found the disk full, may have left a last line without its end. It is
    cut off, unless it ``is_whole``: then a person wrote it.
    """
    with open(path, "a+b", buffering=0) as file:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - MAX_LINE_BYTES))
        tail = (file.read(MAX_LINE_BYTES) or b"").rpartition(b"\n")[2]
        if tail and is_whole(tail):
            line = b"\n" + line
        elif tail:
            end -= len(tail)
            file.truncate(end)
        if file.write(line) != len(line):
            file.truncate(end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _clean_once(place: Path) -> None:
    """Remove what killed writers left, once for each directory."""
    if place in _cleaned:
        return
    _cleaned.add(place)
    for left in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if abs(time.time() - left.lstat().st_mtime) > _DAY:
                left.unlink()


DIRECTORY_VARIABLE: Final = "PYTRITON_CACHE_DIR"

_lock: Final = Lock()
_stand_ins: dict[Path, Path] = {}  # a directory that cannot be written -> the private one used instead


def module_name(function: str, text: str) -> str:
    """The name of a generated module: its function and a prefix of its content's SHA-256."""
    return f"{function}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def directory() -> Path:
    """The directory for modules, made and checked; raises LaunchError if others could write to it.

    Where it cannot be made or written (a read-only home), a private temporary directory is used for the rest
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
    with contextlib.suppress(OSError, ValueError):
        return read_bytes(directory() / name, largest)
    return None


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
    """Refuse a directory that belongs to another user or that others can write."""
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
                remark(
                    f"pytriton cannot write to its cache directory {place} ({error.strerror or error}); "
                    f"it uses {_stand_ins[place]}. Name another in {DIRECTORY_VARIABLE}.",
                    "TC561",
                )
            )
        return _stand_ins[place]


def _temporary() -> Path:
    """One directory a user under the temporary one, so that none is left behind by each process.

    If another user took that name, one of this process alone; it is left to the system to remove.
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
