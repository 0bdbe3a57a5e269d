"""What a Python function does to its tensor arguments, read from its syntax tree.

Input: a function. Output: the names of the parameters whose memory it may write, and of those that its result
may alias, and whether it asks for addresses, which no tracer can follow.

The walk keeps, for each local name, the set of parameters whose memory the name may reach (*roots*), and
follows them through assignments, branches, loops and calls:

* a call of a kernel writes the roots of what stands at the kernel's written parameters (``writes.py``);
* a function of torch does what its schemas say: ``Tensor(a!)`` is written, ``Tensor(a)`` may alias;
* a plain Python function of the user is walked in turn;
* anything else is believed to write nothing, and to give back something that may alias all it was given.

So the walk may miss a write that is hidden well enough. Each launch is checked when it runs (``body.py``),
so that a miss is an error with a cure and never a wrong result. Where it depends on defines that do not show in the
call what a kernel writes, the parameters concerned are *doubtful*, and the operator asks its author.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final

import torch
from torch._library.custom_ops import CustomOpDef

from pytriton.operators.writes import Undecided, written_positions
from pytriton.runtime import Kernel

__all__ = ["Effects", "effects_of"]

Roots = frozenset[str]

_NONE: Final[Roots] = frozenset()
_MISSING: Final = object()
MAX_FUNCTIONS: Final = 200
_OPTIONS: Final = frozenset("grid defines num_warps num_stages bench".split())  # of a kernel call; no defines
# Attributes of a tensor that do not lead to its memory.
_PLAIN_ATTRIBUTES: Final = frozenset(
    "device dtype itemsize layout nbytes ndim requires_grad shape is_cpu is_cuda is_leaf".split()
)


@dataclass(frozen=True)
class Effects:
    """Names of parameters: those that may be written, and those that the result may alias.

    ``doubtful``: those of which nobody can say whether they are written, with the kernel that may.
    """

    written: Roots = _NONE
    returned: Roots = _NONE
    addresses: bool = False
    doubtful: Mapping[str, str] = field(default_factory=dict)


def effects_of(function: Callable[..., Any]) -> Effects:
    """The effects of a function; none where its source cannot be read."""
    return _effects(function, {})


def _effects(function: Callable[..., Any], known: dict[object, Effects]) -> Effects:
    """``known`` holds what was found of other functions; one that calls itself counts as harmless there."""
    if not isinstance(function, FunctionType) or len(known) > MAX_FUNCTIONS:
        return Effects()
    if function in known:
        return known[function]
    known[function] = Effects()
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return Effects()
    if not isinstance(tree, ast.FunctionDef):
        return Effects()
    walk = _Walk(function, known)
    given = tree.args
    for parameter in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        walk.names[parameter.arg] = frozenset({parameter.arg})
    walk.block(tree.body)
    doubtful = {name: by for name, by in walk.doubtful.items() if name not in walk.written}
    known[function] = Effects(frozenset(walk.written), frozenset(walk.returned), walk.addresses, doubtful)
    return known[function]


@dataclass
class _Walk:
    """One function: the roots of its local names so far, and what was found."""

    function: FunctionType
    known: dict[object, Effects]
    names: dict[str, Roots] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    returned: set[str] = field(default_factory=set)
    addresses: bool = False
    doubtful: dict[str, str] = field(default_factory=dict)

    # Statements.

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Return(value=ast.expr() as value):
                self.returned |= self.roots(value)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.assign(target, value, self.roots(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, value, self.roots(value))
            case ast.AugAssign(target=target, value=value):
                self.roots(value)
                self.written |= self.roots(target)  # x += y of a tensor writes it
            case ast.If(test=test, body=body, orelse=other):
                self.roots(test)
                self.branches(body, other)
            case ast.For(target=target, iter=over, body=body, orelse=other):
                self.assign(target, None, self.roots(over))
                self.loop(body)
                self.block(other)
            case ast.While(test=test, body=body, orelse=other):
                self.roots(test)
                self.loop(body)
                self.block(other)
            case ast.Try(body=body, handlers=handlers, orelse=other, finalbody=last):
                self.branches(body, [line for handler in handlers for line in handler.body])
                self.block([*other, *last])
            case ast.With(items=items, body=body):
                for item in items:
                    roots = self.roots(item.context_expr)
                    if item.optional_vars is not None:
                        self.assign(item.optional_vars, None, roots)
                self.block(body)
            case ast.FunctionDef(args=given, body=body, name=name):
                self.nested([argument.arg for argument in given.args], body)
                self.names[name] = _NONE
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.roots(child)
                    elif isinstance(child, ast.match_case):
                        self.branches(child.body, [])

    def assign(self, target: ast.expr, value: ast.expr | None, roots: Roots) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = roots
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                pair = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(targets)
                for at, element in enumerate(targets):
                    if pair and isinstance(value, (ast.Tuple, ast.List)):
                        self.assign(element, value.elts[at], self.roots(value.elts[at]))
                    else:
                        self.assign(element, None, roots)
            case ast.Starred(value=inner):
                self.assign(inner, None, roots)
            case ast.Subscript(value=base):
                self.written |= self.roots(base)  # x[i] = y of a tensor writes it
                self.absorb(base, roots)
            case ast.Attribute(value=base):
                self.absorb(base, roots)

    def absorb(self, base: ast.expr, roots: Roots) -> None:
        """Something was put into a container that has a name."""
        if isinstance(base, ast.Name):
            self.names[base.id] = self.names.get(base.id, _NONE) | roots

    def branches(self, *blocks: Sequence[ast.stmt]) -> None:
        before = self.names
        after: dict[str, Roots] = {}
        for block in blocks:
            self.names = dict(before)
            self.block(block)
            after = {n: after.get(n, _NONE) | self.names.get(n, _NONE) for n in {*after, *self.names}}
        self.names = after

    def loop(self, body: Sequence[ast.stmt]) -> None:
        """The body once, twice, ... until no name reaches more than before."""
        while True:
            before = dict(self.names)
            self.branches(body, [])
            if self.names == before:
                return

    def nested(self, parameters: list[str], body: Sequence[ast.stmt] | ast.expr) -> Roots:
        """A function within the function; its parameters lead nowhere."""
        outer, returned = dict(self.names), set(self.returned)
        self.names.update(dict.fromkeys(parameters, _NONE))
        roots = _NONE
        if isinstance(body, ast.expr):
            roots = self.roots(body)
        else:
            self.block(body)
        self.names, self.returned = outer, returned
        return roots

    # Expressions.

    def roots(self, node: ast.expr) -> Roots:
        match node:
            case ast.Name(id=name):
                return self.names.get(name, _NONE)
            case ast.Attribute(value=value, attr=attribute):
                return _NONE if attribute in _PLAIN_ATTRIBUTES else self.roots(value)
            case ast.Call():
                return self.call(node)
            case ast.Subscript(value=value, slice=index):
                self.roots(index)
                return self.roots(value)
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.JoinedStr():
                self.children(node)
                return _NONE  # operators of torch make new tensors
            case ast.Lambda(args=given, body=body):
                self.nested([argument.arg for argument in given.args], body)
                return _NONE
            case ast.NamedExpr(target=target, value=value):
                roots = self.roots(value)
                self.assign(target, value, roots)
                return roots
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self.comprehension(node)
        return self.children(node)

    def children(self, node: ast.AST) -> Roots:
        roots = _NONE
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                roots |= self.roots(child)
            elif isinstance(child, ast.keyword):
                roots |= self.roots(child.value)
        return roots

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Roots:
        outer = dict(self.names)
        for part in node.generators:
            self.assign(part.target, None, self.roots(part.iter))
            for condition in part.ifs:
                self.roots(condition)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        roots = _NONE.union(*(self.roots(result) for result in results))
        self.names = outer
        return roots

    # Calls.

    def call(self, node: ast.Call) -> Roots:
        positional = [self.roots(argument) for argument in _flat(node.args)]
        keywords = {word.arg: self.roots(word.value) for word in node.keywords}
        everything = _NONE.union(*positional, *keywords.values())
        called = self.resolve(node.func)
        self.addresses |= isinstance(node.func, ast.Attribute) and node.func.attr == "data_ptr"
        if isinstance(called, Kernel):
            self.kernel_call(called, node, positional)
            return _NONE
        package = (getattr(called, "__module__", None) or "").split(".")[0]
        if package == "pytriton" and not hasattr(called, "_schema"):
            return _NONE  # cdiv and its like
        if isinstance(called, FunctionType) and package != "torch":
            return self.user_function(called, positional, keywords)
        if called is not _MISSING:
            return self.by_schemas(_schemas(called), positional, keywords)
        if isinstance(node.func, ast.Attribute):
            receiver = self.roots(node.func.value)
            schemas = _schemas(getattr(torch.ops.aten, node.func.attr, None))
            of_tensors = [
                schema for schema in schemas if schema.arguments and str(schema.arguments[0].type) == "Tensor"
            ]
            if of_tensors:
                return self.by_schemas(of_tensors, [receiver, *positional], keywords)
            self.absorb(node.func.value, everything)  # things.append(x)
            return receiver | everything
        return everything

    def kernel_call(self, kernel: Kernel, node: ast.Call, positional: Sequence[Roots]) -> None:
        try:
            sure = may = written_positions(kernel, *self.shown_defines(node))
        except Undecided as undecided:
            sure, may = undecided.stores.sure, undecided.stores.may
        starred = [at for at, argument in enumerate(_flat(node.args)) if isinstance(argument, ast.Starred)]
        known = starred[0] if starred else len(positional)  # after f(*some) positions are anybody's guess
        for at, roots in enumerate(positional):
            if at < known and at in sure:
                self.written |= roots
            elif at in may if at < known else max(may, default=-1) >= known:
                self.doubtful |= dict.fromkeys(roots, kernel.name)

    def user_function(
        self, function: FunctionType, positional: list[Roots], keywords: dict[str | None, Roots]
    ) -> Roots:
        effects = _effects(function, self.known)
        names = list(inspect.signature(function).parameters)
        given: dict[str | None, Roots] = {**dict(zip(names, positional, strict=False)), **keywords}
        self.addresses |= effects.addresses
        for name in effects.written:
            self.written |= given.get(name, _NONE)
        for name, by in effects.doubtful.items():
            self.doubtful |= dict.fromkeys(given.get(name, _NONE), by)
        return _NONE.union(*(given.get(name, _NONE) for name in effects.returned))

    def by_schemas(
        self, schemas: Sequence[Any], positional: list[Roots], keywords: dict[str | None, Roots]
    ) -> Roots:
        """What the overloads of a function of torch may do, taken together."""
        names_of = [[argument.name for argument in schema.arguments] for schema in schemas]
        # An overload that lacks a keyword is not the one that is called.
        fitting = [
            (schema, names)
            for schema, names in zip(schemas, names_of, strict=True)
            if all(name in names for name in keywords)
        ]
        if not fitting:
            return _NONE.union(*positional, *keywords.values())
        result = _NONE
        for schema, names in fitting:
            given: dict[str | None, Roots] = {**dict(zip(names, positional, strict=False)), **keywords}
            for argument in schema.arguments:
                roots = given.get(argument.name, _NONE)
                if argument.alias_info is None:
                    continue
                if argument.alias_info.is_write:
                    self.written |= roots
                if any(_overlap(argument.alias_info, returned.alias_info) for returned in schema.returns):
                    result |= roots
        return result

    def shown_defines(self, node: ast.Call) -> tuple[dict[str, Any], frozenset[str], bool]:
        """The defines of a kernel call that it gives as literals or as global names, the names of those whose
        values do not show, and whether there may be others.
        """
        shown: dict[str, Any] = {}
        more = False
        for name, value in _given_defines(node):
            known = self.constant(value)
            if name is not None:
                shown[name] = known
            elif isinstance(known, Mapping):
                shown |= {key: define if _is_define(define) else _MISSING for key, define in known.items()}
            elif known is not None:
                more, shown = True, {}  # what stood before may be replaced
        unknown = frozenset(key for key, define in shown.items() if define is _MISSING)
        return {key: define for key, define in shown.items() if define is not _MISSING}, unknown, more

    def constant(self, node: ast.expr) -> Any:
        """The value of an expression that can be a define, or a dictionary of them; else _MISSING."""
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return torch.float32  # no type changes what is written
        try:
            constant = ast.literal_eval(node)
        except ValueError:
            constant = self.resolve(node)
        return (
            constant
            if constant is None or isinstance(constant, Mapping) or _is_define(constant)
            else _MISSING
        )

    def resolve(self, node: ast.expr) -> Any:
        """The object that a name means outside the function: global, of an enclosing function, builtin."""
        match node:
            case ast.Name(id=name) if name not in self.names:
                for scope in (_enclosing(self.function), self.function.__globals__, vars(builtins)):
                    if name in scope:
                        return scope[name]
            case ast.Attribute(value=value, attr=attribute):
                owner = self.resolve(value)
                try:
                    return _MISSING if owner is _MISSING else getattr(owner, attribute, _MISSING)
                except Exception:  # some modules of torch raise what they like
                    return _MISSING
        return _MISSING


def _given_defines(node: ast.Call) -> list[tuple[str | None, ast.expr]]:
    """Name and value of each define of a kernel call; no name for a dictionary of them. Later ones win."""
    defines: list[tuple[str | None, ast.expr]] = []
    for word in node.keywords:
        if word.arg == "defines" and isinstance(word.value, ast.Dict):
            for key, value in zip(word.value.keys, word.value.values, strict=True):
                known = isinstance(key, ast.Constant) and isinstance(key.value, str)
                defines.append((key.value, value) if known else (None, key or value))  # type: ignore[union-attr]
        elif word.arg == "defines":
            defines.append((None, word.value))
    defines += [(None, word.value) for word in node.keywords if word.arg is None]
    return defines + [
        (word.arg, word.value) for word in node.keywords if word.arg and word.arg not in _OPTIONS
    ]


def _is_define(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_is_define, value))
    return isinstance(value, (int, float, str, torch.dtype))


def _enclosing(function: FunctionType) -> dict[str, Any]:
    """The variables of enclosing functions, as far as they have values yet."""
    variables = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            variables[name] = cell.cell_contents
    return variables


def _flat(arguments: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """``f(*(a, b), c)`` as a, b, c."""
    for argument in arguments:
        if isinstance(argument, ast.Starred) and isinstance(argument.value, (ast.Tuple, ast.List)):
            yield from _flat(argument.value.elts)
        else:
            yield argument


def _schemas(called: Any) -> list[Any]:
    """The schemas of an operator, or of the aten operator that bears a torch function's name."""
    schema = getattr(called, "_schema", None)
    if isinstance(schema, torch.FunctionSchema):
        return [schema]
    if isinstance(called, torch._ops.OpOverloadPacket):
        return [getattr(called, name)._schema for name in called.overloads()]  # type: ignore[no-untyped-call]
    if isinstance(called, CustomOpDef):
        return [called._opoverload._schema]
    if (getattr(called, "__module__", None) or "").split(".")[0] != "torch":
        return []
    return _schemas(getattr(torch.ops.aten, getattr(called, "__name__", ""), None))


def _overlap(alias: Any, other: Any) -> bool:
    return other is not None and bool(set(alias.before_set) & (set(other.before_set) | set(other.after_set)))
