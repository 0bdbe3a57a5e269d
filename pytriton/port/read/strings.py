"""Operations on known strings of the scanned Python: ``+``, f-strings, ``%`` and the methods of ``str``.

Python does them itself: a string with a part that is not known is unknown. Strings that are put one after the other
keep their lines; the result of any other operation only knows the first. Results are bounded, so that hostile code
(``'a' * 10**9``) costs nothing.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytriton.port.read.values import NotKnown, Traced, literal, traced

MAX_LENGTH: Final = 1 << 20  # characters, as the translator's own limit

# The operations, each with what its string must not have: a width, or a part of a value.
_OPERATIONS: Final = {
    "__mod__": r"%(?!(\(\w+\))?[sd%])",
    "format": r"(?<!\{)\{(?!\{)\w*[^\w{}]",
    **dict.fromkeys("join lower lstrip replace rstrip split splitlines strip upper".split()),
}


def add(left: str, right: str) -> str:
    """``left + right``."""
    if len(left) + len(right) > MAX_LENGTH:
        raise NotKnown
    pieces = (text.pieces if isinstance(text, Traced) else ((text, 0),) for text in (left, right))
    return traced(piece for some in pieces for piece in some)


def operation(text: str, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """A method of ``str``, ``%`` (``__mod__``), or ``dedent``; raises one of ``FAILURES`` where it is unknown."""
    if name == "dedent":
        result: Any = textwrap.dedent(text)
    else:
        refused, values = _OPERATIONS[name], [*arguments, *named.values()]
        if (refused and re.search(refused, text)) or not literal(values):
            raise NotKnown
        if len(repr(values)) * len(text) > MAX_LENGTH:
            raise NotKnown
        result = getattr(str(text), name)(*arguments, **named)
    line = text.pieces[0][1] if isinstance(text, Traced) else 0
    return traced(((result, line),)) if isinstance(result, str) else result
