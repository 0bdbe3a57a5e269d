"""Section 5: declarations, scopes, control flow."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import pytriton
from tests.specification.asking import Row, kernel_of, ptx, refused, row, run, same, warned

ROWS = [
    row("a declaration without initialiser", "int", "int x; x = 4; int result = x;", 4),
    row("a block without initialiser", "int[4]", "int result[4]; result = n;", [-3] * 4, n=-3),
    row("inner blocks open scopes", "int", "int x = 1; { int x = 2; x += 5; } int result = x;", 1),
    row("an inner block assigns to the outer name", "int", "int result = 1; { result = 2; }", 2),
    row("a shadowing declaration of another type", "float", "int x = 7; float y; { float x = 2.5f; y = x; }"
        " float result = x / 2 + y;", 5.5),
    row("of another shape", "int",
        "int x = 7; int y; { int x[4] = 0 ... 4; y = x[+]; } int result = x * 10 + y;", 76),
    row("a pointer shadows a number", "float",
        "int x = 1; float y; { float* x = X + 1; y = *x; } float result = y + x;", 3.0,
        X=[1.0, 2.0]),
    row("a declaration in a loop body shadows", "int",
        "bool c[4] = 0 ... 4 < 2; int s = 0; for (int i = 0; i < 3; i += 1)"
        " { bool c[4] = 0 ... 4 <= i; s += c[+]; } int result = s * 10 + c[+];", 62),
    row("and starts anew in every turn", "int",
        "int s = 0; for (int i = 0; i < 3; i += 1) { int t = 1; t += i; s += t; }"
        " int result = s;", 6),
    row("the loop's own name shadows", "int",
        "int i = 50; for (int i = 0; i < 3; i += 1) ; int result = i;", 50),
    row("a shadow of a shadow", "int",
        "int x = 1; { int x = 2; { int x = 3; x += 1; } x += 10; } int result = x;", 1),
    row("a shadow initialised from an outer name of another name", "int",
        "int x = 3; int y; { int z = x; int x = z * 2; y = x; }"
        " int result = y * 10 + x;", 63),
    row("an inner name in both arms of an if", "int",
        "int r; if (n > 0) { float t = 1.5f; r = t * 2; } else { int t[4] = 3;"
        " r = t[+]; } int result = r;", 12, n=-1),
    row("the same name in two arms of #if", "int",
        "#if N > 2\nint x[N] = 0 ... N;\n#else\nint x = N;\n#endif\n"
        "#if N > 2\nint result = x[+];\n#else\nint result = x;\n#endif\n", 6, defines={"N": 4}),
    row("the other arm", "int", "#if N > 2\nint x[N] = 0 ... N;\n#else\nint x = N;\n#endif\n"
        "#if N > 2\nint result = x[+];\n#else\nint result = x;\n#endif\n", 2, defines={"N": 2}),
    row("a scope of a macro", "int", "int result = 5; SWAP(a, b); result = a * 10 + b;", 21,
        before="int a = 1; int b = 2;",
        top="#define SWAP(x, y) do { int t = x; x = y; y = t; } while (0)"),
    row("an expression statement", "int", "int result = 4; result; 3 + 4;", 4),
    row("if on a number: != 0", "int", "int result = 1; if (a) result = 2;", 2, a=-4),
    row("if on a float", "int", "int result = 1; if (f) result = 2;", 2, f=0.25),
    row("if on minus zero", "int", "int result = 1; if (f) result = 2;", 1, f=-0.0),
    row("if on a 1-element reduction", "int", "int result = 1; if ((x > 2)[max]) result = 2;", 2, x=[1, 3]),
    row("else if", "int",
        "int result; if (a < 0) result = 1; else if (a == 0) result = 2; else result = 3;", 2, a=0),
    row("else goes with the nearest if", "int",
        "int result = 1; if (a > 0) if (a > 5) result = 2; else result = 3;", 3, a=1),
    row("and with no if outside it", "int",
        "int result = 1; if (a > 0) if (a > 5) result = 2; else result = 3;", 1, a=-1),
    row("an if that assigns a narrower value", "int",
        "char result_ = 1; if (a) result_ = 300; int result = result_;", 44, a=1),
    row("an if that assigns a block", "int[2]", "int x[2] = 1; if (a) x = 0 ... 2; int result[2] = x;", [0,
        1], a=1),
    row("an if in one arm only", "float", "float result = 1; if (a) { } else result = 2.5f;", 2.5, a=0),
    row("for counts", "int", "int result = 0; for (int i = 0; i < n; i += 1) result = result * 10 + i;",
        123, n=4),
    row("for counts down", "int",
        "int result = 0; for (int i = n; i > 0; i -= 2) result = result * 10 + i;", 531, n=5),
    row("the test comes first", "int", "int result = 7; for (int i = 0; i < n; i += 1) result = 0;", 7, n=0),
    row("nor a turn of a negative bound", "int",
        "int result = 7; for (int i = 0; i < n; i += 1) result = 0;", 7, n=-5),
    row("<=, a step that oversteps", "int",
        "int result = 0; for (int i = 1; i <= n; i += 3) result = result * 10 + i;", 147, n=8),
    row("!= as test", "int", "int result = 0; for (int i = 0; i != n; i += 2) result += 1;", 3, n=6),
    row("the counter after the loop", "int", "int i; for (i = 0; i < n; i += 3) ; int result = i;", 9, n=7),
    row("the counter of a loop without a turn", "int",
        "int i; for (i = 4; i < n; i += 3) ; int result = i;", 4, n=1),
    row("a body that changes the counter", "int",
        "int result = 0; for (int i = 0; i < n; i += 1) { i += 1; result += i; }",
        1 + 3 + 5, n=6),
    row("a body that changes the bound", "int",
        "int result = 0; for (int i = 0; i < n; i += 1) { if (i == 2) n = 5; result += 1; }",
        5, n=10),
    row("a body that changes the step", "int",
        "int s = 1; int result = 0; for (int i = 0; i < n; i += s) { s *= 2; result += 1; }",
        4, n=15),
    row("a step by multiplication", "int", "int result = 0; for (int i = 1; i < n; i *= 2) result += i;",
        15, n=16),
    row("a long counter", "int",
        "int result = 0; for (long i = 4000000000; i < 4000000003; i += 1) result += 1;", 3),
    row("an unsigned counter", "int",
        "int result = 0; for (unsigned i = 4000000000u; i < 4000000003u; i += 1) result += 1;", 3),
    row("a char counter that wraps", "int",
        "int result = 0; for (char i = 126; i > 0; i += 1) result += 1;", 2),
    row("a float counter", "int", "int result = 0; for (float t = 0; t < 1; t += 0.25f) result += 1;", 4),
    row("two counters", "int",
        "int result = 0; int j = 10; for (int i = 0; i < j; i += 1, j -= 1) result += 1;", 5),
    row("every part empty", "int", "int result = 0; for (;;) { result += 3; if (result > 8) break; }", 9),
    row("parts empty", "int", "int result = 0; for (; result < 5;) result += 2;", 6),
    row("an empty body", "int", "int i = 0; for (; i < 5; i += 2) ; int result = i;", 6),
    row("an empty body of braces", "int", "int i = 0; for (; i < 5; i += 2) { } int result = i;", 6),
    row("nested loops", "int",
        "int result = 0; for (int i = 0; i < n; i += 1) for (int j = i; j < n; j += 1) result += j;",
        (0 + 1 + 2) + (1 + 2) + 2, n=3),
    row("consecutive loops over one name", "int",
        "int result = 0; for (int i = 0; i < 3; i += 1) result += i;"
        " for (int i = 5; i < 7; i += 1) result += i;", 14),
    row("while", "int", "int result = 0; while (n > 0) { n /= 2; result += 1; }", 4, n=9),
    row("while on a number", "int", "int result = 0; while (n) { n -= 1; result += 2; }", 6, n=3),
    row("do while runs once at least", "int", "int result = 0; do { result += 1; } while (n > 5);", 1, n=0),
    row("do while", "int", "int result = 0; do result += n; while (--n > 0);", 6, n=3),
    row("break", "int",
        "int result = 0; for (int i = 0; i < 10; i += 1) { if (i == n) break; result += i; }", 6, n=4),
    row("the counter after a break", "int",
        "int i; for (i = 0; i < 10; i += 1) { if (i == n) break; } int result = i;", 4, n=4),
    row("break leaves the inner loop only", "int",
        "int result = 0; for (int i = 0; i < 3; i += 1) { for (int j = 0; ; j += 1) {"
        " if (j > i) break; result += 1; } }", 6),
    row("continue takes the step", "int",
        "int result = 0; for (int i = 0; i < 6; i += 1) { if (i % 2) continue; result += i; }", 6),
    row("continue in while", "int",
        "int result = 0; while (n > 0) { n -= 1; if (n == 2) continue; result += n; }", 1 + 3 + 4,
        n=5),
    row("continue in do while tests", "int",
        "int result = 0; do { n -= 1; if (n == 2) continue; result += n; } while (n > 0);",
        1 + 3 + 4, n=5),
    row("break and continue in one loop", "int",
        "int result = 0; for (int i = 0; ; i += 1) { if (i < 3) continue;"
        " if (i > 5) break; result = result * 10 + i; }", 345),
    row("a variable assigned in a loop keeps its type", "int",
        "char c = 100; for (int i = 0; i < n; i += 1) c = c + 100;"
        " int result = c;", 300 - 256, n=2),
    row("keeps half", "half", "half h = 2048; for (int i = 0; i < n; i += 1) h = h + 1; half result = h;",
        2048, n=4),
    row("keeps its shape", "int[2, 2]",
        "int x[2, 2] = 0; for (int i = 0; i < n; i += 1) x = i; int result[2, 2] = x;", [2] * 4, n=3),
    row("an int initialised by a literal grows to no long", "int",
        "int x = 1; for (int i = 0; i < n; i += 1) x = x * 65536;"
        " int result = x;", 0, n=2),
    row("a long stays one", "long",
        "long x = 1; for (int i = 0; i < n; i += 1) x = x * 65536; long result = x;", 1 << 32, n=2),
    row("a bool stays one", "int", "bool b = 0; for (int i = 0; i < n; i += 1) b = i; int result = b + b;",
        2, n=5),
    row("a float assigned an int stays one", "float",
        "float x = 1; for (int i = 0; i < n; i += 1) x = i; float result = x / 4;", 0.5,
        n=3),
    row("a pointer block advanced stays one", "float",
        "float* p[2] = X + 0 ... 2; float s = 0; for (int i = 0; i < n; i += 1)"
        " { float v[2] = *p; s = s * 10 + v[+]; p += 2; } float result = s;", 37.0, X=[1.0, 2.0, 3.0, 4.0],
        n=2),
    row("a scalar pointer advanced", "float",
        "float* p = X; float s = 0; for (int i = 0; i < n; i += 1) { s += *p; p += 1; }"
        " float result = s;", 3.0, X=[1.0, 2.0, 100.0], n=2),
    row("pointers swapped in a loop", "float",
        "float* p = X; float* q = X + 1; for (int i = 0; i < n; i += 1) { float* t = p; p = q;"
        " q = t; } float result = *p;", 2.0, X=[1.0, 2.0], n=3),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows(row: Row) -> None:
    row.hold()


STORES = [
    ("to a name's pointer", "*(out + 0 ... 4) = 0 ... 4;", [0, 1, 2, 3]),
    ("the value is converted to the pointed-to type", "*out = 300.7f; *(out + 1) = -1.5f;", [300, -1, 9, 9]),
    ("and broadcast to the pointer's shape", "*(out + 0 ... 4) = a;", [5, 5, 5, 5]),
    ("a masked store", "*?(0 ... 4 < 2)(out + 0 ... 4) = a;", [5, 5, 9, 9]),
    ("a number as mask", "*?(0 ... 4 - 1)(out + 0 ... 4) = a;", [5, 9, 5, 5]),
    ("a scalar mask that is false", "*?(a < 0)(out + 0 ... 4) = 1;", [9, 9, 9, 9]),
    ("a block of lower rank", "*(out + (0 ... 2)[:, newaxis] * 2 + (0 ... 2)[newaxis, :]) = 7 + 0 ... 2;",
    [7, 8, 7, 8]),
    ("a mask of lower rank",
    "*?(0 ... 2 > 0)(out + (0 ... 2)[:, newaxis] * 2 + (0 ... 2)[newaxis, :]) = 1;", [9, 1, 9, 1]),
    ("compound assignment through a pointer", "*(out + 0 ... 4) += 0 ... 4;", [9, 10, 11, 12]),
    ("of a masked store", "*?(0 ... 4 < 2)(out + 0 ... 4) -= a;", [4, 4, 9, 9]),
    ("return ends the program", "*out = 1; return; *out = 2;", [1, 9, 9, 9]),
    ("return within an if", "if (a > 3) return; *out = 2;", [9, 9, 9, 9]),
    ("return in an else", "if (a < 3) *out = 1; else return; *out = 2;", [9, 9, 9, 9]),
    ("return behind stores in a nested if",
    "if (a) { *out = 1; if (a == 5) { *(out + 1) = 1; return; } } *out = 2;", [1, 1, 9, 9]),
    ("statements in order", "*out = 1; int x = *out; *out = 2; *(out + 1) = x;", [2, 1, 9, 9]),
    ("a read and a write of one block of pointers", "int* p[4] = out + 0 ... 4; *p = *p * 2; *p = *p + 1;",
    [19] * 4),
]  # fmt: skip


@pytest.mark.parametrize(("says", "body", "want"), STORES, ids=[x[0] for x in STORES])
def test_stores_and_returns(says: str, body: str, want: list[int]) -> None:
    out = torch.full((4,), 9, dtype=torch.int32)
    run(f"void f(int* out, int a) {{ {body} }}", out, 5)
    same(out, want)


def test_return_in_a_loop_ends_the_program() -> None:
    text = """void f(int* out, int n) {
      for (int i = 0; i < 3; i += 1) {
        for (int j = 0; j < 2; j += 1) { *(out + i * 2 + j) = 1; if (i * 2 + j == n) return; }
      }
      *out = 7;
    }"""
    for n, want in ((2, [1, 1, 1, 0, 0, 0]), (9, [7, 1, 1, 1, 1, 1])):
        out = torch.zeros(6, dtype=torch.int32)
        run(text, out, n)
        same(out, want)


REFUSED = [
    (kernel_of("int x = 1; float x = 2;"), "x", "declared"),
    (kernel_of("int a = 1;"), "a", "declared"),
    (kernel_of("for (int i = 0; i < 2; i += 1) { int t = 1; int t = 2; }"), "t", "declared"),
    (kernel_of("int m[4] = 0 ... 4; if (m > 2) *out = 1;"), "if", "? a : b"),
    (kernel_of("int m[4] = 0 ... 4; if (m > 2) *out = 1;"), "block", "*?("),
    (kernel_of("int m[4] = 0 ... 4; while (m > 2) *out = 1;"), "while", "block"),
    (kernel_of("break;"), "break", "loop"),
    (kernel_of("continue;"), "continue", "loop"),
    (kernel_of("return a;"), "return", ""),
    (kernel_of("{ int x = 1; } *out = x;"), "x", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "first", "second"), REFUSED)
def test_refused(text: str, first: str, second: str) -> None:
    refused(text, first, second)


def test_a_second_declaration_shows_both_places() -> None:
    message = refused(kernel_of("int x = 1;\nfloat x = 2;"), "kernel.c:3", "kernel.c:2")
    assert message.count("^") >= 2


def test_a_value_read_before_it_is_assigned_draws_a_warning() -> None:
    assert len(warned(kernel_of("int x; *out = x;"))) == 1
    assert not warned(kernel_of("int x; x = 1; *out = x;"))


class TestPrefetch:
    """Operands loaded before the loop and again at its end: the last of those loads must not happen."""

    TEXT = """
    void f(float* X, float* Y, int K) {
      float* p[16] = X + 0 ... 16;
      float c[16] = 0;
      float a[16] = *p;
      for (int k = K; k > 0; k -= 16) {
        c += a * a;
        p += 16;
        a = *p;
      }
      *(Y + 0 ... 16) = c;
    }"""

    def test_numbers(self) -> None:
        x, y = torch.arange(48.0) - 20, torch.zeros(16)
        for k in (48, 16, 40):
            run(self.TEXT, torch.cat([x, torch.full((16,), torch.nan)]), y, k)
            same(y, (x.reshape(3, 16)[: -(-k // 16)] ** 2).sum(0))

    def test_no_load_stands_at_the_end(self) -> None:
        lines = pytriton.translate(self.TEXT).text.split("\n")
        loop = next(at for at, line in enumerate(lines) if line.lstrip().startswith("for "))
        assert "tl.load" in lines[loop + 1]
        assert sum("tl.load" in line for line in lines) == 1

    def test_it_is_pipelined(self) -> None:
        dot = """
        void f(half* A, half* B, float* C, int K) {
          int i[64] = 0 ... 64;
          half* pa[64, 64] = A + i[:, newaxis] * 64 + i[newaxis, :];
          half* pb[64, 64] = B + i[:, newaxis] * 64 + i[newaxis, :];
          half a[64, 64] = *pa;
          half b[64, 64] = *pb;
          float c[64, 64] = 0;
          for (int k = K; k > 0; k -= 64) {
            c += a @ b; pa += 4096; pb += 4096; a = *pa; b = *pb;
          }
          *(C + i[:, newaxis] * 64 + i[newaxis, :]) = c;
        }"""
        assert "cp.async" in ptx(dot)


def test_several_programs_each_have_variables_of_their_own() -> None:
    row("", "int[4]", "int result[4] = get_program_id(0) * 10 + 0 ... 4;",
        np.arange(3).repeat(4) * 10 + np.tile(np.arange(4), 3), programs=3).hold()  # fmt: skip
