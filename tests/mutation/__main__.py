"""``python -m tests.mutation``: do the tests notice when the translator is wrong?

Each mutant (mutants.py) is put into a copy of the checkout, and the tests of ``make test`` run there until one
fails: first the golden texts alone, then everything else, so that a mutant which only the texts notice is told from
one that some computed number shows. Prints a line a mutant, writes the table with ``--write``; exits 1 if one
survived.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from json import dumps
from pathlib import Path
from queue import SimpleQueue

from tests.mutation.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "mutation.md"
TEXTS = "tests/translate/test_translate.py::test_text"
# What is quick and near the edits comes first; the rest of tests/ follows.
FIRST = ("passes", "conversions", "translate", "oracle", "fuzz", "programs", "runtime", "errors")
_LEFT_OUT = (
    ".git",
    ".venv",
    ".matrix",
    ".whl",
    ".gpu",
    ".*_cache",
    ".hypothesis",
    "__pycache__",
    "dist",
    "build",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a mutant met: whether the golden texts differ, the first other test that fails, and how long that took.

    ``number`` is empty if every other test passed, and ``None`` if the time was over before.
    """

    mutant: Mutant
    text: bool
    number: str | None
    seconds: float

    @property
    def caught(self) -> bool:
        return self.text or bool(self.number)


def main() -> int:
    """Run the mutants named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="mutants; all if none is named")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="copies that are tested at once")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds for the tests of one mutant")
    parser.add_argument("--exclude", nargs="*", default=[], help="tests that fail here without a mutant, too")
    parser.add_argument("--json", type=Path, help="where to write the outcomes")
    parser.add_argument("--write", action="store_true", help="write the table in docs/mutation.md")
    arguments = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if not arguments.names or mutant.name in arguments.names]
    outcomes = []
    for outcome in run(chosen, arguments.jobs, arguments.timeout, arguments.exclude):
        outcomes.append(outcome)
        print(_line(outcome), flush=True)
        if arguments.json:
            arguments.json.write_text(dumps([asdict(one) for one in outcomes], indent=1))
    outcomes.sort(key=lambda outcome: MUTANTS.index(outcome.mutant))
    print(_summary(outcomes))
    if arguments.write:
        head = PAGE.read_text().split("| mutant |")[0]
        PAGE.write_text(head + table(outcomes))
    return 0 if all(outcome.caught for outcome in outcomes) else 1


def run(mutants: list[Mutant], jobs: int, timeout: float, exclude: list[str]) -> Iterator[Outcome]:
    """The outcome of each mutant, in the order in which they end; ``jobs`` of them at once."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for job in range(min(jobs, len(mutants))):
            copy = Path(folder) / str(job)
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT))
            copies.put(copy)
        broken = _first_failure(copy, ["--collect-only", "tests"], timeout)
        if broken != "":
            raise SystemExit(f"without any mutant, this cannot be collected: {broken}")

        def one(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                return _outcome(mutant, copy, timeout, exclude)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(one, mutants)


def _outcome(mutant: Mutant, copy: Path, timeout: float, exclude: list[str]) -> Outcome:
    path = copy / mutant.path
    sound = path.read_text()
    if sound.count(mutant.old) != 1:
        raise LookupError(f"{mutant.name}: its text does not stand exactly once in {mutant.path}")
    path.write_text(sound.replace(mutant.old, mutant.new))
    start = time.monotonic()
    try:
        text = _first_failure(copy, [TEXTS], timeout) != ""
        tests = [f"tests/{name}" for name in FIRST]
        tests += sorted(
            {f"tests/{one.name}" for one in (copy / "tests").iterdir() if _is_test(one)} - {*tests}
        )
        number = _first_failure(copy, [*tests, *(f"--deselect={one}" for one in (TEXTS, *exclude))], timeout)
    finally:
        path.write_text(sound)
    return Outcome(mutant, text, number, time.monotonic() - start)


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_") if path.is_file() else any(path.glob("test_*.py"))


def _first_failure(copy: Path, arguments: list[str], timeout: float) -> str | None:
    """The first test that fails; "" if all pass, None if there was not enough time. A hanging test fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": _path(copy), "CI": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*command, "-W", "ignore", *arguments],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode == 0:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if found is None:
        return f"pytest ended with {done.returncode}"
    return found[1]


def _path(copy: Path) -> str:
    """The module path of a copy: its own files in front, then what the caller gave, less the checkout itself."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    others = [part for part in given if part and Path(part).resolve() != ROOT]
    return os.pathsep.join([str(copy), *others])


# ---------------------------------------------------------------- what is printed


def _line(outcome: Outcome) -> str:
    by = "time was over" if outcome.number is None else outcome.number or "no number"
    text = "texts differ" if outcome.text else "texts alike"
    verdict = "caught  " if outcome.caught else "SURVIVED"
    return f"{verdict} {outcome.mutant.name:28} {text}; {by}  ({outcome.seconds:.0f} s)"


def _summary(outcomes: list[Outcome]) -> str:
    caught = sum(outcome.caught for outcome in outcomes)
    numbers = sum(bool(outcome.number) for outcome in outcomes)
    share = f"{caught / max(len(outcomes), 1):.0%}"
    return f"{caught} of {len(outcomes)} mutants caught ({share}), {numbers} of them without the golden texts"


def table(outcomes: list[Outcome]) -> str:
    """The outcomes as a table in Markdown."""
    rows = [
        "| mutant | where | what it takes away | golden texts | first other test that fails |",
        "|" + "---|" * 5,
    ]
    for outcome in outcomes:
        mutant = outcome.mutant
        other = f"`{outcome.number.removeprefix('tests/')}`" if outcome.number else "none"
        text = "differ" if outcome.text else "alike"
        rows.append(f"| {mutant.name} | {Path(mutant.path).name} | {mutant.breaks} | {text} | {other} |")
    return "\n".join([*rows, "", _summary(outcomes), ""])


if __name__ == "__main__":
    raise SystemExit(main())
