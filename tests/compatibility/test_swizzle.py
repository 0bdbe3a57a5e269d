"""``swizzle`` was called ``remap``: what earlier versions pickled, stored and printed is read, silently.

Made with version 0.1.0 before the word changed: pickles by protocol 4, the file of times and the line of
``PYTRITON_REPLAY`` by a tuner that ran. If one of these fails, the old word is no longer understood; never make the
data anew.
"""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytriton
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.defines import Config
from pytriton.tuning import record
from pytriton.tuning.record import Question, Timing
from tests.compatibility.test_pickles import read

STAGES = Config({"TILE": 32}, 4, 3, swizzle=8)
DESCRIBED = Config({"TILE": 64}, 8, swizzle=8, descriptors=True)
PLAIN = Config({"TILE": 64}, 8)

CONFIG = """
gASVkQAAAAAAAACMGHB5dHJpdG9uLnJ1bnRpbWUub3B0aW9uc5SMCl9jb25maWdfb2aUk5R9lCiMB2RlZmluZXOUfZSMBFRJTEWUS0BzjAludW1fd2
FycHOUSwiMCm51bV9zdGFnZXOUTowJcHJlY2lzaW9ulIwEaWVlZZSMBXJlbWFwlEsIjAtkZXNjcmlwdG9yc5SIdYWUUpQu
"""
KERNEL = """
gASV8QEAAAAAAACMF3B5dHJpdG9uLnJ1bnRpbWUua2VybmVslIwJdW5waWNrbGVklJOUfZQojAZmb3JtYXSUSwGMB3ZlcnNpb26UjAUwLjEuMJSMBn
NvdXJjZZRdlCiMml9fZ2xvYmFsX18gdm9pZCBzY2FsZShUWVBFKiB6LCBUWVBFKiB4LCBpbnQgbikgewogIGludCByW1RJTEVdID0gZ2V0X3Byb2dy
YW1faWQoMCkgKiBUSUxFICsgMCAuLi4gVElMRTsKICAqPyhyIDwgbikoeiArIHIpID0gKj8ociA8IG4pKHggKyByKSAqIEZBQ1RPUjsKfQqUjAg8a2
VybmVsPpSMCW1ha2UucHk6OZRljAR0ZXh0lF2UKE5dlIlljAdkZWZpbmVzlH2UKIwEVFlQRZSMBXRvcmNolIwHZmxvYXQzMpSTlIwGRkFDVE9SlEsD
dYwJbnVtX3dhcnBzlE6MCm51bV9zdGFnZXOUTowGcG9pbnRzlF2UfZQoaA99lIwEVElMRZRLIHNoF0sDjAVyZW1hcJRLCHVhjAhzZXR0aW5nc5R9lI
wGZGV2aWNllE5zjAdvdXRwdXRzlF2UjApoZXVyaXN0aWNzlE6MCWNvbnN0YW50c5R9lCiMCmV2ZXJ5d2hlcmWUfZSMAm9ulF2UdXWFlFKULg==
"""
TIMES = """\
{
 "check": "48017ee8d0132937",
 "kernel": "scale",
 "text": "0123456789abcdef",
 "device": "a GPU",
 "arguments": {
  "n": 100
 },
 "facts": "bba",
 "versions": [
  "0.1.0",
  "3.9.0",
  "2.13.0+cpu"
 ],
 "points": {
  "Config(TILE=32, num_warps=4, num_stages=3, remap=8)": {
   "time": 0.25,
   "code": "code"
  },
  "Config(TILE=64, num_warps=8, remap=8, descriptors=True)": {
   "time": 0.5,
   "code": "code"
  },
  "Config(TILE=64, num_warps=8)": {
   "time": "it does not fit [TC531]",
   "code": ""
  }
 }
}"""
FILE = "tuned_f63576f29cecca95.json"
PIN = (
    '{"kernel": "scale", "text": "0123456789abcdef", "fixed": {"num_stages": "None"}, "device": "a GPU", '
    '"arguments": {"n": 100}, "choice": "Config(TILE=32, num_warps=4, num_stages=3, remap=8)"}\n'
)
QUESTION = Question("scale", "0123456789abcdef", {"num_stages": "None"}, "a GPU", {"n": 100}, "bba")
FOUND = {
    STAGES: Timing(0.25, "code"),
    DESCRIBED: Timing(0.5, "code"),
    PLAIN: Timing("it does not fit [TC531]"),
}


@pytest.fixture(autouse=True)
def _silently() -> Iterator[None]:
    with warnings.catch_warnings(action="error"):
        yield


@pytest.fixture
def times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory of that time; the versions of that time are in its file's name."""
    monkeypatch.setenv("PYTRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(record, "__version__", "0.1.0")
    monkeypatch.setattr(record.triton, "__version__", "3.9.0")
    monkeypatch.setattr(record.torch, "__version__", "2.13.0+cpu")
    (tmp_path / FILE).write_text(TIMES)
    return tmp_path / FILE


def test_a_config() -> None:
    assert read(CONFIG) == DESCRIBED


def test_a_kernel() -> None:
    kernel: Kernel = read(KERNEL)
    assert kernel._definition.points == (STAGES,)


def test_a_new_pickle_can_be_read_by_an_old_version() -> None:
    """Workers of a process pool may be older: their ``Config`` takes ``remap``."""
    assert pickle.loads(pickle.dumps(DESCRIBED)) == DESCRIBED
    for value in (DESCRIBED, read(KERNEL)):
        data = pickle.dumps(value)
        assert b"remap" in data
        assert b"swizzle" not in data


def test_times(times: Path) -> None:
    points = [*FOUND, Config({"TILE": 16})]
    known = record.recall(QUESTION, points, points)
    assert known.measured == FOUND
    assert known.finalists == []  # not recorded then


def test_times_are_kept_beside_new_ones(times: Path) -> None:
    new = {DESCRIBED: Timing(0.125, "other"), Config({"TILE": 16}): Timing(1.0, "code")}
    record.keep(QUESTION, new, [*new], [DESCRIBED])
    points = json.loads(times.read_text())["points"]
    assert list(points) == [*map(repr, FOUND), "Config(TILE=16, num_warps=4)"]
    assert record.recall(QUESTION, [*new], [*FOUND, *new]).measured == {**FOUND, **new}


def test_a_pin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pins").write_text(PIN)
    monkeypatch.setenv("PYTRITON_REPLAY", str(tmp_path / "pins"))
    assert record.pinned(QUESTION, [PLAIN, DESCRIBED, STAGES]) == STAGES


def test_a_define_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps its name: the define stands before the warps, the setting after them."""
    point = Config({"A": ", remap=8)", "remap": 8})
    line = json.loads(PIN) | {"choice": repr(point)}
    (tmp_path / "pins").write_text(json.dumps(line) + "\n")
    monkeypatch.setenv("PYTRITON_REPLAY", str(tmp_path / "pins"))
    assert record.pinned(QUESTION, [point]) == point


def test_the_line_with_which_tuning_ended() -> None:
    """A user may have pasted it."""
    assert pytriton.config({"TILE": 32}, 4, num_stages=3, remap=8) == STAGES
    assert repr(STAGES) == "Config(TILE=32, num_warps=4, num_stages=3, swizzle=8)"
    with pytest.raises(TypeError, match="remap"):
        Config({"TILE": 32}, remap=8)  # type: ignore[call-arg]
