"""Notes the launches of a Python process: each source, its defines and sweeps, and the line of its constructor.

A source that is put together while the program runs cannot be read from its code. Nothing about the launches
changes. ``pytriton port --run`` has it called at the start of each process of the program (observations.py), since
the program may do anything, and since porting itself needs neither torch nor triton.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch

from pytriton.legacy.imports import legacy_builtins, legacy_imports
from pytriton.runtime.errors import caller
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.defines import Config


def record(folder: str, packages: Sequence[str], paths: Sequence[str]) -> None:
    """Give ``packages``, and a script below ``paths``, the old Triton, and write what they launch to a file in
    ``folder``, a line of JSON each time that it is new.

    Keys: ``text``, ``kernel``, ``strict``; ``file`` and ``line`` of the constructor;
    ``defines``, ``num_warps``, ``num_stages``, ``points`` and ``key``. A dtype is ``{"dtype": "float16"}``.
    """
    legacy_imports(*packages)
    words = [Path(word).resolve() for word in sys.orig_argv[1:]]
    if any(word.exists() and word.is_relative_to(path) for word in words for path in paths):
        vars(sys.modules["__main__"])["__builtins__"] = legacy_builtins("__main__")
    seen: set[str] = set()
    places: WeakKeyDictionary[Kernel, tuple[str, int]] = WeakKeyDictionary()
    make, launch = Kernel.__init__, Kernel.__call__

    def created(self: Kernel, *arguments: Any, **named: Any) -> None:
        make(self, *arguments, **named)
        places[self] = caller()

    def called(self: Kernel, /, *arguments: Any, **named: Any) -> Any:
        observed = _options(self, named)
        observed["file"], observed["line"] = places.get(self, ("", 0))
        line = json.dumps(observed, sort_keys=True)
        if line not in seen:
            seen.add(line)
            with Path(folder, f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
                print(line, file=file)
        return launch(self, *arguments, **named)

    Kernel.__init__, Kernel.__call__ = created, called  # type: ignore[method-assign, assignment]


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
