"""The lexer: kinds, spans, white space, comments, every lexical error, and texts made to hurt."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytriton.errors import CompileError, ParseError, Report
from pytriton.lang.tokens import (
    DIGRAPHS,
    MAX_TEXT,
    Kind,
    Token,
    decode,
    kind_of,
    tokenize,
)
from pytriton.source import Source
from tests.work import counted


def lex(text: str) -> list[Token]:
    """The tokens of a sound text, without END."""
    report = Report()
    tokens = tokenize(Source(text, "k.c"), report)
    assert [diagnostic.render() for diagnostic in report.errors] == []
    assert tokens[-1].kind is Kind.END
    return tokens[:-1]


def words(text: str) -> list[str]:
    return [token.text for token in lex(text)]


def errors(text: str) -> list[str]:
    report = Report()
    with contextlib.suppress(ParseError):
        tokenize(Source(text, "k.c"), report)
    return [f"{error.code} {error.message}" for error in report.errors]


def rendered(text: str) -> str:
    report = Report()
    tokenize(Source(text, "k.c"), report)
    return "\n\n".join(diagnostic.render() for diagnostic in report.errors)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0...16", "0 ... 16"),
        ("0 ... TM", "0 ... TM"),
        ("2*0...TM", "2 * 0 ... TM"),
        ("TM...5", "TM ... 5"),
        ("0x1F...2", "0x1F ... 2"),
        ("1.0f .5 1e-5f 0x1F 0b101 64u 1.e+3 5ull", "1.0f .5 1e-5f 0x1F 0b101 64u 1.e+3 5ull"),
        ("1..2", "1..2"),
        ("1.5.x", "1.5.x"),
        ("*?(m)p", "* ? ( m ) p"),
        ("x[:, newaxis]", "x [ : , newaxis ]"),
        ("x[^1, ^0]", "x [ ^ 1 , ^ 0 ]"),
        ("a@^b", "a @ ^ b"),
        ("x[+]", "x [ + ]"),
        ("a+++b", "a ++ + b"),
        ("a<<=b>>=c", "a <<= b >>= c"),
        ("a->b--->c", "a -> b -- -> c"),
        ("a&&b||!c!=d", "a && b || ! c != d"),
        ("#define a##b", "# define a ## b"),
        ("bitcast<int>(x)", "bitcast < int > ( x )"),
        ("a ^= b |= c &= d %= e", "a ^= b |= c &= d %= e"),
        (r"'a' '\'' '\\' '\n'", r"'a' '\'' '\\' '\n'"),
        (r'"a" "\"" "b c"', r'"a" "\"" "b c"'),
        ("x = -1;", "x = - 1 ;"),
    ],
)
def test_texts_split_into_tokens(text: str, expected: str) -> None:
    found = lex(text)
    assert " ".join(token.text for token in found) == expected
    assert all(token.span.text == token.text for token in found)


def test_kinds() -> None:
    kinds = [token.kind for token in lex("a 1 'c' \"s\" ...")]
    assert kinds == [Kind.IDENT, Kind.NUMBER, Kind.CHAR, Kind.STRING, Kind.PUNCT]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    found = lex(f"a b{end}{end} c(d{end}e")
    flags = [(token.text, token.newline, token.spaced) for token in found]
    assert flags == [
        ("a", True, False),
        ("b", False, True),
        ("c", True, True),
        ("(", False, False),
        ("d", False, False),
        ("e", True, True),
    ]


def test_comments_hang_on_the_next_token() -> None:
    first, second, third = lex("// one\n  a /* two\n lines */ b; // three\n/**/ /* four */".strip())
    assert [(c.text, c.own_line) for c in first.comments] == [(" one", True)]
    assert [(c.text, c.own_line) for c in second.comments] == [(" two\n lines ", False)]
    assert third.comments == ()
    assert not second.newline  # a comment is a blank, whatever it holds
    assert second.spaced
    end = tokenize(Source("a // x\n/**/ /* y */"), Report())[-1]
    assert [(c.text, c.own_line) for c in end.comments] == [
        (" x", False),
        ("", True),
        (" y ", False),
    ]
    assert end.comments[0].span.text == "// x"


def test_no_comments_in_strings() -> None:
    assert words("\"/* no */\" '//'") == ['"/* no */"', "'//'"]


def test_continued_lines_keep_their_spans() -> None:
    text = "#define A x + \\\r\n  y\nin\\\nt z; /\\\n/ gone \\\n too\nw"
    found = lex(text)
    assert [token.text for token in found] == "# define A x + y int z ; w".split()
    by_text = {token.text: token for token in found}
    assert not by_text["y"].newline
    assert by_text["int"].span.text == "in\\\nt"
    for text_ in ("y", "z", ";", "w"):
        assert by_text[text_].span.text == text_
    assert [c.text for c in by_text["w"].comments] == [" gone  too"]
    assert by_text["w"].span.line == 6 + 1


def test_byte_order_mark() -> None:
    (token,) = lex("\ufeffa")
    assert (token.text, token.newline, token.span.start) == ("a", True, 1)


def test_end_has_a_place() -> None:
    end = tokenize(Source("a \n"), Report())[-1]
    assert (end.span.start, end.span.end, end.newline) == (3, 3, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a /* b", ["TC006 unterminated comment"]),
        ('x "abc\ny', ["TC007 unterminated string"]),
        ('"abc\\"', ["TC007 unterminated string"]),
        ("don't\nx", ["TC008 unterminated character constant"]),
        ("''", ["TC008 empty character constant"]),
        ("a\0b", ["TC003 NUL character in the source"]),
        ("/* \0 */", ["TC003 NUL character in the source"]),
        ("a\x07", ["TC004 control character U+0007"]),
        ("// \x85", ["TC004 control character U+0085"]),
        (
            "// \u202e",
            ["TC005 bidirectional control character U+202E RIGHT-TO-LEFT OVERRIDE"],
        ),
        ("a$b", ["TC009 stray character '$'"]),
        ("`", ["TC009 stray character '`'"]),
        ("a \\ b", ["TC009 stray backslash"]),
        ("größe", ["TC009 stray character U+00F6 LATIN SMALL LETTER O WITH DIAERESIS"]),
        ("a\u00a0b", ["TC009 stray character U+00A0 NO-BREAK SPACE"]),
        ("\ud800", ["TC009 stray character U+D800"]),
        ("1" * 5000, ["TC010 number of 5000 characters"]),
    ],
)
def test_errors(text: str, expected: list[str]) -> None:
    assert errors(text) == expected


def test_rendered_stray_character() -> None:
    assert rendered("int größe;") == (
        "k.c:1:7: error: stray character U+00F6 LATIN SMALL LETTER O WITH DIAERESIS [TC009]\n"
        "    1 | int größe;\n"
        "      |       ^~\n"
        "help: names are made of the letters a-z and A-Z, digits and '_';"
        " put the rest in a comment"
    )


def test_rendered_continuation_with_blank() -> None:
    assert rendered("a \\ \nb") == (
        "k.c:1:3: error: stray backslash [TC009]\n"
        "    1 | a \\ \n"
        "      |   ^\n"
        "help: a line continuation must be the last character of its line,"
        " without a space after it"
    )


def test_too_large() -> None:
    report = Report()
    with pytest.raises(ParseError) as caught:
        tokenize(Source("x" * (MAX_TEXT + 1), "k.c"), report)
    assert str(caught.value).startswith("k.c: error: the source is larger than 1 MiB [TC002]")


class TestDecode:
    def test_utf8(self) -> None:
        assert decode("é".encode(), "k.c", Report()).text == "é"

    def test_byte_order_mark_is_left_out(self) -> None:
        assert decode(b"\xef\xbb\xbfa", "k.c", Report()).text == "a"

    def test_latin1(self) -> None:
        with pytest.raises(ParseError) as caught:
            decode(b"int a;\n// \xe9t\xe9\n", "k.c", Report())
        assert str(caught.value).startswith("k.c:2:4: error: byte 0xE9 is not UTF-8 [TC001]")

    def test_too_large(self) -> None:
        with pytest.raises(ParseError, match="TC002"):
            decode(b" " * (MAX_TEXT + 1), "k.c", Report())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a1", Kind.IDENT),
        ("1.5e+3", Kind.NUMBER),
        ("<<=", Kind.PUNCT),
        ("##", Kind.PUNCT),
        ("", None),
        ("a b", None),
        (" a", None),
        ("//", None),
        ("+-", None),
        ("/*", None),
        ("\n", None),
        ("é", None),
    ],
)
def test_kind_of(text: str, kind: Kind | None) -> None:
    assert kind_of(text) is kind


@given(st.text(alphabet="ab01.+-*/?:@#'\" \t\n\r\\<>=[](){}&|^_eéLx$\x00", max_size=60))
def test_any_text_is_covered_by_its_tokens(text: str) -> None:
    report = Report(limit=1000)
    try:
        tokens = tokenize(Source(text), report)
    except CompileError:
        return
    end = 0
    for token in tokens:
        for comment in token.comments:
            assert end <= comment.span.start < comment.span.end
            end = comment.span.end
        assert end <= token.span.start <= token.span.end
        end = token.span.end
        if "\\" not in text:
            assert DIGRAPHS.get(token.span.text, token.span.text) == token.text
    assert end == len(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(" " * 100_000, id="blanks"),
        pytest.param("//\n" * 30_000, id="comments"),
        pytest.param("/*" * 50_000, id="comment openers"),
        pytest.param("/*" + "*" * 100_000, id="stars"),
        pytest.param("\n" * 100_000, id="lines"),
        pytest.param("\\\n" * 50_000, id="continuations"),
        pytest.param("a\\\n" * 20_000, id="one name in pieces"),
        pytest.param("'" * 99_999, id="apostrophes"),
        pytest.param('"\\' * 50_000, id="escapes"),
        pytest.param('"a\n' * 30_000, id="open strings"),
        pytest.param("." * 100_000, id="dots"),
        pytest.param("1" * 100_000, id="digits"),
        pytest.param("1e+" * 30_000, id="exponents"),
        pytest.param("é" * 100_000, id="letters"),
        pytest.param("\0" * 100_000, id="NULs"),
        pytest.param("a" * 100_000, id="one name"),
        pytest.param("((((" * 10_000, id="parentheses"),
    ],
)
@pytest.mark.sampled(9)
def test_nothing_is_quadratic(text: str) -> None:
    counted(lambda: errors(text), most=100 * len(text))
