"""Defines that were given under a wrong name: ``num_warp``, ``EVENK``.

A define that a text does not mention is no mistake, as wrappers share one dictionary between kernels. Worth a
warning is only one that is spelled almost like an option of the call, or like a name that an ``#if`` of the text
asks for and nobody gave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

from pytriton.errors import closest

__all__ = ["tell_of_typos"]

CALL_OPTIONS: Final = ("num_warps", "num_stages", "grid", "bench", "defines")
_CONDITION: Final = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b(.*)", re.MULTILINE)
_NAME: Final = re.compile(r"[A-Za-z_]\w*")


def tell_of_typos(
    given: Mapping[str, object],
    mentioned: Collection[str],
    text: str,
    tell: Callable[[str, str, str], None],
) -> None:
    """Warn of the first define that is most likely another's name. ``mentioned``: those that the text mentions."""
    strange = [name for name in given if name not in mentioned]
    if not strange:
        return
    asked = {name for line in _CONDITION.findall(text) for name in _NAME.findall(line)}
    wanted = [*CALL_OPTIONS, *sorted(asked - given.keys() - {"defined"})]
    for name in strange:
        near = closest(name, wanted)
        if near is not None:
            tell(f"the text does not mention the define '{name}'", "TC528", f"did you mean '{near}'?")
            return
