"""What a run shows: the launches of a program, where reading its code is not enough.

``--run PROGRAM`` runs a command of the user's in a shell. Python imports ``sitecustomize`` wherever it starts, and
ours notes what is launched (recorder.py): so any process of the command counts, as those of ``pytest -n 4`` or of a
notebook. Code that was read to the end is not touched by that: a run shows some of what the code can do, reading
shows all. Where reading ends (a kernel's name or its text is put together from what callers give), the run's
texts take the place of the text with holes. They have no lines but that of their constructor.
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
    """Run a command, given as it is typed in a shell: its launches and its exit status.

    Its packages are those in ``paths``. Raises ProgramError.
    """
    folders, names = _packages(paths)
    python = Path(sys.executable)
    command = _SCRIPT.sub(lambda before: f"{before[0]}{shlex.quote(str(python))} ", program, count=1)
    with tempfile.TemporaryDirectory() as folder:
        arguments = (folder, names, [str(path.resolve()) for path in paths])
        hook = f"from pytriton.port.run.recorder import record\n\nrecord{arguments!r}\n"
        Path(folder, "sitecustomize.py").write_text(hook, encoding="utf-8")
        here = Path(__file__).resolve().parents[3]
        searched = [folder, *map(str, folders), os.environ.get("PYTHONPATH"), str(here)]
        found = [str(python.parent), os.environ.get("PATH")]  # its Python is this one
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, searched)),
            "PATH": os.pathsep.join(filter(None, found)),
        }
        # its output is not part of ours
        status = subprocess.run(command, shell=True, stdout=2, env=environment).returncode
        lines = [
            line for file in sorted(Path(folder).glob("*.jsonl")) for line in file.open(encoding="utf-8")
        ]
    if not lines:
        raise ProgramError(f"{program}: the program ended with status {status} and launched no kernel")
    return [observation(json.loads(line)) for line in dict.fromkeys(lines)], status


_SCRIPT: Final = re.compile(r"^(?:env\s+|\w+=\S*\s+)*(?=[^\s=]+\.py\b|-m\s)")  # what Python is to run


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
            names += sorted(module.stem for module in path.glob("*.py"))
    return folders, [name for name in dict.fromkeys(names) if name.isidentifier()]


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
