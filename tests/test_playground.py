"""The playground without a browser: its engine, its examples, and what it is put together from.

``make site-test`` has the rest: typing, links, offline use, in Chromium.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import pytriton
from tools import playground

PLAYGROUND = Path(__file__).parent.parent / "docs" / "playground"
engine = playground.engine()

SETS_HTML = re.compile(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function")
SCRIPT = (PLAYGROUND / "examples.js").read_text(encoding="utf-8")
EXAMPLES = playground.examples()


def ask(text: str, defines: list[list[str]], show: str = "python") -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(
        engine.answer(json.dumps({"text": text, "defines": defines, "show": show}))
    )
    return answer


def test_examples_are_found() -> None:
    assert len(EXAMPLES) == SCRIPT.count("name: ") == 6


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("show", ["python", "folded"])
def test_example(name: str, show: str) -> None:
    """Each translates and folds, but for the one that is there for its three mistakes."""
    defines, text = EXAMPLES[name]
    answer = ask(text, defines, show)
    if name == "Three mistakes":
        assert len(answer["diagnostics"]) == 3
        return
    assert answer["ok"]
    assert "${" not in text
    assert "@triton.jit" in answer["python"]
    if show == "python":
        first = {key: value.split(",")[0] for key, value in defines}
        assert answer["python"] == pytriton.translate(text, first).text


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"Matrix product, 2019"}))
def test_examples_are_formatted(name: str) -> None:
    """As the button leaves them; the matrix product stands as it was published."""
    defines, text = EXAMPLES[name]
    assert ask(text, defines, "format") == {"ok": True, "formatted": text}


def test_format() -> None:
    assert ask("void f(int* x){*x=1;}", [], "format")["formatted"] == "void f(int *x) { *x = 1; }\n"
    answer = ask("void f(int* x) { ` }", [], "format")
    assert not answer["ok"]
    assert answer["diagnostics"][0]["code"]


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - {"Three mistakes"}))
def test_c(name: str) -> None:
    defines, text = EXAMPLES[name]
    answer = ask(text, defines, "c")
    assert answer["ok"], answer
    assert "int64_t" in answer["python"] or "int32_t" in answer["python"]


def test_rendered_while_the_site_is_built() -> None:
    """What the page shows while Python is loading is what the translator answers later."""
    found = playground.rendered()
    assert [(each["defines"], each["text"]) for each in found] == list(EXAMPLES.values())
    assert found[0]["answer"] == ask(found[0]["text"], found[0]["defines"])


def test_lines_lead_back() -> None:
    defines, text = EXAMPLES["Vector add"]
    answer = ask(text, defines)
    python = answer["python"].splitlines()
    lines = {
        python[int(row) - 1].strip(): text.splitlines()[line - 1] for row, line in answer["lines"].items()
    }
    assert "off < n" in lines["check = off < n"]
    assert "*?(check)" in lines["tl.store("]


def test_diagnostics_have_places() -> None:
    text = "__global__ void f(int* x) {\n  *x = TILE;\n}\n"
    answer = ask(text, [])
    (found,) = answer["diagnostics"]
    assert not answer["ok"]
    assert text[found["from"] : found["to"]] == "TILE"
    assert (found["code"], found["severity"], found["missing"]) == ("TC301", "error", "TILE")
    assert "^~~~" in found["rendered"]
    assert found["rendered"].endswith("help: give it among the defines, or declare it")


def test_folded_serves_all_values() -> None:
    defines, text = EXAMPLES["Bias and ReLU, by #if"]
    assert "if RELU" in ask(text, defines, "folded")["python"]
    assert "if RELU" not in ask(text, defines)["python"]


def test_gradient() -> None:
    defines, text = EXAMPLES["Row softmax"]
    answer = ask(text, defines, "gradient")
    assert answer["ok"]
    assert "d_Y" in answer["python"]
    assert "d_X" in answer["python"]
    pytriton.translate(answer["python"], {name: value.split(",")[0] for name, value in defines})


def test_what_has_no_gradient_is_said() -> None:
    answer = ask("void f(int* y, int* x) { *y = *x; }", [], "gradient")
    assert not answer["ok"]
    assert answer["diagnostics"][0]["message"]


def test_what_cannot_be_folded_is_said() -> None:
    text = "__global__ void f(int* x) {\n#if A\n  *x = 1;\n#else\n  *x = ;\n#endif\n}\n"
    answer = ask(text, [["A", "1, 0"]], "folded")
    assert not answer["ok"]
    assert answer["diagnostics"][0]["code"]


def test_everything_fetched_is_pinned_by_its_hash() -> None:
    lock = json.loads((PLAYGROUND / "package-lock.json").read_text())
    packages = [package for name, package in lock["packages"].items() if name]
    assert len(packages) > 15
    assert all(package["integrity"].startswith("sha512-") for package in packages)
    assert not any("resolved" in package for package in packages)  # the registry is the user's own
    wanted = json.loads((PLAYGROUND / "package.json").read_text())
    pinned = {**wanted["dependencies"], **wanted["devDependencies"]}
    assert all(re.fullmatch(r"[\d.]+", version) for version in pinned.values())
    lines = (PLAYGROUND / "requirements.txt").read_text().splitlines()[1:]
    assert len(lines) == 3
    assert all(re.fullmatch(r"\w+==[\d.]+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)


def test_text_is_only_set_as_text() -> None:
    """No way from a link into the page's HTML; the browser's test tries it."""
    for path in PLAYGROUND.glob("*.js"):
        script = path.read_text(encoding="utf-8")
        assert not SETS_HTML.search(script), path
    page = (PLAYGROUND / "index.html").read_text(encoding="utf-8")
    assert "default-src 'self'" in page
    assert not re.search(r"https?://", page)
