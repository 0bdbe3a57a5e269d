"""All programs in examples/: `main()` runs on the CPU and prints small errors; kernels compile for sm_90."""

from __future__ import annotations

import re
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from bounds import bound

from pytriton import Kernel

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
HALF: dict[str, Any] = {"TYPE": "half"}


# torch.compile has a C++ compiler at work in these; tests/operators/test_examples.py runs what they define.
COMPILED = ("dot_op", "linear_layer")
MAIN = [
    pytest.param(path, marks=[pytest.mark.slow] * (path.stem in COMPILED), id=path.stem) for path in EXAMPLES
]


@pytest.mark.parametrize("path", MAIN)
@pytest.mark.sampled(6)
def test_main(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """As a script; every number that it calls an error, or prints in a table of them, is small."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert "@triton.jit" in printed
    errors = [float(one) for one in re.findall(r"\b\d\.\de[-+]\d\d\b|(?<=difference )\S+", printed)]
    verdicts = re.findall(r"equals? torch: +(\w+)$", printed, re.M)
    assert errors or verdicts, printed
    assert all(error <= 2 * bound(torch.float16) for error in errors), printed
    assert set(verdicts) <= {"True"}, printed


def test_all_are_listed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "examples.md").read_text()
    assert sorted(re.findall(r"^\| \[(\w+)\.py\]\(../examples/\1\.py\)", page, re.M)) == [
        path.stem for path in EXAMPLES
    ]


KERNELS: list[tuple[str, str, dict[str, Any]]] = [
    ("bias_relu", "forward_kernel", {"TL": 512}),
    ("bias_relu", "backward_kernel", {"TL": 512}),
    ("cross_entropy", "forward_kernel", {"TN": 768}),
    ("cross_entropy", "backward_kernel", {"TN": 768}),
    ("cross_entropy_logsum", "forward_kernel", {"TN": 768}),
    ("cross_entropy_logsum", "backward_kernel", {"TN": 768}),
    ("batch_norm", "forward_kernel", {"TM": 1024}),
    ("batch_norm", "backward_kernel", {"TM": 1024}),
    ("layer_norm", "forward_kernel", {"TN": 640}),
    ("layer_norm", "backward_kernel", {"TN": 640}),
    ("layer_norm", "finish_kernel", {"TN": 64, "TB": 16}),
    ("blocksparse_softmax", "forward_kernel", {"BLOCK": 32, "TN": 96}),
    ("blocksparse_softmax", "backward_kernel", {"BLOCK": 32, "TN": 96}),
]
SPARSE = {"BLOCK": 64, "TM": 64, "TN": 64, "TK": 32}
EIGHT = "__multipleof(8)"
PRODUCTS: list[tuple[str, dict[str, Any]]] = [
    ("split_k", {"TM": 64, "TN": 64, "TK": 32, "TZ": 4, "MULTIPLE_K": EIGHT, "MULTIPLE_N": EIGHT}),
    ("conv2d", {"TM": 64, "TN": 64, "TK": 32, "R": 3, "S": 3, "MULTIPLE_K": EIGHT}),
    ("attention", {"TM": 64, "TN": 64, "D": 64}),
    ("blocksparse_matmul", {"NAME": "sdd", "SDD": 1, **SPARSE}),
    ("blocksparse_matmul", {"NAME": "dsd", "DSD": 1, **SPARSE}),
    ("blocksparse_matmul", {"NAME": "dds", "DDS": 1, **SPARSE}),
]


@pytest.mark.parametrize(("module", "name", "defines"), KERNELS, ids=[f"{m}-{n}" for m, n, _ in KERNELS])
def test_compiles(module: str, name: str, defines: dict[str, Any]) -> None:
    kernel: Kernel = getattr(import_module(module), name)
    ptx = kernel.asm("ptx", "cuda:90", {**HALF, **defines})
    assert ".entry" in ptx
    assert "ld.local" not in ptx  # nothing spills


@pytest.mark.parametrize(
    ("module", "defines"), PRODUCTS, ids=[f"{m}-{d.get('NAME', '')}" for m, d in PRODUCTS]
)
@pytest.mark.sampled(6)
def test_products_use_tensor_cores(module: str, defines: dict[str, Any]) -> None:
    """And their loops are pipelined: operands come by asynchronous copies of 16 bytes."""
    example = import_module(module)
    if module == "blocksparse_matmul":
        defines = {**defines, **example.A_PLAIN, **example.B_PLAIN}
    ptx = example.kernel.asm("ptx", "cuda:90", {**HALF, **defines}, num_warps=4)
    assert "wgmma.mma_async" in ptx
    assert "cp.async.cg" in ptx
    assert "ld.local" not in ptx
