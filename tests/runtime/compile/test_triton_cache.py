"""Triton's cache directory cannot be written: its compiler works all the same, with one warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import triton
from triton import knobs

import pytriton
from pytriton.runtime.compile import compiler as compile_module
from tests.runtime.kernels import ADD


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("pytriton.runtime.errors._warned", set())
    with knobs.cache.scope():
        yield


def ptx(tile: int) -> str:
    return pytriton.kernel(ADD, {"TILE": tile}).asm("ptx", target="cuda:90")


def test_a_directory_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path / "ours"))
    knobs.cache.dir = str(tmp_path / "file" / "cache")
    with pytest.warns(RuntimeWarning, match="Triton cannot use its cache directory .* Name another") as seen:
        assert ".entry add" in ptx(64)
    assert len(seen) == 1
    assert knobs.cache.dir == str(tmp_path / "ours" / "triton")
    assert any((tmp_path / "ours" / "triton").iterdir())
    assert ".entry add" in ptx(128)


def test_a_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path / "ours"))
    knobs.cache.dir = str(tmp_path / "theirs")
    compile_ = triton.compile

    def full(*given: Any, **named: Any) -> Any:
        if knobs.cache.dir == str(tmp_path / "theirs"):
            raise OSError(28, "No space left on device")
        return compile_(*given, **named)

    monkeypatch.setattr(compile_module.triton, "compile", full)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        assert ".entry add" in ptx(256)


def test_no_directory_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it cannot compile, and says why."""
    monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path / "ours"))

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compile_module.triton, "compile", full)
    with (
        pytest.warns(RuntimeWarning, match="No space left"),
        pytest.raises(pytriton.CompileError, match="No space left on device"),
    ):
        ptx(512)


def test_one_that_can_be_written_stays(tmp_path: Path) -> None:
    knobs.cache.dir = str(tmp_path / "new" / "cache")
    assert ".entry add" in ptx(1024)
    assert knobs.cache.dir == str(tmp_path / "new" / "cache")
