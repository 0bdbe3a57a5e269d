"""Kernels edited at random, pieces and bytes at random."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tests.hostile.attempts import GIVEN, TEXTS, attempt, kernel

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


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(index=st.integers(0, len(TEXTS) - 1), seed=st.integers(0, 2**32), edits=st.integers(1, 8))
@example(index=0, seed=0, edits=1)
def test_mutated_kernels(index: int, seed: int, edits: int) -> None:
    change_and_attempt(index, seed, edits)


@pytest.mark.slow
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(index=st.integers(0, len(TEXTS) - 1), seed=st.integers(0, 2**32), edits=st.integers(1, 8))
def test_many_mutated_kernels(index: int, seed: int, edits: int) -> None:
    change_and_attempt(index, seed, edits)


def change_and_attempt(index: int, seed: int, edits: int) -> None:
    text = mutated(TEXTS[index], random.Random(seed), edits)
    assume(not PRIVATE.search(text))
    attempt(text, GIVEN[index])


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_pieces_at_random(pieces: list[str]) -> None:
    attempt(" ".join(pieces), {"TM": 16, "TYPE": "float"})
    attempt(kernel(" ".join(pieces)), {"TM": 16, "TYPE": "float"})
    attempt(kernel(f"*X = {' '.join(pieces)};"), {"TM": 16, "TYPE": "float"})
    attempt(kernel("*X = D;"), {"D": " ".join(pieces)})


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_bytes_at_random(data: bytes) -> None:
    attempt(data)
    attempt(kernel("*X = 1; //").encode() + data)
