"""The Pygments lexer, and the TextMate grammar by vscode-tmgrammar-test, where npm is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import pytriton
from pytriton.lang.tree.types import TYPE_NAMES
from pytriton.lsp.builtin_pages import BUILTINS, TYPES

pygments = pytest.importorskip("pygments")

ROOT = Path(__file__).parent.parent.parent
EXTENSION = ROOT / "editors" / "vscode"
SOURCE = "__global__ void f(half *X __noalias) {\n  int i[4] = 0 ... 4;\n  *(X + i) = exp(i @ i);\n}\n"


def test_lexer() -> None:
    from pygments.token import Error, Keyword, Name, Operator

    from pytriton.lsp.highlight import TritonCLexer

    tokens = list(TritonCLexer().get_tokens(SOURCE))
    assert "".join(value for _, value in tokens) == SOURCE
    assert {(Keyword.Type, "half"), (Keyword.Type, "__noalias"), (Operator, "@")} <= set(tokens)
    assert (Name.Builtin, "exp") in tokens
    assert Error not in {token for token, _ in tokens}


def test_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["triton-c"].partition(":")
    assert (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8").count(f"class {name}(") == 1


def test_the_extension_fits_the_language() -> None:
    """Its grammar has every built-in and type word, its version is ours, and its files exist."""
    grammar = json.loads((EXTENSION / "syntaxes" / "triton-c.tmLanguage.json").read_text(encoding="utf-8"))
    names = ("builtins", "constants")
    words = set(re.findall(r"\w+", " ".join(grammar["repository"][name]["match"] for name in names)))
    assert words >= BUILTINS.keys()
    patterns = [pattern["match"] for pattern in grammar["repository"]["types"]["patterns"]]
    assert set(re.findall(r"\w+", " ".join(patterns))) >= {*TYPES, *TYPE_NAMES} - {"newaxis"}
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == pytriton.__version__
    contributed = package["contributes"]
    paths = [package["main"], contributed["languages"][0]["configuration"]]
    for path in [*paths, *(grammar["path"] for grammar in contributed["grammars"])]:
        assert (EXTENSION / path).is_file()
        if path.endswith(".json"):
            json.loads((EXTENSION / path).read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
def test_grammar_by_vscode(tmp_path: Path) -> None:
    """The files in editors/vscode/test, by VS Code's own engine; npm fetches it."""
    folder = tmp_path / "vscode"
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules"))
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    del package["dependencies"]  # of the client, which needs VS Code
    (folder / "package.json").write_text(json.dumps(package), encoding="utf-8")
    subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=folder, check=True, capture_output=True)
    ran = subprocess.run(["npm", "test"], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_client_starts_the_server() -> None:
    """With stand-ins for VS Code and its client library."""
    script = """
    const Module = require("module"), load = Module._load;
    const started = [];
    class LanguageClient { constructor(...options) { started.push(options); } start() {} stop() {} }
    const workspace = { getConfiguration: () => ({ get: () => ["pytriton", "lsp"] }) };
    const fakes = { "vscode": { workspace }, "vscode-languageclient/node": { LanguageClient } };
    Module._load = (name, ...rest) => fakes[name] ?? load(name, ...rest);
    const client = require(process.argv[1]);
    client.activate(); client.deactivate();
    console.log(JSON.stringify(started[0][2]));
    """
    client = str(EXTENSION / "client.js")
    ran = subprocess.run(["node", "-e", script, client], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == {"command": "pytriton", "args": ["lsp"]}
