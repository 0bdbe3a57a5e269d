"""In float and half against double; ties; what is never read; subsets of inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import pytriton
from tests.gradient.programs import PROGRAMS, Launch

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SAMPLE = ("softmax", "gelu", "layer_norm")
NARROW = {torch.float: 2e-4, torch.half: 4e-2}
WIDE_ONLY = {
    "deep",
    "masked_log",
    "pow",
    "conversion",
    "floor",
    "ceil",
}  # in half they compute something else
CASES = [
    pytest.param(name, dtype, marks=() if name in SAMPLE else pytest.mark.slow)
    for name in PROGRAMS
    for dtype in NARROW
    if not (dtype == torch.half and name in WIDE_ONLY)
]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_against_double(name: str, dtype: torch.dtype) -> None:
    """The same numbers, computed in double; the half tolerance is that of a forward that rounds at each step."""
    program = PROGRAMS[name]
    made = []
    for each in (dtype, torch.double):
        launch = Launch(program, each)
        tensors = program.tensors(each)
        generator = torch.Generator().manual_seed(1)
        flowing = {
            out: torch.randn(tensors[out].shape, generator=generator).half().to(each)
            for out in program.outputs
        }
        made.append(launch.backward(tensors, flowing))
    for key, wanted in made[1].items():
        assert made[0][key].dtype == dtype
        scale = max(1.0, float(wanted.abs().max()))
        assert float((made[0][key].double() - wanted).abs().max()) <= NARROW[dtype] * scale, key


# Formulas of a and b, and the same in torch.
FUNCTIONS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "exp(a)": lambda a, b: a.exp(),
    "exp2(a)": lambda a, b: a.exp2(),
    "log(b)": lambda a, b: b.log(),
    "log2(b)": lambda a, b: b.log2(),
    "sqrt(b)": lambda a, b: b.sqrt(),
    "rsqrt(b)": lambda a, b: b.rsqrt(),
    "sin(a)": lambda a, b: a.sin(),
    "cos(a)": lambda a, b: a.cos(),
    "tanh(a)": lambda a, b: a.tanh(),
    "sigmoid(a)": lambda a, b: a.sigmoid(),
    "erf(a)": lambda a, b: a.erf(),
    "pow(b, a)": lambda a, b: b.pow(a),
    "fma(a, b, a)": lambda a, b: a * b + a,
    "min(a, b)": lambda a, b: torch.where(a < b, a, b),
    "max(a, b)": lambda a, b: torch.where(a > b, a, b),
    "abs(a)": lambda a, b: a.abs(),
}


@pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16])
@pytest.mark.parametrize("formula", FUNCTIONS)
def test_derivatives_of_small_types(formula: str, dtype: torch.dtype) -> None:
    """A derivative is computed in float, and rounded at its end. The cotangents are such that it is 1."""
    word = {torch.half: "half", torch.bfloat16: "bfloat16"}[dtype]
    text = f"""__global__ void f(float *y, {word} *x, {word} *w) {{
  int r[64] = 0 ... 64;
  {word} a[64] = *(x + r), b[64] = *(w + r);
  *(y + r) = {formula};
}}
"""
    x = torch.tensor([-2.9, -1.1, 1e-3, 0.7, 0.999, 1.7, 2.3, 3.1]).repeat(8).to(dtype)
    w = torch.tensor([6e-8, 1e-5, 1e-3, 0.3, 0.99, 1.7, 33.3, 6e4]).repeat_interleave(8).to(dtype)
    leaves = [tensor.double().requires_grad_() for tensor in (x, w)]
    FUNCTIONS[formula](*leaves).sum().backward()
    for name, leaf in zip(("x", "w"), leaves, strict=True):
        if leaf.grad is not None:
            usable = (leaf.grad.abs() > 1e-12) & (leaf.grad.abs() < 1e12)
            flowing = {"y": torch.where(usable, 1 / leaf.grad, 0).float()}
            made = pytriton.gradient(text)(torch.zeros(64), x, w, grid=1, d_outputs=flowing)[name]
            torch.testing.assert_close(made, usable.to(dtype), rtol=0, atol=0)


@pytest.mark.parametrize("operator", ["max", "min"])
def test_equal_elements_share(operator: str) -> None:
    """As in torch.amax."""
    text = f"__global__ void f(float *y, float *x) {{ float a[8] = *(x + 0 ... 8); *y = a[{operator}]; }}"
    x = torch.tensor([3.0, 1, 3, 3, 1, 2, 1, 2])
    made = pytriton.gradient(text)(torch.zeros(1), x, grid=1, d_outputs={"y": torch.ones(1)})["x"]
    leaf = x.clone().requires_grad_()
    getattr(leaf, f"a{operator}")().backward()
    torch.testing.assert_close(made, leaf.grad)


def test_branches_at_kinks() -> None:
    """``min``, ``max`` and ``?:`` follow the branch that was taken; ``abs`` has 0 at 0."""
    text = """__global__ void f(float *y, float *x, float *w) {
  int r[4] = 0 ... 4;
  float a[4] = *(x + r), b[4] = *(w + r);
  *(y + r) = min(a, b) + 10 * max(a, b) + 100 * abs(a) + (a > b ? 1000 * a : 0);
}
"""
    x, w = torch.tensor([0.0, 1, 2, -1]), torch.tensor([0.0, 1, 1, 3])
    made = pytriton.gradient(text)(torch.zeros(4), x, w, grid=1, d_outputs={"y": torch.ones(4)})
    assert made["x"].tolist() == [0, 100, 1110, -99]
    assert made["w"].tolist() == [11, 11, 1, 10]


def test_masked_lanes_with_infinite_derivatives() -> None:
    """0 * inf never reaches a sum: not through variables, shapes or loops."""
    text = """__global__ void f(float *y, float *x, int n) {
  int r[8] = 0 ... 8;
  bool inside[8] = r < n;
  float a[8] = inside ? *(x + r) : 0;
  float u[8] = log(a);
  float v[8, 1] = u[:, newaxis];
  float s = 0;
  for (int k = 0; k < 2; k += 1)
    s += (inside[:, newaxis] ? v * (k + 1) : 0)[+, +];
  float q = (inside ? sqrt(a) : 0)[+];
  *y = s + q + (inside ? u : 0)[+];
}
"""
    x = torch.tensor([1.0, 2, 4, 9, 9])
    made = pytriton.gradient(text)(torch.zeros(1), x, 5, grid=1, d_outputs={"y": torch.ones(1)})["x"]
    torch.testing.assert_close(made, 4 / x + 0.5 / x.sqrt())


def gradient_of_shifted_log(derive: Callable[..., Any]) -> torch.Tensor:
    """That of 1 in a sum of log(1), where masked lanes have log(0)."""
    text = """__global__ void f(float *y, float *x, int n) {
  int r[8] = 0 ... 8;
  float a[8] = *x + (r < n ? 0 : -1);
  *y = (r < n ? log(a) : 0)[+];
}
"""
    one = torch.ones(1)
    made: torch.Tensor = derive(text)(torch.zeros(1), one, 5, grid=1, d_outputs={"y": one})["x"]
    return made


def test_masked_lanes_of_a_scalar() -> None:
    assert gradient_of_shifted_log(pytriton.gradient).item() == 5


def test_subsets() -> None:
    """Of inputs and outputs: the rest of the text is gone."""
    program = PROGRAMS["two_outputs"]
    kernel = program.kernel(torch.double)
    whole = pytriton.gradient(kernel)
    one = pytriton.gradient(kernel, outputs=["y"])
    assert "exp" in whole.source
    assert "exp" not in one.source
    assert "d_z" not in one.source
    tensors = program.tensors(torch.double)
    given = (*(tensors[name] for name in ("x", "y", "z")), program.numbers["n"])
    flowing = {"y": torch.ones_like(tensors["y"])}
    left, right = (each(*given, grid=2, d_outputs=flowing)["x"] for each in (whole, one))
    torch.testing.assert_close(left, right)
    only = pytriton.gradient(PROGRAMS["matrix_product"].kernel(torch.float), inputs=["b"])
    assert "d_a" not in only.source
