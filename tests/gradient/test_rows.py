"""The second kernel of attention's backward, and what the first one leaves for it (gradient/derive/walk)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

import pytriton
from examples import attention
from tests.gradient.test_mutants import loaded
from tests.mutation.mutant import Mutant
from tests.mutation.of_gradient import ROWS

DOUBLE = attention.SOURCE.replace("float", "TYPE")
TILES = {"TYPE": torch.double, "TM": 16, "TN": 16, "D": 16}


def compared(
    kernel: Any,
    inputs: str = "QKV",
    queries: int = 40,
    keys: int = 24,
    causal: bool = False,
    derive: Callable[..., Any] = pytriton.gradient,
) -> Any:
    """The gradient of attention, in double against torch; returns what was derived."""
    generator = torch.Generator().manual_seed(queries)
    heads, sizes = 2, (queries, keys, keys, queries)
    tensors = [torch.randn(heads, size, 16, generator=generator, dtype=torch.double) for size in sizes]
    (q, k, v), flow = (tensor.requires_grad_() for tensor in tensors[:3]), tensors[3]
    derived = derive(kernel, inputs=tuple(inputs))
    strides = (step for tensor in (q, k, v) for step in tensor.stride()[:2])
    plain = [tensor.detach() for tensor in (q, k, v)]
    arguments = *plain, torch.empty_like(plain[0]), queries, keys, 0.25, *strides

    def grid(opt: Any) -> tuple[int, int]:
        return pytriton.cdiv(queries, opt.TM), heads

    kernel(*arguments, grid=grid)
    made = derived(*arguments, grid=grid, d_outputs={"O": flow})
    scores = q @ k.mT * 0.25
    if causal:
        scores = scores.masked_fill(torch.ones(queries, keys).triu(1).bool(), -torch.inf)
    (scores.softmax(-1) @ v).backward(flow)
    for name, tensor in zip("QKV", (q, k, v), strict=True):
        if name in inputs:
            torch.testing.assert_close(made[name], tensor.grad)
    return derived


def atomics(derived: Any) -> frozenset[str]:
    (facts,) = derived._facts.values()
    return facts.backward.atomic


SIZES = [(16, 16), (40, 24), (24, 56), (1, 17), (130, 70)]


@pytest.mark.parametrize(("queries", "keys"), SIZES)
def test_attention_is_two_kernels_without_atomics(queries: int, keys: int) -> None:
    derived = compared(pytriton.kernel(DOUBLE, defines=TILES), queries=queries, keys=keys)
    assert not atomics(derived)
    assert [step.kernel.name for step in derived.steps] == ["attention_backward_Q", "attention_backward_K_V"]


@pytest.mark.parametrize("tiles", [(16, 16), (32, 16), (16, 32), (48, 16), (16, 64)])
@pytest.mark.parametrize(("queries", "keys"), [(16, 16), (24, 56), (1, 17), (70, 70), (64, 64), (33, 100)])
@pytest.mark.sampled(8)
def test_causal_attention_begins_at_the_first_block_that_sees_the_keys(
    queries: int, keys: int, tiles: tuple[int, int]
) -> None:
    defines = {**TILES, "TM": tiles[0], "TN": tiles[1], "CAUSAL": 1}
    derived = compared(pytriton.kernel(DOUBLE, defines=defines), queries=queries, keys=keys, causal=True)
    assert not atomics(derived)
    assert "for (int pm = n / TM; pm < (n < N ? grid_0 : 0); pm += 1)" in str(derived.source())


def test_scratch_is_three_numbers_a_row() -> None:
    derived = compared(pytriton.kernel(DOUBLE, defines=TILES))
    (facts,) = derived._facts.values()
    shapes = {name: shape for launch in facts.launches for name, shape in launch.shapes.items()}
    names = ("m_rows", "log_l_rows", "d_l_rows")
    assert shapes == dict.fromkeys(names, (6, 1, 16))  # 3 blocks of queries, 2 heads


def test_the_printed_kernels_are_short() -> None:
    text = str(
        pytriton.gradient(pytriton.kernel(attention.SOURCE, defines={**TILES, "TYPE": "half"})).source()
    )
    plain = "\n".join(without(text.splitlines(), "CAUSAL"))
    assert "atomic" not in plain
    assert "state_" not in plain
    bodies = [body for part in plain.split("{\n")[1:] for body in part.split("\n}\n")[0].splitlines()]
    assert len([line for line in bodies if not line.lstrip().startswith("//")]) <= 91


def without(lines: list[str], flag: str) -> list[str]:
    """The lines that are left where a flag is not defined."""
    kept, on = [], [True]
    for line in lines:
        if line.startswith("#if"):
            on.append(flag not in line or line.startswith("#ifndef"))
        elif line.startswith("#else"):
            on[-1] = not on[-1]
        elif line.startswith("#endif"):
            on.pop()
        elif all(on):
            kept.append(line)
    return kept


@pytest.mark.parametrize("inputs", ["KV", "K", "QK", "QV", "Q"])
def test_without_all_inputs(inputs: str) -> None:
    """The second kernel needs the first one, that of Q: without it, atomics."""
    derived = compared(pytriton.kernel(DOUBLE, defines=TILES), inputs)
    assert atomics(derived) == (frozenset() if "Q" in inputs else frozenset(inputs))


@pytest.mark.parametrize("swept", [{"TM": [16, 32]}, {"TN": [16, 32]}, {"TM": [32, 16], "TN": [16, 32]}])
def test_a_sweep_over_blocks_has_a_backward_for_each(swept: Mapping[str, list[int]]) -> None:
    """Rows are numbered by blocks, so both kernels have the same; kernels that are tuned one by one use atomics."""
    kernel = pytriton.kernel(DOUBLE, defines={**TILES, **swept}, num_warps=[2, 4])
    derived = compared(kernel)
    assert atomics(derived) == {"K", "V"}
    (chosen,) = derived._chosen_blocks.values()
    assert not atomics(chosen)
    first = {name: values[0] for name, values in swept.items()}
    assert {config.defines[name] for config in chosen.configs for name in swept} == {*first.values()}
    assert sorted(config.num_warps for config in chosen.configs) == [2, 4]


def test_a_sweep_over_warps_has_one_backward() -> None:
    derived = compared(pytriton.kernel(DOUBLE, defines=TILES, num_warps=[2, 4]))
    assert not atomics(derived)
    assert derived._chosen_blocks == {}


@pytest.mark.parametrize("mutant", [None, *(Mutant(*row) for row in ROWS)], ids=lambda of: of and of.name)
def test_mutant(mutant: Mutant | None) -> None:
    """With a mistake a gradient is wrong, or not made in this way."""

    def right() -> bool:
        with loaded(mutant) as derive:
            swept = pytriton.kernel(DOUBLE, defines={**TILES, "TM": [16, 32]})
            try:
                plain = compared(pytriton.kernel(DOUBLE, defines=TILES), derive=derive)
                return not atomics(plain) and atomics(compared(swept, derive=derive)) == {"K", "V"}
            except (AssertionError, KeyError):
                return False

    assert right() == (mutant is None)


THREE_AXES = """
__global__ void pooled(double *x, double *v, double *y, int n, int heads) {
  int row = get_program_id(2), head = get_program_id(1), image = get_program_id(0);
  int at = (image * heads + head) * get_num_programs(2) + row;
  int r[B] = 0 ... B;
  double m = -F32_INFINITY;
  double l = 0;
  double acc = 0;
  for (int k = 0; k < n; k += B) {
    bool inside[B] = r < n - k;
    double s[B] = inside ? *(x + at * n + k + r) : -F32_INFINITY;
    double m_new = max(m, s[max]);
    double p[B] = exp2(s - m_new);
    l = l * exp2(m - m_new) + p[+];
    acc = acc * exp2(m - m_new) + (p * (inside ? *(v + (image * heads + head) * n + k + r) : 0))[+];
    m = m_new;
  }
  *(y + at) = acc / l;
}
"""


def test_a_grid_of_three_axes() -> None:
    images, heads, rows, n = 2, 3, 5, 7
    x, v = (
        torch.randn(shape, dtype=torch.double, requires_grad=True)
        for shape in ((images, heads, rows, n), (images, heads, n))
    )
    derived = pytriton.gradient(pytriton.kernel(THREE_AXES, defines={"B": 4}))
    flow = torch.randn(images, heads, rows, dtype=torch.double)
    given = x.detach(), v.detach(), torch.empty_like(flow), n, heads
    made = derived(*given, grid=(images, heads, rows), d_outputs={"y": flow})
    weights = torch.softmax(x * torch.log(torch.tensor(2.0, dtype=torch.double)), -1)
    (weights @ v[..., None])[..., 0].backward(flow)
    torch.testing.assert_close(made["x"], x.grad)
    torch.testing.assert_close(made["v"], v.grad)
    assert not atomics(derived)
