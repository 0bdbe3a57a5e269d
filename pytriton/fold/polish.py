"""The last touches to a folded body, for its readers.

Each comment of the text occurs once, and arms that became the same are one; ``+ 0`` of addresses is left out; a
type that several pointers have is written with the pointer that the statement is about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pytriton.emit.python import Atom, BinOp, Block, Call, Node, Simple, Statement
from pytriton.fold.join import ANY, ELEMENT
from pytriton.fold.variants import Variants
from pytriton.fold.walk import mapped, names_read, statements, with_bodies
from pytriton.frozen import replace


def polished(body: Sequence[Statement], text: str, variants: Variants) -> tuple[Statement, ...]:
    """The body with all of this done."""
    typed = mapped(body, lambda node, statement: _at_0(_with_types(statement, node, variants)))
    return tuple(_once(typed, text, Counter()))


def names_assigned(body: Iterable[Statement]) -> frozenset[str]:
    """The variables of a body, those of its loops included."""
    names: set[str] = set()
    for statement in statements(body):
        if statement.before not in ("", "if ", "while ", "return "):
            target = statement.before.removeprefix("for ").partition(" ")[0]
            names |= {name.strip(":") for name in target.split(", ")}
    return frozenset(names)


# ---------------------------------------------------------------- comments


def _once(body: Iterable[Statement], text: str, seen: Counter[str]) -> Iterator[Statement]:
    """The statements with each comment of the text as often as the text has it."""
    for statement in body:
        above = []
        for comment in statement.above:
            if not any(map(str.isalnum, comment)):
                continue  # a line of dashes
            seen[comment] += 1
            if seen[comment] <= text.count(comment) or comment not in text:
                above.append(comment)
        statement = with_bodies(
            replace(statement, above=tuple(above)), lambda inner: _once(inner, text, seen)
        )
        if isinstance(statement, Block) and statement.otherwise and _is_same(statement):
            first, *others = statement.body
            yield from (replace(first, above=(*statement.above, *first.above)), *others)
        elif statement.node is not None or statement.before or statement.above:
            yield statement


def _is_same(choice: Block) -> bool:
    """Whether both arms are the same statements, on the same lines of the source or not."""

    def text(statement: Statement) -> Statement:
        return replace(statement, line=0) if isinstance(statement, Simple) else statement

    return list(map(text, choice.body)) == list(map(text, choice.otherwise))


# ---------------------------------------------------------------- addresses and types


def _at_0(node: Node) -> Node:
    """``tl.load(p)`` for ``tl.load(p + 0)``."""
    match node:
        case Call("tl.load" | "tl.store", (BinOp("+", pointer, Atom("0")), *others)):
            return replace(node, arguments=(pointer, *others))
    return node


def _with_types(statement: Statement, node: Node, variants: Variants) -> Node:
    """``?X.dtype.element_ty`` with the best pointer to such elements: its name is like that of the variable."""
    if not isinstance(node, Atom) or not node.text.startswith(ANY):
        return node
    first = node.text.removeprefix(ANY).removesuffix(ELEMENT)
    assert statement.node is not None
    target = statement.before.partition(" ")[0].lower()
    mentioned = names_read([statement])

    def rank(name: str) -> tuple[bool, bool, bool, bool]:
        lower = name.lower()
        return (
            lower != target,
            not (target and lower.startswith(target)),
            name not in mentioned,
            name != first,
        )

    alike = [name for name, words in variants.elements.items() if words == variants.elements[first]]
    return Atom(min(alike, key=rank) + ELEMENT)
