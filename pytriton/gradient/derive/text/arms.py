"""The ``#if`` of a forward, kept in the text that is derived from it.

Each arm is derived by itself: the forward with ``#if 1`` or ``#if 0`` in place of a condition. What the texts have
in common stands once, and the rest below the condition again. That is done for flags: names that the text asks for
in ``#if`` and uses nowhere else, so that an arm cannot depend on their value. A text that defines such a name, or
chains conditions with ``#elif``, or has an arm without a derivative is derived for the given defines alone.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from pytriton.errors import CompileError, Report
from pytriton.lang.preprocess.directives import preprocess
from pytriton.source import Source

__all__ = ["with_arms"]

MAX_FLAGS: Final = 3  # each doubles the work
_DIRECTIVE: Final = re.compile(r"^[ \t]*#[ \t]*(\w+)(.*)$", re.MULTILINE)
_OPENS: Final = ("if", "ifdef", "ifndef")

Decisions = Mapping[str, bool]


def with_arms(text: str, defines: Mapping[str, object], derived: str, derive: Callable[[str], str]) -> str:
    """``derived``, what ``derive`` makes of the text, with the flags of the text."""
    flags = _flags(text, defines)
    if not flags:
        return derived
    try:
        made = {
            decided: derive(_decided(text, dict(zip(flags, decided, strict=True)))).splitlines()
            for decided in itertools.product((True, False), repeat=len(flags))
        }
    except CompileError:
        return derived
    lines = _folded(list(flags.items()), made)
    right = all(
        _taken(lines, dict(zip(flags, decided, strict=True))) == each for decided, each in made.items()
    )
    folded = "\n".join([*lines, ""])
    return folded if right and _tokens(folded, defines) == _tokens(derived, defines) else derived


def _flags(text: str, defines: Mapping[str, object]) -> dict[str, str]:
    """The flags of a text, and how it asks for them: ``if`` or ``ifdef``; none where it does more with them."""
    text = re.sub(r"//.*|/\*.*?\*/", "", text)
    flags: dict[str, str] = {}
    for found in _DIRECTIVE.finditer(text):
        word, rest = found[1], found[2].strip()
        asks = word.replace("ifndef", "ifdef")
        flag = word in _OPENS and re.fullmatch(r"[A-Za-z_]\w*", rest) and flags.setdefault(rest, asks) == asks
        if not flag and word in (*_OPENS, "elif", "include"):
            return {}
    rest = _DIRECTIVE.sub(lambda found: "" if found[1] in _OPENS else found[0], text)
    used = re.findall(r"\w+", " ".join([rest, *map(str, defines.values())]))
    return {} if len(flags) > MAX_FLAGS or not flags.keys().isdisjoint(used) else flags


def _decided(text: str, decisions: Decisions) -> str:
    """The text with its conditions answered."""

    def answer(found: re.Match[str]) -> str:
        if found[1] not in _OPENS:
            return found[0]
        return f"#if {int(decisions[found[2].partition('//')[0].strip()] != (found[1] == 'ifndef'))}"

    return _DIRECTIVE.sub(answer, text)


def _folded(flags: Sequence[tuple[str, str]], made: Mapping[tuple[bool, ...], list[str]]) -> list[str]:
    """One text; the first flag outermost."""
    if not flags:
        return made[()]
    yes, no = (
        _units(
            _folded(flags[1:], {decided[1:]: lines for decided, lines in made.items() if decided[0] is way})
        )
        for way in (True, False)
    )
    (flag, asks), result = flags[0], list[str]()
    conditions = f"#{asks} {flag}", f"#ifndef {flag}" if asks == "ifdef" else f"#if !{flag}"
    for kind, start, end, first, last in SequenceMatcher(None, yes, no, autojunk=False).get_opcodes():
        if kind == "equal":
            result += itertools.chain(*yes[start:end])
            continue
        result.append(conditions[end == start])
        result += itertools.chain(*yes[start:end])
        result += ["#else"] if end > start and last > first else []
        result += [*itertools.chain(*no[first:last]), "#endif"]
    return result


def _units(lines: Sequence[str]) -> list[tuple[str, ...]]:
    """The lines, those from an ``#if`` to its ``#endif`` together."""
    result: list[tuple[str, ...]] = []
    depth = 0
    for line in lines:
        result.append((*result.pop(), line) if depth else (line,))
        depth += line.startswith("#if") - line.startswith("#endif")
    return result


def _taken(lines: Sequence[str], decisions: Decisions) -> list[str]:
    """What is left of a text."""
    result: list[str] = []
    open_: list[bool] = [True]
    for line in lines:
        word, _, flag = line.partition(" ")
        if word in ("#if", "#ifdef", "#ifndef"):
            open_.append(decisions[flag.lstrip("!")] != (word == "#ifndef" or flag[0] == "!"))
        elif word == "#else":
            open_[-1] = not open_[-1]
        elif word == "#endif":
            open_.pop()
        elif all(open_):
            result.append(line)
    return result


def _tokens(text: str, defines: Mapping[str, object]) -> list[str]:
    return [token.text for token in preprocess(Source(text, "derived"), defines, Report()).tokens]
