"""The prefetch idiom is undone in every known shape, exactly; and left alone for each reason that it cannot be.

Each shape is run on the interpreter for loops of no, one and several turns, full and ragged, on memory that ends
where the last live load ends: a load outside of it fails the test, as it might fail on a GPU.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import pytriton

KERNEL = """
void k(float *A __noalias, float *B, float *C {noalias}, int *I __noalias, int n, int m) {{
  int r[8] = 0 ... 8;
  float *pa[8] = A + r;
  float *pc[8] = C + r;
  float c[8] = 0;
  {before}
  {loop} {{
    {body}
  }}
  {after}
  *pc = c;
}}
"""
DOWN = "for (int k = n; k > 0; k -= 8)"
UP = "for (int k = 0; k < n; k += 8)"

Blocks = list[torch.Tensor]


def total(blocks: Blocks) -> torch.Tensor:
    return torch.stack(blocks).sum(0) if blocks else torch.zeros(8)


@dataclass(frozen=True)
class Shape:
    """One way to write a prefetch. ``line``: what its first statement in the loop becomes."""

    before: str
    body: str
    line: str = "a = tl.load(pa)"
    loop: str = DOWN
    after: str = ""
    masked: bool = False  # blocks may be ragged; else n is rounded up
    work: Callable[[torch.Tensor], torch.Tensor] = lambda block: block
    steps: Sequence[int] = ()  # where the blocks start; one after the other if empty
    increments: Sequence[int] = ()  # the table at I

    def source(self) -> str:
        return KERNEL.format(
            noalias="__noalias", before=self.before, loop=self.loop, body=self.body, after=self.after
        )


FIRST = "float a[8] = *pa;"
MASKED = "float a[8] = *?(r < n)pa;"
JUMPS = (8, 32, -16, 8)
STARTS = (0, 8, 40, 24)

SHAPES = {
    "plain": Shape(FIRST, "c += a; pa += 8; a = *pa;"),
    "upward": Shape(FIRST, "c += a; pa += 8; a = *pa;", loop=UP),
    "mask carried by the user": Shape(
        "bool check[8] = r < n; float a[8] = check ? *pa : 0;",
        "c += a; pa += 8; check = r < k - 8; a = check ? *pa : 0;",
        "a = tl.load(pa, mask=check, other=0.0)",
        masked=True,
    ),
    "tail mask from k": Shape(
        MASKED, "c += a; pa += 8; a = *?(r < k - 8)pa;", "a = tl.load(pa, mask=r < k, other=0.0)", masked=True
    ),
    "tail mask from k, turned round": Shape(
        MASKED, "c += a; pa += 8; a = *?(k - 8 > r)pa;", "a = tl.load(pa, mask=k > r, other=0.0)", masked=True
    ),
    "tail mask from k, upward": Shape(
        MASKED,
        "c += a; pa += 8; a = *?(k + 8 + r < n)pa;",
        "a = tl.load(pa, mask=k + r < n, other=0.0)",
        loop=UP,
        masked=True,
    ),
    "tail mask from k, upward, against the bound": Shape(
        MASKED,
        "c += a; pa += 8; a = *?(r < n - k - 8)pa;",
        "a = tl.load(pa, mask=r < n - k, other=0.0)",
        loop=UP,
        masked=True,
    ),
    "mask of the turn": Shape(
        "bool check[8] = r < n; float a[8] = check ? *pa : 0;",
        "c += a; pa += 8; bool check[8] = r < k - 8; a = check ? *pa : 0;",
        "a = tl.load(pa, mask=r < k, other=0.0)",
        masked=True,
    ),
    "mask in a variable that the loop sets": Shape(
        "bool check[8]; float a[8] = r < n ? *pa : 0;",
        "c += a; pa += 8; check = r < k - 8; a = check ? *pa : 0;",
        "a = tl.load(pa, mask=r < k, other=0.0)",
        masked=True,
    ),
    "first load without a mask": Shape(
        FIRST, "c += a; pa += 8; a = *?(r < k - 8 + 8 * m)pa;", "a = tl.load(pa, mask=a_mask, other=0.0)"
    ),
    "tail load without a mask": Shape(
        "float a[8] = *?(r < n + m)pa;",
        "c += a; pa += 8; a = *pa;",
        "a = tl.load(pa, mask=a_mask, other=0.0)",
    ),
    "masks that have nothing in common": Shape(
        "float a[8] = *?(r < n + m)pa;",
        "c += a; pa += 8; a = *?(r < k + m)pa;",
        "a = tl.load(pa, mask=a_mask, other=0.0)",
    ),
    "masks in variables that nothing else reads": Shape(
        "bool check[8] = r < n + m; float a[8] = check ? *pa : 0;",
        "c += a; pa += 8; bool check[8] = r < k + m; a = check ? *pa : 0;",
        "a = tl.load(pa, mask=a_mask, other=0.0)",
    ),
    "masks in variables that something else sets": Shape(
        "bool check[8] = r < n + m; float a[8] = check ? *pa : 0;",
        "c += a; pa += 8; bool next[8] = r < k + m; a = next ? *pa : 0;",
        "a = tl.load(pa, mask=a_mask, other=0.0)",
        after="check = r < 99; c = check ? c : 0;",
    ),
    "two masks at once": Shape(
        MASKED,
        "c += a; pa += 8; a = *?(r < k - 8 && k > 8)pa;",
        "a = tl.load(pa, mask=r < k, other=0.0)",
        masked=True,
    ),
    "one of two operands": Shape(
        FIRST + " float *pb[8] = A + r;", "float b[8] = *pb; c += (a + b) / 2; pa += 8; pb += 8; a = *pa;"
    ),
    "two operands": Shape(
        FIRST + " float *pb[8] = A + r; float b[8] = *pb;",
        "c += (a + b) / 2; pa += 8; pb += 8; a = *pa; b = *pb;",
    ),
    "increment from memory": Shape(
        FIRST + " int *pi = I;",
        "c += a; int inc = *pi; pa += inc; pi += 1; a = *?(k > 8)pa;",
        steps=STARTS,
        increments=(*JUMPS, 99),
    ),
    "increment prefetched": Shape(
        FIRST + " int *pi = I; int inc = *pi;",
        "c += a; pa += inc; pi += 1; inc = *pi; a = *?(k > 8)pa;",
        "inc = tl.load(pi)",
        steps=STARTS,
        increments=JUMPS,
    ),
    "increment prefetched and used at once": Shape(
        "int *pi = I; int inc = *pi; pa += inc; pi += 1;" + FIRST,
        "c += a; inc = *pi; pa += inc; pi += 1; a = *pa;",
        "inc = tl.load(pi)",
        steps=(*STARTS[1:], 32),
        increments=JUMPS,
    ),
    "increment, used at once, in one turn's variable": Shape(
        "int *pi = I; int first = *pi; pa += first; pi += 1;" + FIRST,
        "c += a; int inc = *pi; pa += inc; pi += 1; a = *pa;",
        "inc = tl.load(pi)",
        steps=(*STARTS[1:], 32),
        increments=JUMPS,
    ),
    "pointer computed anew": Shape(FIRST, "c += a; pa = A + r + (n - k + 8); a = *?(k > 8)pa;"),
    "pointer computed anew at the load": Shape(
        "float a[8] = *(A + r);",
        "c += a; int at[8] = k + 8 + r; a = *(A + at);",
        "at = k + r",
        loop=UP,
    ),
    "pointer computed anew through two variables": Shape(
        "float a[8] = *(A + (0 ... 8) / 8 * 8 + r);",
        "c += a; int rk[8] = k + 8 + 0 ... 8; int at[8] = rk / 8; a = *(A + at * 8 + r);",
        "rk = k + tl.arange(0, 8)",
        loop=UP,
    ),
    "step in a variable": Shape(
        "int step = 8;" + FIRST, "c += a; pa += step; a = *?(k > step)pa;", loop=DOWN.replace("8)", "step)")
    ),
    "bound assigned before the loop": Shape("n = n / m;" + FIRST, "c += a; pa += 8; a = *?(k > 8)pa;"),
    "second name": Shape(FIRST + " float an[8];", "pa += 8; an = *?(k > 8)pa; c += a; a = an;"),
    "second name in both places": Shape(
        "float an[8] = *pa; float a[8] = an;", "pa += 8; an = *pa; c += a; a = an;"
    ),
    "second name of the turn": Shape(FIRST, "pa += 8; float an[8] = *pa; c += a; a = an;"),
    "declared before": Shape("float a[8]; a = *pa;", "c += a; pa += 8; a = *pa;"),
    "advance behind the load": Shape(FIRST + "pa += 8;", "c += a; a = *?(k > 8)pa; pa += 8;"),
    "advance behind the load, pointer used later": Shape(
        FIRST + "pa += 8;",
        "c += a; a = *?(k > 8)pa; pa += 8;",
        "a = tl.load(a_pointer)",
        after="pa += 8; *C = pa - A;",
    ),
    "pointer ahead of itself": Shape(
        FIRST, "c += a; a = *?(k > 8)(pa + 8); pa += 8;", "a = tl.load(a_pointer)"
    ),
    "first load through another pointer": Shape(
        "float *first[8] = A + r; float a[8] = *first;", "c += a; pa += 8; a = *pa;"
    ),
    "under an if": Shape(FIRST, "c += a; if (k > 8) { pa += 8; a = *pa; }"),
    "under an if, pointer outside": Shape(FIRST, "c += a; pa += 8; if (k - 8 > 0) a = *pa;"),
    "work in the expression": Shape(
        "float a[8] = *pa + 1;",
        "c += a; pa += 8; a = *pa + 1;",
        "a = tl.load(pa) + 1.0",
        work=lambda x: x + 1,
    ),
    "work behind": Shape(
        FIRST + "a = a > 0 ? a : 0;",
        "c += a; pa += 8; a = *pa; a = a > 0 ? a : 0;",
        work=lambda x: x.clamp(min=0),
    ),
    "work behind, other names": Shape(
        "float x[8] = *pa; float a[8] = x > 0 ? x : 0;",
        "c += a; pa += 8; float y[8] = *pa; a = y > 0 ? y : 0;",
        "y = tl.load(pa)",
        work=lambda x: x.clamp(min=0),
    ),
    "work under the mask of the tail": Shape(
        "float a[8] = exp(*pa);",
        "c += a; pa += 8; a = k > 8 ? exp(*pa) : 0;",
        "a = tl.exp(tl.load(pa))",
        work=torch.exp,
    ),
    "work with another load": Shape(
        "float *pb[8] = A + r;" + FIRST + "a = a + *pb;",
        "c += a; pa += 8; pb += 8; a = *pa; a = a + *pb;",
        work=lambda x: x + x,
    ),
    "work with a value of the turn": Shape(
        FIRST + "a = a * n;", "c += a; pa += 8; a = *pa; a = a * (k + (n - k));", work=lambda x: x * 1000
    ),
    "changed in the turn": Shape(FIRST, "c += a; a = a * 2; c += a; pa += 8; a = *pa;", work=lambda x: x * 3),
    "a store before the load": Shape(FIRST, "c += a; *pc = c; pa += 8; a = *pa;"),
    "a store behind it, elsewhere": Shape(FIRST, "c += a; pa += 8; a = *pa; *pc = c;"),
    "read before the loop too": Shape(FIRST + "c -= a; c += a;", "c += a; pa += 8; a = *pa;"),
    "no range": Shape(
        FIRST, "c += a; pa += 8; a = *?(k > 8)pa;", loop="for (int k = n, z = 0; k > 0; k -= 8)"
    ),
    "unknown step": Shape(
        FIRST,
        "c += a; pa += 8; a = *?(k > 8)pa;",
        "a = tl.load(pa, mask=a_mask, other=0.0)",
        loop="for (int k = n; k > 0; k -= 8 * m)",
    ),
    "while": Shape("int k = n;" + FIRST, "c += a; pa += 8; k -= 8; a = *?(k > 0)pa;", loop="while (k > 0)"),
}


def parts(source: str) -> tuple[str, list[str]]:
    """What stands before the first loop, and the lines of its body."""
    lines = pytriton.translate(source).text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith(("for ", "while ")))
    body = []
    for line in lines[start + 1 :]:
        if not line.startswith(" " * 8):
            break
        body.append(line.strip())
    return "\n".join(lines[:start]), body


@pytest.mark.parametrize("name", SHAPES)
def test_undone(name: str) -> None:
    shape = SHAPES[name]
    before, body = parts(shape.source())
    assert body[0] == shape.line
    assert name == "read before the loop too" or "tl.load(" not in before
    assert sum(line.startswith("a = tl.load(pa") for line in body) <= 1
    assert not pytriton.translate(shape.source()).warnings


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
def test_computes(name: str, n: int) -> None:
    shape = SHAPES[name]
    if not shape.masked:
        n = -(-n // 8) * 8
    turns = max(0, -(-n // 8))
    starts = list(shape.steps or range(0, 8 * turns, 8))[:turns]
    torch.manual_seed(7)
    end = max(starts, default=0 if name == "read before the loop too" else -8) + 8
    memory = torch.randn(max(end, 1) + 64)
    a = memory[: n if shape.masked and n > 0 else end]
    blocks = []
    for start in starts:
        block = torch.zeros(8)
        block[: len(a[start : start + 8])] = a[start : start + 8]
        blocks.append(shape.work(block) if name != "work with a value of the turn" else block * n)
    count = len(shape.increments)
    table = torch.tensor([*shape.increments, 0], dtype=torch.int32)
    used = turns if shape.increments else 0
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


# ---------------------------------------------------------------- what must stay


@dataclass(frozen=True)
class Kept:
    """A prefetch that stays; ``reason`` is a part of the warning, None where none is due."""

    before: str
    body: str
    reason: str | None
    after: str = ""
    loop: str = DOWN
    first: str = "a = "  # how the line that must not start the loop begins


ALIAS = "float *pb[8] = B + r; float a[8] = *pb;"
KEPT = {
    "read after the loop": Kept(FIRST, "c += a; pa += 8; a = *pa;", "'a' is read after the loop", "c += a;"),
    "a store that may alias behind it": Kept(
        ALIAS, "c += a; pb += 8; a = *pb; *pc = c;", "a store may change 'B' between the load and its use"
    ),
    "a store that may alias before the loop": Kept(
        ALIAS + "*pc = c;", "c += a; pb += 8; a = *pb;", "a store may change 'B'"
    ),
    "a store in a branch": Kept(
        ALIAS, "c += a; pb += 8; a = *pb; if (n == 3) *pc = c;", "a store may change 'B'"
    ),
    "a store through a pointer from memory": Kept(
        FIRST, "c += a; pa += 8; a = *pa; int *q = (int*)(long)n; *q = 1;", "a store may change 'A'"
    ),
    "an atomic behind it": Kept(
        FIRST,
        "c += a; pa += 8; a = *pa; atomic_xchg(I, 0);",
        "memory is ordered between the load and its use",
    ),
    "a barrier behind it": Kept(FIRST, "c += a; pa += 8; a = *pa; __debug_barrier();", "memory is ordered"),
    "an atomic in the step": Kept(
        FIRST,
        "c += a; pa += 8; a = *pa;",
        "memory is ordered",
        loop="for (int k = n; k > 0; k = atomic_xchg(I, 0))",
    ),
    "other work": Kept("float a[8] = *pa * 2;", "c += a; pa += 8; a = *pa;", "computes something else"),
    "work in the loop only": Kept(
        FIRST, "c += a; pa += 8; a = *pa; a = a > 0 ? a : 0;", "computes something else"
    ),
    "another function": Kept(FIRST, "c += a; pa += 8; a = exp(*pa);", "computes something else"),
    "under an if that may fail": Kept(
        FIRST, "c += a; pa += 8; if (n > k) a = *pa;", "its 'if' may fail before the last turn"
    ),
    "under an if that says too little": Kept(
        FIRST, "c += a; pa += 8; if (k > 9) a = *pa;", "its 'if' may fail before the last turn"
    ),
    "first load under an if": Kept(
        "float a[8] = 0; if (n > 3) a = *pa;", "c += a; pa += 8; a = *pa;", "computes something else"
    ),
    "no first load": Kept("float a[8] = 0;", "c += a; pa += 8; a = *pa;", None),
    "used again in the same turn": Kept(FIRST, "c += a; pa += 8; a = *pa; c += a;", None),
    "stored in the same turn": Kept(FIRST, "c += a; pa += 8; a = *pa; *pc = a;", None),
    "asked by the loop": Kept(
        "float a = *A; float *p = A;", "c += a; p += 1; a = *p;", None, loop="for (int k = n; a > 0; k -= 8)"
    ),
    "the value before": Kept(
        "float a[8] = *pa;", "pa += 8; float now[8] = *pa; c += now - a; a = now;", None, first="now = "
    ),
    "a sum that starts in memory": Kept(
        "float a[8] = *pc;", "a += *pa; pa += 8;", None, "c = a;", first="c = "
    ),
    "a list": Kept("float *q = A;", "c += *q; q = q + (long)*q;", None, first="q = "),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    kept = KEPT[name]
    noalias = "__noalias" if "store" not in name else ""
    source = KERNEL.format(
        noalias=noalias, before=kept.before, loop=kept.loop, body=kept.body, after=kept.after
    )
    _, body = parts(source)
    assert not body[0].startswith(kept.first)
    warnings = pytriton.translate(source).warnings
    assert [warning.code for warning in warnings] == ["TC420"] * (kept.reason is not None)
    if kept.reason is not None:
        assert kept.reason in warnings[0].render()


def test_the_warning_shows_the_store_and_the_cure() -> None:
    kept = KEPT["a store that may alias behind it"]
    source = KERNEL.format(noalias="", before=kept.before, loop=DOWN, body=kept.body, after="")
    (warning,) = pytriton.translate(source).warnings
    assert warning.help == "declare a parameter that overlaps no other __noalias"
    assert "note: the store" in warning.render()
    cured = source.replace("float *B,", "float *B __noalias,")
    assert parts(cured)[1][0] == "a = tl.load(pb)"
    assert not pytriton.translate(cured).warnings


MANY = 1_000
LONG = {
    "variables before the loop": "float a[8] = *pa; n = n + 1;"
    + "n = n + n;" * MANY
    + DOWN
    + "{ c += a; a = *?(r < n)pa; }",
    "variables of the turn": FIRST
    + DOWN
    + "{ c += a; int m0 = k; "
    + "".join(f"int m{i} = m{i - 1} + m{i - 1};" for i in range(1, MANY))
    + f"pa += 8; a = *?(r < m{MANY - 1})pa; }}",
    "loads": "".join(f"float a{i}[8] = *pa;" for i in range(MANY))
    + DOWN
    + "{ pa += 8;"
    + "".join(f"c += a{i}; a{i} = *pa;" for i in range(MANY))
    + "}",
    "ifs": FIRST + DOWN + "{ c += a;" + "if (k > 8) { pa += 8; a = *pa; }" * MANY + "}",
    "loops": "float a[8];" + f"pa = A + r; a = *pa; {DOWN} {{ c += a; pa += 8; a = *pa; }}" * (MANY // 2),
}


@pytest.mark.parametrize("name", LONG)
def test_long_texts_take_a_bounded_time(name: str) -> None:
    source = KERNEL.format(noalias="", before=LONG[name], loop="", body="", after="")
    start = time.process_time()
    pytriton.translate(source)
    assert time.process_time() - start < 30


# ---------------------------------------------------------------- pipelines

PRODUCT = """
void mm(half *A __aligned(16) __noalias, half *B __aligned(16) __noalias, float *C __aligned(16) __noalias,
        int K __multipleof(8), int lda __multipleof(8), int ldb __multipleof(8), int *D __noalias) {{
  int i[64] = 0 ... 64;
  float c[64, 64] = 0;
  half *pa[64, 64] = A + i[:, newaxis] * lda + i[newaxis, :];
  half *pb[64, 64] = B + i[:, newaxis] * ldb + i[newaxis, :];
  {before}
  for (int k = K; k > 0; k -= 64) {{
    {body}
  }}
  *(C + i[:, newaxis] * ldb + i[newaxis, :]) = c;
}}
"""
LOADS = "half a[64, 64] = *pa; half b[64, 64] = *pb;"
ADVANCE = "pa += 64; pb += 64 * ldb;"
PIPELINED = {
    "plain": (LOADS, f"c += a @ b; {ADVANCE} a = *pa; b = *pb;"),
    "mask carried": (
        LOADS,
        f"c += a @ b; {ADVANCE} a = *?((i < k - 64)[newaxis, :])pa; b = *?((i < k - 64)[:, newaxis])pb;",
    ),
    "pointer carried": (
        LOADS,
        f"c += a @ b; a = *?(k > 64)(pa + 64); b = *?(k > 64)(pb + 64 * ldb); {ADVANCE}",
    ),
    "increment loaded": (
        LOADS + " int *pd = D;",
        "c += a @ b; int d = *pd; pa += d; pb += d * ldb; pd += 1; a = *?(k > 64)pa; b = *?(k > 64)pb;",
    ),
    "increment prefetched": (
        LOADS + " int *pd = D; int d = *pd;",
        "c += a @ b; pa += d; pb += d * ldb; pd += 1; d = *pd; a = *?(k > 64)pa; b = *?(k > 64)pb;",
    ),
    "work": (
        LOADS + "a = a > 0 ? a : 0;",
        f"c += a @ b; {ADVANCE} a = *pa; a = a > 0 ? a : 0; b = *pb;",
    ),
    "under an if": (LOADS, f"c += a @ b; if (k > 64) {{ {ADVANCE} a = *pa; b = *pb; }}"),
    "advance behind": (LOADS + ADVANCE, f"c += a @ b; a = *pa; b = *pb; {ADVANCE}"),
}


def copies(before: str, body: str) -> int:
    """The asynchronous copies in the PTX for sm_90: none without a software pipeline."""
    kernel = pytriton.kernel(PRODUCT.format(before=before, body=body))
    return len(re.findall(r"cp\.async\.c[ag]", kernel.asm("ptx", target="cuda:90")))


@pytest.mark.parametrize("name", PIPELINED)
def test_is_pipelined(name: str) -> None:
    assert copies(*PIPELINED[name]) > 0


def test_what_stays_is_not_pipelined() -> None:
    assert copies(LOADS, f"c += a @ b; {ADVANCE} a = *pa; b = *pb; __debug_barrier();") == 0
