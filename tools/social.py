"""``python -m tools.social FILE.png``: the picture that previews of links to the site show, 1200 by 630 pixels.

In: the speeds of tools/picture.py, from benchmarks/results/programs.json. Out: a PNG.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from tools.picture import MUTE, NEW, SPEEDS, speeds

__all__ = ["drawn"]

SIZE = (12, 6.3)  # inches of 100 pixels


def drawn(report: dict[str, Any]) -> Figure:
    """Name, one sentence, and bars for the largest size."""
    figure = Figure(figsize=SIZE, dpi=100, facecolor="white")
    page = figure.add_axes((0, 0, 1, 1))
    page.set(xlim=(0, 1200), ylim=(630, 0))
    page.axis("off")
    page.add_patch(FancyBboxPatch((70, 70), 96, 96, boxstyle="round,pad=0,rounding_size=21", color=NEW))
    for top in (97, 121):
        page.add_patch(Rectangle((91, top), 18, 18, color="#f0a36b"))
        page.add_patch(Rectangle((115, top), 30, 18, color="white"))
    page.text(190, 142, "pytriton", fontsize=52, fontweight="bold", color="#24292e")
    page.text(70, 235, "Triton-C kernels of 2019 to 2021 on today's Triton", fontsize=24, color="#24292e")
    size, *rates = report["rows"][-1]
    page.text(70, 310, f"{size} x {size} x {size}, half, {report['unit']}", fontsize=17, color="#5f6b75")
    for place, (name, rate, colour) in enumerate(
        zip(report["names"], rates, (NEW, MUTE, "#c3cad0"), strict=True)
    ):
        top = 335 + 62 * place
        width = 620 * rate / max(rates)
        page.add_patch(Rectangle((360, top), width, 44, color=colour))
        page.text(345, top + 30, name, fontsize=17, ha="right", color="#24292e")
        page.text(370 + width, top + 30, str(rate), fontsize=17, color="#24292e")
    page.text(70, 575, report["run"], fontsize=13, color="#5f6b75")
    return figure


if __name__ == "__main__":
    found = speeds(json.loads(SPEEDS.read_text(encoding="utf-8")))
    drawn(found).savefig(Path(sys.argv[1]), metadata={"Software": None})
