"""What an editor shows of one version of a document: problems, hovers, definitions, edits, completions.

Input: the text and the name of a document. Output: plain values with offsets. Invariants: all answers come from one
analysis per version (read once, each kernel checked once; nothing is translated), and each offset is in the user's
text. An error in one statement does not hide the types of the others. Defines without a value are *open*: guesses
replace them, and errors that may depend on a guess are not shown. Needs no pygls.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytriton.collecting import not_collecting
from pytriton.errors import CompileError, Diagnostic, Report
from pytriton.lang.check.checker import check, kernel_names
from pytriton.lang.format import formatted
from pytriton.lang.parse import syntax
from pytriton.lang.preprocess.directives import preprocess
from pytriton.lang.preprocess.macros import PRELUDE, Macro, given_options, join
from pytriton.lang.preprocess.structure import (
    CONDITIONS,
    OPENING,
    Directive,
    conditions,
    directives,
    lines_of,
    stands_for_type,
    unknown_names,
)
from pytriton.lang.read import Front, read
from pytriton.lang.tokens import Kind, Token, scan
from pytriton.lang.tree.typed import Broadcast, Cast, Declare, Expr, KernelDef, Symbol
from pytriton.lang.tree.types import ERROR, TYPE_NAMES
from pytriton.lang.tree.walk import expressions, statements, walk
from pytriton.lsp.builtin_pages import BUILTINS, KEYWORDS, TYPES
from pytriton.lsp.embedded import Embedded, parts
from pytriton.settings import Settings
from pytriton.source import Source, Span


class Problem(NamedTuple):
    """A diagnostic at its place; ``cure`` replaces the text there."""

    start: int
    end: int
    diagnostic: Diagnostic
    cure: str | None


class Declared(NamedTuple):
    """A variable: the place of its name, and the end of its scope."""

    name: str
    start: int
    end: int
    until: int


class _Patient(Report):
    """Errors do not end a stage."""

    def check(self) -> None:
        """Go on."""


_DEFINES: Final = re.compile(r"//\s*defines:(.*)")
_CURE: Final = re.compile(r"did you mean '#?(\w+)'")
_HEADS: Final = re.compile(r"\bvoid\s+\w+\s*\(([^{]*)\{")
_POINTERS: Final = re.compile(r"[;{}]\s*(?:const\s+)?\w+\s*\*[\s*]*(\w+)")
GUESS: Final = 16  # an open number


class Kernels:
    """The analysis of one kernel source."""

    def __init__(self, part: Embedded, name: str) -> None:
        self.part = part
        self.source = Source(part.text, name)
        self.tokens: list[Token] = []
        self.front: Front | None = None
        self.kernels: list[KernelDef] = []
        self.diagnostics: list[Diagnostic] = []
        self.guessed: dict[str, object] = {}
        self.include_dirs = (Path(name).parent,) if "#include" in part.text else ()
        comment = _DEFINES.search(part.text)
        self.is_open = comment is None
        self.given = given_options(comment[1].split()) if comment else dict(part.defines)
        report = _Patient()
        with not_collecting():
            try:
                self.tokens = scan(self.source, Report())[0]
                words = {token.text for token in self.tokens}
                self.given = {name: value for name, value in self.given.items() if name in words}
                self.guessed = _guesses(self.tokens, part.text, self.given) if self.is_open else {}
                self._check(report)
            except CompileError as error:
                report.errors = list(error.diagnostics)
        self.diagnostics = [error for error in report.errors if not self._waits(error)] + report.warnings

    @property
    def defines(self) -> dict[str, Any]:
        """All defines, of a list its first value."""
        return {
            name: value[0] if isinstance(value, list) else value
            for name, value in {**self.guessed, **self.given}.items()
        }

    def _check(self, report: Report) -> None:
        front = self.front = read(self.source, self.defines, Report(), self.include_dirs)
        self.source = front.tree.span.source  # that of an equal text which was read before
        for name in kernel_names(front.tree) or (None,):
            self.kernels.append(
                check(front.tree, report, Settings(name), front.given_numbers(), front.macros)
            )

    def _waits(self, error: Diagnostic) -> bool:
        """Whether an error may come from a guess: its statement or message names an open define. An unknown name
        rarely does; a syntax error only right behind such a name, as a type is one token and a number, too."""
        if not self.is_open or not isinstance(error.where, Span) or error.code < "TC110":
            return False  # characters and #define have no guesses
        if error.code == "TC301":  # another arm may declare it, or this one is not taken
            name, start = re.escape(error.where.text), error.where.start
            earlier = [line.word for line in directives(self.part.text) if line.tokens[0].span.start < start]
            inside = sum(word in OPENING for word in earlier) > earlier.count("endif")
            return self.tests_open and (
                inside or bool(re.search(rf"[\w*]\s*\b{name}\s*[\[=;,]", self.part.text))
            )
        before, behind = self.part.text[: error.where.end], self.part.text[error.where.end :]
        words = re.findall(r"\w+", re.split("[;{}]", before)[-1])
        if error.code.startswith("TC2"):
            words = words[-2:]
        else:
            words += re.findall(r"\w+", re.split("[;{}]", behind)[0] + error.message)
        return not self.guessed.keys().isdisjoint(words)

    @cached_property
    def tests_open(self) -> bool:
        """Whether an ``#if`` tests a define that is not given."""
        return any(not self.given.keys() >= set(line.names) for line in conditions(self.part.text))

    @cached_property
    def declared(self) -> list[Declared]:
        """The variables of all kernels, innermost scopes last."""
        return list(_declared(self.front.tree.items, len(self.part.text))) if self.front else []

    def token(self, offset: int) -> Token | None:
        """The name at a place, or before it."""
        names = (token for token in self.tokens if token.kind is Kind.IDENT)
        return next((name for name in names if name.span.start <= offset <= name.span.end), None)

    def variable(self, token: Token) -> Declared | None:
        """What a name means where it is."""
        at = token.span.start
        named = (variable for variable in self.declared if variable.name == token.text)
        return max((v for v in named if v.start <= at < v.until), default=None, key=lambda v: v.start)

    def definition(self, offset: int) -> tuple[int, int] | None:
        """The place where a variable or macro is defined."""
        token = self.token(offset)
        if token is None or self.front is None:
            return None
        variable = self.variable(token)
        if variable is not None:
            return variable.start, variable.end
        macro = self.front.macros.get(token.text)
        where = macro and macro.where
        return (where.start, where.end) if where and where.source == self.source else None

    def uses(self, offset: int, name: str | None = None) -> list[tuple[int, int]]:
        """The places of a variable, if it can be renamed: no macro defined elsewhere mentions it, and the new
        ``name`` is not in use."""
        token = self.token(offset)
        variable = token and self.variable(token)
        if token is None or variable is None or (name and not _is_free(name, self.tokens)):
            return []
        same = [other for other in self.tokens if other.text == token.text and other.kind is Kind.IDENT]
        places = [other.span for other in same if self.variable(other) == variable]
        macros = (line.tokens for line in directives(self.part.text) if line.word == "define")
        hidden = any(t.text == token.text and self.variable(t) is None for line in macros for t in line)
        return [] if hidden else [(span.start, span.end) for span in places]

    def hover(self, offset: int) -> tuple[int, int, list[str]] | None:
        """A stretch of code, and the lines to show: its type, the macro's expansion, a built-in's documentation."""
        token = self.token(offset)
        if token is not None and token.text in BUILTINS:
            return token.span.start, token.span.end, [BUILTINS[token.text]]
        variable = self.variable(token) if token is not None else None
        for symbol in self._symbols():
            span = symbol.span
            if variable and symbol.name == variable.name and span.start <= variable.start < span.end:
                assert token is not None
                return token.span.start, token.span.end, [f"{symbol.name}: {symbol.type}"]
        lines = self._macro(token) if token is not None and variable is None else []
        expr = self._expression(offset)
        if expr is not None:
            lines.append(f"{expr.span.text if len(expr.span.text) < 60 else '...'}: {expr.type}")
        shown = token or expr
        return (shown.span.start, shown.span.end, lines) if shown and lines else None

    def _symbols(self) -> Iterator[Symbol]:
        for kernel in self.kernels:
            yield from kernel.parameters
            for statement in statements(kernel.body):
                if isinstance(statement, Declare):
                    yield statement.symbol

    def _expression(self, offset: int) -> Expr | None:
        """The smallest expression around a place, before C converts it; of a macro's use, the whole of it."""
        around = [
            expr
            for kernel in self.kernels
            for root in expressions(kernel.body)
            for expr in walk(root)
            if expr.span.source is self.source and expr.span.start <= offset < expr.span.end
            if expr.type != ERROR
        ]
        shortest = min((expr.span.end - expr.span.start for expr in around), default=0)
        around = [expr for expr in around if expr.span.end - expr.span.start == shortest]
        expr = around[0] if around else None
        while isinstance(expr, Cast | Broadcast) and expr.operand.span == expr.span:  # C converts here
            expr = expr.operand
        return expr

    def _macro(self, token: Token) -> list[str]:
        """The definition of a macro, and what this use of it becomes."""
        if token.text in self.guessed:
            return [f"{token.text} is an open define"]
        macro = self.front.macros.get(token.text) if self.front else None
        if macro is None or macro.quiet:
            return []
        if macro.given:
            return [f"{token.text} = {join(macro.body)} in defines"]
        tokens = preprocess(self.source, self.defines, Report(), include_dirs=self.include_dirs).tokens
        depth, end = 0, token.span.end
        for after in self.tokens[self.tokens.index(token) + 1 :] if macro.params is not None else ():
            depth += (after.text == "(") - (after.text == ")")
            end = after.span.end
            if depth == 0:
                break
        became = join(t for t in tokens if token.span.start <= t.span.start < end)
        return [_shown(macro), *([f"expands to {became}"] if became else [])]

    def completions(self, offset: int) -> dict[str, str]:
        """Names for a place with a line about each: built-ins, type words, defines, macros, names in scope."""
        names = dict.fromkeys((*TYPE_NAMES, *TYPES, *KEYWORDS), "keyword") | BUILTINS
        names |= dict.fromkeys(self.guessed, "open define")
        names |= {name: f"define, {value}" for name, value in self.given.items()}
        scopes: list[list[str]] = [[]]
        for line in lines_of([token for token in self.tokens if token.span.end < offset]):
            if isinstance(line, Directive):
                if line.word == "define" and len(line.tokens) > 2:
                    names[line.tokens[2].text] = join(line.tokens)
            elif line.text == "{":
                scopes.append([])
            elif line.text == "}":
                scopes = scopes[:-1] if len(scopes) > 2 else [[]]
            elif line.kind is Kind.IDENT:
                scopes[-1].append(line.text)
        return {name: "variable" for scope in scopes for name in scope} | names


def _shown(macro: Macro) -> str:
    parameters = "" if macro.params is None else f"({', '.join(macro.params)})"
    return f"#define {macro.name}{parameters} {join(macro.body)}"


def _is_free(name: str, tokens: list[Token]) -> bool:
    reserved = name in PRELUDE or name in BUILTINS or name in TYPE_NAMES or name in KEYWORDS
    return bool(re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)) and not (
        reserved or any(token.text == name for token in tokens)
    )


def _guesses(tokens: list[Token], text: str, given: dict[str, Any]) -> dict[str, object]:
    """Values for open defines. What only an ``#if`` reads is undefined there, as in C."""
    code: list[Token] = []
    for line in lines_of(tokens):
        if isinstance(line, Token):
            code.append(line)
        elif line.word not in CONDITIONS:
            code += line.tokens
    pointers = {name for head in _HEADS.findall(text) for name in re.findall(r"\*\s*(\w+)", head)}
    defined = {*_POINTERS.findall(text), *pointers, *given, *PRELUDE}
    names = unknown_names([token for token in tokens if token.text != "*"]) & {token.text for token in code}
    return {name: "float" if _is_type(name, text) else GUESS for name in sorted(names - defined)}


def _is_type(name: str, text: str) -> bool:
    """Whether a name is used as a type: in a declaration or in a conversion."""
    return stands_for_type(name, text) or bool(
        re.search(rf"\(\s*{name}\s*(\)\s*[\w(*]|\*\s*\)|\[)|[;{{}}]\s*{name}\s*\**\s*\w+\s*[\[=;,]", text)
    )


def _declared(node: object, until: int) -> Iterator[Declared]:
    """The variables that a syntax tree declares, in order."""
    inside: tuple[object, ...] = ()
    match node:
        case tuple():
            inside = node
        case syntax.Function(declarator=head, body=body):
            until = node.span.end
            inside = (*(declarator for _, declarator in head.parameters or ()), body)
        case syntax.Declarator(name=Token(text=name, span=span)) if span.expansion is None:
            yield Declared(name, span.start, span.end, until)
        case syntax.Declaration(declarators=inside):
            pass
        case syntax.Block(items=inside):
            until = node.span.end
        case syntax.If(then=then, otherwise=otherwise):
            inside = then, otherwise
        case syntax.For(init=init, body=body):
            inside, until = (init, body), node.span.end
        case syntax.While(body=body) | syntax.DoWhile(body=body):
            inside = (body,)
    for child in inside:
        yield from _declared(child, until)


class Document:
    """One version of a document: a Triton-C file, or a Python file with kernels in strings."""

    def __init__(self, text: str, name: str) -> None:
        self.source = Source(text, name)
        self.is_python = name.endswith(".py")
        whole = [Embedded(text, range(len(text) + 1), {})]
        self.parts = [Kernels(part, name) for part in (parts(text) if self.is_python else whole)]

    def at(self, offset: int) -> tuple[Kernels, int] | None:
        """The kernels around a place of the document, and the place in their source."""
        for kernels in self.parts:
            offsets = kernels.part.offsets
            if offsets[0] <= offset <= offsets[-1]:
                return kernels, bisect_right(offsets, offset) - 1
        return None

    def problems(self) -> Iterator[Problem]:
        """All diagnostics; those without a place in the document are at the beginning of their source."""
        for kernels in self.parts:
            for diagnostic in kernels.diagnostics:
                span = diagnostic.where
                start = end = 0
                cure = None
                if isinstance(span, Span) and span.source == kernels.source:
                    start, end = span.start, span.end
                    meant = _CURE.match(diagnostic.help or "")
                    cure = meant[1] if meant and span.text.isidentifier() and not span.expansion else None
                offsets = kernels.part.offsets
                yield Problem(offsets[start], offsets[end], diagnostic, cure)

    def formatted(self) -> str | None:
        """The text in the layout of ``pytriton format``; None where that cannot be, or in Python."""
        try:
            return None if self.is_python else formatted(self.source)
        except CompileError:
            return None
