"""Writes lark's tables of the grammar beside it: ``make grammar``, after each edit of grammar/triton_c.lark."""

from __future__ import annotations

from pathlib import Path

from pytriton.lang.grammar import TABLES, tables

if __name__ == "__main__":
    path = Path(__file__).resolve().parent.parent / "grammar" / TABLES
    path.write_text(tables(), encoding="utf-8")
