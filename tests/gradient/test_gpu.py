"""The programs of this folder on a GPU: in float and half against double on the CPU.

Without pytest: ``PYTHONPATH=. python tests/gradient/test_gpu.py [all]``, else without functions of single elements.
"""

from __future__ import annotations

import sys

import pytest
import torch

from tests.gradient.programs import PROGRAMS, Launch
from tests.gradient.test_precision import NARROW, WIDE_ONLY

pytestmark = pytest.mark.gpu

CASES = [(n, d) for n in PROGRAMS for d in NARROW if not (d == torch.half and n in WIDE_ONLY)]


def difference(name: str, dtype: torch.dtype, device: str) -> float:
    """The largest error of a gradient, beside the largest element."""
    program = PROGRAMS[name]
    made = []
    for each, where in ((dtype, device), (torch.double, "cpu")):
        tensors = {key: tensor.to(where) for key, tensor in program.tensors(each).items()}
        generator = torch.Generator().manual_seed(1)
        flowing = {
            out: torch.randn(tensors[out].shape, generator=generator).half().to(where, each)
            for out in program.outputs
        }
        launch = Launch(program, each)
        made.append({key: value.cpu().double() for key, value in launch.backward(tensors, flowing).items()})
    return max(
        float((made[0][key] - wanted).abs().max()) / max(1.0, float(wanted.abs().max()))
        for key, wanted in made[1].items()
    )


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_against_double(name: str, dtype: torch.dtype) -> None:
    assert difference(name, dtype, "cuda") <= NARROW[dtype]


if __name__ == "__main__":
    wrong = 0
    chosen = [case for case in CASES if "px" not in PROGRAMS[case[0]].shapes or "all" in sys.argv]
    for name, dtype in chosen:
        try:
            off = difference(name, dtype, "cuda")
            fine = off <= NARROW[dtype]
            said = f"{off:.1e}"
        except Exception as error:  # told, and the others run
            fine, said = False, f"{type(error).__name__}: {str(error)[:300]}"
        wrong += not fine
        if not fine:
            print(f"{name:20} {str(dtype)[6:]:8} {said}  <-- WRONG", flush=True)
    print(f"{len(chosen)} cases on a GPU, {wrong} wrong")
