"""The launcher module of a ported package, on Triton's own interpreter: sweeps, and work on the host."""

from __future__ import annotations

import json
import os
import sys
from itertools import product
from pathlib import Path

import pytest

from pytriton.__main__ import main
from pytriton.pipeline import translate_as
from pytriton.runtime.options.defines import Config
from pytriton.settings import Settings
from pytriton.source import Source
from pytriton.tuning.sweep import BEST_FEW, STAGED, own_points
from tests import processes

ROOT = Path(__file__).parents[2]
MAX_CALLS = 16  # of functions of the launcher, in a launch like an earlier one

PACKAGE = '''\
import triton

src = """
__global__ void scale(TYPE *Y, TYPE *X __readonly, int N) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  bool ok[TN] = i < N;
  TYPE *py[TN] = Y + i;
  *?(ok) py = *?(ok) py + *?(ok) (X + i);
}
"""
kernel = triton.kernel(src, defines={'TYPE': 'float', 'TN': [16, 32, 64]}, num_warps=[1, 2])


def add(y, x):
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
'''

PROGRAM = """\
import sys
import torch
import triton

tried = []

def measured(call, warmup, rep, quantiles):
    call()
    assert y.eq(2 if len(tried) >= 6 else 0).all(), "only copies are written"
    tried.append(call)
    return float(len(tried) != 4)  # the fourth is the fastest

triton.testing.do_bench = measured
import old
from old import _triton
_triton.DEVICE = "cuda"

y, x = torch.zeros(100), torch.ones(100)
old.add(y, x)
assert len(tried) == 6, len(tried)
assert y.eq(1).all(), "of one launch"
(passed, options), = old.kernel.sweeps.values()
assert (options.TN, options.num_warps) == (32, 2) == (passed["TN"], passed["num_warps"]), options
called = []
sys.setprofile(lambda frame, event, _: event == "call" and called.append(frame.f_code))
old.add(y, x)
sys.setprofile(None)
assert y.eq(2).all()
assert len(tried) == 6
print(*(code.co_name for code in called if code.co_filename == _triton.__file__))
old.add(y[:50], x[:50])
assert len(tried) == 12, "another size is tuned anew"
"""


PRODUCT = '''\
import triton

src = """
__global__ void product(float *C __noalias, float *A __readonly __noalias, float *B __readonly __noalias,
                        int M, int N, int K) {
  int i[TM] = get_program_id(0) * TM + 0 ... TM;
  int j[TN] = get_program_id(1) * TN + 0 ... TN;
  int k[16] = 0 ... 16;
  float *pa[TM, 16] = A + i[:, newaxis] * K + k[newaxis, :];
  float *pb[16, TN] = B + k[:, newaxis] * N + j[newaxis, :];
  float c[TM, TN] = 0;
  for (int left = K; left > 0; left -= 16) {
    c += *pa @ *pb;
    pa += 16;
    pb += 16 * N;
  }
  *(C + i[:, newaxis] * N + j[newaxis, :]) = c;
}
"""
kernel = triton.kernel(src, defines={'TM': [16, 32], 'TN': [16, 32, 64]}, num_warps=[1, 2])


def product(c, a, b):
    (m, k), n = a.shape, b.shape[1]
    kernel(c, a, b, m, n, k, grid=lambda opt: [m // opt.TM, n // opt.TN])
'''

TUNED = """\
import json
import torch
import triton

tried = []

def measured(call, warmup, rep, quantiles):
    call()
    assert c.sum() == 0, "a copy is written"
    tried.append({name: value for name, value in call.keywords.items() if value is not None})
    # the largest tile is best, then the most warps, then four stages in groups
    best = {"TM": 32, "TN": 64, "num_warps": 2, "num_stages": 4, "GROUP": 8}
    wanted = [tried[-1].get(name) == value for name, value in best.items()]
    return 1.0 - sum(wanted) / 10

triton.testing.do_bench = measured
import old
from old import _triton
_triton.DEVICE = "cuda"
a, b, c = torch.randn(192, 32), torch.randn(32, 128), torch.zeros(192, 128)
old.product(c, a, b)
torch.testing.assert_close(c, a @ b)
(chosen, options), = old.kernel.sweeps.values()
print(json.dumps([tried, chosen, vars(options)]))
"""


def run(root: Path, package: str, program: str) -> str:
    """What a program prints with the ported package, on Triton's interpreter."""
    (root / "old").mkdir()
    (root / "old" / "__init__.py").write_text(package)
    assert main(["port", str(root / "old"), "--out", str(root / "new")]) == 0
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(root / "new")}
    done = processes.run([sys.executable, "-c", program], env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


MASKED = '''\
import torch
import triton

src = """
__global__ void masked(float *Y, float *X, int flag, int n) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  bool all[TN] = flag > 0;
  bool more[TN] = (i < n) && (flag > 1);
  *?(i < n)(Y + i) = all ? *?(more)(X + i) : -1;
}
"""
kernel = triton.kernel(src, defines={'TN': 16})


def masked(x, flag):
    y = torch.empty_like(x)
    kernel(y, x, flag, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y
'''


@pytest.mark.slow
def test_masks_of_one_truth_value(tmp_path: Path) -> None:
    """Triton's interpreter calls a comparison of two numbers an int once it fills a block."""
    sums = "(old.masked(torch.arange(1.0, 20), flag).sum().item() for flag in (-1, 0, 1, 2))"
    assert run(tmp_path, MASKED, f"import torch, old; print(*{sums})").split() == [
        "-19.0",
        "-19.0",
        "0.0",
        "190.0",
    ]


FIXED = '''\
import torch
import triton

src = """
__global__ void product(float *C, float *A, float *B, int K) {
  int rm[16] = 0 ... 16;
  int rn[16] = 0 ... 16;
  int rk[TK] = 0 ... TK;
  float c[16, 16] = 0;
  for (int k = 0; k < K; k += TK) {
    float a[16, TK] = *(A + rm[:, newaxis] * K + rk[newaxis, :] + k);
    float b[TK, 16] = *(B + (rk[:, newaxis] + k) * 16 + rn[newaxis, :]);
    c += a @ b;
  }
  *(C + rm[:, newaxis] * 16 + rn[newaxis, :]) = c;
}
"""
kernel = triton.kernel(src, defines={'TK': 16})


def product(a, b):
    c = torch.empty(16, 16)
    kernel(c, a, b, a.shape[1], grid=(1,))
    return c
'''


@pytest.mark.slow
def test_a_kernel_of_one_config_has_the_fields_that_its_launcher_takes(tmp_path: Path) -> None:
    """Its module names the stages to try, though it has no sweep."""
    program = "a, b = torch.ones(16, 48), torch.ones(48, 16); print(old.product(a, b).unique().tolist())"
    assert run(tmp_path, FIXED, f"import torch, old; {program}").split() == ["[48.0]"]


def test_a_sweep_is_tuned_once_and_leaves_nothing_behind(tmp_path: Path) -> None:
    calls = run(tmp_path, PACKAGE, PROGRAM).split()
    assert len(calls) <= MAX_CALLS, calls


def test_both_sides_of_the_benchmark_try_the_same_points() -> None:
    """Of benchmarks/ported.py: the product of ops2021 has no other points of pytriton's than stages and groups."""
    source = Source((ROOT / "tests/legacy/packages/ops2021/matmul.c").read_text())
    for a, b, split in product(("lda", "1"), ("ldb", "1"), (1, 2)):
        defines = {"TYPE": "half", "LDA_DIV": 8, "LDB_DIV": 8, "LDC_DIV": 8, "SPLIT": split}
        defines |= {"A_DOWN": a, "A_ACROSS": "1" if a == "lda" else "lda", "TM": 64, "TN": 64, "TK": 32}
        defines |= {"B_DOWN": b, "B_ACROSS": "1" if b == "ldb" else "ldb"}
        plain, described = (
            translate_as(source, defines, Settings("product", descriptors=wanted)) for wanted in (False, True)
        )
        assert described.text == plain.text
        assert plain.traits.stages == (2, 4, 5)
        assert plain.traits.swizzles
        assert (plain.traits.grows, plain.traits.packing) == (False, None)


@pytest.mark.slow
def test_points_beyond_the_sweep_are_those_of_pytriton(tmp_path: Path) -> None:
    """Other stages of the best six, then groups of the best three; each point computes the product."""
    tried, chosen, options = json.loads(run(tmp_path, PRODUCT, TUNED).splitlines()[-1])
    users = [Config({"TM": m, "TN": n}, num_warps=w) for m, n, w in product([16, 32], [16, 32, 64], [1, 2])]
    source = Source(PRODUCT.split('"""')[1])
    own = {"num_stages": set(), "GROUP": set()}
    for config in users:
        for point in own_points(config, translate_as(source, config.defines, Settings())):
            own["num_stages"] |= {point.num_stages} - {None}
            own["GROUP"] |= {point.swizzle} - {0}
    assert {name: {point[name] for point in tried if name in point} for name in own} == own
    counts = [sum(1 for point in tried if point.get("GROUP", 0) == group) for group in (0, 8)]
    assert counts == [len(users) + STAGED + STAGED * 3 + BEST_FEW, BEST_FEW]
    assert chosen == {"TM": 32, "TN": 64, "num_warps": 2, "num_stages": 4, "GROUP": 8}
    assert options.keys() <= {"TM", "TN", "num_warps", "num_stages", "defines"}


RENAMED = """\
import torch
import triton

src = '''
__global__ void f(float *Y, float *X) {
  int i[16] = 0 ... 16;
  *(Y + i) = exp(*(X + i));
}
'''
kernel = triton.kernel(src, defines={'max': 1})  # which the source lacks
logarithm = triton.kernel(src, defines={'exp': 'log'})


def f(x):
    y = torch.empty_like(x)
    kernel(y, x, grid=(1,))
    return y


def g(x):
    y = torch.empty_like(x)
    logarithm(y, x, grid=(1,))
    return y
"""


def test_defines_named_like_words_of_the_language(tmp_path: Path) -> None:
    """Refused, as the kernel was ported without them; those that it was ported with are served."""
    program = """\
import torch, old
for name, value in {"exp": "sqrt", "float": "double", "int": "long"}.items():
    try:
        old.triton.kernel(old.src, defines={name: value})(torch.ones(16), torch.ones(16), grid=(1,))
    except Exception as error:
        print(any(f"{text}{name}=" in str(error) for text in ("port again with -D ", "no kernel was ported for ")))
print(old.f(torch.zeros(16))[0].item(), old.g(torch.ones(16))[0].item())
"""
    assert run(tmp_path, RENAMED, program).split() == ["True"] * 3 + ["1.0", "0.0"]


def test_a_grid_is_of_whole_numbers(tmp_path: Path) -> None:
    """What is no grid is refused, as by pytriton."""
    program = """\
import numpy, torch, old
for grid in (2.5, "2", (1, -1), (), lambda opt: 48 / 16, lambda opt: 48):
    try:
        old.kernel(torch.ones(16), torch.ones(16), grid=grid)
        print("launched")
    except (TypeError, ValueError) as error:
        print(type(error).__name__)
y = torch.zeros(16)
old.kernel(y, torch.ones(16), grid=lambda opt: [numpy.int32(1), torch.tensor(1), getattr(opt, "TK", 1)])
print(round(y.sum().item()))
"""
    words = run(tmp_path, RENAMED, program).split()
    assert words == ["TypeError"] * 2 + ["ValueError"] * 2 + ["TypeError", "launched", "43"]


NUMBERS = """\
import torch
import triton

src = '''
__global__ void f(float *Y, float *X, float a, int n) {
  int i[16] = 0 ... 16;
  *?(i < n)(Y + i) = *?(i < n)(X + i) * a;
}
'''
kernel = triton.kernel(src)


def f(y, x, a, n):
    return kernel(y, x, a, n, grid=(1,))
"""


def test_a_tensor_of_one_element_is_a_number(tmp_path: Path) -> None:
    """Where the source has a number; ``sizes.max()`` is one. A pointer to one element stays a tensor."""
    program = """\
import numpy, torch, old
for a, n in ((torch.tensor(2.0), torch.tensor(3)), (numpy.float32(2), numpy.int64(3)), (torch.tensor([2.0]), 3)):
    y = torch.zeros(16)
    old.f(y, torch.ones(16), a, n)
    assert y.sum() == 6, y
one = torch.zeros(())
old.f(one, torch.tensor(5.0), 2.0, True)
print(one.item())
"""
    assert run(tmp_path, NUMBERS, program).split() == ["10.0"]


def test_an_address_is_refused(tmp_path: Path) -> None:
    """By Triton, where no edit has made it a tensor: what is there, and how much of it, is not known."""
    program = """\
import torch, old
try:
    old.kernel(torch.ones(16).data_ptr(), torch.ones(16), grid=(1,))
except Exception as error:
    print(error)
"""
    assert "pass tensors of these types" in run(tmp_path, RENAMED, program)


WRAPPED = """\
import torch
import triton

src = '''
__global__ void add(float *Y, float *X, int N) {
  int i[32] = 0 ... 32;
  *?(i < N) (Y + i) = *?(i < N) (X + i) + 1;
}
'''
kernel = triton.kernel(src)


def launch(y, x, n, grid, start):
    kernel(y + 4 * start, x + 4 * start, n - start, grid=grid)


def add(x):
    y = torch.zeros_like(x)
    launch(y.data_ptr(), x.data_ptr(), x.numel(), grid=(1,), start=3)
    return y
"""


def test_what_calculates_with_addresses_keeps_them(tmp_path: Path) -> None:
    """A call with ``grid=`` may be no launch: with a tensor, ``y + 12`` would be another one."""
    program = "import torch, old; print(*old.add(torch.arange(5.0)).tolist())"
    assert run(tmp_path, WRAPPED, program).split() == ["0.0", "0.0", "0.0", "4.0", "5.0"]
    assert "launch(y.data_ptr(), x.data_ptr()," in (tmp_path / "new/old/__init__.py").read_text()


CONSTANT = """\
import triton

src = '''
char __constant__* table = calloc(64);
__global__ void f(float *Y) {
  int i[16] = 0 ... 16;
  *(Y + i) = *(((float __constant__*) table) + i);
}
'''
kernel = triton.kernel(src)


def f(y):
    kernel.set_constant("table", y)
    kernel(y, grid=(1,))
"""


def test_what_constant_memory_cannot_hold_is_refused(tmp_path: Path) -> None:
    """A list, whose element type is not known; more bytes than there are; another name; one of several devices."""
    program = """\
import numpy, torch, old
torch.cuda.device_count = lambda: 2
for given in [("table", [1.0] * 16), ("table", 1.0), ("table", torch.ones(17)), ("tables", torch.ones(16)),
              ("table", numpy.ones(16, dtype=">f4")), (0, "table", torch.ones(16))]:
    try:
        old.kernel.set_constant(*given)
        print("set")
    except (TypeError, KeyError, RuntimeError, ValueError) as error:
        print(type(error).__name__)
torch.cuda.device_count = lambda: 1
y = torch.ones(16)
old.kernel(y, grid=(1,))
print(y.sum().item())
old.kernel.set_constant(0, "table", torch.ones(2))
old.kernel(y, grid=(1,))
print(y.sum().item())
"""
    refused = ["TypeError", "TypeError", "RuntimeError", "KeyError", "ValueError", "ValueError"]
    assert run(tmp_path, CONSTANT, program).split() == [*refused, "0.0", "2.0"]


SCALED = """\
import torch
import triton

src = '''
__global__ void scale(TYPE *Y, TYPE *X, TYPE a, float *Z, tile_t b) {
  int i[TN] = 0 ... TN;
  *(Y + i) = *(X + i) * a;
  *(Z + i) = b;
}
'''


def scaled(x, a, **more):
    y, z = torch.empty_like(x), torch.empty(16)
    kernel = triton.kernel(src, defines={'TYPE': x.dtype, 'tile_t': 'half', 'tm': 4, 'TN': 16, **more})
    kernel(y, x, a, z, a, grid=(1,))
    return y, z


def all():
    for dtype in (torch.half, torch.float):
        scaled(torch.ones(16, dtype=dtype), 1)
"""


def test_numbers_of_a_type_that_is_a_define(tmp_path: Path) -> None:
    """One function for all of them; each number is rounded to its type once, as the old launch did."""
    program = """\
import math, numpy, torch, old
for dtype in (torch.half, torch.float, torch.double):
    for a in (0.1, -1, 1 + 2**-11 + 2**-40, 65519.999, 2**-25 * (1 + 2**-30), 7e4, 1e39, math.nan, -0.0):
        x = torch.tensor([1, -1, 3, 0.1, 1e-4, 60000, math.inf, 2.5] * 2, dtype=dtype)
        y, z = old.scaled(x, a)
        half = torch.from_numpy(numpy.array(a).astype("half"))  # torch rounds twice
        wide = half if dtype == torch.half else torch.tensor(a, dtype=dtype)
        assert y.equal((x.double() * wide.double()).to(dtype)) or y.isnan().any(), (dtype, a, y)
        assert y.isnan().equal((x * wide).isnan()), (dtype, a, y)
        assert torch.equal(z.nan_to_num(), half.float().nan_to_num().expand(16)), z
x = torch.ones(16)
assert old.scaled(x, 0.1, tile_t="float")[1].equal(torch.tensor([0.1] * 16)), "explored with TYPE: both are float"
for more in ({"TYPE": "int"}, {"tn": 3}, {"tile_t": "int"}):
    try:
        old.scaled(torch.ones(16, dtype=torch.int32 if "TYPE" in more else torch.float), 1, **more)
        print("launched")
    except Exception as error:
        print(*(f"{name}=" in str(error) and "port again" in str(error) for name in more))
"""
    assert run(tmp_path, SCALED, program).split() == ["True"] * 3
    text = (tmp_path / "new" / "old" / "kernels" / "old.py").read_text()
    assert text.count("@triton.jit") == 1
    assert "a = tl.full((), a, Y.dtype.element_ty)" in text
    assert 'unused=["tm"]' in text


PLAIN = """\
import torch
import triton

src = '''
__global__ void shift(TYPE *Y, TYPE *X, float a, int ld) {
  int i[TN] = 0 ... TN;
  TYPE y[TN] = *(X + i * STEP);
#ifdef SHIFT
  y += a;
#endif
  *(Y + i) = y;
}
'''


def shift(x, **more):
    y = x.new_empty(16)
    triton.kernel(src, defines={"TYPE": x.dtype, "TN": 16, **more})(y, x, 2.0, 2, grid=(1,))
    return y


def all():
    for dtype in (torch.half, torch.float):
        shift(torch.ones(16, dtype=dtype), STEP="1"), shift(torch.ones(32, dtype=dtype), STEP="ld", SHIFT=True)
"""


def test_a_kernel_is_launched_without_the_launcher(tmp_path: Path) -> None:
    """It has the defaults of what need not be given, and refuses by itself what was not proved."""
    program = """\
import torch
from old.kernels.old import shift
for dtype in (torch.half, torch.float):
    x, y = torch.arange(32.0).to(dtype), torch.empty(16, dtype=dtype)
    shift[(1,)](y, x, 1, 2, TN=16, STEP="ld", SHIFT=True)
    assert y.equal(x[::2] + 1), y
    shift[(1,)](y, x, 1, 2, TN=16, STEP=1)
    assert y.equal(x[:16]), y
for x, more in ((torch.arange(32), {"STEP": 1}), (torch.ones(32), {"STEP": "a"}), (torch.ones(32), {})):
    try:
        shift[(1,)](torch.empty(16, dtype=x.dtype), x, 1, 2, TN=16, **more)
    except Exception as error:
        print("port again with -D TYPE=" in str(error) or type(error).__name__)
"""
    assert run(tmp_path, PLAIN, program).split() == ["True", "InterpreterError", "TypeError"]


ABSENT = """\
import torch
import triton

src = '''
unsigned char __constant__* table = calloc(16);
__global__ void f(float *Y, float *X,
#ifdef SHIFT
    float *S, float a, long b,
#endif
    int n) {
  int i[16] = 0 ... 16;
  float y[16] = *?(i < n)(X + i);
#ifdef SHIFT
  y += a * *?(i < n)(S + i) + b;
#endif
  *?(i < n)(Y + i) = y + *(table + i);
}
'''


def f(x, *more, **defines):
    y = torch.zeros(16)
    triton.kernel(src, defines=defines)(y, x, *more, x.numel(), grid=(1,))
    return y


def all():
    f(torch.ones(16)), f(torch.ones(16), torch.ones(16), 2.0, 3, SHIFT=True)
"""


def test_parameters_that_are_absent_are_numbers_to_triton(tmp_path: Path) -> None:
    """Its launcher takes no None for a parameter that has a type. A number of NumPy is Python's."""
    program = """\
import numpy, torch, old
from old import _triton
launched = []
keep = _triton.kernel.ready

def ready(self, passed, options, values, grid):
    launched.append([*values.values()])
    return keep(self, passed, options, values, grid)

_triton.kernel.ready = ready
x = torch.ones(16)
for y in (old.f(x), old.f(x, x, numpy.float32(2), numpy.int64(3), SHIFT=True)):
    print(y.unique().tolist())
print([type(value).__name__ for values in launched for value in values])
print(launched[0][-1].dtype)
"""
    *sums, types, dtype = run(tmp_path, ABSENT, program).splitlines()
    assert sums == ["[1.0]", "[6.0]"]
    assert eval(types) == [
        *("Tensor", "Tensor", "int", "int", "int", "int", "Tensor"),
        *("Tensor", "Tensor", "Tensor", "float", "int", "int", "Tensor"),
    ]
    assert dtype == "torch.uint8"


GROUPED = """\
import torch
import triton

src = '''
__global__ void f(float *Z, T size, int n) {
  int i[16] = 0 ... 16;
  *(Z + i) = i + n * GROUP + size;
}
'''


def f(group):
    z = torch.empty(16)
    triton.kernel(src, defines={'GROUP': group, 'T': 'TYPE', 'TYPE': 'half'}, num_warps=[4])(z, 0.5, 3, grid=(1,))
    return z[0].item()


def all():
    f(4), f(2)
"""


def test_a_define_called_group_is_an_integer(tmp_path: Path) -> None:
    """As tuning calls the size of a group of programs. A type may be named by two defines in a row."""
    program = """\
import old
print(old.f(5))
try:
    old.f(2.5)
except ValueError as error:
    print("no kernel was ported for GROUP=2.5: " in str(error))
"""
    assert run(tmp_path, GROUPED, program).split() == ["15.5", "True"]


BY_PLACE = """\
import torch
import triton

src = '''
__global__ void f(float *Y, float *X, int n) {
  int i[16] = 0 ... 16;
  float x[16] = *?(i < n)(X + i);
#ifdef FACTOR
  x = x * FACTOR;
#endif
  *?(i < n)(Y + i) = x;
}
'''


def made(*args):
    return triton.kernel(*args)


def f(given, *more):
    y, options = torch.zeros(16), []

    def grid(opt):
        options.extend([opt.num_stages, sorted(opt.defines)])
        return [1]

    made(src, *given)(y, torch.ones(16), 16, *more, grid=grid)
    return y[0].item(), options


def all():
    f(({'FACTOR': 3},)), f(()), f(({'FACTOR': 3}, [2]))
"""


def test_defines_by_place_and_what_a_grid_sees(tmp_path: Path) -> None:
    """An argument too many is no define; the options of a grid name its defines alone."""
    program = """\
import old
for given in (({'FACTOR': 3},), (), ({'FACTOR': 3}, [2])):
    print(*old.f(given))
try:
    old.f((), 5)
except TypeError as error:
    print(error)
"""
    assert run(tmp_path, BY_PLACE, program).splitlines() == [
        "3.0 [None, ['FACTOR']]",
        "1.0 [None, []]",
        "3.0 [None, ['FACTOR']]",
        "too many positional arguments",
    ]
