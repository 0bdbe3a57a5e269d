"""Sentences of the language, each as small programs that the evaluator and the emitted module must agree on.

The programs are given by their bodies: Y and X are ints, G and F floats, n is 5; each of three instances has its
own Y and G. What a text must not touch lies outside of the buffers, so that an access to it is a failure.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz.judge import judged
from tests.oracle.judges import launch

HEAD = """void f(int *Y, int *X __noalias, float *G __noalias, float *F __noalias, int n) {
  int pid = get_program_id(0);
  int r[8] = 0 ... 8;
  int s[4] = 0 ... 4;
  Y += pid * 32;
  G += pid * 32;
"""
FAR = "1000000"  # far outside

MASKS = {
    "one load": "*(Y + r) = r < n ? *(X + r) : -1;",
    "what is left out is not touched": f"*(Y + r) = r < n ? *(X + (r < n ? r : {FAR})) : -1;",
    "both branches": f"*(Y + r) = r < n ? *(X + (r < n ? r : {FAR})) : *(X + (r < n ? {FAR} : 15 - r));",
    "in a function": f"*(G + r) = r < n ? exp(-fabs(*(F + (r < n ? r : {FAR})))) : 0;",
    "in sums": f"*(Y + r) = r < n ? *(X + (r < n ? r : {FAR})) * 2 + *(X + (r < n ? r + 1 : {FAR})) : r;",
    "nested, in the true branch": "*(Y + r) = r < n ? (r > 2 ? *(X + r) : 7) : 8;",
    "nested, in the false branch": f"*(Y + r) = r < n ? 7 : (r > 6 ? 8 : *(X + (r < n || r > 6 ? {FAR}"
    f" : r)));",
    "nested in a condition": f"*(Y + r) = (r < n ? *(X + (r < n ? r : {FAR})) : 0) > 2 ? *(X + 1) : 3;",
    "three deep": "*(Y + r) = r < 6 ? (r > 1 ? (r != 3 ? *(X + r) : 30) : 10) : 60;",
    "a load in a load's address": f"*(Y + r) = r < n ? *(X + (*(X + (r < n ? r : {FAR})) & 7)) : 0;",
    "a mask of lower rank": "int i[4, 4] = s[:, newaxis] * 4 + s[newaxis, :]; *(Y + i) = s < 2 ? *(X +"
    " i) : -1;",
    "a mask of one column": "int i[4, 4] = s[:, newaxis] * 4 + s[newaxis, :];"
    " *(Y + i) = (s < 2)[:, newaxis] ? *(X + i) : -1;",
    "a scalar mask": "*(Y + r) = n > 3 ? *(X + r) : -1;",
    "a scalar mask that fails": f"*(Y + r) = n > 30 ? *(X + r + {FAR}) : -1;",
    "a scalar load": f"*Y = n > 30 ? *(X + {FAR}) : 4;",
    "through a reduction": "*(Y + pid) = n > 3 ? (*(X + r))[+] : 0;",
    "through a reduction that fails": f"*(Y + pid) = n > 30 ? (*(X + {FAR} + r))[max] : 5;",
    "a masked load as operand": "*(Y + r) = 1 + (*?(r < 8)(X + r)) * 2;",
    "a masked load under a ternary": f"*(Y + r) = r < n ? (r > 1 ? *?(r > 1)(X + (r < n && r > 1 ? r :"
    f" {FAR})) : 1) : 2;",
    "an expression as mask": "*?(*(X + r) % 2 == 0 && r + 1 < n)(Y + r) = r;",
    "a number as mask": "*?(*(X + r) & 1)(Y + r) = r;",
    "a masked store of a masked load": f"*?(r < n)(Y + r) = *?(r < n)(X + (r < n ? r : {FAR}));",
    "the last of several": "int v[8] = *(X + r); *(Y + r) = r < n ? v : *(X + 8 + r);",
    "the statement before is not masked": "int v[8] = *(X + r); int w[8] = r < 2 ? v : 0; *(Y + r) = v + w;",
    "an int as condition": "*(Y + r) = *(X + r) - 3 ? *(X + 8 + r) : -1;",
    "a ?: b": "*(Y + r) = *(X + r) % 3 ?: *(X + 8 + r);",
}

SCOPES = {
    "another type inside": "int v = 1; { float v = 2.5f; *G = v; } *(Y + pid) = v;",
    "another shape inside": "int v = 1; { int v[8] = r * 2; *(Y + r) = v; } *(Y + 8 + pid) = v;",
    "in a loop's body": "int v[8] = r; for (int i = 0; i < 3; i++) { float v = i; *(G + i) = v; v +="
    " 1; } *(Y + r) = v;",
    "the outer one as initialiser": "int v = 3; { int w = v; int v = w + 1; *(Y + pid) = v; } *(Y + 8"
    " + pid) = v;",
    "a mask declared again in a loop": "bool m[8] = r < 2; for (int i = 0; i < 4; i++) { bool m[8] = r < i;"
    " *?(m)(Y + r) = i; } *?(m)(Y + 8 + r) = 9;",
    "a parameter hidden": "{ int n = 9; *(Y + pid) = n; } *(Y + 8 + pid) = n;",
    "loops over one name": "for (int i = 0; i < 2; i++) *(Y + i) = i; for (int i = 5; i > 2; i--) *(Y"
    " + i) = i;",
    "one name, another type": "for (int i = 0; i < 2; i++) *(Y + i) = i; for (char i = 5; i > 2; i--)"
    " *(Y + i) = i;",
    "nested loops over one name": "for (int i = 0; i < 2; i++) { for (int i = 4; i < 6; i++) *(Y + i)"
    " = i; *(Y + i) = i; }",
    "no initialiser": "int v; if (pid) v = 3; else v = 4; *(Y + pid) = v;",
    "no initialiser, a block": "int v[8]; for (int i = 0; i < n; i++) v = r + i; *(Y + r) = v;",
    "a parameter assigned": "n = n / 2; n += 1; *(Y + pid) = n;",
    "a pointer parameter assigned": "X += 8; *(Y + r) = *(X + r);",
    "in both branches": "if (pid) { int v = 1; *(Y + pid) = v; } else { float v = 2; *G = v; }",
}

JUMPS = {
    "while": "int i = n; while (i > 0) { *(Y + i) = i; i -= 2; }",
    "do while": "int i = n; do { *(Y + i) = i; i--; } while (i > 3);",
    "do once": "int i = n; do { i = i + 9; } while (0); *(Y + pid) = i;",
    "for ever": "int i = 0; for (;;) { if (i > n) break; *(Y + i) = i; i++; }",
    "break": "int i; for (i = 0; i < 9; i++) { if (*(X + i) > 3) break; *(Y + i) = 1; } *(Y + 9) = i;",
    "break of the inner loop": "for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++)"
    " { if (j > i) break; *(Y + i * 4 + j) = j; }",
    "continue": "for (int i = 0; i < 9; i++) { if (i % 3 == pid) continue; *(Y + i) = i; }",
    "continue in a while": "int i = 0; while (i < 9) { i++; if (i & 1) continue; *(Y + i) = i; }",
    "continue in a do": "int i = 0; do { i++; if (i == 3) continue; *(Y + i) = i; } while (i < n);",
    "continue and break": "for (int i = 0; i < 9; i++) { if (i == 2) continue; if (i == 6) break; *(Y"
    " + i) = i; }",
    "return first": "if (pid == 1) return; *(Y + pid) = 1;",
    "return in both": "if (pid) { *Y = 1; return; } else { *(Y + 1) = 1; return; }",
    "return in a loop": "for (int i = 0; i < 9; i++) { if (*(X + i) > 3) return; *(Y + i) = i; } *(Y +"
    " 15) = 1;",
    "return in nested loops": "for (int i = 0; i < 3; i++) { for (int j = 0; j < 3; j++)"
    " { if (i + j == 3) return; *(Y + i * 4 + j) = 1; } *(Y + 12 + i) = 2; } *(Y + 15) = 1;",
    "return behind a break": "int i = 0; while (1) { if (i == 7) break;"
    " if (i == n + pid) return; *(Y + i) = 1; i++; } *(Y + 15) = 1;",
    "a loop that is not entered": "for (int i = n; i < 3; i++) *(Y + i) = 1; *(Y + 9) = 1;",
    "a bound assigned before": "n = n - 2; for (int i = 0; i < n; i++) *(Y + i) = i;",
    "a bound that changes": "for (int i = 0; i < n; i++) { *(Y + i) = i; n -= 1; }",
    "a condition with an effect": "int i = 3; while (i--) *(Y + i) = i;",
    "else if": "if (pid == 0) *Y = 1; else if (pid == 1) *(Y + 1) = 2; else *(Y + 2) = 3;",
}


@pytest.mark.parametrize("body", (MASKS | SCOPES | JUMPS).values(), ids=MASKS | SCOPES | JUMPS)
@pytest.mark.filterwarnings("ignore")
def test_sentence(body: str) -> None:
    x = np.array([3, -1, 2, 0, 4, 1, -5, 3, 8, 2, 6, -2, 7, 0, 1, 5], np.int32)
    f = np.linspace(-2, 3, 16, dtype=np.float32)
    y, g = np.full(96, -7, np.int32), np.zeros(96, np.float32)
    verdict = judged(launch(f"{HEAD}  {body}\n}}\n", y, x, g, f, 5, grid=(3,)))
    assert verdict.ok, verdict.message
    assert verdict.detail == ""  # decided
