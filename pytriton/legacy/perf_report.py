"""``Benchmark`` and ``perf_report``: a function measured over a range of sizes, one line for each provider.

A benchmark is called as ``fn(**{x_name: x}, **{y_name: y}, **args)`` and gives a number, or (mean, min, max). The
numbers are printed and written as ``<plot_name>.csv`` here; Triton's own ``triton.testing`` draws the picture.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from triton import testing

from pytriton.runtime.errors import remark, warn

_TODAY: Final = {"y_name": "line_arg", "y_vals": "line_vals", "y_lines": "line_names"}
_NEEDED: Final = ("matplotlib", "pandas")  # by Triton's plots

Measured = tuple[float, float | None, float | None]  # mean, min, max


class Benchmark(testing.Benchmark):  # type: ignore[misc]
    """Triton's ``Benchmark``, which also knows the names of 2021: ``y_name``, ``y_vals`` and ``y_lines`` for
    ``line_arg``, ``line_vals`` and ``line_names``.

    An entry of ``x_vals`` is the value of all ``x_names``, or a tuple with one for each. Raises TypeError for a
    missing or doubled argument.
    """

    def __init__(
        self, x_names: Sequence[str], x_vals: Sequence[Any], *positional: Any, **options: Any
    ) -> None:
        options.pop("color", None)
        options = {name: value for name, value in options.items() if value is not None}
        for old, new in _TODAY.items():
            if old in options and new in options:
                raise TypeError(f"Benchmark takes '{old}' or '{new}' (one thing, two names), not both")
            if old in options:
                options[new] = options.pop(old)
        names = [x_names] if isinstance(x_names, str) else list(x_names)
        super().__init__(names, list(x_vals), *positional, **options)
        if len(self.line_vals) != len(self.line_names):
            values, lines = len(self.line_vals), len(self.line_names)
            raise TypeError(f"{values} values of '{self.line_arg}' have {lines} names")

    y_name = property(lambda self: self.line_arg)
    y_vals = property(lambda self: self.line_vals)
    y_lines = property(lambda self: self.line_names)

    def arguments(self, x: Any) -> dict[str, Any]:
        """The arguments for one entry of ``x_vals``."""
        if isinstance(x, (tuple, list)):
            if len(x) != len(self.x_names):
                raise TypeError(f"{x!r} does not have a value for each of {', '.join(self.x_names)}")
            return dict(zip(self.x_names, x, strict=True))
        return dict.fromkeys(self.x_names, x)


@dataclass(frozen=True)
class Mark:
    """A function with the benchmarks that it is to run."""

    fn: Callable[..., Any]
    benchmarks: Sequence[Benchmark]

    def run(self, show_plots: bool = False, print_data: bool = False, save_path: str = "") -> None:
        """Measure everything. With ``save_path``, a directory, each benchmark leaves its files there."""
        for benchmark in self.benchmarks:
            rows = [
                [_measured(self.fn, benchmark, x, y) for y in benchmark.line_vals] for x in benchmark.x_vals
            ]
            table = _table(benchmark, rows)
            if print_data:
                print(f"{benchmark.plot_name}:\n{_aligned(table)}")
            if show_plots or save_path:
                _plot(benchmark, rows, show_plots, save_path)
            if save_path:
                Path(save_path).mkdir(parents=True, exist_ok=True)
                path = Path(save_path, f"{benchmark.plot_name}.csv")
                with path.open("w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows(table)


def perf_report(benchmarks: Benchmark | Iterable[Benchmark]) -> Callable[[Callable[..., Any]], Mark]:
    """A decorator: ``@perf_report(Benchmark(...))`` makes a function into something with ``run``."""
    chosen = [benchmarks] if isinstance(benchmarks, Benchmark) else list(benchmarks)
    return lambda fn: Mark(fn, chosen)


def _measured(fn: Callable[..., Any], benchmark: Benchmark, x: Any, y: Any) -> Measured:
    measured = fn(**benchmark.arguments(x), **{benchmark.line_arg: y}, **benchmark.args)
    if isinstance(measured, (tuple, list)):
        mean, low, high = map(float, measured)
        return mean, low, high
    return float(measured), None, None


def _table(benchmark: Benchmark, rows: Sequence[Sequence[Measured]]) -> list[list[Any]]:
    """The head, and a row for each x: its values, the means, and minima and maxima if there are any.

    There is one column for x where all names have one value, else one each.
    """
    several = any(isinstance(x, (tuple, list)) for x in benchmark.x_vals)
    names, lines = benchmark.x_names[: None if several else 1], [str(line) for line in benchmark.line_names]
    spread = any(low is not None for row in rows for _, low, _ in row)
    ends = [f"{line}-{end}" for line in lines for end in ("min", "max")] if spread else []
    table = [[*names, *lines, *ends]]
    for x, row in zip(benchmark.x_vals, rows, strict=True):
        values = [benchmark.arguments(x)[name] for name in names]
        limits = ["" if end is None else end for _, low, high in row for end in (low, high)] if spread else []
        table.append([*values, *(mean for mean, _, _ in row), *limits])
    return table


def _aligned(table: Sequence[Sequence[Any]]) -> str:
    texts = [[f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join("  ".join(map(str.rjust, row, widths)) for row in texts)


def _plot(benchmark: Benchmark, rows: Sequence[Sequence[Measured]], show: bool, save_path: str) -> None:
    """Triton's plot of the measurements: it calls a function for each point, in the same order."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        message = f"no plot of {benchmark.plot_name}: Triton's plots need {' and '.join(_NEEDED)}"
        warn(remark(message, "TC563", f"pip install {' '.join(missing)}"))
        return
    if save_path:
        Path(save_path).mkdir(parents=True, exist_ok=True)
    measured = (point for row in rows for point in row)
    mark = testing.perf_report(benchmark)(lambda **_: next(measured))
    mark.run(show_plots=show, save_path=save_path)
