"""Bodies of operators with ``gradient=True``: gradients are those of torch, or the body is refused with TC756."""

from __future__ import annotations

import collections
import os
from typing import Any

import pytest
import torch

import pytriton
from tests.operators.bodies import BACKWARDS, HIDDEN, Body, Formulas, Kernels

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SAMPLE = 40
COUNT = int(os.environ.get("OPERATOR_BODIES", "600"))
FIRST = int(os.environ.get("OPERATOR_SEED", "0"))
CHUNK = 120
COMPILED = 3  # without --slow


@pytest.fixture(autouse=True)
def compiled() -> Any:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def outcome(seed: int, compiled: bool = False) -> str:
    """``equal`` or ``refused``; anything else is wrong."""
    body = Body(seed)

    def function(x: torch.Tensor, w: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return body.run(Kernels(), x, w, table)

    name = f"pytriton_bodies::{f'compiled_{seed}' if compiled else 'eager'}"
    operator = pytriton.op(name, function, gradient=True)
    leaves, arguments = body.arguments(seed)
    flowing = None

    def gradients(run: Any) -> list[torch.Tensor]:
        nonlocal flowing
        made = run(*arguments, BACKWARDS)
        if flowing is None:
            generator = torch.Generator().manual_seed(seed + 1)
            flowing = [
                torch.randn(y.shape, generator=generator, dtype=torch.double).to(y.dtype) for y in made
            ]
        back = torch.autograd.grad(made, leaves, flowing, materialize_grads=True, allow_unused=True)
        return [*(y.detach() for y in made), *back]

    run = torch.compile(operator, backend="aot_eager", dynamic=bool(seed % 2)) if compiled else operator
    try:
        found = gradients(run)
    except pytriton.LaunchError as error:
        return "refused" if "[TC756]" in str(error) else f"raises {error}"
    if body.bad is HIDDEN:
        return "not refused"
    wanted = gradients(lambda *given: body.run(Formulas(), *given))
    try:
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    except AssertionError as error:
        return f"differs {error}"
    return "equal"


def judge(seeds: range, compiled: bool = False) -> collections.Counter[str]:
    found = {seed: outcome(seed, compiled) for seed in seeds}
    wrong = {
        seed: (Body(seed), what)
        for seed, what in found.items()
        if what not in ("equal", "refused") or (what == "refused") != (Body(seed).bad is not None)
    }
    assert wrong == {}
    return collections.Counter(found.values())


def test_sample() -> None:
    """Every body with a step that has no adjoint is refused, and all others are equal."""
    found = judge(range(SAMPLE))
    assert min(found["equal"], found["refused"]) > SAMPLE // 4


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SAMPLE, COUNT, CHUNK))
def test_many(first: int) -> None:
    """As many as OPERATOR_BODIES says, from OPERATOR_SEED."""
    judge(range(FIRST + first, FIRST + min(first + CHUNK, COUNT)))


@pytest.mark.parametrize("count", [COMPILED, pytest.param(4 * COMPILED, marks=pytest.mark.slow)])
def test_compiled(count: int) -> None:
    judge(range(10_000, 10_000 + count), compiled=True)
