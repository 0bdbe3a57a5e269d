"""Shows a kernel: HTML for notebooks, and a plot of its timings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from html import escape
from importlib import import_module
from typing import Any, Final

from pytriton.errors import CompileError
from pytriton.runtime.options.defines import Config

# Points of a sweep by the settings in which they differ: ``TM=128 num_warps=8``.


UNNAMED: Final = "<kernel>"  # the name of a source without one


def labels(points: Iterable[Config]) -> dict[Config, str]:
    """A name for each config, no two alike; a single config is called by its defines."""
    settings = {point: settings_of(point) for point in points}
    varied = varied_in(settings.values())
    return {
        point: " ".join(
            f"{name}={values[name]}" for name in varied or point.defines if values.get(name) is not None
        )
        or "the only config"
        for point, values in settings.items()
    }


def varied_in(settings: Collection[Mapping[str, object]]) -> list[str]:
    """The names by which these differ."""
    names = dict.fromkeys(name for values in settings for name in values)
    return [name for name in names if len({repr(values.get(name)) for values in settings}) > 1]


def settings_of(point: Config) -> dict[str, object]:
    """All settings of a config, by name."""
    own = {field.name: getattr(point, field.name) for field in fields(point) if field.name != "defines"}
    return {**point.defines, **own}


# What a notebook shows of a kernel: its text beside its translation, and the times of its last sweep as bars.
#
# In: texts and timings. Out: HTML without scripts or classes; whatever came from a user or a compiler is escaped.
# Code has a light background of its own; the two other colours are readable on light and dark.


MAX_BARS: Final = 16
_OLD: Final = "#c8682c"
_NEW: Final = "#17917d"


def page(
    name: str,
    source: str,
    translated: str | CompileError,
    best: Config | None,
    timings: Mapping[Config, float | str],
) -> str:
    """The HTML. ``translated`` is the Python, or why there is none (defines that come with a call)."""
    if isinstance(translated, str):
        title, new = "becomes", _coloured(translated, "python")
    else:
        title, new = "not yet", escape(str(translated))
    old = "Triton-C" if name == UNNAMED else f"{name}, Triton-C"
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:0 1em">'
        f"{_source(old, _coloured(source, 'triton-c'), _OLD)}{_source(title, new, _NEW)}</div>"
        f"{_times(best, timings)}"
    )


def _coloured(text: str, language: str) -> str:
    """HTML in the colours of Pygments, which comes with IPython; else without colours."""
    try:
        pygments = import_module("pygments")
        lexer = import_module("pygments.lexers").get_lexer_by_name(language)
        formatter = import_module("pygments.formatters").HtmlFormatter(nowrap=True, noclasses=True)
        return str(pygments.highlight(text, lexer, formatter))
    except (ImportError, ValueError):  # not installed; a checkout, whose lexer is unknown
        return escape(text)


def _source(title: str, code: str, colour: str) -> str:
    return (
        '<div style="flex:1 1 28em;min-width:0">'
        f'<div style="font-size:85%;color:{colour}">{escape(title)}</div>'
        f'<pre style="border-left:3px solid {colour};padding:.5em .8em;margin:0;overflow-x:auto;'
        f'font:85%/1.45 ui-monospace,monospace;color:#222;background:#f8f8f8">{code.strip(chr(10))}</pre></div>'
    )


def _times(best: Config | None, timings: Mapping[Config, float | str]) -> str:
    """Bars, the fastest first; nothing where no sweep was timed."""
    measured = sorted((time, point) for point, time in timings.items() if not isinstance(time, str))
    if not measured:
        return ""
    named = labels([point for _, point in measured])
    slowest = measured[min(len(measured), MAX_BARS) - 1][0]
    rows = []
    for time, point in measured[:MAX_BARS]:
        chosen = "font-weight:bold" if point == best else ""
        width = max(1, round(100 * time / slowest))
        bar = f'<div style="background:{_NEW};width:{width}%;height:.7em"></div>'
        rows.append(
            f'<tr style="{chosen}"><td style="text-align:left">{escape(named[point])}</td>'
            f'<td style="text-align:right">{time:.3f} ms</td><td style="width:16em">{bar}</td></tr>'
        )
    left_out = [f"{len(measured) - MAX_BARS} slower"] if len(measured) > MAX_BARS else []
    dropped = len(timings) - len(measured)
    left_out += [f"{dropped} dropped (kernel.timings says why)"] if dropped else []
    notes = escape(", ".join(left_out))
    more = f'<div style="font-size:85%">{notes}</div>' if notes else ""
    return f'<table style="margin-top:.8em;font-size:85%">{"".join(rows)}</table>{more}'


# The times of a sweep as a picture, by matplotlib, which is loaded for that (``pip install matplotlib``).


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
