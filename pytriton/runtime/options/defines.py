"""Defines, configs of a sweep, and the object that a ``grid`` callable gets.

A *define* is what the user gives; a *sweep* is the product of all lists among the defines, ``num_warps`` and
``num_stages``; a *config* is one element of it. Defines travel to the translator as they were given; only
``Options`` reads numeric text as a number, because grids compute with it.
"""

from __future__ import annotations

import itertools
import re
import reprlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Unpack, cast, get_args

import numpy
import torch

from pytriton.compat.triton_names import triton
from pytriton.errors import LaunchError, closest
from pytriton.lang.tokens import plain_number
from pytriton.runtime.errors import refusal
from pytriton.runtime.options.annotations import ConfigSettings, Define, Defines, Precision, Whole
from pytriton.runtime.options.typos import misplaced

DEFAULT_NUM_WARPS: Final = 4


def define_of(name: str, value: object, options: Collection[str] = ()) -> Define:
    """The value of one define as plain Python; raises LaunchError for what no define can be.

    ``options`` are names of options of the constructor, which are a likelier reason in a call.
    """
    if isinstance(value, (str, torch.dtype, bool)):
        return value
    if isinstance(value, (int, numpy.integer)):
        return int(value)
    if isinstance(value, (float, numpy.floating)):
        return float(value)
    if isinstance(value, numpy.bool_):
        return bool(value)
    if isinstance(value, torch.Tensor):
        if not options:
            cure = "a define is a number or a text of the source; pass tensors to the call, by position"
            raise refusal(f"define '{name}' is a tensor", "TC513", cure)
        raise refusal(
            f"define '{name}' is a tensor: a keyword of a call is a define",
            "TC513",
            f"pass the arguments of the kernel by position, '{name}' too",
        )
    raise refusal(
        f"define '{name}' must not be {reprlib.repr(value)}",
        "TC513",
        misplaced(name, options) or "give an int, a bool, a float, a str, a torch.dtype, or a list of those",
    )


def defines_of(
    given: Mapping[str, object] | None, options: Collection[str] = ()
) -> dict[str, Define | tuple[Define, ...]]:
    """A user's dictionary with checked values; a list becomes a tuple (a sweep of one is a scalar)."""
    if not isinstance(given, Mapping | None):
        raise refusal(f"defines must be a dict, not {given!r}", "TC515", "give defines={'TM': 64}")
    checked: dict[str, Define | tuple[Define, ...]] = {}
    for name, value in (given or {}).items():
        if not isinstance(name, str):
            raise refusal(f"the name of a define must be a str, not {name!r}", "TC513")
        if isinstance(value, (list, tuple)):
            if not value:
                raise refusal(f"define '{name}' is an empty list", "TC513", "give it a value")
            swept = tuple(define_of(name, item, options) for item in value)
            checked[name] = swept if len(swept) > 1 else swept[0]
        else:
            checked[name] = define_of(name, value, options)
    return checked


def number_of(value: Define) -> Define:
    """The number that a define stands for: 128 for ``'128'``, 1 for True; other text stays text."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        number = plain_number(value)
        return value if number is None else number
    return value


class UnknownDefineError(LaunchError, AttributeError):
    """A name asked of an options object that has no such define."""


class Options:
    """What a ``grid`` callable gets: ``opt.TM``, ``opt.d('TM')``, ``opt.D('TM')``, ``opt['TM']``.

    Beside the defines it has ``num_warps``, ``num_stages`` (None is Triton's default) and ``defines``. A
    define that bears the name of one of these is reached by ``opt['num_warps']``. Numbers lie in the instance's
    own dictionary, where Python finds ``opt.TM`` at once: a grid is asked at every launch.
    """

    __slots__ = ("__dict__", "_point", "defines", "num_stages", "num_warps")

    defines: Mapping[str, Any]
    num_warps: int
    num_stages: int | None
    _point: Config | None  # see point_of

    def __init__(self, config: Config) -> None:
        numbers = {name: number_of(value) for name, value in config.defines.items()}
        object.__setattr__(self, "defines", MappingProxyType(numbers))
        object.__setattr__(self, "num_warps", config.num_warps)
        object.__setattr__(self, "num_stages", config.num_stages)
        object.__setattr__(self, "_point", None)
        if type(self) is Options:  # others give what they compute
            own = {name: value for name, value in numbers.items() if not hasattr(Options, name)}
            self.__dict__.update(own)

    def __getitem__(self, name: str) -> Any:
        try:
            return self.defines[name]
        except KeyError:
            near, names = closest(name, self.defines), ", ".join(sorted(self.defines)) or "none at all"
            message = f"the options have no define '{name}'"
            help_ = f"did you mean '{near}'?" if near else f"there are {names}"
            raise refusal(message, "TC514", help_, UnknownDefineError) from None

    d = D = __getitem__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"options are read-only: cannot set '{name}'")

    def __repr__(self) -> str:
        stages = {} if self.num_stages is None else {"num_stages": self.num_stages}
        shown = [*self.defines.items(), ("num_warps", self.num_warps), *stages.items()]
        return f"Options({', '.join(f'{name}={value!r}' for name, value in shown)})"


@dataclass(frozen=True, eq=False)
class Config:
    """One element of a sweep. Equal configs give the same code: 1, True, 1.0 and '1' are all different.

    ``precision`` is that of ``float @ float``; ``fast_math`` allows other arithmetic to round otherwise than the
    source does; ``swizzle`` is the size of the groups in which tuning takes the
    program ids of its own accord, 0 for their order; with ``descriptors`` tiles are loaded through tensor
    descriptors, with ``packed`` from copies of operands, where that is exact. None of them shows in ``Options``.
    """

    defines: Mapping[str, Define] = field(default_factory=dict)
    num_warps: int = DEFAULT_NUM_WARPS
    num_stages: int | None = None
    precision: str = "ieee"
    fast_math: bool = False
    swizzle: int = 0
    descriptors: bool = False
    packed: bool = False

    def __post_init__(self) -> None:
        plain = {name: define_of(name, value) for name, value in self.defines.items()}
        object.__setattr__(self, "defines", MappingProxyType(plain))
        object.__setattr__(self, "num_warps", warps_of(self.num_warps))
        object.__setattr__(self, "num_stages", stages_of(self.num_stages))
        object.__setattr__(self, "precision", precision_of(self.precision))
        object.__setattr__(self, "fast_math", fast_math_of(self.fast_math))

    @cached_property
    def _key(self) -> tuple[object, ...]:
        defines = tuple(sorted((name, repr(value)) for name, value in self.defines.items()))
        return defines, *(getattr(self, setting.name) for setting in fields(self)[1:])

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Config) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _config_of, (state_of_config(self),)

    @property
    def settings(self) -> dict[str, Any]:
        """All beside the defines that differs from the defaults, by name."""
        return {name: value for name, value in changed(self).items() if name != "defines"}

    def __repr__(self) -> str:
        shown = [*self.defines.items(), *({"num_warps": self.num_warps} | self.settings).items()]
        return f"Config({', '.join(f'{name}={value!r}' for name, value in shown)})"


def point_of(options: Options) -> Config:
    """The config of a sweep that a grid function is asked for; made once."""
    if options._point is None:
        point = Config(dict(options.defines), options.num_warps, options.num_stages)
        object.__setattr__(options, "_point", point)
    return options._point  # type: ignore[return-value]


def changed(settings: Any) -> dict[str, Any]:
    """The fields of a dataclass that do not have their defaults, by name."""
    values = {setting: getattr(settings, setting.name) for setting in fields(settings)}
    return {setting.name: value for setting, value in values.items() if value != setting.default}


def state_of_config(config: Config) -> dict[str, Any]:
    """The fields of a config that are not defaults, as every version can read them: plain data under the
    names that were always in use. (A younger version may have more fields.)"""
    state = ({"defines": dict(config.defines)} if config.defines else {}) | config.settings
    if "swizzle" in state:
        state[_OLD_SWIZZLE] = state.pop("swizzle")
    return state


def _config_of(state: Mapping[str, Any]) -> Config:
    """A config that was pickled or copied; ``state`` as ``state_of_config`` or an earlier version made it."""
    return Config(**{"swizzle" if name == _OLD_SWIZZLE else name: value for name, value in state.items()})


_config_of.__module__ = "pytriton.runtime.options"  # what pickles name, wherever this file stands

_OLD_SWIZZLE: Final = (
    "remap"  # what ``swizzle`` was called, in pickles, in stored times, and in users' programs
)


def present_words(shown: str) -> str:
    """The ``repr`` of a config that an earlier version wrote, as this one writes it."""
    return re.sub(rf", {_OLD_SWIZZLE}=(\d+)(, descriptors=True)?\)\Z", r", swizzle=\1\2)", shown)


Configured = Config | Mapping[str, Any] | tuple[Mapping[str, Any], int] | triton.Config
"""What ``autotune_configs`` may list."""


def config(
    defines: Defines | None = None, num_warps: Whole = DEFAULT_NUM_WARPS, **more: Unpack[ConfigSettings]
) -> Config:
    """One config for ``autotune_configs``, as ``triton.config`` of 2021 made it.

    ``more`` are other fields of ``Config``, as in the line with which tuning ends, or ended in an earlier version.
    """
    return _config_of({"defines": dict(defines or {}), "num_warps": num_warps, **more})


def warps_of(value: object) -> int:
    if isinstance(value, (int, numpy.integer)) and not isinstance(value, bool):
        number = int(value)
        if 1 <= number <= 64 and number & (number - 1) == 0:
            return number
    raise refusal(f"num_warps is {value!r}", "TC517", "give a power of two from 1 to 64 (usually 4 or 8)")


def stages_of(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, (int, numpy.integer)) and not isinstance(value, bool) and value >= 1:
        return int(value)
    raise refusal(f"num_stages is {value!r}", "TC517", "give an integer from 1 (usually 2 to 5)")


PRECISIONS: Final[tuple[Precision, ...]] = get_args(Precision)


def precision_of(value: object) -> str:
    if isinstance(value, str) and value in PRECISIONS:
        return value
    raise refusal(
        f"precision is {value!r}", "TC517", f"give one of {', '.join(PRECISIONS)}, or a list of those"
    )


def fast_math_of(value: object) -> bool:
    if isinstance(value, (bool, numpy.bool_)):
        return bool(value)
    raise refusal(f"fast_math is {value!r}", "TC517", "give True or False, or a list of both")


def configs_of(given: Iterable[object]) -> tuple[Config, ...]:
    """``autotune_configs`` / ``autotune_vals``: config objects, or ``({'BLOCK': '1024'}, 4)`` tuples."""
    points: list[Config] = []
    for entry in given:
        match entry:
            case Config():
                points.append(entry)
            case (Mapping() as defines, warps):
                points.append(Config(cast(Mapping[str, Define], defines), cast(int, warps)))
            case Mapping():
                points.append(Config(cast(Mapping[str, Define], entry)))
            case triton.Config(kwargs=defines, num_warps=warps, num_stages=stages):
                usual = vars(triton.Config({}, warps, stages))
                more = [
                    name for name, value in vars(entry).items() if name != "kwargs" and value != usual[name]
                ]
                if more:
                    message = f"an autotune config has {more[0]}={getattr(entry, more[0])!r}"
                    raise refusal(message, "TC515", "leave it out: pytriton does not support this option")
                points.append(Config(defines, warps, stages))
            case _:
                raise refusal(
                    f"an autotune config is {entry!r}",
                    "TC515",
                    "write pytriton.config(defines={...}, num_warps=4) or ({...}, 4)",
                )
    return tuple(points)


def _axis(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def product(
    defines: Mapping[str, Define | tuple[Define, ...]],
    num_warps: object,
    num_stages: object,
    points: Sequence[Config] = (),
    precision: object = "ieee",
    fast_math: object = False,
) -> tuple[Config, ...]:
    """All configs of a sweep, first values first, the last list running fastest.

    With ``points`` (the user's autotune configs) each config is combined with the defines, which win where
    both name the same thing. ``num_warps=None`` is the config's own, else the default.
    """
    axes = [_axis(value) for value in defines.values()]
    seen: dict[Config, None] = {}
    for point in points or (Config(),):
        warps = _axis(point.num_warps if num_warps is None else num_warps)
        stages = _axis(point.num_stages if num_stages is None else num_stages)
        kinds, speeds = _axis(precision), _axis(fast_math)
        if not (warps and stages and kinds and speeds):
            message = "num_warps, num_stages, precision or fast_math is an empty list"
            raise refusal(message, "TC517", "give it a value")
        for *values, warp, stage, kind, fast in itertools.product(*axes, warps, stages, kinds, speeds):
            merged = {**point.defines, **dict(zip(defines, values, strict=True))}
            settings = {"num_warps": warp, "num_stages": stage, "precision": kind, "fast_math": fast}
            seen[replace(point, defines=merged, **settings)] = None
    return tuple(seen)
