"""``python -m tests.mutation``: do the tests notice when the translator is wrong?

Each mutant (mutants.py) is put into a copy of the checkout, and the tests of ``make test`` run there until one
fails: the golden texts; where some differ, what their cases compute, which tells a mutant that only the texts
notice from one that a number shows; else the tests nearest to the edit (near.py), then all the others, then what is
slow of the nearest. So a mutant that is caught costs seconds. Prints a line a mutant, writes the table with
``--write``; exits 1 if one survived.
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
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from json import dumps, loads
from pathlib import Path
from queue import SimpleQueue

from tests.mutation.mutant import Mutant, mutated
from tests.mutation.mutants import MUTANTS
from tests.mutation.near import near

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "mutation.md"
GOLDENS = "tests/translate/test_translate.py"
TEXTS = "tests/translate/test_text.py::test_text"
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

    ``number`` is empty if no other test failed (all ran where the texts are alike, else those that compute the
    cases whose texts differ), and ``None`` if the time was over before.
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
    parser.add_argument(
        "--near", action="store_true", help="only the golden texts and the tests near the edit"
    )
    parser.add_argument("--json", type=Path, help="where the outcomes are kept; those caught there stand")
    parser.add_argument("--write", action="store_true", help="write the table in docs/mutation.md")
    arguments = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if not arguments.names or mutant.name in arguments.names]
    outcomes = [outcome for outcome in _kept(arguments.json) if outcome.mutant in chosen]
    chosen = [mutant for mutant in chosen if mutant not in [outcome.mutant for outcome in outcomes]]
    for outcome in run(
        chosen, arguments.jobs, arguments.timeout, arguments.exclude, everything=not arguments.near
    ):
        outcomes.append(outcome)
        print(_line(outcome), flush=True)
        if arguments.json:
            arguments.json.write_text(dumps([asdict(one) for one in outcomes], indent=1))
    outcomes.sort(key=lambda outcome: MUTANTS.index(outcome.mutant))
    print(_summary(outcomes))
    if arguments.write:
        head = PAGE.read_text().split("| mutant |")[0]
        PAGE.write_text(head + table(outcomes) + _recorded())
    return 0 if all(outcome.caught for outcome in outcomes) else 1


def _kept(path: Path | None) -> list[Outcome]:
    """What an earlier run found caught; a mutant that is written otherwise now counts as new."""
    earlier = loads(path.read_text()) if path and path.exists() else []
    outcomes = [Outcome(**{**one, "mutant": Mutant(**one["mutant"])}) for one in earlier]
    return [outcome for outcome in outcomes if outcome.caught]


class Copy:
    """A copy of the checkout, and a process in it that runs pytest again and again (zygote.py)."""

    def __init__(self, path: Path, exclude: list[str], timeout: float) -> None:
        shutil.copytree(ROOT, path, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        self.path, self.timeout = path, timeout
        self._less = [f"--deselect={one}" for one in exclude]
        self._output = path / "output-of-pytest"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.mutation.zygote"],
            cwd=path,
            env={**os.environ, "PYTHONPATH": _path(path), "CI": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def first_failure(self, *arguments: str) -> str | None:
        """The first test that fails; "" if all pass, None if there was not enough time."""
        failed = self.failures("-x", *arguments)
        return failed if failed is None else (*failed, "")[0]

    def failures(self, *arguments: str) -> list[str] | None:
        """The tests that fail; None if there was not enough time."""
        plain = ["-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-W", "ignore"]
        asked = {"arguments": [*plain, *self._less, *arguments], "output": str(self._output)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(dumps({**asked, "timeout": self.timeout}), file=self._process.stdin, flush=True)
        status = loads(self._process.stdout.readline())
        if status in (0, None):
            return [] if status == 0 else None
        found = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", self._output.read_text(), re.MULTILINE)
        return found or [f"pytest ended with {status}"]

    def close(self) -> None:
        self._process.communicate()


def run(
    mutants: list[Mutant], jobs: int, timeout: float, exclude: list[str], *, everything: bool
) -> Iterator[Outcome]:
    """The outcome of each mutant, in the order in which they end; ``jobs`` of them at once."""
    if not mutants:
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mutation-")))
        copies: SimpleQueue[Copy] = SimpleQueue()
        for job in range(min(jobs, len(mutants))):
            copy = Copy(folder / str(job), exclude, timeout)
            stack.callback(copy.close)
            copies.put(copy)
        broken = copy.first_failure("--collect-only", "tests")
        if broken != "":
            raise SystemExit(f"without any mutant, this cannot be collected: {broken}")

        def one(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                return _outcome(mutant, copy, everything=everything)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            for done in as_completed([pool.submit(one, mutant) for mutant in mutants]):
                yield done.result()


def _outcome(mutant: Mutant, copy: Copy, *, everything: bool) -> Outcome:
    path = copy.path / mutant.path
    sound = path.read_text()
    path.write_text(mutated(mutant, copy.path))
    start = time.monotonic()
    try:
        texts = copy.failures(TEXTS)
        cases = re.findall(r"::test_text\[([^]]+)]", " ".join(texts or ()))
        close = near(mutant.path)
        number = (
            copy.first_failure(*(f"{GOLDENS}::test_computes[cpu-{case}]" for case in cases)) if cases else ""
        )
        for tests in () if cases else close:
            number = number if number != "" else copy.first_failure(tests, f"--deselect={TEXTS}")
        if everything and number == "" and texts == []:
            folder = copy.path / "tests"
            others = sorted(f"tests/{one.name}" for one in folder.iterdir() if _is_test(one))
            number = copy.first_failure(*others, *(f"--deselect={one}" for one in (TEXTS, *close)))
            if number == "":  # samples of large matrices did not see it
                number = copy.first_failure("--slow", "-m", "slow", *close)
    finally:
        path.write_text(sound)
    return Outcome(mutant, texts != [], number, time.monotonic() - start)


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_") if path.is_file() else any(path.glob("test_*.py"))


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
    return f"{caught} of {len(outcomes)} mutants caught ({share}), {numbers} of them without the golden files"


def table(outcomes: list[Outcome]) -> str:
    """The outcomes as a table in Markdown."""
    rows = [
        "| mutant | where | what it changes | golden files | first other test that fails | s |",
        "|" + "---|" * 6,
    ]
    for outcome in outcomes:
        mutant = outcome.mutant
        other = f"`{outcome.number.removeprefix('tests/')}`" if outcome.number else "none"
        text = "differ" if outcome.text else "alike"
        where = mutant.path.removeprefix("pytriton/")
        rows.append(
            f"| {mutant.name} | {where} | {mutant.breaks} | {text} | {other} | {outcome.seconds:.0f} |"
        )
    missed = [outcome.mutant.name for outcome in outcomes if not outcome.caught]
    return "\n".join([*rows, "", f"{_summary(outcomes)}. Missed: {', '.join(missed) or 'none'}.", ""])


def _recorded() -> str:
    """When and of which commit the table is."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return f"\nRecorded on {datetime.now(UTC):%Y-%m-%d} at commit {commit or 'unknown'}.\n"


if __name__ == "__main__":
    raise SystemExit(main())
