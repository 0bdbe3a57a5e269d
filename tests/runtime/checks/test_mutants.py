"""Mistakes in the examples and in old packages, hundreds of them: each is reported at its line, none ends a
process.

``oracle.py`` says what a wrong launch reaches outside its tensors. A checked launch must report those lines, leave
the memory between the tensors alone, and give in the tensors what the oracle's run gives. Launches as they are
recorded must report nothing. C must report what the interpreter reports, word by word.
"""

from __future__ import annotations

import contextlib
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from pytriton.errors import CompileError, LaunchError
from pytriton.pipeline import Translation
from pytriton.runtime.checks.memory import Violation, bounds, filled, found_in, inspectable
from pytriton.runtime.compile.load import load
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.launch.candidate import Launch
from pytriton.runtime.native.c_compiler import NoLibrary, find
from pytriton.tuning import compiled
from pytriton.tuning.compiled import with_table
from tests.runtime.checks.mutants import Mutant, mutants_of
from tests.runtime.checks.oracle import Arena, watched
from tests.runtime.checks.recording import QUICK, Recorded, recorded

MIN_MUTANTS = 300  # that reach outside
MAX_PROGRAMS = 200  # of a launch: `make demo` multiplies 512 cubed, in 256
EVERY = 15  # of the mutants of quick programs, one in so many is in a usual run
EVERY_OF_ALL = 5  # of those of all programs, in a slow one
PARTS = 8  # of that run, so that it can be spread
MAX_STATEMENT_LINES = 8


@contextlib.contextmanager
def noted() -> Iterator[dict[int, Violation]]:
    """What the checked launch in the body finds, by site."""
    found: dict[int, Violation] = {}
    plain = compiled.tell

    def tell(violations: Any, *more: Any) -> None:
        found.update(violations)
        plain(violations, *more)

    compiled.tell = tell  # type: ignore[assignment]
    try:
        yield found
    finally:
        compiled.tell = plain


def launched(launch: Recorded, arena: Arena, check: bool) -> str:
    """Launch once; what was raised or warned of accesses outside."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        error = ""
        try:
            launch.made(check)(*arena.arguments, grid=launch.grid)
        except LaunchError as raised:
            error = str(raised)
            if "[TC550]" not in error:
                raise
    told = [str(one.message) for one in caught]
    return "\n".join([error, *(text for text in told if "[TC551]" in text or "[TC556]" in text)])


@contextlib.contextmanager
def interpreter() -> Iterator[None]:
    """Launches run on the interpreter, which is what these tests watch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTRITON_CC", "none")
        yield


def outcome(mutant: Mutant) -> str:
    """``silent``, ``reported``, ``elsewhere`` (in another tensor of the launch) or ``refused`` by other checks."""
    launch = mutant.launch
    oracle, arena = Arena(launch.arguments), Arena(launch.arguments)
    try:
        translation = launch.made().translation()
        with watched(oracle, translation) as wanted, interpreter():
            launched(launch, oracle, False)
    except (CompileError, LaunchError):
        return "refused"  # no program, a promise, a loop without end
    with noted() as found, interpreter():
        said = launched(launch, arena, True)
    assert arena.gaps_are_empty(), mutant
    lines = {violation.site.span.line for violation in found.values()}
    for line in wanted:
        assert any(line <= other < line + MAX_STATEMENT_LINES for other in lines), (str(mutant), line, lines)
    for violation in found.values():
        assert violation.site.span.text.strip()
    assert mutant.mistake != "none" or "[TC556]" not in said, said
    assert bool(re.search(r"TC55[01]", said)) == bool(found)
    if said.strip() and "more accesses are out of bounds" not in said:
        check_cure(mutant, said)
    elsewhere = [v for v in found.values() if any(low <= v.address < end for low, end in arena.ranges)]
    if not elsewhere:
        assert bool(found) == bool(wanted), mutant
        assert arena.contents() == oracle.contents(), mutant
    return "elsewhere" if elsewhere else "reported" if found else "silent"


def check_cure(mutant: Mutant, said: str) -> None:
    """A tensor that is absent or too small is named, with what to do about it."""
    blamed = re.match(r"(None|\d+ elements) for (\w+)", mutant.mistake)
    if blamed is None:
        return
    assert f"'{blamed[2]}'" in said, (str(mutant), said)
    if blamed[1] == "None":
        assert f"help: pass a tensor for '{blamed[2]}'" in said, (str(mutant), said)


def interpreted(made: Translation, decided: Launch, table: list[int]) -> list[int]:
    """Run code for a GPU, its printed helpers too, by the interpreter; what its table holds then."""
    words = torch.tensor(table, dtype=torch.int64)
    whole, _ = with_table(made, decided.specialization)
    values = [*decided.values, words.data_ptr()] if whole is not made else decided.values
    Interpreted(load(whole.function, whole.text), whole.parameters, whole.constexprs).run(
        decided.grid, values
    )
    return list(words.tolist())


def by_table(launch: Recorded, arena: Arena, *, inspected: bool) -> tuple[dict[int, Violation], bool]:
    """What the code for a GPU finds of a launch; whether an inspector found that the plain code may run."""
    plan, bound = launch.made(True)._plan(arena.arguments, None, None, None)._bound(arena.arguments)
    decided = plan._launch_of(bound, arena.arguments, launch.grid)
    if decided is None:
        return {}, False
    text, config, memory = decided.candidate._text, decided.candidate.config, decided.memory
    assert memory is not None
    made, proved = text.translate(config, checked=True), False
    if inspected:
        inspector = text.translate(config, checked=True, part="inspector")
        assert inspector.inspected is not None
        if inspectable(inspector.inspected, inspector.sites, memory):
            proved = interpreted(inspector, decided, bounds(inspector.inspected, memory))[0] == 0
    if proved:
        made = text.translate(config, checked=True, part="executor")
    return found_in(interpreted(made, decided, filled(made.sites, memory)), made.sites), proved


def seen_of(violation: Violation) -> tuple[Any, ...]:
    """What a message can say of a violation, but where in memory it was."""
    ends = violation.lowest - violation.address, violation.highest - violation.address
    several = violation.programs != 1
    return violation.program, violation.element, ends, several, violation.all_outside


def agree(mutant: Mutant, *, inspected: bool) -> tuple[bool, bool]:
    """The code for a GPU finds what that for the CPU finds, and leaves the same memory. Whether it found any;
    whether the plain code ran."""
    launch = mutant.launch
    arena, other = Arena(launch.arguments), Arena(launch.arguments)
    try:
        with noted() as found, interpreter():
            launched(launch, arena, True)
        on_gpu, proved = by_table(launch, other, inspected=inspected)
    except (CompileError, LaunchError):
        return False, False
    counts = {number: violation.count for number, violation in found.items()}
    assert {number: violation.count for number, violation in on_gpu.items()} == counts, mutant
    for number, violation in on_gpu.items():
        assert seen_of(violation) == seen_of(found[number]), mutant
    assert other.contents() == arena.contents(), mutant
    assert other.gaps_are_empty(), mutant
    return bool(found), proved


def usual(launches: tuple[Recorded, ...]) -> list[Recorded]:
    """Those whose pointers are tensors, and that do not take the interpreter too long."""
    short = (one for one in launches if math.prod(one.grid) <= MAX_PROGRAMS)
    return [one for one in short if not any(isinstance(x, int) and x > 1 << 40 for x in one.arguments)]


@pytest.mark.slow
def test_a_sample() -> None:
    mutants = [mutant for launch in usual(recorded(QUICK)) for mutant in mutants_of(launch)]
    outcomes = [outcome(mutant) for mutant in mutants[::EVERY]]
    assert outcomes.count("reported") >= 10


def test_nothing_is_said_of_what_is_right() -> None:
    for launch in usual(recorded(QUICK)):
        assert outcome(Mutant(launch, "none")) == "silent"


@pytest.mark.parametrize("inspected", [False, True], ids=["checked", "inspected"])
@pytest.mark.sampled(2)
def test_a_sample_of_the_code_for_a_gpu(inspected: bool) -> None:
    mutants = [mutant for launch in usual(recorded(QUICK)) for mutant in mutants_of(launch)]
    agreed = [agree(mutant, inspected=inspected) for mutant in mutants[4 :: 3 * EVERY]]
    assert sum(found for found, _ in agreed) >= 3


def same_in_c(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> bool:
    """C says what the interpreter says and leaves the same memory, but for the rounding of products; whether it
    said anything."""
    reports, arenas = [], []
    for compiler in ("none", "cc"):
        with monkeypatch.context() as patch:
            patch.setenv("PYTRITON_CC", compiler)
            arena = Arena(mutant.launch.arguments)
            try:
                reports.append(launched(mutant.launch, arena, True))
            except (CompileError, LaunchError) as error:
                reports.append(str(error).partition("\n")[0])
            assert arena.gaps_are_empty(), mutant
            arenas.append(arena)
    assert reports[1] == reports[0], mutant
    pairs = zip(*(arena.arguments for arena in arenas), strict=True)
    for one, other in pairs:
        if isinstance(one, torch.Tensor):
            torch.testing.assert_close(other, one, equal_nan=True, msg=str(mutant))
    return bool(reports[0].strip())


@pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")
@pytest.mark.slow
def test_a_sample_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    mutants = [mutant for launch in usual(recorded(QUICK)) for mutant in mutants_of(launch)]
    reported = [same_in_c(mutant, monkeypatch) for mutant in mutants[2 :: 2 * EVERY]]
    assert sum(reported) >= 5


@pytest.mark.slow
def test_nothing_is_said_of_any_program() -> None:
    """Neither on the CPU nor by the code for a GPU; of that, nearly all run plain."""
    launches = usual(recorded())
    for launch in launches:
        assert outcome(Mutant(launch, "none")) == "silent", launch.label
        assert agree(Mutant(launch, "none"), inspected=False) == (False, False), launch.label
    doubted = [x.label for x in launches if agree(Mutant(x, "none"), inspected=True) != (False, True)]
    print(f"{len(launches)} launches; those that ran code which checks each element: {doubted}")
    assert len(doubted) <= len(launches) // 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_mutants_of_all_programs(part: int) -> None:
    """Every one on the CPU, by the code for a GPU, and with an inspector before that."""
    mutants = [mutant for launch in usual(recorded()) for mutant in mutants_of(launch)]
    mutants = mutants[::EVERY_OF_ALL][part::PARTS]
    outcomes, plain = Counter[str](), 0
    for mutant in mutants:
        outcomes[outcome(mutant)] += 1
        found, _ = agree(mutant, inspected=False)
        again, proved = agree(mutant, inspected=True)
        assert found == again, mutant
        plain += proved
    print(f"{len(mutants)} mutants: {dict(outcomes)}; {plain} ran the plain code after an inspector")
    assert outcomes["reported"] >= MIN_MUTANTS // PARTS


def test_an_atomic_far_outside_is_not_made() -> None:
    """Nor is what it would have left looked at: no memory need be there."""
    text = "void f(int* x, int n) { atomic_xchg(x + n, 0); }"
    launch = Recorded("far", text, None, {}, ("x", "n"), (torch.ones(4).int(), 1 << 30), (1, 1, 1))
    assert outcome(Mutant(launch, "far")) == "reported"
