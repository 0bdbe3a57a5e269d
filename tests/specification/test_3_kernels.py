"""Section 3: kernels, parameters, attributes and what they promise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

import pytriton
from tests.specification.asking import DTYPES, Row, kernel_of, refused, row, run, same, warned

TWO = """
typedef int number;
void first(int* out) { *out = 1; }
enum { FIVE = 5 };
__global__ void second(number* out) { *out = FIVE; }
"""


def test_the_first_kernel_is_the_default_and_any_is_picked_by_name() -> None:
    assert pytriton.translate(TWO).kernels == ("first", "second")
    for picked, want in ((None, 1), ("first", 1), ("second", 5)):
        out = torch.zeros(1, dtype=torch.int32)
        pytriton.kernel(TWO, kernel=picked)(out, grid=(1,))
        assert out.item() == want
    with pytest.raises(pytriton.CompileError, match="second"):
        pytriton.kernel(TWO, kernel="secnd")


PARAMETERS = [
    ("bool", True, 1), ("bool", False, 0), ("char", -128, -128), ("unsigned char", 255, 255), ("short",
    -32768, -32768),
    ("unsigned short", 65535, 65535), ("int", -(1 << 31), -(1 << 31)), ("unsigned", (1 << 32) - 1,
    (1 << 32) - 1),
    ("long", -(1 << 63), -(1 << 63)), ("unsigned long", (1 << 64) - 1, (1 << 64) - 1), ("half", 0.1,
    np.float16(0.1)),
    ("bfloat16", 257.0, 256), ("float", 0.1, np.float32(0.1)), ("double", 0.1, 0.1), ("long", 1, 1),
    ("long", 16, 16),
    ("double", 1, 1), ("float", -0.0, 0), ("float", float("nan"), float("nan")), ("half", float("-inf"),
    -np.inf),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "given", "want"), PARAMETERS, ids=[f"{t} {v}" for t, v, _ in PARAMETERS])
def test_parameters_of_every_scalar_type(type_: str, given: float, want: float) -> None:
    """Stored as they come, and as an operand."""
    out = torch.zeros(2, dtype=DTYPES[type_])
    run(f"void f({type_}* out, {type_} x) {{ *out = x; *(out + 1) = x / 1; }}", out, given)
    assert out.tolist() == [want, want] or bool(torch.isnan(out.float()).all())


def test_a_type_word_from_defines_for_a_scalar() -> None:
    out = torch.zeros(1, dtype=torch.float16)
    run("void f(TYPE* out, TYPE scale) { *out = scale * 2; }", out, 0.1, defines={"TYPE": torch.float16})
    same(out, np.float16(0.1) * np.float16(2))


ROWS = [
    row("parameters are assignable", "int", "n = n / d; n += 1; int result = n;", -2, n=-7, d=2),
    row("a parameter that a block's shape once was: int", "int[4]", "n * 2 + 0 ... 4", [6, 7, 8, 9], n=3),
    row("pointers are assignable", "float", "X = X + 1; X += 1; float result = *X;", 3.0, X=[1.0, 2.0, 3.0]),
    row("a bool parameter is a truth value", "int", "b + b", 2, b=True),
    row("a parameter of the value 1 is no other type", "long", "n * 3000000000", 3000000000, n=np.int64(1)),
    row("int parameters are 32 bits: they wrap", "int", "n * n", 0, n=65536),
    row("and are 32 bits where a long is wanted", "long", "n * n", 0, n=65536),
    row("a static const int at file scope", "int[6]", "0 ... (T / 2)", range(6),
        top="static const int T = 12;"),
    row("of arithmetic", "int", "B", -3, top="static const int A = 7;\nconst int B = -A / 2;"),
    row("extern prototypes of built-ins are ignored", "int", "get_program_id(0) + 4", 4,
        top="extern int get_program_id(int);\nextern void atomic_add_float(float*, float);"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows(row: Row) -> None:
    row.hold()


SPELLINGS = [
    "float* X __readonly __noalias __aligned(16), float* Y __writeonly, int n __multipleof(8) __retune",
    "__readonly __noalias __aligned(16) float* X, __writeonly float* Y, __multipleof(8) __retune int n",
    "__readonly float* X __aligned(16), __noalias float* restrict Y, const int n __multipleof(DIV)",
    "float* __restrict__ X, float *Y __aligned(AL), int n __multipleof(DIV/2) __multipleof(DIV)",
    "float*X __attribute__((aligned(AL))), float*__attribute__((noalias)) Y,int n __attribute__((multipleof(8)))",
]


@pytest.mark.parametrize("parameters", SPELLINGS)
def test_attributes_before_and_behind_the_name(parameters: str) -> None:
    text = f"void f({parameters}) {{ *(Y + 0 ... 4) = *(X + 0 ... 4) * n; }}"
    x, y = torch.tensor([1.0, -2, 3, 4]), torch.zeros(4)
    run(text, x, y, -16, defines={"DIV": 8, "AL": 16})
    same(y, [-16, 32, -48, -64])
    run(text, x, y, 12, defines={"DIV": 8, "AL": 16})
    same(y, [12, -24, 36, 48])


class TestPromises:
    """A broken one is dropped for that launch, with a warning; it holds for the value that was passed."""

    @pytest.mark.parametrize("value", [0, 8, -8, 24, 4, -1])
    def test_multiples(self, value: int) -> None:
        out = torch.zeros(1, dtype=torch.int32)
        run("void f(int* out, int K __multipleof(8)) { K = K / 3; *out = K; }", out, value)
        same(out, int(value / 3))

    def test_alignment_is_of_the_address(self) -> None:
        x, out = torch.arange(8.0), torch.zeros(1)
        text = "void f(float* X __aligned(16), float* out) { *out = *X; }"
        for start in range(5):
            run(text, x[start:], out)
            same(out, start)
        run(text.replace(" __aligned(16)", ""), x[1:], out)  # without the word any address will do
        same(out, 1)

    def test_a_null_pointer_is_aligned(self) -> None:
        text = "void f(float* X __aligned(16), float* out) { *out = X ? 1 : 2; }"
        for absent in (None, 0, torch.empty(0)):
            out = torch.zeros(1)
            run(text, absent, out)
            same(out, 2)

    @pytest.mark.parametrize("loaded", [8, 3, -5, 0])
    def test_a_promise_on_a_local_never_changes_a_value(self, loaded: int) -> None:
        """The promise is broken for 3 and -5, and still the numbers are right."""
        d, x, out = torch.tensor([loaded], dtype=torch.int32), torch.arange(64.0), torch.zeros(4)
        text = """void f(int* D, float* X, float* out) {
          int inc __multipleof(8) = *D;
          float* p[4] = X + 16 + 0 ... 4;
          p += inc;
          *(out + 0 ... 4) = *p + inc;
        }"""
        run(text, d, x, out)
        same(out, torch.arange(4) + 16 + 2 * loaded)

    def test_no_arithmetic_stands_for_a_promise_on_a_local(self) -> None:
        text = "void f(int* D, int* out) { int inc __multipleof(8) = *D; *(out + inc + 0 ... 4) = inc; }"
        assert "// 8" not in pytriton.translate(text).text


def test_reads_and_writes_come_from_loads_and_stores() -> None:
    """X is stored through ``__readonly``, Y read through ``__writeonly``, Z not touched."""
    text = """void f(float* X __readonly, float* Y __writeonly, float* Z, float* W __noalias) {
      float* p = X + 1;
      *p = *Y;
      *W = 1;
    }"""
    translation = pytriton.translate(text)
    assert (translation.reads, translation.writes) == (("Y",), ("X", "W"))
    x, y, z, w = torch.zeros(2), torch.tensor([3.0]), torch.zeros(1), torch.zeros(1)
    run(text, x, y, z, w)
    same(x, [0, 3])


def test_a_store_through_readonly_draws_a_warning() -> None:
    notes = warned("void f(float* X __readonly) { *X = 1; }")
    assert len(notes) == 1
    assert "X" in notes[0]
    assert "readonly" in notes[0]


def test_a_load_through_writeonly_draws_a_warning() -> None:
    notes = warned("void f(float* X, float* Y __writeonly) { *X = *Y; }")
    assert len(notes) == 1
    assert "Y" in notes[0]


def test_no_pass_relies_on_a_readonly_that_does_not_hold() -> None:
    """X and Y are one tensor: the load behind the store must see it, whatever the words say."""
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    text = """void f(float* X __readonly, float* Y __readonly) {
      for (int i = 0; i < 3; i += 1) { *(X + i + 1) = *(Y + i) + 1; }
    }"""
    with warnings.catch_warnings(action="ignore"):
        run(text, x, x)
    same(x, [1, 2, 3, 4])
    x = torch.tensor([5.0, 0.0, 0.0, 0.0])
    run(text, x, x)
    same(x, [5, 6, 7, 8])


REFUSED = [
    (kernel_of(";", "int m, int n __multipleof(m)"), "m"),
    (kernel_of(";", "int n __multipleof(0)"), "0"),
    (kernel_of(";", "float* X __aligned(3)"), "3"),
    (kernel_of(";", "float* X __readony"), "__readonly"),
    (kernel_of(";", "int x[4]"), "x"),
    ("int n;\n" + kernel_of(";"), "n"),
    ("n = 4;\n" + kernel_of(";"), "n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "word"), REFUSED)
def test_what_is_refused_is_named(text: str, word: str) -> None:
    refused(text, word)
