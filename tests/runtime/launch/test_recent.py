"""Defines of a call and what was kept for them: equal is not enough, types count too."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.launch import fast_path
from pytriton.runtime.launch.fast_path import Recent, key_of


class ByKey:
    """What a kernel does where nothing is in C."""

    def __init__(self) -> None:
        self.values: dict[Any, Any] = {}

    def put(self, value: Any, *given: Any) -> None:
        self.values[key_of(*given)] = value

    def get(self, *given: Any) -> Any:
        return self.values.get(key_of(*given))


@pytest.fixture(params=["C", "Python"])
def recent(request: pytest.FixtureRequest) -> Any:
    """Both comparisons: they agree about what is the same, as far as one of them knows it."""
    if request.param == "Python":
        return ByKey()
    if fast_path._module() is None:
        pytest.skip("no C compiler")
    return Recent[Any]()


VALUES: list[Any] = [
    *(1, True, 1.0, "1", numpy.int64(1), numpy.float32(1), 2, 0, False, 0.0, -0.0, -1, None),
    *(numpy.float32(0), numpy.float32(-0.0), [0.0], [-0.0], (1, -0.0), (1, 0.0), 10.0),
    *(torch.float16, torch.float32, "half", "", 128, 10**30),
    *(
        [1, 2],
        [1, 2.0],
        [True, 2],
        (1, 2),
        [1],
        [2, 1],
        [],
        ["1", "2"],
        [torch.float16, torch.float32],
    ),
]


@pytest.mark.parametrize("at", range(len(VALUES)))
def test_every_pair_of_values(recent: Recent[str], at: int) -> None:
    recent.put("kept", {"A": 5, "B": VALUES[at]}, 4, None)
    for other, value in enumerate(VALUES):
        found = recent.get({"A": 5, "B": value}, 4, None)
        assert found == ("kept" if other == at else None), (VALUES[at], value)


def test_names_and_their_order(recent: Recent[str]) -> None:
    """The order of lists is the order of a sweep."""
    recent.put("kept", {"A": 1, "B": 2})
    assert recent.get({"A": 1, "B": 2}) == "kept"
    for other in (
        {"B": 2, "A": 1},
        {"A": 1},
        {"A": 1, "C": 2},
        {"A": 1, "B": 2, "C": 3},
        {"B": 1, "A": 2},
        {},
        None,
    ):
        assert recent.get(other) is None


@pytest.mark.parametrize("more", list(itertools.product([4, 8, True, None, [4, 8], [4]], [None, 3, 3.0])))
def test_what_is_given_beside_defines(recent: Recent[str], more: tuple[Any, ...]) -> None:
    recent.put("kept", None, 4, 3)
    assert recent.get(None, 4, 3) == "kept"
    same = [type(each) for each in more] == [int, int] and more == (4, 3)
    assert (recent.get(None, *more) is not None) == same


def test_lists_and_dictionaries_that_change_in_place(recent: Recent[str]) -> None:
    tiles = [32, 64]
    defines: dict[str, Any] = {"TM": tiles, "TN": 16}
    recent.put("kept", defines)
    assert recent.get(defines) == "kept"
    assert recent.get({"TM": [32, 64], "TN": 16}) == "kept"
    tiles.append(128)
    assert recent.get(defines) is None
    del tiles[2]
    assert recent.get(defines) == "kept"
    defines["TN"] = 32
    assert recent.get(defines) is None


def test_the_last_few_are_known() -> None:
    if fast_path._module() is None:
        pytest.skip("no C compiler")
    recent: Recent[int] = Recent()
    for number in range(20):
        recent.put(number, {"A": number})
    found = [number for number in range(20) if recent.get({"A": number}) == number]
    assert found == list(range(12, 20))


@pytest.mark.parametrize("value", [torch.ones(2), numpy.ones(2), torch.tensor(3), object(), {"A": 1}, {1}])
def test_what_is_no_define_is_refused_as_ever(value: Any) -> None:
    """Comparing it with what was kept may raise, or give an array."""
    kernel = pytriton.kernel("__global__ void f(int* z) { *z = V; }")
    z = torch.zeros(1, dtype=torch.int32)
    kernel(z, grid=1, defines={"V": 3})
    assert z.item() == 3
    with pytest.raises(LaunchError, match="TC513"):
        kernel(z, grid=1, defines={"V": value})
    kernel(z, grid=1, defines={"V": 4})
    assert z.item() == 4


def test_kernels_see_their_own_defines() -> None:
    """The same through calls: 1 / 2 is 0 for integers and 0.5 for floats, True is 1."""
    kernel = pytriton.kernel("__global__ void f(float* z) { *z = V / 2; *(z + 1) = sizeof(V); }")
    z = torch.zeros(2)
    for _ in range(3):
        for value, wanted in (
            (1, [0, 4]),
            (1.0, [0.5, 4]),
            (True, [0, 4]),
            ("1", [0, 4]),
            ("1.0f", [0.5, 4]),
        ):
            kernel(z, (1,), V=value)
            assert z.tolist()[:1] == wanted[:1], value


def test_the_two_zeros_are_two_defines() -> None:
    """0.0 == -0.0, alone and in a sweep, but 1 / V tells them apart."""
    kernel = pytriton.kernel("__global__ void f(float* z) { *z = 1 / V; }", {"V": 1.0})
    z = torch.zeros(1)
    for _ in range(3):
        for value in (0.0, -0.0, numpy.float64(0), numpy.float64(-0.0), [0.0], [-0.0]):
            kernel(z, grid=1, defines={"V": value})
            sign = numpy.signbit(value[0] if isinstance(value, list) else value)
            assert z.item() == (-math.inf if sign else math.inf), value
