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

import pytriton
from pytriton.command_line import parser, usage, with_options
from pytriton.errors import CompileError, Report

_NEEDED = ("jinja2", "lark", "markupsafe")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    top = parser(pytriton.__version__)
    options, unknown = top.parse_known_args(arguments)
    if unknown:
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command == "run":
        from pytriton.legacy.command import run

        return run(options)
    if options.command == "lsp":
        return _serve()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # that of Python files, also in pipes on Windows
    try:
        status = _done(top, options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe, as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13  # what a shell calls SIGPIPE
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        sys.exit(f"pytriton: error: no module named {error.name!r}; pip install pytriton-c installs it")
    return status


def _done(top: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Each command imports what it runs, so that the others do not wait for it."""
    if options.command is None:
        top.print_help()
        return 0
    if options.command == "port":
        from pytriton.port.command import port

        return port(options)
    if options.command == "format":
        return _format(options)
    if options.command in ("translate", "gradient"):
        return _translate(options)
    from pytriton.commands import about, complete, explain

    if options.command == "info":
        print(about(pytriton.__version__))
        return 0
    return explain(options) if options.command == "explain" else complete(top, options.shell)


def _translate(options: argparse.Namespace) -> int:
    from pytriton.lang.preprocess.macros import given_options

    try:
        given = given_options(options.defines)
        if options.command == "gradient" and options.file.is_dir():
            from pytriton.port.printed import derived_kernels

            for line in derived_kernels(options.file, given):
                print(line, flush=True)
            return 0
        data, name = _read(options.file, options.kernel, given)
    except CompileError as error:
        print(with_options(str(error)), file=sys.stderr)
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
            from pytriton.gradient.derive.derive import derived_text

            chosen: dict[str, Any] = {key: _names(getattr(options, key)) for key in ("outputs", "inputs")}
            text, warnings = derived_text(data, given, **settings, **chosen, checkpoints=options.checkpoints)
        elif options.to == "c":
            from pytriton.native.c_module import to_c
            from pytriton.settings import Settings

            chosen_settings = Settings(options.kernel, tuple(options.include_dirs), options.strict_literals)
            module = to_c(data, given, chosen_settings, name)
            text, warnings = module.text, tuple(map(str, module.warnings))
        else:
            translation = pytriton.translate(data, given, **settings)
            text, warnings = translation.text, tuple(map(str, translation.warnings))
    except CompileError as error:
        print(with_options(str(error)), file=sys.stderr)
        return 1
    for key, value in given_options(options.defines).items():
        if isinstance(value, list) and options.command == "translate":
            print(f"note: {key} is {value[0]}, the first of {len(value)} values", file=sys.stderr)
    for warning in warnings:
        print(with_options(warning), file=sys.stderr)
    return _write(options.out, text)


def _serve() -> int:
    try:
        from pytriton.lsp.server import SERVER
    except ModuleNotFoundError as error:
        print(f"pytriton lsp: error: no {error.name}; pip install 'pytriton-c[lsp]'", file=sys.stderr)
        return 2
    SERVER.start_io()
    return 0


def _format(options: argparse.Namespace) -> int:
    if options.out is not None and len(options.files) > 1:
        return usage(options, "-o takes one FILE; --in-place changes several")
    return max(_format_one(file, options) for file in options.files)


def _format_one(file: Path, options: argparse.Namespace) -> int:
    from pytriton.lang.format import formatted
    from pytriton.lang.tokens import decode

    if file.suffix == ".py":
        print(f"{file}: error: a Python file; format takes Triton-C", file=sys.stderr)
        return 2
    try:
        piped = str(file) == "-"
        data = sys.stdin.buffer.read() if piped else file.read_bytes()
        text = formatted(decode(data, "<stdin>" if piped else str(file), Report()))
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{file}: error: {error.strerror}", file=sys.stderr)
        return 2
    changed = text.encode() != data
    if options.check:
        if changed:
            print(f"{file}: is not formatted")
        return int(changed)
    if options.in_place and not piped:
        return _write(file, text) if changed else 0
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
    from pytriton.port.printed import printed_text

    printed = printed_text(file, kernel, given)
    print(printed.note, file=sys.stderr)
    words = set(re.findall(r"\w+", printed.text))  # a wrapper shares its defines between kernels
    given |= {name: value for name, value in printed.defines.items() if name in words}
    return printed.text.encode(), f"<kernel> ({printed.place})"


def _names(given: str | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(name.strip() for name in given.split(","))


if __name__ == "__main__":
    sys.exit(main())
