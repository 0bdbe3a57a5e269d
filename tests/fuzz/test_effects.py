"""Generated kernels with effects everywhere: they do what C does, from left to right, or are refused."""

from __future__ import annotations

import contextlib
import os
from random import Random

import numpy as np
import pytest

import pytriton
from tests.fuzz.choices import Recorded
from tests.fuzz.effects import SIZE, Effects, Endless, State
from tests.oracle.judges import compare, emitted, evaluated, launch, without_passes

BATCH = 20
CASES = int(os.environ.get("EFFECT_KERNELS", "2500"))
FIRST = int(os.environ.get("EFFECT_SEED", "0"))
FIXED = 40
NAMES = ("p", "q", "w", "o")


def agree(seed: int) -> bool:
    """Whether the kernel of a seed has a meaning; that the translation has it, too."""
    kernel = Effects(Recorded(seed), refused=seed % 5 == 4).kernel()
    if kernel.refused:
        with pytest.raises(pytriton.CompileError) as found:
            pytriton.translate(kernel.text)
        assert {each.code for each in found.value.diagnostics if each.severity == "error"} == {"TC321"}, (
            kernel.text
        )
        return True
    random = Random(seed)
    memory = {name: [random.randint(-3, 9) for _ in range(SIZE)] for name in NAMES}
    memory |= {"w": [0] * SIZE, "o": [0] * SIZE}
    n, m = random.randint(-3, 9), random.choice((0, 1, 5))
    arrays = [np.array(memory[name], np.int32) for name in NAMES]
    case = launch(kernel.text, *arrays, n, m)
    state = State(memory, {"n": n, "m": m})
    try:
        kernel.run(state)
    except Endless:
        return False
    codes = [each.code for each in pytriton.translate(kernel.text).warnings]
    assert ("TC324" in codes) == (kernel.idle > 0), f"{codes}, {kernel.idle}\n{kernel.text}"
    wanted = [np.array(memory[name], np.int32).view(np.uint8) for name in NAMES]
    for passes in (True, False):
        with contextlib.nullcontext() if passes else without_passes():
            found_memory = emitted(case, barriers=passes)
        for name, want, got in zip(NAMES, wanted, found_memory, strict=True):
            assert (want == got).all(), _difference(seed, kernel.text, name, want, got, (n, m), arrays)
    compare(case, evaluated(case, zeros=True), wanted, "C")
    return True


def _difference(seed: int, text: str, name: str, want: object, got: object, *given: object) -> str:
    numbers = [array.view(np.int32).tolist() for array in (want, got)]  # type: ignore[attr-defined]
    return f"seed {seed}, {name}: {numbers[0]} expected, {numbers[1]} found\n{text}\n{given}"


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(start, marks=[] if start < BATCH else pytest.mark.slow)
        for start in range(0, CASES, BATCH)
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_effects(start: int) -> None:
    assert sum(map(agree, range(FIRST + start, FIRST + start + BATCH))) > BATCH // 2


BLOCKS = (
    "*(o + r) = atomic_add(q + r, *(p + r)) ? *(p + r) : -*(p + r);",
    "*(o + r) = atomic_add(q + r, *(p + r)) && *(p + r);",
    "*?(atomic_add(q + r, 1) > 1)(o + r) += *(p + r);",
    "*(o + r) = *(q + r) + atomic_add(q + r, 2) * *(q + r);",
    "*(o + r) = (atomic_add(q + r, *(p + r)) / 2)[+] + (*(q + r))[max];",
    "TYPE x[T] = *(p + r); x += (x = *(q + r)) * 2; *(o + r) = x;",
    "*(o + r) = (*(q + r))++ + ++*(q + r);",
)


@pytest.mark.parametrize("size", [1, 4, 5])
@pytest.mark.parametrize("word", ["int", "long", "float", "double"])
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(12)
def test_blocks(word: str, size: int) -> None:
    """Blocks, ragged ones and one element, negative numbers and NaN."""
    type_ = {"int": np.int32, "long": np.int64, "float": np.float32, "double": np.float64}[word]
    for line in BLOCKS:
        text = f"void f(TYPE *p, TYPE *q, TYPE *o) {{ int r[T] = 0 ... T; {line} }}"
        arrays = [np.array(values, type_) for values in ([1, 0, 3, -4, 5], [0, 2, -3, 1, 0], [7] * 5)]
        if word in ("float", "double") and "[max]" not in line:
            arrays[0][2] = np.nan
        case = launch(text, *arrays, defines={"TYPE": word, "T": size})
        compare(case, evaluated(case, zeros=True), emitted(case))
