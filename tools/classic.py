"""The matrix product of examples/dot.py as one text, for the picture and the playground.

Its constants are read, not imported: building the site needs no torch.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

__all__ = ["classic_dot"]

PROGRAM = Path(__file__).parent.parent / "examples" / "dot.py"


def classic_dot() -> str:
    """SOURCE, its holes filled in for ``a @ b``; TYPE, TM, TN and TK are still defines."""
    constants = {
        target.id: ast.literal_eval(statement.value)
        for statement in ast.parse(PROGRAM.read_text(encoding="utf-8")).body
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name)
        if target.id in ("SOURCE", "A_PLAIN", "B_PLAIN")
    }
    holes = {**constants["A_PLAIN"], **constants["B_PLAIN"]}
    text = re.sub("|".join(holes), lambda hole: holes[hole[0]], constants["SOURCE"])
    return text.replace(" * 1", "").lstrip("\n")
