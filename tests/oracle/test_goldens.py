"""The evaluator on every golden case: it must leave what ``case.toml`` says, as the emitted module does.

That proves the judge on texts whose answers were written by hand.
"""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from pytriton.errors import Report, UnsupportedError
from pytriton.lang.check.checker import check
from pytriton.lang.parse.parser import parse
from pytriton.lang.preprocess.directives import preprocess
from pytriton.lang.tree.types import PointerType
from pytriton.settings import Settings
from pytriton.source import Source
from tests.oracle.evaluator import Address, Undefined, run

TESTS = Path(__file__).parent.parent
CASES = sorted(path.parent for path in (TESTS / "translate").glob("*/case.toml"))

# The evaluator says that these are undefined, and is right; the case shows what the translation does then.
UNDEFINED = {
    "attr_local": "the promise of a local is broken on purpose: a hint may not change a value",
    "cast_bitcast": "reads the bits of a NaN",
}


def _tests_of_goldens() -> ModuleType:
    """test_translate.py, for the names that its expressions may use."""
    spec = importlib.util.spec_from_file_location("golden_names", TESTS / "translate" / "test_translate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAMES = _tests_of_goldens().namespace


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
@pytest.mark.sampled(2)
def test_evaluator_agrees(case: Path) -> None:
    data = tomllib.loads((case / "case.toml").read_text())
    report = Report()
    try:
        text = (case / "kernel.c").read_bytes().decode()
        tokens = preprocess(Source(text, "kernel.c"), dict(data.get("defines", {})), report)
        report.check()
        strict = data.get("strict_literals", False)
        tree = check(
            parse(tokens.tokens, report),
            report,
            Settings(data.get("kernel"), strict_literals=strict),
            tokens.numbers,
        )
    except UnsupportedError:
        pytest.skip("the checker refuses it still")
    for launch in data["run"] if isinstance(data["run"], list) else [data["run"]]:
        if len(launch["args"]) != len(tree.parameters) or launch.get("constants"):
            pytest.skip("memory that is no argument")
        if case.name in UNDEFINED:
            with pytest.raises(Undefined):
                _compare(tree, launch)
        else:
            _compare(tree, launch)


def _compare(tree: Any, launch: dict[str, Any]) -> None:
    names = NAMES()
    values: dict[str, Any] = {}
    for name, expression in launch["args"].items():
        values[name] = eval(expression, names | values)
    expected = {name: eval(expression, names | values) for name, expression in launch["expect"].items()}
    buffers, arguments, places = [], [], {}
    for symbol, value in zip(tree.parameters, values.values(), strict=True):
        if not isinstance(symbol.type, PointerType):
            arguments.append(value.item() if isinstance(value, torch.Tensor) else value)
        elif value is None or isinstance(value, int) or value.numel() == 0:
            if value:
                pytest.skip("addresses of the host")
            arguments.append(None)
        else:
            if value.dtype == torch.int64 and isinstance(symbol.type.element, PointerType):
                pytest.skip("addresses of the host")
            storage = value.untyped_storage()
            if storage.data_ptr() not in places:
                places[storage.data_ptr()] = len(buffers)
                buffers.append(torch.tensor(storage, dtype=torch.uint8).numpy().copy())
            offset = value.storage_offset() * value.element_size()
            arguments.append(Address(places[storage.data_ptr()], offset))
    memory = run(tree, buffers, arguments, tuple(launch["grid"]), zeros=True)
    for name, want in expected.items():
        have = values[name]
        raw, _ = memory.contents(places[have.untyped_storage().data_ptr()])
        whole = torch.from_numpy(raw).view(have.dtype)
        got = whole.as_strided(have.shape, have.stride(), have.storage_offset())
        torch.testing.assert_close(
            got,
            want.to(got.dtype).expand_as(got),
            rtol=launch.get("rtol", 0),
            atol=launch.get("atol", 0),
            equal_nan=True,
        )
