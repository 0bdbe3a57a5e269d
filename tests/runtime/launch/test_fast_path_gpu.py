"""The fast path on a GPU: every way in which a call may differ from the one before, with real launches.

``steady`` makes a call often enough for the fast path, and asserts that the last one went that way: so each test
first has a record that could be used wrongly, and then makes the call that must not use it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
from triton import knobs

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.plan import Plan
from tests.runtime.kernels import ADD
from tests.together import in_threads

pytestmark = pytest.mark.gpu

# Tells what it was given: both integers, and a number from each pointer.
TELL = """\
__global__ void tell(long* z, float* x, float* y, int n, long w) {
  *z = n; *(z + 1) = w; *(z + 2) = (long)(*x); *(z + 3) = (long)(*y); *(z + 4) = (n - 4) / 2;
}"""


class Calls:
    """Counts the calls that take the slow path."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.long = 0
        bound = Plan._bound

        def counted(plan: Plan, arguments: Any) -> Any:
            self.long += 1
            return bound(plan, arguments)

        monkeypatch.setattr(Plan, "_bound", counted)

    def steady(self, call: Callable[[], object]) -> None:
        """After two calls of a form, and one for a record, the next must go the fast way."""
        for _ in range(3):
            call()
        before = self.long
        call()
        assert self.long == before, "the call did not take the fast path"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    return Calls(monkeypatch)


def tensors() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    z = torch.zeros(5, dtype=torch.int64, device="cuda")
    return z, torch.full((8,), 3.0, device="cuda"), torch.full((8,), 4.0, device="cuda")


def cdiv_grid(n: int) -> Callable[[Any], tuple[int]]:
    return lambda opt: (pytriton.cdiv(n, opt.TILE),)


class TestKey:
    """What compiled code depends on."""

    @pytest.mark.parametrize("first", [1, 16, 7])
    def test_integers(self, calls: Calls, first: int) -> None:
        """1, multiples of 16, others, and negative ones; each behind each, in both widths."""
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, first, first, grid=(1,)))
        for n in (1, 2, 3, 8, 16, 17, 24, 32, 0, -1, -8, -16, 2**31 - 1, 4 - 2**31):
            for w in (1, 16, 5, 2**31 - 1, 2**31, 2**32 + 1, -(2**40)):
                z.fill_(-7)
                kernel(z, x, y, n, w, grid=(1,))
                assert z.tolist() == [n, w, 3, 4, int((n - 4) / 2)]

    def test_only_sizes_change(self, calls: Calls) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": 128})
        n = 5000
        z, x, y = torch.zeros(n, device="cuda"), torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
        calls.steady(lambda: kernel(z, x, y, n, grid=cdiv_grid(n)))
        kernel(z, x, y, 4999, grid=cdiv_grid(4999))
        kernel(z, x, y, 16, grid=cdiv_grid(16))
        before = calls.long
        for size in (4999, 4001, 33, 129, 16, 4096, 4992):
            z.zero_()
            kernel(z, x, y, size, grid=cdiv_grid(size))
            assert torch.equal(z[:size], (x + y)[:size])
            assert not z[size:].any()
        assert calls.long == before

    def test_alignment_of_views(self, calls: Calls) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": 128})
        z, x, y = (
            torch.zeros(1040, device="cuda"),
            torch.randn(1040, device="cuda"),
            torch.randn(1040, device="cuda"),
        )
        calls.steady(lambda: kernel(z, x, y, 1024, grid=(8,)))
        for a in range(5):
            for b in range(5):
                for c in range(5):
                    z.zero_()
                    kernel(z[a:], x[b:], y[c:], 1024, grid=(8,))
                    assert torch.equal(z[a : a + 1024], x[b : b + 1024] + y[c : c + 1024])

    def test_another_device(self, calls: Calls) -> None:
        if torch.cuda.device_count() < 2:
            pytest.skip("one GPU")
        kernel = pytriton.kernel(TELL)
        here = tensors()
        there = [each.to("cuda:1") for each in here]
        calls.steady(lambda: kernel(*here, 5, 6, grid=(1,)))
        for _ in range(4):
            there[0].zero_()
            kernel(*there, 7, 8, grid=(1,))
            assert there[0].tolist() == [7, 8, 3, 4, 1]
        with torch.cuda.device(1):
            calls.steady(lambda: kernel(*there, 9, 10, grid=(1,)))
            here[0].zero_()
            kernel(*here, 5, 6, grid=(1,))
            assert here[0].tolist() == [5, 6, 3, 4, 0]
        with pytest.raises(LaunchError, match="TC503"):
            kernel(here[0], there[1], here[2], 5, 6, grid=(1,))


class TestChecks:
    """What is refused after a thousand good calls is refused as it is in the first."""

    def test_every_refusal(self, calls: Calls) -> None:
        kernel = pytriton.kernel(
            "__global__ void f(float* x __aligned(16), int n __multipleof(8), char c, unsigned int u, bool b, "
            "half h) { *x = n + c + (float)u + (float)h; }",
            strict_promises=True,
        )
        x = torch.zeros(64, device="cuda")
        good: list[Any] = [x, 8, -3, 4, True, 0.5]
        calls.steady(lambda: kernel(*good, grid=(1,)))
        assert x[0].item() == 9.5
        wrong: list[tuple[int, Any, str]] = [
            (0, x.half(), "TC502"),
            (0, x.int(), "TC502"),
            (0, x[1:], "TC509"),
            (0, x.data_ptr() + 4, "TC509"),
            (0, "x", "TC505"),
            (0, x.to_sparse(), "TC510"),
            (0, torch.empty(4, device="meta"), "TC510"),
            (0, -1, "TC505"),
            (1, 9, "TC508"),
            (1, 2**31, "TC506"),
            (1, -(2**31) - 8, "TC506"),
            (1, 8.5, "TC507"),
            (1, "8", "TC504"),
            (1, None, "TC504"),
            (2, 128, "TC506"),
            (2, -129, "TC506"),
            (3, 2**32, "TC506"),
            (5, "h", "TC504"),
        ]
        before = x.clone()
        for at, value, code in wrong:
            given = [*good]
            given[at] = value
            with pytest.raises(LaunchError, match=code):
                kernel(*given, grid=(1,))
        with pytest.raises(LaunchError, match="TC501"):
            kernel(*good[:-1], grid=(1,))
        with pytest.raises(LaunchError, match="TC501"):
            kernel(*good, 1, grid=(1,))
        assert torch.equal(x, before)

    def test_numbers_of_every_make(self, calls: Calls) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        for n in (
            numpy.int64(12),
            torch.tensor(12),
            torch.tensor(12, device="cuda"),
            12.0,
            numpy.float32(12),
        ):
            z.zero_()
            kernel(z, x, y, n, n, grid=(1,))
            assert z.tolist() == [12, 12, 3, 4, 4]
        kernel(z, x, y, True, True, grid=(1,))
        assert z.tolist()[:2] == [1, 1]

    def test_tensors_on_two_devices(self, calls: Calls) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        with pytest.raises(LaunchError, match="TC503"):
            kernel(z, x.cpu(), y, 5, 6, grid=(1,))
        with pytest.raises(LaunchError, match="TC503"):
            kernel(z, x.cpu().pin_memory(), y, 5, 6, grid=(1,))


class TestGrids:
    def test_every_kind(self, calls: Calls) -> None:
        kernel = pytriton.kernel("__global__ void f(int* x) { atomic_add(x, 1); }", {"T": 2})
        x = torch.zeros(1, dtype=torch.int32, device="cuda")

        def count(grid: Any) -> int:
            x.zero_()
            kernel(x, grid=grid)
            return int(x.item())

        calls.steady(lambda: kernel(x, grid=(1,)))
        for grid, wanted in (
            ((3,), 3),
            ([3, 2], 6),
            ((3, 2, 2), 12),
            (7, 7),
            (torch.Size([4, 2]), 8),
            (lambda opt: (opt.T, 3), 6),
            (lambda opt: [opt.d("T")], 2),
            (lambda opt: opt.T, 2),
            ((torch.tensor(3),), 3),
            ((3, 0), 0),
            (0, 0),
            (lambda opt: (0, 1), 0),
        ):
            assert count(grid) == wanted
        for grid in ((), (1, 2, 3, 4), (-1,), (1, 65536), (2**31,), (2.0,), "ab", {0: 3}):
            with pytest.raises(LaunchError):
                kernel(x, grid=grid)

    def test_a_grid_is_asked_once(self, calls: Calls) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        asked = []
        for answer in ((1,), [1], 1, (0,), (1, 1, 1)):

            def grid(opt: Any, answer: Any = answer) -> Any:
                asked.append(answer)
                return answer

            kernel(z, x, y, 5, 6, grid=grid)
        assert len(asked) == 5

    def test_an_error_in_the_grid_is_the_users(self, calls: Calls) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        for error in (TypeError, AttributeError, ZeroDivisionError, RuntimeError):
            asked = []

            def grid(opt: Any, error: Any = error, asked: list[Any] = asked) -> Any:
                asked.append(opt)
                raise error("mine")

            with pytest.raises(error, match="mine"):
                kernel(z, x, y, 5, 6, grid=grid)
            assert len(asked) == 1


class TestForms:
    def test_absent_and_present(self, calls: Calls) -> None:
        kernel = pytriton.kernel(
            "__global__ void f(int* z, float* x, int has) { if (has) { *z = (int)(*x); } else { *z = -1; } }"
        )
        z = torch.zeros(1, dtype=torch.int32, device="cuda")
        x = torch.full((4,), 5.0, device="cuda")
        empty, other = torch.empty(0, device="cuda"), torch.empty(0, dtype=torch.int8)
        for given, wanted in ((x, 5), (None, -1), (empty, -1), (other, -1), (x.data_ptr(), 5), (0, -1)):
            calls.steady(lambda given=given, wanted=wanted: kernel(z, given, int(wanted > 0), grid=(1,)))  # type: ignore[misc]
            assert z.item() == wanted
        before = calls.long
        for given, wanted in ((None, -1), (x, 5), (0, -1), (empty, -1), (x.data_ptr(), 5), (x, 5)):
            kernel(z, given, int(wanted > 0), grid=(1,))
            assert z.item() == wanted
        assert calls.long == before

    def test_parameters_of_modules(self, calls: Calls) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        weight = torch.nn.Parameter(x)
        calls.steady(lambda: kernel(z, weight, y, 5, 6, grid=(1,)))
        assert z.tolist() == [5, 6, 3, 4, 0]

    def test_addresses_only(self, calls: Calls) -> None:
        z, x, y = tensors()
        kernel = pytriton.kernel(TELL, z.device)
        calls.steady(lambda: kernel(z.data_ptr(), x.data_ptr(), y.data_ptr(), 5, 6, grid=(1,)))
        assert z.tolist() == [5, 6, 3, 4, 0]
        kernel(z.data_ptr(), x.data_ptr() + 4, y.data_ptr(), 5, 6, grid=(1,))
        assert z.tolist() == [5, 6, 3, 4, 0]


class TestSurroundings:
    def test_streams(self, calls: Calls) -> None:
        """The launch is in order with the work of the stream that is current, not of the one before."""
        kernel = pytriton.kernel(ADD, {"TILE": 128})
        n = 1 << 22
        z, x, y = (torch.zeros(n, device="cuda") for _ in range(3))
        calls.steady(lambda: kernel(z, x, y, n, grid=cdiv_grid(n)))
        torch.cuda.synchronize()
        streams = [torch.cuda.Stream() for _ in range(3)]
        for turn in range(1, 10):
            with torch.cuda.stream(streams[turn % 3]):
                torch.cuda._sleep(2_000_000)
                x.fill_(turn)
                kernel(z, x, y, n, grid=cdiv_grid(n))
                seen = z.clone()
            streams[turn % 3].synchronize()
            assert torch.equal(seen, torch.full_like(seen, turn))

    def test_freed_memory(self, calls: Calls) -> None:
        """New tensors at the addresses of old ones, of other types and alignments, and old tensors that moved."""
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        for turn in range(50):
            del x
            x = torch.full((8 + turn,), float(turn), device="cuda")
            kernel(z, x, y, turn, turn, grid=(1,))
            assert z.tolist() == [turn, turn, turn, 4, int((turn - 4) / 2)]
        x.data = torch.full((3,), 9.0, device="cuda")[1:]
        kernel(z, x, y, 5, 6, grid=(1,))
        assert z.tolist() == [5, 6, 9, 4, 0]
        x.set_(torch.full((64,), 11.0, device="cuda"))  # type: ignore[call-overload]
        kernel(z, x, y, 5, 6, grid=(1,))
        assert z.tolist() == [5, 6, 11, 4, 0]
        x.data = torch.zeros(4, dtype=torch.float16, device="cuda")
        with pytest.raises(LaunchError, match="TC502"):
            kernel(z, x, y, 5, 6, grid=(1,))

    def test_threads(self, calls: Calls) -> None:
        kernel = pytriton.kernel(TELL)

        def work(seed: int) -> None:
            with torch.cuda.stream(torch.cuda.Stream()):
                z, x, y = tensors()
                for turn in range(200):
                    n, w = (turn % 40) - 3, 1 + turn % 3 * 2**33
                    given = (x, x[1:])[turn % 2]
                    kernel(z, given, y, n + seed, w, grid=(lambda opt: 1) if turn % 5 else (1,))
                    assert z.tolist() == [n + seed, w, 3, 4, int((n + seed - 4) / 2)], (seed, turn)

        in_threads(work, range(8))

    def test_cuda_graphs(self, calls: Calls) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": 128})
        z, x, y = (
            torch.zeros(1024, device="cuda"),
            torch.ones(1024, device="cuda"),
            torch.ones(1024, device="cuda"),
        )
        calls.steady(lambda: kernel(z, x, y, 1024, grid=(8,)))
        graph = torch.cuda.CUDAGraph()
        before = calls.long
        with torch.cuda.graph(graph):
            kernel(z, x, y, 1024, grid=(8,))
            kernel(x, z, y, 1024, grid=(8,))
        assert calls.long == before
        assert z[0].item() == 2.0
        for _ in range(3):
            graph.replay()
        assert (z[0].item(), x[0].item()) == (6.0, 7.0)

    def test_hooks(self, calls: Calls) -> None:
        """A profiler's hooks are called for each launch while they are set, with the kernel's name."""
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        seen: list[str] = []

        def enter(metadata: Any) -> None:
            seen.append(metadata.get()["name"])

        knobs.runtime.launch_enter_hook.add(enter)
        try:
            kernel(z, x, y, 5, 6, grid=(1,))
            kernel(z, x, y, 7, 6, grid=(1,))
        finally:
            knobs.runtime.launch_enter_hook.remove(enter)
        assert seen == ["tell", "tell"]
        assert z.tolist() == [7, 6, 3, 4, 1]
        before = calls.long
        kernel(z, x, y, 5, 6, grid=(1,))
        assert (len(seen), calls.long) == (2, before)

    def test_hooks_that_are_none(self, calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        monkeypatch.setattr(knobs.runtime, "launch_enter_hook", None)
        monkeypatch.setattr(knobs.runtime, "launch_exit_hook", None)
        kernel(z, x, y, 8, 6, grid=(1,))
        assert z.tolist() == [8, 6, 3, 4, 2]

    def test_profiler_names(self, calls: Calls) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            kernel(z, x, y, 5, 6, grid=(1,))
            torch.cuda.synchronize()
        assert "tell" in {event.key for event in profile.key_averages()}


class TestPlans:
    def test_sweeps(self, calls: Calls) -> None:
        """The record of a sweep is that of the sizes for which it was tuned."""
        kernel = pytriton.kernel(ADD, {"TILE": [128, 1024]})
        n = 4096
        z, x, y = torch.zeros(n, device="cuda"), torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
        for size in (n, 1000, 17):
            calls.steady(lambda size=size: kernel(z, x, y, size, grid=cdiv_grid(size)))  # type: ignore[misc]
        before = calls.long
        for size in (1000, n, 17, n):
            z.zero_()
            kernel(z, x, y, size, grid=cdiv_grid(size))
            assert torch.equal(z[:size], (x + y)[:size])
            assert not z[size:].any()
        assert calls.long == before

    def test_defines_with_the_call(self, calls: Calls) -> None:
        """1, True, 1.0 and '1' are four defines; lists may change in place; names may change places."""
        kernel = pytriton.kernel("__global__ void f(T* z) { *z = V; *(z + 1) = (T)1 / 2; }")
        ints, floats = torch.zeros(2, dtype=torch.int32, device="cuda"), torch.zeros(2, device="cuda")
        z: torch.Tensor
        for _ in range(4):
            for z, type_, value, wanted in (
                (ints, "int", 7, [7, 0]),
                (floats, "float", 7, [7.0, 0.5]),
                (floats, torch.float32, "2 + 3", [5.0, 0.5]),
                (ints, "int", True, [1, 0]),
                (ints, "int", 1, [1, 0]),
                (floats, "float", 1.5, [1.5, 0.5]),
            ):
                kernel(z, (1,), T=type_, V=value)
                assert z.tolist() == wanted
        defines = {"T": "int", "V": 3}
        calls.steady(lambda: kernel(ints, grid=(1,), defines=defines))
        defines["V"] = 4
        kernel(ints, grid=(1,), defines=defines)
        assert ints.tolist() == [4, 0]
        with pytest.raises(LaunchError, match="TC502"):
            kernel(floats, grid=(1,), defines=defines)
