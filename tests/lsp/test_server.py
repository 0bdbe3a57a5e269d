"""The server by its protocol: a real client of pytest-lsp, which starts ``pytriton lsp`` and sends requests."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytriton.__main__ import main

ROOT = Path(__file__).parent.parent.parent
SOURCE = """\
// defines: TM=64 TYPE=half
#define AT(p) (p + rows)
__global__ void scale(float *X, TYPE *Y, int n) {
  // é and 𝜋: two units in UTF-16
  int rows[TM] = get_program_id(0) * TM + 0 ... TM;
  bool in[TM] = rows < n; /* 𝜋𝜋 */ float x[TM] = *?(in) AT(X);
  for (int n = 0; n < 4; n++) {
    x = exp(x * 2) + n;
  }
  *?(in) (Y + rows) = x;
}
"""
PYTHON = f"""\
import pytriton

src = '''
{SOURCE.partition(chr(10))[2]}'''
kernel = pytriton.kernel(src, defines={{'TM': 64, 'TYPE': 'half'}})
"""


def test_without_pygls_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "pytriton.lsp.server", raising=False)
    for name in ("pygls", "lsprotocol"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["lsp"]) == 2
    assert "pip install 'pytriton-c[lsp]'" in capsys.readouterr().err


pytest_lsp = importlib.import_module("pytest_lsp") if importlib.util.find_spec("pytest_lsp") else None


def units(text: str) -> int:
    """The length of a text in UTF-16, which positions count in."""
    return len(text.encode("utf-16-le")) // 2


class Session:
    """One document in a client: requests take a piece of its text with ``|`` at the place."""

    def __init__(self, client: Any, uri: str, text: str) -> None:
        self.client, self.uri, self.text = client, uri, text
        self.count = 0

    def place(self, at: str) -> dict[str, int]:
        before = self.text[: self.text.index(at.replace("|", "")) + at.index("|")]
        return {"line": before.count("\n"), "character": units(before.rpartition("\n")[2])}

    async def ask(self, method: str, at: str | None = None, **more: Any) -> Any:
        """The answer to a request as JSON."""
        from lsprotocol import converters, types

        self.count += 1
        params: dict[str, Any] = {"textDocument": {"uri": self.uri}, **more}
        if at is not None:
            params["position"] = self.place(at)
        converter = converters.get_converter()
        kind = types.METHOD_TO_TYPES[f"textDocument/{method}"][2]
        answer = await self.client.protocol.send_request_async(
            f"textDocument/{method}", converter.structure(params, kind)
        )
        return json.loads(json.dumps(converter.unstructure(answer)))

    def covered(self, where: dict[str, Any]) -> str:
        """The text of a range."""
        lines = self.text.split("\n")
        start, end = where["start"], where["end"]
        assert start["line"] == end["line"]
        line = lines[start["line"]].encode("utf-16-le")
        return line[2 * start["character"] : 2 * end["character"]].decode("utf-16-le")


async def hover_requests(session: Session) -> None:
    expected = {
        "int |rows[": ("rows", "rows: int[TM]"),
        "bool |in[": ("in", "in: bool[TM]"),
        "float |x[TM]": ("x", "x: float[TM]"),
        "*|X, TYPE": ("X", "X: float*"),
        "*|Y, int": ("Y", "Y: half*"),
        "int |n)": ("n", "n: int"),
        "|rows < n": ("rows", "rows: int[TM]"),
        "rows |< n": ("rows < n", "rows < n: bool[TM]"),
        "x |* 2": ("x * 2", "x * 2: float[TM]"),
        "|exp(x": ("exp", "exp(x): e to the power of x"),
        "|get_program_id": ("get_program_id", "index of this program"),
        "|AT(X)": ("AT", "expands to (X + rows)"),
        "|TM] = get": ("TM", "TM = 64 in defines"),
        "|n++": ("n", "n: int"),
        "exp(x * 2) |+ n": ("exp(x * 2) + n", "exp(x * 2) + n: float[TM]"),
        "*|?(in) AT": ("*?(in) AT(X)", "*?(in) AT(X): float[TM]"),
        "0 |... TM": ("0 ... TM", "0 ... TM: int[TM]"),
        "Y |+ rows": ("Y + rows", "Y + rows: half*[TM]"),
    }
    for at, (covered, shown) in expected.items():
        answer = await session.ask("hover", at)
        assert shown in answer["contents"]["value"], at
        assert session.covered(answer["range"]) == covered
    assert await session.ask("hover", "f|or (") is None


async def navigation_requests(session: Session) -> None:
    for at, target in {
        "x * 2) + |n": "int |n = 0",
        "rows < |n": "int |n)",
        "(Y + |rows)": "int |rows[",
        "|in) AT": "bool |in[",
        "|AT(X)": "#define |AT(",
        "exp(|x": "float |x[TM]",
        "int |rows[": "int |rows[",
        "(|Y + rows)": "*|Y, int",
        "AT(|X)": "*|X, TYPE",
    }.items():
        answer = await session.ask("definition", at)
        assert answer["range"]["start"] == session.place(target), at
    assert await session.ask("definition", "|exp(") is None
    for at, name, count in (("int |n = 0", "step", 4), ("int |n)", "count", 2), ("bool |in[", "inside", 3)):
        answer = await session.ask("rename", at, newName=name)
        edits = answer["changes"][session.uri]
        assert len(edits) == count
        assert {edit["newText"] for edit in edits} == {name}
        assert len({session.covered(edit["range"]) for edit in edits}) == 1
    for at, name in (
        ("int |rows[", "r"),
        ("bool |in[", "x"),
        ("bool |in[", "2x"),
    ):  # in a macro; taken; wrong
        assert await session.ask("rename", at, newName=name) is None
    for at, expected in (("x = |exp", {"x", "in", "exp", "TM", "AT"}), ("bool |in", {"rows", "Y"})):
        labels = {item["label"] for item in await session.ask("completion", at)}
        assert expected <= labels


async def wrong(session: Session, diagnostics: Callable[[], list[Any]]) -> None:
    """A misspelling: its diagnostic, and its cure as an edit."""
    (diagnostic,) = [shown for shown in diagnostics() if shown.code == "TC301"]
    place = {"start": session.place("(Y + |rws)"), "end": session.place("(Y + rws|)")}
    assert diagnostic.message == "'rws' is not declared\nhelp: did you mean 'rows'?"
    assert (diagnostic.range.start.line, diagnostic.range.start.character) == tuple(place["start"].values())
    (action,) = await session.ask("codeAction", range=place, context={"diagnostics": []})
    assert action["edit"]["changes"][session.uri] == [{"range": place, "newText": "rows"}]
    start = {"line": 0, "character": 0}
    assert (
        await session.ask("codeAction", range={"start": start, "end": start}, context={"diagnostics": []})
        == []
    )


async def run(text: str, name: str) -> int:
    """All requests for one document; how many there were."""
    from lsprotocol import types

    client = pytest_lsp.make_test_lsp_client()  # type: ignore[union-attr]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    await client.start_io(sys.executable, "-m", "pytriton", "lsp", env=environment)
    capabilities = types.ClientCapabilities()
    await client.initialize_session(
        types.InitializeParams(capabilities=capabilities, process_id=os.getpid(), root_uri=ROOT.as_uri())
    )
    uri = f"file:///{name}"
    item = types.TextDocumentItem(uri, "triton-c", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    await client.wait_for_notification("textDocument/publishDiagnostics")
    assert list(client.diagnostics[uri]) == []
    session = Session(client, uri, text)
    await hover_requests(session)
    await navigation_requests(session)
    session.text = text.replace("(Y + rows)", "(Y + rws)")
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, uri),
            [types.TextDocumentContentChangeWholeDocument(session.text)],
        )
    )
    await client.wait_for_notification("textDocument/publishDiagnostics")
    await wrong(session, lambda: list(client.diagnostics[uri]))
    edits = await session.ask("formatting", options={"tabSize": 2, "insertSpaces": True})
    assert edits is None if name.endswith(".py") else edits[0]["newText"].startswith("// defines: TM=64")
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await client.wait_for_notification("textDocument/publishDiagnostics")
    assert list(client.diagnostics[uri]) == []
    await client.shutdown_session()
    await client.stop()
    return session.count


@pytest.mark.skipif(pytest_lsp is None, reason="needs pygls")
@pytest.mark.parametrize(("text", "name"), [(SOURCE, "k.c"), (SOURCE, "k.tr"), (PYTHON, "k.py")])
@pytest.mark.sampled(2)
def test_forty_requests(text: str, name: str) -> None:
    assert asyncio.run(asyncio.wait_for(run(text, name), 60)) == 40
