"""Runs an old source and a module that was ported from it on the same memory, and compares every byte.

Both run on Triton's interpreter, one program after the other; that the compiled code is the same is proved when
a kernel is ported (prove.py). What a kernel does with its arguments is not known here, so each pointer points into
the middle of a large arena of random elements, and numbers are small: whatever is read is there, and an access
outside of the arenas is an error, not a crash. Integers in memory are from 0 to 3, since kernels use them as
indices; memory that atomics or stores of integers change starts at zero, since it holds locks. The grid is the
ported launcher's own, cut to 1 to 4 programs an axis; where random memory keeps a lock closed, to one program.
"""

from __future__ import annotations

import importlib.util
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final, NamedTuple

import numpy
import torch

from pytriton.compat.interpreter_names import InterpreterBuilder
from pytriton.compat.triton_names import InterpreterError, JITFunction, triton
from pytriton.fold.variants import number
from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.pipeline import Parameter, Translation, translate
from pytriton.runtime.checks.diagnostics import Stuck
from pytriton.runtime.compile.load import load
from pytriton.runtime.errors import remark, warn
from pytriton.runtime.interpret.interpreter import Interpreted

__all__ = ["Case", "compare", "load_ported", "ported"]

_ARENA: Final = 1 << 18  # elements before and after each pointer
_SHAPE: Final = (2,) * 6  # of every tensor, since a grid may ask for any of its axes
_LARGEST_GRID: Final = 4  # per axis: the interpreter takes a millisecond a program

_Grid = tuple[int, int, int]


class _Arena(NamedTuple):
    """Memory around a pointer: ``whole`` is all of it, ``tensor`` begins in its middle."""

    whole: torch.Tensor
    tensor: torch.Tensor


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
    """The module in a file, the package in a folder; real files, since Triton reads its functions there.

    Of a package that was ported whole, only what its kernels need is loaded.
    """
    name = f"ported_{zlib.crc32(str(path).encode()):08x}"
    if path.is_dir():
        package = ModuleType(name)
        package.__path__ = [str(path)]
        return sys.modules.setdefault(name, package)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ported(folder: Path, module: str, source: str, defines: Mapping[str, Any]) -> Callable[..., None]:
    """What launches a ported kernel with these defines, for ``compare``.

    ``folder``: that of the modules of kernels; a launcher module is in it or in the package around it.
    ``source``: the name of the kernel's ``Source`` in its module, or of its function.
    """
    outside = not (folder / "_triton.py").exists()
    package = load_ported(folder.parent if outside else folder)
    inner = f".{folder.name}.{module}" if outside else f".{module}"
    sources = getattr(importlib.import_module(inner, package.__name__), source)

    def launch(*arguments: Any, config: Any, grid: Any) -> None:
        if names := getattr(sources, "arg_names", ()):
            constexprs = {name: number(defines[name]) for name in names if name in defines}
            sources[grid](*arguments, num_warps=config.num_warps, **constexprs)
            return
        launcher = importlib.import_module("._triton", package.__name__)
        kernel = launcher.kernel(sources, defines=dict(defines), num_warps=config.num_warps)
        buffers = list(getattr(kernel.source, "buffers", ()))
        count = len(arguments) - len(buffers)
        for name, value in zip(buffers, arguments[count:], strict=True):
            kernel.constants[name] = value.view(torch.uint8)  # the memory itself, which is watched
        kernel(*arguments[:count], grid=grid)

    return launch


def compare(
    source: str,
    kernel: str | None,
    launcher: Callable[..., None],
    case: Case,
    sizes: Mapping[str, int] | int = 16,
    grid: Sequence[int] | None = None,
) -> None:
    """Launch both once and compare all memory; raises AssertionError with the first difference.

    ``sizes`` gives the integer parameters by name, or one value for all; promises are kept by rounding up.
    ``grid`` is passed to a launcher that asks for one.
    """
    translation = translate(source, case.defines, kernel=kernel, strict_literals=case.strict_literals)
    keywords = dict(case.keywords) | ({} if grid is None else {"grid": tuple(grid)})
    seed = zlib.crc32(f"{translation.kernel}{case}{sizes}".encode())
    arguments = [
        _argument(parameter, translation, sizes, seed + place)
        for place, parameter in enumerate(translation.parameters)
    ]
    arenas = [argument for argument in arguments if isinstance(argument, _Arena)]
    before = [arena.whole.clone() for arena in arenas]

    def both(largest: int) -> list[torch.Tensor]:
        """The arenas after the ported launcher; afterwards they hold the results of the old source."""
        _restore(arenas, before)
        launched = _run_ported(launcher, case, keywords, translation, arguments, largest)
        after = [arena.whole.clone() for arena in arenas]
        _restore(arenas, before)
        _run_old(translation, [*map(_value, arguments)], launched)
        return after

    try:
        after = both(_LARGEST_GRID)
    except InterpreterError as error:
        if not isinstance(error.__cause__, Stuck):
            raise
        message = f"{translation.kernel}: a lock stays closed with {sizes}: one program is compared"
        warn(remark(message, "TC564"))
        after = both(1)
    pairs = zip(translation.parameters, arguments, strict=True)
    names = [parameter.name for parameter, argument in pairs if isinstance(argument, _Arena)]
    for name, mine, arena in zip(names, after, arenas, strict=True):
        _assert_same(name, mine, arena)


def _restore(arenas: Sequence[_Arena], before: Sequence[torch.Tensor]) -> None:
    for arena, start in zip(arenas, before, strict=True):
        arena.whole.copy_(start)


# Arguments


def _passed(argument: Any) -> Any:
    return argument.tensor if isinstance(argument, _Arena) else argument


def _value(argument: Any) -> Any:
    return argument.tensor.data_ptr() if isinstance(argument, _Arena) else argument


def _argument(
    parameter: Parameter, translation: Translation, sizes: Mapping[str, int] | int, seed: int
) -> Any:
    random = torch.Generator().manual_seed(seed)
    if parameter.buffer:  # so many bytes, small integers if it is read as ``int``
        words = torch.randint(0, 4, (-(-parameter.buffer // 4),), generator=random, dtype=torch.int32)
        padded = words.view(torch.int8)[: parameter.buffer]
        return _Arena(padded, padded)
    if isinstance(parameter.type, PointerType):
        element = parameter.type.element
        dtype = torch.int64 if isinstance(element, PointerType) else getattr(torch, element.torch)
        return _arena(dtype, parameter.name in translation.writes, random)
    return _scalar(parameter, parameter.type, sizes)


def _arena(dtype: torch.dtype, written: bool, random: torch.Generator) -> _Arena:
    """Aligned to 64 bytes in its middle, as torch's own memory is at its start."""
    total = (2 * _ARENA,)
    if dtype.is_floating_point:
        memory = torch.randn(total, generator=random).to(dtype)
    elif written:
        memory = torch.zeros(total, dtype=dtype)
    else:
        memory = torch.randint(0, 4, total, generator=random).to(dtype)
    return _Arena(memory, memory[_ARENA : _ARENA + 2 ** len(_SHAPE)].view(_SHAPE))


def _scalar(parameter: Parameter, type_: ScalarType, sizes: Mapping[str, int] | int) -> Any:
    if type_.kind == "bool":
        return True
    if type_.kind == "float":
        return 0.5
    size = sizes if isinstance(sizes, int) else sizes.get(parameter.name, sizes.get("", 16))
    return -(-size // parameter.multiple_of) * parameter.multiple_of


# The ported module


def _run_ported(
    launcher: Callable[..., None],
    case: Case,
    keywords: Mapping[str, Any],
    translation: Translation,
    arguments: Sequence[Any],
    largest: int,
) -> _Grid:
    """Call the launcher, whose kernel is interpreted; the grid that was launched, ``largest`` an axis."""
    grids: list[_Grid] = []

    def run(function: Any, *values: Any, grid: Any, warmup: bool = False, **named: Any) -> None:
        options = ("num_warps", "num_stages", "num_ctas", "maxnreg", "ir_override")
        numbers = {name: value for name, value in named.items() if name not in options}
        bound = dict(zip(function.arg_names, values, strict=False))
        axes = tuple(grid({**bound, **named}) if callable(grid) else grid)
        x, y, z = (max(1, min(size, largest)) for size in (*axes, 1, 1)[:3])
        grids.append((x, y, z))
        present = [bound.pop(parameter.identifier) for parameter in translation.parameters]
        plain = [value.data_ptr() if isinstance(value, torch.Tensor) else value for value in present]
        module: Any = SimpleNamespace(python=function.fn)
        kernel = Interpreted(module, translation.parameters, {**bound, **numbers}, ones=True)
        kernel.run(grids[-1], plain)

    options = {"num_warps": case.num_warps, "num_stages": case.num_stages}
    chosen = {name: value for name, value in options.items() if value is not None}
    arenas = [argument.whole for argument in arguments if isinstance(argument, _Arena)]
    patches = {name: _within(arenas, name, mask) for name, mask in _ACCESSES.items()}
    with _patched(JITFunction, {"run": run}), _patched(InterpreterBuilder, patches):
        config = triton.Config(dict(case.config), **chosen)
        launcher(*map(_passed, arguments), config=config, **keywords)
    assert len(grids) == 1, f"the launcher launched {len(grids)} kernels"
    return grids[0]


@contextmanager
def _patched(owner: type, patches: Mapping[str, Any]) -> Iterator[None]:
    originals = {name: getattr(owner, name) for name in patches}
    try:
        for name, patch in patches.items():
            setattr(owner, name, patch)
        yield
    finally:
        for name, original in originals.items():
            setattr(owner, name, original)


# The interpreter's accesses, and where each has its mask.
_ACCESSES: Final = {
    "create_masked_load": 1,
    "create_masked_store": 2,
    "create_atomic_rmw": 3,
    "create_atomic_cas": None,
}


def _within(arenas: Sequence[torch.Tensor], name: str, masked: int | None) -> Callable[..., Any]:
    """An access of the interpreter that raises AssertionError outside of the arenas."""
    original = getattr(InterpreterBuilder, name)
    what = name.rpartition("_")[2] if "masked" in name else "atomic operation"

    def access(builder: Any, *operands: Any) -> Any:
        pointers = next(
            item for item in operands if hasattr(item, "get_element_ty")
        )  # an atomic's operation is first
        addresses = numpy.asarray(pointers.data).astype(numpy.int64)
        width = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        inside = (
            numpy.full(addresses.shape, False)
            if masked is None
            else ~numpy.asarray(operands[masked].data, bool)
        )
        for arena in arenas:
            start = arena.data_ptr()
            inside = inside | (addresses >= start) & (addresses + width <= start + arena.nbytes)
        if not inside.all():
            raise AssertionError(f"the {what} leaves the memory of the test: give it smaller sizes")
        return original(builder, *operands)

    return access


# The old source


def _run_old(translation: Translation, values: Sequence[Any], grid: _Grid) -> None:
    """Not as C, which computes programs side by side and adds in another order."""
    module = load(translation.function, translation.text)
    Interpreted(module, translation.parameters, translation.constexprs).run(grid, values)


def _assert_same(name: str, new: torch.Tensor, arena: _Arena) -> None:
    """Equal in every element; one NaN is as good as another."""
    want = arena.whole
    same = (new == want) | ((new != new) & (want != want))
    if not bool(same.all()):
        at = int((~same).nonzero()[0])
        values = f"{new[at].item()}, but the old source gives {want[at].item()}"
        raise AssertionError(f"{name}[{at - arena.tensor.storage_offset()}] is {values}")
