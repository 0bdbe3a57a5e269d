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
_Name = tuple[ast.AST | None, str]  # a name in a function; or anywhere, of an attribute as well

_PICKLES: Final = frozenset("deepcopy dump dumps save".split())  # which a function of Triton cannot be
_SAME: Final = frozenset("cache classmethod lru_cache staticmethod".split())  # decorators


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
        self._above: dict[ast.AST, ast.AST] = {}
        self._named: dict[str, list[ast.AST]] = {}  # where each name is read
        self._functions: dict[str, list[ast.FunctionDef]] = {}
        self._texts: dict[Position, ast.AST] = {}
        self._words: set[str] = set()  # which may be names, for ``getattr``
        self._pickles = False
        for path, tree in self.trees.items():
            for node in ast.walk(tree):
                self._above |= dict.fromkeys(ast.iter_child_nodes(node), node)
                self._look_at(path, node)

    def of_text(self, text: str, owner: Path) -> Place:
        """Where a text is written; that of a text which is put together is ``owner``."""
        files = tuple(self._files.get(text.strip(), ()))
        strings = tuple(self._strings.get(text.strip(), ()))
        kept = any(map(self.is_asked, strings))
        return Place((*files, *(path for path, _, _ in strings), owner)[0], () if kept else strings, files)

    def is_asked(self, text: Position) -> bool:
        """Whether the code may do more with a text, a string or what is read, than launch it."""
        if text not in self._texts:
            return True  # of another package, or read in another way
        pending, seen = [self._texts[text]], set[_Name]()
        while pending:
            given = self._given(pending.pop())
            if given is None or any(scope is None and name in self._words for scope, name in given):
                return True
            for scope, name in given - seen:
                read = self._named.get(name, ())
                pending += [node for node in read if scope is None or scope in self._around(node)]
            seen |= given
        return False

    def _look_at(self, path: Path, node: ast.AST) -> None:
        match node:
            case (
                ast.Name(id=name, ctx=ast.Load())
                | ast.Attribute(attr=name, ctx=ast.Load())
                | ast.alias(name=name)
            ):
                self._named.setdefault(name, []).append(node)
                self._pickles |= name in _PICKLES and isinstance(node, ast.Attribute)
            case ast.AugAssign(target=target):
                self._named.setdefault(tail(target), []).append(target)
            case ast.FunctionDef(name=name):
                self._functions.setdefault(name, []).append(node)
            case ast.ClassDef(name=name, body=body):
                own = (part for part in body if isinstance(part, ast.FunctionDef) and part.name == "__init__")
                self._functions.setdefault(name, []).extend(own)
            case ast.Constant(value=str(word)):
                self._words |= {word} if word.isidentifier() else set()
                self._texts[path, node.lineno, node.col_offset] = node
            case ast.Call(func=ast.Attribute(attr="read")):
                self._texts[path, node.lineno, node.col_offset] = node

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self._above:
            node = self._above[node]
            yield node

    def _given(self, node: ast.AST) -> set[_Name] | None:
        """The names that a value is given where it stands; None where more may be done with it."""
        above = self._above[node]
        match above:
            case ast.Assign(targets=targets):
                if self._pickles and any(isinstance(target, ast.Attribute) for target in targets):
                    return None
                return {name for target in targets for name in self._targets(target)}
            case ast.AnnAssign(target=target):
                return self._targets(target)
            case ast.ImportFrom():
                assert isinstance(node, ast.alias)
                return {(None, node.asname or node.name)}
            case ast.Call(func=function, args=arguments) if function is not node:
                place = next(at for at, argument in enumerate(arguments) if argument is node)
                starred = any(isinstance(argument, ast.Starred) for argument in arguments)
                return None if starred else self._passed(above, node, place)
            case ast.Subscript(slice=key) if key is node:
                return set()
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() | ast.Is() | ast.IsNot()]) if (
                left is node
            ):
                return set()
            case ast.Subscript(slice=key) if not isinstance(key, ast.Slice):
                return self._given(above)
            case (
                ast.Call()
                | ast.Dict()
                | ast.List()
                | ast.Tuple()
                | ast.IfExp()
                | ast.BoolOp()
                | ast.Lambda()
                | ast.DictComp()
                | ast.ListComp()
                | ast.GeneratorExp()
            ):
                return self._given(above)
        return None

    def _passed(self, call: ast.Call, value: ast.AST, to: int | str | None) -> set[_Name] | None:
        """The parameter that an argument is, by its place or its name."""
        called = tail(call.func)
        if called == "kernel" or (called == "partial" and tail(call.args[0]) == "kernel"):
            return set()
        functions, file = self._functions.get(called, []), [*self._around(call)][-1]
        functions = [function for function in functions if file in self._around(function)] or functions
        if len(functions) != 1 or not {tail(part) for part in functions[0].decorator_list} <= _SAME:
            return None
        arguments = functions[0].args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        by_place = names[1:] if names[:1] in (["self"], ["cls"]) else names
        every = {*names, *(argument.arg for argument in arguments.kwonlyargs)}
        name = to if isinstance(to, str) else by_place[to] if to is not None and to < len(by_place) else ""
        return {(functions[0], name)} if name in every else None

    def _targets(self, node: ast.expr) -> set[_Name]:
        """The names that a value is assigned: ``src`` of ``self.src`` and of ``src["dot"]``."""
        match node:
            case ast.Name(id=name):
                around = (
                    part for part in self._around(node) if isinstance(part, (ast.FunctionDef, ast.Lambda))
                )
                function = next(around, None)
                free = function is not None and any(isinstance(x, ast.Global) for x in ast.walk(function))
                return {(None if free else function, name)}
            case ast.Attribute(attr=name):
                return {(None, name)}
            case ast.Subscript(value=value) | ast.Starred(value=value):
                return self._targets(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return {name for part in parts for name in self._targets(part)}
        return set()


def tail(node: ast.expr) -> str:
    """``kernel`` of ``triton.kernel``, and of what it is called with."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=function):
            return tail(function)
    return ""
