"""Small packages, each with one habit of old programs (habits/), ported and compared with what they were.

Each has ``main(seed, **sizes)``, which gives tensors. A port sees one seed and the default sizes, or, where reading
is enough, none. Both the old package, in a process in which ``import triton`` means pytriton, and the new one, in a
process that has no pytriton, are then called with other seeds and sizes, and give the same bits.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from pytriton.__main__ import main
from tests import processes

HABITS = Path(__file__).parent / "habits"
MAX_WIDTH = 120

# Calls a package with what its port did not see. The words: "old" or "new", its name, and the file of results.
CALLS = """\
import importlib, inspect, sys, warnings
import torch
_, which, name, file = sys.argv
warnings.simplefilter("ignore")
if which == "old":
    import pytriton
    pytriton.legacy_imports(name)
else:
    sys.modules["pytriton"] = None
package = importlib.import_module(name)
names = inspect.signature(package.main).parameters
results = []
for seed, sizes in enumerate(({}, {"m": 5, "n": 77, "k": 19}, {"m": 33, "n": 3, "k": 1}), 1):
    results.append(package.main(seed, **{name: size for name, size in sizes.items() if name in names}))
torch.save(results, file)
"""
USE_A_RUN = "this launch is only known at run time: use --run"


@dataclass(frozen=True)
class Habit:
    """How a package is ported.

    ``run``: what a port says that only reads it, whose status is 1; then it is ported with a run. ``refused``: what
    that says, too. ``misuse``: what ends a port with status 2, ``environment``: what a port does not see.
    """

    run: str = ""
    refused: str = ""
    misuse: str = ""
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


PACKAGES = {
    "absent_tensors": Habit(),
    "addresses": Habit(),
    "bits_of_tensors": Habit(),
    "buffer_sizes": Habit(),
    "built_in_parts": Habit(),
    "changed_defines": Habit(),
    "class_attributes": Habit(),
    "constant_memory": Habit(),
    "constants_module": Habit(),
    "dedented": Habit(),
    "define_lines": Habit(),
    "edited_files": Habit(options=("--run", "python -c 'import edited_files; edited_files.main(0)'")),
    "empty_define": Habit(),
    "environment_defaults": Habit(environment={"HABITS_TM": "64", "HABITS_TN": "8"}),
    "format_of_arguments": Habit(run=f"__init__.py:22: {USE_A_RUN}"),
    "false_and_0": Habit(),
    "flags_of_a_file": Habit(run=f"__init__.py:21: {USE_A_RUN}"),
    "formatted": Habit(),
    "fstrings": Habit(),
    "header_and_body": Habit(),
    "inherited": Habit(run=f"__init__.py:16: {USE_A_RUN}"),
    "kernels_as_arguments": Habit(run=f"launch.py:7: {USE_A_RUN}"),
    "kernels_by_dtype": Habit(),
    "keywords": Habit(),
    "lambdas": Habit(),
    "merged_defines": Habit(),
    "named_by_define": Habit(),
    "numpy_defines": Habit(),
    "odd_file_names": Habit(),
    "one_name_twice": Habit(),
    "optional_pointers": Habit(),
    "own_folders": Habit(run=f"kernels_.py:7: {USE_A_RUN}"),
    "own_launcher": Habit(misuse="_triton.py: a port has a module of this name: rename yours"),
    "own_testing": Habit(misuse="_testing.py: a port has a module of this name: rename yours"),
    "partials": Habit(run=f"__init__.py:31: {USE_A_RUN}"),
    "percent_of_operators": Habit(run=f"__init__.py:21: {USE_A_RUN}"),
    "pickled": Habit(run=f"__init__.py:36: {USE_A_RUN}"),
    "reads_its_text": Habit(),
    "replaced": Habit(options=("-D", "TYPE=int")),
    "scalar_of_type": Habit(run=f"__init__.py:27: {USE_A_RUN}"),
    "source_files": Habit(run="csrc/times.c:1: nothing launches this source"),
    "star_imports": Habit(),
    "star_of_triton": Habit(),
    "stripped": Habit(),
    "style_of_2019": Habit(),
    "substituted": Habit(run=f"__init__.py:23: {USE_A_RUN}"),
    "sweeps": Habit(),
    "text_defines": Habit(),
    "truth_of_numbers": Habit(),
    "types_of_choices": Habit(),
    "unlike_kernels": Habit(),
    "wrapper_class": Habit(run=f"scale.py:35: {USE_A_RUN}"),
}
USUAL = {"kernels_by_dtype", "merged_defines", "optional_pointers", "text_defines", "fstrings"}


def cases() -> list[object]:
    slow = pytest.mark.slow
    return [pytest.param(name, marks=[slow] * (name not in USUAL)) for name in PACKAGES]


def test_each_package_is_in_the_table() -> None:
    assert sorted(PACKAGES) == sorted(
        path.name for path in HABITS.iterdir() if (path / "__init__.py").exists()
    )


@pytest.fixture
def port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Ports a copy of a package into ``new``: what it says on stderr, if its status is as wanted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTRITON_PROGRESS", "0")

    def ported(name: str, status: int, *options: str) -> str:
        shutil.copytree(HABITS / name, name, dirs_exist_ok=True)
        shutil.rmtree("new", ignore_errors=True)
        found = main(["port", name, "--out", "new", *options])
        said = capsys.readouterr()
        assert found == status, said.out + said.err
        assert "Traceback" not in said.err
        return said.err

    return ported


def results(which: str, name: str, folder: Path, **environment: str) -> list[list[tuple[object, ...]]]:
    """The bits of what a package computes of what its port did not see."""
    file = folder / f"{name}.pt"
    paths = [folder, processes.ROOT] if which == "old" else [folder]
    environment = {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "TRITON_INTERPRET": str(int(which == "new")),
        "CUDA_VISIBLE_DEVICES": "",
        **environment,
    }
    command = [sys.executable, "-c", CALLS, which, name, str(file)]
    done = processes.run(command, cwd=folder, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return [[bits(tensor) for tensor in call] for call in torch.load(file)]


def bits(tensor: torch.Tensor) -> tuple[object, ...]:
    return tensor.dtype, tuple(tensor.shape), tensor.contiguous().view(torch.uint8).tolist()


@pytest.mark.parametrize("name", cases())
def test_a_port_computes_what_the_package_did(name: str, tmp_path: Path, port: Callable[..., str]) -> None:
    habit = PACKAGES[name]
    run = ("--run", f"python -c 'import {name}; {name}.main(0)'")
    if habit.run:
        assert habit.run in port(name, 1, *habit.options)
    if habit.misuse:
        assert habit.misuse in port(name, 2, *habit.options)
        assert not (tmp_path / "new").exists()
        return
    if habit.refused:
        for options in ((), run) if not habit.run else (run,):
            assert habit.refused in port(name, 1, *habit.options, *options).splitlines()
        return
    assert port(name, 0, *habit.options, *(run if habit.run else ())) == ""
    written = [path for path in (tmp_path / "new").rglob("*") if path.is_file()]
    assert any("@triton.jit" in path.read_text() for path in written)
    for path in written:
        assert max(map(len, path.read_text().splitlines()), default=0) <= MAX_WIDTH, path
    old = results("old", name, tmp_path, **habit.environment)
    new = results("new", name, tmp_path / "new", **habit.environment)
    assert new == old
