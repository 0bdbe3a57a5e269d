"""Literals, constants, shapes and `#if` conditions that overflow, divide by zero or make no sense."""

from __future__ import annotations

import pytest

from tests.hostile.attempts import attempt, kernel


@pytest.mark.parametrize(
    "literal",
    [
        *("9" * 19, "9" * 20, "9" * 200, "9" * 201, "9" * 100_000, "0x" + "f" * 5_000, "0b" + "1" * 70),
        *("1" * 300 + ".0", "1e999999999", "1e-999999999", "1e" + "9" * 5_000, "0x1p99999999", "1.5" * 100),
        *(
            "0" * 100_000,
            "0.0" + "0" * 100_000 + "1",
            "1" + "_" * 100,
            "1.e",
            "0x",
            "0b",
            "09",
            "'\\x" + "f" * 99 + "'",
        ),
    ],
    ids=lambda text: f"{text[:8]}-{len(text)}",
)
@pytest.mark.sampled(6)
def test_literals(literal: str) -> None:
    attempt(kernel(f"*X = {literal};"))
    attempt(kernel(f"int r[{literal}] = 0; *X = r[+];"))
    attempt(kernel(f"int r[4] = {literal} ... {literal} + 4; *(X + r) = 1;"))
    attempt(kernel("*X = n;", f"float* X __aligned({literal}), int n __multipleof({literal})"))
    attempt(f"#if {literal}\n#endif\n" + kernel("*X = n;"))
    attempt(f"enum {{ A = {literal}, B }};" + kernel("*X = A;"))
    attempt(kernel("*X = TM;"), {"TM": literal})
    attempt(kernel("int r[TM] = 0 ... TM; *X = r[+];"), {"TM": literal})
    attempt(kernel(f"int i = get_program_id({literal}); *X = i;"))


TRAPS = r"""
1 / 0
1 % 0
0 / 0
(-9223372036854775807 - 1) / -1
(-9223372036854775807 - 1) % -1
1 << 64
1 << -1
1 << 9223372036854775807
1 >> 99999
-1 << 63
0 && 1 / 0
1 || 1 << 99
1 ? 2 : 1 / 0
18446744073709551616
1e9
"a"
'a
''
'\xffff'
defined
defined(
(
defined()
1 +
+
()
1 2
= 1
a = 1
f(1)
__VA_ARGS__
##
#
1 ?
1 ? :
""".strip().splitlines()
TRAPS += ["\\"]


@pytest.mark.parametrize("condition", TRAPS)
def test_if_traps(condition: str) -> None:
    attempt(f"#if {condition}\n#endif\n" + kernel("*X = 1;"))
    attempt(f"#if 0\n#elif {condition}\n#endif\n" + kernel("*X = 1;"))
    attempt("#if D\n#endif\n" + kernel("*X = 1;"), {"D": condition})


ARITHMETIC = r"""
1 / 0
1 % 0
n / 0
1 << 99
1 << -1
n << 1000000000
1 >> 32
2147483647 + 1
(-2147483647 - 1) / -1
(-2147483647 - 1) % -1
-(-9223372036854775807 - 1)
1.0 / 0
0.0 / 0.0
(int)1e300
(char)99999
(half)1e30
(int)INFINITY
INFINITY - INFINITY
(bool)1e300
(long)1 << 63 << 1
1 << 31 << 1
~0 >> 40
TM / (TM - TM)
TM % (TM - TM)
TM << TM << TM
1.5 % 2
1e308 * 10
1e308 * 1e308
bitcast<float>(0x7fc00000)
bitcast<int>(0.0f / 0.0f)
""".strip().splitlines()


@pytest.mark.parametrize("expression", ARITHMETIC)
def test_arithmetic_traps(expression: str) -> None:
    attempt(kernel(f"*X = {expression};"), {"TM": 64})
    attempt(kernel(f"int r[{expression}] = 0; *X = 1;"), {"TM": 64})
    attempt(f"static const int T = {expression};" + kernel("*X = T;"), {"TM": 64})
    attempt(f'_Static_assert({expression}, "");' + kernel("*X = 1;"), {"TM": 64})


SHAPES = r"""
1 << 20
1 << 21
1 << 30
1 << 62
0
-1
65536, 65536
2147483647, 2147483647
1048577
n
""".strip().splitlines()


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: str) -> None:
    attempt(kernel(f"float x[{shape}] = 0; *X = 1;"))
    attempt(kernel(f"*X = ((float[{shape}])n)[+];"))
    attempt(kernel(f"*X = sizeof(float[{shape}]);"))
    attempt(kernel("int r[S] = 0; *X = 1;"), {"S": shape})


def test_ranges() -> None:
    for bounds in ("0 ... 1 << 40", "0 ... 2147483647", "-2147483648 ... 2147483647", "4 ... 4", "9 ... 0"):
        attempt(kernel(f"*(X + {bounds}) = 1;"))
