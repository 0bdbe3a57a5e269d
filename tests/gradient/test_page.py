"""Each row of the tables of docs/derivatives.md names what proves it, and that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.gradient.programs import PROGRAMS

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "derivatives.md"


def test_rows_name_their_proof() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = [row.split("|") for row in re.findall(r"^\| .* \|$", text, re.MULTILINE)]
    proofs = [row[-2] for row in rows if row[-2].strip() not in ("proof", "---")]
    assert len(proofs) > 35
    tests = {
        node.name
        for path in HERE.glob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    for proof in proofs:
        named = re.findall(r"`(\w+)`", proof)
        assert named
        assert set(named) <= {*PROGRAMS, *tests}
    used = {name for proof in proofs for name in re.findall(r"`(\w+)`", proof)}
    assert {*PROGRAMS} - used == {"gelu", "deep", "repeated", "softmax"}  # several rules at once
