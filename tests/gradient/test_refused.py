"""What has no derivative here is refused, with the code, the place and the reason: of a text, or of a launch."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch

import pytriton
from pytriton.__main__ import main
from pytriton.gradient import enumerated
from tests.gradient.programs import PROGRAMS, Launch

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# name: parameters, body, code, what the caret stands under, a part of the message
TEXTS = {
    "no output": ("float *x, int *y", "*y = *x;", "TC700", None, "stores no floating values"),
    "no input": ("float *y, int n", "*y = n;", "TC700", None, "reads no floating values"),
    "bitcast": (
        "float *y, float *x",
        "*y = bitcast<float>(*x + 1);",
        "TC701",
        "bitcast<float>(*x + 1)",
        "bits",
    ),
    "bitcast to an integer": (
        "float *y, float *x",
        "*y = bitcast<int>(*x);",
        "TC701",
        "bitcast<int>(*x)",
        "bits",
    ),
    "bitcast there and back": (
        "float *y, float *x",
        "*y = bitcast<float>(bitcast<int>(2 * *x) ^ 1);",
        "TC701",
        "bitcast<int>(2 * *x)",
        "bits",
    ),
    "bitcast in a condition": (
        "double *y, double *x",
        "double a = *x; *y = bitcast<long>(a) < 0 ? -a : a;",
        "TC701",
        "bitcast<long>(a)",
        "bits",
    ),
    "integers of a pointer": ("float *y, float *x", "*y = *(int*)x;", "TC706", "*(int*)x", "cast"),
    "integers of a pointer that a loop moves": (
        "float *y, float *x, int n",
        "int *p = (int*)y; for (int k = 0; k < n; k += 1) { *p = 3 * *x; p += 1; }",
        "TC706",
        "*p = 3 * *x",
        "cast",
    ),
    "pointer of two": (
        "float *y, float *x, int n",
        "float *p = n ? y : x; *p = 1;",
        "TC703",
        "*p = 1",
        "cannot tell which parameter this writes",
    ),
    "read from two": (
        "float *y, float *x, float *w, int n",
        "float *p = n ? w : x; *y = *p;",
        "TC703",
        "*p",
        "cannot be determined",
    ),
    "overwritten": ("float *x", "*x = 2 * *x;", "TC704", "*x = 2 * *x", "written here"),
    "accumulated in memory": ("float *y, float *x", "*y = *y + *x;", "TC704", "*y = *y + *x", "written here"),
    "lock": (
        "float *y, float *x, int *l",
        "atomic_cas(l, 0, 1); *y = *x;",
        "TC705",
        "atomic_cas(l, 0, 1)",
        "lock",
    ),
    "old value": (
        "float *y, float *x",
        "*y = atomic_add(x, 1.f);",
        "TC705",
        "atomic_add(x, 1.f)",
        "old value",
    ),
    "cast output": (
        "int *y, float *z, float *x",
        "*(float*)y = *x; *z = *x;",
        "TC706",
        "*(float*)y = *x",
        "cast",
    ),
    "cast input": ("float *y, float *x", "*y = *(half*)x;", "TC706", "*(half*)x", "cast"),
    "stored twice": ("float *y, float *x", "*y = *x; *y = 2 * *x;", "TC707", "*y = 2 * *x", "2 places"),
    "stored and added": (
        "float *y, float *x",
        "*y = *x; atomic_add(y, *x);",
        "TC707",
        "atomic_add(y, *x)",
        "2 places",
    ),
    "steps that grow": (
        "float *y, float *x, int n",
        "float s = 1; for (int k = 1; k < n; k *= 2) s *= *(x + k); *y = s;",
        "TC708",
        None,
        "'k', which does not grow by equal steps",
    ),
    "steps from memory": (  # what is loaded is not needed again, but where it was is
        "float *y, float *x, int *t, int n",
        "float s = 1; float *p = x; for (int k = 0; k < n; k += 1) { s = sin(s) + *p; p += *(t + k); } *y = s;",
        "TC708",
        None,
        "'p', which does not grow by equal steps",
    ),
    "return": (
        "float *y, float *x, int n",
        "for (int k = 0; k < n; k += 1) if (k > 3) return; *y = *x;",
        "TC702",
        "return",
        "jump",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str) -> None:
    parameters, body, code, place, said = TEXTS[name]
    with pytest.raises(pytriton.UnsupportedError) as caught:
        pytriton.gradient(f"__global__ void f({parameters}) {{\n  {body}\n}}\n")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert said in str(diagnostic)
    if place is not None:
        assert diagnostic.where.text.rstrip(";)") == place.rstrip(")")  # type: ignore[union-attr]


def test_an_input_that_nobody_asked_for() -> None:
    """It is listed with its reason, and the others are derived; asked for by name, it is refused."""
    text = """__global__ void f(float *y, float *x, float *w) {
  *y = *w * *w + bitcast<float>(*x + 1);
}
"""
    derived = pytriton.gradient(text)
    assert derived.inputs == ("w",)
    assert [*derived.refused] == ["x"]
    assert "TC701" in str(derived.refused["x"])
    with pytest.raises(pytriton.UnsupportedError, match="TC701"):
        pytriton.gradient(text, inputs=["x"])


COPY = """__global__ void copy(float *y, float *x, int n, int step) {
  int r[8] = get_program_id(0) * 8 + 0 ... 8;
  *?(r < n) (y + r * step) = *?(r < n) (x + r);
}
"""


@pytest.mark.parametrize(
    ("grid", "n", "step", "right"),
    [
        ((2,), 16, 1, True),
        ((2,), 13, 2, True),
        ((2,), 16, 0, False),  # all at one element
        ((2, 2), 16, 1, False),  # twice each
        ((1, 1), 1, 0, True),  # one element
    ],
)
def test_outputs_are_stored_once(grid: tuple[int, ...], n: int, step: int, right: bool) -> None:
    derived = pytriton.gradient(COPY)
    x, y = torch.randn(16), torch.zeros(32)
    flowing = {"y": torch.randn(32)}
    if right:
        expected = torch.zeros(16)
        expected[:n] = flowing["y"][: n * max(step, 1) : max(step, 1)][:n]
        made = derived(y, x, n, step, grid=grid, d_outputs=flowing)
        torch.testing.assert_close(made["x"], expected)
    else:
        with pytest.raises(pytriton.LaunchError, match="TC750"):
            derived(y, x, n, step, grid=grid, d_outputs=flowing)


ROWS = """__global__ void rows(float *y, float *x, int n, int m, int ldx, int ldy) {
  int rm[4] = get_program_id(0) * 4 + 0 ... 4;
  int rn[4] = get_program_id(1) * 4 + 0 ... 4;
  bool inside[4, 4] = (rm < m)[:, newaxis] && (rn < n)[newaxis, :];
  float a[4, 4] = inside ? *(x + rm[:, newaxis] * ldx + rn[newaxis, :]) : 0;
  *?(inside) (y + rm[:, newaxis] * ldy + rn[newaxis, :]) = a * a;
}
"""


@pytest.mark.parametrize(
    ("ldx", "ldy", "way"),
    [(6, 6, "store"), (9, 7, "store"), (0, 6, "atomic"), (5, 6, "atomic"), (6, 5, None)],
)
def test_facts_of_a_launch(ldx: int, ldy: int, way: str | None) -> None:
    """Rows of 6 that overlap where a stride is smaller: added up by atomics, or refused; never wrong."""
    derived = pytriton.gradient(ROWS)
    x, y, flowing = torch.randn(64), torch.zeros(64), torch.randn(64)
    if way is None:
        with pytest.raises(pytriton.LaunchError, match="TC750"):
            derived(y, x, 6, 5, ldx, ldy, grid=(2, 2), d_outputs={"y": flowing})
        return
    made = derived(y, x, 6, 5, ldx, ldy, grid=(2, 2), d_outputs={"y": flowing})
    leaf = x.clone().requires_grad_()
    (leaf.as_strided((5, 6), (ldx, 1)) ** 2).backward(flowing.as_strided((5, 6), (ldy, 1)))
    torch.testing.assert_close(made["x"], leaf.grad)
    (facts,) = derived._facts.values()
    assert facts is not None
    assert [each.at.ways for each in facts.backward.passes] == [((0, way),)]


TWICE = """__global__ void f(float *y, float *x, int n, int step, int far) {
  int o[8] = get_program_id(0) * 8 + 0 ... 8;
  float a[8] = *?(o < n) (x + o);
  *?(o < n) (y + step * o) = a * a;
  *?(o < n) (y + step * o + far) = 3 * a;
}
"""


@pytest.mark.parametrize(
    ("step", "far", "right"), [(2, 1, True), (1, 13, True), (1, 12, False), (2, 2, False), (0, 1, False)]
)
def test_two_stores(step: int, far: int, right: bool) -> None:
    """Of one output, to elements that differ; what is not shown to differ is refused."""
    derived = pytriton.gradient(TWICE)
    x, y, flowing = torch.rand(13), torch.zeros(40), torch.rand(40)
    if not right:
        with pytest.raises(pytriton.LaunchError, match="TC750"):
            derived(y, x, 13, step, far, grid=2, d_outputs={"y": flowing})
        return
    at = torch.arange(13) * step
    made = derived(y, x, 13, step, far, grid=2, d_outputs={"y": flowing})["x"]
    torch.testing.assert_close(made, flowing[at] * 2 * x + flowing[at + far] * 3)


def test_stores_of_arms_in_other_programs() -> None:
    """Arms are exclusive in one program: another one may take the other arm for the same element."""
    text = """__global__ void f(float *y, float *x, int n) {
  int p = get_program_id(0);
  if (p < n) *(y + p / 2) = *(x + p);
  else *(y + p / 2) = 2 * *(x + p);
}
"""
    with pytest.raises(pytriton.LaunchError, match=r"(?s)TC750.*= \*\(x.*\n.*= 2 \*.*help"):
        pytriton.gradient(text)(torch.zeros(2), torch.rand(4), 1, grid=4, d_outputs={"y": torch.ones(2)})


SUMS = """__global__ void f(float *y, float *x, int n, int ldx, int step) {
  int row = get_program_id(0);
  int r[8] = 0 ... 8;
  *?(r < n) (y + row * n + r) = sin(*?(r < n) (x + row * ldx + r * step)) * row;
}
"""


@pytest.mark.parametrize("way", ["rows", "columns", "all", "one row", "slice"])
def test_expanded_inputs(way: str) -> None:
    """The sum over what an expanded tensor repeats, as torch gives it."""
    leaf = torch.rand(3, 6).requires_grad_()
    x = {
        "rows": lambda: leaf[1].expand(3, 6),
        "columns": lambda: leaf[:, 2].contiguous()[:, None].expand(3, 6),
        "all": lambda: leaf[2, 5].expand(3, 6),
        "one row": lambda: leaf[:1].expand(3, 6),
        "slice": lambda: leaf[:, 2:3].expand(3, 6),
    }[way]()
    y, flowing = torch.zeros(3, 6), torch.rand(3, 6)
    made = pytriton.gradient(SUMS)(y, x.detach(), 6, *x.stride(), grid=3, d_outputs={"y": flowing})["x"]
    assert made.shape == x.shape
    wanted = torch.autograd.grad((x.sin() * torch.arange(3)[:, None]), leaf, flowing, retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(x, leaf, made), wanted)


def test_expanded_inputs_read_as_others() -> None:
    """A kernel that is not given the strides reads beside the elements of an expanded tensor."""
    derived = pytriton.gradient(COPY)
    with pytest.raises(pytriton.LaunchError, match=r"TC753.*\n?.*contiguous"):
        derived(
            torch.zeros(16), torch.rand(16)[:1].expand(16), 16, 1, grid=2, d_outputs={"y": torch.ones(16)}
        )
    with pytest.raises(pytriton.LaunchError, match="TC753"):  # windows
        derived(
            torch.zeros(16), torch.rand(16).unfold(0, 4, 1), 16, 1, grid=2, d_outputs={"y": torch.ones(16)}
        )


@pytest.mark.parametrize("dtype", [torch.complex64, torch.half, torch.int32])
def test_dtypes(dtype: torch.dtype) -> None:
    """Tensors of other dtypes than the parameters declare, with or without cotangents."""
    derived = pytriton.gradient(COPY)
    other, plain = torch.ones(16).to(dtype), torch.ones(16)
    for arguments in ((other, plain), (plain, other)):
        for flowing in ({}, {"y": plain}):
            with pytest.raises(pytriton.LaunchError, match=r"TC755"):
                derived(*arguments, 16, 1, grid=2, d_outputs=flowing)
    with pytest.raises(pytriton.LaunchError, match="TC755"):
        derived(plain, plain.clone(), 16, 1, grid=2, d_outputs={"y": torch.ones(16, dtype=torch.complex64)})


def test_wrong_launches() -> None:
    derived = pytriton.gradient(COPY)
    x, y = torch.randn(16), torch.zeros(16)
    for arguments, code in (
        ((x, x, 16, 1), "TC751"),
        ((y, x[:1].expand(16), 16, 1), "TC753"),
        ((y, x), "TC755"),
        ((y, x.data_ptr(), 16, 1), "TC755"),
    ):
        with pytest.raises(pytriton.LaunchError, match=code):
            derived(*arguments, grid=2, d_outputs={"y": y})
    for flowing in ({"x": x}, {"y": y[:8]}):
        with pytest.raises(pytriton.LaunchError, match="TC755"):
            derived(y, x, 16, 1, grid=2, d_outputs=flowing)


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_sparse_cotangents(layout: torch.layout) -> None:
    """Of outputs that are whole, and that are views."""
    flowing = {"y": torch.ones(4, 4).to_sparse(layout=layout)}
    for y, step in ((torch.zeros(4, 4), 1), (torch.zeros(4, 8)[:, ::2], 2)):
        with pytest.raises(pytriton.LaunchError, match=rf"{layout} .*TC755"):
            pytriton.gradient(COPY)(y, torch.randn(16), 16, step, grid=2, d_outputs=flowing)


@pytest.mark.parametrize(
    ("before", "index", "right"),
    [
        ("", "r / 8 * 8 + (7 - r % 8)", True),
        ("", "r / 2 * 2 + (r % 2 == 0)", True),
        ("", "r / 2", False),
        ("", "r % 15", False),
        ("", "r % 8 + (r > 8) * 7", False),
        ("", "15 - r / 1", True),
        ("", "15 - r / 1 - 1", False),  # before the pointer
        ("if (r[max] > 4) n = 4;", "r % n + r / n * n", False),  # what n is then, only the kernel knows
        ("n = 4;", "r % n * 4 + r / n", True),
    ],
)
@pytest.mark.parametrize("at_once", [8, enumerated.AT_ONCE])
def test_all_addresses_are_looked_at(
    before: str, index: str, right: bool, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where indices come from divisions; also where one program at a time is looked at."""
    monkeypatch.setattr(enumerated, "AT_ONCE", at_once)
    text = f"""__global__ void f(float *y, float *x, int n) {{
  int r[8] = get_program_id(0) * 8 + 0 ... 8;
  {before}
  *(y + {index}) = 2 * *(x + r);
}}
"""
    derived = pytriton.gradient(text)
    x, y, flowing = torch.rand(16), torch.zeros(16), torch.rand(16)
    if not right:
        with pytest.raises(pytriton.LaunchError, match="TC750"):
            derived(y, x, 16, grid=2, d_outputs={"y": flowing})
        return
    leaf, kernel = torch.eye(16), pytriton.kernel(text)
    rows = []
    for row in leaf:
        kernel(y, row, 16, grid=2)
        rows.append(y.clone())
    made = derived(y, x, 16, grid=2, d_outputs={"y": flowing})["x"]
    torch.testing.assert_close(made, torch.stack(rows) @ flowing)


def test_states_of_loops_have_a_limit() -> None:
    """What loops carry is kept for each iteration, or for segments, as long as ``scratch_bytes`` allow it."""
    text = """__global__ void f(float *y, float *x, int n) {
  int r[16] = 0 ... 16;
  float s[16] = 1;
  for (int k = 0; k < n; k += 1)
    s = sin(s) * *(x + k);
  *(y + r) = s;
}
"""
    derived = pytriton.gradient(text, scratch_bytes=144)
    x, y = torch.rand(20), torch.zeros(16)
    assert derived(y, x, 2, grid=1, d_outputs={"y": y})["x"].shape == (20,)
    with pytest.raises(
        pytriton.LaunchError, match=r"(?s)takes 640 bytes, .* 144 are.*TC708.*scratch_bytes=640"
    ):
        derived(y, x, 20, grid=1, d_outputs={"y": y})
    assert pytriton.gradient(text)(y, x, 20, grid=1, d_outputs={"y": y})["x"].shape == (20,)


@pytest.mark.slow
def test_states_of_loops_beyond_the_limit() -> None:
    """Where all iterations take too much memory, each segment keeps what it begins with, and runs once more."""
    program = PROGRAMS["checkpoints"]
    used = {}
    for n in (1, 2, 14, 16, 30):
        shapes = {"x": (2, n), "y": (2, 2)}
        derive = partial(pytriton.gradient, scratch_bytes=16 * n + 32)
        launch = Launch(
            replace(program, shapes=shapes, numbers={"n": n}, checkpoints=False), torch.double, derive
        )
        tensors = launch.program.tensors(torch.double)
        assert torch.autograd.gradcheck(
            launch.function(tensors), [tensors["x"].requires_grad_()], atol=1e-6, fast_mode=True
        )
        (facts,) = launch.gradient._facts.values()
        used[n] = [state.segments for state in facts.launches[0].of.states]
    assert used == {1: [False], 2: [False], 14: [True], 16: [True], 30: [True]}


def test_outputs_beside_each_other() -> None:
    """Two tensors may be parts of one, as long as no launch reaches from one into the other."""
    text = """__global__ void f(float *y, float *z, float *x, int n) {
  int r[8] = 0 ... 8;
  *?(r < n) (y + r) = 2 * *?(r < n) (x + r);
  *?(r < n) (z + r) = 3 * *?(r < n) (x + r);
}
"""
    derived = pytriton.gradient(text)
    y, z = torch.zeros(2, 5)
    x, flowing = torch.zeros(5), {"y": torch.ones(5), "z": torch.ones(5)}
    assert derived(y, z, x, 5, grid=1, d_outputs=flowing)["x"].tolist() == [5.0] * 5
    with pytest.raises(pytriton.LaunchError, match="TC751"):
        derived(y, z, x, 6, grid=1, d_outputs=flowing)


def test_flows_of_any_stride() -> None:
    """What flows in is brought to the strides of the output; views of inputs get their own part."""
    derived = pytriton.gradient(COPY)
    x, y = torch.randn(40), torch.zeros(40)
    made = derived(y[8:24], x[4:20], 16, 1, grid=2, d_outputs={"y": torch.tensor(2.0).expand(16)})
    torch.testing.assert_close(made["x"], torch.full((16,), 2.0))
    assert derived(y[8:24], x[4:20], 16, 1, grid=2)["x"].count_nonzero() == 0
    made = derived(y[:0], x[:0], 0, 1, grid=0, d_outputs={"y": y[:0]})
    assert made["x"].shape == (0,)


def test_command(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    """``pytriton gradient`` prints the text, or what is wrong with it."""
    path = tmp_path / "copy.c"  # type: ignore[operator]
    path.write_text(COPY)
    assert main(["gradient", str(path), "--inputs", "x", "--outputs", "y"]) == 0
    text = capsys.readouterr().out
    assert "__global__ void copy_backward(float *d_y, float *d_x, int n, int step) {" in text
    assert "// adjoint of: *?(r < n) (y + r * step) = *?(r < n) (x + r)" in text
    pytriton.translate(text)
    path.write_text(PROGRAMS["checkpoints"].text)
    assert main(["gradient", str(path), "-D", "T=float", "--checkpoints"]) == 0
    text = capsys.readouterr().out
    assert "// state_s [programs, 2 * segment, 2]: s at the start of each segment, then of" in text
    assert main(["gradient", str(path), "-D", "T=float"]) == 0
    assert "iterations" in capsys.readouterr().out
    path.write_text(COPY.replace("(y + r * step)", "(x + r)"))
    assert main(["gradient", str(path)]) == 1
    assert "[TC7" in capsys.readouterr().err


def test_unsigned_numbers_that_wrap() -> None:
    """``a - b`` is large where b is larger: every element is stored by two programs."""
    text = """__global__ void f(float *y, float *x, unsigned a, unsigned b) {
  *?(a - b > 5) (y + get_program_id(0) / 2) = *x;
}
"""
    y, x = torch.zeros(2), torch.ones(1)
    with pytest.raises(pytriton.LaunchError, match="TC750"):
        pytriton.gradient(text)(y, x, 0, 1, grid=4, d_outputs={"y": torch.ones(2)})


def test_offsets_that_wrap() -> None:
    """``o * 2**32`` is 0 in int: what is read there is added up, and what is stored there is stored by each."""
    read = """__global__ void f(float *y, float *x, int n) {
  int o[8] = 0 ... 8;
  *(y + o) = *(x + o * n * 65536) * (o + 1);
}
"""
    y, x, flowing = torch.zeros(8), torch.ones(8), {"y": torch.ones(8)}
    assert pytriton.gradient(read)(y, x, 65536, grid=1, d_outputs=flowing)["x"].tolist() == [36] + [0] * 7
    stored = read.replace("(y + o)", "(y + o * n * 65536)").replace("(x + o * n * 65536)", "(x + o)")
    with pytest.raises(pytriton.LaunchError, match="TC750"):
        pytriton.gradient(stored)(y, x, 65536, grid=1, d_outputs=flowing)


def test_an_address_may_share_memory() -> None:
    """The forward overwrites the indices that the backward would need."""
    kernel = pytriton.kernel(
        """__global__ void f(float *y, float *x, int *c, int *k) {
  int i[8] = 0 ... 8; int j[8] = *(k + i);
  *(y + i) = *(x + j); *(c + i) = 0;
}"""
    )
    derived, flowing = pytriton.gradient(kernel), {"y": torch.ones(8)}
    x, y, k = torch.randn(8), torch.zeros(8), torch.arange(8, dtype=torch.int32)
    for address, code in ((k, "TC751"), (k.data_ptr(), "TC755.*address|address.*TC755")):
        with pytest.raises(pytriton.LaunchError, match=code):
            derived(y, x, k, address, grid=1, d_outputs=flowing)
    made = derived(y, x, k.clone(), k, grid=1, d_outputs=flowing)
    assert made["x"].tolist() == [1] * 8
