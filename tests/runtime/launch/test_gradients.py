"""What a launch is to autograd, and what is said of tensors that do not lie in memory as they seem.

Each test runs on the CPU, on a GPU where there is one, and over a driver that stands in for one, on the fast path
(the fifth call of a kind takes it) and without one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.launch.arguments import unexplained
from pytriton.runtime.plan import Plan
from tests.runtime.stand_in import standing_in, without_c

TWICE = """\
__global__ void twice(float* y, float* x, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(i < n)(y + i) = 2 * *?(i < n)(x + i);
}
"""
N = 24
CALLS = 5
CHANGED = "modified by an inplace operation"


@pytest.fixture(params=["CPU", "fast", "slow", pytest.param("GPU", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, built: Path) -> Iterator[str]:
    """Where the tensors of a test lie."""
    if request.param == "slow":
        without_c(monkeypatch)
    if request.param in ("CPU", "GPU"):
        yield "cpu" if request.param == "CPU" else "cuda"
    else:
        with standing_in(monkeypatch, built, 1):
            yield "cpu"


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The warnings of the calls of a test."""
    found: list[str] = []
    with warnings.catch_warnings(action="always"):
        monkeypatch.setattr(warnings, "showwarning", lambda message, *rest: found.append(str(message)))
        yield _Said(found)


class _Said(list[str]):
    def __init__(self, found: list[str]) -> None:
        self._found = found

    def codes(self) -> list[str]:
        """The codes of what was said since."""
        codes = [message.partition(" [")[2].partition("]")[0] for message in self._found if " [TC" in message]
        self._found.clear()
        return codes


def kernel(**defines: Any) -> Kernel:
    made: Kernel = pytriton.kernel(TWICE, {"TILE": 16, **defines})
    return made


def call(made: Kernel, y: Any, x: Any, **more: Any) -> Any:
    return made(y, x, N, **{"grid": (2,), **more})


def written_by(made: Kernel) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function that returns what the kernel makes of a tensor."""

    def doubled(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty(N, device=x.device)
        call(made, y, x)
        return y

    return doubled


def vector(device: str, **more: Any) -> torch.Tensor:
    return torch.ones(N, device=device, **more)


def test_what_goes_the_long_way(monkeypatch: pytest.MonkeyPatch, built: Path) -> None:
    """Each kind of call does so at first, as other code has served the others. Only a refused one always does."""
    went: list[int] = []
    ready = Plan._launch_of
    monkeypatch.setattr(Plan, "_launch_of", lambda *given: went.append(1) or ready(*given))  # type: ignore[func-returns-value]
    with standing_in(monkeypatch, built, 1), warnings.catch_warnings(action="ignore"):
        made, y, x = kernel(), vector("cpu"), vector("cpu")
        wide, wanting = torch.ones(2 * N)[::2], vector("cpu", requires_grad=True)
        kinds = [(y, x), (y, wide), (wide, x), (y, wanting), (y, wide * wanting), (torch.ones(N + 1)[1:], x)]
        for given in kinds * 3:
            call(made, *given)
        went.clear()
        for given in kinds * 3:
            call(made, *given)
        assert not went
        for _ in range(3):
            with pytest.raises(LaunchError):
                call(made, wanting, x)
        assert len(went) == 3


def test_tangents_are_refused(device: str) -> None:
    """A launch would leave that of ``y`` as it was. The fast path, once made by other tensors, does not look."""
    made, y, x = kernel(), vector(device), vector(device)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(vector(device), vector(device))
        for _ in range(CALLS):
            for given in ((dual, x), (y, dual)):
                with torch.no_grad(), pytest.raises(LaunchError, match=r"has a tangent, .* \[TC524\]"):
                    call(made, *given)
        with forward_ad._set_fwd_grad_enabled(False):  # as in an autograd.Function
            call(made, dual, x)


class TestVersions:
    def test_each_launch_counts(self, device: str) -> None:
        made, y, x = kernel(), vector(device), vector(device)
        for count in range(1, CALLS + 1):
            call(made, y, x)
            assert (y._version, x._version) == (count, 0)
        call(made, y[:], x)  # views share their version
        call(made, y.detach(), x)
        assert (y._version, x._version) == (CALLS + 2, 0)
        call(made, y, y)
        assert y._version == CALLS + 3

    def test_what_a_gradient_needs(self, device: str) -> None:
        made, y, x = kernel(), vector(device), vector(device)
        for _ in range(CALLS):
            a = vector(device, requires_grad=True)
            b = a * 1
            c = (b * 2).detach()
            d = b * c
            d.sum().backward(retain_graph=True)
            call(made, c, x)
            with pytest.raises(RuntimeError, match=CHANGED):
                d.sum().backward()
            call(made, y, c)
            (a * c).sum().backward()  # what was saved after the write is right

    @pytest.mark.filterwarnings("ignore:.*TC526")
    def test_what_requires_a_gradient_itself(self, device: str) -> None:
        made, x = kernel(), vector(device)
        for _ in range(CALLS):
            b = vector(device, requires_grad=True)
            c = b * 2
            d = c * c
            call(made, c, x)
            with pytest.raises(RuntimeError, match=CHANGED):
                d.sum().backward()

    def test_nothing_is_launched(self, device: str) -> None:
        made, y, x = kernel(), vector(device), vector(device)
        for count in range(CALLS):
            for grid in ((0,), [2, 0], lambda opt: (0, 1)):
                call(made, y, x, grid=grid)
            assert y._version == count
            call(made, y, x)

    def test_refused(self, device: str) -> None:
        made, y, x = kernel(), vector(device), vector(device)
        for count in range(1, CALLS):
            call(made, y, x)
            for wrong in (vector(device).half(), 3.5):
                with pytest.raises(LaunchError):
                    call(made, y, wrong)
            with pytest.raises(LaunchError):
                call(made, y, x, grid=(-1,))
            assert y._version == count

    def test_absent_and_addresses(self, device: str) -> None:
        made = pytriton.kernel(
            "__global__ void f(float* y, float* x, int n) { if (n > 0) { *y = 1; *x = 1; } }", device=device
        )
        for count in range(1, CALLS):
            y, empty = vector(device), torch.empty(0, device=device)
            for x in (None, 0, empty, vector(device).data_ptr()):
                made(y, x, 0, grid=(1,))
                made(y.data_ptr(), x, 0, grid=(1,))
            assert y._version == 4
            assert count

    def test_inference_mode(self, device: str) -> None:
        made = kernel()
        for _ in range(CALLS):
            with torch.inference_mode():
                y, x = vector(device), vector(device)
                call(made, y, x)
            call(made, y, x)  # torch refuses its own; nothing of it can be saved for a gradient
            assert y.is_inference()
            plain = vector(device)
            with torch.inference_mode():
                call(made, plain, x)
            assert plain._version == 1

    def test_bench(self, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
        made, y, x = kernel(), vector(device), vector(device)
        plan = made._default
        assert plan is not None
        monkeypatch.setattr(
            "pytriton.tuning.tuner.bench", lambda ready, saved, count: [ready() for _ in range(3)] and 7
        )
        for count in range(1, CALLS):
            assert call(made, y, x, bench=3) == 7
            assert y._version == count

    def test_a_sweep(self, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Points may write other parameters; each call counts those of its own."""
        made = pytriton.kernel(
            TWICE.replace("2 *", "W *").replace("}\n", "\n#if W == 3\n*x = 1;\n#endif\n}\n"),
            {"TILE": 16, "W": [2, 3]},
        )
        plan = made._default
        assert plan is not None

        def choose(key: tuple[Any, ...], *rest: Any) -> Any:
            wanted = 3 if key[1] == N else 2
            (found,) = [each for each in plan.every_candidate() if wanted == each.options.W]
            plan._tuner.chosen[key] = found
            return found

        monkeypatch.setattr(plan._tuner, "choose", choose)
        for count in range(1, CALLS + 1):
            y, x = vector(device), vector(device)
            made(y, x, N, grid=(2,))
            assert (y._version, x._version) == (1, 1)
            made(y, x, N - 1, grid=(2,))
            assert (y._version, x._version) == (2, 1), count

    def test_an_operator_counts_once(self, device: str, request: pytest.FixtureRequest) -> None:
        made = kernel()

        def f(y: torch.Tensor, x: torch.Tensor) -> None:
            made(y, x, N, grid=(2,))
            made(y, x, N, grid=(2,))

        written = pytriton.op("pytriton_tests::counted_once", f, mutates_args=["y"])
        y, x = vector(device), vector(device)
        for count in range(1, CALLS + 1):
            written(y, x)
            assert (y._version, x._version) == (count, 0)


class TestLeaves:
    def test_refused(self, device: str) -> None:
        made, x = kernel(), vector(device)
        for turn in range(CALLS):
            leaf = vector(device, requires_grad=True)
            for given, what in (
                (leaf, "a leaf"),
                (torch.nn.Parameter(vector(device)), "a leaf"),
                (leaf[:], "a view of a leaf"),
                (leaf.view(2, -1)[:, 1:], "a view of a leaf"),
            ):
                with pytest.raises(LaunchError) as info:
                    call(made, given, x)
                assert str(info.value).split("\n") == [
                    f"twice: argument 1 'y' (float *y) is {what} that requires a gradient, and the kernel "
                    "writes it [TC524]",
                    "help: call it under torch.no_grad(), or pass it as .detach()",
                ]
                assert given._version == 0
            with torch.no_grad():
                call(made, leaf, x)
                call(made, leaf[:], x)
            call(made, leaf.detach(), x)
            call(made, leaf.data, x)
            assert leaf._version == 3, turn
            call(made, vector(device), x)

    def test_empty_ones_are_absent(self, device: str, said: _Said) -> None:
        made = pytriton.kernel("__global__ void f(float* y, float* x, int n) { if (n > 0) *y = *x; }")
        leaf = torch.empty(0, device=device, requires_grad=True)
        for _ in range(CALLS):
            made(leaf, vector(device), 0, grid=(1,))
        assert said.codes() == []

    def test_in_a_function(self, device: str, said: _Said) -> None:
        """Gradients are its business."""
        made = kernel()

        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
                call(made, y, x)
                ctx.mark_dirty(y)
                ctx.save_for_backward(x)
                return y

            @staticmethod
            def backward(ctx: Any, dy: torch.Tensor) -> Any:
                (x,) = ctx.saved_tensors
                dx = torch.empty_like(x)
                call(made, dx, dy.contiguous())
                return None, dx

        for _ in range(CALLS):
            x = vector(device, requires_grad=True)
            Twice.apply(vector(device), x * 1).sum().backward()
        with torch.no_grad():
            leaf = vector(device, requires_grad=True)
            call(made, leaf, x)
        assert said.codes() == []

    def test_nothing_is_tuned_for_a_refused_call(self, device: str) -> None:
        made = kernel()
        leaf = vector(device, requires_grad=True)
        before = leaf.detach().clone()
        with pytest.raises(LaunchError, match="TC524"):
            call(made, leaf, vector(device))
        assert torch.equal(leaf, before)


class TestGradientsThatStop:
    def test_told_once(self, device: str, said: _Said) -> None:
        made, y = kernel(), vector(device)
        x = vector(device, requires_grad=True)
        for _ in range(CALLS):
            call(made, y, x)
        for _ in range(CALLS):
            call(made, y, x * 2)
        assert said.codes() == ["TC526"]
        call(kernel(), y, x)
        assert said.codes() == ["TC526"]

    def test_message(self, device: str) -> None:
        with pytest.warns(RuntimeWarning) as told:
            call(kernel(), vector(device), vector(device, requires_grad=True))
        (message,) = [str(each.message) for each in told if "TC526" in str(each.message)]
        assert message.split("\n") == [
            "twice: argument 2 'x' (float *x) requires a gradient, but gradients stop at the call of a kernel "
            "[TC526]",
            "help: make it an operator with pytriton.op, or call it under torch.no_grad()",
        ]
        assert [each.filename for each in told if "TC526" in str(each.message)] == [__file__]

    def test_after_calls_without(self, device: str, said: _Said) -> None:
        """As where a model is looked at first and trained then."""
        made, y, x = kernel(), vector(device), vector(device, requires_grad=True)
        with torch.no_grad():
            for _ in range(CALLS):
                call(made, y, x)
        for _ in range(CALLS):
            call(made, y, x.detach())
        assert said.codes() == []
        call(made, y, x)
        assert said.codes() == ["TC526"]

    def test_operators(self, device: str, said: _Said) -> None:
        made = kernel()
        doubled = written_by(made)
        ours = pytriton.op("pytriton_tests::doubled", doubled)
        ours.register_autograd(lambda ctx, dy: 2 * dy)
        theirs = torch.library.custom_op("pytriton_tests::doubled_by_torch", doubled, mutates_args=())
        theirs.register_autograd(lambda ctx, dy: 2 * dy)
        for function in (ours, theirs, ours.overload):
            for _ in range(CALLS):
                x = vector(device, requires_grad=True)
                function(x).sum().backward()
                assert x.grad is not None
                function(x.detach())
        assert said.codes() == []
        call(made, vector(device), x)
        assert said.codes() == ["TC526"]


class TestLazyBits:
    def test_refused(self, device: str) -> None:
        made, y, x = kernel(), vector(device), vector(device)
        lazy = torch.ones(2 * N, device=device, dtype=torch.complex64)[::2].conj().imag
        for _ in range(CALLS):
            for given in (
                (y, lazy),
                (lazy, x),
                (torch._neg_view(y), x),
                (torch._neg_view(torch._neg_view(y)), lazy),
            ):
                with pytest.raises(
                    LaunchError, match=r"lazy negative bit \[TC525\]\nhelp: pass it as .resolve_neg()"
                ):
                    call(made, *given)
            assert y._version == 0
            call(made, vector(device), lazy.resolve_neg())
            call(made, torch._neg_view(torch._neg_view(vector(device))), x)

    def test_integers(self, device: str) -> None:
        made = pytriton.kernel("__global__ void f(long* y, char* x) { *y = *x; }")
        y, x = (
            torch.zeros(4, dtype=torch.int64, device=device),
            torch.zeros(4, dtype=torch.int8, device=device),
        )
        for _ in range(CALLS):
            made(y, x, grid=(1,))
            with pytest.raises(LaunchError, match="TC525"):
                made(y, torch._neg_view(x), grid=(1,))
            with pytest.raises(LaunchError, match="lazy conjugate bit"):
                made(torch.zeros(4, dtype=torch.complex64, device=device).conj(), x, grid=(1,))

    def test_scalars_are_read(self, device: str) -> None:
        made, y = (
            pytriton.kernel("__global__ void f(float* y, float a) { *y = a; }"),
            torch.zeros(4, device=device),
        )
        made(y, torch._neg_view(torch.tensor(3.0)), grid=(1,))
        assert torch.cuda.is_available() or y[0] == -3

    def test_operators_resolve_them(self, device: str) -> None:
        """As operators of torch do: the dispatcher makes a copy."""
        op = pytriton.op("pytriton_tests::of_negated", written_by(kernel()))
        for _ in range(CALLS):
            assert not op(torch._neg_view(vector(device))).is_neg()


def square(device: str = "cpu") -> torch.Tensor:
    return torch.ones(6, 8, device=device)


def unlike(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(6, 8, device=device), torch.ones(8, 6, device=device).t()


class TestStrides:
    @pytest.mark.parametrize(
        ("arguments", "numbers", "wanted"),
        [
            ((square(), square()), (), None),
            ((square().t(), square().t()), (), None),  # dense, and alike
            ((square(), square().t()), (), None),  # dense, of different shapes
            (unlike("cpu"), (), 1),
            (unlike("cpu"), (6,), None),
            (unlike("cpu"), (8,), 1),
            ((square()[:, ::2],), (), 0),
            ((square()[:, ::2],), (2,), None),
            ((square()[:, ::2],), (8, 1, 0), None),
            ((square()[:, ::2],), (1, 0), 0),
            ((None, square()[::2, 0]), (3,), 1),
            ((square()[:1].expand(6, 8),), (8, 6), 0),
            ((square()[:1].expand(6, 8),), (0, 1), None),
            ((square()[:, :1].expand(6, 8),), (0, 1), 0),
            ((torch.ones(1).expand(7),), (7,), 0),
            ((square()[:1],), (), None),
            ((square()[:1, ::8],), (), None),  # one element
            ((square()[:, :1].squeeze(1),), (), 0),
            ((square()[:0, ::2],), (), None),
            ((torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last),), (), None),
            ((torch.ones(2, 3, 4, 5), torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)), (), 1),
            ((torch.ones(6, 1, 8), torch.ones(1, 6, 8).transpose(0, 1)), (), None),  # differ where no step is
            ((3, 4.5, 2**40), (), None),
        ],
    )
    def test_unexplained(self, arguments: Any, numbers: tuple[int, ...], wanted: int | None) -> None:
        assert unexplained(arguments, frozenset(numbers)) == wanted

    def test_told_once(self, device: str, said: _Said) -> None:
        made, y, x = kernel(), vector(device), torch.ones(2 * N, device=device)
        for _ in range(CALLS):
            call(made, y, x[:N])
        assert said.codes() == []
        for _ in range(CALLS):
            call(made, y, x[::2])
        assert said.codes() == ["TC527"]

    def test_message(self, device: str) -> None:
        with pytest.warns(RuntimeWarning) as told:
            call(kernel(), vector(device), torch.ones(2 * N, device=device)[::2])
        (message,) = [str(each.message) for each in told if "TC527" in str(each.message)]
        assert message.split("\n") == [
            "twice: argument 2 'x' (float *x) has shape (24,) and strides (2,), of which the call passes none: "
            "elements are addressed as they lie in memory [TC527]",
            "help: pass it as .contiguous(), or pass its strides",
        ]

    @pytest.mark.parametrize("defines", [{"LDA": 2}, {"LDA": "2"}, {"LDA": "0x2"}])
    def test_defines_explain(self, device: str, said: _Said, defines: dict[str, Any]) -> None:
        made = pytriton.kernel(TWICE.replace("x + i", "x + i * LDA"), {"TILE": 16, **defines})
        for _ in range(CALLS):
            made(vector(device), torch.ones(2 * N, device=device)[::2], N, grid=(2,))
        assert said.codes() == []

    def test_within_an_operator(self, device: str, said: _Said) -> None:
        op = pytriton.op("pytriton_tests::of_strided", written_by(kernel()))
        for _ in range(CALLS):
            op(torch.ones(2 * N, device=device)[::2])
        assert said.codes() == ["TC527"]


COMPILERS = pytest.mark.parametrize(
    ("backend", "where"),
    [
        ("eager", "cpu"),
        ("aot_eager", "cpu"),
        pytest.param("inductor", "cpu", marks=pytest.mark.slow),
        *(pytest.param(one, "cuda", marks=pytest.mark.gpu) for one in ("eager", "aot_eager", "inductor")),
    ],
)


@COMPILERS
def test_compiled(backend: str, where: str) -> None:
    """A traced call counts, too, and a gradient that needs what it wrote is refused."""
    made = kernel()

    def program(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        made(y, x, N, grid=(2,))
        return y + 1

    compiled = torch.compile(program, backend=backend, fullgraph=True)
    y, x, w = vector(where), vector(where), vector(where, requires_grad=True)
    for _ in range(3):
        product = w * y
        before = y._version
        compiled(y, x)
        assert y._version > before
        assert x._version == 0
        with pytest.raises(RuntimeError, match=CHANGED):
            product.sum().backward()


@pytest.mark.gpu
def test_compiled_costs_nothing() -> None:
    """Inductor's code launches the kernel, and calls nothing to count it."""
    from torch._inductor.utils import run_and_get_code

    made, y, x = kernel(), vector("cuda"), vector("cuda")
    _, (code,) = run_and_get_code(torch.compile(lambda y, x: made(y, x, N, grid=(2,)), fullgraph=True), y, x)
    assert "pytriton.change" not in code
    assert "empty_strided_cuda(" not in code.split("def call", 1)[1]
    assert y._version == 1


@COMPILERS
def test_compiled_refusals(backend: str, where: str, said: _Said) -> None:
    made = kernel()

    @torch.compile(backend=backend, fullgraph=True)
    def program(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        made(y, x, N, grid=(2,))
        return y + 1

    y, x = vector(where), vector(where)
    # Dynamo puts what is raised while it traces into an error of its own.
    with pytest.raises(
        Exception, match=r"LaunchError: .* 'y' .* is a leaf that requires a gradient.* \[TC524\]"
    ):
        program(vector(where, requires_grad=True), x)
    with pytest.raises(Exception, match=r"LaunchError: .* 'x' .* is a tensor with torch's lazy .* \[TC525\]"):
        program(y, torch._neg_view(x))
    for _ in range(2):
        assert program(y, vector(where, requires_grad=True)).tolist() == [3.0] * N
    with torch.no_grad():
        program(vector(where, requires_grad=True), x)
    assert set(said.codes()) == {"TC526"}  # an operator of an equal kernel may have been found again


@pytest.mark.gpu
def test_tuning_counts_once() -> None:
    made = pytriton.kernel(TWICE, {"TILE": [16, 32, 64]}, [1, 2], name="counted in a sweep")
    y, x = vector("cuda"), vector("cuda")
    for count in range(1, CALLS):
        made(y, x, N, grid=lambda opt: (pytriton.cdiv(N, opt.TILE),))
        assert y._version == count
        assert y.tolist() == [2.0] * N


@pytest.mark.gpu
def test_replayed() -> None:
    """What a CUDA graph replays is counted as torch counts its own: when it is captured."""
    made, y, x = kernel(), vector("cuda"), vector("cuda")
    for _ in range(CALLS):
        call(made, y, x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call(made, y, x)
        y.add_(1)
    assert y._version == CALLS + 2
    graph.replay()
    assert y._version == CALLS + 2
    assert y.tolist() == [3.0] * N
