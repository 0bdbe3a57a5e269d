"""Outputs of the candidates compared: who is dropped, and who is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

from pytriton.tuning import cross_check
from pytriton.tuning.cross_check import Saved, WrittenArgument, disagreeing, may_compare, save
from tests.runtime.kernels import parameter

N = 1000


class Runs:
    """Candidates are names; each writes what its function makes of the memory that it finds."""

    def __init__(
        self, before: torch.Tensor, declared: str, **functions: Callable[[torch.Tensor], Any]
    ) -> None:
        self.memory = before.clone()
        saved = save([WrittenArgument(self.memory, parameter(declared))], -1)
        assert saved is not None
        self.saved: Saved = saved
        self.functions = functions
        self.launched: list[str] = []

    def run(self, name: str) -> None:
        self.saved.restore()
        self.functions[name](self.memory)
        self.launched.append(name)

    def wrong(self, users: Callable[[str], bool] = lambda name: True) -> dict[str, str]:
        return disagreeing(self.functions, self.saved, self.run, users)


def plus(value: float, at: int | slice = slice(None)) -> Callable[[torch.Tensor], Any]:
    return lambda memory: memory[at].add_(value)


def wrong(before: torch.Tensor, declared: str, *functions: Callable[[torch.Tensor], Any]) -> dict[str, str]:
    return Runs(before, declared, **{f"c{at}": one for at, one in enumerate(functions)}).wrong()


def test_all_agree() -> None:
    runs = Runs(torch.zeros(N), "float* z", a=plus(1), b=plus(1), c=plus(1))
    assert runs.wrong() == {}
    assert runs.launched == ["a", "b", "c"]


@pytest.mark.parametrize("declared", ["int* z", "float* z", "half* z", "bfloat16* z", "double* z", "char* z"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_one_element(declared: str, at: int) -> None:
    """The minority is dropped, wherever it stands."""
    dtype = {"int": torch.int32, "half": torch.half, "double": torch.double, "char": torch.int8}.get(
        declared[:-3], torch.bfloat16 if "bf" in declared else torch.float32
    )

    def other(memory: torch.Tensor) -> None:
        memory.add_(1)[7] = 3

    functions = [plus(1), plus(1), plus(1)]
    functions[at] = other
    assert wrong(torch.zeros(N, dtype=dtype), declared, *functions) == {f"c{at}": "1 element of 'z'"}


def test_of_two_the_first_is_right() -> None:
    assert wrong(torch.zeros(N), "float* z", plus(1), plus(2)) == {"c1": f"{N} elements of 'z'"}


def test_scratch_is_restored_and_not_compared() -> None:
    """What differs there by right (parts of a sum, of as many programs as a config has) drops nobody."""
    y, parts = torch.zeros(N), torch.ones(N)
    targets = [WrittenArgument(y, parameter("float* y")), WrittenArgument(parts, parameter("float* parts"))]
    saved = save(targets, -1, {"parts"})
    assert saved is not None

    def run(name: str) -> None:
        saved.restore()
        assert parts.eq(1).all()
        parts[: len(name)] = 7
        y.fill_(len(name) > 2)

    assert disagreeing(["a", "bb"], saved, run) == {}
    assert disagreeing(["a", "bb", "ccc"], saved, run) == {"ccc": f"{N} elements of 'y'"}


def test_of_groups_of_one_size_the_first_is_right() -> None:
    found = wrong(torch.zeros(N), "float* z", plus(1), plus(2), plus(3), plus(2), plus(1))
    assert list(found) == ["c1", "c3", "c2"]


def test_own_variants_do_not_vote() -> None:
    """Three variants of ours that agree do not outvote the user's point."""
    runs = Runs(
        torch.zeros(N), "float* z", user=plus(1), own1=plus(2), own2=plus(2), own3=plus(1), own4=plus(2)
    )
    assert set(runs.wrong(lambda name: name == "user")) == {"own1", "own2", "own4"}


class TestFloats:
    def test_another_order_of_sums(self) -> None:
        terms = torch.randn(N, 4096, generator=torch.Generator().manual_seed(0))
        forward, backward = (
            torch.from_numpy(each.numpy().cumsum(1, dtype=numpy.float32)[:, -1].copy())
            for each in (terms, terms.flip(1))
        )
        assert not torch.equal(forward, backward)
        assert (
            wrong(torch.zeros(N), "float* z", lambda z: z.copy_(forward), lambda z: z.copy_(backward)) == {}
        )

    @pytest.mark.parametrize(
        ("declared", "dtype"),
        [("half* z", torch.half), ("bfloat16* z", torch.bfloat16), ("float* z", torch.float32)],
    )
    def test_tf32(self, declared: str, dtype: torch.dtype) -> None:
        """A product with operands of ten bits, as `precision='tf32'` gives."""
        a, b = torch.randn(64, 512), torch.randn(512, 64)
        cut = [(x.view(torch.int32) & ~0x1FFF).view(torch.float32) for x in (a, b)]
        exact, rough = (a @ b).flatten(), (cut[0] @ cut[1]).flatten()
        assert (
            wrong(
                torch.zeros(4096, dtype=dtype), declared, lambda z: z.copy_(exact), lambda z: z.copy_(rough)
            )
            == {}
        )

    def test_one_row_left_out(self) -> None:
        x = torch.randn(100, 10).flatten()
        found = wrong(
            torch.zeros(N), "float* z", plus(0), lambda z: z.copy_(x), lambda z: z[:990].copy_(x[:990])
        )
        assert len(found) == 2

    def test_garbage_that_nobody_writes(self) -> None:
        """Old numbers of any size in the storage do not make the comparison dull."""
        before = torch.full((N,), 1e30)
        assert wrong(before, "float* z", lambda z: z[:9].fill_(1.0), lambda z: z[:9].fill_(1.1)) == {
            "c1": "9 elements of 'z'"
        }

    @pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
    def test_nan_and_infinities(self, value: float) -> None:
        def some(memory: torch.Tensor) -> None:
            memory.fill_(1)[3] = value

        assert wrong(torch.zeros(N), "float* z", some, some) == {}
        assert wrong(torch.zeros(N), "float* z", some, lambda z: z.fill_(1)) == {"c1": "1 element of 'z'"}

    def test_nan_with_another_payload(self) -> None:
        bits = [torch.tensor([code] * 4, dtype=torch.int32).view(torch.float32) for code in (0x7FC00000, -1)]
        assert wrong(torch.zeros(4), "float* z", lambda z: z.copy_(bits[0]), lambda z: z.copy_(bits[1])) == {}

    def test_in_pieces(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cross_check, "_CHUNK", 64)
        values = torch.randn(N)
        assert (
            wrong(torch.zeros(N), "float* z", lambda z: z.copy_(values), lambda z: z.copy_(values * 1.0001))
            == {}
        )
        assert (
            wrong(torch.zeros(N), "float* z", lambda z: z.copy_(values), lambda z: z.copy_(values * 2)) != {}
        )


class TestNotJudged:
    def test_luck(self) -> None:
        """A candidate that does not agree with itself says nothing about the others."""
        luck = iter(range(1000))
        runs = Runs(
            torch.zeros(N), "int* z", a=plus(0), b=lambda z: z.add_(next(luck) + 1), c=plus(0), d=plus(5)
        )
        assert runs.wrong() == {}

    def test_the_first_is_luck(self) -> None:
        luck = iter(range(1000))
        runs = Runs(torch.zeros(N), "int* z", a=lambda z: z.add_(next(luck)), b=plus(0), c=plus(0))
        assert runs.wrong() == {}

    def test_no_memory_for_copies(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: Any) -> None:
            raise torch.cuda.OutOfMemoryError

        monkeypatch.setattr(cross_check, "_copies", full)
        runs = Runs(torch.zeros(N), "float* z", a=plus(1), b=plus(2))
        assert runs.wrong() == {}
        assert runs.launched == ["a", "b"]

    def test_forbidden(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert may_compare()
        monkeypatch.setenv(cross_check.NO_COMPARE_VARIABLE, "1")
        assert not may_compare()
        runs = Runs(torch.zeros(N), "float* z", a=plus(1), b=plus(2))
        assert runs.wrong() == {}
        assert runs.launched == ["a", "b"]


def test_several_memories() -> None:
    """The first that differs is named; a pointer to pointers and memory without a type are compared as bytes."""
    x, y, z = torch.zeros(4), torch.zeros(4, dtype=torch.int64), torch.zeros(6, dtype=torch.uint8)
    saved = save(
        [
            WrittenArgument(x, parameter("float* x")),
            WrittenArgument(y, parameter("float** y")),
            WrittenArgument(z),
        ],
        -1,
    )
    assert saved is not None
    assert [each.dtype for each in saved.memories] == [torch.float32, torch.int64, None]

    def run(name: str) -> None:
        assert saved is not None
        saved.restore()
        {"x": x, "y": y, "z": z}.get(name, x)[1:3] += 1

    for name, wanted in (("y", "2 elements of 'y'"), ("z", "2 elements"), ("x", "2 elements of 'x'")):
        found = disagreeing(("x", name, "w"), saved, run)
        assert found == ({} if name == "x" else {name: "2 elements of 'x'"}), wanted
