"""Kernel sources built at run time: the launches of a program, where reading its code is not enough.

``--run PROGRAM`` runs a program of the user's (``recorder``), and each text and its defines that it launched is
noted. Code that was read to the end is not touched by that: a run shows some of what the code can do, reading
shows all. Where reading ends (a kernel's name or its text is put together from what callers give), the run's
texts take the place of the text with holes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytriton.port.read.extract import Found
from pytriton.port.read.values import Traced, traced


class ProgramError(Exception):
    """The program could not be started, or failed."""


@dataclass(frozen=True, eq=False)
class Observation:
    """One launch: the source, where the kernel was made, and its options (see ``recorder.py``)."""

    text: str
    file: Path
    line: int
    options: dict[str, Any]


Seen = tuple[Found, tuple[Observation, ...]]  # a source, and the launches of it


# Running the program


def observe(program: str, paths: Sequence[Path]) -> list[Observation]:
    """Run a Python program, given as it is typed in a shell; its packages are those in ``paths``.

    Raises ProgramError.
    """
    settings, flags, words = _command(program)
    script = next((word for word in words if word != "-m"), "")
    folders, names = _packages(paths)
    if any(_holds(path, Path(script)) for path in paths):
        names.append("__main__")
    legacy = [part for name in dict.fromkeys(names) for part in ("--legacy", name)]
    settings = {**os.environ, **settings}
    searched = [*(str(folder.resolve()) for folder in folders), settings.get("PYTHONPATH", "")]
    with tempfile.TemporaryDirectory() as folder:
        file, code = Path(folder, "launches.json"), Path(folder, "code.py")
        if words[0] == "-c":
            code.write_text("".join(words[1:2]))
            words[:2] = [str(code)]
            searched.append(os.getcwd())
        command = [sys.executable, *flags, "-m", "pytriton.port.run.recorder", str(file), *legacy, *words]
        here = str(Path(__file__).resolve().parents[3])
        environment = {**settings, "PYTHONPATH": os.pathsep.join([*filter(None, searched), here])}
        done = subprocess.run(command, stdout=2, env=environment)  # its output is not part of ours
        if done.returncode != 0 or not file.exists():
            raise ProgramError(f"{program}: the program ended with status {done.returncode}")
        return [observation(load) for load in json.loads(file.read_text(encoding="utf-8"))]


def _command(program: str) -> tuple[dict[str, str], list[str], list[str]]:
    """The environment that a command sets, the flags of its interpreter, and the program with its arguments."""
    environment: dict[str, str] = {}
    flags: list[str] = []
    words = shlex.split(program)
    while words and (words[0] == "env" or re.match(r"[A-Za-z_]\w*=", words[0])):
        name, equals, value = words.pop(0).partition("=")
        environment |= {name: value} if equals else {}
    first = Path(words[0]).name if words else ""
    if re.fullmatch(r"python[\d.]*(\.exe)?", first):
        del words[0]
        while words and re.match(r"-[^mc]", words[0]):
            count = 2 if words[0] in ("-W", "-X") else 1
            flags += words[:count]
            del words[:count]
        if words and re.match(r"-m.", words[0]):
            words[:1] = ["-m", words[0][2:]]
    elif first in ("pytest", "py.test"):
        words[:1] = ["-m", "pytest"]
    elif re.fullmatch(r"\w+", first) and not Path(words[0]).exists():
        words[0] = _installed(words[0])
    if not words:
        raise ProgramError(f"'{program}' names no program: give a script, -m MODULE or pytest")
    return environment, flags, words


def _installed(name: str) -> str:
    """The path of a command that is a Python script."""
    path = Path(shutil.which(name) or "")
    with contextlib.suppress(OSError), path.open("rb") as file:
        if re.match(rb"#!.*python", file.readline()):
            return str(path)
    raise ProgramError(
        f"'{name}' is not a Python program; --run takes one program with its arguments, not a shell command"
    )


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
            names += sorted(init.parent.name for init in path.glob("*/__init__.py"))
            names += sorted(module.stem for module in path.glob("*.py") if module.stem.isidentifier())
    return folders, names


def _holds(path: Path, script: Path) -> bool:
    return script.exists() and script.resolve().is_relative_to(path.resolve())


def observation(launch: dict[str, Any]) -> Observation:
    return Observation(launch["text"], Path(launch["file"]), launch["line"], launch)


# The sources of a run


def completed(extracted: Found, seen: Sequence[Observation], program: str) -> list[Seen]:
    """The sources that a run made of one with holes; none if the run did not launch it."""
    fitting = [observation for observation in seen if _is_of(observation, extracted)]
    filled = list(_grouped(fitting, extracted))
    only_defines = all(str(text.text).strip() == str(extracted.text).strip() for text, _ in filled)
    what = "its defines are" if only_defines else "the text is"
    for text, _ in filled:
        note = f"{what} put together at run time: this is what '{program}' gave"
        text.notes = [(fitting[0].file, fitting[0].line, note)]
    return filled


def strangers(seen: Sequence[Observation], every: Sequence[Found], program: str) -> Iterator[Seen]:
    """Sources of the run that are in none of the sources read; they belong where their kernels were made."""
    unread = [
        observation
        for observation in seen
        if observation.line and not any(_is_of(observation, extracted) for extracted in every)
    ]
    for file in dict.fromkeys(observation.file for observation in unread):
        bare = Found(file, traced((("", 0),)))
        for text, group in _grouped(
            [observation for observation in unread if observation.file == file], bare
        ):
            text.notes = [(file, group[0].line, f"the source was found by running '{program}' only")]
            yield text, group


def _is_of(observation: Observation, extracted: Found) -> bool:
    """Whether the source of a launch is this one, with its holes filled."""
    if "\ue000" not in extracted.text:
        return observation.text.strip() == str(extracted.text).strip()
    if _filled(extracted.text, observation.text) is not None:
        return True
    made_there = any(launch.kernel.line == observation.line for launch in extracted.launches)
    return made_there and observation.file.resolve() == extracted.path.resolve()


def _grouped(seen: Sequence[Observation], extracted: Found) -> Iterator[Seen]:
    """One for each source; sources that differ in the sizes of their buffers only are one, with the largest."""
    groups: dict[str, list[Observation]] = {}
    for observation in seen:
        groups.setdefault(_BUFFER.sub("calloc()", observation.text), []).append(observation)
    for group in groups.values():
        largest = max(
            group, key=lambda observation: sum(int(size, 0) for size in _BUFFER.findall(observation.text))
        )
        start = extracted.text.line_at(0) or largest.line
        filled = _filled(extracted.text, largest.text) or traced(((largest.text, start),))
        yield Found(extracted.path, filled), tuple(group)


_BUFFER: Final = re.compile(r"\bcalloc\s*\(\s*(0[xX][0-9a-fA-F]+|\d+)\s*\)")


def _filled(template: Traced, text: str) -> Traced | None:
    """The run's text with the lines that its parts have in the code; None if it is not made of this template."""
    parts = re.split("(\ue000\\d+\ue001)", template)
    if len(parts) == 1:
        return None
    first, *_, last = parts
    if not (text.startswith(first) and text.endswith(last) and len(first) + len(last) <= len(text)):
        return None
    pieces = [(first, template.line_at(0))]
    at, offset = len(first), len(first)
    for number in range(1, len(parts), 2):
        hole, literal = parts[number], parts[number + 1]
        # the leftmost place: what comes later can only gain by it
        end = len(text) - len(last)
        next_at = end if number + 2 == len(parts) else text.find(literal, at, end)
        if next_at < at:
            return None
        pieces.append((text[at:next_at], template.line_at(offset)))
        pieces.append((literal, template.line_at(offset + len(hole))))
        at, offset = next_at + len(literal), offset + len(hole) + len(literal)
    return traced(pieces)
