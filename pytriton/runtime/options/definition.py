"""The definition of a kernel object: all that its constructor was given, and nothing that a call adds."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any, Final, Literal

import torch

from pytriton.errors import Report, not_a_text
from pytriton.lang.tokens import decode
from pytriton.pipeline import Translation, translate_as
from pytriton.runtime.errors import caller, refusal
from pytriton.runtime.options.annotations import Check, Heuristic
from pytriton.runtime.options.defines import Config, Options, define_of, product
from pytriton.settings import Settings, order_of
from pytriton.source import Source

# A source text and how it is to be translated: what a kernel object knows before any defines.


@dataclass(frozen=True, slots=True)
class KernelText:
    """A text, and what is asked of its translation beside a config."""

    source: Source
    settings: Settings = field(default_factory=Settings)

    def translate(
        self,
        config: Config,
        *,
        checked: bool = False,
        part: Literal["", "inspector", "executor"] = "",
        on_cpu: bool = False,
        traced: bool = False,
    ) -> Translation:
        """One module for a config; raises CompileError. ``checked``: with memory checks, without descriptors and
        copies of operands."""
        settings = replace(
            self.settings,
            precision=config.precision,
            fast_math=config.fast_math,
            swizzle=0 if checked else config.swizzle,  # the user sees program ids in their own order
            num_stages=config.num_stages,
            descriptors=config.descriptors and not checked,
            packed=config.packed and not checked,
            checked=checked,
            part=part,
            on_cpu=on_cpu,
            traced=traced,
        )
        return translate_as(self.source, config.defines, settings)

    def for_kernel(self, kernel: str | None) -> KernelText:
        """The same text, for another of its kernels; None keeps the choice."""
        return replace(self, settings=replace(self.settings, kernel=kernel)) if kernel else self


def read_source(given: object, name: str | None) -> Source:
    """What a user gave as source: text, bytes, or a path. Only an ``os.PathLike`` is a path.

    A source without a name records where it was passed. Raises OSError for a path that cannot be read.
    """
    if isinstance(given, os.PathLike):
        path = Path(given)
        return decode(path.read_bytes(), name or str(path), Report())
    origin = None if name else _shown_caller()
    if isinstance(given, bytes):
        return replace(decode(given, name or "<kernel>", Report()), origin=origin)
    if isinstance(given, str):
        return Source(given, name or "<kernel>", origin)
    raise not_a_text(given)


def _shown_caller() -> str:
    path, line = caller()
    return f"{os.path.basename(path)}:{line}"


# Defines that a function computes from the arguments of a call: ``heuristics={'EVEN_K': fn}``.
#
# Each function gets a dict of the arguments by parameter name and of the candidate's defines, and runs once a
# candidate and call. Its value becomes a define like any other, so it may choose an arm of an ``#if``.


@dataclass(frozen=True)
class Heuristics:
    """The functions by the names of their defines. They run in order, each seeing the values before."""

    functions: Mapping[str, Heuristic]

    def __post_init__(self) -> None:
        for name, function in self.functions.items():
            if not callable(function):
                raise refusal(
                    f"heuristic '{name}' is {function!r}, which is not a function",
                    "TC515",
                    "give a function of a dict, as in {'EVEN_K': lambda args: args['K'] % args['TK'] == 0}",
                )

    def placeholders(self, config: Config) -> Config:
        """The config with 1 for each value, to learn the names of the kernel's parameters."""
        return replace(config, defines={**config.defines, **dict.fromkeys(self.functions, 1)})

    def applied(self, config: Config, names: Sequence[str], arguments: Sequence[Any]) -> Config:
        """The config for one call, with the computed values among its defines."""
        values = {**dict(zip(names, arguments, strict=False)), **Options(config).defines}
        computed = {}
        for name, function in self.functions.items():
            computed[name] = values[name] = define_of(name, function(values))
        return replace(config, defines={**config.defines, **computed})


@dataclass(frozen=True, slots=True)
class Given:
    """A constructor's arguments, whatever era wrote them."""

    device: Any = None
    defines: Mapping[str, Any] | None = None
    num_warps: Any = None
    autotune_configs: tuple[Any, ...] = ()
    autotune_key: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


_ORDERS: Final = "the order is kernel(src, defines, num_warps) or kernel(src, device, defines, num_warps)"


def by_era(positional: tuple[Any, ...], **keywords: Any) -> Given:
    """Positional and keyword arguments together; raises LaunchError if they do not fit any era."""
    order = order_of(positional)
    if len(positional) > len(order):
        raise refusal(
            f"pytriton.kernel takes {len(order)} arguments after the source ({', '.join(order)}), "
            f"not {len(positional)}",
            "TC515",
            _ORDERS,
        )
    for name, value in zip(order, positional, strict=False):
        if keywords.get(name) not in (None, ()) and value is not None:
            raise refusal(f"pytriton.kernel got '{name}' twice", "TC515")
        if value is not None:
            plain = tuple(value) if isinstance(value, list) and name != "num_warps" else value
            keywords[name] = plain
    given = Given(**keywords)
    cure = _ORDERS if positional else "give defines={'TM': 64}"
    if given.defines is not None and not isinstance(given.defines, Mapping):
        raise refusal(f"defines must be a dict, not {given.defines!r}", "TC515", cure)
    if positional and isinstance(given.num_warps, (str, torch.device, Mapping)):
        raise refusal(f"num_warps is {given.num_warps!r}", "TC515", cure)
    return given


def device_of(given: Any) -> torch.device | None:
    """The constructor's device as torch knows it; None where none was given."""
    if given is None or isinstance(given, torch.device):
        return given
    try:
        if isinstance(given, Integral):  # torch refuses truth values, and some numbers of NumPy
            return torch.device("cuda", given if isinstance(given, bool) else int(given))
        return torch.device(given)
    except (RuntimeError, TypeError) as error:
        raise refusal(
            f"{given!r} is not a device", "TC515", "give 'cuda', 'cuda:1', 'cpu' or a torch.device"
        ) from error


# ``check=`` of ``pytriton.kernel``, and PYTRITON_CHECK: whether launches are checked, and what a load out of bounds
# means.
#
# ``None`` checks on the CPU and not on a GPU; ``True`` and ``False`` decide for both; ``"strict"`` checks on both
# and raises for loads, too.


CHECK_VARIABLE: Final = "PYTRITON_CHECK"

_FROM_ENVIRONMENT: Final[dict[str, Check | None]] = {"": None, "0": False, "1": True, "strict": "strict"}


def check_of(given: object) -> Check | None:
    """What a constructor was given; where that is None, the environment variable. Raises LaunchError."""
    if given is None:
        text = os.environ.get(CHECK_VARIABLE, "")
        if text not in _FROM_ENVIRONMENT:
            raise refusal(
                f"{CHECK_VARIABLE} is {text!r}", "TC515", "set it to 0, 1 or strict, or leave it out"
            )
        return _FROM_ENVIRONMENT[text]
    if given is True or given is False or given == "strict":
        return given
    raise refusal(f"check is {given!r}", "TC515", "give True, False or 'strict', or leave it out")


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """Options of the constructor beside the source and the sweep."""

    tune_key: tuple[str, ...] = ()
    tune_budget: float | None = None  # seconds
    device: torch.device | None = None  # of a call that passes addresses only
    tune_fully: bool = False  # try pytriton's own configs where the user has no sweep, too
    precision: object = "ieee"  # of float @ float; a list is one more axis of the sweep
    fast_math: object = False  # a list is one more, too
    strict_promises: bool = False  # refuse launches that break one
    only_named_key: bool = False  # as under torch.compile, where integers alone call for no new tuning
    legacy: bool = False  # made inside a legacy package: autograd does not count launches as changes
    check: Check | None = None  # whether launches are checked for accesses out of bounds
    # Parameters in whose memory each config leaves something else: gradients add theirs to a kernel that is made.
    scratch: set[str] = field(default_factory=set, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Definition:
    """``defines``, ``num_warps`` and ``num_stages`` may hold lists; ``points`` are the user's autotune configs."""

    text: KernelText
    defines: Mapping[str, Any] = field(default_factory=dict)
    num_warps: Any = None
    num_stages: Any = None
    points: tuple[Config, ...] = ()
    settings: PlanSettings = field(default_factory=PlanSettings)
    outputs: tuple[str, ...] = ()
    heuristics: Heuristics = field(default_factory=lambda: Heuristics({}))

    def configs(
        self, defines: Mapping[str, Any], num_warps: Any = None, num_stages: Any = None
    ) -> tuple[Config, ...]:
        """All configs of the sweep; what a call gives wins over what the constructor was given."""
        if num_warps is None and not self.points:
            num_warps = self.num_warps
        if num_stages is None:
            num_stages = self.num_stages
        arithmetic = self.settings.precision, self.settings.fast_math
        return product({**self.defines, **defines}, num_warps, num_stages, self.points, *arithmetic)
