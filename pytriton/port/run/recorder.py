"""``python -m pytriton.port.run.recorder FILE --legacy PKG SCRIPT [ARGS]``: ``pytriton run``, with notes in FILE.

``pytriton port --run`` starts this in a process of its own, since the program may do anything, and since
porting itself needs neither torch nor triton.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pytriton.legacy.command import add_arguments, run
from pytriton.port.run.observe import observing


def main(arguments: Sequence[str]) -> int:
    """Run the program; its own exit status passes as SystemExit. FILE is written in any case."""
    parser = argparse.ArgumentParser(prog="pytriton.port.run.recorder")
    parser.add_argument("file", type=Path)
    add_arguments(parser)
    options = parser.parse_args(arguments)
    seen: list[dict[str, object]] = []
    try:
        with observing() as seen:
            return run(options)
    finally:
        options.file.write_text(json.dumps(seen), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
