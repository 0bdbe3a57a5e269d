"""Names in scope, as C has them: a stack of blocks, the innermost first."""

from __future__ import annotations

from collections.abc import Mapping

from pytriton.errors import Report
from pytriton.lang.preprocess.macros import Macro
from pytriton.lang.tree.typed import Symbol
from pytriton.lang.tree.types import BlockType, PointerType, ScalarType
from pytriton.source import Span

__all__ = ["Scope"]

TypedefType = ScalarType | PointerType | BlockType


class Scope:
    """What each name means at one place of the text.

    ``numbers``: the defines that are numbers. ``macros``: those of the text, for suggestions.
    """

    def __init__(self, numbers: Mapping[str, int | float], macros: Mapping[str, Macro]) -> None:
        self.numbers = numbers
        self.macros = macros
        self._symbols: list[dict[str, Symbol]] = [{}]
        self._types: list[dict[str, tuple[TypedefType, Span]]] = [{}]

    def push(self) -> None:
        """Enter a block."""
        self._symbols.append({})
        self._types.append({})

    def pop(self) -> None:
        """Leave the innermost block."""
        self._symbols.pop()
        self._types.pop()

    def find(self, name: str) -> Symbol | None:
        """The symbol that a name means here."""
        for names in reversed(self._symbols):
            if name in names:
                return names[name]
        return None

    def type(self, name: str) -> TypedefType | None:
        """The type that a typedef name means here."""
        return next((types[name][0] for types in reversed(self._types) if name in types), None)

    def number(self, name: str) -> int | float:
        """The value of a define that is a number."""
        return self.numbers[name]

    def declare(self, symbol: Symbol, report: Report) -> None:
        """Enter a symbol; a second one of its name in the same block is an error."""
        known = self._symbols[-1].get(symbol.name)
        if known is not None:
            report.error(
                "TC307",
                f"'{symbol.name}' is declared twice in the same scope",
                symbol.span,
                ("it was declared here before", known.span),
                help="assign to the first one, or give this one another name",
            )
        self._symbols[-1][symbol.name] = symbol

    def define_type(self, name: str, type_: TypedefType, span: Span, report: Report) -> None:
        """Enter a typedef name; a second one in the same block must have the same type (C11 6.7)."""
        known, before = self._types[-1].get(name, (type_, span))
        if known != type_:
            report.error(
                "TC307",
                f"'{name}' is a typedef of {type_} here, and of {known} before, in the same scope",
                span,
                ("it was declared here before", before),
                help="give this one another name",
            )
        self._types[-1][name] = type_, span

    def visible(self) -> set[str]:
        """Every variable name in scope."""
        return {name for names in self._symbols for name in names}
