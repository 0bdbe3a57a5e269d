"""The types of Triton-C, and C's conversions between them (docs/language.md, Types).

A type is a ``ScalarType``, a ``PointerType`` or a ``BlockType`` of either. ``ERROR`` is the type of an
expression whose error was reported; operations on it report nothing more. Two block types are equal when
element and sizes are equal, however the sizes were spelled.
"""

from __future__ import annotations

from typing import Final, Literal

from pytriton.frozen import node, record
from pytriton.lang.recording import RecordedInt, compare, term_of

ScalarKind = Literal["bool", "int", "uint", "float"]


def _constant(type_: object) -> str:
    """The name of a constant of this file: what is pickled of it."""
    return next(name for name, value in globals().items() if value is type_)


@node
class ScalarType:
    """A number type: its Triton-C word, its kind, its width in bits, Triton's and torch's names for it.

    There is one object for each, the constants below: copying and pickling keep to them.
    """

    word: str
    kind: ScalarKind
    bits: int
    triton: str
    torch: str

    def __str__(self) -> str:
        return self.word

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether C's integer rules hold; bool counts."""
        return self.kind != "float"

    @property
    def signed(self) -> bool:
        return self.kind in ("int", "float")

    @property
    def name(self) -> str:
        """What it is called in one word: ``uint8`` for ``unsigned char``."""
        return self.triton if " " in self.word else self.word

    def __reduce__(self) -> str:
        return _constant(self)


BOOL: Final = ScalarType("bool", "bool", 1, "int1", "bool")
CHAR: Final = ScalarType("char", "int", 8, "int8", "int8")
UCHAR: Final = ScalarType("unsigned char", "uint", 8, "uint8", "uint8")
SHORT: Final = ScalarType("short", "int", 16, "int16", "int16")
USHORT: Final = ScalarType("unsigned short", "uint", 16, "uint16", "uint16")
INT: Final = ScalarType("int", "int", 32, "int32", "int32")
UINT: Final = ScalarType("unsigned int", "uint", 32, "uint32", "uint32")
LONG: Final = ScalarType("long", "int", 64, "int64", "int64")
ULONG: Final = ScalarType("unsigned long", "uint", 64, "uint64", "uint64")
HALF: Final = ScalarType("half", "float", 16, "float16", "float16")
BFLOAT16: Final = ScalarType("bfloat16", "float", 16, "bfloat16", "bfloat16")
FLOAT: Final = ScalarType("float", "float", 32, "float32", "float32")
DOUBLE: Final = ScalarType("double", "float", 64, "float64", "float64")

# What a type may be called (C11 6.7.2, less `long double`), the words of each name sorted.
_WORDS: Final = {
    BOOL: "_Bool",
    CHAR: "char, char signed, int8",
    UCHAR: "char unsigned, uint8",
    SHORT: "short, int short, short signed, int short signed, int16",
    USHORT: "short unsigned, int short unsigned, uint16",
    INT: "int, signed, int signed, int32",
    UINT: "unsigned, int unsigned, uint32",
    LONG: "long, int long, long signed, int long signed, long long, int long long, long long signed, "
    "int long long signed, int64",
    ULONG: "long unsigned, int long unsigned, long long unsigned, int long long unsigned, uint64",
    HALF: "half",
    FLOAT: "float",
    DOUBLE: "double",
    BFLOAT16: "bfloat16",
}
SCALARS: Final = tuple(_WORDS)
"""All types of numbers."""
TYPE_WORDS: Final[dict[tuple[str, ...], ScalarType]] = {
    tuple(name.split()): type_ for type_, names in _WORDS.items() for name in names.split(", ")
}
"""A set of type words, sorted, and the type that they mean."""
TYPE_NAMES: Final = frozenset(word for words in TYPE_WORDS for word in words)
"""Every word of these."""


@record
class PointerType:
    """A pointer into global memory."""

    element: ScalarType | PointerType

    def __str__(self) -> str:
        return f"{self.element}*"


ElementType = ScalarType | PointerType


@node
class BlockType:
    """A value of known shape. Sizes are positive integers; their spelling lives in the tree."""

    element: ElementType
    shape: tuple[int, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockType):
            return NotImplemented
        return self is other or (self.element == other.element and same_shape(self.shape, other.shape))

    def __hash__(self) -> int:
        return hash((self.element, len(self.shape)))

    def __str__(self) -> str:
        return f"{self.element}[{', '.join(map(str, self.shape))}]"


@node
class NoType:
    """The type of a call without a value, and of expressions whose error was reported."""

    word: str

    def __str__(self) -> str:
        return self.word

    def __reduce__(self) -> str:
        return _constant(self)


VOID: Final = NoType("void")
ERROR: Final = NoType("<error>")
Type = ScalarType | PointerType | BlockType | NoType


def element_of(type_: Type) -> ElementType:
    """The element type of a block; a scalar or pointer is its own. Void and error types have none: they are
    returned as they are, equal to no element type."""
    return type_.element if type_.__class__ is BlockType else type_  # type: ignore[return-value]


def shape_of(type_: Type) -> tuple[int, ...]:
    """The shape of a block; () for everything else."""
    return type_.shape if type_.__class__ is BlockType else ()


def with_element(element: ElementType, shape: tuple[int, ...]) -> ElementType | BlockType:
    """A block of that element and shape; the element itself for shape ()."""
    return BlockType(element, shape) if shape else element


def promote(type_: ScalarType) -> ScalarType:
    """C11 6.3.1.1: integers narrower than int become int."""
    return INT if type_.is_integer and type_.bits < 32 else type_


_FLOAT_RANK: Final = {HALF: 0, BFLOAT16: 0, FLOAT: 1, DOUBLE: 2}


def common_scalar(left: ScalarType, right: ScalarType) -> ScalarType:
    """The usual arithmetic conversions (C11 6.3.1.8, half below float).

    half with bfloat16 is float: neither holds the other.
    """
    if left.is_float or right.is_float:
        if not right.is_float:
            return left
        if not left.is_float:
            return right
        if _FLOAT_RANK[left] == _FLOAT_RANK[right]:
            return left if left == right else FLOAT
        return max(left, right, key=_FLOAT_RANK.__getitem__)
    left, right = promote(left), promote(right)
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    return left if left.kind == "uint" else right


def broadcast_shapes(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...] | None:
    """NumPy's broadcasting of two shapes; None where they do not fit."""
    if not left or not right or left is right:
        return left or right
    rank = max(len(left), len(right))
    left = (1,) * (rank - len(left)) + left
    right = (1,) * (rank - len(right)) + right
    sizes: list[int] = []
    for a, b in zip(left, right, strict=True):
        if a is not b and is_one(a):
            a = b
        elif a is not b and term_of(a) != term_of(b) and not is_one(b) and a != b:
            return None
        sizes.append(a)
    return tuple(sizes)


def is_one(size: int) -> bool:
    """Whether an axis repeats to any size. No is right for 1, too: Triton repeats such an axis by itself."""
    return compare(size, "==", 1, optional=False) if isinstance(size, RecordedInt) else size == 1


def same_shape(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Whether two shapes are equal."""
    return left is right or (len(left) == len(right) and all(map(_same_size, left, right)))


def _same_size(left: int, right: int) -> bool:
    if term_of(left) == term_of(right):
        return True
    ones = is_one(left), is_one(right)
    return all(ones) if any(ones) else left == right
