"""Random kernels: the derived backward against numerical differences in double.

``GRADIENT_KERNELS`` is their count, ``GRADIENT_SEED`` the first seed, ``GRADIENT_DEVICE`` the device.
"""

from __future__ import annotations

import math
import os

import pytest
import torch

import pytriton
from tests.gradient.by_hand import by_hand
from tests.gradient.generate import kernel

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SAMPLE = 3
COUNT = int(os.environ.get("GRADIENT_KERNELS", "400"))
FIRST = int(os.environ.get("GRADIENT_SEED", "0"))  # of the seeds
DEVICE = os.environ.get("GRADIENT_DEVICE", "cpu")
CHUNK = 50  # of them in a test
STEP = 1e-6
TOLERANCE = 1e-6  # of a derivative along a random direction, of order 1, from central differences


def on_device(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor on DEVICE, with its strides."""
    return tensor[:1].to(DEVICE).expand(tensor.shape) if 0 in tensor.stride() else tensor.to(DEVICE)


def difference(seed: int) -> float | None:
    """By how much the derivative along a random direction is off, beside its size; None if the kernel gives NaN, or
    has no derivative at this size.
    """
    made = kernel(seed)
    tensors = {name: on_device(t) for name, t in made.tensors.items()}
    compiled = pytriton.kernel(made.text, defines={"B": 8})
    derived = pytriton.gradient(compiled, checkpoints=seed % 3 == 1)
    generator = torch.Generator().manual_seed(seed)
    expanded = seed % 2 == 0
    size = 1 if expanded else len(tensors["y"])
    weights = on_device(torch.randn(size, generator=generator, dtype=torch.double))
    flowing = weights.expand(len(tensors["y"]))  # of stride 0 for every other seed
    ways = {
        name: torch.randn(t.shape if 0 not in t.stride() else 1, generator=generator, dtype=torch.double)
        .to(DEVICE)
        .expand(t.shape)
        for name, t in tensors.items()
    }

    def value(step: float) -> float:
        given = {name: t + step * ways[name] if name != "y" else t.clone() for name, t in tensors.items()}
        compiled(*({**given, **made.numbers}[name] for name in made.names), grid=made.grid)
        return float((given["y"] * flowing).sum())

    if not math.isfinite(value(0)):
        return None
    wanted = (value(STEP) - value(-STEP)) / (2 * STEP)
    given = {**tensors, **made.numbers, "y": tensors["y"].clone()}
    compiled(*(given[name] for name in made.names), grid=made.grid)
    try:
        gradients = derived(*(given[name] for name in made.names), grid=made.grid, d_outputs={"y": flowing})
    except pytriton.LaunchError as error:
        if "TC708" not in str(error):
            raise
        return None  # what loops carry takes more memory than these small tensors
    (facts,) = derived._facts.values()
    if facts.backward.text == derived._usual.text:
        arguments = {name: given[name] for name in derived.parameters}
        other = by_hand(derived, arguments, made.grid, {"y": flowing.contiguous()}, {"B": 8})
        for name, gradient in gradients.items():
            if 0 not in given[name].stride():
                torch.testing.assert_close(other[name], gradient)
    found = sum(float((gradients[name] * ways[name]).sum()) for name in gradients)
    return abs(found - wanted) / max(1.0, abs(wanted))


@pytest.mark.parametrize("seed", range(SAMPLE))
def test_sample(seed: int) -> None:
    off = difference(seed)
    assert off is not None
    assert off < TOLERANCE, kernel(seed).text


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SAMPLE, COUNT, CHUNK))
def test_many(first: int, capsys: pytest.CaptureFixture[str]) -> None:
    """As many as GRADIENT_KERNELS says, from the seed GRADIENT_SEED."""
    seeds = range(FIRST + first, FIRST + min(first + CHUNK, COUNT))
    known = {seed: off for seed in seeds if (off := difference(seed)) is not None}
    wrong = [seed for seed, off in known.items() if not off < TOLERANCE]
    with capsys.disabled():
        print(f"\n{len(known)} generated kernels compared with numerical differences, {len(wrong)} wrong")
    assert wrong == []
    assert len(known) > 0.9 * len(seeds)
