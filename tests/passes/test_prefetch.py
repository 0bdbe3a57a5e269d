"""The prefetch idiom is undone where that is legal, and left alone for each reason that it is not."""

from __future__ import annotations

import pytest

import pytriton

KERNEL = """
__global__ void k(float *A __noalias, float *B, float *C {noalias}, int *I, int n) {{
  int r[8] = 0 ... 8;
  float *pa[8] = A + r;
  float *pc[8] = C + r;
  float c[8] = 0;
  bool check[8] = r < n;
  {before}
  for (int k = n; k > 0; k -= 8) {{
    {body}
  }}
  {after}
  *pc = c;
}}
"""

PLAIN = {"before": "float a[8] = *pa;", "body": "c += a; pa += 8; a = *pa;"}
UNDONE = {
    "plain": PLAIN,
    "masked, mask carried": {
        "before": "float a[8] = check ? *pa : 0;",
        "body": "c += a; pa += 8; check = r < k - 8; a = check ? *pa : 0;",
    },
    "two operands": {
        "before": "float a[8] = *pa; float *pb[8] = B + r; float b[8] = *pb;",
        "body": "c += a * b; pa += 8; pb += 8; a = *pa; b = *pb;",
    },
    "one of two operands": {
        "before": "float a[8] = *pa; float *pb[8] = B + r;",
        "body": "float b[8] = *pb; c += a * b; pa += 8; pb += 8; a = *pa;",
    },
    "increment from memory": {
        "before": "float a[8] = *pa; int *pi = I;",
        "body": "c += a; int inc = *pi; pa += inc; pi += 1; a = *pa;",
    },
    "work follows the load": {
        "before": "float a[8] = *pa + 1;",
        "body": "c += a; pa += 8; a = *pa + 1;",
    },
    "a store before the load": {
        "before": "float a[8] = *pa;",
        "body": "c += a; *pc = c; pa += 8; a = *pa;",
    },
    "a store after it, elsewhere": {
        "noalias": "__noalias",
        "before": "float a[8] = *pa;",
        "body": "c += a; pa += 8; a = *pa; *pc = c;",
    },
}
KEPT = {
    "read after the loop": PLAIN | {"after": "c += a;"},
    "pointer moves after the load": {"before": "float a[8] = *pa;", "body": "c += a; a = *pa; pa += 8;"},
    "pointer moves before the loop": PLAIN | {"before": "float a[8] = *pa; pa += 8;"},
    "first load differs": PLAIN | {"before": "float a[8] = *(pa + 1);"},
    "assigned twice": {"before": "float a[8] = *pa;", "body": "c += a; a = a * 2; c += a; pa += 8; a = *pa;"},
    "reads the loop variable": {
        "before": "float a[8] = *?(r < n)pa;",
        "body": "c += a; pa += 8; a = *?(r < k)pa;",
    },
    "a store that may alias after it": {
        "before": "float *pb[8] = B + r; float a[8] = *pb;",
        "body": "c += a; pb += 8; a = *pb; *pc = c;",
    },
    "a store that may alias before the loop": {
        "before": "float *pb[8] = B + r; float a[8] = *pb; *pc = c;",
        "body": "c += a; pb += 8; a = *pb;",
    },
    "an atomic after it": {
        "before": "float a[8] = *pa;",
        "body": "c += a; pa += 8; a = *pa; atomic_xchg(I, 0);",
    },
    "used between the load and the end": {
        "before": "float a[8] = *pa;",
        "body": "c += a; pa += 8; a = *pa; c += a;",
    },
}


def loop_of(parts: dict[str, str]) -> tuple[str, list[str]]:
    """What stands before the loop, and the lines of its body."""
    source = KERNEL.format(**{"noalias": "", "before": "", "after": ""} | parts)
    lines = pytriton.translate(source).text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("for "))
    body = []
    for line in lines[start + 1 :]:
        if not line.startswith(" " * 8):
            break
        body.append(line.strip())
    return "\n".join(lines[:start]), body


@pytest.mark.parametrize("case", UNDONE)
def test_undone(case: str) -> None:
    before, body = loop_of(UNDONE[case])
    assert body[0].startswith("a = tl.load(pa")
    assert sum(line.startswith("a = ") for line in body) == 1
    assert "\n    a = " not in before


@pytest.mark.parametrize("case", KEPT)
def test_kept(case: str) -> None:
    before, body = loop_of(KEPT[case])
    assert "\n    a = tl.load(" in before
    assert not body[0].startswith("a = ")
