"""The preprocessor: macros, conditions, defines, spans, comments, errors. Beside gcc: tests/fuzz/test_macros.py."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from pytriton.errors import CompileError, PreprocessError, Report
from pytriton.lang.preprocess.directives import Preprocessed, preprocess
from pytriton.lang.tokens import Kind, Token
from pytriton.source import Source, Span
from tests.work import counted


def run(text: str, **defines: object) -> Preprocessed:
    """The result for a text without errors."""
    report = Report()
    result = preprocess(Source(text, "k.c"), defines, report)
    assert [diagnostic.render() for diagnostic in report.errors] == []
    assert result.tokens[-1].kind is Kind.END
    return result


def tokens(text: str, **defines: object) -> list[Token]:
    return run(text, **defines).tokens[:-1]


def expand(text: str, **defines: object) -> str:
    """The tokens with one blank between them; a symbolic define is shown as NAME=value."""
    return " ".join(
        f"{token.text}={token.value}" if token.kind is Kind.CONSTEXPR else token.text
        for token in tokens(text, **defines)
    )


def findings(text: str, **defines: object) -> Report:
    report = Report()
    with contextlib.suppress(CompileError):
        preprocess(Source(text, "k.c"), defines, report)
    return report


def errors(text: str, **defines: object) -> list[str]:
    return [f"{error.code} {error.message}" for error in findings(text, **defines).errors]


def warnings(text: str, **defines: object) -> list[str]:
    return [f"{found.code} {found.message}" for found in findings(text, **defines).warnings]


SOUND = """
#define OBJ_LIKE (1-1)
#define OBJ_LIKE /* white space */ (1-1) /* other */
#define FUNC_LIKE(a) ( a )
#define FUNC_LIKE( a ) ( /* note the white space */ \\
a /* other stuff on this line
*/ )
"""
BLANKS = "#define S(a) #a\n#define T(a) S(a)\n#define E\n#define F(a) x a(b)\n#define G(a) T([a])\n"
PASTED = "#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\n"
SHOWN = "#define S_(x) #x\n#define S(x) S_(x)\nCAT(f, TM) CAT_(f, TM) CAT(TM, 1) S(TM) S_(TM) S(NEG) S(HEX)"

# What it is about: the text, the tokens that are left, the defines. The examples of C11 6.10.3 stand in
# tests/fuzz/test_macros.py.
EXPANDED: dict[str, tuple[str, str, dict[str, object]]] = {
    "6.10 p8": ("#define EMPTY\nEMPTY # include <file.h>", "# include < file . h >", {}),
    # Prosser: F and its ')' both came out of A, so A stays hidden (gcc expands it once more).
    "an argument whose macros end within it": (
        "#define A F D\n#define D ()\n#define F() A\n#define G(a, b) b\nG(, A)", "A", {}
    ),
    "a name without its parenthesis": ("#define f(x) [x]\nf; f (1); f\n(2)", "f ; [ 1 ] ; [ 2 ]", {}),
    "directives between the arguments": (
        "#define f(x) [x]\nf(1\n#ifdef A\n+ 2\n#else\n+ 3\n#endif\n)", "[ 1 + 3 ]", {}
    ),
    "a directive ends the search for a parenthesis": ("#define f(x) [x]\nf\n#undef f\n(1)", "f ( 1 )", {}),
    "undefined names stay": ("#define A 1\n#undef A\n#undef B\nA B", "A B", {}),
    "the comma before no arguments": (
        "#define f(a, ...) g(a, ## __VA_ARGS__)\nf(1) f(1,) f(1, 2, 3)", "g ( 1 ) g ( 1 ) g ( 1 , 2 , 3 )", {}
    ),
    "line and file": ("\n#define L __LINE__\nL __FILE__\nL", '3 "k.c" 4', {}),
    "#line counts from the newline that ends it": (
        "#line \\\n 7\n__LINE__\n#line 17 /* a\n b */ /* c\n*/\n\n__LINE__\n"
        "# /*\n */ line 7 // x \\\n y\n__LINE__\n"
        "#line 7 \\\r\n\r\n__LINE__\n#line 7\n/* a\n*/ __LINE__",
        "7 18 7 7 8",
        {},
    ),
    "#line": (
        '#line 7 "a \\"b\\".c"\n__LINE__ __FILE__\n#line 2\n__LINE__ __FILE__',
        '7 "a \\"b\\".c" 2 "a \\"b\\".c"', {},
    ),
    "a continued line": ("#define A 1 \\\n + 2\nA", "1 + 2", {}),
    "the blank of what became nothing stays": (
        BLANKS + "T(F()) T(F(E)) G(E x) G( x) G(x E)", '"x (b)" "x (b)" "[ x]" "[x]" "[x ]"', {}
    ),
    "a string keeps one blank": ("#define s(x) #x\ns(  a  /**/ b\n+c(d) )", '"a b +c(d)"', {}),
    "the prelude": (
        "bool true false __readonly __aligned(16) min(a, b) x[max] newaxis INFINITY",
        "_Bool 1 0 __attribute__ ( ( readonly ) ) __attribute__ ( ( aligned ( 16 ) ) ) "
        "min ( a , b ) x [ max ] newaxis INFINITY", {},
    ),
    "the prelude is defined": ("#if defined(INFINITY) && defined min && defined bool\nyes\n#endif", "yes", {}),
    "the prelude is defined again": (
        "#define bool char\n#define min(a, b) less(a, b)\nbool min(1, 2) min", "char less ( 1 , 2 ) min", {}
    ),
    "the prelude is given": ("INFINITY", "F16_INFINITY", {"INFINITY": "F16_INFINITY"}),
    "_Pragma": ('_Pragma("unroll") x', "x", {}),
    "defined out of a macro": (
        "#define HAS defined(X) && defined Y\n#define X Z\n#define Y\n#if HAS\nyes\n#endif", "yes", {}
    ),
    "nested arms": (
        "#if 0\n#if 1\na\n#else\nb\n#endif\n#else\n#ifndef A\nc\n#endif\n#endif\nd", "c d", {}
    ),
    "dropped text may be anything": (
        "#if 0\ndon't ` $ é \"\n#bad\n#if ((\n#elif\n#else x\n#endif\n#define (\n#endif\nok", "ok", {}
    ),
    "blanks and comments in directives": (
        '  #  /* x */ if 1 // y\n a\n # endif\n#\n# 3 "f"\n#line 3\nb', "a b", {}
    ),
    "numbers stay names": (
        "#define N TM * 2\nN + X + B", "TM=64 * 2 + X=0.5 + B=1", {"TM": 64, "X": 0.5, "B": True}
    ),
    "infinity": ("A B", "A=inf B=-inf", {"A": float("inf"), "B": float("-inf")}),
    "a string of a number has its digits": (
        PASTED + SHOWN, 'f64 fTM 641 "64" "TM" "-5" "0x40"', {"TM": 64, "NEG": -5, "HEX": "0x40"}
    ),
    "given defines win over every define": (
        "#define TM 32\nTM\n#undef TM\nTM\n#define TM 16\nTM\n#undef TM\n#define TM(x) x\nTM",
        "TM=64 TM TM=64 TM=64", {"TM": 64},
    ),
}  # fmt: skip


@pytest.mark.parametrize("about", EXPANDED)
def test_expanded(about: str) -> None:
    text, expected, defines = EXPANDED[about]
    assert expand(text, **defines) == expected
    assert warnings(text, **defines) == []


# A text, and its warnings.
WARNED = {
    SOUND: [],
    "#ifdef A\n#else A\n#endif A /* no */ B": [
        "TC162 text after #else is ignored",
        "TC162 text after #endif is ignored",
    ],
    "#warning don't\n#pragma unroll": ["TC160 #warning don't", "TC161 #pragma is ignored"],
    **{
        f"#define OBJ_LIKE (1-1)\n#define FUNC_LIKE(a) ( a )\n#define {other}": [
            f"TC107 macro '{other[:9].strip(' (')}' is defined again, differently"
        ]
        for other in ("OBJ_LIKE (0)", "OBJ_LIKE (1 - 1)", "FUNC_LIKE(b) ( a )", "FUNC_LIKE(b) ( b )")
    },
}


@pytest.mark.parametrize("text", WARNED)
def test_warned(text: str) -> None:
    assert warnings(text) == WARNED[text]


class TestConditions:
    @pytest.mark.parametrize(
        "condition",
        [
            "1",
            "-1",
            "A == 0",
            "!defined A",
            "!defined(A) && defined TM && defined ( TM )",
            "TM == 64 && TM",
            "0 || 1",
            "!(0 && 1 / 0)",
            "1 || 1 / 0",
            "1 ? 2 : 1 / 0",
            "(0 ? 1 << 99 : 3) == 3",
            "5 ?: 0",
            "-1 > 0u",
            "-1 < 0",
            "(2 || 3) == 1",
            "-7 / 2 == -3 && -7 % 2 == -1",
            "0xFFFFFFFFFFFFFFFF == -1",
            "18446744073709551615u + 1 == 0",
            "9223372036854775807 + 1 < 0",
            "(-9223372036854775807 - 1) / -1 == -9223372036854775807 - 1",
            "-1 >> 1 == -1 && -1u >> 63 == 1",
            "1 << 63 < 0",
            "~0 == -1",
            "'a' == 97 && '\\n' == 10 && '\\x41' == 65 && '\\101' == 'A'",
            "0x1F == 31 && 0b101 == 5 && 017 == 15 && 10ull == 10L",
            "(1, 2) == 2",
            "1 + 2 * 3 == 7 && (1 | 2 ^ 3 & 2) == 1",
            "2 - 1 - 1 == 0",
            "0 ? 0 : 0 ? 0 : 1",
            "true && !false",
            "-1 - -1u == 0 && (0 ? 1u : -1) > 0",
            "T == 1 && F == 0 && defined F",
            "NEG < 0 && NEG == -5",
        ],
    )
    def test_holds(self, condition: str) -> None:
        text = f"#if {condition}\nyes\n#else\nno\n#endif"
        assert expand(text, TM=64, T=True, F=False, NEG=-5) == "yes"

    def test_arms(self) -> None:
        text = "#if {}\na\n#elif {}\nb\n#elif {}\nc\n#else\nd\n#endif"
        assert expand(text.format(1, 1, "1 / 0")) == "a"
        assert expand(text.format(0, 1, "1 / 0")) == "b"
        assert expand(text.format(0, 0, 1)) == "c"
        assert expand(text.format(0, 0, 0)) == "d"


class FakeDtype:
    """Stands for torch.dtype, without torch."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return f"torch.{self.name}"


FakeDtype.__module__, FakeDtype.__name__ = "torch", "dtype"


class TestDefines:
    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            ("64", "D=64"),
            (" 64 ", "D=64"),
            ("-1", "D=-1"),
            ("0x40", "D=64"),
            ("010", "D=8"),
            ("1e-5", "D=1e-05"),
            (".5", "D=0.5"),
            ("-2.", "D=-2.0"),
            ("64u", "64u"),
            ("1.0f", "1.0f"),
            ("08", "08"),
            ("", ""),
            ("TM, TK", "TM=8 , TK"),
            (": , newaxis", ": , newaxis"),
            ("^a", "^ a"),
            ("BH - 1 -", "BH - 1 -"),
            ("f(", "f ("),
            ("TM", "TM=8"),
            ("a /* c */ b // d", "a b"),
        ],
    )
    def test_text(self, value: str, shown: str) -> None:
        assert expand("D", D=value, TM=8) == shown

    def test_dtypes(self) -> None:
        text = "TYPE* p;"
        assert expand(text, TYPE=FakeDtype("float16")) == "half * p ;"
        assert expand(text, TYPE=FakeDtype("bool")) == "_Bool * p ;"
        assert errors(text, TYPE=FakeDtype("complex64"))[0].startswith("TC151 define 'TYPE' is")

    def test_torch_itself(self) -> None:
        torch = pytest.importorskip("torch")
        names = ("float32", "float64", "bfloat16", "int64", "uint8")
        found = [expand("T", T=getattr(torch, name)) for name in names]
        assert found == ["float", "double", "bfloat16", "long", "uint8"]

    def test_numpy(self) -> None:
        np = pytest.importorskip("numpy")
        given = {"A": np.int32(5), "B": np.float32(0.5), "C": np.bool_(True), "D": np.uint64(7)}
        assert expand("A B C D", **given) == "A=5 B=0.5 C=1 D=7"

    def test_pasting_a_negative_number(self) -> None:
        text = "#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\nCAT(NEG, 1)"
        found = tokens(text, NEG=-5)
        assert [token.text for token in found] == ["-", "51"]
        assert {token.span.source.name for token in found} == {"k.c"}

    def test_mentioned(self) -> None:
        defines = dict.fromkeys("ABCDEFGHIJ", 1) | {"TYPE": "E * 2", "UNUSED": "I"}
        text = (
            "A // B\n#if C\n#endif\n#if 0\nD\n#endif\nTYPE\n#define x(a, b) a##b\nx(,F)\n"
            "#define yy(a) a\nyy(x(G,))"
        )
        found = run(text, **defines)
        assert found.mentioned & defines.keys() == {"A", "C", "D", "TYPE", "E", "F", "G"}
        assert found.asked & defines.keys() == {"A", "C", "TYPE", "E", "F", "G"}

    @pytest.mark.parametrize(
        ("given", "asked"),
        [("", "AC"), ("A", "AX"), ("C", "ACD"), ("CD", "ACDY"), ("AB", "AX")],
    )
    def test_asked(self, given: str, asked: str) -> None:
        """Arms after the one that is taken ask nothing, nor do their conditions."""
        text = "#if defined(A)\nX\n#elif defined(C)\n#ifdef D\nY\n#endif\n#elif 0\nZ\n#endif"
        assert run(text, **dict.fromkeys(given, 1)).asked & {*"ABCDEXYZ"} == {*asked}

    def test_mentioned_by_pasting(self) -> None:
        found = run("#define x(a, b) a##b\nx(T, M)", TM=1, TN=1)
        assert found.mentioned & {"TM", "TN"} == found.asked & {"TM", "TN"} == {"TM"}

    @pytest.mark.parametrize(
        ("defines", "expected"),
        [
            ({"1a": 1}, "TC150 '1a' is not a valid define name"),
            ({"a-b": 1}, "TC150 'a-b' is not a valid define name"),
            ({"defined": 1}, "TC150 'defined' cannot be defined"),
            ({"A": [1]}, "TC151 define 'A' has type list, which is not supported"),
            ({"A": None}, "TC151 define 'A' has type NoneType, which is not supported"),
            ({"A": 1 << 64}, "TC152 define 'A' does not fit in 64 bits"),
            ({"A": 10**5000}, "TC152 define 'A' does not fit in 64 bits"),
            ({"A": "99999999999999999999"}, "TC152 define 'A' does not fit in 64 bits"),
            ({"A": "x ##"}, "TC105 '##' requires a token on each side"),
        ],
    )
    def test_errors(self, defines: dict[str, object], expected: str) -> None:
        assert errors("x", **defines) == [expected]

    def test_errors_have_a_place_in_a_text_define(self) -> None:
        (found,) = findings("A", A="x\n $").errors
        assert found.render().startswith("define A:2:2: error: stray character '$' [TC009]")


class TestSpans:
    def chain(self, token: Token) -> list[str]:
        steps, step = [], token.span.expansion
        while step is not None:
            steps.append(f"{step.name} = {step.body}")
            step = step.parent
        return steps

    def test_the_outermost_use(self) -> None:
        text = "#define A B + 1\n#define B b * 2\nx A;"
        x, b, *_, semicolon = tokens(text)
        assert x.span.expansion is None
        assert semicolon.span.expansion is None
        assert (b.span.text, b.span.line) == ("A", 3)
        assert self.chain(b) == ["B = b * 2", "A = B + 1"]

    def test_arguments_keep_their_place(self) -> None:
        text = "#define F(x) (x + G(x))\n#define G(y) y*2\n#define H h\nF(a + H)"
        found = tokens(text)
        assert [token.text for token in found] == "( a + h + a + h * 2 )".split()
        first, inner, again, star = found[1], found[3], found[5], found[8]
        assert found[0].span.text == "F(a + H)"
        assert first.span.text == "a"
        assert self.chain(first) == ["F = (x + G(x))"]
        assert inner.span.text == "H"
        assert self.chain(inner) == ["H = h", "F = (x + G(x))"]
        assert self.chain(again) == ["G = y*2", "F = (x + G(x))"]
        assert star.span.text == "F(a + H)"
        assert self.chain(star) == ["G = y*2", "F = (x + G(x))"]

    def test_a_symbolic_define_needs_no_expansion(self) -> None:
        (token,) = tokens("TM", TM=64)
        assert token.span == Span(token.span.source, 0, 2)
        assert token.span.expansion is None

    def test_a_text_define_has_one(self) -> None:
        token = tokens("S * 2", S="lda + TM", TM=64)[2]
        assert token.kind is Kind.CONSTEXPR
        assert token.span.text == "S"
        assert self.chain(token) == ["S = lda + TM"]

    def test_the_prelude_is_not_shown(self) -> None:
        for token in tokens("__aligned(16) true"):
            assert token.span.expansion is None
        assert [t.span.text for t in tokens("__aligned(16)")][5] == "16"

    def test_newline_is_that_of_the_use(self) -> None:
        text = "#define A x y\n  A\nz A\n\\\n A"
        flags = [token.newline for token in tokens(text)]
        assert flags == [True, False, True, False, False, True, False]

    def test_rendered(self) -> None:
        text = "#define K(x) x ## +\n#define L K(1)\nint a = L;"
        assert findings(text).errors[0].render() == (
            "k.c:3:9: error: '1' ## '+' is not one token [TC110]\n"
            "    3 | int a = L;\n"
            "      |         ^\n"
            "note: expanded from K = x ## +\n"
            "note: expanded from L = K(1)"
        )


class TestComments:
    def where(self, text: str, **defines: object) -> list[tuple[str, list[str]]]:
        """Every token that has comments; `+` marks a comment on a line of its own."""
        return [
            (token.text, [("+" if c.own_line else "") + c.text.strip() for c in token.comments])
            for token in run(text, **defines).tokens
            if token.comments
        ]

    def test_a_macro_name_hands_them_on(self) -> None:
        assert self.where("#define A x y\n// c\nA") == [("x", ["+c"])]

    def test_an_empty_macro_hands_them_to_the_next_token(self) -> None:
        assert self.where("// c\nE x", E="") == [("x", ["+c"])]
        assert self.where("// c\nE\n// d\n", E="") == [("", ["+c", "+d"])]

    def test_a_call_gathers_those_of_its_arguments(self) -> None:
        text = "#define F(a) a + a\n// c\nF(/* d */ x /* e */) // f\ny"
        assert self.where(text) == [("x", ["+c", "d", "e"]), ("y", ["f"])]

    def test_those_of_directives_get_their_own_line(self) -> None:
        text = "a; // a\n// b\n#define A 1 // c\n#undef /* d */ A\n#if 1 // e\nx\n#endif // f\ny"
        assert self.where(text) == [("x", ["a", "+b", "+c", "+d", "+e"]), ("y", ["+f"])]

    def test_those_of_dropped_arms_and_bodies_vanish(self) -> None:
        text = (
            "#define A /* body */ 1\n#if 0 // dropped\n// dropped\nx // dropped\n// dropped\n"
            "#else // kept\ny\n#endif"
        )
        assert self.where(text) == [("y", ["+kept"])]

    def test_at_the_end(self) -> None:
        assert self.where("x\n#if 1\n// c\n#endif // d\n// e") == [("", ["+c", "+d", "+e"])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#foo", "TC101 unknown directive '#foo'"),
        ("#define", "TC102 #define without a name"),
        ("#define 1", "TC102 #define requires a name, found '1'"),
        ("#define defined", "TC102 'defined' cannot be defined"),
        ("#define __LINE__ 1", "TC102 '__LINE__' cannot be defined"),
        ("#undef", "TC102 #undef requires the name of a macro"),
        ("#define F(", "TC103 the parameter list of macro 'F' is not closed"),
        ("#define F(a, a) a", "TC103 parameter 'a' is declared twice"),
        ("#define F(a b) a", "TC103 'b' is not valid in the parameters of macro 'F'"),
        ("#define F(..., a) a", "TC103 ',' is not valid in the parameters of macro 'F'"),
        ("#define F(a,) a", "TC103 ')' is not valid in the parameters of macro 'F'"),
        ("#define F(1) a", "TC103 '1' is not valid in the parameters of macro 'F'"),
        ("#define F(a) #b", "TC104 '#' requires a parameter of the macro, found 'b'"),
        ("#define F ## a", "TC105 '##' requires a token on each side"),
        ("#define F(a) a ##", "TC105 '##' requires a token on each side"),
        ("#define F __VA_ARGS__", "TC106 __VA_ARGS__ in a macro without '...'"),
        ("#define F(a) a\nF(1, 2)", "TC108 macro 'F' requires 1 argument, found 2"),
        ("#define F(a, b) a\nF()", "TC108 macro 'F' requires 2 arguments, found 1"),
        ("#define F(a, b, ...) a\nF(1)", "TC108 macro 'F' requires at least 2 arguments, found 1"),
        ("#define F() a\nF(1)", "TC108 macro 'F' requires 0 arguments, found 1"),
        ("#define F(a) a\nF(1, (2)", "TC109 the argument list of macro 'F' is not closed"),
        ("#define F(a) a\n#if F(1\n#endif", "TC109 the argument list of macro 'F' is not closed"),
        ("#define F(a) a##+\nF(1)", "TC110 '1' ## '+' is not one token"),
        ("#define F(a, b) a##b\nF(/, /)", "TC110 '/' ## '/' is not one token"),
        ("#if\n#endif", "TC120 #if without an expression"),
        ("#if 1 +\n#endif", "TC120 the #if expression ends where a value is expected"),
        ("#if 1 2\n#endif", "TC120 expected an operator in #if, found '2'"),
        ("#if (1\n#endif", "TC120 the #if expression ends where ')' is expected"),
        ("#if 1 ? 2\n#endif", "TC120 the #if expression ends where ':' is expected"),
        ("#if A = 1\n#endif", "TC120 expected an operator in #if, found '='"),
        ('#if "a"\n#endif', "TC120 expected a value in #if, found '\"a\"'"),
        ("#if 1.5\n#endif", "TC121 '1.5' is not an integer, and #if computes with integers"),
        ("#if 1x\n#endif", "TC121 '1x' is not an integer, and #if computes with integers"),
        ("#if 18446744073709551616\n#endif", "TC121 18446744073709551616 does not fit in 64 bits"),
        ("#if HALF\n#endif", "TC121 define 'HALF' is 0.5, and #if computes with integers"),
        ("#if '\\q'\n#endif", "TC121 character constant '\\q' has no value in #if"),
        ("#if 1 / 0\n#endif", "TC122 division by zero in #if"),
        ("#if 1 % (A - A)\n#endif", "TC122 division by zero in #if"),
        ("#if 1 << -1\n#endif", "TC123 shift by -1 in #if, a count must be from 0 to 63"),
        ("#if 1 >> 64\n#endif", "TC123 shift by 64 in #if, a count must be from 0 to 63"),
        ("#if defined\n#endif", "TC125 'defined' requires a macro name"),
        ("#if defined(A\n#endif", "TC125 'defined' requires a macro name"),
        ("#ifdef\n#endif", "TC125 #ifdef requires the name of a macro"),
        ("#ifndef 1\n#endif", "TC125 #ifndef requires the name of a macro"),
        ("#endif", "TC130 #endif without #if"),
        ("#else", "TC130 #else without #if"),
        ("#elif 1", "TC130 #elif without #if"),
        ("#if 1\n#else\n#else\n#endif", "TC131 #else after #else"),
        ("#if 0\n#else\n#elif 1\n#endif", "TC131 #elif after #else"),
        ("#if 1", "TC132 #if without #endif"),
        ("#ifdef A\n#else", "TC132 #ifdef without #endif"),
        ("#error don't do this", "TC140 #error don't do this"),
        ("#error", "TC140 #error"),
        ('#include "a.h"', "TC141 #include of 'a.h', but there are no include directories"),
        ("#include", "TC143 #include requires the name of a file"),
        ("#include <a.h", "TC143 #include requires the name of a file"),
        ("#if 0\n/* x", "TC006 unterminated comment"),
        ("#if 0\n\0\n#endif", "TC003 NUL character in the source"),
        ("a $", "TC009 stray character '$'"),
    ],
)
def test_errors(text: str, expected: str) -> None:
    assert errors(text, HALF=0.5) == [expected]


def test_rendered_argument_count() -> None:
    assert findings("#define F(a, b) a\nx = F(1);").errors[0].render() == (
        "k.c:2:5: error: macro 'F' requires 2 arguments, found 1 [TC108]\n"
        "    2 | x = F(1);\n"
        "      |     ^\n"
        "k.c:1:9: note: defined here\n"
        "    1 | #define F(a, b) a\n"
        "      |         ^"
    )


def test_rendered_unknown_directive() -> None:
    assert findings("#  inclde <a.h>").errors[0].render() == (
        "k.c:1:4: error: unknown directive '#inclde' [TC101]\n"
        "    1 | #  inclde <a.h>\n"
        "      |    ^~~~~~\n"
        "help: did you mean '#include'?"
    )


def test_rendered_define_of_no_type() -> None:
    assert findings("x", TM=[16, 32]).errors[0].render() == (
        "k.c: error: define 'TM' has type list, which is not supported [TC151]\n"
        "help: give an int, a bool, a float, a torch.dtype, or a str of Triton-C"
    )


def test_a_fatal_error_raises_at_once() -> None:
    with pytest.raises(PreprocessError):
        preprocess(Source("#error x"), {}, Report())


def test_lexical_errors_behind_an_ignored_line_count() -> None:
    assert [line[:5] for line in errors("#pragma x '\n$ y\n#if 0\n$\n#endif\n'")] == ["TC009", "TC008"]


def test_several_errors_at_once() -> None:
    found = errors("#foo\n#if 1 / 0\n#endif\n#define F(a) a\nF(1, 2) F()\n$")
    assert [line[:5] for line in found] == ["TC101", "TC122", "TC108", "TC009"]


class TestInclude:
    def load(self, text: str, *directories: Path) -> tuple[str, list[str]]:
        report = Report()
        try:
            result = preprocess(Source(text, "k.c"), {}, report, include_dirs=directories)
        except CompileError:
            return "", [f"{error.code} {error.message}" for error in report.errors]
        shown = " ".join(token.text for token in result.tokens[:-1])
        return shown, [f"{error.code} {error.message}" for error in report.errors]

    def test_text_and_macros_come_in(self, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "a.h").write_text("#pragma once\n#define A 1\nint a; // c\n")
        text = '#include "sub/a.h"\n#include <sub/a.h>\n#define N "sub/a.h"\n#include N\nA'
        assert self.load(text, tmp_path) == ("int a ; int a ; int a ; 1", [])

    def test_spans_are_in_the_included_text(self, tmp_path: Path) -> None:
        (tmp_path / "a.h").write_text("x")
        source = Source('#include "a.h"\ny // c')
        found = preprocess(source, {}, Report(), include_dirs=[tmp_path]).tokens
        assert [token.span.source.name for token in found] == ["a.h", "<kernel>", "<kernel>"]
        assert [c.text for c in found[-1].comments] == [" c"]

    @pytest.mark.parametrize("name", ["/etc/passwd", "../a.h", "b/../../a.h", "C:\\a", "\\a"])
    def test_nothing_outside(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "b").mkdir()
        (tmp_path / "a.h").write_text("secret")
        shown, found = self.load(f'#include "{name}"', tmp_path / "b")
        assert (shown, [line[:5] for line in found]) == ("", ["TC141"])

    def test_no_symbolic_link_leads_out(self, tmp_path: Path) -> None:
        (tmp_path / "b").mkdir()
        (tmp_path / "a.h").write_text("secret")
        (tmp_path / "b" / "a.h").symlink_to(tmp_path / "a.h")
        shown, found = self.load('#include "a.h"', tmp_path / "b")
        assert (shown, [line[:5] for line in found]) == ("", ["TC141"])

    def test_missing(self, tmp_path: Path) -> None:
        assert self.load('#include "a.h"', tmp_path)[1] == [
            "TC142 #include of 'a.h', which is in none of the include directories"
        ]

    def test_endless(self, tmp_path: Path) -> None:
        (tmp_path / "a.h").write_text('#include "a.h"\n#include "a.h"\n')
        assert [line[:5] for line in self.load('#include "a.h"', tmp_path)[1]] == ["TC144"]

    def test_not_utf8(self, tmp_path: Path) -> None:
        (tmp_path / "a.h").write_bytes(b"\xff")
        assert self.load('#include "a.h"', tmp_path)[1] == ["TC001 byte 0xFF is not UTF-8"]

    def test_within_arguments(self, tmp_path: Path) -> None:
        text = '#define F(a) a\nF(\n#include "a.h"\n)'
        assert self.load(text, tmp_path)[1] == ["TC143 #include within the arguments of a macro"]


def doubling(levels: int) -> str:
    lines = [f"#define A{i} A{i - 1} A{i - 1}" for i in range(1, levels)]
    return "\n".join(["#define A0 x", *lines, f"A{levels - 1}"])


def chain(levels: int) -> str:
    lines = [f"#define A{i} A{i + 1}" for i in range(levels)]
    return "\n".join([*lines, "A0"])


PASTE = "#define C_(x) x##x\n#define C(x) C_(x)\n"
QUOTE = "#define S_(x) #x\n#define S(x) S_(x)\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(doubling(60), "TC111", id="doubling"),
        pytest.param(chain(10_000), "TC112", id="chain"),
        pytest.param("#define f(x) f(f(x))\n" + "f(" * 60 + ")" * 60, None, id="self"),
        pytest.param("#define x x x x x\n" + "x " * 2_500, None, id="many uses"),
        pytest.param(
            "#define f(x) x\n" + "f(" * 2_500 + ")" * 2_500, "TC112", id="calls", marks=pytest.mark.slow
        ),
        pytest.param("#define f(x) x x\n" + "f(" * 50 + "y" + ")" * 50, "TC111", id="call doubling"),
        pytest.param(
            "#define E(x)\n#define f(x) x\n" + "f(" * 60 + f"E({'a ' * 45_000})" + ")" * 60,
            "TC111",
            id="arguments read again and again",
            marks=pytest.mark.slow,
        ),
        pytest.param("#define f(x) x\n" + "f(" * 10_000, "TC109", id="open calls"),
        pytest.param(PASTE + "C(" * 60 + "ab" + ")" * 60, "TC113", id="growing paste"),
        pytest.param(QUOTE + "S(" * 60 + "ab" + ")" * 60, "TC113", id="growing string"),
        pytest.param(f"#define f(x) {'x ' * 25_000}\nf({'y ' * 25_000})", "TC111", id="product"),
        pytest.param("#if " + "(" * 5_000 + "1" + ")" * 5_000 + "\n#endif", "TC124", id="nest"),
        pytest.param(
            "#if " + "1||1&&1|1^1&1==1<1<<1+1*(" * 90 + "1" + ")" * 90 + "\n#endif",
            "TC124",
            id="all levels",
        ),
        pytest.param("#if " + "1?" * 4_500 + "1" + ":1" * 4_500 + "\n#endif", "TC124", id="?:"),
        pytest.param("#if " + "1?1:" * 4_500 + "1\n#endif", "TC124", id="?: to the right"),
        pytest.param("#if " + " -" * 5_000 + "1\n#endif", None, id="signs"),
        pytest.param("#if " + "1+" * 5_000 + "1\n#endif", None, id="sum"),
        pytest.param("#if 1<<30000000000\n#endif", "TC123", id="shift"),
        pytest.param(f"#if {'9' * 190}\n#endif", "TC121", id="digits"),
        pytest.param(f"#if {'9' * 100_000}\n#endif", "TC121", id="more digits"),
        pytest.param("#if 1\n" * 15_000, "TC133", id="ifs"),
        pytest.param("#if 0\n" * 15_000, "TC132", id="dropped ifs"),
        pytest.param("#if 0\n#elif 0\n" + "#elif 0\n" * 5_000 + "#endif", None, id="elifs"),
        pytest.param("#pragma x\n" * 5_000, None, id="pragmas"),
        pytest.param("#define A 1\n#define A 2\n" * 2_000, None, id="redefinitions"),
        pytest.param("// c\n#undef A\n" * 10_000, None, id="carried comments"),
        pytest.param("#if 0\n'\n#endif\n" * 1_000, None, id="dropped apostrophes"),
        pytest.param("E /* c */ " * 10_000, None, id="empty macros"),
        pytest.param("#foo\n" * 15_000, "TC101", id="unknown directives"),
        pytest.param("#define " + "a" * 500_000 + "(" + "b" * 400_000, "TC103", id="long names"),
        pytest.param(
            "#define f(" + ",".join(f"a{i}" for i in range(10_000)) + ") a1\n",
            None,
            id="many parameters",
        ),
    ],
)
@pytest.mark.sampled(9)
def test_hostile_texts_are_cheap(text: str, code: str | None) -> None:
    _, report = counted(lambda: findings(text, E=""), most=10_000_000)
    found = report.errors
    assert (found[0].code if found else None) == code
    assert all(len(error.render()) < 3000 for error in found)
