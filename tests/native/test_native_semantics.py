"""What C leaves undefined, conversions, names and comments, threads, compilers that fail: one kernel each."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from pytriton.native.c_module import to_c
from pytriton.runtime.native.c_compiler import NoLibrary, find
from pytriton.runtime.native.processor import native
from pytriton.settings import Settings

pytestmark = pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")

STRICT = ("-Wall", "-Wextra", "-Werror")


def run(source: str, *arguments: Any, grid: tuple[int, int, int] = (1, 1, 1), **defines: Any) -> None:
    """Launch the first kernel of a source."""
    kernel = native(to_c(source, defines, Settings()), *STRICT)
    assert not isinstance(kernel, NoLibrary), kernel.reason
    values = [value.data_ptr() if isinstance(value, torch.Tensor) else value for value in arguments]
    kernel.run(grid, values)


def mapped(types: str, expression: str, *operands: torch.Tensor, out: torch.dtype) -> torch.Tensor:
    """An elementwise expression of x (and y)."""
    first, second, last = types.split(",")
    result = torch.empty(operands[0].shape, dtype=out)
    source = f"""__global__ void f({first} *X, {second} *Y, {last} *Z) {{
      int i[T] = 0 ... T;
      {first} x[T] = *(X + i);
      {second} y[T] = *(Y + i);
      *(Z + i) = {expression};
    }}"""
    run(source, operands[0], operands[-1], result, T=operands[0].numel())
    return result


@pytest.mark.parametrize("word", ["int", "long", "unsigned", "unsigned long", "char", "short"])
@pytest.mark.parametrize("operator", ["/", "%", "<<", ">>"])
def test_integers_do_not_trap(word: str, operator: str) -> None:
    bits = {"char": 8, "short": 16, "int": 32, "unsigned": 32}.get(word, 64)
    dtype = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}[bits]
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    numbers = torch.tensor([low, low + 1, -7, -1, 0, 1, 3, 7, 100, high], dtype=dtype)
    x, y = (side.flatten().contiguous() for side in torch.meshgrid(numbers, numbers, indexing="ij"))
    got = mapped(f"{word},{word},{word}", f"x {operator} y", x, y, out=dtype)
    if operator in "/%" and "unsigned" not in word:
        inside = (y != 0) & ~((x == low) & (y == -1))
        one = torch.where(inside, y, torch.ones_like(y))
        want = torch.div(x, one, rounding_mode="trunc") if operator == "/" else torch.fmod(x, one)
        assert torch.equal(got[inside], want[inside])


def test_floats_out_of_range_do_not_trap() -> None:
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 2.0**31, -(2.0**31), -1.5, 2.9])
    for word, dtype in [
        ("int", torch.int32),
        ("long", torch.int64),
        ("char", torch.int8),
        ("short", torch.int16),
    ]:
        got = mapped(f"float,float,{word}", f"({word}[T])x", x, out=dtype)
        assert got[-2:].tolist() == [-1, 2]


def test_half_is_exact() -> None:
    every = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16).view(torch.float16)
    assert_same(mapped("half,half,float", "x", every, out=torch.float32), every.float())
    bits = torch.randint(-(1 << 31), (1 << 31) - 1, (1 << 16,), dtype=torch.int32)
    near = (every.float().double() * (1 + 2.0**-11)).float()  # ties of half and their neighbours
    ties = (torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32) * (1 << 16) + (1 << 15)).view(torch.float32)
    for x in (bits.view(torch.float32), near, near.nextafter(torch.tensor(0.0)), ties):  # ties: of bfloat16
        assert_same(mapped("float,float,half", "x", x, out=torch.float16), x.half())
        assert_same(mapped("float,float,bfloat16", "x", x, out=torch.bfloat16), x.bfloat16())


def test_double_rounds_once() -> None:
    numbers = [1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11 - 2.0**-40, 65519.99999999, 1e300, 2.0**-25 + 2.0**-60]
    x = torch.tensor(numbers, dtype=torch.float64)
    got = mapped("double,double,half", "x", x, out=torch.float16)
    assert got.tolist() == [1 + 2.0**-10, 1.0, 65504.0, float("inf"), 2.0**-24]
    x = torch.tensor([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 - 2.0**-40], dtype=torch.float64)
    got = mapped("double,double,bfloat16", "x", x, out=torch.bfloat16)
    assert got.tolist() == [1 + 2.0**-7, 1.0]


def assert_same(got: torch.Tensor, want: torch.Tensor) -> None:
    """Equal, with the signs of zeros; a NaN is like any other."""
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
    assert torch.equal(got.signbit() & (got == 0), want.signbit() & (want == 0))


def test_nan_in_minimum_and_maximum() -> None:
    nan = float("nan")
    x, y = torch.tensor([nan, 1.0, 2.0, nan]), torch.tensor([1.0, nan, 1.0, nan])
    for name in ("min", "max"):
        got = mapped("float,float,float", f"{name}(x, y)", x, y, out=torch.float32)
        compare = x < y if name == "min" else x > y
        assert_same(got, torch.where(compare, x, y))
        for values in (torch.tensor([nan, 3.0, -1.0] * 30), torch.full((40,), nan)):
            out = torch.zeros(1)
            source = f"__global__ void f(float *X, float *Y) {{ *Y = (*(X + 0 ... T))[{name}]; }}"
            run(source, values, out, T=len(values))
            kept = values[~values.isnan()]
            assert_same(out[0], (getattr(kept, name)() if len(kept) else torch.tensor(nan)))


def test_masked_loads_touch_nothing() -> None:
    out = torch.ones(64)
    source = """__global__ void f(float *P, float *Y, int n) {
      int i[64] = 0 ... 64;
      *(Y + i) = i < n ? *(P + i) : 5;
      *?(i < n)(P + i) = 1;
    }"""
    run(source, 0, out, 0)
    assert (out == 5).all()


def test_misaligned_and_wrapping_offsets() -> None:
    memory = torch.zeros(65, dtype=torch.uint8)
    source = """__global__ void f(char *P, float *Y, int big) {
      float *p = (float *)(P + 1);
      int i[16] = 0 ... 16;
      *(p + i) = 2.5;
      *(Y + (i + big - 2147483647 - 1 - big) + 2147483647 + 1l) = *(p + i);
    }"""
    out = torch.zeros(16)
    run(source, memory, out, 2147483640)
    assert (out == 2.5).all()


def test_names_and_comments_cannot_escape() -> None:
    source = """
    // a comment that ends in a trigraph ??/
    __global__ void main(float *linux, float *errno, int I, int unix, int all, int load_float, int i0, int NULL_) {
      int INT32_MIN[8] = 0 ... 8; /* two
      lines \\ */
      // another one???/
      float memcpy[8] = *(linux + INT32_MIN); // " */ %s ????/
      float half_of_float[8] = memcpy + I + unix + all + load_float + i0;
      *(errno + INT32_MIN) = half_of_float + NULL_;
    }"""
    x, y = torch.arange(8.0), torch.zeros(8)
    run(source, x, y, 1, 2, 3, 4, 5, 6)
    assert torch.equal(y, x + 21)


def test_threads_add_atomically(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """__global__ void f(float *Y, int *N, int *order) {
      int i[32] = 0 ... 32;
      atomic_add(Y + i, 1.0f);
      int old = atomic_add(N, 1);
      *(order + get_program_id(0) + get_num_programs(0) * get_program_id(1)) = old;
    }"""
    for threads in ("1", "4"):
        monkeypatch.setenv("PYTRITON_THREADS", threads)
        y, n, order = torch.zeros(32), torch.zeros(1, dtype=torch.int32), torch.zeros(3000, dtype=torch.int32)
        run(source, y, n, order, grid=(1000, 3, 1))
        assert (y == 3000).all()
        assert n.item() == 3000
        assert torch.equal(order.sort().values, torch.arange(3000, dtype=torch.int32))


def test_what_a_compiler_knows_of_bits_is_no_warning() -> None:
    """gcc warns where ~ of a narrow unsigned number is compared: it is never 0, nor positive; of 10 ^ 1, too."""
    x = torch.tensor([0, 1, 255], dtype=torch.uint8)
    for expression, want in (
        ("~x ? 1 : 2", [1, 1, 1]),
        ("~x == 3", [0, 0, 0]),
        ("~(x * 3) == 3", [0, 0, 0]),
        ("(~x + 1) < 0", [0, 1, 1]),
        ("~(unsigned)x == 3l", [0, 0, 0]),
        ("4294967295u - x && 1", [1, 1, 1]),
        ("(10u ^ 1u) + x", [11, 12, 266]),
    ):
        got = mapped("unsigned char,unsigned char,int", expression, x, out=torch.int32)
        assert got.tolist() == want


@pytest.mark.parametrize("real", ["float", "double"])
def test_zero_minus_an_integer_is_no_minus_zero(real: str) -> None:
    """gcc makes ``-x`` of ``0 - x`` where x was an integer, which is never -0 before, and is afterwards."""
    x = torch.tensor([0, 1, -2, 3], dtype=torch.int32)
    for expression in (f"0 - ({real})x", f"({real})(x * 0) - ({real})x"):
        got = mapped(
            f"int,int,{real}", expression, x, out=torch.float32 if real == "float" else torch.float64
        )
        assert got.tolist() == [0.0, -1.0, 2.0, -3.0]
        assert got.signbit().tolist() == [False, True, False, True]


def test_exp_is_accurate() -> None:
    x = torch.cat([torch.linspace(-104, 89, 1 << 15), torch.randn((1 << 15) - 4)])
    x = torch.cat([x, torch.tensor([float("inf"), -float("inf"), float("nan"), 0.0])])
    got = mapped("float,float,float", "exp(x)", x, out=torch.float32)
    want = x.double().exp()
    finite = (want < torch.finfo(torch.float32).max) & (want > 2.0**-126)
    ulp = 2.0 ** (want[finite].log2().floor() - 23)
    assert ((got[finite].double() - want[finite]).abs() / ulp).max() < 1.1
    assert_same(got[-4:], torch.tensor([float("inf"), 0.0, float("nan"), 1.0]))


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_is_accurate(name: str) -> None:
    """Floats of any size, and near multiples of pi / 2; the largest error of all 2^32 floats is 0.50192 ulp."""
    bits = torch.randint(-(1 << 31), 1 << 31, (1 << 17,), dtype=torch.int64).to(torch.int32)
    multiples = (torch.arange(1 << 14, dtype=torch.float64) * (math.pi / 2)).float()
    hard = torch.tensor(
        [-2.7012226674118343e23, 1.9541819727624894e38, -2.186149465617022e26, 16367173 * 2.0**72]
    )
    x = torch.cat([bits.view(torch.float32), multiples, hard, torch.linspace(-7, 7, 1 << 14)])
    got = mapped("float,float,float", f"{name}(x)", x, out=torch.float32)
    want = getattr(torch, name)(x.double())
    finite = torch.isfinite(x)
    assert got[~finite].isnan().all()
    assert torch.equal(got[finite].signbit(), want[finite].signbit())
    last_place = torch.ldexp(torch.ones_like(want), (want.frexp()[1] - 24).clamp(min=-149))
    assert ((got.double() - want).abs() / last_place)[finite].max() < 0.502


def test_compiler_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    module = to_c("__global__ void f(int *X) { *X = 1; }", {}, Settings())
    failed = native(module, "-no-such-flag")
    assert isinstance(failed, NoLibrary)
    assert "no-such-flag" in failed.reason
    monkeypatch.setenv("PYTRITON_CC", "/nonexistent/cc")
    missing = native(module)
    assert isinstance(missing, NoLibrary)
    assert "PYTRITON_CC" in missing.reason
