"""Random kernels whose loops carry values: each element of each gradient against central differences in double.

The oracle is the forward itself, so it needs no reference. Where two steps disagree, a tie or a kink is near, and
the element is skipped. ``CARRIED_KERNELS`` is the count, ``CARRIED_SEED`` the first seed.
"""

from __future__ import annotations

import os

import pytest
import torch

import pytriton
from tests.gradient.generate_carried import carried_kernel

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SAMPLE = 2
COUNT = int(os.environ.get("CARRIED_KERNELS", "300"))
FIRST = int(os.environ.get("CARRIED_SEED", "0"))
CHUNK = 50
STEPS = (1e-4, 5e-5)  # of the differences
SMOOTH = 1e-5  # by how much two steps may disagree, beside the size of the derivative
TOLERANCE = 1e-4


def difference(seed: int, elements: int | None = None) -> float | None:
    """The largest error of an element, beside its size; None where the kernel has no gradient. ``elements``: so
    many of each input are compared, else all.
    """
    made = carried_kernel(seed)
    defines = {"B": 4, "T": torch.double}
    try:
        kernel = pytriton.kernel(made.text, defines=defines)
        derived = pytriton.gradient(kernel, checkpoints=seed % 3 == 1)
    except pytriton.UnsupportedError:
        return None
    generator = torch.Generator().manual_seed(seed)
    outputs = [name for name in ("y", "z") if name in derived.outputs]
    flowing = {n: torch.randn(made.tensors[n].shape, generator=generator).double() for n in outputs}

    def launched(given: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        given = given | {name: torch.zeros_like(given[name]) for name in ("y", "z")}
        kernel(*({**given, **made.numbers}[name] for name in made.names), grid=made.grid)
        return given

    def value(name: str, at: int, step: float) -> float:
        moved = made.tensors[name].clone()
        moved[at] += step
        given = launched(made.tensors | {name: moved})
        return sum(float((given[n] * flow).sum()) for n, flow in flowing.items())

    given = launched(made.tensors) | made.numbers  # type: ignore[operator]
    try:
        gradients = derived(*(given[n] for n in made.names), grid=made.grid, d_outputs=flowing)
    except pytriton.LaunchError as error:
        if "TC708" not in str(error):
            raise
        return None  # what loops carry takes more memory than these small tensors
    worst = 0.0
    for name, gradient in gradients.items():
        order = torch.randperm(len(gradient), generator=generator).tolist()
        for at in order[:elements]:
            one, two = ((value(name, at, s) - value(name, at, -s)) / (2 * s) for s in STEPS)
            if abs(one - two) <= SMOOTH * max(1.0, abs(two)):
                worst = max(worst, abs(float(gradient[at]) - two) / max(1.0, abs(two)))
    return worst


@pytest.mark.parametrize("seed", range(SAMPLE))
def test_sample(seed: int) -> None:
    off = difference(seed, 2)
    assert off is None or off < TOLERANCE, carried_kernel(seed).text


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_many(first: int, capsys: pytest.CaptureFixture[str]) -> None:
    """As many as CARRIED_KERNELS says, from the seed CARRIED_SEED."""
    seeds = range(FIRST + first, FIRST + min(first + CHUNK, COUNT))
    known = {seed: off for seed in seeds if (off := difference(seed, 4)) is not None}
    wrong = [seed for seed, off in known.items() if not off < TOLERANCE]
    with capsys.disabled():
        print(f"\n{len(known)} of {len(seeds)} kernels compared with central differences, {len(wrong)} wrong")
    assert wrong == []
    assert len(known) > 0.6 * len(seeds)
