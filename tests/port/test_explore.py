"""Define sets that no run has shown: which are tried, and which a ported kernel then accepts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytriton.port.jobs import folds
from pytriton.port.jobs.translations import Translations
from pytriton.port.kernels import DefineSet, PortedKernel, port_kernel
from pytriton.settings import Settings
from pytriton.source import Source

FLAGS = 8
MANY = (
    "__global__ void many(float *X) {\n  int r[16] = 0 ... 16;\n  float x[16] = *(X + r);\n"
    + "".join(f"#if F{n}\n  x = x * {n + 2}.0f;\n#endif\n" for n in range(FLAGS))
    + "  *(X + r) = x;\n}\n"
)
PAIR = """
__global__ void largest(TYPE *X, TYPE *Y) {
  int r[16] = 0 ... 16;
  TYPE x[16] = r < 9 ? *(X + r) : LEAST;
  *Y = x[max];
#ifdef TWICE
  *Y = *Y * 2;
#endif
}
"""
ORDER = """
#if SWAP
void copy(float *X, float *Y) {
#else
void copy(float *Y, float *X) {
#endif
  int r[16] = 0 ... 16;
  float x[16] = *(X + r);
#if TWICE
  x = x * 2.0f;
#endif
  *(Y + r) = x;
}
"""


def ported(text: str, *sets: Mapping[str, Any]) -> PortedKernel:
    return port_kernel(
        Translations(Source(text), Settings(None)), [DefineSet(defines, "observed") for defines in sets]
    )


def explored(kernel: PortedKernel) -> list[Mapping[str, Any]]:
    return [known.defines for known in kernel.sets if known.origins == {"explored"}]


def flags(*given: int) -> dict[str, bool]:
    return {f"F{n}": n in given for n in range(FLAGS)}


def test_flags_that_were_seen_one_by_one_are_tried_together() -> None:
    kernel = ported(MANY, {}, {"F0": True}, {"F1": True}, {"F2": True})
    assert len(explored(kernel)) == 4
    assert kernel.refusal({"F0": True, "F1": True, "F2": True}) is None
    assert "F3=True" in str(kernel.refusal({"F3": True}))


def test_flags_that_would_bring_too_many_are_tried_one_by_one() -> None:
    kernel = ported(MANY, flags())
    assert len(explored(kernel)) <= folds.MAX_EXPLORED
    assert all(kernel.refusal(flags(n)) is None for n in range(FLAGS))
    assert kernel.refusal(flags(0, 1, 2)) is None
    assert kernel.refusal(flags(*range(FLAGS))) is not None


def test_element_types_are_served_where_flags_are_too_many() -> None:
    """And each flag with each of them: the flags do not take their place."""
    kernel = ported(MANY.replace("float *", "TYPE *"), {"TYPE": "half"} | flags())
    assert len(explored(kernel)) <= folds.MAX_EXPLORED
    for word in ("half", "float", "bfloat16", "double"):
        assert all(kernel.refusal({"TYPE": word} | flags(n)) is None for n in range(FLAGS))


def test_what_was_seen_is_kept_where_nothing_more_is_tried() -> None:
    seen = [flags(*(n for n in range(FLAGS) if bits >> n & 1)) for bits in range(0, 1 << FLAGS, 3)]
    kernel = ported(MANY, *seen)
    assert all(kernel.refusal(defines) is None for defines in seen)
    assert len(explored(kernel)) <= folds.MAX_EXPLORED


def test_each_number_is_tried_with_those_of_other_sets() -> None:
    text = MANY.replace("#if F0", "#if TWO > 3 && TWO < 9\n  x = x + 1.0f;\n#endif\n#if ONE > 5 && ONE < 7\n")
    kernel = ported(text, {"ONE": 4, "TWO": 6}, {"ONE": 6, "TWO": 2})
    assert kernel.refusal({"ONE": 4, "TWO": 2}) is None
    assert kernel.refusal({"ONE": 6, "TWO": 6}) is None
    assert kernel.refusal({"ONE": 6, "TWO": 9}) is not None


def test_texts_that_determine_each_other_are_not_parted() -> None:
    floats, ints = {"TYPE": "float", "LEAST": "-INFINITY"}, {"TYPE": "int", "LEAST": "(0 - 99)"}
    kernel = ported(PAIR, floats, ints)
    assert explored(kernel) == [{**floats, "TWICE": True}, {**ints, "TWICE": True}]
    assert kernel.refusal({"TYPE": "float", "LEAST": "(0 - 99)"}) is not None


def test_what_would_be_another_function_is_left_out() -> None:
    kernel = ported(ORDER, {"SWAP": False, "TWICE": False}, {"SWAP": False, "TWICE": True})
    assert explored(kernel) == []
    kernel = ported(ORDER, {"SWAP": True, "TWICE": False}, {"SWAP": False, "TWICE": True})
    assert [failure.defines for failure in kernel.failures] == [{"SWAP": False, "TWICE": True}]
    assert explored(kernel) == [{"SWAP": True, "TWICE": True}]
