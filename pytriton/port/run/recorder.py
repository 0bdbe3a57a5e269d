"""``python -m pytriton.port.run.recorder FILE --legacy PKG SCRIPT [ARGS]``: ``pytriton run``, with notes in FILE.

The notes are the launches of the program: each source, its defines and sweeps, and the line of its constructor. A
source that is put together while the program runs cannot be read from its code. Nothing about the launches changes.
``pytriton port --run`` starts this in a process of its own, since the program may do anything, and since porting
itself needs neither torch nor triton.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch

from pytriton.command_line import add_run
from pytriton.legacy.command import run
from pytriton.runtime.errors import caller
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.defines import Config


def main(arguments: Sequence[str]) -> int:
    """Run the program; its own exit status passes as SystemExit. FILE is written in any case."""
    parser = argparse.ArgumentParser(prog="pytriton.port.run.recorder")
    parser.add_argument("file", type=Path)
    add_run(parser)
    parser.set_defaults(parser=parser)
    options = parser.parse_args(arguments)
    seen: list[dict[str, object]] = []
    try:
        with observing() as seen:
            return run(options)
    finally:
        options.file.write_text(json.dumps(seen), encoding="utf-8")


@contextmanager
def observing() -> Iterator[list[dict[str, Any]]]:
    """While the body runs, note the options of each launch, once each, as values that JSON can hold.

    Keys: ``text``, ``kernel``, ``strict``; ``file`` and ``line`` of the constructor;
    ``defines``, ``num_warps``, ``num_stages``, ``points`` and ``key``. A dtype is ``{"dtype": "float16"}``.
    """
    seen: dict[str, dict[str, Any]] = {}
    places: WeakKeyDictionary[Kernel, tuple[str, int]] = WeakKeyDictionary()
    make, launch = Kernel.__init__, Kernel.__call__

    def created(self: Kernel, *arguments: Any, **named: Any) -> None:
        make(self, *arguments, **named)
        places[self] = caller()

    def called(self: Kernel, /, *arguments: Any, **named: Any) -> Any:
        observed = _options(self, named)
        observed["file"], observed["line"] = places.get(self, ("", 0))
        seen.setdefault(json.dumps(observed, sort_keys=True), observed)
        return launch(self, *arguments, **named)

    launches: list[dict[str, Any]] = []
    Kernel.__init__, Kernel.__call__ = created, called  # type: ignore[method-assign, assignment]
    try:
        yield launches
    finally:
        Kernel.__init__, Kernel.__call__ = make, launch  # type: ignore[method-assign]
        launches += seen.values()


def _options(kernel: Kernel, named: dict[str, Any]) -> dict[str, Any]:
    """The options of the constructor and of one call together."""
    words = ("grid", "bench", "num_warps", "num_stages", "defines")
    more = {name: value for name, value in named.items() if name not in words}
    defines = {**kernel._definition.defines, **(named.get("defines") or {}), **more}
    warps, stages = (named.get(option) for option in ("num_warps", "num_stages"))
    return {
        "text": kernel._definition.text.source.text,
        "kernel": kernel._definition.text.settings.kernel,
        "strict": kernel._definition.text.settings.strict_literals,
        "defines": {name: _plain(value) for name, value in defines.items()},
        "num_warps": _plain(kernel._definition.num_warps if warps is None else warps),
        "num_stages": _plain(kernel._definition.num_stages if stages is None else stages),
        "points": [_point(point) for point in kernel._definition.points],
        "key": list(kernel._definition.settings.tune_key),
    }


def _point(config: Config) -> list[Any]:
    return [{name: _plain(value) for name, value in config.defines.items()}, config.num_warps]


def _plain(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
