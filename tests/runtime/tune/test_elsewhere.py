"""Other GPUs of one process take a part of the points: the copies of a call, and who races what."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.lang.tree.types import FLOAT, INT, PointerType
from pytriton.pipeline import Parameter
from pytriton.runtime.options.defines import Config
from pytriton.runtime.tune.elsewhere import copied_to
from pytriton.runtime.tune.together import Heat, race_together

X, Y = (Parameter(name, name, PointerType(FLOAT), f"float *{name}") for name in "xy")
N = Parameter("n", "n", INT, "int n")
TEXT = "__global__ void f(float *x, int n) { int i[T] = 0 ... T; *?(i < n)(x + i) = 1; }"


class TestCopies:
    def test_views_overlap_as_they_did(self) -> None:
        memory = torch.arange(20.0)
        x, y = memory[2:12].view(2, 5).t(), memory[5:]
        copied = copied_to("cpu", [x, y, 3], [X, Y, N])
        assert copied is not None
        a, b, n = copied
        assert (a.stride(), b.shape, n) == (x.stride(), y.shape, 3)
        assert torch.equal(a, x)
        assert torch.equal(b, y)
        a.zero_()
        assert b[:7].eq(0).all()
        assert memory[2] == 2

    def test_what_is_absent_or_empty(self) -> None:
        copied = copied_to("cpu", [None, torch.empty(0)], [X, Y])
        assert copied is not None
        assert copied[0] is None
        assert copied[1].numel() == 0

    def test_what_cannot_be_copied(self) -> None:
        x = torch.zeros(8)
        pointers = Parameter("x", "x", PointerType(PointerType(FLOAT)), "float **x")
        assert copied_to("cpu", [x.data_ptr()], [X]) is None
        assert copied_to("cpu", [x], [pointers]) is None


class TestRaces:
    POINTS = tuple(Config({"T": 1 << at}) for at in range(12))

    def times(self, config: Config) -> float:
        return abs(int(config.defines["T"]).bit_length() - 6) + 1.0

    def race(self, configs: Sequence[Config]) -> Heat:
        field = sorted(configs, key=self.times)
        return Heat({config: self.times(config) for config in configs}, field[:4])

    @pytest.mark.parametrize("others", [1, 2, 5])
    def test_each_takes_a_part_and_one_decides(self, others: int) -> None:
        seen: list[tuple[int, int, str]] = []

        def runner(at: int):  # type: ignore[no-untyped-def]
            def run(configs: Sequence[Config], rounds: int) -> Heat:
                seen.append((at, len(configs), threading.current_thread().name))
                return self.race(configs)

            return run

        heat = race_together(None, self.POINTS, 24, runner(0), [runner(at + 1) for at in range(others)])
        lots = min(others + 1, len(self.POINTS) // 4)
        assert sorted(at for at, _, _ in seen[:-1]) == [*range(lots)]
        assert seen[-1][:2] == (0, 3 * lots)
        assert heat.field[0] == Config({"T": 32})
        assert heat.results == {config: self.times(config) for config in self.POINTS}

    def test_a_few_points_are_not_worth_it(self) -> None:
        def nobody(configs: Sequence[Config], rounds: int) -> Heat:
            raise AssertionError

        heat = race_together(None, self.POINTS[:7], 24, lambda configs, _: self.race(configs), [nobody])
        assert len(heat.results) == 7

    def test_lots_of_which_nothing_is_left(self) -> None:
        lost = Heat({self.POINTS[0]: "it does not fit"})
        heat = race_together(None, self.POINTS, 24, lambda *_: lost, [lambda *_: lost])
        assert heat == lost


class TestOption:
    @pytest.mark.parametrize("given", [[1, "cuda:2"], [torch.device("cuda", 1), 2]])
    def test_what_is_kept(self, given: list[object]) -> None:
        kernel = pytriton.kernel(TEXT, defines={"T": [16, 32]}, tune_devices=given)
        assert kernel._definition.settings.tune_devices == (1, 2)
        x = torch.zeros(8)
        kernel(x, 8, grid=(1,))
        assert x.eq(1).all()

    @pytest.mark.parametrize("given", [["cpu"], ["cuda"], ["gpu0"], [None]])
    def test_what_is_no_gpu(self, given: list[object]) -> None:
        with pytest.raises(LaunchError, match="TC515"):
            pytriton.kernel(TEXT, defines={"T": 16}, tune_devices=given)


@pytest.mark.gpu
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="there is one GPU")
def test_two_gpus(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Both time points; the choice, and what the caller sees, are those of the GPU of the call."""
    monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    defines = {"T": [128, 256, 512, 1024, 2048, 4096, 8192, 16384]}
    kernel = pytriton.kernel(TEXT.replace("= 1", "= 2"), defines, [4, 8], tune_devices=[0, 1])
    x = torch.zeros(100, device="cuda:0")
    kernel(x, 100, grid=(1,))
    assert x.eq(2).all()
    assert len([time for time in kernel.timings.values() if isinstance(time, float)]) == 16
