"""The playground's side of the translator: questions and answers as JSON, in a browser's worker or in a test.

A question has the text, its defines as pairs of texts, and what to show: ``python`` (the translation), or
``folded`` (one kernel for all values of the defines that are lists of numbers), or ``gradient`` (the backward, as
Triton-C), or ``c`` (the C of kernels on CPU tensors), or ``format`` (the text itself, in the layout of ``pytriton
format``). The answer has the Python, for each of its lines the line of the text, and the diagnostics with their
positions as character offsets.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

from pytriton import CompileError, translate
from pytriton.errors import Diagnostic
from pytriton.fold import Unfoldable, Variant, fold
from pytriton.gradient.derive.derive import derived_text
from pytriton.lang.format import formatted
from pytriton.native.c_module import to_c
from pytriton.pipeline import translate_as
from pytriton.settings import Settings
from pytriton.source import Source, Span

MAX_VARIANTS = 16


def answer(question: str) -> str:
    """One question, one answer."""
    asked = json.loads(question)
    text = asked["text"]
    defines = {name.strip(): values_of(value) for name, value in asked["defines"] if name.strip()}
    try:
        if asked["show"] == "format":
            return json.dumps({"ok": True, "formatted": formatted(Source(text, "kernel.c"))})
        translation = translate(text, {name: values[0] for name, values in defines.items()}, name="kernel.c")
        shown, lines = translation.text, dict(translation.lines)
        if asked["show"] == "folded":
            shown, lines = folded(text, defines), {}
        elif asked["show"] == "gradient":
            shown, lines = gradient(text, defines), {}
        elif asked["show"] == "c":
            shown, lines = c_of(text, defines), {}
    except CompileError as error:
        found = [described(diagnostic) for diagnostic in error.diagnostics]
        return json.dumps({"ok": False, "diagnostics": found})
    except Unfoldable as error:
        return json.dumps({"ok": False, "diagnostics": [plain(f"this text cannot be folded: {error}")]})
    found = [described(warning) for warning in translation.warnings]
    return json.dumps(
        {"ok": True, "shows": asked["show"], "python": shown, "lines": lines, "diagnostics": found}
    )


def values_of(value: str) -> list[str]:
    """``32, 64`` is two values; any other text is one."""
    parts = [part.strip() for part in value.split(",")]
    return parts if all(re.fullmatch(r"[+-]?\d+", part) for part in parts) else [value]


def folded(text: str, defines: dict[str, list[str]]) -> str:
    """One kernel for all points."""
    points = [
        dict(zip(defines, point, strict=True))
        for point in itertools.islice(itertools.product(*defines.values()), MAX_VARIANTS)
    ]
    return fold(text, [Variant(point, translate_as(text, point, Settings())) for point in points]).text


def gradient(text: str, defines: dict[str, list[str]]) -> str:
    """The derived backward; below it, as comments, what has no gradient."""
    settings = {"kernel": None, "name": "kernel.c", "include_dirs": (), "strict_literals": False}
    first = {name: values[0] for name, values in defines.items()}
    derived, told = derived_text(text.encode(), first, **settings, outputs=None, inputs=None)
    notes = "".join(f"// {line}\n" for note in told for line in note.splitlines())
    return f"{derived}\n{notes}" if notes else derived


def c_of(text: str, defines: dict[str, list[str]]) -> str:
    """The first point in C."""
    first = {name: values[0] for name, values in defines.items()}
    return to_c(Source(text, "kernel.c"), first, Settings()).text


def described(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic for the editor: where it stands, in one line, and as it is printed."""
    where = diagnostic.where
    start, end = (where.start, max(where.end, where.start + 1)) if isinstance(where, Span) else (0, 0)
    help_ = f"\n{here(diagnostic.help)}" if diagnostic.help else ""
    missing = re.fullmatch(r"'(\w+)' is not declared", diagnostic.message)
    return {
        "from": start,
        "to": end,
        "severity": "error" if diagnostic.severity == "error" else "warning",
        "message": f"{diagnostic.message}{help_}",
        "code": diagnostic.code,
        "rendered": here(diagnostic.render()),
        "missing": missing[1] if missing and missing[1].isupper() else "",
    }


def here(text: str) -> str:
    """A message for a page that has a form for defines."""
    return re.sub(r" in defines, as in defines=\{'\w+': [^}]*\}", " among the defines", text)


def plain(message: str) -> dict[str, Any]:
    """A message without a place."""
    place = {"from": 0, "to": 0, "severity": "error", "code": "", "missing": ""}
    return {**place, "message": message, "rendered": message}
