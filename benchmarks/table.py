"""A report as text and as a picture. Pure functions of the JSON that a run writes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

OURS = "pytriton"


def markdown(report: Mapping[str, Any]) -> str:
    """One table, a line of machine and versions before it, geometric means after it."""
    lines = [
        headline(report),
        "",
        "| program | case | pytriton | against (ratio, ratio to reach) | error |",
        "|---|---|---|---|---|",
    ]
    lines += [_line(row) for row in report["rows"]]
    if found := means(report):
        lines += ["", "Geometric means of the ratios:", "", *found]
    return "\n".join(lines)


def headline(report: Mapping[str, Any]) -> str:
    """Date, machine and versions."""
    versions = ", ".join(
        f"{name} {report[name]}" for name in ("python", "torch", "triton", "pytriton") if name in report
    )
    return (
        f"{report['date']}, {report.get('gpu', 'no machine')}, {versions}. "
        f"Medians of one run of {report['seconds']:.0f} s. "
        "A ratio is ours over theirs: of speeds, or of costs where the unit is a time."
    )


def _line(row: Mapping[str, Any]) -> str:
    start = f"| {row['program']} | {row['case']} |"
    if "error" in row:
        return f"{start} failed | {_cell(row['error'])} | |"
    errors = row.get("errors", {})
    error = f"{errors[OURS]:.1e}" if OURS in errors else ""
    unit, rates = row["unit"], row["rates"]
    failed = [f"{name} failed: {_cell(why)}" for name, why in row.get("failed", {}).items()]
    if not rates:
        right = [name for name in errors if name != OURS]
        return f"{start} right, not timed | {'; '.join([*right, *failed])} | {error} |"
    others = [_other(row, name) for name in rates if name != OURS] + failed
    share = f", {_ratio(row['share'], row['share_target'], True)} of a copy" if "share" in row else ""
    return f"{start} {_figure(rates[OURS])} {unit}{share} | {'; '.join(others)} | {error} |"


def _other(row: Mapping[str, Any], name: str) -> str:
    target = row.get("targets", {}).get(name)
    at_most = row.get("at_most", {}).get(name)
    shown = _ratio(row["ratios"][name], target if at_most is None else at_most, at_most is None)
    return f"{name} {_figure(row['rates'][name])} ({shown})"


def _ratio(ratio: float, target: float | None, at_least: bool) -> str:
    """A ratio, and how it stands to what is to be reached: `0.96 < 0.98` misses it."""
    if target is None:
        return f"{ratio:.2f}"
    if at_least:
        return f"{ratio:.3f} {'≥' if ratio >= target else '<'} {target:.2f}"
    return f"{ratio:.3f} {'≤' if ratio <= target else '>'} {target:.2f}"


def _figure(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# Geometric means of which something is asked: (programs, contender) -> at least.
_ASKED = {
    (("dot half",), "hand-written"): 1.0,
    (("softmax",), "hand-written"): 1.0,
    (("softmax",), "torch.softmax"): 1.0,
    (("layer norm", "batch norm", "cross-entropy"), "torch.compile"): 1.0,
}


def means(report: Mapping[str, Any]) -> list[str]:
    """Of the rows; those of a report whose ratios were rounded are given in it."""
    lines = [_mean(**mean) for mean in report["means"]] if "means" in report else _means(report["rows"])
    return list(lines)


def _mean(
    programs: Iterable[str], name: str, mean: float, target: float | None, cases: int, worst: float
) -> str:
    shown = _ratio(mean, target, at_least=True)
    return f"- {' with '.join(programs)}, {name}: {shown} ({cases} cases, worst {worst:.3f})"


def _means(rows: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    found: dict[tuple[tuple[str, ...], str], list[float]] = {}
    for row in rows:
        if "at_most" in row:
            continue  # costs of single calls
        for name, ratio in row.get("ratios", {}).items():
            found.setdefault(((row["program"],), name), []).append(ratio)
    for programs, name in _ASKED:
        together = [found.get(((program,), name), []) for program in programs]
        found[programs, name] = [ratio for ratios in together for ratio in ratios]
    for (programs, name), ratios in found.items():
        if len(ratios) > 1:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            yield _mean(programs, name, mean, _ASKED.get((programs, name)), len(ratios), min(ratios))


# What a bar says: the ratio to be reached is, or is not; or none is asked.
_REACHED, _MISSED, _OPEN = "tab:green", "tab:red", "tab:gray"


def picture(report: Mapping[str, Any], path: Path) -> bool:
    """Speed ratios as bars from 1, in a PNG; False where there is no matplotlib, or nothing to draw."""
    bars = [
        (f"{row['program']}, {row['case']} / {name}", ratio, row.get("targets", {}).get(name))
        for row in report["rows"]
        for name, ratio in row.get("ratios", {}).items()
        if "at_most" not in row
    ]
    try:
        import matplotlib
    except ImportError:
        return False
    if not bars:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(11, 1 + 0.2 * len(bars)))
    labels, ratios, targets = zip(*bars, strict=True)
    places = range(len(bars))
    colours = [
        _OPEN if t is None else _REACHED if r >= t else _MISSED for r, t in zip(ratios, targets, strict=True)
    ]
    axes.barh(places, [ratio - 1 for ratio in ratios], left=1, color=colours)
    asked = [(place, target) for place, target in zip(places, targets, strict=True) if target is not None]
    if asked:
        at, wanted = zip(*asked, strict=True)
        axes.plot(wanted, at, "k|", markersize=7)
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(0.5, *ratios) / 1.1, max(2.0, *ratios) * 1.1)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(places, labels, fontsize=7)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xlabel("speed of pytriton / speed of the other; | to be reached, green where it is")
    axes.set_title(f"{report.get('gpu', '')}, {report['date']}")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return True
