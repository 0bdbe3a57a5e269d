"""``pytriton lsp``: the language server protocol on stdin and stdout, by pygls.

Input: requests of an editor. Output: the answers of ``analysis.py``, with its offsets as positions. Invariant: one
analysis per version of a document, made when the version arrives.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from pytriton.lsp.analysis import Document, Kernels, Problem

_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}


class _View:
    """A version of a document as analysed, in the positions of the client."""

    def __init__(self, uri: str) -> None:
        self.text = SERVER.workspace.get_text_document(uri)
        self.version = self.text.version
        self.document = Document(self.text.source, self.text.path)

    def range(self, start: int, end: int) -> lsp.Range:
        ends = []
        for offset in (start, end):
            line, column = self.document.source.position(offset)
            position = lsp.Position(line - 1, column - 1)
            ends.append(self.text.position_codec.position_to_client_units(self.text.lines, position))
        return lsp.Range(*ends)

    def at(self, position: lsp.Position) -> tuple[Kernels, int] | None:
        return self.document.at(self.text.offset_at_position(position))

    def in_part(self, kernels: Kernels, start: int, end: int) -> lsp.Range:
        """A stretch of kernel source."""
        return self.range(kernels.part.offsets[start], kernels.part.offsets[end])

    def shown(self, problem: Problem) -> lsp.Diagnostic:
        diagnostic = problem.diagnostic
        notes = [note if isinstance(note, str) else note[0] for note in diagnostic.notes]
        help_ = [f"help: {diagnostic.help}"] if diagnostic.help else []
        message = "\n".join([diagnostic.message, *notes, *help_])
        severity = _SEVERITIES[diagnostic.severity]
        return lsp.Diagnostic(
            self.range(problem.start, problem.end), message, severity, diagnostic.code, source="pytriton"
        )


AtPosition = lsp.HoverParams | lsp.DefinitionParams | lsp.RenameParams | lsp.CompletionParams
SERVER = LanguageServer("pytriton", "1")
_views: dict[str, _View] = {}


def _view(document: lsp.TextDocumentIdentifier) -> _View:
    view = _views.get(document.uri)
    if view is None or view.version != SERVER.workspace.get_text_document(document.uri).version:
        view = _views[document.uri] = _View(document.uri)
    return view


def _asked(params: AtPosition) -> Iterator[tuple[_View, Kernels, int]]:
    """The view, the kernels and the place in their source that a request is about; nothing outside of kernels."""
    view = _view(params.text_document)
    if place := view.at(params.position):
        yield view, *place


@SERVER.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
@SERVER.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
def changed(params: lsp.DidOpenTextDocumentParams | lsp.DidChangeTextDocumentParams) -> None:
    view = _view(lsp.TextDocumentIdentifier(params.text_document.uri))
    shown = [view.shown(problem) for problem in view.document.problems()]
    SERVER.text_document_publish_diagnostics(
        lsp.PublishDiagnosticsParams(params.text_document.uri, shown, view.version)
    )


@SERVER.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
def closed(params: lsp.DidCloseTextDocumentParams) -> None:
    _views.pop(params.text_document.uri, None)
    SERVER.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))


@SERVER.feature(lsp.TEXT_DOCUMENT_HOVER)
def hover(params: lsp.HoverParams) -> lsp.Hover | None:
    for view, kernels, offset in _asked(params):
        if answer := kernels.hover(offset):
            start, end, lines = answer
            shown = "```triton-c\n" + "\n".join(lines) + "\n```"
            markdown = lsp.MarkupContent(lsp.MarkupKind.Markdown, shown)
            return lsp.Hover(markdown, view.in_part(kernels, start, end))
    return None


@SERVER.feature(lsp.TEXT_DOCUMENT_DEFINITION)
def definition(params: lsp.DefinitionParams) -> lsp.Location | None:
    for view, kernels, offset in _asked(params):
        if answer := kernels.definition(offset):
            return lsp.Location(params.text_document.uri, view.in_part(kernels, *answer))
    return None


@SERVER.feature(lsp.TEXT_DOCUMENT_RENAME)
def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    for view, kernels, offset in _asked(params):
        edits = [
            lsp.TextEdit(view.in_part(kernels, *use), params.new_name)
            for use in kernels.uses(offset, params.new_name)
        ]
        return lsp.WorkspaceEdit({params.text_document.uri: edits}) if edits else None
    return None


@SERVER.feature(lsp.TEXT_DOCUMENT_COMPLETION)
def completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    return [
        lsp.CompletionItem(name, detail=detail)
        for _, kernels, offset in _asked(params)
        for name, detail in kernels.completions(offset).items()
    ]


@SERVER.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
def fixes(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    return list(_fixes(_view(params.text_document), params))


def _fixes(view: _View, params: lsp.CodeActionParams) -> Iterator[lsp.CodeAction]:
    """The cures in a range that are an edit."""
    for problem in view.document.problems():
        place = view.range(problem.start, problem.end)
        if problem.cure and place.start <= params.range.end and params.range.start <= place.end:
            changes = {params.text_document.uri: [lsp.TextEdit(place, problem.cure)]}
            yield lsp.CodeAction(
                f"Change to '{problem.cure}'",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[view.shown(problem)],
                edit=lsp.WorkspaceEdit(changes),
            )


@SERVER.feature(lsp.TEXT_DOCUMENT_FORMATTING)
def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
    view = _view(params.text_document)
    text = view.document.formatted()
    whole = view.range(0, len(view.document.source.text))
    return None if text is None else [lsp.TextEdit(whole, text)]
