"""Launches of the examples and of the old packages, as data that can be launched again, changed.

Each program runs once at its smallest size; of each kernel, at each set of defines, the first launch is kept: the
text, what was asked of it, the arguments (copied before the launch) and the grid. Where a program passes the
address of a tensor, the tensor stands for it. Launches with constant buffers are left out: what these hold is not
recorded.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import pytriton
from pytriton.runtime.launch.candidate import Launch
from tests.legacy.modules import PACKAGES, package

__all__ = ["QUICK", "Recorded", "recorded"]

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
MAX_PROGRAMS = 320
QUICK = ("vector_add", "copy_transpose", "softmax", "lean2019")  # take little time


@dataclass(frozen=True)
class Recorded:
    """One launch. ``arguments`` are tensors, numbers and None, in the order of ``names``."""

    program: str
    text: str
    kernel: str | None
    defines: Mapping[str, Any]
    names: tuple[str, ...]
    arguments: tuple[Any, ...]
    grid: tuple[int, int, int]

    @property
    def label(self) -> str:
        return f"{self.program}:{self.kernel or 'first'}"

    @property
    def has_memory(self) -> bool:
        """Whether all that it may reach is there: addresses are those of tensors that are gone."""
        kinds = [parameter.declaration for parameter in self.made().translation().parameters]
        pairs = zip(kinds, self.arguments, strict=True)
        return not any("*" in kind and isinstance(given, int) and given for kind, given in pairs)

    def made(self, check: Any = None) -> pytriton.Kernel:
        return pytriton.kernel(
            self.text, defines=self.defines, kernel=self.kernel, check=check, name="kernel.c"
        )


@cache
def recorded(programs: tuple[str, ...] | None = None) -> tuple[Recorded, ...]:
    """Those of some programs, or of all, in a fixed order."""
    found: dict[tuple[Any, ...], Recorded] = {}
    for name, program in (*_examples(), *_packages()):
        if programs is not None and name not in programs:
            continue
        torch.manual_seed(0)
        with _recording(name, found), contextlib.redirect_stdout(io.StringIO()):
            program()
    return tuple(found.values())


@contextlib.contextmanager
def _recording(name: str, found: dict[tuple[Any, ...], Recorded]) -> Iterator[None]:
    plain, data_ptr = Launch.__call__, torch.Tensor.data_ptr
    tensors: dict[int, torch.Tensor] = {}  # by their addresses, which are theirs as long as they are here

    def addressed(tensor: torch.Tensor) -> int:
        tensors[data_ptr(tensor)] = tensor
        return data_ptr(tensor)

    def record(launch: Launch) -> None:
        memory, candidate = launch.memory, launch.candidate
        assert memory is not None
        key = (name, candidate._text.source.text, candidate.translation.kernel, candidate.config)
        if key not in found and math.prod(launch.grid) <= MAX_PROGRAMS and not candidate.binder.buffers:
            found[key] = Recorded(
                name,
                candidate._text.source.text,
                candidate.translation.kernel,
                candidate.config.defines,
                tuple(parameter.name for parameter in candidate.binder.parameters),
                _copied(memory.arguments, tensors),
                launch.grid,
            )
        plain(launch)

    Launch.__call__ = record  # type: ignore[method-assign]
    torch.Tensor.data_ptr = addressed  # type: ignore[method-assign]
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        Launch.__call__ = plain  # type: ignore[method-assign]
        torch.Tensor.data_ptr = data_ptr  # type: ignore[method-assign]


def _copied(arguments: Any, tensors: Mapping[int, torch.Tensor]) -> tuple[Any, ...]:
    given = [tensors.get(x, x) if type(x) is int and x > 1 << 20 else x for x in arguments]
    return tuple(x.detach().clone() if isinstance(x, torch.Tensor) else x for x in given)


def _examples() -> Iterator[tuple[str, Callable[[], object]]]:
    for path in EXAMPLES:
        yield path.stem, lambda path=path: _script(path)  # type: ignore[misc]


def _script(path: Path) -> None:
    arguments, sys.argv = sys.argv, [str(path)]
    folder = str(path.parent)
    sys.path.insert(0, folder)
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv = arguments
        sys.path.remove(folder)


OWN_TESTS: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "lean2019": (("test_dot", {"transpose_a": False, "transpose_b": True}), ("test_batchnorm", {})),
    "contract2020": (("test_einsum", {"pattern": "bhmk,bhnk->bhmn"}),),
    "tutorials2020": (
        ("test_vector_add", {}),
        ("test_matmul", {"dtype": torch.float32}),
        ("test_conv", {"pad": 1}),
    ),
    "ops2021": (
        ("test_matmul", {"layout": "nn"}),
        ("test_softmax", {"columns": 37, "dtype": torch.float32}),
        ("test_cross_entropy", {"columns": 37}),
    ),
    "blocksparse2020": tuple(
        ("test_products", {"mode": mode, "trans_a": False, "trans_b": True}) for mode in ("sdd", "dsd", "dds")
    ),
    "maskedsoftmax2020": (
        (
            "test_each_combination_of_flags",
            {"scale": 1.0, "flags": {"rpe": "add", "key_padding_mask": "mul", "attn_mask": "add"}},
        ),
    ),
    "sparseconv2021": (("test_conv", {"sizes": "even", "padding": (1, 1), "stride": (2, 2)}),),
    "layers2021": (
        ("test_linear", {"activation": None, "bias": True}),
        ("test_norm", {"columns": 37, "rms": False, "residual": True}),
        ("test_lookup", {"features": 5, "padding": 0, "dtype": torch.float32}),
    ),
}


def _packages() -> Iterator[tuple[str, Callable[[], object]]]:
    """Some of the packages' own tests, at the sizes for a CPU."""
    given = {"device": "cpu", "large": lambda small, _: small}
    for name, tests in OWN_TESTS.items():
        for test, arguments in tests:
            yield (
                name,
                lambda name=name, test=test, arguments=arguments: getattr(_tests_of(name), test)(
                    **given, compare=_tests_of(name, "conftest")._compare, **arguments
                ),
            )
    for name in ("sparse2020", "sparse2021"):
        for mode in ("sdd", "dsd", "dds"):
            yield name, lambda name=name, mode=mode: _sparse_product(name, mode, given)


def _sparse_product(name: str, mode: str, given: Mapping[str, Any]) -> None:
    layout = _tests_of(name, "block_sparse").random_layout(2, 2, 4, 3, "cpu")
    compare = _tests_of(name, "conftest")._compare
    attention = _tests_of(name).TestAttention()
    attention.test_matmul(
        **given, compare=compare, setup=(layout, 16), mode=mode, trans_a=False, trans_b=True
    )


def _tests_of(name: str, module: str | None = None) -> ModuleType:
    """The own tests of a package, or a module beside them."""
    package(name)
    folder = str(PACKAGES.with_name("packages_tests"))
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(module or f"test_{name}")
    finally:
        sys.path.remove(folder)
