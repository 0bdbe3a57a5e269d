"""``python -m tools.numbers``: the measured numbers of README, docs and RESULTS.md beside the JSON of their runs.

In: benchmarks/results. ``programs.json``, ``gradients.json`` and ``translate.json`` are what the commands of these
names write with ``--json``; ``transcribed.json`` has runs whose JSON was not kept. ``PAGES`` has the claims of each
page: sentences and tables, each number from there. Out: a line for each claim that the page has with other words or
numbers; exit status 1 if there is one. ``--write`` puts the numbers into the pages. Words are edited by hand, there
and here. ``--uncovered`` lists numbers with a unit that no claim covers; tests/test_numbers.py allows none.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks import table
from pytriton.gradient.backward import LEAST_SCRATCH
from pytriton.port.jobs.folds import MAX_EXPLORED
from pytriton.port.ported import MAX_POINTS
from pytriton.port.prove import MAX_PROVED
from pytriton.port.read.scopes import MAX_PATHS
from pytriton.tuning import race
from pytriton.tuning.sweep import LEAST_COPIED
from tools.claims import NUMBER, Page, Sentence, Table, compared, n, uncovered

ROOT: Final = Path(__file__).parent.parent
RESULTS: Final = ROOT / "benchmarks" / "results"
OURS, HAND, MM, COMPILED = "pytriton", "hand-written", "torch.mm", "torch.compile"
JIT, ADD, TUNED = "@triton.jit", "torch.add(x, y, out=z)", "triton.autotune, 2 configs"
RAGGED, SMALL = "4097 x 4099 x 4101", "1000 x 1000 x 1000"


def load(name: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return report


PROGRAMS, GRADIENTS, TRANSLATE = load("programs"), load("gradients"), load("translate")
OTHERS = load("transcribed")


def row(program: str, case: str, report: dict[str, Any] = PROGRAMS) -> dict[str, Any]:
    (found,) = (row for row in report["rows"] if (row["program"], row["case"]) == (program, case))
    return dict(found)


def rate(program: str, case: str, name: str = OURS) -> str:
    """As the table prints it."""
    return n(table._figure(row(program, case)["rates"][name]))


def ratio(program: str, case: str, name: str, form: str = ".3f") -> str:
    return n(row(program, case)["ratios"][name], form)


def between(values: Sequence[float], form: str = ".2f") -> str:
    return f"{n(min(values), form)} to {n(max(values), form)}"


def ratios(program: str, name: str) -> list[float]:
    return [row["ratios"][name] for row in PROGRAMS["rows"] if row["program"] == program]


def call(case: str, name: str = OURS) -> str:
    """Microseconds of a launch."""
    return rate("launch", case, name)


def milliseconds(program: str, case: str, name: str = OURS) -> str:
    return n(_milliseconds(row(program, case, GRADIENTS)["milliseconds"][name]))


def _milliseconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.2f}"


def versions(report: dict[str, Any]) -> str:
    short = {name: ".".join(report[name].split(".")[:2]) for name in ("python", "torch", "triton")}
    return f"Python {n(short['python'])}, torch {n(short['torch'])}, Triton {n(short['triton'])}"


def gradient_row(row: dict[str, Any]) -> str:
    others = []
    for name, time in row["milliseconds"].items():
        if name != OURS:
            target = row["targets"].get(name) if "targets" in row else None
            found = row["ratios"][name]
            asked = f" {'≥' if found >= target else '<'} {target:.2f}" if target else ""
            others.append(f"{name} {_milliseconds(time)} ({found:.2f}{asked})")
    ours = _milliseconds(row["milliseconds"][OURS])
    return f"| {row['program']} | {row['case']} | {ours} ms | {'; '.join(others)} |"


def translation_row(what: str, value: float, unit: str) -> str:
    return f"| {what} | {value:.{1 if value < 100 else 0}f} {unit} |"


def launch_row(words: str, case: str, others: bool = False) -> str:
    figures = [table._figure(row("launch", case)["rates"][name]) for name in (OURS, JIT, TUNED, ADD)]
    return (
        f"| {words} | {figures[0]} | {' | '.join(figures[1:])} |"
        if others
        else f"| {words} | {figures[0]} | | | |"
    )


def mean(line: str) -> Sentence:
    name, _, numbers = line.partition(": ")
    return Sentence(f"\n{name}: {re.sub(NUMBER, lambda found: n(found[0]), numbers)}\n")


def gradient_mean() -> str:
    found = [row["ratios"][COMPILED] for row in GRADIENTS["rows"] if COMPILED in row["ratios"]]
    mean = math.exp(sum(map(math.log, found)) / len(found))
    sign = "≥" if mean >= 0.95 else "<"
    return f"{n(mean, '.2f')} {sign} 0.95 ({n(len(found))} cases, worst {n(min(found), '.2f')})"


LAUNCHES = [row for row in PROGRAMS["rows"] if row["program"] == "launch"]
LAUNCH_RATIOS = ratios("launch", JIT)
MICROSECONDS = [row["rates"][OURS] for row in LAUNCHES]
NINE, ELEVEN = "9 arguments: ", "11 arguments: "
COLD, KNOWN = "18 points, 16 cores, cold", "18 points, 16 cores, known on disk"
OPERATORS, CHECKED, LAUNCHED = OTHERS["operators"], OTHERS["checked"], OTHERS["launch on an H100"]
HOST, IN_C, REGRET = OTHERS["ported"]["host_us"], OTHERS["kernels as C"], OTHERS["regret"]
IN_PLACE, THREE_PASSES = (f"4096 x 8192 float, with gradient, {how}" for how in ("in place", "three passes"))

README = Page(
    [
        Sentence(
            f"reaches {rate('dot half', '4096³, a @ b')} TFLOP/s in half precision. That is "
            f"{between(ratios('dot half', HAND))} times the speed of a kernel written by hand today, and "
            f"{between(ratios('dot half', MM))} times that of `torch.mm`, for sizes of 2048 to 8192."
        ),
        Sentence(
            f"{rate('dot half, masked', RAGGED)} TFLOP/s for 4097 × 4099 × 4101, where `torch.mm` reaches "
            f"{rate('dot half, masked', RAGGED, MM)}; but only "
            f"{ratio('dot half, masked', SMALL, MM)} times the speed of `torch.mm` for 1000 × 1000 × 1000"
        ),
        Sentence(
            f"Launch overhead is {between(LAUNCH_RATIOS)} times that of `@triton.jit`: "
            f"{between(MICROSECONDS, '.1f')} µs"
        ),
    ],
    {"about 1 ms per program": "an order of magnitude"},
)

TUNING = Page(
    [
        Sentence(
            f"({n(race._RACE / 1000, '.1f')} s of launches, {n(race._RACE_OF_EACH, '.0f')} ms for each config"
        ),
        Sentence(f"Among configs within {n(100 * race.CLOSE, '.1f')} % of the best"),
        Sentence(f"take {n(LEAST_COPIED >> 20)} MB or more"),
        Sentence(
            f"4097 × 4101 by 4101 × 4099 half runs at {rate('dot half, masked', RAGGED)} TFLOP/s, the "
            f"copying included, {ratio('dot half, masked', RAGGED, MM, '.1f')} times the speed of `torch.mm`."
        ),
        Sentence(
            f"runs at {rate('dot half, masked', SMALL)} TFLOP/s, "
            f"{ratio('dot half, masked', SMALL, MM)} times the speed of `torch.mm`"
        ),
        Table(
            "| | `pytriton` | `triton.autotune`, hand-written kernel |",
            [
                f"| {words} | {table._figure(row('tuning', case)['rates'][OURS])} s | "
                f"{table._figure(row('tuning', case)['rates']['triton.autotune'])} s |"
                for words, case in (("first call", COLD), ("first call of the next process", KNOWN))
            ],
        ),
        Sentence(f"{versions(PROGRAMS)}, nothing cached"),
        Sentence(f"`python -m benchmarks --only tuning`, {PROGRAMS['date']}"),
    ],
    {
        "falls by 10 %": "an order of magnitude, and why there are rounds",
        "16 % behind after one round, 2 % after ten": "the docstring of pytriton/tuning/race.py",
    },
)

LAUNCHING = Page(
    [
        Table(
            "| | pytriton | `@triton.jit` | `triton.autotune`, two configs | `torch.add(x, y, out=z)` |",
            [
                launch_row(
                    "9 arguments, defines in the constructor", f"{NINE}defines with the constructor", True
                ),
                launch_row("the same, the grid is a function", f"{NINE}the same, the grid a function"),
                launch_row(
                    "the same, sizes change from call to call", f"{NINE}sizes change from call to call"
                ),
                launch_row("a sweep of two configs, tuned", f"{NINE}a sweep of two points"),
                launch_row("18 defines with each call", f"{NINE}18 defines with each call"),
                launch_row(
                    "18 defines as keywords, as in 2019", f"{NINE}the same as keywords, the grid last"
                ),
                launch_row("tiles through descriptors", f"{NINE}tiles through descriptors"),
                launch_row("11 arguments, tensors", f"{ELEVEN}tensors", True),
                launch_row("11 arguments, addresses", f"{ELEVEN}addresses"),
            ],
        ),
        Sentence(f"{PROGRAMS['date']}, {PROGRAMS['gpu']}, {versions(PROGRAMS)}"),
    ],
)

PYTORCH = Page(
    [
        Table(
            f"| | H100, torch {OPERATORS['H100']['torch']} | 2 busy CPU cores, torch {OPERATORS['CPU']['torch']} |",
            [
                f"| {what} | {gpu[0]:.1f}, {gpu[1]:.1f} | {cpu[0]:.1f}, {cpu[1]:.1f} |"
                for what, gpu, cpu in OTHERS["operator rows"]
            ],
        ),
        Sentence(
            f"on the GPU's machine of {OPERATORS['H100']['date']}, on the CPU of {OPERATORS['CPU']['date']}"
        ),
        Sentence(
            f"costs {between(OPERATORS['CPU']['by_name'])} of a `custom_op` on that CPU and "
            f"{between(OPERATORS['H100']['by_name'])} on the H100's machine"
        ),
    ],
)

GRADIENT_PAGE = Page(
    [
        Sentence(f"`scratch_bytes` ({n(LEAST_SCRATCH >> 20)} MiB, or"),
        Table(
            "| backward | case | derived | hand-written | `torch.compile` |",
            [
                f"| {row['program']} | {row['case']} | "
                + " | ".join(_milliseconds(row["milliseconds"][side]) for side in (OURS, HAND, COMPILED))
                + " |"
                for row in GRADIENTS["rows"]
                if COMPILED in row["milliseconds"]
            ],
        ),
    ],
)

PORTING = Page(
    [
        Sentence(f"keeps the host {between(HOST['ported'], '')} us busy when it is ported"),
        Sentence(f"and {between(HOST['old'], '')} us before"),
        Sentence(f"up to {n(MAX_EXPLORED)} others of each kernel"),
        Sentence(f"- {n(MAX_PATHS)} paths are followed"),
        Sentence(f"at most {n(MAX_POINTS, ',')} define sets of a launch are tried"),
        Sentence(f"at most {n(MAX_PROVED)} pairs of a folded kernel"),
    ],
)

DEBUGGING = Page(
    [
        Table(
            "| | all is inside | each element is checked |",
            [f"| {what} | {inside:.2f} | {each:g} |" for what, inside, each in OTHERS["checked rows"]],
        ),
        Sentence(f"(`{CHECKED['command']}`, {CHECKED['date']})"),
        Sentence(f"up to {n(CHECKED['cpu']['percent'])} % of the interpreter's time"),
        Sentence(f"{between(CHECKED['cpu']['races_percent'], '')} % are for the warnings"),
        Sentence(f"takes {between(CHECKED['host_us'], '')} microseconds per call"),
    ],
)

OPTIONS = Page(
    [
        Sentence(f"takes {between(IN_C['first_compile_s'], '')} s; once its launches"),
        Sentence(f"with `-O3`, which takes {between(IN_C['compile_s'], '')} s and may happen"),
        Sentence(
            f"addition of {n(IN_C['programs'], ',')} programs took {n(IN_C['interpreter_s'])} s on the "
            f"interpreter and {n(IN_C['c_ms'])} ms as C, both checked, on two busy cores; the first launch "
            f"as C took {n(IN_C['first_launch_s'])} s."
        ),
    ],
    {
        "about 1 ms per program": "an order of magnitude",
        "taken 0.2 s in all": "COMPILATION of runtime/native/processor.py",
    },
)

VERIFIED = Page(
    [
        Sentence(f"a checked kernel takes {between(CHECKED['later']['ratio'])} times as long"),
        Sentence(f"an operator costs {between(OPERATORS['H100']['ratio'])} of a `custom_op`"),
        Sentence(
            f"{n(LAUNCHED['rows'])} rows: {between(LAUNCHED[JIT])} of `@triton.jit`, "
            f"{between(LAUNCHED['torch.add'])} of `torch.add`"
        ),
    ],
)

TRANSLATING = Page(
    [
        Table("| what | measured |", [translation_row(*row) for row in TRANSLATE["rows"]]),
        Sentence(
            f"{TRANSLATE['date']}, {TRANSLATE['machine']}, python {TRANSLATE['python']}, "
            f"torch {TRANSLATE['torch']}, triton {TRANSLATE['triton']}."
        ),
    ],
)

DESCRIPTORS = f"{NINE}tiles through descriptors"
SIMPLE = f"{NINE}defines with the constructor"
KEYWORDS = f"{NINE}the same as keywords, the grid last"
MEASURED = Page(
    [
        Table(
            "| program | case | pytriton | against (ratio, ratio to reach) | error |",
            [table._line(row) for row in PROGRAMS["rows"]],
        ),
        *map(mean, table.means(PROGRAMS)),
        Sentence(
            f"{PROGRAMS['date']}, {PROGRAMS['gpu']} with 16 cores, "
            f"python {PROGRAMS['python']}, torch {PROGRAMS['torch']}, triton {PROGRAMS['triton']}, "
            f"pytriton {PROGRAMS['pytriton']}, commits {' and '.join(PROGRAMS['commits'])}."
        ),
        Sentence(
            f"A descriptor costs a call "
            f"{n(row('launch', DESCRIPTORS)['rates'][OURS] - row('launch', SIMPLE)['rates'][OURS], '.1f')} us more "
            f"({call(DESCRIPTORS)} for {call(SIMPLE)}); 18 defines as keywords cost "
            f"{ratio('launch', KEYWORDS, JIT)} of"
        ),
        Table(
            "| program | case | ratio to the old source in three runs, 0.98 to reach |",
            [
                f"| {row['program']} | {row['case']} | {', '.join(f'{ratio:.3f}' for ratio in row['ratios'])} |"
                for row in OTHERS["ported rows"]
            ],
        ),
        Sentence(
            f"takes it {between(HOST['ported'], '')} us, one of the old package {between(HOST['old'], '')},"
        ),
        Table(
            "| program | case | derived | against (ratio, ratio to reach) |",
            [gradient_row(row) for row in GRADIENTS["rows"]],
        ),
        Table("| what | measured |", [translation_row(*row) for row in TRANSLATE["rows"]]),
        Sentence(
            f"varies: {rate('cross-entropy', THREE_PASSES, COMPILED)} and "
            f"{rate('cross-entropy', IN_PLACE, COMPILED)} GB/s on cross-entropy"
        ),
        Sentence(
            f"took {ratio('tuning', COLD, 'triton.autotune', '.2f')} of `triton.autotune` (18 points of dot"
        ),
        Sentence(
            f"at most {n(REGRET['mean'], '.4f')} (target 1.005) and the worst {n(REGRET['worst'], '.4f')} (target"
        ),
        Sentence(f"gradients, torch.compile: {gradient_mean()}."),
        Sentence(
            f"and {milliseconds('layer norm', '32768 x 4096 half', COMPILED)} ms for the same layer norm in "
            "four runs"
        ),
    ],
)

PAGES: Final = {
    "README.md": README,
    "benchmarks/RESULTS.md": MEASURED,
    "docs/debugging.md": DEBUGGING,
    "docs/gradients.md": GRADIENT_PAGE,
    "docs/inside/translating.md": TRANSLATING,
    "docs/launching.md": LAUNCHING,
    "docs/options.md": OPTIONS,
    "docs/porting.md": PORTING,
    "docs/pytorch.md": PYTORCH,
    "docs/tuning.md": TUNING,
    "docs/verified.md": VERIFIED,
    "docs/playground.md": Page([], {"15 MB": "the size of Pyodide, which tools/playground.py downloads"}),
    "docs/inside/conditions.md": Page(
        [], {"2 % of the values": "of a test, not of a benchmark", "it is 21 %": "of a test"}
    ),
    "docs/errors.md": Page([], {"larger than 1 MiB": "a limit; tests/errors reach it"}),
    "docs/index.md": Page([]),
}

# Pages that are themselves records of runs, or that a test compares with what a command prints.
UNREAD: Final = {
    "benchmarks/RESULTS.md": "the record of the runs; its tables, and what repeats them, are claims",
    "docs/verified.md": "the record of runs, with command, machine, date and commit in each row",
    "docs/mutation.md": "the record of a run of tests/mutation",
    "docs/reliability.md": "the record of runs, with command, machine and date in each row",
    "docs/walk-kernel.md": "tests/test_walks.py compares it with what the commands print",
    "docs/walk-mask.md": "the same",
    "docs/walk-port.md": "the same",
}


def pages() -> list[str]:
    """All that are read for numbers."""
    folders = [ROOT / "docs", *(ROOT / "docs" / name for name in ("inside", "tutorial", "gallery"))]
    found: list[Path] = [ROOT / "README.md", ROOT / "benchmarks" / "RESULTS.md"]
    found += sorted(path for folder in folders for path in folder.glob("*.md"))
    return [path.relative_to(ROOT).as_posix() for path in found]


def main(arguments: list[str]) -> int:
    """The exit status."""
    problems = []
    for name in pages():
        path, page = ROOT / name, PAGES.get(name, Page([]))
        text = path.read_text(encoding="utf-8")
        written, differences = compared(text, page)
        if "--write" in arguments and written != text:
            path.write_text(written, encoding="utf-8")
            differences = compared(written, page)[1]
        if "--uncovered" in arguments:
            differences = [] if name in UNREAD else uncovered(text, page)
        problems += [f"{name}: {difference}" for difference in differences]
    print("\n".join(problems) or "every number is that of its run")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
