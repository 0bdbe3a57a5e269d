"""Where the texts that a package launches are written, and what replaces them.

A text that is written as one string is replaced by the name of its kernel. All others get a *label*, a short text
that the old code makes in the same way: ``triton.read`` gives ``<softmax>`` for the file softmax.c, and a string
that is filled in keeps what it is filled in with. So ``read(a) + read(b)`` is ``<a> <b>``, and an f-string with
two holes ``contract $ first $ second``. The launcher looks labels up in a table.

Input: the files of the package, and a text. Output: its ``Place``.

Invariants: two texts have the same label only if they are the same text, up to spaces and the sizes of buffers
(where several files have one name, labels have their paths). A text is replaced wherever it is written.
"""

from __future__ import annotations

import ast
import itertools
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytriton.port.read.extract import HOLE, between, looks_like, strings_of, template, text_of_file

_SEPARATOR: Final = " $ "  # no text has it
_LABELS: Final = re.compile(r"(<[^<>]*>\s*)+")
_IN_ORDER: Final = frozenset(("%s", "%d"))  # holes whose values are known by their order alone
MIN_PART: Final = 40  # characters of a string that is taken for a part of a text


@dataclass(frozen=True)
class Template:
    """A string of Python that is filled in: its texts and what is between them, and its replacement."""

    path: Path
    line: int
    column: int
    pieces: tuple[str, ...]
    holes: tuple[str, ...]  # one fewer than pieces; equal ones have equal values
    label: str

    def filled(self, text: str) -> str | None:
        """The label of a text that was made of this string; None if it was not."""
        first, *others = self.pieces
        *others, last = [first.lstrip("\n"), *others]
        filled = between([*others, last.rstrip("\n")], text.strip("\n"))
        if filled is None:
            return None
        values: dict[str, str] = {}
        for number, (hole, value) in enumerate(zip(self.holes, filled, strict=True), 1):
            key = f"{number} {hole}" if hole in _IN_ORDER else hole
            if values.setdefault(key, value) != value:
                return None
        shown = list(values.values()) if _IN_ORDER & {*self.holes} else [values[hole] for hole in self.shown]
        return " ".join(_SEPARATOR.join([self.label, *shown]).split())

    @property
    def shown(self) -> list[str]:
        """The holes that a label has: not the sizes of buffers, which their contents have."""
        if _IN_ORDER & {*self.holes}:
            return [*self.holes]
        before = zip(self.holes, self.pieces, strict=False)
        return [hole for hole, piece in before if not re.search(r"\bcalloc\s*\(\s*$", piece)]

    def written(self, node: ast.expr) -> str:
        """The Python that replaces the string."""
        if isinstance(node, ast.JoinedStr):
            parts: list[ast.expr] = [ast.Constant(self.label)]
            for hole, values in zip(self.holes, _holes(node), strict=True):
                if hole in self.shown:
                    parts += [ast.Constant(_SEPARATOR), *values]
            return ast.unparse(ast.JoinedStr(parts))
        return repr(_SEPARATOR.join([self.label, *self.shown]))


Position = tuple[Path, int, int]  # a file, a line and a column


@dataclass(frozen=True)
class Place:
    """Where a text is: strings, to be replaced by a name; or labels, with the strings to be replaced by theirs.

    ``owner``: the file whose module has its kernels. ``files`` became modules; ``copies`` have just this text.
    """

    owner: Path
    strings: tuple[Position, ...] = ()
    labels: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    templates: tuple[Template, ...] = ()
    copies: tuple[Path, ...] = ()


@dataclass
class Places:
    """The strings and files of a package."""

    root: Path
    strings: dict[str, list[Position]] = field(default_factory=dict)
    files: dict[str, list[Path]] = field(default_factory=dict)  # by their texts
    names: dict[Path, str] = field(default_factory=dict)  # what labels call a file
    templates: list[Template] = field(default_factory=list)
    parts: list[Template] = field(default_factory=list)  # strings without holes

    @staticmethod
    def of(root: Path) -> Places:
        """Look through all files."""
        places = Places(root)
        paths = [
            path for path in sorted(root.rglob("*")) if path.is_file() and "__pycache__" not in path.parts
        ]
        texts = {path: text.strip() for path in paths if (text := text_of_file(path)) is not None}
        python = [path for path in paths if path.suffix == ".py"]
        for some in (list(texts), python):
            stems = Counter(path.stem for path in some)
            for path in some:
                alone = stems[path.stem] == 1
                places.names[path] = path.stem if alone else path.relative_to(root).as_posix()
        for path, text in texts.items():
            same = places.files.setdefault(text, [])
            same.append(path)
            places.names[path] = places.names[same[0]]
        for path in python:
            places._look_through(path)
        return places

    def label_of_file(self, path: Path, kernels: Sequence[str] = ()) -> str:
        """What ``triton.read`` gives for a file."""
        return f"<{self.names[path]}{': ' if kernels else ''}{', '.join(kernels)}>"

    def of_text(self, text: str) -> Place | None:
        """Where a text is written; None if that cannot be determined."""
        whole = text.strip()
        if whole in self.files:
            paths = self.files[whole]
            label = self.label_of_file(paths[0])
            return Place(paths[0], labels=(label,), files=(paths[0],), copies=tuple(paths))
        strings = tuple(self.strings.get(whole, ()))
        put_together = None if strings else self._put_together(whole)
        if put_together is not None and _LABELS.fullmatch(put_together.labels[0]):
            return put_together
        filled = [(labelled, t) for t in self.templates if (labelled := t.filled(text)) is not None]
        filled.sort(key=lambda candidate: len(candidate[0]))  # first the string that has most of the text
        if not filled and not strings:
            return put_together
        owner = strings[0][0] if strings else filled[0][1].path
        templates = tuple(t for _, t in filled if (t.path, t.line, t.column) not in strings)
        return Place(owner, strings, tuple(label for label, _ in filled), (), templates)

    def _put_together(self, text: str) -> Place | None:
        """A text of several, one after another."""
        files: list[tuple[int, Path]] = []
        parts: list[Template] = []
        label = text
        for part in sorted(self.files, key=len, reverse=True):
            if part in label:
                path = self.files[part][0]
                files.append((text.find(part), path))
                label = label.replace(part, self.label_of_file(path))
        for string_ in self.parts:
            (part,) = string_.pieces
            if part.strip() in label:
                parts.append(string_)
                label = label.replace(part.strip(), string_.label)
        if not files and not parts:
            return None
        paths = tuple(path for _, path in sorted(files))
        owner = paths[-1] if paths else parts[-1].path
        return Place(owner, (), (" ".join(label.split()),), paths, tuple(parts))

    def _look_through(self, path: Path) -> None:
        tree = ast.parse(path.read_bytes())
        replaced = set(_replaced(tree))
        for node in strings_of(tree):
            if isinstance(node, ast.Constant):
                self._look_at(path, node, str(node.value), replaced)
            elif looks_like(template(node).replace(HOLE, "hole")):
                self.templates.append(_of_f_string(path, node, self._label(path)))

    def _look_at(self, path: Path, node: ast.Constant, text: str, replaced: set[str]) -> None:
        """A string: a whole text, one with holes, or a part of one."""
        line, column = node.lineno, node.col_offset
        if looks_like(re.sub(r"%(\(\w+\))?[sd]|\{\w*\}", "x", text)):
            self.strings.setdefault(text.strip(), []).append((path, line, column))
            for split in (_fields(text), _conversions(text)):
                if split is not None:
                    self.templates.append(Template(path, line, column, *split, self._label(path)))
            words = [word for word in sorted(replaced) if word in text]
            if words:
                pattern = "|".join(map(re.escape, words))
                pieces = tuple(re.split(pattern, text))
                holes = tuple(re.findall(pattern, text))
                self.templates.append(Template(path, line, column, pieces, holes, self._label(path)))
        if len(text.strip()) >= MIN_PART and "\n" in text:
            number = sum(part.path == path for part in self.parts) + 1
            label = f" <{self.names[path]} {number}> "  # with spaces, as `text` may begin and end with lines
            self.parts.append(Template(path, line, column, (text,), (), label))

    def _label(self, path: Path) -> str:
        number = sum(template.path == path for template in self.templates)
        return f"{self.names[path]} {number}" if number else self.names[path]


def _replaced(tree: ast.Module) -> Iterator[str]:
    """The replacements of strings."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="replace"), args=[ast.Constant(value=str(old)), _]) if old:
                yield old


def _of_f_string(path: Path, node: ast.JoinedStr, label: str) -> Template:
    holes = tuple(ast.unparse(ast.JoinedStr(list[ast.expr](values))) for values in _holes(node))
    pieces = tuple(re.split(f"{HOLE}+", template(node)))
    return Template(path, node.lineno, node.col_offset, pieces, holes, label)


def _holes(node: ast.JoinedStr) -> Iterator[list[ast.FormattedValue]]:
    """The values of an f-string, those with nothing between them together."""
    for hole, values in itertools.groupby(node.values, lambda part: isinstance(part, ast.FormattedValue)):
        if hole:
            yield [value for value in values if isinstance(value, ast.FormattedValue)]


Split = tuple[tuple[str, ...], tuple[str, ...]]  # texts, and what is between them


def _conversions(text: str) -> Split | None:
    """A string for ``%``, if it can be one: the ``%`` of C is doubled in it."""
    parts = re.split(r"(%(?:\(\w+\)[sd]|[sd%]))", text)
    pieces, holes = [""], []
    for number, part in enumerate(parts):
        if number % 2 and part != "%%":
            holes.append(part)
            pieces.append("")
        elif "%" in part and part != "%%":
            return None
        else:
            pieces[-1] += part.replace("%%", "%")
    return (tuple(pieces), tuple(holes)) if holes else None


def _fields(text: str) -> Split | None:
    """A string for ``.format``, if it can be one: the braces of C are doubled in it."""
    pieces, holes = [""], []
    try:
        for piece, name, specification, conversion in string.Formatter().parse(text):
            pieces[-1] += piece
            if name is not None:
                after = f"!{conversion}" * bool(conversion) + f":{specification}" * bool(specification)
                holes.append(f"{{{name}{after}}}")
                pieces.append("")
    except ValueError:
        return None
    if not holes or any(re.search(r"[^\w.\[\]{}!:<>]", hole) for hole in holes):
        return None
    return tuple(pieces), tuple(holes)
