"""Launches on packed copies: the same numbers, and which launches run without."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from pytriton.errors import Report
from pytriton.lang.check.checker import check as checked
from pytriton.lang.read import read
from pytriton.lang.tree.typed import Declare, KernelDef
from pytriton.passes.analysis.intervals import intervals
from pytriton.runtime.kernel import plan_of
from pytriton.runtime.launch.arguments import BY_16, PLAIN
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText, PlanSettings
from pytriton.runtime.plan import Plan
from pytriton.settings import Settings
from pytriton.source import Source
from pytriton.tuning.sweep import Sweep, copied, own_points, users_point
from pytriton.tuning.translated_config import TranslatedConfig
from tests.passes.speed.test_packing import ANY_STRIDES, DEFINES, TEXT, TRANSPOSED_B, UP, changed

sys.path.append(str(Path(__file__).parents[2] / "examples"))
import matmul_grouped

TYPES = {"half": torch.half, "float": torch.float, "bfloat16": torch.bfloat16}
GROUPED = {"TYPE": "half", "TM": 32, "TN": 16, "TK": 16, "GROUP": 2}


@pytest.fixture(autouse=True)
def _poisoned_memory() -> Iterator[None]:
    """What ``torch.empty`` gives is full of ones: of NaN, seen as numbers."""
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def packed_plan(text: str, defines: dict[str, Any], packed: bool = True, check: bool = False) -> Plan:
    configs = [Config(defines, packed=packed)]
    return plan_of(KernelText(Source(text, "product.c")), configs, PlanSettings(check=check))


def window(
    rows: int, columns: int, dtype: torch.dtype, seed: int, start: int = 3, pitch: int = 0
) -> torch.Tensor:
    """A matrix of random numbers amid NaN; its rows lie ``pitch`` elements apart."""
    pitch = pitch or columns
    memory = torch.full((rows * pitch + 2 * start + columns,), float("nan"), dtype=dtype)
    found = memory[start:].as_strided((rows, columns), (pitch, 1), start)
    generator = torch.Generator().manual_seed(seed)
    return found.copy_(torch.randn(rows, columns, generator=generator))


def cdiv(size: int, tile: int) -> int:
    return -(-size // tile)


class TestNumbers:
    """Bit for bit those of the same point without copies."""

    @pytest.mark.parametrize("type_", TYPES)
    @pytest.mark.parametrize(("m", "n", "k"), [(33, 17, 23), (31, 16, 16), (1, 1, 1), (64, 47, 129)])
    @pytest.mark.parametrize("changes", [(), UP, TRANSPOSED_B])
    @pytest.mark.sampled(9)
    def test_of_a_product(
        self, changes: tuple[tuple[str, str], ...], m: int, n: int, k: int, type_: str
    ) -> None:
        dtype, text, defines = TYPES[type_], changed(*changes), {**DEFINES, "TYPE": type_}
        a = window(m, k, dtype, 1)
        b = window(n, k, dtype, 2, pitch=k + 2) if changes is TRANSPOSED_B else window(k, n, dtype, 2)
        right = b.t() if changes is TRANSPOSED_B else b
        grid = (cdiv(m, 32), cdiv(n, 16))
        results = []
        for packed in (True, False):
            plan = packed_plan(text, defines, packed)
            c = torch.full((m, n), float("nan"), dtype=dtype)
            arguments = [a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0)]
            values = plan.first.binder.bind(arguments)[0]
            assert plan.first.suits((*grid, 1), values)
            assert ("pitch_a" in plan.first.translation.text) is packed
            plan.call(arguments, grid)
            results.append(c)
        assert torch.equal(*results)
        want = a.double() @ right.double()
        assert (results[0].double() - want).norm() <= 1e-2 * want.norm()

    @pytest.mark.parametrize("turned", [(), (0,), (1,), (0, 1)])
    def test_of_views(self, turned: tuple[int, ...]) -> None:
        """Any strides: the copies have rows along the tiles."""
        m, n, k = 67, 45, 71
        a, b = window(m, k, torch.half, 1), window(k, n, torch.half, 2)
        a = window(k, m, torch.half, 1).t() if 0 in turned else a
        b = window(n, k, torch.half, 2).t() if 1 in turned else b[:, :]
        results = []
        for packed in (True, False):
            c = torch.full((m, n), float("nan"), dtype=torch.half)
            arguments = [a, b, c, m, n, k, *a.stride(), *b.stride(), n]
            plan = packed_plan(matmul_grouped.SOURCE, GROUPED, packed)
            plan.call(arguments, (cdiv(m, 32) * cdiv(n, 16),))
            results.append(c)
        assert torch.equal(*results)
        assert not results[0].isnan().any()

    def test_bits_of_bytes(self) -> None:
        """Infinities and NaN come through, and integers of a byte."""
        a, b = window(5, 7, torch.half, 1), window(7, 9, torch.half, 2)
        a[1, 2], b[3, 4] = float("inf"), float("nan")
        results = []
        for packed in (True, False):
            c = torch.zeros(5, 9, dtype=torch.half)
            packed_plan(TEXT, DEFINES, packed).call([a, b, c, 5, 9, 7, 7, 9, 9], (1, 1))
            results.append(c.view(torch.int16))
        assert torch.equal(*results)

    def test_a_part_of_the_grid(self) -> None:
        """M says more rows than there are; the programs of this grid do not reach them, nor does the copy."""
        a, b = window(32, 23, torch.half, 1), window(23, 17, torch.half, 2)
        c = torch.zeros(32, 17, dtype=torch.half)
        plan = packed_plan(TEXT, DEFINES)
        arguments = [a, b, c, 1 << 20, 17, 23, 23, 17, 17]
        copies = plan.first._copies
        assert copies is not None
        found = copies.of((1, 2, 1), plan.first.binder.bind(arguments)[0])
        assert found is not None
        assert [copy.of.rows for copy in found] == [32, 23]
        plan.call(arguments, (1, 2))
        want = a.double() @ b.double()
        assert (c.double() - want).norm() <= 1e-2 * want.norm()


GOOD = {"A": 1 << 20, "B": 2 << 20, "C": 3 << 20, "M": 67, "N": 45, "K": 71, "lda": 71, "ldb": 45, "ldc": 45}


def suits(grid: tuple[int, int, int] = (3, 3, 1), text: str = TEXT, **other: Any) -> bool:
    candidate = packed_plan(text, DEFINES).first
    return candidate.suits(grid, list({**GOOD, **other}.values()))


class TestWhatSuits:
    def test_the_usual(self) -> None:
        assert suits()

    @pytest.mark.parametrize(
        "other",
        [
            *({"A": 0}, {"M": 0}, {"N": -1}, {"K": 0}, {"lda": -71}, {"ldb": -1}),
            *({"lda": 1 << 30}, {"K": 2**31 - 20, "lda": 1}, {"N": 2**31 - 20}, {"ldc": 1 << 30}),
            {"N": 1 << 25, "K": 1 << 7},  # the copy has more elements than 32 bits count
        ],
    )
    def test_what_does_not(self, other: dict[str, int]) -> None:
        assert not suits(**other)

    def test_how_much_is_copied(self) -> None:
        """Rows of 128 and of 64 halfs, 67 and 80 of them; nothing where copies do not suit."""
        candidate = packed_plan(TEXT, DEFINES).first
        assert candidate.copied((3, 3, 1), list(GOOD.values())) == 2 * (67 * 128 + 80 * 64)
        assert candidate.copied((3, 3, 1), list({**GOOD, "A": GOOD["C"]}.values())) == 0
        assert packed_plan(TEXT, DEFINES, packed=False).first.copied((3, 3, 1), list(GOOD.values())) == 0

    def test_what_is_aligned_needs_no_copy(self) -> None:
        even = {"M": 64, "N": 48, "K": 64, "lda": 64, "ldb": 48}
        assert not suits(**even)
        assert suits(**{**even, "A": GOOD["A"] + 2})
        assert suits(**{**even, "lda": 65})
        assert suits(**{**even, "K": 63})

    @pytest.mark.parametrize("name", ["A", "B"])
    def test_what_is_written_is_not_copied(self, name: str) -> None:
        bytes_of_c = 2 * (66 * 45 + 45)
        bytes_read = {"A": 2 * (66 * 71 + 71), "B": 2 * (70 * 45 + 45)}[name]
        assert not suits(C=GOOD[name])
        assert not suits(C=GOOD[name] + bytes_read - 2)
        assert not suits(C=GOOD[name] - bytes_of_c + 2)
        assert suits(C=GOOD[name] + bytes_read)
        assert suits(C=GOOD[name] - bytes_of_c)

    def test_what_the_mask_of_a_store_does_not_bound(self) -> None:
        """The tiles of the grid do: 3 x 3 of 32 x 16 elements."""
        text = changed(("*?(rm[:, newaxis] < M && rn[newaxis, :] < N) pc", "*pc"))
        end = 2 * (95 * 45 + 48)
        assert suits(text=text, C=GOOD["A"] - end)
        assert not suits(text=text, C=GOOD["A"] - end + 2)

    @pytest.mark.parametrize(
        "changes",
        [
            (("k -= TK", "k -= 8"), ("pa += TK", "pa += 8"), ("pb += TK", "pb += 8")),
            (("rk[TK] = 0 ... TK", "rk[TK] = 8 + 0 ... TK"),),
            (("rk[TK] = 0 ... TK", "rk[TK] = pn + 0 ... TK"),),
            (("rm[TM] = pm * TM", "rm[TM] = pm * TM - 1"),),
        ],
    )
    def test_tiles_that_leave_the_copy(self, changes: tuple[tuple[str, str], ...]) -> None:
        """The last step would reach beyond what is copied, or the first before it."""
        assert not suits(text=changed(*changes))

    def test_steps_that_leave_something_out(self) -> None:
        """Each program along the third axis takes every other tile: what they reach lies in the copy."""
        text = changed(
            *(
                ("rk[TK] = 0 ... TK", "rk[TK] = get_program_id(2) * TK + 0 ... TK"),
                ("k -= TK", "k -= TK * 2"),
            ),
            *(("pa += TK", "pa += TK * 2"), ("pb += TK", "pb += TK * 2")),
        )
        assert suits((3, 3, 2), text=text)
        assert not suits((3, 3, 3), text=text)

    @pytest.mark.parametrize(
        ("programs", "fits"), [(9, True), (3, True), (12, True), (13, False), (100, False)]
    )
    def test_grids_of_the_right_size(self, programs: int, fits: bool) -> None:
        """3 x 3 programs are meant; of more than 12 some have a negative id in the text."""
        candidate = packed_plan(matmul_grouped.SOURCE, GROUPED).first
        values = [1 << 20, 2 << 20, 3 << 20, 67, 45, 71, 71, 1, 45, 1, 45]
        assert candidate.suits((programs, 1, 1), values) is fits

    def test_overlapping_launches_run_without(self) -> None:
        """C is A: what is right then the plain point says, and the packed one says the same."""
        results = []
        for packed in (True, False):
            a, b = window(32, 16, torch.half, 1, start=8), window(16, 16, torch.half, 2)
            packed_plan(TEXT, DEFINES, packed).call([a, b, a, 32, 16, 16, 16, 16, 16], (1, 1))
            results.append(a)
        assert torch.equal(*results)


def test_checked_code_reads_no_copies() -> None:
    a, b = window(33, 23, torch.half, 1), window(23, 17, torch.half, 2)
    results = []
    for check in (True, False):
        c = torch.zeros(33, 17, dtype=torch.half)
        plan = packed_plan(TEXT, DEFINES, check=check)
        plan.call([a, b, c, 33, 17, 23, 23, 17, 17], (2, 2))
        results.append(c)
    assert torch.equal(*results)
    text = KernelText(Source(TEXT, "product.c"))
    assert "pitch" not in text.translate(Config(DEFINES, packed=True), checked=True).text


def test_copies_are_aligned() -> None:
    """The code for copies does not depend on where the operands begin."""
    candidate = packed_plan(TEXT, DEFINES).first
    assert isinstance(candidate, TranslatedConfig)
    assert candidate._compiled_for((PLAIN,) * 9) == (BY_16, BY_16, *(PLAIN,) * 7)


class TestIntervals:
    """Bounds that hold for each element in each program, found by trying them all."""

    TEXT = """
__global__ void f(int *x, int n, int m) {
  int id = get_program_id(0);
  int count = (n + 7) / 8;
  int first = id / (3 * count) * 3;
  int some = min(m - first, 3);
  int a = first + id % 5;
  int b = max(id, n) - min(id * 2, 7);
  int c = (id + 1) * (n - 20);
  int d[8] = id * 8 + 0 ... 8;
  *x = some + a + b + c + id;
}
"""

    @pytest.mark.parametrize(("n", "m", "programs"), [(30, 9, 20), (5, 2, 3), (17, 40, 100)])
    def test_of_a_text(self, n: int, m: int, programs: int) -> None:
        candidate = packed_plan(TEXT, DEFINES).first
        assert candidate.translation.traits.packing is not None
        values: dict[str, list[int]] = {name: [] for name in ("first", "some", "a", "b", "c", "d")}
        for at in range(programs):
            count = (n + 7) // 8
            first = at // (3 * count) * 3
            values["first"].append(first)
            values["some"].append(min(m - first, 3))
            values["a"].append(first + at % 5)
            values["b"].append(max(at, n) - min(at * 2, 7))
            values["c"].append((at + 1) * (n - 20))
            values["d"] += [at * 8, at * 8 + 7]
        kernel = self.kernel()
        declared = [statement for statement in kernel.body if isinstance(statement, Declare)]
        known = {statement.symbol: statement.value for statement in declared if statement.value is not None}
        found = intervals(known, dict(zip(kernel.parameters[1:], (n, m), strict=True)), (programs, 1, 1))
        for statement in declared:
            if statement.symbol.name in values:
                interval = None if statement.value is None else found.of(statement.value)
                assert interval is not None, statement.symbol.name
                low, high = interval
                assert low <= min(values[statement.symbol.name])
                assert max(values[statement.symbol.name]) <= high

    def test_what_might_wrap(self) -> None:
        kernel = self.kernel()
        values = {each.symbol: each.value for each in kernel.body if isinstance(each, Declare) and each.value}
        given = dict.fromkeys(kernel.parameters[1:], 8)
        (product,) = [value for symbol, value in values.items() if symbol.name == "d"]
        for programs, found in ((1 << 28, (0, 2**31 - 1)), ((1 << 28) + 1, None)):
            assert intervals(values, given, (programs, 1, 1)).of(product) == found

    def kernel(self) -> KernelDef:
        report = Report()
        front = read(Source(self.TEXT, "f.c"), {}, report, ())
        return checked(front.tree, report, Settings(), front.numbers, front.macros)


class TestPoints:
    CONFIG = Config(DEFINES, 4)

    def test_of_a_sweep(self) -> None:
        sweep = Sweep(KernelText(Source(TEXT, "product.c")), [self.CONFIG])
        found = sweep.first.translation
        assert copied(self.CONFIG, found) == [Config(DEFINES, 4, packed=True)]
        points = own_points(self.CONFIG, found, True)
        assert not any(point.packed and point.descriptors for point in points)
        assert {users_point(point, [self.CONFIG]) for point in points} == {self.CONFIG}
        assert set(points) <= set(sweep.every_point())

    def test_without_bounds(self) -> None:
        text = changed(*ANY_STRIDES, ("in_a ? *pa : 0", "*pa"), ("in_b ? *pb : 0", "*pb"))
        found = Sweep(KernelText(Source(text, "product.c")), [self.CONFIG]).first.translation
        assert copied(self.CONFIG, found) == []

    def test_words(self) -> None:
        assert repr(Config({}, packed=True)) == "Config(num_warps=4, packed=True)"
