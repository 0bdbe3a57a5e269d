"""Tuning without a GPU: what is compiled, what is measured, what is chosen, and what the caller sees.

The candidates' machine code and the clock are stubbed; calls pass addresses, to a device that is not there.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError, TuneError
from pytriton.runtime.errors import refusal
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.launch.candidate import Launch
from pytriton.runtime.options.defines import Config
from pytriton.tuning import benchmark, measure, record, tuner
from pytriton.tuning.benchmark import NO_TUNE_VARIABLE, Deadline
from pytriton.tuning.cross_check import Saved
from pytriton.tuning.measure import Limits
from pytriton.tuning.race import MAX_ROUNDS
from pytriton.tuning.translated_config import TranslatedConfig
from tests.runtime.kernels import ADD
from tests.work import PATIENCE

ADDRESSES = (4096, 8192, 12288)


@dataclass
class FakeGpu:
    """``times``: milliseconds by TILE. ``broken``: tiles that do not compile."""

    times: dict[int, float] = field(default_factory=dict)
    broken: set[int] = field(default_factory=set)
    compiled: list[Config] = field(default_factory=list)
    measured: list[list[int]] = field(default_factory=list)
    launched: list[tuple[int, Any, Any]] = field(default_factory=list)
    can_save: bool = True
    shared: int = 1 << 17
    capturing: bool = False

    def kernel_on(self, candidate: TranslatedConfig, device: int, specialization: Any) -> Callable[..., None]:
        tile = candidate.options.TILE
        if tile in self.broken:
            raise refusal(f"tile {tile} does not fit", "TC531")
        if candidate.config not in self.compiled:
            self.compiled.append(candidate.config)
        return lambda grid, values: self.launched.append((tile, grid, values))

    def first_launches(
        self, launches: Iterable[Launch], *_: Any
    ) -> tuple[dict[TranslatedConfig, Launch], benchmark.Measured]:
        launched = {launch.candidate: launch for launch in launches}
        if len(launched) > 1:
            self.measured.append([candidate.options.TILE for candidate in launched])
        return launched, benchmark.Measured()

    def milliseconds(self, launch: Launch, saved: Saved, cache: Any, count: int) -> list[float]:
        return [self.times[launch.candidate.options.TILE]] * count


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeGpu:
    monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path / "cache"))  # what was tuned before is unknown
    monkeypatch.setattr(record, "device_name", lambda index: "a GPU")
    fake = FakeGpu(times={16: 3.0, 32: 1.0, 64: 2.0})
    monkeypatch.setattr(TranslatedConfig, "kernel_on", lambda *arguments: fake.kernel_on(*arguments))
    monkeypatch.setattr(benchmark, "_first_launches", fake.first_launches)
    monkeypatch.setattr(benchmark, "_milliseconds", fake.milliseconds)
    monkeypatch.setattr(benchmark, "_level_2_cache", lambda device: None)
    monkeypatch.setattr(TranslatedConfig, "shared_memory", lambda self, device: 0)
    monkeypatch.setattr(torch.cuda, "device", lambda index: contextlib.nullcontext())
    monkeypatch.setattr(measure, "limits_of", lambda device: Limits(fake.shared))
    monkeypatch.setattr(tuner, "describes", lambda: False)
    monkeypatch.setattr(
        measure, "save", lambda arguments, device, scratch: Saved(()) if fake.can_save else None
    )
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: fake.capturing)
    monkeypatch.delenv(NO_TUNE_VARIABLE, raising=False)
    return fake


def make(text: str = ADD, **keywords: Any) -> Kernel:
    return pytriton.kernel(text, "cuda:0", {"TILE": [16, 32, 64]}, **keywords)


def grid(opt: Any) -> tuple[int]:
    return (pytriton.cdiv(100, opt.TILE),)


def tuned() -> Kernel:
    """A kernel that was called once."""
    kernel = make()
    kernel(*ADDRESSES, 100, grid=grid)
    return kernel


class TestChoice:
    def test_fastest(self, gpu: FakeGpu) -> None:
        kernel = tuned()
        assert gpu.launched == [(32, (4, 1, 1), [*ADDRESSES, 100])]
        assert gpu.measured == [[16, 32, 64]]
        assert kernel.best_config == Config({"TILE": 32})
        tile = {at: Config({"TILE": at}) for at in (16, 32, 64)}
        assert kernel.timings == pytest.approx({tile[16]: 3.0, tile[32]: 1.0, tile[64]: 2.0})
        assert repr(kernel.timings[tile[32]]) == "1.0 (finalist)"
        assert [c for c, time in kernel.timings.items() if time.finalist] == [tile[32]]

    def test_once(self, gpu: FakeGpu) -> None:
        kernel = make()
        for _ in range(3):
            kernel(*ADDRESSES, 100, grid=grid)
        assert len(gpu.measured) == 1
        assert [tile for tile, _, _ in gpu.launched] == [32, 32, 32]

    def test_dropped_and_named(self, gpu: FakeGpu) -> None:
        gpu.broken = {32}
        kernel = tuned()
        assert kernel.best_config == Config({"TILE": 64})
        assert kernel.timings[Config({"TILE": 32})] == "tile 32 does not fit [TC531]"

    def test_the_only_one_left_is_not_measured(self, gpu: FakeGpu) -> None:
        gpu.broken = {16, 32}
        kernel = tuned()
        assert gpu.measured == []
        assert kernel.best_config == Config({"TILE": 64})
        assert kernel.timings[Config({"TILE": 64})] == "the only one left: not measured"

    def test_none_left(self, gpu: FakeGpu) -> None:
        gpu.broken = {16, 32, 64}
        with pytest.raises(TuneError) as caught:
            make()(*ADDRESSES, 100, grid=grid)
        assert str(caught.value) == (
            "no variant of the sweep is left [TC601]\n"
            "  Config(TILE=16, num_warps=4): tile 16 does not fit [TC531]\n"
            "  Config(TILE=32, num_warps=4): tile 32 does not fit [TC531]\n"
            "  Config(TILE=64, num_warps=4): tile 64 does not fit [TC531]\n"
            "help: try smaller tiles"
        )
        assert gpu.launched == []

    def test_nothing_is_measured_that_prints(self, gpu: FakeGpu) -> None:
        gpu.broken = {16}
        text = ADD.rstrip()[:-1] + 'printf("%5d", n); }'
        with pytest.warns(RuntimeWarning) as told:
            make(text)(*ADDRESSES, 100, grid=grid)
        assert gpu.launched == [(32, (4, 1, 1), [*ADDRESSES, 100])]
        assert gpu.measured == []
        messages = [str(warning.message) for warning in told]
        assert any("add is not tuned, as it calls printf" in message for message in messages)
        assert any("loses the form of '%5d' [TC331]" in message for message in messages)

    def test_a_single_candidate_is_never_timed(self, gpu: FakeGpu) -> None:
        pytriton.kernel(ADD, "cuda:0", {"TILE": 16})(*ADDRESSES, 100, grid=grid)
        assert gpu.measured == []
        assert len(gpu.launched) == 1

    def test_a_single_candidate_that_does_not_fit(self, gpu: FakeGpu) -> None:
        gpu.broken = {16}
        with pytest.raises(LaunchError, match="tile 16 does not fit"):
            pytriton.kernel(ADD, "cuda:0", {"TILE": 16})(*ADDRESSES, 100, grid=grid)

    def test_what_cannot_be_restored_is_not_measured(self, gpu: FakeGpu) -> None:
        gpu.can_save = False
        kernel = tuned()
        assert gpu.measured == []
        assert [tile for tile, _, _ in gpu.launched] == [16]
        assert set(kernel.timings.values()) == {"not measured: what it writes cannot be restored"}

    def test_points(self, gpu: FakeGpu) -> None:
        points = [pytriton.config({"TILE": "64"}, 8), pytriton.config({"TILE": "16"}, 2)]
        kernel = pytriton.kernel(ADD, "cuda:0", {}, 4, points, ["n"])
        kernel(*ADDRESSES, 100, grid=grid)
        assert gpu.measured == [[64, 16]]
        assert kernel.best_config == Config({"TILE": "64"}, 8)

    def test_precisions_are_different_points(self, gpu: FakeGpu) -> None:
        kernel = pytriton.kernel(ADD, "cuda:0", {"TILE": 16}, precision=["ieee", "bf16x6"])
        kernel(*ADDRESSES, 100, grid=grid)
        assert [config.precision for config in kernel.timings] == ["ieee", "bf16x6"]


class TestWhen:
    @pytest.mark.parametrize(
        ("parameters", "key", "tails", "measured"),
        [
            (
                "int n, int m, float s",  # any integer
                None,
                [(100, 1, 0.5), (100, 1, 0.7), (100, 2, 0.5), (101, 2, 0.5), (100, 1, 0.9)],
                [1, 1, 2, 3, 3],
            ),
            (
                "int n __retune, int m, float s",
                None,
                [(100, 1, 0.5), (100, 2, 0.5), (101, 2, 0.5), (100, 3, 0.5)],
                [1, 1, 2, 2],
            ),
            (
                "int n, int m, float s",
                ["m"],
                [(100, 1, 0.5), (101, 1, 0.5), (100, 2, 0.5), (100, 2, 0.7)],
                [1, 1, 2, 2],
            ),
            ("int n, int m, float s", "s", [(100, 1, 0.5), (7, 9, 0.5), (7, 9, 0.6)], [1, 1, 2]),
        ],
        ids=["any integer", "retune", "autotune_key", "autotune_key of a float"],
    )
    def test_other_numbers(
        self, gpu: FakeGpu, parameters: str, key: Any, tails: list[tuple[Any, ...]], measured: list[int]
    ) -> None:
        """How many measurements there were after each call."""
        kernel, counts = make(ADD.replace("int n", parameters), autotune_key=key), []
        for tail in tails:
            kernel(*ADDRESSES, *tail, grid=grid)
            counts.append(len(gpu.measured))
        assert counts == measured

    def test_other_addresses(self, gpu: FakeGpu) -> None:
        kernel = tuned()
        kernel(4100, 8196, 12292, 100, grid=grid)
        assert len(gpu.measured) == 1

    def test_not_where_the_user_forbids_it(self, gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(NO_TUNE_VARIABLE, "1")
        gpu.broken = {16}
        kernel = tuned()
        assert gpu.measured == []
        assert kernel.best_config == Config({"TILE": 32})
        assert gpu.compiled == [Config({"TILE": 32})]

    def test_not_while_a_graph_is_captured(self, gpu: FakeGpu) -> None:
        kernel = make()
        gpu.capturing = True
        kernel(*ADDRESSES, 100, grid=grid)
        assert [tile for tile, _, _ in gpu.launched] == [16]
        gpu.capturing = False
        kernel(*ADDRESSES, 100, grid=grid)
        assert [tile for tile, _, _ in gpu.launched] == [16, 32]


class TestGrid:
    def test_called_once_a_candidate_and_once_a_launch(self, gpu: FakeGpu) -> None:
        seen: list[int] = []

        def counting(opt: Any) -> tuple[int]:
            seen.append(opt.TILE)
            return grid(opt)

        kernel = make()
        kernel(*ADDRESSES, 100, grid=counting)
        assert sorted(seen[:-1]) == [16, 32, 64]
        assert seen[-1] == 32
        seen.clear()
        kernel(*ADDRESSES, 100, grid=counting)
        assert seen == [32]

    def test_a_candidate_with_an_empty_grid(self, gpu: FakeGpu) -> None:
        """It would be the fastest, and do nothing."""
        kernel = make()
        kernel(*ADDRESSES, 100, grid=lambda opt: (100 // opt.TILE // 2,))
        assert gpu.measured == [[16, 32]]
        assert kernel.best_config == Config({"TILE": 32})

    def test_all_empty(self, gpu: FakeGpu) -> None:
        kernel = make()
        kernel(*ADDRESSES, 0, grid=lambda opt: (0,))
        assert gpu.measured == []
        assert gpu.launched == []
        kernel(*ADDRESSES, 100, grid=grid)
        assert len(gpu.measured) == 1

    def test_wrong_grid(self, gpu: FakeGpu) -> None:
        with pytest.raises(LaunchError, match="TC512"):
            make()(*ADDRESSES, 100, grid=(-1,))


class TestWhatIsNotMeasured:
    """A kernel whose memory cannot be put back is launched once."""

    STRAY = """\
__global__ void f(float** P, float* Y, int n) {
  float* x = *P;
  int r[TILE] = 0 ... TILE;
  *?(r < n)(WHERE + r) = *?(r < n)(x + r) + 1;
}
"""

    def test_a_loaded_pointer(self, gpu: FakeGpu) -> None:
        kernel = make(self.STRAY.replace("WHERE", "x"))
        kernel(*ADDRESSES[:2], 100, grid=grid)
        assert gpu.measured == []
        assert [tile for tile, _, _ in gpu.launched] == [16]
        assert set(kernel.timings.values()) == {"not measured: what it writes cannot be restored"}

    def test_a_loaded_pointer_that_is_only_read(self, gpu: FakeGpu) -> None:
        make(self.STRAY.replace("WHERE", "Y"))(*ADDRESSES[:2], 100, grid=grid)
        assert gpu.measured == [[16, 32, 64]]

    @pytest.mark.parametrize(
        "write",
        ["*(float*)n = 1;", "atomic_add((float*)(n + 64), 1.0f);", "float* p = Y; p = (float*)n; *p = 1;"],
    )
    def test_a_number_as_address(self, gpu: FakeGpu, write: str) -> None:
        text = f"__global__ void f(float* Y, long n) {{ int r[TILE] = 0 ... TILE; *(Y + r) = 1; {write} }}"
        make(text)(4096, 8192, grid=(1,))
        assert gpu.measured == []
        assert len(gpu.launched) == 1


class TestTimeAll:
    """The measuring itself, with a clock that is made up. What a race is stands in test_race.py."""

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> dict[int, list[int]]:
        """How many launches were timed, by tile; a launch of tile t takes t milliseconds."""
        counts: dict[int, list[int]] = {}

        def milliseconds(launch: Any, saved: Saved, cache: Any, count: int) -> list[float]:
            counts.setdefault(launch.candidate, []).append(count)
            return [float(launch.candidate)] * count

        monkeypatch.setattr(benchmark, "_milliseconds", milliseconds)
        monkeypatch.setattr(benchmark, "_cost", lambda candidate, device: candidate)
        monkeypatch.setattr(benchmark, "_level_2_cache", lambda device: torch.empty(0))
        monkeypatch.setattr(torch.cuda, "device", lambda index: contextlib.nullcontext())
        monkeypatch.setattr(Launch, "__call__", lambda self: None)
        return counts

    def measured(self, *tiles: int, budget: float | None = None) -> benchmark.Measured:
        launches = [Launch(0, (1, 1, 1), [], (), candidate=tile) for tile in tiles]  # type: ignore[arg-type]
        return benchmark.time_all(iter(launches), 0, Saved(()), MAX_ROUNDS, Deadline(budget))

    def test_hopeless_ones_have_one_turn(self, clock: dict[int, list[int]]) -> None:
        measured = self.measured(1, 2, 3)
        assert measured.results == pytest.approx({1: 1.0, 2: 2.0, 3: 3.0})
        assert list(measured.field) == [1]
        assert clock == {1: [3], 2: [3], 3: [3]}

    def test_the_only_one_is_not_timed(self, clock: dict[int, list[int]]) -> None:
        assert self.measured(7).results == {7: "the only one left: not measured"}
        assert clock == {}

    def test_one_sweep_at_a_time(self, clock: dict[int, list[int]], monkeypatch: pytest.MonkeyPatch) -> None:
        """Two threads that tune two kernels would time each other."""
        running: list[int] = []
        most: list[int] = []

        def first_launches(*_: Any) -> Any:
            running.append(1)
            time.sleep(0.02)
            most.append(len(running))
            running.pop()
            return {}, benchmark.Measured()

        monkeypatch.setattr(benchmark, "_first_launches", first_launches)
        work = [threading.Thread(target=self.measured, args=(1, 2)) for _ in range(4)]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join(PATIENCE)
        assert most == [1, 1, 1, 1]

    def test_budget(self, clock: dict[int, list[int]]) -> None:
        measured = self.measured(5, 4, 3, budget=0.0)
        assert measured.results == {5: pytest.approx(5.0), 4: "over the budget", 3: "over the budget"}
        assert list(measured.field) == [5]


def test_no_memory_left_to_clear_the_cache_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that runs must not fail because its tuning wants memory too."""

    def full(*_: Any, **__: Any) -> torch.Tensor:
        raise torch.cuda.OutOfMemoryError

    properties = SimpleNamespace(L2_cache_size=1 << 20)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    monkeypatch.setattr(torch, "empty", full)
    assert benchmark._level_2_cache(0) is None


def test_memory_is_put_back_outside_the_timed_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore, clear the cache, and only then start the clock."""
    order: list[str] = []

    class Event:
        count = 0

        def __init__(self, enable_timing: bool) -> None:
            Event.count += 1
            self.name = "start" if Event.count % 2 else "end"

        def record(self) -> None:
            order.append(self.name)

        def elapsed_time(self, other: Event) -> float:
            return 1.0

    class Memory:
        def restore(self) -> None:
            order.append("restore")

    class Cache:
        def zero_(self) -> None:
            order.append("clear")

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: order.append("wait"))
    found = benchmark._milliseconds(lambda: order.append("launch"), Memory(), Cache(), 2)  # type: ignore[arg-type]
    assert found == [1.0, 1.0]
    assert order == ["restore", "clear", "start", "launch", "end"] * 2 + ["wait"]


class TestCompileAll:
    @pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core")
    def test_side_by_side(self) -> None:
        """Two compilations that wait for each other both end."""
        meeting = threading.Barrier(2)
        outcomes = measure.compile_all([(name, lambda: meeting.wait(PATIENCE)) for name in "ab"])  # type: ignore[misc]
        assert list(outcomes) == [("a", None), ("b", None)]

    def test_in_order_and_as_soon_as_done(self) -> None:
        """The first is there while the second still compiles."""
        seen = threading.Event()
        outcomes = measure.compile_all([("a", int), ("b", lambda: seen.wait(PATIENCE))])  # type: ignore[list-item]
        assert next(outcomes) == ("a", None)
        seen.set()
        assert list(outcomes) == [("b", None)]

    def test_no_new_threads_while_python_shuts_down(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: Any) -> Any:
            raise RuntimeError("cannot schedule new futures after interpreter shutdown")

        monkeypatch.setattr(measure.ThreadPoolExecutor, "submit", refuse)
        monkeypatch.setattr(measure.sys, "is_finalizing", lambda: True)
        done: list[int] = []
        assert list(measure.compile_all([("a", lambda: done.append(1))])) == [("a", None)]  # type: ignore[list-item]
        assert done == [1]

    def test_errors_of_ours_are_collected(self) -> None:
        def fail() -> None:
            raise refusal("too large", "TC531")

        outcomes = measure.compile_all([("a", lambda: 1), ("b", fail)])  # type: ignore[list-item]
        assert [str(error) for _, error in outcomes] == ["None", "too large [TC531]"]

    def test_errors_of_others_are_not(self) -> None:
        with pytest.raises(ZeroDivisionError):
            list(measure.compile_all([("a", lambda: 1 // 0)]))  # type: ignore[list-item]


class TestOwnPoints:
    """What pytriton varies of its own accord: on the best points of a sweep, and in no other one's sight."""

    TILED = """\
__global__ void f(float* X, float* Y, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  float s[TILE] = 0;
  for (int k = 0; k < n; k++)
    s += *(X + k * n + r);
  *(Y + get_program_id(1) * n + r) = s;
}
"""

    def called(self, *tiles: int, **more: Any) -> Kernel:
        defines = {"TILE": list(tiles) if tiles[1:] else tiles[0]}
        kernel = pytriton.kernel(self.TILED, device="cuda:0", defines=defines, **more)
        kernel(4096, 8192, 100, grid=lambda opt: (1, 1))
        return kernel

    def test_on_the_best_few(self, gpu: FakeGpu) -> None:
        kernel = self.called(16, 32, 64)
        assert [sorted(set(tiles)) for tiles in gpu.measured] == [[16, 32, 64], [32], [32]]
        staged = [config for config in kernel.timings if config.num_stages and not config.swizzle]
        assert [config.num_stages for config in staged] == [3, 4]  # of 32: the others are too far behind
        ordered = [config for config in kernel.timings if config.swizzle]
        assert {config.defines["TILE"] for config in ordered} == {32}  # the best three are 32 with all stages
        assert {config.num_stages for config in ordered} == {None, 3, 4}

    def test_stages_come_first(self, gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
        """A point that is behind with Triton's stages may be the best with others, and then in another order."""

        def milliseconds(launch: Launch, saved: Saved, cache: Any, count: int) -> list[float]:
            config = launch.candidate.config
            wins = config.num_stages == 4 and config.defines["TILE"] == 64
            return [1.0 - wins * (0.1 + 0.05 * (config.swizzle == 8)) + config.defines["TILE"] / 1000] * count

        monkeypatch.setattr(benchmark, "_milliseconds", milliseconds)
        kernel = self.called(16, 32, 64)
        assert kernel.best_config == Config({"TILE": 64}, num_stages=4, swizzle=8)

    def test_not_where_the_user_has_no_sweep(self, gpu: FakeGpu) -> None:
        self.called(32)
        assert gpu.measured == []
        self.called(32, tune="full")
        assert len(gpu.measured[0]) == 6
        with pytest.raises(LaunchError, match=r"tune is 'fully'.*\[TC517\]"):
            pytriton.kernel(self.TILED, tune="fully")

    def test_never_in_the_options(self, gpu: FakeGpu) -> None:
        seen: set[str] = set()
        kernel = pytriton.kernel(self.TILED, device="cuda:0", defines={"TILE": 32}, tune="full")

        def grid(opt: Any) -> tuple[int, int]:
            seen.update([repr(opt.defines), repr(opt.num_warps)])
            return 1, 1

        kernel(4096, 8192, 100, grid=grid)
        assert seen == {"mappingproxy({'TILE': 32})", "4"}

    def test_stages_that_the_user_gives_stay(self, gpu: FakeGpu) -> None:
        kernel = self.called(32, 64, num_stages=2)
        assert {config.num_stages for config in kernel.timings} == {2}

    def test_known_to_the_next_process(self, gpu: FakeGpu) -> None:
        def call() -> Config | None:
            kernel = self.called(32, 64)
            return kernel.best_config

        gpu.times = {32: 1.0, 64: 2.0}
        assert call() == call()
        assert gpu.measured == [[32, 64], [32] * 3, [32] * 6]
