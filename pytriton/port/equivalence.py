"""Runs an old source and a module that was ported from it on the same memory, and compares every byte.

Both run on Triton's interpreter and then, where there is one, on the GPU. What a kernel does with its
arguments is not known here, so each pointer points into the middle of a large arena of random elements, and
numbers are small: whatever is read is there, and what leaves the arenas is an error that names the parameter
values, not a crash. Integers in memory are from 0 to 3, since kernels use them as indices; memory that atomics
or stores of integers change starts at zero, since it holds locks. The grid is the ported launcher's own, cut to
1 to 4 programs an axis.

The kernel's author never meant such memory. Two elements of a store, or two programs, may go to one address;
programs may share a lock but not what it guards; a lock may be another program's counter, and never open. On the
interpreter, which runs programs one after the other, both texts do the same all the same. A GPU has no such order
(``watch``): there, elements that were stored to more than once are not compared; if a program reads what another
one writes, one program is launched, which no other can disturb; and nothing is launched if an integer is divided
by zero. Where a lock stays closed, the interpreter also runs one program only.

For a GPU, a text that promises that what it loads is a multiple runs once more on the interpreter, with memory
that keeps the promise (loops are long then), and only that memory goes to the GPU.
"""

from __future__ import annotations

import ast
import importlib.util
import math
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import torch
import triton

from pytriton.compat.triton_names import InterpreterError, JITFunction
from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.pipeline import Parameter, Translation, translate
from pytriton.port.watch import Arena, Watch
from pytriton.runtime.checks.report import Stuck
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.kernel import kernel as old_kernel

__all__ = ["Case", "Machine", "compare", "load_ported", "ported"]

_ARENA: Final = 1 << 18  # elements before and after each pointer
_SHAPE: Final = (2,) * 6  # of every tensor, since a grid may ask for any of its axes
_LARGEST_GRID: Final = 4  # per axis: the interpreter takes a millisecond a program
_LARGEST_OF_MULTIPLES: Final = 2  # the same where integers in memory, and so loops, are large


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


_Grids = list[tuple[int, int, int]]
_Running = Callable[[Translation, int], AbstractContextManager[_Grids]]


@dataclass(frozen=True)
class Machine:
    """What runs both after the interpreter did: a GPU. In ``running``, ``@triton.jit`` kernels run there."""

    name: str
    device: str
    running: _Running


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

    ``folder``: that of the modules of kernels; the launcher module stands in it or in the package around it.
    ``source``: the name of the kernel's ``Source`` in its module.
    """
    outside = not (folder / "_triton.py").exists()
    package = load_ported(folder.parent if outside else folder)
    inner = f".{folder.name}.{module}" if outside else f".{module}"
    launcher = importlib.import_module("._triton", package.__name__)
    sources = getattr(importlib.import_module(inner, package.__name__), source)

    def launch(*arguments: Any, config: Any, grid: Any) -> None:
        kernel = launcher.kernel(sources, defines=dict(defines), num_warps=config.num_warps)
        first = sources[0] if isinstance(sources, tuple) else sources
        buffers = list(getattr(first, "buffers", ()))
        count = len(arguments) - len(buffers)
        for name, value in zip(buffers, arguments[count:], strict=True):
            kernel.set_constant(name, value)
        kernel(*arguments[:count], grid=grid)

    return launch


def compare(
    source: str,
    kernel: str | None,
    launcher: Callable[..., None],
    case: Case,
    sizes: Mapping[str, int] | int = 16,
    grid: Sequence[int] | None = None,
    machine: Machine | None = None,
) -> None:
    """Launch both once and compare all memory; raises AssertionError with the first difference.

    ``sizes`` gives the integer parameters by name, or one value for all; promises are kept by rounding up.
    ``grid`` is passed to a launcher that asks for one. ``machine``: the GPU, if there is one.
    """
    if machine is None and torch.cuda.is_available():
        machine = Machine("on the GPU, ", "cuda", _compiled)
    translation = translate(source, case.defines, kernel=kernel, strict_literals=case.strict_literals)
    kernel = translation.kernel
    given = None if grid is None else tuple(grid)
    promised = _promised(translation, {**translation.constexprs, **case.config}) if machine else 1
    for step in dict.fromkeys((1, promised)):
        largest = _LARGEST_GRID if step == 1 else _LARGEST_OF_MULTIPLES
        launch = _Launch(source, kernel, launcher, case, given, translation, largest)
        _compare(launch, sizes, step, machine if step == promised else None)


def _compare(launch: _Launch, sizes: Mapping[str, int] | int, step: int, machine: Machine | None) -> None:
    """Compare once. ``step``: of what memory of integers holds."""
    translation, kernel = launch.made, launch.kernel
    seed = zlib.crc32(f"{kernel}{launch.case}{sizes}".encode())
    arguments = [
        _argument(one, translation, sizes, seed + place, step)
        for place, one in enumerate(translation.parameters)
    ]
    watch = None
    try:
        watch = _interpreted_both(launch, arguments)
    except InterpreterError as error:
        if not isinstance(error.__cause__, Stuck):
            raise
        warnings.warn(f"{kernel}: a lock stays closed with {sizes}: one program is compared", stacklevel=3)
    if watch is None or (machine and watch.meet):
        launch = replace(launch, largest=1)
        watch = _interpreted_both(launch, arguments)
    if machine and (watch.by_zero or watch.torn):
        why = "divides an integer by zero" if watch.by_zero else "reads what one store wrote twice"
        warnings.warn(f"{kernel} {why} with {sizes}: not compared on the GPU", stacklevel=3)
    elif machine:
        there = [
            argument.on(machine.device) if isinstance(argument, Arena) else argument for argument in arguments
        ]
        new, old = launch.both(there, machine.running)
        for parameter, one, mine, wanted in zip(translation.parameters, arguments, new, old, strict=True):
            if isinstance(one, Arena):
                key = watch.several(one)
                mine[key] = wanted[key] = 0
                _assert_same(f"{machine.name}{parameter.name}", mine, wanted, one.first)


def _interpreted_both(launch: _Launch, arguments: Sequence[Any]) -> Watch:
    """Compare on the interpreter; what was seen of the ported launch."""
    arenas = [argument for argument in arguments if isinstance(argument, Arena)]
    watch = Watch(arenas, _uses_old_values(launch.made.text))
    new, old = launch.both(arguments, _interpreted, watch.looking())
    for parameter, one, mine, wanted in zip(launch.made.parameters, arguments, new, old, strict=True):
        if isinstance(one, Arena):
            _assert_same(parameter.name, mine, wanted, one.first)
    return watch


def _uses_old_values(text: str) -> bool:
    """Whether the old value is used that an atomic gives back, those of ``tl.atomic_cas`` aside."""
    nodes = list(ast.walk(ast.parse(text)))
    thrown = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and id(node) not in thrown]
    names = {node.func.attr for node in calls if isinstance(node.func, ast.Attribute)}
    return any(name.startswith("atomic_") for name in names - {"atomic_cas"})


@dataclass(frozen=True, eq=False)
class _Launch:
    """The two that are compared, and what both are given."""

    source: str
    kernel: str
    launcher: Callable[..., None]
    case: Case
    grid: tuple[int, ...] | None
    made: Translation
    largest: int  # how many programs an axis

    def both(
        self,
        arguments: Sequence[Any],
        running: _Running,
        watching: AbstractContextManager[None] | None = None,
    ) -> tuple[list[Any], list[Any]]:
        """The arenas after the ported launcher ran (and was watched), and after the old source did, on the CPU.

        They are left as they were before.
        """
        before = _copies(arguments)
        options = {"num_warps": self.case.num_warps, "num_stages": self.case.num_stages}
        given = {name: value for name, value in options.items() if value is not None}
        keywords = dict(self.case.keywords) | ({} if self.grid is None else {"grid": self.grid})
        try:
            with running(self.made, self.largest) as grids, watching or nullcontext():
                self.launcher(
                    *(_passed(argument) for argument in arguments),
                    config=triton.Config(dict(self.case.config), **given),
                    **keywords,
                )
            assert len(grids) == 1, f"the launcher launched {len(grids)} kernels"
            ported = _copies(arguments)
            _restore(arguments, before)
            _run_old(self.source, self.kernel, self.case, self.made, arguments, grids[0])
            return ported, _copies(arguments)
        finally:
            _restore(arguments, before)


def _copies(arguments: Sequence[Any]) -> list[Any]:
    """What the arenas hold, on the CPU; None for numbers."""
    return [argument.whole.cpu().clone() if isinstance(argument, Arena) else None for argument in arguments]


def _restore(arguments: Sequence[Any], before: Sequence[Any]) -> None:
    for argument, start in zip(arguments, before, strict=True):
        if isinstance(argument, Arena):
            argument.whole.copy_(start)


# Arguments


def _passed(argument: Any) -> Any:
    return argument.tensor if isinstance(argument, Arena) else argument


def _promised(translation: Translation, config: Mapping[str, Any]) -> int:
    """What integers in memory must be multiples of, as the text promises it; 1 if it promises nothing."""
    divisors = re.findall(r"\btl\.multiple_of\(.*\btl\.load\(.*, (\w+)\)", translation.text)
    return math.lcm(*(int(divisor) if divisor.isdigit() else int(config[divisor]) for divisor in divisors))


def _argument(
    parameter: Parameter, translation: Translation, sizes: Mapping[str, int] | int, seed: int, step: int
) -> Any:
    if parameter.buffer:
        return _buffer(parameter.buffer, seed)
    if isinstance(parameter.type, PointerType):
        element = parameter.type.element
        dtype = torch.int64 if isinstance(element, PointerType) else getattr(torch, element.torch)
        return _arena(dtype, parameter.name in translation.writes, seed, step)
    return _scalar(parameter, parameter.type, sizes)


def _buffer(size: int, seed: int) -> Arena:
    """A constant buffer: so many bytes, small integers if it is read as ``int``."""
    random = torch.Generator().manual_seed(seed)
    words = torch.randint(0, 4, (-(-size // 4),), generator=random, dtype=torch.int32)
    padded = words.view(torch.int8)[:size]
    return Arena(padded, padded)


def _arena(dtype: torch.dtype, written: bool, seed: int, step: int) -> Arena:
    """Aligned to 64 bytes in its middle, as torch's own memory is at its start."""
    random = torch.Generator().manual_seed(seed)
    total = (2 * _ARENA,)
    if dtype.is_floating_point:
        memory = torch.randn(total, generator=random).to(dtype)
    elif written:
        memory = torch.zeros(total, dtype=dtype)
    else:
        most = 4 if step == 1 else 2  # multiples may be how many iterations a loop has
        memory = (step * torch.randint(0, most, total, generator=random)).to(dtype)
    return Arena(memory, memory[_ARENA : _ARENA + 2 ** len(_SHAPE)].view(_SHAPE))


def _scalar(parameter: Parameter, type_: ScalarType, sizes: Mapping[str, int] | int) -> Any:
    if type_.kind == "bool":
        return True
    if type_.kind == "float":
        return 0.5
    given = sizes if isinstance(sizes, int) else sizes.get(parameter.name, sizes.get("", 16))
    return -(-given // parameter.multiple_of) * parameter.multiple_of


# The ported module


@contextmanager
def _interpreted(translation: Translation, largest: int) -> Iterator[_Grids]:
    """While the body runs, ``@triton.jit`` kernels are interpreted. Gives the grids that were launched."""
    grids: _Grids = []

    def run(function: Any, *values: Any, grid: Any, warmup: bool = False, **named: Any) -> None:
        options = ("num_warps", "num_stages", "num_ctas", "maxnreg", "ir_override")
        numbers = {name: value for name, value in named.items() if name not in options}
        grids.append(_cut(grid, function, values, named, largest))
        given = dict(zip(function.arg_names, values, strict=False))
        present = [given.pop(parameter.identifier) for parameter in translation.parameters]
        plain = [value.data_ptr() if isinstance(value, torch.Tensor) else value for value in present]
        module: Any = SimpleNamespace(python=function.fn)
        kernel = Interpreted(module, translation.parameters, {**given, **numbers}, ones=True)
        kernel.run(grids[-1], plain)

    with _instead(run):
        yield grids


@contextmanager
def _compiled(translation: Translation, largest: int) -> Iterator[_Grids]:
    """While the body runs, ``@triton.jit`` kernels run on the GPU, with a grid that is cut."""
    grids: _Grids = []
    compiled = JITFunction.run

    def run(function: Any, *values: Any, grid: Any, warmup: bool = False, **named: Any) -> Any:
        grids.append(_cut(grid, function, values, named, largest))
        return compiled(function, *values, grid=grids[-1], warmup=warmup, **named)

    with _instead(run):
        yield grids


@contextmanager
def _instead(run: Callable[..., Any]) -> Iterator[None]:
    compiled = JITFunction.run
    JITFunction.run = run
    try:
        yield
    finally:
        JITFunction.run = compiled


def _cut(
    grid: Any, function: Any, values: Sequence[Any], named: Mapping[str, Any], largest: int
) -> tuple[int, int, int]:
    """The grid that the launcher asks for, with few programs an axis."""
    meta = {**dict(zip(function.arg_names, values, strict=False)), **named}
    axes = tuple(grid(meta) if callable(grid) else grid)
    x, y, z = (max(1, min(size, largest)) for size in (*axes, 1, 1)[:3])
    return x, y, z


# The old source


def _run_old(
    source: str,
    kernel: str,
    case: Case,
    translation: Translation,
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
    for parameter, argument in zip(translation.parameters, arguments, strict=True):
        if parameter.buffer:
            old.set_constant(parameter.name, argument.whole.cpu().numpy())
        else:
            given.append(_passed(argument))
    old(*given, grid=grid)


def _assert_same(name: str, new: torch.Tensor, want: torch.Tensor, first: int) -> None:
    """Equal in every element; one NaN is as good as another. ``first``: where the pointer points."""
    same = (new == want) | ((new != new) & (want != want))
    if not bool(same.all()):
        at = int((~same).nonzero()[0])
        values = f"{new[at].item()}, but the old source gives {want[at].item()}"
        raise AssertionError(f"{name}[{at - first}] is {values}")
