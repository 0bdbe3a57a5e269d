"""Which arguments a call of a kernel writes, as far as it can be known before the call.

A translation knows it exactly, and where all defines show in the call's text, it is asked: for every point, if some
define is a list. Where a define's value does not show, the text is checked with it left open (``stores.py``). What
is then still undecided stays so: the schema of an operator is no place for guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from pytriton.errors import CompileError
from pytriton.operators.stores import Stores, stores
from pytriton.runtime import Kernel
from pytriton.runtime.options.defines import Config, defines_of

__all__ = ["Undecided", "written_positions"]


class Undecided(Exception):
    """What a call writes depends on defines that do not show. ``stores``: what is known all the same."""

    def __init__(self, known: Stores) -> None:
        super().__init__(known)
        self.stores = known


def written_positions(
    kernel: Kernel, shown: Mapping[str, Any], unknown: Set[str] = frozenset(), more: bool = False
) -> frozenset[int]:
    """The positions of the parameters that a call writes; raises Undecided.

    ``shown`` are the defines that a call's text shows, ``unknown`` the names of those whose values it does not
    show; with ``more`` there may be others.
    """
    text = kernel._definition.text
    unknown = unknown | kernel._definition.heuristics.functions.keys()
    configs = kernel._definition.configs(defines_of(shown))
    first = None if unknown or more else _exact(kernel, configs[:1])
    if first is not None and len(configs) == 1:
        return first
    known = {name: value for name, value in configs[0].defines.items() if name not in unknown}
    if more:  # it may replace what the constructor was given
        unknown, known = unknown | (known.keys() - shown.keys()), dict(shown)
    swept = {name for name in known if any(config.defines.get(name) != known[name] for config in configs)}
    known = {name: value for name, value in known.items() if name not in swept}
    by_text = stores(text.source, text.settings, known, unknown | swept, more or first is None)
    if by_text.sure == by_text.may:
        return by_text.sure
    by_translation = None if first is None else _exact(kernel, configs)
    if by_translation is None:
        raise Undecided(by_text)
    return by_translation


def _exact(kernel: Kernel, configs: tuple[Config, ...]) -> frozenset[int] | None:
    """What the translations write; None if one cannot be made."""
    written = set[int]()
    try:
        for config in configs:
            translation = kernel._definition.text.translate(config)
            written.update(
                at for at, param in enumerate(translation.parameters) if param.name in translation.writes
            )
    except CompileError:
        return None
    return frozenset(written)
