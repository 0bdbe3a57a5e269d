"""The classic dot gives torch's numbers: four transpositions, every listed tile, both gradients.

Where operands are small whole numbers every sum is exact, and the result must equal torch's bit for
bit: that tells a wrong index from a rounding. Random operands then bound the rounding.
"""

from __future__ import annotations

from itertools import product

import dot as classic
import pytest
import torch
from bounds import assert_close, assert_gradients, assert_nothing_beside, integers

TRANSPOSITIONS = list(product((False, True), repeat=2))
POINTS = list(product(*classic.TILES.values()))
TYPES = [torch.float16, torch.float32]
BY_TRANSPOSITION = pytest.mark.parametrize(("at", "bt"), TRANSPOSITIONS)


def shapes(m: int, n: int, k: int, at: bool, bt: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """How A and B are stored."""
    return (k, m) if at else (m, k), (n, k) if bt else (k, n)


def reference(a: torch.Tensor, b: torch.Tensor, at: bool, bt: bool) -> torch.Tensor:
    """op(a) @ op(b) in double."""
    x, y = a.double(), b.double()
    return (x.t() if at else x) @ (y.t() if bt else y)


def check_exact(
    dtype: torch.dtype, device: str, size: tuple[int, int, int], at: bool, bt: bool, tile: int
) -> None:
    """Whole numbers through one tile: equal to torch in every bit (sums stay below 2048)."""
    shape_a, shape_b = shapes(*size, at, bt)
    top = 3 if size[2] <= 200 else 1
    a, b = integers(shape_a, dtype, device, top), integers(shape_b, dtype, device, top)
    point = dict(zip(classic.TILES, POINTS[tile], strict=True))
    got = classic.dot(a, b, at, bt, point)
    assert torch.equal(got.double(), reference(a, b, at, bt)), f"{point} {at=} {bt=}"


@pytest.mark.parametrize("tile", range(len(POINTS)), ids=["x".join(map(str, p)) for p in POINTS])
@pytest.mark.sampled(9)
def test_every_tile(tile: int, dtype: torch.dtype) -> None:
    """Two programs, four steps; each tile meets one transposition, and all four are met often."""
    tm, tn, tk = POINTS[tile]
    at, bt = TRANSPOSITIONS[(tile + TYPES.index(dtype)) % 4]
    check_exact(dtype, "cpu", (tm, 2 * tn, 4 * tk), at, bt, tile)


@BY_TRANSPOSITION
@pytest.mark.parametrize("tile", [0, 5, 22])
@pytest.mark.sampled(4)
def test_every_transposition(dtype: torch.dtype, at: bool, bt: bool, tile: int) -> None:
    tm, tn, tk = POINTS[tile]
    check_exact(dtype, "cpu", (2 * tm, tn, 3 * tk), at, bt, tile)


@pytest.mark.gpu
@BY_TRANSPOSITION
def test_every_tile_gpu(dtype: torch.dtype, at: bool, bt: bool) -> None:
    for tile in range(len(POINTS)):
        check_exact(dtype, "cuda", (640, 384, 512), at, bt, tile)


@BY_TRANSPOSITION
def test_gradients(dtype: torch.dtype, at: bool, bt: bool, device: str) -> None:
    """The swept program; on a GPU all 54 points, timed again for the shapes of both gradients."""
    size = (96, 64, 32) if device == "cpu" else (1024, 768, 512)
    a, b = (torch.randn(shape, device=device).to(dtype) for shape in shapes(*size, at, bt))
    assert_gradients(lambda a, b: classic.dot(a, b, at, bt), lambda a, b: reference(a, b, at, bt), a, b)


@pytest.mark.gpu
def test_large_gpu(dtype: torch.dtype) -> None:
    a, b = torch.randn(2, 4096, 4096, device="cuda").to(dtype)
    got = classic.dot(a, b, tiles={"TM": 128, "TN": 128, "TK": 32})
    assert_close(got, a.double() @ b.double(), terms=4096)


@pytest.mark.parametrize("tk", [8, 16, 32])
def test_float_is_true_fp32(tk: int, device: str) -> None:
    """K = 512 to 1e-6, where TF32 gives 7e-4; then a product that needs all 24 bits, exactly."""
    tiles = {"TM": 32, "TN": 32, "TK": tk}
    a, b = torch.randn(32, 512, device=device), torch.randn(512, 64, device=device)
    assert_close(classic.dot(a, b, tiles=tiles), a.double() @ b.double())
    a, b = torch.zeros(32, 32, device=device), torch.zeros(32, 32, device=device)
    a[:, 3], b[3, :] = 1 + 2.0**-11, 1 + 2.0**-12
    want = torch.full((32, 32), (1 + 2.0**-11) * (1 + 2.0**-12), device=device)
    assert torch.equal(classic.dot(a, b, tiles=tiles), want)


@pytest.mark.parametrize("tk", [8, 16, 32])
def test_half_accumulates_in_float(tk: int, device: str) -> None:
    """2048 + 1 is 2048 in half: a sum kept in half would never leave 2048."""
    a = torch.ones(32, 128, dtype=torch.float16, device=device)
    b = torch.ones(128, 32, dtype=torch.float16, device=device)
    b[0, :] = 2048
    got = classic.dot(a, b, tiles={"TM": 32, "TN": 32, "TK": tk})
    assert torch.equal(got, torch.full_like(got, 2176))  # 2048 + 127 lies halfway, 2176 is even
    a, b = torch.randn(32, 512, device=device).half(), torch.randn(512, 32, device=device).half()
    assert_close(classic.dot(a, b), a.double() @ b.double())


def test_infinities_and_nan(dtype: torch.dtype, device: str) -> None:
    """A NaN in row 5 of A spoils row 5 of C alone; infinities add up, or cancel to NaN."""
    inf = float("inf")
    a, b = integers((64, 16), dtype, device), torch.ones(16, 64, dtype=dtype, device=device)
    a[5, 2], a[40, 7] = float("nan"), inf
    a[41, 0], a[41, 1] = inf, -inf
    b[:, 9] = -1
    got = classic.dot(a, b, tiles={"TM": 32, "TN": 64, "TK": 8})
    want = a.double() @ b.double()
    assert torch.equal(got.isnan(), want.isnan())
    assert torch.equal(got.double().nan_to_num(nan=0.0), want.nan_to_num(nan=0.0))
    assert bool(got[5].isnan().all())
    assert bool((got[40] == torch.where(b[0] > 0, inf, -inf)).all())


def test_no_inner_size(dtype: torch.dtype, device: str) -> None:
    """K = 0: the loop never runs, the test comes first, and nothing is loaded before it."""
    c = torch.full((32, 64), 7, dtype=dtype, device=device)
    none = torch.empty(0, dtype=dtype, device=device)
    defines = classic.text_defines(dtype, at=False, bt=False) | {"TM": 32, "TN": 32, "TK": 16}
    classic.kernel(none, none, c, 32, 64, 0, 8, 64, 64, grid=(1, 2), defines=defines)
    assert not c.any()


def test_result_is_part_of_a_larger_tensor(device: str) -> None:
    """Rows of C stand apart; what lies between them stays."""
    a, b = integers((64, 32), torch.float32, device), integers((32, 32), torch.float32, device)
    c = torch.full((64, 48), 7.0, device=device)[:, :32]
    defines = classic.text_defines(a.dtype, at=False, bt=False) | {"TM": 32, "TN": 32, "TK": 16}
    classic.kernel(a, b, c, 64, 32, 32, 32, 32, 48, grid=(2, 1), defines=defines)
    assert torch.equal(c, a @ b)
    assert_nothing_beside(c)
