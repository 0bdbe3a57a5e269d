"""``triton.testing`` as it was, and what the tests that ``port --with-tests`` writes import.

A stopwatch, comparisons, block-sparse tensors and reports over sizes; then a ported module beside its old source.
Generated files name nothing else of the package, so its files may move.
"""

from pytriton.legacy.perf_report import Benchmark, Mark, perf_report
from pytriton.runtime.compare import Case, compare, load_ported, ported
from pytriton.runtime.tensors import allclose, do_bench, mask_tensor, sparsify_tensor

__all__ = [
    "Benchmark",
    "Case",
    "Mark",
    "allclose",
    "compare",
    "do_bench",
    "load_ported",
    "mask_tensor",
    "perf_report",
    "ported",
    "sparsify_tensor",
]
