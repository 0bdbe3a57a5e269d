"""Ported kernels are proved; what is wrong is found, by TTIR and by bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet
from pytriton.port.ported import observed_defines
from pytriton.port.proof import ProvedKernel, prove_kernel, proved_kernels
from pytriton.port.run.observations import observation
from pytriton.settings import Settings
from pytriton.source import Source
from tests.legacy.modules import NAMES, PACKAGES

ROOT = Path(__file__).parents[2]
MAX_RATIO = 3  # lines of Python for a line of Triton-C
MAX_HEAD = 8  # lines of a module that no text is long enough for: imports and empty lines
MAX_DIFFERING = 0.05  # of all define sets

TEXT = """\
__global__ void scale(TYPE *Y, TYPE *X, float a, int n) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
#ifdef ADD
  *?(i < n) (Y + i) = *?(i < n) (X + i) + a;
#else
  *?(i < n) (Y + i) = *?(i < n) (X + i) * a;
#endif
}
"""
SETS = [DefineSet({"TYPE": ["half", "float"], "TN": [32, 64], **flags}) for flags in ({}, {"ADD": True})]


@pytest.fixture(scope="module")
def proof() -> ProvedKernel:
    (kernel,) = proved_kernels(Source(TEXT), None, SETS)
    return kernel


def changed(proof: ProvedKernel, old: str, new: str) -> ProvedKernel:
    """The proof of the same kernel with another text."""
    folded = proof.kernel.folded
    text = folded.text.replace(old, new, 1)
    assert text != folded.text
    kernel = replace(proof.kernel, text=text, folded=folded._replace(text=text))
    return prove_kernel(kernel, Translations(Source(TEXT), Settings()))


def test_every_define_set_is_proved_and_unseen_sizes_too(proof: ProvedKernel) -> None:
    assert (proof.differing, proof.unequal, proof.strange) == ((), (), ())
    assert proof.by_ttir == proof.tried == len(proof.kernel.sets) >= 8
    assert proof.unseen >= 4
    assert proof.summary().startswith(f"{proof.tried} define sets (8 read, ")
    assert f"{proof.tried} proved by TTIR; " in proof.summary()


def test_what_computes_something_else_differs_in_its_bytes(proof: ProvedKernel) -> None:
    wrong = changed(proof, "* a", "* a * a")
    assert {one.defines.get("ADD") for one in wrong.differing} == {None}
    assert len(wrong.unequal) == len(wrong.differing)
    assert wrong.strange
    assert f"{len(wrong.unequal)} differ" in wrong.summary()


def test_another_way_to_compute_the_same_is_proved_by_bytes(proof: ProvedKernel) -> None:
    other = changed(proof, "* a", "* (a * 2.0) * 0.5")
    assert other.differing
    assert any("mulf" in line for line in other.differing[0].lines)
    assert other.unequal == ()
    assert f"{len(other.differing)} by bytes on random memory" in other.summary()


# ---------------------------------------------------------------- the packages


def observed(name: str, folder: Path) -> Iterator[tuple[str, str | None, list[DefineSet]]]:
    """The texts that a package's own tests launch, with their define sets."""
    file = folder / "launches.json"
    own = PACKAGES.with_name("packages_tests") / f"test_{name}.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(PACKAGES)])}
    environment |= {"CUDA_VISIBLE_DEVICES": "", "PYTEST_ADDOPTS": ""}
    words = ["-m", "pytriton.port.run.recorder", str(file), "--legacy", name]
    tests = ["-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", str(own)]
    subprocess.run([sys.executable, *words, *tests], cwd=own.parent, env=environment, check=True)
    sets: dict[tuple[str, str | None], list[DefineSet]] = {}
    for launch in map(observation, json.loads(file.read_text())):
        group = sets.setdefault((launch.text, launch.said["kernel"]), [])
        group += [DefineSet(defines, "observed") for defines in observed_defines(launch)]
    for (text, kernel), defines in sets.items():
        yield text, kernel, defines


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_packages_are_short_and_proved(name: str, tmp_path: Path) -> None:
    old: dict[str, int] = {}
    new = tried = differing = 0
    for text, kernel, sets in observed(name, tmp_path):
        proofs = proved_kernels(Source(text, name), kernel, sets)
        assert len(proofs) == 1, proofs[0].kernel.apart
        (proof,) = proofs
        assert proof.unequal == proof.strange == (), proof.kernel.text
        lines = len(proof.kernel.text.splitlines())
        assert lines <= MAX_RATIO * len(text.strip().splitlines()) + MAX_HEAD
        old[text] = len(text.strip().splitlines())
        new, tried, differing = new + lines, tried + proof.tried, differing + len(proof.differing)
    assert old
    assert new <= MAX_RATIO * sum(old.values())
    assert differing <= MAX_DIFFERING * tried
