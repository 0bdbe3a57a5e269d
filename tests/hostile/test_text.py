"""Texts that are cut off, no text at all, or that reach for files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.attempts import DOT, GIVEN, TEXTS, accepted, attempt, kernel, refused


@pytest.mark.parametrize(
    "tail", ["/*", "/* *", '"', '"\\', "'", "'\\", "//", "// \\", "\\", "#", "#if", "#define F("]
)
def test_unfinished(tail: str) -> None:
    for text in (tail, kernel("*X = 1;") + tail, kernel("*X = 1;")[:-3] + tail, f"#define M {tail}"):
        attempt(text)
        attempt(text + "\n")
        attempt(text.encode())
    attempt(kernel("*X = D;"), {"D": tail})


@pytest.mark.parametrize("cut", range(0, len(TEXTS[DOT]), 7))
@pytest.mark.sampled(9)
def test_every_prefix(cut: int) -> None:
    attempt(TEXTS[DOT][:cut], GIVEN[DOT])
    attempt(TEXTS[DOT][cut:], GIVEN[DOT])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (kernel("*X = 1;\0"), "TC003"),
        (kernel("*X = 1; // \0"), "TC003"),
        (kernel("*X = 1;\x07"), "TC004"),
        (kernel("*X = 1; /* \x1b[31m */"), "TC004"),
        (kernel("/* \u202e */ *X = 1;"), "TC005"),
        (kernel("/* \u2066 */ *X = 1;"), "TC005"),
        (kernel("*X = 1; // \u200f"), "TC005"),
        (kernel("*X\u200b = 1;"), "TC009"),
        (kernel("*X\u00a0= 1;"), "TC009"),
        (kernel("*\u0425 = 1;"), "TC009"),
        (kernel("*X = \uff11;"), "TC009"),
        (kernel("*X = 1;").replace(";", "\u037e"), "TC009"),
        (kernel("*X = 1;\u2028"), "TC009"),
        (kernel("*X = 1;") + "\ufeff", "TC009"),
        (kernel("*X = \ud800;"), "TC009"),
    ],
)
def test_characters(text: str, code: str) -> None:
    assert code in [found.code for found in refused(text).diagnostics]


@pytest.mark.parametrize(
    "data", [b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf", b"\x80"]
)
def test_bytes_that_are_no_text(data: bytes) -> None:
    refused(data, "TC001")
    refused(kernel("*X = 1;").encode() + b"// " + data, "TC001")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le"])
def test_other_encodings(encoding: str) -> None:
    refused(kernel("*X = 1;").encode(encoding))


def test_line_ends_and_byte_order_mark() -> None:
    plain = accepted(TEXTS[DOT], defines=GIVEN[DOT]).text
    for text in (TEXTS[DOT].replace("\n", "\r\n"), TEXTS[DOT].replace("\n", "\r"), "\ufeff" + TEXTS[DOT]):
        assert accepted(text, defines=GIVEN[DOT]).text == plain
        assert accepted(text.encode(), defines=GIVEN[DOT]).text == plain
    line_four = kernel("\r\r  *X = $;")
    assert ":4:" in str(refused(line_four, "TC009"))


@pytest.mark.parametrize(
    "empty", ["", " ", "\n", ";", "// nothing", "/* nothing */", "#", "\ufeff", "\\\n", b"", b"\xef\xbb\xbf"]
)
def test_nothing(empty: str | bytes) -> None:
    refused(empty, "TC204")


INCLUDED = r"""
"/etc/passwd"
"../../etc/passwd"
"~/.ssh/id_rsa"
<stdio.h>
"C:\\x"
"a/../../b"
""
<>
"/dev/zero"
"/dev/stdin"
"."
".."
X
"\\\\host\\x"
NAME
"a" "b"
"a
<a
"http://example.com/x.h"
"file:///etc/passwd"
__FILE__
__LINE__
""".strip().splitlines()
INCLUDED += ['"' + "a/" * 5_000 + '"', '"a\0b"', ""]


@pytest.mark.parametrize("name", INCLUDED)
def test_includes(name: str, tmp_path: Path) -> None:
    (tmp_path / "self.h").write_text('#include "self.h"\n#include "self.h"\n')
    (tmp_path / "link.h").symlink_to("/etc/passwd")
    text = f"#include {name}\n" + kernel("*X = 1;")
    for options in ({}, {"include_dirs": [tmp_path]}, {"include_dirs": ["/nowhere"]}):
        for defines in ({}, {"NAME": '"/etc/passwd"'}):
            error = refused(text, **options, defines=defines)
            assert "root:" not in str(error)


def test_includes_of_themselves_and_links(tmp_path: Path) -> None:
    (tmp_path / "self.h").write_text('#include "self.h"\n#include "self.h"\n')
    (tmp_path / "link.h").symlink_to("/etc/passwd")
    (tmp_path / "fan.h").write_text('#include "leaf.h"\n' * 10_000)
    (tmp_path / "leaf.h").write_text(" ")
    for name, code in (("self.h", "TC144"), ("link.h", "TC141"), ("fan.h", "TC144")):
        refused(f'#include "{name}"\n' + kernel("*X = 1;"), code, include_dirs=[tmp_path])
