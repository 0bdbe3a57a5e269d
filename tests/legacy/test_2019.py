"""2019: output names, defines as keywords, the grid last, triton.function and its registries."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch

import pytriton as triton
from tests.together import in_threads

# A product with an axis of each kind: macros choose the types, the layout and the tile.
DOT = """\
void dot(TYPE * A __noalias __readonly __aligned(16), TYPE * B __noalias __readonly __aligned(16),
         float * C __noalias __writeonly __aligned(16), int M, int N, int K, int lda, int ldb, int ldc) {
  int ridx = get_program_id(0);
  int ridy = get_program_id(1);
  int rm[TM] = ridx * TM + 0 ... TM;
  int rn[TN] = ridy * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  float c[TM, TN] = 0;
  TYPE* pa[SHAPE_A] = A + rk[BROADCAST_AK] * STRIDE_AK + rm[BROADCAST_AM] * STRIDE_AM;
  TYPE* pb[SHAPE_B] = B + rk[BROADCAST_BK] * STRIDE_BK + rn[BROADCAST_BN] * STRIDE_BN;
  for (int k = K; k > 0; k = k - TK) {
    bool checka[SHAPE_A] = rk[BROADCAST_AK] < k;
    bool checkb[SHAPE_B] = rk[BROADCAST_BK] < k;
    TYPE a[SHAPE_A] = checka ? *pa : 0;
    TYPE b[SHAPE_B] = checkb ? *pb : 0;
    c += USE_A @ USE_B;
    pa = pa + TK * STRIDE_AK;
    pb = pb + TK * STRIDE_BK;
  }
  float * pc[TM, TN] = C + rm[:, newaxis] * ldc + rn[newaxis, :];
  bool checkc[TM, TN] = (rm < M)[:, newaxis] && (rn < N)[newaxis, :];
  *?(checkc) pc = c;
}
"""


class Dot(triton.function):
    """The operator as it was written then: kernels by data type, macros by layout, grid last."""

    kernel = triton.kernel(DOT, ["C"])

    @staticmethod
    def _call(a: torch.Tensor, b: torch.Tensor, trans_a: bool, trans_b: bool, tile: int, bench: int) -> Any:
        m, k = a.shape[::-1] if trans_a else a.shape
        n = b.shape[0] if trans_b else b.shape[1]
        c = triton.empty([m, n]).to(a.device)
        lda, ldb, ldc = a.stride(0), b.stride(0), c.stride(0)
        macros = {
            "TYPE": "float",
            "TM": [16, 32],
            "TN": tile,
            "TK": 16,
            "STRIDE_AM": "1" if trans_a else "lda",
            "STRIDE_AK": "lda" if trans_a else "1",
            "STRIDE_BN": "ldb" if trans_b else "1",
            "STRIDE_BK": "1" if trans_b else "ldb",
            "BROADCAST_AM": "newaxis, :" if trans_a else ":, newaxis",
            "BROADCAST_AK": ":, newaxis" if trans_a else "newaxis, :",
            "BROADCAST_BN": ":, newaxis" if trans_b else "newaxis, :",
            "BROADCAST_BK": "newaxis, :" if trans_b else ":, newaxis",
            "SHAPE_A": "TK, TM" if trans_a else "TM, TK",
            "SHAPE_B": "TN, TK" if trans_b else "TK, TN",
            "USE_A": "^a" if trans_a else "a",
            "USE_B": "^b" if trans_b else "b",
        }
        grid = lambda opt: [triton.cdiv(m, opt.d("TM")), triton.cdiv(n, opt.d("TN"))]  # noqa: E731
        Dot.kernel(a, b, c, m, n, k, lda, ldb, ldc, grid, bench=bench, **macros)
        return c

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor, **keywords: Any) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        ctx.keywords = {"trans_a": False, "trans_b": False, "tile": 16, "bench": 0, **keywords}
        return Dot._call(a, b, **ctx.keywords)  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, dc: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a, b = ctx.saved_tensors
        at, bt = ctx.keywords["trans_a"], ctx.keywords["trans_b"]
        dc = dc.contiguous()
        da = Dot._call(b, dc, bt, True, 16, 0) if at else Dot._call(dc, b, False, not bt, 16, 0)
        db = Dot._call(dc, a, True, at, 16, 0) if bt else Dot._call(a, dc, not at, False, 16, 0)
        return da, db


dot = Dot.apply


@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("trans_a", [False, True])
def test_2019_function(trans_a: bool, trans_b: bool) -> None:
    torch.manual_seed(0)
    a = torch.randn(*((20, 24) if trans_a else (24, 20)), requires_grad=True)
    b = torch.randn(*((40, 20) if trans_b else (20, 40)), requires_grad=True)
    dy = torch.randn(24, 40)
    y = dot(a, b, trans_a=trans_a, trans_b=trans_b)
    y.backward(dy)
    got = [y.detach(), a.grad, b.grad]
    a.grad = b.grad = None
    wanted = (a.t() if trans_a else a) @ (b.t() if trans_b else b)
    wanted.backward(dy)
    for ours, theirs in zip(got, [wanted.detach(), a.grad, b.grad], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


def test_2019_ctx_registry() -> None:
    a, b = torch.randn(16, 16), torch.randn(16, 16)
    y = dot(a, b, tile=32)
    assert triton.ctx_registry[y].keywords["tile"] == 32
    other = dot(a, b)
    assert triton.ctx_registry[other].keywords["tile"] == 16
    with pytest.raises(KeyError):
        triton.ctx_registry[a]
    gc.collect()  # what other tests left
    count = len(triton.ctx_registry)
    del y
    gc.collect()
    assert len(triton.ctx_registry) == count - 1


def test_2019_bench_registry() -> None:
    y = dot(torch.randn(16, 16), torch.randn(16, 16), bench=3)
    time = triton.bench_registry[y]
    assert isinstance(time, int)
    assert time > 1000  # the interpreter is no faster than a microsecond


def test_2019_bench_registry_is_keyed_by_the_named_output() -> None:
    src = "void f(int *X, int *Y) { *X = 1; *Y = 2; }"
    x, y = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    triton.kernel(src, ["Y"])(x, y, (1,), bench=True)
    assert y in triton.bench_registry
    assert x not in triton.bench_registry
    triton.kernel(src)(x, y, (1,), bench=True)
    assert x in triton.bench_registry


class Several(triton.function):
    """Two results, a keyword, an argument that is not a tensor."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: float, shift: float = 0.0) -> Any:
        ctx.factor = factor
        if shift == 7:
            inner = Several.apply(x, factor, shift=1.0)[0]
            return inner + 6, x * 1
        return x * factor + shift, x * 2

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor, dz: torch.Tensor) -> Any:
        return dy * ctx.factor + dz * 2, None


def test_2019_function_several_results() -> None:
    x = torch.ones(3, requires_grad=True)
    y, z = Several.apply(x, 3.0, shift=-1.0)
    assert y.tolist() == [2.0] * 3
    assert triton.ctx_registry[y] is triton.ctx_registry[z]
    (y.sum() + 10 * z.sum()).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [23.0] * 3


def test_2019_function_nested() -> None:
    y, _ = Several.apply(torch.ones(2), 2.0, shift=7)
    assert y.tolist() == [9.0, 9.0]


def test_2019_function_in_threads() -> None:
    found: dict[int, set[float]] = {}

    def work(number: int) -> None:
        found[number] = {
            Several.apply(torch.zeros(1), 1.0, shift=float(number))[0].item() for _ in range(200)
        }

    in_threads(work, range(10, 14))
    assert found == {number: {float(number)} for number in range(10, 14)}


def test_2019_function_subclass_of_a_subclass() -> None:
    class Half(Several):
        @staticmethod
        def backward(ctx: Any, dy: torch.Tensor, dz: torch.Tensor) -> Any:
            return dy * 0.5, None

    Several.apply(torch.ones(1), 1.0)
    x = torch.ones(1, requires_grad=True)
    Half.apply(x, 3.0)[0].backward()
    assert x.grad is not None
    assert x.grad.item() == 0.5


def test_2019_function_without_forward() -> None:
    class Nothing(triton.function):
        pass

    with pytest.raises(NotImplementedError, match="static method forward"):
        Nothing.apply(torch.ones(1))


def test_2019_id_dict() -> None:
    known = triton.utils.id_dict()
    x, y = torch.zeros(3), torch.zeros(3)
    known[x] = "x"
    assert (known[x], x in known, y in known, len(known)) == ("x", True, False, 1)
    del x
    gc.collect()
    assert len(known) == 0


def test_2019_shape_and_cdiv() -> None:
    assert triton.shape(torch.zeros(2, 3)) == (2, 3)
    assert [triton.cdiv(a, 4) for a in (0, 1, 4, 5, -5)] == [0, 1, 1, 2, -1]
    assert triton.cdiv_sum([5, 8, 9], 4) == 7
    assert triton.cdiv_sum([], 4) == 0


def test_2019_missing_operators() -> None:
    with pytest.raises(AttributeError, match=r"triton\.ops was a ready-made operator"):
        triton.ops.dot  # noqa: B018
    assert not hasattr(triton, "nn")
