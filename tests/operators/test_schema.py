"""The schema of an operator, derived from its signature and from what the kernels inside write."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.operators.flow import effects_of
from pytriton.operators.writes import written_positions
from tests.operators.kernels import AXPY, axpy, copy, unary

kernels = [axpy]


def direct(x: torch.Tensor, y: torch.Tensor) -> None:
    axpy(y, x, 1.0, 5, grid=1)


def through_views(x: torch.Tensor, y: torch.Tensor) -> None:
    rows = y[1:].reshape(-1)
    z, _ = rows.t(), 3
    axpy(z, x, 1.0, 5, grid=1)


def through_a_call(x: torch.Tensor, y: torch.Tensor) -> None:
    launch(x, target=maybe_a_copy(y))


def launch(source: torch.Tensor, target: torch.Tensor) -> None:
    axpy(*(target, source, 1.0, 5), grid=1)


def maybe_a_copy(x: torch.Tensor) -> torch.Tensor:
    return x if x.is_contiguous() else x.clone()


def through_a_branch(x: torch.Tensor, y: torch.Tensor) -> None:
    z = torch.zeros_like(x)
    if x.numel() > 4:
        z = y
    axpy(z, x, 1.0, 5, grid=1)


def through_a_loop(x: torch.Tensor, y: torch.Tensor) -> None:
    last = before = torch.zeros_like(x)
    for _ in range(3):
        axpy(before, x, 1.0, 5, grid=1)
        before, last = last, y


def through_a_list(x: torch.Tensor, y: torch.Tensor) -> None:
    targets = [torch.empty_like(x)]
    targets.append(y)
    [axpy(target, x, 1.0, 5, grid=1) for target in targets]


def by_address(x: torch.Tensor, y: torch.Tensor) -> None:
    axpy(y.data_ptr(), x.data_ptr(), 1.0, 5, grid=1)


def in_place(x: torch.Tensor, y: torch.Tensor) -> None:
    y.add_(x)


def by_out(x: torch.Tensor, y: torch.Tensor) -> None:
    torch.add(x, 1, out=y)


def by_index(x: torch.Tensor, y: torch.Tensor) -> None:
    y[0] = x[1]


def by_augmented_assignment(x: torch.Tensor, y: torch.Tensor) -> None:
    n = x.numel()
    n += 1
    y += n


def by_match(x: torch.Tensor, y: torch.Tensor) -> None:
    match x.ndim:
        case 1:
            axpy(y, x, 1.0, 5, grid=1)


def through_recursion(x: torch.Tensor, y: torch.Tensor) -> None:
    if x.ndim > 1:
        through_recursion(x[0], y[0])
    axpy(y, x, 1.0, 5, grid=1)


def with_holes(x: torch.Tensor, y: torch.Tensor) -> None:
    copy(y, x, 5, grid=1, defines={"TYPE": x.dtype, "TILE": 16, "HOLE": hole(x)})


def hole(x: torch.Tensor) -> str:
    return "" if x.numel() else "+ 1"


@pytest.mark.parametrize(
    "function",
    [
        direct,
        through_views,
        through_a_call,
        through_a_branch,
        through_a_loop,
        through_a_list,
        by_address,
        in_place,
        by_out,
        by_index,
        by_augmented_assignment,
        by_match,
        through_recursion,
        with_holes,
    ],
)
def test_writes_only_y(function: Callable[..., Any]) -> None:
    assert effects_of(function).written == {"y"}


def new_tensors(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n = x.shape[0]
    a, b = torch.empty(n, device=y.device), x.new_empty(n)
    for z in (a, b, x.clone(), torch.empty_like(y), x + y, y.sum(0)):
        axpy(z, x, 1.0, n, grid=lambda opt: (n // opt.TILE,))
    return a


def test_new_tensors_are_nobodys() -> None:
    effects = effects_of(new_tensors)
    assert (effects.written, effects.returned) == (set(), set())


def test_name_without_a_value() -> None:
    """What an enclosing function binds later has no value yet."""

    def f(x: torch.Tensor, y: torch.Tensor) -> None:
        axpy(y, later(x), 1.0, 5, grid=1)

    assert effects_of(f).written == {"y"}

    def later(x: torch.Tensor) -> torch.Tensor:
        return x


def test_many_functions() -> None:
    """Functions that call each other crosswise are walked once each."""
    text = "".join(
        f"def f{at}(x, y):\n" + f"    f{at + 1}(y, x)\n    f{at + 1}(x, y)\n" * 3 for at in range(40)
    )
    linecache.cache["crosswise.py"] = (len(text), None, text.splitlines(keepends=True), "crosswise.py")
    namespace: dict[str, Any] = {"f40": direct}
    exec(compile(text, "crosswise.py", "exec"), namespace)
    assert effects_of(namespace["f0"]).written == {"x", "y"}


def test_no_source() -> None:
    namespace: dict[str, Any] = {"axpy": axpy}
    exec("def f(x, y):\n    axpy(y, x, 1.0, 5, grid=1)\n", namespace)
    assert effects_of(namespace["f"]).written == set()


class TestKernels:
    def test_translated(self) -> None:
        assert written_positions(axpy, {}) == {0}

    def test_shown_defines(self) -> None:
        text = "__global__ void f(float* a, float* b) {\n#if W\n*a = *b;\n#else\n*b = *a;\n#endif\n}"
        kernel = pytriton.kernel(text, {"W": 1})
        assert written_positions(kernel, {}) == {0}
        assert written_positions(kernel, {"W": 0}) == {1}

    def test_likely_defines(self) -> None:
        assert written_positions(pytriton.kernel(AXPY.replace("float *", "TYPE *")), {}) == {0}

    def test_tokens(self) -> None:
        assert written_positions(copy, {}) == {0}
        assert written_positions(unary, {}) == {0}

    def test_tokens_of_atomics(self) -> None:
        text = "__global__ void f(TYPE* a, TYPE* b) { TYPE* p = b + 1; atomic_add(p, HOLE *a); }"
        assert written_positions(pytriton.kernel(text), {}) == {1}

    def test_tokens_of_a_macro(self) -> None:
        """Nothing is seen to be stored, so every pointer counts, whatever its author believed of it."""
        text = "#define STORE(p, v) *p = v\n__global__ void f(T* a, T* b __readonly, T* c) { STORE(a, U b); }"
        assert written_positions(pytriton.kernel(text), {}) == {0, 1, 2}

    @pytest.mark.parametrize("words", ["T* a __readonly", "const T* a", "T __constant__* a"])
    def test_words_are_not_believed(self, words: str) -> None:
        """Old texts store through pointers that they call readonly."""
        text = f"__global__ void f({words}, T* b __writeonly) {{ T* p = a + 1; *p = HOLE *b; }}"
        assert written_positions(pytriton.kernel(text), {}) == {0}


class TestSchema:
    def test_types(self) -> None:
        def f(
            x: torch.Tensor, y: torch.Tensor, many: list[torch.Tensor], n: int, *, a: float = 1.0
        ) -> tuple[torch.Tensor, torch.Tensor]:
            raise NotImplementedError

        schema = pytriton.op("pytriton_tests::types", f).schema
        assert schema == "(Tensor x, Tensor y, Tensor[] many, SymInt n, *, float a=1.) -> (Tensor, Tensor)"

    def test_written(self) -> None:
        made = pytriton.op("pytriton_tests::written", through_a_call)
        assert made.schema == "(Tensor x, Tensor(a1!) y) -> ()"
        assert made.mutates_args == {"y"}

    def test_given(self) -> None:
        made = pytriton.op("pytriton_tests::given", new_tensors, mutates_args=["x"])
        assert made.schema == "(Tensor(a0!) x, Tensor y) -> Tensor"

    @pytest.mark.parametrize("name", ["sin", "mylib::", "my lib::sin", "aten::sin", "mylib::sin.out"])
    def test_names(self, name: str) -> None:
        with pytest.raises(LaunchError, match=r"can name no operator \[TC540\]"):
            pytriton.op(name, direct)

    def test_annotations(self) -> None:
        def f(x, y):  # type: ignore[no-untyped-def]
            return x

        with pytest.raises(LaunchError, match=r"Parameter x must have a type annotation.*\[TC540\]"):
            pytriton.op("pytriton_tests::annotations", f)


class TestChecks:
    """What the derivation misses is found at the first launch."""

    def test_hidden_kernel(self) -> None:
        def f(x: torch.Tensor, y: torch.Tensor) -> None:
            kernels[0](y, x, 1.0, 5, grid=1)

        made = pytriton.op("pytriton_tests::hidden", f)
        assert made.mutates_args == set()
        with pytest.raises(
            LaunchError, match=r"a kernel wrote argument 'y', which the operator's schema .* \[TC541\]"
        ):
            made(torch.ones(5), torch.ones(5))
        declared = pytriton.op("pytriton_tests::hidden", f, mutates_args=["y"])
        y = torch.ones(5)
        declared(torch.ones(5), y)
        assert y.tolist() == [2.0] * 5

    def test_hidden_kernel_on_a_view(self) -> None:
        def f(x: torch.Tensor) -> torch.Tensor:
            result = torch.empty_like(x)
            kernels[0](x[2:], x, 1.0, 3, grid=1)
            return result

        made = pytriton.op("pytriton_tests::hidden_view", f)
        with pytest.raises(LaunchError, match="wrote argument 'x'"):
            made(torch.ones(5))

    def test_hidden_kernel_by_address(self) -> None:
        hidden = [pytriton.kernel(AXPY, device="cpu", defines={"TILE": 16})]  # an address has no device

        def f(x: torch.Tensor) -> torch.Tensor:
            hidden[0](x.data_ptr() + 4, x.data_ptr(), 1.0, 3, grid=1)
            return torch.empty_like(x)

        made = pytriton.op("pytriton_tests::hidden_address", f)
        with pytest.raises(LaunchError, match="wrote argument 'x'"):
            made(torch.ones(5))

    def test_hidden_kernel_in_a_nested_operator(self) -> None:
        inner = pytriton.op("pytriton_tests::inner", direct)
        hidden = [inner]

        def f(x: torch.Tensor) -> torch.Tensor:
            hidden[0](torch.ones_like(x), x)
            return torch.empty_like(x)

        made = pytriton.op("pytriton_tests::outer", f)
        with pytest.raises(LaunchError, match="pytriton_tests::outer: a kernel wrote argument 'x'"):
            made(torch.ones(5))

    def test_hidden_kernel_on_fake_tensors(self) -> None:
        def f(x: torch.Tensor, y: torch.Tensor) -> None:
            kernels[0](y, x, 1.0, 5, grid=1)

        made = pytriton.op("pytriton_tests::hidden_fake", f)
        with pytest.raises(LaunchError, match="wrote argument 'y'"):
            made(torch.ones(5, device="meta"), torch.ones(5, device="meta"))

    def test_one_buffer_for_all(self) -> None:
        """Arguments may share a storage, as the rows of a packed buffer do."""
        made = pytriton.op("pytriton_tests::rows", direct)
        rows = torch.ones(2, 5)
        made(rows[0], rows[1])
        assert rows.tolist() == [[1.0] * 5, [2.0] * 5]

    @pytest.mark.parametrize("shared", [lambda x: x, lambda x: x[1:], lambda x: x.t()])
    def test_result_is_an_argument(self, shared: Callable[..., Any]) -> None:
        def f(x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = shared(x)
            return result

        made = pytriton.op("pytriton_tests::same", f)
        for device in ("cpu", "meta"):
            with pytest.raises(LaunchError, match=r"a result shares memory with an argument .* \[TC542\]"):
                made(torch.ones(3, 3, device=device))

    def test_several_results(self) -> None:
        def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            y, z = torch.zeros_like(x), torch.ones_like(x)
            axpy(y, x, 1.0, x.numel(), grid=1)
            axpy(z, x, 1.0, x.numel(), grid=1)
            return y, z

        y, z = pytriton.op("pytriton_tests::several", f)(torch.ones(5))
        assert (y.tolist(), z.tolist()) == ([1.0] * 5, [2.0] * 5)

    def test_results_share(self) -> None:
        def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            y = x.clone()
            return y, y[1:]

        made = pytriton.op("pytriton_tests::twins", f)
        with pytest.raises(LaunchError, match="TC542"):
            made(torch.ones(3))
