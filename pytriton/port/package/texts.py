"""The texts that a package launches: what they are, where they are written, and with which defines.

Input: a folder, and the launches that a run of its tests showed. Output: a ``Text`` for each text, whose ``home`` is
the string or the file that it is. A text that was put together while the program ran has no home.

Invariant: two texts with the same home are the same text, or kernels of the same file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytriton.errors import CompileError, Report
from pytriton.lang.tokens import decode
from pytriton.legacy.extract import kernels_of, read
from pytriton.port.kernels import DefineSet
from pytriton.port.read.extract import looks_like
from pytriton.port.run.observations import Observation

__all__ = ["Home", "Text", "python_files", "texts_of"]


@dataclass(frozen=True)
class Home:
    """Where a text is written: a file, as a whole or by the name of one ``kernel``; of Python, a string of it."""

    path: Path
    line: int = 0  # of the string
    kernel: str | None = None


@dataclass
class Text:
    """A text, and what it is launched with. ``homes``: the same string may be written more than once."""

    text: str
    kernel: str | None
    strict: bool
    homes: tuple[Home, ...]
    sets: list[DefineSet] = field(default_factory=list)
    made: list[tuple[Path, int]] = field(default_factory=list)  # where kernel objects are made of it


def python_files(root: Path) -> list[Path]:
    """The Python files of a package, in order."""
    return sorted(path for path in root.rglob("*.py") if "__pycache__" not in path.parts)


def texts_of(root: Path, seen: Sequence[Observation]) -> list[Text]:
    """All texts of a package, those that nothing launched without define sets."""
    places = _places(root)
    texts: dict[tuple[str, str | None, bool], Text] = {}
    for observation in seen:
        if not observation.file.resolve().is_relative_to(root.resolve()):
            continue
        said = observation.said
        key = observation.text, said["kernel"], said["strict"]
        if key not in texts:
            texts[key] = Text(*key, tuple(places.get(observation.text, ())))
        texts[key].sets += _sets(said)
        place = observation.file, observation.line
        if place not in texts[key].made:
            texts[key].made.append(place)
    launched = {home.path for text in texts.values() for home in text.homes}
    for text, homes in places.items():
        if not any(home.path in launched and home.path.suffix != ".py" for home in homes):
            texts.setdefault((text, None, False), Text(text, None, False, tuple(homes)))
    return _without_doubles(texts.values())


def _without_doubles(texts: Iterable[Text]) -> list[Text]:
    """A text that was launched is no unlaunched one, too."""
    launched = {text.text for text in texts if text.sets}
    return [text for text in texts if text.sets or text.text not in launched]


def _sets(said: Mapping[str, Any]) -> Iterator[DefineSet]:
    """The define sets of one launch: those of each point, under those of all."""
    for point, _ in said["points"] or [({}, None)]:
        defines = {**point, **said["defines"]}
        yield DefineSet({name: _value(value) for name, value in defines.items()}, "observed")


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return f"torch.{value['dtype']}"
    return [_value(item) for item in value] if isinstance(value, list) else value


# ---------------------------------------------------------------- places


def _places(root: Path) -> dict[str, list[Home]]:
    """Where texts are written."""
    places: dict[str, list[Home]] = {}
    for path in sorted(root.rglob("*")):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        found = _strings(path) if path.suffix == ".py" else _file(path)
        for text, home in found:
            places.setdefault(text, []).append(home)
    return places


def _strings(path: Path) -> Iterator[tuple[str, Home]]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and looks_like(node.value):
            yield node.value, Home(path, node.lineno)


def _file(path: Path) -> Iterator[tuple[str, Home]]:
    """The text of a file, and those of its kernels alone."""
    try:
        text = decode(path.read_bytes(), str(path), Report()).text
    except CompileError:
        return
    if not looks_like(text):
        return
    yield text, Home(path)
    for kernel in kernels_of(text):
        yield read(path, [kernel]), Home(path, kernel=kernel)
