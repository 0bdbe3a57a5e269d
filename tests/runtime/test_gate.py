"""The gate lets generated modules through, and nothing that could do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytriton.errors import LaunchError
from pytriton.runtime.compile.load import check_module

HEAD = "import triton\nimport triton.language as tl\n\n\n"
GOLDENS = sorted((Path(__file__).parents[1] / "translate").glob("*/expected.py"))

GOOD = {
    "empty": "",
    "docstring": '"""A module."""\n' + HEAD,
    "libdevice": HEAD + "from triton.language.extra import libdevice\n",
    "kernel": HEAD
    + '''@triton.jit
def f(x, n: tl.int64, TILE: tl.constexpr):
    """What it does."""
    r = tl.program_id(0) * TILE + tl.arange(0, TILE)
    a, b = tl.split(tl.load(x + r, mask=r < n, other=0.0).reshape(TILE // 2, 2))
    c = tl.dot(a[:, None], b[None, :], input_precision="ieee")
    for k in range(0, n, TILE):
        c += tl.math.exp(c.to(tl.float32)) if k > 3 else -c
    while tl.atomic_cas(x, 0, 1) == 1 and not n:
        pass
    if n > 1:
        c = libdevice.tanh(c)
    elif n:
        c = tl.where(c != c, float("-inf"), c)
    for _ in tl.range(0, 4, num_stages=3):
        continue
    tl.store(x + r, helper(c).to(x.dtype.element_ty), mask=r < n)
    return


@triton.jit
def helper(c):
    return c
''',
}

BODIES = {
    "attribute call": "x.__class__",
    "dunder chain": "tl.load(x.__class__.__base__)",
    "private attribute of tl": "tl._experimental()",
    "module behind tl": "tl.core.builtins.exec()",
    "module of tl as a value": "y = tl.core.sys",
    "asm": 'tl.inline_asm_elementwise(asm="exit;")',
    "eval": "eval(x)",
    "exec": "exec(x)",
    "open": "open(x)",
    "import": "import os",
    "from import": "from os import system",
    "dunder import": "__import__(x)",
    "getattr": "getattr(x, n)",
    "unknown method": "x.data_ptr()",
    "string": "y = 'text'",
    "string argument": "tl.load('text')",
    "bytes": "y = b'text'",
    "f-string": "y = tl.load(x, sem=f'{x}')",
    "lambda": "y = lambda: 1",
    "comprehension": "y = [k for k in range(4)]",
    "generator": "y = tl.load(k for k in range(4))",
    "walrus": "y = (z := 1)",
    "global": "global y",
    "nonlocal": "nonlocal y",
    "class": "class A: pass",
    "inner function": "def g(): pass",
    "with": "with x: pass",
    "try": "try:\n        pass\n    except x: pass",
    "raise": "raise x",
    "assert": "assert x",
    "delete": "del x",
    "yield": "yield x",
    "await": "await x",
    "match": "match x:\n        case 1: pass",
    "starred": "tl.load(*x)",
    "dictionary": "y = {1: 2}",
    "set": "y = {1, 2}",
    "attribute assignment": "x.y = 1",
    "subscript assignment": "x[0] = 1",
    "triton itself": "y = triton",
    "triton call": "triton.cdiv(1, 2)",
    "range as a value": "y = range",
    "rebinding tl": "tl = x",
    "rebinding range": "for range in range(4):\n        pass",
    "dunder name": "__builtins__ = x",
    "float of text": "y = float('1e5')",
    "float of a value": "y = float(x)",
    "call of a call": "tl.load(x)(x)",
    "call of a subscript": "x[0](x)",
    "complex": "y = 1j",
    "annotation": "y: x.__class__ = 1",
}

MODULES = {
    "statement": "x = 1",
    "expression": "print(1)",
    "other import": "import os",
    "other from": "from os import path",
    "other alias": "import triton as tl",
    "relative import": "from . import x",
    "class": "class A: pass",
    "loop": "for x in (): pass",
    "no decorator": "def f(): pass",
    "two decorators": "@triton.jit\n@triton.jit\ndef f(): pass",
    "decorator call": "@triton.jit(debug=True)\ndef f(): pass",
    "other decorator": "@tl.jit\ndef f(): pass",
    "default": "@triton.jit\ndef f(x=open('f')): pass",
    "varargs": "@triton.jit\ndef f(*x): pass",
    "keywords": "@triton.jit\ndef f(**x): pass",
    "keyword only": "@triton.jit\ndef f(*, x): pass",
    "annotation": "@triton.jit\ndef f(x: print('x')): pass",
    "return annotation": "@triton.jit\ndef f() -> print('x'): pass",
    "async": "@triton.jit\nasync def f(): pass",
    "name": "@triton.jit\ndef tl(): pass",
    "parameter": "@triton.jit\ndef f(tl): pass",
    "not python": "def f(:",
    "null": "x = '\0'",
    "type alias": "x: int = 1",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_good(text: str) -> None:
    check_module(text, "m.py")


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.parent.name)
def test_goldens(path: Path) -> None:
    check_module(path.read_text(encoding="utf-8"), str(path))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_evil_body(body: str) -> None:
    with pytest.raises(LaunchError, match=r"\[TC521\]\nhelp: this is a bug in pytriton"):
        check_module(f"{HEAD}@triton.jit\ndef f(x, n):\n    {body}\n", "m.py")


@pytest.mark.parametrize("text", MODULES.values(), ids=MODULES)
def test_evil_module(text: str) -> None:
    with pytest.raises(LaunchError, match=r"\[TC521\]\nhelp: this is a bug in pytriton"):
        check_module(HEAD + text + "\n", "m.py")


def test_deep_nesting_is_refused_not_crashed() -> None:
    with pytest.raises(LaunchError, match="TC521"):
        check_module("x = " + "(" * 5000 + ")" * 5000, "m.py")


def test_message() -> None:
    with pytest.raises(LaunchError) as caught:
        check_module(f"{HEAD}@triton.jit\ndef f(x):\n    y = x\n    import os\n", "m.py")
    assert str(caught.value) == (
        "m.py:8: generated code may not contain a Import statement [TC521]\n"
        "help: this is a bug in pytriton: please report it with the kernel's source"
    )
