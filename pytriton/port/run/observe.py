"""Which kernels a program really launches: each text, its defines and sweeps, and the lines of both.

``python -m pytriton port --run`` asks for this: a text that is put together while the program runs cannot be read
from its code, but a run shows what becomes of it. Nothing about the launches changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import torch

from pytriton.runtime.errors import caller
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.defines import Config


@contextmanager
def observing() -> Iterator[list[dict[str, Any]]]:
    """While the body runs, note what each launch says, once each, as values that JSON can hold.

    Keys: ``text``, ``kernel``, ``strict``; ``file`` and ``line`` of the constructor and ``called`` of the call;
    ``defines``, ``num_warps``, ``num_stages``, ``points`` and ``key``. A dtype is ``{"dtype": "float16"}``.
    """
    seen: dict[str, dict[str, Any]] = {}
    places: WeakKeyDictionary[Kernel, tuple[str, int]] = WeakKeyDictionary()
    make, launch = Kernel.__init__, Kernel.__call__

    def made(self: Kernel, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        places[self] = caller()

    def called(self: Kernel, /, *given: Any, **named: Any) -> Any:
        observed = _said(self, named) | {"called": caller()[1]}
        observed["file"], observed["line"] = places.get(self, ("", 0))
        seen.setdefault(json.dumps(observed, sort_keys=True), observed)
        return launch(self, *given, **named)

    launches: list[dict[str, Any]] = []
    Kernel.__init__, Kernel.__call__ = made, called  # type: ignore[method-assign]
    try:
        yield launches
    finally:
        Kernel.__init__, Kernel.__call__ = make, launch  # type: ignore[method-assign]
        launches += seen.values()


def _said(kernel: Kernel, named: dict[str, Any]) -> dict[str, Any]:
    """What the constructor and the keywords of one call say together."""
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
