"""Launches of the old Triton in a Python file -> launches as Triton's documentation writes them, with no launcher.

``triton.kernel(src, device, defines=defines, num_warps=4)`` becomes an autotuner with one config,
``triton.autotune([triton.Config(defines, 4)], key=[])(src)``, where ``src`` is the function itself; a list of
configs stays one. ``kernel(a, n, grid=grid)`` becomes ``kernel[grid](a, n)``, on the device of ``a``.

Input: the file, and what reading found in it. Output: edits. Raises ``NotPlain`` for any other use of the old
Triton than those below: the package has a launcher then.

Invariant: a config has the values that the launcher would pass. So all entries of ``defines`` are written in one
function; a flag is given by a constant that is true; a number that is known to be in a string becomes a number.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from pytriton.fold.variants import number
from pytriton.lang.tree.types import SCALARS, PointerType, ScalarType
from pytriton.pipeline import Parameter
from pytriton.port.kernels import PortedKernel
from pytriton.port.package.declared import declared
from pytriton.port.package.edits import (
    Edit,
    PythonFile,
    addresses_left,
    bound,
    is_import_of_triton,
    uses_of,
)
from pytriton.port.package.texts import tail
from pytriton.port.read.library import PASSED
from pytriton.port.read.values import LaunchSite, Unknown

MAX_WIDTH: Final = 100  # of a line with an autotuner
_DTYPES: Final = frozenset(type_.name for type_ in SCALARS)
_MAKES_TEXT: Final = re.compile(r"\b(?:str|hex|oct|bin|format|repr)\(|\bf['\"]|['\"] % ").search
_ARGUMENTS: Final = {"device", "defines", "num_warps", "autotune_configs", "autotune_key"}
# what only a launcher does, of the fields of a ``Source``
_LAUNCHER: Final = ("truths", "unused", "buffers", "nulls", "absent")


_WRITTEN: Final = frozenset(("bool", "dict", "float", "int"))  # what the edits call

_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


class NotPlain(Exception):
    """This needs the launcher."""


class ReadLaunch(NamedTuple):
    """A launch that was read, its function, and the defines that a run gave its kernel object."""

    site: LaunchSite
    kernel: PortedKernel
    observed: Sequence[Mapping[str, Any]] = ()


class Plain:
    """The edits of one file.

    ``sources``: the functions that stand for a string or a ``triton.read``, by its line and column and the names of
    their kernels, which are empty where none is asked for. ``functions``: names of all that may launch.
    """

    def __init__(
        self,
        file: PythonFile,
        launched: Sequence[ReadLaunch],
        sources: Mapping[tuple[int, int], Mapping[str, str]],
        functions: Collection[str] = (),
    ) -> None:
        self.file, self.launched, self.sources = file, launched, sources
        self.functions = {*functions, "append", "extend", "partial"}
        self.above = {part: node for node in ast.walk(file.tree) for part in ast.iter_child_nodes(node)}
        imports = (node.names for node in file.tree.body if isinstance(node, ast.Import))
        self.imported = {alias.asname or alias.name for names in imports for alias in names}
        self.module = self.tunes = False  # whether the file needs that of port_plain.py.j2, and its autotuner

    def edits(self) -> dict[Edit, None]:
        """All of them; no two overlap."""
        tree, edits, lines = self.file.tree, dict[Edit, None](), {0}
        launches: dict[Edit, None] = {}  # in whose place no comment may be
        uses = uses_of(tree)
        _require({*bound(tree, self.above)} <= {("triton", "triton")} and not uses.modules)
        self.module = bool(uses.testing)
        for address in addresses_left(tree):
            match self.above[self.above[address]]:
                case ast.Call(func=ast.Attribute(attr=name), keywords=[]):
                    _require(name not in self.functions)
                case _:
                    raise NotPlain
        _require(b"coding" not in self.file.data[:200] and _WRITTEN.isdisjoint(_bound_in(tree)))
        for node in self.above:
            match node:
                case ast.Name(id="triton", ctx=ast.Load()):
                    launches |= dict.fromkeys(self._use(node))
                case ast.Constant(value=str()) if (node.lineno, node.col_offset) in self.sources:
                    name, *others = self.sources[node.lineno, node.col_offset].values()
                    _require(not others)
                    edits[self.file.edit(node, name)] = None
                case ast.Call() if is_import_of_triton(node, tree):
                    _require(isinstance(self.above[node], ast.Assign))
                case ast.Call(keywords=keywords) if any(by.arg == "grid" for by in keywords):
                    launches |= dict.fromkeys(self._launch(node))
                    lines.add(node.lineno)
        _require(lines >= {launch.site.line for launch in self.launched})
        _require(not any(b"#" in self.file.data[edit.start : edit.end] for edit in launches))
        return edits | launches

    def _use(self, node: ast.Name) -> Iterator[Edit]:
        attribute = self.above[node]
        match attribute, self.above[attribute]:
            case ast.Attribute(attr="kernel"), ast.Call() as call if call.func is attribute:
                yield from self._made(call)
            case ast.Attribute(attr="read"), ast.Call() as call if call.func is attribute:
                yield self.file.edit(call, self._read(call))
            case ast.Attribute(attr=name), _ if name in (*PASSED, "config"):
                self.module |= name == "config"
            case _:
                _require(isinstance(attribute, ast.Compare))

    def _read(self, call: ast.Call) -> str:
        """The function, or ``{"forward": forward, "backward": backward}[name]``."""
        names = dict(self.sources.get((call.lineno, call.col_offset), {}))
        of_file = names.pop("", None)  # where no kernel is asked for, or its name is not known
        match [*call.args[1:], *(by.value for by in call.keywords)]:
            case [] if of_file:
                return of_file
            case [ast.List(elts=[ast.Constant(value=kernel)])] if kernel in names:
                return names[kernel]
            case [ast.List(elts=[which])] if names:
                rows = [f'"{kernel}": {name}' for kernel, name in sorted(names.items())]
                return self._lines(call, "{", rows, f"}}[{self.file.text(which)}]")
        raise NotPlain

    def _around(self, node: ast.AST, *types: type[ast.AST]) -> Any:
        """The innermost node of such a type around this one."""
        while not isinstance(node, types):
            node = self.above[node]
        return node

    def _indentation(self, node: ast.AST) -> str:
        """That of the statement around a node, which has its lines for itself."""
        text = self.file.indentation(self._around(node, ast.stmt))
        _require(not text.strip())
        return text

    def _lines(self, node: ast.expr, head: str, rows: Sequence[str], end: str, last: str = "") -> str:
        """``head``, these elements and ``end``, on one line if they fit; ``last`` is after the last one there."""
        line = f"{head}{', '.join(rows)}{last}{end}"
        if node.col_offset + len(line) <= MAX_WIDTH:
            return line
        start = f"{self.file.newline}{self._indentation(node)}"
        return f"{head}{''.join(f'{start}    {row},' for row in rows)}{start}{end}"

    # ---------------------------------------------------------------- kernel objects

    def _made(self, call: ast.Call) -> Iterator[Edit]:
        """An autotuner in place of a kernel object."""
        given = {by.arg: by.value for by in call.keywords}
        of_call = [launch for launch in self.launched if launch.site.kernel.line == call.lineno]
        _require(of_call and len(call.args) in (1, 2) and given.keys() <= _ARGUMENTS)
        _require(all(isinstance(x, ast.Constant) or tail(x) == "device" for x in call.args[1:]))
        source, around = call.args[0], self._around(call, *_SCOPES)
        defines = given.get("defines", ast.Dict([], []))
        displays = _displays(defines, around)
        later = []
        if isinstance(defines, ast.Name):  # a dict of this function, for this kernel object alone
            later = _set(defines.id, around)
            nodes = [*map(ast.unparse, ast.walk(around))]
            _require(isinstance(around, ast.FunctionDef) and nodes.count(f"defines={defines.id}") == 1)
        entries = [row for of in displays for row in zip(map(_key, of.keys), of.values, strict=True)]
        fields = [declared(launch.kernel) for launch in of_call]
        _require(not any(of[name] for of in fields for name in _LAUNCHER))
        _require(not any(name in of["closed"] for of in fields for name, _ in (*entries, *later)))
        fixed = {name: value for of in fields for name, value in of["fixed"].items()}
        for display in displays:
            values_of = {
                _key(key): _literal(node) for key, node in zip(display.keys, display.values, strict=True)
            }
            _require(fixed.items() <= values_of.items())
        _require(not any(name in fixed for name, _ in later))
        constexprs = [launch.kernel.folded.constexprs for launch in of_call]
        taken = [(name, node) for name, node in entries if any(name in some for some in constexprs)]
        values = {node: self._passed(name, node, of_call, around) for name, node in (*taken, *later)}
        if defines in displays:
            text = f"{{{', '.join(f'{name!r}: {values[node]}' for name, node in taken)}}}"
        else:
            text = ast.unparse(defines)
            yield from (self.file.edit(node, value) for node, value in values.items())
            yield from (edit for display in displays for edit in self._without(display, values))
        if any(name not in some for some in constexprs for name, _ in (*taken, *later)):
            _require(not any(isinstance(part, (ast.Call, ast.Constant)) for part in ast.walk(source)))
            _require(not isinstance(around, ast.ClassDef) and {"x", "y"}.isdisjoint(_names(source)))
            text = f"{{x: y for x, y in {text}.items() if x in {ast.unparse(source)}.arg_names}}"
        elif later:  # another kernel object may be made with other values
            text = f"dict({text})"
        rows = self._configs(given, text, of_call, around)
        (begin, end), (first, last) = self.file.span(call), self.file.span(source)
        yield Edit(begin, first, self._lines(call, "triton.autotune(", rows, ")("))
        yield Edit(last, end, ")")

    def _passed(self, name: str, node: ast.expr, of_call: Sequence[ReadLaunch], around: ast.AST) -> str:
        """What is written for the value of a define."""
        flag = any(name in launch.kernel.folded.leaves.flags for launch in of_call)
        sets = [member for launch in of_call for member in launch.kernel.sets]
        words = {str(member.defines.get(name)) for member in sets}
        _require(isinstance(node, ast.Constant) or _DTYPES.isdisjoint(words))
        known = [launch.site.kernel.defines.get(name) for launch in of_call]
        known += [defines.get(name) for launch in of_call for defines in launch.observed]
        texts = any(isinstance(value, str) and number(value) == value for value in _constants(node))
        integer = any(name in launch.kernel.folded.leaves.integers for launch in of_call)
        _require(not (texts and integer) or _is_number(node, around))
        value = self._value(node, flag, known)
        return self.file.text(node) if ast.dump(value) == ast.dump(node) else ast.unparse(value)

    def _configs(
        self,
        given: Mapping[str | None, ast.expr],
        constexprs: str,
        of_call: Sequence[ReadLaunch],
        around: ast.AST,
    ) -> list[str]:
        """The arguments of an autotuner. A list of configs is tuned by the module of the package."""
        if "autotune_configs" not in given:
            warps = given.get("num_warps", ast.Constant(4))
            _require(_is_number(warps, around))
            return [f"[triton.Config({constexprs}, {ast.unparse(warps)})]", "key=[]"]
        self.module = self.tunes = True
        for launch in of_call:
            listed, integers = launch.site.kernel.points, launch.kernel.folded.leaves.integers
            _require(isinstance(listed, (list, tuple)) and all(isinstance(config, dict) for config in listed))
            entries = (entry for config in listed for entry in config.items())
            _require(all(name in integers and type(number(value)) is int for name, value in entries))
        _require(isinstance(around, (ast.FunctionDef, ast.Module)))
        _require("config" not in map(ast.unparse, ast.walk(around)))
        kernels = [launch.kernel for launch in of_call]
        key, parameters = given.get("autotune_key", ast.Constant(0)), kernels[0].parameters
        _require(isinstance(key, ast.List) and all(kernel.parameters == parameters for kernel in kernels))
        _require(
            {getattr(element, "value", None) for element in getattr(key, "elts", ())}
            <= {parameter.identifier for parameter in parameters}
        )
        written = ", ".join(f'"{parameter.identifier}"' for parameter in parameters if parameter.written)
        config = f"triton.Config(config.kwargs | {constexprs}, config.num_warps)"
        configs = f"[{config} for config in {self.file.text(given['autotune_configs'])}]"
        return [configs, f"key={self.file.text(key)}", f"restore_value=[{written}]"]

    def _without(self, display: ast.Dict, values: Mapping[ast.expr, str]) -> Iterator[Edit]:
        """A display without the entries that have no value here."""
        keys = [*filter(None, display.keys)]
        pairs = zip(keys, display.values, strict=True)
        spans = [(self.file.span(key)[0], self.file.span(value)[1]) for key, value in pairs]
        kept = [at for at, value in enumerate(display.values) if value in values]
        last = kept[-1] if kept else -1
        yield from (Edit(spans[at][0], spans[at + 1][0], "") for at in range(last) if at not in kept)
        if last + 1 < len(spans):
            first, end = keys[last + 1].lineno, display.values[-1].end_lineno or 0
            if kept and (display.values[last].end_lineno or 0) < first and end < (display.end_lineno or 0):
                yield Edit(self.file.at(first, 0), self.file.at(end + 1, 0), "")
            else:
                yield Edit(spans[last][1] if kept else spans[0][0], spans[-1][1], "")

    def _value(self, node: ast.expr, flag: bool, known: Sequence[object]) -> ast.expr:
        """The value of a define, ``known`` ones that are not constants: a number in a string becomes one."""
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                constants = [arm.value for arm in (body, orelse) if isinstance(arm, ast.Constant)]
                known = [value for value in known if value not in constants]
                return ast.IfExp(test, self._value(body, flag, known), self._value(orelse, flag, known))
            case ast.Constant(value=value):
                _require(value or not flag)
                constant: Any = 1 if value is True else number(value)
                return node if flag else ast.Constant(constant)
        known = [*known, *(x for x in _constants(node) if isinstance(x, str) and number(x) != x)]
        texts = {number(x) != x or (isinstance(x, Unknown) and bool(_MAKES_TEXT(x.text))) for x in known}
        _require(not any(isinstance(x, Unknown) and re.search(r"\b(?:np|numpy)\.", x.text) for x in known))
        _require(not flag and len(texts) < 2 and not any(isinstance(x, (list, tuple)) for x in known))
        # with base 0 also of "0x10"; "010", which is 8 in C, is refused
        return ast.Call(ast.Name("int"), [node, ast.Constant(0)], []) if True in texts else node

    # ---------------------------------------------------------------- launches

    def _launch(self, call: ast.Call) -> Iterator[Edit]:
        """``kernel[grid](...)``, where ``kernel(..., grid=grid)`` was a statement."""
        file, statement, newline = (
            self.file,
            self.above[call],
            f"{self.file.newline}{self._indentation(call)}",
        )
        kernels = [launch.kernel for launch in self.launched if launch.site.line == call.lineno]
        _require(kernels and isinstance(statement, ast.Expr) and len(call.keywords) == 1 and call.args)
        _require("torch" in self.imported)
        grid, around = call.keywords[0].value, self._around(call, *_SCOPES)
        late = isinstance(grid, (ast.Lambda, ast.Name))  # else it comes before the arguments now
        _require(late or all(map(_is_pure, [grid, *call.args])))
        rows = ({**dict.fromkeys(kernel.folded.constexprs), **kernel.constants} for kernel in kernels)
        takes = dict(set.intersection(*({*row.items()} for row in rows)))
        above = f"with torch.cuda.device_of({_tensor(call.args, kernels)}):{newline}    "
        name = ast.unparse(grid)
        if isinstance(grid, ast.Name):
            values = _assigned(grid.id, around)
            _require(values and not _others(grid.id, "grid", around))
            yield from (file.edit(value, self._grid(value, takes)) for value in values)
        elif isinstance(grid, ast.Lambda):
            name = "grid"
            names = (node for node in ast.walk(around) if isinstance(node, (ast.Name, ast.arg)))
            _require(all(getattr(node, "id", getattr(node, "arg", "")) != name for node in names))
            above = f"{name} = {self._grid(grid, takes)}{newline}{above}"
        else:
            name = self._grid(grid, takes)
        yield from self._numbers(call.args, kernels, around)
        start, end, last = file.span(call)[0], file.span(call.args[-1])[1], file.span(grid)[1]
        between, behind = file.data[end : file.span(grid)[0]], file.data[last : file.span(call)[1]]
        _require(re.fullmatch(rb"\s*,\s*grid\s*=\s*", between) and re.fullmatch(rb"[\s,]*\)", behind))
        _require(file.data[file.span(call.func)[1] :][:1] == b"(")
        yield Edit(start, start, above)
        yield Edit(file.span(call.func)[1], file.span(call.func)[1], f"[{name}]")
        yield Edit(end, last, "")
        beside = call.args[0].lineno == call.lineno  # other lines are aligned with the first argument
        more = "    " + " " * len(f"[{name}]") * beside
        lines = (file.at(line, 0) for line in range(call.lineno + 1, (call.end_lineno or 0) + 1))
        yield from (Edit(at, at, more) for at in lines if not end <= at < last)

    def _grid(self, grid: ast.expr, takes: Mapping[str, Any]) -> str:
        """A grid as Triton takes it: a tuple, or a function of the kernel's arguments by their names."""
        head, sizes = "", grid
        match grid:
            case ast.Lambda(
                args=ast.arguments(args=[ast.arg(arg=name)], kwonlyargs=[], vararg=None, kwarg=None),
                body=body,
            ):
                head, sizes = f"lambda {name}: ", _Meta(name, takes).visit(copy.deepcopy(body))
        _require(isinstance(sizes, (ast.List, ast.Tuple)))
        rows = [*map(ast.unparse, getattr(sizes, "elts", ()))]
        return self._lines(grid, f"{head}(", rows, ")", "," * (len(rows) == 1))

    def _numbers(
        self, arguments: list[ast.expr], kernels: Sequence[PortedKernel], around: ast.AST
    ) -> Iterator[Edit]:
        """``int(n)`` for a number that may be a tensor, which Triton takes for a pointer; the first is a tensor."""
        match arguments:
            case [ast.Starred(value=ast.Name(id=name))]:
                values = _values(name, around)
                unpacked = [*map(ast.unparse, ast.walk(around))].count(f"*{name}")
                _require(len(values) == 1 and isinstance(values[0], (ast.List, ast.Tuple)))
                _require(_others(name, "", around) == unpacked == 1)
                arguments = getattr(values[0], "elts", [])
        variants = (variant for kernel in kernels for variant in kernel.variants)
        types = {(*map(_type, variant.translation.parameters),) for variant in variants}
        _require(len(types) == 1 and not any(isinstance(argument, ast.Starred) for argument in arguments))
        for argument, word in zip(arguments, *types, strict=False):
            _require(word == "" or argument is not arguments[0])
            if word == "bool" or (word and not _is_number(argument, around, word == "int")):
                start, end = self.file.span(argument)
                yield Edit(start, start, f"{word}(")
                yield Edit(end, end, ")")


_PURE: Final = frozenset(
    "cdiv contiguous data_ptr dim element_size float int item len max min next_power_of_2 numel reshape size "
    "stride t transpose view".split()
)


def _is_pure(node: ast.expr) -> bool:
    """Whether it does not matter when an expression is evaluated."""
    calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    names = (getattr(function, "attr", getattr(function, "id", "")) for function in calls)
    return not any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)) and _PURE.issuperset(names)


def _require(holds: object) -> None:
    if not holds:
        raise NotPlain


def _key(key: ast.expr | None) -> str:
    """The name of a define; one that is not in capitals may be one that the kernel was ported without."""
    match key:
        case ast.Constant(value=str(text)) if text.isupper():
            return text
    raise NotPlain


def _constants(node: ast.AST) -> list[object]:
    return [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]


def _literal(node: ast.expr) -> object:
    """The number that a define is given as; None for what is calculated."""
    with suppress(ValueError):
        return number(ast.literal_eval(node))
    return None


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _bound_in(tree: ast.AST) -> Iterator[str]:
    """The names that a file gives to something."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name


def _own(around: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, a class or a module, those of functions and classes inside aside."""
    for node in ast.iter_child_nodes(around):
        yield node
        if not isinstance(node, _SCOPES):
            yield from _own(node)


def _assigned(name: str, around: ast.AST) -> list[ast.expr]:
    """What a name is assigned in a function."""
    assignments = (node for node in _own(around) if isinstance(node, ast.Assign))
    return [node.value for node in assignments if [*map(ast.unparse, node.targets)] == [name]]


def _displays(defines: ast.expr, around: ast.AST) -> list[ast.Dict]:
    """The displays that a dict begins as."""
    values = _assigned(defines.id, around) if isinstance(defines, ast.Name) else [defines]
    displays = [value for value in values if isinstance(value, ast.Dict)]
    _require(displays and len(displays) == len(values))
    return displays


def _set(name: str, around: ast.AST) -> list[tuple[str, ast.expr]]:
    """The entries that are set later, by ``defines['TM'] = 32``; nothing else is done with the dict."""
    entries: list[tuple[str, ast.expr]] = []
    for node in ast.walk(around):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=used), slice=key)]) if used == name:
                entries.append((_key(key), node.value))
    _require(_others(name, "defines", around) == len(entries))
    return entries


def _others(name: str, keyword: str, around: ast.AST) -> int:
    """How often a name occurs, other than assigned in this function and as this argument."""
    count = -len(_assigned(name, around))
    for node in ast.walk(around):
        match node:
            case ast.Name(id=used) | ast.arg(arg=used):
                count += used == name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                count += name in names
            case ast.keyword(arg=by, value=ast.Name(id=used)):
                count -= (by, used) == (keyword, name)
    return count


def _is_number(
    node: ast.expr, around: ast.AST, whole: bool = False, names: frozenset[str] = frozenset()
) -> bool:
    """Whether an expression is a number of Python for sure: others may be tensors, or lists. ``whole``: an int."""
    match node:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=float()) | ast.Call(func=ast.Name(id="float")) if whole:
            return False
        case ast.BinOp(op=ast.Div()) if whole:
            return False
        case (
            ast.Constant(value=int() | float())
            | ast.Call(func=ast.Name(id="int" | "float" | "len") | ast.Attribute(attr="numel"))
            | ast.Call(func=ast.Attribute(attr="size" | "stride"), args=[_])
            | ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant() | ast.UnaryOp())
        ):
            return True
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            return all(_is_number(part, around, whole, names) for part in (left, right))
        case ast.Name(id=name):
            values = _values(name, around)
            known = (_is_number(value, around, whole, names | {name}) for value in values)
            return name in names or (bool(values) and all(known))
    return False


def _values(name: str, around: ast.AST) -> list[ast.expr]:
    """What a name is assigned in a function, 0 for an element of a shape or a range; nothing if there is more."""
    values, bindings = _assigned(name, around), 0
    for node in _own(around):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Attribute(attr="shape")):
                values += [ast.Constant(0) for target in names if ast.unparse(target) == name]
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=parts)):
                pairs = zip(names, parts, strict=False)
                values += [part for target, part in pairs if ast.unparse(target) == name]
            case ast.For(target=ast.Name(id=used), iter=ast.Call(func=ast.Name(id="range"))) if used == name:
                values.append(ast.Constant(0))
    for node in ast.walk(around):
        match node:
            case ast.Name(id=used, ctx=ast.Store()) | ast.arg(arg=used):
                bindings += used == name
            case ast.Global(names=shared) | ast.Nonlocal(names=shared):
                bindings += name in shared
    return values if bindings == len(values) else []


def _tensor(arguments: Sequence[ast.expr], kernels: Sequence[PortedKernel]) -> str:
    """An argument that all kernels write through, so it is a tensor, if it can be written twice."""
    translations = [variant.translation for kernel in kernels for variant in kernel.variants]
    written = set[str].intersection(*({*translation.writes} for translation in translations))
    at = next((n for n, x in enumerate(translations[0].parameters) if x.name in written), len(arguments))
    match arguments[at : at + 1] or arguments[:1]:
        case [ast.Starred(value=ast.Name(id=name))]:
            return f"{name}[{at}]"
        case [ast.Call(func=ast.Attribute(value=tensor, attr="data_ptr")) | tensor]:
            _require(not any(isinstance(part, (ast.Starred, ast.Call)) for part in ast.walk(tensor)))
            return ast.unparse(tensor)
    raise NotPlain


def _type(parameter: Parameter) -> str:
    """Python's type of a parameter that is a number."""
    match parameter.type:
        case PointerType():
            return ""
        case ScalarType(is_float=True):
            return "float"
        case ScalarType(bits=1):
            return "bool"
    return "int"


class _Meta(ast.NodeTransformer):
    """``opt.TM`` and ``opt.d("TM")`` -> ``opt["TM"]``."""

    def __init__(self, name: str, takes: Mapping[str, Any]) -> None:
        self.name, self.takes = name, takes

    def visit(self, node: ast.AST) -> Any:
        match node:
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[ast.Constant(value=str(key))])
                | ast.Attribute(value=ast.Name(id=name), attr=key)
                | ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key)))
            ) if name == self.name:
                _require(key in self.takes)
                value = self.takes[key]
                return (
                    ast.Subscript(ast.Name(name), ast.Constant(key)) if value is None else ast.Constant(value)
                )
            case ast.Name(id=name):
                _require(name != self.name)
        return self.generic_visit(node)
