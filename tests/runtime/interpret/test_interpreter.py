"""CPU tensors: typed scalars, addresses, overlapping views, bfloat16, threads, and no trace left."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest
import torch
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.jit import JITFunction

import pytriton
from pytriton.runtime import locks
from pytriton.runtime.bfloat16 import bits_of
from pytriton.runtime.compile.load import load
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.interpret.patches import patched
from pytriton.runtime.interpret.waiting import MIN_READS
from tests.runtime.kernels import ADD, binder, handmade
from tests.work import PATIENCE

GRID = (1, 1, 1)


def run(body: str, *declared: str, values: list[Any]) -> None:
    """Interpret a kernel ``f`` of the given body."""
    names = [one.split()[-1] for one in declared]
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    translation = handmade(f"@triton.jit\ndef f({', '.join(names)}):\n{lines}", *declared)
    module = load("f", translation.text)
    launch_values, _, _ = binder(*declared).bind(values)
    Interpreted(module, translation.parameters, {}).run(GRID, launch_values)


class TestScalars:
    @pytest.mark.parametrize(
        ("declared", "value", "code", "wanted"),
        [
            ("long n", 5, "n << 40", 5 << 40),
            ("int n", 2**31 - 1, "n + 1", -(2**31)),
            ("unsigned int n", -1, "n.to(tl.int64)", 2**32 - 1),
            ("unsigned long n", -1, "n >> 60", 15),
            ("char n", -128, "n - 1", 127),
            ("bool n", 7, "n.to(tl.int64)", 1),
            ("int n", True, "n << 4", 16),
        ],
    )
    def test_integers(self, declared: str, value: Any, code: str, wanted: int) -> None:
        z = torch.zeros(1, dtype=torch.int64)
        run(f"tl.store(z, ({code}).to(tl.int64))", "long* z", declared, values=[z, value])
        assert z.item() == wanted

    @pytest.mark.parametrize(
        ("declared", "wanted"),
        [
            ("double n", 0.1 + 1e-12),
            ("float n", float(numpy.float32(0.1))),
            ("half n", float(numpy.float16(0.1))),
            ("bfloat16 n", torch.tensor(0.1).bfloat16().item()),
        ],
    )
    def test_floats(self, declared: str, wanted: float) -> None:
        """A double keeps 1e-12, the others round it away, and sums stay in their type."""
        z = torch.zeros(1, dtype=torch.float64)
        run("tl.store(z, (n + 1e-12).to(tl.float64))", "double* z", declared, values=[z, 0.1])
        assert z.item() == wanted

    def test_overflow_of_float_is_infinite(self) -> None:
        z = torch.zeros(1)
        run("tl.store(z, n)", "float* z", "float n", values=[z, 1e300])
        assert z.item() == float("inf")


class TestPointers:
    def test_addresses_and_absent(self) -> None:
        x, z = torch.arange(4.0), torch.zeros(4)
        body = "r = tl.arange(0, 4)\nif y.to(tl.int64) == 0:\n    tl.store(z + r, tl.load(x + r))"
        declared = ("float* z", "float* x", "float* y")
        for absent in (None, 0, torch.empty(0)):
            z.zero_()
            run(body, *declared, values=[z.data_ptr(), x.data_ptr(), absent])
            assert torch.equal(z, x)

    def test_overlapping_views(self) -> None:
        """A shift by one inside one storage: reads before writes, as one program does on a GPU."""
        x = torch.arange(8.0)
        run(
            "r = tl.arange(0, 4)\ntl.store(z + r, tl.load(x + r))",
            *("float* z", "float* x"),
            values=[x[1:5], x[:4]],
        )
        assert x.tolist() == [0, 0, 1, 2, 3, 5, 6, 7]

    def test_what_is_not_written_is_not_touched(self) -> None:
        """No storage is copied forth and back: another thread's writes survive."""
        x = torch.zeros(8)
        storage = x.untyped_storage().data_ptr()
        run("tl.store(z, 1.0)", "float* z", values=[x[3:]])
        assert x.tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
        assert x.untyped_storage().data_ptr() == storage

    def test_bool(self) -> None:
        x = torch.tensor([True, False, True, True])
        z = torch.zeros(4, dtype=torch.bool)
        run(
            "r = tl.arange(0, 4)\ntl.store(z + r, tl.load(x + r) == 0)",
            *("bool* z", "bool* x"),
            values=[z, x],
        )
        assert torch.equal(z, ~x)

    def test_pointers_to_pointers(self) -> None:
        rows = [torch.full((4,), float(i)) for i in range(3)]
        table = torch.tensor([row.data_ptr() for row in rows])
        z = torch.zeros(4)
        run(
            "p = tl.load(table + 2).to(tl.pointer_type(tl.float32))\n"
            "r = tl.arange(0, 4)\ntl.store(z + r, tl.load(p + r))",
            *("float* z", "float** table"),
            values=[z, table],
        )
        assert torch.equal(z, rows[2])


BFLOAT16 = """\
__global__ void f(bfloat16* z, float* w, int* q, bfloat16* x, bfloat16* y, bfloat16 s) {
  int r[16] = 0 ... 16;
  bfloat16 a[16, 16] = *(x + r[:, newaxis] * 16 + r[newaxis, :]);
  bfloat16 b[16, 16] = *(y + r[:, newaxis] * 16 + r[newaxis, :]);
  *(w + r[:, newaxis] * 16 + r[newaxis, :]) = a @ b;
  *(z + r) = a[:, max];
  *(z + 16 + r) = a[:, +];
  *(z + 32 + r) = a[:, min] * s + b[:, max];
  *(z + 48 + r) = -b[:, min];
  *(q + r) = a[:, min] < b[:, min];
  *(q + 16 + r) = (int[16])(a[:, min] * s);
}
"""


class TestBfloat16:
    def test_arithmetic(self) -> None:
        x, y = torch.randn(2, 16, 16).bfloat16()
        z, w, q = torch.zeros(64).bfloat16(), torch.zeros(16, 16), torch.zeros(32, dtype=torch.int32)
        pytriton.kernel(BFLOAT16)(z, w, q, x, y, 10, grid=1)
        low, high = x.min(1).values, y.max(1).values
        assert torch.equal(z[:16], x.max(1).values)
        assert torch.equal(z[16:32], x.float().sum(1).bfloat16())
        assert torch.equal(z[32:48], low * 10 + high)
        assert torch.equal(z[48:], -y.min(1).values)
        assert torch.equal(q[:16].bool(), low < y.min(1).values)
        assert torch.equal(q[16:], (low * 10).int())
        torch.testing.assert_close(w, x.float() @ y.float())

    def test_bits(self) -> None:
        every = torch.randint(-(2**31), 2**31 - 1, (4096,), dtype=torch.int32).view(torch.float32)
        wanted = every.bfloat16()
        got = torch.from_numpy(bits_of(every.numpy()).view(numpy.int16)).view(torch.bfloat16)
        same = got.view(torch.int16) == wanted.view(torch.int16)
        assert bool((same | (got.isnan() & wanted.isnan())).all())


class TestNoTrace:
    def test_triton_is_as_before(self) -> None:
        def members() -> dict[tuple[str, str], Any]:
            modules = (tl, tl.core, tl.math, tl.standard)
            found = {(m.__name__, name): value for m in modules for name, value in vars(m).items()}
            return found | {("tensor", name): value for name, value in vars(tl.tensor).items()}

        call = JITFunction.__call__
        before = members()
        run("tl.store(z, tl.sum(tl.zeros((4,), tl.float32)))", "float* z", values=[torch.ones(1)])
        assert members() == before
        assert JITFunction.__call__ is call

    def test_nor_after_an_error(self) -> None:
        before = dict(vars(tl))
        with pytest.raises(Exception, match="nonsense"):
            run("tl.store(z, tl.nonsense)", "float* z", values=[torch.ones(1)])
        assert dict(vars(tl)) == before

    def test_nor_after_an_interrupt_while_functions_are_replaced(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        before = dict(vars(tl)), tl.tensor.__add__
        monkeypatch.setattr(interpreter, "_patch_lang_core", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run("tl.store(z, 2.0)", "float* z", values=[torch.ones(1)])
        assert (dict(vars(tl)), tl.tensor.__add__) == before

    def test_nor_after_an_interrupt_while_functions_are_put_back(self) -> None:
        class Owner(type):
            left = 1

            def __setattr__(cls, name: str, value: Any) -> None:
                super().__setattr__(name, value)
                if value == "first" and Owner.left:
                    Owner.left = 0
                    raise KeyboardInterrupt

        class Owned(metaclass=Owner):
            a, b = "second", "first"

        with pytest.raises(KeyboardInterrupt), patched({(Owned, name): lambda _: "" for name in "abc"}):
            assert (Owned.a, Owned.b) == ("", "")
        assert (Owned.a, Owned.b, hasattr(Owned, "c")) == ("second", "first", False)

    def test_generated_module_is_not_polluted(self) -> None:
        text = handmade("@triton.jit\ndef f(z):\n    tl.store(z, 2.0)\n", "float* z").text
        module = load("f", text).module
        names = set(vars(module))
        run("tl.store(z, 2.0)", "float* z", values=[torch.ones(1)])
        assert set(vars(module)) == names

    def test_compiles_afterwards(self) -> None:
        run("tl.store(z, tl.sum(tl.zeros((4,), tl.float32)))", "float* z", values=[torch.ones(1)])
        text = ADD.replace("add", "add_after_interpreting")
        assert ".entry add_after_interpreting(" in pytriton.kernel(text, {"TILE": 64}).asm("ptx", "cuda:90")


class TestThreads:
    def test_exclusion(self) -> None:
        entered = threading.Event()

        def compile_() -> None:
            with locks.compiling():
                entered.set()

        with locks.interpreting(), locks.interpreting():
            thread = threading.Thread(target=compile_)
            thread.start()
            assert not entered.wait(0.05)
        thread.join(PATIENCE)
        assert entered.is_set()

    def test_compilers_do_not_wait_for_each_other(self) -> None:
        with locks.compiling(), ThreadPoolExecutor(1) as pool:

            def compile_() -> bool:
                with locks.compiling():
                    return True

            assert pool.submit(compile_).result(PATIENCE)


def test_an_int_of_one_is_a_number_of_python() -> None:
    """What ``ones`` is for: a module that leaves the wrapping to the type of a tensor is found."""
    translation = pytriton.translate("void f(int *Y, int n) { *Y = n; }")
    text = translation.text.replace("tl.store(Y, n)", "tl.store(Y, (n << 31) >> 3)")
    assert text != translation.text
    module, y = load(translation.function, text), torch.zeros(1, dtype=torch.int32)
    for ones, value in ((True, 1 << 28), (False, -(1 << 28))):
        interpreted = Interpreted(module, translation.parameters, translation.constexprs, ones=ones)
        interpreted.run((1, 1, 1), [y.data_ptr(), 1])
        assert y.item() == value


def test_a_helper_that_reads_more_than_once_does_not_wait() -> None:
    """As those of checked code for a GPU: all variables of the kernel stay as they are between its reads."""
    text = handmade(
        "@triton.jit\ndef sum_of_three(x):\n    return tl.load(x) + tl.load(x + 1) + tl.load(x)\n\n\n"
        "@triton.jit\ndef f(z, x, n):\n    s = 0\n    for _ in range(n):\n        s += sum_of_three(x)\n"
        "    tl.store(z, s)\n",
        "int* z",
        "int* x",
        "int n",
    )
    z, x = torch.zeros(1).int(), torch.tensor([1, 2]).int()
    interpreted = Interpreted(load("f", text.text), text.parameters, {})
    interpreted.run(GRID, [z.data_ptr(), x.data_ptr(), MIN_READS])
    assert z.item() == 4 * MIN_READS
