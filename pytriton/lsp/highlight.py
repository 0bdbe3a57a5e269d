"""A Pygments lexer, ``triton-c``: C's, with the words, operators and built-in functions of Triton-C.

Input: a source. Output: Pygments tokens; none is an error. Pygments finds it by an entry point (pyproject.toml).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pygments.lexers.c_cpp import CLexer
from pygments.token import Error, Keyword, Name, Operator

from pytriton.lsp.builtin_pages import BUILTINS, TYPES


class TritonCLexer(CLexer):
    """C, with the words of Triton-C among its keywords."""

    name = "Triton-C"
    aliases = ("triton-c",)
    filenames = ("*.tr",)

    def get_tokens_unprocessed(self, text: str, stack: Any = ("root",)) -> Iterator[tuple[int, Any, str]]:
        """The tokens with their offsets."""
        for index, token, value in super().get_tokens_unprocessed(text, stack):
            if value in TYPES:
                token = Keyword.Type
            elif token is Error or value in ("@", "..."):
                token = Operator
            elif token is Name and value in BUILTINS:
                token = Name.Builtin
            yield index, token, value
