"""Rules of the derivation, each with a mistake in it: the programs of this folder notice.

The package is loaded again with one mutant (tests/mutation/of_gradient.py), and the programs that it names run
against numerical differences; at least one must be wrong, or refused.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
import torch

import pytriton
from tests.gradient.programs import PROGRAMS, Launch
from tests.gradient.test_precision import gradient_of_shifted_log
from tests.mutation.mutant import Mutant, mutated
from tests.mutation.of_gradient import ELSEWHERE, GUARDS, WRONG

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

gradcheck_module = sys.modules["torch.autograd.gradcheck"]

RELOADED = (
    "pytriton.passes.analysis.affine",
    "pytriton.gradient.derive",
    *(f"pytriton.gradient.{name}" for name in ("backward", "enumerated", "launches")),
)
SAMPLE = ("a sum forgets its left operand",)


@contextmanager
def loaded(mutant: Mutant | None) -> Iterator[Callable[..., Any]]:
    """``pytriton.gradient``, loaded again, with a mistake in one module."""
    module = mutant and mutant.path.removesuffix(".py").replace("/", ".")
    text = mutant and mutated(mutant)
    names = [n for n in sys.modules if n.startswith(RELOADED)]
    kept = {name: sys.modules.pop(name) for name in names}

    class Finder:
        @staticmethod
        def find_spec(name: str, path_: Any = None, target: Any = None) -> Any:
            if name != module:
                return None
            return importlib.util.spec_from_loader(name, Loader())

    class Loader:
        def create_module(self, spec: Any) -> None:
            return None

        def exec_module(self, made: Any) -> None:
            exec(compile(text or "", made.__name__, "exec"), made.__dict__)

    finder: Any = Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module("pytriton.gradient.backward").gradient
    finally:
        sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n in kept or n.startswith(RELOADED)]:
            del sys.modules[name]
        sys.modules.update(kept)


def right(name: str, derive: Callable[..., Any]) -> bool:
    """Whether a program's gradients are those of numerical differences."""
    program = PROGRAMS[name]
    try:
        launch = Launch(program, torch.double, derive)
        tensors = program.tensors(torch.double)
        inputs = [tensors[each].requires_grad_() for each in launch.gradient.inputs]
        with patch.object(gradcheck_module, "_run_slow_mode_and_get_error", lambda *given: ""):
            same = torch.autograd.gradcheck(
                launch.function(tensors), inputs, fast_mode=True, atol=1e-6, raise_exception=False
            )
        return same and launch.as_expected()
    except Exception:  # refused, or no text at all
        return False


@pytest.mark.parametrize(
    ("mutant", "programs"),
    [
        pytest.param(Mutant(*row), programs, id=row[0], marks=() if row[0] in SAMPLE else pytest.mark.slow)
        for *row, programs in WRONG
    ],
)
def test_mutant(mutant: Mutant, programs: tuple[str, ...]) -> None:
    with loaded(mutant) as derive:
        assert not all(right(program, derive) for program in programs)


@pytest.mark.parametrize("name", ["online", "compared", "stored_in_arms"])
def test_no_mutant(name: str) -> None:
    """Without a mistake the same way of loading gives what is right."""
    with loaded(None) as derive:
        assert right(name, derive)


def test_masks() -> None:
    (mutant,) = (Mutant(*row) for row in ELSEWHERE if row[0] == "masks before the local derivative")
    with loaded(mutant) as derive:
        assert gradient_of_shifted_log(derive).isnan().item()


@pytest.mark.parametrize(
    ("mutant", "body", "numbers", "grid"),
    [pytest.param(Mutant(*row[:4]), *row[4:], id=row[0]) for row in GUARDS],
)
def test_guard(mutant: Mutant, body: str, numbers: dict[str, int], grid: tuple[int, ...]) -> None:
    """A refusal, and the mistake without which there is none."""
    parameters = ", ".join(["float *y", "float *x", *(f"int {each}" for each in numbers)])
    text = f"__global__ void f({parameters}) {{ {body} }}"

    def launch(derive: Callable[..., Any]) -> None:
        y, x = torch.zeros(64), torch.ones(64)
        derive(text)(y, x, *numbers.values(), grid=grid, d_outputs={"y": y})

    with pytest.raises((pytriton.UnsupportedError, pytriton.LaunchError)):
        launch(pytriton.gradient)
    with loaded(mutant) as derive:
        launch(derive)
