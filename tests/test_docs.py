"""The Python in README.md and docs/*.md runs as it is printed.

The blocks of a page run in order, in one namespace and a fresh directory, and may not warn. A block below a comment
such as ``<!-- add.c -->`` is a file of that name, and is written, not run. ``>>>`` is a session whose output must
be as shown; ``...`` stands for any. In the pages of ``CONSOLES`` a line ``$ pytriton ...`` is a command, which must
print what stands below it. ``BEFORE`` makes what a page takes for granted; ``AFTER`` asserts what it
promises.
"""

from __future__ import annotations

import doctest
import linecache
import re
import shlex
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from pytriton.__main__ import main

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(
    r"(?:<!-- (?:file: )?(?P<file>[\w./]+) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```", re.M | re.S
)
CONSOLES = {"start.md"}
OTHERS = {
    "porting.md",
    "walk-kernel.md",
    "walk-mask.md",
    "walk-port.md",
}  # tests/port/test_walk.py, tests/test_walks.py

BEFORE = {
    "legacy.md": """
from pathlib import Path
Path("torch_blocksparse.py").write_text("import triton, triton.testing\\nfrom triton import kernel\\n")
""",
}
AFTER = {
    "gradients.md": "",
    "README.md": "torch.testing.assert_close(z, x + y, rtol=0, atol=0)",
    "legacy.md": "assert torch_blocksparse.triton is pytriton and torch_blocksparse.kernel is pytriton.kernel",
    "start.md": "assert add.best_config is not None",
    "debugging.md": "",
    "gpus.md": "",
    "launching.md": "torch.testing.assert_close(y, 2 * x)",
    "several-gpus.md": "",
    "threads.md": "",
    "tuning.md": "torch.testing.assert_close(y, 2 * x)",
    "pytorch.md": """
torch.testing.assert_close(x.grad, torch.cos(x.detach()) * (torch.arange(100) % 2 == 0))
for device in ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]:
    whole = torch.randn(6, 8, 4, device=device)
    for given in (
        *(whole, whole[::2], whole[:, 1:7:3], whole.transpose(0, 2), whole[..., 3], whole[:0], whole[0, 0, 0]),
        *(whole[:1].expand(5, 8, 4), whole[0, 0, 0].expand(7), whole.view(-1)[1:]),
    ):
        torch.testing.assert_close(sin(given), torch.sin(given))
        torch.testing.assert_close(sin(given.double()), torch.sin(given.double()))
        leaf = given.detach().clone().requires_grad_()
        sin(leaf.expand(3, *leaf.shape)).sum().backward()
        torch.testing.assert_close(leaf.grad, 3 * torch.cos(leaf.detach()))
    torch.library.opcheck(sin.overload, (whole[::2],))
assert sin.schema == cos.schema == "(Tensor x) -> Tensor"
""",
}


def pages() -> dict[str, Path]:
    """The pages that have Python in them to be run."""
    found = {path.name: path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
    return {name: path for name, path in found.items() if name not in OTHERS and runnable(path)}


def runnable(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return any(block["kind"] == "python" and not block["file"] for block in BLOCK.finditer(text))


def test_every_page_is_here() -> None:
    assert set(pages()) == set(AFTER)


@pytest.mark.parametrize("name", sorted(AFTER))
def test_page(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pages()[name]
    text = path.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = set(sys.modules)
    namespace: dict[str, Any] = {"__name__": "__main__", "torch": torch}
    exec(BEFORE.get(name, ""), namespace)
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", message="pytriton runs kernels on CPU tensors")
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start("text"))
            if block["file"]:
                (tmp_path / block["file"]).write_text(block["text"])
            elif block["kind"] == "console" and name in CONSOLES:
                console(block["text"], capsys)
            elif block["kind"] == "python" and block["text"].startswith(">>> "):
                session(block["text"], namespace, path, line)
            elif block["kind"] == "python":
                run("\n" * line + block["text"], f"{path}", namespace)
    run(AFTER[name], f"<after {name}>", namespace)
    for made in set(sys.modules) - modules:
        if getattr(sys.modules[made], "__file__", None) and str(tmp_path) in str(sys.modules[made].__file__):
            del sys.modules[made]


def run(text: str, file: str, namespace: dict[str, Any]) -> None:
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), namespace)


def console(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the commands that are pytriton's."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        if command.startswith("pytriton "):
            capsys.readouterr()
            main(shlex.split(command)[1:])
            printed = capsys.readouterr()
            assert not shown or printed.out + printed.err == shown, command


def session(text: str, namespace: dict[str, Any], path: Path, line: int) -> None:
    test = doctest.DocTestParser().get_doctest(text, namespace, path.name, str(path), line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    runner.run(test, out=said.append, clear_globs=False)
    assert not runner.failures, "".join(said)
