"""When Triton refuses what we generated, or stops while running it: the line of the source.

Such an error is shown with three things: the message of Triton, the generated file and line, and the line of the
Triton-C source from which that line came.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytriton.compat.triton_names import CompilationError, OutOfResources
from pytriton.errors import CompileError, Diagnostic, LaunchError, PytritonError, UnsupportedError
from pytriton.pipeline import Translation
from pytriton.runtime.errors import refusal
from pytriton.runtime.launch.extents import Memory
from pytriton.source import Source, Span

# What MLIR prints about a kernel that it cannot compile: the exception has next to nothing.
#
# The exception that arrives reads ``PassManager::run failed``; what failed, and at which line of the module, went
# to file descriptor 2. To catch it there in this process would catch the words of other threads with it. So the
# kernel is compiled once more in a process of its own, whose standard error has nothing else in it. That takes a
# second or two, and only after a failure.


MAX_SECONDS: Final = 300

_AGAIN: Final = """
import importlib.util, pickle, sys
import triton
from pytriton.compat.triton_names import ASTSource

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
    """Compile the function ``name`` of a module again and read what MLIR prints; None if that is nothing.

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
        return None  # no interpreter to start, or timed out
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


class Explained(Exception):
    """An error of the interpreter that knows what to tell the user."""

    def error(self, where: Span | Source, memory: Memory | None) -> PytritonError:
        """The error for the user, at a line of the source."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated module, where it lies, and the source that it came from."""

    translation: Translation
    path: Path
    source: Source

    def refused(self, error: Exception, printed: Complaint | None = None) -> CompileError:
        """For an error of Triton's compiler; ``printed`` is what MLIR printed beside it."""
        line = printed.line if printed else None
        words = printed.words if printed else f"{type(error).__name__}: {error}"
        while isinstance(error, CompilationError):
            # The outermost one is in the kernel, the innermost has the message.
            if line is None and hasattr(error.node, "lineno"):
                line = error.node.lineno + self._line_of_kernel() - 1
            words = error.error_message or words
            if not isinstance(error.__cause__, Exception):
                break
            error = error.__cause__
            words = str(error).strip() or words
        problem = "Triton refuses the generated code"
        if line is None:
            problem += f" of {self.translation.kernel}"
        return UnsupportedError((self._diagnostic(problem, "TC530", words, line),))

    def stopped(self, error: Exception, memory: Memory | None = None) -> PytritonError:
        """For an error that Triton's interpreter raised while it ran a program of the kernel; ``memory``: what that
        may reach, if it is known."""
        while isinstance(error.__cause__, Exception):
            error = error.__cause__
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(self.path)]
        words = f"{type(error).__name__}: {error}"
        problem = "Triton's interpreter stopped"
        line = lines[0] if lines else None
        if isinstance(error, Explained):
            return error.error(self._origin_of(line) or self.source, memory)
        return CompileError((self._diagnostic(problem, "TC532", words, line),))

    def _diagnostic(self, problem: str, code: str, words: str, line: int | None) -> Diagnostic:
        first, *details = words.strip().splitlines() or ["nothing"]
        place = str(self.path) if line is None else f"{self.path}:{line}"
        return Diagnostic(
            "error",
            code,
            f"{problem}: {first}",
            self._origin_of(line) or self.source,
            (*details[:12], f"the generated code is {place}"),
            "report this with the source: pytriton should refuse the source or translate it differently",
        )

    def _line_of_kernel(self) -> int:
        """Triton counts lines from the kernel's ``def``; this is that line of the module."""
        head = f"def {self.translation.function}("
        rows = enumerate(self.translation.text.split("\n"), 1)
        return next((number for number, line in rows if line.startswith(head)), 1)

    def _origin_of(self, line: int | None) -> Span | None:
        number = _nearest(self.translation.lines, line)
        rows = self.source.text.split("\n")
        if number is None or not 1 <= number <= len(rows):
            return None
        start = sum(len(row) + 1 for row in rows[: number - 1])
        row = rows[number - 1]
        return Span(self.source, start + len(row) - len(row.lstrip()), start + len(row.rstrip()))


def _nearest(lines: Mapping[int, int], line: int | None) -> int | None:
    """The source line of a module line: its own entry, that of the nearest line above, or that of the kernel."""
    numbers = [number for number in lines if line is not None and number <= line]
    return lines[max(numbers, default=min(lines))] if lines else None


def does_not_fit(error: OutOfResources, kernel: str) -> LaunchError:
    """For a kernel that needs more of something than the device has."""
    return refusal(
        f"{kernel}: it needs {error.required} of {error.name}, but the device has {error.limit}",
        "TC531",
        "make the tiles smaller, or give other num_warps or fewer num_stages",
    )
