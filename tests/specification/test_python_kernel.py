"""python-api, section 2: the kernel object, ``translate``, the environment, and wrong use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from tests.specification.asking import same
from tests.work import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore:pytriton runs kernels on CPU")
ROOT = Path(__file__).resolve().parents[2]

TEXT = """
void scale(TYPE* X __aligned(16), int n __multipleof(8), TYPE s) {
  int i[T] = get_program_id(0) * T + 0 ... T;
  *?(i < n)(X + i) = *?(i < n)(X + i) * s;
}
void fill(float* X) { *(X + 0 ... T) = 3; }
"""


def test_a_syntax_error_is_raised_by_the_constructor() -> None:
    with pytest.raises(pytriton.CompileError) as caught:
        pytriton.kernel("void f(float* X) {\n  *X = 1\n}")
    message = str(caught.value)
    assert ":2" in message
    assert "^" in message
    assert "';'" in message
    assert "test_python_kernel.py:" in message


def test_defines_may_come_with_the_call() -> None:
    pytriton.kernel(TEXT)
    pytriton.kernel("void f(TYPE* X) { TYPE a[TM, TN] = *(X + SHAPE); }")


def test_source() -> None:
    kernel = pytriton.kernel(TEXT, defines={"TYPE": "float", "T": [32, 64]})
    assert "def scale(" in kernel.source()
    assert "def fill(" in kernel.source(kernel="fill")
    assert kernel.source() == kernel.source({"T": 32})  # a list takes its first value
    half = kernel.source({"TYPE": "half"})
    assert "half*" in half
    compile(half, "x.py", "exec")


def test_asm_modes_and_targets() -> None:
    kernel = pytriton.kernel(TEXT, defines={"TYPE": "float", "T": [128, 256]})
    assert "tt.func" in kernel.asm("ttir", target="cuda:80")
    assert "ttg" in kernel.asm("ttgir", target="cuda:90")
    assert "define" in kernel.asm("llir", target="cuda:90")
    assert ".target sm_80" in kernel.asm("ptx", target="cuda:80")
    assert "gfx942" in kernel.asm("amdgcn", target="hip:gfx942")
    eight = kernel.asm("ptx", target="cuda:90", num_warps=8)
    assert ".reqntid 256" in eight or ".maxntid 256" in eight
    assert "f16" in kernel.asm("ptx", target="cuda:90", defines={"TYPE": "half"})
    assert ".entry fill" in kernel.asm("ptx", target="cuda:90", kernel="fill")
    for mode, target in (("sass", "cuda:90"), ("ptx", "cuda"), ("ptx", "tpu:3"), ("ptx", "hip:gfx942")):
        with pytest.raises((pytriton.PytritonError, ValueError)):
            kernel.asm(mode, target=target)


def test_asm_is_of_the_common_case() -> None:
    """Pointers aligned and multiples kept: four floats in one access; without the multiple the mask is ragged."""
    kernel = pytriton.kernel(TEXT, defines={"TYPE": "float", "T": 512})
    assert "ld.global.v4" in kernel.asm("ptx", target="cuda:90")
    ragged = pytriton.kernel(TEXT.replace("__multipleof(8)", ""), defines={"TYPE": "float", "T": 512})
    assert "ld.global.v4" not in ragged.asm("ptx", target="cuda:90")


@pytest.mark.parametrize("as_", [str, bytes, Path], ids=lambda x: x.__name__)
def test_src_may_be_text_bytes_or_a_path(as_: Any, tmp_path: Path) -> None:
    text = "void f(float* X) { *X = 4; }"
    (tmp_path / "k.c").write_text(text)
    given = {str: text, bytes: text.encode(), Path: tmp_path / "k.c"}[as_]
    x = torch.zeros(1)
    pytriton.kernel(given)(x, grid=1)
    same(x, [4])


def test_name_and_kernel_keywords() -> None:
    with pytest.raises(pytriton.CompileError, match=r"mine\.c:1"):
        pytriton.kernel("void f(float* X) { *X = ; }", name="mine.c")
    x = torch.zeros(4)
    pytriton.kernel(TEXT, kernel="fill", defines={"T": 4, "TYPE": "float"})(x, grid=1)
    same(x, [3] * 4)


def test_strict_literals() -> None:
    x = torch.tensor([3.0, 0.0], dtype=torch.float64)
    text = "void f(double* X) { float a = 3; *X = a * 0.1; }"
    pytriton.kernel(text, strict_literals=True)(x, grid=1)
    assert x[0].item() == 3 * 0.1
    pytriton.kernel(text)(x, grid=1)
    assert x[0].item() != 3 * 0.1


def test_precision_concerns_float_products_only() -> None:
    text = """void f(TYPE* A, float* C) {
      int i[32, 32] = (0 ... 32)[:, newaxis] * 32 + (0 ... 32)[newaxis, :];
      *(C + i) = (*(A + i)) @ (*(A + i));
    }"""
    codes = {
        precision: pytriton.kernel(text, defines={"TYPE": "float"}, precision=precision).asm(
            "ptx", target="cuda:90"
        )
        for precision in ("ieee", "tf32")
    }
    assert "tf32" in codes["tf32"]
    assert "tf32" not in codes["ieee"]
    half = pytriton.kernel(text, defines={"TYPE": "half"}, precision="tf32").asm("ptx", target="cuda:90")
    assert "tf32" not in half
    with pytest.raises((pytriton.PytritonError, ValueError)):
        pytriton.kernel(text, defines={"TYPE": "float"}, precision="tf16")


def test_heuristics() -> None:
    text = "void f(float* X, int n) { *(X + 0 ... 4) = EVEN ? n : -n; }"
    seen = []

    def even(args: dict[str, Any]) -> bool:
        seen.append(args)
        return args["n"] % args["D"] == 0

    for kernel in (
        pytriton.kernel(text, defines={"D": 2}, heuristics={"EVEN": even}),
        pytriton.heuristics({"EVEN": even})(pytriton.kernel(text, defines={"D": 2})),
    ):
        for n, want in ((6, 6), (7, -7)):
            x = torch.zeros(4)
            kernel(x, n, grid=1)
            same(x, [want] * 4)
    assert seen[0]["n"] == 6
    assert "X" in seen[0]


def test_translate() -> None:
    made = pytriton.translate(
        "void f(float* X, float* Y, int* L, int n) { *(X + *L) = n + T; atomic_add(Y, *Y, 1 > n); } void g() { }",
        {"T": [4, 5]},
    )
    assert made.kernels == ("f", "g")
    assert list(made.constexprs) == ["T"]
    assert set(made.reads) == {"Y", "L"}
    assert set(made.writes) == {"X", "Y"}
    assert tuple(made.warnings) == ()
    assert pytriton.translate("void f() { } void g(int* X) { *X = 1; }", kernel="g").writes == ("X",)


PROVENANCE = [
    ("float* p = X + 4; *p = *Y;", ("Y",), ("X",)),
    ("float* p[4] = X + 0 ... 4; for (int i = 0; i < n; i += 1) { *p = i; p += 4; }", (), ("X",)),
    ("float* p = n ? X : Y; *p = 1;", (), ("X", "Y")),
    ("float* p = X; if (n) p = Y; *Z = *p;", ("X", "Y"), ("Z",)),
    ("float* p = X; p = Y; *p = 1;", (), ("Y",)),
    ("float* p = X; if (n) { p = Y; *p = 1; } else { p = Z; float a = *p; }", ("Z",), ("Y",)),
    ("float* p = X; float a = *p; if (n) p = Y; p = p + 1; *p = a;", ("X",), ("X", "Y")),
    ("float* p = X; for (int i = 0; i < n; i += 1) { *p = 1; p = Y; } float a = *p;", ("X", "Y"), ("X", "Y")),
    ("float* p = X; while (n > 0) { n -= 1; p = Y; if (n > 2) break; p = X; } *p = 1;", (), ("X", "Y")),
    ("float* p; if (n) p = X; else p = Y; *p = 1; p = Z; float a = *p;", ("Z",), ("X", "Y")),
    ("float* p = X; float* q = p; p = Y; *q = *p;", ("Y",), ("X",)),
    ("float* p = X; float* q = Y; for (int i = 0; i < n; i += 1) { float* t = p; p = q; q = t; } *p = *Z;",
     ("Z",), ("X", "Y")),
    ("int* p = (int*)X; *p = 1;", (), ("X",)),
    ("float a = n > 0 ? *X : *(Y + 1); *Z = a;", ("X", "Y"), ("Z",)),
    ("float* p[4, 4] = X + (0 ... 4)[:, newaxis] + (0 ... 4)[newaxis, :]; *(^p) = *?(n)(Y + 0 ... 4);",
    ("Y",), ("X",)),
    ("*X += 1;", ("X",), ("X",)),
    ("f32_atomic_add(X, *Y);", ("X", "Y"), ("X",)),
    ("float* p = select(n > 0, X, Y); *p = 2;", (), ("X", "Y")),
    ("long d = Y - X; *(X + d) = 1;", (), ("X",)),
    ("bool has = Y; if (has) *X = 1;", (), ("X",)),
]  # fmt: skip


@pytest.mark.parametrize(("body", "reads", "writes"), PROVENANCE, ids=str)
def test_reads_and_writes_through_pointers(
    body: str, reads: tuple[str, ...], writes: tuple[str, ...]
) -> None:
    made = pytriton.translate(f"void f(float* X, float* Y, float* Z, int n) {{ {body} }}")
    assert (set(made.reads), set(made.writes)) == (set(reads), set(writes))


def test_on_the_cpu_a_sweep_takes_its_first_point_untimed() -> None:
    x = torch.ones(32)
    kernel = pytriton.kernel(TEXT, defines={"TYPE": "float", "T": [0, 16, 32]})
    kernel(x, 32, 2.0, grid=1)
    same(x, [2] * 16 + [1] * 16)
    assert kernel.best_config.defines["T"] == 16
    assert not any(isinstance(time, float) for time in kernel.timings.values())


def test_one_notice_a_process_for_the_interpreter() -> None:
    code = """
import warnings, torch, pytriton
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for text in ("void f(float* X) { *X = 1; }", "void g(float* X) { *X = 2; }"):
        kernel = pytriton.kernel(text)
        kernel(torch.zeros(1), grid=1)
        kernel(torch.zeros(1), grid=1)
print(len(seen))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    got = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=PATIENCE
    )
    assert got.stdout.strip() == "1", got.stderr


def test_no_torch_and_no_triton_are_imported_to_translate(tmp_path: Path) -> None:
    code = """
import sys, pytriton
pytriton.translate("void f(float* X) { *X = T; }", {"T": 4})
print([name for name in ("torch", "triton", "numpy") if name in sys.modules])
import pytriton.__main__
sys.argv = ["pytriton", "translate", sys.argv[1], "-DT=4"]
try:
    pytriton.__main__.main()
except SystemExit as end:
    assert not end.code, end.code
print([name for name in ("torch", "triton") if name in sys.modules])
"""
    (tmp_path / "k.c").write_text("void f(float* X) { *X = T; }")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    got = subprocess.run([sys.executable, "-c", code, str(tmp_path / "k.c")], capture_output=True, text=True,
                         env=environment, timeout=PATIENCE)  # fmt: skip
    lines = got.stdout.strip().split("\n")
    assert (lines[0], lines[-1]) == ("[]", "[]"), got.stdout + got.stderr


WRONG = [
    ("a broken multiple", {"n": 12}, ("n", "multiple", "8", "12")),
    ("a broken alignment", {"X": "unaligned"}, ("X", "16")),
    ("a tensor of another width", {"X": torch.zeros(8, dtype=torch.float64)}, ("X", "float", "float64")),
    ("no tensor", {"X": "text"}, ("X",)),
    ("a number that no int holds", {"n": 1 << 31}, ("n", "int", "2147483648")),
    ("a fraction for an int", {"n": 8.5}, ("n", "8.5")),
    ("no number", {"s": "x"}, ("s", "x")),
    ("a list", {"X": [1.0, 2.0]}, ("X",)),
]  # fmt: skip


@pytest.mark.parametrize(("says", "change", "words"), WRONG, ids=[x[0] for x in WRONG])
def test_wrong_use_names_the_parameter_its_declaration_and_the_value(
    says: str, change: dict[str, Any], words: tuple[str, ...]
) -> None:
    kernel = pytriton.kernel(TEXT, defines={"TYPE": "float", "T": 8}, strict_promises=True)
    given: dict[str, Any] = {"X": torch.ones(8), "n": 8, "s": 2.0, **change}
    if isinstance(given["X"], str) and given["X"] == "unaligned":
        given["X"] = torch.ones(9)[1:]
    with pytest.raises(pytriton.LaunchError) as caught:
        kernel(*given.values(), grid=1)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_tensors_on_different_devices_are_refused() -> None:
    text = "void f(float* X, float* Y) { *X = *Y; }"
    with pytest.raises(pytriton.LaunchError):
        pytriton.kernel(text)(torch.zeros(1), torch.zeros(1, device="meta"), grid=1)


def test_a_file_of_no_pinned_choices_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pins.json").write_text(json.dumps({}))
    monkeypatch.setenv("PYTRITON_REPLAY", str(tmp_path / "pins.json"))
    x = torch.ones(8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytriton.kernel(TEXT, defines={"TYPE": "float", "T": [8, 16]})(x, 8, 2.0, grid=1)
    same(x, [2] * 8)
