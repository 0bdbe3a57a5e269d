"""The input of all passes beside the kernel, and the traits of the kernel that they record."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

from pytriton.errors import Report
from pytriton.frozen import node, record
from pytriton.lang.tree.typed import Expr, Symbol
from pytriton.settings import Settings

# ---------------------------------------------------------------- traits
# Facts about a kernel for tuning and launching; none changes its meaning.


@record
class Tiles:
    """The needs of the largest loop: ``loaded`` bytes of tiles for products, in elements of at least ``width``
    bytes; ``summed`` elements of 32 bits that carry the sums of one product through the loop."""

    loaded: int = 0
    width: int = 0
    summed: int = 0


class Described(NamedTuple):
    """The conditions on a launch under which tiles are the elements that pointers reach, in the launcher's format.

    ``base``, ``stride`` and ``stop`` are positions of parameters (``stop`` -1: it is ``number``). Base and stride
    must be positive multiples of 16 bytes (the stride: ``multiple`` elements), and no offset may exceed 32 bits, in
    which the kernel computes them. The last tile of a program begins at ``ids`` times the size of the grid, plus
    ``last``, of rows and of columns. The loop counts from 0 to its stop in tiles of ``size``, and moves ``down``
    rows at a time. ``feeds`` is not a condition: tensor cores multiply the tiles, which may make the product
    faster.
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
    """One axis of a ``Box``: ``indices`` times ``stride`` elements (None: 1), limited to those from 0 to ``bound``
    (exclusive; a parameter, a number or None). A loop that moves along this axis counts from 0 to the bound in
    steps of ``step``."""

    indices: Expr
    stride: Symbol | None
    bound: Expr | None
    step: int = 0


@node
class Box:
    """The memory of the parameter at position ``base`` that a kernel reaches, in all through blocks of two axes."""

    base: int
    element_bytes: int
    rows: Side
    columns: Side


@node
class Packing:
    """What a kernel ``reads`` from packed copies, all that it ``writes``, and for the indices the ``values`` of
    variables that are set once and the integer parameters that are never set, by position (``fixed``)."""

    reads: tuple[Box, ...]
    writes: tuple[Box, ...]
    values: Mapping[Symbol, Expr]
    fixed: Mapping[int, Symbol]


@record
class Traits:
    """What tuning may try with a kernel, what it needs of a GPU, and the conditions on a launch."""

    swizzles: bool = False  # its program ids may be grouped
    grows: bool = False  # a loop of it may run longer in programs further along axis 0
    pipelined: bool = False  # a loop of it loads for a matrix product, and is a ``range``
    streams: bool = False  # another loop of it loads, and may load ahead of its stores
    writes_elsewhere: bool = False  # it writes through pointers that it loaded, or made from numbers
    doubles: bool = False  # it computes with double, where no product is fused into a sum
    tiles: Tiles = Tiles()
    described: tuple[Described, ...] = ()  # if it has descriptors: the conditions on a launch
    packing: Packing | None = None  # if operands of its products can be copied before a launch
    positive: tuple[int, ...] = ()  # positions of parameters that must be positive (speed/fast_math.py)

    @property
    def stages(self) -> tuple[int, ...]:
        """The numbers of stages that tuning tries beside Triton's default."""
        return (2, 4, 5) if self.pipelined else (3, 4) if self.streams else ()


@dataclasses.dataclass
class PassContext:
    """``settings`` and ``report`` are inputs; ``traits`` are results of the passes."""

    settings: Settings = dataclasses.field(default_factory=Settings)
    report: Report = dataclasses.field(default_factory=Report)
    traits: Traits = dataclasses.field(default_factory=Traits)
