"""The kernels of examples/, with the sizes that tests/metamorphic launches: derived, or refused with a code.

Their backwards are compared with differences of what the kernels compute, along a random direction; in double, as
far as a text lets its types be chosen. Where a gradient is zero (of what is only compared), nothing is moved.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

import pytriton
from tests.metamorphic.launches import PROGRAMS, Taken, View, launches

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
sys.path.append(str(Path(__file__).parents[2] / "examples"))

REFUSED = {  # program, kernel: code
    ("blocksparse_matmul", None): "TC705",  # locks
    ("cross_entropy", "forward"): "TC704",  # in the memory of the scores
    ("cross_entropy", "backward"): "TC704",
    ("layer_norm", "backward"): "TC705",
    ("split_k", None): "TC705",
    ("batch_norm", "forward"): "TC750",  # stored in a loop, at indices by division
    ("batch_norm", "backward"): "TC750",
    ("blocksparse_softmax", "forward"): "TC750",  # stored at indices from memory
    ("blocksparse_softmax", "backward"): "TC750",
    ("linear_layer", None): "TC515",  # addresses instead of tensors: no input is left
    ("matmul_grouped", None): "TC515",
}
STEP = 2e-3
TOLERANCE = 2e-2  # of a derivative by differences of what is computed in float


def tensors(taken: Taken) -> list[object]:
    """The arguments of a launch; half tensors and those of TYPE in double, where the text lets them."""
    raws = [raw.clone() for raw in taken.before]
    wide = taken.defines.get("TYPE") in ("half", "float", torch.float16, torch.float32)
    made: list[object] = []
    declared = taken.text.partition("void " + (taken.kernel or ""))[2].partition("{")[0].split(",")
    for argument, text in zip(taken.arguments, declared, strict=False):
        if isinstance(argument, View):
            tensor = raws[argument.storage].view(argument.dtype)
            tensor = tensor.as_strided(argument.shape, argument.strides, argument.offset)
            dtype = torch.double if wide and "TYPE" in text else tensor.dtype
            made.append(copied(tensor, dtype))
        else:
            made.append(argument)
    return made


def copied(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """With the same strides, which a kernel may have been given."""
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=dtype)
    return made.copy_(tensor)


def off(taken: Taken) -> float:
    """By how much the derivative along a random direction is off, beside its size."""
    defines = dict(taken.defines)
    if defines.get("TYPE") in ("half", "float", torch.float16, torch.float32):
        defines["TYPE"] = torch.float64
    if "ACC" in defines:
        defines["ACC"] = torch.float64
    kernel = pytriton.kernel(taken.text, kernel=taken.kernel, defines=defines)
    derived = pytriton.gradient(kernel)
    given = dict(zip(derived.parameters, tensors(taken), strict=True))
    generator = torch.Generator().manual_seed(0)

    def like(name: str) -> torch.Tensor:
        tensor = given[name]
        assert isinstance(tensor, torch.Tensor)
        return torch.randn(tensor.shape, generator=generator, dtype=torch.double).to(tensor.dtype)

    absent = [name for name in derived.inputs + derived.outputs if not isinstance(given[name], torch.Tensor)]
    if absent:
        names = [[name for name in each if name not in absent] for each in (derived.outputs, derived.inputs)]
        derived = pytriton.gradient(kernel, *names)
    flowing = {name: like(name) for name in derived.outputs}
    kernel(*given.values(), grid=taken.grid)
    made = derived(*given.values(), grid=taken.grid, d_outputs=flowing)
    way = {name: like(name) for name in derived.inputs if made[name].count_nonzero()}

    def value(step: float) -> float:
        moved = {
            name: copied(tensor, tensor.dtype).add_(way.get(name, 0), alpha=step)
            for name, tensor in given.items()
            if isinstance(tensor, torch.Tensor) and tensor.is_floating_point()
        }
        kernel(*{**given, **moved}.values(), grid=taken.grid)
        return sum(float((moved[name].double() * flow.double()).sum()) for name, flow in flowing.items())

    wanted = (value(STEP) - value(-STEP)) / (2 * STEP)
    found = sum(float((made[name].double() * way[name].double()).sum()) for name in way)
    return abs(found - wanted) / max(1.0, abs(wanted))


@pytest.mark.parametrize("program", PROGRAMS)
def test_example(program: str) -> None:
    seen: set[tuple[str, str | None]] = set()
    for taken in launches(program):
        if (taken.text, taken.kernel) in seen:
            continue
        seen.add((taken.text, taken.kernel))
        code = REFUSED.get((program, taken.kernel))
        if code is not None:
            with pytest.raises(pytriton.PytritonError, match=code):
                off(taken)
        else:
            assert off(taken) < TOLERANCE, taken.kernel
