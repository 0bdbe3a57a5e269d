"""Kernel sources built at run time: the launches of a program, where reading its code is not enough.

``--run PROGRAM`` runs a program of the user's (``recorder``), and each text and its defines that it launched is
noted. Code that was read to the end is not touched by that: a run shows some of what the code can do, reading
shows all. Where reading ends (a kernel's name or its text is put together from what callers give), the run's
texts take the place of the text with holes. They have no lines but that of their constructor.
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
from pytriton.port.read.values import traced


class ProgramError(Exception):
    """The program could not be started, or failed before it launched a kernel."""


@dataclass(frozen=True, eq=False)
class Observation:
    """One launch: the source, where the kernel was made, and its options (see ``recorder.py``)."""

    text: str
    file: Path
    line: int
    options: dict[str, Any]


Seen = tuple[Found, tuple[Observation, ...]]  # a source, and the launches of it


# Running the program


def observe(program: str, paths: Sequence[Path]) -> tuple[list[Observation], int]:
    """Run a Python program, given as it is typed in a shell: its launches and its exit status.

    Its packages are those in ``paths``. Raises ProgramError.
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
        # its output is not part of ours
        status = subprocess.run(command, stdout=2, env=environment).returncode
        launches = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
        if status and not launches:
            raise ProgramError(f"{program}: the program ended with status {status} and launched no kernel")
        return [observation(launch) for launch in launches], status


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


def strangers(seen: Sequence[Observation], every: Sequence[Found], program: str) -> Iterator[Seen]:
    """Sources of the run that are in none of the sources read; they belong where their kernels were made.

    Sources that differ in the sizes of their buffers only are one, with the largest.
    """
    read = {str(extracted.text).strip() for extracted in every}
    groups: dict[tuple[Path, str], list[Observation]] = {}
    for launch in seen:
        if launch.line and launch.text.strip() not in read:
            groups.setdefault((launch.file, _BUFFER.sub("calloc()", launch.text)), []).append(launch)
    for (file, _), group in groups.items():
        largest = max(group, key=lambda launch: sum(int(size, 0) for size in _BUFFER.findall(launch.text)))
        lines = largest.text.splitlines(keepends=True)  # all of them where the kernel is made
        text = Found(file, traced((line, largest.line) for line in lines))
        text.notes = [(file, group[0].line, f"the source was found by running '{program}' only")]
        yield text, tuple(group)


_BUFFER: Final = re.compile(r"\bcalloc\s*\(\s*(0[xX][0-9a-fA-F]+|\d+)\s*\)")
