"""Tiles through tensor descriptors: which pointers become some, which do not and why; the same numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch

from pytriton.pipeline import Translation
from pytriton.runtime.kernel import plan_of
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText, PlanSettings
from pytriton.source import Source
from tests.translating import replaced, translate

TEXT = """
__global__ void linear(TYPE *A __noalias __readonly __aligned(16),
                       TYPE *B __noalias __readonly __aligned(16),
                       ACC *C __noalias, int N, int K,
                       int lda __multipleof(8), int ldb __multipleof(8)) {
  int pm = get_program_id(0);
  int pn = get_program_id(1);
  int rm[TM] = pm * TM + 0 ... TM;
  int rn[TN] = pn * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  ACC c[TM, TN] = 0;
  // operands
  TYPE *pa[TM, TK] = A + rk[newaxis, :] + rm[:, newaxis] * lda;
  TYPE *pb[TN, TK] = B + rk[newaxis, :] + rn[:, newaxis] * ldb;
  for (int k = K; k > 0; k -= TK) {
    TYPE a[TM, TK] = *pa;
    TYPE b[TN, TK] = *pb;
    c += a @ ^b;
    pa += TK;  // to the right
    pb += TK;
  }
  ACC *pc[TM, TN] = C + rm[:, newaxis] * N + rn[newaxis, :];
  *pc = c;
}
"""
PLAIN_B = (
    (
        "*pb[TN, TK] = B + rk[newaxis, :] + rn[:, newaxis] * ldb",
        "*pb[TK, TN] = B + rn[newaxis, :] + rk[:, newaxis] * ldb",
    ),
    ("b[TN, TK]", "b[TK, TN]"),
    ("^b", "b"),
    ("pb += TK", "pb += TK * ldb"),
)
TRANSPOSED_A = (
    (
        "*pa[TM, TK] = A + rk[newaxis, :] + rm[:, newaxis] * lda",
        "*pa[TK, TM] = A + rm[newaxis, :] + rk[:, newaxis] * lda",
    ),
    ("a[TM, TK]", "a[TK, TM]"),
    ("a @ ^b", "^a @ ^b"),
    ("pa += TK", "pa += TK * lda"),
)
A, B = 0, 1  # positions of parameters
DEFINES = {"TYPE": "half", "ACC": "float", "TM": 16, "TN": 32, "TK": 16}


changed = partial(replaced, TEXT)


def tiled(text: str, **defines: Any) -> Translation:
    return translate(text, {**DEFINES, **defines}, descriptors=True)


def feeds(found: Translation) -> bool:
    """Whether tuning offers it."""
    return any(each.feeds for each in found.traits.described)


def product(
    text: str, descriptors: bool, plain_b: bool = False, transposed_a: bool = False, **defines: Any
) -> torch.Tensor:
    """What 3 x 2 programs compute on the interpreter, with rows that are longer than what is read of them."""
    every = {**DEFINES, **defines}
    m, n, k = 3 * every["TM"], 2 * every["TN"], 3 * every["TK"]
    dtype = {"half": torch.half, "bfloat16": torch.bfloat16, "float": torch.float, "char": torch.int8}[
        every["TYPE"]
    ]
    torch.manual_seed(0)
    a = (torch.randn(*((k, m + 16) if transposed_a else (m, k + 16))) * 3).to(dtype)
    b = (torch.randn(*((k, n + 32) if plain_b else (n, k + 32))) * 3).to(dtype)
    c = torch.zeros(m, n, dtype=torch.int32 if every["ACC"] == "int" else torch.float)
    plan = plan_of(
        KernelText(Source(text, "linear.c")), [Config(every, descriptors=descriptors)], PlanSettings()
    )
    assert ("make_tensor_descriptor" in plan.first.translation.text) is descriptors
    plan.call([a, b, c, n, k, a.stride(0), b.stride(0)], (3, 2))
    return c


def test_text() -> None:
    found = tiled(TEXT)
    assert (
        found.text.split("):\n", 1)[1]
        == """\
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * TM + tl.arange(0, TM)
    rn = pn * TN + tl.arange(0, TN)
    c = tl.zeros((TM, TN), dtype=tl.float32)
    # operands
    # tiles through tensor descriptors (TMA): the text has no bounds, so the extents are the largest there are
    tiles_a = tl.make_tensor_descriptor(
        A, shape=(0x7FFFFFFF, 0x7FFFFFFF), strides=(lda, 1), block_shape=(TM, TK)
    )
    tiles_b = tl.make_tensor_descriptor(
        B, shape=(0x7FFFFFFF, 0x7FFFFFFF), strides=(ldb, 1), block_shape=(TN, TK)
    )
    for k in range(0, K, TK):
        a = tiles_a.load((pm * TM, k))
        b = tiles_b.load((pn * TN, k))
        c = tl.dot(a, tl.trans(b), c)
    pc = C + rm[:, None] * N + rn[None, :]
    tl.store(pc, c)
"""
    )
    assert feeds(found)
    assert (found.reads, found.writes) == (("A", "B"), ("C",))
    assert [each.base for each in found.traits.described] == [A, B]


def test_only_where_it_is_asked_for() -> None:
    plain = translate(TEXT, DEFINES)
    assert not plain.traits.described
    assert "descriptor" not in plain.text


@pytest.mark.parametrize(
    "changes",
    [
        (),
        (("A + rk[newaxis, :] + rm[:, newaxis] * lda", "A + rm[:, newaxis] * lda + rk[newaxis, :] * 1"),),
        (("A + rk[newaxis, :] + rm[:, newaxis] * lda", "A + (lda * rm[:, newaxis] + rk[newaxis, :])"),),
        (("rm[:, newaxis] * lda", "(rm * lda)[:, newaxis]"),),
        (("rm[:, newaxis] * lda", "(long)rm[:, newaxis] * lda"),),
        (("int lda", "long lda"),),
        (("int rm[TM]", "long rm[TM]"),),
        (("k = K; k > 0; k -= TK", "k = 0; k < K; k += TK"),),
        (("pm * TM + 0 ... TM", "0 ... TM + TM * pm"),),
        (("pm * TM + 0 ... TM", "(pm + 0) * TM + 0 ... TM"),),
        (("int rm[TM]", "int start = pm * TM; int rm[TM]"), ("= pm * TM + 0", "= start + 0")),
        (("c += a @ ^b;", "if (k > 8) c += a @ ^b;"), ("k = K; k > 0; k -= TK", "k = 0; k < K; k += TK")),
        (("k = K; k > 0", "k = 48; k > 0"),),
        (("for (int k = K; k > 0; k -= TK) {", "if (K > 0) for (int k = K; k > 0; k -= TK) {"),),
    ],
)
def test_raised(changes: tuple[tuple[str, str], ...]) -> None:
    """In whatever order it is written; the numbers are the same, bit for bit."""
    text = changed(*changes)
    found = tiled(text)
    assert found.text.count("tiles_a.load") == found.text.count("tiles_b.load") == 1
    assert "tl.load" not in found.text
    assert torch.equal(product(text, True), product(text, False))


@pytest.mark.parametrize(
    ("type_", "acc", "tk", "offered"),
    [
        ("half", "float", 16, True),
        ("bfloat16", "float", 32, True),
        ("char", "int", 32, True),
        ("float", "float", 16, False),
    ],
)
def test_elements(type_: str, acc: str, tk: int, offered: bool) -> None:
    defines = {"TYPE": type_, "ACC": acc, "TK": tk}
    assert torch.equal(product(TEXT, True, **defines), product(TEXT, False, **defines))
    assert feeds(tiled(TEXT, **defines)) is offered


def test_along_the_rows() -> None:
    """A plain ``b``: its tiles go down. It is exact, but nothing that is faster."""
    text = changed(*PLAIN_B)
    found = tiled(text)
    assert "tiles_b.load((k, pn * TN))" in found.text
    assert not feeds(found)
    assert torch.equal(product(text, True, True), product(text, False, True))


def test_a_left_operand_along_the_rows() -> None:
    """``^a @ ^b``: which way the left operand lies does not matter."""
    text = changed(*TRANSPOSED_A)
    found = tiled(text)
    assert "tiles_a.load((k, pm * TM))" in found.text
    assert [each.feeds for each in found.traits.described] == [True, True]
    made = (product(text, descriptors, transposed_a=True) for descriptors in (True, False))
    assert torch.equal(*made)


def test_both_along_the_rows() -> None:
    text = changed(*TRANSPOSED_A[:2], ("a @ ^b", "^a @ ^b"), TRANSPOSED_A[3], *PLAIN_B)
    assert not feeds(tiled(text))
    made = (product(text, descriptors, True, True) for descriptors in (True, False))
    assert torch.equal(*made)


def test_one_operand_alone_feeds_nothing() -> None:
    text = changed(("= *pb", "= *?(rk[newaxis, :] < K)pb"))
    found = tiled(text)
    assert [(each.base, each.feeds) for each in found.traits.described] == [(A, False)]


def test_pointers_that_are_read_behind_the_loop_stay() -> None:
    text = changed(("  ACC *pc", "  c += *pa @ ^*pb;\n  ACC *pc"))
    found = tiled(text)
    assert found.text.count("tl.load(pa)") == found.text.count("tiles_a.load") == 1
    assert found.text.count("pa += TK  # to the right") == 1
    assert torch.equal(product(text, True), product(text, False))


REFUSED = {
    "a mask": (("= *pa;", "= *?(rk[newaxis, :] < K)pa;"),),
    "what is read may be written": (("ACC *C __noalias", "ACC *C"), ("TYPE *A __noalias", "TYPE *A")),
    "it is written": (("  *pc = c;", "  *pc = c; *A = 1;"),),
    "an atomic operation": (("  *pc = c;", "  *pc = c; atomic_add(C, 1.0f);"),),
    "a barrier": (("    TYPE a", "    __debug_barrier();\n    TYPE a"),),
    "the base is moved": (("  int rk", "  A += 64;\n  int rk"),),
    "the distance is changed": (("  int rk", "  lda = lda * 2;\n  int rk"),),
    "the distance is no parameter": (("rm[:, newaxis] * lda", "rm[:, newaxis] * 64"),),
    "a product of distances": (("rm[:, newaxis] * lda", "rm[:, newaxis] * lda * ldb"),),
    "an unknown start": (("pm * TM + 0", "pm * TM + N + 0"),),
    "a start that may be negative": (("pm * TM + 0", "(pm - 1) * TM + 0"),),
    "a start that is subtracted": (("pm * TM + 0", "pm * TM - 16 + 0"),),
    "rows that are taken modulo": (("rm[:, newaxis] * lda", "(rm % N)[:, newaxis] * lda"),),
    "another step": (("pa += TK", "pa += 2 * TK"),),
    "a step back": (("pa += TK", "pa -= TK"),),
    "a step that differs": (("pa += TK", "pa += k"),),
    "two steps": (("pa += TK;", "pa += TK; pa += TK;"),),
    "a step by block": (("pa += TK", "pa += rk[newaxis, :]"),),
    "a step before the load": (
        ("    TYPE a[TM, TK] = *pa;", "    pa += TK;\n    TYPE a[TM, TK] = *pa;"),
        ("pa += TK;  // to the right", ""),
    ),
    "a load behind the step": (("pb += TK;", "pb += TK; c += *pa @ ^b;"),),
    "a loop that starts elsewhere": (("k = K; k > 0; k -= TK", "k = 16; k < K; k += TK"),),
    "an end that nobody knows": (("  int rk", "  K = K / 2;\n  int rk"),),
    "a long counter": (("for (int k = K", "for (long k = K"), ("int K", "long K")),
    "columns that start elsewhere": (("int rk[TK] = 0 ... TK", "int rk[TK] = 16 + 0 ... TK"),),
    "a distance of columns": (("+ rk[newaxis, :] +", "+ rk[newaxis, :] * ldb +"),),
    "columns alone": (("rk[newaxis, :] + rm[:, newaxis] * lda", "rk[newaxis, :] + rm[:, newaxis]"),),
    "one more offset": (("A + rk", "A + N + rk"),),
    "another type": (
        (
            "A + rk[newaxis, :] + rm[:, newaxis] * lda",
            "(TYPE*)((short*)A + rk[newaxis, :] + rm[:, newaxis] * lda)",
        ),
    ),
    "no range loop": (("for (int k = K; k > 0; k -= TK) {", "int k = K; while (k > 0) { k -= TK;"),),
    "pointers set again": (("  for (int k", "  pa += 16;\n  for (int k"),),
    "a loop around": (("  for (int k", "  for (int turn = 0; turn < 2; turn++)\n  for (int k"),),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refused(why: str) -> None:
    """The kernel reads A as it did, and nothing is offered."""
    text = changed(*REFUSED[why])
    found = tiled(text)
    assert "tiles_a" not in found.text, found.text
    assert not feeds(found)
    assert A not in [each.base for each in found.traits.described]


@pytest.mark.parametrize(
    ("defines", "offered"),
    [
        ({"TK": 8}, True),
        ({"TK": 4}, False),  # a row of 8 bytes
        ({"TM": 256}, True),
        ({"TM": 512}, False),  # more than one copy takes
        ({"TYPE": "double", "ACC": "double"}, False),
        ({"TK": 24}, False),  # padded, so under a mask
    ],
)
def test_sizes(defines: dict[str, Any], offered: bool) -> None:
    assert feeds(tiled(TEXT, **defines)) is offered


def test_no_product() -> None:
    text = changed(("c += a @ ^b", "c += (a * 1.0f)[:, +][:, newaxis] + (b * 1.0f)[:, +][newaxis, :]"))
    assert tiled(text).text == translate(text, DEFINES).text


def test_two_blocks_of_one_base() -> None:
    text = changed(
        ("= A + rk[newaxis, :] + rm[:, newaxis] * lda", "= B + rk[newaxis, :] + rm[:, newaxis] * ldb")
    )
    found = tiled(text)
    assert "tiles_b.load((pm * TM, k))" in found.text
    assert "tiles_b_1.load((pn * TN, k))" in found.text
    assert torch.equal(product(text, True), product(text, False))


def test_with_swizzled_programs() -> None:
    """The ids of a tile are those of its program, in whatever order these start."""
    found = translate(TEXT, DEFINES, swizzle=8, descriptors=True)
    assert "pm = pid_0" in found.text
    assert "tiles_a.load((pm * TM, k))" in found.text
    assert found.traits.described == tiled(TEXT).traits.described
