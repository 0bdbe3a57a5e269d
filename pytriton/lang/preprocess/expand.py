"""Macro expansion (C11 6.10.3): from a use to its replacement.

This is Dave Prosser's algorithm, on which the wording of the standard is based. Every token carries a
*hide set*, the names of the macros whose replacement it came out of; a name in its own hide set is
not replaced again, and so no macro can run forever. A use of a macro is taken off the front of
``pending``, and its replacement is put back there, to be read again together with what follows.
Arguments are expanded on their own before they go in, save where ``#`` or ``##`` takes them as they
were written.

Two things are not in C. A number define (``Macro.value``) becomes one ``CONSTEXPR`` token, which keeps
the name for the emitter; only ``#`` and ``##`` use its digits. And every token remembers, in
``span.expansion``, the macros it came through: those of the use are the parents of those of its
replacement.

``PresumedLines`` is ``#line``: what ``__LINE__`` and ``__FILE__`` give after it (C11 6.10.4). Messages keep the
positions of the source itself, which the user has.

The limits keep hostile sources cheap: doubling macros, endless pastes, calls within calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NoReturn, Protocol

from pytriton.errors import Report
from pytriton.frozen import record, replace
from pytriton.lang.preprocess.macros import Macro, join, with_comments
from pytriton.lang.recording import at
from pytriton.lang.tokens import DIGRAPHS, Comment, Kind, Token, kind_of, subtracted
from pytriton.source import Expansion, Source, Span

# ---------------------------------------------------------------- substitute
# One use of a macro: its body with the arguments put in (C11 6.10.3.1 to 6.10.3.3).
#
# This is Prosser's ``subst``. An argument goes in expanded; as an operand of ``#`` or ``##`` it goes
# in as it was written. An argument without a token is a *placemarker*, a token without text: it pastes
# as nothing and is taken out at the end, when what follows gets the blank before it, which ``#`` shows.
# Of GNU C there is ``, ## __VA_ARGS__``, which
# drops the comma if nothing follows.


MAX_TOKEN_LENGTH: Final = 1 << 16  # characters that `#` or `##` may put into one token


class Substitution:
    """Builds the replacement of one use. ``span`` and ``hidden`` are those of every new token.

    ``spaced``, after ``run``: the replacement ends in a blank, which belongs before what follows the use.
    """

    def __init__(
        self,
        expander: Expander,
        macro: Macro,
        use: Token,
        arguments: dict[str, list[Token]],
        span: Span,
        hidden: frozenset[str],
    ) -> None:
        self.expander = expander
        self.macro = macro
        self.use = use
        self.arguments = arguments
        self.span = span
        self.hidden = hidden
        self.spaced = False
        self._expanded: dict[str, list[Token]] = {}
        self._chains: dict[int, Expansion | None] = {}
        self._out: list[Token] = []

    def run(self) -> list[Token]:
        """The replacement, not yet rescanned."""
        body = self.macro.body
        at = 0
        while at < len(body):
            if body[at].text == "##" and self._out:
                self.expander.charge(1, self.use)
                at = self._paste_operand(at)
            else:
                written = at + 1 < len(body) and body[at + 1].text == "##"
                tokens, at = self._operand(at, written)
                self.expander.charge(1, self.use)
                self._out.extend(tokens)
        return self._out if all(token.text for token in self._out) else self._without_placemarkers()

    def _without_placemarkers(self) -> list[Token]:
        tokens: list[Token] = []
        for token in self._out:
            self.spaced |= token.spaced
            if token.text:
                tokens.append(token if token.spaced == self.spaced else replace(token, spaced=True))
                self.spaced = False
        return tokens

    def _operand(self, at: int, written: bool) -> tuple[list[Token], int]:
        """The tokens that replace body token ``at``, and the place after it."""
        token = self.macro.body[at]
        if token.text == "#" and self.macro.params is not None:
            argument = self.arguments[self.macro.body[at + 1].text]
            return [self._stringize(token, argument)], at + 2
        if token.kind is not Kind.IDENT or token.text not in self.arguments:
            return [self._new(token.kind, token.text, token.spaced, self.hidden)], at + 1
        argument = self._argument(token.text, written)
        self.expander.charge(len(argument), self.use)
        if not argument:
            return [self._placemarker(token.spaced)], at + 1
        return [self._argued(inner, token, index == 0) for index, inner in enumerate(argument)], at + 1

    def _argument(self, name: str, written: bool) -> list[Token]:
        """An argument as it was written, or expanded."""
        if written:
            return self.arguments[name]
        if name not in self._expanded:
            argument = self.arguments[name]
            self._expanded[name] = self.expander.expanded_argument(argument, self.macro, self.use)
        return self._expanded[name]

    def _new(self, kind: Kind, text: str, spaced: bool, hidden: frozenset[str]) -> Token:
        return Token(kind, text, self.span, spaced=spaced, hidden=hidden)

    def _placemarker(self, spaced: bool) -> Token:
        return self._new(Kind.IDENT, "", spaced, self.hidden)

    def _argued(self, token: Token, parameter: Token, first: bool) -> Token:
        """A token of an argument: it keeps its place, and comes through this macro now."""
        span = token.span
        return Token(
            token.kind,
            token.text,
            Span(span.source, span.start, span.end, self._chain(span.expansion)),
            token.newline,
            token.spaced or (first and parameter.spaced),
            token.value,
            token.comments,
            token.hidden | self.hidden if token.hidden else self.hidden,
        )

    def _chain(self, chain: Expansion | None) -> Expansion | None:
        """An argument's expansions, with this macro put in outside those of the argument itself."""
        expansions = self._chains.get(id(chain))
        if expansions is not None:
            return expansions
        outside = self.use.span.expansion
        own: list[Expansion] = []
        step = chain
        while step is not None and step is not outside:
            own.append(step)
            step = step.parent
        result = self.span.expansion
        for inner in reversed(own):
            result = Expansion(inner.name, inner.body, result)
        self._chains[id(chain)] = result
        return result

    def _stringize(self, hash_: Token, argument: list[Token]) -> Token:
        """``#``: the argument's spelling as a string (C11 6.10.3.2)."""
        pieces: list[str] = []
        for token in argument:
            for spelled in self.expander.spelling(token):
                if pieces and (spelled.spaced or spelled.newline):
                    pieces.append(" ")
                text = spelled.text
                if spelled.kind in (Kind.STRING, Kind.CHAR):
                    text = text.replace("\\", "\\\\").replace('"', '\\"')
                pieces.append(text)
        text = f'"{"".join(pieces)}"'
        self._check_length(text)
        return self._new(Kind.STRING, text, hash_.spaced, self.hidden)

    def _paste_operand(self, at: int) -> int:
        """``##`` at ``at``: join its two neighbours; the place after the right one."""
        written_next, after = self._operand(at + 1, written=True)
        left = self._out.pop()
        right = written_next[0]
        variable = self.macro.body[at + 1].text == "__VA_ARGS__"
        if left.text == "," and variable:
            if right.text:
                self._out += [left, *self._operand(at + 1, written=False)[0]]
            else:
                self._out.append(self._placemarker(left.spaced))
            return after
        lefts, rights = self.expander.spelling(left), self.expander.spelling(right)
        self._out += lefts[:-1]
        self._out += self._paste(lefts[-1], rights[0])
        self._out += rights[1:]
        self._out += written_next[1:]
        return after

    def _paste(self, left: Token, right: Token) -> list[Token]:
        if not left.text:
            comments = left.comments + right.comments
            return [replace(right, newline=left.newline, spaced=left.spaced, comments=comments)]
        if not right.text:
            return [left]
        text = left.text + right.text
        self._check_length(text)
        kind = kind_of(text)
        if kind is None:
            shown, other = left.text[:60], right.text[:60]
            message = f"'{shown}' ## '{other}' is not one token"
            self.expander.report.error("TC110", message, self.span)
            return [left, right]
        hidden = (left.hidden & right.hidden) | self.hidden
        return [Token(kind, DIGRAPHS.get(text, text), self.span, left.newline, left.spaced, hidden=hidden)]

    def _check_length(self, text: str) -> None:
        self.expander.charge(len(text) // 64, self.use)
        if len(text) > MAX_TOKEN_LENGTH:
            message = f"macro {self.macro.calls} makes a token of more than {MAX_TOKEN_LENGTH} characters"
            self.expander.report.fatal("TC113", message, self.use.span)


MAX_TOKENS: Final = 60_000  # that macros may produce in one source, uses counted too
MAX_SCANNED: Final = 500_000  # argument tokens read while looking for commas and the closing ')'
MAX_CALL_DEPTH: Final = 64  # macro calls inside arguments of macro calls
MAX_CHAIN: Final = 200  # replacements of replacements


class TokenStream(Protocol):
    """The tokens after a macro use, from which a call takes its arguments."""

    def peek(self) -> Token:
        """The next token; it stays there."""

    def take(self) -> Token:
        """The next token, after the directives before it."""


@record
class _Call:
    """The arguments of a function-like macro, and where the call ends."""

    arguments: dict[str, list[Token]]
    close: Token
    comments: tuple[Comment, ...]


class Expander:
    """Expands macros. ``macros`` is the table that directives change; ``used`` the given ones met.

    ``leftover`` holds the comments of macros that expanded to nothing, for the next token.
    """

    def __init__(self, macros: dict[str, Macro], report: Report) -> None:
        self.macros = macros
        self.report = report
        self.used: set[str] = set()
        self.lines = PresumedLines()
        self.leftover: list[Comment] = []
        self.spelled: set[str] = set()  # number defines on whose value the tokens depend
        self._spelled: dict[str, tuple[Token, ...]] = {}
        self._bodies: dict[int, tuple[Macro, str]] = {}
        self._produced = 0
        self._scanned = 0
        self._depth = 0
        self._condition = False

    def expand(self, use: Token, stream: TokenStream) -> list[Token]:
        """What a macro name in the source becomes, together with arguments taken from the stream."""
        return self._rescan([use], stream)

    def expand_condition(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens of an ``#if``: ``defined X`` becomes 1 or 0, all other macros are expanded."""
        self._condition = True
        try:
            expanded = self.expand_line(tokens)
        finally:
            self._condition = False
        result: list[Token] = []
        for token in expanded:
            operand = result and (result[-1].text == ")" or result[-1].kind is not Kind.PUNCT)
            result += (operand and subtracted(token)) or (token,)
        return result

    def expand_line(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens of another directive, expanded."""
        before = len(self.leftover)
        expanded = self._rescan(list(reversed(tokens)), None)
        del self.leftover[before:]
        return expanded

    def _rescan(self, pending: list[Token], stream: TokenStream | None) -> list[Token]:
        """Prosser's ``expand``. ``pending`` is a stack: its last token is the next one."""
        out: list[Token] = []
        while pending:
            token = pending.pop()
            macro = self.macros.get(token.text)
            if macro is None or token.kind is not Kind.IDENT or token.text in token.hidden:
                if self._condition and token.text == "defined":
                    token = self._defined(token, pending)
                out.append(token)
                continue
            if macro.given:
                self.used.add(macro.name)
            if macro.value is not None:
                out.append(self._symbolic(macro, token))
                continue
            call = None
            if macro.params is not None:
                follower = pending[-1] if pending else stream.peek() if stream else None
                if follower is None or follower.text != "(":
                    out.append(token)
                    continue
                call = self._arguments(macro, token, pending, stream)
                if call is None:
                    continue
            self._replace(macro, token, call, pending)
        return out

    def _symbolic(self, macro: Macro, use: Token) -> Token:
        self._spelled[macro.name] = macro.body
        self.charge(1, use)
        assert macro.value is not None
        kind, text, value = Kind.CONSTEXPR, macro.name, at(macro.value, use.span)
        return Token(kind, text, use.span, use.newline, use.spaced, value, use.comments)

    def _replace(self, macro: Macro, use: Token, call: _Call | None, pending: list[Token]) -> None:
        """Put the replacement of a use before what is pending."""
        if macro.dynamic is not None:
            pending.append(self._dynamic(macro, use))
            return
        self.charge(1, use)
        expansion = self._expansion(macro, use)
        span = _use_span(use, call, expansion)
        if call is None:
            hidden = use.hidden | {macro.name}
        else:
            hidden = (use.hidden & call.close.hidden) | {macro.name}
        substitution = Substitution(self, macro, use, call.arguments if call else {}, span, hidden)
        body = substitution.run()
        comments = use.comments + call.comments if call else use.comments
        if pending and (substitution.spaced or (use.spaced and not body)) and not pending[-1].spaced:
            pending[-1] = replace(pending[-1], spaced=True)
        if body:
            body[0] = replace(body[0], newline=use.newline, spaced=use.spaced, comments=comments)
            body.reverse()
            pending.extend(body)
        else:
            self.leftover.extend(comments)

    def _dynamic(self, macro: Macro, use: Token) -> Token:
        """``__LINE__`` and ``__FILE__``."""
        if macro.dynamic == "line":
            kind, text = Kind.NUMBER, str(self.lines.line(use.span))
        else:
            kind, text = Kind.STRING, self.lines.name(use.span)
        return Token(kind, text, use.span, use.newline, use.spaced, None, use.comments)

    def _expansion(self, macro: Macro, use: Token) -> Expansion | None:
        parent = use.span.expansion
        if macro.quiet:
            return parent
        length, step = 0, parent
        while step is not None:
            length, step = length + 1, step.parent
        if length >= MAX_CHAIN:
            self._too_deep(macro, use)
        body = self._bodies.get(id(macro))
        if body is None:
            # The macro is kept too, so that no other object gets its id.
            body = self._bodies[id(macro)] = (macro, join(macro.body))
        return Expansion(macro.name, body[1], parent)

    def _arguments(
        self, macro: Macro, use: Token, pending: list[Token], stream: TokenStream | None
    ) -> _Call | None:
        """Read ``( ... )``; None (and an error) if the number of arguments is wrong."""
        assert macro.params is not None
        comments: list[Comment] = []
        arguments: list[list[Token]] = [[]]
        depth = 0
        while True:
            if pending:
                token = pending.pop()
            elif stream is not None:
                token = stream.take()
            else:
                self._unterminated(macro, use)
            self._scanned += 1
            if token.comments:
                comments.extend(token.comments)
                token = with_comments(token, (), token.spaced)
            text = token.text
            if text == "(":
                depth += 1
                if depth == 1:
                    continue
            elif text == ")":
                depth -= 1
                if depth == 0:
                    break
            elif text == "," and depth == 1:
                if not (macro.variadic and len(arguments) >= len(macro.params)):
                    arguments.append([])
                    continue
            elif token.kind is Kind.END:
                self._unterminated(macro, use)
            if (token.spaced or token.newline) and not arguments[-1]:
                # a blank before an argument is not part of it (C11 6.10.3.2)
                token = replace(token, spaced=False, newline=False)
            arguments[-1].append(token)
        if self._scanned > MAX_SCANNED:
            self._too_many(use)
        bound = self._bind(macro, use, arguments)
        return None if bound is None else _Call(bound, token, tuple(comments))

    def _bind(self, macro: Macro, use: Token, arguments: list[list[Token]]) -> dict[str, list[Token]] | None:
        params = macro.params or ()
        if arguments == [[]] and not params:
            arguments = []
        if macro.variadic and len(arguments) == len(params) - 1:
            arguments.append([])  # as every compiler allows: F(x) for a macro F(x, ...)
        if len(arguments) != len(params):
            wanted = f"at least {len(params) - 1}" if macro.variadic else str(len(params))
            plural = "" if wanted in ("1", "at least 1") else "s"
            notes = [("defined here", macro.where)] if macro.where is not None else []
            self.report.error(
                "TC108",
                f"macro {macro.calls} requires {wanted} argument{plural}, found {len(arguments)}",
                use.span,
                *notes,
                help=_split_in_brackets(use.text, arguments),
            )
            return None
        return dict(zip(params, arguments, strict=True))

    def _defined(self, token: Token, pending: list[Token]) -> Token:
        """``defined X`` or ``defined(X)``, whose X must not be expanded."""
        name = pending.pop() if pending else None
        closed = True
        if name is not None and name.text == "(":
            name = pending.pop() if pending else None
            closed = bool(pending) and pending.pop().text == ")"
        if name is None or name.kind is not Kind.IDENT or not name.text or not closed:
            help_ = "write 'defined NAME' or 'defined(NAME)'"
            self.report.error("TC125", "'defined' requires a macro name", token.span, help=help_)
            return Token(Kind.NUMBER, "0", token.span, spaced=True)
        macro = self.macros.get(name.text)
        if macro is not None and macro.given:
            self.used.add(macro.name)
        text = "1" if macro is not None else "0"
        return Token(Kind.NUMBER, text, token.span, spaced=True)

    def expanded_argument(self, tokens: list[Token], macro: Macro, use: Token) -> list[Token]:
        """An argument, expanded as if it were the whole source; a blank at its end is a token without text."""
        self._depth += 1
        if self._depth > MAX_CALL_DEPTH:
            self._too_deep(macro, use)
        try:
            expanded = self._rescan([Token(Kind.IDENT, "", use.span), *reversed(tokens)], None)
        finally:
            self._depth -= 1
        if expanded and not expanded[-1].text and not expanded[-1].spaced:
            expanded.pop()
        return expanded

    def spelling(self, token: Token) -> list[Token]:
        """A ``CONSTEXPR`` as the tokens of its number, any other token as itself."""
        if token.kind is not Kind.CONSTEXPR:
            return [token]
        self.spelled.add(token.text)
        first, *others = (
            Token(part.kind, part.text, token.span, spaced=part.spaced, hidden=token.hidden)
            for part in self._spelled[token.text]
        )
        return [with_comments(first, token.comments, token.spaced), *others]

    def charge(self, tokens: int, use: Token) -> None:
        """Count tokens against the budget of the source."""
        self._produced += tokens
        if self._produced > MAX_TOKENS:
            self._too_many(use)

    def _too_many(self, use: Token) -> NoReturn:
        self.report.fatal(
            "TC111",
            f"macros expand to more than {MAX_TOKENS} tokens, at the use of '{_outermost(use)}'",
            use.span,
            help="look for a macro that doubles itself",
        )

    def _too_deep(self, macro: Macro, use: Token) -> NoReturn:
        self.report.fatal(
            "TC112",
            f"macros nest too deeply, at the use of {macro.calls} from '{_outermost(use)}'",
            use.span,
            help=f"at most {MAX_CHAIN} replacements, and {MAX_CALL_DEPTH} calls within arguments",
        )

    def _unterminated(self, macro: Macro, use: Token) -> NoReturn:
        self.report.fatal(
            "TC109",
            f"the argument list of macro {macro.calls} is not closed",
            use.span,
            help="close it with ')'",
        )


def _split_in_brackets(name: str, arguments: Sequence[Sequence[Token]]) -> str | None:
    """The cure where a comma within ``[ ]`` has split an argument in two; None where none has."""
    texts = [[token.text for token in argument] for argument in arguments]
    if all(text.count("[") == text.count("]") for text in texts):
        return None
    return f"a comma within '[ ]' starts another argument: write '{name}((...))', parentheses around each"


def _outermost(use: Token) -> str:
    name, step = use.text, use.span.expansion
    while step is not None:
        name, step = step.name, step.parent
    return name[:60]


def _use_span(use: Token, call: _Call | None, expansion: Expansion | None) -> Span:
    """The outermost use: the name, and its arguments where name and ``)`` are in one source."""
    span = use.span
    end = span.end
    if call is not None and span.expansion is None:
        close = call.close.span
        if close.source is span.source and close.expansion is None and close.end > end:
            end = close.end
    return Span(span.source, span.start, end, expansion)


_DIGITS: Final = re.compile(r"[0-9]{1,10}")
MAX_LINE: Final = 2**31 - 1


class PresumedLines:
    """The values of ``__LINE__`` and ``__FILE__`` at each place of the sources."""

    def __init__(self) -> None:
        self._shifts: dict[int, tuple[Source, int]] = {}  # by identity: comparing sources is slow
        self._names: dict[int, str] = {}

    def line(self, span: Span) -> int:
        """The number that ``__LINE__`` has."""
        _, shift = self._shifts.get(id(span.source), (None, 0))
        return span.line + shift

    def name(self, span: Span) -> str:
        """``__FILE__``, as a string literal."""
        name = span.source.name.replace("\\", "\\\\").replace('"', '\\"')
        return self._names.get(id(span.source), f'"{name}"')

    def set(self, directive: Token, operands: Sequence[Token], end: int, report: Report) -> None:
        """``#line number`` or ``#line number "file"``, operands expanded: the line after line ``end`` has that
        number."""
        last = operands[-1] if operands else directive
        number = operands[0].text if operands else ""
        named = len(operands) == 2 and operands[1].kind is Kind.STRING
        fits = _DIGITS.fullmatch(number) and 1 <= int(number) <= MAX_LINE
        if not fits or not (named or len(operands) == 1):
            where = directive.span.to(last.span)
            help_ = "write '#line 7' or '#line 7 \"file.c\"'"
            message = f"#line requires a number from 1 to {MAX_LINE}, and at most a quoted name"
            report.error("TC145", message, where, help=help_)
            return
        source = directive.span.source
        self._shifts[id(source)] = (source, int(number) - end - 1)
        if named:
            self._names[id(source)] = operands[1].text
