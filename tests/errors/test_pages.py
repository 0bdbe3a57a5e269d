"""``docs/errors/TC*.md``: one page a code, in step with the table and with what the code says today.

When this fails after a change of a message or a new row: ``python tools/error_pages.py``.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import pytriton
from pytriton.__main__ import main
from tests.processes import python

ROOT = Path(__file__).parent.parent.parent


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("error_pages", ROOT / "tools" / "error_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = _tool()
EXAMPLES = tool.examples()
TEXTS = [code for code, one in EXAMPLES.items() if "after" in one]
PYTHON = [
    pytest.param(code, marks=[pytest.mark.gpu] if one.get("gpu") else [])
    for code, one in EXAMPLES.items()
    if "python_after" in one
]

# What no user's text or call leads to: bugs of pytriton, and what would take the test with it: a failure of the
# interpreter, and a fork after CUDA was used (TC523, which tests/runtime/test_wrong_use_gpu.py runs in a process
# of its own). TC460 is of C only (tests/native), and these texts are translated to Python.
# TC559 to TC564, TC604 and TC605 depend on the machine, its variables and its other processes; test_coded.py.
_OF_THE_MACHINE = {"TC559", "TC560", "TC561", "TC563", "TC564", "TC565", "TC604", "TC605"}
WITHOUT = {"TC460", "TC521", "TC523", "TC532", *_OF_THE_MACHINE}


@pytest.fixture(autouse=True)
def in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches run as for users, and as for the tool: TC557 and TC558 are of C only."""
    monkeypatch.delenv("PYTRITON_CC", raising=False)


def test_a_page_for_each_code() -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in tool.PAGES.glob("*.md")}
    assert pages == tool.all_pages(), "run python tools/error_pages.py"


def test_every_code_has_an_example() -> None:
    assert set(EXAMPLES) == set(tool.rows()) - WITHOUT


@pytest.mark.parametrize("code", TEXTS)
def test_the_wrong_text_draws_the_code(code: str) -> None:
    assert f"[{code}]" in tool.said(*tool.before(EXAMPLES[code]))


@pytest.mark.parametrize("code", TEXTS)
def test_the_corrected_text_translates(code: str) -> None:
    example = EXAMPLES[code]
    defines = example.get("defines_after", {})
    made = pytriton.translate(example["after"], defines, kernel=example.get("kernel_after"))
    assert code not in {one.code for one in made.warnings}
    compile(made.text, code, "exec")


@pytest.mark.parametrize("code", PYTHON)
@pytest.mark.sampled(12)
def test_the_wrong_call_raises_and_the_right_one_runs(code: str) -> None:
    assert f"[{code}]" in tool.run(EXAMPLES[code]["python_before"])
    assert tool.run(EXAMPLES[code]["python_after"]) == ""


def test_explain_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "TC302"]) == 0
    assert capsys.readouterr().out == (tool.PAGES / "TC302.md").read_text(encoding="utf-8")
    assert main(["explain", "302"]) == 0


def test_explain_of_an_unknown_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "TC999"]) == 2
    said = capsys.readouterr().err.partition("\n")[2]  # the usage is in the first line
    assert said == "pytriton explain: error: unknown code 'TC999'; --list shows all\n"


def test_explain_needs_neither_torch_nor_triton() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['triton'] = None\n"
        "from pytriton.__main__ import main; sys.exit(main(['explain', 'TC101']))"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# TC101")
