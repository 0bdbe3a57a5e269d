"""The schema of an operator, derived from its signature and from what the kernels inside write."""

from __future__ import annotations

import linecache
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.operators.flow import effects_of
from pytriton.operators.stores import stores
from pytriton.operators.writes import Undecided, written_positions
from pytriton.settings import Settings
from pytriton.source import Source
from tests.operators.kernels import AXPY, axpy, copy, unary

kernels = [axpy]

GOLDENS = Path(__file__).parents[1] / "translate"


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

    def test_types(self) -> None:
        assert written_positions(pytriton.kernel(AXPY.replace("float *", "TYPE *")), {}) == {0}

    def test_unknown_defines(self) -> None:
        assert written_positions(copy, {}, frozenset({"TYPE", "TILE", "HOLE"})) == {0}
        assert written_positions(unary, {}) == {0}

    def test_atomics(self) -> None:
        text = "__global__ void f(TYPE* a, TYPE* b) { TYPE* p = b + 1; atomic_add(p, *a + HOLE); }"
        assert written_positions(pytriton.kernel(text), {}) == {1}

    def test_a_macro(self) -> None:
        text = (
            "#define STORE(p, v) *p = v\n__global__ void f(T* a, T* b __readonly, T* c) { STORE(a, U(*b)); }"
        )
        assert written_positions(pytriton.kernel(text), {}) == {0}

    @pytest.mark.parametrize("words", ["T* a __readonly", "const T* a", "T __constant__* a"])
    def test_words_are_not_believed(self, words: str) -> None:
        """Old texts store through pointers that they call readonly."""
        text = f"__global__ void f({words}, T* b __writeonly) {{ T* p = a + 1; *p = HOLE * *b; }}"
        assert written_positions(pytriton.kernel(text), {}) == {0}


# {} is where a text asks; "a" is written, "b" is read. Neither needs the value of the define that is missing.
SURE = {
    "beside an uppercase parameter": "__global__ void f(float* a, float* b, int N) { if (N > 0) *a = *b + {}; }",
    "an #endif right before the store": (
        "__global__ void f(float* a, float* b) {\n#if {}\nfloat x = *b;\n#else\nfloat x = 1;\n#endif\n*a = x;\n}"
    ),
    "in both arms": "__global__ void f(float* a, float* b) {\n#if {}\n*a = *b;\n#else\n*a = 1;\n#endif\n}",
    "in the arms of arms": (
        "__global__ void f(float* a, float* b) {\n#ifdef X\n#if {}\n*a = *b;\n#else\n*a = 1;\n#endif\n"
        "#else\n*a = 3;\n#endif\n}"
    ),
    "an arm within the store": (
        "__global__ void f(float* a, float* b) {\n*(a + 1\n#if {}\n+ 1\n#endif\n) = *b;\n}"
    ),
    "through pointers": (
        "__global__ void f(T* a, T* b) { T* p[16] = a + 0 ... 16, *q[16] = b + {}; p += {}; *p = *q + *(b + {}); }"
    ),
    "a mask that is loaded": "__global__ void f(float* a, int* b) { *?(*b > {}) (a + *b) = 1; }",
    "two at once": "__global__ void f(float* a, float* b) { int i = 0; i += {}, *a = *b; }",
    "in a loop": (
        "__global__ void f(float* a, float* b, int n) { for (int i = 0; i < n; i += {}) *(a + i) = *(b + i); }"
    ),
    "an atomic": (
        "__global__ void f(float* a, float* b) { float x[{}] = atomic_add(float, {})(a + 0 ... {}, *b, true); }"
    ),
    "a parameter that moves": "__global__ void f(float* a, float* b, int n) { a += n * {}; b = b + n; *a = *b; }",
    "a macro of the text": "#define OUT a\n__global__ void f(float* a, float* b) { *OUT = *b + {}; }",
    "the second kernel": (
        "__global__ void g(float* b) { *b = {}; }\n__global__ void f(float* a, float* b) { *a = *b; }"
    ),
}
# Here it does, and only its value decides.
UNSURE = {
    "another parameter in each arm": (
        "__global__ void f(float* a, float* b) {\n#if {}\n*a = *b;\n#else\n*b = *a;\n#endif\n}",
        {"1": {0}, "0": {1}},
    ),
    "a store in one arm": (
        "__global__ void f(float* a, float* b) {\n*a = *b;\n#if {} > 1\n*b = 0;\n#endif\n}",
        {"2": {0, 1}, "1": {0}},
    ),
    "a pointer that is one or the other": (
        "__global__ void f(float* a, float* b) { float* p = a;\n#if {}\np = b;\n#endif\n*p = 1; }",
        {"0": {0}, "1": {1}},
    ),
    "what is stored to": ("__global__ void f(float* a, float* b) { *{} = 1; }", {"a": {0}, "b": {1}}),
    "a statement": (
        "__global__ void f(float* a, float* b) { {}; }",
        {"*a = 1": {0}, "*b = 1": {1}, "": set()},
    ),
    "a statement after a condition": (
        "__global__ void f(float* a, float* b) { if (*b > 0) {}; }",
        {"*a = 1": {0}, "*b = 1": {1}},
    ),
    "a function of a pointer": (
        "__global__ void f(int* a, int* b) { int x = {}(a, 1); *b = x; }",
        {"atomic_xchg": {0, 1}},
    ),
    "the parameters": ("__global__ void f({}, float* b) { *b = 1; }", {"float* a": {1}}),
}


class TestMissingDefines:
    @pytest.mark.parametrize("text", SURE.values(), ids=list(SURE))
    def test_sure(self, text: str) -> None:
        kernel = pytriton.kernel(text.replace("{}", "HOLE"), {"T": torch.float32, "X": 0}, kernel="f")
        for unknown, more in (
            ({"HOLE"}, False),
            ({"HOLE", "T"}, False),
            (set(), True),
            ({"X", "HOLE"}, True),
        ):
            assert written_positions(kernel, {}, frozenset(unknown), more) == {0}
        assert written_positions(kernel, {"HOLE": 16}) == {0}

    @pytest.mark.parametrize(("text", "wanted"), UNSURE.values(), ids=list(UNSURE))
    def test_unsure(self, text: str, wanted: dict[str, set[int]]) -> None:
        kernel = pytriton.kernel(text.replace("{}", "HOLE"))
        for unknown, more in (({"HOLE"}, False), (set(), True)):
            with pytest.raises(Undecided):
                written_positions(kernel, {}, frozenset(unknown), more)
        for value, positions in wanted.items():
            assert written_positions(kernel, {"HOLE": value}) == positions

    def test_a_sweep(self) -> None:
        """Some point writes it."""
        kernel = pytriton.kernel(UNSURE["a store in one arm"][0].replace("{}", "TZ"), {"TZ": [1, 2]})
        assert written_positions(kernel, {}) == {0, 1}
        assert written_positions(kernel, {"TZ": 1}) == {0}

    def test_other_defines_decide(self) -> None:
        """Those that show, however many do not."""
        kernel = pytriton.kernel(
            UNSURE["another parameter in each arm"][0].replace("{}", "W").replace("float", "T")
        )
        for more in (False, True):
            assert written_positions(kernel, {"W": 1}, frozenset({"T"}), more) == {0}
            assert written_positions(kernel, {"W": 0}, frozenset({"T"}), more) == {1}

    def test_heuristics(self) -> None:
        kernel = pytriton.kernel(
            UNSURE["a store in one arm"][0].replace("{}", "TZ"), heuristics={"TZ": lambda args: 2}
        )
        with pytest.raises(Undecided):
            written_positions(kernel, {})

    def test_against_the_translator(self) -> None:
        """What is said of a text whose defines are hidden is what the translator says of it with them; and there
        are few texts of which nothing can be said."""
        doubted = []
        cases = [path.parent for path in GOLDENS.glob("*/kernel.c")]
        for case in cases:
            data = tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))
            defines, name = data.get("defines", {}), data.get("kernel")
            text = (case / "kernel.c").read_text(encoding="utf-8")
            made = pytriton.translate(text, defines, kernel=name)
            wanted = {
                at for at, one in enumerate(made.parameters) if one.name in made.writes and not one.buffer
            }
            for unknown, more in ((frozenset(defines), False), (frozenset[str](), True)):
                found = stores(Source(text, "k"), Settings(name), {}, unknown, more)
                assert found.sure <= wanted <= found.may, case.name
                doubted += [case.name] * (found.sure != found.may)
        assert len(set(doubted)) < 0.03 * len(cases), doubted


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

    def test_undecided(self) -> None:
        kernel = pytriton.kernel(UNSURE["another parameter in each arm"][0].replace("{}", "W"))

        def f(x: torch.Tensor, y: torch.Tensor, way: int) -> None:
            kernel(x, y, grid=(1,), W=way)

        def same(x: torch.Tensor, y: torch.Tensor, way: int) -> None:
            f(x, y, way)

        for given in (f, same):
            with pytest.raises(LaunchError) as info:
                pytriton.op("pytriton_tests::undecided", given)
            assert str(info.value).split("\n") == [
                "pytriton_tests::undecided: whether kernel '<kernel>' writes argument 'x' depends on defines "
                "that its call does not show [TC545]",
                "help: say what is written: pytriton.op(..., mutates_args=['x', 'y']), or [] for nothing; "
                "or give the defines as literals",
            ]
        made = pytriton.op("pytriton_tests::undecided", f, mutates_args=["x"])
        assert made.schema == "(Tensor(a0!) x, Tensor y, SymInt way) -> ()"

        def shown(x: torch.Tensor, y: torch.Tensor, way: int) -> None:
            if way:
                kernel(x, y, grid=(1,), defines={"W": 1})

        assert pytriton.op("pytriton_tests::undecided", shown).mutates_args == {"x"}

    def test_new_tensors_are_in_no_doubt(self) -> None:
        kernel = pytriton.kernel(UNSURE["another parameter in each arm"][0].replace("{}", "W"))

        def f(x: torch.Tensor, way: int) -> torch.Tensor:
            y, z = torch.empty_like(x), x.clone()
            kernel(y, z, (1,), W=way)
            return y

        assert pytriton.op("pytriton_tests::no_doubt", f).mutates_args == set()

    @pytest.mark.parametrize(
        ("arguments", "wanted"),
        [
            ("y, x, 1.0, 5, grid=1, **{}", {"y"}),
            ("y, x, 1.0, 5, grid=1, **options", {"y"}),
            ("y, x, 1.0, 5, grid=1, defines=options", {"y"}),
            ("y, x, 1.0, 5, grid=1, defines={**options, 'TILE': 32}", {"y"}),
            ("y, *rest, grid=1", {"y"}),
        ],
    )
    def test_defines_by_name(self, arguments: str, wanted: set[str]) -> None:
        text = f"def f(x, y, options, rest):\n    axpy({arguments})\n"
        file = f"<{arguments}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        namespace: dict[str, Any] = {"axpy": axpy}
        exec(compile(text, file, "exec"), namespace)
        effects = effects_of(namespace["f"])
        assert (effects.written, dict(effects.doubtful)) == (wanted, {})

    def test_arguments_in_a_list(self) -> None:
        """Which of them stands where the kernel writes does not show."""

        def f(x: torch.Tensor, y: torch.Tensor) -> None:
            both = [y, x]
            axpy(*both, 1.0, 5, grid=1)

        effects = effects_of(f)
        assert (effects.written, set(effects.doubtful)) == (set(), {"x", "y"})

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
