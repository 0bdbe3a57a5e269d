"""Derived backwards against numerical differences, in double."""

from __future__ import annotations

import pytest
import torch

from tests.gradient.programs import PROGRAMS, Launch

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize("name", PROGRAMS)
def test_numerical(name: str) -> None:
    """Each program in double; and which inputs are added up by atomics."""
    program = PROGRAMS[name]
    launch = Launch(program, torch.double)
    tensors = program.tensors(torch.double)
    inputs = [tensors[each].requires_grad_() for each in launch.gradient.inputs]
    assert inputs
    assert torch.autograd.gradcheck(launch.function(tensors), inputs, fast_mode=True, atol=1e-6)
    (ways,) = launch.gradient._facts.values()
    assert {name for name, way in ways if way == "atomic"} == {*program.atomic}
