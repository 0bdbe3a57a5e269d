"""Tiles through tensor descriptors on a GPU: the numbers of the plain point, in every way of launching."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from triton.runtime import _allocation

import pytriton
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.options.defines import Config
from pytriton.tuning.translated_config import TranslatedConfig
from tests.together import in_threads

sys.path.append(str(Path(__file__).parents[3] / "examples"))

import dot

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        not torch.cuda.is_available()
        or torch.version.hip is not None
        or torch.cuda.get_device_capability() < (9, 0),
        reason="needs a GPU that copies tiles by itself",
    ),
]

M, N, K = 384, 256, 192
TILES = {"TM": 128, "TN": 128, "TK": 64}


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """The points without descriptors that served launches of points with them."""
    found: list[Config] = []
    usual: Any = TranslatedConfig._plain.func

    def noted(candidate: TranslatedConfig) -> TranslatedConfig:
        found.append(candidate.config)
        made: TranslatedConfig = usual(candidate)
        return made

    monkeypatch.setattr(TranslatedConfig, "_plain", property(noted))
    return found


def kernel_of(descriptors: bool, at: bool = False, dtype: torch.dtype = torch.half, **more: Any) -> Kernel:
    defines = {**dot.text_defines(dtype, at, True), **TILES, **more}
    return pytriton.kernel(dot.SOURCE, autotune_configs=[Config(defines, 4, 3, descriptors=descriptors)])


def grid(opt: Any) -> tuple[int, int]:
    return M // opt.TM, N // opt.TN


def operands(
    at: bool = False, dtype: torch.dtype = torch.half
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    a = torch.randn((K, M) if at else (M, K), device="cuda").to(dtype)
    b = torch.randn((N, K), device="cuda").to(dtype)
    return a, b, torch.empty(M, N, device="cuda", dtype=dtype)


def launched(
    kernel: Kernel, a: torch.Tensor, b: torch.Tensor, lda: int | None = None, k: int = K
) -> torch.Tensor:
    c = torch.full((M, N), float("nan"), device="cuda", dtype=a.dtype)
    lda = a.stride(0) if lda is None else lda
    kernel(a, b, c, M, N, k, lda, b.stride(0), c.stride(0), grid=grid)
    return c


class TestNumbers:
    @pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16])
    @pytest.mark.parametrize("at", [False, True])
    @pytest.mark.parametrize(
        "tiles",
        [
            {},
            {"TM": 64, "TN": 256},
            {"TK": 32},
            {"TK": 128},
            {"TM": 32, "TN": 32, "TK": 16},
            {"TM": 128, "TN": 64},
        ],
    )
    def test_bit_for_bit(
        self, at: bool, tiles: dict[str, int], dtype: torch.dtype, plain: list[Config]
    ) -> None:
        a, b, _ = operands(at, dtype)
        k = K - K % tiles.get("TK", 64)
        found = launched(kernel_of(True, at, dtype, **tiles), a, b, k=k)
        assert torch.equal(found, launched(kernel_of(False, at, dtype, **tiles), a, b, k=k))
        want = (a.t() if at else a).double()[:, :k] @ b.double().t()[:k]
        assert (found.double() - want).norm() / want.norm() < 4e-3
        assert plain == []

    def test_windows(self, plain: list[Config]) -> None:
        """Parts of larger matrices, from the second multiple of 16 bytes on."""
        a = torch.randn(M + 3, K + 40, device="cuda", dtype=torch.half)[2 : M + 2, 8 : K + 8]
        b = torch.randn(N + 3, K + 72, device="cuda", dtype=torch.half)[1 : N + 1, 24 : K + 24]
        found = launched(kernel_of(True), a, b)
        assert torch.equal(found, launched(kernel_of(False), a, b))
        assert plain == []

    def test_rows_that_overlap(self, plain: list[Config]) -> None:
        """A descriptor's extents are larger than the distance of rows: nothing is cut off."""
        row = torch.randn(8 * M + K, device="cuda", dtype=torch.half)
        b = operands()[1]
        found = launched(kernel_of(True), row, b, 8)
        want = row.as_strided((M, K), (8, 1)).double() @ b.double().t()
        assert (found.double() - want).norm() / want.norm() < 1e-3
        assert torch.equal(found, launched(kernel_of(False), row, b, 8))
        assert plain == []

    def test_what_is_read_behind_the_rows(self, plain: list[Config]) -> None:
        """K is not a multiple of TK: the text reads on into the next row, and so do tiles."""
        a, b, _ = operands()
        found = launched(kernel_of(True), a[:, :96], b[:, :96], k=96)
        assert torch.equal(found, launched(kernel_of(True), a, b, k=128))
        assert plain == []


class TestWhatDoesNotSuit:
    """Such launches compute the same without descriptors."""

    @pytest.mark.parametrize("lda", [0, -K])
    def test_distances(self, lda: int, plain: list[Config]) -> None:
        a, b, _ = operands()
        kernel = kernel_of(True)
        launched(kernel, a, b)
        for _ in range(5):  # by every way of launching
            first = a if lda == 0 else a[-1:]
            found = launched(kernel, first, b, lda)
            want = launched(kernel, (a[:1].expand(M, K) if lda == 0 else a.flip(0)).contiguous(), b)
            assert torch.equal(found, want)
        assert len(plain) >= 5

    def test_alignment(self, plain: list[Config]) -> None:
        text = dot.SOURCE.replace(" __aligned(16)", "").replace(" __multipleof(8)", "")
        defines = {**dot.text_defines(torch.half, False, True), **TILES}
        kernel = pytriton.kernel(text, autotune_configs=[Config(defines, 4, 3, descriptors=True)])
        wide = torch.randn(M, K + 9, device="cuda", dtype=torch.half)
        a, b, _ = operands()
        for given in (a, wide[:, 1 : K + 1], wide[:, :K], a[:, : K - 64]):
            k = given.shape[1]
            found = launched(kernel, given, b[:, :k], k=k)
            assert torch.equal(found, launched(kernel_of(False), given.contiguous(), b[:, :k], k=k))
        assert len(plain) == 2

    def test_nothing_to_read(self) -> None:
        empty = torch.empty(0, K, device="cuda", dtype=torch.half)
        assert not launched(kernel_of(True), empty, operands()[1], K, 0).any()


class TestLaunch:
    def test_steady_calls(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """By the generated launcher."""
        kernel, (a, b, _) = kernel_of(True), operands()
        want = launched(kernel, a, b)
        for _ in range(3):
            assert torch.equal(launched(kernel, a, b), want)
        monkeypatch.setattr("pytriton.runtime.plan.Plan._launch_of", None)  # the slow path
        for scale in (2, 4):
            assert torch.equal(launched(kernel, a * scale, b), want * scale)

    def test_no_allocator_is_touched(self) -> None:
        before = _allocation._allocator.get()
        launched(kernel_of(True), *operands()[:2])
        assert _allocation._allocator.get() is before

    def test_streams(self) -> None:
        """Many launches on two streams at once, other memory asked for and written in between."""
        kernel = kernel_of(True)
        pairs = [operands()[:2] for _ in range(2)]
        wanted = [launched(kernel, *pair) for pair in pairs]
        streams = [torch.cuda.Stream(), torch.cuda.Stream()]
        torch.cuda.synchronize()
        found: list[tuple[int, torch.Tensor]] = []
        for _ in range(200):
            for which, stream in enumerate(streams):
                with torch.cuda.stream(stream):
                    found.append((which, launched(kernel, *pairs[which])))
                    torch.empty(4096, device="cuda", dtype=torch.uint8).fill_(255)
        torch.cuda.synchronize()
        assert all(torch.equal(each, wanted[which]) for which, each in found)

    def test_graph(self) -> None:
        kernel, (a, b, c) = kernel_of(True), operands()
        call: Callable[[], None] = lambda: kernel(a, b, c, M, N, K, K, K, N, grid=grid)  # noqa: E731
        for _ in range(4):
            call()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
            torch.empty(1 << 16, device="cuda", dtype=torch.uint8).fill_(255)
            call()
        for _ in range(5):
            a.copy_(torch.randn_like(a))
            c.fill_(float("nan"))
            junk = torch.full((1 << 20,), 255, device="cuda", dtype=torch.uint8)
            graph.replay()
            assert torch.equal(c, launched(kernel_of(False), a, b))
            del junk

    def test_threads(self) -> None:
        kernel, (a, b, _) = kernel_of(True), operands()
        want = launched(kernel, a, b)
        found: list[torch.Tensor] = []
        in_threads(lambda _: found.extend(launched(kernel, a, b) for _ in range(20)), range(4))
        torch.cuda.synchronize()
        assert len(found) == 80
        assert all(torch.equal(each, want) for each in found)


class TestTuning:
    def test_a_point_of_the_sweep(self) -> None:
        kernel = pytriton.kernel(
            dot.SOURCE, {**dot.text_defines(torch.half, False, True), **TILES, "TM": [64, 128]}, num_warps=4
        )
        a, b, _ = operands()
        found = launched(kernel, a, b)
        assert torch.equal(found, launched(kernel_of(False), a, b))
        tried = [config for config in kernel.timings if config.descriptors]
        assert {config.swizzle for config in tried} == {0, 8}
        assert all(isinstance(kernel.timings[config], float) for config in tried)

    def test_not_for_what_does_not_suit(self) -> None:
        kernel = pytriton.kernel(
            dot.SOURCE, {**dot.text_defines(torch.half, False, True), **TILES, "TM": [64, 128]}, num_warps=4
        )
        a, b, _ = operands()
        launched(kernel, a, b, 0)
        assert kernel.best_config is not None
        assert not kernel.best_config.descriptors
        assert all("do not suit" in str(why) for config, why in kernel.timings.items() if config.descriptors)
