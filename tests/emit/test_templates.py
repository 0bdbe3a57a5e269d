"""The templates of a translated module say what names.py and the printers of expressions rely on."""

from __future__ import annotations

import ast

import jinja2
import pytest

import pytriton
from pytriton.emit import names
from pytriton.emit.templates import render

HELPERS = {
    "cut_from_loads": ["cut_from_loads"],
    "ieee_ceil": ["ieee_ceil"],
    "ieee_floor": ["ieee_floor"],
    "widen": ["widen_lhs", "widen_rhs"],
}


def functions(text: str) -> list[str]:
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("helper", HELPERS)
def test_helper_functions(helper: str) -> None:
    text = render("helpers.py.j2", helpers={helper})
    assert functions(text) == HELPERS[helper]
    assert text.startswith("@triton.jit\n")
    assert text.endswith("\n\n\n")


def test_no_name_of_a_user_is_that_of_a_helper() -> None:
    every = functions(render("helpers.py.j2", helpers=set(HELPERS)))
    assert sorted(every) == sorted(names._HELPERS)
    for name in every:
        assert names.identifier(name) == f"{name}_"


def test_what_a_template_lacks_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="is undefined"):
        render("kernel.py.j2")


def test_the_text_of_a_user_is_no_template() -> None:
    text = "// {{ 7 * 7 }} {% for x in y %}\n__global__ void f(int* X) { /* {# x #} */ *X = 1; }"
    found = pytriton.translate(text).text
    assert "\n# {{ 7 * 7 }} {% for x in y %}\n@triton.jit\n" in found
    assert "# {# x #}" in found
