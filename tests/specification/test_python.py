"""python-api: memory that a kernel gets, ``precision`` and ``translate``.

Calls of every era are in legacy/ and runtime/options, refused ones in runtime/test_wrong_use.py.
"""

from __future__ import annotations

import pytest
import torch

import pytriton
from tests.specification.asking import same

pytestmark = pytest.mark.filterwarnings("ignore:pytriton runs kernels on CPU")


def test_addresses_have_the_declared_element_type() -> None:
    x, z = torch.tensor([2.5], dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    kernel = pytriton.kernel("void f(double* X, double* Z, int a) { *Z = *X + a; }")
    kernel(x.data_ptr(), z.data_ptr(), -2, grid=1)
    assert z.item() == 0.5


def test_a_non_contiguous_tensor_is_written() -> None:
    base = torch.zeros(2, 3)
    pytriton.kernel("void f(float* Z, int s) { *(Z + (0 ... 2) * s) = 1 + 0 ... 2; }")(base[:, 1], 3, grid=1)
    same(base, [0, 1, 0, 0, 2, 0])


@pytest.mark.parametrize(
    ("type_", "dtype"),
    [
        ("char", torch.bool),
        ("char", torch.uint8),
        ("unsigned char", torch.int8),
        ("bool", torch.bool),
        ("int", torch.uint32),
        ("unsigned", torch.int32),
        ("half", torch.float16),
        ("bfloat16", torch.bfloat16),
        ("long", torch.uint64),
    ],
    ids=str,
)
def test_dtypes_of_one_width_and_kind(type_: str, dtype: torch.dtype) -> None:
    x = torch.ones(1).to(dtype)
    z = torch.zeros(1).to(dtype)
    pytriton.kernel(f"void f({type_}* X, {type_}* Z) {{ *Z = *X; }}")(x, z, grid=1)
    assert torch.equal(x, z)


def test_precision_concerns_float_products_only() -> None:
    text = """void f(TYPE* A, float* C) {
      int i[32, 32] = (0 ... 32)[:, newaxis] * 32 + (0 ... 32)[newaxis, :];
      *(C + i) = (*(A + i)) @ (*(A + i));
    }"""
    for type_, precision, wanted in (
        ("float", "tf32", True),
        ("float", "ieee", False),
        ("half", "tf32", False),
    ):
        kernel = pytriton.kernel(text, defines={"TYPE": type_}, precision=precision)
        assert ("tf32" in kernel.asm("ptx", target="cuda:90")) == wanted
    with pytest.raises((pytriton.PytritonError, ValueError)):
        pytriton.kernel(text, defines={"TYPE": "float"}, precision="tf16")


def test_translate() -> None:
    made = pytriton.translate(
        "void f(float* X, float* Y, int* L, int n) { *(X + *L) = n + T; atomic_add(Y, *Y, 1 > n); } void g() { }",
        {"T": [4, 5]},
    )
    assert made.kernels == ("f", "g")
    assert list(made.constexprs) == ["T"]
    assert set(made.reads) == {"Y", "L"}
    assert set(made.writes) == {"X", "Y"}
    assert tuple(made.warnings) == ()
    assert pytriton.translate("void f() { } void g(int* X) { *X = 1; }", kernel="g").writes == ("X",)
