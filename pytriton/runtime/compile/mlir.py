"""What MLIR has to say about a kernel that it cannot compile: it prints that, and raises next to nothing.

The exception that arrives reads ``PassManager::run failed``; what failed, and at which line of the module, went to
file descriptor 2. To catch it there in this process would catch the words of other threads with it. So the kernel
is compiled once more in a process of its own, whose standard error is nobody else's. That takes a second or two,
and only after a failure.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["Complaint", "complaint", "understood"]

MAX_SECONDS: Final = 300

_AGAIN: Final = """
import importlib.util, pickle, sys
import triton
from triton.compiler import ASTSource

path, name, source, target, options = pickle.load(sys.stdin.buffer)
spec = importlib.util.spec_from_file_location("generated", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
triton.compile(ASTSource(fn=getattr(module, name), **source), target=target, options=options)
"""

# ``path:16:9: error: words``; ``loc("path":16:9): error: words`` where MLIR cannot read the file, and
# ``loc("x"("path":16:9)): error: words`` for the value of a variable.
_PLACED: Final = re.compile(
    r'^(?:loc\()?(?:"[^"\n]*"\()?"?(?P<path>[^"\n]+?)"?:(?P<line>\d+):\d+\)*: error: (?P<words>.+)$',
    re.MULTILINE,
)
_PIPELINE: Final = "Failures have been detected while processing an MLIR pass pipeline"
_PASS: Final = re.compile(r"Pipeline failed while executing \[`(\w+)`")
_ASSERTION: Final = re.compile(r"Assertion `.*' failed|^LLVM ERROR: .+$|^error: .+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What was wrong, and the line of the module where; None where MLIR does not say."""

    words: str
    line: int | None = None


def complaint(
    path: Path, name: str, source: Mapping[str, Any], target: Any, options: Mapping[str, Any]
) -> Complaint | None:
    """Compile the function ``name`` of a module again and hear what MLIR prints; None if that is nothing.

    ``source``: the arguments of ``ASTSource`` beside the function.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment.pop("TRITON_INTERPRET", None)
    try:
        again = subprocess.run(
            [sys.executable, "-c", _AGAIN],
            input=pickle.dumps((str(path), name, dict(source), target, dict(options))),
            capture_output=True,
            env=environment,
            timeout=MAX_SECONDS,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None  # no interpreter to start, or no end of it
    return understood(again.stderr.decode(errors="replace"), path)


def understood(printed: str, path: Path) -> Complaint | None:
    """The first error of what was printed that names a line of the module, or else what failed in which pass."""
    for error in _PLACED.finditer(printed):
        if error["path"] == str(path) and error["words"] != _PIPELINE:
            return Complaint(error["words"], int(error["line"]))
    assertion, stage = _ASSERTION.search(printed), _PASS.search(printed)
    what = assertion[0] if assertion else ""
    if stage:
        return Complaint(f"its pass {stage[1]} fails" + (f": {what}" if what else ""))
    return Complaint(what) if what else None
