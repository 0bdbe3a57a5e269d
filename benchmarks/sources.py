"""The kernel sources of this repository, each with one set of defines, for measurements of the translator.

Those of ``tests/translate`` are read. Those of ``tests/legacy`` and ``examples`` are made by programs, so their
tests run here with launches left out, and the first translation of each kernel is written down. This module is the
plugin of pytest that does so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
_FILE: Final = "RECORDED_SOURCES"  # of the environment: where the plugin writes
PACKAGES: Final = ROOT / "tests" / "legacy" / "packages"


class Case(NamedTuple):
    """What ``pytriton.translate`` is given."""

    source: str
    defines: dict[str, Any]
    kernel: str | None = None
    strict_literals: bool = False


def of_translations() -> list[Case]:
    """The cases of tests/translate."""
    from tests.translate.test_translate import CASES, load, text

    return [
        Case(
            text(name).decode(),
            _written(load(name).get("defines", {})),
            load(name).get("kernel"),
            load(name).get("strict_literals", False),
        )
        for name in CASES
    ]


def of_programs() -> list[Case]:
    """The sources that the programs of tests/legacy and examples translate, once each."""
    plugin = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "benchmarks.sources"]
    runs = [[*plugin, "tests/legacy", "tests/programs"]]
    for package in sorted(path.name for path in PACKAGES.iterdir() if path.is_dir()):
        own = f"tests/legacy/packages_tests/test_{package}.py"
        runs.append(["-m", "pytriton", "run", "--legacy", package, *plugin, own])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "sources")
        paths = os.pathsep.join((str(ROOT), str(PACKAGES)))
        environment = {**os.environ, _FILE: str(file), "PYTHONPATH": paths, "CUDA_VISIBLE_DEVICES": ""}
        for run in runs:  # launches compute nothing, so tests fail
            subprocess.run(
                [sys.executable, *run], cwd=ROOT, env=environment, capture_output=True, check=False
            )
        cases = [Case(*json.loads(line)) for line in file.read_text().splitlines()]
    return list({(case.source, case.kernel): case for case in reversed(cases)}.values())[::-1]


def all_cases(kept: Path | None = None) -> list[Case]:
    """All sources; ``kept``: a file that has them, or gets them."""
    if kept is not None and kept.exists():
        return [Case(*case) for case in json.loads(kept.read_text())]
    cases = [*of_translations(), *of_programs()]
    if kept is not None:
        kept.write_text(json.dumps(cases))
    return cases


def _written(defines: Mapping[str, object]) -> dict[str, Any]:
    """Defines without the types of torch."""
    from pytriton.errors import Report
    from pytriton.lang.conditions import spelling
    from pytriton.lang.preprocess.macros import given_macros
    from pytriton.source import Source

    given = given_macros(defines, Source("", "defines"), Report())
    return {name: spelling(macro) if macro.value is None else macro.value for name, macro in given.items()}


def pytest_configure() -> None:
    """Writes each translation down, and leaves launches out."""
    from pytriton import pipeline
    from pytriton.runtime.interpret.interpreter import Interpreted

    path, translated = Path(os.environ[_FILE]), pipeline._translated

    def writing(text: Any, single: Any, settings: Any, *rest: Any) -> Any:
        case = Case(text.text, _written(single), settings.kernel, settings.strict_literals)
        if not settings.include_dirs:
            with path.open("a") as file:
                file.write(json.dumps(case) + "\n")
        return translated(text, single, settings, *rest)

    pipeline._translated = writing
    Interpreted.run = lambda *_, **__: None  # type: ignore[method-assign]
