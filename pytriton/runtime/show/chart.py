"""The times of a sweep as a picture, by matplotlib, which is loaded for that (``pip install matplotlib``)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pytriton.runtime.options.defines import Config
from pytriton.runtime.show.named import UNNAMED, labels

__all__ = ["chart"]


def chart(name: str, best: Config | None, timings: Mapping[Config, float | str], axes: Any = None) -> Any:
    """Horizontal bars, the fastest on top, drawn on matplotlib ``axes`` (new ones if None), which are returned.

    Raises ImportError without matplotlib.
    """
    try:
        pyplot = import_module("matplotlib.pyplot")
    except ModuleNotFoundError as error:
        raise ImportError("kernel.plot() needs matplotlib: pip install matplotlib") from error
    measured = sorted((time, point) for point, time in timings.items() if not isinstance(time, str))
    if axes is None:
        axes = pyplot.subplots(figsize=(7, 1 + 0.3 * max(len(measured), 2)), layout="constrained")[1]
    if name != UNNAMED:
        axes.set_title(name, loc="left")
    if not measured:
        axes.text(
            0.5, 0.5, "no sweep was timed (on a CPU the first config is used)", ha="center", va="center"
        )
        axes.set_axis_off()
        return axes
    named = labels([point for _, point in measured])
    colours = ["#17917d" if point == best else "#a9b4bc" for _, point in measured]
    rows = range(len(measured))
    bars = axes.barh(rows, [time for time, _ in measured], color=colours)
    axes.set_yticks(rows, [named[point] for _, point in measured])
    axes.invert_yaxis()
    axes.bar_label(bars, fmt=" %.3f")
    axes.margins(x=0.15)
    axes.set_xlabel("ms")
    axes.spines[["top", "right"]].set_visible(False)
    return axes
