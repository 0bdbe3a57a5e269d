"""Texts that only a run shows: what a program launched, in place of what could not be read from its code.

``--run PROGRAM`` runs a program of the user's (``recorder``), and each text and its defines that it launched is
noted. Code that was read to the end is not touched by that: a run shows some of what the code can do, reading
shows all. Where reading ends (a kernel's name or its text is put together from what callers give), the run's
texts take the place of the text with holes; grid and arguments are still those of the code.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytriton.port.read.extract import Found
from pytriton.port.read.values import ConfigPoint, KernelObject, Launch, Traced, leaf, traced

__all__ = ["Observation", "ProgramError", "completed", "observe", "strangers"]


class ProgramError(Exception):
    """The program could not be started, or failed."""


@dataclass(frozen=True, eq=False)
class Observation:
    """One launch: the text, where the kernel was made and called, and what both say (see ``port/run/observe``)."""

    text: str
    file: Path
    line: int
    called: int
    said: dict[str, Any]


# Running the program


def observe(program: str, paths: Sequence[Path]) -> list[Observation]:
    """Run ``SCRIPT [ARGS]`` or ``-m MODULE [ARGS]``; its packages are those in ``paths``. Raises ProgramError."""
    words = shlex.split(program)
    script = next((one for one in words if one != "-m"), "")
    folders, names = _packages(paths)
    if any(_holds(path, Path(script)) for path in paths):
        names.append("__main__")
    legacy = [part for name in dict.fromkeys(names) for part in ("--legacy", name)]
    searched = [*(str(folder.resolve()) for folder in folders), os.environ.get("PYTHONPATH", "")]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "launches.json")
        command = [sys.executable, "-m", "pytriton.port.run.recorder", str(file), *legacy, *words]
        here = str(Path(__file__).resolve().parents[3])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, searched), here])}
        done = subprocess.run(command, stdout=sys.stderr, env=environment)
        if done.returncode != 0 or not file.exists():
            raise ProgramError(f"{program}: the program ended with status {done.returncode}")
        return [_observation(one) for one in json.loads(file.read_text(encoding="utf-8"))]


def _packages(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Where packages and modules in these paths are imported from, and by which names."""
    folders: list[Path] = []
    names: list[str] = []
    for path in paths:
        top = path.resolve() if path.is_dir() else path.resolve().parent
        inside = (top / "__init__.py").exists()
        while (top / "__init__.py").exists():
            top, name = top.parent, top.name
            names += [name] if not (top / "__init__.py").exists() else []
        folders.append(top)
        if path.is_dir() and not inside:
            names += sorted(one.parent.name for one in path.glob("*/__init__.py"))
            names += sorted(one.stem for one in path.glob("*.py") if one.stem.isidentifier())
    return folders, names


def _holds(path: Path, script: Path) -> bool:
    return script.exists() and script.resolve().is_relative_to(path.resolve())


def _observation(one: dict[str, Any]) -> Observation:
    return Observation(one["text"], Path(one["file"]), one["line"], one["called"], one)


# What it tells of texts that were read


def completed(found: Found, seen: Sequence[Observation], program: str) -> list[Found]:
    """What a run made of a text that could not be read to the end; nothing if the run did not come there."""
    fitting = [one for one in seen if _is_of(one, found)]
    if not fitting:
        return []
    made = list(_founds(fitting, found))
    whole = all(str(one.text).strip() == str(found.text).strip() for one in made)
    what = "its defines are" if whole else "the text is"
    where = found.launches[0].kernel.line if found.launches else found.text.line_at(0)
    for one in made:
        one.notes = [(where, f"{what} put together when the program runs: this is what '{program}' gave")]
    return made


def strangers(seen: Sequence[Observation], every: Sequence[Found], program: str) -> list[Found]:
    """Texts of the run that stand in no text that was read: they head for where their kernels were made."""
    rest = [one for one in seen if one.line and not any(_is_of(one, found) for found in every)]
    made: list[Found] = []
    for file in dict.fromkeys(one.file for one in rest):
        bare = Found(file, traced((("", 0),)))
        made += _founds([one for one in rest if one.file == file], bare)
    for one in made:
        one.notes = [(one.launches[0].kernel.line, f"the text was found by running '{program}' only")]
    return made


def _is_of(one: Observation, found: Found) -> bool:
    """Whether a run's text is this text, its holes filled."""
    if "\ue000" not in found.text:
        return one.text.strip() == str(found.text).strip()
    if _filled(found.text, one.text) is not None:
        return True
    made_there = any(launch.kernel.line == one.line for launch in found.launches)
    return made_there and one.file.resolve() == found.path.resolve()


def _founds(seen: Sequence[Observation], found: Found) -> Iterator[Found]:
    """One for each text; texts that differ in the sizes of their buffers only are one, with the largest."""
    groups: dict[str, list[Observation]] = {}
    for one in seen:
        groups.setdefault(_BUFFER.sub("calloc()", one.text), []).append(one)
    for group in groups.values():
        largest = max(group, key=lambda one: sum(int(size, 0) for size in _BUFFER.findall(one.text)))
        start = found.text.line_at(0) or largest.line
        filled = _filled(found.text, largest.text) or traced(((largest.text, start),))
        launches = [_launch(one, filled, found) for one in group]
        yield Found(found.path, filled, launches, place=found.place, python=found.python)


_BUFFER: Final = re.compile(r"\bcalloc\s*\(\s*(0[xX][0-9a-fA-F]+|\d+)\s*\)")


def _filled(template: Traced, text: str) -> Traced | None:
    """The run's text with the lines that its parts have in the code; None if it is not made of this template."""
    parts = re.split("(\ue000\\d+\ue001)", template)
    first, *_, last = parts
    ends = text.startswith(first) and text.endswith(last) and len(first) + len(last) <= len(text)
    if len(parts) == 1 or not ends:
        return None
    pieces = [(first, template.line_at(0))]
    at, offset = len(first), len(first)
    for number in range(1, len(parts), 2):
        hole, literal = parts[number], parts[number + 1]
        # the leftmost place serves: what comes later can only gain by it
        end = len(text) - len(last)
        found = end if number + 2 == len(parts) else text.find(literal, at, end)
        if found < at:
            return None
        pieces.append((text[at:found], template.line_at(offset)))
        pieces.append((literal, template.line_at(offset + len(hole))))
        at, offset = found + len(literal), offset + len(hole) + len(literal)
    return traced(pieces)


def _launch(one: Observation, text: Traced, found: Found) -> Launch:
    """The launch as if it had been read; what the code says of grid and arguments stays."""
    said = one.said
    points = tuple(ConfigPoint(_values(defines), warps) for defines, warps in said["points"])
    kernel = KernelObject(
        text,
        one.line,
        _values(said["defines"]),
        said["num_warps"],
        said["num_stages"],
        points,
        said["key"],
        said["kernel"],
        found.text.path,
        said["strict"],
    )
    read = next((launch for launch in found.launches if launch.line == one.called), None)
    if read is None:
        return Launch(kernel, one.called)
    return Launch(kernel, one.called, read.arguments, grid=read.grid)


def _values(defines: dict[str, Any]) -> dict[str, Any]:
    """Defines as the reader of code has them; a dtype stays open, since the next caller has another."""
    return {name: _value(name, value) for name, value in defines.items()}


def _value(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return leaf(name, "dtype")
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return leaf(name, "dtype")
    return value
