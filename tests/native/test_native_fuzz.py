"""Generated kernels in C, judged by the evaluator of the language, the interpreter, and gcc where values are known.

``python -m tests.fuzz N --seed S --device c`` runs N others.
"""

from __future__ import annotations

import pytest

from pytriton.runtime.native.c_compiler import NoLibrary, find
from tests.fuzz.choices import Recorded
from tests.fuzz.judge import judged
from tests.fuzz.kernels import OPEN, generate
from tests.oracle.judges import show

KERNELS = 12
SEED = 430_000

pytestmark = pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")


@pytest.mark.filterwarnings("ignore")
def test_generated_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTRITON_CC", "none")  # for the module; C runs all the same
    compared = 0
    for seed in range(SEED, SEED + KERNELS):
        case = generate(Recorded(seed), OPEN)
        verdict = judged(case, device="c")
        assert not verdict.failed, (
            f"seed {seed}: {verdict.kind} {verdict.detail} {verdict.message}\n{show(case)}"
        )
        compared += "C" in verdict.about
    assert compared > KERNELS // 2
