"""Launches that run as C: what several threads find out of bounds, what waits, and what a module holds."""

from __future__ import annotations

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.native.c_module import to_c
from pytriton.runtime.native.c_compiler import NoLibrary, find
from pytriton.runtime.native.native_kernel import native_of
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText
from pytriton.settings import Settings
from pytriton.source import Source

pytestmark = pytest.mark.skipif(find() is None, reason="needs a C compiler")


@pytest.fixture(autouse=True)
def in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTRITON_CC", "cc")


COPY = """void copy(float *x, float *z) {
  int i[16] = get_program_id(0) * 16 + 0 ... 16;
  *(z + i) = *(x + i);
}"""


@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_threads_report_the_first_program(monkeypatch: pytest.MonkeyPatch, threads: str) -> None:
    monkeypatch.setenv("PYTRITON_THREADS", threads)
    x, z = torch.arange(4096.0), torch.zeros(1000)
    with pytest.raises(LaunchError) as caught:
        pytriton.kernel(COPY, name="copy.c")(x, z, grid=256)
    assert "copy.c:3:3: error: store outside 'z': 1 element past the end [TC550]" in str(caught.value)
    assert "in program (62, 0, 0) of a grid of (256, 1, 1), element [8] of the block [16]" in str(
        caught.value
    )
    assert "3095 more elements, in 194 programs" in str(caught.value)
    assert torch.equal(z, x[:1000])


def test_blocks_that_are_not_rows_are_checked() -> None:
    text = "void f(int *x, int *z, int s) { int i[8] = 0 ... 8; *(z + i * s) = *(x + i); }"
    z = torch.zeros(16).int()
    with pytest.raises(LaunchError, match=r"element \[6\] of the block \[8\]; 1 more element"):
        pytriton.kernel(text)(torch.arange(8).int(), z, 3, grid=1)
    assert z[::3].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("body", "waits"),
    [
        ("while (atomic_cas(p, 0, 1) == 1);", True),
        ("for (;;) { int old = *p; if (old == 3) break; }", True),
        ("int v = 0; do { if (n > 2) v = *p; } while (v == 0);", True),
        ("while (n > 0) { if (*p) n -= 1; n -= 1; }", True),
        ("int k = *p; while (k > 0) k -= 1;", False),
        ("for (int k = 0; k < n; k++) atomic_add(p, k);", False),
        ("int s = 0; while (n > 0) { s += *p; n -= 1; } *p = s;", False),
    ],
)
def test_loops_that_may_wait(body: str, waits: bool) -> None:
    text = f"void f(int *p, int n) {{ {body} }}"
    assert to_c(text, {}, Settings()).waits == waits
    made = native_of(KernelText(Source(text, "f.c")), Config({}), checked=False)
    assert isinstance(made, NoLibrary) == waits


def test_modules_hold_the_helpers_that_they_use() -> None:
    text = to_c(COPY, {}, Settings()).text
    assert "load_float" in text
    assert not any(word in text for word in ("atomic_", "sum_of_", "double math_", "put_float"))
    assert "put_float" in to_c(COPY, {}, Settings(checked=True)).text
