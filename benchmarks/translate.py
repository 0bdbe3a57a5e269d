"""How long translating takes, and how long a call that was made before takes until its launch.

Everything here runs without a GPU. Words: *fresh* is a new Python process in which torch and triton
cannot be imported, and the bytecode is there, as after pip; *cold* is a text that this process has
never seen (a comment differs), *warm* the same text and defines again; a *further point* is the same
text with other tile sizes. The generated kernels are what long Triton-C kernels look like: stages of
masked loads, reductions, arithmetic, loops and conditions, with comments and directives between.

All of these translate for one set of defines, as a launch does. *As a module for other sizes* is
``pytriton.translate``, which also asserts its conditions.

    python -m benchmarks.translate [--json FILE]
    python -m benchmarks.translate --against CHECKOUT [--sources FILE]

The second command compares with the translator of another checkout, as of an earlier commit: ``pytriton.translate``
of all sources of this repository (benchmarks/sources.py; ``--sources`` keeps them for the next time). Each checkout
has one process. They translate each source in turn, so that what else the machine does meets both.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.sources import ROOT, Case, all_cases

sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

HEADER = """#define CLAMP(x, low, high) min(max(x, low), high)
#define ROWS rm[:, newaxis]
#define COLUMNS rn[newaxis, :]

__global__ void stages(TYPE *X __noalias __readonly __aligned(16),
                       TYPE *Y __noalias __aligned(16),
                       float scale,
                       int M, int N, int K,
                       int ldx __multipleof(8),
                       int ldy __multipleof(8)) {
  // this program's rows and columns
  int pm = get_program_id(0);
  int pn = get_program_id(1);
  int rm[TM] = pm * TM + 0 ... TM;
  int rn[TN] = pn * TN + 0 ... TN;
  float acc[TM, TN] = 0;
  TYPE *px[TM, TN] = X + ROWS * ldx + COLUMNS;
"""

STAGE = """
  // stage @: load, normalise every row, accumulate
  bool inside@[TM, TN] = ROWS < M && COLUMNS + @ < N;
  float x@[TM, TN] = inside@ ? *(px + @) : 0;
#if SCALED
  x@ *= scale;
#else
  x@ = CLAMP(x@, -1.0, 1.0);
#endif
  float top@[TM] = x@[:, max];
  float e@[TM, TN] = exp(x@ - top@[:, newaxis]);
  float sum@[TM] = e@[:, +];
  e@ = e@ / sum@[:, newaxis];
  for (int k = 0; k < K; k += 4) {
    e@ = e@ * 0.5 + x@ * scale;
    if (k > 16 * @)
      acc -= e@;
  }
  acc += (e@ > 0.25) ? sqrt(e@) : e@ * e@;
"""

FOOTER = """
  // epilogue
  TYPE *py[TM, TN] = Y + ROWS * ldy + COLUMNS;
  bool check[TM, TN] = ROWS < M && COLUMNS < N;
  *?(check) py = acc;
}
"""

# Runs in a fresh process: one import, one translation, without torch and triton.
FRESH = """
import json, sys, time
source, defines = json.load(sys.stdin)
sys.modules["torch"] = sys.modules["triton"] = None
start = time.process_time()
import pytriton
imported = time.process_time()
from pytriton.pipeline import Settings, translate_as
translate_as(source, defines, Settings())
done = time.process_time()
json.dump([(imported - start) * 1e3, (done - imported) * 1e3], sys.stdout)
"""

# Runs in a fresh process: one translation, and the peak of its memory before and behind it.
PEAK = """
import json, re, sys
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]) / 1e3
source, defines = json.load(sys.stdin)
sys.modules["torch"] = sys.modules["triton"] = None
before = peak()
from pytriton.pipeline import Settings, translate_as
translate_as(source, defines, Settings())
json.dump([before, peak()], sys.stdout)
"""

# Translates each case that it reads, and answers the milliseconds; null where it is refused.
SERVED = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
sys.modules["torch"] = sys.modules["triton"] = None
import pytriton
for line in sys.stdin:
    source, defines, kernel, strict_literals = json.loads(line)
    start = time.process_time()
    try:
        pytriton.translate(source, defines, kernel=kernel, strict_literals=strict_literals)
        took = (time.process_time() - start) * 1e3
    except pytriton.CompileError:
        took = None
    print(json.dumps(took), flush=True)
"""

GENERATED_DEFINES = {"TYPE": "half", "TM": 32, "TN": 64, "SCALED": True}


def generated(lines: int) -> str:
    """A kernel of about so many lines."""
    count = round((lines - HEADER.count("\n") - FOOTER.count("\n")) / STAGE.count("\n"))
    stages = (STAGE.replace("@", str(number)) for number in range(count))
    return HEADER + "".join(stages) + FOOTER


def dot_text() -> tuple[str, dict[str, Any]]:
    """The classic dot of examples/dot.py (read as text: importing it would import torch)."""
    module: dict[str, Any] = {}
    text = (ROOT / "examples" / "dot.py").read_text()
    exec(text[text.index("SOURCE = ") : text.index("TILES: ")], module)
    defines = {"TYPE": "half", "AT": False, "BT": False, **module["A_PLAIN"], **module["B_PLAIN"]}
    return module["SOURCE"], defines | {"TM": 64, "TN": 64, "TK": 16}


def milliseconds(action: Callable[[], object], repeat: int) -> float:
    """The median processor time of an action: what else the machine does counts little."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return statistics.median(times) * 1e3


def child(program: str, given: object, **environment: str) -> Any:
    """What a program that reads and writes JSON answers in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    return json.loads(done.stdout)


def fresh_process(repeat: int = 7) -> tuple[float, float]:
    """Milliseconds to import pytriton, and to translate dot for the first time."""
    with tempfile.TemporaryDirectory() as bytecode:
        kept = {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
        child(FRESH, dot_text(), **kept)  # writes it
        runs = [child(FRESH, dot_text(), **kept) for _ in range(repeat)]
    imports, translations = zip(*runs, strict=True)
    return statistics.median(imports), statistics.median(translations)


def peak(source: str) -> tuple[float, float]:
    """The most memory, in MB, that a fresh process has had before and behind the translation of a generated
    kernel; Linux only."""
    before, behind = child(PEAK, (source, GENERATED_DEFINES))
    return before, behind


def translate(source: str, defines: dict[str, Any]) -> None:
    """Translate for one set of defines, as a launch does."""
    from pytriton.pipeline import Settings, translate_as

    translate_as(source, defines, Settings())


def cold(source: str, defines: dict[str, Any], repeat: int) -> float:
    """Milliseconds for a text that was never seen: a comment makes every one another."""
    fresh = itertools.count()
    return milliseconds(lambda: translate(f"// {next(fresh)}\n{source}", defines), repeat)


def module(source: str, defines: dict[str, Any], repeat: int) -> float:
    """Milliseconds for the module of a text that was never seen, whose sizes stay parameters."""
    import pytriton

    fresh = itertools.count()
    return milliseconds(lambda: pytriton.translate(f"// module {next(fresh)}\n{source}", defines), repeat)


def warm(source: str, defines: dict[str, Any], repeat: int) -> float:
    """Milliseconds for the very same call again."""
    translate(source, defines)
    return milliseconds(lambda: translate(source, defines), repeat)


def further_point(source: str, defines: dict[str, Any]) -> float:
    """Milliseconds per point of a sweep of 27 tiles, the first left out; each sweep is of a text of its own."""
    sizes = ([32, 64, 128], [32, 64, 128], [8, 16, 32])
    points = [dict(zip(("TM", "TN", "TK"), point, strict=True)) for point in itertools.product(*sizes)]
    rest = [defines | point for point in points if not point.items() <= defines.items()]
    times = []
    for number in range(5):
        text = f"// sweep {number}\n{source}"
        translate(text, defines)
        times.append(milliseconds(lambda: [translate(text, d) for d in rest], 1) / len(rest))  # noqa: B023
    return statistics.median(times)


def repeated_call() -> dict[str, float]:
    """Microseconds of a call whose defines are known, from the call to the launch, which is left out.

    CPU tensors; the interpreter's ``run``, the last step of such a launch, is replaced by nothing.
    """
    import dot as classic
    import matmul_grouped as grouped
    import torch

    from pytriton.runtime.interpret.interpreter import Interpreted

    n = 128
    a, b, c = torch.zeros(3, n, n)
    text = classic.text_defines(a.dtype, at=False, bt=False)
    one = {**text, "TM": 32, "TN": 32, "TK": 16}
    swept = {**text, **classic.TILES}
    kernel = grouped.kernel_for(a.dtype, a.device)

    def tiles(opt: Any) -> tuple[int, int]:
        return n // opt.TM, n // opt.TN

    def dot(defines: dict[str, Any]) -> None:
        classic.kernel(a, b, c, n, n, n, n, n, n, grid=tiles, defines=defines, num_warps=4)

    calls: dict[str, Callable[[], object]] = {
        f"9 arguments, {len(one)} defines with the call (dot)": lambda: dot(one),
        "the same, three of them lists": lambda: dot(swept),
        "11 arguments, defines with the constructor (grouped matmul)": lambda: kernel(
            a, b, c, n, n, n, n, 1, n, 1, n, grid=lambda opt: (n // opt.TM * (n // opt.TN),)
        ),
    }
    run = Interpreted.run
    Interpreted.run = lambda *_: None  # type: ignore[method-assign]
    try:
        for call in calls.values():
            call()
        return {name: milliseconds(call, 3000) * 1e3 for name, call in calls.items()}
    finally:
        Interpreted.run = run  # type: ignore[method-assign]


class Served:
    """The translator of a checkout, in a process of its own."""

    def __init__(self, checkout: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVED],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout)},
        )

    def milliseconds(self, case: Case) -> float | None:
        """The processor time of one translation; None where the source is refused."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(case), file=self._process.stdin, flush=True)
        took: float | None = json.loads(self._process.stdout.readline())
        return took

    def end(self) -> None:
        self._process.communicate()


def compared(cases: list[Case], other: Path, repeat: int) -> list[tuple[Case, float, float]]:
    """The cases that both checkouts accept: the least milliseconds of this one and of the other one."""
    served = Served(ROOT), Served(other)
    rows = []
    for side in served:
        side.milliseconds(cases[0])  # loads the grammar
    for place, case in enumerate(cases):
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(repeat):
            unseen = case._replace(source=f"// {place} {number}\n{case.source}")
            for side, kept in zip(served, times, strict=True):
                took = side.milliseconds(unseen)
                kept += [] if took is None else [took]
        if all(times):
            rows.append((case, min(times[0]), min(times[1])))
    for side in served:
        side.end()
    return rows


def comparison(rows: list[tuple[Case, float, float]]) -> str:
    """The two numbers that count, and the cases of the largest ratios."""
    own, others = sum(row[1] for row in rows), sum(row[2] for row in rows)
    median = statistics.median(row[1] / row[2] for row in rows)
    lines = [
        f"{len(rows)} sources: {own:.0f} ms here, {others:.0f} ms there",
        f"ratio of the sums {own / others:.3f}, median ratio {median:.3f}",
    ]
    for case, here, there in sorted(rows, key=lambda row: row[2] / row[1])[:10]:
        lines.append(f"{here / there:.2f}: {here:.1f} ms, {there:.1f} ms: {case.source.strip()[:60]!r}")
    return "\n".join(lines)


def measure() -> list[tuple[str, float, str]]:
    """Every row of the table: what, how much, unit."""
    imported, first = fresh_process()
    source, defines = dot_text()
    cold(source, defines, 1)  # loads the grammar: later texts find it
    rows = [
        ("fresh process: import pytriton", imported, "ms"),
        ("fresh process: first translation (dot)", first, "ms"),
        ("fresh process: both", imported + first, "ms"),
        (f"dot ({source.count(chr(10))} lines), cold", cold(source, defines, 15), "ms"),
        ("dot, warm", warm(source, defines, 50), "ms"),
        ("dot, a further point of a sweep", further_point(source, defines), "ms"),
        ("dot, as a module for other sizes", module(source, defines, 15), "ms"),
    ]
    for lines, repeat in ((200, 9), (1000, 3), (3000, 3), (5000, 3)):
        text = generated(lines)
        took, actual = cold(text, GENERATED_DEFINES, repeat), text.count("\n")
        what = f"generated kernel of {actual} lines"
        rows.append((f"{what}, cold", took, "ms"))
        rows.append((f"{what}, cold, per line", took / actual * 1e3, "µs"))
    before, behind = peak(text)
    rows.append((f"{what}: peak memory of a fresh process", behind, "MB"))
    rows.append((f"{what}: more than the interpreter alone", behind - before, "MB"))
    rows += [
        (f"known defines, from the call to the launch: {name}", took, "µs")
        for name, took in repeated_call().items()
    ]
    return rows


def processor() -> str:
    """The name of this machine's processor, and how many there are."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report here, too")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare with its translator")
    parser.add_argument("--sources", type=Path, metavar="FILE", help="where the sources are kept")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="times per source (5)")
    options = parser.parse_args()
    if options.against:
        print(comparison(compared(all_cases(options.sources), options.against.resolve(), options.repeat)))
        return
    rows = measure()
    report = {
        "date": datetime.date.today().isoformat(),
        "machine": processor(),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in ("torch", "triton")},
        "rows": rows,
    }
    versions = ", ".join(f"{name} {report[name]}" for name in ("python", "torch", "triton"))
    told = f"{report['date']}, {report['machine']}, {versions}"
    print(f"{told}; medians of processor time.\n\n| what | measured |\n|---|---|")
    for what, value, unit in rows:
        print(f"| {what} | {value:.{1 if value < 100 else 0}f} {unit} |")
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
