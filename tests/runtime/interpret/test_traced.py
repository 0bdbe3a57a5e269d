"""``kernel.trace``: the variables of one program after each statement, as they are in the user's text."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.traced import Trace
from pytriton.tuning.translated_config import copies, traced
from tests.runtime.checks.recording import QUICK, Recorded, recorded

SUMS = """#define AT(r, k) (x + (r) * ldx + (k))
__global__ void sums(float* z, float* x, int n, int ldx) {
  int r[TM] = get_program_id(0) * TM + 0 ... TM;
  float* px[TM] = AT(r, 0);
  float sum[TM] = 0;
  for (int k = 0; k < n; k += 1) {
    float px = 1;  // hides the pointers
    sum += px * *(AT(r, k));
  }
  px += 1;
  *?(r < 5)(z + r) = sum;
}"""


def trace_of(text: str, *arguments: Any, defines: Any = None, **more: Any) -> Trace:
    return pytriton.kernel(text, name="f.c").trace(*arguments, defines=defines, **{"grid": (1,), **more})


@pytest.fixture(scope="module")
def sums() -> Trace:
    x = torch.arange(18.0).reshape(6, 3)
    return trace_of(SUMS, torch.zeros(6), x, 2, 3, defines={"TM": [3]}, grid=(2,), program=(1,))


class TestVariables:
    def test_of_the_program_that_was_asked_for(self, sums: Trace) -> None:
        assert sums.program == (1, 0, 0)
        numpy.testing.assert_array_equal(sums[0].variables["r"], [3, 4, 5])

    def test_are_those_after_each_statement(self, sums: Trace) -> None:
        assert [step.changed for step in sums] == [
            *("r", "px", "sum", "k", "px", "sum", "k", "px", "sum", "k", "px", None)
        ]
        after = [step.variables["sum"].tolist() for step in sums if step.changed == "sum"]
        assert after == [[0, 0, 0], [9, 12, 15], [19, 25, 31]]
        assert [int(step.variables["k"]) for step in sums if step.changed == "k"] == [0, 1, 2]

    def test_have_the_shapes_and_types_of_the_text(self, sums: Trace) -> None:
        last = sums[-1].variables
        assert {name: (value.dtype.name, value.shape) for name, value in last.items()} == {
            "r": ("int32", (3,)),
            "px": ("int64", (3,)),
            "sum": ("float32", (3,)),
        }

    def test_pointers_are_elements_of_their_tensor(self, sums: Trace) -> None:
        assert sums[1].variables["px"].tolist() == [9, 12, 15]
        assert sums[-1].variables["px"].tolist() == [10, 13, 16]
        assert sums[1].tensors == {"px": "x"}

    def test_scopes_are_those_of_c(self, sums: Trace) -> None:
        inside = [step for step in sums if step.changed == "sum"][-1]
        assert inside.variables["px"] == 1
        assert "px" not in inside.tensors
        assert "k" in inside.variables
        assert "k" not in sums[-1].variables

    def test_of_an_inner_block_end_with_it(self) -> None:
        text = """void f(float* z, int n) {
  int x = 1;
  { int x = 2; { float x = 3; *z = x; } *z = x; int only = 7; }
  *z = x;
  if (n) { { int x = 5; *z = x; } *z = x; }
  for (int x = 8; x < 9; x++) { { int x = 6; } *z = x; }
  x += n;
  *(z + 1) = n++ + x;
}"""
        trace = trace_of(text, torch.zeros(2), 1)
        stored = [step for step in trace if step.changed is None]
        assert [int(step.variables["x"]) for step in stored] == [3, 2, 1, 5, 1, 8, 2]
        assert all(int(step.variables["x"]) == int(step.written[0].values[0]) for step in stored[:-1])
        assert set(stored[-1].variables) == {"x"}
        for step in trace:
            assert ("only" in step.variables) == (step.changed == "only")

    def test_what_the_translator_adds_is_not_shown(self) -> None:
        text = """void f(int* z, int mask) {
  int old = 1;
  mask += 1;
  atomic_add(z, *z++ + old, 0);
  old = mask++ + *(z + mask);
}"""
        trace = trace_of(text, torch.zeros(9, dtype=torch.int32), 2)
        assert all(set(step.variables) <= {"old", "mask", "z"} for step in trace)
        assert int(trace[0].variables["old"]) == 1

    def test_do_not_change_later(self, sums: Trace) -> None:
        assert sums[2].variables["sum"].tolist() == [0, 0, 0]

    def test_of_all_types(self) -> None:
        trace = trace_of(
            """void f(bfloat16* x, int* p, bool b, char c, half h, int n) {
                bfloat16 y[2] = *(x + 0 ... 2);
                n += 1;
                bool m[2, 3] = (0 ... 2)[:, newaxis] < (0 ... 3)[newaxis, :];
                char d = c * 2; half g = h / 2; unsigned long w = -1;
                int* q = p + n;
                int* a = (int*)w;
            }""",
            *(torch.tensor([0.5, 1.5]).bfloat16(), torch.zeros(4).int(), True, -100, 0.1, 2),
        )
        got = trace[-1].variables
        assert got["y"].tolist() == [0.5, 1.5]
        assert got["n"] == got["q"] == 3
        assert got["m"].tolist() == [[False, True, True], [False, False, True]]
        assert got["d"] == 56
        assert got["g"] == numpy.float16(0.05)
        assert got["w"] == got["a"] == 2**64 - 1


class TestOnCopies:
    @pytest.mark.parametrize("inspect", ["trace", "check_races"])
    def test_addresses_are_not_written_through(self, inspect: str) -> None:
        kernel, x = pytriton.kernel("void f(int* x, int* absent) { *x = 1; }"), torch.zeros(1).int()
        getattr(kernel, inspect)(x, 0, grid=1)
        with pytest.raises(LaunchError, match=r"only launches on tensors can be inspected \[TC515\]"):
            getattr(kernel, inspect)(x.data_ptr(), x, grid=1)
        assert x.item() == 0

    def test_a_negative_bit_is_refused(self) -> None:
        x = torch.ones(4, dtype=torch.complex64).conj().imag
        with pytest.raises(LaunchError, match="TC525"):
            trace_of("void f(float* x) { float v = *x; }", x)


class TestWrites:
    def test_of_a_store(self, sums: Trace) -> None:
        (written,) = sums[-1].written
        assert (written.kind, written.tensor) == ("store", "z")
        assert written.indices.tolist() == [3, 4]
        assert written.values.tolist() == [19, 25]

    def test_of_atomics(self) -> None:
        body = "atomic_add(z + 0 ... 2, 3); int a = atomic_cas(z, 3, 5); a = atomic_cas(z, 3, 6); *z = 1;"
        trace = trace_of(f"void f(int* z) {{ {body} }}", torch.zeros(2).int())
        seen = [[(w.kind, w.indices.tolist(), w.values.tolist()) for w in step.written] for step in trace]
        assert seen == [[("atomic", [0, 1], [3, 3])], [("atomic", [0], [5])], [], [("store", [0], [1])]]
        assert [int(step.variables["a"]) for step in trace[1:]] == [3, 5, 5]

    def test_leave_the_arguments_alone(self) -> None:
        whole = torch.zeros(6)
        first = trace_of(
            "void f(float* z, float* x) { *(z + 1) = 7; float y = *x; }", whole[:3], whole[1:], grid=1
        )
        assert first[-1].variables["y"] == 7  # they share memory as the arguments do
        assert whole.tolist() == [0] * 6

    def test_outside_are_told_of(self) -> None:
        trace = trace_of("void f(float* z) { float x = *(z - 1); *(z + 4) = x; }", torch.zeros(4))
        assert [note.code for note in trace.notes] == ["TC551", "TC550"]
        assert "f.c:1:40: error: store outside 'z'" in str(trace)


class TestControl:
    def test_statements_that_leave_a_block(self) -> None:
        text = """void f(int* z, int n) {
            for (int i = 0; i < 9; i += 1) {
              if (i == 1)
                continue;
              if (i == 3)
                break;
              *z = i;
            }
            if (n)
              return;
            *z = 9;
        }"""
        lines = [step.line for step in trace_of(text, torch.zeros(1).int(), 1)]
        assert lines == [2, 7, 2, 4, 2, 7, 2, 6, 10]
        assert [step.line for step in trace_of(text, torch.zeros(1).int(), 0)][-1] == 11

    def test_a_prefetched_load_stays_where_it_is_written(self) -> None:
        text = """void f(float* z, float* x, int n) {
            float a = *x; float s = 0;
            for (int k = n; k > 0; k -= 1) { s += a; x += 1; a = *x; }
            *z = s;
        }"""
        trace = trace_of(text, torch.zeros(1), torch.arange(4.0), 3)
        assert [float(step.variables["a"]) for step in trace if step.changed == "a"] == [0, 1, 2, 3]

    def test_of_a_text_without_memory(self) -> None:
        assert [int(step.variables["i"]) for step in trace_of("void f(int n) { int i = n; i *= 2; }", 3)] == [
            3,
            6,
        ]

    def test_prints_go_on(self, capsys: pytest.CaptureFixture[str]) -> None:
        trace_of('void f(int n) { printf("%d\\n", get_program_id(1)); }', 1, grid=(1, 3), program=(0, 2))
        assert capsys.readouterr().out == "2\n"


class TestText:
    def test_beside_the_source(self) -> None:
        text = """void f(float* z, int n) {
  int i[3] = 2 * (0 ... 3); i += n;
  float t[2, 20] =
      i[+];
  *?(i < 5)(z + i) = i;
}"""
        assert str(trace_of(text, torch.zeros(9), 1)) == (
            """f: program (0, 0, 0) of a grid of (1, 1, 1)
    2 |   int i[3] = 2 * (0 ... 3); i += n;
      |   i = [0 2 4]
    2 |   int i[3] = 2 * (0 ... 3); i += n;
      |   i = [1 3 5]
    3 |   float t[2, 20] =
    4 |       i[+];
      |   t = [[9. 9. 9. ... 9. 9. 9.]
      |        [9. 9. 9. ... 9. 9. 9.]]
    5 |   *?(i < 5)(z + i) = i;
      |   z[1 3] = [1. 3.]"""
        )

    def test_through_macros(self, sums: Trace) -> None:
        assert "    4 |   float* px[TM] = AT(r, 0);\n      |   px = x + [ 9 12 15]\n" in str(sums)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"program": (2, 0, 0)}, "there is no program (2, 0, 0) in a grid of (2, 1, 1)"),
        ({"program": (0, -1)}, "there is no program (0, -1)"),
        ({"grid": (0,)}, "the grid has no programs"),
    ],
)
def test_wrong_programs(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError, match="TC512") as caught:
        trace_of("void f(int n) { int i = n; }", 1, **{"grid": (2,), **options})
    assert message in str(caught.value)


def test_a_program_has_three_coordinates() -> None:
    with pytest.raises(LaunchError, match=r"program is \(0, 0, 0, 0\) \[TC515\]"):
        trace_of("void f(int n) { int i = n; }", 1, grid=(2,), program=(0, 0, 0, 0))


def after_one_program(launch: Recorded, *, trace: bool) -> list[Any]:
    """The memory of a launch when its first program has run, traced or not."""
    arguments = copies(launch.arguments)
    kernel = launch.made()
    plan = kernel._plan(arguments, None, None, None)
    made = plan.examined(arguments, launch.grid)
    first = (0, 0, 0)
    if trace:
        assert made.memory is not None
        assert traced(kernel._definition.text, made, made.memory, first).steps
    else:
        made.candidate._on_cpu.run(made.grid, made.values, None, [0])
    return arguments


def agree(launch: Recorded) -> None:
    """Traced code computes what the code of a launch does: passes change how, not what."""
    plain, traced = (after_one_program(launch, trace=trace) for trace in (False, True))
    for name, one, other in zip(launch.names, plain, traced, strict=True):
        if isinstance(one, torch.Tensor):
            torch.testing.assert_close(
                one, other, equal_nan=True, msg=lambda m, n=name: f"{launch.label} {n}: {m}"
            )


def test_traced_code_computes_the_same() -> None:
    for launch in recorded(QUICK):
        agree(launch)


@pytest.mark.slow
def test_traced_code_computes_the_same_in_all_programs() -> None:
    for launch in recorded():
        if launch.has_memory:
            agree(launch)


def test_a_program_may_be_given_as_a_number() -> None:
    text = "void f(int* z) { int at = get_program_id(0); *(z + at) = at; }"
    trace = trace_of(text, torch.zeros(3, dtype=torch.int32), grid=(3,), program=2)
    assert trace.program == (2, 0, 0)
    assert int(trace[0].variables["at"]) == 2
    with pytest.raises(LaunchError, match="TC512"):
        trace_of(text, torch.zeros(3, dtype=torch.int32), grid=(3,), program=3)
