"""``triton.testing`` as it was: a stopwatch, comparisons, block-sparse tensors, and reports over sizes."""

from pytriton.legacy.report import Benchmark, Mark, perf_report
from pytriton.runtime.testing import allclose, do_bench, mask_tensor, sparsify_tensor

__all__ = ["Benchmark", "Mark", "allclose", "do_bench", "mask_tensor", "perf_report", "sparsify_tensor"]
