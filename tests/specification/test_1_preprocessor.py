"""Section 1: C11 6.10 ahead of everything else, defines that act as ``#define``, and the prelude."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import pytriton
from tests.specification.asking import Row, inf, kernel_of, refused, row, run, same, warned

ROWS = [
    row("object-like macro", "int", "N", 7, top="#define N 7"),
    row("a body is tokens, not a value: 2 + 3 * 2", "int", "N * 2", 8, top="#define N 2 + 3"),
    row("function-like macro", "int", "F(1 + 2, 4)", 9, top="#define F(a, b) a * 2 + b"),
    row("a call over several lines", "int", "F(1,\n 2\n)", 3, top="#define F(a, b) (a + b)"),
    row("commas within parentheses are one argument", "int", "F((1, 2))", 2, top="#define F(a) a"),
    row("an empty argument", "int", "F()", -1, top="#define F(a) (a - 1)"),
    row("no parenthesis, no call", "int", "F + 1", 6, before="int F = 5;", top="#define F(a) 100"),
    row("the parenthesis may stand on the next line", "int", "F\n(3)", 103, top="#define F(a) (100 + a)"),
    row("`(` must touch the name in a definition", "int", "F (3)", 5, top="#define F (2) + \n"),
    row("# makes a string", "int", "1", 1, top="#define S(x) #x\n_Static_assert(1, S(a + 'b'));"),
    row("## makes one name of two", "int", "J(va, 1)", 9, before="int va1 = 9;", top="#define J(a, b) a##b"),
    row("## makes one number of two", "int", "J(1, 2)", 12, top="#define J(a, b) a ## b"),
    row("## with an empty side", "int", "J(, 2) + J(3, )", 5, top="#define J(a, b) a##b"),
    row("## makes one operator of two", "int", "3 J(<, <) 2", 12, top="#define J(a, b) a##b"),
    row("operands of ## are not expanded", "int", "J(A, B)", 4, before="int AB = 4;",
        top="#define A 1\n#define B 2\n#define J(a, b) a##b"),
    row("other operands are, fully, before they go in", "int", "X(A, B)", 12,
        top="#define A 1\n#define B 2\n#define J(a, b) a##b\n#define X(a, b) J(a, b)"),
    row("the pasted token is rescanned", "int", "J(A, B)", 77, top="#define AB 77\n#define J(a, b) a##b"),
    row("variadic", "int", "max(L(3, 8))", 8, top="#define L(...) __VA_ARGS__"),
    row("variadic after a named one", "int", "F(1, 2, 3)", 3, top="#define F(a, ...) max(__VA_ARGS__) * a"),
    row("variadic, empty", "int", "F(4)", 4, top="#define F(a, ...) a __VA_ARGS__"),
    row("a macro is not expanded within itself", "int", "z", 12,
        before="int q = 7;\n#define q q + 5\n#define z q\n"),
    row("nor two within each other", "int", "q", 15, before="int q = 5;\n#define q r + 10\n#define r q\n"),
    row("rescanning takes up what follows", "int", "F(1)(2)", 12,
        top="#define F(a) G\n#define G(b) (10 + b)"),
    row("a nested call of itself as an argument is expanded", "int", "abs(abs(z)) + t(abs)(3)", 2 * 2 * 1 + 6,
        before="int z = -6;\n#define x 2\n#define abs(a) abs(x * (a))\n#define z (z + 5)\n#define t(a) a\n"),
    row("#undef", "int", "N", 3, before="int N = 3;", top="#define N 7\n#undef N"),
    row("#undef of what was never defined", "int", "1", 1, top="#undef NEVER"),
    row("#ifdef", "int", "R", 1, top="#define A\n#ifdef A\n#define R 1\n#else\n#define R 2\n#endif"),
    row("#ifndef", "int", "R", 2, top="#define A\n#ifndef A\n#define R 1\n#else\n#define R 2\n#endif"),
    row("#elif: the first that holds", "int", "R", 2,
        top="#if 0\n#define R 1\n#elif 1\n#define R 2\n#elif 1\n#define R 3\n#else\n#define R 4\n#endif"),
    row("#elif after the arm taken is not evaluated", "int", "R", 1,
        top="#if 1\n#define R 1\n#elif 1 / 0\n#define R 2\n#endif"),
    row("nested arms of an arm not taken", "int", "R", 9,
        top="#if 0\n#if 1\n#define R 1\n#else\n#define R 2\n#endif\n#else\n#define R 9\n#endif"),
    row("directives of an arm not taken do nothing", "int", "1", 1,
        top="#if 0\n#error no\n#include </etc/passwd>\n#nonsense\n'\n#endif"),
    row("arms not taken may use undeclared names", "int",
        "#if AT\nint result = nowhere + f2();\n#else\nint result = 1;\n#endif", 1, defines={"AT": False}),
    row("indented directives, blanks behind #", "int", "N", 4, top="   #   define   N   4"),
    row("continued lines", "int", "N", 10, top="#define N 1 \\\n + \\\n 9"),
    row("a continued line may cut a token", "int", "12\\\n3", 123),
    row("// goes on behind a continued line", "int", "1 // + 2 \\\n + 4\n", 1),
    row("a comment is one blank", "int", "1/**/+/* 2 + */3", 4),
    row("a comment cannot paste", "int", "2 -/**/- 3", 5),
    row("comments of several lines, in directives", "int", "N", 4,
        top="#define /* a\n b */ N /* c */ 4 // d"),
    row("comment marks in comments", "int", "1 /* // /* */ + 1", 2),
    row("#line and #pragma are accepted", "int", "1", 1, top='#line 40 "x.c"\n#pragma unroll\n#pragma'),
    row("an empty directive", "int", "1", 1, top="#\n # // nothing"),
    row("1 or 0 for bools", "int", "X * 10 + Y", 10, defines={"X": True, "Y": False}),
    row("a bool is defined either way", "int", "R", 1, defines={"X": False},
        top="#ifdef X\n#define R 1\n#else\n#define R 2\n#endif"),
    row("and is 0 for #if", "int", "R", 2, defines={"X": False},
        top="#if X\n#define R 1\n#else\n#define R 2\n#endif"),
    row("an int", "int", "X * 2", -6, defines={"X": -3}),
    row("an int is an operand, as in `-X`", "int", "-X - X", 6, defines={"X": -3}),
    row("NumPy's ints", "int", "X / 2", -3, defines={"X": np.int64(-7)}),
    row("a float", "float", "X * 2", 3.0, defines={"X": 1.5}),
    row("a negative float", "float", "1 -X", 2.5, defines={"X": -1.5}),
    row("a float that is infinite", "float", "-X", -inf, defines={"X": inf}),
    row("a torch.dtype is its type word", "float", "(float)(X)1.9f", 1.0, defines={"X": torch.int64}),
    row("a str: any tokens", "int", "10 X", 7, defines={"X": "- 3"}),
    row("a str that ends in an operator", "int", "X 1", 2, defines={"X": "8 - 5 -"}),
    row("a str is tokens, not a value", "int", "X * 2", 7, defines={"X": "1 + 3"}),
    row("an empty str", "int", "X 3", 3, defines={"X": ""}),
    row("a str may name another define", "int", "X", 5, defines={"X": "Y", "Y": 5}),
    row("a str may be a parameter's name", "int", "X * 2", 8, defines={"X": "lda"}, lda=4),
    row("a str as prefix operator", "int[2, 3]", "Ta", [0, 2, 4, 1, 3, 5], defines={"Ta": "^a"},
        a=np.arange(6, dtype=np.int32).reshape(3, 2)),
    row("a str as the rest of a subscript", "int[3, 1]", "a[: X]", [0, 1, 2], defines={"X": ", newaxis"},
        a=[0, 1, 2]),
    row("a str as shape", "int[2, 4]", "int t[SHAPE] = 3; int result[2, 4] = t;", [3] * 8,
        defines={"SHAPE": "TM, TK", "TM": 2, "TK": 4}),
    row("a str as a whole permuted operand", "int[2, 2]", "P", [0, 2, 1, 3], defines={"P": "a[^1, ^0]"},
        a=[[0, 1], [2, 3]]),
    row("a numeric str is a number", "int", "X + 1", 129, defines={"X": "128"}),
    row("a given define wins over the text's", "int", "N", 9, top="#define N 4", defines={"N": 9}),
    row("and over each of several", "int", "N * 10 + M", 93,
        top="#define N 4\n#define M 3\n#undef M\n#define M 3",
        defines={"N": 9}),
    row("it counts for #if too", "int", "R", 1, defines={"N": 9},
        top="#define N 4\n#if N == 9\n#define R 1\n#else\n#define R 0\n#endif"),
    row("a define wins over the prelude", "float", "-INFINITY", -3.0, defines={"INFINITY": "F"},
        before="float F = 3;"),
    row("INFINITY by way of F32_INFINITY", "float", "-INFINITY", -inf, defines={"INFINITY": "F32_INFINITY"}),
    row("true and false", "int", "true * 10 + false", 10),
    row("bool is a type", "bool", "(bool)2", 1),
    row("min( and max( are functions", "int", "min(a, b) * 100 + max(a, b)", -297, a=3, b=-3),
    row("with a blank before the parenthesis", "int", "min (3, 4) + max\n(1, 2)", 5),
    row("[max] and [:, min] are reductions", "int[2]", "max(x[:, min], x[:, max])", [4, 9], x=[[4, -1], [9,
        2]]),
    row("min of macros that hold commas", "int", "min(PAIR)", 2, top="#define PAIR 3, 2"),
    row("the text may define min itself", "int", "min(3, 4)", 34, top="#define min(a, b) (a * 10 + b)"),
    row("fixed-width names", "int", "(int8)300 + (int16)70000 + (int)(uint8)300 + (int)(uint16)70000",
        44 + 4464 + 44 + 4464),
    row("fixed-width names of 64 bits", "long", "(int64)1 << 40", 1 << 40),
    row("uint32 is unsigned", "bool", "(uint32)0 - 1 > 0", 1),
    row("a macro names a type", "float", "TYPE x = 1.5f; float result = x;", 1.0, top="#define TYPE int"),
    row("a macro is an operator", "int", "7 OP 2", 1, top="#define OP %"),
    row("a macro is a statement", "int", "int result = 0; ADD(4) ADD(5);", 9,
        top="#define ADD(n) result += n;"),
    row("a macro is a subscript", "int[1, 4]", "a[SUB]", [1, 2, 3, 4], top="#define SUB newaxis, :", a=[1,
        2, 3, 4]),
    row("__LINE__ is the line of the text", "int", "\n\nint result = __LINE__;", 6),
    row("#line sets it", "int", "\n#line 77\nint result = __LINE__;", 77),
    row("... further on too", "int", "\n#line 77\n\nint\nresult = __LINE__;", 79),
    row("... out of a macro", "int", "\n#line HERE\nint result = __LINE__;", 5, top="#define HERE 5"),
    row("... with a name", "int", '\n#line 1 "a.c"\nint result = __LINE__;', 1),
    row("a macro of nothing within #if", "int", "R", 1, top="#define E\n#if E 1 E\n#define R 1\n#endif"),
    row("`defined` out of a macro", "int", "R", 1,
        top="#define D defined(E)\n#define E\n#if D\n#define R 1\n#endif"),
    row("_Pragma is ignored", "int", '_Pragma("unroll") int result = 5;', 5),
    row("a directive among the arguments of a call", "int", "F(1\n#define Q 3\n, Q)", 4,
        top="#define F(a, b) a + b"),
    row("## with the rest of the arguments", "int", "J(1, 2)", 12, top="#define J(a, ...) a##__VA_ARGS__"),
    row("the name of a macro as argument", "int", "A(D, 4)", 8,
        top="#define D(x) (x*2)\n#define A(f, x) f(x)"),
    row("a parameter of the name of a macro", "int", "F(2)", 4, top="#define a 9\n#define F(a) (a + a)"),
    row("a list of macro calls", "int", "L(ADD) 0", 6, top="#define L(X) X(1) X(2) X(3)\n#define ADD(n) n +"),
    row("two defines around ...", "int[4]", "N...M", [2, 3, 4, 5], defines={"N": 2, "M": 6}),
    row("a line cut within a directive's name", "int", "N", 4, top="#def\\\nine N 4"),
    row("lines that end in CR LF", "int", "N", 4, top="#define N \\\r\n 4\r\n"),
    row("the prelude's names are defined", "int", "R", 1,
        top="#if defined(INFINITY) && defined(bool) && defined(__multipleof) && defined(min)\n#define R 1\n#endif"),
    row("a str that holds a comma, in a call", "int", "max(A)", 5, defines={"A": "3, 5"}),
    row("a str with a suffix has its type", "bool", "A - 1 > 0", 1, defines={"A": "0u"}),
    row("## with a define", "int", "J(x, N)", 9, before="int x4 = 9;",
        top="#define J_(a, b) a##b\n#define J(a, b) J_(a, b)", defines={"N": 4}),
    row("a type by name and ##", "int", "Q(P(TYPE))", 2, defines={"TYPE": "half"},
        top="#define float_ 1\n#define half_ 2\n#define P(a) P_(a)\n#define P_(a) a##_\n#define Q(a) a"),
]  # fmt: skip

# 6.10.1: the expression of #if, and whether it holds
CONDITIONS = [
    ("1", True),
    ("NEVER", False),
    ("NEVER == 0", True),
    ("defined N", True),
    ("defined(N)", True),
    ("!defined(NEVER) && defined N", True),
    ("defined NEVER || 0", False),
    ("N == 4 && N < 5", True),
    ("-7 / 2 == -3", True),
    ("-7 % 2 == -1", True),
    ("-1 > 0u", True),  # unsigned wins
    ("-1 >> 1 == -1", True),
    ("0 && (1 / 0)", False),
    ("1 || (1 / 0)", True),
    ("1 ? 0 : 1 / 0", False),
    ("0 ? 1 / 0 : 2", True),
    ("(2 | 4) == 6 && (6 ^ 4) == 2 && (6 & 4) == 4", True),
    ("1 + 2 * 3 == 7", True),
    ("~0 == -1", True),
    ("!4", False),
    ("'A' == 65", True),
    ("'\\n' == 10", True),
    ("0x10 == 16 && 010 == 8", True),
    ("9223372036854775807 > 0", True),
    ("18446744073709551615u == -1", True),
    ("1 << 40 > 2147483647", True),  # intmax_t
    ("F(2) == 5", True),
    ("F", False),  # function-like without parentheses: an identifier, 0
    ("true", True),
    ("false", False),
    ("N - 4", False),
    ("-N", True),
    ("(N)", True),
    ("1 ? 2 : 3 ? 0 : 0", True),
    ("min(N, 3) == 3 && max(-1, min(N, 9)) == N", True),
    ("max(-1, 0u) == -1", True),  # unsigned
    ("min", False),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows(row: Row) -> None:
    row.hold()


@pytest.mark.parametrize(("condition", "holds"), CONDITIONS)
def test_conditions(condition: str, holds: bool) -> None:
    top = f"#define N 4\n#define F(a) (a + 3)\n#if {condition}\n#define R 1\n#else\n#define R 0\n#endif"
    row("", "int", "R", int(holds), top=top).hold()
    assert not warned(row("", "int", "R", 0, top=top).text())  # an undefined name is 0 without a warning


def test_error_directive_stops() -> None:
    refused("#if N < 8\n#error N is too small for this\n#endif\n" + kernel_of(";"), "N is too small for this",
            defines={"N": 4})  # fmt: skip
    pytriton.translate("#if N < 8\n#error N is too small\n#endif\n" + kernel_of(";"), {"N": 8})


def test_stringised_argument_is_the_message() -> None:

    refused(
        "#define CHECK(x) _Static_assert(x, #x)\nCHECK(N   >  4);\n" + kernel_of(";"),
        "N > 4",
        defines={"N": 4},
    )


def test_pragma_is_ignored_with_a_note() -> None:
    notes = warned("#pragma once\n" + kernel_of("*out = 1;"))
    assert len(notes) == 1
    assert "#pragma" in notes[0]


@pytest.mark.parametrize("line", ["#else X", "#endif X"])
def test_text_behind_else_and_endif_draws_a_warning(line: str) -> None:
    arms = "#ifdef X\n#define R 1\n#else\n#define R 2\n#endif\n"
    body = kernel_of("*out = R;")
    assert len(warned(arms.replace(line.split()[0] + "\n", line + "\n") + body)) == 1
    assert not warned(arms.replace(line.split()[0] + "\n", line.replace("X", "/* X */ // X") + "\n") + body)


def test_include_only_from_directories_that_the_caller_gives(tmp_path: Path) -> None:
    (tmp_path / "n.h").write_text("#ifndef G\n#define G\n#define N 5\n#endif\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "m.h").write_text('#include "n.h"\n#define M (N * 2)\n')
    text = '#include "n.h"\n#include <n.h>\n#define H "deep/m.h"\n#include H\n' + kernel_of("*out = M;")
    refused(text, "include")
    assert pytriton.translate(text, include_dirs=[tmp_path]).kernels == ("f",)
    out = torch.zeros(1, dtype=torch.int32)
    pytriton.kernel(text, include_dirs=(tmp_path,))(out, 0, 0, torch.zeros(1), grid=(1,))
    assert out.item() == 10
    for path in (f"{tmp_path}/n.h", "../" + tmp_path.name + "/n.h", "deep/../n.h", "missing.h"):
        with pytest.raises(pytriton.CompileError):
            pytriton.translate(f'#include "{path}"\n' + kernel_of("*out = 1;"), include_dirs=(tmp_path,))


def test_a_given_define_wins_silently() -> None:
    assert not warned("#define N 4\n" + kernel_of("*out = N;"), {"N": 5})


def test_dtype_define_is_the_type_word() -> None:
    for dtype in (torch.float16, torch.float32, torch.float64, torch.bfloat16, torch.int8, torch.uint8, torch.int16,
                  torch.int32, torch.int64, torch.bool):  # fmt: skip
        x = torch.tensor([1, 0, 1, 1]).to(dtype)
        y = torch.zeros(4, dtype=dtype)
        run("void copy(TYPE *X, TYPE *Y) { *(Y + 0 ... 4) = *(X + 0 ... 4); }", x, y, defines={"TYPE": dtype})
        assert torch.equal(x, y)


def test_one_text_three_algorithms() -> None:
    text = """
    __global__ void NAME(int* out, int n __multipleof(DIV)) {
    #ifdef SDD
      int z[2] = 10 + 0 ... 2;
    #elif defined DSD && !defined(DDS)
      int z[2] = undeclared_in_sdd(n)[+];
    #else
      int z = n;
    #endif
    #if (TZ == 1)
      *(out + 0 ... 2) = z;
    #else
      spin(lock);
    #endif
    }"""
    for defines, want in (({"SDD": True}, [10, 11]), ({"DDS": True}, [8, 8])):
        out = torch.zeros(2, dtype=torch.int32)
        run(text, out, 8, defines={**defines, "TZ": 1, "NAME": "work", "DIV": 8})
        same(out, want)


def test_long_form_of_attributes() -> None:
    text = """void f(float* X __attribute__((readonly, aligned(16))), __attribute__((writeonly)) float* Y,
                     int n __attribute__((multipleof(4)))) { *(Y + 0 ... 4) = *(X + 0 ... 4) * n; }"""
    x, y = torch.tensor([1.0, -2.0, 3.0, -4.0]), torch.zeros(4)
    run(text, x, y, 4)
    same(y, [4, -8, 12, -16])
    run(text, x, y, 3)
    same(y, [3, -6, 9, -12])


def test_atomic_add_is_a_macro_that_names_a_function() -> None:
    out = torch.arange(8.0).reshape(2, 4)
    text = """void f(TYPE* out, int n) {
      TYPE* pc[TM, TN] = out + (0 ... TM)[:, newaxis] * TN + (0 ... TN)[newaxis, :];
      TYPE c[TM, TN] = 10;
      bool check[TM, TN] = ((0 ... TN) < n)[newaxis, :];
      atomic_add(TYPE, TM, TN)(pc, c, check);
    }"""
    run(text, out, 3, defines={"TM": 2, "TN": 4, "TYPE": torch.float32})
    same(out, [10, 11, 12, 3, 14, 15, 16, 7])


def test_positions_are_of_the_users_text_through_macros() -> None:
    message = refused(
        "#define STRIDE lda\n\n" + kernel_of("*out = STRIDE;"), "kernel.c:4:8", "expanded from STRIDE"
    )
    assert "lda" in message
