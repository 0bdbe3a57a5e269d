"""Second derivatives of operators with ``gradient=True``: the derived backward is derived again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import pytriton
from tests.gradient.test_operators import given, scaled, twice

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

BLOCKS = """__global__ void blocks(double *y, double *x, double *w, float scale, int n) {
  int r[8] = get_program_id(0) * 8 + 0 ... 8;
  bool inside[8] = r < n;
  double a[8] = inside ? *(x + r) : 0;
  double b[8] = inside ? *(w + r) : 0;
  *?(inside) (y + r) = exp(a) * b * b + sin(a * b * scale);
}
"""
SOFTMAX = """__global__ void softmax(double *y, double *x, double *bias, int n) {
  int row = get_program_id(0);
  int r[8] = 0 ... 8;
  bool inside[8] = r < n;
  double v[8] = inside ? *(x + row * n + r) + *(bias + r) : -F32_INFINITY;
  double e[8] = exp(v - v[max]);
  *?(inside) (y + row * n + r) = e / e[+];
}
"""
ENTROPY = """__global__ void entropy(double *loss, double *x, int *label, int n) {
  int row = get_program_id(0);
  int r[8] = 0 ... 8;
  double v[8] = r < n ? *(x + row * n + r) : -F32_INFINITY;
  double largest = v[max];
  *(loss + row) = largest + log(exp(v - largest)[+]) - *(x + row * n + *(label + row));
}
"""
PRODUCT = """__global__ void product(double *c, double *a, double *b, int n, int k, int ldb) {
  int rm[16] = get_program_id(0) * 16 + 0 ... 16;
  int rn[16] = get_program_id(1) * 16 + 0 ... 16;
  double acc[16, 16] = 0;
  for (int at = 0; at < k; at += 16) {
    int rk[16] = at + 0 ... 16;
    acc += *(a + rm[:, newaxis] * k + rk[newaxis, :]) @ *(b + rk[:, newaxis] * ldb + rn[newaxis, :]);
  }
  *(c + rm[:, newaxis] * n + rn[newaxis, :]) = acc;
}
"""
POWERS = """__global__ void powers(double *y, double *x, int n) {
  int r[8] = 0 ... 8;
  double s[8] = 1;
  for (int k = 0; k < n; k += 1) s = sin(s) * *(x + k * 8 + r);
  *(y + r) = s;
}
"""
TEXTS = (BLOCKS, SOFTMAX, ENTROPY, PRODUCT, POWERS)
kernels = {text.split()[2].partition("(")[0]: pytriton.kernel(text) for text in TEXTS}


@pytriton.op("gradient_twice::blocks", gradient=True)
def blocks(x: torch.Tensor, scale: float, w: torch.Tensor) -> torch.Tensor:
    """exp(x) * w**2 + sin(x * w * scale)"""
    y = torch.empty_like(x)
    kernels["blocks"](y, x, w, scale, x.numel(), grid=(pytriton.cdiv(x.numel(), 8),))
    return y


@pytriton.op("gradient_twice::softmax", gradient=True)
def softmax(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Softmax of the rows of x + bias, whose gradient comes in parts."""
    y = torch.empty_like(x)
    kernels["softmax"](y, x, bias, x.shape[1], grid=(x.shape[0],))
    return y


@pytriton.op("gradient_twice::entropy", gradient=True)
def entropy(x: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    """Cross-entropy: one kernel stores the gradient, another one adds to it by atomics."""
    loss = x.new_empty(x.shape[0])
    kernels["entropy"](loss, x, label, x.shape[1], grid=(x.shape[0],))
    return loss


@pytriton.op("gradient_twice::product", gradient=True)
def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b, whose backward is two kernels."""
    c = a.new_empty(a.shape[0], b.shape[1])
    kernels["product"](
        c, a, b, b.shape[1], a.shape[1], b.stride(0), grid=(a.shape[0] // 16, b.shape[1] // 16)
    )
    return c


@pytriton.op("gradient_twice::powers", gradient=True)
def powers(x: torch.Tensor) -> torch.Tensor:
    """A loop whose state is kept for each iteration."""
    y = x.new_empty(8)
    kernels["powers"](y, x, x.shape[0], grid=(1,))
    return y


def random(*shape: int) -> torch.Tensor:
    """A leaf in double."""
    return torch.randn(shape, dtype=torch.double, requires_grad=True)


CASES: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]]]] = {
    "blocks": (blocks, lambda: [random(13), 0.5, random(13)]),
    "one tensor twice": (lambda x: blocks(x, 2.0, x), lambda: [random(5)]),
    "softmax": (softmax, lambda: [random(3, 5), random(5)]),
    "entropy": (entropy, lambda: [random(3, 5), torch.tensor([1, 0, 4], dtype=torch.int32)]),
    "product": (product, lambda: [random(32, 16), random(16, 16)]),
    "at indices": (scaled, given),
    "two launches": (twice, given),
    "views": (
        lambda x, w, table: scaled(x.t()[:, :4].t(), w[:1].expand(5), table) + scaled(x, x[0], table),
        given,
    ),
}


QUICK = {"blocks", "one tensor twice", "softmax", "entropy"}
NAMES = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in CASES]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(9)
def test_numerical(name: str) -> None:
    torch.manual_seed(0)
    function, arguments = CASES[name]
    assert torch.autograd.gradgradcheck(function, arguments(), fast_mode=True)


def test_what_is_not_asked_for() -> None:
    """A second derivative by one argument alone, and by what flows in alone."""
    torch.manual_seed(0)
    x, w = random(13), random(13).detach()
    assert torch.autograd.gradgradcheck(blocks, (x, 1.0, w), fast_mode=True)
    flowing = random(13)
    (dx,) = torch.autograd.grad(blocks(x, 1.0, w), x, flowing, create_graph=True)
    (back,) = torch.autograd.grad(dx.sum(), flowing)
    torch.testing.assert_close(back, (x.exp() * w * w + w * (x * w).cos()).detach())


def test_refused() -> None:
    """What the backward read and wrote, third derivatives: with the code and the reason."""
    x = random(2, 8)
    (dx,) = torch.autograd.grad(powers(x).sum(), x, create_graph=True)
    with pytest.raises(
        pytriton.LaunchError, match=r"(?s)not derived again: .*'state_s'.* \[TC704\] \[TC758\]"
    ):
        dx.sum().backward()
    x, w = random(13), random(13)
    (dx,) = torch.autograd.grad(blocks(x, 1.0, w).sum(), x, create_graph=True)
    (ddx,) = torch.autograd.grad(dx.sum(), x, create_graph=True)
    with pytest.raises(pytriton.LaunchError, match=r"third derivative is not derived.*TC758"):
        ddx.sum().backward()
