"""``printf`` in a kernel: what the CPU prints is what C prints, and what a GPU leaves out is said."""

from __future__ import annotations

import ctypes
import random
import warnings
from pathlib import Path

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.lang.tree.builtins import label_of, pieces
from pytriton.runtime.compile.load import check_module
from pytriton.runtime.interpret.interpreter import _formatted

ARGUMENTS = "int *Y, long *Z, half *X, bfloat16 *B, double d"


def printed(statement: str, capsys: pytest.CaptureFixture[str], grid: int = 1, **options: object) -> str:
    """What a statement prints between values of all types."""
    text = f"""void f({ARGUMENTS}) {{
        int r[T] = 0 ... T;
        unsigned char c = 200; unsigned int u = 4000000000; unsigned long w = -1;
        {statement}
    }}"""
    kernel = pytriton.kernel(text, {"T": 3}, **options)  # type: ignore[arg-type]
    tensors = [torch.arange(-1, 2, dtype=dtype) for dtype in (torch.int32, torch.int64, torch.half)]
    kernel(*tensors, torch.tensor([0.5, 1.25, -3]).bfloat16(), 1e-3, grid=(grid,))
    return capsys.readouterr().out


def in_c(text: str, *values: object) -> str:
    """What C's own ``printf`` makes of it."""
    room = ctypes.create_string_buffer(200)
    ctypes.CDLL(None).snprintf(room, 200, text.encode(), *values)
    return room.value.decode()


@pytest.mark.parametrize(
    ("text", "argument", "value"),
    [
        ("%d|%5d|%-5d|%05d|%+d|% d|%.3d", "-7", ctypes.c_int(-7)),
        ("%u %x %X %#x %o %08x", "*Y", ctypes.c_int(-1)),
        ("%ld %lld %li", "*Z", ctypes.c_long(-1)),
        ("%lx %lu", "w", ctypes.c_ulong(2**64 - 1)),
        ("%#o|%#x|%#X|%.0d|%#.0o|%05.3d|%#8x|%#08x", "*Y + 1", ctypes.c_int(0)),
        ("%u %d", "u", ctypes.c_uint(4000000000)),
        ("%d %c %hhu", "c", ctypes.c_int(200 - 110 + 110)),
        ("%f %5.2f %e %G %-9.3f| %+.1f", "d", ctypes.c_double(1e-3)),
        ("%f %g", "*B", ctypes.c_double(0.5)),
        ("%f", "*X", ctypes.c_double(-1)),
        ("%f %F", "1 / (d - d)", ctypes.c_double(float("inf"))),
        ("%d", "r[+] == 3", ctypes.c_int(1)),
    ],
)
def test_c_prints_the_same(
    text: str, argument: str, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    conversions, _ = pieces(text)
    shown = printed(f'printf("{text}\\n"{f", {argument}" * len(conversions)});', capsys)
    if "%c" in text:  # Python's output is text, C's is bytes
        assert shown == "200 \xc8 200\n"
        return
    assert shown == in_c(text + "\n", *[value] * len(conversions))


def test_null_and_nan() -> None:
    """Where C leaves it to its library."""
    forms = pieces("%p|%6p|%-6p|%f|%+5.1f")[0]
    nan = numpy.copysign(numpy.float32(numpy.nan), numpy.float32(-1))
    values = [numpy.uint64(0)] * 3 + [nan] * 2
    shown = [_formatted(form, value) for form, value in zip(forms, values, strict=True)]
    assert shown == ["0x0", "   0x0", "0x0   ", "nan", " +nan"]


def test_every_form_of_a_number_is_that_of_c() -> None:
    """Random flags, widths and precisions, of numbers near the edges."""
    rng = random.Random(28)
    integers = [0, 1, -1, 7, 8, 255, -(2**31), 2**31 - 1, 12345]
    floats = [0.0, -0.0, 1.0, -2.5, 1e-3, 123456.789, 1e10, 1e-7, float("inf"), float("-inf")]
    wrong = []
    for _ in range(6000):
        letter = rng.choice("diuxXofFeEgG")
        allowed = (
            "-+ #0"
            if letter in "fFeEgG"
            else "-+ 0"
            if letter in "di"
            else "-#0"
            if letter in "xXo"
            else "-0"
        )
        flags = "".join(rng.sample(allowed, rng.randint(0, len(allowed))))
        form = f"%{flags}{rng.choice(['', '1', '2', '6', '12'])}{rng.choice(['', '.', '.0', '.1', '.5'])}{letter}"
        ((conversion,), _) = pieces(form)
        number = rng.choice(floats if letter in "fFeEgG" else integers)
        given = ctypes.c_double(number) if isinstance(number, float) else ctypes.c_int(number)
        shown = _formatted(conversion, numpy.array(number, type(given))[()])
        if shown != in_c(form, given):
            wrong.append((form, number, shown, in_c(form, given)))
    assert not wrong


@pytest.mark.parametrize("check", [None, False])
class TestBlocks:
    def test_element_by_element(self, check: bool | None, capsys: pytest.CaptureFixture[str]) -> None:
        wanted = "0: -1\n1: 0\n2: 1\n"
        assert printed('printf("%d: %d\\n", r, *(Y + r));', capsys, check=check) == wanted

    def test_rows_first(self, check: bool | None, capsys: pytest.CaptureFixture[str]) -> None:
        block = "r[:, newaxis] * 10 + r[newaxis, :]"
        assert printed(f'printf("%d ", {block});', capsys, check=check) == "0 1 2 10 11 12 20 21 22 "

    def test_scalars_beside_them(self, check: bool | None, capsys: pytest.CaptureFixture[str]) -> None:
        call = 'printf("%d%d ", get_program_id(0), r);'
        assert printed(call, capsys, 2, check=check) == "00 01 02 10 11 12 "

    def test_nothing_but_text(self, check: bool | None, capsys: pytest.CaptureFixture[str]) -> None:
        assert printed('printf("100%%\\t" "\\x41\\n");', capsys, 2, check=check) == "100%\tA\n" * 2

    def test_in_branches_and_loops(self, check: bool | None, capsys: pytest.CaptureFixture[str]) -> None:
        loop = 'for (int k = 2; k > 0; k -= 1) if (get_program_id(0) == 1) printf("%d", k);'
        assert printed(loop, capsys, 2, check=check) == "21"


def test_the_step_of_a_loop_that_is_left_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    body = "{ if (k == 1) continue; if (k == 3) break; }"
    assert printed(f'for (int k = 0; k < 9; k += 1, printf("%d", k)) {body}', capsys) == "123"


def test_a_loop_goes_the_way_that_its_prints_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed('for (int k = 3; k > 0; k -= 1) printf("%d", *(Y + k - 1));', capsys) == "10-1"


@pytest.mark.parametrize(
    ("before", "argument", "label"),
    [
        ("i ", "i", "i"),
        (" x = ", "y", "x"),
        ("", "a  +\n b", "a + b"),
        (",\n\t", "*(p + k", "*(p + k)"),
        ("é: ", "e", "?"),
    ],
)
def test_labels(before: str, argument: str, label: str) -> None:
    assert label_of(before, argument) == label


@pytest.mark.parametrize(
    ("call", "lost"),
    [
        ('printf("%d %x %f %p", n, n, 0.5, Y);', None),
        ('printf("%5d", n);', "loses the form of '%5d'"),
        ('printf("%e %e %.2f", 0.5, 0.5, 0.5);', "loses the form of '%e', '%.2f'"),
        ('printf("%d m\\n", n);', "the text 'm' after the last value"),
        ('printf("m\\n");', None),
        ('printf("%d", 0 ... 3);', "not a power of two"),
        ('printf("\\xb5 %d", n);', "not ASCII"),
    ],
)
def test_what_a_gpu_leaves_out_is_said(call: str, lost: str | None) -> None:
    made = pytriton.translate(f"void f(int *Y, int n) {{ {call} }}")
    assert [warning.code for warning in made.warnings] == ["TC331"] * (lost is not None)
    assert lost is None or lost in str(made.warnings[0])


def test_the_cpu_does_not_speak_of_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", message="pytriton runs kernels on CPU tensors")
        assert printed('printf("%4d m\\n", r);', capsys) == "   0 m\n   1 m\n   2 m\n"


@pytest.mark.parametrize("label", ['"x"', '"\\""', "f'{x}'", "x", '"x" "y", "z"'])
def test_only_a_label_is_text(label: str, tmp_path: Path) -> None:
    text = f"import triton\n\n\n@triton.jit\ndef f(x):\n    tl.device_print({label}, x)\n"
    if label.startswith("f") or label.count(",") or "z" in label:
        with pytest.raises(LaunchError, match="TC521"):
            check_module(text, "f.py")
    else:
        check_module(text, "f.py")
