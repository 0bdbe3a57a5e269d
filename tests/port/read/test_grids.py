"""What the scanner takes for the same value: a grid that names the wrong parameter is a silent error.

Each function below launches with values that a careless reading of the code would take for one another.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from pytriton.port.read.interpret import follow
from pytriton.port.read.values import node_of

HEAD = """\
import triton

k = triton.kernel("__global__ void f(float *X, int n, int m) {}", defines={"TILE": 32})
"""


def launch(tmp_path: Path, code: str) -> tuple[list[str], str]:
    """The arguments and the grid of the only launch, as the scanner writes them."""
    path = tmp_path / "code.py"
    path.write_text(HEAD + code)
    launches, _ = follow(path, ast.parse(path.read_text()), tmp_path)
    found = {
        (tuple(ast.unparse(node_of(one)) for one in launch.arguments), ast.unparse(node_of(launch.grid)))
        for launch in launches
        if launch.line
    }
    ((arguments, grid),) = found
    return list(arguments), grid


CASES = {
    "a default is not the only value": (
        "def f(x, n, m, blocks=64):\n    k(x, n, m, grid=(blocks * 2,))\n",
        ["x", "n", "m"],
        "(blocks * 2,)",
    ),
    "a default that is passed": (
        "def f(x, n, blocks=64):\n    k(x, n, blocks, grid=lambda opt: (triton.cdiv(blocks, opt.TILE),))\n",
        ["x", "n", "blocks"],
        "(triton.cdiv(blocks, meta['TILE']),)",
    ),
    "an attribute and a parameter of one name": (
        "class Op:\n    def __init__(self, n):\n        self.n = n\n"
        "    def run(self, x, n):\n        k(x, n, 3, grid=(self.n,))\n",
        ["x", "n", "3"],
        "(Op.n,)",
    ),
    "attributes of two objects of a class": (
        "class Op:\n    def __init__(self, n):\n        self.n = n\n"
        "def f(x, a: Op, b: Op):\n    k(x, a.n, b.n, grid=(b.n, a.n))\n",
        ["x", "a.n", "b.n"],
        "(b.n, a.n)",
    ),
    "next, twice": (
        "def f(x, numbers):\n    n, m = next(numbers), next(numbers)\n    k(x, n, m, grid=(m, n))\n",
        ["x", "next_1", "next_2"],
        "(next_2, next_1)",
    ),
    "a list that is written to": (
        "def f(x):\n    shape = list(x.shape)\n    n = shape[0]\n    shape[0] = 7\n"
        "    k(x, n, 2, grid=(shape[0],))\n",
        ["x", "list(x.shape)[0]", "2"],
        "(shape_changed_1[0],)",
    ),
    "a list that is changed by a method": (
        "def f(x):\n    shape = list(x.shape)\n    n = shape[0]\n    shape.reverse()\n"
        "    k(x, n, 2, grid=(shape[0],))\n",
        ["x", "list(x.shape)[0]", "2"],
        "(shape_changed_1[0],)",
    ),
    "a known list that is reversed": (
        "def f(x, n, m):\n    dims = [n, m]\n    dims.reverse()\n    k(x, n, m, grid=(dims[0],))\n",
        ["x", "n", "m"],
        "(m,)",
    ),
    "a known list that is sorted by unknown values": (
        "def f(x, n, m):\n    dims = [n, m]\n    dims.sort()\n    k(x, n, m, grid=(dims[0],))\n",
        ["x", "n", "m"],
        "([*list_changed_1][0],)",
    ),
    "a known list with another name that is shuffled": (
        "import random\n\ndef f(x, n, m):\n    dims = [n, m]\n    sizes = dims\n    random.shuffle(sizes)\n"
        "    k(x, n, m, grid=(dims[0],))\n",
        ["x", "n", "m"],
        "([*list_changed_1][0],)",
    ),
    "a part of a known list that is written to": (
        "def f(x, n, m):\n    dims = [n, m]\n    dims[:1] = [m]\n    k(x, n, m, grid=(dims[0],))\n",
        ["x", "n", "m"],
        "([*list_changed_1][0],)",
    ),
    "an unknown place in a known list that is written to": (
        "def f(x, n, m, i):\n    dims = [n, m]\n    dims[i] = 7\n    k(x, n, m, grid=(dims[0],))\n",
        ["x", "n", "m"],
        "([*list_changed_1][0],)",
    ),
    "elements that go and come": (
        "def f(x, n, m):\n    dims = [n, m]\n    del dims[0]\n    dims.insert(0, 7)\n"
        "    k(x, n, dims.pop(), grid=(dims[0],))\n",
        ["x", "n", "m"],
        "(7,)",
    ),
    "entries that go": (
        "def f(x, n, m):\n    d = {'a': n, 'b': n}\n    del d['b']\n    d.clear()\n"
        "    k(x, n, m, grid=(d.get('a', m), d.get('b', 2)))\n",
        ["x", "n", "m"],
        "(m, 2)",
    ),
    "a comprehension in a function that is called twice": (
        "def size(dims, labels):\n    return sum([dims[l] for l in labels])\n"
        "def f(x, dims):\n    k(x, size(dims, x.a), size(dims, x.b), grid=(size(dims, x.b),))\n",
        ["x", "sum([dims[l] for l in x.a])", "sum([dims[l] for l in x.b])"],
        "(sum([dims[l] for l in x.b]),)",
    ),
    "a function that is an attribute is no method": (
        "class Op:\n    def __init__(self, dims):\n        self.size = lambda a: sum([dims[l] for l in a])\n"
        "    def run(self, x):\n        k(x, self.size(x.a), self.size(x.b), grid=(self.size(x.b),))\n",
        ["x", "sum([dims[l] for l in x.a])", "sum([dims[l] for l in x.b])"],
        "(sum([dims[l] for l in x.b]),)",
    ),
    "a number that a loop doubles": (
        "def f(x, n):\n    size = 1\n    while size < n:\n        size *= 2\n    k(x, n, size, grid=(size,))\n",
        ["x", "n", "size_changed_2"],
        "(size_changed_2,)",
    ),
    "a parameter that a loop halves": (
        "def f(x, n, turns):\n    m = n\n    for _ in range(turns):\n        n //= 2\n    k(x, m, 1, grid=(n,))\n",
        ["x", "n", "1"],
        "(n_changed_2,)",
    ),
    "what a starred target takes": (
        "def f(x):\n    n, *rest = x.shape\n    k(x, n, rest[0], grid=(rest[0],))\n",
        ["x", "x.shape[0]", "x.shape[1:][0]"],
        "(x.shape[1:][0],)",
    ),
}


@pytest.mark.parametrize(("code", "arguments", "grid"), CASES.values(), ids=CASES)
def test_values_are_not_taken_for_one_another(
    tmp_path: Path, code: str, arguments: list[str], grid: str
) -> None:
    assert launch(tmp_path, code) == (arguments, grid)
