"""What a mutant is: one wrong edit of one file.

``old`` stands exactly once in ``path`` (``test_mutants.py`` keeps that true), ``breaks`` says what the edit takes
away. A mutant that cannot change any result is no mutant: each of these makes some program compute something else,
race, be refused, or lose the speed that the pass is for.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Mutant"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """An edit of one file: ``old`` becomes ``new``."""

    name: str
    path: str
    breaks: str
    old: str
    new: str
