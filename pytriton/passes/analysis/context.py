"""What passes are given beside the kernel, and where they leave what they learn of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

from pytriton.errors import Report
from pytriton.frozen import node, record
from pytriton.lang.tree.typed import Expr, Symbol
from pytriton.settings import Settings

# ---------------------------------------------------------------- traits
# What tuning and launching want to know of a kernel beside its text; nothing here changes what it means.


@record
class Tiles:
    """Of the loop that needs most: ``loaded`` bytes of tiles that it loads for products, in elements of at least
    ``width`` bytes; ``summed`` elements of 32 bits that carry the sums of one product through the loop."""

    loaded: int = 0
    width: int = 0
    summed: int = 0


class Described(NamedTuple):
    """What must hold of a launch for tiles to be the elements that pointers reach, as the launcher in C reads it.

    ``base``, ``stride`` and ``stop`` are positions of parameters (``stop`` -1: it is ``number``). Base and stride
    must be positive multiples of 16 bytes (the stride: ``multiple`` elements), and no offset may leave 32 bits, in
    which the text computes them. The last tile of a program begins at ``ids`` times the size of the grid, plus
    ``last``, of rows and of columns. The loop counts from 0 to its stop in tiles of ``size``, and moves ``down``
    rows at a time. ``feeds`` is no condition: the tiles are an operand of a product for tensor cores that they may
    make faster.
    """

    base: int
    stride: int
    stop: int
    number: int
    size: int
    multiple: int
    down: int
    row_ids: tuple[int, int, int]
    last_row: int
    column_ids: tuple[int, int, int]
    last_column: int
    feeds: bool = False


@node
class Side:
    """One axis of a ``Box``: ``indices``, each times ``stride`` elements (None: 1), of which those are reached that
    are at least 0 and below ``bound`` (a parameter, a number, or None where there is none). A loop that moves along
    this axis counts from 0 to the bound in steps of ``step``."""

    indices: Expr
    stride: Symbol | None
    bound: Expr | None
    step: int = 0


@node
class Box:
    """The memory of the parameter at position ``base`` that a kernel reaches: through blocks of two axes alone, and
    within bounds."""

    base: int
    element_bytes: int
    rows: Side
    columns: Side


@node
class Packing:
    """What a kernel ``reads`` from packed copies, all that it ``writes``, and what the indices are made of: the
    ``values`` of variables that never change, and the integers that it never sets, by position (``fixed``)."""

    reads: tuple[Box, ...]
    writes: tuple[Box, ...]
    values: Mapping[Symbol, Expr]
    fixed: Mapping[int, Symbol]


@record
class Traits:
    """What a kernel lets tuning try, what it needs of a GPU, and what its code needs of a launch."""

    swizzles: bool = False  # its program ids may be taken in groups
    grows: bool = False  # a loop of it may run the longer the further a program is along axis 0
    pipelined: bool = False  # a loop of it loads for a matrix product, and is a ``range``
    streams: bool = False  # a loop of it loads for something else, and may do so ahead of its stores
    writes_elsewhere: bool = False  # it writes through pointers that it loaded, or made from numbers
    doubles: bool = False  # it computes with double, which is exact: no product is fused into a sum
    tiles: Tiles = Tiles()
    described: tuple[Described, ...] = ()  # where it has descriptors: what must hold of a launch
    packing: Packing | None = None  # if operands of its products can be copied before a launch
    positive: tuple[int, ...] = ()  # positions of what must be positive in a launch (speed/fast_math.py)

    @property
    def stages(self) -> tuple[int, ...]:
        """How many stages tuning tries beside Triton's three for a loop that it pipelines, and none for another."""
        return (2, 4, 5) if self.pipelined else (3, 4) if self.streams else ()


@dataclasses.dataclass
class Context:
    """``settings`` and ``report`` are given; ``traits`` is what the passes learned."""

    settings: Settings = dataclasses.field(default_factory=Settings)
    report: Report = dataclasses.field(default_factory=Report)
    traits: Traits = dataclasses.field(default_factory=Traits)
