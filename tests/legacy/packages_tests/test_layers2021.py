"""layers2021: texts in files that are found by computed paths, defines that are filled in over branches."""

from __future__ import annotations

import importlib

import layers2021
import pytest
import torch

linear = importlib.import_module("layers2021.linear")
norm = importlib.import_module("layers2021.norm")

ACTIVATIONS = {
    None: lambda x: x,
    "relu": torch.relu,
    "leaky_relu": lambda x: torch.nn.functional.leaky_relu(x, 0.01),
    "silu": torch.nn.functional.silu,
    "gelu": lambda x: x * torch.sigmoid(1.702 * x),
}
TOLERANCES = {torch.float32: 1e-4, torch.float16: 4e-3}


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_linear(device, large, compare, activation: str | None, bias: bool) -> None:
    act = ACTIVATIONS[activation]
    # not so many elements that one is on the other side of a kink for its last bit
    m, n, k = large((35, 48, 64), (130, 96, 1024))
    x, w = torch.randn(m, k, device=device), torch.randn(n, k, device=device) / k**0.5
    b = torch.randn(n, device=device)

    def ours(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = layers2021.linear(x, w, b if bias else None, activation, alpha=-0.5)
        return y if bias else y + 0 * b.sum()

    compare(ours, lambda x, w, b: act(-0.5 * (x @ w.t()) + b * bias), (x, w, b), atol=5e-5)


@pytest.mark.parametrize("shape", [(1, 1, 1), (33, 7, 19), (64, 96, 32), (5, 130, 70)], ids=str)
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
def test_linear_of_ragged_sizes(device, compare, shape: tuple[int, int, int], dtype: torch.dtype) -> None:
    m, n, k = shape
    x, w = torch.randn(2, m, k, device=device), torch.randn(n, k, device=device) / k**0.5
    b = torch.randn(n, device=device)
    compare(
        lambda x, w, b: layers2021.linear(x, w, b, "silu"),
        lambda x, w, b: torch.nn.functional.silu(x.float() @ w.float().t() + b.float()).to(dtype),
        (x.to(dtype), w.to(dtype), b.to(dtype)),
        rtol=TOLERANCES[dtype],
        atol=TOLERANCES[dtype],
    )


@pytest.mark.parametrize("point", range(3))
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_product_at_each_point(
    device, large, layout: str, point: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = linear._linear
    monkeypatch.setattr(function, "configs", function.configs[point : point + 1])
    monkeypatch.setattr(function, "kernels", {})
    m, n, k = large((70, 40, 48), (1000, 520, 304))
    a = torch.randn(m, k, device=device) if layout[0] == "n" else torch.randn(k, m, device=device).t()
    b = torch.randn(k, n, device=device) if layout[1] == "n" else torch.randn(n, k, device=device).t()
    for inner in (k, 32):  # not a multiple of 32, and one
        got, pre = function.product(a[:, :inner], b[:inner], alpha=2.0)
        assert pre is None
        torch.testing.assert_close(got, 2 * (a[:, :inner] @ b[:inner]), rtol=1e-4, atol=1e-4 * k**0.5)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("rms", [False, True])
@pytest.mark.parametrize("columns", [1, 37, 96, 300, 1500])
def test_norm(device, large, compare, columns: int, rms: bool, residual: bool) -> None:
    x, r = (torch.randn(large(5, 3000), columns, device=device) * 2 - 1 for _ in range(2))
    weight, bias = torch.randn(columns, device=device), torch.randn(columns, device=device)

    def ours(x: torch.Tensor, r: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        y = layers2021.norm(x, weight, None if rms else bias, r if residual else None, eps=1e-3)
        y = y[0] * 2 + y[1] * 3 if residual else y * 2
        return y + 0 * (r.sum() + bias.sum())

    def theirs(x: torch.Tensor, r: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        s = x + r if residual else x + 0 * r
        if rms:
            y = s * torch.rsqrt(s.square().mean(-1, keepdim=True) + 1e-3) * weight + 0 * bias
        else:
            y = torch.nn.functional.layer_norm(s, (columns,), weight, bias, eps=1e-3)
        return 2 * y + 3 * s if residual else 2 * y

    compare(ours, theirs, (x, r, weight, bias), rtol=1e-3, atol=5e-5)


@pytest.mark.parametrize("programs", [1, 3, 96])
def test_norm_with_so_many_partial_sums(
    device, compare, programs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(norm._norm, "max_programs", programs)
    x = torch.randn(2, 5, 40, device=device).half()
    weight, bias = torch.randn(40, device=device), torch.randn(40, device=device)
    compare(
        layers2021.norm,
        lambda x, w, b: torch.nn.functional.layer_norm(x.float(), (40,), w, b).half(),
        (x, weight, bias),
        rtol=4e-3,
        atol=4e-3,
    )


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("padding", [None, 0, 3])
@pytest.mark.parametrize("features", [5, 32, 100])
def test_lookup(device, large, compare, features: int, padding: int | None, dtype: torch.dtype) -> None:
    table = torch.randn(7, features, device=device).to(dtype)
    ids = torch.randint(-2, 9, large((3, 11), (40, 511)), device=device)
    known = (ids >= 0) & (ids < 7) & (ids != (-1 if padding is None else padding))

    def theirs(table: torch.Tensor) -> torch.Tensor:
        rows = torch.nn.functional.embedding(ids.clamp(0, 6), table.float()) * known[..., None]
        return (rows * 1.5).to(dtype)

    compare(
        lambda table: layers2021.lookup(table, ids, padding, 1.5),
        theirs,
        (table,),
        rtol=TOLERANCES[dtype],
        atol=TOLERANCES[dtype],
    )


@pytest.mark.parametrize("rms", [False, True])
def test_feed_forward(device, large, compare, rms: bool) -> None:
    features, hidden = large((24, 40), (256, 1024))
    module = layers2021.FeedForward(features, hidden, rms=rms).to(device)
    x, r = torch.randn(2, 9, features, device=device), torch.randn(2, 9, features, device=device)

    def theirs(x: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
        s = x + r
        if rms:
            y = s * torch.rsqrt(s.square().mean(-1, keepdim=True) + 1e-5)
        else:
            y = torch.nn.functional.layer_norm(s, (features,))
        y = y @ module.w1.t() + module.b1
        return s + y * torch.sigmoid(1.702 * y) @ module.w2.t()

    compare(module, theirs, (x, r), rtol=1e-3, atol=1e-4)
    assert all(parameter.grad is not None for parameter in module.parameters())
