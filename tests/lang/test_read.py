"""Points of a sweep share what was read; what they get is what each would get alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import pytriton
from pytriton.errors import Report
from pytriton.lang import read
from pytriton.pipeline import Translation, translate_as
from pytriton.settings import Settings
from pytriton.source import Source

BODY = """__global__ void f(float* X, int n) {
  int i[T] = get_program_id(0) * T + 0 ... T;
  *?(i < n)(X + i) = BODY;
}
"""
TEXTS = {
    "plain": BODY,
    "condition": "#if T > 16\n#define BODY 1\n#else\n#define BODY 2\n#endif\n" + BODY,
    "condition by macro": "#define LARGE(t) (t > 16)\n#if LARGE(T) && defined(U)\n#define BODY 3\n#endif\n"
    + BODY,
    "pasted": "#define NUMBER(x) x ## 0\n#define BODY NUMBER(1) + NUMBER(T)\n" + BODY,
    "string": "#define TEXT(x) #x\n_Static_assert(T > 0, TEXT(T));\n" + BODY,
    "defined again": "#undef T\n#define T 8\n" + BODY,
    "warnings": "#pragma one\n" + BODY + "#warning two\n",
    "comment": "// T is a size\n" + BODY,
    "named by a macro": "#define f T_kernel\n" + BODY,
    "sign after an operand": BODY.replace("= BODY", "= n BODY"),
    "after a return": BODY.replace("  *?", "  if (n > 9) return;\n  int d = n / (T - 16);\n  *?"),
}
POINTS: list[dict[str, Any]] = [
    {"T": size, "BODY": body, **more}
    for size, body, more in itertools.product(
        (16, 32, 24, 1, "16", "0x10", 16.0, True), ("1", "n * T", 2, -2, -3), ({}, {"U": 1}, {"U": ""})
    )
]


def translate(text: str, defines: dict[str, Any], include_dirs: Sequence[Path] = ()) -> Translation:
    """One translation, as a config of a sweep is."""
    return translate_as(text, defines, Settings(include_dirs=tuple(map(str, include_dirs))))


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    read._entries.clear()
    yield
    read._entries.clear()


def outcome(text: str, defines: dict[str, Any]) -> Any:
    try:
        found = translate(text, defines)
    except pytriton.CompileError as error:
        return type(error), str(error)
    warnings = [warning.render() for warning in found.warnings]
    return found.text, dict(found.constexprs), found.mentioned, warnings, dict(found.lines), found.parameters


@pytest.mark.parametrize("name", TEXTS)
def test_a_point_is_what_it_is_alone(name: str) -> None:
    alone = []
    for point in POINTS:
        read._entries.clear()
        alone.append(outcome(TEXTS[name], point))
    read._entries.clear()
    for _ in range(2):
        for point, expected in zip(POINTS, alone, strict=True):
            assert outcome(TEXTS[name], point) == expected, point


def parses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for every text that is parsed from now on."""
    found: list[int] = []
    parse = read.parse
    monkeypatch.setattr(read, "parse", lambda *given: found.append(1) or parse(*given))
    return found


def test_a_sweep_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    count = parses(monkeypatch)
    for size in (16, 32, 64, 128):
        translate(TEXTS["plain"], {"T": size, "BODY": "n"})
    assert len(count) == 1
    translate(TEXTS["plain"], {"T": 16, "BODY": "n + 1"})
    assert len(count) == 2
    for size in (16, 32, 16, 32):  # the #if asks
        translate(TEXTS["condition"], {"T": size})
    assert len(count) == 4


def test_what_is_included_is_read_anew(tmp_path: Path) -> None:
    text = '#include "body.h"\n' + BODY
    for body in ("1", "2"):
        (tmp_path / "body.h").write_text(f"#define BODY {body}\n")
        found = translate(text, {"T": 16}, include_dirs=[tmp_path]).text
        assert f"tl.store(X + i, {body}" in found
    assert not read._entries


def test_errors_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    count = parses(monkeypatch)
    for _ in range(2):
        with pytest.raises(pytriton.ParseError):
            translate(BODY + "}", {"T": 16, "BODY": "1"})
    assert len(count) == 2
    with pytest.raises(pytriton.PreprocessError):
        translate(TEXTS["plain"], {"T": 16, "BODY": "1", "U": object()})
    translate(TEXTS["plain"], {"T": 16, "BODY": "1"})
    with pytest.raises(pytriton.PreprocessError):
        translate(TEXTS["plain"], {"T": 16, "BODY": "1", "U": object()})


def test_little_is_kept() -> None:
    for number in range(3 * read.MAX_TEXTS):
        translate(f"// {number}\n{BODY}", {"T": 16, "BODY": "1"})
    assert len(read._entries) == read.MAX_TEXTS
    arms = "".join(f"#if T == {size}\n#endif\n" for size in range(4 * read.MAX_POINTS))
    for size in range(1, 4 * read.MAX_POINTS):
        translate(arms + TEXTS["condition"], {"T": size})
    assert max(map(len, read._entries.values())) == read.MAX_POINTS
    long = BODY.replace("BODY", "1" + " + 1" * read.MAX_TOKENS)
    read._entries.clear()
    read.read(Source(long), {"T": 16}, Report())
    assert not read._entries
