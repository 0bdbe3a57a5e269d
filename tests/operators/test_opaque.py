"""The operator that makes an untraced call, where tuning tries points of its own; no GPU is needed."""

from __future__ import annotations

from typing import Any

import torch

import pytriton
from pytriton.runtime.options.defines import Options
from pytriton.runtime.plan import Plan
from pytriton.runtime.trace.recorded import opaque_operator
from pytriton.tuning.sweep import own_points
from pytriton.tuning.translated_config import TranslatedConfig

SUM = """\
__global__ void sum(float *y, float *x, int n) {
  float total[TILE] = 0;
  for (int k = 0; k < n; k += TILE) total += *(x + k + get_program_id(0) * n + 0 ... TILE);
  *(y + get_program_id(0)) = total[+];
}
"""


def own_candidates(plan: Plan) -> list[TranslatedConfig]:
    """The candidates that tuning adds to those of the user."""
    sweep = plan._sweep
    points = (point for each in sweep.translated() for point in own_points(each.config, each.translation))
    return [made for point in points if (made := sweep.candidate_or_drop(point)) is not None]


def test_own_points_have_the_users_grids() -> None:
    """A pipelined loop is tried in several depths, which a grid does not see: it is the user's point to it."""
    kernel = pytriton.kernel(SUM)
    plan = kernel._plan((), {"TILE": [16, 32]}, [1, 2], None)
    users = plan.every_candidate()
    own = own_candidates(plan)
    stages = {each.config.num_stages for each in own}
    assert len(stages) > 1
    assert None not in stages
    assert len(users) == 4
    assert len(own) == 4 * len(stages)
    assert {repr(each.options) for each in own} == {repr(Options(config)) for config in plan.configs}

    seen: list[tuple[str, Any]] = []

    def call(arguments: Any, grid: Any) -> None:
        seen.extend((repr(each.options), grid(each.options)) for each in (*users, *own))

    plan.call = call  # type: ignore[assignment,method-assign]
    x = torch.ones(4)
    kinds = [(x.dtype, x.device, False)] * 2 + [int]
    sizes = [size for at in range(4) for size in (at + 1, 1, 1)]
    opaque_operator(plan, "a test", kinds)(x, x, 4, sizes)
    wanted = {repr(Options(config)): (at + 1, 1, 1) for at, config in enumerate(plan.configs)}
    assert len(seen) == len(users) + len(own)
    assert all(grid == wanted[shown] for shown, grid in seen)


def test_own_points_of_named_stages() -> None:
    """Stages that the user sweeps are the user's: they show."""
    plan = pytriton.kernel(SUM)._plan((), {"TILE": [16, 32]}, None, [None, 2])
    assert [each.options.num_stages for each in plan.every_candidate()] == [None, 2, None, 2]
    own = own_candidates(plan)
    assert any(each.config.num_stages is not None and each.options.num_stages is None for each in own)
    assert all(each.options.num_stages == (2 if each.config.num_stages == 2 else None) for each in own)
