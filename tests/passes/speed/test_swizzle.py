"""Program ids in groups: a bijection of every launch grid, written as a person would."""

from __future__ import annotations

import pytest
import torch

import pytriton
from pytriton.runtime.kernel import plan_of
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText, PlanSettings
from pytriton.source import Source
from tests.translating import translate

PLACES = """
void places(int *Y, int w) {
  int i = get_program_id(0);
  int j = get_program_id(1);
  atomic_add(Y + (get_program_id(2) * get_num_programs(1) + j) * w + i, 1);
  *(Y + 1000 + (get_program_id(2) * get_num_programs(1) + j) * w + i) = i * 100 + j;
}
"""


@pytest.mark.parametrize("group", [1, 3, 8, -1, -3, -16])
@pytest.mark.parametrize("grid", [(1, 1), (5, 3), (8, 2), (17, 4, 2), (2, 9), (20, 1), (1, 20)])
def test_every_program_once(grid: tuple[int, ...], group: int) -> None:
    y = torch.zeros(2000, dtype=torch.int32)
    plan = plan_of(KernelText(Source(PLACES, "places.c")), [Config(swizzle=group)], PlanSettings())
    plan.call([y, grid[0]], grid)
    count = torch.Size(grid).numel()
    assert torch.equal(y[:count], torch.ones(count, dtype=torch.int32))
    assert not y[count:1000].any()
    wanted = torch.arange(grid[0]) * 100 + torch.arange(grid[1])[:, None]
    layers = grid[2] if len(grid) > 2 else 1
    assert torch.equal(
        y[1000 : 1000 + count].view(layers, grid[1], grid[0]).long(), wanted.expand(layers, -1, -1)
    )


def test_text() -> None:
    start = translate(PLACES, swizzle=8).text.split("):\n")[1].split("    tl.atomic_add")[0]
    assert start == (
        "    # programs in groups of 8, for the level-2 cache\n"
        "    pid = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)\n"
        "    whole = 8 * tl.num_programs(1)\n"
        "    first = pid // whole * 8\n"
        "    high = tl.minimum(tl.num_programs(0) - first, 8)\n"
        "    inside = pid % whole\n"
        "    pid_0 = first + inside % high\n"
        "    pid_1 = inside // high\n"
        "    i = pid_0\n"
        "    j = pid_1\n"
    )


def test_the_longest_first() -> None:
    start = translate(PLACES, swizzle=-16).text.split("):\n")[1].split("    tl.atomic_add")[0]
    assert start == (
        "    # the longest programs first\n"
        "    pid = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)\n"
        "    whole = 16 * tl.num_programs(0)\n"
        "    first = pid // whole * 16\n"
        "    high = tl.minimum(tl.num_programs(1) - first, 16)\n"
        "    inside = pid % whole\n"
        "    pid_0 = tl.num_programs(0) - 1 - inside // high\n"
        "    pid_1 = first + inside % high\n"
        "    i = pid_0\n"
        "    j = pid_1\n"
    )


@pytest.mark.parametrize(
    ("end", "grows"),
    [("n", False), ("i", True), ("min(n, (i + 1) * 8)", True), ("j", False), ("get_num_programs(0)", False)],
)
def test_which_loops_grow(end: str, grows: bool) -> None:
    text = f"""
    void f(int *Y, int n) {{
      int i = get_program_id(0), j = get_program_id(1);
      int end = {end};
      for (int k = 0; k < end; k += 1) *(Y + k + i + j) = k;
    }}"""
    assert translate(text).traits.grows is grows


def test_only_where_both_axes_are_known() -> None:
    assert translate(PLACES).traits.swizzles
    assert not translate("void f(int *Y) { *(Y + get_program_id(0)) = get_num_programs(1); }").traits.swizzles


@pytest.mark.parametrize("precision", ["tf32", "bf16x6"])
def test_precision(precision: str) -> None:
    """Only products of floats are concerned."""
    text = """
    void f(float *X, half *H) {
      int r[16] = 0 ... 16;
      float x[16, 16] = *(X + r[:, newaxis] * 16 + r[newaxis, :]);
      half h[16, 16] = *(H + r[:, newaxis] * 16 + r[newaxis, :]);
      *(X + r[:, newaxis] * 16 + r[newaxis, :]) = x @ x + h @ h;
    }
    """
    generated = translate(text, precision=precision).text
    assert generated.count(f'input_precision="{precision}"') == 1
    assert "ieee" not in generated
    kernel = pytriton.kernel(text, precision=["ieee", precision])
    assert [config.precision for config in kernel._definition.configs({}, None, None)] == ["ieee", precision]
    with pytest.raises(pytriton.LaunchError, match=r"precision is 'fp32'.*\[TC517\]"):
        pytriton.kernel(text, precision="fp32")
