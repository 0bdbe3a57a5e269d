"""Cross-entropy: in place, a row is stored and one of its elements loaded back by others; out of place."""

from __future__ import annotations

import cross_entropy_logsum
import pytest
import torch
from bounds import assert_close, assert_nothing_beside, at_sea, on_each
from cross_entropy import cross_entropy, forward_kernel

# blocks are multiples of 256: 256, 512, 1024, and those that are no powers of two
SMALL = [(1, 1), (3, 7), (2, 256), (5, 300), (4, 1000), (3, 768), (2, 700)]
REAL = [(1, 1), (3000, 257), (500, 32_768), (4096, 5000), (512, 30_000)]


@on_each("rows n", SMALL, REAL)
@pytest.mark.sampled(4)
def test_out_of_place(device: str, rows: int, n: int, dtype: torch.dtype) -> None:
    """One row has -inf among its scores, as masked words have."""
    scores = (3 * torch.randn(rows, n, device=device)).to(dtype)
    label = torch.randint(n, (rows,), device=device)
    scores[0, (label[0] + 1) % n] = -float("inf") if n > 1 else 0.0
    kept, x = scores.clone(), scores.requires_grad_()
    dloss = torch.randn(rows, device=device).to(dtype)
    loss = cross_entropy_logsum.cross_entropy(x, label)
    loss.backward(dloss)
    exact = kept.double().requires_grad_()
    want = torch.nn.functional.cross_entropy(exact, label, reduction="none")
    want.backward(dloss.double())
    assert torch.equal(x.detach(), kept)
    # the scores cancel: x - max(x) is as exact as the larger of the two
    assert_close(loss, want.detach(), scale=kept.double().amax(1) + 1)
    assert_close(x.grad, exact.grad, scale=exact.grad.abs() + dloss.double().abs()[:, None])


@on_each("rows n", SMALL, REAL)
@pytest.mark.sampled(4)
def test_forward_and_backward(device: str, rows: int, n: int, dtype: torch.dtype) -> None:
    x = (3 * torch.randn(rows, n, device=device)).to(dtype).requires_grad_()
    label = torch.randint(n, (rows,), device=device)
    dloss = torch.randn(rows, device=device).to(dtype)
    loss = cross_entropy(x, label)
    loss.backward(dloss)
    negative = -x.detach().double().log_softmax(1)
    # the scores cancel: x - max(x) is as exact as the larger of the two
    assert_close(loss, negative.gather(1, label[:, None])[:, 0], scale=x.detach().double().amax(1) + 1)
    # probabilities come from the stored logarithms: what rounding those adds, exp() makes a factor
    onehot = torch.nn.functional.one_hot(label, n)
    probability = negative.neg().exp()
    rounding = probability * (1 + negative.clamp(max=100)) + onehot
    dloss = dloss.double()[:, None]
    assert_close(x.grad, (probability - onehot) * dloss, scale=rounding * dloss)


def test_the_label_is_read_behind_the_store(device: str) -> None:
    """Every label of every row, many times: what is loaded back is exactly what was stored."""
    rows, n = (2000, 1000) if device == "cuda" else (6, 250)
    for seed in range(20 if device == "cuda" else 1):
        torch.manual_seed(seed)
        x = torch.randn(rows, n, device=device)
        label = torch.randint(n, (rows,), device=device)
        loss = torch.empty(rows, device=device)
        forward_kernel(x, x, label, loss, n, grid=(rows,), defines={"TYPE": "float", "TN": 1024})
        assert torch.equal(loss, x.gather(1, label[:, None])[:, 0])


def test_in_the_memory_of_the_scores(device: str) -> None:
    scores = torch.randn(4, 1000, device=device)
    label = torch.tensor([0, 999, 3, 500], device=device)
    leaf = scores.clone().requires_grad_()
    torch.nn.functional.cross_entropy(leaf, label, reduction="sum").backward()
    x = scores.clone().requires_grad_()
    loss = cross_entropy(x, label, overwrite=True)
    assert_close(x.detach(), -scores.double().log_softmax(1))
    loss.sum().backward()
    assert x.grad.data_ptr() == x.data_ptr()
    assert_close(x.grad, leaf.grad.double(), scale=torch.ones(4))
    with pytest.raises(RuntimeError, match="one backward only"):
        cross_entropy_twice(scores, label)


def cross_entropy_twice(x: torch.Tensor, label: torch.Tensor) -> None:
    loss = cross_entropy(x.clone().requires_grad_(), label).sum()
    loss.backward(retain_graph=True)
    loss.backward()


def test_nothing_outside_the_rows_is_written(device: str) -> None:
    x, loss = at_sea((3, 300), device).copy_(torch.randn(3, 300)), at_sea((3,), device)
    want = -x.double().log_softmax(1)
    label = torch.tensor([299, 0, 1], device=device)
    forward_kernel(x, x, label, loss, 300, grid=(3,), defines={"TYPE": "float", "TN": 512})
    assert_close(x, want)
    assert_nothing_beside(x)
    assert_nothing_beside(loss)
