"""A translation with any of its settings, for tests of what tuning may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytriton.pipeline import Translation, translate_as
from pytriton.settings import Settings

__all__ = ["replaced", "translate"]


def translate(text: str, defines: Mapping[str, Any] | None = None, **asked: Any) -> Translation:
    """The translation of a text; ``asked`` are fields of ``Settings``."""
    return translate_as(text, defines, Settings(**asked))


def replaced(text: str, *changes: tuple[str, str]) -> str:
    """The text with other pieces in the place of some, each of which it has."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text
