"""The shapes of the prefetch idiom that test_prefetch.py undoes, and how a translation is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
    "mask of the iteration": Shape(
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
    "increment, used at once, in one iteration's variable": Shape(
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
    "second name of the iteration": Shape(FIRST, "pa += 8; float an[8] = *pa; c += a; a = an;"),
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
    "work with a value of the iteration": Shape(
        FIRST + "a = a * n;", "c += a; pa += 8; a = *pa; a = a * (k + (n - k));", work=lambda x: x * 1000
    ),
    "changed in the iteration": Shape(
        FIRST, "c += a; a = a * 2; c += a; pa += 8; a = *pa;", work=lambda x: x * 3
    ),
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
