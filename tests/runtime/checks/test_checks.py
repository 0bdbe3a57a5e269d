"""Checked launches on the CPU: what is checked when, what is still done, and what is said."""

from __future__ import annotations

import pickle
import re
import warnings
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError

COPY = """\
__global__ void copy(float* z, float* x, int n) {
  int i[16] = get_program_id(0) * 16 + 0 ... 16;
  *?(i < n)(z + i) = *?(i < n)(x + i);
}
"""
UNMASKED = """\
__global__ void copy(float* z, float* x, int n) {
  int i[16] = get_program_id(0) * 16 + 0 ... 16;
  *?(i < n)(z + i) = *(x + i);
}
"""


PREFETCHED = """\
__global__ void copy(float* z, float* x, int n) {
  float* p[16] = x + 0 ... 16;
  float a[16] = *p;
  for (int k = 0; k < n; k += 16) {
    float b[16] = a;
    p += 16;
    a = *p;  // before the store, which may write what it reads
    *(z + k + 0 ... 16) = b;
  }
}
"""


def made(text: str = COPY, **more: Any) -> pytriton.Kernel:
    return pytriton.kernel(text, name="copy.c", **more)


def raised(kernel: pytriton.Kernel, *arguments: Any, grid: Any = (2,), **more: Any) -> str:
    with pytest.raises(LaunchError) as error:
        kernel(*arguments, grid=grid, **more)
    return str(error.value)


class TestStores:
    def test_outside_are_not_made_and_all_others_are(self) -> None:
        x = torch.arange(40.0)
        around = torch.full((40,), -1.0)
        z = torch.from_numpy(around.numpy()[:20])  # a storage of its own, with memory of ours after it
        text = raised(made(), z, x, 40, grid=(3,))
        assert torch.equal(z, x[:20])
        assert torch.equal(around[20:], torch.full((20,), -1.0))
        assert text == (
            "copy.c:3:3: error: store outside 'z': 1 element past the end [TC550]\n"
            "    3 |   *?(i < n)(z + i) = *?(i < n)(x + i);\n"
            "      |   ^~~~~~~~~~~~~~~~\n"
            "note: in program (1, 0, 0) of a grid of (3, 1, 1), element [4] of the block [16]; "
            "19 more elements, in 2 programs\n"
            "note: 'z' is a tensor of float32, shape (20,), strides (1,); the access was to element 20\n"
            "note: nothing was written out of bounds; the rest of the launch was done\n"
            "help: 'z' has 20 elements, and 'x' has 40: pass a tensor of shape (40,)"
        )

    def test_into_a_neighbouring_tensor(self) -> None:
        whole = torch.zeros(32).numpy()
        z, x = torch.from_numpy(whole[:16]), torch.from_numpy(whole[16:])
        x += 1
        text = raised(made(), z, x, 17)
        assert "store outside 'z': 1 element past the end" in text
        assert x[0] == 1

    def test_in_the_storage_around_a_view_are_made(self) -> None:
        whole = torch.zeros(32)
        made()(whole[:16], torch.ones(32), 32, grid=2)
        assert whole.sum() == 32

    def test_atomics(self) -> None:
        kernel = pytriton.kernel(
            "__global__ void f(int* x, int* old) { int i[8] = 0 ... 8; *(old + i) = 7;"
            " *(old + i) = atomic_add(x + i, 1); }"
        )
        x, old = torch.full((5,), 3, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
        assert "atomic outside 'x': 1 element past the end [TC550]" in raised(kernel, x, old)
        assert x.tolist() == [5] * 5  # two programs
        assert old.tolist()[5:] == [0] * 3

    def test_a_lock_that_is_none_does_not_hang(self) -> None:
        kernel = pytriton.kernel(
            "__global__ void f(int* lock, int* x) { while (atomic_cas(lock, 0, 1) == 1); *x = 1;"
            " atomic_xchg(lock, 0); }"
        )
        x = torch.zeros(1, dtype=torch.int32)
        text = raised(kernel, None, x)
        assert text.count("[TC550]") == 2
        assert "atomic on 'lock', which is None" in text
        assert x.item() == 1

    def test_before_the_start(self) -> None:
        kernel = made("__global__ void f(float* x) { int i[16] = (0 ... 16) - 3; *(x + i) = 1; }")
        text = raised(kernel, torch.zeros(16), grid=1)
        assert "store outside 'x': 3 elements before the start" in text
        assert "the offset is negative" in text

    def test_of_two_places_both_are_shown(self) -> None:
        text = "__global__ void f(float* x, float* y) { *(x + 9) = 1; *(y + 9) = 1; }"
        assert raised(made(text), torch.zeros(3), torch.zeros(4)).count("[TC550]") == 2


class TestLoads:
    def test_give_0_and_warn_once_a_place(self) -> None:
        kernel, x = made(UNMASKED), torch.ones(20)
        z = torch.full((32,), -1.0)
        with pytest.warns(RuntimeWarning, match=r"\[TC551\]") as caught:
            kernel(z, x, 32, grid=2)
        assert z.tolist() == [1.0] * 20 + [0.0] * 12
        (text,) = [str(one.message) for one in caught if "TC551" in str(one.message)]
        assert text == (
            "copy.c:3:22: warning: load outside 'x': 1 element past the end [TC551]\n"
            "    3 |   *?(i < n)(z + i) = *(x + i);\n"
            "      |                      ^~~~~~~~\n"
            "note: in program (1, 0, 0) of a grid of (2, 1, 1), element [4] of the block [16]; 11 more elements\n"
            "note: 'x' is a tensor of float32, shape (20,), strides (1,); the access was to element 20\n"
            "note: 0 was loaded, and the launch went on; this place is not reported again\n"
            "help: 'x' has 20 elements, and 'z' has 32: pass a tensor of shape (32,)"
        )
        with warnings.catch_warnings(action="error"):
            kernel(z, x, 32, grid=2)

    def test_of_the_last_prefetch_of_an_old_loop(self) -> None:
        kernel = made(PREFETCHED)
        assert (
            "tl.load(p)" in kernel.source().split("for k")[1].split("tl.store")[0]
        )  # it could not be undone
        x, z = torch.arange(64.0), torch.zeros(64)
        with pytest.warns(RuntimeWarning, match="load outside 'x': 1 element past the end"):
            kernel(z, x, 64, grid=1)
        assert torch.equal(z, x)
        with warnings.catch_warnings(action="error"):
            kernel(z, x, 64, grid=1)

    def test_masked_off_elements_are_none(self) -> None:
        z = torch.zeros(20)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            made(check="strict")(z, torch.ones(20), 20, grid=2)
        assert z.sum() == 20

    def test_others_are_given_where_masked_and_0_where_outside(self) -> None:
        kernel = made(
            "__global__ void f(float* z, float* x) { int i[8] = 0 ... 8; *(z + i) = (i < 6) ? *(x + i) : 5; }"
        )
        z = torch.zeros(8)
        with pytest.warns(RuntimeWarning, match="TC551"):
            kernel(z, torch.ones(3), grid=1)
        assert z.tolist() == [1, 1, 1, 0, 0, 0, 5, 5]

    def test_strict_raises_and_the_launch_is_done(self) -> None:
        z = torch.zeros(32)
        text = raised(made(UNMASKED, check="strict"), z, torch.ones(20), 32)
        assert "error: load outside 'x'" in text
        assert z.sum() == 20

    def test_none_for_a_pointer_that_is_read(self) -> None:
        with pytest.warns(RuntimeWarning, match="load from 'x', which is None"):
            made()(torch.zeros(16), None, 16, grid=1)

    def test_an_index_from_memory(self) -> None:
        kernel = made(
            "__global__ void f(float* z, float* x, int* at) { int i[4] = 0 ... 4; *(z + i) = *(x + *(at + i)); }"
        )
        at = torch.tensor([0, 1, 99, 2], dtype=torch.int32)
        with pytest.warns(RuntimeWarning, match="offset comes from 'at'"):
            kernel(torch.zeros(4), torch.zeros(8), at, grid=1)


class TestAddresses:
    def test_of_memory_that_is_there(self) -> None:
        z, x = torch.zeros(16), torch.ones(16)
        made()(z.data_ptr(), x.data_ptr(), 16, grid=1)
        assert z.sum() == 16

    @pytest.mark.parametrize("address", [8, 4096, 1 << 47, (1 << 64) - 64, 0xDEAD_BEEF_0000])
    def test_that_are_not_mapped(self, address: int) -> None:
        text = raised(made(), address, torch.ones(16), 16, grid=1)
        assert f"there is no memory at {address:#x}" in text

    def test_pointers_from_memory(self) -> None:
        kernel = made("__global__ void f(float** table) { float* x = *(table + get_program_id(0)); *x = 3; }")
        x = torch.zeros(1)
        kernel(torch.tensor([x.data_ptr()]), grid=1)
        assert x.item() == 3
        assert "through a pointer that was loaded" in raised(kernel, torch.tensor([x.data_ptr(), 64]))


class TestWhatIsChecked:
    def test_constant_buffers(self) -> None:
        text = "int __constant__* tab = calloc(16);\n__global__ void f(int* z) { *z = *(tab + 4); }"
        with pytest.warns(RuntimeWarning, match=r"write calloc\(20\) in the source"):
            made(text)(torch.zeros(1, dtype=torch.int32), grid=1)

    def test_several_pointers_in_one_variable(self) -> None:
        kernel = made(
            "__global__ void f(float* x, float* y, int n) { float* p = x; if (n > 0) p = y; *(p + n) = 1; }"
        )
        x, y = torch.zeros(4), torch.zeros(8)
        kernel(x, y, 7, grid=1)
        assert y[7] == 1
        assert "store outside 'y' and 'x'" in raised(kernel, x, y, 9, grid=1)

    def test_through_macros(self) -> None:
        kernel = made("#define AT(p, i) *(p + i)\n__global__ void f(float* x, int n) {\n  AT(x, n) = 1;\n}")
        text = raised(kernel, torch.zeros(4), 4, grid=1)
        assert "    3 |   AT(x, n) = 1;\n      |   ^~~~~~~~\n" in text
        assert "note: expanded from AT = *(p + i)" in text

    def test_noalias(self) -> None:
        kernel = made(COPY.replace("float* z", "float* z __noalias"))
        x = torch.ones(40)
        with pytest.warns(
            RuntimeWarning, match=r"copy: 'z' is __noalias, but shares memory with 'x' \[TC552\]"
        ):
            kernel(x[:16], x[8:24], 16, grid=1)
        with warnings.catch_warnings(action="error"):
            kernel(x[:16], x[16:32], 16, grid=1)

    def test_nothing_holds_the_tensors_afterwards(self) -> None:
        import weakref

        x = torch.ones(16)
        gone = weakref.ref(x)
        made()(torch.zeros(16), x, 16, grid=1)
        kernel = made()
        kernel(torch.zeros(16), x, 16, grid=1)
        del x
        assert gone() is None


class TestSwitches:
    def test_off(self) -> None:
        whole = torch.zeros(64).numpy()
        z = torch.from_numpy(whole[:16])
        made(check=False)(z, torch.ones(32), 32, grid=2)
        assert whole[16:32].sum() == 16  # it went through

    @pytest.mark.parametrize(
        ("value", "found"), [("0", False), ("1", True), ("strict", "strict"), ("", None)]
    )
    def test_environment(self, monkeypatch: pytest.MonkeyPatch, value: str, found: Any) -> None:
        monkeypatch.setenv("PYTRITON_CHECK", value)
        kernel = made()
        monkeypatch.setenv("PYTRITON_CHECK", "0")  # it was read when the object was made
        assert kernel._common.checks.check == found
        assert made(check=True)._common.checks.check is True

    def test_wrong_values(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(LaunchError, match=r"check is 'yes' \[TC515\]"):
            made(check="yes")
        monkeypatch.setenv("PYTRITON_CHECK", "maybe")
        with pytest.raises(LaunchError, match=r"PYTRITON_CHECK is 'maybe' \[TC515\]"):
            made()

    def test_travels_with_a_pickled_kernel(self) -> None:
        assert pickle.loads(pickle.dumps(made(check="strict")))._common.checks.check == "strict"

    def test_the_text_that_is_shown_and_compiled_is_the_unchecked_one(self) -> None:
        assert made().source() == made(check=False).source() == made(check=True).source()
        assert "checked" not in made().source()


def test_inside_torch_compile() -> None:
    kernel = made()

    def doubled(x: torch.Tensor, n: int) -> torch.Tensor:
        z = torch.zeros(16)
        kernel(z, x, n, grid=(2,))
        return z * 2

    compiled = torch.compile(doubled, backend="aot_eager", fullgraph=True)
    assert compiled(torch.ones(32), 16).sum() == 32
    with pytest.raises(LaunchError, match="store outside 'z': 1 element past the end"):
        compiled(torch.ones(32), 20)


def test_in_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    kernel = made()

    def call(n: int) -> str:
        try:
            kernel(torch.zeros(16), torch.ones(32), n, grid=2)
        except LaunchError as error:
            return re.findall(r"(\d+) more element", str(error))[0]
        return "0"

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(call, [16, 18, 20, 16, 30])) == ["0", "1", "3", "0", "13"]
