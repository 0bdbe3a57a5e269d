"""torch.compile, torch.export and make_fx, on CPU tensors.

A compiled program must compute what the eager one computes, bit for bit where torch's own operators do.
Graph breaks are errors here (``fullgraph=True``), and how often something was compiled is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend
from torch.fx.experimental.proxy_tensor import make_fx

import pytriton
from tests.operators.kernels import (
    UNARY,
    add_scaled_,
    axpy,
    blocks,
    elementwise,
    exp,
    loss,
    sin,
    trains_alike,
    unary,
)

BY_BACKEND = pytest.mark.parametrize(
    "backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)]
)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def compiled(function: Callable[..., Any], backend: str, **options: Any) -> tuple[Any, Any]:
    """The compiled function and a counter of compilations."""
    counter = CompileCounterWithBackend(backend)
    return torch.compile(function, backend=counter, fullgraph=True, **options), counter


def bare(x: torch.Tensor) -> torch.Tensor:
    """A kernel call between two operators of torch."""
    x = x * 2
    y = torch.empty_like(x)
    n = x.numel()
    unary(
        *(y, x, n),
        grid=lambda opt: (pytriton.cdiv(n, opt.TILE),),
        defines={"TYPE": x.dtype, "TILE": 32, "FUNCTION": "sin"},
        num_warps=2,
    )
    return y + 1


def sweep(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    n = x.numel()
    unary(
        *(y, x, n),
        grid=lambda opt: [(n + opt.d("TILE") - 1) // opt["TILE"]],
        TYPE=x.dtype,
        TILE=[8, 32],
        FUNCTION=["sin", "cos"],
        num_warps=[1, 2],
    )
    return y


def tiles(x: torch.Tensor) -> torch.Tensor:
    """A sweep of one text, which Inductor can tune."""
    y = torch.zeros_like(x)
    n = x.numel()
    unary(y, x + 1, n, grid=blocks(n), TYPE=x.dtype, TILE=[16, 32], FUNCTION="sin", num_warps=[1, 2])
    return y * 2


def grid_last(x: torch.Tensor) -> torch.Tensor:
    """2019: the grid as last positional argument, defines as keywords."""
    y = torch.empty_like(x)
    unary(y, x, x.numel(), (pytriton.cdiv(x.numel(), 16), 1), TYPE=x.dtype, TILE="16", FUNCTION="exp")
    return y


def in_place(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    view = y[1:]
    axpy(view, x, 0.5, view.numel(), grid=blocks(view.numel()))
    return y


def operators(x: torch.Tensor) -> torch.Tensor:
    y = torch.ones_like(x)
    add_scaled_(y, sin(x * 2), 3.0)
    return exp(y) + x


EVEN = UNARY.replace("FUNCTION(*?(inside) (x + i))", "EVEN ? FUNCTION(*?(inside) (x + i)) : -1")
with_heuristics = pytriton.kernel(
    EVEN,
    {"TYPE": "float", "FUNCTION": "sin", "TILE": [4, 8]},
    heuristics={
        "ODD": lambda args: args["n"] % 2,
        "EVEN": lambda args: not args["ODD"] and args["TILE"] > 0,
    },
)


def heuristics(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    with_heuristics(y, x, x.numel(), grid=blocks(x.numel()))
    return y


PROGRAMS = [bare, sweep, tiles, grid_last, in_place, operators, heuristics]


class TestValues:
    @pytest.mark.parametrize(
        ("program", "backend"),
        [
            *((program, "aot_eager") for program in PROGRAMS),
            *(
                pytest.param(program, "inductor", marks=pytest.mark.slow)
                for program in (operators, bare, in_place, heuristics, sweep, tiles, grid_last)
            ),
        ],
    )
    @pytest.mark.sampled(6)
    def test_static_then_dynamic(self, program: Callable[..., Any], backend: str) -> None:
        """One compilation for the first size, one for all others; a heuristic may ask for more."""
        function, counter = compiled(program, backend)
        for n in (37, 41, 63, 85):
            x = torch.randn(n)
            torch.testing.assert_close(function(x), program(x))
        assert counter.frame_count == 2
        torch.testing.assert_close(function(x[:38].clone()), program(x[:38]))
        assert counter.frame_count == (3 if program is heuristics else 2)

    @pytest.mark.parametrize("program", [bare, sweep, operators])
    def test_dynamic_from_the_start(self, program: Callable[..., Any]) -> None:
        function, counter = compiled(program, "aot_eager", dynamic=True)
        for n in (37, 41, 64):
            x = torch.randn(n)
            torch.testing.assert_close(function(x), program(x))
        assert counter.frame_count == 1

    @pytest.mark.parametrize("program", PROGRAMS)
    @pytest.mark.sampled(9)
    def test_odd_tensors(self, program: Callable[..., Any]) -> None:
        for x in (torch.empty(0), torch.randn(1), torch.tensor([float("nan"), -0.0])):
            torch.testing.assert_close(
                torch.compile(program, backend="aot_eager", fullgraph=True)(x), program(x), equal_nan=True
            )

    @pytest.mark.slow  # a C++ compiler at work
    def test_types_and_strides(self) -> None:
        function, _ = compiled(lambda x: elementwise(x, "sin").t() * 2, "inductor")
        for dtype in (torch.float32, torch.float64, torch.float16):
            x = torch.randn(5, 7).to(dtype).t()
            torch.testing.assert_close(function(x), elementwise(x, "sin").t() * 2)

    @pytest.mark.slow  # a C++ compiler at work
    def test_scalars(self) -> None:
        """Every kind of scalar arrives with its declared type and value."""
        text = """\
__global__ void f(double* z, bool b, char c, long n, unsigned int u, float f, double d, float* absent) {
  *z = b; *(z + 1) = c / 2; *(z + 2) = n; *(z + 3) = u; *(z + 4) = f; *(z + 5) = d; *(z + 6) = (bool)absent;
}"""
        kernel = pytriton.kernel(text)

        def program(x: torch.Tensor, s: float) -> torch.Tensor:
            z = torch.zeros(7, dtype=torch.float64)
            kernel(z, x.numel() > 3, 1 - x.numel(), 2**40 + x.numel(), -1, s, s, None, grid=1)
            return z

        function, _ = compiled(program, "inductor")
        for n, s in ((4, 0.1), (6, 0.3), (8, -1e300)):
            x = torch.randn(n)
            assert function(x, s).tolist() == program(x, s).tolist()
            assert program(x, s).tolist()[:4] == [1.0, -((n - 1) // 2), 2.0**40 + n, 2.0**32 - 1]


unary_on_cpu = pytriton.kernel(UNARY, device="cpu")  # an address has no device


def of_2021(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    defines = {"TYPE": x.dtype, "TILE": 16, "FUNCTION": "sin"}
    unary_on_cpu(y.data_ptr(), x.data_ptr(), x.numel(), grid=blocks(x.numel()), defines=defines)
    return y


def written(kernel: Any, *arguments: Any) -> tuple[float, float]:
    """What a kernel writes to its first parameter, called plainly and compiled."""

    def program(z: torch.Tensor) -> torch.Tensor:
        kernel(z, *arguments, grid=1)
        return z

    function, _ = compiled(program, "aot_eager")
    return program(torch.zeros(1)).item(), function(torch.zeros(1)).item()


def test_heuristics_see_numbers() -> None:
    kernel = pytriton.kernel(
        "__global__ void f(float* z) { *z = BIG; }",
        {"TILE": "64"},
        heuristics={"BIG": lambda given: given["TILE"] == 64},
    )
    assert written(kernel) == (1, 1)


@pytest.mark.parametrize("sweep", [{"precision": ["ieee", "tf32"]}, {"fast_math": [False, True]}], ids=str)
def test_a_sweep_over_arithmetic_alone(sweep: dict[str, Any]) -> None:
    assert written(pytriton.kernel("__global__ void f(float* z) { *z = 2; }", **sweep)) == (2, 2)


@pytest.mark.parametrize("key", ["z", "s", "n"])
def test_a_key_of_any_type(key: str) -> None:
    kernel = pytriton.kernel(
        "__global__ void f(float* z, float s, int n) { *z = s + n; }", num_warps=[1, 2], autotune_key=[key]
    )
    assert written(kernel, 0.5, 3.0) == (3.5, 3.5)


class TestGraphs:
    def test_bare_call_is_one_node(self) -> None:
        """Of the two tensors only the written one is marked, so nothing else is copied."""
        seen: list[Any] = []

        def keep(graph: Any, inputs: Any) -> Any:
            seen.extend(node for node in graph.graph.nodes if "pytriton" in str(node.target))
            return graph.forward

        torch.compile(bare, backend=keep, fullgraph=True)(torch.randn(5))
        (node,) = seen
        arguments = node.target._schema.arguments
        written = [one.name for one in arguments if one.alias_info is not None and one.alias_info.is_write]
        assert written == ["p_y"]
        assert node.target._name.startswith("pytriton::unary_")

    def test_operator_is_traced_into(self) -> None:
        """The backend sees the allocation and the launch, not the operator."""
        seen: list[str] = []

        def keep(graph: Any, inputs: Any) -> Any:
            seen.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
            return graph.forward

        backend = torch._dynamo.backends.common.aot_autograd(fw_compiler=keep)
        x = torch.randn(5)
        torch.testing.assert_close(torch.compile(sin, backend=backend, fullgraph=True)(x), torch.sin(x))
        assert seen[0] == "aten.empty_like.default"
        assert not any("pytriton_tests" in name for name in seen)

    @BY_BACKEND
    def test_addresses_are_not_traced(self, backend: str) -> None:
        """A body of 2021, which passes addresses, needs a fake kernel, and stays whole."""
        made = pytriton.op("pytriton_tests::addresses", of_2021)
        with pytest.raises(RuntimeError, match=r"requests the address of a tensor .*\[TC543\]"):
            compiled(lambda x: made(x) + 1, backend)[0](torch.randn(5))
        made.register_fake(torch.empty_like)
        function, _ = compiled(lambda x: made(x) + 1, backend)
        for n in (5, 7):
            x = torch.randn(n)
            torch.testing.assert_close(function(x), torch.sin(x) + 1)

    def test_values_are_not_traced(self) -> None:
        """A body that looks at values needs a fake kernel, and stays whole."""

        def f(x: torch.Tensor) -> torch.Tensor:
            return elementwise(x, "sin" if x[0].item() > 0 else "cos")

        made = pytriton.op("pytriton_tests::values", f)
        made.register_fake(lambda x: torch.empty_like(x))
        function, _ = compiled(lambda x: made(x) + 1, "aot_eager")
        for x in (torch.ones(3), -torch.ones(3)):
            torch.testing.assert_close(function(x), made(x) + 1)

    @pytest.mark.slow  # a C++ compiler at work
    def test_caches_know_the_body(self) -> None:
        """An operator that has changed since the last process is not found as it was in a cache on disk."""

        def with_sin(x: torch.Tensor) -> torch.Tensor:
            return elementwise(x, "sin")

        def with_cos(x: torch.Tensor) -> torch.Tensor:
            return elementwise(x, "cos")

        x = torch.randn(5)
        for body, wanted in ((with_sin, torch.sin(x)), (with_cos, torch.cos(x)), (with_sin, torch.sin(x))):
            torch._dynamo.reset()
            made = pytriton.op("pytriton_tests::changing", body)
            function = torch.compile(lambda x: made(x) + 1, fullgraph=True)  # noqa: B023
            torch.testing.assert_close(function(x), wanted + 1)

    @pytest.mark.slow  # a C++ compiler at work
    def test_inputs_stay(self) -> None:
        function, _ = compiled(in_place, "inductor")
        x = torch.randn(9)
        before = x.clone()
        function(x)
        assert torch.equal(x, before)

    @BY_BACKEND
    def test_input_is_written(self, backend: str) -> None:
        def program(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            add_scaled_(y, x, 2.0)
            axpy(y, x, 1.0, y.numel(), grid=blocks(y.numel()))
            return y + 1

        function, _ = compiled(program, backend)
        y, x = torch.ones(5), torch.ones(5)
        assert function(y, x).tolist() == [5.0] * 5
        assert y.tolist() == [4.0] * 5

    def test_retune_specialises(self) -> None:
        """A parameter marked __retune calls for a new compilation where a sweep may choose anew."""
        text = UNARY.replace("int n", "int n __retune")
        kernel = pytriton.kernel(text, {"TYPE": "float", "FUNCTION": "sin", "TILE": [4, 8]})

        def program(x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            kernel(y, x, x.numel(), grid=blocks(x.numel()))
            return y

        function, counter = compiled(program, "aot_eager")
        for n in (5, 6, 7):
            x = torch.randn(n)
            torch.testing.assert_close(function(x), torch.sin(x))
        assert counter.frame_count == 3


class TestTraining:
    @BY_BACKEND
    def test_step(self, backend: str) -> None:
        """Forward, backward and update, compiled and eager, end with the same weights."""
        function, counter = compiled(loss, backend)
        trains_alike(function, 20, "cpu")
        assert counter.frame_count == 1

    @BY_BACKEND
    def test_autograd_function(self, backend: str) -> None:
        """An autograd.Function around bare kernel calls."""
        function, _ = compiled(lambda x: Sin.apply(x) * 2, backend)
        for n in (7, 9):
            x = torch.randn(n, requires_grad=True)
            function(x).sum().backward()
            torch.testing.assert_close(x.grad, 2 * torch.cos(x.detach()))

    @pytest.mark.parametrize("operator", [sin, torch.ops.pytriton_tests.sin], ids=["operator", "ops"])
    def test_compiled_autograd(self, operator: Any) -> None:
        """The backward pass of an eager program, compiled."""
        x = torch.randn(7, requires_grad=True)
        with torch._dynamo.compiled_autograd._enable(torch.compile(backend="aot_eager", fullgraph=True)):
            operator(x * 2).sum().backward()
        torch.testing.assert_close(x.grad, 2 * torch.cos(2 * x.detach()))

    def test_bare_call_has_no_gradient(self) -> None:
        """As in an eager program, autograd does not see what a kernel does."""
        x = torch.randn(5, requires_grad=True)
        for run in (bare, torch.compile(bare, backend="aot_eager", fullgraph=True)):
            assert not run(x).requires_grad


class Sin(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return elementwise(x, "sin")

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return dy * elementwise(x, "cos")


class TestRefusals:
    @pytest.mark.parametrize(
        ("program", "said"),
        [
            (
                lambda x: axpy(x, x.double(), 1.0, 3, grid=1),
                r"'x' \(float \*x __readonly\) is a tensor of float64, .* \[TC502\]",
            ),
            (lambda x: axpy(x, x, 1.0, grid=1), "it takes 4 arguments, not 3"),
            (lambda x: axpy(x, 4096, 1.0, 3, grid=1), "TC543"),
            (lambda x: axpy(x, x, numpy.float32(1), 3, grid=1), r"is a NumPy value, .*\[TC543\]"),
            (lambda x: axpy(x, x, 1.0, 3, grid=1, bench=3), "requires a timing"),
        ],
        ids=["dtype", "count", "address", "numpy", "bench"],
    )
    def test_while_it_is_traced(self, program: Callable[..., Any], said: str) -> None:
        with pytest.raises(Exception, match=said):
            torch.compile(program, backend="eager", fullgraph=True)(torch.ones(3))

    def test_alignment(self) -> None:
        """Checked when it runs, by the address."""
        kernel = pytriton.kernel("__global__ void f(float* z __aligned(256)) { *z = 1; }")

        def program(z: torch.Tensor) -> None:
            kernel(z, grid=1)

        z = torch.zeros(256)
        start = -z.data_ptr() % 256 // 4
        torch.compile(program, backend="eager", fullgraph=True)(z[start : start + 8])
        assert z[start] == 1
        with pytest.warns(RuntimeWarning, match="TC509"):
            torch.compile(program, backend="eager", fullgraph=True)(z[start + 8 : start + 16])
        assert z[start + 8] == 1

    def test_values_are_checked_when_it_runs(self) -> None:
        kernel = pytriton.kernel("__global__ void f(int* z, int n __multipleof(8)) { *z = n; }")

        def program(x: torch.Tensor) -> torch.Tensor:
            z = torch.zeros(1, dtype=torch.int32)
            kernel(z, x.numel(), grid=1)
            return z

        function, _ = compiled(program, "aot_eager", dynamic=True)
        assert function(torch.ones(16)).item() == 16
        with pytest.warns(RuntimeWarning, match="TC508"):
            assert function(torch.ones(17)).item() == 17


class TestExport:
    @pytest.mark.parametrize("strict", [False, True])
    @pytest.mark.sampled(3)
    def test_operators(self, strict: bool) -> None:
        """An exported program keeps the operator, and serves every size."""
        program = torch.export.export(
            Model(operators), (torch.randn(7),), dynamic_shapes=({0: torch.export.Dim("n")},), strict=strict
        )
        names = [str(node.target) for node in program.graph.nodes]
        assert "pytriton_tests.sin.default" in names
        for n in (3, 40):
            x = torch.randn(n)
            torch.testing.assert_close(program.module()(x), operators(x))
            torch.testing.assert_close(program.run_decompositions().module()(x), operators(x))

    @pytest.mark.parametrize("strict", [False, True])
    def test_bare_calls(self, strict: bool) -> None:
        program = torch.export.export(
            Model(bare), (torch.randn(7),), dynamic_shapes=({0: torch.export.Dim("n")},), strict=strict
        )
        x = torch.randn(40)
        torch.testing.assert_close(program.module()(x), bare(x))

    @pytest.mark.slow
    @pytest.mark.parametrize("program", [bare, operators])
    def test_aot_inductor(self, program: Callable[..., Any], tmp_path: Any) -> None:
        """Compiled to a shared library, loaded, and run."""
        exported = torch.export.export(Model(program), (torch.randn(7),))
        package = torch._inductor.aoti_compile_and_package(exported, package_path=str(tmp_path / "model.pt2"))
        x = torch.randn(7)
        torch.testing.assert_close(torch._inductor.aoti_load_package(package)(x), program(x))

    @pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
    def test_make_fx(self, mode: str) -> None:
        graph = make_fx(bare, tracing_mode=mode)(torch.randn(7))
        assert any("pytriton.unary_" in str(node.target) for node in graph.graph.nodes)
        x = torch.randn(7)
        torch.testing.assert_close(graph(x), bare(x))


class Model(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)
