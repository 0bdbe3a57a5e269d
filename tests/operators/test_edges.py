"""Threads and modes that a body enters, operators that are defined again, absent arguments, and writes that torch
does not count."""

from __future__ import annotations

import gc
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

import numpy
import pytest
import torch

import pytriton
from pytriton.errors import LaunchError

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")

WAVE = pytriton.kernel("""__global__ void wave(float *y, float *x, float a, int n) {
  int r[16] = get_program_id(0) * 16 + 0 ... 16;
  *?(r < n) (y + r) = a * sin(*?(r < n) (x + r));
}
""")
NUMBERS = torch.linspace(-2, 2, 11)


def wave(x: torch.Tensor, a: float = 2.0, y: torch.Tensor | None = None) -> torch.Tensor:
    y = torch.empty_like(x) if y is None else y
    WAVE(y, x, a, x.numel(), grid=(1,))
    return y


def derivative(function: Callable[..., torch.Tensor], *given: Any, **named: Any) -> torch.Tensor:
    x = NUMBERS.clone().requires_grad_()
    return torch.autograd.grad(function(x, *given, **named).sum(), x)[0]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(function, backend="aot_eager", fullgraph=True)


def in_thread(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    thread = threading.Thread(target=lambda: wave(x, 2.0, y))
    thread.start()
    thread.join()
    return y


def whole_in_thread(x: torch.Tensor) -> torch.Tensor:
    results: list[torch.Tensor] = []
    thread = threading.Thread(target=lambda: results.append(wave(x)))
    thread.start()
    thread.join()
    return wave(results[0])


class TestThreads:
    @pytest.mark.parametrize("body", [in_thread, whole_in_thread])
    def test_derived(self, body: Callable[..., Any]) -> None:
        made = pytriton.op("pytriton_edges::thread", body, gradient=True)
        torch.testing.assert_close(made(NUMBERS), body(NUMBERS))
        with pytest.raises(LaunchError, match=r"launches a kernel in another thread \[TC756\]"):
            derivative(made)

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    @pytest.mark.parametrize("gradient", [False, True])
    def test_compiled(self, gradient: bool) -> None:
        made = pytriton.op("pytriton_edges::thread", in_thread, gradient=gradient)
        with pytest.raises(Exception, match=r"launches a kernel in another thread \[TC756\]"):
            compiled(made)(NUMBERS)

    def test_unrelated(self) -> None:
        """Another thread that launches on tensors of its own, or reads the same ones, while a body is recorded."""
        started, done = threading.Event(), threading.Event()

        def other() -> None:
            started.wait()
            wave(NUMBERS)
            done.set()

        @pytriton.op("pytriton_edges::unrelated", gradient=True)
        def made(x: torch.Tensor) -> torch.Tensor:
            started.set()
            done.wait()
            return wave(x)

        thread = threading.Thread(target=other)
        thread.start()
        torch.testing.assert_close(derivative(made), 2 * torch.cos(NUMBERS))
        thread.join()


class TestInferenceMode:
    @pytest.mark.parametrize("gradient", [False, True])
    def test_result(self, gradient: bool) -> None:
        def body(x: torch.Tensor) -> torch.Tensor:
            with torch.inference_mode():
                return wave(x)

        made = pytriton.op("pytriton_edges::inference", body, gradient=gradient)
        if not gradient:
            made.register_autograd(lambda ctx, dy: dy)
        for run in (made, torch.ops.pytriton_edges.inference, compiled(made)):
            with pytest.raises(Exception, match=r"its result is a tensor of inference mode.*\[TC756\]"):
                derivative(run)

    def test_between(self) -> None:
        @pytriton.op("pytriton_edges::between", gradient=True)
        def made(x: torch.Tensor) -> torch.Tensor:
            with torch.inference_mode():
                y = wave(x, 1.0)
            return wave(y)

        wanted = derivative(lambda x: 2 * torch.sin(torch.sin(x)))
        torch.testing.assert_close(derivative(made), wanted)


class TestDefinedAgain:
    @staticmethod
    def define(a: float) -> Any:
        def made(x: torch.Tensor) -> torch.Tensor:
            return wave(x, a)

        return pytriton.op("pytriton_edges::again", made, gradient=True)

    @pytest.mark.parametrize("way", ["eager", "dispatched", "twice", "compiled"])
    @pytest.mark.sampled(6)
    def test_older_graph(self, way: str) -> None:
        x = NUMBERS.clone().requires_grad_()
        old = self.define(2.0)
        run = {"dispatched": lambda x: torch.ops.pytriton_edges.again(x), "compiled": compiled(old)}.get(
            way, old
        )
        y, wanted = run(x), 2 * torch.cos(x)
        if way == "twice":
            (y,), wanted = torch.autograd.grad(y.sum(), x, create_graph=True), -2 * torch.sin(x)
        for a in (3.0, 4.0):
            new = self.define(a)
            gc.collect()
        torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], wanted)
        torch.testing.assert_close(derivative(new), 4 * torch.cos(NUMBERS))
        torch.testing.assert_close(torch.ops.pytriton_edges.again(NUMBERS), 4 * torch.sin(NUMBERS))

    def test_older_operator(self) -> None:
        """It runs its own function where no dispatcher is needed; what asks for the name gets the new one."""
        old, overload = (made := self.define(2.0)), made.overload
        self.define(3.0)
        torch.testing.assert_close(derivative(old), 2 * torch.cos(NUMBERS))
        for run in (overload, compiled(old)):
            torch.testing.assert_close(run(NUMBERS), 3 * torch.sin(NUMBERS))
        torch.testing.assert_close(torch.func.grad(lambda x: old(x).sum())(NUMBERS), 3 * torch.cos(NUMBERS))

    def test_wrong_definition(self) -> None:
        """One that is refused leaves the former one as it is."""
        self.define(2.0)
        with pytest.raises(LaunchError, match="TC540"):
            pytriton.op("pytriton_edges::again", lambda x: x)
        torch.testing.assert_close(torch.ops.pytriton_edges.again(NUMBERS), 2 * torch.sin(NUMBERS))


class TestDefaults:
    def test_absent(self) -> None:
        def body(
            x: torch.Tensor,
            w: Optional[torch.Tensor] = None,  # noqa: UP045
            k: Optional[int] = None,  # noqa: UP045
        ) -> torch.Tensor:
            return wave(x if w is None else w, 2.0 if k is None else float(k))

        made = pytriton.op("pytriton_edges::absent", body, gradient=True)
        overload = torch.ops.pytriton_edges.absent
        for run in (made, overload, compiled(lambda *given, **named: made(*given, **named))):
            torch.testing.assert_close(derivative(run), 2 * torch.cos(NUMBERS))
            torch.testing.assert_close(derivative(run, None, 3), 3 * torch.cos(NUMBERS))
            torch.testing.assert_close(derivative(run, k=3), 3 * torch.cos(NUMBERS))
            w = NUMBERS.clone().requires_grad_()
            run(NUMBERS, w).sum().backward()
            torch.testing.assert_close(w.grad, 2 * torch.cos(NUMBERS))

    @pytest.mark.parametrize("gradient", [False, True])
    @pytest.mark.parametrize(
        "text", ["a b", "a, b", "x=1, Tensor y", ") -> Tensor", 'q"q', "a\\b", "\n\0", ""]
    )
    def test_strings(self, text: str, gradient: bool) -> None:
        def body(x: torch.Tensor, s: str = text, t: Optional[str] = text, n: int = 3) -> torch.Tensor:  # noqa: UP045
            assert (s, t, n) == (text, text, 3)
            return wave(x)

        made = pytriton.op("pytriton_edges::strings", body, gradient=gradient)
        for run in (made, torch.ops.pytriton_edges.strings):
            torch.testing.assert_close(run(NUMBERS), 2 * torch.sin(NUMBERS))
            if gradient:
                torch.testing.assert_close(derivative(run), 2 * torch.cos(NUMBERS))


SEEN: dict[str, Callable[[torch.Tensor], Any]] = {
    "in place": lambda x: x.add_(1),
    "detached": lambda x: x.detach().add_(1),
    "data": lambda x: x.data.add_(1),
    "storage": lambda x: x.untyped_storage().fill_(0),
    "kernel": lambda x: WAVE(x.data, x.clone(), 2.0, x.numel(), grid=(1,)),
}
UNSEEN: dict[str, Callable[[torch.Tensor], Any]] = {
    "numpy": lambda x: numpy.add(x.detach().numpy(), 1, out=x.detach().numpy()),
    "dlpack": lambda x: torch.from_dlpack(x.detach()).add_(1),
}


class TestWrites:
    """What docs/pytorch.md says of writes that ``mutates_args`` does not name."""

    @staticmethod
    def made(write: Callable[..., Any], gradient: bool = False) -> Any:
        def body(x: torch.Tensor) -> torch.Tensor:
            write(x)
            return wave(x)

        return pytriton.op("pytriton_edges::writes", body, gradient=gradient)

    @pytest.mark.parametrize("mode", ["eager", "dispatched", "inference", "tensor of inference", "compiled"])
    @pytest.mark.parametrize("name", SEEN)
    def test_seen(self, name: str, mode: str) -> None:
        made, x = self.made(SEEN[name]), NUMBERS.clone()
        if mode == "compiled" and name == "storage":
            return  # torch refuses it
        run = {"dispatched": torch.ops.pytriton_edges.writes, "compiled": compiled(made)}.get(mode, made)
        with torch.inference_mode("inference" in mode):
            x = x.clone() if "tensor" in mode else x
            with pytest.raises(Exception, match=r"its body writes 'x'.*\[TC541\]"):
                run(x)

    @pytest.mark.parametrize("name", UNSEEN)
    def test_unseen(self, name: str) -> None:
        """Without a gradient nothing is noticed, in no mode; with one it is refused."""
        for mode in (False, True):
            with torch.inference_mode(mode):
                self.made(UNSEEN[name])(NUMBERS.clone())
        with pytest.raises(LaunchError, match=r"\[TC756\]"):
            derivative(self.made(UNSEEN[name], gradient=True))
        page = (Path(__file__).parents[2] / "docs/pytorch.md").read_text("utf-8")
        assert {"numpy": "`x.numpy()`", "dlpack": "DLPack"}[name] in page


def test_global_before_a_second_derivative() -> None:
    state = {"a": 2.0}

    @pytriton.op("pytriton_edges::changing", gradient=True)
    def made(x: torch.Tensor) -> torch.Tensor:
        return wave(x, state["a"])

    x = NUMBERS.clone().requires_grad_()
    (d,) = torch.autograd.grad(made(x).sum(), x, create_graph=True)
    state["a"] = 3.0
    with pytest.raises(
        LaunchError, match=r"(?s)a=3.0, was a=2.0 \[TC756\]\nhelp: .*pass what changes as an arg"
    ):
        torch.autograd.grad(d.sum(), x)


def test_written_and_required() -> None:
    """As a bare call, it warns that gradients stop."""

    @pytriton.op("pytriton_edges::into", mutates_args=("y",))
    def into(y: torch.Tensor, x: torch.Tensor) -> None:
        wave(x, 2.0, y)

    x, y = NUMBERS.clone().requires_grad_(), torch.empty(11)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        into(y, NUMBERS)
        with torch.no_grad():
            into(y, x)
    with pytest.warns(RuntimeWarning, match=r"into: argument 'x' requires a gradient.* \[TC526\]"):
        into(y, x)
    torch.testing.assert_close(y, 2 * torch.sin(NUMBERS))
