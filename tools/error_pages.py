"""Writes ``docs/errors/TC*.md``, one page a diagnostic code: ``python tools/error_pages.py``.

Cause and cure are the row in ``docs/errors.md``; the example is a case of ``tests/errors/``, or one of
``tools/error_examples.toml``. The diagnostics shown are what the code says now: nothing is copied by hand.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import re
import sys
import tempfile
import tomllib
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Without tools/, whose numbers.py would hide Python's.
sys.path[:] = [str(ROOT), *(path for path in sys.path if path != str(ROOT / "tools"))]

import pytriton  # noqa: E402
from tests.errors.cases import CASES  # noqa: E402

PAGES = ROOT / "docs" / "errors"
TABLE = ROOT / "docs" / "errors.md"
EXAMPLES = Path(__file__).with_name("error_examples.toml")

# What the Python examples start with.
PREAMBLE = '''\
import torch
import pytriton

SOURCE = """
__global__ void fill(float *X PROMISE_X, int n PROMISE_N) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(i < n)(X + i) = 1;
}
"""
plain = {"TILE": 16, "PROMISE_X": "", "PROMISE_N": ""}
k = pytriton.kernel(SOURCE, defines=plain)
rows = pytriton.kernel(SOURCE, defines={**plain, "PROMISE_N": "__multipleof(8)"})
aligned = pytriton.kernel(SOURCE, defines={**plain, "PROMISE_X": "__aligned(16)"})
n = 64
x = torch.zeros(n)
'''


def rows() -> dict[str, list[str]]:
    """Code -> means, cure, before, after: the cells of its row."""
    found: dict[str, list[str]] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if re.match(r"\| TC\d{3} \|", line):
            code, *cells = (cell.strip() for cell in re.split(r"(?<!\\)\|(?![^`]*`[^`|]* \|)", line)[1:-1])
            found[code] = cells
    return found


def examples() -> dict[str, dict[str, Any]]:
    return tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))


def before(example: dict[str, Any]) -> tuple[str, dict[str, Any], str | None]:
    """Text, defines and kernel of a wrong example."""
    if "case" not in example:
        return example["before"], example.get("defines_before", {}), None
    case = CASES[example["case"]]
    return case.text.decode("utf-8"), case.defines, case.kernel


def said(text: str, defines: dict[str, Any], kernel: str | None) -> str:
    """All diagnostics of a text, warnings too."""
    try:
        made = pytriton.translate(text, defines, kernel=kernel, name="kernel.c")
    except pytriton.CompileError as error:
        return str(error)
    return "\n\n".join(one.render() for one in made.warnings)


def run(snippet: str) -> str:
    """What a Python example raises or warns of; empty where it runs. It runs in a folder of its own, ``shared``."""
    kept = dict(os.environ)
    with (
        warnings.catch_warnings(record=True) as warned,
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
    ):
        names: dict[str, Any] = {"shared": Path(folder)}
        warnings.simplefilter("always")
        exec(PREAMBLE, names)
        try:
            linecache.cache["<example>"] = (
                len(snippet),
                None,
                snippet.splitlines(keepends=True),
                "<example>",
            )
            exec(compile(snippet, "<example>", "exec"), names)  # an operator reads its function's source
        except Exception as error:
            if not re.search(r"\[TC\d{3}\]", str(error)):
                raise
            return _steady(str(error), folder)
        finally:
            os.environ.clear()
            os.environ.update(kept)
    shown = [str(warning.message) for warning in warned]  # TC560 depends on the machine
    return _steady("\n".join(text for text in shown if "[TC" in text and "[TC560]" not in text), folder)


def _steady(message: str, folder: str) -> str:
    """A message less what differs from run to run and from machine to machine; torch's own words are left out."""
    message = re.sub(r"0x[0-9a-f]{6,}", "0x7f0000000004", message.replace(folder, "/tmp/shared"))
    message = re.sub(r"(generated code is ).*/pytriton/", r"\1~/.cache/pytriton/", message)
    return message.split("\n\n")[0]


def page(code: str, cells: list[str], example: dict[str, Any] | None) -> str:
    means, cure, *cell = cells
    parts = [f"# {code}", f"**Cause.** {_sentence(means)}", f"**Cure.** {_sentence(cure)}"]
    if example is None:
        short = [("Before", cell[0]), ("After", cell[1])] if len(cell) >= 2 else []
        parts += [f"## {title}\n\n{text}" for title, text in short if text not in ("—", "")]
    elif "python_before" in example:
        parts += filter(None, [_names_in(example["python_before"])])
        for title, key in (("Before", "python_before"), ("After", "python_after")):
            parts.append(f"## {title}\n\n{_block(example[key], 'python')}")
            if key == "python_before" and not (example.get("quiet") or example.get("gpu")):
                parts.append(_block(run(example[key]), "text"))
    else:
        text, defines, kernel = before(example)
        parts.append(f"## Before\n\n{_given(defines, kernel)}{_block(_visible(text), 'c')}")
        parts.append(_block(said(text, defines, kernel), "text"))
        given = _given(example.get("defines_after", {}), example.get("kernel_after"))
        parts.append(f"## After\n\n{given}{_block(example['after'], 'c')}")
    return "\n\n".join(parts) + "\n"


def _names_in(snippet: str) -> str:
    """What the names of a Python example are."""
    known = {
        "k(": "`k` is a kernel `fill(float *X, int n)`",
        "k.": "`k` is a kernel `fill(float *X, int n)`",
        "rows(": "`rows` is a kernel `fill(float *X, int n __multipleof(8))`",
        "aligned(": "`aligned` is a kernel `fill(float *X __aligned(16), int n)`",
        "SOURCE": "`SOURCE` is the text of a kernel `fill(float *X, int n)` with a define `TILE`",
    }
    parts = [
        next((text for start, text in known.items() if re.search(rf"\b{re.escape(start)}", snippet)), "")
    ]
    parts += ["`plain` are its defines"] if re.search(r"\bplain\b", snippet) else []
    parts += ["`x` is a float32 tensor of `n = 64` elements"] if re.search(r"\bx\b", snippet) else []
    parts += ["`shared` is a folder"] if "shared" in snippet else []
    said = "; ".join(filter(None, parts))
    return f"Here {said}." if said else ""


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:] if not text.startswith("`") else text
    return text if text.endswith(".") else f"{text}."


def _given(defines: dict[str, Any], kernel: str | None) -> str:
    """How the text was given, where there is more than the text."""
    parts = [f"`defines={defines!r}`"] if defines else []
    parts += [f"`kernel={kernel!r}`"] if kernel else []
    return f"With {' and '.join(parts)}:\n\n" if parts else ""


def _visible(text: str) -> str:
    """Control and bidirectional characters as what stands for them."""
    return "".join(c if c.isprintable() or c == "\n" else f"<U+{ord(c):04X}>" for c in text)


def _block(text: str, language: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def all_pages() -> dict[str, str]:
    """File name -> text."""
    known = examples()
    return {f"{code}.md": page(code, cells, known.get(code)) for code, cells in rows().items()}


def main() -> None:
    PAGES.mkdir(exist_ok=True)
    made = all_pages()
    for path in PAGES.glob("TC*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (PAGES / name).write_text(text, encoding="utf-8")
    print(f"{len(made)} pages, {sum('```' in text for text in made.values())} with an example that was run")


if __name__ == "__main__":
    main()
