"""Syntax errors: what was found, what was expected, and what was probably meant.

Input: the tokens, the place of the one that does not fit, and the terminals that would. Every ``_refuse_...``
looks for one kind of mistake and raises through the report where it finds it; the last words are ``refuse``'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NoReturn

from pytriton.errors import Report, closest
from pytriton.lang.parse.habits import COMMENTED_OUT, divides, type_cure, without_prefix
from pytriton.lang.parse.terminals import terminals
from pytriton.lang.tokens import Kind, Token
from pytriton.source import Span

_SPELLED: Final = {
    "IDENT": "a name",
    "NUMBER": "a number",
    "TYPE": "a type",
    "STRING": "a string",
    "$END": "the end of the source",
}
_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}
ELSE: Final = "'else' without 'if'"
NESTED: Final = "a kernel cannot start inside a kernel"
_STARTERS: Final = frozenset("TYPE TYPENAME IF FOR WHILE DO RETURN BREAK CONTINUE RBRACE".split())
_IN_TYPE: Final = frozenset({"TYPE", "TYPENAME", "STAR", "QUALIFIER", "STORAGE"})
_ATTRIBUTES: Final = ("__readonly", "__writeonly", "__noalias", "__retune", "__aligned", "__multipleof")
_OPERANDS: Final = ("IDENT", "NUMBER", "CONSTEXPR", "CHAR")
_OTHER_OPERATORS: Final = {
    ("=", "<"): "<=",
    ("=", ">"): ">=",
    ("<", ">"): "!=",
    ("==", "="): "==",
    ("!=", "="): "!=",
}
_PARAMETERS: Final = {
    "TYPE": "a ',' is missing before it",
    "&": "there are no references: pass a pointer, as in 'float *X'",
    "=": "a parameter has no default value; pass it from Python",
}
_OTHER_WORDS: Final = {
    "and": "write '&&'",
    "or": "write '||'",
    "not": "write '!'",
    "in": "write 'for (int i = 0; i < n; i += 1)'",
    "constexpr": "write 'const'",
    "template": "take the type from defines, as in defines={'T': 'float'}",
    "mutable": "remove it",
    "auto": "write the type and the shape",
    "__shared__": "remove it: Triton places shared memory itself",
    "__device__": "functions cannot be called; write a macro",
    "__restrict": "write 'restrict' or '__noalias'",
}


@dataclass(frozen=True)
class Stop:
    """Where the parser stopped. ``open``: the brackets that are open there, outermost first."""

    tokens: list[Token]
    at: int
    accepts: set[str]
    open: list[Token]

    def kind(self, offset: int = 0) -> str:
        """The terminal at a distance from the token that did not fit; "" beyond the ends."""
        at = self.at + offset
        return self.tokens[at].type if 0 <= at < len(self.tokens) else ""

    def token(self, offset: int = 0) -> Token | None:
        """The token at a distance from the one that did not fit."""
        at = self.at + offset
        return self.tokens[at] if 0 <= at < len(self.tokens) else None

    def text(self, offset: int = 0) -> str:
        """The spelling of that token."""
        token = self.token(offset)
        return token.text if token is not None else ""


def refuse(stop: Stop, report: Report) -> NoReturn:
    """Report what was found and what would have fitted."""
    _refuse_braces(stop, report)
    _refuse_words(stop, report)
    _refuse_types(stop, report)
    if stop.text() == "?" and stop.text(-1) == "*":  # of '*?(mask)p', which no value can go before
        unfinished, star = stop.token(-2), stop.token(-1)
        if unfinished is not None and star is not None and star.newline:
            report.fatal("TC202", f"expected ';' after '{unfinished.text}'", _end_of(unfinished))
    before, token = stop.token(-1), stop.token()
    starts = token is None or token.newline or stop.kind() in _STARTERS
    if before is not None and before.text not in ("}", ";") and "SEMICOLON" in stop.accepts and starts:
        wanted = "'{' or ';'" if before.text == ")" and "LBRACE" in stop.accepts else "';'"
        message = f"expected {wanted} after '{before.text}'"
        report.fatal("TC202", message, _end_of(before), *_open_bracket(stop), help=_commented_out(stop))
    shown = f"'{token.text}'" if token else "the end of the source"
    span = token.span if token else stop.tokens[-1].span
    message = f"expected {_wanted(stop)}, found {shown}"
    report.fatal("TC201", message, span, *_open_bracket(stop), help=_commented_out(stop) or _cure(stop))


def _commented_out(stop: Stop) -> str | None:
    """Where '//' took the rest of a line, as in ``n // 2;``, what divides instead.

    It does so since the bracket that is still open, or right before the token that did not fit.
    """
    first = stop.at - 1
    if stop.open and stop.open[-1].text in ("(", "["):
        first = next(at for at, other in enumerate(stop.tokens) if other is stop.open[-1])
    for token, following in pairwise(stop.tokens[max(first, 0) : stop.at + 1]):
        span, end = token.span, following.span
        operand = token.type in (*_OPERANDS, "RPAR", "RSQB") and span.source is end.source
        if operand and not span.expansion and divides(span.source.text[span.end : end.start]):
            return COMMENTED_OUT
    return None


def _end_of(token: Token) -> Span:
    """The last character of a token."""
    span = token.span
    return Span(span.source, span.end - 1, span.end, span.expansion)


def _wanted(stop: Stop) -> str:
    """What would have fitted, in words."""
    accepts = stop.accepts
    if {"IDENT", "NUMBER"} <= accepts:
        return "an expression" if "TYPE" not in accepts else "a statement or an expression"
    if "IDENT" in accepts and stop.kind(-1) in _IN_TYPE:
        return "a name"
    if "TYPE" in accepts and len(accepts) > 3:
        return "a type"
    spelled = {terminal: f"'{text}'" for text, terminal in terminals().items()}
    spelled |= _SPELLED
    words = sorted(spelled.get(terminal, terminal.lower()) for terminal in accepts)
    closing = [word for word in words if word in ("';'", "')'", "']'", "'}'", "','")]
    words = closing or [word for word in words if word == "'('"] or words
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _open_bracket(stop: Stop) -> tuple[tuple[str, Span], ...]:
    """A note on the bracket that the token found should have closed."""
    if not stop.open or stop.text() not in (")", "]", "}", ";", "{", ""):
        return ()
    token = stop.open[-1]
    if token.text == "{" or _CLOSERS[token.text] == stop.text():
        return ()
    step = token.span.expansion
    origin = f", from {step.name} = {step.body[:60]}" if step is not None else ""
    return ((f"this '{token.text}' is not closed{origin}", token.span),)


def _refuse_braces(stop: Stop, report: Report) -> None:
    """Braces and ``else`` without their partner."""
    token = stop.token()
    braces = [bracket for bracket in stop.open if bracket.type == "LBRACE"]
    if token is None:
        if braces and stop.text(-1) in ("}", ";"):
            note = ("this '{' is not closed", braces[-1].span)
            report.fatal("TC201", "expected '}', found the end of the source", stop.tokens[-1].span, note)
        return
    if token.text == "}" and not stop.open:
        report.fatal("TC201", "unmatched '}'", token.span, help="remove it, or add the '{'")
    if token.text == "else" and stop.text(-1) in ("}", ";"):
        help_ = "a ';' after 'if (...)' ends it, and two statements need '{' and '}'"
        report.fatal("TC201", ELSE, token.span, help=help_)
    if token.text == "{" and braces and stop.text(-1) == ")":
        first = stop.at
        while first and stop.tokens[first - 1].text not in (";", "{", "}"):
            first -= 1
        if stop.tokens[first].type in ("STORAGE", "TYPE"):
            note = ("this '{' is not closed", braces[-1].span)
            help_ = "a '}' is missing before it"
            report.fatal("TC201", NESTED, stop.tokens[first].span, note, help=help_)


def _refuse_words(stop: Stop, report: Report) -> None:
    """Words before a type or after a declared name: those without a meaning, attributes without a number."""
    for offset in (-1, 0):
        word = stop.token(offset)
        if word is None or stop.kind(offset) != "IDENT" or stop.kind(offset + 1) != "TYPE":
            continue
        is_refused = word.text.startswith("__") or word.text in _OTHER_WORDS
        if is_refused and stop.text(offset - 1) in (";", "{", "}", ""):
            help_ = _OTHER_WORDS.get(word.text, "remove it; a kernel starts with '__global__'")
            report.fatal("TC203", f"'{word.text[:60]}' is not supported", word.span, help=help_)
    at = -1 if stop.text(-1).startswith("__") else 0  # before the declared name, or after it
    word, name = stop.token(at), stop.kind(-1 - at)
    if word is None or not (stop.kind(at) == name == "IDENT") or not word.text.startswith("__"):
        return
    if stop.kind(-2) not in _IN_TYPE:
        return
    if word.text in ("__aligned", "__multipleof"):
        message = f"'{word.text}' takes one number"
        report.fatal("TC317", message, word.span, help=f"write '{word.text}(16)'")
    near = closest(word.text, _ATTRIBUTES)
    help_ = f"did you mean '{near}'?" if near else f"there are {', '.join(_ATTRIBUTES)}"
    report.fatal("TC317", f"unknown attribute '{word.text}'", word.span, help=help_)


def _refuse_types(stop: Stop, report: Report) -> None:
    """A name where a type is expected."""
    token, accepts = stop.token(), stop.accepts
    if token is None or (stop.text() in _OTHER_WORDS and stop.text(-1) not in (";", "{", "}", "")):
        return
    if stop.kind() == "IDENT" and "TYPE" in accepts and "IDENT" not in accepts:
        after = stop.text(1)
        if stop.open and stop.open[-1].type == "LPAR" and after in (",", ")"):
            message = f"parameter '{token.text}' has no type"
            report.fatal("TC203", message, token.span, help=f"write 'int {token.text}', or another type")
        if not stop.open and stop.kind(1) not in ("IDENT", "STAR", "QUALIFIER"):
            message = f"expected a declaration or a kernel, found '{token.text}'"
            form = "statements belong inside '__global__ void name(...) { ... }'"
            if after == "void":
                form = f"a kernel starts with '__global__', not '{token.text[:60]}'"
            help_ = _OTHER_WORDS.get(token.text, form)
            report.fatal("TC201", message, token.span, help=help_)
        _refuse_type(token, report)
    previous, name = stop.token(-1), stop.token(-2)
    if previous is None:
        return
    if name is not None and stop.text(-3) + name.type + previous.text + token.text == "(IDENT*)":
        _refuse_type(name, report)
    if name is not None and previous.text + token.text == "[]" and stop.open[0].text == "(":
        help_ = f"write a pointer: '{stop.text(-3)} *{name.text}'"
        report.fatal("TC206", f"parameter '{name.text}' cannot be an array", name.span, help=help_)
    declares = stop.text(-2) in (";", "{", "}", "(", ",", "") or stop.kind(-2) in ("STORAGE", "QUALIFIER")
    if stop.kind() == "IDENT" and stop.kind(-1) == "IDENT" and declares:
        _refuse_type(previous, report)
    if previous.text == ")" and stop.kind() in ("IDENT", "NUMBER", "CONSTEXPR"):
        first = _cast_type(stop)
        if first is not None:
            _refuse_type(first, report)


def _opening(stop: Stop) -> int:
    """The place of the bracket that the ``)`` before the token closes; -1 if there is none."""
    depth = 0
    for at in range(stop.at - 1, -1, -1):
        depth += {"RPAR": 1, "LPAR": -1}.get(stop.tokens[at].type, 0)
        if not depth:
            return at
    return -1


def _cast_type(stop: Stop) -> Token | None:
    """The name in ``(NAME)x``, ``(NAME*)x`` or ``(NAME[...])x``, where the token before is that ``)``."""
    at = _opening(stop)
    inside = stop.tokens[at + 1 : stop.at - 1]
    called = at > 0 and stop.tokens[at - 1].type in ("IDENT", "IF", "FOR", "WHILE", "RPAR")
    if called or not inside or inside[0].type != "IDENT":
        return None
    shaped = len(inside) == 1 or inside[1].type in ("STAR", "LSQB")
    return inside[0] if shaped and inside[-1].type in ("IDENT", "STAR", "RSQB") else None


def _refuse_type(name: Token, report: Report) -> NoReturn:
    """Refuse a name that is used as a type and is not one."""
    help_ = _OTHER_WORDS.get(name.text) or type_cure(name.text)
    report.fatal("TC203", f"unknown type '{name.text[:60]}'", name.span, help=help_)


def _unknown_statement(stop: Stop) -> str | None:
    """For ``word (...) {``, where the word begins no statement."""
    at = max(_opening(stop) - 1, 0)
    word = stop.tokens[at].text
    if stop.tokens[at].type != "IDENT" or stop.tokens[at - 1].text not in (";", "{", "}"):
        return None
    if word in ("elif", "elseif", "elsif"):
        return "write 'else if (...)'"
    return f"there is no statement '{word}': there are if, else, for, while, do, return, break, continue"


def _colon_cure(stop: Stop) -> str | None:
    """What to write instead of a ':'."""
    if stop.open and stop.open[-1].type == "LSQB":
        return "a ':' keeps a whole axis; there are no slices"
    if stop.text(1) == ":":
        return without_prefix(f"{stop.text(-1) if stop.kind(-1) == 'IDENT' else ''}::", stop.text(2))
    if stop.text(-2) in (";", "{", "}"):
        return "there are no labels, use a loop or an if"
    return f"write '{stop.text(-1)} ... {stop.text(1)}'" if stop.kind(-1) in _OPERANDS else None


def _cure(stop: Stop) -> str | None:
    """What to write instead, for the mistakes that people make."""
    token, text, before = stop.token(), stop.text(), stop.text(-1)
    expression = {"IDENT", "NUMBER"} <= stop.accepts
    if text in _OTHER_WORDS:
        return _OTHER_WORDS[text]
    if text == "(" and stop.text(1) == "*" and stop.text(4) == "(" and stop.kind(-1) in _IN_TYPE:
        return "there are no pointers to functions: write a macro"
    if token is not None and stop.kind() == "CONSTEXPR" and _wanted(stop) == "a name":
        return f"'{text}' is a define, {token.value} here: pass arguments by position, or choose another name"
    if (before, text) in _OTHER_OPERATORS:
        return f"write '{_OTHER_OPERATORS[before, text]}'"
    adjacent = stop.kind() in _OPERANDS and stop.kind(-1) in (*_OPERANDS, "RPAR", "RSQB")
    if adjacent and "SEMICOLON" in stop.accepts:
        return f"an operator or a ';' is missing before '{text}'"
    if text == "&" and stop.text(-2) == "const" and len(stop.open) == 1:
        return f"there are no references: a number is passed by value, as in '{before} x'"
    parameter = _PARAMETERS.get("TYPE" if stop.kind() in _IN_TYPE else text)
    if parameter and len(stop.open) == 1 and stop.open[0].type == "LPAR":
        return parameter
    if stop.kind() == "IDENT" and {"COMMA", "RPAR"} <= stop.accepts and len(stop.open) == 1:
        near = closest(f"__{text}", _ATTRIBUTES) if text.islower() else None  # the parameters of a kernel
        given = f"give it in defines, as in defines={{'{text[:60]}': '__multipleof(8)'}}"
        return f"did you mean '{near}'?" if near else f"{given}; '' for no attribute"
    if text == "{" and before == ")":
        return _unknown_statement(stop)
    if token is not None and text in ("=", ";") and token.span.expansion is not None:
        return f"'#define NAME value' has no '{text}'"
    if before in ("for", "if", "while"):
        form = "for (int i = 0; i < n; i += 1)" if before == "for" else f"{before} (condition)"
        return f"write '{form}'"
    if stop.open and stop.open[-1].type == "LPAR" and text != "{":
        index = next(i for i, other in enumerate(stop.tokens) if other is stop.open[-1])
        if index and stop.tokens[index - 1].type == "FOR":
            return "write 'for (start; condition; step)'"
    if text == ":":
        return _colon_cure(stop)
    if "COLON" in stop.accepts and text in (";", ")", "}"):
        return "add ': 0', the value where the condition is false; a load under a mask alone is '*?(c)p'"
    if text in (")", "]") and (not stop.open or stop.open[-1].type == "LBRACE"):
        return f"unmatched '{text}'"
    if text == "{" and expression:
        return "a block is filled with one value, as in 'int x[4] = 0'; load a table from memory"
    if text == "]" and before == "[":
        return "give the size, as in 'float x[TM]'"
    if text == "[" and before == "]":
        return "one pair of brackets holds all sizes or axes, as in [16, 16]"
    if before == "?" and stop.text(-2) == "*":
        return "a masked load or store is '*?(mask)pointer'"
    if before == "*" and stop.text(-2) == "[":
        return "reductions are x[+], x[max] and x[min]"
    if token is not None and token.kind is Kind.IDENT and stop.kind() != "IDENT":
        if stop.kind() == "TYPE" and before == "sizeof":
            return f"write 'sizeof({text})'"
        if stop.kind() == "TYPE" and expression:
            return f"'{text}' is a type: a conversion is '({text})x'"
        if _wanted(stop) == "a name":
            return f"'{text}' is a keyword, choose another name"
    return None
