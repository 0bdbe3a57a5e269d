"""Tokens -> terminals of the grammar.

Input: preprocessed tokens. Output: the terminal of each, as its ``type`` (C11 5.1.1.2, phase 7). Kinds of tokens
are terminals; each word and sign of the language has one. Two things that no C grammar can express are done here:
which identifiers are type names at their place (``typedef``, with scopes), and that ``bitcast`` before ``<`` is an
operator. What Triton-C does not have (``struct``, ``goto``, ...) is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from pytriton.errors import Report
from pytriton.lang.grammar import spelled
from pytriton.lang.parse.habits import METHODS, TYPES, without_prefix
from pytriton.lang.tokens import Kind, Token, set_type

_QUALIFIERS: Final = frozenset(
    "const restrict __restrict __restrict__ volatile __constant__ inline __inline __inline__".split()
)
_STORAGE: Final = frozenset("typedef static extern register __global__".split())
_REFUSED: Final = {
    "struct": "pass the members as separate parameters",
    "union": "use bitcast<T>(x) to reinterpret bits",
    "goto": "use a loop or an if",
    "switch": "use if / else if",
    "case": "use if / else if",
    "default": "use if / else if",
    "asm": "Triton has no inline assembly in this form",
    "__asm__": "Triton has no inline assembly in this form",
    "_Generic": "pass the type as a define",
    "complex": "keep real and imaginary parts apart",
    "_Complex": "keep real and imaginary parts apart",
}

_PUNCTUATORS: Final = {
    "#": "a directive comes first on its line",
    "##": "'##' joins names inside a #define only",
    ".": "pass what it names as a parameter",
    "->": "pass what it names as a parameter",
}
_MEMBERS: Final = {
    "blockIdx": "write 'get_program_id(axis)'",
    "gridDim": "write 'get_num_programs(axis)'",
    "blockDim": "a program works on whole blocks, as in 'int rm[TM] = 0 ... TM'",
    "threadIdx": "a program works on whole blocks, as in 'int rm[TM] = 0 ... TM'",
    "triton": "this looks like today's Triton, which is Python and needs no translation",
}

# The terminal of each word that the grammar knows only by its class.
_WORDS: Final = {
    **dict.fromkeys(_QUALIFIERS, "QUALIFIER"),
    **dict.fromkeys(_STORAGE, "STORAGE"),
    **dict.fromkeys(TYPES, "TYPE"),
}
_KINDS: Final = {**{kind: kind.name for kind in Kind}, Kind.END: "$END"}


@cache
def terminals() -> Mapping[str, str]:
    """The terminal of each word and sign that always has the same."""
    return {**spelled(), **_WORDS}


def classify(tokens: list[Token], report: Report) -> None:
    """Give each token its ``type``, the terminal that it is."""
    words = terminals()
    typedefs = _Typedefs() if "typedef" in [token.text for token in tokens] else None
    refused: set[str] = set()  # cures given: `switch` is one mistake, its `case`s are not more
    name, sign = Kind.IDENT, Kind.PUNCT
    for index, token in enumerate(tokens):
        kind, text = token.kind, token.text
        if kind is not name and kind is not sign:
            set_type(token, _KINDS[kind])
            continue
        terminal = words.get(text)
        if terminal is None:
            if kind is sign:
                _refuse_sign(tokens, index, report)
                continue
            terminal = "IDENT"
            if text in _REFUSED and _REFUSED[text] not in refused:
                refused.add(_REFUSED[text])
                report.error("TC401", f"Triton-C has no '{text}'", token.span, help=_REFUSED[text])
            elif text == "bitcast" and tokens[index + 1].text == "<":
                terminal = "BITCAST"
            elif typedefs is not None:
                terminal = typedefs.terminal(text)
        if typedefs is not None:
            typedefs.saw(token, terminal)
        set_type(token, terminal)


def _refuse_sign(tokens: list[Token], index: int, report: Report) -> None:
    text, before = tokens[index].text, tokens[index - 1].text if index else ""
    if (before, text) == (".", ".") or (text == "." and tokens[index + 1].text == "."):
        if before != text:
            where = tokens[index].span.to(tokens[index + 1].span)
            report.error("TC402", "Triton-C has no '..'", where, help="a range is written 'a ... b'")
        return
    what = f"member access '{text}'" if text in (".", "->") else f"'{text}'"
    help_ = _MEMBERS.get(before) or _PUNCTUATORS.get(text)
    method = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if text == "." and method in METHODS and tokens[index - 1].kind is Kind.IDENT and before != "tl":
        help_ = f"write '{METHODS[method].format(before)}'"
    if (before, text) == ("tl", "."):
        help_ = without_prefix("tl.", tokens[index + 1].text)
    report.error("TC402", f"Triton-C has no {what}", tokens[index].span, help=help_)


class _Typedefs:
    """Which identifiers are type names here: C's "typedef name" problem, for one scope stack.

    A name is a type from the end of its ``typedef`` to the end of its scope. Directly after a type word
    it is being declared anew and is an ordinary name, there and in the rest of the scope.
    """

    def __init__(self) -> None:
        self.scopes: list[dict[str, bool]] = [{}]
        self.pending: Token | None = None
        self.inside = False
        self.depth = 0
        self.after_type = False

    def terminal(self, text: str) -> str:
        is_type = next((scope[text] for scope in reversed(self.scopes) if text in scope), False)
        if not is_type:
            return "IDENT"
        if self.after_type:
            if not self.inside:
                self.scopes[-1][text] = False
            return "IDENT"
        return "TYPENAME"

    def saw(self, token: Token, terminal: str) -> None:
        text = token.text
        if text == "typedef":
            self.inside, self.pending, self.depth = True, None, 0
        elif self.inside and terminal == "IDENT" and self.depth == 0:
            self.pending = token
        if self.inside and terminal in ("LSQB", "LPAR", "LBRACE"):
            self.depth += 1
        elif self.inside and terminal in ("RSQB", "RPAR", "RBRACE"):
            self.depth -= 1
        elif self.inside and self.depth == 0 and terminal in ("SEMICOLON", "COMMA"):
            if self.pending is not None:
                self.scopes[-1][self.pending.text] = True
            self.inside = terminal == "COMMA"
        elif terminal == "LBRACE":
            self.scopes.append({})
        elif terminal == "RBRACE" and len(self.scopes) > 1:
            self.scopes.pop()
        keeps = terminal in ("QUALIFIER", "STAR")
        self.after_type = terminal in ("TYPE", "TYPENAME") or (self.after_type and keeps)
