"""Triton imported without an import statement: in a legacy package pytriton, everywhere else the real one."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import pickle
import shutil
import sys
import types
from pathlib import Path

import pytest

import pytriton
from tests.legacy.modules import real_triton, write
from tests.processes import python

# What a module does first, and the expression that then imports triton without an import statement.
HIDDEN = [
    ("", "__import__('triton')"),
    ("", "__import__('triton.testing')"),
    ("", "__import__('triton', fromlist=['testing'])"),
    ("", "__builtins__['__import__']('triton')"),
    ("import builtins", "builtins.__import__('triton')"),
    ("import importlib", "importlib.import_module('triton')"),
    ("import importlib", "importlib.import_module(name='triton', package=None)"),
    ("import importlib", "importlib.__import__('triton')"),
    ("import importlib", "[importlib.import_module(name) for name in ('triton', 'torch')][0]"),
    ("import importlib", "list(map(importlib.import_module, ['triton']))[0]"),
    ("import importlib", "importlib.import_module('importlib').import_module('triton')"),
    ("import importlib, operator", "operator.methodcaller('import_module', 'triton')(importlib)"),
    ("import importlib, functools", "functools.partial(importlib.import_module, 'triton')()"),
    ("import importlib as il", "getattr(il, 'import_module')('triton')"),
    ("import importlib.util", "importlib.import_module('triton')"),
    ("import importlib.machinery as machinery, importlib", "importlib.import_module('triton')"),
    ("from importlib import import_module", "import_module('triton')"),
    ("from importlib import import_module as im", "im('triton')"),
    ("from importlib import util, import_module as im", "eval('im(name)', {'im': im, 'name': 'triton'})"),
    ("from importlib import __import__ as load", "load('triton')"),
    ("from importlib import *", "import_module('triton')"),
    ("def lazily():\n    from importlib import import_module as im\n    return im('triton')", "lazily()"),
    ("class Op:\n    import importlib as il", "Op.il.import_module('triton')"),
    ("from .compat import load", "load('triton')"),
    ("from .compat import loader", "loader.import_module('triton')"),
    ("from . import compat", "compat.lazily()"),
]
HIDDEN_IN_A_MODULE = """\
{before}
found = {expression}

def late():
    return {expression}

try:
    tried = {expression}
except ImportError:
    tried = None
"""
COMPAT = """\
import importlib as loader
from importlib import import_module as load

def lazily():
    return loader.import_module("triton")
"""


@pytest.mark.parametrize(("before", "expression"), HIDDEN)
def test_hidden(place: Path, before: str, expression: str) -> None:
    """In a legacy package pytriton, in the same text outside the real one."""
    text = HIDDEN_IN_A_MODULE.format(before=before, expression=expression)
    write(place, old_hidden="", old_hidden__compat=COMPAT, old_hidden__user=text)
    write(place, new_hidden="", new_hidden__compat=COMPAT, new_hidden__user=text)
    with pytriton.legacy_imports("old_hidden"):
        old = importlib.import_module("old_hidden.user")
    new = importlib.import_module("new_hidden.user")
    assert old.found is old.late() is old.tried is pytriton
    assert new.found is new.late() is new.tried is real_triton()


@pytest.mark.parametrize(
    "expression",
    [
        "importlib.import_module('triton.testing')",
        "importlib.import_module('.testing', 'triton')",
        "importlib.import_module('.testing', package='triton')",
        "importlib.import_module('..testing', 'triton.utils')",
        "__import__('triton.testing', fromlist=['do_bench'])",
        "importlib.import_module('triton').testing",
    ],
)
def test_hidden_submodules(place: Path, expression: str) -> None:
    write(place, old_hidden_sub=f"import importlib\nfound = {expression}\n")
    with pytriton.legacy_imports("old_hidden_sub"):
        assert importlib.import_module("old_hidden_sub").found is pytriton.testing


def test_hidden_and_its_own(place: Path) -> None:
    """A relative name is the package's own module, whatever it is called; other modules are what they are."""
    text = """\
import importlib, json
found = importlib.import_module(".triton", __package__)
above = importlib.import_module("..triton", __package__ + ".deep")
there = importlib.import_module("json") is json
"""
    write(
        place,
        old_own=text,
        old_own__triton="import triton\n",
        new_own=text,
        new_own__triton="import triton\n",
    )
    with pytriton.legacy_imports("old_own"):
        old = importlib.import_module("old_own")
    new = importlib.import_module("new_own")
    assert new.found is new.above is sys.modules["new_own.triton"]
    assert new.found.triton is real_triton()
    assert old.found is old.above is sys.modules["old_own.triton"]
    assert old.found.triton is pytriton
    assert old.there


def test_hidden_specs(place: Path) -> None:
    """Whether there is a triton, before it is imported."""
    text = """\
import importlib.util
from importlib.util import find_spec as find
specs = [find(name) for name in ("triton", "triton.testing", "triton.utils", "json")]
none = [importlib.util.find_spec(name) for name in ("triton.ops", "triton.language", "no_such")]
own = find(".part", __package__)
"""
    write(place, old_specs=text, old_specs__part="")
    with pytriton.legacy_imports("old_specs"):
        module = importlib.import_module("old_specs")
    names = ["pytriton", "pytriton.testing", "pytriton.utils", "json"]
    assert [spec.name for spec in module.specs] == names
    assert module.specs[0] is pytriton.__spec__
    assert module.none == [None] * 3
    assert module.own.name == "old_specs.part"


def test_importlib_is_importlib(place: Path) -> None:
    """What a legacy module has is the module in all else, and everybody's stays as it was."""
    text = """\
import builtins, importlib, importlib.machinery, importlib.resources
from importlib import abc, util
"""
    write(place, old_importlib=text)
    before = dict(vars(importlib)), dict(vars(importlib.util)), builtins.__import__
    with pytriton.legacy_imports("old_importlib"):
        module = importlib.import_module("old_importlib")
    assert (dict(vars(importlib)), dict(vars(importlib.util)), builtins.__import__) == before
    seen = module.importlib
    assert isinstance(seen, types.ModuleType)
    assert (seen.__name__, seen.__spec__, repr(seen)) == ("importlib", importlib.__spec__, repr(importlib))
    assert dir(seen) == dir(importlib)
    assert seen.machinery is importlib.machinery
    assert seen.resources is importlib.resources
    assert seen.reload is importlib.reload
    assert module.abc is importlib.abc
    assert module.util is seen.util
    assert module.util.module_from_spec is importlib.util.module_from_spec
    assert pickle.loads(pickle.dumps(seen)) is importlib
    assert not hasattr(seen, "no_such")
    try:
        seen.something = 3
        assert importlib.something == 3  # type: ignore[attr-defined]
        del seen.something
        assert not hasattr(importlib, "something")
        module.builtins.something = 4
        assert builtins.something == 4  # type: ignore[attr-defined]
    finally:
        vars(importlib).pop("something", None)
        vars(builtins).pop("something", None)


ABSENT = """\
import importlib, sys
sys.path.insert(0, sys.argv[1])
sys.modules["triton"] = None
import pytriton
with pytriton.legacy_imports("old_absent"):
    import old_absent
print(*old_absent.found)
try:
    importlib.import_module("triton")
except ImportError:
    print("absent")
"""


def test_without_a_real_one(place: Path) -> None:
    """``try: import triton`` succeeds where there is no other triton."""
    text = """\
import importlib
found = []
try:
    import triton
    found.append(triton.__name__)
except ImportError:
    found.append("none")
try:
    found.append(importlib.import_module("triton").__name__)
except ImportError:
    found.append("none")
try:
    import triton.language
except ImportError:
    found.append("no language")
try:
    from triton import jit
except ImportError:
    found.append("no jit")
found.append(importlib.util.find_spec("triton") is not None)
"""
    write(place, old_absent=text)
    done = python("-c", ABSENT, place)
    assert done.stdout.split("\n")[:2] == ["pytriton pytriton no language no jit True", "absent"], done.stderr


INDUCTOR = """\
import sys
sys.path.insert(0, sys.argv[1])
import pytriton
pytriton.legacy_imports("old_consumer")
import old_consumer
import torch

x = torch.randn(100)
assert torch.equal(old_consumer.double(x), 2 * x)
compiled = torch.compile(lambda x: torch.softmax(old_consumer.double(x), 0) + x.sin(), fullgraph=True)
torch.testing.assert_close(compiled(x), torch.softmax(x * 2, 0) + x.sin())

import torch._inductor.runtime.triton_heuristics
from torch._inductor.runtime import triton_compat
from torch.utils._triton import has_triton_package
import triton
assert has_triton_package() and triton_compat.triton is triton is sys.modules["triton"] and hasattr(triton, "jit")
assert old_consumer.triton is pytriton
print("done")
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which(os.environ.get("CXX", "g++")) is None, reason="no C++ compiler")
def test_inductor_afterwards(place: Path) -> None:
    """torch's compiler finds its own triton, imports it and uses it, after a package that hides its import."""
    text = """\
import importlib
import torch
triton = importlib.import_module("triton")
text = "void f(float* Y, float* X, int n) { int r[T] = 0 ... T; *?(r < n)(Y + r) = *?(r < n)(X + r) * 2; }"
kernel = triton.kernel(text, defines={"T": 128})


def double(x):
    y = torch.empty_like(x)
    kernel(y, x, x.numel(), grid=(1,))
    return y
"""
    write(place, old_consumer=text)
    done = python("-c", INDUCTOR, place)
    assert done.stdout == "done\n", done.stderr[-3000:]
