"""Small commands (``info``, ``explain``, ``completion``), and the examples below the ``--help`` of all commands.

``explain`` prints docs/errors/TC302.md: a wheel holds these pages inside the package, a checkout in ``docs``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import platform
import re
import shutil
import sys
import textwrap
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
        ("pytriton format dot.c -o dot.c", "cat dot.c | pytriton format -"),
        "0 done, 1 the text is not made of tokens, 2 wrong usage",
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
        ),
        "0 done, 2 wrong usage, or no shtab",
    ),
}

_FILES: Final = {"FILE", "OUT", "DIR", "PATH", "SCRIPT"}  # arguments that are files or folders


def with_examples(commands: Any) -> None:
    """Give each command of an argparse object its examples and its exit status."""
    for name, command in commands.choices.items():
        examples, status = _BELOW[name]
        shown = "".join(f"\n  {example}" for example in examples)
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.epilog = f"example{'s' if len(examples) > 1 else ''}:{shown}\n\nexit status: {status}"


def add_completion(commands: Any) -> None:
    """Add the command to an argparse object."""
    command = commands.add_parser("completion", help="a script that completes the command line in a shell")
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def complete(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the script for a shell: 0, or 2 without shtab, which writes it."""
    try:
        shtab = importlib.import_module("shtab")
    except ModuleNotFoundError:
        print("pytriton completion: error: it needs shtab: pip install shtab", file=sys.stderr)
        return 2
    (commands,) = (action.choices for action in parser._actions if isinstance(action.choices, dict))
    for command in commands.values():
        for action in command._actions:
            if action.metavar in _FILES or action.dest in _FILES:
                action.complete = shtab.FILE
    print(shtab.complete(parser, shell))
    return 0


_LIBRARIES = ("torch", "triton", "numpy", "lark", "jinja2")
_COMPILERS = ("cc", "gcc", "clang", "ptxas", "nvcc")


def about(version: str) -> str:
    """Versions (pytriton's is given), the device, the cache directory and the compilers, a line each."""
    rows = {
        "pytriton": version,
        "Python": platform.python_version(),
        "system": platform.platform(),
    }
    rows |= {library: _version(library) for library in _LIBRARIES}
    if "not installed" not in (rows["torch"], rows["triton"]):
        rows |= importlib.import_module("pytriton.runtime.compile.compiler").rows()
        rows["CPU tensors"] = importlib.import_module("pytriton.runtime.native.native_kernel").runner()
    rows["compilers"] = ", ".join(name for name in _COMPILERS if shutil.which(name)) or "none"
    rows["executable"] = sys.executable
    width = max(map(len, rows))
    return "\n".join(f"{name:{width}}  {value}" for name, value in rows.items())


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def add_explain(commands: Any) -> None:
    """Add the command to an argparse object."""
    command = commands.add_parser("explain", help="cause and cure of a diagnostic, with an example")
    command.add_argument(
        "code", nargs="?", metavar="CODE", help="for example TC302: the code in brackets after each message"
    )
    command.add_argument("--list", action="store_true", help="all codes, each with its cause")


def explain(options: argparse.Namespace) -> int:
    """Print one page: 0, or 2 for a code that does not exist."""
    available = pages()
    if options.list:
        for code, path in available.items():
            print(f"{code}  {_cause(path)}")
        return 0
    if options.code is None:
        print("pytriton explain: error: give a code, or --list", file=sys.stderr)
        return 2
    code = options.code.strip().strip("[]").upper()
    if re.fullmatch(r"\d{3}", code):
        code = f"TC{code}"
    if code in available:
        sys.stdout.write(available[code].read_text(encoding="utf-8"))
        return 0
    message = f"there is no code '{options.code}'; --list shows all"
    print(f"pytriton explain: error: {message}", file=sys.stderr)
    return 2


def _cause(path: Path) -> str:
    """The cause that a page gives, in a line."""
    cause = re.search(r"\*\*Cause\.\*\* (.*)", path.read_text(encoding="utf-8"))
    return textwrap.shorten(cause[1], 100) if cause is not None else ""


def pages() -> dict[str, Path]:
    """The pages by their codes."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "explanations", package.parent / "docs" / "errors"):
        if folder.is_dir():
            return {path.stem: path for path in sorted(folder.glob("TC*.md"))}
    return {}
