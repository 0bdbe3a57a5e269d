"""Each point of a sweep, in whatever order, is what it is alone: the tree that they share is of no point."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import pytriton
from pytriton.lang import read
from pytriton.pipeline import translate_as
from pytriton.settings import Settings

CASES = sorted((Path(__file__).parents[1] / "translate").glob("*/case.toml"))
TEXTS = {
    "shadowed": """__global__ void f(float* X) {
  int n = T;
  int i[T] = 0 ... T;
  { int n[T] = i; int i[U] = 0 ... U; *(X + i) = U; *(X + n) = T; }
  if (T > U) { int U_ = U; *(X + i) = n + U_; }
}""",
    "typedef": """typedef float row[T];
__global__ void f(float* X) {
  typedef int place[U];
  place i = 0 ... U;
  row r = 1;
  *(X + i) = 2;
  *(X + 0 ... T) = r;
}""",
    "constants": """static const int half_t = T / 2;
enum { FIRST = T, SECOND };
__global__ void f(int* X, int n __multipleof(U)) {
  enum { THIRD = U };
  int i[half_t] = 0 ... half_t;
  *(X + i) = FIRST + SECOND * THIRD + n;
}""",
    "warned twice": """#define STORE(T) *X = (n[0:1], T);
__global__ void f(float* X, int n) {
  int u;
  n + T;
  n + T;
  *X = u + U;
  if (n = T) *X = 1;
}""",
    "wrong for some": """__global__ void f(float* X, float* Y) {
  float x[T] = *(X + 0 ... T);
  float y[U] = *(Y + 0 ... U);
  y += 1;
  x = x + y;
  *(X + 0 ... T) = x + y;
}""",
    "wrong twice in one place": """#define BOTH(a, b) a = b; b = a;
__global__ void f(float* X) {
  float x[T] = 1; float y[U] = 2;
  BOTH(x, y)
  *(X + 0 ... T) = x;
}""",
    "branches and comments": """__global__ void f(float* X, int n) { // of n
  // above
  int i[T] = 0 ... T; // behind
  float x[T] = i < n ? *(X + i) : (i < U ? *(X + U + i) : 0); /* more */
  for (int k = 0; k < U; k++) { // turn
    x = x > 0 ? x * 0.1 : T;
    // last
  }
  *?(i < n)(X + i) = x; // stored
  // end
}""",
}
VALUES = (16, 32, 8, 1, 48, 0, 16.0, -0.0, 0.0, True, "0x20")


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    read._entries.clear()
    yield
    read._entries.clear()


def outcome(text: str, defines: dict[str, Any], **more: Any) -> Any:
    """All that a user can see of a translation."""
    try:
        found = translate_as(text, defines, Settings(**more))
    except pytriton.CompileError as error:
        return type(error), str(error)
    warnings = [warning.render() for warning in found.warnings]
    parameters = [
        (one.name, one.identifier, str(one.type), one.declaration, one.multiple_of, one.aligned)
        for one in found.parameters
    ]
    return found.text, repr(found.constexprs), warnings, dict(found.lines), parameters, found.traits.tiles


def assert_alike(text: str, points: list[dict[str, Any]], **more: Any) -> None:
    """Every point of a sweep, in whatever order, is what it is alone."""
    alone = []
    for point in points:
        read._entries.clear()
        alone.append(outcome(text, point, **more))
    read._entries.clear()
    order = [*random.Random(1).sample(range(len(points)), len(points)), 0]
    for place in order:
        assert outcome(text, points[place], **more) == alone[place], points[place]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.sampled(6)
def test_texts(name: str) -> None:
    assert_alike(TEXTS[name], [{"T": one, "U": other} for one in VALUES for other in VALUES])


def swept(case: Path) -> list[dict[str, Any]]:
    """A case with other values for its numbers."""
    defines = {
        name: value[0] if isinstance(value, list) else value
        for name, value in tomllib.loads(case.read_text()).get("defines", {}).items()
    }
    points = [defines]
    for name, value in defines.items():
        if type(value) is int:
            points += [{**defines, name: other} for other in (value * 2, value // 2, value + 1, 1)]
    return points


@pytest.mark.parametrize(
    "case", [case for case in CASES if len(swept(case)) > 1], ids=lambda c: c.parent.name
)
@pytest.mark.sampled(12)
def test_cases(case: Path) -> None:
    assert_alike((case.parent / "kernel.c").read_text(), swept(case))


def test_other_options() -> None:
    """The same text, another kernel of it, and literals as C has them."""
    text = "__global__ void f(float* X) { *X = 0.1 * T * *X; }\n__global__ void g(half* X) { *X = 0.1 * *X; }"
    options = [{"kernel": name, "strict_literals": strict} for name in "fg" for strict in (False, True)]
    alone = []
    for option in options:
        read._entries.clear()
        alone.append(outcome(text, {"T": 1}, **option))
    for _ in range(2):
        for option, expected in zip(options, alone, strict=True):
            assert outcome(text, {"T": 1}, **option) == expected
    assert len(set(map(str, alone))) == 4


def test_threads() -> None:
    points = [{"T": one, "U": other} for one in (16, 32) for other in (8, 4)]
    text = TEXTS["branches and comments"]
    alone = []
    for point in points:
        read._entries.clear()
        alone.append(outcome(text, point))
    read._entries.clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda point: outcome(text, point), points * 20)) == alone * 20
