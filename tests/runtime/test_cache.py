"""The directory of generated modules: private, atomic, and never trusted."""

from __future__ import annotations

import os
import stat
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytriton.errors import LaunchError
from pytriton.runtime import cache
from pytriton.runtime.load import load

TEXT = "import triton\n\n\n@triton.jit\ndef f(x):\n    pass\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.DIRECTORY_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_stand_ins", {})
    return tmp_path / "cache"


def refused() -> str:
    with pytest.raises(LaunchError) as caught:
        cache.directory()
    return str(caught.value)


def test_made_private(place: Path) -> None:
    os.umask(os.umask(0))
    path = cache.store("f", TEXT)
    assert path.parent == place
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.name == f"{cache.module_name('f', TEXT)}.py"
    assert path.read_text() == TEXT


def test_named_by_content(place: Path) -> None:
    assert cache.store("f", TEXT) == cache.store("f", TEXT)
    assert cache.store("f", TEXT) != cache.store("f", TEXT + "\n")
    assert len(list(place.iterdir())) == 2


def test_default_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(cache.DIRECTORY_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.directory() == tmp_path / "pytriton"


def test_changed_file_is_replaced(place: Path) -> None:
    path = cache.store("f", TEXT)
    path.write_text("evil")
    assert cache.store("f", TEXT) == path
    assert path.read_text() == TEXT


def test_a_link_in_the_place_of_a_file_is_replaced(place: Path, tmp_path: Path) -> None:
    path = cache.store("f", TEXT)
    path.unlink()
    (tmp_path / "elsewhere").write_text("untouched")
    path.symlink_to(tmp_path / "elsewhere")
    cache.store("f", TEXT)
    assert not path.is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "untouched"


def test_what_runs_is_the_text_in_memory(place: Path) -> None:
    text = TEXT.replace("pass", "x + 1")
    path = cache.store("f", text)
    path.write_text("raise SystemExit")
    assert "x + 1" in load("f", text).compiled.src


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o720])
def test_writable_by_others(place: Path, mode: int) -> None:
    place.mkdir()
    place.chmod(mode)
    assert refused() == (
        f"other users can write to the cache directory {place} ({mode:o}) [TC520]\n"
        f"help: chmod 700 it, or name another directory in PYTRITON_CACHE_DIR"
    )


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o750])
def test_readable_by_others(place: Path, mode: int) -> None:
    place.mkdir()
    place.chmod(mode)
    assert cache.directory() == place


def test_of_another_user(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
    assert refused().startswith(f"the cache directory {place} belongs to another user [TC520]\nhelp: ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize("target", [0, 12345])
def test_link_made_by_another_user(place: Path, tmp_path: Path, target: int) -> None:
    (tmp_path / "target").mkdir(mode=0o700)
    os.chown(tmp_path / "target", target, -1)
    place.symlink_to(tmp_path / "target")
    if not target:
        os.chown(place, 12345, -1, follow_symlinks=False)
    assert "belongs to another user" in refused()


def test_own_link(place: Path, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir(mode=0o700)
    place.symlink_to(tmp_path / "target")
    assert cache.store("f", TEXT).exists()


def test_own_link_to_an_open_directory(place: Path, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "target").chmod(0o777)
    place.symlink_to(tmp_path / "target")
    assert "other users can write" in refused()


def test_a_file_in_its_place(place: Path) -> None:
    place.write_text("")
    assert refused().startswith(f"{place} is no directory [TC520]\n")


def test_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_stand_ins", {})
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.DIRECTORY_VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="pytriton cannot write to its cache directory") as seen:
        path = cache.store("f", TEXT)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert path.read_text() == TEXT
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.store("f", TEXT) == path


def test_cannot_be_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.mkdir(mode=0o700)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.warns(RuntimeWarning, match="it is read-only"):
        path = cache.store("f", TEXT)
    assert path.parent != place


def test_full_disk(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def fail_there(source: str, target: Path) -> None:
        if target.parent == place:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_there)
    with pytest.warns(RuntimeWarning, match="No space left"):
        path = cache.store("f", TEXT)
    assert path.read_text() == TEXT
    assert list(place.iterdir()) == []


def test_many_threads(place: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(lambda _: cache.store("f", TEXT), range(50)))
    assert [path.name for path in place.iterdir()] == [paths.pop().name]
