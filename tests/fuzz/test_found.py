"""What the fuzzer found: mended disagreements stay mended, open ones are expected failures. See found.py."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz.found import FOUND
from tests.fuzz.judge import judged
from tests.oracle.judges import launch

OPEN = pytest.mark.xfail(strict=True, raises=AssertionError, reason="open: see found.py")
PROGRAMS = [
    pytest.param(*program, id=f"{name}-{number}", marks=[OPEN] if found.open else [])
    for name, found in FOUND.items()
    for number, program in enumerate(found.programs)
]


@pytest.mark.parametrize(("text", "values", "dtype"), PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_judges_agree(text: str, values: list[int] | list[float], dtype: str) -> None:
    x = np.array(values, dtype)
    verdict = judged(launch(text, np.zeros_like(x), x, defines={"KF": 0.1}))
    assert verdict.ok, verdict.message
