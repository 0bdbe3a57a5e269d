"""What every hostile text is put through.

Any text gives a translation or a ``CompileError``, with bounded work and memory. A translation holds the imports
and calls that the emitter writes and nothing else (``pytriton.runtime.compile.load``), whatever stands in names,
defines, comments and strings.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytriton
from pytriton.errors import CompileError
from pytriton.runtime.compile.load import check_module
from tests.work import counted

GOLDENS = sorted((Path(__file__).parent.parent / "translate").glob("*/kernel.c"))
TEXTS = [path.read_text(encoding="utf-8") for path in GOLDENS]
GIVEN = [tomllib.loads((path.parent / "case.toml").read_text()).get("defines", {}) for path in GOLDENS]
DOT = next(index for index, path in enumerate(GOLDENS) if path.parent.name == "dot")
MAX_STEPS = 30_000_000  # for whatever text: about one second


def kernel(body: str, parameters: str = "float* X, int n") -> str:
    """A kernel with this body."""
    return f"__global__ void k({parameters}) {{\n{body}\n}}\n"


def attempt(
    text: str | bytes,
    defines: dict[str, object] | None = None,
    most: int = MAX_STEPS,
    **options: object,
) -> pytriton.Translation | CompileError:
    """The translation, which is checked, or the error; nothing else, and neither in more than ``most`` steps."""

    def translated() -> pytriton.Translation | CompileError:
        try:
            return pytriton.translate(text, defines, name="k.c", **options)  # type: ignore[arg-type]
        except CompileError as error:
            return error

    _, result = counted(translated, most)
    return checked(result, len(text))


def checked(
    result: pytriton.Translation | CompileError, length: int = 0
) -> pytriton.Translation | CompileError:
    """What became of a text of this length, which must be in order."""
    if isinstance(result, CompileError):
        assert 1 <= len(result.diagnostics) <= 20
        assert len(str(result)) < 100_000 + 4 * length
        assert all(re.fullmatch(r"TC[0-4]\d\d", found.code) for found in result.diagnostics)
    else:
        ast.parse(result.text)
        check_module(result.text, "k.py")
    return result


def refused(text: str | bytes, *codes: str, **options: object) -> CompileError:
    """The error of a text that must be refused, with one of these codes first."""
    result = attempt(text, **options)  # type: ignore[arg-type]
    assert isinstance(result, CompileError), result.text
    assert not codes or result.diagnostics[0].code in codes, str(result)[:500]
    return result


def accepted(text: str | bytes, **options: object) -> pytriton.Translation:
    """The translation of a text that must be accepted."""
    result = attempt(text, **options)  # type: ignore[arg-type]
    assert not isinstance(result, CompileError), str(result)[:500]
    return result


pytriton.translate(kernel("*X = 1;"))  # builds what is built once a process
