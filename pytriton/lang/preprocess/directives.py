"""Text and defines -> the tokens that the parser reads (C11 6.10).

Input: a ``Source``, and what the caller defines. Output: tokens without directives and macros,
ended by one ``END`` token. Invariants: every token has a span in the user's text, that of the
outermost macro use where it came out of a macro; a number define is still a name, a ``CONSTEXPR``
token; a comment is dropped only with the ``#if`` arm or ``#define`` that contains it.

One loop copies tokens to the output and stops at two things: a ``#`` at the start of a line
(``_directive``), and the name of a macro (expand.py). Arms that an ``#if`` drops are skipped token
by token; nothing in them is an error, except characters that no source may contain. The arithmetic is in
arithmetic.py, macros, with the defines of the caller, in macros.py.
docs/errors.md lists the errors (TC101 to TC163).
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Final

from pytriton.errors import Diagnostic, Report
from pytriton.frozen import record
from pytriton.lang.preprocess.arithmetic import evaluate
from pytriton.lang.preprocess.expand import Expander
from pytriton.lang.preprocess.include import Includes
from pytriton.lang.preprocess.macros import (
    PRELUDE,
    RESERVED,
    Macro,
    given_macros,
    parse_define,
    with_comments,
)
from pytriton.lang.tokens import Comment, Kind, Token, scan
from pytriton.source import Source, Span

_NEWLINE: Final = re.compile(r"(?<!\\)(?<!\\\r)(\r\n|\n|\r)")  # that continues no line
_LINE_END: Final = re.compile(r"[\r\n]|\Z")
MAX_IF_DEPTH: Final = 256  # nested #ifs
MAX_WARNINGS: Final = 100
MAX_TOKENS: Final = 45_000  # about 5,000 dense lines; translating them takes most of a second


@record
class Preprocessed:
    """``tokens``: END last. ``macros``: at the end. ``mentioned``: the names in the source and in the defines that
    it mentions; ``asked``: those of them on which the tokens depend, not those of dropped arms alone.

    ``numbers``: the given defines that are numbers. The tokens have only their names, and so are the same for
    others, except for those of ``spelled``, which a ``#`` or a ``##`` reads.
    """

    tokens: list[Token]
    mentioned: frozenset[str]
    asked: frozenset[str]
    macros: Mapping[str, Macro]
    numbers: Mapping[str, int | float]
    spelled: frozenset[str]


def preprocess(
    source: Source,
    defines: Mapping[str, object],
    report: Report,
    *,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Preprocessed:
    """Run the preprocessor over a source, with ``defines`` ahead of it.

    Errors go to the report; those after which no sense can be made raise at once. ``#include``
    finds files in ``include_dirs`` only.
    """
    given = given_macros(defines, source, report)
    return preprocess_given(source, given, report, include_dirs)


def preprocess_given(
    source: Source,
    given: Mapping[str, Macro],
    report: Report,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Preprocessed:
    """The same, with macros ahead of the source."""
    expander = Expander({**PRELUDE, **given}, report)
    run = _Preprocessor(expander, given, Includes(include_dirs, report), report)
    run.file(source)
    return Preprocessed(
        run.out,
        _reached(run.names | expander.used, given),
        _reached(run.asked | expander.used, given),
        run.macros,
        {name: macro.value for name, macro in given.items() if macro.value is not None},
        frozenset(expander.spelled),
    )


def _reached(names: Set[str], given: Mapping[str, Macro]) -> frozenset[str]:
    """The names, and those in the texts of defines that they name."""
    reached = set[str]()
    while names := names - reached:
        reached |= names
        texts = (given[name] for name in names & given.keys() if given[name].value is None)
        names = {token.text for text in texts for token in text.body}
    return frozenset(reached)


@dataclasses.dataclass(slots=True)
class _Conditional:
    """An open ``#if``. ``taken``: an arm of it was read. ``other``: the ``else``, once seen."""

    opened: Token
    taken: bool
    other: Token | None = None


@dataclasses.dataclass(slots=True)
class _File:
    """One source being read: a cursor, the open ``#if``s, and the offsets of what was dropped."""

    tokens: list[Token]
    at: int = 0
    conditionals: list[_Conditional] = dataclasses.field(default_factory=list)
    dropped: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    skipped: list[tuple[int, int]] = dataclasses.field(default_factory=list)  # the same of arms, in tokens


class _Stream:
    """The rest of a file, from which a macro takes its arguments."""

    def __init__(self, run: _Preprocessor, file: _File) -> None:
        self.run, self.current = run, file

    def peek(self) -> Token:
        return self.current.tokens[self.current.at]

    def take(self) -> Token:
        file = self.current
        while True:
            token = file.tokens[file.at]
            if token.kind is not Kind.END:
                file.at += 1
            if not (token.newline and token.text == "#"):
                return token
            self.run.directive(file, token, within_arguments=True)


class _Preprocessor:
    """The state of one run."""

    def __init__(
        self, expander: Expander, given: Mapping[str, Macro], includes: Includes, report: Report
    ) -> None:
        self.expander = expander
        self.given = given
        self.macros = expander.macros
        self.report = report
        self.includes = includes
        self.out: list[Token] = []
        self.names: set[str] = set()
        self.asked: set[str] = set()
        self.carried = expander.leftover  # comments that wait for the next token
        self.warnings = 0

    def file(self, source: Source) -> None:
        """Read a whole source; the END token only goes to the output for the outermost one."""
        tokens, problems = scan(source, self.report)
        self.names.update([token.text for token in tokens])
        file = _File(tokens)
        self._text(file)
        if len(self.out) > MAX_TOKENS:
            message = f"the source has more than {MAX_TOKENS} tokens after preprocessing"
            help_ = "put one kernel into each source, and write a loop for what repeats"
            self.report.fatal("TC011", message, self.out[MAX_TOKENS].span, help=help_)
        for opened in file.conditionals:
            self.report.error(
                "TC132",
                f"#{opened.opened.text} without #endif",
                opened.opened.span,
                help="end it with '#endif'",
            )
        self._report_problems(problems, file)
        start = 0
        for skipped, after in [*file.skipped, (len(tokens), 0)]:
            self.asked.update([token.text for token in tokens[start:skipped]])
            start = after
        end = tokens[-1]
        self.carried.extend(end.comments)
        if not self.includes.depth:
            self.out.append(with_comments(end, tuple(self.carried)))

    def _report_problems(self, problems: list[Diagnostic], file: _File) -> None:
        """Lexical errors, save those in dropped arms. Both lists are in source order."""
        at = 0
        for problem in problems:
            assert isinstance(problem.where, Span)
            start = problem.where.start
            while at < len(file.dropped) and file.dropped[at][1] <= start:
                at += 1
            if at < len(file.dropped) and file.dropped[at][0] <= start:
                continue
            self.report.add(problem)

    def _text(self, file: _File) -> None:
        """The main loop."""
        tokens, macros, carried = file.tokens, self.macros, self.carried
        out = self.out
        stream = _Stream(self, file)
        at = 0
        while True:
            token = tokens[at]
            if token.newline:
                if token.kind is Kind.END:
                    break
                if token.text == "#":
                    file.at = at + 1
                    self.directive(file, token)
                    at = file.at
                    continue
            at += 1
            start = len(out)
            if token.text in macros:
                file.at = at
                out.extend(self.expander.expand(token, stream))
                at = file.at
            else:
                out.append(token)
            if carried and len(out) > start:
                out[start] = with_comments(out[start], (*carried, *out[start].comments))
                carried.clear()

    def directive(self, file: _File, sharp: Token, within_arguments: bool = False) -> None:
        """Handle the directive after ``sharp``; the cursor ends at the token to be read next."""
        self.carried.extend(sharp.comments)
        line = self._line(file)
        if not line or line[0].kind is Kind.NUMBER:  # a null directive, or a line marker of cpp
            self._settle(file)
            return
        name = line[0].text
        handler = _DIRECTIVES.get(name)
        if handler is None or line[0].kind is not Kind.IDENT:
            near = [max((word for word in _DIRECTIVES if name.startswith(word)), key=len, default="")]
            near = near if near[0] else difflib.get_close_matches(name[:20], _DIRECTIVES, 1)
            help_ = f"did you mean '#{near[0]}'?" if near else None
            if help_ is None and line[0].spaced:
                help_ = "a comment starts with '//'"
            self.report.error("TC101", f"unknown directive '#{name[:60]}'", line[0].span, help=help_)
            self._settle(file)
            return
        if name == "include" and within_arguments:
            help_ = "close the arguments first"
            self.report.fatal("TC143", "#include within the arguments of a macro", line[0].span, help=help_)
        if name != "define":
            self._carry(line)
        handler(self, file, line)
        self._settle(file)

    def _line(self, file: _File) -> list[Token]:
        """The tokens up to the end of the line."""
        tokens = file.tokens
        start = at = file.at
        while not tokens[at].newline:
            at += 1
        file.at = at
        return tokens[start:at]

    def _carry(self, line: Sequence[Token]) -> None:
        for token in line:
            self.carried.extend(Comment(comment.text, True, comment.span) for comment in token.comments)

    def _settle(self, file: _File) -> None:
        """A comment at the end of a directive's line gets a line of its own."""
        after = file.tokens[file.at]
        if after.comments and not after.comments[0].own_line:
            comments = tuple(Comment(comment.text, True, comment.span) for comment in after.comments)
            file.tokens[file.at] = with_comments(after, comments)

    def _warn(self, code: str, message: str, where: Span, *notes: tuple[str, Span]) -> None:
        self.warnings += 1
        if self.warnings <= MAX_WARNINGS:
            self.report.warning(code, message, where, *notes)

    def _ignored(self, line: Sequence[Token], used: int) -> None:
        if len(line) > used:
            where = line[used].span.to(line[-1].span)
            self._warn("TC162", f"text after #{line[0].text} is ignored", where)

    # Macros

    def _define(self, file: _File, line: Sequence[Token]) -> None:
        if len(line) < 2:
            help_ = "write '#define NAME replacement'"
            self.report.error("TC102", "#define without a name", line[0].span, help=help_)
            return
        macro = parse_define(line[1], line[2:], self.report)
        if macro is None:
            return
        if macro.name in self.given:  # it wins, after an #undef too
            self.macros[macro.name] = self.given[macro.name]
            return
        old = self.macros.get(macro.name)
        if old is not None and not old.quiet and not old.same_as(macro):
            notes = [("defined here before", old.where)] if old.where is not None else []
            message = f"macro {macro.calls} is defined again, differently"
            self._warn("TC107", message, line[1].span, *notes)
        self.macros[macro.name] = macro

    def _undef(self, file: _File, line: Sequence[Token]) -> None:
        if len(line) < 2 or line[1].kind is not Kind.IDENT or line[1].text in RESERVED:
            where = line[min(1, len(line) - 1)].span
            help_ = "write '#undef NAME'"
            self.report.error("TC102", "#undef requires the name of a macro", where, help=help_)
            return
        self.macros.pop(line[1].text, None)
        self._ignored(line, 2)

    # Conditionals

    def _if(self, file: _File, line: Sequence[Token]) -> None:
        self._open(file, line, self._holds(line))

    def _ifdef(self, file: _File, line: Sequence[Token]) -> None:
        wanted = line[0].text == "ifdef"
        if len(line) < 2 or line[1].kind is not Kind.IDENT:
            message = f"#{line[0].text} requires the name of a macro"
            self.report.error("TC125", message, line[min(1, len(line) - 1)].span)
            self._open(file, line, False)
            return
        self._ignored(line, 2)
        self._open(file, line, (line[1].text in self.macros) == wanted)

    def _holds(self, line: Sequence[Token]) -> bool:
        self.asked.update([token.text for token in line])
        tokens = self.expander.expand_condition(line[1:]) if len(line) > 1 else []
        return evaluate(tokens, line[0].span, self.report)

    def _open(self, file: _File, line: Sequence[Token], holds: bool) -> None:
        if len(file.conditionals) >= MAX_IF_DEPTH:
            self.report.fatal("TC133", f"more than {MAX_IF_DEPTH} nested #ifs", line[0].span)
        file.conditionals.append(_Conditional(line[0], holds))
        if not holds:
            self._skip(file)

    def _other_arm(self, file: _File, line: Sequence[Token]) -> None:
        """``#elif`` or ``#else`` after an arm that was read."""
        if self._arm_is_sound(file, line):
            if line[0].text == "else":
                self._ignored(line, 1)
            self._skip(file, len(line))

    def _endif(self, file: _File, line: Sequence[Token]) -> None:
        if not file.conditionals:
            self.report.error("TC130", "#endif without #if", line[0].span)
            return
        self._ignored(line, 1)
        file.conditionals.pop()

    def _arm_is_sound(self, file: _File, line: Sequence[Token]) -> bool:
        name = line[0].text
        if not file.conditionals:
            self.report.error("TC130", f"#{name} without #if", line[0].span)
            return False
        current = file.conditionals[-1]
        if current.other is not None:
            note = ("the #else is here", current.other.span)
            self.report.error("TC131", f"#{name} after #else", line[0].span, note)
        elif name == "else":
            current.other = line[0]
        return True

    def _skip(self, file: _File, unread: int = 0) -> None:
        """Drop an arm, up to the one that is read next or the ``#endif``; ``unread``: tokens of its condition."""
        tokens, first = file.tokens, file.at - unread
        begin = tokens[file.at - 1].span.end
        depth = 0
        while True:
            at = file.at
            while not (tokens[at].newline and tokens[at].text in ("#", "")):
                at += 1
            file.at = at
            if tokens[at].kind is Kind.END:
                tokens[at] = with_comments(tokens[at], ())
                break
            file.at += 1
            line = self._line(file)
            name = line[0].text if line else ""
            if name in ("if", "ifdef", "ifndef"):
                depth += 1
            elif name == "endif" and depth:
                depth -= 1
            elif name in ("elif", "else", "endif") and not depth and self._resumes(file, line):
                break
        file.dropped.append((begin, tokens[at].span.start))
        file.skipped.append((first, at))

    def _resumes(self, file: _File, line: Sequence[Token]) -> bool:
        """Whether reading goes on after this ``#elif``, ``#else`` or ``#endif``."""
        current = file.conditionals[-1]
        if line[0].text == "endif":
            self._carry(line)
            self._endif(file, line)
            return True
        self._arm_is_sound(file, line)
        if line[0].text == "else":
            self._ignored(line, 1)
        if current.taken or (line[0].text == "elif" and not self._holds(line)):
            return False
        self._carry(line)
        current.taken = True
        return True

    # The rest

    def _error(self, file: _File, line: Sequence[Token]) -> None:
        where = line[0].span.to(line[-1].span)
        self.report.fatal("TC140", f"#error {_text_after_name(file, line)}".rstrip(), where)

    def _warning(self, file: _File, line: Sequence[Token]) -> None:
        self._drop(file, line)
        where = line[0].span.to(line[-1].span)
        self._warn("TC160", f"#warning {_text_after_name(file, line)}".rstrip(), where)

    def _pragma(self, file: _File, line: Sequence[Token]) -> None:
        self._drop(file, line)
        self._warn("TC161", "#pragma is ignored", line[0].span.to(line[-1].span))

    def _renumber(self, file: _File, line: Sequence[Token]) -> None:
        last = _last_line(line[-1].span, file.tokens[file.at])
        self.expander.lines.set(line[0], self.expander.expand_line(line[1:]), last, self.report)

    def _drop(self, file: _File, line: Sequence[Token]) -> None:
        span = line[0].span
        end = _LINE_END.search(span.source.text, line[-1].span.end)
        file.dropped.append((span.start, end.start() if end else len(span.source.text)))

    def _include(self, file: _File, line: Sequence[Token]) -> None:
        operand = line[1:]
        if operand and operand[0].kind is not Kind.STRING and operand[0].text != "<":
            operand = self.expander.expand_line(operand)
        source = self.includes.find(line[0], operand)
        if source is not None:
            with self.includes:
                self.file(source)


def _last_line(span: Span, after: Token) -> int:
    """The number of the line whose end ends a directive: that of its last token, or of a comment that begins there.

    ``after``: the first token after it, which has the comments between them.
    """
    text, end = span.source.text, span.end
    for comment in after.comments:
        if _NEWLINE.search(text, end, comment.span.start):
            break
        end = comment.span.end
    newline = _NEWLINE.search(text, end)
    return span.source.position(newline.start() if newline else len(text))[0]


def _text_after_name(file: _File, line: Sequence[Token]) -> str:
    """The text of a directive's line after its name, as it was written."""
    after = file.tokens[file.at]
    end = after.comments[0].span.start if after.comments else after.span.start
    return "".join(line[0].span.source.text[line[0].span.end : end].splitlines()[:1]).strip()[:200]


_Handler = Callable[[_Preprocessor, _File, Sequence[Token]], None]
_DIRECTIVES: Final[dict[str, _Handler]] = {
    "define": _Preprocessor._define,
    "undef": _Preprocessor._undef,
    "if": _Preprocessor._if,
    "ifdef": _Preprocessor._ifdef,
    "ifndef": _Preprocessor._ifdef,
    "elif": _Preprocessor._other_arm,
    "else": _Preprocessor._other_arm,
    "endif": _Preprocessor._endif,
    "error": _Preprocessor._error,
    "warning": _Preprocessor._warning,
    "pragma": _Preprocessor._pragma,
    "line": _Preprocessor._renumber,
    "include": _Preprocessor._include,
}
