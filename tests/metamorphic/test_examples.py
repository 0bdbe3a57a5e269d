"""Metamorphic checks on real kernels: a change of a text that means nothing does not move a bit of its results.

Every program in examples/ runs its own wrappers (launches.py); each launch is made again with the text changed
(texts.py): dead code between the statements, names renamed, declarations and compound assignments split, numbers
made defines and defines made numbers, ``for`` written as ``while``, statements in loops of one turn.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest
import torch

import pytriton
from pytriton.errors import CheckError, Report
from pytriton.lang.check.checker import check, kernel_names
from pytriton.lang.parse.parser import parse
from pytriton.lang.preprocess.directives import preprocess
from pytriton.lang.tree.typed import Declare
from pytriton.lang.tree.walk import bodies
from pytriton.settings import Settings
from pytriton.source import Source
from tests.metamorphic.launches import PROGRAMS, Taken, launches
from tests.metamorphic.texts import CHANGES, renamed, tokens

EXAMPLES = Path(__file__).parents[2] / "examples"
ALL = (*CHANGES, "renamed", "all")
FEW = 4  # launches of one program
FEWER = 2  # of those, with one change alone


@cache
def taken(program: str) -> tuple[Taken, ...]:
    """A few launches of a program, those that differ most: other kernels and defines first."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    found = [launch for launch in launches(program) if 0 not in launch.grid]
    seen: dict[str, int] = {}
    order = []
    for launch in found:
        key = f"{launch.kernel} {sorted(launch.defines)}"
        seen[key] = seen.get(key, 0) + 1
        order.append(seen[key])
    return tuple(found[at] for at in sorted(range(len(found)), key=lambda at: (order[at], at))[:FEW])


def names_of(text: str, defines: dict[str, object]) -> set[str]:
    """The names of parameters and variables of all kernels of a text (that these defines are enough for)."""
    report = Report()
    preprocessed = preprocess(Source(text, "example.c"), dict(defines), report)
    tree = parse(preprocessed.tokens, report)
    found: set[str] = set()
    for name in kernel_names(tree):
        try:
            kernel = check(tree, Report(), Settings(name), preprocessed.numbers)
        except CheckError:
            continue
        found |= {symbol.name for symbol in kernel.parameters}
        pending = list(kernel.body)
        while pending:
            statement = pending.pop()
            for inner in bodies(statement):
                pending += inner
            if isinstance(statement, Declare):
                found.add(statement.symbol.name)
    return {name for name in found if name.isidentifier()}


def same(launch: Taken, text: str, defines: dict[str, object], what: str) -> None:
    for number, (got, want) in enumerate(
        zip(launch.again(text, defines, launch.kernel), launch.after, strict=True)
    ):
        assert torch.equal(got, want), f"{what}: buffer {number} differs\n{text}\n{defines}"


def apply(change: str, launch: Taken) -> tuple[str, dict[str, object]]:
    """A text and its defines, changed in one way or in all."""
    changed = launch.text, launch.defines
    if change in ("renamed", "all"):
        changed = renamed(changed, names_of(*changed))
    for name in CHANGES if change == "all" else {change} & {*CHANGES}:
        changed = CHANGES[name](changed)
    return changed


# What "all" does, each change does by itself: a fault is looked for there.
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    "change", [pytest.param(change, marks=[] if change == "all" else pytest.mark.slow) for change in ALL]
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(9)
def test_results_do_not_move(program: str, change: str) -> None:
    assert taken(program)
    for launch in taken(program)[: FEW if change == "all" else FEWER]:
        changed = apply(change, launch)
        if changed != (launch.text, launch.defines):
            same(launch, *changed, change)


@pytest.mark.parametrize("change", ALL)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_texts_are_changed(change: str) -> None:
    """Each change finds something in many programs."""
    found = [launch for program in PROGRAMS for launch in taken(program)]
    changed = [launch for launch in found if apply(change, launch) != (launch.text, launch.defines)]
    assert len(changed) * 2 > len(found)


def test_every_example_is_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*PROGRAMS}


def test_a_wrong_change_is_noticed() -> None:
    """The check can fail: one number more in a store."""
    launch = taken("vector_add")[0]
    text = launch.text.replace("x + y", "x + y + 1")
    assert text != launch.text
    with pytest.raises(AssertionError, match="differs"):
        same(launch, text, launch.defines, "another sum")


def test_tokens_join_again() -> None:
    text = "#define A 1 \\\n 2\nvoid f(int *p) { /* c */ *p = 0...4 + 1.5e-3f; // x\n }\n"
    assert "".join(tokens(text)) == text
    assert "..." in tokens(text)
    assert pytriton.translate("void f(int *p) { *p = 1; }").text
