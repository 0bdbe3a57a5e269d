"""Every disagreement that the fuzzer found, with the smallest programs that show it.

An open one is a form that the generator leaves out of a usual run, so that a new fault is seen (``--all`` puts it
in), and a strict expected failure of test_found.py: when the translator is mended the test says so, and ``open``
goes. The mended ones stay as ordinary tests.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FOUND", "OPEN", "Found"]


@dataclass(frozen=True, slots=True)
class Found:
    """Kernels that failed: each ``(text, X, type of X)``; parameters are Y (zeros like X) and X, in this order.

    The initialiser of a variable called ``exact`` has the declared type: no conversion is needed.
    """

    about: str
    programs: tuple[tuple[str, list[int] | list[float], str], ...]
    open: bool = False


INTS = list(range(100, 116))

FOUND: dict[str, Found] = {
    "odd": Found(
        "sizes that are not powers of two are refused (TC407)",
        (("void f(int *Y, int *X) { int r[3] = 0 ... 3; *(Y + r) = *(X + r); }", INTS, "int32"),),
    ),
    "constant_compares": Found(
        "casts are lost beside a literal of a comparison",
        (
            ("void f(int *Y, int *X) { *Y = *X < 1ul; }", [-2], "int32"),
            ("void f(long *Y, long *X) { *Y = (int)(*X * 0x40000001) < 0; }", [2], "int64"),
        ),
    ),
    "counters": Found(
        "the counter of a range loop is a Python int on the interpreter",
        (
            (
                "void f(int *Y, int *X) { for (int i = 0; i < 4; i++) *(Y + i) = i * 65536 * 65536 / 3; }",
                INTS,
                "int32",
            ),
            (
                "void f(int *Y, int *X) { for (int i = 0; i < 4; i++) *(Y + i) = (i << 30) >> 30; }",
                INTS,
                "int32",
            ),
        ),
    ),
    "unsigned_minus": Found(
        "unary operators on unsigned constants leave their width",
        (
            ("void f(int *Y, int *X) { bool b = ~0xffffffff; *Y = b; }", [0], "int32"),
            ("void f(int *Y, int *X) { unsigned long v = -3ul; *Y = v >> 60; }", [0], "int32"),
        ),
    ),
    "integer_fma": Found(
        "fma of integers",
        (
            (
                "void f(int *Y, int *X) { int r[4] = 0 ... 4; *(Y + r) = fma(*(X + r), 3, r); }",
                [-5] * 4,
                "int32",
            ),
        ),
    ),
    "constant_masks": Found(
        "an atomic on a scalar pointer with a constant mask",
        (("void f(int *Y, int *X) { atomic_add(Y, *X, (bool)1); }", [3], "int32"),),
    ),
    "reshaped_loads": Found(
        "the mask of ?: goes through a permutation, a reduction, @ as it is",
        (
            (
                "void f(int *Y, int *X) { int r[4] = 0 ... 4; int i[4, 4] = r[:, newaxis] * 4 + r[newaxis, :];"
                " *(Y + i) = i < 6 ? ^(*(X + i)) : -1; }",
                INTS,
                "int32",
            ),
            (
                "void f(int *Y, int *X) { int r[4] = 0 ... 4; int i[4, 4] = r[:, newaxis] * 4 + r[newaxis, :];"
                " *(Y + r) = r < 2 ? (*(X + i))[:, +] : -1; }",
                INTS,
                "int32",
            ),
            (
                "void f(int *Y, int *X) { int r[4] = 0 ... 4; int i[4, 4] = r[:, newaxis] * 4 + r[newaxis, :];"
                " *(Y + i) = i < 6 ? (*(X + r))[:, newaxis] : -1; }",
                INTS,
                "int32",
            ),
        ),
    ),
    "constant_floats": Found(
        "arithmetic on constants of a narrow floating type is done in Python's double",
        (("void f(double *Y, double *X) { *Y = *X + ((bfloat16)1.5f + 0.1); }", [0.25], "float64"),),
    ),
    "weak_doubles": Found(
        "a weak literal stored as double",
        (
            ("void f(double *Y, double *X) { *Y = 1.0f / 30.0f; }", [0.25], "float64"),
            ("void f(double *Y, double *X) { int r[2] = 0 ... 2; *(Y + r) = 0.1; }", [0.25, 0.5], "float64"),
            ("void f(double *Y, double *X) { *Y = 0.1 + 0.2; }", [0.25], "float64"),
        ),
    ),
    "narrow_compares": Found(
        "one-element blocks of bfloat16 compared",
        (
            (
                "void f(int *Y, int *X) { int v[8] = (float[8])((bfloat16[1])1.5f < (bfloat16[1])1.5f);"
                " *(Y + 0 ... 8) = v; }",
                [1] * 8,
                "int32",
            ),
        ),
    ),
    "converted_constants": Found(
        "a constant of unsigned converted to int",
        (
            (
                "void f(int *Y, int *X) { int pid = get_program_id(0); int v[4] = (bool)1 ? (int)~1u : pid;"
                " *(Y + 0 ... 4) = v; }",
                [1] * 4,
                "int32",
            ),
        ),
    ),
    "zero_otherwise": Found(
        "-0.0 as what a masked-off scalar load gives",
        (("void f(float *Y, float *X) { float z = *X; *Y = z == 0 ? -z : *X; }", [0.0], "float32"),),
    ),
    "padded_chars": Found(
        "a product of char blocks that are padded",
        (
            (
                "void f(int *Y, int *X) { int r[5] = 0 ... 5; bool b[5, 5] = ((int[5, 5, 5])1)[+, :, :];"
                " int v[5, 5] = (char)b @ (char[5, 5])1; *(Y + r[:, newaxis] * 5 + r[newaxis, :]) = v; }",
                [0] * 25,
                "int32",
            ),
        ),
    ),
    "narrow_floors": Found(
        "floor, ceil and fabs of half and bfloat16: their common type is half, not float (language.md 6)",
        (
            (
                "void f(half *Y, half *X) { half exact = floor(*X) / *(X + 1); *Y = exact; }",
                [10.0, 3.0],
                "float16",
            ),
            (
                "void f(half *Y, half *X) { half exact = fabs(*X) / *(X + 1); *Y = exact; }",
                [10.0, 3.0],
                "float16",
            ),
        ),
    ),
    "float_defines": Found(
        "a float constant as the other value of a double load goes by way of float",
        (("void f(double *Y, double *X) { *Y = *X < 0 ? *X : (double)KF; }", [1.0], "float64"),),
    ),
    "cast_defines": Found(
        "a float define cast to half was not rounded beside double",
        (("void f(double *Y, double *X) { *Y = (half)(KF) + *X + 1.5; }", [1.0], "float64"),),
    ),
    "rounded_constants": Found(
        "floats of constants were computed in Python's double and rounded once (seed 930105 on a GPU)",
        (
            ("void f(float *Y, float *X) { *Y = (KF + 1.0f) * KF; }", [1.0], "float32"),
            ("void f(int *Y, int *X) { *Y = 1.0f / 3 < 0.33333334f; }", [1], "int32"),
        ),
    ),
    "broadcast_atomics": Found(
        "the interpreter of Triton 3.6 to 3.8 reads the operands of an atomic as if they lay side by side",
        (("void f(int *Y, int *X) { atomic_add(Y + 0 ... 8, (int[8])(int[1])*X); }", [5] * 8, "int32"),),
    ),
    "unsigned_inverted": Found(
        "the interpreter of Triton 3.6 to 3.8 asks NumPy 2 for -1 in an unsigned type",
        (
            (
                "void f(int *Y, int *X) { unsigned v[8] = *(X + 0 ... 8); *(Y + 0 ... 8) = ~v >> 1; }",
                [5] * 8,
                "int32",
            ),
        ),
    ),
    "wrapping_sums": Found(
        "a sum of int32 is one of int64 to NumPy, and what does not fit was refused",
        (("void f(int *Y, int *X) { *Y = (*(X + 0 ... 4))[+]; }", [2147483647] * 4, "int32"),),
    ),
    "late_pointers": Found(
        "a pointer without an initialiser was made of 0 in 32 bits, which no Triton compiles",
        (
            (
                "void f(int *Y, int *X) { int *p; if (*X > 0) p = X; else p = X + 1; *Y = *p; }",
                [5, 6],
                "int32",
            ),
        ),
    ),
    "double_chains": Found(
        "the accumulator of a product of doubles, for which Triton up to 3.8 wants its type said",
        (
            (
                "void f(double *Y, double *X) { int r[2] = 0 ... 2;"
                " int i[2, 2] = r[:, newaxis] * 2 + r[newaxis, :];"
                " double v[2, 2] = *(X + i); v += v @ v; *(Y + i) = v; }",
                [0.5, -1.5, 2.0, 3.25],
                "float64",
            ),
        ),
    ),
    "subnormal_products": Found(
        "the evaluator took products of subnormal doubles, each rounded, for exact ones (seed 20018994)",
        (
            (
                "void f(double *Y, double *X) { int r[8] = 0 ... 8; int i[8, 8] = r[:, newaxis] * 8 + r;"
                " double least[8, 8] = bitcast<double>((long[8, 8])1);"
                " *(Y + i) = *(X + i) @ least; }",
                [1.0, 1.5] * 32,
                "float64",
            ),
        ),
    ),
    "large_choices": Found(
        "a choice of a literal and a large integer, beside a double (seed 160042665)",
        (
            (
                "void f(double *Y, double *X) { *Y = min(2.5e-3, 9223372036854775807) + *X; }",
                [0.0],
                "float64",
            ),
            ("void f(double *Y, double *X) { *Y = (float)9007199791611905 + *X; }", [0.0], "float64"),
        ),
    ),
    "barriers_that_move": Found(
        "a barrier found by a turn from before the loop hid what a later turn meets",
        (
            (
                "void f(int *Y, int *X __noalias) { int r[64] = 0 ... 64; int w[64] = 0; *(Y + r) = 1;"
                " for (int i = 0; i < 3; i++) { int v[64] = *(X + r + i * 65);"
                " *?(r < 17)(X + r + i * 65 + 64) = v + 1; if (*Y) w += *(X + r + i * 65); } *(Y + r) = w; }",
                list(range(300)),
                "int32",
            ),
        ),
    ),
}

OPEN = frozenset(name for name, found in FOUND.items() if found.open)
