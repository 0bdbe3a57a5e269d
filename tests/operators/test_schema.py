"""The schema of an operator: from its signature and ``mutates_args``, and compared with what each run writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from tests.operators.kernels import AXPY, axpy, copy

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


def in_place(x: torch.Tensor, y: torch.Tensor) -> None:
    y.add_(x)


def by_out(x: torch.Tensor, y: torch.Tensor) -> None:
    torch.add(x, 1, out=y)


def by_foreach(x: torch.Tensor, y: torch.Tensor) -> None:
    torch._foreach_add_([x.clone(), y], 1)


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


def new_tensors(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n = x.shape[0]
    a, b = torch.empty(n, device=y.device), x.new_empty(n)
    for z in (a, b, x.clone(), torch.empty_like(y), x + y, y.sum(0)):
        axpy(z, x, 1.0, n, grid=lambda opt: (n // opt.TILE,))
    return a


WRITERS = [
    *(
        direct,
        through_views,
        through_a_call,
        through_a_branch,
        through_a_loop,
        through_a_list,
        in_place,
        by_out,
    ),
    *(by_index, by_augmented_assignment, by_match, through_recursion, with_holes, by_foreach),
]
REFUSED = (
    r"its body writes 'y', which mutates_args does not name \[TC541\](?s:.*)mutates_args=\('y',\)\), or write"
)


@pytest.fixture
def compiled() -> Iterator[Callable[[Any], Any]]:
    torch._dynamo.reset()
    yield lambda function: torch.compile(lambda x, y: function(x, y), backend="aot_eager", fullgraph=True)
    torch._dynamo.reset()


class TestWrites:
    """What a run writes, by kernels and by functions of torch, is compared with ``mutates_args``."""

    @pytest.mark.parametrize("function", WRITERS)
    def test_undeclared(self, function: Callable[..., Any], compiled: Callable[[Any], Any]) -> None:
        made = pytriton.op("pytriton_tests::undeclared", function)
        assert made.mutates_args == set()
        with pytest.raises(LaunchError, match=REFUSED):
            made(torch.ones(8, device="meta"), torch.ones(8, device="meta"))
        with pytest.raises(RuntimeError, match=REFUSED):
            compiled(made)(torch.ones(8), torch.ones(8))
        for call in (made, made.overload):
            with pytest.raises(LaunchError, match=REFUSED):
                call(torch.ones(8), torch.ones(8))

    @pytest.mark.parametrize("function", WRITERS)
    def test_declared(self, function: Callable[..., Any], compiled: Callable[[Any], Any]) -> None:
        made = pytriton.op("pytriton_tests::declared", function, mutates_args=("y",))
        assert made.schema == "(Tensor x, Tensor(a1!) y) -> ()"
        made(torch.ones(8, device="meta"), torch.ones(8, device="meta"))
        x = torch.arange(8.0)
        function(x, wanted := torch.ones(8))
        for call in (made, made.overload, compiled(made)):
            call(x, y := torch.ones(8))
            assert torch.equal(y, wanted)

    @pytest.mark.parametrize("function", [direct, in_place, by_index])
    def test_tensors_of_inference_mode(self, function: Callable[..., Any]) -> None:
        """They have no version."""
        made = pytriton.op("pytriton_tests::inference", function)
        declared = pytriton.op("pytriton_tests::inference_declared", function, mutates_args=["y"])
        with torch.inference_mode():
            for call in (made, made.overload):
                with pytest.raises(LaunchError, match=REFUSED):
                    call(torch.ones(8), torch.ones(8))
            for _ in range(3):
                declared(torch.ones(8), torch.ones(8))
        with torch.inference_mode(), pytest.raises(LaunchError, match=REFUSED):
            made(x := torch.ones(8), x.clone())

    def test_below_the_key_that_counts_versions(self, compiled: Callable[[Any], Any]) -> None:
        """As in a compiled graph, where a fake kernel of the user's hides what the body does."""

        def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            in_place(x, y)
            return y.clone()

        made = pytriton.op("pytriton_tests::below", f)
        made.register_fake(lambda x, y: torch.empty_like(y))
        with pytest.raises(LaunchError, match=REFUSED):
            compiled(made)(torch.ones(8), torch.ones(8))

    def test_all_are_named(self) -> None:
        """In the order of the parameters, with those that are declared."""

        def f(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, d: torch.Tensor) -> None:
            d.zero_()
            axpy(a, b, 1.0, 5, grid=1)
            c += 1

        made = pytriton.op("pytriton_tests::all", f, mutates_args=("c",))
        with pytest.raises(LaunchError, match=r"writes 'a', 'd', which .*(?s:.*)=\('a', 'c', 'd'\)"):
            made(*(torch.ones(8) for _ in range(4)))

    def test_lists_and_keywords(self) -> None:
        def f(x: torch.Tensor, many: list[torch.Tensor], *, out: torch.Tensor | None = None) -> None:
            many[-1].add_(x)
            if out is not None:
                torch.sin(x, out=out)

        made = pytriton.op("pytriton_tests::lists_and_keywords", f)
        for device in ("cpu", "meta"):
            x, y, z = (torch.ones(3, device=device) for _ in range(3))
            with pytest.raises(LaunchError, match=r"mutates_args=\('many', 'out'\)"):
                made(x, [y, y.clone()], out=z)
            with pytest.raises(LaunchError, match=r"mutates_args=\('many',\)"):
                made(x, [y, z])

    def test_new_tensors(self) -> None:
        made = pytriton.op("pytriton_tests::new_tensors", new_tensors)
        for device in ("cpu", "meta"):
            assert made(torch.ones(5, device=device), torch.ones(5, device=device)).shape == (5,)

    def test_another_argument_each_time(self) -> None:
        """What a define decides shows in the run."""
        kernel = pytriton.kernel(
            "__global__ void f(float* a, float* b) {\n#if W\n*a = *b;\n#else\n*b = *a;\n#endif\n}"
        )

        def f(x: torch.Tensor, y: torch.Tensor, way: int) -> None:
            kernel(x, y, grid=(1,), W=way)

        made = pytriton.op("pytriton_tests::way", f, mutates_args=["x"])
        assert made.schema == "(Tensor(a0!) x, Tensor y, SymInt way) -> ()"
        made(torch.ones(1), torch.ones(1), 1)
        with pytest.raises(LaunchError, match=r"mutates_args=\('x', 'y'\)"):
            made(torch.ones(1), torch.ones(1), 0)

    def test_inside_another_operator(self) -> None:
        """Its schema says what the inner one writes."""
        inner = pytriton.op("pytriton_tests::in_place", in_place, mutates_args=["y"])

        def f(x: torch.Tensor) -> torch.Tensor:
            inner(torch.ones_like(x), x)
            return torch.empty_like(x)

        made = pytriton.op("pytriton_tests::around", f)
        for device in ("cpu", "meta"):
            with pytest.raises(LaunchError, match=r"around: its body writes 'x'"):
                made(torch.ones(5, device=device))

    @pytest.mark.parametrize(
        "ask",
        [
            lambda x: x.data_ptr(),
            lambda x: x[2:].untyped_storage().data_ptr(),
            lambda x: x.__cuda_array_interface__,
        ],
    )
    def test_addresses(self, ask: Callable[..., Any], compiled: Callable[[Any], Any]) -> None:
        """Without memory there are none; a fake kernel keeps the operator whole."""

        def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.full_like(x, 1.0) if ask(x) else torch.zeros_like(x)

        made = pytriton.op("pytriton_tests::asks", f)
        refused = r"asks: its body requests the address of a tensor that has no memory \[TC543\]"
        with pytest.raises(LaunchError, match=refused):
            made(torch.ones(5, device="meta"), torch.ones(5, device="meta"))
        with pytest.raises(RuntimeError, match=refused):
            compiled(made)(torch.ones(5), torch.ones(5))


class TestSchema:
    def test_defines_beside_an_uppercase_parameter(self) -> None:
        kernel = pytriton.kernel(
            "__global__ void f(float* y, float* x, int N) {"
            " int i[TILE] = 0 ... TILE; *?(i < N) (y + i) = *?(i < N) (x + i); }"
        )

        def f(x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            kernel(y, x, x.numel(), grid=(1,), TILE=16)
            return y

        made = pytriton.op("pytriton_tests::uppercase", f)
        assert made.schema == "(Tensor x) -> Tensor"
        assert made(torch.ones(3)).tolist() == [1.0] * 3
        made.register_autograd(lambda ctx, dy: dy)

    def test_types(self) -> None:
        def f(
            x: torch.Tensor, y: torch.Tensor, many: list[torch.Tensor], n: int, *, a: float = 1.0
        ) -> tuple[torch.Tensor, torch.Tensor]:
            raise NotImplementedError

        schema = pytriton.op("pytriton_tests::types", f).schema
        assert schema == "(Tensor x, Tensor y, Tensor[] many, SymInt n, *, float a=1.) -> (Tensor, Tensor)"

    def test_given(self) -> None:
        made = pytriton.op("pytriton_tests::given", new_tensors, mutates_args=["x"])
        assert made.schema == "(Tensor(a0!) x, Tensor y) -> Tensor"

    @pytest.mark.parametrize("given", [None, "y"])
    def test_not_names(self, given: Any) -> None:
        with pytest.raises(LaunchError, match=r"(?s)mutates_args is .*TC540.*expected the names"):
            pytriton.op("pytriton_tests::not_names", direct, mutates_args=given)

    def test_unknown_name(self) -> None:
        with pytest.raises(LaunchError, match=r"(?s)z.*\[TC540\]"):
            pytriton.op("pytriton_tests::unknown_name", direct, mutates_args=["z"])

    @pytest.mark.parametrize("name", ["sin", "mylib::", "my lib::sin", "aten::sin", "mylib::sin.out"])
    def test_names(self, name: str) -> None:
        with pytest.raises(LaunchError, match=r"is not a valid operator name \[TC540\]"):
            pytriton.op(name, direct)

    def test_a_function_names_itself(self) -> None:
        """With its module as the namespace; in each of the forms of a decorator."""
        namespace = direct.__module__.replace(".", "_")
        for made in (pytriton.op(direct), pytriton.op()(direct), pytriton.op(mutates_args=["y"])(direct)):
            assert made.name == f"{namespace}::direct"
        with pytest.raises(LaunchError, match=r"'.*::<lambda>' is not a valid operator name \[TC540\]"):
            pytriton.op(lambda x: x)
        with pytest.raises(LaunchError, match=r"'3' is not a valid operator name \[TC540\]"):
            pytriton.op(3, direct)

    def test_annotations(self) -> None:
        def f(x, y):  # type: ignore[no-untyped-def]
            return x

        with pytest.raises(LaunchError, match=r"Parameter x must have a type annotation.*\[TC540\]"):
            pytriton.op("pytriton_tests::annotations", f)


class TestChecks:
    """Views, addresses, nested operators, and what results may be."""

    def test_on_a_view(self) -> None:
        def f(x: torch.Tensor) -> torch.Tensor:
            result = torch.empty_like(x)
            axpy(x[2:], x, 1.0, 3, grid=1)
            return result

        made = pytriton.op("pytriton_tests::hidden_view", f)
        with pytest.raises(LaunchError, match="its body writes 'x'"):
            made(torch.ones(5))

    def test_by_address(self) -> None:
        kernel = pytriton.kernel(AXPY, device="cpu", defines={"TILE": 16})  # an address has no device

        def f(x: torch.Tensor) -> torch.Tensor:
            kernel(x.data_ptr() + 4, x.data_ptr(), 1.0, 3, grid=1)
            return torch.empty_like(x)

        made = pytriton.op("pytriton_tests::hidden_address", f)
        with pytest.raises(LaunchError, match="its body writes 'x'"):
            made(torch.ones(5))

    def test_one_buffer_for_all(self) -> None:
        """Arguments may share a storage, as the rows of a packed buffer do."""
        made = pytriton.op("pytriton_tests::rows", direct, mutates_args=["y"])
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
