"""Defines that are ``lda`` in one launch and 1 in another become integer parameters of the ported kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytriton.__main__ import main
from pytriton.port.jobs.integer_arguments import Arguments, integer_arguments
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, PortedKernel, port_kernel
from pytriton.port.prove import differences, prove_kernel
from pytriton.runtime.compare import Case, compare, ported
from pytriton.settings import Settings
from pytriton.source import Source

PRODUCT = """\
__global__ void product(TYPE *A __noalias __readonly, TYPE *B __noalias __readonly, TYPE *C __noalias,
                        int K, int lda, int ldb, int ldc) { // STRIDE_AM is a comment
  int rm[16] = get_program_id(0) * 16 + 0 ... 16;
  int rn[16] = get_program_id(1) * 16 + 0 ... 16;
  int rk[TK] = 0 ... TK;
  TYPE *pa[16, TK] = A + rm[:, newaxis] * STRIDE_AM + rk[newaxis, :] * STRIDE_AK;
  TYPE *pb[TK, 16] = B + rk[:, newaxis] * STRIDE_BK + rn[newaxis, :] * STRIDE_BN;
  float c[16, 16] = 0;
  for (int k = K; k > 0; k -= TK) {
    c += (*pa) @ (*pb);
    pa += TK * STRIDE_AK;
    pb += TK * STRIDE_BK;
  }
  *(C + rm[:, newaxis] * ldc + rn[newaxis, :]) = c;
}
"""
USE = """\
import triton

KERNEL = '''{text}'''
kernels = {{}}


def product(c, a, b, m, n, k, type, a_row, b_row):
    key = type, a_row, b_row
    if key not in kernels:
        defines = {{"TYPE": type, "TK": 16,
                   "STRIDE_AM": "lda" if a_row else 1, "STRIDE_AK": 1 if a_row else "lda",
                   "STRIDE_BK": "ldb" if b_row else 1, "STRIDE_BN": 1 if b_row else "ldb"}}
        kernels[key] = triton.kernel(KERNEL, defines=defines)
    kernels[key](a, b, c, k, 48, 48, n, grid=(m // 16, n // 16))


def halves(c, a, b, m, n, k):
    for a_row in (True, False):
        for b_row in (True, False):
            product(c, a, b, m, n, k, "half", a_row, b_row)
"""


def layouts(**more: Any) -> list[dict[str, Any]]:
    """The four of a product."""
    a = [{"STRIDE_AM": "lda", "STRIDE_AK": 1}, {"STRIDE_AM": 1, "STRIDE_AK": "lda"}]
    b = [{"STRIDE_BK": "ldb", "STRIDE_BN": "1"}, {"STRIDE_BK": "1", "STRIDE_BN": "ldb"}]
    return [{"TYPE": "half", "TK": 16, **first, **second, **more} for first in a for second in b]


def arguments_of(text: str, sets: list[dict[str, Any]]) -> Arguments | None:
    return integer_arguments(sets, Translations(Source(text), Settings(None)))


def proved(text: str, sets: list[dict[str, Any]]) -> PortedKernel:
    source = Source(text)
    translations = Translations(source, Settings(None))
    rows = [DefineSet(defines) for defines in sets]
    arguments = integer_arguments(sets, translations)
    assert arguments is not None
    kernel = port_kernel(translations, rows, None, arguments)
    return prove_kernel(kernel, translations)


def test_layouts_are_one_expression() -> None:
    kernel = proved(PRODUCT, layouts())
    assert kernel.text.count("pa = ") == kernel.text.count("pb = ") == 1
    assert "pa = A + rm[:, None] * stride_am + rk[None, :] * stride_ak" in kernel.text
    assert 'stride_am = lda if STRIDE_AM == "lda" else int_of_c(STRIDE_AM)' in kernel.text
    assert "if STRIDE_AM ==" not in kernel.text.replace(" = lda if STRIDE_AM ==", "")
    assert "# STRIDE_AM is a comment" in kernel.text
    assert kernel.source.text == PRODUCT
    assert kernel.proof is not None
    assert not kernel.proof.wrong
    assert kernel.proof.single.equal >= 4
    assert {name: value for name, value in kernel.bind(layouts()[0]).items() if "STRIDE" in name} == {
        "STRIDE_AM": "lda",
        "STRIDE_AK": 1,
        "STRIDE_BK": "ldb",
        "STRIDE_BN": 1,
    }
    assert kernel.refusal({**layouts()[0], "STRIDE_AM": 3}) is None
    assert kernel.refusal({**layouts()[0], "STRIDE_AM": "ldb"}) is not None
    assert kernel.refusal({**layouts()[0], "STRIDE_AM": "K"}) is not None
    assert kernel.refusal({**layouts()[0], "STRIDE_AM": "A"}) is not None
    assert kernel.refusal({**layouts()[0], "STRIDE_AM": "lda + 1"}) is not None


@pytest.mark.parametrize(
    "body",
    [
        "*X = S;",
        "{ int n; (n) = 7; *X = S; }",
        "\n#define D(x) int x = 7\n{ D(n); *X = S; }",
        "n += 1; *X = S;",
    ],
)
def test_only_proved_names_are_values(body: str) -> None:
    """What a name means where the define is depends on the text: another variable, a macro, a changed value."""
    kernel = proved(f"__global__ void f(int *X, int n, int m) {{ {body} }}", [{"S": "m"}, {"S": 1}])
    assert [kernel.refusal({"S": value}) is None for value in ("m", "n", 5)] == [True, False, True]


OF = "__global__ void f(int *X, int n, int m) {{ {} }}"
NAMED = [{"S": "n", "T": 1}, {"S": 1, "T": "m"}]
IN_TWO = "#ifdef G\n__global__ void f(int *X, int n, int m) {{ {} *X = S; }}\n#else\n{}\n#endif"


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        (OF.format("\n#define n (m + 1)\n*X = S;"), NAMED),
        (OF.format("{ int n = 7; *X = S; } X[1] = T;"), NAMED),
        (OF.format("\n#ifdef FLAG\n(n) += 1;\n#endif\n*X = S;"), NAMED),
        (OF.format("{ int V = 7; *X = S; }"), [{"S": "n", "V": "x"}, {"S": 1, "V": "n"}]),
        (IN_TWO.format("n = 5;", OF.format("*X = S;").replace("f(", "g(")), [*NAMED, {"S": "n", "G": True}]),
        (IN_TWO.format("n = 5;", OF.format("*X = S;")), [*NAMED, {"S": 1, "G": True}]),
        (OF.format("S += 1; *X = T;"), [{"S": "m", "T": "m"}, {"S": 1, "T": 1}]),
        (OF.format("*X = S;").replace("int n", "IT n"), [{"S": "n", "IT": "int"}, {"S": "n", "IT": "long"}]),
        (OF.format("*X = S;").replace("int n", "int in"), [{"S": "in"}, {"S": 1}]),
        ("#define J(a, b) a %:%: b\n" + OF.format("{ int J(nn, n) = 7; *X = S; }"), [{"S": "m"}, {"S": 1}]),
        (OF.format("{ int n\\\r\nn = 7; *X = S; }").replace("int m", "int nn"), [{"S": "nn"}, {"S": 1}]),
    ],
    ids="macro hidden flag define kernel one_name assigned type keyword pasted spliced".split(),
)
def test_a_name_that_is_not_certain_makes_no_parameter(text: str, sets: list[dict[str, Any]]) -> None:
    """A set that was not seen could be another program: the define of another, under a flag, in another kernel."""
    assert arguments_of(text, sets) is None


def test_names_that_other_defines_have_are_left_out() -> None:
    text = OF.format("\n#ifdef V\n*X = S + V;\n#endif\n")
    arguments = arguments_of(text, [{"S": "m", "V": "n"}, {"S": 1, "V": "n"}])
    assert arguments is not None
    assert arguments.names == {"s": "S"}
    assert arguments.named == {"S": ("m",)}


def test_a_define_that_is_assigned_under_a_flag_is_refused_there() -> None:
    text = "__global__ void f(int *X, int m) {\n#ifdef FLAG\nS += 1;\n#endif\n*X = T + S; }"
    kernel = proved(text, [{"S": "m", "T": "m"}, {"S": 1, "T": 1}])
    for value in ("m", 5):
        assert kernel.refusal({"S": value, "T": value}) is None
        assert kernel.refusal({"S": value, "T": value, "FLAG": True}) is not None


def test_the_proof_is_of_the_values() -> None:
    """A kernel whose parameters are swapped is proved for none of the sets."""
    kernel = proved(PRODUCT, layouts())
    arguments = kernel.arguments
    assert arguments is not None
    names = {**arguments.names, "stride_am": "STRIDE_AK", "stride_ak": "STRIDE_AM"}
    swapped = Arguments(arguments.translations, names, arguments.named)
    source = Source(PRODUCT)
    translations = Translations(source, Settings(None))
    rows = [DefineSet(defines) for defines in layouts()]
    ported = port_kernel(translations, rows, None, swapped)
    wrong = prove_kernel(ported, translations)
    assert wrong.proof is not None
    assert wrong.proof.single.equal == 0


BODY = """__global__ void f(float *Y, float *X, int n, long m) {{
  int i[16] = 0 ... 16; {0}
  *(Y + i * S) = *(X + i);
}}"""
SETS = [{"S": "n"}, {"S": 1}]


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        (BODY.format("\n#if S == 1\ni += 1;\n#endif\n"), [{"S": "n"}, {"S": 1}]),
        (BODY.format("\n#define P(x) x ## S\n"), SETS),
        (
            BODY.format("\n#define P(x) #x\n").replace("* S", "* S + S"),
            [{"S": "n", "T": "S"}, {"S": 1, "T": "1"}],
        ),
        (BODY.format(""), [{"S": "m"}, {"S": 1}]),
        (BODY.format("").replace("i * S", "(int)(i * S)"), [{"S": "n"}, {"S": 1.5}]),
        (BODY.format(""), [{"S": "n + 1"}, {"S": 1}]),
        (BODY.format(""), [{"S": 2}, {"S": 1}]),
        (BODY.format("int v[S] = 0;").replace("* S", ""), [{"S": 16}, {"S": "T", "T": 16}]),
    ],
    ids=["asked", "pasted", "named", "long", "a float", "an expression", "numbers alone", "a size"],
)
def test_others_stay_defines(text: str, sets: list[dict[str, Any]]) -> None:
    found = arguments_of(text, sets)
    assert found is None or "S" not in found.names.values()


def test_macros_and_other_defines() -> None:
    text = BODY.format("\n#define OFF(i) ((i) * S)\n").replace("i * S", "OFF(i)")
    arguments = arguments_of(text, [{"S": "T", "T": 16}, {"S": "0x2", "T": 16}])
    assert arguments is not None
    assert arguments.names == {"s": "S"}
    assert "#define OFF(i) ((i) * s)" in arguments.translations.text
    assert "int n, long m, int s)" in arguments.translations.text
    assert arguments.named == {"S": ("T",)}
    assert arguments.accepts({"S": "T", "T": 16})
    assert arguments.accepts({"S": "0x2", "T": 16})
    assert not arguments.accepts({"S": "T", "T": 1.5})


def test_a_package_computes_the_same(tmp_path: Path) -> None:
    """Also with numbers that the port did not see."""
    (tmp_path / "ops.py").write_text(USE.format(text=PRODUCT))
    assert main(["port", str(tmp_path / "ops.py"), "--kernels-only", "--out", str(tmp_path / "new")]) == 0
    written = (tmp_path / "new" / "ops.py").read_text()
    assert 'texts=["STRIDE_AM",' in written
    unseen = {**layouts()[0], "STRIDE_AM": 2, "STRIDE_BN": 3}
    for defines in [*layouts(), unseen]:
        launch = ported(tmp_path / "new", "ops", "PRODUCT", defines)
        compare(PRODUCT, "product", launch, Case(defines=defines, config={}, num_warps=4), 16, (2, 2, 1))
    for text in ("lda + 1", "ldc", 1.5, 2**31):
        launch = ported(tmp_path / "new", "ops", "PRODUCT", {**layouts()[0], "STRIDE_AM": text})
        case = Case(defines=layouts()[0], config={}, num_warps=4)
        with pytest.raises(Exception, match="is not an int of C: port again with -D"):
            compare(PRODUCT, "product", launch, case, 16, (2, 2, 1))


@pytest.mark.parametrize("value", ["S / 2", "S % 4", "S * 2000000", "-S >> 1", "m / S"])
def test_arithmetic_of_a_number_is_that_of_c(value: str) -> None:
    """Triton makes a tensor of it: Python rounds down, and has no overflow."""
    text = f"__global__ void f(int *X, int n, int m) {{ int i[16] = 0 ... 16; *(X + i) = {value} + i; }}"
    kernel = proved(text, [{"S": "n"}, {"S": 1}])
    assert kernel.arguments is not None
    translations = Translations(Source(text), Settings(None))
    variants = translations.variants([{"S": number} for number in (-3, 7, 3000, -(2**31) + 1)])
    assert len(variants) == 4
    assert [*differences(kernel.folded, variants)] == []


def test_of_two_kernels_each_has_what_it_reads() -> None:
    text = PRODUCT + "__global__ void copy(TYPE *C, int lda) { *(C + get_program_id(0) * lda) = 1; }\n"
    source = Source(text)
    assert integer_arguments(layouts(), Translations(source, Settings("copy"))) is None
    arguments = integer_arguments(layouts(), Translations(source, Settings("product")))
    assert arguments is not None
    assert list(arguments.names) == ["stride_am", "stride_ak", "stride_bk", "stride_bn"]


def test_numbers_outside_of_int_are_refused() -> None:
    kernel = proved(PRODUCT, layouts())
    assert kernel.refusal({**layouts()[0], "STRIDE_AM": 2**31 - 1}) is None
    for value in (2**31, -(2**31), True, 1.0):
        assert kernel.refusal({**layouts()[0], "STRIDE_AM": value}) is not None
