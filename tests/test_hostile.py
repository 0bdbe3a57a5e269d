"""Texts that want to do harm: to take for ever, to crash, or to become Python.

Any text gives a translation or a ``CompileError``, in bounded time and memory. A translation holds the imports and
calls that the emitter writes and nothing else (``pytriton.runtime.gate``), whatever stands in names, defines,
comments and strings.
"""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import pytriton
from pytriton.errors import CompileError
from pytriton.runtime.gate import check_module

GOLDENS = sorted((Path(__file__).parent / "translate").glob("*/kernel.c"))
TEXTS = [path.read_text(encoding="utf-8") for path in GOLDENS]
GIVEN = [tomllib.loads((path.parent / "case.toml").read_text()).get("defines", {}) for path in GOLDENS]
DOT = next(index for index, path in enumerate(GOLDENS) if path.parent.name == "dot")
MOST_SECONDS = 5.0  # ten times what a slow machine needs


def kernel(body: str, parameters: str = "float* X, int n") -> str:
    """A kernel with this body."""
    return f"__global__ void k({parameters}) {{\n{body}\n}}\n"


def attempt(
    text: str | bytes, defines: dict[str, object] | None = None, **options: object
) -> pytriton.Translation | CompileError:
    """The translation, which is checked, or the error; neither may take long or be anything else."""
    start = time.perf_counter()
    result: pytriton.Translation | CompileError
    try:
        result = pytriton.translate(text, defines, name="k.c", **options)  # type: ignore[arg-type]
    except CompileError as error:
        result = error
    assert time.perf_counter() - start < MOST_SECONDS
    if isinstance(result, CompileError):
        assert 1 <= len(result.diagnostics) <= 20
        assert len(str(result)) < 100_000 + 4 * len(text)
        assert all(re.fullmatch(r"TC[0-4]\d\d", found.code) for found in result.diagnostics)
    else:
        ast.parse(result.text)
        check_module(result.text, "k.py")
    return result


def refused(text: str | bytes, *codes: str, **options: object) -> CompileError:
    """The error of a text that must be refused, with one of these codes first."""
    result = attempt(text, **options)  # type: ignore[arg-type]
    assert isinstance(result, CompileError), result.text
    assert not codes or result.diagnostics[0].code in codes, str(result)[:500]
    return result


def accepted(text: str | bytes, **options: object) -> pytriton.Translation:
    """The translation of a text that must be accepted."""
    result = attempt(text, **options)  # type: ignore[arg-type]
    assert not isinstance(result, CompileError), str(result)[:500]
    return result


def doubling(levels: int, arguments: bool) -> str:
    """Macros each of which doubles the one before."""
    lines = ["#define M0(x) x x" if arguments else "#define M0 n +"]
    for level in range(1, levels):
        before = f"M{level - 1}"
        body = f"(x) {before}({before}(x))" if arguments else f" {before} {before}"
        lines.append(f"#define M{level}{body}")
    use = f"M{levels - 1}(n +)" if arguments else f"M{levels - 1}"
    return "\n".join(lines) + "\n" + kernel(f"  *X = {use} 1;")


N = 10_000
NESTED = {
    "parentheses": kernel("*X = " + "(" * N + "n" + ")" * N + ";"),
    "open parentheses": kernel("*X = " + "(" * N),
    "closed parentheses": kernel("*X = n" + ")" * N + ";"),
    "brackets": kernel("*X = " + "n[" * N + ":" + "]" * N + ";"),
    "brackets behind each other": kernel("*X = n" + "[:]" * N + ";"),
    "calls": kernel("*X = " + "exp(" * N + "n" + ")" * N + ";"),
    "calls behind each other": kernel("*X = n" + "()" * N + ";"),
    "braces": kernel("{" * N + "*X = n;" + "}" * N),
    "open braces": kernel("{" * N),
    "minus": kernel("*X = " + "- " * N + "n;"),
    "not": kernel("*X = " + "!" * N + "n;"),
    "stars": kernel("*X = " + "*" * N + "X;"),
    "stars of a type": kernel("float " + "*" * N + "p = X;"),
    "carets": kernel("*X = " + "^" * N + "n;"),
    "casts": kernel("*X = " + "(float)" * N + "n;"),
    "masked loads": kernel("*X = " + "*?(n)" * N + "X;"),
    "increments": kernel("*X = " + "++ " * N + "n;"),
    "ternaries right": kernel("*X = " + "n ? 1 : " * N + "2;"),
    "ternaries in the middle": kernel("*X = " + "n ? " * N + "1" + " : 2" * N + ";"),
    "elvis": kernel("*X = " + "n ?: " * N + "1;"),
    "assignments": kernel("n = " * N + "1;"),
    "ifs": kernel("if (n) " * N + "*X = 1;"),
    "else ifs": kernel(
        "if (n == 0) *X = 0;" + "".join(f"else if (n == {i}) *X = {i};" for i in range(2_000))
    ),
    "fors": kernel("for (int i = 0; i < n; i += 1) " * N + "*X = 1;"),
    "whiles": kernel("while (n) " * N + "*X = 1;"),
    "dos": kernel("do " * N + "*X = 1;" + " while (n);" * N),
    "sizeofs": kernel("*X = " + "sizeof " * N + "n;"),
    "bitcasts": kernel("*X = " + "bitcast<int>(" * N + "n" + ")" * N + ";"),
    "shapes": kernel("float x" + "[n" * N + "]" * N + ";"),
    "enum": "enum { A = " + "(" * N + "1" + ")" * N + " };" + kernel("*X = A;"),
    "attributes": kernel("*X = 1;", "float* X " + "__readonly " * N),
    "attribute arguments": kernel("*X = 1;", "int n __multipleof(" + "(" * N + "8" + ")" * N + ")"),
    "ifs of the preprocessor": "#if 1\n" * N + kernel("*X = 1;") + "#endif\n" * N,
    "dropped ifs": "#if 0\n" + "#if 1\n" * N + "#endif\n" * N + "#endif\n" + kernel("*X = 1;"),
    "elifs": "#if 0\n" + "#elif 0\n" * N + "#endif\n" + kernel("*X = 1;"),
    "parentheses in #if": "#if " + "(" * N + "1" + ")" * N + "\n#endif\n" + kernel("*X = 1;"),
    "nots in #if": "#if " + "!" * N + "1\n#endif\n" + kernel("*X = 1;"),
    "ternaries in #if": "#if " + "1 ? " * N + "1" + " : 0" * N + "\n#endif\n" + kernel("*X = 1;"),
    "sum in #if": "#if " + "1 + " * N + "1\n#endif\n" + kernel("*X = 1;"),
    "macro calls in arguments": "#define F(x) (x)\n" + kernel("*X = " + "F(" * N + "n" + ")" * N + ";"),
}


@pytest.mark.parametrize("name", NESTED)
def test_nesting(name: str) -> None:
    attempt(NESTED[name])


LONG = {
    "sum": kernel("*X = " + " + ".join(["n"] * 5_000) + ";"),
    "sum of products": kernel("*X = " + " + ".join(["n * 3 - n / 2"] * 1_700) + ";"),
    "mixed precedence": kernel(
        "*X = " + " ".join(f"n {op}" for op in ["+ ", "*", "<<", "&", "||"] * 1_000) + " n;"
    ),
    "falling precedence": kernel("*X = " + "n * n + n << n < n == n & n ^ n | n && n || " * 500 + "n;"),
    "comparisons": kernel("*X = " + " < ".join(["n"] * 5_000) + ";"),
    "commas": kernel("int m; " + ", ".join(["m = n"] * 5_000) + ";"),
    "loads": kernel("*X = " + " + ".join(["*(X + n)"] * 2_000) + ";"),
    "products of blocks": kernel("float a[16, 16] = 1; a = " + " @ ".join(["a"] * 2_000) + "; *X = a[+, +];"),
    "statements": kernel("\n".join(f"  *(X + {i}) = n;" for i in range(10_000))),
    "declarations": kernel("\n".join(f"  int v{i} = n + {i};" for i in range(10_000)) + "\n*X = v9999;"),
    "dependent declarations": kernel(
        "int v0 = n;" + "".join(f"int v{i + 1} = v{i} * 2;" for i in range(5_000))
    ),
    "parameters": kernel("*p0 = 1;", ", ".join(f"float* p{i}" for i in range(10_000))),
    "declarators": kernel("int " + ", ".join(f"v{i}" for i in range(10_000)) + "; *X = 1;"),
    "kernels": "".join(f"void k{i}(float* X) {{ *X = {i}; }}\n" for i in range(5_000)),
    "arguments": kernel("*X = exp(" + ", ".join(["n"] * 10_000) + ");"),
    "sizes": kernel("float x[" + ", ".join(["1"] * 10_000) + "] = 0; *X = x[+];"),
    "subscript items": kernel("int r[4] = 0 ... 4; *X = r[" + ", ".join([":"] * 10_000) + "];"),
    "new axes": kernel("int r[4] = 0 ... 4; *(X + r[:" + ", newaxis" * 10_000 + "]) = 1;"),
    "permutation": kernel("int r[4] = 0 ... 4; *X = r[" + ", ".join(f"^{i}" for i in range(5_000)) + "];"),
    "typedefs": "".join(f"typedef float t{i};\n" for i in range(5_000)) + kernel("t7 x = n; *X = x;"),
    "enum constants": "enum { " + ", ".join(f"E{i}" for i in range(10_000)) + " };" + kernel("*X = E7;"),
    "macros": "".join(f"#define M{i} M{i + 1}\n" for i in range(10_000)) + kernel("*X = M0;"),
    "macro parameters": f"#define F({', '.join(f'a{i}' for i in range(5_000))}) a1\n" + kernel("*X = n;"),
    "macro arguments": "#define F(...) __VA_ARGS__\n" + kernel("*X = F(" + "n +" * 50_000 + " n);"),
    "semicolons": kernel(";" * 50_000),
    "stray characters": "$" * 200_000,
    "hashes": "#" * 200_000,
    "directives": "#x\n" * 100_000,
    "blank lines": "\n" * 900_000,
    "backslashes": "\\\n" * 300_000,
    "comments": "/**/" * 200_000 + kernel("*X = 1;"),
    "own comments": "// a\n" * 100_000 + kernel("*X = 1;"),
    "string without an end": 'a "' + "x" * 900_000,
    "quotes": '"' * 500_000,
    "apostrophes": "'" * 500_000,
    "open comments": "/*" * 400_000,
    "string pieces": "_Static_assert(1, " + '"a" ' * 100_000 + ");" + kernel("*X = 1;"),
    "escapes": kernel("*X = '" + "\\x" * 100_000 + "';"),
    "too large": " " * ((1 << 20) + 1),
}


@pytest.mark.parametrize("name", LONG)
def test_length(name: str) -> None:
    attempt(LONG[name])


@pytest.mark.parametrize("length", [100, 10_000, 500_000])
def test_long_names(length: int) -> None:
    long = "a" * length
    attempt(kernel(f"int {long} = n; *X = {long};"))
    attempt(f"void {long}(float* X) {{ *X = 1; }}", kernel=long)
    attempt(kernel("*X = n;"), kernel=long)
    attempt(f"#define {long} n\n" + kernel(f"*X = {long};"))
    attempt(kernel(f"*X = {long};"))
    attempt(kernel(f"*X = {long}(n);"))
    attempt(kernel("*X = 1;", f"{long}* X"))
    attempt(kernel("*X = 1;", f"float* X __attribute__(({long}))"))
    attempt(f"#{long}\n" + kernel("*X = 1;"))
    attempt(kernel("*X = n;"), {long: 1})


def test_macros_that_never_end() -> None:
    accepted("#define a a\n" + kernel("int a = n; *X = a;"))
    accepted("#define a b\n#define b a\n" + kernel("int a = n, b = 1; *X = b;"))
    refused("#define f(x) f(f(x))\n" + kernel("*X = f(n);"))
    refused("#define a a a\n" + kernel("*X = a;"))


@pytest.mark.parametrize("arguments", [False, True])
@pytest.mark.parametrize("levels", [16, 64, 1_000])
def test_doubling_macros(arguments: bool, levels: int) -> None:
    refused(doubling(levels, arguments), "TC111", "TC112", "TC202", "TC201", "TC318")


def test_doubling_defines() -> None:
    defines: dict[str, object] = {f"D{i}": f"D{i + 1} + D{i + 1}" for i in range(60)}
    refused(kernel("*X = D0;"), "TC111", "TC112", defines=defines)


def test_doubling_pastes() -> None:
    lines = ["#define P0(x) x ## x"]
    lines += [f"#define P{i}(x) P{i - 1}(P{i - 1}(x))" for i in range(1, 40)]
    refused("\n".join(lines) + "\n" + kernel("*X = P39(n);"))


def test_doubling_strings() -> None:
    lines = ["#define Q0(x) #x"]
    lines += [f"#define Q{i}(x) Q{i - 1}(x x)" for i in range(1, 40)]
    refused("\n".join(lines) + "\n" + kernel("*X = Q39(n);"))


def test_memory_is_bounded() -> None:
    """In a process of its own, whose peak it tells."""
    program = """if True:
        import resource, sys
        import pytriton
        for text in sys.stdin.read().split("\\x1d"):
            try:
                pytriton.translate(text)
            except pytriton.CompileError:
                pass
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"""
    texts = [doubling(64, True), doubling(64, False), LONG["string without an end"], NESTED["parentheses"]]
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, input="\x1d".join(texts), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 1_000_000, "KiB"


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


@pytest.mark.parametrize(
    "tail", ["/*", "/* *", '"', '"\\', "'", "'\\", "//", "// \\", "\\", "#", "#if", "#define F("]
)
def test_unfinished(tail: str) -> None:
    for text in (tail, kernel("*X = 1;") + tail, kernel("*X = 1;")[:-3] + tail, f"#define M {tail}"):
        attempt(text)
        attempt(text + "\n")
        attempt(text.encode())
    attempt(kernel("*X = D;"), {"D": tail})


@pytest.mark.parametrize("cut", range(0, len(TEXTS[DOT]), 7))
def test_every_prefix(cut: int) -> None:
    attempt(TEXTS[DOT][:cut], GIVEN[DOT])
    attempt(TEXTS[DOT][cut:], GIVEN[DOT])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (kernel("*X = 1;\0"), "TC003"),
        (kernel("*X = 1; // \0"), "TC003"),
        (kernel("*X = 1;\x07"), "TC004"),
        (kernel("*X = 1; /* \x1b[31m */"), "TC004"),
        (kernel("/* \u202e */ *X = 1;"), "TC005"),
        (kernel("/* \u2066 */ *X = 1;"), "TC005"),
        (kernel("*X = 1; // \u200f"), "TC005"),
        (kernel("*X\u200b = 1;"), "TC009"),
        (kernel("*X\u00a0= 1;"), "TC009"),
        (kernel("*\u0425 = 1;"), "TC009"),
        (kernel("*X = \uff11;"), "TC009"),
        (kernel("*X = 1;").replace(";", "\u037e"), "TC009"),
        (kernel("*X = 1;\u2028"), "TC009"),
        (kernel("*X = 1;") + "\ufeff", "TC009"),
        (kernel("*X = \ud800;"), "TC009"),
    ],
)
def test_characters(text: str, code: str) -> None:
    assert code in [found.code for found in refused(text).diagnostics]


@pytest.mark.parametrize(
    "data", [b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf", b"\x80"]
)
def test_bytes_that_are_no_text(data: bytes) -> None:
    refused(data, "TC001")
    refused(kernel("*X = 1;").encode() + b"// " + data, "TC001")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le"])
def test_other_encodings(encoding: str) -> None:
    refused(kernel("*X = 1;").encode(encoding))


def test_line_ends_and_byte_order_mark() -> None:
    plain = accepted(TEXTS[DOT], defines=GIVEN[DOT]).text
    for text in (TEXTS[DOT].replace("\n", "\r\n"), TEXTS[DOT].replace("\n", "\r"), "\ufeff" + TEXTS[DOT]):
        assert accepted(text, defines=GIVEN[DOT]).text == plain
        assert accepted(text.encode(), defines=GIVEN[DOT]).text == plain
    line_four = kernel("\r\r  *X = $;")
    assert ":4:" in str(refused(line_four, "TC009"))


@pytest.mark.parametrize(
    "empty", ["", " ", "\n", ";", "// nothing", "/* nothing */", "#", "\ufeff", "\\\n", b"", b"\xef\xbb\xbf"]
)
def test_nothing(empty: str | bytes) -> None:
    refused(empty, "TC204")


INCLUDED = r"""
"/etc/passwd"
"../../etc/passwd"
"~/.ssh/id_rsa"
<stdio.h>
"C:\\x"
"a/../../b"
""
<>
"/dev/zero"
"/dev/stdin"
"."
".."
X
"\\\\host\\x"
NAME
"a" "b"
"a
<a
"http://example.com/x.h"
"file:///etc/passwd"
__FILE__
__LINE__
""".strip().splitlines()
INCLUDED += ['"' + "a/" * 5_000 + '"', '"a\0b"', ""]


@pytest.mark.parametrize("name", INCLUDED)
def test_includes(name: str, tmp_path: Path) -> None:
    (tmp_path / "self.h").write_text('#include "self.h"\n#include "self.h"\n')
    (tmp_path / "link.h").symlink_to("/etc/passwd")
    text = f"#include {name}\n" + kernel("*X = 1;")
    for options in ({}, {"include_dirs": [tmp_path]}, {"include_dirs": ["/nowhere"]}):
        for defines in ({}, {"NAME": '"/etc/passwd"'}):
            error = refused(text, **options, defines=defines)
            assert "root:" not in str(error)


def test_includes_of_themselves_and_links(tmp_path: Path) -> None:
    (tmp_path / "self.h").write_text('#include "self.h"\n#include "self.h"\n')
    (tmp_path / "link.h").symlink_to("/etc/passwd")
    (tmp_path / "fan.h").write_text('#include "leaf.h"\n' * 10_000)
    (tmp_path / "leaf.h").write_text(" ")
    for name, code in (("self.h", "TC144"), ("link.h", "TC141"), ("fan.h", "TC144")):
        refused(f'#include "{name}"\n' + kernel("*X = 1;"), code, include_dirs=[tmp_path])


# ---------------------------------------------------------------- text that wants to be Python

PAYLOADS = r"""
1); import os #
__import__('os').system('x')
')); import os; ((('
\n
'''
{{ 7*7 }}
{% for x in y %}
{# x #}
{n!r}
%s%n
${n}
`id`
$(id)
lambda: 0
n if n else n
0) + exec('x'
0; import os
n # comment
n // comment
n /* comment */
/*
*/
a := 1
yield 1
await n
*n
**n
n,
[n for n in n]
n.__class__
n->x
::
@n
tl.device_print('x')
triton
tl
eval(n)
print
0x_1
1_000
None
'a'
"a"
b"a"
f'{n}'
1j
True
...
#
##
# import os
""".strip().splitlines()
PAYLOADS += ["1\nimport os", '"""', "\\", "\r\nimport os", "\0", "\u2028import os", "n\\\nimport os"]
PAYLOADS += ["n\fimport os", "n;\timport os", "n \x0b n"]


def harmless(result: pytriton.Translation | CompileError) -> None:
    """A translation mentions nothing of Python outside its comments (the gate has seen it too)."""
    if isinstance(result, CompileError):
        return
    tree = ast.parse(result.text)
    imports = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    wanted = {"import triton", "import triton.language as tl", "from triton.language.extra import libdevice"}
    assert set(imports) <= wanted
    assert "49" not in result.text
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert all(name.startswith("tl.") or name.endswith(".to") for name in called), called


@pytest.mark.parametrize("payload", PAYLOADS)
class TestPayload:
    def test_as_the_value_of_a_define(self, payload: str) -> None:
        for body in ("*X = D;", "int r[D] = 0 ... D; *X = r[+];", "D x = n; *X = x;", "*X = n + D;", "D"):
            harmless(attempt(kernel(body), {"D": payload}))
        harmless(attempt("void D(float* X) { *X = 1; }", {"D": payload}))
        harmless(attempt(kernel("*X = 1;", "float* D"), {"D": payload}))
        harmless(attempt(kernel("*X = 1;", "float* X __multipleof(D), int D"), {"D": payload}))
        harmless(attempt("#if D\n#endif\n" + kernel("*X = 1;"), {"D": payload}))
        harmless(attempt("#define S(x) #x\n" + kernel("*X = S(D)D;"), {"D": payload}))

    def test_as_the_name_of_a_define(self, payload: str) -> None:
        harmless(attempt(kernel("*X = n;"), {payload: 16}))
        harmless(attempt(kernel(f"*X = {payload};"), {payload: 16}))
        harmless(attempt(kernel(f"*X = {payload};"), {payload: 0.5}))

    def test_as_the_name_of_a_kernel(self, payload: str) -> None:
        harmless(attempt(kernel("*X = 1;"), kernel=payload))
        harmless(attempt(f"void {payload}(float* X) {{ *X = 1; }}"))
        harmless(attempt(f"void k(float* {payload}) {{ *{payload} = 1; }}"))

    def test_as_the_name_of_the_text(self, payload: str) -> None:
        for text in (kernel("*X = 1;"), kernel("*X = $;"), kernel("*X = __FILE__;")):
            try:
                module = pytriton.translate(text, name=payload).text
            except CompileError:
                continue
            check_module(module, "k.py")
            assert module == accepted(text).text

    def test_in_a_comment(self, payload: str) -> None:
        texts = [
            f"// {payload}\n" + kernel("*X = 1;"),
            f"/* {payload} */\n" + kernel("*X = 1;"),
            kernel(
                f"  // {payload}\n  *X = 1; // {payload}\n  /* {payload} */ *X = 2; /* {payload}\n{payload} */"
            ),
            kernel("*X = 1;", f"float* X /* {payload} */, // {payload}\n int n /* {payload} */"),
            kernel(f"if (n) {{ // {payload}\n }} else {{ /* {payload} */ }}"),
        ]
        for text in texts:
            result = attempt(text)
            if isinstance(result, CompileError):
                continue
            tree = ast.parse(result.text)
            calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
            assert all(call.startswith("tl.") for call in calls), calls
            assert sum(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree)) == 2

    def test_in_a_string(self, payload: str) -> None:
        harmless(attempt(f'_Static_assert(1, "{payload}");' + kernel("*X = 1;")))
        harmless(attempt(f'_Static_assert(0, "{payload}");' + kernel("*X = 1;")))
        harmless(attempt(f'#error "{payload}"\n' + kernel("*X = 1;")))
        harmless(attempt(f"#warning {payload}\n#pragma {payload}\n" + kernel("*X = 1;")))
        harmless(attempt(f'#line 4 "{payload}"\n' + kernel("*X = 1;")))


PYTHON_NAMES = """
import os def class lambda None True False pass with as from global nonlocal async await yield match print exec
eval open int_ range tl triton libdevice getattr type object self cls_ _x x_ jit constexpr static_range libdevice_
""".split()
# The gate refuses these in a generated module, so the emitter must rename them.
PRIVATE_NAMES = "__import__ __builtins__ __class__ __dict__ __name__ __file__ _ __ ___".split()


@pytest.mark.parametrize("name", [*PYTHON_NAMES, *PRIVATE_NAMES])
def test_names_of_python(name: str) -> None:
    texts = [
        kernel(f"int {name} = n; *X = {name};"),
        f"void {name}(float* X) {{ *X = 1; }}",
        kernel(f"*X = {name};", f"float* X, int {name}"),
        kernel(f"for (int {name} = 0; {name} < n; {name} += 1) *(X + {name}) = {name};"),
        kernel(f"int {name} = n; int {name}_ = 2; *X = {name} + {name}_;"),
        f"void {name}(float* {name}, int {name}_) {{ *{name} = {name}_; }}",
        f"typedef float {name};" + kernel(f"{name} x = n; *X = x;"),
    ]
    for text in texts:
        accepted(text)
    accepted(kernel(f"*X = {name};"), defines={name: 16})
    accepted(kernel(f"*(X + 0 ... {name}) = 1;"), defines={name: 16})


# What is typed wrongly by a machine: pieces that the front end knows, at places that it does not expect.
PIECES = r"""
( ) [ ] { } ; , : ? * + - @ ^ ... . -> # ## = == += ++ -- && || ! ~ % / << >> < > 0 1 -1 16 0.5 1e9 'a' "a" /* */ //
\ if else for while do return break continue int float half void const typedef enum struct sizeof bitcast<
__global__ __attribute__ ((aligned(16))) X x n TM newaxis max min exp get_program_id atomic_add atomic_cas dot trans
#if #endif #else #define #undef #include #error 0...TM *?(n) (float) (float*) (float[16]) [:,newaxis] [+] [^1,^0]
""".split()
PIECES += ["\n", "\n#"]
TOKEN = re.compile(r"\w+|\s+|\.\.\.|[^\w\s]")


# Names that the emitter would have to rename, see PRIVATE_NAMES.
PRIVATE = re.compile(r"\b__(?!(?:global|attribute|constant|restrict)__)\w|\b_+\b")


def mutated(text: str, source: random.Random, edits: int) -> str:
    """The text after some random edits of its tokens and characters."""
    tokens = TOKEN.findall(text)
    for _ in range(edits):
        at, other = source.randrange(len(tokens)), source.randrange(len(tokens))
        match source.randrange(7):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, source.choice(PIECES))
            case 2:
                tokens[at] = source.choice(PIECES)
            case 3:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 4:
                tokens.insert(at, tokens[other])
            case 5:
                first, last = sorted((at, other))
                tokens[first:last] = tokens[first:last][: source.randrange(20)]
            case 6:
                old = tokens[at]
                cut = source.randrange(len(old) + 1)
                tokens[at] = (
                    old[:cut] + chr(source.choice([0, 9, 10, 13, 34, 39, 92, 123, 233, 8238])) + old[cut:]
                )
        tokens = tokens or [" "]
    return "".join(tokens)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(index=st.integers(0, len(TEXTS) - 1), seed=st.integers(0, 2**32), edits=st.integers(1, 8))
@example(index=0, seed=0, edits=1)
def test_mutated_kernels(index: int, seed: int, edits: int) -> None:
    text = mutated(TEXTS[index], random.Random(seed), edits)
    assume(not PRIVATE.search(text))
    attempt(text, GIVEN[index])


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_pieces_at_random(pieces: list[str]) -> None:
    attempt(" ".join(pieces), {"TM": 16, "TYPE": "float"})
    attempt(kernel(" ".join(pieces)), {"TM": 16, "TYPE": "float"})
    attempt(kernel(f"*X = {' '.join(pieces)};"), {"TM": 16, "TYPE": "float"})
    attempt(kernel("*X = D;"), {"D": " ".join(pieces)})


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_bytes_at_random(data: bytes) -> None:
    attempt(data)
    attempt(kernel("*X = 1; //").encode() + data)
