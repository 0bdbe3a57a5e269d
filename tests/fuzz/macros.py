"""Generated macro programs: our preprocessor and ``gcc -E -P`` must leave the same tokens, or both object.

``python -m tests.fuzz.macros N [--seed S]`` compares N programs, in batches: gcc gets many programs in one file,
with a marker line before each and ``#undef`` of every name behind it; the lines of its errors tell which programs
it objects to. Where a program swallows those behind it, each of the batch is compared alone. Programs hold
object-like, function-like and variadic macros, ``#`` and ``##``, recursion, calls that are made of several macros,
conditionals, continued lines and comments.
"""

from __future__ import annotations

import argparse
import bisect
import collections
import itertools
import multiprocessing
import re
import subprocess
import time

from pytriton.errors import CompileError, Report
from pytriton.lang.preprocess.directives import preprocess
from pytriton.source import Source
from tests.fuzz.choices import Choices, Recorded

__all__ = ["compared", "gcc_tokens", "macros", "our_tokens"]

NAMES = ("A", "B", "C", "D", "E", "F", "G", "H")
PARAMETERS = ("x", "y", "z")
WORDS = ("a", "b", "foo", "k1", "if", "return")
NUMBERS = ("0", "1", "42", "0x1F", "1.5f", "2u", "1e3", ".5", "7ul")
OPERATORS = "+ - * / % < <= > >= == != && || & ^ |".split()
SIGNS = "+ - * / % & | ^ ~ ! < > <= >= == != && || << >> ? : = += ++ -- ; -> ... .".split()
STRINGS = ('"s"', '"a\\"b"', "'c'", "'\\n'", '"\\\\"', '"a  b"')

_TOKEN = re.compile(
    r"""\.?\d(?:[eEpP][+-]|[\w.])*|[A-Za-z_]\w*|(?:"(?:\\.|[^"\\])*")|(?:'(?:\\.|[^'\\])*')"""
    r"""|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|\#\#|[^\s]"""
)


def tokens_of(text: str) -> list[str]:
    """The spellings of the tokens of a text without comments."""
    return _TOKEN.findall(text)


class _Program:
    """One program under construction."""

    def __init__(self, choices: Choices) -> None:
        self.c = choices
        self.arity: dict[str, int] = {}  # parameters of a function-like macro; -1 of an object-like one
        self.variadic: set[str] = set()

    def text(self) -> str:
        lines: list[str] = []
        for _ in range(1 + self.c.below(6)):
            lines += self.directive(2)
        for _ in range(1 + self.c.below(3)):
            lines.append(self.run(self.c.below(8) + 1, 2))
            if self.c.chance(4):
                lines += self.directive(1)
        return "\n".join(self.mangled(line) for line in lines) + "\n"

    def mangled(self, line: str) -> str:
        """The line with a comment or a continuation that changes nothing."""
        head, space, tail = line.rpartition(" ")
        if space and '"' not in line and "'" not in line and self.c.chance(8):
            return head + self.c.pick((" /* c */ ", " \\\n", "  ", " /* two\nlines */ ", "\t")) + tail
        return line + ("  // c" if self.c.chance(12) else "")

    # ------------------------------------------------------------ directives

    def directive(self, depth: int) -> list[str]:
        kind = self.c.below(8)
        hash_ = self.c.pick(("#", "#", "# ", " #"))
        if kind == 7 and self.arity:
            return [f"{hash_}undef {self.forget()}"]
        if kind == 6 and depth:
            return self.conditional(hash_, depth)
        name = self.c.pick(NAMES)
        before = [f"#undef {self.forget(name)}"] if name in self.arity else []
        return [*before, f"{hash_}define {self.definition(name)}"]

    def forget(self, name: str | None = None) -> str:
        name = name or self.c.pick(sorted(self.arity))
        self.arity.pop(name, None)
        self.variadic.discard(name)
        return name

    def definition(self, name: str) -> str:
        c = self.c
        if c.chance(2):
            self.arity[name] = -1
            return f"{name} {self.body((), False)}".rstrip()
        count = c.below(3 + 1)
        parameters = PARAMETERS[:count]
        variadic = c.chance(5)
        self.arity[name] = count
        if variadic:
            self.variadic.add(name)
        shown = ", ".join([*parameters, *(["..."] if variadic else [])])
        return f"{name}({shown}) {self.body(parameters, variadic)}".rstrip()

    def body(self, parameters: tuple[str, ...], variadic: bool) -> str:
        c = self.c
        usable = [*parameters, *(["__VA_ARGS__"] if variadic else [])]
        parts: list[str] = []
        for _ in range(c.below(6)):
            kind = c.below(8)
            if usable and kind < 3:
                parts.append(c.pick(usable))
            elif usable and kind == 3:
                parts.append(f"{c.pick(('#', '# '))}{c.pick(usable)}")
            elif kind == 4:
                left = c.pick([*usable, *WORDS[:3], *NAMES])
                right = c.pick([*usable, *WORDS[:3], *NAMES, "1", "2"])
                parts.append(f"{left} {c.pick(('##', '## '))}{right}")
            elif kind == 5 and c.chance(3):
                parts.append(c.pick(("(", ")", "( )")))
            else:
                parts.append(self.run(1 + c.below(2), 1, usable))
        return " ".join(parts)

    def conditional(self, hash_: str, depth: int) -> list[str]:
        c = self.c
        head = c.pick((f"if {self.condition()}", f"ifdef {c.pick(NAMES)}", f"ifndef {c.pick(NAMES)}"))
        lines = [f"{hash_}{head}", *self.directive(depth - 1), self.run(2, 1)]
        if c.chance(3):
            lines += [f"#elif {self.condition()}", self.run(2, 1)]
        if c.chance(2):
            lines += ["#else", *self.directive(depth - 1), self.run(2, 1)]
        # which arm was taken is not known here: forget what any arm defined
        lines += ["#endif", *(f"#undef {name}" for name in NAMES)]
        self.arity, self.variadic = {}, set()
        return lines

    def condition(self, depth: int = 2) -> str:
        """An integer constant expression, perhaps of macros."""
        c = self.c
        if not depth or c.chance(3):
            return c.pick(
                (
                    *("1", "0", "2", "-1", "0x10", "3u", "'a'", "010", "undefined_name", "defined A", "(A)"),
                    *(f"defined({n})" for n in NAMES[:3]),
                    *("2147483648", "0xffffffffffffffff", "-1u", "18446744073709551615u", "~0u"),
                )
            )
        left, right = self.condition(depth - 1), self.condition(depth - 1)
        kind = c.below(10)
        if kind == 0:
            return f"!({left})"
        if kind == 1:
            return f"({left}) ? {right} : ({self.condition(depth - 1)})"
        if kind == 2:
            return f"~({left}) > {right}"
        if kind == 3:  # a count from 64 on is undefined in C; we refuse it
            return f"({left}) {c.pick(('<<', '>>'))} (({right}) & 63)"
        if kind == 4:
            return f"{c.pick('-+')} {left} {c.pick(OPERATORS)} {right}"
        return f"({left}) {c.pick(OPERATORS)} ({right})"

    # ------------------------------------------------------------ text

    def run(self, count: int, depth: int, usable: list[str] | tuple[str, ...] = ()) -> str:
        """Tokens; parentheses are balanced here."""
        c = self.c
        parts: list[str] = []
        for _ in range(count):
            kind = c.below(9)
            if kind <= 2 and self.arity:
                parts.append(self.use(c.pick(sorted(self.arity)), depth))
            elif kind == 3:
                parts.append(c.pick(NAMES))
            elif kind == 4 and depth:
                parts.append(f"({self.run(c.below(3), depth - 1, usable)})")
            elif kind == 5:
                parts.append(c.pick(NUMBERS))
            elif kind == 6:
                parts.append(c.pick(SIGNS))
            elif kind == 7 and c.chance(2):
                parts.append(c.pick(STRINGS))
            else:
                parts.append(c.pick((*WORDS, *usable)))
        return " ".join(parts)

    def use(self, name: str, depth: int) -> str:
        """A macro's name with as many arguments as it takes (mostly)."""
        c, arity = self.c, self.arity[name]
        if arity < 0 or c.chance(8):
            return name
        if not depth:
            return f"{name}({', '.join(c.pick(WORDS) for _ in range(arity))})"
        count = arity + (c.below(3) if name in self.variadic else 0)
        arguments = [self.run(c.below(3), depth - 1) for _ in range(count)]
        blank = c.pick(("", "", " ", "\n"))
        return f"{name}{blank if depth > 1 or blank != chr(10) else ''}({', '.join(arguments)})"


def macros(choices: Choices) -> str:
    """One macro program."""
    return _Program(choices).text()


# ---------------------------------------------------------------- judges


def our_tokens(text: str) -> list[str] | None:
    """The tokens that our preprocessor leaves; None if it objects."""
    report = Report()
    try:
        result = preprocess(Source(text, "m.c"), {}, report)
        report.check()
    except CompileError:
        return None
    return [token.text for token in result.tokens if token.text]


def _gcc(text: str) -> tuple[str, str]:
    command = ["gcc", "-std=c11", "-undef", "-E", "-P", "-x", "c", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return run.stdout, run.stderr


def gcc_tokens(text: str) -> list[str] | None:
    """The tokens that gcc leaves; None if it objects."""
    out, errors = _gcc(text)
    return None if "error:" in errors else tokens_of(out)


_MARK = "marker_of_program"
BATCH = 50  # programs in one run of gcc


def _batch(programs: list[str]) -> list[list[str] | None] | None:
    """gcc's tokens of each program, from one run; None if a program swallowed those behind it."""
    forget = "".join(f"#undef {name}\n" for name in NAMES)
    texts = [f"{_MARK}\n{program}\n{forget}" for program in programs]
    out, errors = _gcc("".join(texts))
    parts = re.split(rf"\b{_MARK}\b", out)[1:]
    if len(parts) != len(programs) or "unterminated" in errors:
        return None
    last = list(itertools.accumulate(text.count("\n") for text in texts))
    wrong = {bisect.bisect_left(last, int(line)) for line in re.findall(r"<stdin>:(\d+):\d+: error:", errors)}
    return [None if at in wrong else tokens_of(part) for at, part in enumerate(parts)]


def compared(
    programs: list[str],
) -> tuple[list[tuple[str, list[str] | None, list[str] | None]], int]:
    """The programs on which the two differ, with our tokens and gcc's; and on how many both object."""
    wanted = _batch(programs)
    if wanted is None:
        wanted = [gcc_tokens(program) for program in programs]
    found = [our_tokens(program) for program in programs]
    rows = list(zip(programs, found, wanted, strict=True))
    return [row for row in rows if row[1] != row[2]], sum(row[1] is row[2] is None for row in rows)


def _compared(seeds: range) -> tuple[list[tuple[str, list[str] | None, list[str] | None]], int]:
    return compared([macros(Recorded(seed)) for seed in seeds])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.macros")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start, counts, both = time.perf_counter(), collections.Counter[str](), 0
    end = options.seed + options.count
    with multiprocessing.Pool() as pool:
        jobs = [range(at, min(at + BATCH, end)) for at in range(options.seed, end, BATCH)]
        for different, objected in pool.imap(_compared, jobs):
            both += objected
            for program, ours, theirs in different:
                kind = "we object" if ours is None else "gcc objects" if theirs is None else "other tokens"
                counts[kind] += 1
                if sum(counts.values()) <= 10:
                    print(f"---- {kind}\n{program}ours   {ours}\ngcc    {theirs}")
    print(
        f"{options.count} programs from seed {options.seed}: {sum(counts.values())} differ {dict(counts)}; "
        f"both object to {both}; {time.perf_counter() - start:.0f} s"
    )
    return 1 if counts else 0


if __name__ == "__main__":
    raise SystemExit(main())
