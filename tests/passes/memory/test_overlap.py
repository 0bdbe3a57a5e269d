"""Barriers: none where two accesses, or two iterations of a loop, are shown apart, one wherever they might meet."""

from __future__ import annotations

import random

import pytest

import pytriton
from pytriton.pipeline import translate_as
from pytriton.settings import Settings
from tests.work import counted

HEAD = (
    "void f(float *Y __noalias, int *Z __noalias, int M, int N, long S) {\n  int pid = get_program_id(0);\n"
)
DEFINES = {"T": 16}


def barriers(body: str, **defines: object) -> int:
    text = translate_as(HEAD + body + "\n}\n", {**DEFINES, **defines}, Settings()).text
    return text.count("tl.debug_barrier()")


UP = "for (int m = 0; m < M; m += T) "
RANGE = "int r[T] = 0 ... T; "

APART = {
    "a range moved by its length": UP + "{ int rm[T] = m + 0 ... T; *(Y + rm) = m; }",
    "masked": UP + "{ int rm[T] = m + 0 ... T; *?(rm < M)(Y + rm) = m; }",
    "read and written": RANGE + UP + "{ float x[T] = *(Y + m + r); *(Y + m + r) = exp(x); }",
    "a scalar": "for (int m = 0; m < M; m++) *(Y + m) = m;",
    "a block that advances": RANGE + UP + "{ *(Y + r) = m; r += T; }",
    "a block set again before the loop": RANGE + "r += 3; r = 0 ... T; " + UP + "{ *(Y + r) = m; r += T; }",
    "pointers that advance": "float *py[T] = Y + pid * N + 0 ... T; " + UP + "{ *py = m; py += T; }",
    "pointers in a while": "float *py[T] = Y + 0 ... T; int n = N; while (n > 0) { *py = n; py += T; n /= 2; }",
    "a scalar pointer in a while": "float *p = Y; int n = N; while (n > 0) { *p = n; p++; n /= 2; }",
    "advanced before the store": "float *py[T] = Y + 0 ... T; " + UP + "{ py += T; *py = m; }",
    "down": RANGE + "for (int m = M; m > 0; m -= T) *(Y + m + r) = m;",
    "down by pointers": "float *py[T] = Y + 0 ... T; for (int m = M; m > 0; m -= T) { *py = m; py -= T; }",
    "steps that are larger": RANGE + "for (int m = 0; m < M; m += 2 * T) *(Y + m + r) = m;",
    "two stores side by side": RANGE + "for (int m = 0; m < M; m += 2 * T)"
    " { *(Y + m + r) = m; *(Y + m + T + r) = 0; }",
    "rows of a known length": "int r[4] = 0 ... 4; int i[4, T] = r[:, newaxis] * T + (0 ... T)[newaxis, :];"
    " float *p[4, T] = Y + i; " + UP + "{ *p = m; p += 4 * T; }",
    "a row of each iteration": RANGE + "for (int m = 0; m < 64; m++) *(Y + m * T + r) = m;",
    "behind a row's number": RANGE + UP + "*(Y + pid * N + m + r) = m;",
    "few iterations": RANGE + "for (int m = 0; m < 4; m++) { *(Y + m) = m; *(Y + 4 + m) = m; }",
    "in an inner loop": RANGE + "for (int i = 0; i < N; i++) { __debug_barrier();"
    " for (int m = 0; m < M; m += T) *(Y + m + r) = m; }",
    "images": RANGE
    + "int C = get_num_programs(0); "
    + UP
    + "{ long off[T] = (long)(r / N) * C * N + pid * N + r % N;"
    " *(Y + off) = m; r += T; }",
}

TOGETHER = {
    "told by itself, through another variable": "int s = N; "
    + RANGE
    + UP
    + "{ *(Y + s + r) = m; int t = s; s = t; }",
    "a step below the length": UP.replace("+= T", "+= T / 2") + "{ int rm[T] = m + 0 ... T; *(Y + rm) = m; }",
    "a step of 256 that a char cuts to 0": "float *py[T] = Y + 0 ... T; "
    + UP
    + "{ *py = m; py += (char)(16 * T); }",
    "masks do not matter": UP.replace("+= T", "+= T / 2")
    + "{ int rm[T] = m + 0 ... T; *?(rm < m + T / 2)(Y + rm) = m; }",
    "no step": RANGE + "int k = 3; " + UP + "{ *(Y + r + k) = m; *(Y + r + 1) = 0; }",
    "down by less": RANGE + "for (int m = M; m > 0; m -= T - 1) *(Y + m + r) = m;",
    "against each other": RANGE + UP + "*(Y + m - m + r + pid * r) = m;",
    "towards the range": RANGE
    + "for (int m = 0; m < M; m += T) { int k[T] = r - m; k += m; *(Y + k * 2) = m;"
    " *(Y + k) = 1; }",
    "an unknown factor": RANGE + UP + "*(Y + m * N + r) = m;",
    "rows of unknown length": "int i[4, T] = (0 ... 4)[:, newaxis] * N + (0 ... T)[newaxis, :]; "
    + UP
    + "*(Y + m + i) = m;",
    "a factor that may wrap": RANGE + "for (int m = 0; m < M; m += T) *(Y + m * 4 + r) = m;",
    "a bound that may wrap": RANGE + "for (int m = N; m < M; m += T + 2) *(Y + (m + r)) = m;",
    "a block that wraps in a while": RANGE + "int n = N; while (n != 1) { *(Y + r) = n; r += T; n *= 3; }",
    "a block that advances twice": RANGE + UP + "{ *(Y + r) = m; r += T; r -= T; }",
    "a block that advances on a condition": RANGE + UP + "{ *(Y + r) = m; if (m > N) r += T; }",
    "a block that a branch sets": RANGE + "if (N) r = r * 2; " + UP + "{ *(Y + r) = m; r += T; }",
    "a block of any start": "int r[T] = *(Z + 0 ... T); " + UP + "{ *(Y + r) = m; r += T; }",
    "an advance of any size": RANGE + UP + "{ *(Y + r) = m; r += N; }",
    "an advance of any size by pointers": "float *py[T] = Y + 0 ... T; " + UP + "{ *py = m; py += N; }",
    "a base that changes": RANGE + UP + "{ int base = *(Z + m); *(Y + base + m + r) = m; }",
    "a base set behind": RANGE + "int b = 0; " + UP + "{ *(Y + b + m + r) = m; b = M - m; }",
    "the iteration before": RANGE + UP + "{ *(Y + m + T + r) = m; *(Y + m + r) = 0; }",
    "a read of the iteration before": RANGE
    + "float s = 0; "
    + UP
    + "{ *(Y + m + T + r) = m; s += *(Y + m); } *Z = s;",
    "an outer loop that comes back": RANGE + "for (int i = 0; i < N; i++) for (int m = 0; m < M; m += T)"
    " *(Y + m + r) = m;",
    "an outer loop that moves less": RANGE + "for (int i = 0; i < N; i++) for (int m = 0; m < M; m += T)"
    " *(Y + i + m + r) = m;",
    "an iteration too many": RANGE + "for (int m = 0; m < 5; m++) { *(Y + m) = m; *(Y + 4 + m) = m; }",
    "behind the loop": RANGE + UP + "*(Y + m + r) = m; *(Y + r) = 0;",
    "narrow numbers": RANGE + "for (int m = 0; m < M; m += T) *(Y + (short)m + r) = m;",
    "another element": RANGE + "double *D = (double *)Y; " + UP + "{ *(Y + m + r) = m; *(D + m + r) = 0; }",
    "images of any number": RANGE
    + UP
    + "{ long off[T] = (long)(r / N) * M * N + r % N; *(Y + off) = m; r += T; }",
    "images in 32 bits": RANGE
    + "int C = get_num_programs(0); "
    + UP
    + "{ int off[T] = (r / N) * C * N + r % N; *(Y + off) = m; r += T; }",
    "images of two lengths": RANGE
    + "int C = get_num_programs(0); "
    + UP
    + "{ long off[T] = (long)(r / N) * C * N + r % M; *(Y + off) = m; r += T; }",
    "images, moved": RANGE
    + "int C = get_num_programs(0); "
    + UP
    + "{ long off[T] = (long)(r / N) * C * N + r % N - m; *(Y + off) = m; r += T; }",
}


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_apart(body: str) -> None:
    assert barriers(body) == body.count("__debug_barrier")


@pytest.mark.parametrize("body", TOGETHER.values(), ids=TOGETHER)
def test_together(body: str) -> None:
    assert barriers(body) > 0


WIDE = "int w[256] = 0 ... 256; "
MEET_AT_ONCE = {
    "a range that a char cuts": WIDE
    + "*(Y + 256 + (char)w) = 1; float x[256] = *(Y + w); *(Y + 1000 + w) = x;",
    "a scalar that a char cuts": WIDE + "*(Y + (char)M + w) = 1; float x[256] = *(Y + M + 256 + w);",
    "bytes of another type": RANGE + "*(Y + r) = 1; char x[T] = *((char *)Y + T + r);",
}


@pytest.mark.parametrize("body", MEET_AT_ONCE.values(), ids=MEET_AT_ONCE)
def test_what_a_conversion_changes_is_not_compared(body: str) -> None:
    assert barriers(body) > 0


# An iteration starts in what the iterations before really left, whatever way they went: language.md, section 8.
NEXT_TURN = {
    "a barrier that moves": RANGE + "int w[T] = 0; *(D + r) = 1; for (int i = 0; i < 3; i++)"
    " { int v[T] = *(Z + r + i * 17); *(Z + r + i * 17 + T) = v + 1; if (*D) w += *(Z + r + i * 17); }",
    "an iteration that skips the store": "float *p[2048] = Y + 0 ... 2048; float w[2048] = 0;"
    " for (int i = 0; i < M; i++)"
    " { w += *p; p += N; if (*(Z + i)) *p = i; }",
}
TESTS = {
    "while": "while (*Z) { *(Z + 0 ... T) = 0; }",
    "for": "for (int i = 0; *(Z + i) > 3; i++) *(Z + 0 ... T) = 0;",
}


@pytest.mark.parametrize("body", NEXT_TURN.values(), ids=NEXT_TURN)
def test_the_start_of_the_next_turn(body: str) -> None:
    head = HEAD.replace("int *Z", "int *D, int *Z __noalias")
    text = pytriton.translate(head + body + "\n}\n", DEFINES).text
    loop = text[text.index("    for ") :].splitlines()
    assert loop[1].strip().startswith("tl.debug_barrier()"), text


@pytest.mark.parametrize("body", TESTS.values(), ids=TESTS)
def test_a_test_that_reads_what_the_turn_stored(body: str) -> None:
    text = pytriton.translate(HEAD + body + "\n}\n", DEFINES).text
    assert text.splitlines()[-1].strip().startswith("tl.debug_barrier()"), text


def wrapped(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("seed", range(300))
def test_against_the_addresses(seed: int) -> None:
    """Where random sums meet in two iterations, counted out, there is a barrier."""
    pick = random.Random(seed)
    length, step, factor, scale = (pick.choice((1, 2, 3, 4, 8)) for _ in range(4))
    offset, iterations = pick.choice((0, 5, -3)), pick.choice((2, 3, 5))
    start = pick.choice((0, 7))
    big = pick.choice((1, 1, 1, 2**27, 2**29))
    declare = f"int r[{length}] = 0 ... {length}; "
    loop = f"for (int m = {start}; m < {start + iterations * step}; m += {step}) "
    body = declare + loop + f"*(Y + (m * {factor * big} + r * {scale} + {offset})) = m;"
    reached = [
        {wrapped(wrapped(m * factor * big) + r * scale + offset) for r in range(length)}
        for m in range(start, start + iterations * step, step)
    ]
    meet = any(one & other for at, one in enumerate(reached) for other in reached[:at])
    assert barriers(body) > 0 if meet else True


def reached(scale: int, offset: int, times: int, bits: int, m: int) -> set[int]:
    half = 2 ** (bits - 1)
    return {(r * scale + offset + m * times + half) % 2**bits - half for r in range(16)}


@pytest.mark.parametrize("seed", range(200))
@pytest.mark.sampled(2)
def test_two_blocks_against_the_addresses(seed: int) -> None:
    """Where two random blocks meet for some M, counted out, there is a barrier."""
    pick = random.Random(seed)
    scales, offsets = (1, 1, 2), (0, 15, 16, 32, 2**31 - 1)
    sums = [
        (pick.choice(scales), pick.choice(offsets), pick.choice((0, 1, 1, 2)), pick.choice((8, 32, 32)))
        for _ in range(2)
    ]
    store, load = (
        f"Y + {'(char)' if bits == 8 else ''}(r * {scale} + {offset} + M * {times})"
        for scale, offset, times, bits in sums
    )
    meet = any(reached(*sums[0], m) & reached(*sums[1], m) for m in (0, 1, 16, 100, -20, 2**31 - 1))
    count = barriers(RANGE + f"*({store}) = 1; float x[T] = *({load}); *(Z + r) = x;")
    assert count > 0 if meet else True


def test_long_chains_are_little_work() -> None:
    chain = "".join(f"int v{n + 1}[T] = v{n} + v{n}; " for n in range(40))
    text = RANGE + UP + "{ int v0[T] = m + r; " + chain + "*(Y + v40) = m; }"
    assert counted(lambda: barriers(text), most=400_000)[1] == 1
