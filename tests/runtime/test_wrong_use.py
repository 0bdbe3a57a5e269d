"""Wrong use is refused before anything is launched, naming the parameter, its declaration and the value.

``REFUSALS`` has an entry for each row of the table "What is refused at a call" in docs/reliability.md, which lists
what the specification wants refused; a test keeps both in step. Each call is tried twice, and then the same kernel
object must work.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import CompileError, LaunchError, PytritonError

TEXT = """\
__global__ void f(float* z, half* x __readonly __aligned(16), char* flags, int n, unsigned m,
                  long big, char small, int lda __multipleof(8), float s, bool on) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  float v[TILE] = *?(r < n && lda != 12345)(x + r);
  *?(r < n)(z + r) = on ? v + s : v;
}
"""
N = 20
NAMES = ("z", "x", "flags", "n", "m", "big", "small", "lda", "s", "on")


def fitting() -> dict[str, Any]:
    """Arguments that are right, by name."""
    x = torch.arange(32).half()
    flags = torch.zeros(4, dtype=torch.bool)
    return dict(zip(NAMES, (torch.zeros(32), x, flags, N, 1, 1, 1, 8, 0.5, True), strict=True))


def grid(opt: Any) -> tuple[int]:
    return (pytriton.cdiv(N, opt.TILE),)


def kernel() -> Any:
    return pytriton.kernel(TEXT, {"TILE": 16}, strict_promises=True)


Wrong = Callable[[dict[str, Any]], dict[str, Any]]


def given(**changed: Any) -> Wrong:
    """The right arguments, some of them changed; ``grid``, ``defines`` and the like are the call's."""
    return lambda right: {**right, **changed}


def without(*names: str) -> Wrong:
    return lambda right: {name: value for name, value in right.items() if name not in names}


def meta() -> torch.Tensor:
    return torch.zeros(32, device="meta")


class _Elsewhere(torch.Tensor):
    """A tensor that says it lies on a GPU."""

    is_cuda = True
    device = torch.device("cuda", 3)

    def get_device(self) -> int:
        return 3


def elsewhere() -> torch.Tensor:
    return torch.zeros(32).half().as_subclass(_Elsewhere)


CALL = {"grid", "defines", "num_warps"}
F = "f: argument"
X = f"{F} 2 'x' (half *x __readonly __aligned(16))"
# What is wrong: the calls, each with the code and what its message must say.
REFUSALS: dict[str, list[tuple[Wrong, str, str]]] = {
    "too few arguments": [
        (without("on"), "TC501", "f: it takes 10 arguments, not 9"),
        (without(*NAMES), "TC501", "f: it takes 10 arguments, not 0"),
    ],
    "too many arguments": [(given(extra=1), "TC501", "f: it takes 10 arguments, not 11")],
    "a tensor of another width": [
        (given(x=torch.zeros(32)), "TC502", f"{X} is a tensor of float32, but half* points to float16"),
        (given(z=torch.zeros(32).double()), "TC502", f"{F} 1 'z' (float *z) is a tensor of float64"),
        (given(flags=torch.zeros(4, dtype=torch.int16)), "TC502", f"{F} 3 'flags' (char *flags)"),
    ],
    "a tensor of another kind": [
        (given(x=torch.zeros(32).bfloat16()), "TC502", f"{X} is a tensor of bfloat16"),
        (given(z=torch.zeros(32, dtype=torch.int32)), "TC502", f"{F} 1 'z' (float *z) is a tensor of int32"),
        (given(flags=torch.zeros(4, dtype=torch.float8_e5m2)), "TC502", "float8_e5m2"),
    ],
    "tensors on different devices": [
        (given(x=elsewhere()), "TC503", f"{X} is on cuda:3, but argument 1 'z' is on cpu"),
    ],
    "not a number for a scalar": [
        (given(n="20"), "TC504", f"{F} 4 'n' (int n) is '20', which is not a number"),
        (given(n=None), "TC504", f"{F} 4 'n' (int n) is None, which is not a number"),
        (given(s="h"), "TC504", f"{F} 9 's' (float s) is 'h', which is not a number"),
        (given(s=torch.zeros(2)), "TC504", f"{F} 9 's' (float s) is a tensor of shape (2,)"),
        (given(on=[True]), "TC504", f"{F} 10 'on' (bool on) is [True], which is not a number"),
        (given(s=1j), "TC504", f"{F} 9 's' (float s) is 1j, which is not a number"),
    ],
    "not a tensor, address or None for a pointer": [
        (given(z=0.0), "TC505", f"{F} 1 'z' (float *z) is 0.0, not a tensor, address or None"),
        (given(z=True), "TC505", f"{F} 1 'z' (float *z) is True"),
        (given(z=numpy.zeros(4)), "TC505", f"{F} 1 'z' (float *z) is a NumPy array of shape (4,)"),
        (given(z=[torch.zeros(4)]), "TC505", f"{F} 1 'z' (float *z) is [tensor("),
        (given(z=torch.zeros(4).untyped_storage()), "TC505", f"{F} 1 'z' (float *z) is"),
        (given(z=-8), "TC505", f"{F} 1 'z' (float *z) is -8, which is not an address"),
        (given(z=1 << 64), "TC505", "which is not an address"),
    ],
    "a number that C could not hold": [
        (given(n=1 << 31), "TC506", f"{F} 4 'n' (int n) is 2147483648, which does not fit"),
        (given(n=-(1 << 31) - 1), "TC506", f"{F} 4 'n' (int n) is -2147483649"),
        (given(m=1 << 32), "TC506", f"{F} 5 'm' (unsigned m) is 4294967296"),
        (given(m=-(1 << 31) - 1), "TC506", f"{F} 5 'm' (unsigned m) is -2147483649"),
        (given(big=1 << 63), "TC506", f"{F} 6 'big' (long big) is 9223372036854775808"),
        (given(small=128), "TC506", f"{F} 7 'small' (char small) is 128"),
        (given(small=-129), "TC506", f"{F} 7 'small' (char small) is -129"),
        (given(n=float("inf")), "TC506", f"{F} 4 'n' (int n) is inf"),
        (given(n=float("nan")), "TC506", f"{F} 4 'n' (int n) is nan"),
        (given(s=10**400), "TC506", f"{F} 9 's' (float s) is 1000"),
    ],
    "a fraction for an int": [
        (given(n=19.5), "TC507", f"{F} 4 'n' (int n) is 19.5, which has a fraction"),
        (given(big=numpy.float32(0.5)), "TC507", f"{F} 6 'big' (long big) is 0.5"),
    ],
    "a missing define": [(lambda right: {**right, "bare": True}, "TC301", "'TILE'")],
    "a broken __multipleof": [
        (
            given(lda=12),
            "TC508",
            f"{F} 8 'lda' (int lda __multipleof(8)) is 12, which is not a multiple of 8",
        ),
        (given(lda=-1), "TC508", "is -1, which is not a multiple of 8"),
        (given(lda=numpy.int64(9)), "TC508", "is 9, which is not a multiple of 8"),
        (given(lda=True), "TC508", "which is not a multiple of 8"),
    ],
    "a broken __aligned": [
        (given(x=torch.zeros(33).half()[1:]), "TC509", f"{X} is at address 0x"),
        (given(x=0x1008), "TC509", "is at address 0x1008, which is not a multiple of 16"),
    ],
    "a negative grid": [
        (given(grid=-1), "TC512", "f: the grid is (-1,), but axis 0 takes 0 to 2147483647"),
        (given(grid=(1, -2)), "TC512", "but axis 1 takes 0 to 65535"),
        (given(grid=lambda opt: (0, 0, -3)), "TC512", "but axis 2 takes 0 to 65535"),
    ],
    "an oversized grid": [
        (given(grid=1 << 31), "TC512", "but axis 0 takes 0 to 2147483647"),
        (given(grid=(1, 65536)), "TC512", "but axis 1 takes 0 to 65535"),
        (given(grid=(1, 1, 65536)), "TC512", "but axis 2 takes 0 to 65535"),
        (given(grid=(-1, 0)), "TC512", "but axis 0 takes 0 to 2147483647"),
        (given(grid=(2**16, 2**15)), "TC512", "which is more than 2147483647 programs"),
        (given(grid=(2**31 - 1, 65535, 65535)), "TC512", "which is more than 2147483647 programs"),
    ],
    "a grid of another kind": [
        (given(grid=(1, 1, 1, 1)), "TC511", "which has 4 entries"),
        (given(grid=()), "TC511", "which has 0 entries"),
        (given(grid=1.5), "TC511", "its entries must be integers"),
        (given(grid="5"), "TC511", "its entries must be integers"),
        (given(grid=lambda opt: None), "TC511", "does its function return nothing?"),
        (given(grid={0: 3}), "TC511", "its entries must be integers"),
        (given(grid=(torch.zeros(2),)), "TC511", "its entries must be integers"),
    ],
    "a define that the grid reads and that is not given": [
        (given(grid=lambda opt: opt.OTHER), "TC514", "the options have no define 'OTHER'"),
        (given(grid=lambda opt: opt.d("OTHER")), "TC514", "the options have no define 'OTHER'"),
    ],
    "a define that is not a number, string or dtype": [
        (
            given(defines={"TILE": torch.zeros(1)}),
            "TC513",
            "define 'TILE' is a tensor: a keyword of a call",
        ),
        (given(defines={"TILE": None}), "TC513", "define 'TILE' must not be None"),
        (given(defines={"TILE": []}), "TC513", "define 'TILE' is an empty list"),
        (given(defines={3: 4}), "TC513", "the name of a define must be a str, not 3"),
    ],
    "num_warps out of range": [
        (given(num_warps=3), "TC517", "num_warps is 3"),
        (given(num_warps=0), "TC517", "num_warps is 0"),
        (given(num_warps=128), "TC517", "num_warps is 128"),
        (given(num_warps="4"), "TC517", "num_warps is '4'"),
    ],
    "a tensor without memory that a kernel can reach": [
        (given(z=meta()), "TC510", f"{F} 1 'z' (float *z) is a tensor on meta"),
        (given(z=torch.zeros(4, 4).to_sparse()), "TC510", "is a sparse_coo tensor"),
    ],
    "a tensor whose memory holds other numbers": [
        (
            given(z=torch._neg_view(torch.zeros(32))),
            "TC525",
            f"{F} 1 'z' (float *z) is a tensor with torch's lazy neg",
        ),
        (
            given(x=torch.zeros(32, dtype=torch.complex32).conj().imag),
            "TC525",
            f"{X} is a tensor with torch's lazy neg",
        ),
        (given(z=torch.zeros(32, dtype=torch.complex64).conj()), "TC525", "lazy conjugate bit"),
        (
            given(big=torch.zeros(4), flags=torch._neg_view(torch.zeros(4, dtype=torch.int8))),
            "TC525",
            "resolve_neg()",
        ),
    ],
    "a leaf that requires a gradient and is written": [
        (
            given(z=torch.zeros(32, requires_grad=True)),
            "TC524",
            f"{F} 1 'z' (float *z) is a leaf that requires a gr",
        ),
        (given(z=torch.nn.Parameter(torch.zeros(32))), "TC524", "and the kernel writes it"),
        (
            given(z=torch.zeros(2, 32, requires_grad=True)[1]),
            "TC524",
            "is a view of a leaf that requires a gradient",
        ),
    ],
}
CASES = [
    pytest.param(wrong, code, said, id=f"{what} {number}".replace(" ", "-"))
    for what, calls in REFUSALS.items()
    for number, (wrong, code, said) in enumerate(calls)
]


def split(arguments: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of the kernel, and the keywords of its call."""
    call = {name: value for name, value in arguments.items() if name in CALL}
    return [value for name, value in arguments.items() if name not in CALL], {"grid": grid, **call}


@pytest.mark.parametrize(("wrong", "code", "said"), CASES)
def test_refused(wrong: Wrong, code: str, said: str) -> None:
    right = fitting()
    wrongly = wrong(right)
    made = pytriton.kernel(TEXT) if wrongly.pop("bare", False) else kernel()
    arguments, call = split(wrongly)
    for _ in range(2):
        with pytest.raises(PytritonError) as caught:
            made(*arguments, **call)
        message = str(caught.value)
        assert f"[{code}]" in message
        assert said in message
        assert isinstance(caught.value, (LaunchError, CompileError))
        assert not right["z"].any(), "something was launched"
    made(*right.values(), grid=grid, defines={"TILE": 16})
    assert torch.equal(right["z"][:N], right["x"][:N].float() + 0.5)
    assert not right["z"][N:].any()


def test_the_list_is_complete() -> None:
    """docs/reliability.md has a row for each entry, and for nothing else."""
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text(encoding="utf-8")
    table = page.partition("### What is refused at a call")[2].partition("\n#")[0]
    rows = re.findall(r"^\| ([^|]+) \| (TC[^|]+) \|", table, re.MULTILINE)
    wanted = {what: ", ".join(sorted({code for _, code, _ in calls})) for what, calls in REFUSALS.items()}
    assert {what: codes.strip() for what, codes in rows} == wanted


@pytest.mark.parametrize(
    "changed",
    [
        {"flags": torch.zeros(4, dtype=torch.uint8)},
        {"flags": torch.zeros(4, dtype=torch.int8)},
        {"flags": torch.empty(0, dtype=torch.float64)},
        {"flags": None},
        {"flags": 0},
        {"flags": torch.empty(0, device="meta")},
        {"m": (1 << 32) - 1},
        {"m": -1},
        {"n": -(1 << 31), "expected": 0},
        {"n": numpy.int64(N)},
        {"n": torch.tensor(N)},
        {"n": float(N)},
        {"s": torch.tensor(0.5)},
        {"s": numpy.float64(0.5)},
        {"on": 1},
        {"on": numpy.bool_(True)},
        {"lda": 0},
        {"lda": -16},
        {"big": -(1 << 63)},
        {"small": -128},
        {"defines": {"OTHER": "unknown", "MORE": [1, 2]}},
    ],
    ids=str,
)
def test_accepted(changed: dict[str, Any]) -> None:
    """What looks odd and is right: old programs do it."""
    right = fitting()
    count = changed.get("expected", N)
    call = {"grid": grid, **{name: changed[name] for name in CALL & set(changed)}}
    arguments = {**right, **{name: value for name, value in changed.items() if name in NAMES}}
    kernel()(*arguments.values(), **call)
    assert torch.equal(right["z"][:count], right["x"][:count].float() + 0.5)
    assert not right["z"][count:].any()


class TestGrids:
    COUNT = "__global__ void count(int* z, int* seen) { atomic_add(z, 1); " + (
        "*(seen + get_program_id(0) + get_num_programs(0) * (get_program_id(1) + get_num_programs(1) * "
        "get_program_id(2))) = get_program_id(0) + 10 * get_program_id(1) + 100 * get_program_id(2); }"
    )

    @pytest.mark.parametrize(
        "sizes", [1, (1,), [1, 1], (1, 1, 1), (3,), (2, 3), (2, 3, 4), (1, 1, 5), (numpy.int32(2), True)]
    )
    def test_launched(self, sizes: Any) -> None:
        z, seen = torch.zeros(1, dtype=torch.int32), torch.full((24,), -1, dtype=torch.int32)
        pytriton.kernel(self.COUNT)(z, seen, grid=sizes)
        x, y, depth = [*(sizes if isinstance(sizes, (tuple, list)) else [sizes]), 1, 1][:3]
        wanted = [a + 10 * b + 100 * c for c in range(depth) for b in range(y) for a in range(x)]
        assert z.item() == len(wanted)
        assert seen[: len(wanted)].tolist() == wanted

    @pytest.mark.parametrize(
        "sizes", [0, (0,), (0, 1), (1, 0), (5, 5, 0), (0, 0, 0), (0, 65536), (2**31, 0), (65536, 65536, 0)]
    )
    @pytest.mark.parametrize("bench", [0, 3])
    def test_zero_launches_nothing(self, sizes: Any, bench: int) -> None:
        z, seen = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
        made = pytriton.kernel(self.COUNT)
        assert made(z, seen, grid=sizes, bench=bench) is None
        assert z.item() == 0
        made(z, seen, grid=1)
        assert z.item() == 1

    def test_zero_size_tensors(self) -> None:
        """A wrapper divides the size by the tile; nothing is launched, and all checks are made."""
        right = fitting()
        empty = {**right, "z": torch.empty(0), "x": torch.empty(0).half(), "n": 0}
        made = kernel()
        assert made(*empty.values(), grid=lambda opt: (pytriton.cdiv(0, opt.TILE),)) is None
        assert made(*empty.values(), grid=(1,)) is None  # every lane is masked off
        with pytest.raises(LaunchError, match="TC507"):
            made(*{**empty, "n": 0.5}.values(), grid=0)


class TestMemory:
    def test_freed_and_used_again(self) -> None:
        """An allocator gives the same address to another tensor, of another size or dtype.

        Whether torch's does so depends on what the process did before, so the test has an allocator of
        its own: every turn's tensors lie where those of the turn before lay, which are gone.
        """
        text = """\
__global__ void f(T* z, T* x, int n) {
  int r[64] = 0 ... 64;
  *?(r < n)(z + r) = *?(r < n)(x + r) + 1;
}"""
        types = {torch.float32: "float", torch.float64: "double", torch.int32: "int", torch.int16: "short"}
        made = {dtype: pytriton.kernel(text, {"T": name}) for dtype, name in types.items()}
        memory = bytearray(2 * 512)
        addresses = set()
        for turn in range(24):
            dtype = list(made)[turn % 4]
            z, x = (torch.frombuffer(memory, dtype=dtype, count=turn + 8, offset=at) for at in (0, 512))
            z.zero_()
            x.copy_(torch.arange(turn + 8))
            addresses.add((z.data_ptr(), x.data_ptr()))
            made[dtype](z, x, turn + 3, grid=1)
            assert torch.equal(z[: turn + 3], x[: turn + 3] + 1)
            assert not z[turn + 3 :].any()
            del x, z
        assert len(addresses) == 1

    def test_shared_storage(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Input and output overlap by one element: programs run in order on the interpreter, not as C."""
        monkeypatch.setenv("PYTRITON_CC", "none")
        text = "__global__ void f(int* z, int* x) { int i = get_program_id(0); *(z + i) = *(x + i) + 1; }"
        whole = torch.zeros(9, dtype=torch.int32)
        pytriton.kernel(text)(whole[1:], whole[:-1], grid=8)
        assert whole.tolist() == list(range(9))

    def test_views(self) -> None:
        """Strides are the kernel's business: a view is passed by its address."""
        text = "__global__ void f(int* z, int* x, int s) { int r[4] = 0 ... 4; *(z + r) = *(x + r * s); }"
        x = torch.arange(40, dtype=torch.int32).view(4, 10)
        for view, stride in ((x.t()[3], 10), (x[2, ::2], 2), (x.flatten()[5:], 1)):
            z = torch.zeros(4, dtype=torch.int32)
            pytriton.kernel(text)(z, view, stride, grid=1)
            assert torch.equal(z, view[:4])


class TestStillUsable:
    """What goes wrong in the middle of a call leaves the kernel as it was."""

    def test_an_error_in_the_grid(self) -> None:
        made = kernel()
        right = fitting()

        def broken(opt: Any) -> Any:
            raise MemoryError("of the user")

        with pytest.raises(MemoryError, match="of the user"):
            made(*right.values(), grid=broken)
        assert not right["z"].any()
        made(*right.values(), grid=grid)
        assert right["z"][:N].all()

    def test_a_kernel_called_by_its_own_grid(self) -> None:
        made = kernel()
        outer, inner = fitting(), fitting()

        def nested(opt: Any) -> tuple[int]:
            made(*inner.values(), grid=grid)
            return grid(opt)

        made(*outer.values(), grid=nested)
        assert torch.equal(outer["z"], inner["z"])
        assert outer["z"][:N].all()

    def test_a_text_that_fails_for_some_defines(self) -> None:
        made = pytriton.kernel(TEXT)
        right = fitting()
        for wrong in (15.5, "float", -4, 0):
            with pytest.raises(PytritonError):
                made(*right.values(), grid=1, defines={"TILE": wrong})
        made(*right.values(), grid=grid, defines={"TILE": 16})
        assert right["z"][:N].all()


class TestCuresOfWrittenTensors:
    """A copy of a tensor that the kernel writes would be filled and thrown away."""

    TEXT = "__global__ void f(float* y, float* x) { *(y + 0 ... 8) = *(x + 0 ... 8); }"

    def test_dtype(self) -> None:
        y, x = torch.zeros(8), torch.ones(8)
        for arguments, cure in (
            ((y.double(), x), "allocate it with dtype="),
            ((y, x.double()), "pass it as .to("),
        ):
            with pytest.raises(LaunchError, match=rf"TC502\]\nhelp: .*{re.escape(cure)}torch.float32"):
                pytriton.kernel(self.TEXT)(*arguments, grid=1)

    def test_strides(self) -> None:
        for at, cure in ((0, "copy_ it here afterwards"), (1, r"\.contiguous\(\), or pass its strides")):
            arguments = [torch.zeros(8), torch.ones(8)]
            arguments[at] = torch.ones(16)[::2]
            with pytest.warns(RuntimeWarning, match=rf"TC527\]\nhelp: .*{cure}"):
                pytriton.kernel(self.TEXT)(*arguments, grid=1)
