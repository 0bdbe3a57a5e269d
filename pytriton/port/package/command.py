"""``python -m pytriton port PKG``: one package, whole.

Exit status: 0 done, 1 something needs a person (what was ported is written all the same), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytriton.port.package.gather import ported_texts
from pytriton.port.package.output import diff, uncommitted, write_copy, write_in_place
from pytriton.port.package.package import Package, is_ported, port_package
from pytriton.port.ported import PortedText
from pytriton.port.read.scan import files, root_of
from pytriton.port.run.observations import ProgramError, observe

__all__ = ["is_package", "port_whole"]


def is_package(options: argparse.Namespace) -> bool:
    """Whether a package is asked for: one folder with an ``__init__.py``, and no option about kernels alone."""
    alone = options.kernels_only or options.check or options.report or options.with_tests
    return not alone and len(options.paths) == 1 and (options.paths[0] / "__init__.py").exists()


def port_whole(options: argparse.Namespace, given: Mapping[str, Any]) -> int:
    """Run the command; the exit status."""
    root = options.paths[0].resolve()
    if options.in_place and (changed := uncommitted(root)):
        return _usage(f"--in-place: {', '.join(changed[:3])}: commit your changes first")
    if is_ported(root):
        print(f"{root.name}: is ported already")
        return 0
    try:
        seen = observe(options.run, [root]) if options.run else []
    except ProgramError as error:
        return _usage(str(error))
    paths = list(files([root], options.out))
    texts = ported_texts(paths, root_of([root]), seen, options.run or "", given)
    texts, proofs = _proved(texts)
    package = port_package(root, texts)
    for problem in package.problems:
        print(f"{options.paths[0]}/{problem}", file=sys.stderr)
    if not package.files:
        print("no Triton-C was ported", file=sys.stderr)
        return 1 if package.problems else 0
    for proof in proofs:
        print(proof, file=sys.stderr if options.diff else sys.stdout)
    return _output(root, package, options) or (1 if package.problems else 0)


def _proved(texts: Sequence[PortedText]) -> tuple[list[PortedText], list[str]]:
    """The texts with a proof of their kernels, and what it came to. Without Triton nothing is proved."""
    if find_spec("triton") is None or find_spec("torch") is None:
        return list(texts), ["Triton is not installed: the kernels are not proved"]
    prove_text = import_module("pytriton.port.proof").prove_text  # all else needs neither torch nor triton
    proved: list[PortedText] = []
    lines: list[str] = []
    for number, text in enumerate(texts, 1):
        _progress(f"{text.found.path.name} ({number} of {len(texts)})")
        again, proofs = prove_text(text)
        proved.append(again)
        old = len(str(text.found.text).strip().splitlines())
        for proof in proofs:
            new = len(proof.kernel.text.splitlines())
            head = f"{text.found.path.name}: {proof.kernel.function}: {old} lines -> {new}"
            lines.append(f"{head}; {proof.summary()}")
            for difference in (*proof.differing, *proof.strange):
                lines += [
                    f"    {dict(difference.defines)}",
                    *(f"        {line}" for line in difference.lines),
                ]
    _progress("")
    return proved, lines


def _progress(text: str) -> None:
    """Show on a terminal what is being worked on."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def _output(root: Path, package: Package, options: argparse.Namespace) -> int:
    if options.diff:
        sys.stdout.write(diff(root, package.files))
        return 0
    if options.in_place:
        count, where = write_in_place(root, package.files), root
    else:
        where = options.out / root.name
        count, strange = write_copy(root, package.files, where)
        if strange:
            shown = ", ".join(strange[:3]) + (", ..." if len(strange) > 3 else "")
            return _usage(f"{where}: has other files than those of this port: {shown}")
    print(f"{where}: {len(package.kernels)} kernels, {count} files written")
    return 0


def _usage(message: str) -> int:
    print(f"pytriton port: error: {message}", file=sys.stderr)
    return 2
