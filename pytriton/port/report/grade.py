"""Jobs -> results: each kernel with its grade, its module, and the reasons with their lines.

ported        the launcher runs what the old launches ran
with notes    so it does, and something is worth knowing: a choice that became a keyword, a grid that the
              caller gives, a sweep that leads to several kernels, launches that could not be followed
needs person  there is no module; the reason is a diagnostic of the translator, or a part of the text or of
              the defines that only a run would tell
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Final

from pytriton.errors import Diagnostic
from pytriton.errors import Report as Findings
from pytriton.lang.open_defines import only_promises
from pytriton.lang.tokens import Kind, tokenize
from pytriton.port.jobs.gather import Job, Use, gather
from pytriton.port.jobs.launcher import POWER, Plan, ShapesDifferError, plan
from pytriton.port.jobs.variants import Failure, Ported, translate_all
from pytriton.port.read.extract import Found
from pytriton.port.write.module import Written, comments_of, write
from pytriton.source import Source, Span

__all__ = ["Grade", "Reason", "Result", "joined", "results"]


class Grade(Enum):
    """How a kernel came through."""

    PORTED = "ported"
    NOTES = "ported with notes"
    PERSON = "needs a person"


@dataclass(frozen=True)
class Reason:
    """Why a grade is what it is: where (``line 12``), what, and the diagnostic code if there is one."""

    place: str
    text: str
    code: str | None = None


@dataclass(eq=False)
class Result:
    """One kernel of one text."""

    path: Path
    place: str
    kernel: str
    grade: Grade
    reasons: list[Reason]
    old: str
    plan: Plan | None = None
    written: Written | None = None
    constructs: Mapping[str, int] = field(default_factory=dict)
    comments: int = 0
    unread: bool = False  # the text itself is only known when the program runs

    @property
    def new(self) -> str:
        """The text of the module; empty where there is none."""
        return self.written.text if self.written else ""


def results(found: Found, given: Mapping[str, Any], shown: str) -> list[Result]:
    """All kernels of a text. ``shown`` is the file as modules and reports name it."""
    job = gather(found, given)
    place = found.place(found.text.line_at(_first_word(found.text)))
    constructs = count_constructs(job.text)
    if job.problem is not None and not job.uses:
        job.uses = []
    kernels = [] if _unusable(job) else translate_all(job)
    every: list[Result] = []
    for ported in kernels:
        own = Result(found.path, place, ported.name, Grade.PORTED, [], job.text, constructs=constructs)
        own.comments = len(comments_of(job.text))
        if ported.variants:
            _port(own, job, ported, [other for other in kernels if other is not ported], f"{shown}, {place}")
        else:
            own.grade = Grade.PERSON
            own.kernel = own.kernel or _kernel_name(job.text)
            own.reasons = _why(job, ported.failures)
        every.append(own)
    if not kernels:
        reason = Reason(*_split(job.problem or "", place))
        every.append(
            Result(
                *(found.path, place, _kernel_name(_with_dots(found.text)), Grade.PERSON, [reason], job.text),
                constructs=constructs,
                unread=True,
            )
        )
    return every


def joined(every: Sequence[Result]) -> list[Result]:
    """The same with one result for all that a text could become which only a run would tell: with all reasons."""
    firsts: dict[tuple[Path, str], Result] = {}
    for element in every:
        first = firsts.setdefault((element.path, element.place), element) if element.unread else element
        first.reasons += [reason for reason in element.reasons if reason not in first.reasons]
    return [result for result in every if not result.unread or firsts[result.path, result.place] is result]


def _unusable(job: Job) -> bool:
    return job.problem is not None and "only known when the program runs" in job.problem


def _first_word(text: str) -> int:
    return len(text) - len(text.lstrip())


def _split(problem: str, place: str) -> tuple[str, str]:
    where, colon, what = problem.partition(": ")
    return (where, what) if colon and re.match(r"(line|cell) \d", where) else (place, problem)


def _with_dots(text: str) -> str:
    """A text with ``{...}`` for its unknown parts."""
    return re.sub("\ue000\\d+\ue001", "{...}", text)


def _kernel_name(text: str) -> str:
    declared = re.search(r"\bvoid\s+([\w{}.]+)\s*\(", text)
    return (declared[1] if len(declared[1]) <= 40 else declared[1][:37] + "...") if declared else "?"


def _port(result: Result, job: Job, ported: Ported, others: Sequence[Ported], where: str) -> None:
    try:
        planned = plan(ported)
    except ShapesDifferError as error:
        result.grade, result.reasons = Grade.PERSON, [Reason(result.place, f"{error}: give some with -D")]
        return
    foreign = [variant.translation.text for other in others for variant in other.variants]
    own = "\n".join(variant.translation.text for variant in ported.variants)
    strange = [c for c in comments_of(job.text) if c not in own and any(c in text for text in foreign)]
    result.plan = planned
    result.written = write(planned, where, job.text, strange)
    result.comments -= len(strange)
    result.reasons = _notes(job, ported, planned)
    result.grade = Grade.NOTES if result.reasons else Grade.PORTED


# Reasons


def _notes(job: Job, ported: Ported, planned: Plan) -> list[Reason]:
    place = job.found.place
    uses = list(dict.fromkeys(point.use for variant in ported.variants for point in variant.points))
    line = min((use.line for use in uses if use.line), default=0)
    here = _python(job, line) if line else place(job.found.text.line_at(0))
    notes = [Reason(_python(job, at), text) for at, text in dict.fromkeys(job.notes)]
    if not line:
        notes.append(Reason(here, "no launch of it was found: defines, sweep and grid may be missing"))
    for name, keyword in planned.selectors:
        if not name.startswith(POWER):
            notes.append(Reason(here, f"'{name}' selects the text: the launcher takes it as '{keyword}'"))
    for name in dict.fromkeys(name for use in uses for name in use.open if only_promises(name, job.text)):
        notes.append(Reason(here, f"the promise {name} is computed by the old code: it was left out"))
    if planned.grid is None and line:
        notes.append(
            Reason(here, "the grid is made of more than the kernel's arguments: the launcher takes it")
        )
    if planned.filtered:
        notes.append(
            Reason(here, f"the sweep is filtered by '{planned.filtered}': the launcher takes a config")
        )
    for one in planned.keywords:
        if one.default is None:
            notes.append(
                Reason(here, f"'{one.define}' was '{one.was[:60]}': the launcher takes it as '{one.name}'")
            )
    if any(len(entry.variants) > 1 for entry in planned.entries):
        text = "points of the sweep lead to different texts: the first is tuned, the others wait for config="
        notes.append(Reason(here, text))
    if len(ported.variants) > _MANY:
        text = f"{len(ported.variants)} texts: a smaller module comes of -D with some of what selects them"
        notes.append(Reason(here, text))
    if ported.more:
        notes.append(Reason(here, f"{ported.more} points of the sweep were left out: there are too many"))
    return notes + _dropped(job, ported, uses)


def _python(job: Job, line: int) -> str:
    """A line of the Python that launches a text, which may stand in a file of its own."""
    return f"{job.found.python.name}, line {line}" if job.found.python else job.found.place(line)


def _dropped(job: Job, ported: Ported, uses: Sequence[Use]) -> list[Reason]:
    """Points that cannot be translated, one remark for each first diagnostic."""
    reasons: dict[str, Reason] = {}
    counts: Counter[str] = Counter()
    for failure in ported.failures:
        first = failure.error.diagnostics[0]
        counts[first.message] += 1
        where = _diagnostic_place(job, first)
        reasons.setdefault(first.message, Reason(where, first.message, first.code))
    total = len(ported.failures) + sum(len(variant.points) for variant in ported.variants)
    return [
        Reason(
            reason.place, f"{counts[message]} of {total} points cannot be translated: {message}", reason.code
        )
        for message, reason in reasons.items()
    ]


_MANY: Final = 32
_MISSING: Final = ("TC203", "TC301", "TC305", "TC201")


def _why(job: Job, failures: Sequence[Failure]) -> list[Reason]:
    """The diagnostics of the first point, and what is not known of its defines."""
    reasons: list[Reason] = []
    if job.problem:
        reasons.append(Reason(*_split(job.problem, job.found.place(job.found.text.line_at(0)))))
    if not failures:
        return reasons
    best = min(failures, key=lambda failure: len(failure.error.diagnostics))
    for diagnostic in best.error.diagnostics[:3]:
        reasons.append(Reason(_diagnostic_place(job, diagnostic), _said(diagnostic), diagnostic.code))
    use = best.point.use
    if best.error.diagnostics[0].code in _MISSING:
        if use.dark is not None:
            reasons.append(
                Reason(_python(job, use.line), f"its defines come from '{use.dark[:60]}', not known here")
            )
        for name, value in use.open.items():
            if not isinstance(best.point.values.get(name), str):
                text = f"the define {name} is '{value.text[:60]}', only known when the program runs"
                reasons.append(Reason(_python(job, use.line), text))
        if not use.line and not use.dark:
            text = "no launch of it was found: give its defines with -D NAME=VALUE"
            reasons.append(Reason(job.found.place(job.found.text.line_at(0)), text))
    return reasons


def _said(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.message}; {diagnostic.help}" if diagnostic.help else diagnostic.message


def _diagnostic_place(job: Job, diagnostic: Diagnostic) -> str:
    """Where a diagnostic points, as a line of the file that holds the text."""
    if not isinstance(diagnostic.where, Span):
        return job.found.place(job.found.text.line_at(0))
    # Holes were filled with names: lines stay, so the line counts.
    line = diagnostic.where.line
    start = 0
    for _ in range(line - 1):
        start = job.found.text.find("\n", start) + 1
    return job.found.place(job.found.text.line_at(start))


# Constructs

_CONSTRUCTS: Final = {
    "range": r"\.\.\.",
    "matrix product": r"(?<=[\w\])])\s*@\s*[\w^(]|\bdot\s*\(",
    "masked access": r"\*\s*\?\s*\(",
    "reduction": r"\[[^\]]*(?:\+|\bmax\b|\bmin\b)\s*(?:,[^\]]*)?\](?!\s*=)",
    "broadcast": r"\bnewaxis\b",
    "transposition": r"\^\s*\d|[=@(,]\s*\^",
    "atomic": r"\batomic_\w+|\bf32_atomic_add\b",
    "loop": r"\b(?:for|while)\s*\(",
    "condition": r"\bif\s*\(|\?(?!\s*\()",
    "macro": r"(?m)^\s*#\s*define\b",
    "conditional text": r"(?m)^\s*#\s*(?:if|ifdef|ifndef|elif)\b",
    "promise": r"\b__(?:multipleof|aligned|noalias|readonly|writeonly|retune)\b",
    "program id": r"\bget_(?:program_id|num_programs)\b",
}


def count_constructs(text: str) -> dict[str, int]:
    """How often each construct of the old language stands in a text, comments aside."""
    pieces: list[str] = []
    end = 0
    for token in tokenize(Source(text), Findings()):
        for comment in token.comments:
            pieces.append(text[end : comment.span.start])
            end = comment.span.end
        if token.kind is Kind.END:
            break
    plain = "".join([*pieces, text[end:]])
    counts = {name: len(re.findall(pattern, plain)) for name, pattern in _CONSTRUCTS.items()}
    return {name: count for name, count in counts.items() if count}
