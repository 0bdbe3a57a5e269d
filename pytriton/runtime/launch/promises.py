"""What a kernel object does about a promise that a launch breaks.

``__multipleof(n)`` and ``__aligned(n)`` are promises of the author that old programs break all the time, and were
right (docs/language.md). So a launch that breaks one runs the translation without it (``Plan.without``), and
the kernel object warns of each parameter once; or, if it is strict, refuses the launch.
"""

from __future__ import annotations

import os
from typing import Final

from pytriton.errors import LaunchError
from pytriton.lang.tree.types import PointerType
from pytriton.runtime.errors import headline, warn
from pytriton.runtime.launch.arguments import Place

__all__ = ["STRICT_VARIABLE", "Promises"]

STRICT_VARIABLE: Final = "PYTRITON_STRICT_PROMISES"


class Promises:
    """Tells of broken promises, for all plans of one kernel object."""

    def __init__(self, strict: bool = False) -> None:
        """``strict``, or PYTRITON_STRICT_PROMISES=1, refuses launches that break a promise."""
        self.strict = strict or os.environ.get(STRICT_VARIABLE, "") not in ("", "0")
        self._told: set[str] = set()

    def tell(self, place: Place, number: int, value: int | None = None) -> None:
        """A parameter's argument, ``value`` if that is known, is not a multiple of ``number``.

        Warns once for each parameter; raises LaunchError if strict.
        """
        name = place.parameter.name
        if name in self._told and not self.strict:
            return
        if isinstance(place.parameter.type, PointerType):
            where = "is at an address" if value is None else f"is at address {value:#x}"
            what, code, attribute = f"{where}, which is not a multiple of {number}", "TC509", "__aligned"
            cure = f"pass a tensor that starts at a multiple of {number} bytes"
        else:
            what = (
                f"is not a multiple of {number}"
                if value is None
                else f"is {value}, which is not a multiple of {number}"
            )
            code, attribute, cure = "TC508", "__multipleof", f"pass a multiple of {number}"
        cure = f"{cure}, or drop {attribute}({number}) from the source"
        if self.strict:
            raise LaunchError(headline(f"{place} {what}", code, cure))
        self._told.add(name)
        warn(headline(f"{place} {what}: the promise is dropped for this launch", code, cure))
