"""A printed module takes a define as a parameter only where another value of it is as good.

Each case is translated as the command line does, and launched with other values of each parameter that is left: it
computes what the translation for that value computes, or it is refused.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

import pytest
import torch

import pytriton
from pytriton.emit.names import identifier
from pytriton.pipeline import translate_as
from pytriton.runtime.compile.load import load as loaded
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.settings import Settings
from tests.translate.cases import CASES, load, text
from tests.translate.test_translate import evaluated

WITH_DEFINES = [case for case in CASES if load(case).get("defines")]
MARGIN = 1 << 17  # bytes around each tensor: other sizes reach further
SIZES = (1, 2, 8, 32, 48)
NUMBERS = (0, 1, -1, 2, 7)
FLOATS = (0.0, -0.0, 1.0, -2.5, 0.1)


def printed(case: str) -> pytriton.Translation:
    data = load(case)
    strict = data.get("strict_literals", False)
    return pytriton.translate(
        text(case), data.get("defines"), kernel=data.get("kernel"), name="kernel.c", strict_literals=strict
    )


def others(name: str, made: pytriton.Translation) -> tuple[float, ...]:
    if isinstance(made.constexprs[name], float):
        return FLOATS
    return SIZES if f"arange(0, {name})" in made.text or f"of_2({name})" in made.text else NUMBERS


def launched(
    made: pytriton.Translation, constexprs: dict[str, Any], run: dict[str, Any]
) -> list[torch.Tensor]:
    """All memory after a launch."""
    torch.manual_seed(0)
    arguments, _ = evaluated(run)
    memory: dict[int, torch.Tensor] = {}
    for value in arguments.values():
        if isinstance(value, torch.Tensor):
            whole = torch.zeros(value.untyped_storage().nbytes() + 2 * MARGIN, dtype=torch.uint8)
            storage = torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage())
            whole[MARGIN : MARGIN + len(storage)] = storage
            memory.setdefault(value.untyped_storage().data_ptr(), whole)
    values = []
    for value in arguments.values():
        if isinstance(value, torch.Tensor):
            offset = value.data_ptr() - value.untyped_storage().data_ptr()
            value = memory[value.untyped_storage().data_ptr()].data_ptr() + MARGIN + offset
        values.append(value or 0)
    x, y, z = (*run["grid"], 1, 1)[:3]
    module = loaded(made.function, made.text)

    def endless(_: int, frame: FrameType | None) -> None:
        """Ends a loop that no step ends; no launch that is not in its kernel, since that replaces or puts back
        what other kernels need."""
        while frame is not None and frame.f_code.co_filename != module.python.__code__.co_filename:
            frame = frame.f_back
        if frame is not None:
            raise TimeoutError

    signal.signal(signal.SIGALRM, endless)
    signal.setitimer(signal.ITIMER_REAL, 1, 0.1)
    try:
        Interpreted(module, made.parameters, constexprs).run((x, y, z), values)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    types = {
        value.untyped_storage().data_ptr(): value.dtype
        for value in arguments.values()
        if isinstance(value, torch.Tensor)
    }
    return [whole.view(types[storage]) for storage, whole in memory.items()]


def same(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two memories hold the same, NaN included; sums of other sizes are rounded otherwise."""
    if left.dtype.is_floating_point:
        return torch.allclose(left, right, rtol=1e-3, atol=1e-5, equal_nan=True)
    return torch.equal(left, right)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[] if at % 8 == 0 else pytest.mark.slow)
        for at, case in enumerate(WITH_DEFINES)
    ],
)
@pytest.mark.sampled(6)
def test_other_values(case: str) -> None:
    data, made = load(case), printed(case)
    run = data["run"][0] if isinstance(data["run"], list) else data["run"]
    if made.buffers or any(isinstance(value, str) and "data_ptr" in value for value in run["args"].values()):
        return
    names = {identifier(name): name for name in data["defines"]}
    settings = Settings(data.get("kernel"), (), data.get("strict_literals", False))
    for name in made.constexprs:
        for value in others(name, made):
            defines = {**data["defines"], names[name]: value}
            try:
                wanted = translate_as(text(case), defines, settings, "kernel.c")
                if wanted.text == made.text:
                    continue
                memory = launched(wanted, dict(wanted.constexprs), run)
            except Exception:  # the source has no meaning there
                continue
            try:
                found = launched(made, {**made.constexprs, name: value}, run)
            except Exception:  # refused
                continue
            assert all(map(same, found, memory)), f"{name} = {value}\n{made.text}\n{wanted.text}"


ADD = """void f(float* z, float* x, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(r < n)(z + r) = *?(r < n)(x + r);
}"""
DOT = """void f(float* z, half* x) {
  int m[16] = 0 ... 16; int k[K] = 0 ... K;
  half a[16, K] = *(x + m[:, newaxis] * K + k[newaxis, :]);
  *(z + m[:, newaxis] * 16 + m[newaxis, :]) = a @ ^a;
}"""

CAUSAL = text("causal_last_iteration")  # TM is at most TN


@pytest.mark.parametrize(
    ("source", "defines", "parameters"),
    [
        (ADD, {"TILE": 1}, []),
        (ADD, {"TILE": 2}, ["TILE"]),
        (ADD, {"TILE": 64}, ["TILE"]),
        (ADD, {"TILE": "64"}, ["TILE"]),
        (ADD, {"TILE": 48}, ["TILE"]),
        (DOT, {"K": 8}, []),
        (DOT, {"K": 32}, ["K"]),
        (CAUSAL, {"TM": 16, "TN": 32}, ["TM", "TN"]),
        ("void f(int* z, int n) { *z = n * LDA; }", {"LDA": 1}, []),
        ("void f(int* z, int n) { *z = n * LDA; }", {"LDA": 8}, ["LDA"]),
        (
            "#if T > 4\nvoid f(int* z) { *(z + 0 ... T) = T; }\n#else\nvoid f(int* z) { *z = T; }\n#endif",
            {"T": 8},
            ["T"],
        ),
        ("void f(int* z) { *z = A + B; if (A && B) *z = 7; }", {"A": 0, "B": 0}, []),
        ("void f(int* z) { *z = A + B; if (A && B) *z = 7; }", {"A": 3, "B": 4}, ["A", "B"]),
        ('_Static_assert(T % 32 == 0, ""); void f(int* z) { *(z + 0 ... T) = T; }', {"T": 64}, ["T"]),
        ("void f(float* z, float x) { *z = x * S; }", {"S": 0.1}, ["S"]),
        ("void f(float* z) { *z = S * S; }", {"S": 0.1}, []),
        ("void f(float* z) { *z = S; }", {"S": -0.0}, []),
    ],
)
def test_what_stays_a_parameter(source: str, defines: dict[str, Any], parameters: list[str]) -> None:
    assert list(pytriton.translate(source, defines).constexprs) == parameters


def test_numbers_that_must_be_positive() -> None:
    """A loop counts up as ``range`` does only if its step is positive."""
    made = pytriton.translate(
        "void f(int* z, int n) { for (int i = 0; i < n; i += S) *(z + i) = i; }", {"S": 2}
    )
    assert "tl.static_assert(\n        S >= 1 and S <= 536870911," in made.text
    assert "    for i in range(0, n, S):" in made.text
    run = {"args": {"z": "zeros(9, dtype=int32)", "n": "9"}, "expect": {}, "grid": [1]}
    assert launched(made, {"S": 3}, run)[0].sum() == 3 + 6
    for step in (0, -1, 536870912):
        with pytest.raises(Exception, match=r"static_assert|AssertionError"):
            launched(made, {"S": step}, run)
