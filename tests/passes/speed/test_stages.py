"""Loops that only stream may load ahead, unless their stores might meet their loads."""

from __future__ import annotations

import pytest
import torch

import pytriton
from tests.translating import translate

HEADER = """
void f(float *X {promise}, float *Y {promise}, int *L, int n) {{
  int r[128] = 0 ... 128;
  float s[128] = 0;
  for (int k = 0; k < n; k += 128) {{
    {body}
  }}
  *(Y + r) = s;
}}
"""
STREAMS = {
    "sum": ("", "s += k + r < n ? *(X + k + r) : 0;"),
    "stored elsewhere": ("__noalias", "s = *(X + k + r); *(Y + k + r) = s;"),
    "two loads": ("", "s += *(X + k + r) * *(Y + r);"),
}
OTHERS = {
    "may meet": ("", "s = *(X + k + r); *(Y + k + r) = s;"),
    "in place": ("__noalias", "*(X + k + r) = *(X + k + r) + 1;"),
    "ordered": ("", "s += *(X + k + r); __debug_barrier();"),
    "counted": ("", "s += *(X + k + r); atomic_add(L, 1);"),
    "nothing loaded": ("", "s += k;"),
    "loop in it": ("", "for (int j = 0; j < 3; j++) s += *(X + k + r);"),
    "product": ("", "float a[128, 16] = *(X + r[:, newaxis]); float b[128, 128] = a @ ^a; s += b[+, :];"),
}


def text(name: str) -> str:
    promise, body = {**STREAMS, **OTHERS}[name]
    return HEADER.format(promise=promise, body=body)


@pytest.mark.parametrize("name", STREAMS)
def test_told(name: str) -> None:
    plain, told = pytriton.translate(text(name)), translate(text(name), num_stages=3)
    assert plain.traits.streams
    assert not plain.traits.pipelined
    assert "for k in range(0, n, 128):" in plain.text
    assert told.text == plain.text.replace("range(0, n, 128)", "tl.range(0, n, 128, num_stages=3)")


@pytest.mark.parametrize("name", OTHERS)
def test_not_told(name: str) -> None:
    plain = pytriton.translate(text(name))
    assert plain.traits.streams == (name == "loop in it")  # the inner one, which stores nothing
    if not plain.traits.streams:
        assert translate(text(name), num_stages=3).text == plain.text


@pytest.mark.parametrize("name", STREAMS)
def test_loads_run_ahead(name: str) -> None:
    """By asynchronous copies, of which there are none else."""
    kernel = pytriton.kernel(text(name))
    assert "cp.async" not in kernel.asm("ptx", "cuda:90")
    ahead = pytriton.kernel(text(name), num_stages=3)
    assert "cp.async" in ahead.asm("ptx", "cuda:90")


def test_computes() -> None:
    x, y = torch.randn(300), torch.zeros(128)
    lock = torch.zeros(1, dtype=torch.int32)
    pytriton.kernel(text("sum"), num_stages=3)(x, y, lock, 300, grid=(1,))
    torch.testing.assert_close(y, torch.cat([x, torch.zeros(84)]).view(3, 128).sum(0))
