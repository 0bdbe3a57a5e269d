"""The kernel object: when it checks, what one can ask it, and how calls are refused."""

from __future__ import annotations

import gc
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import CheckError, CompileError, LaunchError, ParseError, TuneError
from pytriton.pipeline import Translation
from pytriton.runtime import errors
from pytriton.runtime.kernel import heuristics
from pytriton.runtime.options.defines import Config
from pytriton.runtime.tensors import IdDict, bench_registry
from pytriton.tuning.translated_config import TranslatedConfig
from tests.runtime.kernels import ADD

FILL = """\
__global__ void fill(TYPE* z, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(z + r) = VALUE;
}
__global__ void twice(float* z, int n) {
  int r[16] = 0 ... 16;
  *?(r < n)(z + r) = 2 * *?(r < n)(z + r);
}
"""


class TestChecksNow:
    @pytest.mark.parametrize(
        "text",
        [
            "__global__ void f(float* x) { *x = 1 }",
            "__global__ void f(float* x) { int y[TM] = 0 ... TM; *x = 1 }",
            "__global__ void f(float* x) { *x = 1; ",
            "__global__ void f(float* x) { *x = y; int }",
            "not a kernel",
            '__global__ void f(float* x) { *x = "; }',
        ],
    )
    def test_syntax(self, text: str) -> None:
        with pytest.raises(CompileError):
            pytriton.kernel(text)

    def test_given_defines_are_not_missing(self) -> None:
        text = "__global__ void f(TYPE* x) { TYPE y = 1 int z; *x = y; }"
        pytriton.kernel(text)
        with pytest.raises(ParseError):
            pytriton.kernel(text, {"TYPE": "float"})

    def test_types(self) -> None:
        with pytest.raises(CheckError):
            pytriton.kernel("__global__ void f(float* x) { *x = *(x @ x); }")

    @pytest.mark.parametrize(
        "text",
        [
            FILL,
            "__global__ void f(TYPE *x, TYPE y) { TYPE z[TM] = y; *x = z[+]; }",
            "__global__ void f(float* x) { int r[SHAPE] = 0 ... TM; *x = r[AXIS]; }",
            "__global__ void f(float* x) { *x = SCALE 2; }",
            "__global__ void NAME(float* x) { *x = VALUE; }",
            "__global__ void f(float* x) { float y = value; *x = y; }",
            "#if MODE == 1\n__global__ void f(float* x) { *x = 1; }\n#endif",
            "#ifndef TM\n#error TM is missing\n#endif\n__global__ void f(float* x) { *x = TM; }",
        ],
    )
    def test_defines_may_come_with_the_call(self, text: str) -> None:
        pytriton.kernel(text)

    def test_message_says_where_the_text_was_passed(self) -> None:
        with pytest.raises(ParseError) as caught:
            pytriton.kernel("__global__ void f(float* x) { *x = 1 }")
        assert str(caught.value).startswith("<kernel> (test_kernel.py:")

    def test_name(self) -> None:
        with pytest.raises(ParseError, match=r"^ops/f\.c:1:"):
            pytriton.kernel("__global__ void f(float* x) { *x = 1 }", name="ops/f.c")


class TestAsking:
    def test_source(self) -> None:
        kernel = pytriton.kernel(FILL, {"TYPE": torch.half, "TILE": [32, 64]})
        assert "VALUE: tl.constexpr" in kernel.source({"VALUE": 3})
        assert "z,  # half*" in kernel.source({"VALUE": 3})
        assert "def twice(" in kernel.source(kernel="twice")

    def test_first_value_of_a_list(self) -> None:
        kernel = pytriton.kernel(FILL, {"TYPE": torch.half, "TILE": [32, 64]})
        assert kernel.translation({"VALUE": [7, 8]}).constexprs == {"VALUE": 7, "TILE": 32}

    def test_kernel_of_several(self) -> None:
        z = torch.ones(4)
        pytriton.kernel(FILL, {"TYPE": "float"}, kernel="twice")(z, 4, grid=1)
        assert torch.equal(z, torch.full((4,), 2.0))

    def test_before_any_call(self) -> None:
        kernel = pytriton.kernel(ADD)
        assert kernel.best_config is None
        assert kernel.timings == {}
        assert repr(kernel) == "<pytriton.kernel <kernel>(...)>"

    def test_repr(self) -> None:
        """Name, parameters, sweep."""
        kernel = pytriton.kernel(ADD, {"TILE": [16, 32]}, num_warps=4)
        shown = "add(float *z, float *x __readonly, float *y __readonly, int n), TILE=[16, 32], num_warps=4"
        assert repr(kernel) == f"<pytriton.kernel {shown}>"

    def test_completion_shows_documented_names(self) -> None:
        page = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
        (members,) = re.findall(r"autoclass:: pytriton.Kernel\(\)\n   :members: (.*)", page)
        shown = {name for name in dir(pytriton.kernel(ADD)) if not name.startswith("_")}
        assert shown == {*members.split(", "), "name"} - {"__call__"}

    def test_sources_have_one_form(self) -> None:
        kernel = pytriton.kernel("__global__ void copy(float *z, float *x) { *z = *x; }")
        translation, derived = kernel.translation(), pytriton.gradient(kernel)
        assert kernel.source() == translation.source() == translation.text
        assert derived.source() == derived.source
        assert type(derived.source()) is str


class TestCalls:
    def test_unmentioned_defines_are_silent(self) -> None:
        x, z = torch.ones(4), torch.zeros(4)
        with warnings.catch_warnings(action="error"):
            pytriton.kernel(ADD, {"TILE": 4, "OTHER": 3})(z, x, x, 4, grid=1, defines={"MORE": "x +"})
        assert torch.equal(z, x + x)

    def test_zero_in_the_grid_of_a_sweep(self) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": [4, 8]})
        assert kernel(None, None, None, 0, grid=lambda opt: (pytriton.cdiv(0, opt.TILE),)) is None

    def test_values_of_defines_are_told_apart(self) -> None:
        text = "__global__ void f(float* z) { *z = V / 2; }"
        kernel = pytriton.kernel(text)
        got = []
        for value in (1, 1.0, True, "1", "1.0"):
            z = torch.zeros(1)
            kernel(z, grid=1, defines={"V": value})
            got.append(z.item())
        assert got == [0, 0.5, 0, 0, 0.5]

    def test_the_same_plan_is_used_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        kernel = pytriton.kernel(ADD)
        x = torch.ones(4)
        kernel(x, x, x, 4, grid=1, defines={"TILE": 4})
        monkeypatch.setattr(TranslatedConfig, "__init__", None)
        kernel(x, x, x, 4, grid=1, defines={"TILE": 4})

    def test_notice_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(errors, "_warned", set())
        monkeypatch.setenv("PYTRITON_CC", "none")
        x = torch.ones(4)
        kernel = pytriton.kernel(ADD, {"TILE": 4})
        with warnings.catch_warnings(record=True, action="always") as seen:
            kernel(x, x, x, 4, grid=1)
            kernel(x, x, x, 4, grid=1)
            pytriton.kernel(FILL, {"TYPE": "float"}, kernel="twice")(x, 4, grid=1)
        assert [(str(w.message)[:40], w.filename) for w in seen] == [
            ("pytriton runs kernels on CPU tensors wit", __file__)
        ]


class TestWarnings:
    TEXT = "__global__ void f(float* x) { *x = 1; x; }"

    def test_of_the_translator_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(errors, "_warned", set())
        with warnings.catch_warnings(record=True, action="always") as seen:
            for _ in range(2):
                pytriton.kernel(self.TEXT, name="f.c")
        assert [str(w.message).split("\n")[0][:17] for w in seen] == ["f.c:1:39: warning"]
        assert seen[0].filename == __file__


class TestSweepOnCpu:
    def test_first_legal_point(self) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": [-1, 16, 32]}, [2, 4])
        x, z = torch.ones(20), torch.zeros(20)
        calls: list[int] = []

        def grid(opt: Any) -> tuple[int]:
            calls.append(opt.TILE)
            return (pytriton.cdiv(20, opt.TILE),)

        kernel(z, x, x, 20, grid=grid)
        assert torch.equal(z, x + x)
        assert kernel.best_config == Config({"TILE": 16}, 2)
        assert calls == [16]
        dropped = Config({"TILE": -1}, 2)
        assert "TC306" in str(kernel.timings[dropped])
        assert not any(isinstance(time, float) for time in kernel.timings.values())

    def test_none_left(self) -> None:
        with pytest.raises(TuneError) as caught:
            pytriton.kernel(ADD, {"TILE": [-1, -2]})(*[None] * 3, 1, grid=1)
        lines = str(caught.value).split("\n")
        assert lines[0] == "no variant of the sweep is left [TC601]"
        assert lines[1].startswith("  Config(TILE=-1, num_warps=4): <kernel>")
        assert lines[2].startswith("  Config(TILE=-2, num_warps=4): <kernel>")
        assert lines[3] == "help: try smaller tiles"

    def test_what_is_wrong_is_not_the_sweep(self) -> None:
        text = ADD.replace("(y + r);", "(y + r)")
        with pytest.raises(ParseError):
            pytriton.kernel(text, {"TILE": [16, 32]})

    def test_unmentioned_lists_do_not_multiply(self) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": [16, 32], "OTHER": [1, 2, 3]})
        plan = kernel._plan((), None, None, None)
        assert [dict(c.defines) for c in plan.configs] == [
            {"TILE": 16, "OTHER": 1},
            {"TILE": 32, "OTHER": 1},
        ]

    def test_single_point_after_that(self) -> None:
        kernel = pytriton.kernel(ADD, {"TILE": 16, "OTHER": [1, 2, 3]})
        x = torch.ones(4)
        kernel(x, x, x, 4, grid=1)
        assert kernel.best_config == Config({"TILE": 16, "OTHER": 1})


class TestBench:
    @pytest.mark.parametrize("bench", [3, True, numpy.int64(3)])
    def test_effect_of_one_launch(self, bench: Any) -> None:
        kernel = pytriton.kernel(FILL, {"TYPE": "float"}, kernel="twice")
        z = torch.ones(4)
        time = kernel(z, 4, grid=1, bench=bench)
        assert type(time) is int
        assert time >= 1
        assert torch.equal(z, torch.full((4,), 2.0))
        assert bench_registry[z] == time

    def test_through_an_address(self) -> None:
        """The extent of what it writes is unknown, so it is launched once."""
        z = torch.ones(4)
        kernel = pytriton.kernel(FILL, "cpu", {"TYPE": "float"}, kernel="twice")
        assert kernel(z.data_ptr(), 4, grid=1, bench=5)
        assert torch.equal(z, torch.full((4,), 2.0))

    def test_view_of_a_larger_storage(self) -> None:
        z = torch.ones(8)
        pytriton.kernel(FILL, {"TYPE": "float"}, kernel="twice")(z[2:6], 4, grid=1, bench=5)
        assert z.tolist() == [1, 1, 2, 2, 2, 2, 1, 1]


EVEN = """\
__global__ void f(float* z, int n) {
#if EVEN
  *z = -n;
#else
  *z = SIZE;
#endif
}
"""


class TestHeuristics:
    functions: ClassVar[dict[str, Callable[[dict[str, Any]], Any]]] = {
        "EVEN": lambda args: args["n"] % args["TILE"] == 0,
        "SIZE": lambda args: args["n"] * 10 + args["EVEN"],
    }

    @pytest.mark.parametrize("decorated", [False, True])
    def test_values(self, decorated: bool) -> None:
        if decorated:
            kernel = heuristics(self.functions)(pytriton.kernel(EVEN, {"TILE": 4}))
        else:
            kernel = pytriton.kernel(EVEN, {"TILE": 4}, heuristics=self.functions)
        z = torch.zeros(1)
        got = []
        for n in (8, 7, 8, 5):
            kernel(z, n, grid=1)
            got.append(z.item())
        assert got == [-8, 70, -8, 50]

    def test_once_a_candidate(self) -> None:
        seen: list[int] = []

        def even(args: dict[str, Any]) -> bool:
            seen.append(args["TILE"])
            return args["z"].numel() == 1

        kernel = pytriton.kernel(EVEN, {"TILE": [4, 8]}, heuristics={"EVEN": even})
        kernel(torch.zeros(1), 8, grid=1)
        assert seen == [4, 8]

    def test_a_define_that_adds_a_parameter(self) -> None:
        source = "__global__ void f(\n#ifdef BIAS\nint bias,\n#endif\nint n, float* z) { *z = N; }"
        kernel = pytriton.kernel(source, heuristics={"N": lambda args: args["n"]})
        z = torch.zeros(1)
        got = []
        for arguments, defines in (((3,), {}), ((4, 5), {"BIAS": 1}), ((6,), {})):
            kernel(*arguments, z, grid=1, defines=defines)
            got.append(z.item())
        assert got == [3, 5, 6]

    def test_a_missing_argument(self) -> None:
        kernel = pytriton.kernel(EVEN, {"TILE": 4}, heuristics=self.functions)
        with pytest.raises(LaunchError, match=r"it takes 2 arguments, not 1 \[TC501\]"):
            kernel(torch.zeros(1), grid=1)

    def test_no_function(self) -> None:
        with pytest.raises(LaunchError, match=r"heuristic 'EVEN' is 1, which is not a function \[TC515\]"):
            pytriton.kernel(EVEN, heuristics={"EVEN": 1})  # type: ignore[dict-item]

    def test_no_define(self) -> None:
        kernel = pytriton.kernel(EVEN, heuristics={"EVEN": lambda args: None})
        with pytest.raises(LaunchError, match=r"define 'EVEN' must not be None \[TC513\]"):
            kernel(torch.zeros(1), 8, grid=1)

    def test_syntax_is_checked_now(self) -> None:
        with pytest.raises(ParseError):
            pytriton.kernel(EVEN.replace("-n;", "-n"), heuristics=self.functions)


class TestIdDict:
    def test_identity(self) -> None:
        table: IdDict[int] = IdDict()
        a, b = torch.zeros(2), torch.zeros(2)
        table[a] = 1
        table[b] = 2
        table[a] = 3
        assert (table[a], table[b], len(table)) == (3, 2, 2)
        assert [key is a or key is b for key in table] == [True, True]
        del table[b]
        assert b not in table
        with pytest.raises(KeyError):
            table[b]

    def test_keeps_nothing_alive(self) -> None:
        table: IdDict[int] = IdDict()
        table[torch.zeros(2)] = 1
        gc.collect()
        assert len(table) == 0
        assert not table.data


def test_a_translation_that_triton_refuses(
    translated_by: Callable[[Callable[[Any], Translation]], None],
) -> None:
    """See test_failures.py for the words; here: nothing but ours is raised."""
    from tests.runtime.kernels import handmade

    translated_by(lambda defines: handmade("@triton.jit\ndef f(x):\n    tl.store(x, y)\n", "float* x"))
    with pytest.raises(CompileError):
        pytriton.kernel("anything")(torch.zeros(1), grid=1)


def test_a_heuristic_sees_numbers() -> None:
    """A numeric text is a number to it, as it is to a grid."""
    kernel = pytriton.kernel(
        "__global__ void f(int *o, int n) { *o = TM * 10 + EVEN; }",
        autotune_configs=[pytriton.config(defines={"TM": "128"})],
        heuristics={"EVEN": lambda given: given["n"] % given["TM"] == 0},
    )
    o = torch.zeros(1, dtype=torch.int32)
    kernel(o, 256, grid=lambda opt: (opt.TM // 128,))
    assert o.tolist() == [1281]
