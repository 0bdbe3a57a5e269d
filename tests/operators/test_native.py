"""The native form of a traced kernel call, as Inductor gets it for CUDA tensors; no GPU is needed.

Dynamo runs on fake CUDA tensors, and is told that Triton has a device; what is looked at is the graph and the
functions in it. That the result computes the right numbers is for ``test_gpu.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
import torch
import triton
from functorch.compile import aot_function
from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table
from torch._subclasses.fake_tensor import FakeTensorMode
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.driver import driver

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.compile.load import load
from pytriton.runtime.compile.specialize import pin_types
from tests.operators.kernels import UNARY, axpy, blocks, sin, unary
from tests.operators.test_compile import Model
from tests.runtime.launch.test_promises import SCORES

Launches = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    torch._dynamo.reset()
    monkeypatch.setattr("torch.utils._triton.has_triton", lambda: True)
    yield
    torch._dynamo.reset()


def launches(program: Callable[..., Any], *shapes: int, dynamic: bool | None = None) -> list[Launches]:
    """What each compilation launches, for float tensors of these sizes one after another."""
    found: list[Launches] = []

    def keep(graph: Any, inputs: Any) -> Any:
        found.append([])
        for node in graph.graph.nodes:
            if "triton_kernel_wrapper" in str(node.target):
                constants = kernel_side_table.get_constant_args(node.kwargs["constant_args_idx"])
                kernel = kernel_side_table.get_kernel(node.kwargs["kernel_idx"])
                sizes = {name: _value(one) for name, one in node.kwargs["kwargs"].items()}
                grids = [tuple(_value(size) for size in grid) for grid in node.kwargs["grid"]]
                found[-1].append({"kernel": kernel, "grids": grids, **sizes, **constants})
            target = str(node.target).replace("pytriton.change", "")
            assert "pytriton" not in target, "an opaque launch"
        return graph.forward

    function = torch.compile(program, backend=keep, fullgraph=True, dynamic=dynamic)
    with FakeTensorMode(allow_non_fake_inputs=True):
        for n in shapes:
            function(torch.empty(n, device="cuda"))
    return found


def opaque(program: Callable[..., Any], *shapes: int, dynamic: bool | None = None) -> None:
    """The same, where the kernel's call cannot be native."""
    with pytest.raises(Exception, match="an opaque launch"):
        launches(program, *shapes, dynamic=dynamic)


def _value(node: Any) -> Any:
    """A number, the shown expression of a symbol, or a tensor's name."""
    if not isinstance(node, torch.fx.Node):
        return node
    value = node.meta["example_value"]
    return node.name if isinstance(value, torch.Tensor) else "symbol"


def one(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    n = x.numel()
    defines = {"TYPE": x.dtype, "TILE": 32, "FUNCTION": "sin"}
    unary(y, x, n, grid=blocks(n), defines=defines, num_warps=2, num_stages=1)
    return y


def sweep(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    n = x.numel()
    defines = {"TYPE": x.dtype, "TILE": [16, 32], "FUNCTION": "sin"}
    unary(y, x, n, grid=lambda opt: (opt.num_warps, n // opt.TILE), defines=defines, num_warps=[1, 2])
    return y


class TestOne:
    def test_static(self) -> None:
        ((launch,),) = launches(one, 70)
        assert launch["grids"] == [(3, 1, 1)]
        assert (launch["n"], launch["TILE"]) == (70, 32)
        (config,) = launch["kernel"].configs
        assert (config.num_warps, config.num_stages, config.kwargs) == (2, 1, {})

    def test_types_are_pinned(self) -> None:
        ((launch,),) = launches(one, 70)
        source = launch["kernel"].fn.src
        assert "    n = tl.full((), n, tl.int32)\n" in source
        assert launch["kernel"].fn.fn.__module__.startswith("pytriton_unary_")

    @pytest.mark.parametrize("dynamic", [None, True])
    def test_dynamic(self, dynamic: bool | None) -> None:
        found = launches(one, 70, 90, 110, dynamic=dynamic)
        assert len(found) == (1 if dynamic else 2)
        (launch,) = found[-1]
        assert launch["grids"] == [("symbol", 1, 1)]
        assert (launch["n"], launch["TILE"]) == ("symbol", 32)

    @pytest.mark.parametrize("program", [sin, one], ids=["operator", "bare"])
    def test_functional(self, program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """Below AOTAutograd an operator is a launch too, and only what it writes would be copied."""
        monkeypatch.setattr(driver, "_active", Sm90())
        seen: list[Any] = []

        def keep(graph: Any, inputs: Any) -> Any:
            seen.extend(node for node in graph.graph.nodes if node.op == "call_function")
            raise Enough

        with FakeTensorMode(allow_non_fake_inputs=True), pytest.raises(Enough):
            aot_function(lambda x: program(x), keep)(torch.empty(5, device="cuda"))
        (launch,) = (node for node in seen if str(node.target) == "triton_kernel_wrapper_functional")
        assert launch.kwargs["tensors_to_clone"] == ["y"]
        assert not any("pytriton" in str(node.target) for node in seen)


class Seen:
    """A backend that tells the opaque from the native."""

    def __call__(self, graph: Any, inputs: Any) -> Any:
        assert not any("pytriton" in str(node.target) for node in graph.graph.nodes), "opaque"
        return graph.forward


class Enough(Exception):
    """The graph was seen."""


class Sm90:
    """As much of a driver as it takes to make Triton's IR."""

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)


SCALARS = """\
__global__ void f(int* z, char c, unsigned char uc, short s, int n, unsigned int u, long m, bool b) {
  *z = (n - 4) / 2 + c / 2 + uc + s + (int)(u >> 1) + (int)(m << 3) + (b ? 16 : 32);
}
"""


@pytest.mark.parametrize("guessed", ["i32", "i64", "constexpr"])
def test_any_guessed_type_compiles(guessed: str) -> None:
    """Inductor passes i32, i64 or the constant 1; the kernel computes with the declared types."""
    pinned = pin_types(pytriton.translate(SCALARS))
    function = load(pinned.function, pinned.text).compiled
    names = function.arg_names
    signature = dict.fromkeys(names, guessed) | {"z": "*i32", "b": "i1"}
    ones = {(at,): 1 for at, name in enumerate(names) if signature[name] == "constexpr"}
    source = ASTSource(fn=function, signature=signature, constexprs=ones, attrs={})
    ttir = triton.compile(source, target=Sm90().get_current_target()).asm["ttir"]
    if guessed == "constexpr":
        # (1 - 4) / 2 is -1 in C, -2 by Python's floor: -1 + 0 + 1 + 1 + 0 + 8, and 16 or 32.
        constants = {int(value) for value in re.findall(r"arith.constant (-?\d+) : i32", ttir)}
        assert constants in ({9, 16, 32}, {25, 41})


class TestSweep:
    @pytest.mark.parametrize("dynamic", [None, True])
    def test_points(self, dynamic: bool | None) -> None:
        """One autotuner; each candidate has its own grid, even where only num_warps differs."""
        ((launch,),) = launches(sweep, 70, dynamic=dynamic)
        sizes = ["symbol"] * 4 if dynamic else [4, 4, 2, 2]
        assert launch["grids"] == list(zip([1, 2, 1, 2], sizes, [1] * 4, strict=True))
        configs = launch["kernel"].configs
        assert [config.num_warps for config in configs] == [1, 2, 1, 2]
        assert [config.kwargs for config in configs] == [
            {"TILE": tile, "point": point} for point, tile in enumerate((16, 16, 32, 32))
        ]

    def test_what_is_written_is_restored(self) -> None:
        """Inductor measures on copies of the arguments named so, and of no others; it knows no stores itself."""
        text = """\
__global__ void f(float *lambda, float *x __readonly, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(lambda + r) += *?(r < n)(x + r);
  *x = 0;
}"""
        kernel = pytriton.kernel(text)

        def program(x: torch.Tensor) -> None:
            kernel(x + 1, x, x.numel(), grid=blocks(x.numel()), TILE=[32, 64])

        ((launch,),) = launches(program, 70)
        tuned = launch["kernel"]
        assert tuned.restore_value == tuned.fn.arg_names[:2]
        ((launch,),) = launches(sweep, 70)
        assert launch["kernel"].restore_value == ["y"]

    def test_stray_writes(self) -> None:
        """Memory that no argument names cannot be restored after measuring."""
        kernel = pytriton.kernel(
            "__global__ void f(long *x, int n) { float *p = (float *)*x; *p = n * TILE; }"
        )

        def program(x: torch.Tensor, tile: Any) -> None:
            kernel(x.to(torch.int64), x.numel(), grid=1, TILE=tile)

        assert launches(lambda x: program(x, 32), 5)
        opaque(lambda x: program(x, [32, 64]), 5)

    @pytest.mark.parametrize("dynamic", [None, True])
    def test_writes_into_a_view(self, dynamic: bool | None) -> None:
        """Inductor would measure on a copy of the view only, and the kernel may write beside it."""
        text = "__global__ void f(float *x, float *y, int n) { *x = TILE * *y; }"
        kernel = pytriton.kernel(text, {"TILE": [32, 64]})

        def program(x: torch.Tensor, start: int, read: int = 0) -> None:
            memory = x + 1
            n = x.numel() - 1
            kernel(memory.narrow(0, start, n) if start else memory, x.narrow(0, read, n), n, grid=1)

        for shapes in ((16,), (16, 20, 30)):
            assert launches(lambda x: program(x, 0), *shapes, dynamic=dynamic)
            assert launches(lambda x: program(x, 0, 1), *shapes, dynamic=dynamic)
            opaque(lambda x: program(x, 1), *shapes, dynamic=dynamic)

    def test_writes_into_an_input_that_is_a_view(self) -> None:
        kernel = pytriton.kernel("__global__ void f(float *x, int n) { *x = TILE; }", {"TILE": [32, 64]})
        function = torch.compile(lambda x: kernel(x, x.numel(), grid=1), backend=Seen(), fullgraph=True)
        with FakeTensorMode(allow_non_fake_inputs=True), pytest.raises(Exception, match="opaque"):
            function(torch.empty(9, device="cuda").narrow(0, 1, 8))

    def test_key(self) -> None:
        """Another value of a named parameter is another compilation, with points of its own."""
        kernel = pytriton.kernel(
            UNARY, {"TYPE": "float", "FUNCTION": "sin", "TILE": [16, 32]}, autotune_key=["n"]
        )

        def program(x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            kernel(y, x, x.numel(), grid=blocks(x.numel()))
            return y

        found = launches(program, 70, 90, 110)
        points = [config.kwargs["point"] for (launch,) in found for config in launch["kernel"].configs]
        assert len(set(points)) == 6

    def test_texts_that_differ(self) -> None:
        """A sweep over sources cannot be an autotuner: it stays opaque."""

        def program(x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            defines = {"TYPE": x.dtype, "TILE": 32, "FUNCTION": ["sin", "cos"]}
            unary(y, x, x.numel(), grid=1, defines=defines)
            return y

        opaque(program, 70)


class TestOpaque:
    @pytest.mark.parametrize(
        ("declaration", "value"),
        [("double s", 1.5), ("half s", 1.5), ("float *s", None), ("int s", True), ("float s", 1)],
    )
    def test_arguments(self, declaration: str, value: Any) -> None:
        """Where Inductor's launch might round, or read another type, the untraced call is made."""
        kernel = pytriton.kernel(f"__global__ void f(float *x, {declaration}) {{ *x = 1; }}")

        def program(x: torch.Tensor) -> None:
            kernel(x, value, grid=1)

        opaque(program, 5)

    @pytest.mark.parametrize(
        ("declaration", "value", "native"),
        [
            ("long s", 2**31 - 1, True),
            ("long s", -(2**31), True),
            ("unsigned int s", 2**31 - 1, True),
            ("long s", 2**31, False),
            ("long s", -(2**31) - 1, False),
            ("unsigned int s", 2**32 - 1, False),
            ("unsigned long s", 2**40, False),
        ],
    )
    def test_long_integers(self, declaration: str, value: int, native: bool) -> None:
        """Inductor of torch 2.11 cannot pass long constants; all pass numbers below -2**31 as 32 bits."""
        kernel = pytriton.kernel(f"__global__ void f(long *x, {declaration}) {{ *x = s; }}")

        def program(x: torch.Tensor) -> None:
            kernel(x.to(torch.int64), value, grid=1)

        with nullcontext() if native else pytest.raises(Exception, match="an opaque launch"):
            assert launches(program, 5)

    def test_long_sizes(self) -> None:
        """A size that grows beyond 32 bits is compiled again, to be passed whole."""
        kernel = pytriton.kernel("__global__ void f(float *x, long n) { *x = n; }")

        def program(x: torch.Tensor) -> None:
            kernel(x, x.numel(), grid=1)

        assert len(launches(program, 5, 6, 2**31 - 1, dynamic=True)) == 1
        opaque(program, 5, 2**31, dynamic=True)

    def test_unsigned_view(self) -> None:
        """A kernel on char may read an uint8 tensor; Inductor would take the tensor's type."""
        kernel = pytriton.kernel("__global__ void f(char *x) { *x = *x / 2; }")

        def program(x: torch.Tensor) -> None:
            kernel(x.to(torch.uint8), grid=1)

        opaque(program, 5)


class TestExport:
    """An exported program serves every size that it was exported for, with no guards."""

    @pytest.mark.parametrize("strict", [False, True])
    @pytest.mark.parametrize(
        ("declaration", "largest", "native"),
        [
            ("int n", None, False),
            ("int n", 2**31 - 1, True),
            ("int n __multipleof(8)", 2**31 - 1, False),
            ("unsigned int n", 2**31, False),
            ("long n", 2**31 - 1, True),
            ("long n", 2**40, False),
        ],
    )
    def test_sizes(self, declaration: str, largest: int | None, native: bool, strict: bool) -> None:
        """A size that the kernel's type may not hold is checked when the program runs."""
        kernel = pytriton.kernel(f"__global__ void f(float *x, {declaration}) {{ *x = n; }}")

        def program(x: torch.Tensor) -> torch.Tensor:
            y = x + 1
            kernel(y, x.numel(), grid=1)
            return y

        found = exported(program, torch.export.Dim("n", max=largest), strict)
        assert [name for name in found if "triton" in name] == [
            "triton_kernel_wrapper_mutation"
            if native
            else next(n for n in found if n.startswith("pytriton.f_"))
        ]

    @pytest.mark.parametrize("value", [2**31, -(2**31) - 1])
    def test_constants(self, value: int) -> None:
        """What cannot fit is refused at once."""
        with pytest.raises(Exception, match="TC506"):
            exported(lambda x: axpy(x, x, 1.0, value, grid=1), None, False)


def exported(program: Callable[..., Any], dim: Any, strict: bool) -> list[str]:
    """What a program calls that was exported for this range of sizes."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        x = torch.empty(16, device="cuda")
    graph = torch.export.export(Model(program), (x,), dynamic_shapes=({0: dim},), strict=strict).graph
    return [str(node.target) for node in graph.nodes if node.op == "call_function"]


class TestRefusals:
    def test_promise(self) -> None:
        text = "__global__ void f(float *x, int n __multipleof(8)) { *x = n; }"
        kernel = pytriton.kernel(text, strict_promises=True)

        def program(x: torch.Tensor) -> None:
            kernel(x, x.numel(), grid=1)

        assert launches(program, 16)
        with pytest.raises(Exception, match=r"'n' \(int n __multipleof\(8\)\) is not a multiple of 8|TC508"):
            launches(program, 17)

    def test_range(self) -> None:
        def program(x: torch.Tensor) -> None:
            axpy(x, x, 1.0, 2**31, grid=1)

        with pytest.raises(Exception, match="TC506"):
            launches(program, 16)

    def test_no_program(self) -> None:
        def program(x: torch.Tensor) -> torch.Tensor:
            axpy(x, x, 1.0, 5, grid=(x.numel() - 16,))
            return x + 1

        assert launches(program, 16) == [[]]

    def test_eager_fake_tensors(self) -> None:
        """Under FakeTensorMode alone a call does nothing; the arguments are checked."""
        with FakeTensorMode():
            x = torch.empty(5)
            axpy(x, x, 1.0, 5, grid=1)
            with pytest.raises(LaunchError, match="TC502"):
                axpy(x, x.double(), 1.0, 5, grid=1)


class TestBrokenPromises:
    def test_a_broken_promise_is_another_launch(self) -> None:
        """Guarded by whether the promise is kept; the function that relies on it is not launched."""

        def program(x: torch.Tensor) -> None:
            kernel(x, x, x.numel(), 8, grid=1)

        kernel = pytriton.kernel(SCORES, {"TK": 16})
        with pytest.warns(
            RuntimeWarning, match=r"'K' .* is not a multiple of 16: the promise is dropped for this launch"
        ):
            found = launches(program, 32, 48, 41, 43, 64, dynamic=True)
        assert ["mask" in launch["kernel"].fn.src for (launch,) in found] == [False, True]
        assert {launch["K"] for (launch,) in found} == {"symbol"}
