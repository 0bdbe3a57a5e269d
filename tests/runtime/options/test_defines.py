"""Defines, sweeps, and what a grid callable gets."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

from pytriton.errors import LaunchError
from pytriton.runtime.options.defines import (
    Config,
    Options,
    config,
    configs_of,
    defines_of,
    number_of,
    product,
)
from pytriton.runtime.tensors import cdiv, cdiv_sum, next_power_of_2


class TestOptions:
    opt = Options(Config({"TM": "128", "AT": False, "SCALE": "0.5", "TYPE": "float"}, 8, 3))

    def test_every_way_to_ask(self) -> None:
        opt = self.opt
        assert opt.TM == opt.d("TM") == opt.D("TM") == opt["TM"] == opt.defines["TM"] == 128
        assert type(opt.TM) is int
        assert (opt.num_warps, opt.num_stages) == (8, 3)
        assert (opt.AT, opt.SCALE, opt.TYPE) == (0, 0.5, "float")

    def test_unknown_name(self) -> None:
        message = "the options have no define 'TN' [TC514]\nhelp: there are AT, SCALE, TM, TYPE"
        for ask in (lambda: self.opt.TN, lambda: self.opt.d("TN"), lambda: self.opt["TN"]):
            with pytest.raises(LaunchError) as caught:
                ask()
            assert str(caught.value) == message
        assert not hasattr(self.opt, "TN")

    def test_no_defines(self) -> None:
        with pytest.raises(LaunchError, match="help: there are none at all"):
            Options(Config()).TM  # noqa: B018

    def test_read_only(self) -> None:
        with pytest.raises(AttributeError, match="read-only"):
            self.opt.TM = 1
        with pytest.raises(TypeError):
            self.opt.defines["TM"] = 1  # type: ignore[index]

    def test_repr(self) -> None:
        assert repr(self.opt) == ("Options(TM=128, AT=0, SCALE=0.5, TYPE='float', num_warps=8, num_stages=3)")

    def test_a_define_called_like_a_field(self) -> None:
        opt = Options(Config({"num_warps": 3, "d": 4}))
        assert (opt.num_warps, opt["num_warps"], opt["d"]) == (4, 3, 4)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("128", 128),
        (" 7 ", 7),
        ("-3", -3),
        ("0x10", 16),
        ("0", 0),
        ("1e-5", 1e-5),
        (".5", 0.5),
        ("2.", 2.0),
        (True, 1),
        (5, 5),
        (0.5, 0.5),
        (torch.float16, torch.float16),
        ("010", 8),  # C's octal
        ("1e3", 1000.0),
        # what is no plain number stays text
        ("09", "09"),
        ("1_000", "1_000"),
        ("lda", "lda"),
        ("", ""),
        ("nan", "nan"),
        ("1, 2", "1, 2"),
    ],
)
def test_numbers(given: Any, wanted: Any) -> None:
    assert number_of(given) == wanted


class TestDefines:
    def test_plain(self) -> None:
        given = {"A": numpy.int32(1), "B": numpy.float64(0.5), "C": numpy.bool_(True), "D": [1]}
        got = defines_of(given)
        assert got == {"A": 1, "B": 0.5, "C": True, "D": 1}
        assert [type(value) for value in got.values()] == [int, float, bool, int]

    @pytest.mark.parametrize("value", [{}, None, torch.zeros(()), object(), [[1]]])
    def test_no_define(self, value: object) -> None:
        with pytest.raises(
            LaunchError,
            match=r"define 'A' (is|must not be) .*\[TC513\]\nhelp: (give an int|a define is a number or a text)",
        ):
            defines_of({"A": value})

    def test_message(self) -> None:
        with pytest.raises(LaunchError) as caught:
            defines_of({"TM": None})
        assert str(caught.value) == (
            "define 'TM' must not be None [TC513]\n"
            "help: give an int, a bool, a float, a str, a torch.dtype, or a list of those"
        )

    def test_empty_list(self) -> None:
        with pytest.raises(LaunchError, match=r"^define 'TM' is an empty list \[TC513\]"):
            defines_of({"TM": []})

    def test_name(self) -> None:
        with pytest.raises(LaunchError, match=r"^the name of a define must be a str, not 1 \[TC513\]"):
            defines_of({1: 1})  # type: ignore[dict-item]


class TestConfig:
    def test_equality_is_that_of_the_code(self) -> None:
        values = [1, True, 1.0, "1", 0.0, -0.0]
        configs = {Config({"A": value}) for value in values}
        assert len(configs) == len(values)
        assert Config({"A": 1, "B": 2}) == Config({"B": 2, "A": 1})
        assert Config({"A": 1}, 8) != Config({"A": 1}, 4)
        assert Config() != 1

    def test_repr(self) -> None:
        assert repr(Config({"TM": 64, "T": "half"}, 8)) == "Config(TM=64, T='half', num_warps=8)"
        assert repr(Config({}, 4, 3)) == "Config(num_warps=4, num_stages=3)"

    def test_frozen(self) -> None:
        with pytest.raises(AttributeError):
            Config().num_warps = 1  # type: ignore[misc]
        with pytest.raises(TypeError):
            Config({"A": 1}).defines["A"] = 2  # type: ignore[index]

    @pytest.mark.parametrize("warps", [0, 3, -4, 128, True, "4", 4.0, None])
    def test_num_warps(self, warps: Any) -> None:
        with pytest.raises(LaunchError, match=r"^num_warps is .*\[TC517\]\nhelp: give a power of two"):
            Config({}, warps)

    @pytest.mark.parametrize("stages", [0, -1, True, "2"])
    def test_num_stages(self, stages: Any) -> None:
        with pytest.raises(LaunchError, match=r"^num_stages is .*\[TC517\]"):
            Config({}, 4, stages)


class TestSweep:
    def test_product(self) -> None:
        got = product({"A": (1, 2), "T": "x", "B": (3, 4)}, [4, 8], None)
        assert [(c.defines["A"], c.defines["B"], c.num_warps) for c in got] == [
            *((1, 3, 4), (1, 3, 8), (1, 4, 4), (1, 4, 8)),
            *((2, 3, 4), (2, 3, 8), (2, 4, 4), (2, 4, 8)),
        ]

    def test_no_lists(self) -> None:
        assert product({"A": 1}, None, None) == (Config({"A": 1}, 4),)

    def test_stages(self) -> None:
        assert [c.num_stages for c in product({}, None, [2, 3])] == [2, 3]

    def test_points_and_defines(self) -> None:
        points = configs_of([config({"TM": "128", "TN": "64"}, 8), ({"TM": "32"}, 2), {"TM": 16}])
        got = product({"TN": 1, "T": "half"}, None, None, points)
        assert got == (
            Config({"TM": "128", "TN": 1, "T": "half"}, 8),
            Config({"TM": "32", "TN": 1, "T": "half"}, 2),
            Config({"TM": 16, "TN": 1, "T": "half"}, 4),
        )

    def test_defines_win_and_equal_points_are_one(self) -> None:
        points = configs_of([({"TM": 1}, 4), ({"TM": 2}, 4)])
        assert product({"TM": 3}, None, None, points) == (Config({"TM": 3}, 4),)

    def test_num_warps_of_a_call_wins(self) -> None:
        points = configs_of([({"TM": 1}, 4), ({"TM": 2}, 8)])
        assert {c.num_warps for c in product({}, 2, None, points)} == {2}

    @pytest.mark.parametrize("entry", [1, "TM", (1, 2), ({}, 4, 5), None])
    def test_no_config(self, entry: object) -> None:
        with pytest.raises(LaunchError, match=r"^an autotune config is .*\[TC515\]\nhelp: write"):
            configs_of([entry])

    def test_empty_list(self) -> None:
        with pytest.raises(LaunchError, match=r"\[TC517\]"):
            product({}, [], None)


def test_grid_arithmetic() -> None:
    assert [cdiv(7, 4), cdiv(8, 4), cdiv(0, 4), cdiv(10**12 + 1, 10)] == [2, 2, 0, 10**11 + 1]
    assert cdiv_sum([1, 4, 5], 4) == 4
    assert [next_power_of_2(n) for n in (0, 1, 2, 3, 768)] == [1, 1, 2, 4, 1024]
