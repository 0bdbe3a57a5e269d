"""One use of a macro: its body with the arguments put in (C11 6.10.3.1 to 6.10.3.3).

This is Prosser's ``subst``. An argument goes in expanded; as an operand of ``#`` or ``##`` it goes
in as it was written. An argument without a token is a *placemarker*, a token without text: it pastes
as nothing and is taken out at the end, when what follows gets the blank before it, which ``#`` shows.
Of GNU C there is ``, ## __VA_ARGS__``, which
drops the comma if nothing follows."""

from __future__ import annotations

from typing import Final, Protocol

from pytriton.errors import Report
from pytriton.frozen import replace
from pytriton.lang.preprocess.macros import Macro
from pytriton.lang.tokens import DIGRAPHS, Kind, Token, kind_of
from pytriton.source import Expansion, Span

__all__ = ["Expanding", "Substitution"]

MAX_TOKEN_LENGTH: Final = 1 << 16  # characters that `#` or `##` may put into one token


class Expanding(Protocol):
    """What a substitution asks of the expander."""

    report: Report

    def expanded_argument(self, tokens: list[Token], macro: Macro, use: Token) -> list[Token]:
        """An argument, expanded as if it were the whole text; a blank at its end is a token without text."""

    def spelling(self, token: Token) -> list[Token]:
        """A ``CONSTEXPR`` as the tokens of its number, any other token as itself."""

    def charge(self, tokens: int, use: Token) -> None:
        """Count tokens against the budget of the text."""


class Substitution:
    """Builds the replacement of one use. ``span`` and ``hidden`` are those of every new token.

    ``spaced``, after ``run``: the replacement ends in a blank, which belongs before what follows the use.
    """

    def __init__(
        self,
        expander: Expanding,
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
        """The tokens that body token ``at`` stands for, and the place after it."""
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
        known = self._chains.get(id(chain))
        if known is not None:
            return known
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
