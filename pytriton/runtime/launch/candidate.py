"""What a plan asks of its candidates and of what chooses among them, and what a launch is.

A candidate is one config of a sweep, translated and compiled once. How it runs (on a GPU, as C, by the interpreter,
checked) and how one is chosen is decided in tools (``tuning/``). The core does not import these: ``kernel.py``
composes both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytriton.pipeline import Translation
from pytriton.runtime.launch.arguments import Binder, Bound
from pytriton.runtime.launch.buffers import Constants
from pytriton.runtime.launch.device import DeviceKernel, Direct, Grid, sizes_of
from pytriton.runtime.launch.extents import Memory
from pytriton.runtime.options.defines import Config, Options
from pytriton.runtime.options.definition import KernelText, PlanSettings


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A launch: the arguments are checked, the grid has no zero. Device -1 is the CPU.

    ``memory``: what its accesses may reach, if they are to be checked.
    """

    device: int
    grid: Grid
    values: Sequence[Any]
    specialization: tuple[int, ...]
    memory: Memory | None = None


class Candidate(Protocol):
    """A translated kernel for one config."""

    config: Config
    options: Options  # for grid functions
    translation: Translation
    binder: Binder

    @property
    def written(self) -> tuple[int, ...]:
        """The positions of the arguments through which it writes."""

    def launch(self, asked: Prepared) -> None:
        """Run it once; raises LaunchError for a store outside, where accesses are checked."""

    def direct_on(self, device: int, specialization: tuple[int, ...]) -> Direct | None:
        """The C function of a kernel that was launched there; None where it cannot be called directly."""

    def kernel_on(self, device: int, specialization: tuple[int, ...]) -> DeviceKernel:
        """The compiled kernel; raises UnsupportedError or LaunchError where there can be none."""

    def suits(self, grid: Grid, values: Sequence[Any]) -> bool:
        """Whether its code holds for such a launch."""

    def shared_memory(self, device: int) -> int | None:
        """Bytes that a kernel needs which was compiled for a device; None where none was."""

    def last_compiled(self) -> Any:
        """The kernel that was compiled last by a call, None if there is none."""

    def compile_for(self, specialization: tuple[int, ...], target: Any) -> Any:
        """Triton's ``CompiledKernel`` for a target; raises UnsupportedError."""


@dataclass(frozen=True, slots=True, eq=False)
class Launch(Prepared):
    """One launch, all decided."""

    candidate: Candidate = field(kw_only=True)

    def __call__(self) -> None:
        self.candidate.launch(self)


def grid_of(candidate: Candidate, grid: Any) -> Grid | None:
    """The three sizes of a user's grid for a candidate; None for an empty grid."""
    return sizes_of(grid, candidate.options, candidate.translation.kernel)


class Candidates(Protocol):
    """Those of one set of defines (``Sweep``); ``first`` is the first that can be translated."""

    @property
    def first(self) -> Candidate: ...

    @property
    def configs(self) -> tuple[Config, ...]: ...

    def candidate(self, config: Config) -> Candidate: ...

    def translated(self) -> Sequence[Candidate]: ...

    def all_translated(self) -> Sequence[Candidate]: ...


class Chooser(Protocol):
    """Chooses one of them for a call (``Tuner``). ``only``: there is one; ``chosen``: by tuning key."""

    @property
    def only(self) -> Candidate | None: ...

    @property
    def chosen(self) -> Mapping[tuple[Any, ...], Candidate]: ...

    @property
    def best_config(self) -> Config | None: ...

    @property
    def timings(self) -> Mapping[Config, float | str]: ...

    def choose(
        self, key: tuple[Any, ...], device: int, arguments: Sequence[Any], grid: Any
    ) -> Candidate | None: ...

    def bench(self, launch: Launch, arguments: Sequence[Any], repetitions: int) -> int: ...


Bind = Callable[[Candidate, Sequence[Any]], Bound]  # checks the arguments of a call for a candidate


class Composer(Protocol):
    """Makes both for a plan."""

    def __call__(
        self, text: KernelText, configs: Sequence[Config], settings: PlanSettings, constants: Constants
    ) -> tuple[Candidates, Callable[[Sequence[int], Bind], Chooser]]: ...
