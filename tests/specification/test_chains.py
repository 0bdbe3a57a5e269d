"""Long chains are flat: limits count what is nested. Each is computed on the CPU, and compiled for a GPU."""

from __future__ import annotations

import pytest
import torch

import pytriton
from pytriton.errors import CheckError

COUNT = 150


def run(statement: str, *values: int, type_: str = "int", compiled: bool = True) -> list[float]:
    """What a statement stores for each n; its module is compiled, too."""
    text = f"void f({type_} *z, int *p, int n) {{ int q = 0; {statement} }}"
    kernel, found = pytriton.kernel(text), []
    for value in values:
        dtype = {"int": torch.int32, "float": torch.float32, "double": torch.float64}[type_]
        z, p = torch.zeros(1, dtype=dtype), torch.arange(8, dtype=torch.int32)
        kernel(z, p, value, grid=1)
        found.append(z.item())
    if compiled:
        assert kernel.asm("ttir", "cuda:90")
    return found


@pytest.mark.filterwarnings("ignore")
class TestChains:
    @pytest.mark.parametrize("count", [99, 100, 101, COUNT, 400])
    def test_sums(self, count: int) -> None:
        terms = " ".join(f"{'-+'[i % 3 > 0]} n * {i}" for i in range(count))
        wanted = [sum(n * i * (1 if i % 3 else -1) for i in range(count)) for n in (2, -3)]
        assert run(f"*z = {terms};", 2, -3) == wanted

    def test_sums_round_from_left_to_right(self) -> None:
        terms = " + ".join(["1e8f", *["1.0f * n"] * COUNT])
        assert run(f"*z = {terms};", 1, type_="float") == [1e8]

    def test_literals_keep_the_digits_of_a_double(self) -> None:
        terms = " + ".join(["0.1"] * 90)
        assert run(f"*z = (double)n + ({terms});", 0, type_="double")[0] == pytest.approx(9.0, abs=1e-13)

    def test_conditions(self) -> None:
        terms = " && ".join(f"n != {i}" for i in range(COUNT))
        assert run(f"if ({terms}) *z = 1;", 0, 77, COUNT - 1, COUNT) == [0, 0, 0, 1]

    def test_conditions_of_loops(self) -> None:
        terms = " && ".join(f"q != n + {i}" for i in range(COUNT))
        assert run(f"while ({terms}) q++; *z = q;", 3) == [3]

    def test_loads_stay_masked(self) -> None:
        terms = " && ".join(f"*(p + {i} % 8) == {i} % 8" for i in range(120))
        assert run(f"*z = n && {terms};", 0, 1, compiled=False) == [0, 1]

    def test_effects_stay_in_order(self) -> None:
        terms = " + ".join(["q * n", "(q += 2)"] + ["q"] * COUNT)
        assert run(f"*z = {terms};", 5) == [2 + 2 * COUNT]

    @pytest.mark.parametrize("count", [60, 100])
    def test_else_ifs(self, count: int) -> None:
        arms = " else ".join(f"if (n == {i}) *z = {3 * i};" for i in range(count))
        assert run(f"{arms} else *z = -1;", 0, count - 1, count) == [0, 3 * (count - 1), -1]

    @pytest.mark.parametrize("count", [99, 101, pytest.param(1100, marks=pytest.mark.slow)])
    def test_choices(self, count: int) -> None:
        arms = "".join(f"n == {i} ? {3 * i} : " for i in range(count))
        assert run(f"*z = {arms} -1;", 0, 50, count - 1, count) == [0, 150, 3 * (count - 1), -1]

    def test_choices_between_types(self) -> None:
        arms = "".join(f"n == {i} ? {i} : " for i in range(COUNT))
        assert run(f"*z = {arms} 0.5f;", 7, COUNT, type_="float") == [7, 0.5]

    def test_choices_without_a_middle(self) -> None:
        assert run(f"*z = {'q ?: ' * COUNT} n;", 4) == [4]

    def test_the_first_condition_of_choices_may_do_something(self) -> None:
        arms = "".join(f"q == {i} ? {i} : " for i in range(COUNT))
        assert run(f"*z = q++ > 5 ? 9 : {arms} -1;", 0) == [1]


@pytest.mark.parametrize(
    "statement",
    [
        f"*z = {'(n + ' * 101}n{')' * 101};",
        f"*z = {'-' * 0}{'- ' * 120}n;",
        f"{'{' * 50} *z = n; {'}' * 50}",
        f"*z = {''.join(f'n == {i} ? *(p + {i}) : ' for i in range(COUNT))} 1;",
        f"*z = {''.join(f'n == {i} ? {i} : ' for i in range(COUNT))} *p;",
        f"{' else '.join(f'if (n == {i}) *z = {i};' for i in range(102))}",
    ],
)
def test_what_is_nested_is_limited(statement: str) -> None:
    with pytest.raises(CheckError, match="TC318"):
        pytriton.translate(f"void f(int *z, int *p, int n) {{ {statement} }}")
