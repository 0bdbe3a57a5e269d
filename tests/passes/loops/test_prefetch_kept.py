"""A prefetch stays for each reason that it must, with a warning that says why; long texts; and the pipelines."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

import pytriton
from tests.passes.loops.prefetch_shapes import DOWN, FIRST, KERNEL, parts
from tests.work import counted


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
        FIRST, "c += a; pa += 8; if (n > k) a = *pa;", "its 'if' may fail before the last iteration"
    ),
    "under an if that says too little": Kept(
        FIRST, "c += a; pa += 8; if (k > 9) a = *pa;", "its 'if' may fail before the last iteration"
    ),
    "first load under an if": Kept(
        "float a[8] = 0; if (n > 3) a = *pa;", "c += a; pa += 8; a = *pa;", "computes something else"
    ),
    "no first load": Kept("float a[8] = 0;", "c += a; pa += 8; a = *pa;", None),
    "used again in the same iteration": Kept(FIRST, "c += a; pa += 8; a = *pa; c += a;", None),
    "stored in the same iteration": Kept(FIRST, "c += a; pa += 8; a = *pa; *pc = a;", None),
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


MANY = 500
LONG = {
    "variables before the loop": "float a[8] = *pa; n = n + 1;"
    + "n = n + n;" * MANY
    + DOWN
    + "{ c += a; a = *?(r < n)pa; }",
    "variables of the iteration": FIRST
    + DOWN
    + "{ c += a; int m0 = k; "
    + "".join(f"int m{i} = m{i - 1} + m{i - 1};" for i in range(1, MANY))
    + f"pa += 8; a = *?(r < m{MANY - 1})pa; }}",
    "loads": "".join(f"float a{i}[8] = *pa;" for i in range(MANY))
    + DOWN
    + "{ pa += 8;"
    + "".join(f"c += a{i}; a{i} = *pa;" for i in range(MANY))
    + "}",
    "ifs": FIRST + DOWN + "{ c += a;" + "if (k > 8) { pa += 8; a = *pa; }" * (MANY * 9 // 10) + "}",
    "loops": "float a[8];" + f"pa = A + r; a = *pa; {DOWN} {{ c += a; pa += 8; a = *pa; }}" * (MANY * 2 // 5),
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.sampled(6)
def test_long_texts_are_bounded_work(name: str) -> None:
    source = KERNEL.format(noalias="", before=LONG[name], loop="", body="", after="")
    counted(lambda: pytriton.translate(source), most=22_500_000)


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
@pytest.mark.sampled(9)
def test_is_pipelined(name: str) -> None:
    assert copies(*PIPELINED[name]) > 0


def test_what_stays_is_not_pipelined() -> None:
    assert copies(LOADS, f"c += a @ b; {ADVANCE} a = *pa; b = *pb; __debug_barrier();") == 0
