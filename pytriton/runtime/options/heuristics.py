"""Defines that a function computes from the arguments of a call: ``heuristics={'EVEN_K': fn}``.

Each function gets a dict of the arguments by parameter name and of the candidate's defines, and runs once a
candidate and call. Its value becomes a define like any other, so it may choose an arm of an ``#if``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytriton.runtime.errors import refusal
from pytriton.runtime.options.defines import Config, define_of

__all__ = ["Heuristic", "Heuristics"]

Heuristic = Callable[[dict[str, Any]], Any]


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

    def applied(
        self, configs: Sequence[Config], names: Sequence[str], arguments: Sequence[Any]
    ) -> tuple[Config, ...]:
        """The configs for one call, with the computed values among their defines."""
        return tuple(self._applied(config, names, arguments) for config in configs)

    def _applied(self, config: Config, names: Sequence[str], arguments: Sequence[Any]) -> Config:
        known = {**dict(zip(names, arguments, strict=False)), **config.defines}
        computed = {}
        for name, function in self.functions.items():
            computed[name] = known[name] = define_of(name, function(known))
        return replace(config, defines={**config.defines, **computed})
