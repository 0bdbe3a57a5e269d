"""What ``--help`` of each command says below its options, and completion of the command line in a shell."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import Any, Final

__all__ = ["add_completion", "complete", "with_examples"]

# Of each command: examples, and what its exit status means.
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
        shtab = import_module("shtab")
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
