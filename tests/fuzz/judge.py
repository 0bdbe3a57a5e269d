"""One program before all judges, and what came of it.

``ok``: all agree (``undecided``: an integer or a branch hangs on the last digits of a float, nobody was asked;
``strays as the text does``: a dead load past an end stayed, as where a store keeps a loop from being undone).
``refused``: the translator refused a legal text (its code says at what). ``undefined``: the evaluator found
undefined behaviour, which the generator should not have made (or the checker did): no verdict, and no failure.
``differs``: two judges left different memory. ``crashed``: an exception that is no finding of the translator.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

import pytriton
from pytriton.errors import CompileError, PytritonError
from tests.fuzz import gcc
from tests.fuzz.c import wrapped
from tests.fuzz.choices import Replayed, shrunk
from tests.fuzz.exact import ExactCase
from tests.fuzz.kernels import Options, generate
from tests.fuzz.native import function_in_c, launched_in_c
from tests.fuzz.plain import Plain
from tests.fuzz.rules import by_name
from tests.oracle.arithmetic import GPU, C
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
    without_passes,
)
from tests.oracle.memory import Memory
from tests.oracle.values import Array

__all__ = ["Verdict", "judged", "reduced"]

RULES = {"cuda": GPU, "c": C}  # of devices that may differ from the interpreter: docs/language.md lists where


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a program; ``detail`` tells failures of one kind apart.

    ``about``: its class (kernels.py), and which judges were asked that not every program is shown to.
    """

    kind: str
    detail: str = ""
    message: str = ""
    about: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.kind == "ok"

    @property
    def failed(self) -> bool:
        """Whether the translation is wrong, as far as is known: a judge without a verdict shows nothing."""
        return self.kind not in ("ok", "undefined")

    def alike(self, other: Verdict) -> bool:
        """Whether two failures look like one fault."""
        return (self.kind, self.detail) == (other.kind, other.detail)


def judged(case: Case, *, plain: bool = True, device: str = "cpu") -> Verdict:
    """The verdict on one program; ``plain`` asks the module without passes too.

    On a GPU (``device="cuda"``) floats may stray as far as language.md lets them (fused products, 2 ulp).
    With ``device="c"`` the program runs on the CPU, by the emitted module and then as C.
    """
    about = [case.about]
    if isinstance(case, ExactCase):
        verdict = _judged_exactly(case, about, plain=plain, device=device)
    else:
        verdict = _judged(case, about, plain=plain, device=device)
    return replace(verdict, about=tuple(about))


def _judged(case: Case, about: list[str], *, plain: bool, device: str) -> Verdict:
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
    if device in RULES:
        try:
            memory = evaluated(case, tree, rules=RULES[device])
        except Undefined:
            return Verdict("ok", "undecided")
    return _modules(case, memory, about, plain=plain, device=device)


def _modules(case: Case, memory: Memory, about: list[str], *, plain: bool, device: str) -> Verdict:
    """The emitted module, under plain ``@triton.jit``, and without passes."""
    if _on_gpu(device):
        verdict, _ = _emitted(case, memory, device, device=device)
        return _exported(case, memory, about, device=device) if verdict.ok else verdict
    verdict, text = _emitted(case, memory, "emitted module")
    if memory.strayed and OUTSIDE in verdict.message:
        # the text itself loads past an end and throws that away, and the loop could not be undone
        verdict, text = _emitted(case, memory, "emitted module", False)
        if verdict.ok:
            verdict = Verdict("ok", "strays as the text does")
    elif verdict.ok:
        exported = _exported(case, memory, about)
        verdict = verdict if exported.ok else exported
    if verdict.ok and device == "c":
        return _native(case, memory, about)
    if verdict.ok and plain:
        with without_passes():
            other, _ = _emitted(case, memory, "module without passes", not memory.strayed, known=text)
        return verdict if other.ok else other
    return verdict


def _judged_exactly(case: ExactCase, about: list[str], *, plain: bool, device: str) -> Verdict:
    """The verdict on a program whose memory is known: gcc, the evaluator and the modules must say the same."""
    verdict = _asked(case, about)
    if not verdict.ok:
        return verdict
    memory = Wanted(case.wanted)
    try:
        tree = checked(case.source, case.defines, case.strict)
        try:
            found = evaluated(case, tree, **({"rules": RULES[device]} if device in RULES else {}))
            memory.errors = [found.contents(at)[1] for at in range(len(case.buffers))]
            _compare(case, memory, [found.contents(at)[0] for at in range(len(case.buffers))], "evaluator")
        except Undefined as error:
            if ROUNDING in str(error) or (case.lenient and _on_gpu(device)):
                return Verdict("ok", "undecided")  # how far a GPU may stray is unknown
            if not case.lenient:
                return Verdict("undefined", str(error).split(":")[0], str(error))
        verdict = _modules(case, memory, about, plain=plain, device=device)
        if verdict.ok and case.first:
            place = device if _on_gpu(device) else "cpu"
            _compare(case, memory, emitted(case, device=place, run=_second(case)), "second launch")
    except CompileError as error:
        return Verdict("refused", error.diagnostics[0].code, str(error))
    except Difference as error:
        return Verdict("differs", "known values", str(error))
    except Exception as error:
        return Verdict("crashed", f"known values: {type(error).__name__}", traceback.format_exc(limit=-4))
    return verdict


def _asked(case: ExactCase, about: list[str]) -> Verdict:
    """Whether gcc has the same values; its absence is noted."""
    question = case.question
    if not question.texts:
        return Verdict("ok")
    whole = [(text, n) for text, n in question.texts if not n.type.floating]
    real = [(text, n) for text, n in question.texts if n.type.floating]
    try:
        answers = gcc.answers(question.before, [text for text, _ in whole], [text for text, _ in real])
    except ValueError as error:
        return Verdict("crashed", "gcc refuses the program", str(error))
    about.append("without gcc" if answers is None else "gcc")
    for (text, number), answer in zip(
        whole + real, (answers and answers[0] + answers[1]) or (), strict=False
    ):
        known = (
            wrapped(int(number.value), by_name("long")) if isinstance(answer, int) else float(number.value)
        )
        if repr(known) != repr(answer):
            return Verdict("differs", "gcc", f"{text} is {answer!r} to gcc, not {known!r}")
    return Verdict("ok")


def _on_gpu(device: str) -> bool:
    return device not in ("cpu", "c")


def _native(case: Case, memory: Memory, about: list[str]) -> Verdict:
    """The program as C: the function alone, and a launch with memory checks."""
    about.append("C")
    for who, run in (("C", function_in_c), ("C with checks", launched_in_c)):
        if who == "C with checks" and memory.strayed:
            continue  # the text itself loads past an end, which the checks report
        try:
            _compare(case, memory, run(case), who)
        except Difference as error:
            return Verdict("differs", who, str(error))
        except PytritonError as error:
            return _refused(str(error), who)
        except Exception as error:
            return Verdict("crashed", f"{who}: {type(error).__name__}", traceback.format_exc(limit=-4))
    return Verdict("ok")


def _second(case: ExactCase) -> Callable[..., None]:
    """Launches one kernel object twice, with the defines of ``first`` and with those of the case."""
    kernel = pytriton.kernel(case.source, strict_literals=case.strict)

    def run(*arguments: object, grid: tuple[int, ...]) -> None:
        kernel(*arguments, grid=grid, **case.first)
        kernel(*arguments, grid=grid, **case.defines)

    return run


class Wanted(Memory):
    """Memory that was known before: some bytes may be anything."""

    def __init__(self, wanted: Sequence[tuple[Array, Array]]) -> None:
        self.wanted, self.strayed = wanted, False
        self.errors = [np.zeros(data.size) for data, _ in wanted]

    def contents(self, index: int) -> tuple[Array, Array]:
        return self.wanted[index][0], self.errors[index]


def _compare(case: Case, memory: Memory, found: Sequence[Array], who: str) -> None:
    if isinstance(memory, Wanted):
        found = [np.where(known, got, data) for got, (data, known) in zip(found, memory.wanted, strict=True)]
    compare(case, memory, found, who)


def _exported(case: Case, memory: Memory, about: list[str], device: str = "cpu") -> Verdict:
    """The exported module under plain ``@triton.jit``, where that makes something else of an argument."""
    who = "plain @triton.jit"
    try:
        kernel = made(case)
        run = Plain(case, kernel)
        if run.translation.buffers or not any(run.changed(case.arguments)):
            return Verdict("ok")
        if device != "cpu" and None in case.arguments:  # to @triton.jit an absent tensor is no null pointer
            return Verdict("ok")
        about.append(who)
        _compare(case, memory, emitted(case, kernel, barriers=False, device=device, run=run), who)
        return Verdict("ok")
    except Difference as error:
        return Verdict("differs", who, str(error))
    except Exception as error:
        return Verdict("crashed", f"{who}: {type(error).__name__}", traceback.format_exc(limit=-4))


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
            _compare(case, memory, found, who)
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
    """The case without the lines that do not matter; what a line leaves in memory must stay known."""
    if isinstance(case, ExactCase):
        return case
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
