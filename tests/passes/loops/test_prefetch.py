"""The prefetch idiom is undone in every known shape, exactly.

Each shape is run on the interpreter for loops of no, one and more iterations, full and ragged, on memory that ends
where the last live load ends: a load outside of it fails the test, as it might fail on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch

import pytriton
from tests.passes.loops.prefetch_shapes import DOWN, FIRST, SHAPES, UP, Shape, parts, total


@pytest.mark.parametrize("name", SHAPES)
def test_undone(name: str) -> None:
    shape = SHAPES[name]
    before, body = parts(shape.source())
    assert body[0] == shape.line
    assert name == "read before the loop too" or "tl.load(" not in before
    assert sum(line.startswith("a = tl.load(pa") for line in body) <= 1
    warnings = pytriton.translate(shape.source()).warnings
    assert {warning.code for warning in warnings} <= {"TC332"}  # one shape stores a block to one address


def test_a_carried_mask_needs_no_detour() -> None:
    before, body = parts(SHAPES["masks in variables that nothing else reads"].source())
    assert "a_mask = r < n + m" in before
    assert body[-1] == "a_mask = r < k + m"
    assert "check" not in before + "".join(body)


# ---------------------------------------------------------------- numbers, and what is touched


class Watch:
    """The interpreter's functions; a load outside of the allowed bytes is an error."""

    def __init__(self, real: object, allowed: list[tuple[int, int]]) -> None:
        self.real, self.allowed = real, allowed

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name)

    def load(self, pointers: np.ndarray, mask: np.ndarray, other: np.ndarray, dtype: np.dtype) -> np.ndarray:
        active = pointers[np.broadcast_to(mask, pointers.shape).astype(bool)].astype(np.int64)
        fine = np.zeros(active.shape, bool)
        for start, stop in self.allowed:
            fine |= (active >= start) & (active + np.dtype(dtype).itemsize <= stop)
        assert fine.all(), "a load reaches outside"
        return self.real.load(pointers, mask, other, dtype)  # type: ignore[attr-defined]


@contextmanager
def watched(*tensors: torch.Tensor) -> Iterator[None]:
    """Inside, only these tensors may be read."""
    from triton.runtime import interpreter

    real = interpreter._interpreter
    allowed = [(t.data_ptr(), t.data_ptr() + t.numel() * t.element_size()) for t in tensors]
    interpreter._interpreter = Watch(real, allowed)
    try:
        yield
    finally:
        interpreter._interpreter = real


def test_the_watch_watches() -> None:
    shape = Shape("", "c += *pa; pa += 8;")
    a, c, i = torch.randn(16), torch.zeros(8), torch.zeros(1, dtype=torch.int32)
    with watched(a[:8], i), pytest.raises(Exception, match="outside"):
        pytriton.kernel(shape.source())(a, a, c, i, 16, 1, grid=(1,))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("n", [-5, 0, 8, 13, 32])
@pytest.mark.sampled(12)
def test_computes(name: str, n: int) -> None:
    shape = SHAPES[name]
    if not shape.masked:
        n = -(-n // 8) * 8
    iterations = max(0, -(-n // 8))
    starts = list(shape.steps or range(0, 8 * iterations, 8))[:iterations]
    torch.manual_seed(7)
    end = max(starts, default=0 if name == "read before the loop too" else -8) + 8
    memory = torch.randn(max(end, 1) + 64)
    a = memory[: n if shape.masked and n > 0 else end]
    blocks = []
    for start in starts:
        block = torch.zeros(8)
        block[: len(a[start : start + 8])] = a[start : start + 8]
        blocks.append(shape.work(block) if name != "work with a value of the iteration" else block * n)
    count = len(shape.increments)
    table = torch.tensor([*shape.increments, 0], dtype=torch.int32)
    used = iterations if shape.increments else 0
    c = torch.full((8,), 99.0)
    with watched(a, table[: min(used, count)], c):
        pytriton.kernel(shape.source())(memory, memory, c, table, n, 1, grid=(1,))
    want = total(blocks)
    torch.testing.assert_close(c[1:], want[1:], rtol=1e-6, atol=1e-5)
    if "*C" not in shape.after:
        torch.testing.assert_close(c, want, rtol=1e-6, atol=1e-5)


# ---------------------------------------------------------------- masks

UPWARD = {
    # of the tail, in a loop up to n
    "k + 8 < n": "",
    "k < n - 8": "",
    "n - k > 8": "",
    "n - 8 > k": "",
    "k + 8 <= n - 1": "",
    "k - n < -8": "",
    "2 * k + 16 < k + n + 8": "",
    "k < n": "",
    "k + 9 < n": "a_mask",
    "k + 8 < n + m - m": "",
    "k + 8 < m": "a_mask",
    "k + 8 < n * 1": "",
}
MASKS = {
    # of the tail, in a loop down from n: what is left of it where the first load has no mask
    "k > 8": "",
    "k - 8 > 0": "",
    "8 < k": "",
    "k >= 9": "",
    "k > 5": "",
    "k != 8": "",
    "k > 9": "a_mask",
    "k > 8 && k > 7": "",
    "k > 8 && m": "a_mask",
    "!(k <= 8)": "a_mask",
    "k > m": "a_mask",
    "(unsigned)k > 8": "a_mask",
    "more": "",
    "number": "",
}


@pytest.mark.parametrize(
    ("mask", "loop", "left"),
    [(mask, DOWN, left) for mask, left in MASKS.items()]
    + [(mask, UP, left) for mask, left in UPWARD.items()],
)
def test_mask_that_the_loop_implies(mask: str, loop: str, left: str) -> None:
    tail = f"bool more = k > 8; int number = k > 8; a = *?({mask})pa;"
    _, body = parts(Shape(FIRST, f"c += a; pa += 8; {tail}", loop=loop).source())
    assert body[0] == (f"a = tl.load(pa, mask={left}, other=0.0)" if left else "a = tl.load(pa)")


LITERALS = """
void f(float *A __noalias, float *C, int n) {
  int r[8] = 0 ... 8;
  float *pa[8] = A + r;
  float a[8];
  float c[8] = 0;
  a = r < n ? *pa : 2;
  for (int k = n; k > 0; k -= 8) {
    c += a;
    pa += 8;
    a = r < k - 8 ? *pa : 1;
  }
  *(C + r) = c;
}
"""
WORK = LITERALS.replace("a = r < n ? *pa : 2;", "a = *?(r < n)pa; a += 1;").replace(
    "a = r < k - 8 ? *pa : 1;", "a = *?(r < k - 8)pa; a += 2;"
)
UNDER_IF = """
void f(float *A __noalias, float *C, int n, int m) {
  int r[8] = 0 ... 8;
  float *pa[8] = A + r;
  int s = 16;
  float a[8];
  float c[8] = 0;
  a = *?(r < m)pa;
  for (int k = n; k > 0; k -= 8) {
    if (s > 0) {
      c += a;
      pa += 8;
      a = *?(r < k - 8)pa;
    }
  }
  *(C + r) = c;
}
"""


@pytest.mark.parametrize("n", [5, 8, 13, 24])
def test_literals_that_differ(n: int) -> None:
    """What the first load gives where its mask fails, and what is added to it, is not what the others do."""
    x = torch.randn(32)
    iterations = [x[at : at + 8] for at in range(0, n, 8)]
    inside = [torch.arange(8) < n - at for at in range(0, n, 8)]
    others = torch.tensor([2.0] + [1.0] * (len(iterations) - 1))
    for text, wanted in (
        (LITERALS, sum(torch.where(m, t, o) for m, t, o in zip(inside, iterations, others, strict=True))),
        (WORK, sum(torch.where(m, t, 0) + 3 - o for m, t, o in zip(inside, iterations, others, strict=True))),
    ):
        c = torch.zeros(8)
        pytriton.kernel(text)(x, c, n, grid=(1,))
        torch.testing.assert_close(c, wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("m", [3, 20])
@pytest.mark.parametrize("n", [5, 13, 24])
def test_mask_carried_under_an_if_that_always_holds(n: int, m: int) -> None:
    x = torch.randn(32)
    c = torch.zeros(8)
    pytriton.kernel(UNDER_IF)(x, c, n, m, grid=(1,))
    wanted = torch.where(torch.arange(8) < m, x[:8], 0)
    for at in range(8, n, 8):
        wanted += torch.where(torch.arange(8) < n - at, x[at : at + 8], 0)
    torch.testing.assert_close(c, wanted, rtol=0, atol=1e-6)


COMMENTED = """
void f(float *X, float *Y, int n) {{
  int r[16] = 0 ... 16;
  float *px[16] = X + r;
  float y[16] = 0;
  // what the first turn adds
  bool check[16] = r < n;{between}
  float x[16] = check ? *px : 0;
  for (int k = n; k > 0; k -= 16) {{
    y += x;
    px += 16;
    bool check[16] = r < k - 16;
    x = check ? *px : 0;
  }}
  *(Y + r) = y{after};
}}
"""


@pytest.mark.parametrize(
    ("between", "after", "below"),
    [
        ("", "", "        x = tl.load(px, mask=r < k, other=0.0)\n"),
        ("\n  int more = n + 1;", " + more", "    more = n + 1\n"),
    ],
)
def test_the_comment_above_a_mask_that_goes(between: str, after: str, below: str) -> None:
    """It heads the load that needed the mask, unless the next line stays, which it may head as well."""
    text = pytriton.translate(COMMENTED.format(between=between, after=after)).text
    assert f"# what the first turn adds\n{below}" in text
    assert text.count("# what the first turn adds") == 1


# ---------------------------------------------------------------- what may not move or merge

WALK = """
__global__ void walk(int *X, int *B, int *Y, int n) {
  int r[TN] = 0 ... TN;
  int *p[TN] = X + r;
  int a[TN] = r;
  int an[TN] = *p;
  int b[TN] = *(B + a);
  a = an;
  int s[TN] = 0;
  for (int k = n; k > 0; k -= 1) {
    s += b * 3 + a;
    p += TN;
    an = *p;
    b = *(B + a);
    a = an;
  }
  *(Y + r) = s;
}
"""


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_copy_stays_where_its_target_is_read_before_it(n: int) -> None:
    size = 16
    torch.manual_seed(n)
    x = torch.randint(0, size, (n + 1, size), dtype=torch.int32)
    b, y = torch.randint(-9, 9, (size,), dtype=torch.int32), torch.empty(size, dtype=torch.int32)
    pytriton.kernel(WALK)(x, b, y, n, grid=(1,), defines={"TN": size})
    at, want = torch.arange(size), torch.zeros(size, dtype=torch.int32)
    for row in x[:n]:
        want += b[at] * 3 + row
        at = row.long()
    assert y.tolist() == want.tolist()


def test_a_load_beside_the_prefetch_keeps_its_condition() -> None:
    """Although its value is unused: it may not be allowed in the last iteration."""
    text = """
void f(int *X, int *Z, int *Y, int n, int m) {
  int r[16] = 0 ... 16;
  int *p[16] = X + r;
  int a[16] = *p;
  int s[16] = 0;
  for (int k = n; k > 0; k -= 1) {
    s += a;
    p += 16;
    if (k > 1) {
      a = *p;
      int z = *(Z + k);
    }
  }
  *(Y + r) = s;
}
"""
    lines = [line.strip() for line in pytriton.translate(text, {}).text.splitlines()]
    assert lines[lines.index("z = tl.load(Z + k)") - 1] == "if k > 1:"
