"""python-api, section 1: the calls of every era, grids, arguments, sweeps."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import pytriton
import pytriton as triton
from tests.specification.asking import same

pytestmark = pytest.mark.filterwarnings("ignore:pytriton runs kernels on CPU")

ADD = """
__global__ void add(float* X, float* Y, float* Z, int N) {
  int i[TM] = get_program_id(0) * TM + 0 ... TM;
  bool in[TM] = i < N;
  *?(in)(Z + i) = *?(in)(X + i) + *?(in)(Y + i) OP;
}"""
N = 37


def operands() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    x = torch.linspace(-5, 3, N)
    return x.clone(), x.flip(0).contiguous() * 3, torch.full((N + 64,), 9.0)


def check(z: torch.Tensor, add: float = 0) -> None:
    x, y, _ = operands()
    same(z[:N], x + y + add)
    assert (z[N:] == 9).all()


def by_d(opt: Any) -> tuple[int]:
    return (triton.cdiv(N, opt.d("TM")),)


# ---------------------------------------------------------------- eras


def test_2019_constructor_with_output_names_and_a_positional_grid() -> None:
    x, y, z = operands()
    kernel = triton.kernel(ADD, ["Z"])
    assert kernel(x, y, z, N, by_d, TM=16, OP="") is None
    check(z)


def test_2019_constructor_alone_defines_at_the_call() -> None:
    x, y, z = operands()
    triton.kernel(ADD)(x, y, z, N, grid=by_d, num_warps=4, defines={"TM": 8, "OP": "+ 1"})
    check(z, 1)


def test_2019_a_list_is_a_sweep() -> None:
    x, y, z = operands()
    kernel = triton.kernel(ADD, ["Z"])
    kernel(x, y, z, N, by_d, TM=[32, 64], OP="", num_warps=[2, 4])
    check(z)


def test_2020() -> None:
    x, y, z = operands()
    kernel = triton.kernel(ADD, defines={"TM": [16, 32], "OP": ""}, num_warps=[2, 4, 8])
    assert kernel(x, y, z, N, grid=by_d, bench=0) is None
    check(z)
    triton.kernel(ADD, {"TM": 16, "OP": "- 2"}, [2, 4])(
        x, y, z, N, grid=by_d
    )  # defines, num_warps by position
    check(z, -2)


def test_2021() -> None:
    x, y, z = operands()
    device = torch.device("cpu")
    configs = [
        triton.config(defines={"TM": "128"}, num_warps=4),
        triton.config(defines={"TM": "32"}, num_warps=2),
    ]
    kernel = triton.kernel(
        ADD, device, defines={"OP": ""}, num_warps=4, autotune_configs=configs, autotune_key=["N"]
    )
    seen = []

    def grid(opt: Any) -> tuple[int]:
        seen.append((opt.TM, opt.num_warps, opt.defines["TM"]))
        return (triton.cdiv(N, opt.TM),)

    assert kernel(x.data_ptr(), y.data_ptr(), z.data_ptr(), N, grid=grid) is None
    check(z)
    assert seen[0][:2] == (128, 4)
    assert isinstance(seen[0][0], int)
    x, y, z = operands()
    positional = triton.kernel(ADD, device, {"OP": ""}, 4, [({"TM": "16"}, 4)], ["N"])
    positional(x, y, z, N, grid=by_d)
    check(z)
    vals = triton.kernel(
        ADD, device, defines={"OP": ""}, autotune_vals=[({"TM": "8"}, 4)], autotune_key=["N"]
    )
    vals(x, y, z, N, grid=by_d)
    check(z)


def test_an_unknown_name_in_autotune_key_is_an_error() -> None:
    configs = [triton.config(defines={"TM": "16"}), triton.config(defines={"TM": "32"})]
    x, y, z = operands()
    with pytest.raises(pytriton.PytritonError, match="M"):
        triton.kernel(ADD, "cpu", {"OP": ""}, 4, configs, ["M"])(x, y, z, N, grid=by_d)


def test_defines_of_the_call_override_those_of_the_constructor() -> None:
    x, y, z = operands()
    seen = []

    def grid(opt: Any) -> tuple[int]:
        seen.append((opt.TM, opt.num_warps))
        return (triton.cdiv(N, opt.TM),)

    kernel = triton.kernel(ADD, defines={"TM": 16, "OP": "+ 7"}, num_warps=2)
    kernel(x, y, z, N, grid=grid, defines={"TM": 8, "OP": ""}, num_warps=8)
    check(z)
    assert seen[-1] == (8, 8)
    kernel(x, y, z, N, grid=grid)
    check(z, 7)
    assert seen[-1] == (16, 2)


def test_defines_win_over_a_config_of_the_same_name() -> None:
    x, y, z = operands()
    seen = []

    def grid(opt: Any) -> tuple[int]:
        seen.append(opt.TM)
        return (triton.cdiv(N, opt.TM),)

    configs = [triton.config(defines={"TM": "128", "OP": "+ 1"}, num_warps=4)]
    triton.kernel(ADD, "cpu", defines={"TM": 16}, autotune_configs=configs)(x, y, z, N, grid=grid)
    check(z, 1)
    assert set(seen) == {16}


def test_num_warps_defaults_to_4_and_no_list_means_no_sweep() -> None:
    x, y, z = operands()
    seen = []

    def grid(opt: Any) -> tuple[int]:
        seen.append((opt.num_warps, opt.num_stages))
        return (triton.cdiv(N, opt.TM),)

    kernel = triton.kernel(ADD, defines={"TM": 16, "OP": ""})
    kernel(x, y, z, N, grid=grid)
    assert {warps for warps, _ in seen} == {4}
    assert len(seen) == 1


# ---------------------------------------------------------------- options and grids


def test_the_options_object() -> None:
    x, y, z = operands()
    seen = []

    def grid(opt: Any) -> list[int]:
        seen.append(opt)
        return [triton.cdiv(N, opt.TM)]

    defines = {
        "TM": "0x10",
        "OP": "",
        "F": 1.5,
        "B": True,
        "T": torch.float16,
        "S": "a + b",
        "I": np.int64(5),
    }
    triton.kernel(ADD)(x, y, z, N, grid=grid, defines=defines, num_stages=3)
    check(z)
    opt = seen[0]
    assert opt.TM == opt.d("TM") == opt.D("TM") == opt["TM"] == opt.defines["TM"] == 16
    assert (opt.F, opt.B, opt.S, opt.I, opt.num_warps, opt.num_stages) == (1.5, 1, "a + b", 5, 4, 3)
    with pytest.raises((AttributeError, KeyError, pytriton.PytritonError)):
        opt.NOTHING  # noqa: B018


@pytest.mark.parametrize("grid", [3, (3,), [3], (3, 1), [3, 1, 1], lambda opt: 3, lambda opt: (3, 1, 1)])
def test_grids(grid: Any) -> None:
    x, y, z = operands()
    triton.kernel(ADD, defines={"TM": 16, "OP": ""})(x, y, z, N, grid=grid)
    check(z)


def test_a_grid_callable_is_called_once_a_launch() -> None:
    x, y, z = operands()
    calls = []

    def grid(opt: Any) -> tuple[int]:
        calls.append(1)
        return (triton.cdiv(N, opt.TM) if len(calls) % 2 else 0,)

    kernel = triton.kernel(ADD, defines={"TM": 16, "OP": ""})
    kernel(x, y, z, N, grid=grid)
    check(z)
    z.fill_(9)
    kernel(x, y, z, N, grid=grid)
    assert len(calls) == 2
    assert (z == 9).all()


def test_a_zero_in_the_grid_launches_nothing() -> None:
    for grid in ((0,), (3, 0), (1, 1, 0), 0, lambda opt: (0, 5)):
        z = torch.zeros(4)
        triton.kernel("void f(float* Z) { *Z = 1; }")(z, grid=grid)
        assert not z.any()
    triton.kernel("void f(float* Z) { *Z = 1; }")(torch.empty(0), grid=(0,))


@pytest.mark.parametrize(
    "grid", [(-1,), (2**31,), (1, 65536), (1, 1, 65536), (1, 1, 1, 1), (), None, (1.5,), "4"]
)
def test_wrong_grids_are_refused(grid: Any) -> None:
    z = torch.zeros(1)
    with pytest.raises(pytriton.LaunchError):
        triton.kernel("void f(float* Z) { *Z = 1; }")(z, grid=grid)
    assert not z.any()


# ---------------------------------------------------------------- arguments

COPY = "void f(TYPE* X, TYPE* Z, SCALAR a) { *Z = X ? *X + a : a; }"


def scalar(type_: str, value: Any) -> float:
    z = torch.zeros(1, dtype=torch.float64)
    triton.kernel(COPY, defines={"TYPE": "double", "SCALAR": type_})(None, z, value, grid=1)
    return z.item()


@pytest.mark.parametrize(
    ("type_", "value", "want"),
    [
        ("int", -3, -3), ("int", np.int64(-3), -3), ("int", np.uint8(3), 3), ("int", torch.tensor(-3), -3),
        ("int", True, 1), ("int", 2.0, 2), ("long", 1 << 40, 1 << 40), ("float", 3, 3), ("float",
        np.float64(0.5), 0.5),
        ("float", torch.tensor(0.5), 0.5), ("float", torch.tensor(7), 7), ("bool", True, 1), ("bool",
        np.bool_(False), 0),
        ("double", 0.1, 0.1), ("float", -math.inf, -math.inf), ("unsigned", (1 << 32) - 1, (1 << 32) - 1),
        ("int", torch.tensor(5, dtype=torch.int8), 5), ("half", 0.1, float(np.float16(0.1))), ("char", -128,
        -128),
    ],
    ids=str,
)  # fmt: skip
def test_numbers(type_: str, value: Any, want: float) -> None:
    assert scalar(type_, value) == want


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("int", 1 << 31), ("int", -(1 << 31) - 1), ("int", 2.5), ("int", "3"), ("int", None), ("int",
        torch.ones(2)),
        ("int", math.nan), ("unsigned", 1 << 32), ("float", "x"), ("float", 1j), ("char", 400), ("long",
        1 << 63),
        ("int", [3]), ("int", np.float32(0.5)), ("int", torch.tensor(0.5)),
    ],
    ids=str,
)  # fmt: skip
def test_numbers_that_c_could_not_hold_are_refused(type_: str, value: Any) -> None:
    with pytest.raises(pytriton.LaunchError) as caught:
        scalar(type_, value)
    assert "'a'" in str(caught.value) or " a" in str(caught.value)


@pytest.mark.parametrize(
    "absent", [None, 0, torch.empty(0), torch.empty(0, dtype=torch.int64), torch.empty(3, 0)], ids=str
)
def test_absent_tensors(absent: Any) -> None:
    z = torch.zeros(1)
    triton.kernel(COPY, defines={"TYPE": "float", "SCALAR": "int"})(absent, z, 5, grid=1)
    assert z.item() == 5


def test_addresses_have_the_declared_element_type() -> None:
    x, z = torch.tensor([2.5], dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    triton.kernel(COPY, defines={"TYPE": "double", "SCALAR": "int"})(x.data_ptr(), z.data_ptr(), -2, grid=1)
    assert z.item() == 0.5


def test_a_tensor_that_is_not_contiguous_is_passed_by_address() -> None:
    base = torch.arange(6.0).reshape(2, 3)
    z = torch.zeros(4)
    text = "void f(float* X, float* Z) { *(Z + 0 ... 4) = *(X + 0 ... 4); }"
    triton.kernel(text)(base.t(), z, grid=1)
    same(z, [0, 1, 2, 3])
    triton.kernel(text)(base[:, 1], z, grid=1)
    same(z, [1, 2, 3, 4])


def test_a_non_contiguous_tensor_is_written() -> None:
    base = torch.zeros(2, 3)
    triton.kernel("void f(float* Z, int s) { *(Z + (0 ... 2) * s) = 1 + 0 ... 2; }")(base[:, 1], 3, grid=1)
    same(base, [0, 1, 0, 0, 2, 0])


ACCEPTED = [
    ("char", torch.bool), ("char", torch.uint8), ("unsigned char", torch.int8), ("bool", torch.bool),
    ("int", torch.uint32),
    ("unsigned", torch.int32), ("half", torch.float16), ("bfloat16", torch.bfloat16), ("long", torch.uint64),
]  # fmt: skip
MISFITS = [
    ("half", torch.bfloat16), ("bfloat16", torch.float16), ("int", torch.float32), ("float", torch.int32),
    ("int", torch.int64), ("long", torch.int32), ("float", torch.float64), ("half", torch.float32),
    ("double", torch.int64),
    ("char", torch.int16), ("float", torch.complex64), ("long", torch.float64),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "dtype"), ACCEPTED, ids=str)
def test_dtypes_of_one_width_and_kind(type_: str, dtype: torch.dtype) -> None:
    x = torch.ones(1).to(dtype)
    z = torch.zeros(1).to(dtype)
    triton.kernel(f"void f({type_}* X, {type_}* Z) {{ *Z = *X; }}")(x, z, grid=1)
    assert torch.equal(x, z)


@pytest.mark.parametrize(("type_", "dtype"), MISFITS, ids=str)
def test_dtypes_of_another_width_or_kind_are_refused(type_: str, dtype: torch.dtype) -> None:
    x = torch.zeros(2, dtype=dtype)
    with pytest.raises(pytriton.LaunchError) as caught:
        triton.kernel(f"void f({type_}* X) {{ *X = 1; }}")(x, grid=1)
    for word in ("X", type_, str(dtype).removeprefix("torch.")):
        assert word in str(caught.value)
    assert not x.any()


@pytest.mark.parametrize(
    "arguments", [(), (torch.zeros(1),), (torch.zeros(1), 2, 3), (3, torch.zeros(1)), ("a", 1)], ids=len
)
def test_too_few_too_many_or_wrong_arguments(arguments: Any) -> None:
    with pytest.raises(pytriton.LaunchError):
        triton.kernel("void f(float* X, int n) { *X = n; }")(*arguments, grid=1)


def test_a_missing_define_is_named() -> None:
    with pytest.raises(pytriton.PytritonError, match="TM"):
        triton.kernel(ADD, defines={"OP": ""})(*operands(), N, grid=(3,))


def test_a_define_that_the_text_does_not_mention_is_accepted_in_silence() -> None:
    x, y, z = operands()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "pytriton runs kernels on CPU")
        triton.kernel(ADD, defines={"TM": 16, "OP": "", "OTHER": 5, "ELSE": "x +"})(x, y, z, N, grid=by_d)
    check(z)


# ---------------------------------------------------------------- sweeps and bench


def test_a_sweep_drops_what_cannot_be_compiled() -> None:
    x, y, z = operands()
    triton.kernel(ADD, defines={"TM": [0, 1 << 40, 16], "OP": ""})(x, y, z, N, grid=by_d)
    check(z)
    with pytest.raises(pytriton.PytritonError):
        triton.kernel(ADD, defines={"TM": [0, -1], "OP": ""})(x, y, z, N, grid=by_d)


def test_bench_gives_nanoseconds_and_one_launch() -> None:
    z = torch.zeros(4)
    text = "void f(float* Z) { atomic_add(Z + 0 ... 4, (float[4])1); }"
    kernel = triton.kernel(text, ["Z"])
    for bench in (5, True, np.int64(3)):
        before = z.clone()
        time = kernel(z, grid=(2,), bench=bench)
        assert isinstance(time, int)
        assert time >= 1
        same(z, before + 2)
        assert triton.bench_registry[z] == time
    for bench in (0, False):
        assert kernel(z, grid=(2,), bench=bench) is None


def test_a_sweep_changes_nothing_that_the_caller_sees() -> None:
    z = torch.zeros(1)
    triton.kernel("void f(float* Z) { f32_atomic_add(Z, T); }", defines={"T": [1, 1, 1]})(z, grid=(1,))
    assert z.item() == 1
