"""The fast path without a GPU: our launcher and Triton's real one, up to a driver that only listens.

What is asserted is what the driver was given: the grid, the stream, every parameter, and with which divisors and
constants the code of that launch was compiled. Each test runs on the slow path too, and asserts the same.
``test_fast_path_gpu.py`` asserts results.
"""

from __future__ import annotations

import gc
import itertools
import shutil
import sys
import weakref
from typing import Any

import numpy
import pytest
import torch
from triton import knobs

import pytriton
from pytriton.errors import LaunchError, PytritonError
from pytriton.lang.tree.types import PointerType
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.launch import device as launch
from pytriton.runtime.launch import fast_path
from pytriton.runtime.launch.fast_path import Shape, form_of, launcher_for
from pytriton.runtime.plan import Plan
from tests.runtime import test_wrong_use as wrong_use
from tests.runtime.kernels import ADD, binder
from tests.runtime.stand_in import DEVICE, StandIn
from tests.together import in_threads

TELL = """\
__global__ void tell(long* z, float* x, float* y, int n, long w) {
  *z = n + w; *(z + 1) = (long)(*x + *y);
}"""
# What it was given, by position.
Z, X, Y, N, W = range(5)


@pytest.fixture
def gpu(stand_in: StandIn) -> StandIn:
    stand_in.expect(5)
    return stand_in


class SlowCalls(list[int]):
    """One entry for each call that took the slow path; all do where there is no other."""

    def __init__(self, has_fast_path: bool) -> None:
        self.has_fast_path = has_fast_path

    def are(self, count: int) -> bool:
        return len(self) == count if self.has_fast_path else len(self) >= count


@pytest.fixture
def long_ways(monkeypatch: pytest.MonkeyPatch, stand_in: StandIn) -> SlowCalls:
    went = SlowCalls(stand_in.has_fast_path)
    bound = Plan._bound

    def counted(plan: Plan, arguments: Any) -> Any:
        went.append(len(arguments))
        return bound(plan, arguments)

    monkeypatch.setattr(Plan, "_bound", counted)
    return went


def vectors() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    z, x, y = torch.zeros(8, dtype=torch.int64), torch.zeros(24), torch.zeros(24)
    assert not any(each.data_ptr() % 16 for each in (z, x, y))
    return z, x, y


def usual(kernel: Kernel) -> None:
    kernel(*vectors(), 5, 7, grid=(1,))


def divisors(*numbers: int) -> dict[int, int]:
    """The divisibility that code is compiled for: 16, else 8, by number."""
    return {at: 16 if number % 16 == 0 else 8 for at, number in enumerate(numbers) if number % 8 == 0}


@pytest.fixture
def tell(gpu: StandIn, long_ways: SlowCalls) -> Kernel:
    """A kernel that has a record already: for aligned tensors, and integers of which nothing is known."""
    kernel = pytriton.kernel(TELL)
    for _ in range(3):
        usual(kernel)
    long_ways.clear()
    usual(kernel)
    assert long_ways.are(0), "the fourth call did not take the fast path"
    gpu.expect(5)
    return kernel


class TestWhatIsLaunched:
    def test_a_steady_call(self, gpu: StandIn, tell: Kernel, long_ways: SlowCalls) -> None:
        z, x, y = vectors()
        tell(z, x, y, -5, 2**40 + 1, grid=(3, 2))
        (seen,) = gpu.all()
        assert seen.grid == (3, 2, 1)
        assert seen.stream == gpu.stream
        assert [seen.pointer(at) for at in (Z, X, Y)] == [z.data_ptr(), x.data_ptr(), y.data_ptr()]
        assert (seen.integer(N), seen.integer(W, 64)) == (-5, 2**40 + 1)
        assert gpu.attributes(tell, seen) == {Z: 16, X: 16, Y: 16}
        assert long_ways.are(0)

    @pytest.mark.parametrize("first", [1, 16, 5])
    def test_integers(self, gpu: StandIn, tell: Kernel, first: int) -> None:
        """The code is that of the call's own numbers, whatever was launched before."""
        z, x, y = vectors()
        for _ in range(4):
            tell(z, x, y, first, first, grid=(1,))
        for n, w in itertools.product(
            (1, 16, 5, 0, -1, -16, 2**31 - 1, -(2**31)), (1, 5, 2**31, 2**32 + 1, -16)
        ):
            for _ in range(2):
                tell(z, x, y, n, w, grid=(1,))
                seen = gpu.last()
                assert (seen.integer(N), seen.integer(W, 64)) == (n, w)
                assert gpu.attributes(tell, seen) == {Z: 16, X: 16, Y: 16} | divisors(0, 0, 0, n, w)
                text = gpu.compiled(tell, seen).src.fn.src
                assert ("n = tl.full((), 1, tl.int32)" in text) == (n == 1)
                assert ("w = tl.full((), 1, tl.int64)" in text) == (w == 1)

    def test_only_sizes_change(self, gpu: StandIn, tell: Kernel, long_ways: SlowCalls) -> None:
        for n in range(2, 2000, 7):
            if n % 8:
                tell(*vectors(), n, n + 1 if (n + 1) % 8 else n, grid=(n,))
        assert len(gpu.all()) > 200
        assert long_ways.are(0)

    def test_alignment(self, gpu: StandIn, tell: Kernel) -> None:
        """Views start anywhere; each pointer counts for itself."""
        z, x, y = vectors()
        for a, b, c in itertools.product((0, 1, 2), (0, 1, 4), (0, 2, 3)):
            given = (z[a:], x[b:], y[c:])
            tell(*given, 5, 7, grid=(1,))
            seen = gpu.last()
            assert [seen.pointer(at) for at in (Z, X, Y)] == [each.data_ptr() for each in given]
            assert gpu.attributes(tell, seen) == divisors(*(each.data_ptr() for each in given))

    def test_freed_memory(self, gpu: StandIn, tell: Kernel, long_ways: SlowCalls) -> None:
        """A tensor's address is read at each call: objects come and go, and one object may move."""
        z, x, y = vectors()
        for size in range(1, 40):
            x = torch.zeros(4 * size + 20)
            tell(z, x, y, 5, 7, grid=(1,))
            assert gpu.last().pointer(X) == x.data_ptr()
        x.data = torch.zeros(9)[1:]
        tell(z, x, y, 5, 7, grid=(1,))
        assert gpu.last().pointer(X) == x.data_ptr()
        assert X not in gpu.attributes(tell, gpu.last())
        x.data = torch.zeros(9).half()
        with pytest.raises(LaunchError, match="TC502"):
            tell(z, x, y, 5, 7, grid=(1,))

    def test_scalars(self, gpu: StandIn, long_ways: SlowCalls) -> None:
        """Each scalar has its own width and rounding. (Triton 3.6 cannot be given a negative char.)"""
        kernel = pytriton.kernel(
            "__global__ void f(float* z, char c, unsigned char u, short s, unsigned int v, bool b, half h, "
            "float f, double d, bfloat16 g) "
            "{ *z = c + u + s + (float)v + (b ? 1 : 0) + (float)h + f + (float)d + (float)g; }"
        )
        gpu.expect(10)
        z = torch.zeros(4)
        for _ in range(4):
            kernel(z, -100, 200, -30000, 2**32 - 2, True, 0.1, 0.5, 2, 1.005859375, grid=(1,))
        assert long_ways.are(2)
        for seen in gpu.all():
            assert (seen.integer(1, 8), seen.integer(2, 8) & 0xFF) == (-100, 200)
            assert (seen.integer(3, 16), seen.integer(4, 32) & 0xFFFFFFFF) == (-30000, 2**32 - 2)
            assert seen.integer(5, 8) == 1
            half = numpy.array([seen.parameters[6] & 0xFFFF], numpy.uint16).view(numpy.float16)[0]
            single = numpy.array([seen.parameters[7] & 0xFFFFFFFF], numpy.uint32).view(numpy.float32)[0]
            double = numpy.array([seen.parameters[8]], numpy.uint64).view(numpy.float64)[0]
            assert (half, single, double) == (numpy.float16(0.1), 0.5, 2.0)
            assert seen.parameters[9] & 0xFFFF == 0x3F81  # to nearest; Triton itself would cut it to 1

    def test_stream(self, gpu: StandIn, tell: Kernel, long_ways: SlowCalls) -> None:
        for stream in (0, 7, 2**63):
            gpu.stream = stream
            usual(tell)
            assert gpu.last().stream == stream
        assert long_ways.are(0)

    def test_current_device(self, gpu: StandIn, tell: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
        """Tensors that are not on the current device take the slow path, which sets it for the launch."""
        if torch.cuda.device_count() == 1:
            return
        entered: list[int] = []
        before = torch.cuda.device

        def device(index: int) -> Any:
            entered.append(index)
            return before(index)

        monkeypatch.setattr(torch.cuda, "device", device)
        usual(tell)
        assert not entered
        gpu.current = 3
        usual(tell)
        assert entered == [DEVICE]
        assert len(gpu.all()) == 2
        if not gpu.has_fast_path:
            return
        # even where the same kernel has run on the device that is current now
        (launcher,) = tell._default._launchers.values()  # type: ignore[union-attr]
        launcher.records.update({(3, *key[1:]): record for key, record in launcher.records.items()})  # type: ignore[union-attr]
        usual(tell)
        assert entered == [DEVICE] * 2


class TestGrids:
    @pytest.mark.parametrize(
        ("grid", "wanted"),
        [
            ((3,), (3, 1, 1)),
            ([3, 2], (3, 2, 1)),
            ((3, 2, 4), (3, 2, 4)),
            (7, (7, 1, 1)),
            (torch.Size([4, 2]), (4, 2, 1)),
            ((numpy.int64(3), torch.tensor(4)), (3, 4, 1)),
            (lambda opt: (opt.num_warps, 3), (4, 3, 1)),
            (lambda opt: [opt.num_warps], (4, 1, 1)),
            (lambda opt: opt.num_warps, (4, 1, 1)),
            ((2**31 - 1, 1, 1), (2**31 - 1, 1, 1)),
            ((1, 65535, 32768), (1, 65535, 32768)),
        ],
    )
    def test_sizes(self, gpu: StandIn, tell: Kernel, grid: Any, wanted: tuple[int, ...]) -> None:
        tell(*vectors(), 5, 7, grid=grid)
        assert [each.grid for each in gpu.all()] == [wanted]

    @pytest.mark.parametrize("grid", [(0,), (3, 0), 0, [0], lambda opt: (0, 1)])
    def test_zero(self, gpu: StandIn, tell: Kernel, grid: Any) -> None:
        tell(*vectors(), 5, 7, grid=grid)
        assert not gpu.all()

    @pytest.mark.parametrize("answer", [(1,), [1], 1, (0,), (1, 1, 1), (numpy.int64(2),)])
    def test_it_is_asked_once(self, gpu: StandIn, tell: Kernel, answer: Any) -> None:
        asked: list[Any] = []

        def grid(options: Any) -> Any:
            asked.append(options)
            return answer

        tell(*vectors(), 5, 7, grid=grid)
        assert len(asked) == 1

    @pytest.mark.parametrize("error", [TypeError, AttributeError, ValueError, RuntimeError, KeyError])
    def test_its_errors_are_the_users(self, gpu: StandIn, tell: Kernel, error: type[Exception]) -> None:
        asked: list[Any] = []

        def grid(options: Any) -> Any:
            asked.append(options)
            raise error("mine")

        with pytest.raises(error, match="mine"):
            tell(*vectors(), 5, 7, grid=grid)
        assert len(asked) == 1
        assert not gpu.all()


class TestChecks:
    def test_every_refusal(self, gpu: StandIn, long_ways: SlowCalls) -> None:
        """What is refused in a first call is refused after good calls, and nothing is launched."""
        kernel = wrong_use.kernel()
        for _ in range(4):
            kernel(*wrong_use.fitting().values(), grid=(1,))
        assert long_ways.are(2)
        gpu.expect(10)
        for calls in wrong_use.REFUSALS.values():
            for wrong, code, _ in calls:
                wrongly = wrong(wrong_use.fitting())
                if "bare" not in wrongly:
                    arguments, call = wrong_use.split(wrongly)
                    with pytest.raises(PytritonError, match=code):
                        kernel(*arguments, **call)
        assert not gpu.all()

    def test_numbers_of_every_make(self, gpu: StandIn, tell: Kernel) -> None:
        for n in (
            numpy.int64(12),
            numpy.int8(12),
            torch.tensor(12),
            12.0,
            numpy.float32(12),
            numpy.array(12),
        ):
            tell(*vectors(), n, n, grid=(1,))
            assert (gpu.last().integer(N), gpu.last().integer(W, 64)) == (12, 12)
        tell(*vectors(), True, False, grid=(1,))
        assert (gpu.last().integer(N), gpu.last().integer(W, 64)) == (1, 0)

    def test_hooks(self, gpu: StandIn, tell: Kernel, long_ways: SlowCalls) -> None:
        """A profiler's hook gets each launch by name; None and an empty chain are not hooks."""
        told: list[str] = []

        def enter(metadata: Any) -> None:
            told.append(metadata.get()["name"])

        hooks = knobs.runtime
        hooks.launch_enter_hook.add(enter)
        try:
            usual(tell)
        finally:
            hooks.launch_enter_hook.remove(enter)
        assert told == ["tell"]
        usual(tell)
        assert long_ways.are(1)
        assert (told, len(gpu.all())) == (["tell"], 2)

    @pytest.mark.parametrize("hook", ["launch_enter_hook", "launch_exit_hook"])
    def test_hooks_of_another_kind(
        self, gpu: StandIn, tell: Kernel, monkeypatch: pytest.MonkeyPatch, hook: str
    ) -> None:
        told: list[Any] = []
        for value in (None, told.append):
            monkeypatch.setattr(knobs.runtime, hook, value)
            usual(tell)
        assert len(told) == 1
        assert len(gpu.all()) == 2


class TestForms:
    def test_absent_and_present(self, gpu: StandIn, long_ways: SlowCalls) -> None:
        """Tensors, addresses and None have a launcher each; an empty tensor of any type is an absent one."""
        kernel = pytriton.kernel(TELL)
        z, x, y = vectors()
        given: list[Any] = [x, None, torch.empty(0), torch.empty(0, dtype=torch.int8), x[:0], x.data_ptr(), 0]
        given.append(torch.nn.Parameter(x))
        wanted = [x.data_ptr() if at in (0, 5, 7) else 0 for at in range(8)]
        for each in given * 3:
            kernel(z, each, y, 5, 7, grid=(1,))
        long_ways.clear()
        gpu.expect(5)
        for each in given:
            kernel(z, each, y, 5, 7, grid=(1,))
        assert [seen.pointer(X) for seen in gpu.all()] == wanted
        assert long_ways.are(0)

    def test_addresses_only(self, gpu: StandIn, long_ways: SlowCalls) -> None:
        kernel = pytriton.kernel(TELL)
        z, x, y = (each.data_ptr() for each in vectors())
        for shift in (0, 4, 0, 4):
            for _ in range(3):
                kernel(z, x + shift, y, 5, 7, grid=(1,))
                seen = gpu.last()
                assert seen.pointer(X) == x + shift
                assert (X in gpu.attributes(kernel, seen)) == (shift == 0)
        assert long_ways.are(3)

    @pytest.mark.parametrize("device", [None, DEVICE, 1])
    def test_a_device_of_the_constructor(self, gpu: StandIn, device: int | None) -> None:
        """It decides where calls without tensors run; such a launcher is for that device only."""
        missed: list[tuple[Any, ...]] = []
        parameters, x = binder("float* x", "float* y", "int n").parameters, torch.zeros(8)
        for form, given in (
            (("address", "address"), (x.data_ptr(), 0, 3)),
            (("tensor", "address"), (x, 0, 3)),
            (("tensor", "address"), (x[:0], 0, 3)),
        ):
            shape = Shape(parameters, form, (), device, "flat", 0)  # type: ignore[arg-type]
            launcher = launcher_for(shape, lambda *given: missed.append(given))
            if launcher is None:
                assert not gpu.has_fast_path
                return
            launcher.call(given, (1,))
        # one that may launch there misses a record of its key only
        assert [len(given) == 3 for given in missed] == [device != 1, True, device != 1]

    def test_constant_buffers_take_the_long_way(self, gpu: StandIn, long_ways: SlowCalls) -> None:
        kernel = pytriton.kernel(
            "float __constant__* table = calloc(16);\n"
            "__global__ void f(float* z, int n) { *z = *(table + n); }"
        )
        gpu.expect(3)
        for _ in range(4):
            kernel(torch.zeros(4), 3, grid=(1,))
        assert long_ways.are(4)


class TestPlans:
    def test_sweeps(self, gpu: StandIn, long_ways: SlowCalls, monkeypatch: pytest.MonkeyPatch) -> None:
        """The record of a sweep is that of the sizes for which it was tuned."""
        kernel = pytriton.kernel(ADD, {"TILE": [32, 64]})
        plan = kernel._default
        assert plan is not None
        by_size = {96: 32, 200: 64, 95: 64}
        gpu.expect(4)

        def choose(key: tuple[Any, ...], *rest: Any) -> Any:
            (found,) = [each for each in plan.every_candidate() if by_size[key[1]] == each.options.TILE]
            plan._tuner.chosen[key] = found
            return found

        monkeypatch.setattr(plan._tuner, "choose", choose)
        z, x, y = (torch.zeros(512) for _ in range(3))
        for size in [*by_size] * 4:
            kernel(z, x, y, size, grid=lambda opt: (opt.TILE,))
            assert gpu.last().grid == (by_size[size], 1, 1)
            assert gpu.last().integer(3) == size
        assert long_ways.are(4)  # the first call of the form, then one for each record

    def test_a_choice_that_is_not_final(
        self, gpu: StandIn, long_ways: SlowCalls, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """While tuning is off the first point serves, and no record says that it was chosen."""
        monkeypatch.setenv("PYTRITON_NO_TUNE", "1")
        kernel = pytriton.kernel(ADD, {"TILE": [32, 64]})
        gpu.expect(4)
        for _ in range(5):
            kernel(*(torch.zeros(512) for _ in range(3)), 96, grid=(1,))
        assert long_ways.are(5)

    def test_nothing_of_a_call_is_kept(self, gpu: StandIn, tell: Kernel) -> None:
        given = vectors()
        grid = [3, 2]
        references = [weakref.ref(each) for each in given]
        before = sys.getrefcount(grid)
        for _ in range(50):
            tell(*given, 5, 2**40 + 1, grid=grid)
            tell(*given, 5, 2**40 + 1, grid=lambda opt: grid)
            with pytest.raises(LaunchError):
                tell(*given, 5, 2**70, grid=grid)
        assert sys.getrefcount(grid) <= before + 1
        del given
        assert [each() for each in references] == [None] * 3

    def test_launchers_are_collected(self, gpu: StandIn) -> None:
        kernel = pytriton.kernel(TELL)
        for _ in range(4):
            usual(kernel)
        plan = weakref.ref(kernel._default)
        del kernel
        gc.collect()
        assert plan() is None

    def test_a_key_that_contradicts_the_facts(self, gpu: StandIn, tell: Kernel) -> None:
        """Should both paths ever disagree about a fact, there is no record, and calls are only slow."""
        if not gpu.has_fast_path:
            return
        (launcher,) = tell._default._launchers.values()  # type: ignore[union-attr]
        (loaded,) = tell._default.first._kernels.values()  # type: ignore[union-attr]
        ((key, record),) = launcher.records.items()
        facts = tuple(int(fact) for fact in key[1:])
        launcher.records.clear()
        for at in range(len(facts)):
            wrong = (*facts[:at], (facts[at] + 1) % 4, *facts[at + 1 :])
            launcher.keep(key, wrong, record[0], loaded.direct)
            assert not launcher.records
        launcher.keep(key, facts, record[0], loaded.direct)
        assert list(launcher.records) == [key]

    def test_threads(self, gpu: StandIn, tell: Kernel) -> None:
        """Every thread's launches carry its own numbers and pointers."""
        given = []
        for seed in range(8):
            z, x, y = vectors()
            given.append((z, (x, x[1:])[seed % 2], y, seed + 3, 2**33 + seed))

        def work(arguments: tuple[Any, ...]) -> None:
            for turn in range(300):
                tell(*arguments, grid=(turn + 1, arguments[N]))

        in_threads(work, given)
        seen = [
            (*(each.pointer(at) for at in (Z, X, Y)), each.integer(N), each.integer(W, 64), each.grid)
            for each in gpu.all()
        ]
        wanted = [
            (*(each.data_ptr() for each in arguments[:3]), *arguments[3:], (turn + 1, arguments[N], 1))
            for arguments in given
            for turn in range(300)
        ]
        assert sorted(seen) == sorted(wanted)

    def test_first_calls_in_threads(self, gpu: StandIn, long_ways: SlowCalls) -> None:
        """However the first calls meet, there is one launcher, and its records are found."""
        kernel = pytriton.kernel(TELL)

        def work(given: tuple[torch.Tensor, ...]) -> None:
            for _ in range(20):
                kernel(*given, 5, 7, grid=(1,))

        in_threads(work, [vectors() for _ in range(8)])
        assert len(gpu.all()) == 160
        long_ways.clear()
        usual(kernel)
        assert long_ways.are(0)

    def test_defines_with_the_call(self, gpu: StandIn, long_ways: SlowCalls) -> None:
        kernel = pytriton.kernel("__global__ void f(T* z) { *z = V; }")
        gpu.expect(1)
        ints, floats = torch.zeros(4, dtype=torch.int32), torch.zeros(4)
        for _ in range(4):
            kernel(ints, (1,), T="int", V=7)
            kernel(floats, (1,), T="float", V=7)
            with pytest.raises(LaunchError, match="TC502"):
                kernel(floats, (1,), T="int", V=7)
        assert len(gpu.all()) == 8
        assert len({each.function for each in gpu.all()}) == 2


class TestVersions:
    def test_an_unknown_version(
        self, gpu: StandIn, long_ways: SlowCalls, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its C function is unknown: every launch is ``CompiledKernel.run``."""
        monkeypatch.setattr(launch, "_STYLES", {})
        kernel = pytriton.kernel(TELL)
        for _ in range(4):
            kernel(*vectors(), 5, 7, grid=(3,))
        assert long_ways.are(4)
        assert [each.grid for each in gpu.all()] == [(3, 1, 1)] * 4

    @pytest.mark.parametrize(
        ("attribute", "value"),
        [
            ("global_scratch_align", 512),
            ("profile_scratch_size", 128),
            ("launch_cooperative_grid", True),
            ("launch_pdl", True),
            ("launch", lambda *given: None),
            ("gsan_enabled", True),
        ],
    )
    def test_kernels_for_which_run_does_more(self, tell: Kernel, attribute: str, value: Any) -> None:
        (loaded,) = tell._default.first._kernels.values()  # type: ignore[union-attr]
        assert launch.direct_of(loaded.compiled, 0) is not None
        setattr(loaded.compiled.run, attribute, value)
        assert launch.direct_of(loaded.compiled, 0) is None

    @pytest.mark.parametrize(("wanted", "given"), [(0, 0), (2, 2), (3, 1), (1, 3), (2, 0)])
    def test_constexprs(self, wanted: int, given: int) -> None:
        """Candidates of a sweep may have more or fewer constexprs than the launcher has."""
        seen: list[tuple[Any, ...]] = []
        direct = launch.Direct("flat", lambda *all: seen.append(all), (), wanted)
        direct.bare(given)("a", "b", *(None,) * given)
        assert seen == [("a", "b", *(None,) * wanted)]


def test_forms() -> None:
    parameters = binder("float* x", "float* y", "int n").parameters
    x = torch.zeros(2)

    class Other(torch.Tensor):
        pass

    assert form_of(parameters, (x, None, 3)) == (
        "tensor",
        "absent",
    )
    assert form_of(parameters, (torch.nn.Parameter(x), 0, 3)) == ("tensor", "address")
    assert form_of(parameters, (x, True, 3)) is None
    assert form_of(parameters, (x, x.as_subclass(Other), 3)) is None
    assert form_of(parameters, (x, x)) is None


ALIKE = {
    "scalars of all kinds": (
        "__global__ void f(float* z, char c, unsigned char u, short s, unsigned int v, bool b, half h, float f, "
        "double d, bfloat16 g, long l) "
        "{ *z = c + u + s + (float)v + (b ? 1 : 0) + (float)h + f + (float)d + (float)g + l; }",
        (-100, 200, -30000, 2**32 - 2, True, 0.1, 0.5, 2, 1.005859375, -(2**40)),
        {},
    ),
    "promises": (
        "__global__ void f(float* z __aligned(32), int n __multipleof(12), int m __multipleof(16)) { *z = n + m; }",
        (36, 48),
        {},
    ),
    "a define": ("__global__ void f(float* z, int n) { *z = n + V; }", (7,), {"V": 3}),
    "a loop with a product": (
        "__global__ void f(float* z, half* x __noalias, int n) { float c[16, 16] = 0; int i[16] = 0 ... 16; "
        "half* p[16, 16] = x + i[:, newaxis] * 16 + i[newaxis, :]; "
        "for (int k = 0; k < n; k += 1) { half a[16, 16] = *p; c += dot(a, a); p += 256; } "
        "*(z + i[:, newaxis] * 16 + i[newaxis, :]) = c; }",
        (torch.zeros(1024, dtype=torch.half), 4),
        {},
    ),
    "an atomic, and what is absent": (
        "__global__ void f(int* z, float* x, float* y) { if (y) atomic_add(z, (int)*x); }",
        (torch.ones(4), None),
        {},
    ),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_both_paths_launch_alike(gpu: StandIn, long_ways: SlowCalls, kind: str) -> None:
    """The first two calls take the slow path, the others the fast one; the driver is given the same."""
    text, given, defines = ALIKE[kind]
    kernel = pytriton.kernel(text, defines, [2])
    z = torch.zeros(1024, dtype=torch.int32 if "int* z" in text else torch.float32)
    gpu.expect(1 + len(given))
    for _ in range(5):
        kernel(z, *given, grid=(3, 2))
    assert long_ways.are(2)
    seen = gpu.all()
    assert len(seen) == 5
    widths = [bits_of(parameter.type) for parameter in kernel._default.first.binder.parameters]  # type: ignore[union-attr]
    for each in seen:
        assert (each.grid, each.stream, each.function) == (seen[0].grid, gpu.stream, seen[0].function)
        assert [each.integer(at, bits) for at, bits in enumerate(widths)] == [
            seen[0].integer(at, bits) for at, bits in enumerate(widths)
        ]


def bits_of(type_: Any) -> int:
    return 64 if isinstance(type_, PointerType) else max(8, type_.bits)


@pytest.mark.skipif(not (shutil.which("gcc") or shutil.which("cc")), reason="no C compiler")
def test_the_launcher_in_c_compiles() -> None:
    """Nothing depends on it, so nothing else would tell."""
    assert fast_path._module() is not None
