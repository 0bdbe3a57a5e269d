"""Operators and traced kernel calls on a GPU."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend
from torch._dynamo.utils import counters
from torch.fx.experimental.proxy_tensor import make_fx

import pytriton
from tests.operators import aot
from tests.operators.kernels import UNARY, axpy, blocks, elementwise, loss, sin, trains_alike, unary
from tests.operators.test_compile import PROGRAMS, Model, Sin, bare, operators, sweep, tiles
from tests.together import in_threads

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def random(*shape: int, **options: Any) -> torch.Tensor:
    return torch.randn(shape, device="cuda", **options)


class TestEager:
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
    def test_values(self, dtype: torch.dtype) -> None:
        for shape in ((1,), (1000,), (37, 41)):
            x = random(*shape).to(dtype)
            torch.testing.assert_close(sin(x), torch.sin(x))

    def test_side_stream(self) -> None:
        x = random(1000)
        sin(x)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            x.fill_(0.5)
            y = sin(x)
        stream.synchronize()
        torch.testing.assert_close(y, torch.sin(x))

    def test_cuda_graph(self) -> None:
        x = random(1000)
        sin(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = sin(x) + 1
        x.fill_(0.25)
        graph.replay()
        torch.testing.assert_close(y, torch.sin(x) + 1)

    def test_profiler_names(self) -> None:
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        x = random(1000)
        sin(x)
        with torch.profiler.profile(activities=activities) as profile:
            sin(x)
            torch.cuda.synchronize()
        names = {event.key for event in profile.key_averages()}
        assert {"pytriton_tests::sin", "unary"} <= names

    @pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
    def test_other_device(self) -> None:
        x = random(1000).to("cuda:1")
        y = sin(x)
        assert y.device == x.device
        torch.testing.assert_close(y, torch.sin(x))
        assert torch.cuda.current_device() == 0

    @pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
    @pytest.mark.parametrize("program", [bare, sweep, tiles, operators])
    def test_other_device_compiled(self, program: Callable[..., Any]) -> None:
        """One function for both devices, while the first is the current one."""
        function = torch.compile(program, fullgraph=True)
        for device in ("cuda:1", "cuda:0", "cuda:1"):
            x = random(1000).to(device)
            y = function(x)
            assert y.device == x.device
            torch.testing.assert_close(y, program(x))
        assert torch.cuda.current_device() == 0

    @pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
    def test_other_device_overridden(self) -> None:
        x = random(1000).to("cuda:1").requires_grad_()
        wanted = torch.sin(x).detach()
        with pytriton.override("aten::sin", sin, dispatch_key="CUDA"):
            y = torch.sin(x)
            y.sum().backward()
        torch.testing.assert_close(y.detach(), wanted)
        torch.testing.assert_close(x.grad, torch.cos(x.detach()))

    @pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
    def test_data_parallel(self) -> None:
        """A thread for each GPU, forward and backward."""
        model = torch.nn.DataParallel(torch.nn.Sequential(torch.nn.Linear(8, 8), Model(sin)).cuda(), [0, 1])
        x = random(10, 8, requires_grad=True)
        model(x).sum().backward()
        found, x.grad = x.grad, None
        torch.sin(model.module[0](x)).sum().backward()
        torch.testing.assert_close(found, x.grad)

    def test_threads(self) -> None:
        def work(_: int) -> None:
            with torch.cuda.stream(torch.cuda.Stream()):
                x = random(1000)
                for _ in range(20):
                    torch.testing.assert_close(sin(x), torch.sin(x))

        in_threads(work, range(4))


class TestOverride:
    def test_cuda(self) -> None:
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), Model(torch.sin)).cuda()
        x = random(5, 8, requires_grad=True)
        model(x).sum().backward()
        wanted, x.grad = x.grad, None
        with (
            pytriton.override("aten::sin", sin, dispatch_key="CUDA"),
            torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile,
        ):
            model(x).sum().backward()
            torch.cuda.synchronize()
            torch.sin(torch.ones(3))  # CPU tensors are not concerned
        torch.testing.assert_close(x.grad, wanted)
        assert "unary" in {event.key for event in profile.key_averages()}


class TestCompile:
    @pytest.mark.parametrize("program", PROGRAMS)
    def test_static_then_dynamic(self, program: Callable[..., Any]) -> None:
        counter = CompileCounterWithBackend("inductor")
        function = torch.compile(program, backend=counter, fullgraph=True)
        for n in (37, 41, 1001):
            x = random(n)
            torch.testing.assert_close(function(x), program(x))
        assert counter.frame_count == 2

    @pytest.mark.parametrize("program", [bare, sweep, tiles, operators])
    def test_dynamic_from_the_start(self, program: Callable[..., Any]) -> None:
        counter = CompileCounterWithBackend("inductor")
        function = torch.compile(program, backend=counter, fullgraph=True, dynamic=True)
        for n in (37, 41, 1001):
            x = random(n)
            torch.testing.assert_close(function(x), program(x))
        assert counter.frame_count == 1

    @pytest.mark.parametrize("program", [bare, sweep, tiles, operators])
    def test_reduce_overhead(self, program: Callable[..., Any]) -> None:
        """The compiled function is recorded as a CUDA graph, and replayed: nothing makes Inductor skip it."""
        function = torch.compile(program, mode="reduce-overhead", fullgraph=True)
        counters["inductor"].clear()
        for _ in range(4):
            x = random(1000)
            torch.testing.assert_close(function(x).clone(), program(x))
        assert counters["inductor"]["cudagraph_skips"] == 0
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            function(x)
            torch.cuda.synchronize()
        assert any("GraphLaunch" in event.key for event in profile.key_averages())

    def test_reduce_overhead_of_a_step(self) -> None:
        """Forward and backward of a training step, recorded as CUDA graphs."""
        counters["inductor"].clear()
        trains_alike(torch.compile(loss, mode="reduce-overhead", fullgraph=True), 200, "cuda", steps=4)
        assert counters["inductor"]["cudagraph_skips"] == 0

    @pytest.mark.parametrize("wide", [False, True])
    @pytest.mark.parametrize("n", [1, -7, 2**31 - 1, 40])
    def test_scalars(self, n: int, wide: bool) -> None:
        """Declared types and C's arithmetic, whatever Inductor makes of the numbers; 1 is a constant to it.

        It gets no numbers beyond 32 bits: with such, the call is opaque.
        """
        u, m = (n % 2**32, n * 4096) if wide else (n % 2**31, n)
        text = """\
__global__ void f(long* z, bool b, char c, unsigned char uc, short s, int n, unsigned int u, long m, float x) {
  *z = (n - 4) / 2; *(z + 1) = c / 2; *(z + 2) = uc; *(z + 3) = s % 7; *(z + 4) = (u - 2) >> 1;
  *(z + 5) = m << 20; *(z + 6) = (long)(x * 1024); *(z + 7) = b ? 1 : 2;
}"""
        kernel = pytriton.kernel(text)

        def program(z: torch.Tensor) -> torch.Tensor:
            kernel(z, n > 0, n % 100 - 50, n % 200, -(n % 1000), n, u, m, 0.1, grid=1)
            return z + 0

        z = [torch.zeros(8, dtype=torch.int64, device="cuda") for _ in range(2)]
        assert torch.compile(program, fullgraph=True)(z[0]).tolist() == program(z[1]).tolist()

    def test_opaque_arguments(self) -> None:
        text = "__global__ void f(double* z, double d, half h, float* a) { *z = d + h; *(z + 1) = (bool)a; }"
        kernel = pytriton.kernel(text)

        def program(z: torch.Tensor) -> torch.Tensor:
            kernel(z, 0.1, 0.1, None, grid=1)
            return z + 0

        z = [torch.zeros(2, dtype=torch.float64, device="cuda") for _ in range(2)]
        assert torch.compile(program, fullgraph=True)(z[0]).tolist() == program(z[1]).tolist()

    def test_float_that_changes(self) -> None:
        def program(x: torch.Tensor, a: float) -> torch.Tensor:
            y = torch.ones_like(x)
            axpy(y, x, a, x.numel(), grid=blocks(x.numel()))
            return y

        function = torch.compile(program, fullgraph=True)
        x = random(50)
        for a in (0.5, 0.1, -3e7, 1.0):
            assert torch.equal(function(x, a), program(x, a))

    def test_no_copies(self) -> None:
        """Beside input and output there is at most one temporary: what the kernel only reads is not copied."""
        function = torch.compile(bare, fullgraph=True)
        x = random(1 << 24)
        function(x)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        y = function(x)
        assert y.shape == x.shape
        assert torch.cuda.max_memory_allocated() - before <= 2.1 * x.nbytes

    def test_sweep_of_texts(self) -> None:
        def program(x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            defines = {"TYPE": x.dtype, "TILE": 32, "FUNCTION": ["sin", "(float)sin"]}
            unary(y, x, x.numel(), grid=blocks(x.numel()), defines=defines)
            return y

        x = random(50)
        torch.testing.assert_close(torch.compile(program, fullgraph=True)(x), torch.sin(x))

    def test_what_stands_beside_a_view_is_restored(self) -> None:
        """A kernel that adds to the element before the view that it gets: tuning adds nothing."""
        kernel = pytriton.kernel("""\
__global__ void f(float* z, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(z - 1 + r) = *?(r < n)(z - 1 + r) + 1;
}""")

        def program(x: torch.Tensor) -> torch.Tensor:
            memory = x * 2
            view = memory[1:]
            kernel(view, memory.numel(), grid=blocks(memory.numel()), TILE=[32, 64, 128], num_warps=[1, 2])
            return memory

        x = random(1000)
        torch.testing.assert_close(program(x), 2 * x + 1)
        torch.testing.assert_close(torch.compile(program, fullgraph=True)(x), 2 * x + 1)

    def test_opaque_sweep_is_tuned_once(self) -> None:
        """Under torch.compile a new size alone calls for no new tuning, on either route."""
        text = """\
__global__ void f(float* y, float* x, double a, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(y + r) = (float)a * *?(r < n)(x + r);
}"""
        kernel = pytriton.kernel(text, {"TILE": [32, 64]})

        def program(x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            kernel(y, x, 2.0, x.numel(), grid=blocks(x.numel()))
            return y

        function = torch.compile(program, fullgraph=True, dynamic=True)
        for n in (300, 400, 500):
            x = random(n)
            torch.testing.assert_close(function(x), 2 * x)
        plan = kernel.traced_plan(kernel._definition.configs({}, None, None))
        assert len(plan._tuner.chosen) == 1

    def test_accumulator_is_tuned_without_traces(self) -> None:
        """Inductor measures on copies of the arguments that the schema marks as written."""
        kernel = pytriton.kernel("""\
__global__ void f(float* z, float* x, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(z + r) = *?(r < n)(z + r) + *?(r < n)(x + r);
}""")

        def program(z: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            kernel(z, x, x.numel(), grid=blocks(x.numel()), TILE=[32, 64, 128], num_warps=[1, 2])
            return z * 2

        z, x = torch.ones(1000, device="cuda"), random(1000)
        torch.testing.assert_close(torch.compile(program, fullgraph=True)(z, x), 2 * (1 + x))
        torch.testing.assert_close(z, 1 + x)

    def test_retune(self) -> None:
        kernel = pytriton.kernel(
            UNARY, {"TYPE": "float", "FUNCTION": "sin", "TILE": [16, 32]}, autotune_key=["n"]
        )

        def program(x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            kernel(y, x, x.numel(), grid=blocks(x.numel()))
            return y

        function = torch.compile(program, fullgraph=True)
        for n in (37, 41, 63):
            x = random(n)
            torch.testing.assert_close(function(x), torch.sin(x))


class TestTraining:
    def test_step(self) -> None:
        trains_alike(torch.compile(loss, fullgraph=True), 200, "cuda")

    def test_autograd_function(self) -> None:
        function = torch.compile(lambda x: Sin.apply(x) * 2, fullgraph=True)
        x = random(70, requires_grad=True)
        function(x).sum().backward()
        torch.testing.assert_close(x.grad, 2 * torch.cos(x.detach()))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """That in which AOTInductor can compile, load and run a model without kernels of ours."""
    attempts: list[CompletedProcess[str]] = []
    for name in ("usual", "mended"):
        directory = tmp_path_factory.mktemp(name)
        found = {} if name == "usual" else aot.mended(directory)
        attempts.append(aot.run("plain", "cuda", directory, found))
        if attempts[-1].returncode >= 0:
            return found
    frames = " ".join(re.findall(r"frame #\d+: [^(]*", attempts[-1].stderr)[:12])
    pytest.skip(
        f"torch's own model ends by signal {-attempts[-1].returncode}: {attempts[-1].stdout} {frames}"
    )


class TestExport:
    @pytest.mark.parametrize("program", [bare, operators])
    def test_program(self, program: Callable[..., Any]) -> None:
        dynamic = ({0: torch.export.Dim("n")},)
        exported = torch.export.export(Model(program), (random(70),), dynamic_shapes=dynamic)
        x = random(400)
        torch.testing.assert_close(exported.module()(x), program(x))

    @pytest.mark.parametrize("program", ["plain", "bare", "operators", "tiles"])
    def test_aot_inductor(self, environment: dict[str, str], program: str, tmp_path: Path) -> None:
        """Compiled to a shared library, loaded and run."""
        done = aot.run(program, "cuda", tmp_path, environment)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"

    @pytest.mark.parametrize("program", [bare, sweep, tiles, operators])
    def test_make_fx(self, program: Callable[..., Any]) -> None:
        graph = make_fx(program, tracing_mode="symbolic")(random(70))
        x = random(400)
        torch.testing.assert_close(graph(x), program(x))

    def test_elementwise_in_half(self) -> None:
        x = random(70).half()
        function = torch.compile(lambda x: elementwise(x, "cos"), fullgraph=True)
        torch.testing.assert_close(function(x), torch.cos(x))
