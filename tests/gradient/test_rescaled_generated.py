"""Random kernels with a running exponent: each gradient against autograd, in double.

torch runs the same program (generate_rescaled.py), so outputs are compared as well. One whose sums are rescaled by
one factor must need no scratch; one that looks like it must be right all the same, or be refused with a code.
``RESCALED_KERNELS`` is the count, ``RESCALED_SEED`` the first seed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch

import pytriton
from tests.gradient.generate_rescaled import Rescaled, reference, rescaled_kernel, written

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SAMPLE = 12
COUNT = int(os.environ.get("RESCALED_KERNELS", "500"))
FIRST = int(os.environ.get("RESCALED_SEED", "0"))
CHUNK = 250
TOLERANCE = 1e-9  # of an element, beside the largest of its tensor
REFUSED = {"TC708"}  # what a loop carries where no number bounds its iterations


def error(program: Rescaled, seed: int, derive: Callable[..., Any] = pytriton.gradient) -> tuple[float, bool]:
    """The largest error of an element, and whether states are kept."""
    kernel = pytriton.kernel(program.text, defines={"T": torch.double})
    given = {name: tensor.clone() for name, tensor in program.tensors.items()}
    arguments = [*given.values(), *program.numbers.values()]
    kernel(*arguments, grid=(program.programs,))
    inputs = {name: tensor.clone().requires_grad_() for name, tensor in program.tensors.items()}
    wanted = reference(program, inputs)
    for name, output in wanted.items():
        assert torch.isfinite(output).all(), f"{seed}: a draw whose output is not finite"
        torch.testing.assert_close(given[name], output.detach(), rtol=1e-10, atol=1e-10)
    derived = derive(kernel, checkpoints=seed % 5 == 1)
    generator = torch.Generator().manual_seed(seed)
    flowing = {name: torch.randn(given[name].shape, generator=generator).double() for name in derived.outputs}
    gradients = derived(*arguments, grid=(program.programs,), d_outputs=flowing)
    total = sum((wanted[name] * flow).sum() for name, flow in flowing.items())
    assert isinstance(total, torch.Tensor)
    places = [name for name in inputs if name not in wanted]
    by_torch = torch.autograd.grad(total, [inputs[name] for name in places], allow_unused=True)
    worst = 0.0
    for name, flow in zip(places, by_torch, strict=True):
        exact = torch.zeros_like(inputs[name]) if flow is None else flow
        off = (gradients.get(name, torch.zeros_like(exact)) - exact).abs().max()
        worst = max(worst, float((off / exact.abs().max().clamp(1)).nan_to_num(torch.inf)))
    return worst, "state_" in derived.source()


def outcome(seed: int, derive: Callable[..., Any] = pytriton.gradient) -> str:
    """``rescaled`` or ``states`` where the gradient is right; ``wrong``; or the code of the refusal."""
    program = rescaled_kernel(seed)
    try:
        off, states = error(program, seed, derive)
    except (pytriton.UnsupportedError, pytriton.LaunchError) as refusal:
        return next((code for code in REFUSED if f"[{code}]" in str(refusal)), f"refused: {refusal}")
    if not off < TOLERANCE:
        return "wrong"
    if program.expected and states:
        return "keeps states"
    return "states" if states else "rescaled"


RIGHT = {"rescaled", "states", *REFUSED}


@pytest.mark.parametrize("seed", range(SAMPLE))
def test_sample(seed: int) -> None:
    program = rescaled_kernel(seed)
    assert outcome(seed) in RIGHT, program.text


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_many(first: int, capsys: pytest.CaptureFixture[str]) -> None:
    """As many as RESCALED_KERNELS says, from the seed RESCALED_SEED."""
    seeds = range(FIRST + first, FIRST + min(first + CHUNK, COUNT))
    outcomes = {seed: outcome(seed) for seed in seeds}
    with capsys.disabled():
        print("\n" + ", ".join(f"{key}: {count}" for key, count in Counter(outcomes.values()).most_common()))
    assert {seed: result for seed, result in outcomes.items() if result not in RIGHT} == {}
    assert sum(result == "rescaled" for result in outcomes.values()) >= len(seeds) / 2
    assert sum(result in REFUSED for result in outcomes.values()) <= len(seeds) / 5


START = "m: T = -1\ns: T = 0\nc: T = load(w, r)\nfor t in range(0, n, 1):\n "
READ = "a: T = load(x, r * 4 + t); b: T = load(w, r * 4 + t); "
AGAIN = "q: T = max(m, a); s *= exp(m - q); {}s += exp(a - q); m = q\nstore(y, r, log(s) + m)"
BOTH = "q: T = max(m, {0}); s = s * exp(m - q) + {1}; c = c * exp(m - q) + b * exp({0} - q); m = q\n"
GROWN = "store(y, r, c * exp(m))\nstore(z, r, s * exp(m))"
CORNERS = {  # the text of a program, and how many iterations it has
    "scaled twice by the factor": (AGAIN.format("s *= exp(m - q); "), 3),
    "scaled again by a number": (AGAIN.format("s *= 0.5; "), 3),
    "scaled again by an input": (AGAIN.format("s *= b; "), 3),
    "no iteration": (BOTH.format("a", "exp(a - q)") + GROWN, 0),
    "a sum of nothing in a row": (BOTH.format("a", "choose(r == 0, exp(a - q), 0)") + GROWN, 3),
    "a row that is masked off": (
        "f: T = choose(r == 0, a, -inf); " + BOTH.format("f", "exp(f - q)") + GROWN,
        3,
    ),
}


@pytest.mark.parametrize("name", CORNERS)
def test_corners(name: str) -> None:
    """Two factors of one sum, and sums that may be 0 where all outputs are finite."""
    body, n = CORNERS[name]
    generator = torch.Generator().manual_seed(0)
    tensors = {place: torch.zeros(8).double() for place in "yz"}
    tensors |= {place: torch.rand(8, generator=generator).double() for place in "xw"}
    program = written(START + READ + body, tensors, {"n": n, "N": 4 * n, "scale": 1.0}, 2)
    assert error(program, 0)[0] < TOLERANCE
