"""What a user sees of tuning, on stderr: ``dot: 39%|███▉      | 7/18 [00:05<00:08, TM=128 ... 0.412 ms]``.

A bar shows that on terminals and in notebooks (pytriton/progress.py). At the end of a sweep
follows one line of Python that pins the winner; a log file gets only this line. ``PYTRITON_PROGRESS=1`` prints a
line per config, ``0`` nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, TextIO

from pytriton.progress import PROGRESS_VARIABLE, bar
from pytriton.runtime.options.defines import Config
from pytriton.runtime.show import settings_of, varied_in
from pytriton.tuning.record import Question

_WIDTH: Final = 100  # characters of a config; what is longer is cut


class Progress:
    """Of one sweep. ``points`` are those of the user; more may be announced with ``expect``."""

    def __init__(self, kernel: str, points: Sequence[Config], stream: TextIO | None = None) -> None:
        self._kernel = kernel
        self._stream = sys.stderr if stream is None else stream
        asked = os.environ.get(PROGRESS_VARIABLE, "")
        self._silent = asked == "0" or self._stream is None
        self._every = asked == "1"
        self._bar: Any = None if self._every else bar(kernel, 0, self._stream)
        self._varied = varied_in([settings_of(point) for point in points])
        self._total = 0
        self._done = 0
        self._best = float("inf")
        self._started = time.perf_counter()

    def expect(self, count: int) -> None:
        """So many more configs will come."""
        self._total += count
        if self._bar is not None and count:
            self._bar.total = self._total
            self._bar.set_postfix_str(f"compiling {count}")

    def racing(self, left: int, best: float) -> None:
        """A round is over; so many configs remain."""
        if self._bar is not None:
            self._bar.set_postfix_str(f"timing {left}, best {best:.3f} ms")

    def tell(self, point: Config, time_or_reason: float | str, finalist: bool = False) -> None:
        """A config was measured (milliseconds), or dropped for a reason."""
        self._done += 1
        if isinstance(time_or_reason, float):
            self._best = min(self._best, time_or_reason)
            shown = f"{time_or_reason:.3f} ms{' (finalist)' if finalist else ''}"
        else:
            shown = time_or_reason
        best = f" best {self._best:.3f} ms" if self._best < float("inf") else ""
        line = f"{self._named(point)} ... {shown}{best}"
        if self._bar is not None:
            self._bar.set_postfix_str(line[:_WIDTH], refresh=False)
            self._bar.update()
        elif self._every:
            self._write(f"[{self._done}/{self._total}] {line}\n")

    def end(
        self, finalists: Sequence[Config], times: Mapping[Config, float], question: Question | None
    ) -> None:
        """Show the line that pins the winner, and say if that is a cheaper one than the fastest."""
        best, took = finalists[0], time.perf_counter() - self._started
        summary = f"{self._kernel}: {times[best]:.3f} ms, best of {self._done} in {took:.1f} s"
        fastest = min(finalists, key=times.__getitem__)
        if fastest != best:
            more = "more warps" if fastest.num_warps > best.num_warps else "more memory"
            ahead = times[best] / times[fastest] - 1
            summary += f" (one with {more} is {ahead:.1%} faster, too little to tell)"
        if question is not None:
            values = "".join(f", {name}={value}" for name, value in question.arguments.items())
            summary += f", {question.device}{values}"
        if self._bar is not None:
            self._bar.close()
        self._write(f"{pinning(best)}  # {summary}\n")

    def _named(self, point: Config) -> str:
        """The settings by which the configs differ, and those that tuning adds of its own accord."""
        shown = {name: value for name, value in settings_of(point).items() if name in self._varied}
        shown |= {name: value for name, value in _extras(point).items() if name not in _OUTER}
        return " ".join(f"{name}={value}" for name, value in shown.items()) or "the only config"

    def _write(self, text: str) -> None:
        if self._silent:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # a closed terminal is no reason to stop
            self._silent = True


_OUTER: Final = ("precision", "fast_math")  # axes beside the defines


def pinning(config: Config) -> str:
    """Python that makes a kernel with this one config."""
    defines = dict(config.defines)
    extras = _extras(config)
    if not set(extras) - {"num_stages", *_OUTER}:
        more = "".join(f", {name}={value!r}" for name, value in extras.items())
        return f"pytriton.kernel(src, defines={defines!r}, num_warps={config.num_warps}{more})"
    outer = "".join(f", {name}={extras.pop(name)!r}" for name in _OUTER if name in extras)
    inner = "".join(f", {name}={value!r}" for name, value in extras.items())
    point = f"pytriton.config({defines!r}, {config.num_warps}{inner})"
    return f"pytriton.kernel(src, autotune_configs=[{point}]{outer})"


def _extras(config: Config) -> dict[str, object]:
    """The settings of a config beside defines and warps that differ from the defaults."""
    return {
        name: value
        for name, value in config.settings.items()
        if name != "num_warps" and name not in config.defines
    }
