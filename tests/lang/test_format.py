"""``pytriton format``: nothing is lost, twice changes nothing, and what a text means stays."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

import pytriton
from pytriton.errors import CompileError
from pytriton.lang.format import formatted
from pytriton.pipeline import translate
from pytriton.source import Source
from tests.translate.cases import CASES, load, text

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
NOT_TOKENS = "pp_error_not_taken"  # an #if drops a string that never ends

UNTIDY = """\
#define T 16   // tile
void   f (float* x,float * const y , int n,
  TYPE*z)
{   // begins
int r[ T ]=0...T ;  float v[T]=*?( r<n )(x+r),w[T] = - v;


  // a comment
      /* of
   * two lines */
  for(int i=0;i<n;i+=1)
  for (;;)
    if (i<3 && !(n)) {
   v = (float) v*-1.5+(TYPE)(n)- -w[:, newaxis][+, :];
      } else if (n)
  v=n?w:
  v;
   else { w = bitcast<float>(i)@^v; i ++; --i ; }
#  ifdef A
  if (n > 0) {
#else
  while (n < 0) {
#endif
  atomic_add (y, v,
  r < n);
  }
  do
    n -= 1;
  while (n);
  *y=1; /* inside */ *z = 2; // the end
}
"""
TIDY = """\
#define T 16   // tile
void f(float *x, float *const y, int n,
       TYPE *z)
{  // begins
  int r[T] = 0 ... T; float v[T] = *?(r < n) (x + r), w[T] = -v;

  // a comment
  /* of
   * two lines */
  for (int i = 0; i < n; i += 1)
    for (;;)
      if (i < 3 && !(n)) {
        v = (float)v * -1.5 + (TYPE)(n) - -w[:, newaxis][+, :];
      } else if (n)
        v = n ? w :
            v;
      else { w = bitcast<float>(i) @ ^v; i++; --i; }
#  ifdef A
  if (n > 0) {
#else
  while (n < 0) {
#endif
    atomic_add(y, v,
               r < n);
  }
  do
    n -= 1;
  while (n);
  *y = 1; /* inside */ *z = 2;  // the end
}
"""


def test_layout() -> None:
    assert formatted(Source(UNTIDY)) == TIDY


@pytest.mark.parametrize("case", [case for case in CASES if case != NOT_TOKENS])
@pytest.mark.sampled(2)
def test_cases(case: str) -> None:
    """Again it changes nothing, and the translation is the same."""
    written = text(case).decode("utf-8-sig")
    once = formatted(Source(written))
    assert formatted(Source(once)) == once
    data = load(case)
    if once != written:
        settings = {"kernel": data.get("kernel"), "strict_literals": data.get("strict_literals", False)}
        before, after = (translate(each, data.get("defines"), **settings) for each in (written, once))
        assert before.text == after.text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    """The texts of the examples stand in our layout already."""
    constants = (
        node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)
    )
    for value in constants:
        if isinstance(value, str) and "__global__ void" in value and "{" in value:
            once = formatted(Source(value))
            assert once.strip() == value.strip()


@pytest.mark.parametrize(
    "written",
    [
        "",
        "// only a comment",
        "void f(int *y) { *y = 1; /* open */ }",
        "#define A(x) \\\n  x\n  A(1)\n",
        "void f(){int a=1;/* x\n   y */int b=2;}",
        "void f(int *y) { if (1) ; else *y = - -1 + + +1; }}}",
        "}}} else #\n)](",
        "#if 1\n}\n#else\n{\n#endif\n#endif\n\\\n",
        "int a \\\n = 1;\n\n\n\n\nint b;",
        "0 . . 5; * =; / *",
        "a = b ? : c; d = *? (m) p; e = x [ :, ^1 ][+]; x = a<b>c;",
    ],
)
def test_any_tokens(written: str) -> None:
    """Texts that are no kernels: formatting is about tokens."""
    once = formatted(Source(written))
    assert formatted(Source(once)) == once


@pytest.mark.parametrize(
    "body",
    [
        "  if (n) {\n    *x = 1;\n  } *x = n +\n    1;",
        "        /* a\n b */   *x = n +\n   2;",
        "  *x = n\n     + 1; *x = n +\n  3;",
        "  if (n) { *x = n +\n      4; }",
        "  *x = 1; /* a */ /* b */",
        "  /* a */ /* b */ int i = 0; *x = i;",
        "  /* a\n  b */ /* c */\n  *x = 1;",
    ],
)
def test_twice_is_once(body: str) -> None:
    once = formatted(Source(f"__global__ void f(int *x, int n) {{\n{body}\n}}\n"))
    assert formatted(Source(once)) == once


@pytest.mark.parametrize("case", [case for case in CASES if case != NOT_TOKENS])
@pytest.mark.sampled(2)
def test_mangled_programs_twice_are_once(case: str) -> None:
    choices = random.Random(case)
    written = text(case).decode("utf-8-sig")
    blanks = (" ", "\n", "  /* c\n  d */ ", " /* e */ ")
    mangled = "".join(choices.choice(blanks) if c == " " and choices.random() < 0.1 else c for c in written)
    try:
        once = formatted(Source(mangled))
    except CompileError:
        return  # a comment in a directive or a string
    assert formatted(Source(once)) == once


def test_refused() -> None:
    with pytest.raises(CompileError, match="TC007"):
        formatted(Source(text(NOT_TOKENS).decode()))


def test_derived_texts_are_formatted() -> None:
    pytest.importorskip("torch")
    source = pytriton.gradient("__global__ void f(float *y, float *x) { *y = *x * *x; }").source
    assert formatted(Source(source)) == source
