"""What tuning found is kept: for the next process, and in a file of pinned choices.

A new kernel object stands for a new process: it knows nothing but what lies on disk.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import triton

import pytriton
from pytriton.errors import TuneError
from pytriton.runtime.compile import module_cache
from pytriton.runtime.errors import refusal
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.defines import Config
from pytriton.tuning import benchmark, measure, record
from pytriton.tuning.translated_config import TranslatedConfig
from tests.tuning.test_tune import ADD, ADDRESSES, FakeGpu, gpu, grid, make

__all__ = ["gpu"]

BEST = Config({"TILE": 32})


def call(kernel: Kernel, n: int = 100, tiles: Sequence[int] = ()) -> Kernel:
    kernel(*ADDRESSES, n, grid=grid, **({"TILE": list(tiles)} if tiles else {}))
    return kernel


def tile(size: int) -> Config:
    return Config({"TILE": size})


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").glob("tuned_*.json"))


class TestRecall:
    def test_the_next_process(self, gpu: FakeGpu, tmp_path: Path) -> None:
        first, second = call(make()), call(make())
        assert gpu.measured == [[16, 32, 64]]
        assert [tile for tile, _, _ in gpu.launched] == [32, 32]
        assert second.best_config == first.best_config == BEST
        assert second.timings == first.timings
        assert len(entries(tmp_path)) == 1

    def test_only_the_best_is_compiled(self, gpu: FakeGpu) -> None:
        call(make())
        gpu.compiled.clear()
        call(make())
        assert gpu.compiled == [BEST]

    def test_the_entry(self, gpu: FakeGpu, tmp_path: Path) -> None:
        gpu.broken = {64}
        kernel = call(make())
        (path,) = entries(tmp_path)
        entry = json.loads(path.read_text())
        code = record.code_of(kernel.source())
        for name in ("check", "text"):
            assert len(entry.pop(name)) == 16
        assert entry == {
            "kernel": "add",
            "device": "a GPU",
            "arguments": {"n": 100},
            "facts": "bbba",
            "versions": [pytriton.__version__, triton.__version__, torch.__version__],
            "points": {
                "Config(TILE=16, num_warps=4)": {"time": pytest.approx(3.0), "code": code},
                "Config(TILE=32, num_warps=4)": {"time": 1.0, "code": code},
                "Config(TILE=64, num_warps=4)": {"time": "tile 64 does not fit [TC531]", "code": ""},
            },
            "finals": [
                {
                    "sweep": [f"Config(TILE={tile}, num_warps=4)" for tile in (16, 32, 64)],
                    "field": ["Config(TILE=32, num_warps=4)"],
                }
            ],
        }
        assert path.stat().st_mode & 0o077 == 0
        assert call(make()).timings[tile(64)] == "tile 64 does not fit [TC531]"
        assert gpu.measured == [[16, 32]]

    @pytest.mark.parametrize(
        "other",
        [
            lambda: call(make(), 101),
            lambda: call(make(ADD.replace("+ *?", "- *?"))),
            lambda: call(make(num_warps=8)),
            lambda: call(make(strict_literals=True)),
            lambda: make()(4100, *ADDRESSES[1:], 100, grid=grid),
            lambda: make()(*ADDRESSES, 100, grid=grid, defines={"OTHER": 1}),
        ],
        ids=["argument", "text", "warps", "literals", "alignment", "define"],
    )
    def test_another_question(self, gpu: FakeGpu, other: Callable[[], Any]) -> None:
        call(make())
        before = len(gpu.measured)
        other()
        assert len(gpu.measured) > before

    def test_another_gpu(self, gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
        call(make())
        monkeypatch.setattr(record, "device_name", lambda index: "another GPU")
        call(make())
        assert len(gpu.measured) == 2

    def test_another_version(self, gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
        call(make())
        monkeypatch.setattr(record.triton, "__version__", "99.0")
        call(make())
        assert len(gpu.measured) == 2

    def test_a_part_of_the_sweep(self, gpu: FakeGpu) -> None:
        """The best of three is the best of two. Without it the others race: they were not timed to the end."""
        call(make())
        kernel = call(make(), tiles=[32, 64])
        assert gpu.measured == [[16, 32, 64]]
        assert kernel.best_config == BEST
        call(kernel, tiles=[16, 64])
        assert gpu.measured == [[16, 32, 64], [64, 16]]
        assert kernel.best_config == tile(64)

    def test_two_sweeps_and_what_they_have_together(self, gpu: FakeGpu) -> None:
        """Each has a finalist of its own; together these race, and afterwards all three sweeps are known."""
        gpu.times |= {8: 0.9}

        def best_of(*tiles: int) -> Any:
            kernel = call(make(), tiles=tiles)
            assert kernel.best_config is not None
            return kernel.best_config.defines["TILE"]

        assert [best_of(16, 32), best_of(8, 64), best_of(8, 16, 32, 64)] == [32, 8, 8]
        assert gpu.measured == [[16, 32], [8, 64], [32, 8, 64]]
        assert [best_of(16, 32), best_of(8, 64), best_of(8, 16, 32, 64)] == [32, 8, 8]
        assert len(gpu.measured) == 3

    def test_old_times_meet_new_points_on_one_scale(self, gpu: FakeGpu) -> None:
        """The chip is 10 % slower on the second day: what did not run again is shown as it would be now."""
        gpu.times |= {8: 4.0, 128: 0.5}
        call(make())
        gpu.times = {tile: 1.1 * time for tile, time in gpu.times.items()}
        kernel = call(make(), tiles=[8, 16, 32, 64, 128])
        for size, time in gpu.times.items():
            assert kernel.timings[tile(size)] == pytest.approx(time)

    def test_one_more_value_measures_the_new_point(self, gpu: FakeGpu, tmp_path: Path) -> None:
        """Beside the best three of those that are known, in the same minute; the others are not compiled."""
        gpu.times |= {8: 4.0, 128: 0.5, 256: 9.0}
        kernel = call(make(), tiles=[8, 16, 32, 64])
        gpu.compiled.clear()
        kernel = call(make(), tiles=[8, 16, 32, 64, 128, 256])
        assert gpu.measured == [[8, 16, 32, 64], [32, 64, 16, 128, 256]]
        assert {config.defines["TILE"] for config in gpu.compiled} == {16, 32, 64, 128, 256}
        assert kernel.best_config == tile(128)
        assert [kernel.timings[tile(size)] for size in (8, 256)] == pytest.approx([4.0, 9.0])
        assert len(entries(tmp_path)) == 1
        call(make())
        assert len(gpu.measured) == 2

    def test_what_the_budget_left_is_measured_by_the_next(self, gpu: FakeGpu, monkeypatch: Any) -> None:
        def stingy(*given: Any) -> Any:
            measured = benchmark.time_all(*given)
            third = list(measured.results)[2]
            measured.results[third] = "over the budget"
            return measured

        with monkeypatch.context() as patch:
            patch.setattr(measure, "time_all", stingy)
            first = call(make())
        assert first.timings[tile(64)] == "over the budget"
        gpu.times[64] = 0.5
        assert call(make()).best_config == tile(64)
        assert gpu.measured == [[16, 32, 64], [32, 16, 64]]

    def test_times_of_other_code(self, gpu: FakeGpu, tmp_path: Path) -> None:
        """The translation changed since: what was measured is not believed."""
        call(make())
        (path,) = entries(tmp_path)
        question = record.ask(make()._definition.text, "add", [BEST], 0, {"n": 100}, (1, 1, 1, 0))
        assert question.file_name == path.name
        old = record.recall(question, [BEST], [BEST]).measured[BEST]
        record.keep(question, {BEST: record.Timing(old.time, "another")}, [], [])
        call(make())
        assert gpu.measured == [[16, 32, 64]] * 2
        call(make())
        assert len(gpu.measured) == 2

    def test_a_full_disk_is_no_lasting_reason(self, gpu: FakeGpu, monkeypatch: Any) -> None:
        """Triton could not store what it compiled; the next process tries again."""
        fits = gpu.kernel_on

        def full(self: Any, device: int, facts: Any) -> Any:
            if self.options.TILE == 32:
                raise refusal("Triton refuses", "TC530") from OSError(28, "No space left on device")
            return fits(self, device, facts)

        with monkeypatch.context() as patch:
            patch.setattr(TranslatedConfig, "kernel_on", full)
            assert call(make()).best_config == tile(64)
        assert call(make()).best_config == BEST

    def test_force(self, gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
        call(make())
        monkeypatch.setenv(record.FORCE_VARIABLE, "1")
        gpu.times[64] = 0.5
        assert call(make()).best_config == tile(64)
        monkeypatch.setenv(record.FORCE_VARIABLE, "0")
        assert call(make()).best_config == tile(64)
        assert len(gpu.measured) == 2

    def test_no_tune_takes_the_first_point(self, gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
        call(make())
        monkeypatch.setenv("PYTRITON_NO_TUNE", "1")
        assert call(make()).best_config == tile(16)

    def test_a_choice_that_fits_no_more(self, gpu: FakeGpu) -> None:
        call(make())
        gpu.broken = {32}
        assert call(make()).best_config == tile(64)
        assert gpu.measured == [[16, 32, 64], [64, 16]]
        assert call(make()).timings[BEST] == "tile 32 does not fit [TC531]"

    @pytest.mark.parametrize(
        "broken",
        [
            lambda whole: b"",
            lambda whole: whole[:-1],
            lambda whole: whole[: len(whole) // 2],
            lambda whole: whole[: len(whole) // 2] + bytes(len(whole) // 2),
            lambda whole: whole.replace(b"1.0", b"9.0"),
            lambda whole: whole.replace(b"TILE=32", b"TILE=16"),
            lambda whole: whole + b"x",
            lambda whole: b"[]",
            lambda whole: b"null",
            lambda whole: b"\xff\xfe",
            lambda whole: b"[" * 100_000,
            lambda whole: b'{"check": 1}',
        ],
    )
    def test_a_broken_entry_is_measured_again(
        self, gpu: FakeGpu, tmp_path: Path, broken: Callable[[bytes], bytes]
    ) -> None:
        call(make())
        (path,) = entries(tmp_path)
        whole = path.read_bytes()
        assert broken(whole) != whole
        path.write_bytes(broken(whole))
        assert call(make()).best_config == BEST
        assert len(gpu.measured) == 2
        assert path.read_bytes() == whole

    @pytest.mark.parametrize(
        "points",
        [
            [1],
            {"Config(TILE=32, num_warps=4)": 1.0},
            {"Config(TILE=32, num_warps=4)": {"time": 1.0}},
            {"Config(TILE=32, num_warps=4)": {"time": True, "code": ""}},
            {"Config(TILE=32, num_warps=4)": {"time": -1.0, "code": ""}},
            {"Config(TILE=32, num_warps=4)": {"time": float("nan"), "code": ""}},
            {"Config(TILE=99, num_warps=4)": {"time": 0.1, "code": ""}},
        ],
    )
    def test_a_whole_file_with_foreign_points(self, gpu: FakeGpu, tmp_path: Path, points: Any) -> None:
        call(make())
        (path,) = entries(tmp_path)
        body = json.loads(path.read_text()) | {"points": points}
        del body["check"]
        path.write_text(json.dumps({"check": record._digest(body), **body}))
        assert call(make()).best_config == BEST
        assert gpu.measured == [[16, 32, 64]] * 2

    def test_a_huge_entry_is_not_read(
        self, gpu: FakeGpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        call(make())
        monkeypatch.setattr(record, "_MAX_FILE_BYTES", 100)
        call(make())
        assert len(gpu.measured) == 2

    def test_what_was_not_measured_is_not_kept(self, gpu: FakeGpu, tmp_path: Path) -> None:
        gpu.can_save = False
        call(make())
        assert entries(tmp_path) == []

    def test_an_address_as_key_is_not_kept(self, gpu: FakeGpu, tmp_path: Path) -> None:
        call(make(autotune_key=["z"]))
        assert gpu.measured == [[16, 32, 64]]
        assert entries(tmp_path) == []


class TestReplay:
    @pytest.fixture
    def file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        path = tmp_path / "pinned.jsonl"
        monkeypatch.setenv(record.REPLAY_VARIABLE, str(path))
        return path

    def test_it_is_written_and_replayed(self, gpu: FakeGpu, file: Path, tmp_path: Path) -> None:
        call(call(make()), 200)
        assert [json.loads(line)["arguments"] for line in file.read_text().splitlines()] == [
            {"n": 100},
            {"n": 200},
        ]
        for path in entries(tmp_path):
            path.unlink()
        gpu.times = {16: 1.0, 32: 2.0, 64: 3.0}
        assert call(call(make()), 200).best_config == BEST
        assert len(gpu.measured) == 2
        assert len(file.read_text().splitlines()) == 2

    def test_what_is_recalled_is_written_too(
        self, gpu: FakeGpu, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv(record.REPLAY_VARIABLE)
        call(make())
        monkeypatch.setenv(record.REPLAY_VARIABLE, str(file))
        call(make())
        assert len(gpu.measured) == 1
        assert json.loads(file.read_text())["choice"] == "Config(TILE=32, num_warps=4)"

    def test_a_line_changed_by_hand(self, gpu: FakeGpu, file: Path) -> None:
        call(make())
        file.write_text("\n" + file.read_text().replace("TILE=32", "TILE=64") + "\n")
        assert call(make()).best_config == tile(64)

    def test_the_last_line_counts(self, gpu: FakeGpu, file: Path) -> None:
        call(make())
        file.write_text(file.read_text() + file.read_text().replace("TILE=32", "TILE=16"))
        assert call(make()).best_config == tile(16)

    def test_without_any_measuring(self, gpu: FakeGpu, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Pinned choices hold where timing is forbidden, and where it is forced."""
        call(make())
        monkeypatch.setenv("PYTRITON_NO_TUNE", "1")
        assert call(make()).best_config == BEST
        monkeypatch.setenv("PYTRITON_NO_TUNE", "0")
        monkeypatch.setenv(record.FORCE_VARIABLE, "1")
        assert call(make()).best_config == BEST
        assert len(gpu.measured) == 1

    def test_a_sweep_that_grew(self, gpu: FakeGpu, file: Path) -> None:
        call(make())
        gpu.times[8] = 0.1
        kernel = call(make(), tiles=[8, 16, 32, 64])
        assert kernel.best_config == BEST
        assert len(gpu.measured) == 1

    def test_other_fixed_defines(self, gpu: FakeGpu, file: Path) -> None:
        call(make())
        kernel = make()
        kernel(*ADDRESSES, 100, grid=grid, num_warps=8)
        assert kernel.best_config == Config({"TILE": 32}, 8)
        assert call(make(precision="tf32")).best_config == Config({"TILE": 32}, precision="tf32")
        assert len(gpu.measured) == 3

    def test_no_point_of_the_sweep(self, gpu: FakeGpu, file: Path) -> None:
        call(make())
        file.write_text(file.read_text().replace("TILE=32", "TILE=48"))
        with pytest.raises(TuneError) as caught:
            call(make())
        assert str(caught.value) == (
            f"{file}:1: add is pinned to Config(TILE=48, num_warps=4), which is not a config of its sweep [TC602]\n"
            "help: write one of Config(TILE=16, num_warps=4), Config(TILE=32, num_warps=4), "
            "Config(TILE=64, num_warps=4), or delete the line"
        )

    def test_a_choice_that_does_not_fit(self, gpu: FakeGpu, file: Path) -> None:
        call(make())
        gpu.broken = {32}
        with pytest.raises(Exception, match="tile 32 does not fit"):
            call(make())

    @pytest.mark.parametrize("line", ["{", "[]", "3", '{"choice": 3}', "TILE=32", "[" * 100_000])
    def test_no_choice(self, gpu: FakeGpu, file: Path, line: str) -> None:
        file.write_text(f"\n{line}\n")
        with pytest.raises(TuneError, match=r"pinned.jsonl:2: this line pins no choice \[TC602\]"):
            call(make())

    def test_no_text(self, gpu: FakeGpu, file: Path) -> None:
        file.write_bytes(b"\xff\xfe\xfd")
        with pytest.raises(TuneError, match=r"cannot be read: .* \[TC602\]"):
            call(make())

    def test_a_file_that_cannot_be_written(
        self, gpu: FakeGpu, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: Any) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(record, "append_line", refuse)
        with pytest.warns(RuntimeWarning, match="cannot add to PYTRITON_REPLAY=.*: Permission denied"):
            assert call(make()).best_config == BEST

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
    def test_a_file_without_end(self, gpu: FakeGpu, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(record.REPLAY_VARIABLE, "/dev/zero")
        monkeypatch.setattr(record, "_MAX_FILE_BYTES", 1 << 16)
        with pytest.raises(TuneError, match=r"/dev/zero cannot be read: it is too large \[TC602\]"):
            call(make())

    @pytest.mark.parametrize("cut", [1, 2, 50, -2])
    def test_a_torn_last_line(self, gpu: FakeGpu, file: Path, cut: int) -> None:
        """Its writer was killed, or the disk full: it says nothing, and the next writer cuts it off."""
        call(call(make()), 200)
        first, second = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(first + second[:cut])
        gpu.measured.clear()
        assert call(make()).best_config == BEST
        assert gpu.measured == []
        call(make(), 300)
        (kept, added) = [json.loads(line) for line in file.read_text().splitlines()]
        assert (kept["arguments"], added["arguments"]) == ({"n": 100}, {"n": 300})

    def test_a_last_line_that_a_person_left_open(self, gpu: FakeGpu, file: Path) -> None:
        call(make())
        file.write_text(file.read_text().replace("TILE=32", "TILE=64").strip())
        assert call(make()).best_config == tile(64)
        call(make(), 200)
        assert [json.loads(line)["arguments"] for line in file.read_text().splitlines()] == [
            {"n": 100},
            {"n": 200},
        ]

    def test_a_disk_that_fills_up(self, file: Path) -> None:
        """Half a line fits: it is removed, and the error reported."""
        file.write_bytes(b'{"choice": "a"}\n')

        class Full:
            def __init__(self, file: Any) -> None:
                self._file = file

            def write(self, line: bytes) -> int:
                return int(self._file.write(line[:5]))

            def __getattr__(self, name: str) -> Any:
                return getattr(self._file, name)

            def __enter__(self) -> Any:
                return self

            def __exit__(self, *_: object) -> None:
                self._file.close()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("builtins.open", lambda *given, **named: Full(io.FileIO(given[0], "a+")))
            with pytest.raises(OSError, match="No space left"):
                module_cache.append_line(file, b'{"choice": "b"}\n', lambda tail: True)
        assert file.read_bytes() == b'{"choice": "a"}\n'

    def test_a_directory(self, gpu: FakeGpu, file: Path) -> None:
        file.mkdir()
        with pytest.raises(TuneError, match=r"cannot be read"):
            call(make())


@pytest.mark.gpu
def test_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second kernel object compiles one point and measures none; its result is right."""
    monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path / "cache"))
    x, y = torch.randn(1000, device="cuda"), torch.randn(1000, device="cuda")
    timings = []
    for _ in range(2):
        z = torch.empty_like(x)
        kernel = make()
        kernel(z, x, y, 1000, grid=lambda opt: (-(-1000 // opt.TILE),))
        assert torch.equal(z, x + y)
        timings.append(dict(kernel.timings))
    assert timings[0] == timings[1]  # to the last digit: they were read
    assert len(entries(tmp_path)) == 1
