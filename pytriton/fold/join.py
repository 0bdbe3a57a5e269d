"""Two expressions that compute the same -> one that is right for the variants of both.

What Triton drops where it changes nothing is written for all: masks of blocks that are full, and conversions to the
type that a value has. A value may have another type where a define that no pointer tells is one, and where no
pointer's elements have the type of the conversion: there they are left to their variants. What follows a define is
written as the define: the size of a block, a number, the type of elements. Nothing here proves that; a proof over
the compiled kernel does (port/prove.py), and where it fails the variant is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final, NamedTuple

from pytriton.emit.python import Atom, BinOp, Call, Index, Method, Node
from pytriton.fold.variants import Set, Variants
from pytriton.fold.walk import children, form, rebuilt
from pytriton.frozen import replace
from pytriton.pipeline import Translation

ELEMENT: Final = ".dtype.element_ty"
ANY: Final = "?"  # before the name of a pointer: or of any other to elements of this type (polish.py)


class Version(NamedTuple):
    """An expression, and the variants that have it."""

    node: Node
    of: Set


class Joiner:
    """Joins expressions of one kernel. ``padded``: the names of padded sizes, ``masks``: of what is in them."""

    def __init__(self, variants: Variants, padded: Mapping[str, str], masks: Mapping[str, str]) -> None:
        self._variants = variants
        self._padded = padded
        self._masks = masks
        self._types_are_known = all(map(variants.is_element_type, filter(variants.is_type, variants.values)))
        self._following: dict[tuple[str, Set], frozenset[str]] = {}
        self._joined: dict[tuple[Version, Version], Node | None] = {}

    def join(self, left: Version, right: Version) -> Node | None:
        """One expression for both, or None."""
        if left.node == right.node:
            return left.node
        key = left, right
        if key not in self._joined:
            self._joined[key] = (
                self._alike(left, right) or self._without(left, right) or self._without(right, left)
            )
        return self._joined[key]

    # ---------------------------------------------------------------- the same form

    def _alike(self, left: Version, right: Version) -> Node | None:
        if isinstance(left.node, Atom) and isinstance(right.node, Atom):
            return self._atom(left, right)
        pairs = _paired(left.node, right.node)
        if pairs is None:
            return None
        joined: list[Node] = []
        for left_part, right_part in pairs:
            node = self.join(Version(left_part, left.of), Version(right_part, right.of))
            if node is None:
                return None
            joined.append(node)
        return rebuilt(left.node, joined)

    def _atom(self, left: Version, right: Version) -> Node | None:
        """A size and its padded size; or the define that has the value of each variant."""
        assert isinstance(left.node, Atom) and isinstance(right.node, Atom)
        for size, padded in ((left.node.text, right.node.text), (right.node.text, left.node.text)):
            if self._padded.get(size) == padded:
                return Atom(padded)
        both = self._followed(left.node.text, left.of) & self._followed(right.node.text, right.of)
        return Atom(min(both, key=self._order)) if both else None

    def _order(self, name: str) -> int:
        return list(self._followable).index(name)

    @cached_property
    def _followable(self) -> Mapping[str, list[str]]:
        numbers = {
            name: [
                str(value) if _is_fixed(variant.translation, name) else ""
                for value, variant in zip(values, self._variants.variants, strict=True)
            ]
            for name, values in self._variants.values.items()
            if all(value is None or type(value) is int for value in values)
        }
        types = {
            f"{ANY}{name}{ELEMENT}": [f"tl.{word}" for word in words]
            for name, words in self._variants.elements.items()
            if len(set(words)) > 1
        }
        return {**types, **numbers}

    def _followed(self, text: str, of: Set) -> frozenset[str]:
        """The names whose value is this text in each of the variants."""
        key = text, of
        if key not in self._following:
            self._following[key] = frozenset(
                name
                for name, values in self._followable.items()
                if name == text or all(values[n] == text for n in self._variants.members(of))
            )
        return self._following[key]

    # ---------------------------------------------------------------- what changes nothing

    def _without(self, more: Version, less: Version) -> Node | None:
        """``more`` with what it has and ``less`` lacks, if Triton drops it for the variants of ``less``."""
        match more.node:
            case Method(operand=operand, name="to", arguments=(target,)) if self._types_are_known:
                type_ = self._type(target, more.of, less.of)
                node = self.join(Version(operand, more.of), less) if type_ else None
                return Method(node, "to", (type_,)) if node and type_ else None
            case BinOp(operator="&" | "*" as sign, left=left, right=right):
                if self._is_neutral(sign, right, less.of):
                    node = self.join(Version(left, more.of), less)
                    return node and BinOp(sign, node, right)
                if self._is_neutral(sign, left, less.of):
                    node = self.join(Version(right, more.of), less)
                    return node and BinOp(sign, left, node)
            case Call(function="tl.where", arguments=(mask, value, other)) if self._full(mask, less.of):
                node = self.join(Version(value, more.of), less)
                return node and Call("tl.where", (mask, node, other))
            case Call(function="tl.broadcast_to", arguments=(value, shape)):
                node = self.join(Version(value, more.of), less)
                return node and Call("tl.broadcast_to", (node, shape))
            case Call(function="tl.dot", keywords=[*others, ("input_precision", precision)]):
                bare = replace(more.node, keywords=tuple(others))
                node = self.join(Version(bare, more.of), less)
                if isinstance(node, Call):
                    return replace(node, keywords=(*node.keywords, ("input_precision", precision)))
            case Call():
                return self._masked(more, less)
        return None

    def _is_neutral(self, sign: str, operand: Node, of: Set) -> bool:
        """Whether an operand changes nothing in all these variants: a full mask, a define that is 1."""
        if sign == "&":
            return self._full(operand, of)
        name = operand.text if isinstance(operand, Atom) else ""
        return name in self._variants.values and name in self._followed("1", of)

    def _type(self, target: Node, of: Set, bare: Set) -> Node | None:
        """The type of a conversion that some lack: that of a pointer's elements if others have it; any other must
        be that of some elements where it is lacking."""
        if isinstance(target, Atom) and target.text.startswith("tl."):
            followed = self._followed(target.text, of) - self._followed(target.text, bare)
            if names := [name for name in followed if name.endswith(ELEMENT)]:
                return Atom(min(names, key=self._order))
            pointed = [*self._variants.elements.values()]
            if not all(
                any(f"tl.{words[n]}" == target.text for words in pointed)
                for n in self._variants.members(bare)
            ):
                return None
        return target

    def _masked(self, more: Version, less: Version) -> Node | None:
        """A load or store with a mask, where the other needs none."""
        masked, plain = more.node, less.node
        assert isinstance(masked, Call)
        if not isinstance(plain, Call) or masked.function != plain.function:
            return None
        given = dict(masked.keywords)
        bare = tuple(pair for pair in masked.keywords if pair[0] not in ("mask", "other"))
        if "mask" not in given or not self._full(given["mask"], less.of) or "mask" in dict(plain.keywords):
            return None
        node = self._alike(Version(Call(masked.function, masked.arguments, bare), more.of), less)
        if not isinstance(node, Call):
            return None
        return Call(
            node.function, node.arguments, node.keywords + tuple(p for p in masked.keywords if p not in bare)
        )

    def _full(self, mask: Node, of: Set) -> bool:
        """Whether a mask only excludes padding, and these variants have none."""
        match mask:
            case Atom(text=text):
                return text in self._masks and not self._variants.padded[self._masks[text]] & of
            case Index(operand=operand):
                return self._full(operand, of)
            case BinOp(operator="&", left=left, right=right):
                return self._full(left, of) and self._full(right, of)
        return False


def _is_fixed(translation: Translation, name: str) -> bool:
    """Whether a translation is only for one value of a number."""
    asked = (condition.comparison for condition in translation.conditions)
    return any(comparison.operator == "==" and comparison.left == name for comparison in asked)


def _paired(left: Node, right: Node) -> list[tuple[Node, Node]] | None:
    if form(left) != form(right) or isinstance(left, Atom):
        return None
    return list(zip(children(left), children(right), strict=True))
