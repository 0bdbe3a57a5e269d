"""What the programs of a launch do to the memory of a test, seen on Triton's interpreter.

The interpreter runs programs one after another, and stores the elements of a block in order. A GPU does neither,
so what depends on that order is not guaranteed. ``Watch`` looks at every access and tells it:

``several``  elements that were stored to more than once: the last store wins, and sums are rounded as they come
``meet``     a program reads what another one writes: all that it does may depend on which of them was first. Random
             indices do that to a kernel with locks: two programs that share a lock but not the tile that it guards
``torn``     a load reads what one store wrote twice, with different values
``by_zero``  an integer was divided by zero
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy
import torch

from pytriton.compat.interpreter_names import InterpreterBuilder


@dataclass(frozen=True, eq=False)
class Arena:
    """Memory around a pointer: ``whole`` is all of it, ``tensor`` begins in its middle."""

    whole: torch.Tensor
    tensor: torch.Tensor

    def contains(self, addresses: Any, width: int) -> Any:
        """Which elements of ``width`` bytes lie in it."""
        start = self.whole.data_ptr()
        return (addresses >= start) & (addresses + width <= start + self.whole.nbytes)

    @property
    def first(self) -> int:
        """The element of ``whole`` that the pointer points to."""
        return (self.tensor.data_ptr() - self.whole.data_ptr()) // self.whole.element_size()

    def on(self, device: str) -> Arena:
        """A copy of it there."""
        memory = self.whole.to(device, copy=True)
        return Arena(memory, memory[self.first : self.first + self.tensor.numel()].view(self.tensor.shape))


class _Marks:
    """For each byte of an arena: how often it was stored to, and by and to which programs (a bit for each)."""

    def __init__(self, size: int) -> None:
        self.stored = numpy.zeros(size, dtype=numpy.uint16)
        self.writers = numpy.zeros(size, dtype=numpy.uint64)
        self.readers = numpy.zeros(size, dtype=numpy.uint64)
        self.torn = numpy.zeros(size, dtype=bool)


class Watch:
    """Looks at one launch of at most 64 programs while ``looking()``.

    ``old_values``: whether what atomics give back is used; they read memory if so. Accesses outside of the arenas
    raise AssertionError, of which Triton's interpreter makes an InterpreterError.
    """

    def __init__(self, arenas: Sequence[Arena], old_values: bool) -> None:
        self._arenas = [(arena, _Marks(arena.whole.nbytes)) for arena in arenas]
        self._old_values = old_values
        self.torn = self.by_zero = False

    def several(self, arena: Arena) -> torch.Tensor:
        """True for each element of an arena that was stored to more than once."""
        (marks,) = (marks for known, marks in self._arenas if known is arena)
        met = marks.stored.reshape(-1, arena.whole.element_size()).max(axis=1)
        return torch.from_numpy(met > 1)

    @property
    def meet(self) -> bool:
        """Whether a program reads what another one writes."""
        for _, marks in self._arenas:
            at = numpy.flatnonzero(marks.writers)
            writers, readers = marks.writers[at], marks.readers[at]
            by_two = (writers & (writers - numpy.uint64(1))) != 0
            if ((readers != 0) & (by_two | ((readers & ~writers) != 0))).any():
                return True
        return False

    @contextmanager
    def looking(self) -> Iterator[None]:
        """While the body runs, every access of the interpreter is looked at."""
        patches = {name: self._accessing(name, masked, what) for name, masked, what in _ACCESSES}
        patches |= {name: self._dividing(name) for name in _DIVISIONS}
        originals = {name: getattr(InterpreterBuilder, name) for name in patches}
        for name, patch in patches.items():
            setattr(InterpreterBuilder, name, patch)
        try:
            yield
        finally:
            for name, original in originals.items():
                setattr(InterpreterBuilder, name, original)

    def _accessing(self, name: str, masked: int, what: str) -> Callable[..., Any]:
        original = getattr(InterpreterBuilder, name)
        reads = what in ("load", "compare") or (what == "atomic" and self._old_values)

        def call(builder: Any, *given: Any) -> Any:
            # ``create_atomic_rmw`` has an operation in front
            at = next(place for place, item in enumerate(given) if hasattr(item, "get_element_ty"))
            addresses = numpy.asarray(given[at].data).astype(numpy.int64)
            mask = numpy.asarray(given[masked].data, dtype=bool) if masked >= 0 else True
            met = numpy.broadcast_to(mask, addresses.shape)
            width = max(1, given[at].get_element_ty().primitive_bitwidth // 8)
            values = None if what in ("load", "compare") else given[at + 1].data
            self._access(what, addresses, met, width, values, reads, _program(builder))
            return original(builder, *given)

        return call

    def _access(
        self, what: str, addresses: Any, met: Any, width: int, values: Any, reads: bool, program: int
    ) -> None:
        """Note one access. ``what``: load, store, atomic or compare; ``values`` are those of a store."""
        inside = ~met
        bit = numpy.uint64(1) << numpy.uint64(program)
        for arena, marks in self._arenas:
            here = arena.contains(addresses, width)
            inside |= here
            starts = addresses[here & met] - arena.whole.data_ptr()
            every = starts[:, None] + numpy.arange(width)
            if reads:
                marks.readers[every] |= bit
                self.torn |= bool(marks.torn[every].any())
            if what != "load":
                numpy.add.at(marks.stored, starts, 1)
                marks.writers[every] |= bit
            if what == "store":
                given = numpy.broadcast_to(values, addresses.shape)[here & met]
                marks.torn[_differing(starts, given)[:, None] + numpy.arange(width)] = True
        if not inside.all():
            access = what if what in ("load", "store") else "atomic operation"
            raise AssertionError(f"the {access} leaves the memory of the test: give it smaller sizes")

    def _dividing(self, name: str) -> Callable[..., Any]:
        original = getattr(InterpreterBuilder, name)

        def call(builder: Any, left: Any, right: Any) -> Any:
            divisor = numpy.asarray(right.data)
            self.by_zero |= bool(numpy.issubdtype(divisor.dtype, numpy.integer) and (divisor == 0).any())
            return original(builder, left, right)

        return call


def _program(builder: Any) -> int:
    """The number of the program that runs."""
    (x, y, z), (_, height, depth) = builder.grid_idx, builder.grid_dim
    return int((x * height + y) * depth + z)


def _differing(starts: Any, values: Any) -> Any:
    """The starts that occur more than once, with values whose bits differ."""
    order = numpy.argsort(starts, kind="stable")
    starts, bits = starts[order], numpy.ascontiguousarray(values)[order]
    bits = bits.view(f"u{bits.dtype.itemsize}")
    return starts[1:][(starts[1:] == starts[:-1]) & (bits[1:] != bits[:-1])]


# The interpreter's accesses, and where each has its mask.
_ACCESSES: Final = (
    ("create_masked_load", 1, "load"),
    ("create_masked_store", 2, "store"),
    ("create_atomic_rmw", 3, "atomic"),
    ("create_atomic_cas", -1, "compare"),
)
_DIVISIONS: Final = ("create_sdiv", "create_udiv", "create_srem", "create_urem")
