"""Six packages of 2019 to 2021, imported unmodified through ``legacy_imports``: forward and backward equal torch.

On a CPU they run at small sizes; where there is a GPU, at larger ones. A package that allocates or launches on "the
CUDA device" itself cannot take CPU tensors on a machine that has one: its CPU tests are skipped there.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import pytriton

PACKAGES = Path(__file__).parent / "packages"
NAMES = ("lean2019", "contract2020", "tutorials2020")

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
each_device = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(scope="module", autouse=True)
def _on_path() -> Iterator[None]:
    sys.path.insert(0, str(PACKAGES))
    yield
    sys.path.remove(str(PACKAGES))


def package(name: str) -> ModuleType:
    """The package as an old program gets it."""
    if name in sys.modules:
        return sys.modules[name]
    with pytriton.legacy_imports(name):
        return importlib.import_module(name)


def large(device: str, small: Any, large: Any) -> Any:
    """A size for the interpreter, and one for a GPU."""
    return large if device == "cuda" else small


def needs_cpu_only(device: str) -> None:
    if device == "cpu" and torch.cuda.is_available():
        pytest.skip("the package uses the CUDA device of this machine")


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


def test_every_package_is_tested() -> None:
    assert {path.name for path in PACKAGES.iterdir() if path.name != "__pycache__"} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_package_has_pytriton_and_nobody_else(name: str) -> None:
    found = package(name)
    for part in pkgutil.iter_modules(found.__path__):
        importlib.import_module(f"{name}.{part.name}")
    inside = [module for known, module in sys.modules.items() if known.split(".")[0] == name]
    users = [module for module in inside if hasattr(module, "triton")]
    assert users
    assert all(module.triton is pytriton for module in users)
    assert hasattr(importlib.import_module("triton"), "jit")


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
