"""Folded kernels: goldens, proved for every define set by TTIR and computed for many of them by the interpreter.

A case is a folder with ``expected.py`` and ``case.toml``: ``[[sets]]`` are products of ``axes``, each a list of
defines to choose from. Its text is ``kernel.c``, or stands in an old package: ``source`` is the file there, and
``variable`` the name of the string in it.
"""

from __future__ import annotations

import ast
import itertools
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytriton.fold.fold import Folded, fold
from pytriton.fold.variants import Variant
from pytriton.pipeline import Translation
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import Difference
from pytriton.port.prove import differences
from pytriton.runtime.compare import Case, compare, load_ported
from pytriton.settings import Settings
from pytriton.source import Source
from tests.legacy.modules import PACKAGES

CASES = Path(__file__).parent / "cases"
# Many define sets each: seconds of translating and proving.
LARGE = (
    "convolution_and_gradients",
    "layouts_as_text",
    "product_of_any_layout",
    "softmax_of_six_flags",
    "sparse_products",
)
NAMES = [
    pytest.param(path.name, marks=[pytest.mark.slow] * (path.name in LARGE), id=path.name)
    for path in sorted(CASES.iterdir())
]
MAX_RATIO = 2.5  # lines of Python for a line of Triton-C


def settings(name: str) -> dict[str, Any]:
    return tomllib.loads((CASES / name / "case.toml").read_text())


@cache
def text_of(name: str) -> str:
    """The Triton-C of a case."""
    asked = settings(name)
    if "source" not in asked:
        return (CASES / name / "kernel.c").read_text()
    text = (PACKAGES / asked["source"]).read_text()
    if "variable" not in asked:
        return text
    strings = {
        ast.unparse(node.targets[0]): node.value.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    string = strings[asked["variable"]]
    assert isinstance(string, str)
    return string


def define_sets(asked: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    for group in asked["sets"]:
        for row in itertools.product(*group["axes"]):
            yield {key: value for part in row for key, value in part.items()}


@cache
def translations(name: str) -> Translations:
    return Translations(Source(text_of(name)), Settings(settings(name).get("kernel")))


@cache
def variants(name: str) -> tuple[Variant, ...]:
    return tuple(variant(name, defines) for defines in define_sets(settings(name)))


def variant(name: str, defines: Mapping[str, object]) -> Variant:
    translation = translations(name)(defines)
    assert isinstance(translation, Translation)
    return Variant(defines, translation)


class Proof(NamedTuple):
    folded: Folded
    differences: tuple[Difference, ...]


@cache
def proof(name: str) -> Proof:
    folded = fold(text_of(name), variants(name))
    return Proof(folded, tuple(differences(folded, variants(name))))


def refused(name: str, **changed: object) -> str | None:
    defines = {**variants(name)[0].defines, **changed}
    return proof(name).folded.leaves.refusal(defines)


@pytest.mark.parametrize("name", NAMES)
def test_text(name: str, update_golden: bool) -> None:
    text = proof(name).folded.text
    path = CASES / name / "expected.py"
    if update_golden:
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_every_define_set_has_the_same_ttir(name: str) -> None:
    assert [(found.defines, found.lines) for found in proof(name).differences] == []


@pytest.mark.parametrize("name", NAMES)
def test_text_is_short_and_formatted(name: str) -> None:
    text, source = proof(name).folded.text, text_of(name)
    assert len(text.splitlines()) <= MAX_RATIO * len(source.splitlines())
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length=120", "-"]
    assert subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout == text


@pytest.mark.parametrize("name", NAMES)
def test_user_comments_stand_once(name: str) -> None:
    texts = [variant.translation.text for variant in variants(name)]
    source, folded = text_of(name), proof(name).folded.text
    comments = {line.strip() for text in texts for line in text.splitlines() if line.strip().startswith("# ")}
    for comment in comments:
        if comment[2:] in source:
            assert folded.count(comment) == source.count(comment[2:])


def compute(name: str, step: int, tmp_path: Path) -> None:
    """Both on the interpreter, with the same memory, for every so many define sets."""
    source, folded = text_of(name), proof(name).folded
    path = tmp_path / "folded.py"
    path.write_text(folded.text)
    kernel = getattr(load_ported(path), folded.function)
    for defines, translation in variants(name)[::step]:
        present = tuple(parameter.identifier for parameter in translation.parameters)

        def launch(*arguments: Any, config: Any, grid: Any) -> None:
            kernel[grid](*arguments, **config.kwargs)

        if present == folded.parameters:  # where one is missing, it is for TTIR alone to say
            compare(source, translation.kernel, launch, Case(defines, folded.bind(defines)), 16, (2, 2, 2))


@pytest.mark.parametrize("name", ["contraction", "softmax_of_four_types"])
@pytest.mark.sampled(6)
def test_memory_is_the_same(name: str, tmp_path: Path) -> None:
    compute(name, settings(name).get("step", 1), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_memory_is_the_same_for_all(name: str, tmp_path: Path) -> None:
    compute(name, 1, tmp_path)


# What the proof must not overlook, each in softmax_of_six_flags.
WRONG = [
    ("y *= scale", "y += scale"),
    ("other=0.0", "other=1.0"),
    (" * 2, 0)", " * 2, 1)"),
    ("if KEYS_MUL", "if PAIRS_MUL"),
    ("& in_TN", "| in_TN"),
    ("    tl.debug_barrier()", "    pass"),
    ("head_rpe +", "head_rpe -"),
    ("tl.max(", "tl.min("),
    ("px, mask=check", "X + t, mask=check"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("right", "wrong"), WRONG)
def test_proof_fails_for_another_kernel(right: str, wrong: str) -> None:
    name = "softmax_of_six_flags"
    folded = proof(name).folded
    changed = folded._replace(text=folded.text.replace(right, wrong, 1))
    assert changed.text != folded.text
    assert list(differences(changed, variants(name)[5::17]))


# ---------------------------------------------------------------- define sets that were not folded

UNSEEN = [96, 100, 640, 1000, 1024, 1536, 4096]


@pytest.mark.parametrize("size", UNSEEN)
@pytest.mark.parametrize(
    "name", [pytest.param("softmax_of_six_flags", marks=pytest.mark.slow), "softmax_backward"]
)
@pytest.mark.sampled(6)
def test_unseen_sizes_have_the_same_ttir(name: str, size: int) -> None:
    defines = {**variants(name)[-1].defines, "TN": size}
    if proof(name).folded.leaves.refusal(defines) is not None:
        assert size not in (640, 1000, 1536)  # no variant was on this side of each question
        return
    assert list(differences(proof(name).folded, [variant(name, defines)])) == []


@pytest.mark.slow
def test_unseen_types_and_flags_are_refused() -> None:
    name = "softmax_of_six_flags"
    assert refused(name) is None
    assert "TYPE=bfloat16" in str(refused(name, TYPE="bfloat16"))
    assert "not proved with KEYS_MUL=True" in str(refused(name, KEYS_MUL=True))
    assert refused(name, TN="many") == "TN is 'many', not of type int"


@pytest.mark.slow
def test_numbers_that_decide_something_new_are_refused() -> None:
    """tl.dot wants 16 elements, and sizes that are powers of two need no masks: neither was ever another way."""
    assert "TK >= 16" in str(refused("layouts_as_text", TM=128, TN=128, TK=8))
    assert "TM & (TM - 1) == 0" in str(refused("layouts_as_text", TM=80))
    assert "STRIDE_AM=2" in str(refused("layouts_as_text", STRIDE_AM="2"))


def test_arms_that_no_known_set_reads_are_refused() -> None:
    """No variant has it: neither an undefined flag nor another value of an ``#if``."""
    name = "sparse_products"
    source = text_of(name)
    some = [
        variant for variant in variants(name) if variant.defines["TZ"] == 1 and "DDS" not in variant.defines
    ]
    known = fold(source, some).leaves
    assert known.refusal(some[0].defines) is None
    assert "DDS=True" in str(known.refusal({**some[0].defines, "DDS": True}))
    assert "requires TZ == 1" in str(known.refusal({**some[0].defines, "TZ": 2}))
