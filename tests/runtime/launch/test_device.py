"""Grids, and the way from launch values to Triton's launcher (which is stubbed: there is no GPU here)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
import torch

from pytriton.errors import LaunchError
from pytriton.runtime.launch import device as launch
from pytriton.runtime.launch.device import DeviceKernel, sizes_of
from pytriton.runtime.options.defines import Config, Options
from tests.runtime.kernels import parameter

OPTIONS = Options(Config({"TM": 64}))


@pytest.mark.parametrize(
    ("grid", "wanted"),
    [
        (3, (3, 1, 1)),
        ((3,), (3, 1, 1)),
        ([3, 4], (3, 4, 1)),
        ((3, 4, 5), (3, 4, 5)),
        (torch.Size([2, 3]), (2, 3, 1)),
        (numpy.int32(3), (3, 1, 1)),
        ((numpy.int64(3), torch.tensor(4)), (3, 4, 1)),
        (lambda opt: (opt.TM, 2), (64, 2, 1)),
        (lambda opt: opt.TM, (64, 1, 1)),
        ((2**31 - 1, 65535, 65535), (2**31 - 1, 65535, 65535)),
        (0, None),
        ((5, 0), None),
        ((0, 1, 0), None),
        (lambda opt: [0], None),
    ],
)
def test_sizes(grid: Any, wanted: Any) -> None:
    assert sizes_of(grid, OPTIONS, "dot") == wanted


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (
            (2.5,),
            "dot: the grid is (2.5,), but its entries must be integers [TC511]\nhelp: give a function "
            "of the options, or 1 to 3 integers; round up with pytriton.cdiv(a, b)",
        ),
        ("ab", "dot: the grid is ('ab',), but its entries must be integers [TC511]\n"),
        (lambda opt: None, "dot: the grid is None: does its function return nothing? [TC511]\n"),
        ((), "dot: the grid is (), which has 0 entries [TC511]\nhelp: a grid has 1 to 3"),
        ((1, 2, 3, 4), "dot: the grid is (1, 2, 3, 4), which has 4 entries [TC511]\n"),
        (-1, "dot: the grid is (-1,), but axis 0 takes 0 to 2147483647 [TC512]"),
        (
            (1, 65536),
            "dot: the grid is (1, 65536), but axis 1 takes 0 to 65535 [TC512]\n"
            "help: put the longest axis first, or give each program more work",
        ),
        ((2**31,), "dot: the grid is (2147483648,), but axis 0 takes 0 to 2147483647 [TC512]\n"),
        ((1, 1, 65536), "dot: the grid is (1, 1, 65536), but axis 2 takes 0 to 65535 [TC512]\n"),
        ((0, -1), "dot: the grid is (0, -1), but axis 1 takes 0 to 65535 [TC512]"),
    ],
)
def test_refused(grid: Any, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        sizes_of(grid, OPTIONS, "dot")
    assert str(caught.value).startswith(message)


def test_an_error_in_the_callable_is_the_users() -> None:
    with pytest.raises(ZeroDivisionError):
        sizes_of(lambda opt: (1 // 0,), OPTIONS, "dot")


class FakeDevice:
    """Stands in for torch.cuda and Triton's driver; remembers what was launched where."""

    def __init__(self) -> None:
        self.current = 0
        self.launched: list[Any] = []

    @contextlib.contextmanager
    def device(self, index: int) -> Iterator[None]:
        before, self.current = self.current, index
        yield
        self.current = before

    def compiled(self) -> Any:
        return SimpleNamespace(
            run=lambda *arguments: self.launched.append((self.current, arguments)),
            function="handle",
            packed_metadata="metadata",
            launch_metadata=lambda grid, stream, *arguments: ("told", grid, stream, arguments),
        )


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
    fake = FakeDevice()
    monkeypatch.setattr(torch.cuda, "device", fake.device)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: fake.current)
    active = SimpleNamespace(get_current_stream=lambda device: f"stream {device}")
    monkeypatch.setattr(launch, "driver", SimpleNamespace(active=active))
    hooks = SimpleNamespace(launch_enter_hook="enter", launch_exit_hook="exit")
    monkeypatch.setattr(launch, "knobs", SimpleNamespace(runtime=hooks))
    return fake


@pytest.mark.parametrize("device", [0, 1])
def test_launcher_call(fake: FakeDevice, device: int) -> None:
    parameters = [parameter("float* x"), parameter("int n")]
    kernel = DeviceKernel(fake.compiled(), device, parameters, [64, 0.5])
    kernel((3, 2, 1), [4096, 7])
    stream = f"stream {device}"
    told = ("told", (3, 2, 1), stream, (4096, 7, 64, 0.5))
    assert fake.launched == [
        (
            device,
            (3, 2, 1, stream, "handle", "metadata", told, "enter", "exit", 4096, 7, 64, 0.5),
        )
    ]
    assert fake.current == 0


@pytest.mark.parametrize(("version", "wanted"), [((3, 6), 0xFE), ((3, 7), -2)])
def test_signed_bytes(
    fake: FakeDevice, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], wanted: int
) -> None:
    monkeypatch.setattr(launch, "_TRITON_VERSION", version)
    parameters = [parameter("char c"), parameter("short s"), parameter("unsigned char u")]
    DeviceKernel(fake.compiled(), 0, parameters, [])((1, 1, 1), [-2, -2, 2])
    assert fake.launched[0][1][-3:] == (wanted, -2, 2)
