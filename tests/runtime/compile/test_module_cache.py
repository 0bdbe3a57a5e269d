"""The directory of generated modules: private, atomic, and never trusted."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytriton.errors import LaunchError
from pytriton.runtime.compile import module_cache
from pytriton.runtime.compile.load import load

TEXT = "import triton\n\n\n@triton.jit\ndef f(x):\n    pass\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(module_cache.DIRECTORY_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(module_cache, "_stand_ins", {})
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "cache"


def refused() -> str:
    with pytest.raises(LaunchError) as caught:
        module_cache.directory()
    return str(caught.value)


def test_made_private(place: Path) -> None:
    os.umask(os.umask(0))
    path = module_cache.store("f", TEXT)
    assert path.parent == place
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.name == f"{module_cache.module_name('f', TEXT)}.py"
    assert path.read_text() == TEXT


def test_named_by_content(place: Path) -> None:
    assert module_cache.store("f", TEXT) == module_cache.store("f", TEXT)
    assert module_cache.store("f", TEXT) != module_cache.store("f", TEXT + "\n")
    assert len(list(place.iterdir())) == 2


def test_default_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(module_cache.DIRECTORY_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert module_cache.directory() == tmp_path / "pytriton"


def test_changed_file_is_replaced(place: Path) -> None:
    path = module_cache.store("f", TEXT)
    path.write_text("evil")
    assert module_cache.store("f", TEXT) == path
    assert path.read_text() == TEXT


def test_a_link_in_the_place_of_a_file_is_replaced(place: Path, tmp_path: Path) -> None:
    path = module_cache.store("f", TEXT)
    path.unlink()
    (tmp_path / "elsewhere").write_text("untouched")
    path.symlink_to(tmp_path / "elsewhere")
    module_cache.store("f", TEXT)
    assert not path.is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "untouched"


def test_what_runs_is_the_text_in_memory(place: Path) -> None:
    text = TEXT.replace("pass", "x + 1")
    path = module_cache.store("f", text)
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
    assert module_cache.directory() == place


def test_of_another_user(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
    assert refused().startswith(f"the cache directory {place} belongs to another user [TC520]\nhelp: ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_given_to_another_user(place: Path) -> None:
    place.mkdir(mode=0o700)
    os.chown(place, 12345, -1)
    assert "belongs to another user" in refused()


@pytest.mark.parametrize("made", [True, False])
def test_a_link(place: Path, tmp_path: Path, made: bool) -> None:
    """Whoever may change the link chooses the directory; its target can be named instead."""
    target = tmp_path / "target"
    if made:
        target.mkdir(mode=0o700)
    place.symlink_to(target)
    assert refused() == (
        f"the cache directory {place} is a link to {target} [TC520]\n"
        f"help: set PYTRITON_CACHE_DIR={target}, or remove the link"
    )
    assert not made or list(target.iterdir()) == []


def test_a_link_above_it(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scratch").mkdir(mode=0o700)
    (tmp_path / "home").symlink_to(tmp_path / "scratch")
    monkeypatch.setenv(module_cache.DIRECTORY_VARIABLE, str(tmp_path / "home" / "cache"))
    assert module_cache.store("f", TEXT).exists()


def test_a_file_in_its_place(place: Path) -> None:
    place.write_text("")
    assert refused().startswith(f"{place} is not a directory [TC520]\n")


def test_cannot_be_made(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(module_cache.DIRECTORY_VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="pytriton cannot write to its cache directory") as seen:
        path = module_cache.store("f", TEXT)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert path.read_text() == TEXT
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with warnings.catch_warnings(action="error"):
        assert module_cache.store("f", TEXT) == path


def test_cannot_be_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.mkdir(mode=0o700)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.warns(RuntimeWarning, match="it is read-only"):
        path = module_cache.store("f", TEXT)
    assert path.parent != place


def test_full_disk(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def fail_there(source: str, target: Path) -> None:
        if target.parent == place:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_there)
    with pytest.warns(RuntimeWarning, match="No space left"):
        path = module_cache.store("f", TEXT)
    assert path.read_text() == TEXT
    assert list(place.iterdir()) == []


def test_many_threads(place: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(lambda _: module_cache.store("f", TEXT), range(50)))
    assert [path.name for path in place.iterdir()] == [paths.pop().name]


class TestStandIn:
    """What serves where the directory cannot be written."""

    @pytest.fixture
    def unusable(self, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv(module_cache.DIRECTORY_VARIABLE, str(tmp_path / "file" / "cache"))
        return tmp_path / "temporary"

    @pytest.mark.filterwarnings("ignore:pytriton cannot write")
    def test_one_for_all_processes(self, unusable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for _ in range(3):
            module_cache.store("f", TEXT)
            monkeypatch.setattr(module_cache, "_stand_ins", {})
        assert [path.name for path in unusable.iterdir()] == [f"pytriton-{os.geteuid()}"]

    @pytest.mark.filterwarnings("ignore:pytriton cannot write")
    @pytest.mark.parametrize("mode", [0o777, 0o720])
    def test_a_name_that_others_can_write_is_not_used(self, unusable: Path, mode: int) -> None:
        taken = unusable / f"pytriton-{os.geteuid()}"
        taken.mkdir()
        taken.chmod(mode)
        path = module_cache.store("f", TEXT)
        assert path.parent != taken
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert list(taken.iterdir()) == []

    @pytest.mark.filterwarnings("ignore:pytriton cannot write")
    def test_a_link_of_that_name_is_not_followed(self, unusable: Path, tmp_path: Path) -> None:
        (tmp_path / "target").mkdir(mode=0o700)
        (unusable / f"pytriton-{os.geteuid()}").symlink_to(tmp_path / "target")
        module_cache.store("f", TEXT)
        assert list((tmp_path / "target").iterdir()) == []

    @pytest.mark.filterwarnings("ignore:pytriton cannot write")
    def test_nothing_can_be_written_anywhere(self, unusable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The module runs from memory."""

        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "replace", full)
        text = TEXT.replace("pass", "x + 7")
        assert not module_cache.store("f", text).exists()
        assert "x + 7" in load("f", text).compiled.src
        assert [path for path in unusable.rglob("*") if path.is_file()] == []

    @pytest.mark.filterwarnings("ignore:pytriton cannot write")
    def test_no_home(self, place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """Nothing called ~ is made in the current directory."""
        monkeypatch.delenv(module_cache.DIRECTORY_VARIABLE)
        monkeypatch.setattr(module_cache, "user_cache_path", lambda name: Path("~/.cache", name))
        monkeypatch.chdir(tmp_path)
        assert module_cache.store("f", TEXT).parent.parent == tmp_path / "temporary"
        assert not Path("~").exists()

    @pytest.mark.filterwarnings("ignore:pytriton cannot write")
    def test_the_current_directory_is_gone(
        self, place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "gone").mkdir()
        monkeypatch.chdir(tmp_path / "gone")
        (tmp_path / "gone").rmdir()
        monkeypatch.setenv(module_cache.DIRECTORY_VARIABLE, "cache")
        assert module_cache.store("f", TEXT).exists()


class TestLeftovers:
    """Temporary files of writers that were killed."""

    @pytest.fixture(autouse=True)
    def _first_use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module_cache, "_cleaned", set())

    @pytest.mark.parametrize(("age", "kept"), [(-1e9, False), (0.0, True), (1e9, False)])
    def test_removed_by_age(self, place: Path, age: float, kept: bool) -> None:
        """Also where the clock was moved: what claims to be from the future goes too."""
        place.mkdir(mode=0o700)
        left = place / ".writing-1.py"
        left.write_text("half a mod")
        os.utime(left, (time.time() - age,) * 2)
        module_cache.store("f", TEXT)
        assert left.exists() == kept


def test_reading_is_bounded(place: Path) -> None:
    module_cache.store_bytes("a", b"1234")
    assert [module_cache.load_bytes("a", largest) for largest in (3, 4)] == [None, b"1234"]
    assert module_cache.load_bytes("b", 4) is None
    (place / "c").mkdir()
    assert module_cache.load_bytes("c", 4) is None
