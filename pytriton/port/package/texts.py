"""Where the texts that a package launches are written, and what becomes of them.

A string that is a whole text, and from which the code makes no other, becomes the name of its kernel. All other
texts stay: files, and strings that are changed, put together or looked at. The launcher finds their kernels by a
*digest* of the text that it is given, so the code may make it in any way.

Input: the files of the package, and a text. Output: its ``Place``.

Invariant: two texts have the same digest only if they are the same text, up to the sizes of buffers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from pytriton.port.read.extract import looks_like, strings_of, text_of_file
from pytriton.port.read.library import parsed

Position = tuple[Path, int, int]  # a file, a line and a column
_Words = frozenset[str | Position]  # names, and the positions of strings

# of what passes a value on as it is; what is made of a text by ``kernel`` is none
_PICKLES: Final = frozenset("deepcopy dump dumps save".split())  # which a function of Triton cannot be
_PASSES: Final = frozenset(
    "append dict get items kernel list partial setdefault tuple update values zip".split()
)


def digest(text: str, kernels: tuple[str, ...] = ()) -> str:
    """What the launcher finds a text by, or some kernels of it; templates/port_launcher.py.j2 has the same."""
    lines = "\n".join([*text.strip().splitlines(), *kernels])
    return sha256(re.sub(r"\bcalloc\s*\([^()]*\)", "calloc()", lines).encode()).hexdigest()[:12]


class Place(NamedTuple):
    """``owner``: the file whose module has the kernels of a text. ``strings`` become names, ``files`` stay."""

    owner: Path
    strings: tuple[Position, ...] = ()
    files: tuple[Path, ...] = ()


class Places:
    """The strings and files of a package. ``trees``: of its Python; ``broken``: why a file has none."""

    def __init__(self, root: Path) -> None:
        self.trees: dict[Path, ast.Module] = {}
        self.broken: dict[Path, SyntaxError] = {}
        self._files: dict[str, list[Path]] = {}
        self._strings: dict[str, list[Position]] = {}
        paths = (
            path for path in sorted(root.rglob("*")) if path.is_file() and "__pycache__" not in path.parts
        )
        for path in paths:
            if path.suffix == ".py":
                try:
                    self.trees[path] = parsed(path.read_bytes())
                except SyntaxError as error:
                    self.broken[path] = error
            elif (text := text_of_file(path)) is not None:
                self._files.setdefault(text.strip(), []).append(path)
        for path, tree in self.trees.items():
            for string in strings_of(tree):
                if isinstance(string, ast.Constant) and looks_like(str(string.value)):
                    of = self._strings.setdefault(str(string.value).strip(), [])
                    of.append((path, string.lineno, string.col_offset))
        nodes = [(path, node) for path, tree in self.trees.items() for node in ast.walk(tree)]
        self._parameters: dict[tuple[Path | None, str], list[str]] = {}  # those of a file first
        for path, node in nodes:
            match node:
                case ast.FunctionDef(name=name):
                    functions = [node]
                case ast.ClassDef(name=name, body=body):
                    own = (part for part in body if isinstance(part, ast.FunctionDef))
                    functions = [function for function in own if function.name == "__init__"]
                case _:
                    continue
            for function in functions:
                self._parameters[path, name] = self._parameters[None, name] = _parameters(function)
        self._pickles = any(isinstance(node, ast.Attribute) and node.attr in _PICKLES for _, node in nodes)
        self._passed: list[tuple[_Words, set[str]]] = []  # what is passed on, and the names that it is given
        self._asked: list[_Words] = []  # that of which more is asked
        for path, node in nodes:
            self._look_at(path, node)

    def of_text(self, text: str, owner: Path) -> Place:
        """Where a text is written; that of a text which is put together is ``owner``."""
        files = tuple(self._files.get(text.strip(), ()))
        strings = tuple(self._strings.get(text.strip(), ()))
        kept = any(map(self.is_asked, strings))
        return Place((*files, *(path for path, _, _ in strings), owner)[0], () if kept else strings, files)

    def is_asked(self, text: Position) -> bool:
        """Whether the code may do more with a text, a string or what is read, than launch it."""
        names: set[str | Position] = {text}
        count = 0
        while count < len(names):
            count = len(names)
            for words, given in self._passed:
                if not names.isdisjoint(words):
                    names |= given
        return any(not names.isdisjoint(words) for words in self._asked)

    def _look_at(self, path: Path, node: ast.AST) -> None:
        """What a node passes on, and of what it asks more."""
        match node:
            case ast.Assign(targets=targets, value=value):
                self._passed += [(_words(path, value), _targets(target)) for target in targets]
                if self._pickles and any(isinstance(target, ast.Attribute) for target in targets):
                    self._asked.append(_words(path, value))
            case (
                ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
                | ast.For(target=target, iter=value)
                | ast.comprehension(target=target, iter=value)
            ):
                self._passed.append((_words(path, value), _targets(target)))
            case ast.FunctionDef(name=name, args=arguments):
                own = _parameters(node)
                defaults = zip(own[len(own) - len(arguments.defaults) :], arguments.defaults, strict=False)
                self._passed += [(_words(path, default), {parameter}) for parameter, default in defaults]
                returned = [
                    part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value
                ]
                self._passed += [(_words(path, value), {name}) for value in returned]
            case ast.Call(func=function, args=arguments, keywords=keywords):
                (name,) = _targets(function) or {""}
                parameters = self._parameters.get((path, name), self._parameters.get((None, name)))
                if parameters is not None:
                    pairs = [*zip(arguments, parameters, strict=False)]
                    pairs += [(keyword.value, keyword.arg or "") for keyword in keywords]
                    self._passed += [(_words(path, value), {parameter}) for value, parameter in pairs]
                elif name not in _PASSES:
                    self._asked += [
                        _words(path, value) for value in (*arguments, *(by.value for by in keywords))
                    ]
            case ast.BinOp() | ast.AugAssign():
                self._asked += [_words(path, part) for part in ast.iter_child_nodes(node)]
            case (
                ast.FormattedValue(value=value)
                | ast.Subscript(value=value, slice=ast.Slice())
                | ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[value])
            ):
                self._asked.append(_words(path, value))
            case ast.Attribute(value=value, attr=name) if hasattr(str, name):
                self._asked.append(_words(path, value))


def _parameters(function: ast.FunctionDef) -> list[str]:
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _targets(node: ast.expr) -> set[str]:
    """The names that a value is given, or that of a function: ``src`` of ``self.src`` and of ``src["dot"]``."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return {name}
        case ast.Subscript(value=value) | ast.Starred(value=value):
            return _targets(value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return {name for part in parts for name in _targets(part)}
    return set()


def _words(path: Path, node: ast.AST) -> _Words:
    """The names and strings that an expression is, or holds: its value may be theirs."""

    def parts(node: ast.AST) -> Iterator[str | Position]:
        inner = [*ast.iter_child_nodes(node)]
        match node:
            case ast.Name(id=name):
                yield name
            case ast.Constant(value=str()):
                yield path, node.lineno, node.col_offset
            case ast.Attribute(value=value, attr=name):
                yield name
                inner = [value] if name in _PASSES else []
            case ast.Subscript(value=value):
                inner = [value]
            case ast.Call(func=function, args=arguments):
                called = _targets(function)
                inner = [function, *arguments] if called <= _PASSES - {"kernel"} else [function]
                if called == {"read"}:
                    yield path, node.lineno, node.col_offset
                if called == {"kernel"}:
                    inner = []
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.JoinedStr():
                inner = []  # another value
        for child in inner:
            yield from parts(child)

    return frozenset(parts(node))
