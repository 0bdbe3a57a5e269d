"""ops2021: products, softmax and cross-entropy whose texts lie in files, and a report of their speed."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

import ops2021
import pytest
import torch


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_matmul(device, large, compare, layout: str) -> None:
    m, n, k = large((64, 128, 64), (1024, 1152, 1536))
    a = torch.randn(m, k, device=device) if layout[0] == "n" else torch.randn(k, m, device=device).t()
    b = torch.randn(k, n, device=device) if layout[1] == "n" else torch.randn(n, k, device=device).t()
    compare(lambda a, b: ops2021.matmul(a, b, 0.5), lambda a, b: 0.5 * (a @ b), (a, b), atol=3e-5)


@pytest.mark.parametrize("point", range(4))
def test_matmul_at_each_point(device, large, compare, point: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every point of the sweep, the ones with locks too; a tuning run would show only the fastest."""
    function = importlib.import_module("ops2021.matmul")._matmul
    monkeypatch.setattr(function, "configs", function.configs[point : point + 1])
    monkeypatch.setattr(function, "kernels", {})
    m, n, k = large((64, 128, 64), (1024, 1152, 1536))
    a, b = torch.randn(m, k, device=device), torch.randn(k, n, device=device)
    compare(ops2021.matmul, torch.matmul, (a, b), atol=3e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("columns", [1, 37, 96, 700])
def test_softmax(device, large, compare, columns: int, dtype: torch.dtype) -> None:
    x = (torch.randn(large(5, 2000), columns, device=device) * 3).to(dtype)
    tolerance = 1e-5 if dtype == torch.float32 else 2e-3
    compare(ops2021.softmax, lambda x: torch.softmax(x, 1), (x,), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("columns", [1, 24, 37, 128])
def test_cross_entropy(device, large, compare, columns: int) -> None:
    rows = large(6, 5000)
    logits = torch.randn(rows, columns, device=device)
    indices = torch.randint(0, columns, (rows,), device=device)
    compare(
        ops2021.cross_entropy,
        lambda x, i: torch.nn.functional.cross_entropy(x, i, reduction="none"),
        (logits, indices),
        rtol=1e-5,
    )


@pytest.mark.parametrize(("n", "k"), [(24, 48), (24, 311), (11, 48)], ids=str)
def test_linear(device, large, n: int, k: int) -> None:
    """An inner dimension of 311 is not a multiple of 16, and 11 columns are none of 8, as the text promises."""
    x, w = torch.randn(large(40, 1000), k, device=device), torch.randn(n, k, device=device)
    torch.testing.assert_close(ops2021.linear(x, w), x @ w.t(), rtol=1e-4, atol=1e-4 * k**0.5)


def test_report(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    bench = importlib.import_module("ops2021.bench")
    bench.bench_matmul.run(save_path=str(tmp_path))
    bench.bench_softmax.run(save_path=str(tmp_path))
    for name, columns in (("matmul-nn", 5), ("matmul-nt", 5), ("softmax", 3)):
        with (tmp_path / f"{name}.csv").open() as file:
            header, *rows = csv.reader(file)
        assert [column.split(" (")[0] for column in header[-2:]] == ["Triton", "Torch"]
        assert len(header) == columns
        assert len(rows) >= 2
        assert all(float(cell) > 0 for row in rows for cell in row)
