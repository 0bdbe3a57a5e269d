"""The process that measures: runs benchmarks by name and tells its parent, one line of JSON each.

    {"begin": NAME}   {"row": {...}}   {"end": NAME}

A row that fails is a row with an `error`. Where the GPU itself is lost (an illegal access poisons every later
call of the process), the process ends, and the parent starts another for the benchmarks that are left.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import torch

from benchmarks.attentions import attention
from benchmarks.host import launch, tuning
from benchmarks.measure import Row, Settings, compare, first_line, machine
from benchmarks.ported import ported
from benchmarks.products import dot_float, dot_half, ragged, wide
from benchmarks.reductions import batch_norm, cross_entropy, layer_norm, softmax
from benchmarks.sparse import block_sparse
from benchmarks.streams import streams

Benchmark = Callable[[Settings], Iterator[Row | dict[str, Any]]]

BENCHMARKS: dict[str, Benchmark] = {
    "dot": dot_half,
    "wide": wide,
    "ragged": ragged,
    "launch": launch,
    "streams": streams,
    "softmax": softmax,
    "attention": attention,
    "dot_float": dot_float,
    "block_sparse": block_sparse,
    "tuning": tuning,
    "layer_norm": layer_norm,
    "batch_norm": batch_norm,
    "cross_entropy": cross_entropy,
    "ported": ported,
}


def tell(**message: Any) -> None:
    """One line to the parent; the pipe is the standard output that this process was started with."""
    os.write(PIPE, (json.dumps(message) + "\n").encode())


def run(name: str, settings: Settings) -> None:
    """All rows of one benchmark; what its own set-up raises is a row, too."""
    torch.manual_seed(0)
    try:
        for row in BENCHMARKS[name](settings):
            if isinstance(row, dict):
                tell(row=row)
                continue
            try:
                tell(row=compare(row, settings))
            except Exception as error:
                _tell_error(row.program, row.case, error)
    except Exception as error:
        _tell_error(name, "", error)


def _tell_error(program: str, case: str, error: Exception) -> None:
    traceback.print_exc()
    tell(row={"program": program, "case": case, "error": first_line(error)})


def gpu_is_lost() -> bool:
    """Whether an earlier failure has poisoned this process."""
    if not torch.cuda.is_available():
        return False
    try:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    except Exception:
        return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="+", choices=list(BENCHMARKS))
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    tell(machine=machine())
    for name in options.names:
        tell(begin=name)
        run(name, Settings(options.smoke, options.quick))
        gc.collect()
        tell(end=name)
        if gpu_is_lost():
            sys.exit("the GPU does not answer this process any more")


if __name__ == "__main__":
    PIPE = os.dup(1)
    os.dup2(2, 1)  # whatever else is printed goes to standard error
    main()
