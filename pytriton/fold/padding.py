"""Sizes that are a power of two in some variants and not in others.

A variant whose TN is 768 has blocks of 1024 elements and a mask ``in_TN`` of those that count; one whose TN is
512 has neither. Folded, the size is ``TN_PADDED`` in both, and the mask of a full block is the constant True, so
that Triton drops every use of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytriton.emit.python import (
    Atom,
    BinOp,
    Call,
    Conditional,
    Index,
    KernelFunction,
    Node,
    Simple,
    Statement,
    Tuple,
)
from pytriton.fold.variants import Variants
from pytriton.fold.walk import expressions, rewritten, statements, with_bodies
from pytriton.frozen import replace

_SHAPED: Final = {"tl.arange": 1, "tl.zeros": 0, "tl.full": 0, "tl.broadcast_to": 1}  # the place of the shape


class Padding:
    """The padded sizes of the kernels. ``sizes``: TN -> TN_PADDED; ``masks``: in_TN -> TN."""

    def __init__(self, kernels: Sequence[KernelFunction]) -> None:
        self.sizes: dict[str, str] = {}
        self.masks: dict[str, str] = {}
        self._indexed: set[str] = set()
        for kernel in kernels:
            for node in expressions(kernel.body):
                match node:
                    case Call(function="triton.next_power_of_2", arguments=(Atom(text=name),)):
                        self.sizes[name] = f"{name}_PADDED" if name.isupper() else f"{name}_padded"
                    case Index(operand=Atom(text=name)):
                        self._indexed.add(name)
            for statement in statements(kernel.body):
                for name in self.sizes:
                    if statement.before == f"in_{name} = ":
                        self.masks[f"in_{name}"] = name

    def named(self, body: Iterable[Statement]) -> tuple[Statement, ...]:
        """The body with names for padded sizes, without the definitions of masks."""
        renamed: list[Statement] = []
        for statement in body:
            if isinstance(statement, Simple) and statement.before.removesuffix(" = ") in self.masks:
                if statement.above:
                    renamed.append(Simple("", None, statement.line, statement.above))
                continue
            if statement.node is not None:
                statement = replace(statement, node=rewritten(statement.node, self._renamed))
            renamed.append(with_bodies(statement, self.named))
        return tuple(renamed)

    def _renamed(self, node: Node) -> Node:
        match node:
            case Call(function="triton.next_power_of_2", arguments=(Atom(text=name),)):
                return Atom(self.sizes[name])
            case Call(function=function, arguments=arguments) if function in _SHAPED:
                at = _SHAPED[function]
                shaped = [self._padded(part) if n == at else part for n, part in enumerate(arguments)]
                return replace(node, arguments=tuple(shaped))
        return node

    def _padded(self, shape: Node) -> Node:
        """A shape with padded sizes, which in a variant that needs no padding are the sizes themselves."""
        return rewritten(
            shape, lambda size: Atom(self.sizes.get(size.text, size.text)) if isinstance(size, Atom) else size
        )

    def definitions(self, variants: Variants) -> Iterator[Statement]:
        """The top of the kernel: the padded sizes, and the masks."""
        for name, padded in self.sizes.items():
            yield Simple(f"{padded}: tl.constexpr = ", Call("triton.next_power_of_2", (Atom(name),)))
        for mask, name in self.masks.items():
            padded = self.sizes[name]
            inside: Node = BinOp("<", Call("tl.arange", (Atom("0"), Atom(padded))), Atom(name))
            if variants.padded[name] != variants.all:
                full: Node = Atom("True")
                if mask in self._indexed:
                    full = Call("tl.full", (Tuple((Atom(padded),)), Atom("True"), Atom("tl.int1")))
                inside = Conditional(BinOp("!=", Atom(name), Atom(padded)), inside, full)
            yield Simple(f"{mask} = ", inside)
