"""Integers where the translator computes them: ``#if``, block sizes, static const, enum, defines, literals.

The same arithmetic, operand for operand, as at run time: division truncates toward zero, the remainder has the
sign of the dividend, int wraps at 32 bits, long at 64, and unsigned wins at equal width. ``#if`` computes in
64 bits throughout (C11 6.10.1).
"""

from __future__ import annotations

import itertools

import pytest

import pytriton
from tests.conversions.c_arithmetic import binary
from tests.conversions.c_types import DOUBLE, INT, LONG, UINT, ULONG, CType, tensor_of, values_of
from tests.conversions.probes import Probe, check

# Dividends and divisors of every sign, and the ends of int.
NUMBERS = [-(2**31) + 1, -100, -8, -7, -1, 0, 1, 2, 7, 8, 13, 2**31 - 1]
DIVISORS = [-(2**31) + 1, -9, -8, -3, -2, -1, 1, 2, 3, 7, 2**31 - 1]
PAIRS = list(itertools.product(NUMBERS, DIVISORS))
OPERATORS = ("/", "%", "+", "-", "*", "&", "|", "^", "<", ">=", "==")


def results(operator: str, pairs: list[tuple[int, int]], left: CType = INT, right: CType = INT) -> list[int]:
    return [binary(operator, a, left, b, right)[0] for a, b in pairs]


def run(device: str, text: str, count: int, **options: object) -> list[int]:
    z = tensor_of([-12345] * count, LONG, device)
    pytriton.kernel(text, **options)(z, grid=1)
    return values_of(z, LONG)


@pytest.mark.parametrize("operator", OPERATORS)
def test_literals(device: str, operator: str) -> None:
    """``(a op b)`` of two literals, stored, initialising an int, and as the operand of something else."""
    pairs = PAIRS[::3]
    wanted = results(operator, pairs)
    lines = [f"*(Z + {i}) = ({a}) {operator} ({b});" for i, (a, b) in enumerate(pairs)]
    lines += [
        f"{{ int v = ({a}) {operator} ({b}); *(Z + {len(pairs) + i}) = v; }}"
        for i, (a, b) in enumerate(pairs)
    ]
    got = run(device, "void f(long *Z) {\n" + "\n".join(lines) + "\n}", 2 * len(pairs))
    assert got == wanted + wanted


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    "mixed", ["define, define", "define, variable", "variable, define", "variable, variable"]
)
@pytest.mark.sampled(12)
def test_defines(device: str, operator: str, mixed: str) -> None:
    """Defines (constexprs) and run-time values: the same numbers in either."""
    pairs = PAIRS[::7]
    left, right = ("K" if "define" in side else "p" for side in mixed.split(", "))
    probes, numbers, defines = [], [], {}
    for i, pair in enumerate(pairs):
        wanted = results(operator, [pair])
        text = f"{left}{i}a {operator} {right}{i}b"
        probes += [
            Probe(text, INT, wanted, inputs=[pair]),
            Probe(f"({text}) + 0 * r", INT, wanted, inputs=[pair]),
        ]
        for letter, value in zip("ab", pair, strict=True):
            numbers.append((f"int p{i}{letter}", value))
            defines[f"K{i}{letter}"] = value
    check(device, "", [], probes, parameters=numbers, defines=defines)


LARGE = [2**31 - 1, 2**31, 3000000000, 2**32 - 1, 2**32, 2**63 - 1, -(2**31), -(2**31) - 1, -(2**63) + 1]


@pytest.mark.parametrize("value", LARGE)
@pytest.mark.parametrize("given", ["int", "str", "text"])
@pytest.mark.sampled(9)
def test_a_define_is_its_literal(device: str, value: int, given: str) -> None:
    """int where that holds the digits, else long: minus 2147483648 is a long."""
    kind = INT if abs(value) < 2**31 else LONG
    probes = [
        Probe(f"{side} {operator} X", LONG, [binary(operator, number, INT, value, kind)[0]])
        for operator in OPERATORS
        for side, number in (("-7", -7), ("n", -7))
    ]
    probes += [
        Probe("-X", LONG, [binary("-", 0, INT, value, kind)[0]]),
        Probe("sizeof(X)", LONG, [kind.bits // 8]),
    ]
    defines = {"text": {}, "str": {"X": str(value)}, "int": {"X": value}}[given]
    head = f"#define X {value}\n" if given == "text" else ""
    check(device, head, [], probes, parameters=[("int n", -7)], defines=defines)


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("0xffffffff", 2**32 - 1),
        ("037777777777", 2**32 - 1),
        ("-0x80000000", 2**31),
        ("0x7fffffff", 2**31 - 1),
    ],
)
def test_a_define_that_is_not_decimal(device: str, spelled: str, value: int) -> None:
    kind = INT if value < 2**31 else UINT
    probes = [Probe(f"n {op} X", LONG, [binary(op, -7, INT, value, kind)[0]]) for op in OPERATORS]
    check(device, "", [], probes, parameters=[("int n", -7)], defines={"X": spelled})


@pytest.mark.parametrize("operator", ["/", "%", ">>", "<<"])
@pytest.mark.parametrize("kind", [INT, LONG, UINT, ULONG], ids=str)
def test_static_const_and_enum(device: str, operator: str, kind: CType) -> None:
    """Constants at file scope and enumerators: negative operands, and literals with suffixes."""
    suffix = {INT: "", LONG: "l", UINT: "u", ULONG: "ul"}[kind]
    pairs = [
        (a, b)
        for a in (-100, -8, -7, -1, 0, 7, 13)
        for b in ((1, 2, 3) if operator in ("<<", ">>") else (-3, 2, 7))
    ]
    pairs = [pair for pair in pairs if kind.lowest or min(pair) >= 0]
    wanted = results(operator, pairs, kind, kind)
    texts = [f"({a}{suffix}) {operator} ({b}{suffix})" for a, b in pairs]
    head = [f"static const int S{i} = {text};" for i, text in enumerate(texts)]
    head.append("enum { " + ", ".join(f"E{i} = {text}" for i, text in enumerate(texts)) + " };")
    body = [f"*(Z + {i}) = S{i}; *(Z + {len(pairs) + i}) = E{i};" for i in range(len(pairs))]
    text = "\n".join([*head, "void f(long *Z) {", *body, "}"])
    assert run(device, text, 2 * len(pairs)) == wanted + wanted


@pytest.mark.parametrize("operator", ["/", "%"])
def test_block_sizes(device: str, operator: str) -> None:
    """``int x[a / b + 16]``: a count that depends on the rounding of a negative quotient."""
    pairs = [(-7, 2), (7, -2), (-8, 3), (-7, -2), (7, 3), (-1, 4), (-31, 4), (31, -4), (-8, 2), (-100, 9)]
    lines = []
    for i, (a, b) in enumerate(pairs):
        lines.append(f"  {{ int x[({a}) {operator} ({b}) + 16] = 1; *(Z + {i}) = x[+]; }}")
        lines.append(f"  {{ int x[D{i} {operator} E{i} + 16] = 1; *(Z + {len(pairs) + i}) = x[+]; }}")
        lines.append(f"  *(Z + {2 * len(pairs) + i}) = (0 ... (D{i} {operator} E{i} + 16))[max];")
    defines = {f"D{i}": a for i, (a, _) in enumerate(pairs)} | {f"E{i}": b for i, (_, b) in enumerate(pairs)}
    sizes = [result + 16 for result in results(operator, pairs)]
    got = run(device, "void f(long *Z) {\n" + "\n".join(lines) + "\n}", 3 * len(pairs), defines=defines)
    assert got == sizes + sizes + [size - 1 for size in sizes]


@pytest.mark.parametrize("operator", OPERATORS)
def test_if(device: str, operator: str) -> None:
    """``#if`` with a macro and literals: 64 bits, signed."""
    pairs = PAIRS[::2]
    lines = []
    for i, ((a, b), wanted) in enumerate(zip(pairs, results(operator, pairs, LONG, LONG), strict=True)):
        lines += [f"#define A ({a})", f"#if (A {operator} ({b})) == ({wanted})", f"*(Z + {i}) = 1;"]
        lines += ["#endif", "#undef A"]
    got = run(device, "void f(long *Z) {\n" + "\n".join(lines) + "\n}", len(pairs))
    assert [pair for pair, result in zip(pairs, got, strict=True) if result != 1] == []


TRUE_IN_IF = [
    "-7 / 2 == -3",
    "-7 % 2 == -1",
    "7 % -2 == 1",
    "-1 >> 1 == -1",
    "-1 > 0u",
    "-1 < 0",
    "2147483647 + 1 == 2147483648",
    "0x7fffffff + 1 > 0",
    "0xffffffff + 1 == 0x100000000",
    "1 << 40 == 1099511627776",
    "0xffffffffffffffff == -1",
    "0xffffffffffffffff / 2 == 0x7fffffffffffffff",
    "-1 / 2u > 100",
    "(-1 ? 1 : 0u) == 1",
    "(0 ? 0u : -1) > 0",
    "(2 || 1 / 0) && !(0 && 1 / 0)",
    "'a' == 97",
    "~0 == -1",
    "!-1 == 0",
    "-9223372036854775807 - 1 < 0",
    "9223372036854775807 + 0u > 9223372036854775806",
    "(M / 4 == -1) && (M % 4 == -3)",
]


@pytest.mark.parametrize("condition", TRUE_IN_IF)
def test_true_in_if(device: str, condition: str) -> None:
    text = f"void f(long *Z) {{\n#if {condition}\n*Z = 1;\n#else\n*Z = 0;\n#endif\n}}"
    assert run(device, text, 1, defines={"M": -7}) == [1]


# Expressions of several operators: each step in its own type. Values computed by hand from C's rules.
STEPS: list[tuple[str, int | float]] = [
    ("2147483647 + 1", -(2**31)),
    ("2147483647 + 1l", 2**31),
    ("2147483647 + 1u", 2**31),
    ("2147483648 + 1", 2**31 + 1),
    ("65536 * 65536", 0),
    ("65536l * 65536", 2**32),
    ("65536 * 65536 / 65536", 0),
    ("1 << 31", -(2**31)),
    ("-(1 << 31)", -(2**31)),
    ("-(-2147483647 - 1) < 0", 1),
    ("-(1l << 63)", -(2**63)),
    ("1 ? 1 + 1 : 3000000000", 2),
    ("(0 ? 0 : 0.1) + (double)0", 0.1),
    ("sizeof(int) - 5 > 0", 1),
    ("-1 < sizeof(int)", 0),
    ("0 ? 1 << 40 : 3", 3),
    ("1u << 31", 2**31),
    ("1 << 31 >> 31", -1),
    ("1u << 31 >> 31", 1),
    ("1l << 40 >> 38", 4),
    ("-1 >> 1", -1),
    ("-1l >> 63", -1),
    ("(unsigned int)-1 >> 1", 2**31 - 1),
    ("0xffffffff + 1", 0),
    ("0xffffffff + 1l", 2**32),
    ("0xffffffff > -1", 0),
    ("0xffffffffl > -1", 1),
    ("-1 < 0u", 0),
    ("-1l < 0u", 1),
    ("(char)200", -56),
    ("(char)200 + (char)200", -112),
    ("(unsigned char)200 + (unsigned char)200", 400),
    ("(unsigned char)(200 + 200)", 144),
    ("(short)40000 * (short)40000", 25536 * 25536),
    ("(unsigned short)65535 * (unsigned short)65535", 65535 * 65535 - 2**32),
    ("(bool)256 + (bool)0.5f", 2),
    ("(bool)7 == true", 1),
    ("~(bool)1", -2),
    ("-(unsigned char)1", -1),
    ("-1u / 2", 2**31 - 1),
    ("-7 / 2u", 2147483644),
    ("-7 % 4u", 1),
    ("-7l / 2u", -3),
    ("(long)2147483647 * 2147483647", (2**31 - 1) ** 2),
    ("(long)(2147483647 * 2)", -2),
    ("(int)4294967297l", 1),
    ("(int)2147483648", -(2**31)),
    ("(unsigned int)-1 + 0l", 2**32 - 1),
    ("1 ? -1 : 0u", 2**32 - 1),
    ("(1 ? -1 : 0l) < 0", 1),
    ("5 / 2 * 2.0f", 4.0),
    ("5 / 2.0f * 2", 5.0),
    ("16777217 + 0.0f", 16777216.0),
    ("(int)(16777217 + 0.0f)", 16777216),
    ("(int)2.9f + (int)-2.9f", 0),
    ("'a' / 2", 48),
    ("3 - -3", 6),
    ("7 - 3 - 2", 2),
    ("100 / 7 / 2", 7),
    ("100 / (7 / 2)", 33),
    ("-100 / 7 % 4", -2),
    ("2 * 7 % 4", 2),
    ("!5 + !0", 1),
    ("(3 > 2 > 1)", 0),
    ("1 < 2 == 2 > 1", 1),
    ("(1 < 2) + (3 < 4)", 2),
]


def test_steps(device: str) -> None:
    """Of literals: constants, however they are folded."""
    probes = [Probe(text, LONG if isinstance(value, int) else DOUBLE, [value]) for text, value in STEPS]
    check(device, "", [], probes)


def test_steps_at_run_time(device: str) -> None:
    """The same with a parameter of 0 of the right type added to the first literal: nothing can be folded."""
    probes = []
    for text, value in STEPS:
        at = next(i for i, letter in enumerate(text) if letter.isdigit() or letter == "'")
        end = at + 1
        while end < len(text) and (text[end].isalnum() or text[end] in ".'"):
            end += 1
        word = text[at:end]
        zero = "f" if word.endswith("f") and "." in word else "u" if "u" in word else "i"
        if word.endswith("l") or word in ("2147483648", "4294967296"):
            zero = "l"
        elif word == "0xffffffff":
            zero = "u"
        changed = f"{text[:at]}({word} + {zero}){text[end:]}"
        probes.append(Probe(changed, LONG if isinstance(value, int) else DOUBLE, [value]))
    parameters = [("int i", 0), ("unsigned int u", 0), ("long l", 0), ("float f", 0.0)]
    check(device, "", [], probes, parameters=parameters)
