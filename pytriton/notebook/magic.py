"""``%%tritonc -D TILE=64``: a cell of Triton-C that makes its kernel and shows it, old and new.

IPython is never imported: it hands its shell to ``load``, and calls the magic with the rest of the line and the
cell.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn

from pytriton.errors import PytritonError, Report
from pytriton.lang.preprocess.macros import given_options
from pytriton.lang.tokens import scan
from pytriton.runtime.kernel import Kernel, kernel
from pytriton.source import Source


class Usage(Exception):
    """A line that the magic does not understand."""


class CellParser(argparse.ArgumentParser):
    """One that ends the cell instead of the process."""

    def error(self, message: str) -> NoReturn:
        raise Usage(f"{self.format_usage().strip()}\n{message}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Usage(message or "")


def load(shell: Any) -> None:
    """Called by ``%load_ext pytriton``: register the magic in IPython's shell."""
    shell.register_magic_function(partial(tritonc, shell.user_ns), "cell", "tritonc")


def tritonc(names: dict[str, Any], line: str, cell: str) -> Kernel | None:
    """Make the kernel and put it among the notebook's names; None where the source has errors, which are shown."""
    try:
        options = _parser().parse_args(shlex.split(line))
        name = options.name or options.kernel or _first(cell)
        compiled = kernel(
            cell,
            name=name,
            kernel=options.kernel,
            defines=given_options(options.defines),
            num_warps=options.num_warps,
            num_stages=options.num_stages,
        )
    except (Usage, PytritonError) as error:
        print(error, file=sys.stderr)
        return None
    names[name] = compiled
    return compiled


def _first(cell: str) -> str:
    """The name of the first kernel."""
    tokens = scan(Source(cell), Report())[0]
    return next((name.text for word, name in pairwise(tokens) if word.text == "void"), "kernel")


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _parser() -> CellParser:
    parser = CellParser(prog="%%tritonc", description="A cell of Triton-C that makes a kernel.")
    parser.add_argument("name", nargs="?", help="the Python name of the kernel (default: that in the source)")
    parser.add_argument(
        "-D",
        dest="defines",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="a define; a list of numbers, 32,64, is a sweep",
    )
    parser.add_argument("--kernel", metavar="NAME", help="the kernel of the source (default: the first)")
    parser.add_argument(
        "--num-warps", type=_numbers, metavar="N", help="warps for each program; 4,8 is a sweep"
    )
    parser.add_argument(
        "--num-stages", type=_numbers, metavar="N", help="how far loads run ahead; 2,4 is a sweep"
    )
    return parser
