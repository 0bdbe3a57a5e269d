"""The judge of barriers: silent on what is translated, loud where the pass that puts barriers is switched off."""

from __future__ import annotations

import numpy as np
import pytest

import pytriton.passes
from pytriton.errors import PytritonError
from tests.oracle.judges import compare, emitted, evaluated, launch

R = "int r[8] = 0 ... 8; "
# A text, and whether threads meet in it without a barrier.
TEXTS = {
    "read back elsewhere": (R + "*(Y + r) = r; *(Y + 8 + r) = *(Y + 7 - r);", True),
    "read back through the same pointers": (R + "*(Y + r) = r; *(Y + 8 + r) = *(Y + r);", False),
    "written over what is read": (R + "int x[8] = *(Y + r); *(Y + 7 - r) = x;", True),
    "written twice": (R + "*(Y + r) = 1; *(Y + 1 + r) = 2;", True),
    "steps as long as the block": (
        R + "for (int i = 0; i < 2; i++) { *(Y + i * 8 + r) = *(Y + i * 8 + r) + 1; }",
        False,
    ),
    "steps shorter than the block": (
        R + "for (int i = 0; i < 3; i++) { *(Y + i * 4 + r) = *(Y + i * 4 + r) + 1; }",
        True,
    ),
    "a step back": (R + "for (int i = 3; i > 0; i--) { *(Y + i + r) = *(Y + i - 1 + r); }", True),
    "bytes of an int": (R + "*(Y + r) = r; *(Y + 8 + r) = *((char *)Y + r);", True),
    "atomics": (R + "atomic_add(Y + r, 1); atomic_add(Y + 7 - r, 2);", False),
    "added to what is read": (
        R + "int x[8] = *(Y + r); atomic_add(Y + 7 - r, 1); *(Y + 16 + r) = x;",
        True,
    ),
    "added through the same pointers": (
        R + "int x[8] = *(Y + r); atomic_add(Y + r, 1); *(Y + 16 + r) = x;",
        False,
    ),
    "a scalar that a block adds to": (R + "*Y = 3; atomic_add(Y + r, 1);", True),
    "a scalar that waits for its sum": (R + "atomic_add(Y, (*(Y + r))[+]);", False),
    "given away after a store": (R + "*(Y + r) = r; atomic_xchg(Y + 16, 1);", True),
    "given away after a scalar": ("*Y = 3; atomic_xchg(Y + 16, 1);", False),
    "taken, then stored": ("atomic_cas(Y + 16, 16, 1); *(Y + 1) = 2;", True),
    "taken, then loaded": (R + "atomic_cas(Y + 16, 16, 1); int x[8] = *(Y + r); *(Y + 8 + r) = x;", True),
    "an atomic's operand": (R + "atomic_add(Y + 7 - r, *(Y + r));", True),
    "an atomic's mask": (R + "atomic_add(Y + 7 - r, 1, *(Y + r) > 3);", True),
    "an atomic's old value": (R + "*(Y + r) = atomic_add(Y + 7 - r, 1);", True),
    "an atomic's operand from elsewhere": (R + "atomic_add(Y + 8 + r, *(Y + r));", False),
    "a condition that adds what it loads": (
        R + "if (atomic_add(Y, (*(Y + 7 - r))[+]) < 3) *(Y + 8) = 1;",
        False,
    ),
    "taken and loaded at once": (
        R + "int x[8] = atomic_cas(Y + 16, 16, 1) + *(Y + r); *(Y + 8 + r) = x;",
        True,
    ),
    "a loop asks with atomics": (R + "while (atomic_add(Y + r, *(Y + 7 - r))[+] < 90) *(Y + 8) = 1;", True),
    "a lock and its counter": ("atomic_cas(Y, 0, 1); atomic_xchg(Y + 1, 5); atomic_xchg(Y, 0);", False),
}


@pytest.mark.parametrize("about", TEXTS)
@pytest.mark.filterwarnings("ignore")
def test_threads(about: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body, meets = TEXTS[about]
    x = np.arange(32, dtype=np.int32)
    case = launch(f"void f(int *X, int *Y) {{ {body} }}", x, x.copy())
    compare(case, evaluated(case), emitted(case))
    kept = tuple(step for step in pytriton.passes.PASSES if step.name != "barriers")
    monkeypatch.setattr(pytriton.passes, "PASSES", kept)
    if not meets:
        compare(case, evaluated(case), emitted(case))
        return
    with pytest.raises(PytritonError, match="without a barrier"):
        emitted(case)
    compare(case, evaluated(case), emitted(case, barriers=False))
