"""``Benchmark`` and ``perf_report``: a function measured over a range of sizes, one line a provider.

A benchmark is called as ``fn(**{x_name: x}, **{y_name: y}, **args)`` and gives a number, or (mean, min, max). What
came out is printed, written as ``<plot_name>.csv``, and drawn as ``<plot_name>.png`` where matplotlib is installed.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["Benchmark", "Mark", "perf_report"]

Measured = tuple[float, float | None, float | None]  # mean, min, max


class Benchmark:
    """What to measure: the sizes ``x_vals`` of ``x_names``, and for each every one of ``y_vals``.

    An entry of ``x_vals`` is the value of all ``x_names``, or a tuple with one for each. ``y_lines`` are the
    names of the lines. The three words of today, ``line_arg``, ``line_vals`` and ``line_names``, mean
    ``y_name``, ``y_vals`` and ``y_lines``. Raises TypeError for a missing or doubled argument.
    """

    def __init__(
        self,
        x_names: Sequence[str],
        x_vals: Sequence[Any],
        y_name: str | None = None,
        y_vals: Sequence[Any] | None = None,
        y_lines: Sequence[str] | None = None,
        plot_name: str | None = None,
        args: Mapping[str, Any] | None = None,
        xlabel: str = "",
        ylabel: str = "",
        x_log: bool = False,
        y_log: bool = False,
        *,
        line_arg: str | None = None,
        line_vals: Sequence[Any] | None = None,
        line_names: Sequence[str] | None = None,
        color: Any = None,
        styles: Sequence[tuple[str, str]] | None = None,
    ) -> None:
        self.x_names = [x_names] if isinstance(x_names, str) else list(x_names)
        self.x_vals = list(x_vals)
        self.y_name: str = _either("y_name", y_name, "line_arg", line_arg)
        self.y_vals = list(_either("y_vals", y_vals, "line_vals", line_vals))
        self.y_lines = [str(name) for name in _either("y_lines", y_lines, "line_names", line_names)]
        if plot_name is None or args is None:
            raise TypeError(f"Benchmark needs '{'plot_name' if plot_name is None else 'args'}'")
        if len(self.y_vals) != len(self.y_lines):
            raise TypeError(f"{len(self.y_vals)} values of '{self.y_name}' have {len(self.y_lines)} names")
        self.plot_name = plot_name
        self.args = dict(args)
        self.xlabel, self.ylabel = xlabel, ylabel
        self.x_log, self.y_log = x_log, y_log
        self.styles = styles

    # As they are called today.
    line_arg = property(lambda self: self.y_name)
    line_vals = property(lambda self: self.y_vals)
    line_names = property(lambda self: self.y_lines)

    def arguments(self, x: Any) -> dict[str, Any]:
        """The arguments that one entry of ``x_vals`` stands for."""
        if isinstance(x, (tuple, list)):
            if len(x) != len(self.x_names):
                raise TypeError(f"{x!r} is no value for each of {', '.join(self.x_names)}")
            return dict(zip(self.x_names, x, strict=True))
        return dict.fromkeys(self.x_names, x)


def _either(old: str, old_value: Any, new: str, new_value: Any) -> Any:
    """The argument under the one of two names that was used."""
    if (old_value is None) == (new_value is None):
        count = "neither" if old_value is None else "both"
        raise TypeError(f"Benchmark takes '{old}' or '{new}' (one thing, two names); it got {count}")
    return new_value if old_value is None else old_value


@dataclass(frozen=True)
class Mark:
    """A function with the benchmarks that it is to run."""

    fn: Callable[..., Any]
    benchmarks: Sequence[Benchmark]

    def run(self, show_plots: bool = False, print_data: bool = False, save_path: str = "") -> None:
        """Measure everything. With ``save_path``, a directory, each benchmark leaves its files there."""
        for benchmark in self.benchmarks:
            table = _Table(benchmark, [_row(self.fn, benchmark, x) for x in benchmark.x_vals])
            if print_data:
                print(f"{benchmark.plot_name}:\n{table}")
            if save_path:
                Path(save_path).mkdir(parents=True, exist_ok=True)
                table.write_csv(Path(save_path) / f"{benchmark.plot_name}.csv")
            if show_plots or save_path:
                table.plot(Path(save_path) / f"{benchmark.plot_name}.png" if save_path else None, show_plots)


def perf_report(benchmarks: Benchmark | Iterable[Benchmark]) -> Callable[[Callable[..., Any]], Mark]:
    """A decorator: ``@perf_report(Benchmark(...))`` makes a function into something with ``run``."""
    chosen = [benchmarks] if isinstance(benchmarks, Benchmark) else list(benchmarks)
    return lambda fn: Mark(fn, chosen)


def _row(fn: Callable[..., Any], benchmark: Benchmark, x: Any) -> list[Measured]:
    row: list[Measured] = []
    for y in benchmark.y_vals:
        measured = fn(**benchmark.arguments(x), **{benchmark.y_name: y}, **benchmark.args)
        if isinstance(measured, (tuple, list)):
            mean, low, high = measured
            row.append((float(mean), float(low), float(high)))
        else:
            row.append((float(measured), None, None))
    return row


@dataclass(frozen=True)
class _Table:
    """The measurements of one benchmark: a row for each x, in it an entry for each line."""

    benchmark: Benchmark
    rows: Sequence[Sequence[Measured]]

    def header(self) -> list[str]:
        lines = self.benchmark.y_lines
        spread = [f"{line}-{end}" for line in lines for end in ("min", "max")] if self._has_spread() else []
        return [*self._x_names(), *lines, *spread]

    def cells(self) -> list[list[Any]]:
        """Numbers as measured; an empty cell where there is none."""
        row_cells = []
        for x, row in zip(self.benchmark.x_vals, self.rows, strict=True):
            cells: list[Any] = [self.benchmark.arguments(x)[name] for name in self._x_names()]
            cells += [mean for mean, _, _ in row]
            if self._has_spread():
                cells += ["" if end is None else end for _, low, high in row for end in (low, high)]
            row_cells.append(cells)
        return row_cells

    def write_csv(self, path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([self.header(), *self.cells()])

    def __str__(self) -> str:
        body = [
            [f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row] for row in self.cells()
        ]
        table = [self.header(), *body]
        widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in table)

    def plot(self, path: Path | None, show: bool) -> None:
        """Draw the lines, with the stretch from min to max shaded; a warning without matplotlib."""
        try:
            pyplot = import_module("matplotlib.pyplot")
        except ImportError:
            what = "shown" if path is None else f"written to {path.name}"
            warnings.warn(
                f"no plot is {what}: matplotlib is not installed (pip install matplotlib)",
                RuntimeWarning,
                stacklevel=3,
            )
            return
        figure, axes = pyplot.subplots()
        benchmark = self.benchmark
        xs = [next(iter(benchmark.arguments(x).values())) for x in benchmark.x_vals]
        for index, name in enumerate(benchmark.y_lines):
            color, style = benchmark.styles[index] if benchmark.styles else (None, "-")
            line = [row[index] for row in self.rows]
            axes.plot(xs, [mean for mean, _, _ in line], label=name, color=color, linestyle=style)
            if all(low is not None for _, low, _ in line):
                axes.fill_between(xs, [low for _, low, _ in line], [high for *_, high in line], alpha=0.15)
        axes.legend()
        axes.set_xlabel(benchmark.xlabel or " = ".join(benchmark.x_names))
        axes.set_ylabel(benchmark.ylabel)
        axes.set_xscale("log" if benchmark.x_log else "linear")
        axes.set_yscale("log" if benchmark.y_log else "linear")
        if path is not None:
            figure.savefig(path)
        if show:
            pyplot.show()
        pyplot.close(figure)

    def _has_spread(self) -> bool:
        return any(low is not None for row in self.rows for _, low, _ in row)

    def _x_names(self) -> list[str]:
        """One column where all names have one value, else one each."""
        several = any(isinstance(x, (tuple, list)) for x in self.benchmark.x_vals)
        return self.benchmark.x_names if several else self.benchmark.x_names[:1]
