"""Operands read from packed copies: which ones can be, which cannot and why; what becomes of the text."""

from __future__ import annotations

from functools import partial

import pytest

from pytriton.pipeline import Translation
from tests.translating import replaced, translate

TEXT = """
__global__ void product(TYPE *A __noalias, TYPE *B __noalias, TYPE *C __noalias,
                        int M, int N, int K, int lda, int ldb, int ldc) {
  int pm = get_program_id(0);
  int pn = get_program_id(1);
  int rm[TM] = pm * TM + 0 ... TM;
  int rn[TN] = pn * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  // operands
  TYPE *pa[TM, TK] = A + rm[:, newaxis] * lda + rk[newaxis, :];
  TYPE *pb[TK, TN] = B + rk[:, newaxis] * ldb + rn[newaxis, :];
  float c[TM, TN] = 0;
  for (int k = K; k > 0; k -= TK) {
    bool in_a[TM, TK] = rm[:, newaxis] < M && rk[newaxis, :] < k;
    bool in_b[TK, TN] = rk[:, newaxis] < k && rn[newaxis, :] < N;
    TYPE a[TM, TK] = in_a ? *pa : 0;
    TYPE b[TK, TN] = in_b ? *pb : 0;
    c += a @ b;
    pa += TK;  // to the right
    pb += TK * ldb;
  }
  TYPE *pc[TM, TN] = C + rm[:, newaxis] * ldc + rn[newaxis, :];
  *?(rm[:, newaxis] < M && rn[newaxis, :] < N) pc = c;
}
"""
DEFINES = {"TYPE": "half", "TM": 32, "TN": 16, "TK": 16}
UP = (
    ("k = K; k > 0; k -= TK", "k = 0; k < K; k += TK"),
    ("rk[newaxis, :] < k", "rk[newaxis, :] < K - k"),
    ("rk[:, newaxis] < k", "rk[:, newaxis] + k < K"),
)
TRANSPOSED_B = (
    (
        "*pb[TK, TN] = B + rk[:, newaxis] * ldb + rn[newaxis, :]",
        "*pb[TN, TK] = B + rn[:, newaxis] * ldb + rk[newaxis, :]",
    ),
    (
        "in_b[TK, TN] = rk[:, newaxis] < k && rn[newaxis, :] < N",
        "in_b[TN, TK] = rn[:, newaxis] < N && rk[newaxis, :] < k",
    ),
    ("b[TK, TN] = in_b", "b[TN, TK] = in_b"),
    ("a @ b", "a @ ^b"),
    ("pb += TK * ldb", "pb += TK"),
)
TWICE = "c += a @ b; TYPE z[TM, TK] = in_a ? *pa : 0; c += z @ b;"
ANY_STRIDES = (("rk[newaxis, :];", "rk[newaxis, :] * ldc;"), ("pa += TK;", "pa += TK * ldc;"))


changed = partial(replaced, TEXT)


def packed(*changes: tuple[str, str]) -> Translation:
    return translate(changed(*changes), DEFINES, packed=True)


def copied(found: Translation) -> str:
    """The operands that can be copied."""
    packing = found.traits.packing
    return "" if packing is None else "".join(found.parameters[box.base].name for box in packing.reads)


def test_text() -> None:
    found = packed()
    assert (
        found.text.split("):\n", 1)[1]
        == """\
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * TM + tl.arange(0, TM)
    rn = pn * TN + tl.arange(0, TN)
    rk = tl.arange(0, TK)
    # operands
    # A is a copy here, with zeros where the bounds end; its rows lie so far apart
    pitch_a = (K + 63) // 64 * 64
    pa = A + rm[:, None] * pitch_a + rk[None, :]
    # B is a copy here, with zeros where the bounds end; its rows lie so far apart
    pitch_b = (N + 63) // 64 * 64
    pb = B + rk[:, None] * pitch_b + rn[None, :]
    c = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(0, K, TK):
        a = tl.load(pa, mask=rm[:, None] < M, other=0.0)
        b = tl.load(pb, mask=rn[None, :] < pitch_b, other=0.0)
        c = tl.dot(a, b, c)
        pa += TK  # to the right
        pb += TK * pitch_b
    pc = C + rm[:, None] * ldc + rn[None, :]
    tl.store(pc, c.to(C.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))
"""
    )
    assert copied(found) == "AB"
    assert (found.reads, found.writes) == (("A", "B"), ("C",))


def test_only_where_it_is_asked_for() -> None:
    plain = translate(TEXT, DEFINES)
    assert copied(plain) == "AB"
    assert "pitch" not in plain.text


def test_steps_wider_than_a_row_of_zeros() -> None:
    found = translate(TEXT, {**DEFINES, "TK": 128}, packed=True)
    assert "pitch_a = (K + 127) // 128 * 128" in found.text
    assert "pitch_b = (N + 63) // 64 * 64" in found.text


@pytest.mark.parametrize(
    "changes",
    [
        UP,
        TRANSPOSED_B,
        ANY_STRIDES,
        (("in_a ? *pa : 0", "*?(in_a) pa"),),
        (("in_a ? *pa : 0", "in_a ? *pa : 0.0"),),
        (("rm[:, newaxis] < M && rk[newaxis, :] < k", "k > rk[newaxis, :] && M > rm[:, newaxis]"),),
        (
            (
                "bool in_a[TM, TK] = rm[:, newaxis] < M &&",
                "bool rows[TM] = rm < M; bool in_a[TM, TK] = rows[:, newaxis] &&",
            ),
        ),
        (("rm[:, newaxis] < M && rk", "rm[:, newaxis] < 100 && rk"),),
        (("int pm = get_program_id(0);", "int pm = get_program_id(0) % 8 + min(M, 3);"),),
        (("*?(rm[:, newaxis] < M && rn[newaxis, :] < N) pc", "*pc"),),
        (("c += a @ b;", TWICE),),
    ],
)
def test_what_is_copied(changes: tuple[tuple[str, str], ...]) -> None:
    found = packed(*changes)
    assert copied(found) == "AB"
    assert "pitch_a" in found.text


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        # the mask is not the bounds, or not only, or not of these indices
        ((("in_a ? *pa : 0", "*pa"),), "B"),
        ((("in_a ? *pa : 0", "in_a ? *pa : 1"),), "B"),
        ((("in_a ? *pa : 0", "in_a ? *pa : -0.0"),), "B"),
        ((("rm[:, newaxis] < M && rk[newaxis, :] < k", "rk[newaxis, :] < k"),), "B"),
        ((("rm[:, newaxis] < M && rk[newaxis, :] < k", "rm[:, newaxis] < M"),), "B"),
        ((("rm[:, newaxis] < M && rk[newaxis, :]", "rm[:, newaxis] < M || rk[newaxis, :]"),), "B"),
        ((("rm[:, newaxis] < M && rk[newaxis, :]", "rm[:, newaxis] <= M && rk[newaxis, :]"),), "B"),
        ((("rm[:, newaxis] < M && rk[newaxis, :] < k", "rm[:, newaxis] < M && rk[newaxis, :] < K"),), "B"),
        (
            (("rm[:, newaxis] < M && rk[newaxis, :] < k", "rm[:, newaxis] < M && rk[newaxis, :] < k + 1"),),
            "B",
        ),
        ((("rm[:, newaxis] < M && rk[newaxis, :] < k", "rm[:, newaxis] < M && rk[newaxis, :] < N"),), "B"),
        ((("rm[:, newaxis] < M && rk", "rn[newaxis, :] < M && rk"),), "B"),
        ((("rm[:, newaxis] < M && rk", "rm[:, newaxis] < *C && rk"),), "B"),
        ((("rm[:, newaxis] < M && rk", "rm[:, newaxis] < M && rm[:, newaxis] != 3 && rk"),), "B"),
        ((("rm[:, newaxis] < M && rk", "rm[:, newaxis] + 1 < M && rk"),), "B"),
        ((("rm[:, newaxis] < M && rk", "rm[:, newaxis] + 1 < 100 && rk"),), "B"),
        ((("rm[:, newaxis] < M && rk", "rm[:, newaxis] < M && rm[:, newaxis] < N && rk"),), "B"),
        # the pointers go elsewhere, or are read elsewhere
        ((("pa += TK;", "pa += TK * lda;"),), "B"),
        ((("pa += TK;", "pa += 8;"),), "B"),
        ((("pa += TK;", "pa += TK; pa += 1;"),), "B"),
        ((("pa += TK;", "if (k > 32) pa += TK;"),), "B"),
        ((("+ rk[newaxis, :];", "+ rk[newaxis, :] + 1;"),), "B"),
        ((("+ rk[newaxis, :];", "- rk[newaxis, :];"),), "B"),
        ((("c += a @ b;", "c += a @ b; c += *A;"),), "B"),
        ((("TYPE a[TM, TK] = in_a", "if (pm > 1) c += 1; TYPE a[TM, TK] = A == 0 ? 0 : in_a"),), "B"),
        ((("    pa += TK;  // to the right\n", ""),), "B"),
        (
            (
                (
                    "TYPE a[TM, TK] = in_a ? *pa : 0;",
                    "TYPE a[TM, TK] = 0; if (pm > 1) { a = in_a ? *pa : 0; }",
                ),
            ),
            "B",
        ),
        ((("int lda,", "int lda_,"), ("  int pm", "  int lda = lda_ * 2;\n  int pm")), "B"),
        ((("pa += TK;", "pa += TK; TYPE z[TM, TK] = in_a ? *pa : 0; c += z @ b;"),), "B"),
        ((("pa += TK;", "TYPE *p[TM, TK] = pa; c += *p @ b; pa += TK;"),), "B"),
        ((("c += a @ b;", TWICE.replace("in_a", "rm[:, newaxis] < N && rk[newaxis, :] < k")),), "B"),
        ((("  TYPE *pc", "  c += *pa @ *pb;\n  TYPE *pc"),), ""),
        # the loop counts to another number
        ((*UP[:1], ("rk[newaxis, :] < k", "rk[newaxis, :] < N - k"), *UP[2:]), "B"),
        # the loop may not run, or is no such loop
        ((("  for (int k = K", "  if (M > 3) for (int k = K"),), ""),
        ((("k > 0; k -= TK", "k > 8; k -= TK"),), ""),
        ((("int k = K;", "int k = K - 1;"),), ""),
        ((("  int pm", "  K = K + 1;\n  int pm"),), ""),
        # it is not known what is written
        ((("pc = c", "pc = c; atomic_add(C, 1)"), ("TYPE *C", "float *C")), ""),
        ((("*?(rm[:, newaxis] < M && rn[newaxis, :] < N) pc = c;", "*(C + pm) = 1;"),), ""),
        ((("+ rn[newaxis, :];\n  *?", "+ rn[newaxis, :];\n  pc += 1;\n  *?"),), ""),
    ],
)
def test_what_is_not(changes: tuple[tuple[str, str], ...], left: str) -> None:
    found = packed(*changes)
    assert copied(found) == left
    assert "pitch_a" not in found.text
