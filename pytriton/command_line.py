"""The parser of the command line: all commands, their options, and the examples below ``--help``.

Nothing here imports what a command runs: ``__main__.py`` does, for the chosen one. So ``pytriton --help`` is quick.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any, Final

# The examples of each command, and what its exit status means.
_BELOW: Final = {
    "translate": (
        (
            "pytriton translate dot.c -D TYPE=half -D TM=64 -D TN=64 -D TK=32 -o dot.py",
            "pytriton translate kernels.c --kernel backward -D TILE=256",
            "cat add.c | pytriton translate - -D TILE=256",
        ),
        "0 done, 1 errors in the source, 2 wrong usage",
    ),
    "gradient": (
        (
            "pytriton gradient examples/softmax.py",
            "pytriton gradient softmax.c -D TYPE=float -D TN=1024 -o softmax_backward.c",
            "pytriton gradient layer_norm.c -D TN=256 --outputs Y --inputs X,W",
        ),
        "0 done, 1 errors in the source or no derivative, 2 wrong usage",
    ),
    "format": (
        (
            "pytriton format --in-place dot.c softmax.c",
            "pytriton format --check dot.c softmax.c",
            "cat dot.c | pytriton format -",
        ),
        "0 done, 1 a source is not made of tokens or --check found one to format, 2 wrong usage",
    ),
    "run": (
        (
            "pytriton run --legacy torch_blocksparse train.py --epochs 3",
            "pytriton run --legacy torch_blocksparse -m torch_blocksparse.bench",
            "pytriton run --legacy __main__ tutorial.py",
        ),
        "that of the program, 2 wrong usage",
    ),
    "port": (
        (
            'pytriton port old_package --run "pytest -q tests" --out ported',
            "pytriton port kernels/ --kernels-only --check",
            "pytriton port ops.py -D TYPE=half,float -D TN=256 --with-tests --report report.html",
        ),
        "0 done, 1 manual work is needed or something is out of date, 2 wrong usage",
    ),
    "explain": (("pytriton explain TC302", "pytriton explain --list"), "0 done, 2 no such code"),
    "lsp": (("pytriton lsp",), "0 the editor has ended it, 2 wrong usage, or no pygls"),
    "info": (("pytriton info",), "0"),
    "completion": (
        (
            "pytriton completion bash > ~/.local/share/bash-completion/completions/pytriton",
            "pytriton completion zsh > ~/.zfunc/_pytriton",
            "pytriton completion fish > ~/.config/fish/completions/pytriton.fish",
        ),
        "0 done, 2 wrong usage, or no shtab",
    ),
}


def parser(version: str) -> argparse.ArgumentParser:
    """The whole command line, of this version; ``options.parser`` is the parser of the chosen command."""
    top = argparse.ArgumentParser(
        prog="pytriton",
        description="Old Triton-C kernels as modern @triton.jit Python.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="'pytriton COMMAND --help' has examples.\n\nexit status: 0 done, 1 diagnostics, 2 wrong usage",
    )
    top.add_argument("--version", action="version", version=f"pytriton {version}")
    top.set_defaults(parser=top)
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    _add_sources(commands)
    add_run(commands.add_parser("run", help="run a program whose packages import the old triton"))
    _add_port(commands)
    command = commands.add_parser("explain", help="cause and cure of a diagnostic, with an example")
    command.add_argument(
        "code", nargs="?", metavar="CODE", help="for example TC302: the code in brackets after each message"
    )
    command.add_argument("--list", action="store_true", help="all codes, each with its cause")
    commands.add_parser("lsp", help="a language server for editors, on stdin and stdout")
    commands.add_parser("info", help="versions, device, folders, compilers: what a bug report needs")
    command = commands.add_parser("completion", help="a script that completes the command line in a shell")
    command.add_argument("shell", choices=("bash", "zsh", "tcsh", "fish"))
    for name, command in commands.choices.items():
        examples, status = _BELOW[name]
        shown = "".join(f"\n  {example}" for example in examples)
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.epilog = f"example{'s' if len(examples) > 1 else ''}:{shown}\n\nexit status: {status}"
        command.set_defaults(parser=command)
    return top


def _add_sources(commands: Any) -> None:
    """The commands that read a source: ``translate``, ``gradient`` and ``format``."""
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
    command = commands.add_parser(
        "format", help="print Triton-C sources with one indentation and spacing; line breaks are kept"
    )
    command.add_argument("files", nargs="+", type=Path, metavar="FILE", help="Triton-C; - reads stdin")
    group = command.add_mutually_exclusive_group()
    group.add_argument("-o", dest="out", type=Path, metavar="OUT", help="write to a file, which may be FILE")
    group.add_argument("--in-place", action="store_true", help="change the files themselves")
    group.add_argument(
        "--check", action="store_true", help="write nothing; list the files that are not formatted"
    )


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


def add_run(command: argparse.ArgumentParser) -> None:
    """The arguments of the command ``run``."""
    command.add_argument(
        "--legacy",
        dest="packages",
        action="append",
        required=True,
        metavar="PKG",
        help="inside this package 'import triton' means pytriton; __main__ is the script itself",
    )
    command.add_argument(
        "-m", dest="as_module", action="store_true", help="SCRIPT is the name of a module, as in python -m"
    )
    command.add_argument("script", metavar="SCRIPT")
    command.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS")


def _add_port(commands: Any) -> None:
    command = commands.add_parser(
        "port", help="port a package, or the Triton-C in any files, to modern Triton"
    )
    command.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a package, or files and folders to search"
    )
    command.add_argument("--out", type=Path, default=Path("ported"), metavar="DIR", help="default: ported")
    group = command.add_mutually_exclusive_group()
    group.add_argument("--diff", action="store_true", help="show the changes, write nothing")
    group.add_argument("--in-place", action="store_true", help="change the package itself (commit it first)")
    group.add_argument("--check", action="store_true", help="write nothing; 1 if anything is out of date")
    command.add_argument(
        "--kernels-only", action="store_true", help="write a folder of kernels alone, even of a package"
    )
    command.add_argument(
        "--simplify", action="store_true", help="a define that the code gives one number is not a parameter"
    )
    command.add_argument("--report", type=Path, metavar="FILE", help="a report as .html or .json")
    command.add_argument(
        "--with-tests",
        action="store_true",
        help="also tests against the old sources, next to the ported folder",
    )
    command.add_argument(
        "--run", metavar="PROGRAM",
        help="a command, as it is typed in a shell: run it, and port what its Python processes launch",
    )  # fmt: skip
    command.add_argument(
        "-D", dest="defines", action="append", default=[], metavar="NAME=VALUE[,VALUE]",
        help="a define for every source; a list is a sweep",
    )  # fmt: skip


def usage(options: argparse.Namespace, message: str) -> int:
    """Print how the chosen command is used, and what is wrong: the exit status for that."""
    options.parser.print_usage(sys.stderr)
    print(f"{options.parser.prog}: error: {message}", file=sys.stderr)
    return 2


def with_options(text: str) -> str:
    """A message for a command line, where defines are given by ``-D``."""
    text = re.sub(r"in defines, as in defines=\{'(\w+)': '?([^'}]*)'?\}", r"with -D \1=\2", text)
    text = re.sub(r"as in defines=\{'(\w+)': '?([^'}]*)'?\}", r"as in -D \1=\2", text)
    return re.sub(r"^(note: .*) in defines$", r"\1 by -D", text, flags=re.MULTILINE)
