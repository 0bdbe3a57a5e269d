"""Text that wants to become Python: in names, defines, comments, strings."""

from __future__ import annotations

import ast

import pytest

import pytriton
from pytriton.errors import CompileError
from pytriton.runtime.compile.load import check_module
from tests.hostile.attempts import accepted, attempt, kernel

PAYLOADS = r"""
1); import os #
__import__('os').system('x')
')); import os; ((('
\n
'''
{{ 7*7 }}
{% for x in y %}
{# x #}
{n!r}
%s%n
${n}
`id`
$(id)
lambda: 0
n if n else n
0) + exec('x'
0; import os
n # comment
n // comment
n /* comment */
/*
*/
a := 1
yield 1
await n
*n
**n
n,
[n for n in n]
n.__class__
n->x
::
@n
tl.device_print('x')
triton
tl
eval(n)
print
0x_1
1_000
None
'a'
"a"
b"a"
f'{n}'
1j
True
...
#
##
# import os
""".strip().splitlines()
PAYLOADS += ["1\nimport os", '"""', "\\", "\r\nimport os", "\0", "\u2028import os", "n\\\nimport os"]
PAYLOADS += ["n\fimport os", "n;\timport os", "n \x0b n"]


def harmless(result: pytriton.Translation | CompileError) -> None:
    """A translation mentions nothing of Python outside its comments (the gate has seen it too)."""
    if isinstance(result, CompileError):
        return
    tree = ast.parse(result.text)
    imports = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    wanted = {"import triton", "import triton.language as tl", "from triton.language.extra import libdevice"}
    assert set(imports) <= wanted
    assert "49" not in result.text
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert all(name.startswith("tl.") or name.endswith(".to") for name in called), called


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.sampled(2)
class TestPayload:
    def test_as_the_value_of_a_define(self, payload: str) -> None:
        for body in ("*X = D;", "int r[D] = 0 ... D; *X = r[+];", "D x = n; *X = x;", "*X = n + D;", "D"):
            harmless(attempt(kernel(body), {"D": payload}))
        harmless(attempt("void D(float* X) { *X = 1; }", {"D": payload}))
        harmless(attempt(kernel("*X = 1;", "float* D"), {"D": payload}))
        harmless(attempt(kernel("*X = 1;", "float* X __multipleof(D), int D"), {"D": payload}))
        harmless(attempt("#if D\n#endif\n" + kernel("*X = 1;"), {"D": payload}))
        harmless(attempt("#define S(x) #x\n" + kernel("*X = S(D)D;"), {"D": payload}))

    def test_as_the_name_of_a_define(self, payload: str) -> None:
        harmless(attempt(kernel("*X = n;"), {payload: 16}))
        harmless(attempt(kernel(f"*X = {payload};"), {payload: 16}))
        harmless(attempt(kernel(f"*X = {payload};"), {payload: 0.5}))

    def test_as_the_name_of_a_kernel(self, payload: str) -> None:
        harmless(attempt(kernel("*X = 1;"), kernel=payload))
        harmless(attempt(f"void {payload}(float* X) {{ *X = 1; }}"))
        harmless(attempt(f"void k(float* {payload}) {{ *{payload} = 1; }}"))

    def test_as_the_name_of_the_text(self, payload: str) -> None:
        for text in (kernel("*X = 1;"), kernel("*X = $;"), kernel("*X = __FILE__;")):
            try:
                module = pytriton.translate(text, name=payload).text
            except CompileError:
                continue
            check_module(module, "k.py")
            assert module == accepted(text).text

    def test_in_a_comment(self, payload: str) -> None:
        texts = [
            f"// {payload}\n" + kernel("*X = 1;"),
            f"/* {payload} */\n" + kernel("*X = 1;"),
            kernel(
                f"  // {payload}\n  *X = 1; // {payload}\n  /* {payload} */ *X = 2; /* {payload}\n{payload} */"
            ),
            kernel("*X = 1;", f"float* X /* {payload} */, // {payload}\n int n /* {payload} */"),
            kernel(f"if (n) {{ // {payload}\n }} else {{ /* {payload} */ }}"),
        ]
        for text in texts:
            result = attempt(text)
            if isinstance(result, CompileError):
                continue
            tree = ast.parse(result.text)
            calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
            assert all(call.startswith("tl.") for call in calls), calls
            assert sum(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree)) == 2

    def test_in_a_string(self, payload: str) -> None:
        harmless(attempt(f'_Static_assert(1, "{payload}");' + kernel("*X = 1;")))
        harmless(attempt(f'_Static_assert(0, "{payload}");' + kernel("*X = 1;")))
        harmless(attempt(f'#error "{payload}"\n' + kernel("*X = 1;")))
        harmless(attempt(f"#warning {payload}\n#pragma {payload}\n" + kernel("*X = 1;")))
        harmless(attempt(f'#line 4 "{payload}"\n' + kernel("*X = 1;")))


PYTHON_NAMES = """
import os def class lambda None True False pass with as from global nonlocal async await yield match print exec
eval open int_ range tl triton libdevice getattr type object self cls_ _x x_ jit constexpr static_range libdevice_
""".split()
# The gate refuses these in a generated module, so the emitter must rename them.
PRIVATE_NAMES = "__import__ __builtins__ __class__ __dict__ __name__ __file__ _ __ ___".split()


@pytest.mark.parametrize("name", [*PYTHON_NAMES, *PRIVATE_NAMES])
@pytest.mark.sampled(12)
def test_names_of_python(name: str) -> None:
    texts = [
        kernel(f"int {name} = n; *X = {name};"),
        f"void {name}(float* X) {{ *X = 1; }}",
        kernel(f"*X = {name};", f"float* X, int {name}"),
        kernel(f"for (int {name} = 0; {name} < n; {name} += 1) *(X + {name}) = {name};"),
        kernel(f"int {name} = n; int {name}_ = 2; *X = {name} + {name}_;"),
        f"void {name}(float* {name}, int {name}_) {{ *{name} = {name}_; }}",
        f"typedef float {name};" + kernel(f"{name} x = n; *X = x;"),
    ]
    for text in texts:
        accepted(text)
    accepted(kernel(f"*X = {name};"), defines={name: 16})
    accepted(kernel(f"*(X + 0 ... {name}) = 1;"), defines={name: 16})
