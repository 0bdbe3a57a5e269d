"""Runs an old source and a module that was ported from it on the same memory, and compares every byte.

Both run on Triton's interpreter. What a kernel does with its arguments is not known here, so each pointer
points into the middle of a large arena of random elements, and numbers are small: whatever is read is there,
and what leaves the arenas is an error that names the parameter values, not a crash. Integers in memory are
from 0 to 3, since kernels use them as indices; memory that atomics or stores of integers change starts at
zero, since it holds locks. The grid is the ported launcher's own, cut to 1 to 4 programs an axis.
"""

from __future__ import annotations

import importlib.util
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import numpy
import torch
import triton
from triton.runtime.interpreter import InterpreterBuilder
from triton.runtime.jit import JITFunction

from pytriton.lang.types import PointerType, ScalarType
from pytriton.pipeline import Parameter, Translation, translate
from pytriton.runtime.interpret import Interpreted
from pytriton.runtime.kernel import kernel as old_kernel

__all__ = ["Case", "compare", "load_ported"]

_ARENA: Final = 1 << 18  # elements before and behind each pointer
_SHAPE: Final = (2,) * 6  # of every tensor, since a grid may ask for any of its axes
_LARGEST_GRID: Final = 4  # per axis: the interpreter takes a millisecond a program


@dataclass(frozen=True)
class Case:
    """One way to call both. ``config`` holds the numbers of the ported config that is launched.

    ``keywords`` are the launcher's; ``defines`` mean the same to the old source.
    """

    defines: Mapping[str, Any]
    config: Mapping[str, Any]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    num_warps: int | None = None
    num_stages: int | None = None
    strict_literals: bool = False


def load_ported(path: Path) -> ModuleType:
    """The module in a file; it must be a real file, since Triton reads its functions there."""
    spec = importlib.util.spec_from_file_location(f"ported_{zlib.crc32(str(path).encode()):08x}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compare(
    source: str,
    kernel: str,
    launcher: Callable[..., None],
    case: Case,
    sizes: Mapping[str, int] | int = 16,
    grid: Sequence[int] | None = None,
) -> None:
    """Launch both once and compare all memory; raises AssertionError with the first difference.

    ``sizes`` gives the integer parameters by name, or one value for all; promises are kept by rounding up.
    ``grid`` is passed to a launcher that asks for one.
    """
    made = translate(source, case.defines, kernel=kernel, strict_literals=case.strict_literals)
    seed = zlib.crc32(f"{kernel}{case}{sizes}".encode())
    arguments = [_argument(one, made, sizes, seed + place) for place, one in enumerate(made.parameters)]
    before = [one.whole.clone() if isinstance(one, _Arena) else None for one in arguments]
    config = triton.Config(dict(case.config), **_launch_options(case))
    keywords = dict(case.keywords) | ({} if grid is None else {"grid": tuple(grid)})
    arenas = [one for one in arguments if isinstance(one, _Arena)]
    with _interpreted(made, arenas) as grids:
        launcher(*(_passed(one) for one in arguments), config=config, **keywords)
    assert len(grids) == 1, f"the launcher launched {len(grids)} kernels"
    ported = [one.whole.clone() if isinstance(one, _Arena) else None for one in arguments]
    for one, old in zip(arguments, before, strict=True):
        if isinstance(one, _Arena) and old is not None:
            one.whole.copy_(old)
    _run_old(source, kernel, case, made, arguments, grids[0])
    for parameter, one, new in zip(made.parameters, arguments, ported, strict=True):
        if isinstance(one, _Arena):
            _assert_same(parameter.name, new, one)


def _launch_options(case: Case) -> dict[str, int]:
    given = {"num_warps": case.num_warps, "num_stages": case.num_stages}
    return {name: value for name, value in given.items() if value is not None}


# Arguments


@dataclass(frozen=True, eq=False)
class _Arena:
    """Memory around a pointer: ``whole`` is all of it, ``tensor`` begins in its middle."""

    whole: torch.Tensor
    tensor: torch.Tensor

    def contains(self, addresses: Any, width: int) -> Any:
        start = self.whole.data_ptr()
        return (addresses >= start) & (addresses + width <= start + self.whole.nbytes)


def _passed(one: Any) -> Any:
    return one.tensor if isinstance(one, _Arena) else one


def _argument(parameter: Parameter, made: Translation, sizes: Mapping[str, int] | int, seed: int) -> Any:
    if parameter.buffer:
        return _arena(torch.int8, True, 0, parameter.buffer)
    if isinstance(parameter.type, PointerType):
        element = parameter.type.element
        dtype = torch.int64 if isinstance(element, PointerType) else getattr(torch, element.torch)
        return _arena(dtype, parameter.name in made.writes, seed)
    return _scalar(parameter, parameter.type, sizes)


def _arena(dtype: torch.dtype, written: bool, seed: int, elements: int = _ARENA) -> _Arena:
    """Aligned to 64 bytes in its middle, as torch's own memory is at its start."""
    random = torch.Generator().manual_seed(seed)
    total = (elements if elements < _ARENA else 2 * _ARENA,)
    if dtype.is_floating_point:
        whole = torch.randn(total, generator=random).to(dtype)
    elif written:
        whole = torch.zeros(total, dtype=dtype)
    else:
        whole = torch.randint(0, 4, total, generator=random).to(dtype)
    if elements < _ARENA:
        return _Arena(whole, whole)
    return _Arena(whole, whole[elements : elements + 2 ** len(_SHAPE)].view(_SHAPE))


def _scalar(parameter: Parameter, type_: ScalarType, sizes: Mapping[str, int] | int) -> Any:
    if type_.kind == "bool":
        return True
    if type_.kind == "float":
        return 0.5
    given = sizes if isinstance(sizes, int) else sizes.get(parameter.name, sizes.get("", 16))
    return -(-given // parameter.multiple_of) * parameter.multiple_of


# The ported module


@contextmanager
def _interpreted(made: Translation, arenas: Sequence[_Arena]) -> Iterator[list[tuple[int, int, int]]]:
    """While the body runs, ``@triton.jit`` kernels are interpreted. Gives the grids that were launched."""
    grids: list[tuple[int, int, int]] = []

    def run(function: Any, *values: Any, grid: Any, warmup: bool = False, **named: Any) -> None:
        options = ("num_warps", "num_stages", "num_ctas", "maxnreg", "ir_override")
        numbers = {name: value for name, value in named.items() if name not in options}
        meta = {**dict(zip(function.arg_names, values, strict=False)), **named}
        found = tuple(grid(meta) if callable(grid) else grid)
        x, y, z = (max(1, min(size, _LARGEST_GRID)) for size in (*found, 1, 1)[:3])
        plain = [one.data_ptr() if isinstance(one, torch.Tensor) else one for one in values]
        with _bounded(arenas):
            module: Any = SimpleNamespace(python=function.fn)
            Interpreted(module, made.parameters, numbers).run((x, y, z), plain)
        grids.append((x, y, z))

    compiled = JITFunction.run
    JITFunction.run = run
    try:
        yield grids
    finally:
        JITFunction.run = compiled


@contextmanager
def _bounded(arenas: Sequence[_Arena]) -> Iterator[None]:
    """Accesses outside of the arenas are refused."""

    def check(pointers: Any, mask: Any, access: str) -> None:
        addresses = numpy.asarray(pointers.data).astype(numpy.int64)
        width = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        inside = numpy.zeros(addresses.shape, dtype=bool)
        for arena in arenas:
            inside |= arena.contains(addresses, width)
        if mask is not None:
            inside |= ~numpy.broadcast_to(numpy.asarray(mask.data, dtype=bool), addresses.shape)
        if not inside.all():
            raise AssertionError(f"a {access} leaves the memory of the test: give it smaller sizes")

    kept = {name: getattr(InterpreterBuilder, name) for name, _, _ in _ACCESSES}

    def checked(name: str, at: int, access: str) -> Callable[..., Any]:
        def call(builder: Any, *given: Any) -> Any:
            pointers = next(one for one in given if hasattr(one, "get_element_ty"))
            check(pointers, given[at] if at >= 0 else None, access)
            return kept[name](builder, *given)

        return call

    for name, at, access in _ACCESSES:
        setattr(InterpreterBuilder, name, checked(name, at, access))
    try:
        yield
    finally:
        for name, original in kept.items():
            setattr(InterpreterBuilder, name, original)


# The interpreter's accesses, and where each has its mask.
_ACCESSES: Final = (
    ("create_masked_load", 1, "load"),
    ("create_masked_store", 2, "store"),
    ("create_atomic_rmw", 3, "atomic"),
    ("create_atomic_cas", -1, "atomic"),
)


# The old source


def _run_old(
    source: str,
    kernel: str,
    case: Case,
    made: Translation,
    arguments: Sequence[Any],
    grid: tuple[int, int, int],
) -> None:
    old = old_kernel(
        source,
        defines=dict(case.defines),
        num_warps=case.num_warps,
        kernel=kernel,
        strict_literals=case.strict_literals,
    )
    given = []
    for parameter, one in zip(made.parameters, arguments, strict=True):
        if parameter.buffer:
            old.set_constant(parameter.name, one.whole.numpy())
        else:
            given.append(_passed(one))
    old(*given, grid=grid)


def _assert_same(name: str, new: Any, old: _Arena) -> None:
    """Equal in every element; one NaN is as good as another."""
    want = old.whole
    same = (new == want) | ((new != new) & (want != want))
    if not bool(same.all()):
        at = int((~same).nonzero()[0])
        offset = at - (old.tensor.data_ptr() - want.data_ptr()) // want.element_size()
        raise AssertionError(
            f"{name}[{offset}] is {new[at].item()}, but the old source gives {want[at].item()}"
        )
