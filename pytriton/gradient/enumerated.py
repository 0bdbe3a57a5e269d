"""Whether stores meet an element twice, found by looking at all of its addresses.

Where offsets are no sums (indices by ``/`` and ``%``, as in a permutation), ``derive/access.py`` shows nothing.
Yet all integers of a launch are known. So the offset and the mask are computed for every program and every place of
a block, as tensors with an axis for each on the launch's device, part of the grid by part, and what is stored must
differ. What depends on memory, or is larger than ``MAX_PLACES``, is not enumerated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Final

import torch

from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.access import launch_numbers
from pytriton.gradient.derive.forward import Forward
from pytriton.gradient.derive.graph import Write, values_in
from pytriton.lang.tree.typed import Binary, Broadcast, Call, Cast, Expand, Expr, Permute, Range, Unary
from pytriton.lang.tree.types import BOOL, LONG, ScalarType, element_of, shape_of
from pytriton.passes.analysis.affine import keeps_number
from pytriton.passes.analysis.intervals import Grid, LaunchEvaluator

MAX_PLACES: Final = 1 << 28
AT_ONCE: Final = 1 << 21  # maximum places in memory at a time
AXES: Final = 3  # of programs

Programs = Sequence[range]  # on each axis of the grid


def stored_once(
    forward: Forward, writes: Sequence[Write], values: Mapping[str, int], grid: Grid, device: torch.device
) -> bool:
    """Whether these are proven to store no element twice. ``device`` is that of the launch."""
    items, places = forward.items, prod(grid) * max(prod(shape_of(write.pointer.type)) for write in writes)
    if any(write not in items for write in writes) or places > MAX_PLACES:
        return False  # in a loop or a branch; or too many
    numbers = launch_numbers(forward.kernel.parameters, values)
    with _outside_of_graphs(device):
        marks, count = torch.zeros(0, dtype=torch.bool), 0
        for programs, write in itertools.product(_parts(grid, places), writes):
            operation = partial(_elements, programs)
            look = LaunchEvaluator(values_in(items), numbers, grid, _number, operation)
            stored = _stored(write, look, tuple(map(len, programs)))
            marked = None if stored is None else _marked(marks, stored)
            if stored is None or marked is None:
                return False
            marks, count = marked, count + len(stored)
        return int(marks.sum()) == count


def _outside_of_graphs(device: torch.device) -> torch.device:
    """Where numbers can be worked out now: a CUDA graph that is captured would record it."""
    capturing = device.type == "cuda" and torch.cuda.is_current_stream_capturing()
    return torch.device("cpu") if capturing else device


def _parts(grid: Grid, places: int) -> Iterator[Programs]:
    """The grid in parts along its longest axis, of some ``AT_ONCE`` places each."""
    axis = grid.index(max(grid))
    step = max(1, AT_ONCE * grid[axis] // places)
    for first in range(0, grid[axis], step):
        programs = [range(size) for size in grid]
        programs[axis] = range(first, min(first + step, grid[axis]))
        yield programs


def _stored(write: Write, look: LaunchEvaluator[torch.Tensor], grid: tuple[int, ...]) -> torch.Tensor | None:
    """The offsets that the programs of a part store to, one after the other."""
    offset = look.of(write.pointer)
    mask = torch.tensor(True) if write.mask is None else look.of(write.mask)
    shape = (*grid, *shape_of(write.pointer.type))
    if offset is None or mask is None or offset.dim() > len(shape) or mask.dim() > len(shape):
        return None
    return _spread(offset, len(shape)).expand(shape)[_spread(mask, len(shape)).expand(shape).bool()]


def _marked(marks: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor | None:
    """The marks of elements, longer where needed, with these set; None where one is out of range."""
    low, high = (int(bound) for bound in torch.aminmax(offsets)) if len(offsets) else (0, -1)
    if low < 0 or high >= MAX_PLACES:
        return None
    if high >= len(marks):
        missing = max(high + 1 - len(marks), len(marks) // 2)  # so that growing is rare
        marks = torch.cat([marks, marks.new_zeros(missing)])
    marks[offsets] = True
    return marks


def _spread(value: torch.Tensor, rank: int) -> torch.Tensor:
    """With axes of size 1 between those of the grid and those of the block."""
    if value.dim() < AXES:
        return value
    return value.reshape(*value.shape[:AXES], *(1,) * (rank - value.dim()), *value.shape[AXES:])


def _number(number: int) -> torch.Tensor:
    return torch.full((1,) * AXES, int(number))


def _elements(
    programs: Programs, expr: Expr, operands: Sequence[torch.Tensor], grid: Grid
) -> torch.Tensor | None:
    """Integers, conditions, and pointers as distances from the parameter: a tensor with an axis for each of the
    grid, then those of a block."""
    value, element = _unwrapped(expr, operands, programs), element_of(expr.type)
    if value is None or not isinstance(element, ScalarType) or element in (BOOL, LONG):
        return value
    bits = element.bits - element.signed
    low, high = -(1 << bits) if element.signed else 0, (1 << min(bits, 63)) - 1
    return value if bool(((value >= low) & (value <= high)).all()) else None  # C would wrap


def _unwrapped(expr: Expr, operands: Sequence[torch.Tensor], programs: Programs) -> torch.Tensor | None:
    match expr, operands:
        case Call(function="program_id"), [number]:
            axis, along = int(number), programs[int(number)]
            return torch.arange(along.start, along.stop).reshape(
                [-1 if at == axis else 1 for at in range(AXES)]
            )
        case Range(), [first, _]:
            (size,) = shape_of(expr.type)
            return first.reshape(*first.shape, 1) + torch.arange(size)
        case Unary(operator="-"), [value]:
            return -value
        case Unary(operator="!"), [value]:
            return value == 0
        case Cast(), [value] if keeps_number(expr, 8):  # modulo 2**8: whether it fits is seen above
            return value if element_of(expr.type) == BOOL else value.long()
        case Broadcast(), [value]:
            return _spread(value, AXES + len(shape_of(expr.type)))
        case Expand(axes=axes), [value]:
            value = _spread(value, AXES + axes.count(False))
            for at, new in enumerate(axes):
                value = value.unsqueeze(AXES + at) if new else value
            return value
        case Permute(order=order), [value]:
            value = _spread(value, AXES + len(order))
            return value.permute(*range(AXES), *(AXES + axis for axis in order))
        case Binary(left=left, right=right), _:
            rank = AXES + max(len(shape_of(left.type)), len(shape_of(right.type)))
            return _binary(expr, *(_spread(operand, rank) for operand in operands))
    return None


def _binary(expr: Binary, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor | None:
    """The operator's result; None for what C does not compute so."""
    operator = expr.operator
    if operator in ("/", "%") and bool((second == 0).any()):
        return None
    if operator == "-" and f.is_pointer(expr.right):
        return None
    if operator in _OF_TRUTH and element_of(expr.left.type) != BOOL:
        return None
    function = _FUNCTIONS.get(operator)
    return None if function is None else function(first, second)


_OF_TRUTH: Final = {
    "&&": torch.logical_and,
    "&": torch.logical_and,
    "||": torch.logical_or,
    "|": torch.logical_or,
}
_FUNCTIONS: Final[Mapping[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]]] = {
    **{"+": torch.add, "-": torch.sub, "*": torch.mul},
    **{"/": partial(torch.div, rounding_mode="trunc"), "%": torch.fmod},
    **{"<": torch.lt, "<=": torch.le, ">": torch.gt, ">=": torch.ge, "==": torch.eq, "!=": torch.ne},
    **_OF_TRUTH,
}
