"""``Benchmark`` and ``perf_report``: a function measured over a range of sizes, one line for each provider.

A benchmark is called as ``fn(**{x_name: x}, **{y_name: y}, **args)`` and gives a number, or (mean, min, max). Both
are today's ``triton.testing``, which also knows the names of 2021 here; it needs matplotlib and pandas, as then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from pytriton.compat.triton_names import testing
from pytriton.runtime.errors import refusal

_TODAY: Final = {"y_name": "line_arg", "y_vals": "line_vals", "y_lines": "line_names"}
_NEEDED: Final = ("matplotlib", "pandas", "triton")


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


class Mark(testing.Mark):  # type: ignore[misc]
    """A function with the benchmarks that it is to run."""

    def run(
        self, show_plots: bool = False, print_data: bool = False, save_path: str = "", **options: Any
    ) -> Any:
        """Measure everything. With ``save_path``, a directory, each benchmark leaves its files there. Raises
        LaunchError (TC563) without matplotlib or pandas."""
        missing = [name for name in _NEEDED if find_spec(name) is None]
        if missing:
            message = f"Triton's reports need {', '.join(_NEEDED)}"
            raise refusal(message, "TC563", f"pip install {' '.join(missing)}")
        if save_path:  # Triton makes it after the first picture
            Path(save_path).mkdir(parents=True, exist_ok=True)
        return super().run(show_plots, print_data, save_path, **options)


def perf_report(benchmarks: Benchmark | Iterable[Benchmark]) -> Callable[[Callable[..., Any]], Mark]:
    """A decorator: ``@perf_report(Benchmark(...))`` makes a function into something with ``run``."""
    chosen = [benchmarks] if isinstance(benchmarks, Benchmark) else list(benchmarks)
    return lambda fn: Mark(fn, chosen)
