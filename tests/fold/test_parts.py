"""The stages of the fold on their own."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import torch

from pytriton.emit.python import show
from pytriton.errors import CompileError
from pytriton.fold.fold import fold
from pytriton.fold.separations import Separations
from pytriton.fold.variants import Unfoldable, Variant, Variants, number
from pytriton.pipeline import Translation, translate_as
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, port_kernel
from pytriton.port.prove import differences, prove_kernel
from pytriton.settings import Settings
from pytriton.source import Source

CASES = sorted((Path(__file__).parent.parent / "translate").glob("*/kernel.c"))


@pytest.mark.slow
def test_one_variant_is_its_translation() -> None:
    """Of all golden cases, but for sizes that are padded, which have names in a fold."""
    same = 0
    for path in CASES:
        data = tomllib.loads(path.with_name("case.toml").read_text(encoding="utf-8"))
        defines = data.get("defines", {})
        try:
            translation = translate_as(path, defines, Settings(data.get("kernel")))
            folded = fold(path.read_text(encoding="utf-8"), [Variant(defines, translation)])
        except (CompileError, Unfoldable):
            continue
        if "next_power_of_2" not in translation.text:
            assert _code(folded.text) == _code(translation.text), path.parent.name
            same += 1
    assert same > 250


def _code(text: str) -> list[str]:
    """The body of the kernel, without comments and assertions."""
    kernel = ast.parse(text).body[-1]
    assert isinstance(kernel, ast.FunctionDef)
    statements = map(ast.unparse, kernel.body)
    return [statement for statement in statements if not statement.startswith("tl.static_assert(")]


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ("0x10", 16),
        ("16", 16),
        ("010", 8),
        ("-010", -8),
        ("0", 0),
        ("-3", -3),
        (" 7 ", 7),
        ("1.5", 1.5),
        ("1e-5", 1e-5),
    ]
    + [(text, text) for text in ("08", "lda", "TM, TK", "^a", "", "1.5f")]
    + [(3, 3), (True, True), (None, None)],
)
def test_numbers_given_as_text(given: object, want: object) -> None:
    found = number(given)
    assert found == want
    assert type(found) is type(want)


TEXT = """\
__global__ void f(float *X, int n) {
#if defined(A) && !defined(B)
  *X = 1;
#elif N > 4
  *X = 2;
#else
  *X = 3;
#endif
}
"""


def variants(*sets: dict[str, object], text: str = TEXT) -> list[Variant]:
    return [Variant(defines, translate_as(text, defines, Settings())) for defines in sets]


SETS = variants(*({"N": n, **flags} for n in (4, 8) for flags in ({}, {"A": True}, {"A": True, "B": True})))


@pytest.mark.parametrize(
    ("chosen", "line", "want"),
    [
        (0b010010, 3, "A and not B"),
        (0b101000, 5, "not (A and not B) and N > 4"),
        (0b111000, 0, "N > 4"),
        (0b100100, 0, "B"),
        (0b011011, 0, "not B"),
        (0b000111, 0, "N <= 4"),
        (0b110110, 0, "A"),
        (0b000100, 0, "N <= 4 and B"),
    ],
)
def test_conditions(chosen: int, line: int, want: str) -> None:
    conditions = Separations(TEXT, Variants(SETS), {})
    found = conditions.condition(chosen, 0b111111, line)
    assert found.holds & 0b111111 == chosen
    assert show(found.node) == want


def test_any_set_of_variants_has_a_condition() -> None:
    conditions = Separations(TEXT, Variants(SETS), {})
    for chosen in range(1, 0b111111):
        assert conditions.condition(chosen, 0b111111, 0).holds & 0b111111 == chosen


def test_no_condition_asks_for_the_name_of_the_kernel() -> None:
    """A kernel accepts any name, so a condition on it would take another arm for a new one."""
    text = TEXT.replace("void f(", "void NAME(")
    sets = ({"NAME": f"f{n}", **flags} for n, flags in enumerate(({"N": 8}, {"N": 4}, {"N": 8, "A": True})))
    conditions = Separations(text, Variants(variants(*sets, text=text), text), {})
    for chosen in range(1, 0b111):
        assert "NAME" not in show(conditions.condition(chosen, 0b111, 0).node)


def test_arms_become_branches() -> None:
    body = fold(TEXT, SETS).text.split("):  # fmt: skip\n")[1]
    assert (
        body
        == """\
    tl.static_assert(isinstance(N, int) and N < 2**31 and N > -(2**31), "port again with -D N=...")
    tl.static_assert(not B or A, "port again with -D A=... -D B=...")
    tl.static_assert(X.dtype == tl.pointer_type(tl.float32), "pass tensors of these types")
    if A and not B:
        tl.store(X, 1.0)
    elif N > 4:
        tl.store(X, 2.0)
    else:
        tl.store(X, 3.0)
"""
    )


def test_pointers_have_the_types_of_the_text() -> None:
    """That is asserted; of integers that torch has by another name, the bits are taken for such ones."""
    text = """\
__global__ void f(T *X, T *Y, int *LUT, int *LOCKS, unsigned *SEED, float *BIAS, char *SIGN) {
  float x[16] = *(X + 0 ... 16) + *LUT + *LOCKS + *SEED;
#ifdef BIASED
  x += *BIAS;
#endif
#ifdef SIGNED
  x = *SIGN < 0 ? -x : x;
#endif
  *(Y + 0 ... 16) = x;
}
"""
    flags: list[dict[str, object]] = [
        {},
        {"BIASED": True},
        {"SIGNED": True},
        {"BIASED": True, "SIGNED": True},
    ]
    sets = [{"T": "half", **flag} for flag in flags] + [{"T": "float"}]
    folded = fold(text, variants(*sets, text=text)).text
    terms = "Y.dtype == X.dtype and LUT.dtype == tl.pointer_type(tl.int32) and LOCKS.dtype == LUT.dtype"
    assert terms in " ".join(folded.split())
    assert "\n    SEED = SEED.to(tl.pointer_type(tl.uint32))\n" in folded
    assert "\n    if BIASED:\n        tl.static_assert(BIAS.dtype == tl.pointer_type(tl.float32), " in folded
    assert "one_of(SEED.dtype.element_ty, tl.int32, tl.uint32)" in folded
    of_bytes = "one_of(SIGN.dtype.element_ty, tl.int1, tl.int8, tl.uint8)"
    signed = f'        tl.static_assert({of_bytes}, "pass tensors of these types")\n'
    assert f"\n    if SIGNED:\n{signed}        SIGN = SIGN.to(tl.pointer_type(tl.int8))\n" in folded


def test_a_pointer_of_another_type_by_a_flag() -> None:
    text = """\
#ifdef WIDE
#define ELEMENT float
#else
#define ELEMENT T
#endif
__global__ void f(T *X, ELEMENT *W) { *(X + 0 ... 16) = *(W + 0 ... 16); }
"""
    sets: list[dict[str, object]] = [
        {"T": t, **flag} for t in ("half", "float") for flag in ({}, {"WIDE": True})
    ]
    folded = fold(text, variants(*sets, text=text)).text
    wide = 'tl.static_assert(W.dtype == tl.pointer_type(tl.float32), "pass tensors of these types")'
    alike = 'tl.static_assert(W.dtype == X.dtype, "pass tensors of these types")'
    assert (
        f"    if WIDE and X.dtype.element_ty == tl.float16:\n        {wide}\n    else:\n        {alike}\n"
        in folded
    )


def test_pointers_of_two_types_by_a_flag_do_not_follow_themselves() -> None:
    text = "\n".join(("#ifdef A", "#define WORD unsigned", "#else", "#define WORD uint8", "#endif"))
    text += "\n__global__ void f(WORD *W, int *Y) { *Y = *W / 2; }"
    folded = fold(text, variants({"A": True}, {}, text=text)).text
    assert "    if A:\n        tl.static_assert(one_of(W.dtype.element_ty, tl.int32, tl.uint32)," in folded
    assert "W = W.to(tl.pointer_type(tl.uint32))" in folded
    assert "W = W.to(tl.pointer_type(tl.uint8))" in folded


def test_no_type_is_asked_of_a_pointer_that_may_be_none() -> None:
    text = """\
__global__ void f(int *Y, T *Z, T *W) {
  float y = 0;
#ifdef A
  y += *Z;
#endif
#ifdef B
  y += *W;
#endif
  *Y = y;
}
"""
    flags: list[dict[str, object]] = [{"A": True}, {"B": True}, {"A": True, "B": True}]
    sets = [{"T": t, **flag} for t in ("half", "float") for flag in flags]
    folded = fold(text, variants(*sets, text=text)).text
    assert "W.dtype == Z.dtype" not in folded


def test_a_number_that_is_pasted_is_no_other_one() -> None:
    text = """\
#define PASTE_(a, b) a ## b
#define PASTE(a, b) PASTE_(a, b)
#define V1 3
#define V2 n
__global__ void f(int *X, int n) { *X = PASTE(V, KIND); }
"""
    one = fold(text, variants({"KIND": 1}, text=text))
    assert 'tl.static_assert(spelled(KIND) == "1", ' in one.text
    assert one.leaves.refusal({"KIND": 2}) is not None
    both = fold(text, variants({"KIND": 1}, {"KIND": 2}, text=text))
    assert "KIND == 1" in both.text
    assert [both.leaves.refusal({"KIND": kind}) is None for kind in (1, 2, 3)] == [True, True, False]


@pytest.mark.parametrize("statement", ["*X += N * 4 / 3;", "#if N == 0\n*X = 1;\n#else\n*X = 2;\n#endif"])
def test_the_type_of_a_number_is_asked(statement: str) -> None:
    text = f"__global__ void f(float *X) {{\n{statement}\n}}"
    assert "isinstance(N, int) and N " in fold(text, variants({"N": 3}, {"N": 4}, text=text)).text


@pytest.mark.parametrize("condition", ["-M < -2", "M + 1 > 3", "3 - M > 1", "-M + N > 0"])
def test_sums_of_numbers_separate(condition: str) -> None:
    """Also where only one of two translations has asked for it: the other define sets have its outcome, too."""
    text = f"__global__ void f(int *X) {{\n#ifndef A\n#if {condition}\n*X = 1;\n#else\n*X = 2;\n#endif\n#endif\n}}"
    sets: list[dict[str, object]] = [{"M": 1, "N": 2}, {"M": 4, "N": 2}, {"M": 1, "N": 2, "A": True}]
    folded = fold(text, variants(*sets, text=text))
    for m in range(-5, 8):
        assert folded.leaves.refusal({"M": m, "N": 2}) is None
        holds = eval(condition, {"M": m, "N": 2})
        assert f"tl.store(X, {1 if holds else 2})" in folded.specialised({"M": m, "N": 2})


def test_a_number_that_is_an_int_and_a_float() -> None:
    text = "__global__ void f(float *X, float s) { *X = *X * s + F * s; }"
    folded = fold(text, variants({"F": 1}, {"F": 0.5}, text=text))
    assert [folded.leaves.refusal({"F": f}) is None for f in (1, 0.5, 2, 0.25)] == [True, True, False, False]


NESTED = """\
__global__ void f(float *X
#ifdef A
  , int m
#endif
  ) {
  *X = 1;
#ifdef A
  *(X + 2) = 3;
#ifdef B
  *(X + 1) = m;
#endif
#endif
}
"""


def test_a_flag_in_an_arm_that_is_not_taken_may_have_any_value() -> None:
    sets = [{}, {"A": True}, {"A": True, "B": True}]
    folded = fold(NESTED, variants(*sets, text=NESTED))
    assert folded.leaves.refusal({"B": True}) is None
    assert "port again" not in folded.text
    assert list(differences(folded, variants({"B": True}, text=NESTED))) == []


def test_what_tells_variants_apart_is_asked_for() -> None:
    """``B`` alone was not seen: the condition of an arm, or of a parameter, that asks for it would be wrong."""
    sets = [{}, {"A": True, "B": True}]
    folded = fold(NESTED, variants(*sets, text=NESTED))
    assert folded.leaves.refusal({"A": True}) is not None
    assert [show(condition) for condition in folded.leaves.missing] == ["not A"]
    text = NESTED.replace("#ifdef A", "#if defined(A) | 0")  # which Triton is not asked
    folded = fold(text, variants({}, {"B": True, "A": True}, text=text))
    assert [show(condition) for condition in folded.leaves.missing] == ["not B"]
    assert folded.leaves.refusal({"B": True}) is not None


def test_types_of_parameters_must_be_alike() -> None:
    text = "__global__ void f(float *X, T n) { *X = n; }"
    with pytest.raises(Unfoldable, match=r"n is not always tl\.int64"):
        fold(text, variants({"T": "long"}, {"T": "double"}, text=text))


def test_a_comment_beside_a_pointer_is_printed_once() -> None:
    text = """\
__global__ void f(T *X,  // where it is; read
  T *Y, int n) { *Y = *X + n; }
"""
    folded = fold(text, variants({"T": "half"}, {"T": "float"}, text=text)).text
    assert "    X,  # half* or float*; where it is; read\n    Y,  # half* or float*\n    n,\n" in folded


def test_a_condition_that_leaves_cannot_state_separates_nothing() -> None:
    """Else a define set that was not seen could take an arm that nothing has decided for it."""
    text = "__global__ void f(float *X) {\n#if (1 << K) > 40\n*X = 1;\n#else\n*X = 2;\n#endif\n}"
    with pytest.raises(Unfoldable, match="two variants that differ have the same defines"):
        fold(text, variants({"K": 3}, {"K": 7}, text=text))
    plain = text.replace("(1 << K)", "(K << 1)")
    assert "if K * 2 > 40:" in fold(plain, variants({"K": 16}, {"K": 32}, text=plain)).text


def test_1_and_1_0_are_two_values() -> None:
    """Each was seen with another flag; with the flag of the other one it was not proved."""
    text = "__global__ void f(float *X) {\n*X = S;\n#ifdef A\n*(X + 1) = 2;\n#endif\n}"
    sets = [{"S": 1}, {"S": 1.0, "A": True}, {"S": "1.5f", "A": True}]
    folded = fold(text, variants(*sets, text=text))
    for defines in ({"S": 1, "A": True}, {"S": 1.0}):
        assert folded.leaves.refusal(defines) is not None, folded.text
    assert 'spelled(S) == "1"' in folded.text
    assert 'one_of(spelled(S), "1.5f", "1.0")' in folded.text


def test_a_comment_above_an_if_stands_above_it() -> None:
    """One inside of an arm, or in all of them, stays there."""
    text = """\
__global__ void f(float *X) {
  // what is stored
#ifdef A
  // is 1
  *X = 1;
#else
  *X = 2;
#endif
}
"""
    folded = fold(text, variants({}, {"A": True}, text=text)).text
    assert folded.endswith(
        """\
    # what is stored
    if A:
        # is 1
        tl.store(X, 1.0)
    else:
        tl.store(X, 2.0)
"""
    )


def test_an_address_without_plus_0() -> None:
    """Only an address: for numbers, ``-0.0 + 0`` is ``0.0``."""
    text = "__global__ void f(T *X, T *Y __noalias) { *(X + 0) = *(Y + 0) + 0; *(X + 1) = 2; }"
    sets = [{"T": "half"}, {"T": "float"}]
    folded = fold(text, variants(*sets, text=text))
    assert re.search(r"tl\.store\(X, \S*tl\.load\(Y\)\S* \+ ", folded.text), folded.text
    assert list(differences(folded, variants(*sets, text=text))) == []


def test_a_parameter_may_be_missing() -> None:
    text = """\
__global__ void f(float *X
#ifdef A
  , float a
#endif
  , float b) {
#ifdef A
  *X = a;
#endif
  *(X + 1) = b;
}
"""
    folded = fold(text, variants({}, {"A": True}, text=text))
    assert folded.parameters == ("X", "a", "b")
    assert folded.bind({}) == {"A": False}
    assert folded.bind({"A": True}) == {"A": True}


COINCIDENT = """
#ifdef A
#define V TM
#else
#define V 32
#endif
__global__ void f(int *X, float *Y, int n, float a) { int i[TM] = 0 ... TM; *(X + i) = i * V; }
"""


def accepts(text: str, sets: list[dict[str, Any]], asked: dict[str, Any]) -> bool:
    """Whether a kernel that was ported for some sets accepts another; then it is proved to be its translation."""
    source = Source(text)
    translations = Translations(source, Settings(None))
    kernel = port_kernel(translations, [DefineSet(defines) for defines in sets])
    ported = prove_kernel(kernel, translations)
    assert all(ported.refusal(defines) is None for defines in sets)
    if ported.refusal(asked) is not None:
        return False
    translation = Translations(source, Settings(None))(asked)
    assert isinstance(translation, Translation)
    assert list(differences(ported.folded, [Variant(asked, translation)])) == []
    return True


@pytest.mark.parametrize("asked", [{"TM": 64}, {"TM": 32}, {"A": True, "TM": 64}])
def test_a_number_that_is_a_define_by_coincidence(asked: dict[str, Any]) -> None:
    assert accepts(COINCIDENT, [{"A": True, "TM": 16}, {"TM": 32}], asked)


BODY = "__global__ void f(float *X, int *Y, int n, float a) {{ {} }}"


@pytest.mark.parametrize(
    ("body", "sets", "accepted", "refused"),
    [
        ("for (int k = 0; k < n; k += K) *(Y + k) = k;", [{"K": 2}, {"K": 4}], [{"K": 1}, {"K": True}], []),
        ("*Y = n / K;", [{"K": 2}, {"K": "n"}], [], [{"K": 2.0}, {"K": 3}]),
        (
            "*X = n / (A + 1);",
            [{"A": True}, {"A": False}],
            [{"A": 1}],
            [{"A": 1.0}, {"A": "1.0"}, {"A": -0.0}],
        ),
        ("*X = a * K;", [{"K": 0.0}, {"K": "n"}], [], [{"K": -0.0}]),
        ("*X = W;", [{"W": "-INFINITY"}, {"W": "a"}], [], [{"W": "-INFINITY", "INFINITY": 5.0}]),
        ("*X = W;", [{"W": "min(n, 3)"}, {"W": "a"}], [], [{"W": "min(n, 3)", "min": "max"}]),
    ],
)
def test_values_that_are_equal_and_mean_something_else(
    body: str, sets: list[dict[str, Any]], accepted: list[dict[str, Any]], refused: list[dict[str, Any]]
) -> None:
    assert all(accepts(BODY.format(body), sets, asked) for asked in accepted)
    assert not any(accepts(BODY.format(body), sets, asked) for asked in refused)


@pytest.mark.parametrize(
    ("text", "sets", "asked"),
    [
        (f"{BODY.format('*X = 1;')[:-1]}\n#ifdef FL\\\nAG\n*X = 2;\n#endif\n}}", [{}], {"FLAG": True}),
        (
            BODY.format('printf("/* %d", n);\n#ifdef FLAG\n*X = 2;\n#endif\nprintf("*/ %d", n);'),
            [{}],
            {"FLAG": True},
        ),
        (
            "#define GET(x) x##AG\n" + BODY.format("\n#ifdef FLAG\n*X = GET(FL);\n#endif\n"),
            [{}, {"FLAG": True}],
            {"FLAG": 5},
        ),
    ],
    ids=["spliced", "in strings", "pasted"],
)
def test_names_are_those_of_the_preprocessor(
    text: str, sets: list[dict[str, Any]], asked: dict[str, Any]
) -> None:
    """Comments in strings are none, names go on in the next line, and ``##`` makes names."""
    assert Translations(Source(text), Settings(None)).mentioned(asked)
    assert accepts(text, sets, asked)


def test_a_promise_is_no_condition() -> None:
    text = """
    __global__ void f(int *X, int n __multipleof(AL), int m) { int i[TM] = 0 ... TM; i += S; *(X + i) = i * K; }
    """
    sets = [{"AL": "K", "S": "K", "K": 8, "TM": 16}, {"AL": "TM", "S": "TM", "K": 8, "TM": 16}]
    assert accepts(text, sets, {"AL": "TM", "S": "K", "K": 8, "TM": 16})


def test_a_conversion_to_a_type_of_no_pointer_is_one_of_its_variants() -> None:
    """The sine of doubles is one of doubles, so a conversion to float is not for them."""
    text = "__global__ void f(T *X, T *Y, float a, int i) { *(Y + i) = a * sin(*(X + i)); }"
    source = Source(text)
    translations = Translations(source, Settings(None))
    rows = [DefineSet({"T": ["half", "bfloat16", "float", "double"]})]
    kernel = port_kernel(translations, rows)
    ported = prove_kernel(kernel, translations)
    assert ported.proof is not None
    assert ported.proof.single.different == ()
    assert ported.proof.single.equal == 4
    assert ported.text.count("if X.dtype.element_ty") == 1


def test_a_type_that_no_pointer_tells_is_a_constexpr() -> None:
    text = "__global__ void f(T *X, T *Y, int i) { ACC x = *(X + i); ACC y = x * x; *(Y + i) = y + y; }"
    sets = [
        {"T": torch.float16, "ACC": torch.float16},
        {"T": torch.float16, "ACC": torch.float32},
        {"T": torch.float32, "ACC": torch.float32},
        {"T": torch.float32, "ACC": torch.float16},
    ]
    source = Source(text)
    translations = Translations(source, Settings(None))
    rows = [DefineSet(defines) for defines in sets]
    kernel = port_kernel(translations, rows)
    ported = prove_kernel(kernel, translations)
    assert list(ported.folded.constexprs) == ["ACC"]
    assert all(ported.refusal(defines) is None for defines in sets)


def test_a_number_has_one_assertion() -> None:
    """Of its type and its range; a bound of int that the range has is not asked for again."""
    text = "__global__ void f(int *X) {\n#if N > 2\n*X = 8 / N;\n#else\n#error none\n#endif\n}"
    written = fold(text, variants({"N": 3}, {"N": 4}, text=text)).text
    assert written.count("static_assert") == 2  # the other one is of the type of X
    assert 'isinstance(N, int) and N >= 3 and N < 2**31, "port again with -D N=..."' in written
