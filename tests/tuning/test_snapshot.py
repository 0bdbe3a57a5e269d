"""Saving what a kernel writes, and putting it back."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from pytriton.tuning import cross_check
from pytriton.tuning.cross_check import Saved, WrittenArgument, save


def saved_of(*arguments: Any) -> Saved | None:
    return save([WrittenArgument(argument) for argument in arguments], -1)


def test_restore() -> None:
    x, y = torch.arange(4.0), torch.arange(4, dtype=torch.int32)
    saved = saved_of(x, y, None, torch.empty(0), 0)
    assert saved is not None
    x.add_(1)
    y.zero_()
    saved.restore()
    assert x.tolist() == [0, 1, 2, 3]
    assert y.tolist() == [0, 1, 2, 3]


def test_whole_storage() -> None:
    """A kernel may write behind the end of the view that it was given."""
    x = torch.arange(8.0)
    saved = saved_of(x[2:4])
    assert saved is not None
    x.zero_()
    saved.restore()
    assert torch.equal(x, torch.arange(8.0))


def test_overlapping_views_are_saved_once() -> None:
    x = torch.arange(8.0)
    saved = saved_of(x[:5], x[3:], x.view(2, 4).t())
    assert saved is not None
    assert len(saved.memories) == 1


@pytest.mark.parametrize("dtype", [torch.bool, torch.bfloat16, torch.float64])
def test_bits(dtype: torch.dtype) -> None:
    x = torch.randint(0, 2, (16,)).to(dtype)
    before = x.clone()
    saved = saved_of(x)
    assert saved is not None
    x.zero_()
    saved.restore()
    assert torch.equal(x, before)


def test_gradients_are_not_recorded() -> None:
    x = torch.ones(4, requires_grad=True)
    saved = saved_of(x)
    assert saved is not None
    saved.restore()
    assert x.grad_fn is None


def test_an_address_on_the_cpu_is_unknown() -> None:
    assert saved_of(torch.zeros(1).data_ptr()) is None


SEGMENTS = [
    {"device": 0, "address": 1000, "total_size": 512, "blocks": [{"size": 512, "state": "active_allocated"}]},
    {
        "device": 1,
        "address": 4096,
        "total_size": 1024,
        "blocks": [{"size": 256, "state": "active_allocated"}, {"size": 768, "state": "active_allocated"}],
    },
]


@pytest.mark.parametrize(
    ("address", "wanted"),
    [(4096, (4096, 256)), (4351, (4096, 256)), (4352, (4352, 768)), (5119, (4352, 768)), (5120, None)],
)
def test_an_address_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch, address: int, wanted: tuple[int, int] | None
) -> None:
    asked: list[Any] = []

    class Found(torch.Tensor):
        def data_ptr(self) -> int:
            return int(asked[-1]["data"][0])

    def as_tensor(block: Any, device: str) -> torch.Tensor:
        assert device == "cuda:1"
        asked.append(block.__cuda_array_interface__)
        return torch.zeros(3, dtype=torch.uint8).as_subclass(Found)

    monkeypatch.setattr(torch.cuda, "memory_snapshot", lambda: SEGMENTS)
    monkeypatch.setattr(torch, "as_tensor", as_tensor)
    found = cross_check._allocated_block(address)
    if wanted is None:
        assert found is None
        assert asked == []
    else:
        start, size = wanted
        assert found is not None
        assert asked == [{"data": (start, False), "shape": (size,), "typestr": "|u1", "version": 3}]
