"""The map: a text and its variants -> one kernel.

the trees of the variants -> name padded sizes -> merge the bodies -> keep each comment once -> parameters
-> program ids in groups -> assertions of what the kernel accepts -> a module
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from keyword import kwlist
from textwrap import wrap
from typing import Final, NamedTuple

from pytriton.emit.printer import INDENT, WIDE, printed
from pytriton.emit.printer import body as lines_of
from pytriton.emit.python import (
    CONSTEXPR,
    Atom,
    BinOp,
    Block,
    Call,
    FunctionParameter,
    KernelFunction,
    Method,
    Node,
    Simple,
    Statement,
    show,
)
from pytriton.fold.join import Joiner
from pytriton.fold.leaves import HELPERS, ONE_OF, Leaves
from pytriton.fold.merge import Merger
from pytriton.fold.padding import Padding
from pytriton.fold.partial import RecordedValues, specialised
from pytriton.fold.polish import names_assigned, polished
from pytriton.fold.separations import Separations
from pytriton.fold.variants import Defines, Set, Unfoldable, Variant, Variants, as_number, number
from pytriton.fold.walk import expressions, mapped, names_read

MAX_OPTIONS: Final = 40  # characters of the options that an assertion names
MAX_TERMS: Final = 176  # characters of a condition with a line for each term
TYPES: Final = '"pass tensors of these types"'
GROUP: Final = "GROUP"  # the constexpr for the size of a group of programs


class Folded(NamedTuple):
    """One kernel for all its define sets.

    ``parameters`` are those of the text: where it lacks one for some define sets, None is passed for them. The
    ``constexprs`` follow. ``grouped``: GROUP is one more, which is not a define.
    """

    text: str
    function: str
    parameters: tuple[str, ...]
    constexprs: tuple[str, ...]
    leaves: Leaves
    lines: tuple[int, ...]
    grouped: bool
    tree: KernelFunction  # without its assertions

    def bind(self, defines: Defines) -> dict[str, object]:
        """The values of the constexprs for a define set."""
        values: dict[str, object] = {}
        for name in self.constexprs:
            value = number(defines.get(name))
            given = (
                value not in (None, 0)
                if name in self.leaves.truths
                else value is not None and value is not False
            )
            values[name] = given if name in self.leaves.flags else as_number(value)
        return values

    def specialised(self, defines: Defines) -> str:
        """The body for a define set: what defines decide is decided, numbers that are free keep their names.

        What is left of other defines is known by its value. So where two sets have the same, and their translations
        have the same text, the kernel is proved for both or for neither.
        """
        given = RecordedValues(self.bind(defines))
        left = specialised(self.tree.body, given)
        exact = {name: given[name] for name in names_read(left) if name in given}
        for name in self.leaves.numbers:
            exact.pop(name, None)
        return "\n".join([*(line for line, _ in lines_of(left, 0)), repr(sorted(exact.items()))])


def fold(
    text: str,
    variants: Sequence[Variant],
    function: str | None = None,
    groups: bool = False,
) -> Folded:
    """One kernel that is each variant with that variant's constexprs.

    It is called ``function`` where the names of the variants share nothing. ``groups``: its programs may run in
    groups. Raises Unfoldable where the variants cannot be one function.
    """
    all_variants = Variants(variants, text)
    kernels = _kernels(all_variants)
    padding = Padding([kernel for kernel, _ in kernels])
    conditions = Separations(text, all_variants, padding.sizes)
    bodies = [(padding.named(kernel.body), of) for kernel, of in kernels]
    reads = _reads(bodies)
    types = [dict(_types(all_variants, place)) for place in range(all_variants.count)]
    alike = set.intersection(*({*typed.items()} for typed in types))
    shared = {
        name: node for name, node in types[0].items() if (name, node) in alike and name in all_variants.read
    }
    bodies = [row for body, of in bodies for row in _by_types(body, of, types, shared)]
    merger = Merger(Joiner(all_variants, padding.sizes, padding.masks), conditions, reads)
    merged = polished(merger.merged(bodies, all_variants.all), text, all_variants)
    body: tuple[Statement, ...] = (*padding.definitions(all_variants), *merged)
    name = _common_name([kernel.function for kernel, _ in kernels]) or function or "kernel"
    constexprs = _constexprs(all_variants, body, text)
    parameters = _parameters([kernel for kernel, _ in kernels])
    missing = _missing(all_variants, [parameter.name for parameter in parameters], text)
    leaves = Leaves(all_variants, conditions.words, padding.sizes, body, missing)
    names = list(constexprs)
    groups = groups and GROUP not in conditions.words
    if groups:
        taken = {*names_read(body), *names_assigned(body), *names, *(p.name for p in parameters)}
        names, body = [*names, GROUP], grouped(body, taken)
    folded = KernelFunction(
        name,
        _union(kernel.above for kernel, _ in kernels),
        (*parameters, *(FunctionParameter(constexpr, CONSTEXPR) for constexpr in names)),
        (*_typed(shared), *body),
        helpers=frozenset[str]().union(*(kernel.helpers for kernel, _ in kernels)),
        libdevice=any(kernel.libdevice for kernel, _ in kernels),
    )
    return asserting(folded, leaves, groups)


def _missing(variants: Variants, parameters: Sequence[str], text: str) -> dict[Node, list[str]]:
    """The parameters that the text lacks for some variants, by a condition of defines alone."""
    rows = [{p.identifier for p in variant.translation.parameters} for variant in variants.variants]
    missing: dict[Set, list[str]] = {}
    for name in parameters:
        missing.setdefault(variants.where(lambda n, name=name: name not in rows[n]), []).append(name)  # type: ignore[misc]
    missing.pop(0, None)
    if not missing:
        return {}
    conditions = Separations(text, variants, {}, elements=False)
    return {conditions.between(of, of).node: names for of, names in missing.items()}


def asserting(tree: KernelFunction, leaves: Leaves, grouped: bool) -> Folded:
    """The kernel ``tree`` with assertions of what the leaves require."""
    conditions = leaves.accepted
    words = re.findall(r"\w+", " ".join(map(show, (*conditions, *expressions(tree.body)))))
    own = [parameter for parameter in tree.parameters if parameter.annotation != CONSTEXPR]
    names = [parameter.name for parameter in tree.parameters if parameter.annotation == CONSTEXPR]
    more = [name for name in leaves.names if name in words and name not in names]
    _check_names(tree.body, own, (*names, *more))
    options = {name: name for name in (*names, *more)} | leaves.types
    absent = leaves.absent | dict.fromkeys([GROUP] * grouped)
    defaults = {name: f" = {absent[name]}" if name in absent else "" for name in (*names, *more)}
    order = sorted(defaults, key=lambda name: name in absent)
    # Triton takes 1 for an int otherwise
    typed = (p._replace(annotation="tl.float32") if p.name in leaves.floats else p for p in own)
    whole = tree._replace(
        parameters=(*typed, *(FunctionParameter(name, CONSTEXPR + defaults[name]) for name in order)),
        body=(*(s for c in conditions for s in _assertion(c, _cure(c, options), tree.line)), *tree.body),
        helpers=tree.helpers | {*HELPERS}.intersection(words),
    )
    text, origins = printed(whole, WIDE)
    lines = tuple(origins.get(row, 0) for row in range(1, text.count("\n") + 1))
    constexprs = tuple(name for name in (*names, *more) if not grouped or name != GROUP)
    identifiers = tuple(parameter.name for parameter in own)
    return Folded(text, tree.function, identifiers, constexprs, leaves, lines, grouped, tree)


def _assertion(condition: Node, message: str, line: int) -> Iterator[Statement]:
    """``tl.static_assert``; a long condition has many terms on a line, where the printer would have one."""
    text = show(condition)
    if len(text) < MAX_TERMS:
        yield Simple("", Call("tl.static_assert", (condition, Atom(message))), line)
        return
    rows = (" " * INDENT + row for row in filled(f"{text}, {message}", WIDE - 2 * INDENT))
    for row in ("tl.static_assert(", *rows, ")  # fmt: skip"):
        yield Simple(row, None, line)


def filled(text: str, width: int) -> list[str]:
    """An expression on lines that end anywhere but in strings."""
    held = re.sub(r'"[^"]*"', lambda string: string[0].replace(" ", "\0"), text)
    rows = wrap(held, width, break_long_words=False, break_on_hyphens=False)
    return [row.replace("\0", " ") for row in rows]


def _cure(condition: Node, options: Mapping[str, str]) -> str:
    """The message of an assertion: the compiler shows the condition above it. ``options``: what each is there."""
    words = re.findall(r"\w+", show(condition))
    cure = " ".join(f"-D {name}=..." for name, word in options.items() if word in words)
    return f'"port again with {cure if 0 < len(cure) < MAX_OPTIONS else "-D or a --run of this"}"'


def _kernels(variants: Variants) -> list[tuple[KernelFunction, Set]]:
    """The kernels that differ, with the variants of each."""
    of: dict[str, tuple[KernelFunction, Set]] = {}
    for place, variant in enumerate(variants.variants):
        text, tree = variant.translation.text, variant.translation.tree
        kernel, members = of.get(text, (tree, 0))
        of[text] = kernel, members | 1 << place
    return list(of.values())


def _union(rows: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for row in rows for text in row))


def _common_name(names: Sequence[str]) -> str:
    """The name of all; of ``conv_fwd`` and ``conv_dx``, what they share; empty where that is meaningless."""
    if len(set(names)) == 1:
        return names[0]
    parts = [name.split("_") for name in names]
    shared = [part for part in parts[0] if all(part in other for other in parts)]
    return "" if shared == ["kernel"] else "_".join(shared)


def _reads(bodies: Iterable[tuple[Sequence[Statement], Set]]) -> dict[str, Set]:
    """For each name, the variants that read it."""
    reads: dict[str, Set] = {}
    for body, of in bodies:
        for name in names_read(body):
            reads[name] = reads.get(name, 0) | of
    return reads


# ---------------------------------------------------------------- element types

# which programs pass tensors of another type for: int32 for ``unsigned *X``
_BYTES: Final = ("int1", "int8", "uint8")
_RENAMED: Final = dict.fromkeys(_BYTES, _BYTES) | {
    f"uint{bits}": (f"int{bits}", f"uint{bits}") for bits in (16, 32, 64)
}


def _types(variants: Variants, place: int) -> Iterator[tuple[str, Node]]:
    """What a variant declares its pointers as: a condition, or a conversion to the same bits of this type.

    One that is declared with a define has the type of the pointer of which this define is asked (leaves.py), its
    ``first``. Others have that of the first with their type.
    """
    first_of = {define: pointer for define, (pointer, _) in variants.type_defines.items()}
    for parameter in variants.variants[place].translation.parameters:
        name = parameter.identifier
        word = variants.pointers.get(name, {}).get(place)
        if word is None:
            continue  # a number
        declaration = re.findall(r"\w+", parameter.declaration)[:-1]
        declaration += [*(inner for text in declaration for inner in variants.macros.get(text, ())), word]
        given = (first_of[text] for text in declaration if text in first_of)
        first = next((other for other in given if variants.pointers[other].get(place) == word), None)
        if first is None:
            yield name, _of_type(name, word)
            if name in variants.read and word not in _RENAMED:
                first_of[word] = name
        elif first != name:
            yield name, BinOp("==", Atom(f"{name}.dtype"), Atom(f"{first}.dtype"))


def _by_types(
    body: Sequence[Statement], of: Set, types: Sequence[Mapping[str, Node]], shared: Mapping[str, Node]
) -> Iterator[tuple[tuple[Statement, ...], Set]]:
    """A body with statements of the types that are not ``shared``, for each of its variants."""
    parts: dict[tuple[tuple[str, Node], ...], Set] = {}
    for place, typed in enumerate(types):
        if of >> place & 1:
            key = tuple((name, node) for name, node in typed.items() if name not in shared)
            parts[key] = parts.get(key, 0) | 1 << place
    for key, part in parts.items():
        yield (*_typed_where_read(body, dict(key)),), part


def _of_type(name: str, word: str) -> Node:
    """A pointer's type, or the same bits where programs pass another one."""
    type_ = Atom(f"tl.pointer_type(tl.{word})")  # one atom: it does not follow a define (join.py)
    return (
        Method(Atom(name), "to", (type_,)) if word in _RENAMED else BinOp("==", Atom(f"{name}.dtype"), type_)
    )


def _typed(types: Mapping[str, Node], line: int = 0) -> Iterator[Statement]:
    """Statements that pointers have their types."""
    conditions = [_same_bits(node) if isinstance(node, Method) else node for node in types.values()]
    if conditions:
        yield from _assertion(reduce(lambda left, right: BinOp("and", left, right), conditions), TYPES, line)
    yield from (Simple(f"{name} = ", x, line) for name, x in types.items() if isinstance(x, Method))


def _same_bits(conversion: Method) -> Node:
    """That the elements of a pointer have as many bits as after its conversion."""
    word = show(conversion.arguments[0]).removesuffix(")").rpartition(".")[2]
    known = (Atom(f"tl.{other}") for other in _RENAMED[word])
    return Call(ONE_OF, (Atom(f"{show(conversion.operand)}.dtype.element_ty"), *known))


def _typed_where_read(body: Iterable[Statement], types: Mapping[str, Node]) -> Iterator[Statement]:
    """A body with these statements, those of each pointer before it is first read."""
    left = dict(types)
    for statement in body:
        read = names_read([statement]) if left else frozenset[str]()
        yield from _typed(
            {name: left.pop(name) for name in types if name in left.keys() & read}, statement.line
        )
        yield statement


# ---------------------------------------------------------------- parameters


def _constexprs(variants: Variants, body: Sequence[Statement], text: str) -> tuple[str, ...]:
    """The constexprs of the variants and the defines that conditions ask for, in the order of the text."""
    names = dict.fromkeys(name for variant in variants.variants for name in variant.translation.constexprs)
    mentioned = names_read(body)
    declared = {
        parameter.identifier for variant in variants.variants for parameter in variant.translation.parameters
    }
    names |= dict.fromkeys(n for n in variants.values if n in mentioned and n not in declared)
    places = {name: re.search(rf"\b{re.escape(name)}\b", text) for name in names if name in mentioned}
    return tuple(sorted(places, key=lambda name: match.start() if (match := places[name]) else len(text)))


def _check_names(
    body: Sequence[Statement], parameters: Sequence[FunctionParameter], constexprs: Sequence[str]
) -> None:
    """Raises Unfoldable where a define has the name of a parameter or of a variable, or of what bodies call."""
    taken = {
        *(p.name for p in parameters),
        *names_assigned(body),
        *kwlist,
        "float",
        "isinstance",
        "tl",
        "triton",
        *HELPERS,
    }
    for name in constexprs:
        if name in taken:
            raise Unfoldable(f"{name} is a define of some variants and another name of others")


def _parameters(kernels: Sequence[KernelFunction]) -> tuple[FunctionParameter, ...]:
    """The parameters of all variants, in an order that is that of each. Raises Unfoldable if there is none."""
    rows: dict[str, list[FunctionParameter]] = {}
    before: dict[str, set[str]] = {}
    for kernel in kernels:
        previous: set[str] = set()
        for parameter in kernel.parameters:
            if parameter.annotation != CONSTEXPR:
                rows.setdefault(parameter.name, []).append(parameter)
                before.setdefault(parameter.name, set()).update(previous)
                previous = {parameter.name}
    order: list[str] = []
    while len(order) < len(rows):
        ready = (name for name in rows if name not in order and before[name].issubset(order))
        name = next(ready, None)
        if name is None:
            left = next(name for name in rows if name not in order)
            raise Unfoldable(f"the order of the parameters differs: {left}")
        order.append(name)
    parameters = []
    for name in order:
        row = rows[name]
        annotations = {parameter.annotation for parameter in row}
        if len(annotations) > 1:
            raise Unfoldable(f"{name} is not always {max(annotations)}")
        notes = list(dict.fromkeys(parameter.note for parameter in row))
        if len(notes) > 1:  # a promise that only some variants make is the launcher's affair
            notes = [note for note in notes if note and not note.startswith("multiple of")]
        pairs = [note.partition("; ") for note in notes]  # a type, and a comment
        types, beside = (dict.fromkeys(pair[place] for pair in pairs) for place in (0, 2))
        note = "; ".join(filter(None, (" or ".join(types), *beside)))
        parameters.append(FunctionParameter(name, annotations.pop(), _union(p.above for p in row), note))
    return tuple(parameters)


# ---------------------------------------------------------------- groups


def grouped(body: Iterable[Statement], taken: Collection[str]) -> tuple[Statement, ...]:
    """The body with its programs in groups of GROUP, which a sweep of a matrix product may try.

    With 0 or None programs run as they come, with 8 in the order that passes/speed/swizzle.py gives them for
    groups of 8. The new ids are a bijection of the launch grid, so either is exact; prove.py compares both.
    ``taken``: names that have a meaning in the body.
    """
    row, column, place = (Atom(_free(name, taken)) for name in ("pid_0", "pid_1", "pid"))
    asked = [Call("tl.program_id", (Atom(axis),)) for axis in "01"]
    ids: dict[Node, Node] = dict(zip(asked, (row, column), strict=True))
    high, wide = (Call("tl.num_programs", (Atom(axis),)) for axis in "01")
    line = BinOp("+", BinOp("*", column, high), row)
    swizzled = Call("tl.swizzle2d", (Atom("0"), place, high, wide, Atom(GROUP)))
    comment = "programs in groups, for the level-2 cache"
    in_groups = (
        Simple(f"{place.text} = ", line, above=(comment,)),
        Simple(f"{row.text}, {column.text} = ", swizzled),
    )
    start = [Simple(f"{name.text} = ", call) for name, call in zip((row, column), asked, strict=True)]
    return (*start, Block("if ", Atom(GROUP), in_groups), *mapped(body, lambda node, _: ids.get(node, node)))


def _free(name: str, taken: Collection[str]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)
