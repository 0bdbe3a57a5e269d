"""Tiles through tensor descriptors without a GPU: which launches they suit, and what a driver is given."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import triton

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.launch import device, fast_path
from pytriton.runtime.launch import device as launch
from pytriton.runtime.launch.buffers import Constants
from pytriton.runtime.launch.device import fits_of
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText, PlanSettings
from pytriton.runtime.plan import Plan
from pytriton.source import Source
from pytriton.tuning import tuner
from pytriton.tuning.record import Question, pin, pinned
from pytriton.tuning.sweep import Sweep, own_points, users_point
from pytriton.tuning.translated_config import TranslatedConfig
from tests.passes.speed.test_descriptors import DEFINES, PLAIN_B, TEXT, TRANSPOSED_A, changed
from tests.runtime.stand_in import STREAM, StandIn
from tests.translating import translate

GRID = (3, 2, 1)
GOOD = {"A": 1024, "B": 2048, "C": 4096, "N": 64, "K": 48, "lda": 64, "ldb": 80}
FEW = 2**31 - 1


def fits(text: str = TEXT, grid: tuple[int, int, int] = GRID, **other: Any) -> bool:
    given = {**GOOD, **other}
    found = fits_of(translate(text, DEFINES, descriptors=True))
    assert found is not None
    return found(grid, list(given.values()))


class TestWhatSuits:
    def test_the_usual(self) -> None:
        assert fits()
        assert fits_of(translate(TEXT, DEFINES)) is None

    @pytest.mark.parametrize("name", ["A", "B"])
    @pytest.mark.parametrize("address", [0, 8, 1032, 1025])
    def test_addresses(self, name: str, address: int) -> None:
        assert not fits(**{name: address})

    def test_what_is_only_written(self) -> None:
        assert fits(C=4100)

    @pytest.mark.parametrize("name", ["lda", "ldb"])
    @pytest.mark.parametrize("distance", [0, -64, 1, 4, 60, 2**31, 2**40])
    def test_distances(self, name: str, distance: int) -> None:
        assert not fits(**{name: distance})

    @pytest.mark.parametrize("name", ["lda", "ldb"])
    def test_rows_that_overlap(self, name: str) -> None:
        assert fits(**{name: 8})

    def test_the_last_offset(self) -> None:
        """3 programs of 16 rows: 47 distances and 15 columns stay within 32 bits, or do not."""
        most = (FEW - 15) // 47 // 8 * 8
        assert fits(lda=most)
        assert not fits(lda=most + 8)

    def test_the_last_row(self) -> None:
        """It depends on the grid, along the axis of the operand."""
        assert fits(lda=2**24, grid=(8, 1, 1))
        assert not fits(lda=2**24, grid=(9, 1, 1))
        assert fits(lda=2**24, grid=(1, 9, 1))

    def test_many_programs(self) -> None:
        assert fits(grid=(256, 256, 1))
        assert not fits(grid=(256, 257, 1))

    def test_the_end_of_the_loop(self) -> None:
        """A last tile would reach the end of the descriptor."""
        assert fits(K=FEW - 16)
        assert not fits(K=FEW - 15)
        assert fits(K=-5)

    def test_steps_down(self) -> None:
        """16 distances a turn are computed in 32 bits."""
        text = changed(*PLAIN_B)
        assert fits(text, ldb=2**20)
        assert not fits(text, ldb=2**27)
        assert not fits(text, ldb=-16)

    def test_a_number_of_turns(self) -> None:
        assert fits(changed(("k = K; k > 0", "k = 48; k > 0")), K=FEW)


def matrices(lda: int = 64) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    a = torch.randn(48, lda).half()
    b = torch.randn(64, 80).half()
    return a, b, torch.zeros(48, 64)


class TestOnTheProcessor:
    @pytest.mark.parametrize("lda", [0, -64])
    def test_what_does_not_suit(self, lda: int) -> None:
        """The interpreter, too, runs the plain point then."""
        a, b, c = matrices()
        config = Config(DEFINES, descriptors=True)
        first = a[:1] if lda == 0 else a[-1:]
        pytriton.kernel(TEXT, autotune_configs=[config])(first, b, c, 64, 48, lda, 80, grid=(3, 2))
        rows = a[:1].expand(48, 64) if lda == 0 else a.flip(0)
        want = rows[:, :48].double() @ b[:, :48].double().t()
        assert torch.allclose(c.double(), want, atol=1e-4)


@pytest.fixture
def gpu(stand_in: StandIn) -> StandIn:
    stand_in.expect(9)
    return stand_in


@dataclass
class Allocator:
    """What launches were given to build descriptors in: sizes and addresses, on which stream, and what is back."""

    given: list[tuple[int, int, int]] = field(default_factory=list)
    back: list[int] = field(default_factory=list)

    def allocate(self, size: int, stream: int) -> int:
        self.given.append((size, 4096 * (1 + len(self.given)), stream))
        return self.given[-1][1]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Allocator:
    allocator = Allocator()
    for module in (launch, fast_path):
        monkeypatch.setattr(module, "allocate", allocator.allocate)
        monkeypatch.setattr(module, "release", allocator.back.append)
    return allocator


class TestLaunch:
    def linear(self, **more: Any) -> Kernel:
        return pytriton.kernel(TEXT, autotune_configs=[Config(DEFINES, 4, 3, descriptors=True, **more)])

    def test_memory(self, gpu: StandIn, memory: Allocator, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each launch has its own, of 256 bytes a program, on the slow path and on the fast one."""
        kernel, (a, b, c) = self.linear(), matrices()
        ready, long = Plan._launch_of, []
        monkeypatch.setattr(Plan, "_launch_of", lambda *given: long.append(given) or ready(*given))
        for _ in range(5):
            kernel(a, b, c, 64, 48, 64, 80, grid=(3, 2))
        assert len(long) == (2 if gpu.has_fast_path else 5)
        sizes, addresses, streams = zip(*memory.given, strict=True)
        assert sizes == (3 * 2 * 256,) * 5
        assert streams == (STREAM,) * 5
        assert [each.pointer(7) for each in gpu.all()] == [*addresses] == memory.back
        assert {each.parameters[:3] for each in gpu.all()} == {tuple(t.data_ptr() for t in (a, b, c))}
        assert {
            (each.integer(3), each.integer(4), each.integer(5), each.integer(6)) for each in gpu.all()
        } == {(64, 48, 64, 80)}
        assert {each.grid for each in gpu.all()} == {(3, 2, 1)}
        assert "cp.async.bulk.tensor" in gpu.compiled(kernel, gpu.last()).asm["ptx"]

    def test_what_does_not_suit(self, gpu: StandIn, memory: Allocator) -> None:
        """Whichever way it goes, it is launched without descriptors."""
        kernel, (a, b, c) = self.linear(), matrices()
        for _ in range(4):
            kernel(a, b, c, 64, 48, 64, 80, grid=(3, 2))
        for _ in range(3):
            kernel(a[-1:], b, c, 64, 48, -64, 80, grid=(3, 2))
            assert len(memory.given) == 4
            assert gpu.last().integer(5) == -64
            assert gpu.last().pointer(7) == 0
        plain = kernel._default.first._plain  # type: ignore[union-attr]
        assert plain.config == Config(DEFINES, 4, 3)
        assert gpu.last().function in {each.compiled.function for each in plain._kernels.values()}

    @pytest.mark.parametrize(
        ("grid", "lda", "k", "suits"),
        [
            *(((256, 256), 64, 48, True), ((256, 257), 64, 48, False), ((8, 1), 2**24, 48, True)),
            *(((9, 1), 2**24, 48, False), ((3, 2), (FEW - 15) // 47 // 8 * 8, 48, True)),
            *(((3, 2), 64, FEW - 16, True), ((3, 2), 64, FEW - 15, False), ((3, 2), 64, -5, True)),
        ],
    )
    @pytest.mark.sampled(9)
    def test_the_fast_path_asks_the_same(
        self, gpu: StandIn, memory: Allocator, grid: tuple[int, int], lda: int, k: int, suits: bool
    ) -> None:
        """On both paths: what TestWhatSuits asks of the rule."""
        assert fits(lda=lda, K=k, grid=(*grid, 1)) is suits
        kernel, (a, b, c) = self.linear(), matrices()
        for multiple in (64, 8):  # a specialization for strides that 16 divides, and one for the others
            for _ in range(3):
                kernel(a, b, c, 64, 48, multiple, 80, grid=(3, 2))
        before = len(memory.given)
        for _ in range(3):
            kernel(a, b, c, 64, k, lda, 80, grid=grid)
        assert len(memory.given) - before == (3 if suits else 0)
        assert memory.back == [address for _, address, _ in memory.given]

    def test_other_kernels_ask_for_none(self, gpu: StandIn, memory: Allocator) -> None:
        kernel, (a, b, c) = pytriton.kernel(TEXT, DEFINES), matrices()
        for _ in range(4):
            kernel(a, b, c, 64, 48, 64, 80, grid=(3, 2))
        (loaded,) = kernel._default.first._kernels.values()  # type: ignore[union-attr]
        assert loaded.direct is not None
        assert loaded.direct.launch is loaded.compiled.run.launch
        assert memory.given == []

    def test_a_launcher_that_nobody_knows(
        self, gpu: StandIn, memory: Allocator, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(launch, "_STYLES", {})
        with pytest.raises(LaunchError, match=r"it needs scratch memory.*TC531"):
            self.linear()(*matrices(), 64, 48, 64, 80, grid=(3, 2))

    def test_hooks_are_told(self, gpu: StandIn, memory: Allocator) -> None:
        told: list[Any] = []
        kernel, (a, b, c) = self.linear(), matrices()
        triton.knobs.runtime.launch_enter_hook.add(told.append)
        try:
            for _ in range(4):
                kernel(a, b, c, 64, 48, 64, 80, grid=(3, 2))
        finally:
            triton.knobs.runtime.launch_enter_hook.remove(told.append)
        assert len(told) == len(memory.given) == 4


class TestPoints:
    """What tuning tries, and how a choice is kept."""

    CONFIG = Config(DEFINES, 4, 3)

    def test_offered(self) -> None:
        found = translate(TEXT, DEFINES)
        points = own_points(self.CONFIG, found, True)
        assert [point.swizzle for point in points if point.descriptors] == [0, 8]
        assert {point.num_stages for point in points if point.descriptors} == {3}
        assert not any(point.descriptors for point in own_points(self.CONFIG, found, False))

    @pytest.mark.parametrize(
        ("changes", "hopper", "groups"),
        [((), True, [0, 8]), (TRANSPOSED_A, True, [0, 8]), (PLAIN_B, True, []), ((), False, [])],
        ids=["a @ ^b", "^a @ ^b", "a @ b", "another GPU"],
    )
    def test_tried_where_it_may_gain(
        self,
        changes: tuple[tuple[str, str], ...],
        hopper: bool,
        groups: list[int],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Whether tiles suit is asked once a point, and on no other GPU."""
        monkeypatch.setattr(tuner, "describes", lambda: hopper)
        sweep = Sweep(KernelText(Source(changed(*changes), "linear.c")), [self.CONFIG])
        asked = tuner.Tuner(sweep, PlanSettings(tune_fully=True), Constants(), (), lambda *_: ([], (), None))
        for _ in range(2):
            points = asked._missing(asked._own(sweep.first), tuner.Record())
            assert [point.swizzle for point in points if point.descriptors] == groups
        assert len(sweep._candidates) == 1 + hopper
        assert set(points) <= set(sweep.every_point())

    def test_a_pinned_choice(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A line of ``PYTRITON_REPLAY`` may name it, and lines of older versions are read as they were."""
        sweep = Sweep(KernelText(Source(TEXT, "linear.c")), [self.CONFIG])
        question = Question("linear", "digest", {}, "a GPU", {"N": 64})
        monkeypatch.setenv("PYTRITON_REPLAY", str(tmp_path / "pins"))
        for choice in (self.CONFIG, replace(self.CONFIG, swizzle=8, descriptors=True)):
            pin(question, choice)
            assert pinned(question, sweep.every_point()) == choice
        assert "descriptors" not in (tmp_path / "pins").read_text().splitlines()[0]

    def test_a_grid_sees_the_point_of_the_user(self) -> None:
        for point in own_points(self.CONFIG, translate(TEXT, DEFINES), True):
            assert users_point(point, [self.CONFIG]) == self.CONFIG

    @pytest.mark.parametrize(
        ("backend", "arch", "wanted"),
        [("cuda", 80, False), ("cuda", 90, True), ("cuda", 100, True), ("hip", "gfx942", False)],
    )
    def test_which_gpus(self, backend: str, arch: Any, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        target = triton.backends.compiler.GPUTarget(backend, arch, 32)
        active = type("Active", (), {"get_current_target": lambda self: target})()
        monkeypatch.setattr(device.driver, "_active", active)
        assert device.describes() is wanted

    @pytest.mark.parametrize(
        "again",
        [
            copy.copy,
            copy.deepcopy,
            lambda config: pickle.loads(pickle.dumps(config)),
            lambda config: eval(
                repr(config)
                .replace("Config(", "pytriton.config(dict(")
                .replace(", num_warps", "), num_warps")
            ),
        ],
    )
    def test_a_config_is_kept(self, again: Any) -> None:
        config = Config({"TM": 16}, 8, 3, swizzle=8, descriptors=True)
        assert again(config) == config
        assert (
            repr(again(config))
            == repr(config)
            == "Config(TM=16, num_warps=8, num_stages=3, swizzle=8, descriptors=True)"
        )
        assert config != Config({"TM": 16}, 8, 3, swizzle=8)

    def test_a_candidate_of_a_text_without_any(self) -> None:
        """Asked for where nothing can be described: the plain kernel."""
        text = "__global__ void f(float* z) { *z = 1; }"
        kernel = pytriton.kernel(text, autotune_configs=[Config(descriptors=True)])
        z = torch.zeros(1)
        kernel(z, grid=(1,))
        assert z.item() == 1
        candidate: TranslatedConfig = kernel._default.first  # type: ignore[union-attr]
        assert candidate.suits((1, 1, 1), [])
