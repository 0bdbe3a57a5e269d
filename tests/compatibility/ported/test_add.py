# Ported from Triton-C by pytriton: compares add.py with add.c, line 1 [fb37790d2d1f]
"""The old source and its port on the same memory, on Triton's interpreter and on a GPU if there is one.

Every byte must be equal.
"""

from pathlib import Path

import pytest

from pytriton.runtime.compare import Case, compare, load_ported

SOURCE = """__global__ void add(TYPE* x __readonly, TYPE* z __noalias, int n) {
  // one block per program, the last one ragged
  int off[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(off < n)(z + off) = *?(off < n)(x + off) + STEP;
}
"""

CASES = [
    Case(
        defines={"TILE": "16", "STEP": 3, "TYPE": "half"},
        config={"TILE": 16, "STEP": 3},
        num_warps=2,
    ),
    Case(
        defines={"TILE": "16", "STEP": 3, "TYPE": "float"},
        config={"TILE": 16, "STEP": 3},
        num_warps=2,
    ),
    Case(
        defines={"TILE": "16", "STEP": 3, "TYPE": "bfloat16"},
        config={"TILE": 16, "STEP": 3},
        num_warps=2,
    ),
    Case(
        defines={"TILE": "16", "STEP": 3, "TYPE": "double"},
        config={"TILE": 16, "STEP": 3},
        num_warps=2,
    ),
]

# What the integer parameters are; promises of multiples are kept by rounding up. Change them freely.
SIZES = [{"": 16}, {"": 7}]

KERNEL = "add"
MODULE = "add.py"
ported = load_ported(Path(__file__).parent / MODULE)
launcher = ported.add


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_add(case, sizes):
    compare(SOURCE, KERNEL, launcher, case, sizes)
