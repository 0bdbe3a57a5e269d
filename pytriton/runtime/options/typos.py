"""Keywords that a source does not use: options given in the wrong place, and misspelt defines.

An unused define is accepted, because wrappers share one dictionary between kernels. Two kinds are not. The name of
an option (of ``pytriton.kernel``, of a call, or of Triton) is refused in a call, where it would have no effect, and
draws a warning among the constructor's defines. A name that is almost that of an option, or of something that an
``#if`` of the source tests and that has no value, draws a warning, and so does a keyword of launches in CUDA. A
name that the source mentions is a define.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from inspect import Parameter, signature
from typing import Any, Final, NoReturn, ParamSpec, TypeVar

from pytriton.errors import closest
from pytriton.lang.preprocess.structure import conditions
from pytriton.runtime.errors import refusal
from pytriton.runtime.options.annotations import LaunchCall

_P = ParamSpec("_P")
_R = TypeVar("_R")


def signed(declared: Callable[_P, _R]) -> Callable[[Callable[..., Any]], Callable[_P, _R]]:
    """A decorator: type checkers, editors and ``inspect.signature`` see another signature of a function."""

    def declare(function: Callable[..., Any]) -> Callable[_P, _R]:
        setattr(function, "__signature__", signature(declared))  # noqa: B010 (functions have no such field)
        return function

    return declare


def refusing_unknown(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A constructor that names the cure where it is given an option that it does not have."""
    parameters = signature(function).parameters.items()
    options = [name for name, parameter in parameters if parameter.kind is not Parameter.VAR_POSITIONAL]

    @functools.wraps(function)
    def constructor(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name in kwargs:
            if name not in options:
                _refuse_unknown(f"pytriton.{function.__name__}", name, options)
        return function(*args, **kwargs)

    return constructor


def _refuse_unknown(constructor: str, name: str, options: Collection[str]) -> NoReturn:
    near = closest(name, options)
    help_ = f"did you mean '{near}'?" if near else f"a define is given in defines={{'{name}': ...}}"
    help_ = misplaced(name, ()) or help_
    raise refusal(f"{constructor} has no option '{name}'", "TC515", help_)


def options_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The keyword-only parameters of a constructor or a call."""
    named = signature(function).parameters.items()
    return tuple(name for name, parameter in named if parameter.kind is Parameter.KEYWORD_ONLY)


_CALL_OPTIONS: Final = options_of(LaunchCall.__call__)
_TRITON_OPTIONS: Final = (
    "num_ctas maxnreg pre_hook ir_override debug enable_fp_fusion launch_cooperative_grid launch_pdl "
    "matrix_instr_nonkdim waves_per_eu warmup"
).split()
# Keywords of launches in CUDA and CuPy.
_CUDA: Final = {
    **dict.fromkeys(
        ("block", "blocks", "block_dim", "blockDim", "threads", "threads_per_block"),
        "blocks have their sizes in the source; a program has 32 * num_warps threads",
    ),
    "stream": "a launch goes to torch's current stream: 'with torch.cuda.stream(s):'",
    **dict.fromkeys(("shared", "shared_mem", "smem"), "shared memory is allocated by the compiler"),
}


def misplaced(name: str, options: Collection[str]) -> str | None:
    """Where the option of this name belongs; None if there is none. ``options`` are those of the constructor."""
    if name in _CALL_OPTIONS:
        return f"give it to the call: kernel(..., {name}=...)"
    if name in options:
        return f"give it to the constructor: pytriton.kernel(..., {name}=...)"
    if name in _TRITON_OPTIONS:
        return "leave it out: it is an option of Triton that pytriton does not support"
    return None


def judge_unused(
    kernel: str,
    given: Mapping[str, object],
    mentioned: Collection[str],
    text: str,
    tell: Callable[[str, str, str], None],
    options: Collection[str],
    constructed: Collection[str],
) -> None:
    """Refuse options among a call's defines; warn of the first define that is most likely another's name.

    ``mentioned``: the names in the source; ``options``, ``constructed``: the constructor's options and defines.
    """
    strange = [name for name in given if name not in mentioned]
    if not strange:
        return
    asked = {name for condition in conditions(text) for name in condition.names}
    wanted = [*_CALL_OPTIONS, *sorted(asked - given.keys())]
    for name in strange:
        cure = misplaced(name, options)
        if cure is not None and name not in constructed:
            message = f"{kernel}: '{name}' has no effect here: the source mentions no define of that name"
            raise refusal(message, "TC515", cure)
        help_ = cure or _CUDA.get(name) or _near(name, wanted, options)
        if help_ is not None:
            tell(f"the source does not mention the define '{name}'", "TC528", help_)
            return


def _near(name: str, wanted: Collection[str], options: Collection[str]) -> str | None:
    """The cure for a misspelt option, or define; options of the constructor are never in capitals."""
    near = closest(name, wanted)
    if near is not None:
        return f"did you mean '{near}'?"
    near = closest(name, options) if name.islower() else None
    return None if near is None else f"did you mean '{near}'? {misplaced(near, options)}"
