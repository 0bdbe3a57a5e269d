"""Texts that are nested too deeply, too long, or that grow."""

from __future__ import annotations

import subprocess
import sys
from functools import cache, partial

import pytest

import pytriton
from pytriton.errors import CompileError
from tests.hostile.attempts import MAX_STEPS, accepted, attempt, checked, kernel, refused
from tests.work import counted


def doubling(levels: int, arguments: bool) -> str:
    """Macros each of which doubles the one before."""
    lines = ["#define M0(x) x x" if arguments else "#define M0 n +"]
    for level in range(1, levels):
        before = f"M{level - 1}"
        body = f"(x) {before}({before}(x))" if arguments else f" {before} {before}"
        lines.append(f"#define M{level}{body}")
    use = f"M{levels - 1}(n +)" if arguments else f"M{levels - 1}"
    return "\n".join(lines) + "\n" + kernel(f"  *X = {use} 1;")


# "fors", with sixteen tokens a level, takes 1,530 steps for each, the others at most 1,000; one look at each for
# each of the others would be 4,000.
MAX_NESTED_STEPS = 1_600
N = 4_000
A_QUARTER_AND_ALL = pytest.mark.parametrize("part", [4, pytest.param(1, marks=pytest.mark.slow)])


def nested(n: int) -> dict[str, str]:
    """Whatever can stand in itself, so many times."""
    return {
        "parentheses": kernel("*X = " + "(" * n + "n" + ")" * n + ";"),
        "open parentheses": kernel("*X = " + "(" * n),
        "closed parentheses": kernel("*X = n" + ")" * n + ";"),
        "brackets": kernel("*X = " + "n[" * n + ":" + "]" * n + ";"),
        "brackets behind each other": kernel("*X = n" + "[:]" * n + ";"),
        "calls": kernel("*X = " + "exp(" * n + "n" + ")" * n + ";"),
        "calls behind each other": kernel("*X = n" + "()" * n + ";"),
        "braces": kernel("{" * n + "*X = n;" + "}" * n),
        "open braces": kernel("{" * n),
        "minus": kernel("*X = " + "- " * n + "n;"),
        "not": kernel("*X = " + "!" * n + "n;"),
        "stars": kernel("*X = " + "*" * n + "X;"),
        "stars of a type": kernel("float " + "*" * n + "p = X;"),
        "carets": kernel("*X = " + "^" * n + "n;"),
        "casts": kernel("*X = " + "(float)" * n + "n;"),
        "masked loads": kernel("*X = " + "*?(n)" * n + "X;"),
        "increments": kernel("*X = " + "++ " * n + "n;"),
        "ternaries in the middle": kernel("*X = " + "n ? " * n + "1" + " : 2" * n + ";"),
        "assignments": kernel("n = " * n + "1;"),
        "ifs": kernel("if (n) " * n + "*X = 1;"),
        "else ifs": kernel(
            "if (n == 0) *X = 0;" + "".join(f"else if (n == {i}) *X = {i};" for i in range(n // 2))
        ),
        "fors": kernel("for (int i = 0; i < n; i += 1) " * n + "*X = 1;"),
        "whiles": kernel("while (n) " * n + "*X = 1;"),
        "dos": kernel("do " * n + "*X = 1;" + " while (n);" * n),
        "sizeofs": kernel("*X = " + "sizeof " * n + "n;"),
        "bitcasts": kernel("*X = " + "bitcast<int>(" * n + "n" + ")" * n + ";"),
        "shapes": kernel("float x" + "[n" * n + "]" * n + ";"),
        "enum": "enum { A = " + "(" * n + "1" + ")" * n + " };" + kernel("*X = A;"),
        "attributes": kernel("*X = 1;", "float* X " + "__readonly " * n),
        "attribute arguments": kernel("*X = 1;", "int n __multipleof(" + "(" * n + "8" + ")" * n + ")"),
        "ifs of the preprocessor": "#if 1\n" * n + kernel("*X = 1;") + "#endif\n" * n,
        "dropped ifs": "#if 0\n" + "#if 1\n" * n + "#endif\n" * n + "#endif\n" + kernel("*X = 1;"),
        "elifs": "#if 0\n" + "#elif 0\n" * n + "#endif\n" + kernel("*X = 1;"),
        "parentheses in #if": "#if " + "(" * n + "1" + ")" * n + "\n#endif\n" + kernel("*X = 1;"),
        "nots in #if": "#if " + "!" * n + "1\n#endif\n" + kernel("*X = 1;"),
        "ternaries in #if": "#if " + "1 ? " * n + "1" + " : 0" * n + "\n#endif\n" + kernel("*X = 1;"),
        "sum in #if": "#if " + "1 + " * n + "1\n#endif\n" + kernel("*X = 1;"),
        "macro calls in arguments": "#define F(x) (x)\n"
        + kernel("*X = " + "F(" * (n // 4) + "n" + ")" * (n // 4) + ";"),
    }


@A_QUARTER_AND_ALL
@pytest.mark.parametrize("name", nested(1))
@pytest.mark.sampled(9)
def test_nesting(name: str, part: int) -> None:
    attempt(nested(N // part)[name], most=MAX_NESTED_STEPS * N // part)


# "statements" takes 4,000 steps each; with one look at each for each of the others it would take 2,000 more, which
# only the whole length shows.
MAX_LENGTH_STEPS = 5_500
LENGTH = 2_000


def long(n: int) -> dict[str, str]:
    """Whatever can stand beside itself, so many times and, what is short, more often."""
    return {
        "sum": kernel("*X = " + " + ".join(["n"] * n) + ";"),
        "sum of products": kernel("*X = " + " + ".join(["n * 3 - n / 2"] * (n * 3 // 10)) + ";"),
        "mixed precedence": kernel(
            "*X = " + " ".join(f"n {op}" for op in ["+ ", "*", "<<", "&", "||"] * (n // 4)) + " n;"
        ),
        "falling precedence": kernel(
            "*X = " + "n * n + n << n < n == n & n ^ n | n && n || " * (n // 4) + "n;"
        ),
        "comparisons": kernel("*X = " + " < ".join(["n"] * n) + ";"),
        "commas": kernel("int m; " + ", ".join(["m = n"] * n) + ";"),
        "loads": kernel("*X = " + " + ".join(["*(X + n)"] * (n // 2)) + ";"),
        "products of blocks": kernel(
            "float a[16, 16] = 1; a = " + " @ ".join(["a"] * (n // 2)) + "; *X = a[+, +];"
        ),
        "statements": kernel("\n".join(f"  *(X + {i}) = n;" for i in range(n))),
        "declarations": kernel("\n".join(f"  int v{i} = n + {i};" for i in range(n)) + "\n*X = v0;"),
        "dependent declarations": kernel(
            "int v0 = n;" + "".join(f"int v{i + 1} = v{i} * 2;" for i in range(n))
        ),
        "parameters": kernel("*p0 = 1;", ", ".join(f"float* p{i}" for i in range(n))),
        "declarators": kernel("int " + ", ".join(f"v{i}" for i in range(n)) + "; *X = 1;"),
        "kernels": "".join(f"void k{i}(float* X) {{ *X = {i}; }}\n" for i in range(n)),
        "arguments": kernel("*X = exp(" + ", ".join(["n"] * n) + ");"),
        "sizes": kernel("float x[" + ", ".join(["1"] * n) + "] = 0; *X = x[+];"),
        "subscript items": kernel("int r[4] = 0 ... 4; *X = r[" + ", ".join([":"] * n) + "];"),
        "new axes": kernel("int r[4] = 0 ... 4; *(X + r[:" + ", newaxis" * n + "]) = 1;"),
        "permutation": kernel("int r[4] = 0 ... 4; *X = r[" + ", ".join(f"^{i}" for i in range(n)) + "];"),
        "typedefs": "".join(f"typedef float t{i};\n" for i in range(n)) + kernel("t7 x = n; *X = x;"),
        "enum constants": "enum { " + ", ".join(f"E{i}" for i in range(n)) + " };" + kernel("*X = E7;"),
        "macros": "".join(f"#define M{i} M{i + 1}\n" for i in range(n)) + kernel("*X = M0;"),
        "macro parameters": f"#define F({', '.join(f'a{i}' for i in range(n))}) a1\n" + kernel("*X = n;"),
        "macro arguments": "#define F(...) __VA_ARGS__\n" + kernel("*X = F(" + "n +" * (n * 4) + " n);"),
        "ternaries right": kernel("*X = " + "n ? 1 : " * n + "2;"),
        "elvis": kernel("*X = " + "n ?: " * n + "1;"),
        "stray characters": "$" * (50 * n),
        "hashes": "#" * (50 * n),
        "directives": "#x\n" * (25 * n),
        "blank lines": "\n" * (450 * n),
        "backslashes": "\\\n" * (75 * n),
        "comments": "/**/" * (50 * n) + kernel("*X = 1;"),
        "own comments": "// a\n" * (25 * n) + kernel("*X = 1;"),
        "string without an end": 'a "' + "x" * (450 * n),
        "quotes": '"' * (125 * n),
        "apostrophes": "'" * (60 * n),
        "open comments": "/*" * (100 * n),
        "string pieces": "_Static_assert(1, " + '"a" ' * (25 * n) + ");" + kernel("*X = 1;"),
        "escapes": kernel("*X = '" + "\\x" * (25 * n) + "';"),
        "too large": " " * ((1 << 20) + 1),
    }


@A_QUARTER_AND_ALL
@pytest.mark.parametrize("name", long(1))
@pytest.mark.sampled(9)
def test_length(name: str, part: int) -> None:
    attempt(long(LENGTH // part)[name], most=MAX_LENGTH_STEPS * LENGTH // part)


def repeated(text: str, count: int) -> str:
    """The text so many times, with the number of each for ``@``."""
    return "\n".join(text.replace("@", str(number)) for number in range(count))


def nest(loop: str, depth: int, statements: str) -> str:
    """Loops within each other, statements around each."""
    body = statements
    for level in range(depth):
        body = loop.replace("@", str(level)).replace("BODY", f"{body}\n{statements}")
    return kernel(body)


ROW = "int r[16] = 0 ... 16;\n"


def moves(count: int) -> str:
    """Statements that load and store through pointers that move apart."""
    return repeated("*(X + n) = *(X + @) + 1;", count)


@cache
def longest(share: float = 1) -> dict[str, str]:
    """Texts as long as one may be, or nearly: 45,000 tokens; of a kernel 6,000 statements, those in loops counted
    again for each loop around them, or 26,000 operators and operands, loads twice. Or a share of that.
    """

    def many(text: str, count: int) -> str:
        return repeated(text, round(count * share))

    row_moves = moves(round(71 * share))
    return {
        "stores": kernel(many("*(X + @) = n;", 4_950)),
        "declarations": kernel(many("int v@ = n + @;", 5_900) + "*X = v0;"),
        "pointers that move": kernel(
            "float *p = X;" + many("p += n; *p = *Y;", 2_980), "float *X, float *Y, int n"
        ),
        "pointers of pointers": kernel(many("**P = @; *(*P + 1) = n;", 2_150), "float **P, int n"),
        "blocks": kernel(ROW + many("float x@[16] = *(X + r + @); *(X + r + @) = x@ * 2;", 1_180)),
        "padded blocks": kernel(
            "int r[13] = 0 ... 13;\n" + many("float x@[13] = *(X + r); *X = x@[+];", 1_600)
        ),
        "products": kernel("float a[16, 16] = 1; " + "a = a @ a;" * round(5_900 * share) + "*X = a[+, +];"),
        "masked branches": kernel(ROW + many("float x@[16] = r < n ? *(X + r) : 0;", 1_980)),
        "ifs": kernel(many("if (n > @) *X = @;", 2_990)),
        "returns": kernel(many("if (n > @) return;", 2_950) + "*X = 1;"),
        "loops": kernel(many("for (int i = 0; i < n; i += 1) *(X + i) = i;", 840)),
        "loops left early": kernel(
            many("for (int i = 0; i < n; i += 1) { if (i == @) break; *X += i; }", 490)
        ),
        "conditions with effects": kernel(many("while (n-- > @) *X = n;", 490)),
        "prefetches": kernel(
            ROW
            + "float *p[16] = X + r; float a[16] = *p; float c[16] = 0;"
            + many("for (int k = n; k > 0; k -= 16) { c += a; p += 16; a = *p; }", 480)
            + "*(X + r) = c;"
        ),
        "sums": kernel(many("*X = " + " + ".join(["n"] * 90) + ";", 140)),
        "truth values": kernel(many("bool b@ = " + " && ".join(["n > 1"] * 50) + ";", 130)),
        "parentheses": kernel(many("*X = " + "(" * 90 + "n" + "+ 1)" * 90 + ";", 121)),
        "parameters": kernel("*p0 = 1;", many("float* p@,", 10_600) + " int n"),
        "kernels": many("void k@(float* X) { *X = @; }", 3_000),
        "macros": many("#define M@ n + @", 12_000) + "\n" + kernel(many("*X = M@;", 4_900)),
        "atomics": kernel(many("atomic_add(X, @, n > 3);", 4_000)),
        "locks": kernel(many("while (atomic_cas(L, 0, 1)); atomic_xchg(L, 0);", 1_800), "int *L"),
        "scopes": kernel(many("{ int n = @; { float n = 2; *X = n; } }", 1_700)),
        "nest of for": nest("for (int i@ = 0; i@ < n; i@ += 1) { BODY }", 10, row_moves),
        "nest of while": nest("int i@ = 0; while (i@ < n) { i@ += 1; BODY }", 10, row_moves),
        "nest with returns": nest(
            "for (int i@ = 0; i@ < n; i@ += 1) { if (i@ == 7) return; BODY }", 10, row_moves
        ),
    }


LONGEST = longest()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("nest of for", "nest of while") else [])
        for name in LONGEST
    ],
)
@pytest.mark.sampled(9)
def test_longest(name: str) -> None:
    """Four times the length is four times the work, so that the longest is within the steps that all may take.

    A look at all that came before, at each place, would be sixteen times the work.
    """
    texts = [f"// {share}\n{longest(share)[name]}" for share in (1 / 64, 1 / 16)]
    short, long = (counted(partial(pytriton.translate, text))[0] for text in texts)
    assert long < 4.5 * short
    assert 16 * long < MAX_STEPS


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "kernels" else pytest.mark.slow) for name in LONGEST],
)
def test_longest_is_accepted(name: str) -> None:
    checked(pytriton.translate(LONGEST[name]))


def balanced(operand: str, count: int, operator: str) -> str:
    """Operands joined by an operator, in parentheses of little depth."""
    if count == 1:
        return operand
    left = balanced(operand, count // 2, operator)
    return f"({left} {operator} {balanced(operand, count - count // 2, operator)})"


def wrapped(form: str, depth: int) -> str:
    """A form in itself, at ``@``."""
    text = "m"
    for _ in range(depth):
        text = form.replace("@", text)
    return kernel(f"*X = {text};", "float* X, int n, float m, long l")


# What is far longer in Python than in Triton-C, unless something is computed once that the text says once.
GROWING = {
    "mask of many": kernel(f"*X = {balanced('n', 600, '+')} ? {balanced('*X', 600, '+')} : 0;"),
    "many masks": kernel(f"*X = {balanced('(n ? *X : 0)', 300, '+')} ? {balanced('*X', 900, '+')} : 0;"),
    "a thousand masks": kernel(
        repeated(f"*X = {balanced('n', 9, '+')} ? {balanced('*X', 9, '+')} : 0;", 900)
    ),
    "elvis of elvis": wrapped("((@) ?: n)", 60),
    "elvis on the right": wrapped("(n ?: @)", 60),
    "casts": wrapped("((double)((long)(@) + l) + m)", 30),
    "negations": wrapped("(!(@) + n)", 60),
    "truths": wrapped("((bool)(@) + 1)", 60),
    "conditions of conditions": wrapped("((@) ? m : n)", 60),
    "masked loads": wrapped("*(X + (n > (@) ? 1 : 2))", 40),
    "effects": kernel(repeated("while (n-- > @) *X = n;", 2_200)),
    "statements in loops": nest("for (int i@ = 0; i@ < n; i@ += 1) { BODY }", 10, "*X = n;\n" * 500),
}


@pytest.mark.parametrize("name", GROWING)
@pytest.mark.sampled(9)
def test_what_grows(name: str) -> None:
    result = attempt(GROWING[name])
    if isinstance(result, CompileError):
        assert result.diagnostics[0].code in ("TC011", "TC318"), str(result)[:500]


FAULTY = {
    "semicolons": kernel(";" * 100_000),
    "on one line": kernel("* ;" * 9_000),
    "on many lines": kernel("* ;\n" * 9_000),
    "open heads": kernel("if ( {" * 4_000),
    "closed heads": kernel("if (n)) { } else { }\n" * 1_400),
    "orphans": kernel("else\n" * 9_000),
    "missing ends": kernel("X\n)\n" * 5_000),
    "unknown names": kernel(repeated("*X = name@;", 5_000)),
    "branches of loads": kernel(repeated("*X = " + "n ? *X : " * 60 + "2;", 90)),
    "deep nest": nest("for (int i@ = 0; i@ < n; i@ += 1) { BODY }", 30, moves(71)[:800]),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name == "branches of loads" else []) for name in FAULTY],
)
@pytest.mark.sampled(9)
def test_many_mistakes(name: str) -> None:
    refused(FAULTY[name])


@pytest.mark.parametrize("length", [100, 10_000, pytest.param(500_000, marks=pytest.mark.slow)])
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
@pytest.mark.sampled(2)
def test_doubling_macros(arguments: bool, levels: int) -> None:
    refused(doubling(levels, arguments), "TC111", "TC112", "TC202", "TC201", "TC318")


def test_doubling_defines() -> None:
    defines: dict[str, object] = {f"D{i}": f"D{i + 1} + D{i + 1}" for i in range(60)}
    refused(kernel("*X = D0;"), "TC111", "TC112", defines=defines)


@pytest.mark.slow
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
    program = r"""if True:
        import re, sys
        import pytriton
        for text in sys.stdin.read().split("\\x1d"):
            try:
                pytriton.translate(text)
            except pytriton.CompileError:
                pass
        print(re.search(r"VmHWM:\s*(\d+) kB", open("/proc/self/status").read())[1])"""
    worst = ("string without an end", "quotes", "macro arguments", "blank lines", "comments")
    texts = [doubling(64, True), doubling(64, False), nested(N)["parentheses"], LONGEST["stores"]]
    texts += [long(LENGTH)[name] for name in worst]
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, input="\x1d".join(texts), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 200_000, "KiB"


def test_empty_lines_are_little_work() -> None:
    """They are counted once, three steps each; which defines stay parameters is recorded, not tried out."""
    source = "__global__ void f(int *o, int n) { int r[T] = 0 ... T; *?(r < n)(o + r) = r; }\n"
    short, long = ("\n" * count + source for count in (10, 1_000_000))
    steps = [counted(partial(pytriton.translate, text, {"T": 64}))[0] for text in (short, long)]
    assert steps[1] < steps[0] + 3.1 * 1_000_000
