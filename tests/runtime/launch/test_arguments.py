"""Arguments: what is accepted, as what it reaches the launcher, and every refusal word for word."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy
import pytest
import torch

from pytriton.errors import LaunchError
from pytriton.runtime.launch.arguments import BY_8, BY_16, ONE, PLAIN
from tests.runtime.kernels import binder, parameter


def bound(declared: str, value: Any, **promises: Any) -> Any:
    """The launch value of one argument."""
    values, _, _ = binder(parameter(declared, **promises)).bind([value])
    return values[0]


def fact(declared: str, value: Any, **promises: Any) -> int:
    _, facts, _ = binder(parameter(declared, **promises)).bind([value])
    return facts[0]


def refused(*parameters: Any, values: list[Any]) -> str:
    with pytest.raises(LaunchError) as caught:
        binder(*parameters, kernel="dot").bind(values)
    return str(caught.value)


class TestScalars:
    @pytest.mark.parametrize(
        ("declared", "value", "wanted"),
        [
            ("int n", 5, 5),
            ("int n", -(2**31), -(2**31)),
            ("int n", True, 1),
            ("int n", 3.0, 3),
            ("int n", numpy.int64(7), 7),
            ("int n", numpy.float32(7), 7),
            ("int n", numpy.array(7), 7),
            ("int n", torch.tensor(7), 7),
            ("int n", torch.tensor(7.0), 7),
            ("int n", torch.tensor(5, dtype=torch.int8), 5),
            ("int n", numpy.bool_(True), 1),
            ("long n", 2**63 - 1, 2**63 - 1),
            ("long n", Fraction(2**53 + 1), 2**53 + 1),
            ("long n", numpy.longdouble(2**53) + 1, int(numpy.longdouble(2**53) + 1)),
            ("unsigned int n", 2**32 - 1, 2**32 - 1),
            ("unsigned int n", -1, 2**32 - 1),
            ("unsigned long n", -1, 2**64 - 1),
            ("unsigned char n", 255, 255),
            ("unsigned char n", -128, 128),
            ("char n", -128, -128),
            ("short n", -32768, -32768),
            ("bool n", 2, True),
            ("bool n", 0.0, False),
            ("bool n", torch.tensor(True), True),
            ("float n", 3, 3.0),
            ("float n", True, 1.0),
            ("float n", torch.tensor(7), 7.0),
            ("float n", Fraction(1, 2), 0.5),
            ("float n", numpy.float16(0.5), 0.5),
            ("float n", torch.tensor(0.5, dtype=torch.float64), 0.5),
            ("double n", 0.1, 0.1),
            ("half n", 0.1, 0.0999755859375),
            ("half n", 1e6, math.inf),
            ("half n", -1e6, -math.inf),
            ("bfloat16 n", 0.1, 0.10009765625),
            ("bfloat16 n", 1.00390625, 1.0),  # halfway: to even
            ("bfloat16 n", 1.01171875, 1.015625),
            ("bfloat16 n", 1e300, math.inf),
            ("bfloat16 n", -math.inf, -math.inf),
            *(("float n", number(math.inf), math.inf) for number in (float, numpy.longdouble)),
        ],
    )
    def test_value(self, declared: str, value: Any, wanted: Any) -> None:
        got = bound(declared, value)
        assert got == wanted
        assert type(got) is type(wanted)

    @pytest.mark.parametrize("declared", ["half n", "bfloat16 n", "float n", "double n"])
    def test_nan_stays_nan(self, declared: str) -> None:
        assert math.isnan(bound(declared, math.nan))

    @pytest.mark.parametrize(
        ("declared", "value", "wanted"),
        [
            ("int n", 0, BY_16),
            ("int n", 1, ONE),
            ("int n", 8, BY_8),
            ("int n", 1000, BY_8),
            ("int n", -8, BY_8),
            ("int n", 4, PLAIN),
            ("int n", 15, PLAIN),
            ("int n", 48, BY_16),
            ("int n", -16, BY_16),
            ("long n", 1, ONE),
            ("bool n", True, PLAIN),
            ("bool n", False, PLAIN),
            ("float n", 1.0, PLAIN),
            ("float n", 16, PLAIN),
        ],
    )
    def test_fact(self, declared: str, value: Any, wanted: int) -> None:
        assert fact(declared, value) == wanted


class TestPointers:
    def test_tensor(self) -> None:
        x = torch.zeros(8)
        assert binder("float* x").bind([x]) == ([x.data_ptr()], (BY_16,), -1)
        assert binder("float* x").bind([x[1:]]) == ([x.data_ptr() + 4], (PLAIN,), -1)

    @pytest.mark.parametrize("value", [None, 0, torch.empty(0), torch.zeros(4)[:0]])
    def test_absent(self, value: Any) -> None:
        assert binder("float* x").bind([value]) == ([0], (BY_16,), None)

    def test_absent_of_another_dtype(self) -> None:
        assert bound("half* x", torch.empty(0, dtype=torch.int64)) == 0

    @pytest.mark.parametrize("make", [int, numpy.uint64, numpy.int64])
    def test_address(self, make: Any) -> None:
        assert binder("float* x").bind([make(4096)]) == ([4096], (BY_16,), None)

    @pytest.mark.parametrize(
        ("declared", "dtypes"),
        [
            ("char* x", [torch.int8, torch.uint8, torch.bool]),
            ("unsigned char* x", [torch.int8, torch.uint8, torch.bool]),
            ("bool* x", [torch.int8, torch.uint8, torch.bool]),
            ("unsigned short* x", [torch.int16, torch.uint16]),
            ("int* x", [torch.int32, torch.uint32]),
            ("long* x", [torch.int64, torch.uint64]),
            ("float** x", [torch.int64, torch.uint64]),
            ("half* x", [torch.float16]),
            ("bfloat16* x", [torch.bfloat16]),
            ("float* x", [torch.float32]),
            ("double* x", [torch.float64]),
        ],
    )
    def test_dtypes(self, declared: str, dtypes: list[torch.dtype]) -> None:
        every = [
            *(torch.int8, torch.uint8, torch.bool, torch.int16, torch.uint16, torch.int32),
            *(torch.uint32, torch.int64, torch.uint64, torch.float16, torch.bfloat16),
            *(torch.float32, torch.float64, torch.complex64, torch.float8_e5m2),
        ]
        accepted = []
        for dtype in every:
            try:
                bound(declared, torch.empty(2, dtype=dtype))
            except LaunchError:
                continue
            accepted.append(dtype)
        assert accepted == dtypes

    def test_subclass(self) -> None:
        x = torch.nn.Parameter(torch.zeros(2))
        assert bound("float* x", x) == x.data_ptr()

    def test_non_contiguous_is_passed_as_it_is(self) -> None:
        x = torch.zeros(4, 4).t()
        assert bound("float* x", x) == x.data_ptr()


class TestPromises:
    def test_kept(self) -> None:
        assert bound("int n", 24, multiple_of=8) == 24
        assert bound("int n", 0, multiple_of=8) == 0
        assert bound("int n", -8, multiple_of=8) == -8
        assert bound("float* x", 64, aligned=64) == 64
        assert bound("float* x", None, aligned=64) == 0


class Elsewhere(torch.Tensor):
    device = torch.device("cuda:1")
    is_cuda = True

    def get_device(self) -> int:
        return 1


DOT = ("half* A", "half* B", "int M", parameter("int lda", multiple_of=8))


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameters", "values", "said"),
        [
            (
                DOT,
                [None, None, 1],
                "dot: it takes 4 arguments, not 3 [TC501]\n"
                "help: call it as dot(half* A, half* B, int M, int lda __multipleof(8)), "
                "with grid= or the grid as last argument",
            ),
            (
                DOT,
                [torch.zeros(2), None, 1, 8],
                "dot: argument 1 'A' (half* A) is a tensor of float32, but half* points to float16 [TC502]\n"
                "help: pass it as .to(torch.float16), or change the type in the source",
            ),
            (
                ["int n"],
                ["64"],
                "dot: argument 1 'n' (int n) is '64', which is not a number [TC504]\n"
                "help: pass a Python number, or x.item()",
            ),
            (
                ["float* x"],
                [[1.0]],
                "dot: argument 1 'x' (float* x) is [1.0], not a tensor, address or None [TC505]\n"
                "help: pass a tensor, its data_ptr(), or None for an absent one",
            ),
            (
                ["int n"],
                [2**31],
                "dot: argument 1 'n' (int n) is 2147483648, which does not fit: "
                "int holds -2147483648 to 2147483647 [TC506]\n"
                "help: declare the parameter long in the source",
            ),
            (
                ["int n"],
                [2.5],
                "dot: argument 1 'n' (int n) is 2.5, which has a fraction [TC507]\n"
                "help: pass an integer, for example by a // b",
            ),
            (
                ["float* x"],
                [torch.zeros(2, device="meta")],
                "dot: argument 1 'x' (float* x) is a tensor on meta whose memory a kernel cannot reach [TC510]\n"
                "help: pass a dense CUDA or CPU tensor",
            ),
            (
                ["float* x", "int n", "float* y"],
                [torch.zeros(2), 1, torch.zeros(2).as_subclass(Elsewhere)],
                "dot: argument 3 'y' (float* y) is on cuda:1, but argument 1 'x' is on cpu [TC503]\n"
                "help: move all tensors of a call to one device",
            ),
        ],
    )
    def test_words(self, parameters: list[Any], values: list[Any], said: str) -> None:
        assert refused(*parameters, values=values) == said

    @pytest.mark.parametrize(
        ("declared", "value", "said"),
        [
            ("half* x", torch.zeros(2).bfloat16(), "of bfloat16, but half* points to float16 [TC502]"),
            ("float** x", torch.zeros(2).int(), "of int32, but float** points to int64 [TC502]"),
            ("int n", torch.zeros(3, 2), "is a tensor of shape (3, 2), which is not a number"),
            *(
                (declared, value, "which is not a number [TC504]")
                for value in (None, [1], 1j, torch.zeros(1), numpy.zeros(1), object)
                for declared in ("int n", "float n", "bool n")
            ),
            *(
                ("float* x", value, "not a tensor, address or None [TC505]")
                for value in (True, 1.5, "x", numpy.zeros(4, numpy.float32))
            ),
            *(("float* x", value, f"is {value}, which is not an address [TC505]") for value in (-1, 1 << 64)),
            ("float* x", torch.eye(2).to_sparse(), "[TC510]"),
            ("unsigned char n", 256, "[TC506]"),
            ("unsigned long n", 2**64, "[TC506]"),
            ("int n", torch.tensor(0.5), "[TC507]"),
        ],
    )
    def test_kinds(self, declared: str, value: Any, said: str) -> None:
        assert said in refused(declared, values=[value])

    def test_too_many(self) -> None:
        assert refused("int n", values=[1, 2]).startswith(
            "dot: it takes 1 argument, not 2 [TC501]\nhelp: call it as dot(int n), "
        )

    def test_broken_promises(self) -> None:
        """They are no errors: the binder only says which they are."""
        made = binder(parameter("float* x", aligned=16), parameter("int n", multiple_of=9), "unsigned int m")
        values, _, _ = made.bind([4100, 27, 5])
        assert made.broken(values) == {0: 16}
        values, _, _ = made.bind([None, 0, 5])
        assert made.broken(values) == {}
        values, _, _ = made.bind([torch.zeros(8)[1:], -8, 5])
        assert made.broken(values) == {0: 16, 1: 9}

    def test_an_unsigned_promise_is_about_what_the_kernel_sees(self) -> None:
        made = binder(parameter("unsigned int n", multiple_of=3))
        assert made.broken(made.bind([2**32 - 1])[0]) == {}
        assert made.broken(made.bind([-3])[0]) == {0: 3}

    def test_empty_tensor_elsewhere_is_fine(self) -> None:
        values = [torch.empty(0, device="meta"), torch.zeros(2)]
        assert binder("float* x", "float* y").bind(values)[2] == -1
