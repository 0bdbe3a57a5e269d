"""Packages where their own promises are broken: the numbers are right, and each promise is named once.

The tests, tutorials and examples of that time did so: nobody checked a ``__multipleof`` or an ``__aligned``, and
what a compiler made of them happened to be right for most sizes.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

import pytriton
from tests.legacy.modules import large, needs_cpu_only, package
from tests.legacy.test_package_imports import blocks, part


@contextmanager
def broken(*wanted: str) -> Iterator[None]:
    """Inside these promises are broken, ``TC508 ldx`` for example: one warning each, and no other of their kind."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        yield
    texts = [str(one.message) for one in caught]
    found = [re.search(r"argument \d+ '(\w+)'.*\[(TC50[89])\]", text, re.DOTALL) for text in texts]
    assert sorted(f"{match[2]} {match[1]}" for match in found if match) == sorted(wanted)


def from_the_middle(shape: tuple[int, ...], device: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tensor whose rows are dense and begin in the middle of the rows of another, at an odd element."""
    torch.manual_seed(0)
    whole = torch.randn(*shape[:-1], shape[-1] + 5, device=device).to(dtype)
    return whole[..., 3:-2]


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A module of a package whose kernels are not made yet: what was warned of before is forgotten."""

    def module(name: str, **kernels: Any) -> Any:
        found = part(name)
        for holder, value in kernels.items():
            owner, _, attribute = holder.rpartition("__")
            monkeypatch.setattr(getattr(found, owner) if owner else found, attribute, value)
        return found

    return module


# Strides of 9 and 1 under __multipleof


def test_2019_strides_of_9(device: str, fresh: Callable[..., Any]) -> None:
    bias = part("lean2019.bias")
    bias = fresh("lean2019.bias", _add_bias__kernel=pytriton.kernel(bias._add_bias.src, ["Y"]))
    torch.manual_seed(0)
    x, b = torch.randn(large(device, 20, 5000), 9, device=device), torch.randn(9, device=device)
    with broken("TC508 ldx", "TC508 ldy"):
        for _ in range(3):
            assert torch.equal(bias.add_bias(x, b), x + b)
    kept = torch.randn(20, 16, device=device)
    with broken():
        assert torch.equal(bias.add_bias(kept, kept[0]), kept + kept[0])


def test_2020_strides_of_9_and_1(device: str) -> None:
    """A row and its column."""
    needs_cpu_only(device)
    lesson = part("tutorials2020.transpose")
    x = torch.randn(1, 9, device=device)
    with broken("TC508 ldi", "TC508 ldo"):
        assert torch.equal(lesson.transpose(x), x.t())
    with broken("TC508 ldo"):
        assert torch.equal(
            lesson.transpose(torch.ones(1, 16, device=device)), torch.ones(16, 1, device=device)
        )


def test_2020_tutorial_strides(device: str, fresh: Callable[..., Any]) -> None:
    """A product of columns of wider matrices, swept."""
    needs_cpu_only(device)
    module = fresh("tutorials2020.matmul", products={})
    m, n, k = large(device, (64, 64, 32), (512, 1024, 768))
    a, b = from_the_middle((m, k), device), from_the_middle((k, n), device)
    with broken("TC508 lda", "TC508 ldb", "TC509 A", "TC509 B"):
        for _ in range(2):
            torch.testing.assert_close(module.dot(a, b, 0.5), 0.5 * (a @ b), rtol=1e-4, atol=1e-4 * k**0.5)


# K = 311 under __multipleof(16), and promises that the text never reads


def test_2021_inner_dimension_of_311(device: str, fresh: Callable[..., Any]) -> None:
    """``lda`` and ``ldb`` are 311 under ``__multipleof(8)``, too, but the defines put K in their places."""
    linear = fresh("ops2021.linear", _made={})
    torch.manual_seed(0)
    m, n = large(device, (40, 24), (1000, 520))
    x, w = torch.randn(m, 311, device=device), torch.randn(n, 311, device=device)
    with broken("TC508 K"):
        for _ in range(3):
            torch.testing.assert_close(linear.linear(x, w), x @ w.t(), rtol=1e-4, atol=2e-3)
    kept = torch.randn(m, 304, device=device)
    with broken():
        torch.testing.assert_close(linear.linear(kept, kept), kept @ kept.t(), rtol=1e-4, atol=2e-3)


def test_2021_an_output_of_11_columns(device: str, fresh: Callable[..., Any]) -> None:
    linear = fresh("ops2021.linear", _made={})
    x, w = torch.randn(20, 48, device=device), torch.randn(11, 48, device=device)
    with broken("TC508 ldc"):
        torch.testing.assert_close(linear.linear(x, w), x @ w.t(), rtol=1e-4, atol=1e-3)


# Tensors that start in the middle of a row under __aligned


def test_2019_from_the_middle(device: str, fresh: Callable[..., Any]) -> None:
    dot = part("lean2019.dot")
    dot = fresh("lean2019.dot", _dot__kernel=pytriton.kernel(dot._dot.src, ["C"]))
    m, n, k = large(device, (33, 40, 20), (520, 1032, 264))
    a, b = from_the_middle((m, k), device), from_the_middle((k, n), device)
    with broken("TC509 A", "TC509 B"):
        for _ in range(2):
            torch.testing.assert_close(dot.dot(a, b), a @ b, rtol=1e-4, atol=1e-4 * k**0.5)


def test_2020_half_from_the_middle(device: str, fresh: Callable[..., Any]) -> None:
    """Half a word off: 2 bytes under ``__aligned(4)``."""
    contraction = fresh("contract2020.contract", instances={})
    m, n, k = large(device, (20, 36, 24), (300, 520, 264))
    a, b = from_the_middle((m, k), device, torch.float16), from_the_middle((k, n), device, torch.float16)
    with broken("TC509 A", "TC509 B"):
        y = contraction.einsum("mk,kn->mn", a, b)
        y = contraction.einsum("mk,kn->mn", a, b)
    torch.testing.assert_close(y, (a.float() @ b.float()).half(), rtol=2e-3, atol=1e-3 * k**0.5)


def test_2020_blocks_to_the_middle(device: str, fresh: Callable[..., Any]) -> None:
    """The output is a part of a larger tensor; its strides are odd, too."""
    dense = fresh("sparse2020.dense", kernels={})
    x, layout, block = blocks(device)
    sparse = pytriton.testing.sparsify_tensor(x, layout, block)
    out = from_the_middle(tuple(x.shape), device).zero_()
    wanted = pytriton.testing.mask_tensor(x, layout, block)
    assert out.stride(2) % 8
    multiples = [
        f"TC508 {name}" for name, axis in (("stride_zy", 0), ("stride_hy", 1)) if out.stride(axis) % 16
    ]
    with broken("TC508 stride_my", "TC509 Y", *multiples):
        for _ in range(2):
            assert torch.equal(dense.to_dense(sparse, layout, block, out), wanted)


def test_2021_blocks_from_the_middle(device: str, fresh: Callable[..., Any]) -> None:
    """By address, as ``data_ptr()`` gives it."""
    gather = fresh("sparse2021.gather", kernels={})
    x, layout, block = blocks(device)
    x = from_the_middle(tuple(x.shape), device)
    assert x.stride(2) % 8
    multiples = [
        f"TC508 {name}" for name, axis in (("stride_zx", 0), ("stride_hx", 1)) if x.stride(axis) % 16
    ]
    with broken("TC508 stride_mx", "TC509 X", *multiples):
        for _ in range(2):
            wanted = pytriton.testing.sparsify_tensor(x, layout, block)
            assert torch.equal(gather.to_sparse(x, layout, block), wanted)


@pytest.mark.parametrize("name", ["sparse2020", "sparse2021"])
def test_sparse_attention_from_the_middle(device: str, name: str) -> None:
    """A whole operator: q, k and v begin in the middle of their rows."""
    if name == "sparse2021":
        needs_cpu_only(device)
    _, layout, block = blocks(device)
    layout[:, :, 0] = 1
    heads, rows, columns = layout.shape
    q, k, v = (from_the_middle((2, heads, size * block, 32), device) for size in (rows, columns, columns))
    bias = torch.zeros(2, heads, rows * block, columns * block, device=device)
    bias = pytriton.testing.mask_tensor(bias, layout, block, value=-float("inf"))
    wanted = torch.softmax(q @ k.transpose(2, 3) * 32**-0.5 + bias, dim=-1) @ v
    with warnings.catch_warnings(record=True, action="always") as caught:
        got = package(name).Attention(layout, block)(q, k, v)
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)
    assert sum("TC509" in str(one.message) for one in caught) >= 3


def test_strict_promises_refuse(
    device: str, monkeypatch: pytest.MonkeyPatch, fresh: Callable[..., Any]
) -> None:
    monkeypatch.setenv("PYTRITON_STRICT_PROMISES", "1")
    linear = fresh("ops2021.linear", _made={})
    x = torch.randn(20, 311, device=device)
    with pytest.raises(pytriton.LaunchError, match=r"'K'.*TC508"):
        linear.linear(x, x)
