"""Packages of the old days did what autograd refuses today, and ran: inside of them a launch counts no versions,
and a leaf that it writes draws one warning.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

import pytriton
from pytriton.legacy import imports
from pytriton.runtime.errors import LEGACY_MARK

PACKAGE = """\
import torch
import triton

SOURCE = '''
__global__ void twice(float* y, float* x, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(i < n)(y + i) = 2 * *?(i < n)(x + i);
}
'''
kernel = triton.kernel(SOURCE, defines={'TILE': 16})


def twice(y, x):
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.d('TILE'))])


def twice_made_late(y, x):
    made = triton.kernel(SOURCE)
    made(y, x, x.numel(), grid=(triton.cdiv(x.numel(), 16),), defines={'TILE': 16})


class _scaled(triton.function):
    # The buffer of the values before is used again for the gradient, as memory was scarce.
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        twice(y, x)
        ctx.save_for_backward(y)
        return y + 0

    @staticmethod
    def backward(ctx, dy):
        y, = ctx.saved_tensors
        twice(y, dy.contiguous())
        return y


scaled = _scaled.apply
"""


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "package_of_2020.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytriton.legacy_imports("package_of_2020"):
        import package_of_2020

        yield package_of_2020
    del sys.modules["package_of_2020"]


def test_the_mark() -> None:
    assert imports._MARK == LEGACY_MARK


@pytest.mark.parametrize("name", ["twice", "twice_made_late"])
def test_what_was_overwritten(old: ModuleType, name: str) -> None:
    a = torch.ones(24, requires_grad=True)
    c, x = torch.ones(24), torch.ones(24)
    for _ in range(3):
        d = a * c
        getattr(old, name)(c, x)
        d.sum().backward()
    assert (c._version, c.tolist()) == (0, [2.0] * 24)
    kernel = pytriton.kernel(old.SOURCE, {"TILE": 16})
    d = a * c
    kernel(c, x, 24, grid=(2,))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        d.sum().backward()


def test_a_leaf_draws_one_warning(old: ModuleType) -> None:
    leaf, x = torch.zeros(24, requires_grad=True), torch.ones(24)
    with warnings.catch_warnings(record=True, action="always") as told:
        for _ in range(3):
            old.twice(leaf, x)
            old.twice(leaf[:], x)
    assert [str(one.message).split("\n")[0] for one in told if "[TC" in str(one.message)] == [
        "twice: argument 1 'y' (float *y) is a leaf that requires a gradient, and the kernel writes it [TC524]"
    ]
    assert leaf.tolist() == [2.0] * 24
    with pytest.raises(pytriton.LaunchError, match="TC524"):
        pytriton.kernel(old.SOURCE, {"TILE": 16})(leaf, x, 24, grid=(2,))


def test_a_saved_tensor_used_again(old: ModuleType) -> None:
    x = torch.ones(24, requires_grad=True)
    y = old.scaled(x)
    with warnings.catch_warnings(action="error"):
        for _ in range(2):
            y.sum().backward(retain_graph=True)
    assert x.grad is not None
    assert x.grad.tolist() == [4.0] * 24
