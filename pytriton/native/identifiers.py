"""C identifiers for symbols: the user's name where C, its library and our template leave it free.

Input: symbols. Output: one identifier for each, unique in the module, so that scopes do not matter. A name that is
a keyword, a macro, or in ``templates/native_library.c.j2`` gets an underscore; a second symbol of one name gets a
number.
"""

from __future__ import annotations

import re
from typing import Final

from pytriton.lang.tree.typed import Symbol

_KEYWORDS: Final = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "bool true false asm typeof linux unix i386 errno I complex imaginary assert near far main".split()
)
_MACROS: Final = re.compile(
    r"_.*|.*_(C|MAX|MIN|WIDTH|EPSILON|t)|FP_\w+|MATH_\w+|HUGE_\w+|NAN|INFINITY|NULL|SNAN\w*|M_\w+|[A-Z]+_SOURCE"
    r"|i\d|is\w+|fp\w+|(load|store|atomic|min|max|abs|div|mod|shl|shr|bits|scalar)_\w+|\w+_(of|bits)_\w+|math_\w+"
    r"|signgam|offsetof|ptrdiff|mem\w+|str\w+"
)


class Identifiers:
    """Names of one module."""

    def __init__(self, reserved: frozenset[str]) -> None:
        self._reserved = reserved
        self._used: set[str] = set()
        self._names: dict[Symbol, str] = {}

    def __getitem__(self, symbol: Symbol) -> str:
        if symbol not in self._names:
            self._names[symbol] = self.fresh(symbol.name)
        return self._names[symbol]

    def fresh(self, wanted: str) -> str:
        """An identifier like this one that nothing else has."""
        wanted = re.sub(r"[^A-Za-z0-9_]", "_", wanted) or "value"
        if wanted in _KEYWORDS or wanted in self._reserved or _MACROS.fullmatch(wanted):
            wanted = f"{wanted.lstrip('_') if wanted.startswith('_') else wanted}_"
            wanted = wanted if not wanted[0].isdigit() and wanted != "_" else f"v{wanted}"
        name, number = wanted, 2
        while name in self._used:
            name, number = f"{wanted.rstrip('_')}_{number}", number + 1
            if name in self._reserved or _MACROS.fullmatch(name):
                name = f"{name}_"
        self._used.add(name)
        return name
