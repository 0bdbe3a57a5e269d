"""How contenders are checked, tuned and timed; used by every file of rows.

A *contender* computes one result in one way. `compare` runs each once on poisoned memory, checks it against
a reference, and times all that are right in turns (A B C, B C A, ...), so that they share clocks and
temperature: each figure is a median of medians of `triton.testing.do_bench`, which clears the level-2 cache
before each launch. A contender that fails is named in its row; only ours failing fails the row. On the CPU
(smoke runs) everything is run and checked, nothing timed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import triton
from torch._functorch import config as functorch

import pytriton

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

OURS = "pytriton"
SHORT = 0.03  # milliseconds; medians of one shorter run were seen 7 % apart

Result = torch.Tensor | tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Settings:
    """What a run asks of all rows: `smoke` is tiny sizes on the CPU, `quick` fewer sizes and rounds."""

    smoke: bool = False
    quick: bool = False

    @property
    def device(self) -> str:
        return "cpu" if self.smoke else "cuda"

    @property
    def rounds(self) -> int:
        return 2 if self.quick else 3

    def sizes(self, usual: Sequence[Any], quick: Sequence[Any], smoke: Sequence[Any]) -> Sequence[Any]:
        """The list for this run."""
        return smoke if self.smoke else quick if self.quick else usual

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function under torch.compile; as it is in a smoke run, where there may be no compiler."""
        return function if self.smoke else torch.compile(function, dynamic=False)


@dataclass
class Contender:
    """One way to compute a result. `run` gives it back.

    `target`: how many times as fast ours should be, None where nothing is asked. `out` is memory that `run`
    fills; `reset` is called before the check; `chosen` says what tuning took.
    """

    name: str
    run: Callable[[], Result]
    target: float | None = None
    out: Result = ()
    reset: Callable[[], object] = lambda: None
    chosen: Callable[[], str] = str


@dataclass
class Row:
    """One line of the table; `amount` is the work of one run: bytes (unit GB/s) or operations (TFLOP/s)."""

    program: str
    case: str
    contenders: Sequence[Contender]
    want: Result
    tolerance: float
    amount: float
    unit: str
    ceiling: float | None = None  # a measured rate of which ours is shown as a share
    ceiling_target: float | None = None
    scaled: Mapping[str, float] = field(default_factory=dict)  # the time of a contender counts so many times


def relative_error(got: torch.Tensor, want: torch.Tensor) -> float:
    """|got - want| / |want| in the Frobenius norm, in double, a slice at a time; NaN where one has a NaN."""
    if got.shape != want.shape:
        raise AssertionError(f"the result has shape {tuple(got.shape)}, not {tuple(want.shape)}")
    difference = total = 0.0
    slices = zip(got.detach().flatten().split(1 << 26), want.flatten().split(1 << 26), strict=True)
    for part, exact in slices:
        exact = exact.double()
        difference += float((part.double() - exact).square().sum())
        total += float(exact.square().sum())
    return (difference / total) ** 0.5 if total else difference


def milliseconds(run: Callable[[], object], rep: int = 30) -> float:
    """The median time of a run on the GPU, with a cold level-2 cache."""
    from triton.testing import do_bench

    return float(do_bench(run, warmup=5, rep=rep, return_mode="median"))


def compare(row: Row, settings: Settings) -> dict[str, Any]:
    """Check and time a row; raises what our own contender raises."""
    errors: dict[str, float] = {}
    failed: dict[str, str] = {}
    for contender in row.contenders:
        try:
            errors[contender.name] = _checked(contender, row)
        except Exception as error:
            if contender.name == OURS:
                raise
            failed[contender.name] = first_line(error)
    alive = [contender for contender in row.contenders if contender.name in errors]
    times = {} if settings.smoke else _in_turns(alive, settings.rounds)
    for name, factor in row.scaled.items():
        if name in times:
            times[name] *= factor
    scale = 1e-9 if row.unit == "TFLOP/s" else 1e-6  # 1e12 or 1e9 a second, of milliseconds
    rates = {name: row.amount * scale / time for name, time in times.items()}
    result = {
        "program": row.program,
        "case": row.case,
        "unit": row.unit,
        "milliseconds": times,
        "rates": rates,
        "ratios": {name: times[name] / times[OURS] for name in times if name != OURS},
        "targets": {each.name: each.target for each in row.contenders if each.target is not None},
        "errors": errors,
        "failed": failed,
        "chosen": {each.name: text for each in alive if (text := each.chosen())},
    }
    if row.ceiling and times:
        result["share"] = rates[OURS] / row.ceiling
        result["share_target"] = row.ceiling_target
    return result


def printed(rows: Iterable[Row], settings: Settings) -> tuple[list[dict[str, Any]], int]:
    """Check and time rows, with a line for each; the results, and in how many rows ours failed."""
    results, wrong = [], 0
    for row in rows:
        try:
            results.append(compare(row, settings))
        except Exception as error:
            wrong += 1
            print(f"{row.program:20} {row.case:34} failed: {first_line(error)}", flush=True)
        else:
            print(_line(results[-1]), flush=True)
    return results, wrong


def parsed(module: str, doc: str, names: Sequence[str]) -> argparse.Namespace:
    """What ``python -m benchmarks.<module>`` is asked: ``smoke``, ``quick``, ``only`` of these names, ``json``."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{module}", description=doc.partition("\n")[0]
    )
    parser.add_argument("--smoke", action="store_true", help="tiny sizes on the CPU, checked and not timed")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds")
    parser.add_argument("--only", nargs="+", choices=names, default=list(names))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows here, too")
    functorch.donated_buffer = False  # torch.compile's backward runs again
    torch.manual_seed(0)
    return parser.parse_args()


def keep(rows: Sequence[dict[str, Any]], path: Path | None) -> None:
    """Write them as JSON, with the date and the machine, if there is a path."""
    if path is not None:
        report = {"date": datetime.date.today().isoformat(), **machine(), "rows": rows}
        path.write_text(json.dumps(report, indent=1) + "\n")


def _line(result: dict[str, Any]) -> str:
    start = f"{result['program']:20} {result['case']:34}"
    if not result["milliseconds"]:
        return f"{start} right ({', '.join(result['errors'])}){_failed(result)}"
    others = "   ".join(
        f"{name} {time:8.3f} ms ({result['ratios'][name]:.2f}"
        + (f" of {result['targets'][name]:.2f})" if name in result["targets"] else ")")
        for name, time in result["milliseconds"].items()
        if name != OURS
    )
    mine = result["milliseconds"][OURS]
    return f"{start} {mine:8.3f} ms {result['rates'][OURS]:7.0f} {result['unit']:8} {others}{_failed(result)}"


def _failed(result: dict[str, Any]) -> str:
    return "".join(f"   {name} failed: {why}" for name, why in result["failed"].items())


def machine() -> dict[str, str]:
    """What the figures depend on."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return {
        "gpu": gpu,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "pytriton": pytriton.__version__,
    }


def first_line(error: BaseException) -> str:
    """What went wrong, in one line that fits a table."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:160]


def _tensors(result: Result) -> tuple[torch.Tensor, ...]:
    return (result,) if isinstance(result, torch.Tensor) else tuple(result)


def _checked(contender: Contender, row: Row) -> float:
    """The relative error of a contender on poisoned memory (the largest of several results); tunes it first."""
    for tensor in _tensors(contender.out):
        tensor.fill_(float("nan"))
    contender.reset()
    pairs = zip(_tensors(contender.run()), _tensors(row.want), strict=True)
    errors = [relative_error(got, want) for got, want in pairs]
    for error in errors:
        if not error <= row.tolerance:
            raise AssertionError(f"relative error {error:.2e}, allowed {row.tolerance:.1e}")
    return max(errors)


def _in_turns(contenders: Sequence[Contender], rounds: int) -> dict[str, float]:
    """The median of so many rounds; of more where runs are short."""
    times: dict[str, list[float]] = {each.name: [] for each in contenders}
    if min(milliseconds(each.run) for each in contenders) < SHORT:
        rounds *= 5
    for turn in range(rounds):
        at = turn % len(contenders)
        for each in [*contenders[at:], *contenders[:at]]:
            times[each.name].append(milliseconds(each.run))
    return {name: statistics.median(found) for name, found in times.items()}


def ours(kernel: Any, call: Callable[[], object], out: Result, shown: Sequence[str] = ()) -> Contender:
    """Our contender: `call` launches `kernel`, which writes `out`; `shown` are the defines worth naming."""

    def run() -> Result:
        call()
        return out

    def chosen() -> str:
        config = kernel.best_config
        if config is None:
            return ""
        words = [f"{name}={config.defines[name]}" for name in shown if name in config.defines]
        words += [f"num_warps={config.num_warps}", f"num_stages={config.num_stages}"]
        words += [f"swizzle={config.swizzle}"] * bool(config.swizzle)
        words += [f"precision={config.precision}"] * (config.precision != "ieee")
        return " ".join(words)

    return Contender(OURS, run, None, out, chosen=chosen)
