"""What a folded kernel accepts is decided by the recorded conditions of its translations.

Each text is folded from two or three define sets, and asked for numbers inside, at and beyond every bound in it:
each is equal to its own translation, or refused: by the leaves, and by the written launcher or the written kernel.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from pytriton.errors import CompileError
from pytriton.pipeline import translate
from pytriton.port.jobs.folds import Unportable
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, port_kernel
from pytriton.settings import Settings
from pytriton.source import Source
from tests.fold.test_generated import computed, launched, options_of

FLAGS = {"F": True}


def kernel(body: str) -> str:
    return f"__global__ void f(float *X, int *Y, int n) {{\n{body}\n}}\n"


def arms(condition: str) -> str:
    return kernel(f"#if {condition}\n*Y = n + 1;\n#else\n*Y = n + K;\n#endif")


TEXTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "one number apart": (arms("K == 7"), [{"K": 16}, {"K": 256}]),
    "with a flag": (arms("K == 5 && defined(F)"), [{"K": 16, "F": True}, {"K": 256}]),
    "a product": (arms("K * L == 35"), [{"K": 16, "L": 2}, {"K": 256, "L": 3}]),
    "two bounds": (
        kernel("int x = n;\n#if D > 96\nx = x + 1;\n#endif\n#if D < 128\nx = x + D;\n#endif\n*Y = x;"),
        [{"D": 64}, {"D": 128}],
    ),
    "a remainder": (kernel("*Y = n + K % 3;"), [{"K": 16}, {"K": 7}]),
    "rounded up": (kernel("*Y = n + (K + 7) / 8 * 8;"), [{"K": 16}, {"K": 7}]),
    "a square": (kernel("*Y = K * K;"), [{"K": 16}, {"K": 7}]),
    "a large factor": (kernel("*Y = K * 700000;"), [{"K": 16}, {"K": 7}]),
    "a long product": (
        "__global__ void f(int *X, long *Y, int n) {\n*Y = (K + 1) * L * 5000000000;\n}\n",
        [{"K": 16, "L": 3}, {"K": 7, "L": 5}],
    ),
    "shifted": (kernel("*Y = K << 3;"), [{"K": 16}, {"K": 7}]),
    "shifting": (kernel("*Y = 1 << K;"), [{"K": 3}, {"K": 7}]),
    "a number of the loop": (
        kernel("int s = 0; for (int i = 0; i < n; i += K) s += i; *Y = s;"),
        [{"K": 2}, {"K": 3}],
    ),
    "chosen by a number": (kernel("*Y = K > 100 ? n : n + K;"), [{"K": 16}, {"K": 7}]),
}
EDGES = (0, 1, 2, 3, 5, 6, 7, 8, 15, 16, 17, 31, 32, 35, 63, 64, 65, 80, 96, 97, 100, 101, 112, 127, 128, 129)
FAR = (256, 3067, 3068, 46340, 46341, 1 << 20, (1 << 28) - 1, 1 << 28, (1 << 31) - 1, 1 << 31, (1 << 40) + 3)
NUMBERS = sorted({*EDGES, *FAR, *(-number for number in (*EDGES, *FAR))})


def judged(text: str, sets: list[dict[str, Any]], asked: list[dict[str, Any]]) -> tuple[int, int]:
    """How many of the sets are accepted, and how many have a translation."""
    try:
        ported = port_kernel(Translations(Source(text), Settings(None)), [DefineSet(one) for one in sets])
    except Unportable:
        return 0, 0
    written = launched(ported)
    accepted = possible = 0
    for defines in asked:
        try:
            own = translate(text, defines)
        except CompileError:
            own = None
        possible += own is not None
        refusal, options = ported.refusal(defines), options_of(ported, written, defines)
        assert (refusal is not None) == isinstance(options, str), (
            f"{defines}: {refusal} / {options}\n{written.source}"
        )
        if isinstance(options, str):
            continue
        accepted += 1
        assert own is not None, defines
        wanted = computed(own.text, own.function, "X", "Y", 17, **own.constexprs)
        found = computed(ported.text, ported.function, "X", "Y", 17, **options)
        assert found == wanted, f"{defines}: {found} for {wanted}\n{text}\n{ported.text}\n{own.text}"
    return accepted, possible


@pytest.mark.parametrize("name", TEXTS)
def test_inside_at_and_beyond(name: str) -> None:
    text, sets = TEXTS[name]
    names = sorted({define for one in sets for define in one} - FLAGS.keys())
    flags: list[dict[str, Any]] = [{}, FLAGS] if any("F" in one for one in sets) else [{}]
    rows = itertools.product(NUMBERS, *[(1, 2, 3, 5, 7, 100)] * (len(names) - 1))
    asked = [dict(zip(names, row, strict=True)) | flag for row in rows for flag in flags]
    accepted, _ = judged(text, sets, sets + asked)
    assert accepted >= len(sets)


COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def drawn(chance: random.Random) -> tuple[str, list[dict[str, Any]], list[dict[str, Any]]]:
    """A kernel with conditions over two numbers and a flag; define sets; and others around each bound."""
    bounds = [chance.choice((1, 2, 7, 16, 33, 64, 96, 100, 128, 1000)) for _ in range(3)]

    def condition() -> str:
        bound = chance.choice(bounds)
        sign = chance.choice(COMPARISONS)
        term = chance.choice(["K", "L", "K * L", "K + L", "K - L", "K % 8", "K / 3", "K << 1"])
        flag = chance.choice(["", "", " && defined(F)", " || defined(F)"])
        return f"{term} {sign} {bound}{flag}"

    def value() -> str:
        return chance.choice(
            ["K", "L + K", "K * 1000", "L * K", "K / 4", "K % 5", "(K + 3) / 4 * 4", "L - K", "K << 2"]
        )

    body = [
        "int x = n;",
        f"#if {condition()}",
        f"x = x + {value()};",
        "#else",
        f"x = x - ({value()});",
        "#endif",
    ]
    body += [f"#if {condition()}", f"x = x + {value()};", "#endif"]
    plain = condition().partition(" &&")[0].partition(" ||")[0]
    body.append(f"*Y = {plain} ? x : x + {value()};")
    near = [bound + step for bound in bounds for step in (-1, 0, 1)] + [
        0,
        -1,
        -17,
        1 << 20,
        1 << 30,
        (1 << 31) - 1,
    ]

    def defines(numbers: list[int]) -> dict[str, Any]:
        return {name: chance.choice(numbers) for name in "KL"} | (FLAGS if chance.random() < 0.5 else {})

    small = [number for number in near if 0 < number < 200] or [1]
    return kernel("\n".join(body)), [defines(small) for _ in range(3)], [defines(near) for _ in range(16)]


def judge_drawn(first: int, count: int) -> None:
    totals = [0, 0]
    for seed in range(first, first + count):
        text, sets, asked = drawn(random.Random(seed))
        valid = [one for one in sets if _translates(text, one)]
        if not valid:
            continue
        for at, number in enumerate(judged(text, valid, valid + asked)):
            totals[at] += number
    print(f"{totals[0]} accepted of {totals[1]} that have a translation")
    assert totals[0] > 0


def _translates(text: str, defines: dict[str, Any]) -> bool:
    try:
        translate(text, defines)
    except CompileError:
        return False
    return True


def test_drawn() -> None:
    judge_drawn(0, 12)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_many_drawn(part: int) -> None:
    """5,000 define sets: 320 kernels with 16 each."""
    judge_drawn(1000 + part * 40, 40)
