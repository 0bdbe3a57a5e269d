"""The fast path on a GPU: every way in which a call may differ from the one before, with real launches.

``steady`` makes a call often enough for the fast path, and asserts that the last one went that way: so each test
first has a record that could be used wrongly, and then makes the call that must not use it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

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

    def test_a_number_on_the_gpu(self, calls: Calls) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        n = torch.tensor(12, device="cuda")
        kernel(z, x, y, n, n, grid=(1,))
        assert z.tolist() == [12, 12, 3, 4, 4]

    def test_tensors_on_two_devices(self, calls: Calls) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        with pytest.raises(LaunchError, match="TC503"):
            kernel(z, x.cpu(), y, 5, 6, grid=(1,))
        with pytest.raises(LaunchError, match="TC503"):
            kernel(z, x.cpu().pin_memory(), y, 5, 6, grid=(1,))


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

    def test_profiler_names(self, calls: Calls) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = tensors()
        calls.steady(lambda: kernel(z, x, y, 5, 6, grid=(1,)))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            kernel(z, x, y, 5, 6, grid=(1,))
            torch.cuda.synchronize()
        assert "tell" in {event.key for event in profile.key_averages()}


class TestPlans:
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
