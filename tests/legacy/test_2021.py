"""2021: a device at the constructor, addresses, autotune_configs, read, and triton.testing."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton as triton
from pytriton.testing import Benchmark, perf_report

SCALE = """\
__global__ void scale(float* Y, float* X, float factor, int N __multipleof(4)) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < N)(Y + r) = *?(r < N)(X + r) * factor;
}
"""


def test_2021_addresses_and_configs() -> None:
    configs = [
        triton.config(defines={"TILE": "16"}, num_warps=4),
        triton.config(defines={"TILE": "32"}, num_warps=8),
    ]
    kernel = triton.kernel(
        SCALE, device=torch.device("cpu"), defines={"UNUSED": 1}, autotune_configs=configs, autotune_key=["N"]
    )
    seen: list[Any] = []

    def grid(opt: Any) -> list[int]:
        seen.append((opt.TILE, opt.num_warps))
        return [triton.cdiv(40, opt.TILE)]

    x, y = torch.randn(40), torch.zeros(40)
    kernel(y.data_ptr(), x.data_ptr(), -2.0, 40, grid=grid)
    assert torch.equal(y, -2 * x)
    assert seen == [(16, 4)]


def test_2021_defines_win_over_a_config() -> None:
    kernel = triton.kernel(SCALE, "cpu", {"TILE": 64}, autotune_vals=[({"TILE": "16"}, 2)])
    seen: list[Any] = []
    y = torch.ones(4)
    kernel(y, y, 3.0, 4, grid=lambda opt: seen.append((opt.TILE, opt.num_warps)) or (1,))
    assert seen == [(64, 2)]
    assert y.tolist() == [3.0] * 4


def test_2021_nothing_to_tune() -> None:
    y = torch.ones(4)
    for none in (None, [], ()):
        kernel = triton.kernel(
            SCALE, "cpu", {"TILE": 4}, autotune_configs=none, autotune_vals=none, autotune_key=none
        )
        kernel(y, y, 2.0, 4, grid=(1,))
    assert y.tolist() == [8.0] * 4


def test_2021_unknown_autotune_key() -> None:
    with pytest.raises(triton.LaunchError, match="autotune_key names 'M'"):
        triton.kernel(SCALE, "cpu", {"TILE": 64}, autotune_key=["M"])


class TestRead2021:
    TEXT = """\
// shared by both
#define WIDTH 16
typedef float row[WIDTH];

/* first */
__global__ void first(float* X) {
#define LATER 3.0f
#ifdef ODD
  if (1) { // }
#else
  if (1) {
#endif
    row x = *(X + 0 ... WIDTH);
    *(X + 0 ... WIDTH) = x + 1;
  }
}

enum { ONE = 1, TWO };

__global__ void NAME(float* X __attribute__((aligned(16))),
                     int n) { *(X + n) = LATER * TWO; }

#if BIG
__global__ void third(float* X) {
#else
__global__ void third(float* X, float s) {
#endif
  "}" ;
}
void fourth(float* X) { *X = WIDTH; }
"""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "kernels.c"
        path.write_text(self.TEXT)
        return path

    def test_2021_whole(self, path: Path) -> None:
        assert triton.read(str(path)) == triton.read(path) == self.TEXT

    def test_2021_one(self, path: Path) -> None:
        text = triton.read(str(path), kernel_names=["NAME"])
        lines = text.split("\n")
        was = self.TEXT.split("\n")
        assert len(lines) == len(was)
        start = was.index("enum { ONE = 1, TWO };")
        assert lines[:5] == was[:5]
        assert [line for line in lines[5:start] if line] == ["#define LATER 3.0f"]
        assert lines[start : start + 4] == was[start : start + 4]
        assert [line for line in lines[start + 4 :] if line] == ["#if BIG", "#else", "#endif"]
        kernel = triton.kernel(text, "cpu", defines={"NAME": "second"})
        x = torch.zeros(2)
        kernel(x, 1, grid=(1,))
        assert x.tolist() == [0.0, 6.0]

    def test_2021_directives_of_a_dropped_kernel(self, path: Path) -> None:
        """A define counts after the kernel, with the conditions around it; a condition without one does not."""
        path.write_text(
            "void first(int *x) {\n#if A\n#if B\n*x = 1;\n#endif\n#define C 7\n#else\n#ifdef D\n*x = 2;\n#endif\n"
            "#endif\n#ifdef E\n*x = 3;\n#elif F\n*x = 4;\n#endif\n}\nvoid second(int *x) { *x = C; }\n"
        )
        text = triton.read(path, kernel_names="second")
        assert [line for line in text.split("\n") if line] == [
            *("#if A", "#define C 7", "#else", "#endif", "void second(int *x) { *x = C; }")
        ]
        x = torch.zeros(1, dtype=torch.int32)
        triton.kernel(text, "cpu", defines={"A": 1})(x, grid=(1,))
        assert x.item() == 7

    def test_2021_each_is_whole(self, path: Path) -> None:
        for name, args, wanted in (("first", (), 1.0), ("fourth", (), 16.0)):
            x = torch.zeros(16)
            triton.kernel(triton.read(path, kernel_names=[name]), "cpu")(x, *args, grid=(1,))
            assert x[0].item() == wanted

    def test_2021_several_and_a_bare_name(self, path: Path) -> None:
        text = triton.read(path, kernel_names=["first", "fourth"])
        assert pytriton_kernels(text) == ("first", "fourth")
        assert pytriton_kernels(triton.read(path, kernel_names="fourth")) == ("fourth",)

    def test_2021_order_of_names_is_no_matter(self, path: Path) -> None:
        assert triton.read(path, ["fourth", "first"]) == triton.read(path, ["first", "fourth"])

    def test_2021_line_numbers(self, path: Path) -> None:
        text = triton.read(path, kernel_names=["fourth"]).replace("*X = WIDTH", "*X = WIDE")
        with pytest.raises(triton.CompileError) as caught:
            triton.translate(text)
        assert (
            caught.value.diagnostics[0].where.line
            == self.TEXT[: self.TEXT.index("void fourth")].count("\n") + 1
        )

    def test_2021_unknown(self, path: Path) -> None:
        with pytest.raises(
            triton.CompileError, match=r"there is no kernel 'fifth'.*NAME, first, fourth, third"
        ):
            triton.read(path, kernel_names=["fifth"])

    def test_2021_as_an_editor_saved_it(self, path: Path) -> None:
        path.write_bytes(b"\xef\xbb\xbf" + self.TEXT.replace("\n", "\r\n").encode())
        assert triton.read(path)[:9] == "// shared"
        text = triton.read(path, kernel_names="fourth")
        assert text.count("\n") == self.TEXT.count("\n")
        x = torch.zeros(1)
        triton.kernel(text)(x, grid=1)
        assert x.item() == 16

    def test_2021_no_utf_8(self, path: Path) -> None:
        path.write_bytes(b"// \xff")
        with pytest.raises(triton.CompileError, match="byte 0xFF is not UTF-8"):
            triton.read(path)

    def test_2021_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            triton.read(str(tmp_path / "absent.c"))


def pytriton_kernels(text: str) -> tuple[str, ...]:
    return triton.translate(text).kernels


class TestDoBench2021:
    def test_2021_percentiles(self) -> None:
        calls: list[int] = []
        median, low, high = triton.testing.do_bench(lambda: calls.append(1), warmup=1, rep=5)
        assert 0 < low <= median <= high
        assert len(calls) > 10

    def test_2021_median_alone(self) -> None:
        for none in (None, [], ()):
            found = triton.testing.do_bench(lambda: None, warmup=1, rep=1, percentiles=none)
            assert isinstance(found, float)

    def test_2021_other_percentiles(self) -> None:
        assert len(triton.testing.do_bench(lambda: None, 1, 1, None, [0.1, 0.5, 0.9])) == 4

    def test_2021_gradients_are_dropped(self) -> None:
        x = torch.ones(2, requires_grad=True)
        seen = []

        def step() -> None:
            seen.append(x.grad)
            x.sum().backward()

        triton.testing.do_bench(step, warmup=1, rep=1, grad_to_none=[x])
        assert len(seen) > 2
        assert all(grad is None for grad in seen)


class TestAllclose2021:
    def test_2021_close(self) -> None:
        x = torch.tensor([1.0, -100.0])
        assert triton.testing.allclose(x, x + 0.99)
        assert not triton.testing.allclose(x, x + 1.01)
        assert triton.testing.allclose(x, x + 1.01, tol=0.02)
        assert triton.testing.allclose(-x.half(), -x.half())

    def test_2021_not_close(self) -> None:
        x = torch.ones(3)
        assert not triton.testing.allclose(x, x.double())
        assert not triton.testing.allclose(x, torch.ones(1))
        assert not triton.testing.allclose(x, torch.tensor([1.0, float("nan"), 1.0]))

    def test_2021_edges(self) -> None:
        assert triton.testing.allclose(torch.zeros(3), torch.zeros(3))
        assert triton.testing.allclose(torch.zeros(0), torch.zeros(0))
        assert triton.testing.allclose(torch.full((2,), 6e4).half(), torch.full((2,), 6e4).half())
        assert not triton.testing.allclose(torch.full((2,), 6e4).half(), -torch.full((2,), 6e4).half())
        assert triton.testing.allclose(torch.tensor([-128, 127]).char(), torch.tensor([-128, 127]).char())


class TestBlocks2021:
    def test_2021_mask_tensor(self) -> None:
        x = torch.arange(2 * 2 * 4 * 6, dtype=torch.float32).reshape(2, 2, 4, 6)
        mask = torch.tensor([[[1, 0, 1], [0, 0, 1]], [[0, 1, 1], [1, 1, 0]]])
        y = triton.testing.mask_tensor(x, mask, 2, value=-1)
        for b in range(2):
            for h in range(2):
                for i in range(4):
                    for j in range(6):
                        wanted = x[b, h, i, j] if mask[h, i // 2, j // 2] else -1
                        assert y[b, h, i, j] == wanted
        assert x.min() == 0  # a copy
        assert triton.testing.mask_tensor(x, mask, 2)[0, 0, 0, 2] == 0

    def test_2021_sparsify_tensor(self) -> None:
        x = torch.randn(3, 2, 4, 6)
        mask = torch.tensor([[[1, 0, 1], [0, 0, 1]], [[0, 1, 1], [1, 1, 0]]])
        y = triton.testing.sparsify_tensor(x, mask, 2)
        assert y.shape == (3, 7, 2, 2)
        assert y.is_contiguous()
        assert triton.testing.sparsify_tensor(x.mT.contiguous().mT, mask, 2).is_contiguous()
        for index, (h, i, j) in enumerate(mask.nonzero().tolist()):
            assert torch.equal(y[:, index], x[:, h, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2])
        assert triton.testing.sparsify_tensor(x, torch.zeros_like(mask), 2).shape == (3, 0, 2, 2)

    @pytest.mark.parametrize("block", [1, 4])
    def test_2021_sizes(self, block: int) -> None:
        x, mask = torch.zeros(1, 2, 4, 6), torch.ones(2, 2, 3)
        for function in (triton.testing.mask_tensor, triton.testing.sparsify_tensor):
            with pytest.raises(ValueError, match=f"with blocks of {block} they must be"):
                function(x, mask, block)


OLD_NAMES = {"y_name": "provider", "y_vals": ["a", "b"], "y_lines": ["A line", "B line"]}
NEW_NAMES = {"line_arg": "provider", "line_vals": ["a", "b"], "line_names": ["A line", "B line"]}


class TestReport2021:
    @pytest.mark.parametrize("names", [OLD_NAMES, NEW_NAMES], ids=["old", "new"])
    def test_2021_csv(self, names: dict[str, Any], tmp_path: Path) -> None:
        benchmark = Benchmark(
            x_names=["M", "N"], x_vals=[2, 4], plot_name="speed", args={"scale": 10}, x_log=True, **names
        )
        assert (benchmark.line_arg, benchmark.line_vals, benchmark.line_names) == (
            "provider",
            ["a", "b"],
            ["A line", "B line"],
        )

        @perf_report(benchmark)
        def measure(M: int, N: int, provider: str, scale: int) -> float:
            return M * N * scale + (0.5 if provider == "b" else 0)

        assert measure.run(save_path=str(tmp_path / "out")) is None
        with (tmp_path / "out" / "speed.csv").open() as file:
            head, *rows = csv.reader(file)
        assert head == ["M", "N", "A line ()", "B line ()"]
        assert [[float(cell) for cell in row] for row in rows] == [[2, 2, 40, 40.5], [4, 4, 160, 160.5]]
        assert (tmp_path / "out" / "speed.png").exists()

    def test_2021_positional(self, capsys: pytest.CaptureFixture[str]) -> None:
        benchmark = Benchmark(["M"], [1, 100], "how", [1], ["Line"], "plot", {}, "x", "y", True, True)
        assert (benchmark.xlabel, benchmark.ylabel, benchmark.x_log, benchmark.y_log) == (
            "x",
            "y",
            True,
            True,
        )
        perf_report([benchmark])(lambda M, how: (M * how, M - 0.5, M + 0.5)).run(print_data=True)
        assert capsys.readouterr().out.split() == "plot: M Line (y) 0 1.0 1.0 1 100.0 100.0".split()

    def test_2021_tuples_of_sizes(self, capsys: pytest.CaptureFixture[str]) -> None:
        benchmark = Benchmark(["M", "N"], [(1, 2), (3, 4)], "how", [1], ["L"], "p", {})
        perf_report(benchmark)(lambda M, N, how: M * N).run(print_data=True)
        assert capsys.readouterr().out.split() == "p: M N L () 0 1.0 2.0 2.0 1 3.0 4.0 12.0".split()

    def test_2021_several_benchmarks(self, tmp_path: Path) -> None:
        marks = [Benchmark(["M"], [1], "how", [1], ["L"], name, {}) for name in ("p", "q")]
        perf_report(marks)(lambda M, how: M).run(save_path=str(tmp_path))
        assert {path.name for path in tmp_path.glob("*.csv")} == {"p.csv", "q.csv"}

    def test_2021_no_report_without_pandas(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "pytriton.legacy.perf_report.find_spec", lambda name: None if name == "pandas" else name
        )
        mark = perf_report(Benchmark(["M"], [1], "how", [1], ["L"], "p", {}))(lambda M, how: M)
        with pytest.raises(
            triton.LaunchError, match=r"need matplotlib, pandas, triton \[TC563\]\nhelp: pip install pandas"
        ):
            mark.run(print_data=True)

    @pytest.mark.parametrize(("given", "wanted"), [([0.2, 0.8], [0.5, 0.2, 0.8]), ([], [0.5])])
    def test_2021_triton_measures_on_a_gpu(
        self, monkeypatch: pytest.MonkeyPatch, given: list[float], wanted: list[float]
    ) -> None:
        def bench(fn: Any, warmup: int, rep: int, grad_to_none: Any, quantiles: list[float]) -> Any:
            assert (fn(), warmup, rep, grad_to_none, quantiles) == (3, 5, 6, ["x"], wanted)
            return quantiles if len(quantiles) > 1 else quantiles[0]

        monkeypatch.setattr("torch.cuda.is_available", lambda: True)
        monkeypatch.setattr("pytriton.runtime.tensors.testing.do_bench", bench)
        found = triton.testing.do_bench(lambda: 3, 5, 6, iter(["x"]), given)
        assert found == (tuple(wanted) if given else 0.5)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"line_arg": "x"}, "'y_name' or 'line_arg'.*not both"),
            ({"y_name": None}, "missing.*'line_arg'"),
            ({"plot_name": None}, "missing.*'plot_name'"),
            ({"args": None}, "missing.*'args'"),
        ],
    )
    def test_2021_wrong(self, changes: dict[str, Any], message: str) -> None:
        with pytest.raises(TypeError, match=message):
            Benchmark(["M"], [1], **{"plot_name": "p", "args": {}, **OLD_NAMES, **changes})

    def test_2021_a_tuple_of_the_wrong_length(self) -> None:
        mark = perf_report(Benchmark(["M", "N"], [(1, 2, 3)], "how", [1], ["L"], "p", {}))(lambda **_: 1)
        with pytest.raises(ValueError, match="Expected 2 values, got"):
            mark.run()


def test_2021_version() -> None:
    assert isinstance(triton.__version__, str)


def test_2021_every_public_name_is_there() -> None:
    for name in triton.__all__:
        assert getattr(triton, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'jit'"):
        triton.jit  # noqa: B018
