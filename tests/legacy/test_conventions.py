"""Call styles and argument conventions, named after the year that wrote them, as listed in ``docs/promises.md``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton as triton

ROOT = Path(__file__).parent.parent.parent

SCALE = """\
__global__ void scale(TYPE *Y, TYPE *X, float s, int N) {
  int offset[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(offset < N)(Y + offset) = s * *?(offset < N)(X + offset);
}
"""


def grid_of(n: int, seen: list[Any] | None = None) -> Any:
    """A grid function that notes the TILE and num_warps that it is asked for."""

    def grid(opt: Any) -> list[int]:
        if seen is not None:
            seen.append((opt.d("TILE"), opt.num_warps))
        return [triton.cdiv(n, opt.d("TILE"))]

    return grid


def vectors(n: int = 40) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(n)
    return torch.zeros(n), torch.randn(n)


# 2019


@pytest.mark.parametrize("outputs", [(), (["Y"],)])
def test_2019_source_and_output_names(outputs: tuple[Any, ...]) -> None:
    seen: list[Any] = []
    y, x = vectors()
    triton.kernel(SCALE, *outputs)(
        y, x, -2.0, 40, grid_of(40, seen), TYPE="float", TILE=[16, 32], num_warps=2
    )
    assert torch.equal(y, -2 * x)
    assert seen == [(16, 2)]


def test_2019_grid_keyword_and_defines_at_the_call() -> None:
    seen: list[Any] = []
    y, x = vectors()
    kernel = triton.kernel(SCALE, ["Y"])
    given = {"TYPE": torch.float32, "TILE": 8, "AT": False}
    kernel(y, x, 3.0, 40, grid=grid_of(40, seen), num_warps=4, defines=given)
    assert torch.equal(y, 3 * x)
    assert seen == [(8, 4)]


def test_2019_false_is_defined() -> None:
    src = """\
void f(int *X) {
#ifdef FLAG
  *X = 10 + FLAG;
#else
  *X = 20;
#endif
}
"""
    x = torch.zeros(1, dtype=torch.int32)
    found = []
    for defines in ({}, {"FLAG": False}, {"FLAG": True}):
        triton.kernel(src)(x, (1,), **defines)
        found.append(x.item())
    assert found == [20, 10, 11]


# 2020


def test_2020_positional_defines_and_num_warps() -> None:
    seen: list[Any] = []
    y, x = vectors()
    triton.kernel(SCALE, {"TYPE": "float", "TILE": [32, 64]}, [2, 8])(y, x, 0.5, 40, grid=grid_of(40, seen))
    assert torch.equal(y, 0.5 * x)
    assert seen == [(32, 2)]


def test_2020_num_warps_is_4() -> None:
    seen: list[Any] = []
    y, x = vectors()
    triton.kernel(SCALE, defines={"TYPE": "float", "TILE": 16})(y, x, 1.0, 40, grid=grid_of(40, seen))
    assert seen == [(16, 4)]


def test_2020_the_call_wins_over_the_constructor() -> None:
    seen: list[Any] = []
    y, x = vectors()
    kernel = triton.kernel(SCALE, defines={"TYPE": "half", "TILE": 16}, num_warps=8)
    kernel(y, x, 1.0, 40, grid=grid_of(40, seen), defines={"TYPE": "float", "TILE": 32}, num_warps=1)
    assert torch.equal(y, x)
    y, x = (each.half() for each in vectors())
    kernel(y, x, 1.0, 40, grid=grid_of(40, seen))
    assert torch.equal(y, x)
    assert seen == [(32, 1), (16, 8)]


def test_2020_a_sweep_is_the_product_of_all_lists() -> None:
    defines = {"TYPE": "float", "TILE": [-16, -8], "UNUSED": [1, 2]}
    with pytest.raises(triton.TuneError, match="no variant of the sweep is left") as caught:
        triton.kernel(SCALE, defines=defines, num_warps=[2, 4])(None, None, 1.0, 40, grid=(1,))
    named = re.findall(r"TILE=-(\d+), UNUSED=(\d), num_warps=(\d)\)", str(caught.value))
    assert len(named) == len(set(named)) == 8


def test_2020_what_does_not_compile_is_dropped_and_named() -> None:
    y, x = vectors()
    kernel = triton.kernel(SCALE, defines={"TYPE": "float", "TILE": [-16, 32]})
    kernel(y, x, 1.0, 40, grid=grid_of(40))
    assert torch.equal(y, x)
    assert kernel.best_config.defines["TILE"] == 32
    (reason,) = [str(why) for config, why in kernel.timings.items() if config.defines["TILE"] == -16]
    assert "TC306" in reason


@pytest.mark.parametrize("value", [16, 16.0, True, "16", "0x10", "TWO * 8", torch.float32], ids=str)
def test_2020_values_of_defines(value: Any) -> None:
    src = "__global__ void f(float *X) { *X = sizeof(int) + (SPELLED)3; }"
    if not isinstance(value, torch.dtype):
        src = "__global__ void f(float *X) { *X = SPELLED; }"
    x = torch.zeros(1)
    triton.kernel(src, defines={"SPELLED": value, "TWO": 2})(x, grid=(1,))
    assert x.item() == (7 if isinstance(value, torch.dtype) else 1 if value is True else 16)


GRIDS: dict[str, Any] = {
    "number": 3,
    "tuple": (3,),
    "list": [3],
    "two axes": (3, 1),
    "three axes": [3, 1, 1],
    "function of the options": lambda opt: (3,),
    "function that gives a number": lambda opt: 3,
}


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_2020_grids(grid: Any) -> None:
    src = "__global__ void f(int *X) { *(X + get_program_id(0)) = get_num_programs(0); }"
    x = torch.zeros(4, dtype=torch.int32)
    triton.kernel(src)(x, grid=grid)
    assert x.tolist() == [3, 3, 3, 0]


def test_2020_three_axes() -> None:
    src = """\
__global__ void f(int *X) {
  int at = (get_program_id(0) * 3 + get_program_id(1)) * 4 + get_program_id(2);
  *(X + at) = get_num_programs(0) * 100 + get_num_programs(1) * 10 + get_num_programs(2);
}
"""
    x = torch.zeros(25, dtype=torch.int32)
    triton.kernel(src)(x, grid=lambda opt: (2, 3, 4))
    assert x.tolist() == [234] * 24 + [0]


def test_2020_an_empty_grid_launches_nothing() -> None:
    y, x = vectors()
    triton.kernel(SCALE, defines={"TYPE": "float", "TILE": 16})(y, x, 1.0, 40, grid=lambda opt: (0, 5))
    assert not y.any()


def test_2020_bench_leaves_the_effect_of_one_launch() -> None:
    src = "__global__ void f(float *X, int *N) { *X += 1; atomic_add(N, 1); }"
    x, n = torch.zeros(1), torch.zeros(1, dtype=torch.int32)
    time = triton.kernel(src)(x, n, grid=(3,), bench=5)
    assert time >= 1
    assert n.item() == 3


def test_2020_next_power_of_2() -> None:
    assert [triton.next_power_of_2(n) for n in (1, 2, 3, 64, 65, 1000)] == [1, 2, 4, 64, 128, 1024]


# 2021


def test_2021_positional_device_to_key() -> None:
    seen: list[Any] = []
    y, x = vectors()
    configs = [triton.config({"TILE": "16"}, 2), triton.config(defines={"TILE": "32"}, num_warps=8)]
    kernel = triton.kernel(SCALE, torch.device("cpu"), {"TYPE": "float"}, 4, configs, ["N"])
    kernel(y.data_ptr(), x.data_ptr(), -1.0, 40, grid=grid_of(40, seen))
    assert torch.equal(y, -x)
    assert seen == [(16, 2)]


def test_2021_options_by_attribute() -> None:
    seen: list[Any] = []
    y, x = vectors()

    def grid(opt: Any) -> tuple[int]:
        seen.append((opt.TILE, opt.num_warps, opt.num_stages, opt.defines["TYPE"], opt.defines["TILE"]))
        return (triton.cdiv(40, opt.TILE),)

    kernel = triton.kernel(SCALE, "cpu", defines={"TYPE": "float", "TILE": "8"}, num_warps=2, num_stages=3)
    kernel(y, x, 1.0, 40, grid=grid)
    assert seen == [(8, 2, 3, "float", 8)]
    assert [type(one) for one in seen[0]] == [int, int, int, str, int]


def test_2021_config_defaults() -> None:
    assert triton.config().num_warps == 4
    assert dict(triton.config({"TM": "128"}).defines) == {"TM": "128"}


def test_2021_every_style_in_one_program() -> None:
    """A constructor of 2021, a call of 2019, options of 2020."""
    y, x = vectors()
    kernel = triton.kernel(SCALE, "cpu", defines={"TYPE": "float"}, autotune_vals=[({"TILE": "16"}, 2)])
    kernel(y.data_ptr(), x, 2.0, 40, lambda opt: [triton.cdiv(40, opt.d("TILE"))], UNUSED=[1, 2])
    assert torch.equal(y, 2 * x)


def test_2021_wrong_number_of_arguments_names_the_parameter() -> None:
    y, x = vectors()
    kernel = triton.kernel(SCALE, defines={"TYPE": "float", "TILE": 16})
    with pytest.raises(triton.LaunchError, match="it takes 4 arguments, not 3"):
        kernel(y, x, 1.0, grid=(1,))


# The list in docs/promises.md

ROW = re.compile(r"^\| .* \| ((?:`test_\w+::[\w:]+`(?:, )?)+) \|$", re.MULTILINE)


def test_each_row_of_the_list_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    cells = ROW.findall(page)
    names = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    assert len(cells) > 40
    for name in names:
        stem, *inside = name.split("::")
        found = [
            *(ROOT / "tests" / "legacy").glob(f"{stem}.py"),
            *(ROOT / "tests" / "runtime").rglob(f"{stem}.py"),
            *(ROOT / "tests" / "tuning").glob(f"{stem}.py"),
        ]
        text = "".join(path.read_text(encoding="utf-8") for path in found)
        for word in inside:
            assert re.search(rf"(?:def|class) {word}\b", text), name


def test_each_public_name_of_old_stands_in_the_list() -> None:
    promised = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    names = "kernel config cdiv cdiv_sum next_power_of_2 shape empty synchronize read __version__ function"
    more = "ctx_registry bench_registry id_dict do_bench allclose mask_tensor sparsify_tensor Benchmark perf_report"
    assert [name for name in f"{names} {more}".split() if f"`{name}" not in promised] == []
