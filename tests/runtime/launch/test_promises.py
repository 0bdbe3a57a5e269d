"""Promises that launches break: dropped for that launch, reported once, refused under strict_promises."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.plan import Plan
from tests.runtime.stand_in import StandIn

# Its translation relies on the promise: every iteration is whole, so that nothing is masked.
SCORES = """\
__global__ void scores(float* X __aligned(16), float* Z, int K __multipleof(TK), int ld __multipleof(8)) {
  int rm[16] = 0 ... 16;
  int rk[TK] = 0 ... TK;
  float c[16, 16] = 0;
  for (int k = 0; k < K; k += TK) {
    float x[16, TK] = *?((rk + k < K)[newaxis, :])(X + rm[:, newaxis] * ld + rk[newaxis, :] + k);
    x = (rk + k < K)[newaxis, :] ? exp(x) : 0;
    c += x @ ^x;
  }
  *(Z + rm[:, newaxis] * 16 + rm[newaxis, :]) = c;
}
"""


def told(kernel: Kernel, *arguments: Any, **keywords: Any) -> list[str]:
    """The first line of each warning about a promise that a call draws."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        kernel(*arguments, **keywords)
    found = [str(one.message) for one in caught]
    return [message.split("\n")[0] for message in found if "[TC508]" in message or "[TC509]" in message]


@pytest.mark.parametrize(("size", "start"), [(64, 0), (0, 0), (41, 0), (48, 1), (9, 3)])
@pytest.mark.parametrize("tiles", [16, [16, 32]], ids=["one point", "a sweep"])
def test_results_are_right(size: int, start: int, tiles: Any, device: str) -> None:
    """A broken promise costs a warning, no digit, and no memory beside the tensor is read."""
    kernel = pytriton.kernel(SCORES, {"TK": tiles})
    memory = torch.full((16 * size + 64,), torch.nan, device=device)
    x = memory[start : start + 16 * size].view(16, size).normal_()
    z = torch.full((16, 16), torch.nan, device=device)
    seen = told(kernel, x, z, size, size, grid=(1,))
    largest = (
        32 if device == "cuda" and tiles != 16 else 16
    )  # a sweep is tuned on a GPU: all its points count
    broken = {"'K'": size % largest, "'ld'": size % 8, "'X'": start % 4}
    assert len(seen) == sum(map(bool, broken.values()))
    assert all(any(name in message for message in seen) == bool(rest) for name, rest in broken.items())
    torch.testing.assert_close(z, x.exp() @ x.exp().T, rtol=1e-4, atol=1e-4)
    for _ in range(4):
        z.fill_(torch.nan)
        assert told(kernel, x, z, size, size, grid=(1,)) == []
        torch.testing.assert_close(z, x.exp() @ x.exp().T, rtol=1e-4, atol=1e-4)


def test_the_words() -> None:
    kernel = pytriton.kernel(SCORES, {"TK": 16})
    with pytest.warns(RuntimeWarning) as caught:
        kernel(torch.randn(16, 20), torch.zeros(256), 16, 20, grid=(1,))
    (message,) = {str(one.message) for one in caught if "TC508" in str(one.message)}
    assert message == (
        "scores: argument 4 'ld' (int ld __multipleof(8)) is 20, which is not a multiple of 8: the promise is "
        "dropped for this launch [TC508]\nhelp: pass a multiple of 8, or drop __multipleof(8) from the source"
    )
    assert {one.filename for one in caught if "TC508" in str(one.message)} == {__file__}


def test_once_for_each_kernel_object_and_parameter() -> None:
    x, z = torch.randn(16, 64), torch.zeros(256)
    for _ in range(2):
        kernel = pytriton.kernel(SCORES, {"TK": 16})
        assert len(told(kernel, x, z, 63, 64, grid=(1,))) == 1
        assert len(told(kernel, x, z, 63, 63, grid=(1,))) == 1  # of ld; K was told
        assert told(kernel, x, z, 62, 62, grid=(1,), defines={"TK": 32}) == []
        assert told(kernel, x, z, 64, 64, grid=(1,)) == []


class TestStrict:
    @pytest.mark.parametrize("by", ["keyword", "variable", "pickle", "copy"])
    def test_refused(self, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
        if by == "variable":
            monkeypatch.setenv("PYTRITON_STRICT_PROMISES", "1")
        kernel = pytriton.kernel(SCORES, {"TK": 16}, strict_promises=by != "variable")
        monkeypatch.delenv("PYTRITON_STRICT_PROMISES", raising=False)
        kernel = {
            "pickle": lambda: pickle.loads(pickle.dumps(kernel)),
            "copy": lambda: copy.deepcopy(kernel),
        }.get(by, lambda: kernel)()
        x, z = torch.randn(16, 64), torch.zeros(256)
        for _ in range(2):
            with pytest.raises(LaunchError, match=r"'K' \(int K __multipleof\(TK\)\) is 63, .* 16 \[TC508\]"):
                kernel(x, z, 63, 64, grid=(1,))
            with pytest.raises(
                LaunchError, match=r"'X' .* is at address 0x.*, which is not a multiple of 16 \[TC509\]"
            ):
                kernel(x.view(-1)[1:], z, 48, 56, grid=(1,))
        assert not z.any()
        kernel(x, z, 64, 64, grid=(1,))
        assert z.all()

    @pytest.mark.parametrize("value", ["", "0"])
    def test_variables_that_ask_for_nothing(self, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTRITON_STRICT_PROMISES", value)
        kernel = pytriton.kernel(SCORES, {"TK": 16})
        assert len(told(kernel, torch.randn(16, 64), torch.zeros(256), 63, 64, grid=(1,))) == 1


class TestParametersThatAreNotRead:
    TEXT = """\
__global__ void fill(float* X, float* unused __aligned(16), int n, int ld __multipleof(8)) {
  int r[TILE] = 0 ... TILE;
  *?(r < n)(X + r * STRIDE) = r;
}
"""

    @pytest.mark.parametrize("strict", [False, True])
    def test_nobody_looks(self, strict: bool) -> None:
        kernel = pytriton.kernel(self.TEXT, {"TILE": 16, "STRIDE": "1"}, strict_promises=strict)
        x = torch.zeros(16)
        for _ in range(3):
            assert told(kernel, x, x[1:], 9, 9, grid=(1,)) == []
        assert x.tolist() == [*range(9), *[0] * 7]

    def test_another_define_reads_it(self) -> None:
        kernel = pytriton.kernel(self.TEXT, {"TILE": 16, "STRIDE": "1"})
        x = torch.zeros(32)
        assert told(kernel, x, x[1:], 2, 9, grid=(1,)) == []
        assert len(told(kernel, x, x[1:], 2, 9, grid=(1,), defines={"STRIDE": "ld"})) == 1

    def test_a_candidate_of_the_sweep_reads_it(self) -> None:
        kernel = pytriton.kernel(self.TEXT, {"TILE": 16, "STRIDE": ["1", "ld"]})
        assert len(told(kernel, torch.zeros(32), None, 2, 9, grid=(1,))) == 1


def test_it_holds_for_the_value_passed() -> None:
    """Not for what the parameter is assigned."""
    text = "__global__ void f(int* z, int K __multipleof(8)) { K = K / 8 + 1; *z = K; }"
    kernel = pytriton.kernel(text)
    z = torch.zeros(1, dtype=torch.int32)
    assert told(kernel, z, 8, grid=(1,)) == []
    assert z.item() == 2


def test_another_thread_calls_it_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = pytriton.kernel("__global__ void f(int* z, int n __multipleof(8)) { *z = n; }")
    plan = kernel._plan((), None, None, None)
    latest = property(lambda plan: plan, lambda plan, taken: None)  # the other thread keeps the promise
    monkeypatch.setattr(Plan, "_latest", latest, raising=False)
    with pytest.warns(RuntimeWarning, match="TC508"):
        assert plan._bound((None, 9))[0] is not plan


def test_bench_and_best_config() -> None:
    """What one asks a kernel about its last call is true of the translation that served it."""
    kernel = pytriton.kernel(SCORES, {"TK": 16})
    x, z = torch.randn(16, 41), torch.zeros(16, 16)
    with pytest.warns(RuntimeWarning, match="TC508"):
        assert kernel(x, z, 41, 41, grid=(1,), bench=1) >= 1
    torch.testing.assert_close(z, x.exp() @ x.exp().T, rtol=1e-4, atol=1e-4)
    assert kernel.best_config is not None
    assert kernel.best_config.defines == {"TK": 16}


class TestLaunches:
    """On a GPU: what each launch was compiled for, and which way it went."""

    TEXT = "__global__ void f(float* x __aligned(16), int n __multipleof(8)) { *x = n; }"

    def test_code(self, stand_in: StandIn) -> None:
        stand_in.expect(2)
        kernel, x = pytriton.kernel(self.TEXT), torch.zeros(64)
        wanted = {
            (x, 8): {0: 16, 1: 8},
            (x, 9): {0: 16},
            (x, 32): {0: 16, 1: 16},
            (x[1:], 8): {1: 8},
            (x[2:], 9): {0: 8},
        }
        for _ in range(4):
            for (tensor, n), attributes in wanted.items():
                with warnings.catch_warnings(action="ignore"):
                    kernel(tensor, n, grid=(1,))
                seen = stand_in.last()
                assert (seen.pointer(0), seen.integer(1)) == (tensor.data_ptr(), n)
                assert stand_in.attributes(kernel, seen) == attributes

    def test_both_have_a_fast_path(self, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
        stand_in.expect(2)
        kernel, x = pytriton.kernel(self.TEXT), torch.zeros(64)
        for n in (8, 9):
            with warnings.catch_warnings(action="ignore"):
                for _ in range(3):
                    kernel(x, n, grid=(1,))
        went: list[Plan] = []
        ready = Plan._launch_of
        monkeypatch.setattr(
            Plan, "_launch_of", lambda self, *given: (went.append(self), ready(self, *given))[1]
        )
        for n in (8, 9, 24, 11):
            kernel(x, n, grid=(1,))
            assert stand_in.last().integer(1) == n
        assert bool(went) != stand_in.has_fast_path
