"""The looks of the site: furo's options, the highlighting of both languages in light and dark."""

from __future__ import annotations

import re

from pygments.lexers.python import PythonLexer
from pygments.style import Style
from pygments.token import (
    Comment,
    Error,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Token,
)

from pytriton.lsp.highlight import TritonCLexer

__all__ = ["OPTIONS", "Dark", "Light", "Python"]

_SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"
_MONO = "ui-monospace, 'SF Mono', 'Cascadia Code', Menlo, Consolas, 'DejaVu Sans Mono', monospace"

_BOTH = {
    "font-stack": _SANS,
    "font-stack--monospace": _MONO,
    "code-font-size": "0.84em",
}
OPTIONS = {
    "navigation_with_keys": True,
    "light_css_variables": {
        **_BOTH,
        "color-brand-primary": "#0b6e5f",
        "color-brand-content": "#0b6e5f",
        "color-brand-visited": "#0b6e5f",
        "color-old": "#b4541a",
        "color-new": "#0b6e5f",
        "color-mute": "#9aa4ad",
        "color-light": "#ccd3d8",
        "color-code-background": "#f6f7f7",
        "color-api-name": "#0b6e5f",
        "color-api-pre-name": "#5f6b75",
    },
    "dark_css_variables": {
        **_BOTH,
        "color-brand-primary": "#4fc3ad",
        "color-brand-content": "#4fc3ad",
        "color-brand-visited": "#4fc3ad",
        "color-old": "#f0a36b",
        "color-new": "#4fc3ad",
        "color-mute": "#65707a",
        "color-light": "#454e56",
        "color-code-background": "#1b1f22",
        "color-api-name": "#4fc3ad",
        "color-api-pre-name": "#8f9ba6",
    },
}


class Python(PythonLexer):
    """Python, with the Triton-C in its strings in the colours of Triton-C."""

    name = "Python with Triton-C"
    aliases = ["python"]  # noqa: RUF012 - pygments asks for a list
    TEXT = re.compile(r'"""(?:(?!""").)*?\bvoid \w+\((?:(?!""").)*"""', re.DOTALL)

    def get_tokens_unprocessed(self, text, stack=("root",)):  # type: ignore[no-untyped-def]
        ends = {found.start(): found.end() for found in self.TEXT.finditer(text)}
        done = 0
        for index, token, value in super().get_tokens_unprocessed(text, stack):
            if index in ends:
                done = ends[index]
                yield index, String, '"""'
                for at, kind, word in TritonCLexer().get_tokens_unprocessed(text[index + 3 : done - 3]):
                    yield index + 3 + at, kind, word
                yield done - 3, String, '"""'
            elif index >= done:
                yield index, token, value


def _style(
    text: str, mute: str, word: str, kind: str, number: str, string: str, call: str
) -> dict[object, str]:
    return {
        Token: text,
        Comment: f"italic {mute}",
        Comment.Preproc: f"noitalic {number}",
        Keyword: word,
        Keyword.Type: kind,
        Name.Builtin: text,
        Name.Function: call,
        Name.Decorator: number,
        Number: number,
        String: string,
        Operator: word,
        Operator.Word: word,
        Punctuation: text,
        Error: text,
        Generic.Prompt: mute,
        Generic.Output: text,
    }


class Light(Style):
    """On white."""

    background_color = "#f6f7f7"
    styles = _style("#24292e", "#5f6b75", "#8a2be2", "#0b6e5f", "#a1410d", "#8f3a0c", "#0a58a8")


class Dark(Style):
    """On black."""

    background_color = "#1b1f22"
    styles = _style("#d8dee4", "#8f9ba6", "#c79bf2", "#4fc3ad", "#f0a36b", "#e8b58a", "#7db8f0")
