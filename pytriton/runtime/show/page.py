"""What a notebook shows of a kernel: its text beside its translation, and the times of its last sweep as bars.

In: texts and timings. Out: HTML without scripts; whatever came from a user or a compiler is escaped. It has no
colours of its own but two, which stand on light and dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from pytriton.errors import CompileError
from pytriton.runtime.options.defines import Config
from pytriton.runtime.show.named import UNNAMED, labels

__all__ = ["page"]

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
    title, new = ("becomes", translated) if isinstance(translated, str) else ("not yet", str(translated))
    old = "Triton-C" if name == UNNAMED else f"{name}, Triton-C"
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:0 1em">'
        f"{_text(old, source, _OLD)}{_text(title, new, _NEW)}</div>{_times(best, timings)}"
    )


def _text(title: str, text: str, colour: str) -> str:
    return (
        '<div style="flex:1 1 28em;min-width:0">'
        f'<div style="font-size:85%;color:{colour}">{escape(title)}</div>'
        f'<pre style="border-left:3px solid {colour};padding:.5em .8em;margin:0;overflow-x:auto;font-size:85%;'
        f'line-height:1.45;background:transparent">{escape(text.strip(chr(10)))}</pre></div>'
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
