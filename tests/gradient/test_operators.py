"""``pytriton.op(..., gradient=True)``: formulas derived from the kernels in a body."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import pytriton
from pytriton.gradient.backward import Gradient

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SCALE = """
__global__ void scale(T *y, T *x, T *w, int *table, int rows, int cols, int ldx) {
  int row = get_program_id(0);
  int r[B] = 0 ... B;
  bool inside[B] = r < cols;
  int from = *(table + row);
  T a[B] = inside ? *(x + from * ldx + r) : 0;
  T b[B] = inside ? *(w + r) : 0;
  *?(inside) (y + row * cols + r) = exp(a) * b;
}
"""
scale = pytriton.kernel(SCALE)


@pytriton.op("gradient_tests::scale", gradient=True)
def scaled(x: torch.Tensor, w: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """exp(x[table]) * w"""
    y = torch.empty((table.numel(), x.shape[1]), dtype=x.dtype, device=x.device)
    grid = (table.numel(),)
    scale(y, x, w, table, *x.shape, x.stride(0), grid=grid, defines={"T": x.dtype, "B": 8})
    return y


@pytriton.op("gradient_tests::twice", gradient=True)
def twice(x: torch.Tensor, w: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two launches, the second on a view of what the first wrote, and both results."""
    x = x.contiguous()
    y = torch.empty((table.numel(), x.shape[1]), dtype=x.dtype, device=x.device)
    z = torch.empty_like(y)
    grid = (table.numel(),)
    defines = {"T": x.dtype, "B": 8}
    scale(y, x, w, table, *x.shape, x.stride(0), grid=grid, defines=defines)
    scale(z, y[:], w, table, *y.shape, y.stride(0), grid=grid, defines=defines)
    return y, z


def given(dtype: torch.dtype = torch.double) -> list[Any]:
    torch.manual_seed(0)
    x = torch.randn(4, 5, dtype=dtype, requires_grad=True)
    w = torch.randn(5, dtype=dtype, requires_grad=True)
    return [x, w, torch.tensor([2, 0, 2, 1], dtype=torch.int32)]


def test_numerical() -> None:
    """One launch, and two on each other; a table of indices is left alone."""
    assert torch.autograd.gradcheck(scaled, given(), fast_mode=True)
    assert torch.autograd.gradcheck(twice, given(), fast_mode=True)


@pytest.mark.parametrize("asked", [(True, False), (False, True)])
def test_what_is_not_asked_for(asked: tuple[bool, bool]) -> None:
    """The other input gets no gradient, and the rest stays right."""
    x, w, table = given()
    x, w = x.detach().requires_grad_(asked[0]), w.detach().requires_grad_(asked[1])
    scaled(x, w, table).sum().backward()
    expected = (x.exp()[table.long()] * w).sum()
    wanted = torch.autograd.grad(expected, [t for t in (x, w) if t.requires_grad])
    assert [t.grad is not None for t in (x, w)] == [*asked]
    torch.testing.assert_close(next(t.grad for t in (x, w) if t.requires_grad), wanted[0])


def test_expanded_and_shared() -> None:
    """An expanded argument, two views of one tensor, strided ones, a flow of stride 0."""
    x, w, table = given()
    one = w[:1].detach().requires_grad_()

    def ours(one: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return scaled(x.t()[:, :4].t(), one.expand(5), table) + scaled(x, x[0], table)

    def theirs(one: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        at = table.long()
        return x.exp()[at] * one.expand(5) + x.exp()[at] * x[0]

    made = torch.autograd.grad(ours(one, x).sum(), [one, x])
    wanted = torch.autograd.grad(theirs(one, x).sum(), [one, x])
    torch.testing.assert_close(made, wanted)


def test_half_is_added_in_float() -> None:
    """A hundred small parts of the gradient of w, none of which would count beside their sum in half."""
    n = 100
    x = torch.zeros(1, 5, dtype=torch.half)
    w = torch.ones(5, dtype=torch.half, requires_grad=True)
    table = torch.zeros(n, dtype=torch.int32)
    y = scaled(x, w, table)
    flowing = torch.full_like(y, 0.25)
    flowing[0] = 1024
    y.backward(flowing)
    assert w.grad is not None
    assert w.grad.dtype == torch.half
    torch.testing.assert_close(w.grad, torch.full_like(w, 1024 + (n - 1) * 0.25).detach())


def test_changes_in_place_raise() -> None:
    """What was saved may not change, the table of indices neither."""
    for at in (0, 2):
        arguments = given()
        y = scaled(*[a.clone() if a.is_floating_point() else a for a in arguments])
        y = scaled(*arguments)
        with torch.no_grad():
            arguments[at].add_(0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_refused() -> None:
    """Bodies that do more than allocate, view and launch; operators that write."""

    @pytriton.op("gradient_tests::more", gradient=True)
    def more(x: torch.Tensor, w: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        scale(y, x * 2, w, table, *x.shape, x.stride(0), grid=(1,), defines={"T": x.dtype, "B": 8})
        return y

    with pytest.raises(pytriton.LaunchError, match=r"(?s)its body calls torch.mul.*TC756"):
        more(*given()).sum().backward()

    @pytriton.op("gradient_tests::over", gradient=True)
    def over(x: torch.Tensor, w: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        for _ in range(2):
            scale(y, x, w, table, *x.shape, x.stride(0), grid=(4,), defines={"T": x.dtype, "B": 8})
        return y

    with pytest.raises(pytriton.LaunchError, match="TC757"):
        over(*given()).sum().backward()
    with pytest.raises(pytriton.LaunchError, match="TC540"):

        @pytriton.op("gradient_tests::writes", mutates_args=["y"], gradient=True)
        def writes(y: torch.Tensor, x: torch.Tensor, w: torch.Tensor, table: torch.Tensor) -> None:
            scale(y, x, w, table, *x.shape, x.stride(0), grid=(1,), defines={"T": x.dtype, "B": 8})


@pytest.fixture
def compiled() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.slow
def test_compiled(compiled: None) -> None:
    """One graph, with the same gradients."""
    x, w, table = given(torch.float)

    def loss(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (scaled(x, w, table) * math.pi).sum()

    wanted = torch.autograd.grad(loss(x, w), [x, w])
    whole = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(torch.autograd.grad(whole(x, w), [x, w]), wanted)


def test_options_of_a_call() -> None:
    """The backward takes the numbers of warps and stages that the launch in the body took, and its sweep."""
    made = Gradient(scale, ["y"], ["x"], {"T": torch.double, "B": [8, 16]}, [2, 8], 3)
    (step,) = made.steps
    configs = step.kernel._definition.configs({})
    assert [(c.defines["B"], c.num_warps, c.num_stages) for c in configs] == [
        (8, 2, 3),
        (8, 8, 3),
        (16, 2, 3),
        (16, 8, 3),
    ]
    (single,) = Gradient(scale, ["y"], ["x"], {"T": torch.double, "B": 8}, 1).steps
    assert [c.num_warps for c in single.kernel._definition.configs({})] == [1]


def test_scratch_bytes() -> None:
    """An operator passes its limit on; what loops carry is kept in less memory then, or refused."""
    text = """__global__ void f(double *y, double *x, int n) {
  int r[4] = 0 ... 4;
  double s[4] = 1;
  for (int k = 0; k < n; k += 1)
    s = sin(s) * *(x + k);
  *(y + r) = s;
}
"""
    kernel = pytriton.kernel(text)

    def run(x: torch.Tensor) -> torch.Tensor:
        y = x.new_empty(4)
        kernel(y, x, x.numel(), grid=1)
        return y

    x = torch.rand(30, dtype=torch.double).requires_grad_()
    made = []
    for limit in (None, 400, 100):
        limited = pytriton.op("gradient_tests::limited", run, gradient=True, scratch_bytes=limit)
        if limit == 100:
            with pytest.raises(pytriton.LaunchError, match=r"(?s)TC708.*scratch_bytes=384"):
                limited(x).sum().backward()
        else:
            made.append(torch.autograd.grad(limited(x).sum(), x)[0])
    torch.testing.assert_close(*made)
