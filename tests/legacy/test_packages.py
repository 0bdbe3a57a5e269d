"""Six packages of 2019 to 2021, imported unmodified through ``legacy_imports``: forward and backward equal torch.

On a CPU they run at small sizes; where there is a GPU, at larger ones. A package that allocates or launches on "the
CUDA device" itself cannot take CPU tensors on a machine that has one: its CPU tests are skipped there.
"""

from __future__ import annotations

import csv
import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from tests.legacy.modules import each_device, large, needs_cpu_only, package
from tests.together import in_threads

ROOT = Path(__file__).parents[2]


def compare(
    ours: Any, theirs: Any, inputs: tuple[torch.Tensor, ...], rtol: float = 1e-4, atol: float = 1e-5
) -> None:
    """Results and gradients of two functions of the same inputs, for a random cotangent."""
    torch.manual_seed(1)
    grads: list[Any] = []
    dy: torch.Tensor | None = None
    for function in (theirs, ours):
        leaves = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
        y = function(*leaves)
        dy = torch.randn_like(y) if dy is None else dy
        y.backward(dy)
        grads.append([y.detach(), *(leaf.grad for leaf in leaves if leaf.requires_grad)])
    for got, wanted in zip(grads[1], grads[0], strict=True):
        assert got.dtype == wanted.dtype
        scale = max(1.0, wanted.abs().max().item()) if wanted.numel() else 1.0
        torch.testing.assert_close(got, wanted, rtol=rtol, atol=atol * scale)


# 2019


@each_device
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_2019_dot(device: str, transpose_a: bool, transpose_b: bool) -> None:
    torch.manual_seed(0)
    lean = package("lean2019")
    m, n, k = large(device, (70, 36, 40), (520, 1032, 264))
    a = torch.randn(*((k, m) if transpose_a else (m, k)), device=device)
    b = torch.randn(*((n, k) if transpose_b else (k, n)), device=device)
    compare(
        lambda a, b: lean.dot(a, b, transpose_a=transpose_a, transpose_b=transpose_b, alpha=-0.5),
        lambda a, b: -0.5 * ((a.t() if transpose_a else a) @ (b.t() if transpose_b else b)),
        (a, b),
        atol=3e-5,
    )


@each_device
def test_2019_dot_in_half(device: str) -> None:
    torch.manual_seed(0)
    m, n, k = large(device, (32, 40, 48), (512, 768, 1024))
    a, b = torch.randn(m, k, device=device).half(), torch.randn(k, n, device=device).half()
    compare(
        package("lean2019").dot, lambda a, b: (a.float() @ b.float()).half(), (a, b), rtol=2e-3, atol=2e-3
    )


@each_device
def test_2019_time(device: str) -> None:
    size = large(device, 64, 2048)
    a, b = torch.randn(size, size, device=device), torch.randn(size, size, device=device)
    assert 0 < package("lean2019").time_dot(a, b) < 1000


@each_device
def test_2019_batchnorm(device: str) -> None:
    torch.manual_seed(0)
    n, c, h, w = large(device, (3, 4, 7, 9), (32, 64, 28, 28))
    x = torch.randn(n, c, h, w, device=device) * 3 + 5
    gamma, beta = torch.randn(c, device=device), torch.randn(c, device=device)
    compare(
        lambda x, gamma, beta: package("lean2019").batchnorm(x, gamma, beta, 1e-5),
        lambda x, g, b: torch.nn.functional.batch_norm(x, None, None, g, b, training=True, eps=1e-5),
        (x, gamma, beta),
    )


# early 2020


PATTERNS = {
    "mk,kn->mn": ((20, 40), (40, 36)),
    "km,nk->nm": ((40, 20), (36, 40)),
    "bmk,bkn->bmn": ((2, 18, 20), (2, 20, 17)),
    "bhmk,bhnk->bhmn": ((2, 2, 10, 20), (2, 2, 9, 20)),
    "xky,kzl->xyzl": ((3, 24, 5), (24, 4, 6)),
    "mkl,knl->mn": ((20, 5, 7), (5, 19, 7)),
    "kml,lkn->nm": ((3, 20, 11), (11, 3, 5)),
}


@each_device
@pytest.mark.parametrize("pattern", PATTERNS)
def test_2020_einsum(device: str, pattern: str) -> None:
    torch.manual_seed(0)
    factor = large(device, 1, 4)
    a, b = (
        torch.randn(*(size * factor for size in sizes), device=device)
        .transpose(0, 1)
        .contiguous()
        .transpose(0, 1)
        for sizes in PATTERNS[pattern]
    )
    contraction = package("contract2020")
    compare(
        lambda a, b: contraction.einsum(pattern, a, b),
        lambda a, b: torch.einsum(pattern, a, b),
        (a, b),
        atol=3e-5,
    )


@each_device
def test_2020_einsum_in_half(device: str) -> None:
    torch.manual_seed(0)
    m, k, n = large(device, (33, 35, 18), (1000, 520, 264))
    a, b = torch.randn(m, k, device=device).half(), torch.randn(k, n, device=device).half()
    compare(
        lambda a, b: package("contract2020").einsum("mk,kn->mn", a, b),
        lambda a, b: torch.einsum("mk,kn->mn", a.float(), b.float()).half(),
        (a, b),
        rtol=2e-3,
        atol=2e-3,
    )


@each_device
def test_2020_einsum_time(device: str) -> None:
    a = torch.randn(large(device, 32, 2048), 48, device=device)
    time = package("contract2020").contract("mk,kn->mn", a, a.t().contiguous(), bench=10)
    assert isinstance(time, int)
    assert time >= 1


# mid-2020


def lesson(name: str) -> Any:
    return importlib.import_module(f"{package('tutorials2020').__name__}.{name}")


@each_device
def test_2020_vector_add(device: str) -> None:
    needs_cpu_only(device)
    torch.manual_seed(0)
    x, y = (torch.randn(large(device, 1001, 10_000_001), device=device) for _ in range(2))
    compare(lesson("vector_add").add, torch.add, (x, y), rtol=0, atol=0)


@each_device
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_2020_matmul(device: str, dtype: torch.dtype) -> None:
    needs_cpu_only(device)
    torch.manual_seed(0)
    m, n, k = large(device, (64, 128, 64), (512, 1024, 768))
    a, b = torch.randn(m, k, device=device).to(dtype), torch.randn(k, n, device=device).to(dtype)
    tolerance = 1e-4 if dtype == torch.float32 else 2e-3
    compare(
        lambda a, b: lesson("matmul").dot(a, b, 2.0),
        lambda a, b: (2.0 * (a.float() @ b.float())).to(dtype),
        (a, b),
        rtol=tolerance,
        atol=3e-5 if dtype == torch.float32 else tolerance,
    )


@each_device
@pytest.mark.parametrize("pad", [0, 1, 2])
def test_2020_conv(device: str, pad: int) -> None:
    needs_cpu_only(device)
    torch.manual_seed(0)
    nb, c, h, w, nf = large(device, (2, 3, 8, 7, 5), (8, 32, 28, 30, 64))
    x, f = torch.randn(nb, c, h, w, device=device), torch.randn(nf, c, 3, 3, device=device)
    compare(
        lambda x, f: lesson("conv").conv(x, f, pad),
        lambda x, f: torch.nn.functional.conv2d(x.double(), f.double(), padding=pad).float(),
        (x, f),
        atol=3e-5,
    )


@each_device
def test_2020_times(device: str) -> None:
    needs_cpu_only(device)
    assert lesson("vector_add").bandwidth(large(device, 300, 1 << 24)) > 0
    assert lesson("matmul").throughput(*large(device, (64, 64, 64), (2048, 2048, 2048))) > 0
    assert lesson("conv").throughput(*large(device, (1, 2, 6, 6, 3, 3), (16, 64, 56, 56, 64, 3))) > 0


# 2020 and 2021: block-sparse attention, twice


SPARSE = ("sparse2020", "sparse2021")


def random_layout(heads: int, rows: int, columns: int, longest: int, device: str) -> torch.Tensor:
    """Up to ``longest`` blocks a row, at least one; the first row has all of these."""
    layout = torch.zeros(heads, rows, columns, dtype=torch.int64)
    for h in range(heads):
        for i in range(rows):
            count = longest if h == i == 0 else int(torch.randint(1, longest + 1, ()))
            layout[h, i, torch.randperm(columns)[:count]] = 1
    return layout.to(device)


def sparse_setup(name: str, device: str) -> tuple[Any, torch.Tensor, int]:
    """The package, a layout and a block size."""
    torch.manual_seed(0)
    if name == "sparse2021":
        needs_cpu_only(device)
    heads, rows, columns, longest, block = large(device, (2, 2, 4, 3, 16), (4, 24, 20, 5, 32))
    return package(name), random_layout(heads, rows, columns, longest, device), block


@each_device
@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("mode", ["sdd", "dsd", "dds"])
def test_sparse_matmul(device: str, name: str, mode: str, trans_a: bool, trans_b: bool) -> None:
    sparse, layout, block = sparse_setup(name, device)
    heads, rows, columns = layout.shape
    batch, free = 2, large(device, 20, 200)
    # the sparse matrix is [rows, columns]; transposing an operand means storing it the other way
    m, k, n = {
        "sdd": (rows * block, free, columns * block),
        "dsd": (columns * block, rows * block, free) if trans_a else (rows * block, columns * block, free),
        "dds": (free, columns * block, rows * block) if trans_b else (free, rows * block, columns * block),
    }[mode]
    a = torch.randn(batch, heads, *((k, m) if trans_a else (m, k)), device=device)
    b = torch.randn(batch, heads, *((n, k) if trans_b else (k, n)), device=device)
    testing = pytriton.testing
    product = sparse.MatMul(layout, block, mode, trans_a=trans_a, trans_b=trans_b)

    def ours(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a = testing.sparsify_tensor(a, layout, block) if mode == "dsd" else a
        b = testing.sparsify_tensor(b, layout, block) if mode == "dds" else b
        return product(a, b)

    def theirs(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a = testing.mask_tensor(a, layout, block) if mode == "dsd" else a
        b = testing.mask_tensor(b, layout, block) if mode == "dds" else b
        c = (a.transpose(2, 3) if trans_a else a) @ (b.transpose(2, 3) if trans_b else b)
        return testing.sparsify_tensor(c, layout, block) if mode == "sdd" else c

    compare(ours, theirs, (a, b), atol=3e-5)


MASKS = {
    "none": {},
    "rpe": {"rpe": True},
    "added": {"key_padding_mask": "add", "attn_mask": "add"},
    "multiplied": {"key_padding_mask": "mul", "attn_mask": "mul"},
    "all": {"rpe": True, "key_padding_mask": "mul", "attn_mask": "add"},
}


@each_device
@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
def test_sparse_attention(device: str, name: str, masks: dict[str, Any]) -> None:
    sparse, layout, block = sparse_setup(name, device)
    heads, rows, columns = layout.shape
    batch, features = 2, large(device, 20, 64)
    q = torch.randn(batch, heads, rows * block, features, device=device)
    k, v = (torch.randn(batch, heads, columns * block, features, device=device) for _ in range(2))
    given: dict[str, Any] = {}
    bias = torch.zeros(batch, heads, rows * block, columns * block, device=device)
    if "rpe" in masks:
        given["rpe"] = torch.randn(heads, rows * block, columns * block, device=device)
        bias = bias + given["rpe"]
    shapes = {"key_padding_mask": (batch, columns * block), "attn_mask": (rows * block, columns * block)}
    for mask, shape in shapes.items():
        if mask not in masks:
            continue
        kept = (torch.rand(*shape, device=device) < 0.7).float()
        kept[..., ::3] = 1  # no row is hidden altogether
        given[f"{mask}_mode"] = masks[mask]
        given[mask] = kept if masks[mask] == "mul" else 10 * (kept - 1)
        hidden = torch.where(kept == 0, -float("inf"), 0.0) if masks[mask] == "mul" else given[mask]
        bias = bias + (hidden[:, None, None] if mask == "key_padding_mask" else hidden)
    bias = pytriton.testing.mask_tensor(bias, layout, block, value=-float("inf"))

    def theirs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.softmax(q @ k.transpose(2, 3) * features**-0.5 + bias, dim=-1) @ v

    attention = sparse.Attention(layout, block)
    compare(lambda q, k, v: attention(q, k, v, **given), theirs, (q, k, v), atol=3e-5)


@each_device
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_attention_in_half(device: str, name: str) -> None:
    sparse, layout, block = sparse_setup(name, device)
    heads, rows, columns = layout.shape
    q = torch.randn(1, heads, rows * block, 32, device=device).half()
    k, v = (torch.randn(1, heads, columns * block, 32, device=device).half() for _ in range(2))
    bias = pytriton.testing.mask_tensor(
        torch.zeros(1, heads, rows * block, columns * block, device=device), layout, block, -float("inf")
    )

    def theirs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = q.float() @ k.float().transpose(2, 3) * 32**-0.5 + bias
        return (torch.softmax(scores, dim=-1) @ v.float()).half()

    compare(sparse.Attention(layout, block), theirs, (q, k, v), rtol=1e-2, atol=4e-3)


@each_device
def test_2020_sparse_times_add_up(device: str) -> None:
    sparse, layout, block = sparse_setup("sparse2020", device)
    x = torch.randn(1, layout.size(0), layout.size(2) * block, 16, device=device, requires_grad=True)
    q = torch.randn(1, layout.size(0), layout.size(1) * block, 16, device=device)
    attention = sparse.Attention(layout, block, bench=2)
    attention(q, x, x).sum().backward()
    assert set(attention.qk.times) == {"c", "db"}
    assert set(attention.softmax.times) == {"y", "dx"}
    assert set(attention.pv.times) == {"c", "da", "db"}
    assert attention.time() >= 7


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_kernels_in_threads(name: str) -> None:
    """Several threads ask for the same kernels at once: all are served, and nothing is made twice."""
    sparse, _, _ = sparse_setup(name, "cpu")
    layout = torch.ones(1, 1, 3, dtype=torch.int64)
    attention = sparse.Attention(layout, 16)
    q, k = torch.randn(4, 1, 1, 16, 16), torch.randn(4, 1, 1, 48, 16)
    found: dict[int, torch.Tensor] = {}

    def work(index: int) -> None:
        found[index] = attention(q[index], k[index], k[index])

    in_threads(work, range(4))
    for index in range(4):
        wanted = torch.softmax(q[index] @ k[index].transpose(2, 3) / 4, dim=-1) @ k[index]
        torch.testing.assert_close(found[index], wanted, rtol=1e-4, atol=1e-5)


# 2021


@each_device
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_2021_matmul(device: str, layout: str) -> None:
    torch.manual_seed(0)
    m, n, k = large(device, (64, 128, 64), (1024, 1152, 1536))
    a = torch.randn(m, k, device=device) if layout[0] == "n" else torch.randn(k, m, device=device).t()
    b = torch.randn(k, n, device=device) if layout[1] == "n" else torch.randn(n, k, device=device).t()
    compare(lambda a, b: package("ops2021").matmul(a, b, 0.5), lambda a, b: 0.5 * (a @ b), (a, b), atol=3e-5)


@each_device
@pytest.mark.parametrize("point", range(4))
def test_2021_matmul_at_each_point(device: str, point: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every point of the sweep, the ones with locks too; a tuning run would show only the fastest."""
    torch.manual_seed(0)
    function = importlib.import_module(f"{package('ops2021').__name__}.matmul")._matmul
    monkeypatch.setattr(function, "configs", function.configs[point : point + 1])
    monkeypatch.setattr(function, "kernels", {})
    m, n, k = large(device, (64, 128, 64), (1024, 1152, 1536))
    a, b = torch.randn(m, k, device=device), torch.randn(k, n, device=device)
    compare(package("ops2021").matmul, torch.matmul, (a, b), atol=3e-5)


@each_device
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("columns", [1, 37, 96, 700])
def test_2021_softmax(device: str, columns: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = (torch.randn(large(device, 5, 2000), columns, device=device) * 3).to(dtype)
    tolerance = 1e-5 if dtype == torch.float32 else 2e-3
    compare(package("ops2021").softmax, lambda x: torch.softmax(x, 1), (x,), rtol=tolerance, atol=tolerance)


@each_device
@pytest.mark.parametrize("columns", [1, 24, 37, 128])
def test_2021_cross_entropy(device: str, columns: int) -> None:
    torch.manual_seed(0)
    rows = large(device, 6, 5000)
    logits = torch.randn(rows, columns, device=device)
    indices = torch.randint(0, columns, (rows,), device=device)
    compare(
        package("ops2021").cross_entropy,
        lambda x, i: torch.nn.functional.cross_entropy(x, i, reduction="none"),
        (logits, indices),
        rtol=1e-5,
    )


def test_2021_report(tmp_path: Path) -> None:
    bench = importlib.import_module(f"{package('ops2021').__name__}.bench")
    bench.bench_matmul.run(save_path=str(tmp_path))
    bench.bench_softmax.run(save_path=str(tmp_path))
    for name, columns in (("matmul-nn", 7), ("matmul-nt", 7), ("softmax", 3)):
        with (tmp_path / f"{name}.csv").open() as file:
            header, *rows = csv.reader(file)
        assert header[1:3] == ["Triton", "Torch"]
        assert len(header) == columns
        assert len(rows) >= 2
        assert all(float(cell) > 0 for row in rows for cell in row)


def test_as_the_docs_run_it() -> None:
    """The command of docs/legacy.md, from the root of a checkout."""
    text = (ROOT / "docs" / "legacy.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^\$ (PYTHONPATH=.*)$", text, re.MULTILINE)
    paths, python, *arguments = shlex.split(shown)
    assert python == "python"
    environment = {**os.environ, "PYTHONPATH": paths.removeprefix("PYTHONPATH=")}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(\S+):$", done.stdout, re.MULTILINE) == ["matmul-nn", "matmul-nt", "softmax"]
