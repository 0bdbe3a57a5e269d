"""The generator's own idea of C's types, from the description of the language: what type each expression has.

Deliberately not imported from the checker: where the two disagree, a generated declaration converts where none
should be needed, and ``audit`` (kernels.py) sees it.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "FLOATS",
    "INTEGERS",
    "SCALARS",
    "Scalar",
    "by_name",
    "common",
    "fill",
    "promoted",
    "real",
]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number type: its word, its kind (b, i, u, f), its bits, its rank among the floating types."""

    word: str
    kind: str
    bits: int
    rank: int = 0
    digits: int = 0  # of the significand, the hidden one too
    least: int = 0  # the exponent of the smallest normal number

    def __str__(self) -> str:
        return self.word

    @property
    def floating(self) -> bool:
        return self.kind == "f"

    @property
    def lowest(self) -> int:
        """Of an integer type."""
        return -(1 << self.bits - 1) if self.kind == "i" else 0

    @property
    def highest(self) -> int:
        return (1 << self.bits - (self.kind == "i")) - 1

    @property
    def quantum(self) -> int:
        """The exponent of the smallest subnormal number."""
        return self.least - self.digits + 1


SCALARS = (
    Scalar("int", "i", 32),
    Scalar("float", "f", 32, 2, 24, -126),
    Scalar("half", "f", 16, 1, 11, -14),
    Scalar("bool", "b", 1),
    Scalar("char", "i", 8),
    Scalar("unsigned char", "u", 8),
    Scalar("short", "i", 16),
    Scalar("unsigned short", "u", 16),
    Scalar("unsigned int", "u", 32),
    Scalar("long", "i", 64),
    Scalar("unsigned long", "u", 64),
    Scalar("double", "f", 64, 3, 53, -1022),
    Scalar("bfloat16", "f", 16, 1, 8, -126),
)
INTEGERS = tuple(s for s in SCALARS if s.kind in "iu")
FLOATS = tuple(s for s in SCALARS if s.floating)
_NAMES = {s.word: s for s in SCALARS}


def by_name(word: str) -> Scalar:
    return _NAMES[word]


def promoted(type_: Scalar) -> Scalar:
    """Integer promotion: what is narrower than int becomes int."""
    return type_ if type_.floating or type_.bits >= 32 else _NAMES["int"]


def common(left: Scalar, right: Scalar) -> Scalar:
    """The usual arithmetic conversions; half beside bfloat16 is float, since neither holds the other."""
    if left.floating and right.floating:
        if left.rank == right.rank:
            return left if left == right else _NAMES["float"]
        return left if left.rank > right.rank else right
    if left.floating or right.floating:
        return left if left.floating else right
    left, right = promoted(left), promoted(right)
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    return left if left.kind == "u" else right


def real(type_: Scalar) -> Scalar:
    """The type of ``exp`` and its like: double for double, float for everything else."""
    return type_ if type_.word == "double" else _NAMES["float"]


def fill(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape two operands broadcast to, or None."""
    rank = max(len(left), len(right))
    a, b = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b, strict=True)):
        return None
    return tuple(max(x, y) for x, y in zip(a, b, strict=True))
