"""The command line: ``python -m pytriton translate FILE -D TM=64``, ``run --legacy PKG SCRIPT``, ``port PATH``,
``explain CODE``.

Exit status: 0 done, 1 diagnostics were printed on stderr, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytriton.errors import CompileError
from pytriton.legacy.command import add_arguments, run
from pytriton.pipeline import translate
from pytriton.port.command import add_port, port
from pytriton.port.explain import add_explain, explain


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    options = _parser().parse_args(arguments)
    if options.command == "run":
        return run(options)
    if options.command == "port":
        return port(options)
    if options.command == "explain":
        return explain(options)
    return _translate(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pytriton", description="Old Triton-C kernels as modern @triton.jit Python."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser("translate", help="print one kernel as a Python module")
    command.add_argument("file", type=Path, metavar="FILE", help="a Triton-C text; - reads stdin")
    command.add_argument(
        "-D",
        dest="defines",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="a define; without a value it is 1",
    )
    command.add_argument("--kernel", metavar="NAME", help="the kernel to translate, else the first")
    command.add_argument(
        "-I",
        dest="include_dirs",
        action="append",
        default=[],
        metavar="DIR",
        help="a directory that #include may read from",
    )
    command.add_argument(
        "--strict-literals", action="store_true", help="unsuffixed floating literals are double"
    )
    command.add_argument("-o", dest="out", type=Path, metavar="OUT", help="write to a file")
    add_arguments(commands.add_parser("run", help="run a program whose packages import the triton of old"))
    add_port(commands)
    add_explain(commands)
    return parser


def _translate(options: argparse.Namespace) -> int:
    try:
        data = sys.stdin.buffer.read() if str(options.file) == "-" else options.file.read_bytes()
    except OSError as error:
        print(f"{options.file}: error: {error.strerror}", file=sys.stderr)
        return 2
    name = "<stdin>" if str(options.file) == "-" else str(options.file)
    try:
        translation = translate(
            data,
            _defines(options.defines),
            kernel=options.kernel,
            name=name,
            include_dirs=options.include_dirs,
            strict_literals=options.strict_literals,
        )
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1
    for warning in translation.warnings:
        print(warning.render(), file=sys.stderr)
    if options.out is None:
        sys.stdout.write(translation.text)
        return 0
    try:
        options.out.write_text(translation.text, encoding="utf-8")
    except OSError as error:
        print(f"{options.out}: error: {error.strerror}", file=sys.stderr)
        return 2
    return 0


def _defines(pairs: Sequence[str]) -> dict[str, object]:
    """``NAME=VALUE`` as given on a command line; a bare ``NAME`` is defined as 1."""
    defines: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        defines[name] = value if equals else 1
    return defines


if __name__ == "__main__":
    sys.exit(main())
