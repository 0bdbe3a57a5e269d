"""Python source -> its Triton-C strings, with the place of each character and the defines of the calls around it.

Input: the text of a Python file, which need not parse. Output: ``Embedded``. Invariant: ``offsets`` has a place of
the file for each character of the kernel source, and one for its end, in ascending order; so adjacent strings and
escapes are exact. f-strings are left out: their text is only known at run time. Nothing is run.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

from pytriton.port.read.extract import looks_like


class Embedded(NamedTuple):
    """Kernel source in a document, with the defines of its calls that are literals."""

    text: str
    offsets: Sequence[int]
    defines: Mapping[str, Any]


_STRING: Final = re.compile(r"([rRuU]?)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)
_RAW: Final = re.compile(r"\r\n|.", re.DOTALL)
_ESCAPED: Final = re.compile(
    r"\\(?:\r\n|[\n\\'\"abfnrtv]|[0-7]{1,3}|x\w\w|u\w{4}|U\w{8}|N\{[^}]*\})|\r\n|.", re.DOTALL
)
_BETWEEN: Final = (tokenize.NL, tokenize.COMMENT)


def strings(text: str) -> Iterator[tuple[str, list[int]]]:
    """The strings of a Python file, adjacent ones as one, with the places of their characters and of their end."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    value, offsets, end = "", [], 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _BETWEEN:
                continue
            start = starts[token.start[0] - 1] + token.start[1]
            stop = starts[token.end[0] - 1] + token.end[1]
            quoted = _STRING.fullmatch(text, start, stop) if token.type == tokenize.STRING else None
            if quoted:
                character = _RAW if quoted[1] in ("r", "R") else _ESCAPED
                for match in character.finditer(text, *quoted.span(3)):
                    piece = _decoded(match[0])
                    value += piece
                    offsets += [match.start()] * len(piece)
                end = quoted.end(3)
            elif offsets:
                yield value, [*offsets, end]
                value, offsets = "", []
    except (tokenize.TokenError, SyntaxError):  # while it is typed
        pass


def _decoded(match: str) -> str:
    """The characters of an escape, or the character itself."""
    return match.encode().decode("unicode_escape", "replace") if match[1:] and match[0] == "\\" else match[-1]


def parts(text: str) -> Iterator[Embedded]:
    """The Triton-C strings of a Python file: those that look like it, as ``translate FILE.py`` finds them."""
    defines, pieces = _calls(text)
    for value, offsets in strings(text):
        if looks_like(value) and value not in pieces:
            yield Embedded(value, offsets, defines.get(value, {}))


def _calls(text: str) -> tuple[dict[str, dict[str, Any]], set[str | None]]:
    """By string, the literal keywords and items of ``defines`` in the calls that take it, or its kernel; and the
    strings that are only pieces of a source, in ``%``, ``+`` or ``format``."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return {}, set()
    sources: dict[str, str] = {}  # by variable

    def source(node: ast.expr) -> str | None:
        match node:
            case ast.Constant(value=str(value)):
                return value
            case ast.Name(id=name):
                return sources.get(name)
            case ast.Call(args=[argument, *_]):
                return source(argument)
        return None

    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = source(node.value)
            if value is not None:
                sources[node.targets[0].id] = value
    defines: dict[str, dict[str, Any]] = {}
    pieces: set[str | None] = set()
    for node in nodes:
        match node:
            case ast.Call(func=function):
                value = source(function) or source(node)
                if value is not None:
                    defines[value] = dict(_literals(node)) | defines.get(value, {})
            case ast.BinOp(left=left, right=right):
                pieces |= {source(left), source(right)}
            case ast.Attribute(attr="format" | "join", value=value_):
                pieces.add(source(value_))
    return defines, pieces


def _literals(call: ast.Call) -> Iterator[tuple[str, Any]]:
    """The keywords of a call that are literals; of a list, the first."""
    for keyword in call.keywords:
        items: list[tuple[ast.expr | None, ast.expr]] = [(ast.Constant(keyword.arg), keyword.value)]
        if keyword.arg == "defines" and isinstance(keyword.value, ast.Dict):
            items = list(zip(keyword.value.keys, keyword.value.values, strict=True))
        for key, value in items:
            if isinstance(value, ast.List | ast.Tuple) and value.elts:
                value = value.elts[0]
            match key, value:
                case ast.Constant(value=str(name)), ast.Constant(value=literal):
                    yield name, literal
