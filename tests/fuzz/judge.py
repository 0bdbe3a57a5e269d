"""One program before all judges, and what came of it.

``ok``: all agree (``undecided``: an integer or a branch hangs on the last digits of a float, nobody was asked;
``strays as the text does``: a dead load past an end stayed, as where a store keeps a loop from being undone).
``refused``: the translator refused a legal text (its code says at what). ``undefined``: the evaluator found
undefined behaviour, which the generator should not have made (or the checker did). ``differs``: two judges left
different memory. ``crashed``: an exception that is no finding of the translator.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytriton.errors import CompileError, PytritonError
from tests.fuzz.choices import Replayed, shrunk
from tests.fuzz.kernels import Options, generate
from tests.oracle.arithmetic import GPU
from tests.oracle.evaluator import ROUNDING, Undefined
from tests.oracle.judges import (
    OUTSIDE,
    Case,
    Difference,
    checked,
    compare,
    emitted,
    evaluated,
    made,
    misjudged,
    text_of,
    with_ones,
    without_passes,
)
from tests.oracle.memory import Memory

__all__ = ["Verdict", "judged", "reduced"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a program; ``detail`` tells failures of one kind apart."""

    kind: str
    detail: str = ""
    message: str = ""

    @property
    def ok(self) -> bool:
        return self.kind == "ok"

    def alike(self, other: Verdict) -> bool:
        """Whether two failures look like one fault."""
        return (self.kind, self.detail) == (other.kind, other.detail)


def judged(case: Case, *, plain: bool = True, device: str = "cpu") -> Verdict:
    """The verdict on one program; ``plain`` asks the module without passes too.

    On a GPU (``device="cuda"``) floats may stray as far as language.md lets them (fused products, 2 ulp).
    """
    try:
        tree = checked(case.source, case.defines, case.strict)
        unlike = misjudged(tree, case.exact)
        if unlike:
            return Verdict("differs", "types", "the checker has another type: " + ", ".join(unlike))
        memory = evaluated(case, tree)
    except CompileError as error:
        return Verdict("refused", error.diagnostics[0].code, str(error))
    except Undefined as error:
        if ROUNDING in str(error):
            return Verdict("ok", "undecided")
        return Verdict("undefined", str(error).split(":")[0], str(error))
    except Exception as error:
        return Verdict("crashed", f"evaluator: {type(error).__name__}", traceback.format_exc(limit=-4))
    if device != "cpu":
        try:
            memory = evaluated(case, tree, rules=GPU)
        except Undefined:
            return Verdict("ok", "undecided")
        return _emitted(case, memory, device, device=device)[0]
    verdict, text = _emitted(case, memory, "emitted module")
    if memory.strayed and OUTSIDE in verdict.message:
        # the text itself loads past an end and throws that away, and the loop could not be undone
        verdict, text = _emitted(case, memory, "emitted module", False)
        if verdict.ok:
            verdict = Verdict("ok", "strays as the text does")
    if verdict.ok and plain:
        with without_passes():
            other, _ = _emitted(case, memory, "module without passes", not memory.strayed, known=text)
        verdict = verdict if other.ok else other
    if verdict.ok and any(argument == 1 for argument in case.arguments):
        with with_ones():
            other, _ = _emitted(case, memory, "module with ones as constants", not memory.strayed)
        return verdict if other.ok else other
    return verdict


def _emitted(
    case: Case, memory: Memory, who: str, watch: bool = True, device: str = "cpu", known: str = ""
) -> tuple[Verdict, str]:
    """What the module does, and its text; one like ``known``, which did right, is not run again."""
    text = ""
    try:
        kernel = made(case)
        text = text_of(kernel)
        if _unlike(text, known):
            found = emitted(case, kernel, watch=watch, barriers=not known, device=device)
            compare(case, memory, found, who)
        return Verdict("ok"), text
    except Difference as error:
        return Verdict("differs", who, str(error)), text
    except PytritonError as error:
        return _refused(str(error), who), text
    except Exception as error:
        return Verdict("crashed", f"{who}: {type(error).__name__}", traceback.format_exc(limit=-4)), text


def _unlike(text: str, known: str) -> bool:
    """Whether two modules differ in more than barriers, which are nothing to the interpreter."""
    rows, others = (
        [row for row in module.splitlines() if row and not row.endswith("tl.debug_barrier()")]
        for module in (text, known)
    )
    return rows != others


def _refused(text: str, who: str) -> Verdict:
    code = text[text.find("[TC") :][:7] if "[TC" in text else ""
    _, stopped, why = text.partition("interpreter stopped:")
    detail = "".join(ch for ch in why.split("[TC")[0] if not ch.isdigit()).strip() if stopped else ""
    return Verdict("refused", f"{code} {detail}".strip()[:70], f"{who}: {text}")


def reduced(
    row: Sequence[int], options: Options, device: str = "cpu", most: int = 1500
) -> tuple[Case, Verdict]:
    """The smallest program found that fails as the program of this row does."""
    first = judged(generate(Replayed(row), options), device=device)
    plain = "without passes" in first.message or "without passes" in first.detail

    def fails(candidate: Sequence[int]) -> bool:
        return judged(generate(Replayed(candidate), options), plain=plain, device=device).alike(first)

    case = generate(Replayed(shrunk(row, fails, most)), options)
    case = _fewer_lines(case, first, plain, device)
    return case, judged(case, plain=plain, device=device)


def _fewer_lines(case: Case, first: Verdict, plain: bool, device: str) -> Case:
    """The case without the lines that do not matter."""
    lines, at = case.source.splitlines(), 1
    for width in (6, 3, 2, 1):
        at = 1
        while at < len(lines):
            fewer = lines[:at] + lines[at + width :]
            smaller = replace(case, source="\n".join(fewer) + "\n")
            if judged(smaller, plain=plain, device=device).alike(first):
                lines, case = fewer, smaller
            else:
                at += 1
    return case
