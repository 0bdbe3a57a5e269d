"""Cures that can be typed: what the help of a case shows, put into its program, compiles."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import pytriton
from pytriton.errors import CompileError
from pytriton.port.printed import printed_text
from tests.errors.cases import CASES

# By case: what its help says, what is replaced in the program, and by what.
CURES = {
    "kernel_word": ("__global__", "kernel", "__global__"),
    "method_of_a_block": ("x[+]", "x.sum()", "x[+]"),
    "parameter_const_reference": ("float x", "const float& x", "float x"),
    "range_declared_scalar": ("int off[TM]", "int off", "int off[TM]"),
    "range_end_included": ("0 ... 16", "0 ... 15", "0 ... 16"),
    "range_moves": ("n + 0 ... 16", "n ... n + 16", "n + 0 ... 16"),
    "array_without_size": ("float x[TM]", "steps[]", "steps[4]"),
    "character_ellipsis": ("...", "…", "..."),
    "character_minus": ("-", "−", "-"),
    "comment_divides": ("/", "//", "/"),
    "comment_divides_in_condition": ("/", "//", "/"),
    "comment_divides_in_parens": ("/", "//", "/"),
    "comment_divides_then_store": ("/", "//", "/"),
    "include_system": ("remove it", "#include <cuda_fp16.h>\n", ""),
    "max_of_a_block": ("x[max]", "max(x)", "x[max]"),
    "namespace": ("max(...)", "std::max", "max"),
    "namespace_global": ("max(...)", "::max", "max"),
    "parameter_array": ("float *y", "float y[]", "float *y"),
    "product_element_by_element": ("a @ b", "a * ^a", "a @ ^a"),
    "range_colon": ("0 ... TILE", "0:TILE", "0 ... TILE"),
    "reduction_of_the_other_axis": ("x[:, +]", "s[+, :]", "s[:, +]"),
    "subscript_axes_missing": ("x[+, :]", "s[+]", "s[+, :]"),
    "subscript_axes_too_many": ("x[+]", "s[+, :]", "s[+]"),
    "ternary_half": (": 0", "? 1;", "? 1 : 0;"),
    "ternary_half_load": (": 0", "*(X + i);", "*(X + i) : 0;"),
    "type_unsigned": ("unsigned char", "uchar", "unsigned char"),
    "type_unsigned_local": ("unsigned char", "uchar", "unsigned char"),
    "word_not_call": ("!", "not ", "!"),
    "builtin_cuda_barrier": ("remove it", "__syncthreads();", ""),
}


def help_of(text: str, case: str) -> str:
    with pytest.raises(CompileError) as caught:
        pytriton.translate(text, CASES[case].defines, name="kernel.c")
    return caught.value.diagnostics[0].help or ""


@pytest.mark.parametrize("case", CURES)
def test_the_cure_compiles(case: str) -> None:
    said, before, after = CURES[case]
    text = CASES[case].text.decode()
    assert before in text
    help_ = help_of(text, case)
    assert said in help_ if said == "remove it" else f"'{said}" in help_, help_
    assert pytriton.translate(text.replace(before, after), CASES[case].defines).text


@pytest.mark.parametrize(
    ("called", "cure"),
    [("load(X)", "'*p'"), ("sum(x)", "'x[+]'"), ("cdiv(n, 2)", "'(a + b - 1) / b'"), ("where(n, 1, 2)", "?")],
)
def test_a_prefixed_function_has_the_cure_of_the_bare_one(called: str, cure: str) -> None:
    form: Callable[[str], str] = "__global__ void f(float* X, int n) {{ float x[4] = 1; *X = {}; }}".format
    bare, prefixed = (help_of(form(call), "namespace") for call in (called, f"tl.{called}"))
    assert bare == prefixed
    assert cure in bare


@pytest.mark.parametrize(
    ("name", "type_"),
    [("uchar", "unsigned char"), ("uint", "unsigned int"), ("size_t", "unsigned long"), ("boolean", "bool")],
)
def test_other_names_of_types_keep_their_sign_and_width(name: str, type_: str) -> None:
    for text in (
        f"__global__ void f({name} n) {{}}",
        f"__global__ void f(int* X) {{ {name} *p = X; *p = 1; }}",
    ):
        assert help_of(text, "namespace") == f"did you mean '{type_}'?"
        assert pytriton.translate(text.replace(name, type_).replace("p = X", f"p = ({type_}*)X")).text


def test_a_comment_that_is_one_does_not_divide() -> None:
    for comment in ("rows of the tile", "see the paper, page 4", "n is positive"):
        text = f"__global__ void f(int* X, int n) {{\n  int i = n // {comment}\n  float x = i;\n}}\n"
        assert help_of(text, "namespace") == ""


@pytest.mark.parametrize(
    "name", ["add.c", "kernels/add", "kernels\\add.cu", "../my kernels/a.txt", "/no/such.tc"]
)
def test_the_name_of_a_file_that_is_missing(name: str) -> None:
    for take in (pytriton.translate, pytriton.kernel):
        with pytest.raises(CompileError, match=r"there is no such file \[TC012\]") as caught:
            take(name)
        assert f"help: give pathlib.Path({name!r}); relative names start at '" in str(caught.value)


@pytest.mark.parametrize("text", ["", "float", "// a/b.c", "kernel", "int n;", "#define A b/c"])
def test_other_short_texts_are_texts(text: str) -> None:
    with pytest.raises(CompileError) as caught:
        pytriton.translate(text)
    assert "TC012" not in str(caught.value)


def test_a_printed_text_whose_kernel_has_no_name(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import triton\n"
        'src = """\n#define KERNEL __global__ void k\nKERNEL (float* X) { *X = 1; }\n"""\n'
        "kernel = triton.kernel(src)\n"
    )
    note = printed_text(program, None, {}).note
    assert re.fullmatch(r".*program\.py:\d+: note: this text, with no defines", note), note


@pytest.mark.parametrize(
    ("store", "cure"),
    [
        ("*S = v;", "*S = v[+];"),
        ("*S += v;", "*S += v[max];"),
        ("*?(n > 0)S = v;", "*?(n > 0)S = v[+];"),
        ("*?(n > 0)S = v;", "*?(i == n)S = v;"),
        ("*S = m;", "*S = m[+, +];"),
        ("*S = m;", "*S = m[max, max];"),
        ("*(S + i[:, newaxis]) = m;", "*(S + i) = m[:, +];"),
        ("float *p[1] = S; *p = v;", "float *p[1] = S; *p = v[+];"),
        ("*S = v * 2;", "*S = (v * 2)[+];"),
    ],
)
def test_a_block_stored_to_one_address(store: str, cure: str) -> None:
    def warned(statement: str) -> list[str]:
        text = (
            "__global__ void f(float* X, float* S, int n) {\n  int i[16] = 0 ... 16;\n  float v[16] = *(X + i);\n"
            f"  float m[16, 8] = *(X + i[:, newaxis] + (0 ... 8)[newaxis, :]);\n  {statement}\n}}\n"
        )
        return [str(found) for found in pytriton.translate(text).warnings if found.code == "TC332"]

    assert warned(cure) == []
    (said,) = warned(store)
    assert "reduce" in said
    assert store not in ("*S = v;", "*S = m;") or cure[5:-1] in said


@pytest.mark.parametrize(
    ("code", "statement", "cure"),
    [
        ("TC333", "int v[16] = *(X + r);", "int v[16] = (int)*(X + r);"),
        ("TC333", "int v = *X;", "float v = *X;"),
        ("TC333", "unsigned char v[16] = *?(r < n)(X + r);", "bool v[16] = *?(r < n)(X + r);"),
        ("TC334", "atomic_add(X + r, r < n, w);", "atomic_add(X + r, w, r < n);"),
        ("TC334", "bool m = n > 3; atomic_add(X, m, 1.0f);", "bool m = n > 3; atomic_add(X, 1.0f, m);"),
    ],
)
def test_values_that_are_cut_off_and_swapped_masks(code: str, statement: str, cure: str) -> None:
    def codes(statement: str) -> list[str]:
        text = f"__global__ void f(float* X, int n) {{ int r[16] = 0 ... 16; float w[16] = 1; {statement} }}"
        return [warning.code for warning in pytriton.translate(text).warnings]

    assert codes(statement) == [code]
    assert codes(cure) == []
