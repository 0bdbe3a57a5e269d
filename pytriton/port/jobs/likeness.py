"""How much of a folded kernel changes when it is to serve more define sets.

A kernel that takes its element types from its tensors serves other types without a change; one that serves sizes
on the other side of a question may change in a few lines. What would change more is not worth a combination that
nobody has shown.
"""

from __future__ import annotations

import re
from typing import Final

from pytriton.fold.fold import Folded

__all__ = ["is_near", "is_same"]

MAX_CHANGED: Final = 8  # lines of a kernel
_NOTE: Final = re.compile(r"^(    \w+,)  # .*\*$", re.MULTILINE)
_OF_TYPES: Final = re.compile(r',\s*input_precision="ieee",?|\.to\([\w.]+\)')


def is_same(one: Folded, other: Folded) -> bool:
    """Whether two kernels differ in element types only, and in what goes with them: casts, and precision."""
    return _without_types(one.text) == _without_types(other.text)


def is_near(one: Folded, other: Folded) -> bool:
    """Whether few lines of the other kernel are not in the first."""
    return len(set(other.text.splitlines()) - set(one.text.splitlines())) <= MAX_CHANGED


def _without_types(text: str) -> str:
    bare = _OF_TYPES.sub("", _NOTE.sub(r"\1", text))
    return re.sub(r"[\s()]+", "", bare).replace(",", "")
