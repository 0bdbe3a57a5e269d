"""Ported kernels are proved by TTIR; what differs is found, and refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, PortedKernel, port_kernel
from pytriton.port.ported import observed_defines
from pytriton.port.prove import _same, prove_kernel
from pytriton.port.run.observations import observe
from pytriton.settings import Settings
from pytriton.source import Source
from tests.legacy.modules import NAMES, PACKAGES

ROOT = Path(__file__).parents[2]
MAX_RATIO = 3  # lines of Python for a line of Triton-C
MAX_HEAD = 8  # lines of a module that no text is long enough for: imports and empty lines

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


def proved(text: str, kernel: str | None, sets: list[DefineSet], name: str = "<kernel>") -> PortedKernel:
    source = Source(text, name)
    translations = Translations(source, Settings(kernel))
    return prove_kernel(port_kernel(translations, sets), translations)


@pytest.fixture(scope="module")
def kernel() -> PortedKernel:
    kernel = proved(TEXT, None, SETS)
    return kernel


def changed(kernel: PortedKernel, old: str, new: str) -> PortedKernel:
    """The same kernel with another text, after its proof."""
    text = kernel.text.replace(old, new, 1)
    assert text != kernel.text
    kernel = replace(kernel, folded=kernel.folded._replace(text=text))
    return prove_kernel(kernel, Translations(Source(TEXT), Settings()))


def test_every_define_set_is_proved(kernel: PortedKernel) -> None:
    assert kernel.proof is not None
    assert kernel.proof.wrong == ()
    assert kernel.proof.single.equal == kernel.proof.single.tried == len(kernel.sets) >= 8
    assert kernel.summary().startswith(f"{len(kernel.sets)} define sets (8 read, ")
    assert f"{len(kernel.sets)} proved by TTIR" in kernel.summary()


@pytest.mark.parametrize("instead", ["* a * a", "* (a * 2.0) * 0.5"], ids=["wrong", "the same otherwise"])
def test_another_program_differs_and_is_refused(kernel: PortedKernel, instead: str) -> None:
    wrong = changed(kernel, "* a", instead)
    assert wrong.proof is not None
    known, _ = wrong.proof
    assert {one.defines.get("ADD") for one in known.different} == {None}
    assert any("mulf" in line for line in known.different[0].lines)
    assert f"{len(known.different)} differ" in wrong.summary()
    assert all(wrong.refusal(one.defines) for one in wrong.proof.wrong)
    assert all(known.defines.get("ADD") for known in wrong.sets)


LOAD = "%v1 = tt.load %v0 {} : !tt.ptr<i32>"
DIVISIBLE = "tt.divisibility = dense<16> : tensor<1xi32>"
CONTIGUOUS = "tt.contiguity = dense<[16, 1]> : tensor<2xi32>"


def loaded(*attributes: str) -> tuple[str, ...]:
    inside = ", ".join(attributes)
    return "tt.func @kernel", LOAD.replace(" {}", f" {{{inside}}}" if inside else ""), "tt.return"


@pytest.mark.parametrize("kept", [(), ("isVolatile = true",)])
def test_a_hint_may_be_lacking(kept: tuple[str, ...]) -> None:
    wanted = loaded(CONTIGUOUS, *kept, DIVISIBLE)
    for made in (wanted, loaded(*kept), loaded(CONTIGUOUS, *kept), loaded(*kept, DIVISIBLE)):
        assert _same(made, wanted)


def test_a_hint_may_not_be_more_or_another() -> None:
    more = DIVISIBLE.replace("16", "32")
    assert not _same(loaded(DIVISIBLE), loaded())
    assert not _same(loaded(CONTIGUOUS, DIVISIBLE), loaded(DIVISIBLE))
    assert not _same(loaded(more), loaded(DIVISIBLE))
    assert not _same(loaded(), loaded(DIVISIBLE, "isVolatile = true"))
    assert not _same(loaded("isVolatile = true"), loaded(DIVISIBLE))
    assert not _same(loaded()[:2], loaded(DIVISIBLE))
    printed = f'tt.print "{{{DIVISIBLE}}}" : %v0'
    assert not _same(['tt.print "" : %v0'], [printed])


# ---------------------------------------------------------------- the packages


def observed(name: str) -> Iterator[tuple[str, str | None, list[DefineSet]]]:
    """The texts that a package's own tests launch, with their define sets."""
    own = PACKAGES.with_name("packages_tests") / f"test_{name}.py"
    program = f"CUDA_VISIBLE_DEVICES= PYTEST_ADDOPTS= pytest -q -p no:xdist -p no:cacheprovider {own}"
    launches, status = observe(program, [PACKAGES / name])
    assert status == 0
    sets: dict[tuple[str, str | None], list[DefineSet]] = {}
    for launch in launches:
        group = sets.setdefault((launch.text, launch.options["kernel"]), [])
        group += [DefineSet(defines, "observed") for defines in observed_defines(launch)]
    for (text, kernel), defines in sets.items():
        yield text, kernel, defines


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_packages_are_short_and_proved(name: str) -> None:
    old: dict[str, int] = {}
    new = 0
    for text, kernel, sets in observed(name):
        ported = proved(text, kernel, sets, name)
        assert ported.proof is not None
        assert ported.proof.wrong == (), ported.text
        lines = len(ported.text.splitlines())
        assert lines <= MAX_RATIO * len(text.strip().splitlines()) + MAX_HEAD
        old[text] = len(text.strip().splitlines())
        new += lines
    assert old
    assert new <= MAX_RATIO * sum(old.values())
