"""The command line: ``pytriton translate FILE -D TM=64``, ``run --legacy PKG SCRIPT``, ``port PATH``.

Exit status: 0 done, 1 diagnostics were printed on stderr, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

try:
    import pytriton
    from pytriton.errors import CompileError, Report
    from pytriton.gradient.derive.derive import derived_text
    from pytriton.lang.format import formatted
    from pytriton.lang.preprocess.macros import given_options
    from pytriton.lang.tokens import decode
    from pytriton.legacy.command import add_arguments, run
    from pytriton.native.c_module import to_c
    from pytriton.pipeline import translate
    from pytriton.port.command import add_port, port
    from pytriton.port.commands import about, add_completion, add_explain, complete, explain, with_examples
    from pytriton.port.printed import derived_kernels, printed_text
    from pytriton.settings import Settings
except ModuleNotFoundError as error:  # installed with --no-deps
    sys.exit(f"pytriton: error: no module named {error.name!r}; pip install pytriton-c installs it")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "run":
        return run(options)
    if options.command == "lsp":
        return _serve()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # that of Python files, also in pipes on Windows
    try:
        status = _done(parser, options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe, as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13  # what a shell calls SIGPIPE
    return status


def _done(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.command is None:
        parser.print_help()
        return 0
    if options.command == "completion":
        return complete(parser, options.shell)
    if options.command == "info":
        print(about(pytriton.__version__))
        return 0
    if options.command == "port":
        return port(options)
    if options.command == "explain":
        return explain(options)
    if options.command == "format":
        return _format(options)
    return _translate(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pytriton",
        description="Old Triton-C kernels as modern @triton.jit Python.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="'pytriton COMMAND --help' has examples.\n\nexit status: 0 done, 1 diagnostics, 2 wrong usage",
    )
    parser.add_argument("--version", action="version", version=f"pytriton {pytriton.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    command = commands.add_parser(
        "translate",
        help="print one kernel as a Python module",
    )
    _add_text(command)
    command.add_argument(
        "--to", choices=("python", "c"), default="python", help="the language to print (default: python)"
    )
    command = commands.add_parser(
        "gradient",
        help="print the backward of one kernel as Triton-C; for a folder, list the kernels that have one",
    )
    _add_text(command)
    command.add_argument("--outputs", metavar="Y,Z", help="outputs to differentiate (default: all floating)")
    command.add_argument("--inputs", metavar="X,W", help="by which inputs (default: all floating)")
    command.add_argument(
        "--checkpoints", action="store_true", help="save less of what loops carry and rerun the loops"
    )
    command.add_argument(
        "--scratch-bytes",
        type=int,
        metavar="N",
        help="the same where a launch of usual size would save more than N bytes",
    )
    command = commands.add_parser(
        "format", help="print a Triton-C text with one indentation and spacing; its lines stay the author's"
    )
    command.add_argument("file", type=Path, metavar="FILE", help="a Triton-C text; - reads stdin")
    command.add_argument(
        "-o", dest="out", type=Path, metavar="OUT", help="write to a file, which may be FILE"
    )
    add_arguments(commands.add_parser("run", help="run a program whose packages import the old triton"))
    add_port(commands)
    add_explain(commands)
    commands.add_parser("lsp", help="a language server for editors, on stdin and stdout")
    commands.add_parser("info", help="versions, device, folders, compilers: what a bug report needs")
    add_completion(commands)
    with_examples(commands)
    return parser


def _add_text(command: argparse.ArgumentParser) -> None:
    """The options of a command that reads a Triton-C text and prints another one."""
    command.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a Triton-C file, or a Python file with a kernel; - reads stdin",
    )
    command.add_argument(
        "-D",
        dest="defines",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="a define; 1 without a value; the first of a list, 32,64",
    )
    command.add_argument("--kernel", metavar="NAME", help="the kernel to translate (default: the first)")
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


def _translate(options: argparse.Namespace) -> int:
    try:
        given = given_options(options.defines)
        if options.command == "gradient" and options.file.is_dir():
            for line in derived_kernels(options.file, given):
                print(line, flush=True)
            return 0
        data, name = _read(options.file, options.kernel, given)
    except CompileError as error:
        print(_with_options(str(error)), file=sys.stderr)
        return 1
    except (OSError, LookupError) as error:
        why = error.strerror if isinstance(error, OSError) else error.args[0]
        print(f"{options.file}: error: {why}", file=sys.stderr)
        return 2
    settings: dict[str, Any] = {
        "kernel": options.kernel,
        "name": name,
        "include_dirs": options.include_dirs,
        "strict_literals": options.strict_literals,
    }
    try:
        if options.command == "gradient":
            chosen: dict[str, Any] = {key: _names(getattr(options, key)) for key in ("outputs", "inputs")}
            chosen |= {"checkpoints": options.checkpoints, "scratch_bytes": options.scratch_bytes}
            text, warnings = derived_text(data, given, **settings, **chosen)
        elif options.to == "c":
            module = to_c(data, given, _settings(options), name)
            text, warnings = module.text, tuple(map(str, module.warnings))
        else:
            translation = translate(data, given, **settings)
            text, warnings = translation.text, tuple(map(str, translation.warnings))
    except CompileError as error:
        print(_with_options(str(error)), file=sys.stderr)
        return 1
    for key, value in given_options(options.defines).items():
        if isinstance(value, list) and options.command == "translate":
            print(f"note: {key} is {value[0]}, the first of {len(value)} values", file=sys.stderr)
    for warning in warnings:
        print(_with_options(warning), file=sys.stderr)
    return _write(options.out, text)


def _settings(options: argparse.Namespace) -> Settings:
    """What the options ask for."""
    return Settings(options.kernel, tuple(options.include_dirs), options.strict_literals)


def _serve() -> int:
    try:
        from pytriton.lsp.server import SERVER
    except ModuleNotFoundError as error:
        print(f"pytriton lsp: error: no {error.name}; pip install 'pytriton-c[lsp]'", file=sys.stderr)
        return 2
    SERVER.start_io()
    return 0


def _format(options: argparse.Namespace) -> int:
    try:
        piped = str(options.file) == "-"
        data = sys.stdin.buffer.read() if piped else options.file.read_bytes()
        text = formatted(decode(data, "<stdin>" if piped else str(options.file), Report()))
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{options.file}: error: {error.strerror}", file=sys.stderr)
        return 2
    return _write(options.out, text)


def _write(out: Path | None, text: str) -> int:
    """Print a text, or write it to a file; the exit status."""
    if out is None:
        sys.stdout.write(text)
        return 0
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"{out}: error: {error.strerror}", file=sys.stderr)
        return 2
    return 0


def _read(file: Path, kernel: str | None, given: dict[str, Any]) -> tuple[bytes, str]:
    """A text and its name. Of a Python file: the text that it launches; its defines are added to the given ones."""
    if str(file) == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    if file.suffix != ".py":
        return file.read_bytes(), str(file)
    found = printed_text(file, kernel, given)
    print(found.note, file=sys.stderr)
    words = set(re.findall(r"\w+", found.text))  # a wrapper shares its defines between kernels
    given |= {name: value for name, value in found.defines.items() if name in words}
    return found.text.encode(), f"<kernel> ({found.place})"


def _names(given: str | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(name.strip() for name in given.split(","))


def _with_options(text: str) -> str:
    """A message for a command line, where defines are given by ``-D``."""
    text = re.sub(r"in defines, as in defines=\{'(\w+)': '?([^'}]*)'?\}", r"with -D \1=\2", text)
    text = re.sub(r"as in defines=\{'(\w+)': '?([^'}]*)'?\}", r"as in -D \1=\2", text)
    return re.sub(r"^(note: .*) in defines$", r"\1 by -D", text, flags=re.MULTILINE)


if __name__ == "__main__":
    sys.exit(main())
