"""Derived backwards against numerical differences, in double."""

from __future__ import annotations

from functools import partial

import pytest
import torch

import pytriton
from pytriton.gradient import backward
from tests.gradient.by_hand import by_hand
from tests.gradient.programs import PROGRAMS, Launch

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


# One rule each, of functions of one or two blocks: some of them stand for all in make test.
SOME = {"comparison", "quotient", "erf", "pow", "ternary", "gelu", "repeated"}
NAMES = [
    pytest.param(name, marks=() if "px" not in program.shapes or name in SOME else pytest.mark.slow)
    for name, program in PROGRAMS.items()
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(6)
def test_numerical(name: str) -> None:
    """Each program in double; and which inputs are added up by atomics."""
    program = PROGRAMS[name]
    launch = Launch(program, torch.double)
    tensors = program.tensors(torch.double)
    inputs = [tensors[each].requires_grad_() for each in launch.gradient.inputs]
    assert inputs
    assert torch.autograd.gradcheck(launch.function(tensors), inputs, fast_mode=True, atol=1e-6)
    assert launch.as_expected(), launch.ways()


@pytest.mark.parametrize("name", ["state_in_loop", "carried_maximum", "carried_last"])
def test_checkpoints(name: str) -> None:
    """The same when less of what loops carry is kept."""
    launch = Launch(PROGRAMS[name], torch.double, partial(pytriton.gradient, checkpoints=True))
    assert "int segment" in launch.gradient.source
    assert "program * 2 * segment" in launch.gradient.source or "long program = 0" in launch.gradient.source
    tensors = launch.program.tensors(torch.double)
    inputs = [tensors[each].requires_grad_() for each in launch.gradient.inputs]
    assert torch.autograd.gradcheck(launch.function(tensors), inputs, fast_mode=True, atol=1e-6)
    (facts,) = launch.gradient._facts.values()
    assert all(state.segments for each in facts.launches for state in each.of.states)


def zeros(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """States that begin as 0."""
    return torch.zeros(shape, dtype=dtype, device=device)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(8)
def test_nothing_is_read_before_it_is_stored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """States, parts of sums and gradients that begin as NaN or as 0 give the same."""
    launch = Launch(PROGRAMS[name], torch.double)
    tensors = launch.program.tensors(torch.double)
    flowing = {output: torch.ones_like(tensors[output]) for output in launch.program.outputs}
    with monkeypatch.context() as patch:
        patch.setattr(backward, "memory_of_states", zeros)
        wanted = launch.backward(tensors, flowing)
    empty, empty_like = torch.empty, torch.empty_like

    def poisoned(made: torch.Tensor) -> torch.Tensor:
        return made.fill_(float("nan")) if made.is_floating_point() else made

    monkeypatch.setattr(torch, "empty", lambda *given, **named: poisoned(empty(*given, **named)))
    monkeypatch.setattr(torch, "empty_like", lambda *given, **named: poisoned(empty_like(*given, **named)))
    for input_, gradient in launch.backward(tensors, flowing).items():
        torch.testing.assert_close(gradient, wanted[input_], equal_nan=True)


def test_order_of_carried_values() -> None:
    """What moves to the end of an iteration reads what was carried into it."""
    text = """__global__ void f(float *y, float *x, int n) {
  int i = 0, j = 1;
  float s = 0;
  for (int k = 0; k < n; k += 1) {
    s += *(x + i) * (j + 1);
    int t = i + 2;
    i = j;
    j = t;
  }
  *y = s;
}
"""
    x = torch.zeros(9)
    made = pytriton.gradient(text)(torch.zeros(1), x, 6, grid=1, d_outputs={"y": torch.ones(1)})["x"]
    i, j, expected = 0, 1, [0.0] * 9
    for _ in range(6):
        expected[i] += j + 1
        i, j = j, i + 2
    assert made.tolist() == expected


def test_conversions_in_macros() -> None:
    """Where all spans are one, a conversion that the user wrote is kept: addresses beyond 2**31, ``(int)``."""
    text = """#define OFFSET (long)row * n + r
#define STEPS (int)(4 * v)
__global__ void f(float *y, float *x, int n) {
  int row = get_program_id(0);
  int r[8] = 0 ... 8;
  long off[8] = OFFSET;
  float v[8] = *(x + off);
  *(y + off) = v * STEPS;
}
"""
    derived = pytriton.gradient(text)
    assert "long off[8] = (long)row * n + r;" in derived.source
    x, y = torch.linspace(-3, 3, 8), torch.zeros(8)
    made = derived(y, x, 8, grid=1, d_outputs={"y": torch.ones(8)})["x"]
    assert made.tolist() == (4 * x).int().tolist()


def test_derived_again() -> None:
    """The text of a backward is a text: its own backward is the second derivative."""
    text = """__global__ void cube(double *y, double *x, int n) {
  int r[8] = get_program_id(0) * 8 + 0 ... 8;
  double a[8] = r < n ? *(x + r) : 0;
  *?(r < n) (y + r) = a * a * a + exp(a);
}
"""
    first = pytriton.gradient(text)
    second = pytriton.gradient(first.source)
    assert first.steps[0].parameters == ("d_y", "x", "d_x", "n")
    x = torch.randn(13, dtype=torch.double)
    dy, ddx = torch.randn_like(x), torch.randn_like(x)
    made = second(dy, x, torch.zeros_like(x), 13, grid=2, d_outputs={"d_x": ddx})
    torch.testing.assert_close(made["x"], ddx * dy * (6 * x + x.exp()))
    torch.testing.assert_close(made["d_y"], ddx * (3 * x * x + x.exp()))


@pytest.mark.parametrize("dtype", [torch.double, torch.half], ids=["double", "half"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(15)
def test_by_hand(name: str, dtype: torch.dtype) -> None:
    """``source``, ``steps`` and ``scratch`` are enough to run a backward; in double, and with sums of half."""
    program = PROGRAMS[name]
    launch = Launch(program, dtype)
    tensors = program.tensors(dtype)
    outputs = launch.forward(tensors)
    flowing = {each: torch.rand_like(outputs[each]) for each in program.outputs}
    given = dict(zip(launch.gradient.parameters, launch.arguments(tensors | outputs), strict=True))
    wanted = launch.gradient(*given.values(), grid=program.grid, d_outputs=flowing)
    (facts,) = launch.gradient._facts.values()
    if facts.backward.text != launch.gradient._usual.text:
        assert name == "matmul"  # its text is for grids of several programs
        return
    made = by_hand(launch.gradient, given, program.grid, flowing, {**program.defines, "T": dtype})
    for each, gradient in wanted.items():
        torch.testing.assert_close(made[each], gradient, equal_nan=True)


def test_parts_of_sums_are_scratch() -> None:
    """A sweep does not compare them: each config has as many parts as programs."""
    text = """__global__ void f(float *y, float *x, float *w, int n) {
      int r[TM] = get_program_id(0) * TM + 0 ... TM;
      int o[4] = 0 ... 4;
      *?((r < n)[:, newaxis]) (y + r[:, newaxis] * 4 + o[newaxis, :]) =
          ((r < n)[:, newaxis] ? *(x + r[:, newaxis] * 4 + o[newaxis, :]) : 0) * (*(w + o))[newaxis, :];
    }"""
    derived = pytriton.gradient(pytriton.kernel(text, defines={"TM": [2, 4]}))
    y, x, w = torch.zeros(9, 4), torch.randn(9, 4), torch.randn(4)
    grid = lambda opt: (pytriton.cdiv(9, opt.TM),)  # noqa: E731
    made = derived(y, x, w, 9, grid=grid, d_outputs={"y": torch.ones(9, 4)})
    torch.testing.assert_close(made["w"], x.sum(0))
    compiled = [kernel for kernel in derived._kernels.values() if "parts_w" in kernel.translation().text]
    (kernel,) = compiled
    assert [plan._tuner._settings.scratch for plan in kernel._plans.values()] == [{"parts_w"}]
