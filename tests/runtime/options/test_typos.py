"""Options in the wrong place: each is honoured or refused, whatever the constructor takes."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
import torch
import triton

import pytriton
from pytriton.errors import LaunchError
from pytriton.runtime.kernel import OPTIONS

pytestmark = pytest.mark.filterwarnings("ignore:.*runs kernels on CPU tensors")

FILL = "__global__ void fill(float* x, int n) { int i[T] = 0 ... T; *?(i < n)(x + i) = 1; }"
OF_A_CALL = {"defines": {"T": 8}, "num_warps": 2, "num_stages": 3}


def call(source: str = FILL, **given: Any) -> torch.Tensor:
    x = torch.zeros(8)
    pytriton.kernel(source, defines={"T": 8})(x, 8, grid=1, **given)
    return x


def test_the_table_is_the_signature_of_the_constructor() -> None:
    assert set(OPTIONS) == signature(pytriton.kernel).parameters.keys() - {"src", "positional"}
    assert {"check", "precision", "fast_math", "device", "tune_budget", "autotune_key"} <= set(OPTIONS)


@pytest.mark.parametrize("value", [True, "tf32", ["a", "b"], 1.5, {"A": 1}, torch.device("cpu")], ids=repr)
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_the_constructor_is_honoured_or_refused_at_a_call(option: str, value: Any) -> None:
    if option in OF_A_CALL:
        assert call(**{option: OF_A_CALL[option]}).sum() == 8
        return
    with pytest.raises(LaunchError) as caught:
        call(**{option: value})
    place = f"help: give it to the constructor: pytriton.kernel(..., {option}=...)"
    assert str(caught.value).endswith(place), caught.value


@pytest.mark.parametrize("option", ["check", "precision", "num_ctas", "bench"])
def test_a_define_of_that_name_in_the_source_wins(option: str) -> None:
    source = f"#ifdef {option}\n#define T 4\n#endif\n{FILL}"
    x = torch.zeros(8)
    kernel = pytriton.kernel(source)
    kernel(x, 8, grid=1, defines={option: 1})
    assert x.tolist() == [1] * 4 + [0] * 4


@pytest.mark.parametrize("option", ["num_ctas", "maxnreg", "pre_hook", "waves_per_eu"])
def test_options_of_triton_are_not_taken_for_others(option: str) -> None:
    cure = "help: leave it out: it is an option of Triton that pytriton does not support"
    for mistake in (lambda: call(**{option: 2}), lambda: pytriton.kernel(FILL, **{option: 2})):
        with pytest.raises(LaunchError, match=f"'{option}'") as caught:
            mistake()
        assert str(caught.value).endswith(cure)


def test_options_of_a_call_in_the_constructor() -> None:
    with pytest.raises(LaunchError, match=r"no option 'grid' \[TC515\]\nhelp: give it to the call: kernel"):
        pytriton.kernel(FILL, grid=1)


@pytest.mark.parametrize(
    ("keyword", "cure"),
    {
        "chekc": r"did you mean 'check'\? give it to the constructor: pytriton.kernel\(..., check=...\)",
        "num_warp": r"did you mean 'num_warps'\?",
        "block": r"blocks have their sizes in the source; a program has 32 \* num_warps threads",
        "threads": r"blocks have their sizes in the source; a program has 32 \* num_warps threads",
        "stream": r"a launch goes to torch's current stream: 'with torch.cuda.stream\(s\):'",
    }.items(),
)
def test_misspelt_options_and_those_of_cuda_draw_a_warning(keyword: str, cure: str) -> None:
    with pytest.warns(RuntimeWarning, match=rf"'{keyword}' \[TC528\]\nhelp: {cure}"):
        assert call(**{keyword: 4}).sum() == 8


@pytest.mark.parametrize("define", ["CHEKC", "BLOCK", "STREAM", "SHARED", "OTHER", "other"])
def test_other_unused_defines_are_silent(define: str, recwarn: pytest.WarningsRecorder) -> None:
    assert call(**{define: 4}).sum() == 8
    assert [warning for warning in recwarn if "TC528" in str(warning.message)] == []


@pytest.mark.parametrize(
    ("given", "help_"),
    [("RELUU", "did you mean 'RELU'?"), ("WIDHT", "did you mean 'WIDTH'?"), ("Z", "leave it out")],
)
def test_a_translation_warns_of_defines_that_the_source_does_not_mention(given: str, help_: str) -> None:
    source = f"#define WIDTH 4\n#if RELU\n#endif\n{FILL}"
    (warning,) = pytriton.translate(source, {"T": 8, given: 1}, name="fill.c").warnings
    message = f"fill.c: warning: the source does not mention the define '{given}' [TC528]\nhelp: {help_}"
    assert str(warning) == message
    assert pytriton.translate(source, {"T": 8, "RELU": 0}).warnings == ()


def test_a_tensor_is_not_a_define() -> None:
    with pytest.raises(
        LaunchError, match=r"define 'T' is a tensor \[TC513\]\nhelp: .*pass tensors to the call, by position"
    ):
        pytriton.kernel(FILL, defines={"T": torch.zeros(8)})
    with pytest.raises(
        LaunchError, match=r"a keyword of a call is a define \[TC513\]\nhelp: pass the arguments"
    ):
        call(x=torch.zeros(8))


def test_an_option_among_the_defines_of_the_constructor_draws_a_warning() -> None:
    with pytest.warns(RuntimeWarning, match=r"'precision' \[TC528\]\nhelp: give it to the constructor"):
        pytriton.kernel(FILL, defines={"T": 8, "precision": "tf32"})


@pytest.mark.parametrize("option", ["num_ctas", "maxnreg", "pre_hook"])
def test_configs_of_triton_with_options_that_would_be_lost(option: str) -> None:
    value: Any = print if option == "pre_hook" else 2
    with pytest.raises(LaunchError, match=rf"config has {option}="):
        pytriton.kernel(FILL, autotune_configs=[triton.Config({"T": 8}, **{option: value})])


def test_the_tools_of_a_kernel_take_the_options_of_a_call() -> None:
    kernel, x = pytriton.kernel(FILL, defines={"T": 8}), torch.zeros(8)
    kernel.check_races(x, 8, grid=1, num_warps=2)
    assert kernel.trace(x, 8, grid=1, num_warps=2, num_stages=3)
    with pytest.raises(LaunchError, match="'bench' has no effect here"):
        kernel.check_races(x, 8, grid=1, bench=3)


def test_a_refused_option_leaves_the_kernel_as_it_was() -> None:
    kernel, x = pytriton.kernel(FILL, defines={"T": 8}), torch.zeros(8)
    for _ in range(2):
        with pytest.raises(LaunchError, match="'check' has no effect"):
            kernel(x, 8, grid=1, check=True)
    kernel(x, 8, grid=1, unknown_define=3)  # a dictionary that several kernels share
    assert x.sum() == 8


def test_under_a_tracer() -> None:
    kernel = pytriton.kernel(FILL, defines={"T": 8})

    def launch(x: torch.Tensor) -> torch.Tensor:
        kernel(x, 8, grid=(1,), check=True)
        return x

    with pytest.raises(Exception, match="'check' has no effect here"):
        torch.compile(launch, backend="eager", fullgraph=True)(torch.zeros(8))
