"""Operators with ``gradient=True`` under torch.func and compilers, and those whose body depends on state."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import pytriton

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")

SCALE = """__global__ void scale(T *y, T *x, T *w, float a, int n) {
  int r[8] = get_program_id(0) * 8 + 0 ... 8;
  bool inside[8] = r < n;
  *?(inside) (y + r) = a * sin(*?(inside) (x + r)) * *?(inside) (w + r) POWER;
}
"""
scale = pytriton.kernel(SCALE, defines={"POWER": ""})
BESIDE = """__global__ void beside(float *y, float *x, int n) {
  int r[8] = 0 ... 8;
  *?(r < n) (y + r) = *?(r < n) (x + r) * *?(r < n) (x + r + 1);
}
"""
beside = pytriton.kernel(BESIDE)


def scaled(x: torch.Tensor, w: torch.Tensor, a: Any = 2.0, **defines: Any) -> torch.Tensor:
    """a * sin(x) * w"""
    x, w = x.contiguous(), w.to(x.dtype).reshape(-1)
    y = torch.empty_like(x)
    grid = lambda opt: (pytriton.cdiv(x.numel(), 8),)  # noqa: E731
    scale(y, x, w, a, x.numel(), grid=grid, defines={"T": x.dtype, **defines})
    return y


@pytriton.op("pytriton_derived::scale", gradient=True)
def operator(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return scaled(x, w)


def formula(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return 2 * torch.sin(x) * w.reshape(-1).to(x.dtype)


def made(body: Callable[..., Any], name: str = "body") -> Any:
    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return body(x, w)

    return pytriton.op(f"pytriton_derived::{name}", function, gradient=True)


def given(n: int = 11) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(n, dtype=torch.double), torch.randn(n, dtype=torch.double)


def gradients(function: Callable[..., Any], *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
    leaves = [each.detach().requires_grad_() for each in given]
    return torch.autograd.grad(function(*leaves).square().sum(), leaves)


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: torch.func.grad(lambda x, w: f(x, w).sum(), (0, 1))(*given()),
    "vjp": lambda f: torch.func.vjp(f, *given())[1](given()[1]),
    "jacrev": lambda f: torch.func.jacrev(f, (0, 1))(*given(5)),
    "hessian": lambda f: torch.func.jacrev(torch.func.jacrev(lambda x, w: f(x, w).sum(), 0), (0, 1))(
        *given(3)
    ),
    "vmap of grad": lambda f: torch.func.vmap(torch.func.grad(lambda x, w: f(x, w).sum()), (0, None))(
        torch.stack([given()[0], given()[1]]), given()[1]
    ),
    "grad of vmap": lambda f: torch.func.grad(lambda x: torch.func.vmap(f)(x, x * 2).sum())(
        given(6)[0].view(2, 3)
    ),
    "batched": lambda f: torch.autograd.grad(
        f(x := given(5)[0].requires_grad_(), x * 3), x, torch.eye(5).double(), is_grads_batched=True
    ),
}


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("way", TRANSFORMS)
def test_transforms(way: str) -> None:
    run = TRANSFORMS[way]
    torch.testing.assert_close(run(operator), run(formula))


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("way", ["grad", "vjp"])
def test_transforms_in_compile(way: str) -> None:
    def run(x: torch.Tensor, w: torch.Tensor) -> Any:
        if way == "vjp":
            return torch.func.vjp(operator, x, w)[1](w)
        return torch.func.grad(lambda x, w: operator(x, w).sum(), (0, 1))(x, w)

    torch._dynamo.reset()
    found = torch.compile(run, backend="aot_eager", fullgraph=True)(*given())
    torch.testing.assert_close(found, TRANSFORMS[way](formula))


state: dict[str, Any] = {}


def test_state() -> None:
    """Defines, numbers and tensors that change between the forward and the backward."""
    table = given()[1]
    changes: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
        "number": (lambda x, w: scaled(x, w, state["a"]), lambda: state.update(a=3.0)),
        "define": (lambda x, w: scaled(x, w, POWER=state["p"]), lambda: state.update(p="* 2")),
        "random": (lambda x, w: scaled(x, w, random.random()), lambda: None),
        "closure": (lambda x, w: scaled(x, table), lambda: table.mul_(2)),
        "other tensor": (lambda x, w: scaled(x, state["w"]), lambda: state.update(w=given()[1])),
        "operand": (lambda x, w: scaled(x, (w, x)[state["at"]].clone()), lambda: state.update(at=1)),
        "constant": (lambda x, w: scaled(x, torch.full_like(w, state["a"])), lambda: state.update(a=3.0)),
        "launches": (lambda x, w: [scaled(x, w) for _ in range(state["n"])][-1], lambda: state.update(n=2)),
    }
    for name, (body, change) in changes.items():
        for changed in (False, True):
            state.update(a=2.0, p="", w=given()[1], at=0, n=1)
            x = given()[0].requires_grad_()
            y = made(body)(x, given()[1])
            if changed:
                change()
            elif name != "random":
                (found,) = torch.autograd.grad(y.sum(), x)
                assert bool(found.abs().sum() > 0)
                continue
            with pytest.raises(pytriton.LaunchError, match=r"in the backward than in the forward.*TC756"):
                y.sum().backward()


def test_state_in_compile() -> None:
    """What a graph holds is compared, too."""
    torch._dynamo.reset()
    state["a"] = 2.0
    compiled = torch.compile(made(lambda x, w: scaled(x, w, state["a"]), "compiled"), backend="aot_eager")
    for x, w in (given(), given(13)):
        torch.testing.assert_close(gradients(compiled, x, w), gradients(formula, x, w))
    state["a"] = 3.0
    with pytest.raises(pytriton.LaunchError, match=r"a=3.0, was a=2.0 \[TC756\]"):
        gradients(compiled, *given())


def test_one_run() -> None:
    """A forward runs the body once, and its grid where it is called."""
    runs = []

    def body(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        runs.append(1)
        y, n = torch.zeros_like(x), 0
        for start in (0, 8):
            n = min(8, x.numel() - start)
            z = torch.empty_like(x)
            scale(z, x, w, 2.0, n, grid=lambda opt: (pytriton.cdiv(n, 8),), defines={"T": x.dtype})  # noqa: B023
            y = z if start == 0 else y
            n = 0  # by then the grid is known
        return y

    x, w = given(8)
    run = made(body)
    torch.testing.assert_close(gradients(run, x, w), gradients(formula, x, w))
    assert len(runs) == 2


REFUSED: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "a tensor for a number": lambda x, w: scaled(x, w, w[0]),
    "a tensor of one element": lambda x, w: scaled(x, w, torch.ones(())),
    "an address": lambda x, w: address(x, w),
    "numpy": lambda x, w: scaled(x, w, float(numpy.asarray(w)[0])),
    "a closure with a gradient": lambda x, w: scaled(x, PARAMETER),
    "a view of one": lambda x, w: scaled(x, PARAMETER[:]),
    "bits": lambda x, w: scaled(x.view(torch.int64).view(torch.double), w),
    "a loop over values": lambda x, w: scaled(x, w, sum(w.tolist())),
}
PARAMETER = torch.nn.Parameter(torch.randn(11, dtype=torch.double))


def address(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    scale(y, x, w.data_ptr(), 2.0, x.numel(), grid=(2,), defines={"T": x.dtype})
    return y


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """The result is right without a gradient, and the backward names the line."""
    x, w = given()
    run = made(REFUSED[name])
    y = run(x.requires_grad_(), w)
    torch.testing.assert_close(y.detach(), REFUSED[name](x.detach(), w).detach())
    with pytest.raises(pytriton.LaunchError, match=r"(?s)\[TC756\]\n.*test_derived.py:\d+: .*\nhelp: "):
        y.sum().backward()


def test_beside_a_slice() -> None:
    """What a kernel reads beside a slice gets its gradient; beside an argument it cannot."""

    @pytriton.op("pytriton_derived::beside", gradient=True)
    def inside(x: torch.Tensor) -> torch.Tensor:
        y = x.new_empty(x.numel() - 1)
        beside(y, x[:-1], x.numel() - 1, grid=(1,))
        return y

    @pytriton.op("pytriton_derived::beside_argument", gradient=True)
    def outside(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        beside(y, x, x.numel(), grid=(1,))
        return y

    x = torch.randn(5, requires_grad=True)
    wanted = torch.autograd.grad((x[:-1] * x[1:]).sum(), x)
    torch.testing.assert_close(torch.autograd.grad(inside(x).sum(), x), wanted)
    torch.testing.assert_close(
        torch.autograd.grad(inside(x[1:]).sum(), x)[0][1:],
        torch.autograd.grad((x[1:-1] * x[2:]).sum(), x)[0][1:],
    )

    @pytriton.op("pytriton_derived::strided_argument", gradient=True)
    def strided(x: torch.Tensor) -> torch.Tensor:
        y = x.new_empty(1)
        beside(y, x.as_strided((2,), (1,), x.storage_offset() + 2), 1, grid=(1,))
        return y

    for operator, argument in ((outside, x[:-1]), (strided, x[:2])):
        y = operator(argument)
        with pytest.raises(pytriton.LaunchError, match=r"reads memory outside an argument.*TC756"):
            y.sum().backward()


def bare(x: torch.Tensor) -> torch.Tensor:
    return scaled(x, x)


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_make_fx_records(mode: str) -> None:
    x, w = given()
    graph = make_fx(bare, tracing_mode=mode)(x)
    torch.testing.assert_close(graph(w), formula(w, w))


def test_bare_calls() -> None:
    """Tracers and transforms that cannot see a launch name the cure."""
    x = given()[0]
    for run in (
        lambda: torch.jit.trace(bare, x, check_trace=False),
        lambda: torch.func.vmap(bare)(x[None]),
        lambda: torch.func.grad(lambda x: bare(x).sum())(x),
        lambda: torch.func.functionalize(bare)(x),
    ):
        with pytest.raises(pytriton.LaunchError, match=r"help: .*pytriton.op"):
            run()
