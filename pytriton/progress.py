"""How far something is that takes seconds: a bar of tqdm on terminals and in notebooks, or a line anywhere.

tqdm is loaded for the first bar. ``PYTRITON_PROGRESS=0`` asks for neither.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, TextIO

PROGRESS_VARIABLE: Final = "PYTRITON_PROGRESS"


def report(line: str) -> None:
    """Print a line to standard error, also if that is a file."""
    if os.environ.get(PROGRESS_VARIABLE) != "0":
        print(line, file=sys.stderr, flush=True)


def bar(what: str, total: int, stream: TextIO | None = None) -> Any:
    """A tqdm bar; None if the stream is neither a terminal nor a notebook."""
    stream = sys.stderr if stream is None else stream
    if os.environ.get(PROGRESS_VARIABLE) == "0" or stream is None or not _is_watched(stream):
        return None
    if find_spec("tqdm") is None:
        return None
    tqdm = import_module("tqdm.auto" if find_spec("ipywidgets") else "tqdm").tqdm
    return tqdm(desc=what, total=total, file=stream, leave=False, dynamic_ncols=True)


def _is_watched(stream: TextIO) -> bool:
    """Whether somebody looks on: at a terminal, or in a notebook, whose stream says that it is none."""
    if getattr(stream, "closed", False):
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel.")
