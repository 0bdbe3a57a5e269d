"""The sweep that one set of defines means, and how a call passes through it.

A kernel object makes one plan for each set of defines, ``num_warps`` and ``num_stages`` that it is called
with, and keeps it. A call on a known plan takes the *slow path* at first: it binds its arguments, picks the
candidate (the only one, or the one that the tuner chose for these argument values), evaluates the grid and
launches. On a GPU the second call of a form finds a launcher in C (``launch/fast_path.py``), and the third one
its record: that is the fast path, and all that is not proven there comes back here.

Input: the arguments of a call, and its grid. Output: one launch. From here to the stopwatch there are three layers:
``Plan`` (dispatches a call, and makes the next one fast), ``Tuner`` (chooses the candidate), and the functions of
``tuning/measure.py`` and ``tuning/benchmark.py`` (time the candidates). A plan knows sweep, tuner and candidates by
what it asks of them (``launch/candidate.py``); ``kernel.py`` supplies them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final

import torch

from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.runtime.compile.specialize import reads_parameter
from pytriton.runtime.errors import refusal, remark, warn_once
from pytriton.runtime.launch.arguments import (
    ArgumentPlace,
    Binder,
    Bound,
    broken_promise,
    tell_of_strides,
    unexplained,
)
from pytriton.runtime.launch.buffers import CPU, Constants
from pytriton.runtime.launch.candidate import Candidate, Composer, Launch, grid_of
from pytriton.runtime.launch.device import Style, sole_device
from pytriton.runtime.launch.extents import Checks, Memory
from pytriton.runtime.launch.fast_path import Form, Launcher, LauncherCall, Shape, form_of, launcher_for
from pytriton.runtime.launch.gradients import check_gradients, count_changes, judge
from pytriton.runtime.launch.pages import ask_for_huge_pages
from pytriton.runtime.locks import Lock, renew_in_children
from pytriton.runtime.options.defines import Config, Options, number_of
from pytriton.runtime.options.definition import KernelText, PlanSettings

MAX_FORMS: Final = 16
PRINTS_LESS: Final = "TC331"  # warns of what a GPU cannot print; the CPU prints all

STRICT_VARIABLE: Final = "PYTRITON_STRICT_PROMISES"
"""If it is 1, launches that break a promise are refused."""

_Bound = tuple[list[Any], tuple[int, ...], int]  # ``Bound`` on a device that is known


class Common:
    """What all plans of a kernel object share: constant buffers, checks, and the warnings that were given.

    ``compose`` makes their candidates, and what chooses among these.
    """

    def __init__(self, settings: PlanSettings, compose: Composer, constants: Constants | None = None) -> None:
        self.compose = compose
        self.constants = Constants() if constants is None else constants
        self.checks = Checks(settings.check)
        self._strict = settings.strict_promises or os.environ.get(STRICT_VARIABLE, "") not in ("", "0")

    def tell(self, message: str, code: str, help: str, parameter: str = "") -> None:
        """A warning about a call, or about one parameter of it, which is given once."""
        warn_once(remark(message, code, help), (code, parameter), self.checks.warned)

    def drop_promise(self, place: ArgumentPlace, number: int, value: int | None) -> None:
        """Warn of an argument, ``value`` if that is known, which is not a multiple of ``number``.

        Raises LaunchError if promises are strict.
        """
        message, code, cure = broken_promise(place.parameter, number, value)
        if self._strict:
            place.refuse(message, code, cure)
        message = f"{place} {message}: the promise is dropped for this launch"
        self.tell(message, code, cure, place.parameter.name)


class Plan:
    """All candidates for one set of defines, and the choice among them for a call."""

    def __init__(
        self,
        text: KernelText,
        configs: Sequence[Config],
        settings: PlanSettings,
        common: Common,
    ) -> None:
        """Translates the first config that can be; raises CompileError or TuneError if none can."""
        self.text = text
        self._settings = settings
        self._common = common
        self._sweep, chooser = common.compose(text, configs, settings, common.constants)
        self.first = self._sweep.first
        self.configs = self._sweep.configs
        self.options = [Options(config) for config in self.configs]  # for grid functions
        warnings = self.first.translation.warnings
        self._for_gpus = [warning for warning in warnings if warning.code == PRINTS_LESS]
        for warning in warnings:
            if warning.code != PRINTS_LESS:
                warn_once(warning)
        self._key_positions = self._positions_of_key()
        self._tuner = chooser(self._key_positions, self._bind)
        self._lock = Lock()
        self._others: dict[tuple[int, ...], Plan] = {}  # by the parameters whose promises they do without
        self._latest: Plan = self  # of these and this one, what the last call on the slow path took
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Begin without launchers; in a forked child they would lead to the parent's GPUs."""
        self._launchers: dict[tuple[bool, Form], Launcher | None] = {}  # None: there can be none
        self.call: LauncherCall = self._slow_path
        """Launch once: takes the arguments and the grid. The fastest path that is known."""
        self.call_within: LauncherCall = partial(self._slow_path, within=True)
        """The same within an operator, which handles gradients, and versions of what is written."""

    def bench(
        self, arguments: Sequence[Any], grid: Any, repetitions: int, within: bool = False
    ) -> int | None:
        """Launch once, and measure: the best time in nanoseconds, None where there is nothing to launch."""
        plan, bound = self._bound(arguments)
        launch = plan._checked(bound, arguments, grid, within)
        if launch is None:
            return None
        return self._tuner.bench(launch, arguments, repetitions)

    # The slow path, and what makes the next call a fast one.

    def _slow_path(
        self,
        arguments: Sequence[Any],
        grid: Any,
        within: bool = False,
        missed: tuple[Form, tuple[Any, ...]] | None = None,
    ) -> None:
        """Launch once, where no launcher could. ``missed``: the form and the key of a call whose launcher knew no
        record of that key."""
        own = self.first.binder.own
        if len(arguments) != len(own.parameters):
            own.refuse_count(len(arguments), grid)
        plan, bound = self._bound(arguments)
        if plan is not self:
            return (plan.call_within if within else plan.call)(arguments, grid)
        launch = self._checked(bound, arguments, grid, within)
        if launch is None:
            return None
        launch()
        if missed is None:
            return self._make_launcher(launch, arguments, within)
        form, key = missed
        direct = launch.candidate.direct_on(launch.device, launch.specialization)
        launcher = self._launchers.get((within, form))
        if launcher and direct is not None and key[0] == launch.device and self._is_final(launch):
            launcher.keep(key, launch.specialization, launch.candidate.options, direct)
        return None

    def _missed(
        self,
        within: bool,
        form: Form,
        arguments: Sequence[Any],
        grid: Any,
        key: tuple[Any, ...] | None = None,
    ) -> None:
        """Launch once, after the launcher for this form could not; ``key`` if that alone was not known."""
        if key is not None:
            return self._slow_path(arguments, grid, within, (form, key))
        actual = form_of(self.first.binder.parameters, arguments)
        other = None if actual is None or actual == form else self._launchers.get((within, actual))
        return self._slow_path(arguments, grid, within) if other is None else other.call(arguments, grid)

    def _bound(self, arguments: Sequence[Any]) -> tuple[Plan, _Bound]:
        """The arguments checked, and the plan for them, whose promises they keep."""
        values, specialization, device = self._bind(self.first, arguments)
        if device is None:
            device = self._device_without_tensors()
        broken: dict[int, int] = {}
        for binder in (self.first.binder,) if self._tuner.only or device == CPU else self._binders:
            broken |= binder.broken(values)
        plan = self._latest = self.without(broken, values) if broken else self
        return plan, (values, specialization, device)

    @cached_property
    def _binders(self) -> tuple[Binder, ...]:
        """Of all candidates, which may promise different things (``__multipleof(TK)``)."""
        return tuple({candidate.binder: None for candidate in self._sweep.translated()})

    def without(self, broken: Mapping[int, int], values: Sequence[Any] | None = None) -> Plan:
        """The same plan, but for what some parameters promise.

        ``broken`` maps their positions to the promised divisors; ``values``, if known, are those of all arguments.
        Warns of each parameter once, if some candidate reads it; raises LaunchError if promises are strict.
        """
        plan = self._others.get(tuple(broken))
        if plan is not None:
            return plan
        binder = self.first.binder
        for at, number in broken.items():
            if any(reads_parameter(candidate.translation, at) for candidate in self._sweep.translated()):
                self._common.drop_promise(binder.place(at), number, None if values is None else values[at])
        settings = self.text.settings
        names = {binder.parameters[at].name for at in broken}.union(settings.without_promises)
        text = replace(self.text, settings=replace(settings, without_promises=tuple(sorted(names))))
        plan = Plan(text, self.configs, self._settings, self._common)
        return self._others.setdefault(tuple(broken), plan)

    def _checked(self, bound: _Bound, arguments: Sequence[Any], grid: Any, within: bool) -> Launch | None:
        """The launch that a call means. Warns of gradients and strides, and counts the change of what it writes."""
        launch = self._launch_of(bound, arguments, grid)
        if launch is None:
            return None
        binder, written, legacy = launch.candidate.binder.own, launch.candidate.written, self._settings.legacy
        if not within:
            check_gradients(binder, arguments, written, legacy, self._common.tell)
        integers = self._numbers.union(value for value in launch.values if type(value) is int)
        at = unexplained(arguments, integers)
        if at is not None:
            tell_of_strides(binder.place(at), arguments[at], self._common.tell)
        if not within and not legacy:
            count_changes(arguments, written)
        return launch

    def _launch_of(self, bound: _Bound, arguments: Sequence[Any], grid: Any) -> Launch | None:
        """The launch that a call means, all decided; None where the grid has a zero in it."""
        values, specialization, device = bound
        candidate = self._candidate_known(device, values)
        if candidate is None:
            candidate = self._tuner.choose(self._tuning_key(device, values), device, arguments, grid)
            if candidate is None:
                return None
        if candidate.binder is not self.first.binder:
            values, specialization, _ = self._bind(candidate, arguments)
        sizes = grid_of(candidate, grid)
        if sizes is None:
            return None
        if device != CPU:
            while self._for_gpus:
                warn_once(self._for_gpus.pop())
        checked = self.is_checked(on_cpu=device == CPU)
        memory = self._memory_of(candidate, device, values, arguments) if checked else None
        if device == CPU:
            for position in candidate.written:
                ask_for_huge_pages(arguments[position])
        return Launch(device, sizes, values, specialization, memory, candidate=candidate)

    def examined(self, arguments: Sequence[Any], grid: Any) -> Launch:
        """The launch that a call would be, on CPU memory and checked; raises LaunchError where there is none."""
        plan, (values, specialization, device) = self._bound(arguments)
        candidate, kernel = plan.first, plan.first.translation.kernel
        pairs = zip(candidate.binder.parameters, values, arguments, strict=False)
        if device != CPU or any(
            isinstance(parameter.type, PointerType) and address and not isinstance(argument, torch.Tensor)
            for parameter, address, argument in pairs
        ):
            help_ = "pass the tensors: those are copied to the CPU"
            raise refusal(f"{kernel}: only launches on tensors can be inspected", "TC515", help_)
        sizes = grid_of(candidate, grid)
        if sizes is None:
            raise refusal(
                f"{kernel}: the grid has no programs", "TC512", "give a grid of at least one program"
            )
        memory = self._memory_of(candidate, device, values, arguments)
        return Launch(device, sizes, values, specialization, memory, candidate=candidate)

    def is_checked(self, *, on_cpu: bool) -> bool:
        """Whether launches there are checked for accesses outside their tensors."""
        return self._common.checks.are_on(on_cpu=on_cpu)

    def _memory_of(
        self, candidate: Candidate, device: int, values: Sequence[Any], arguments: Sequence[Any]
    ) -> Memory:
        """What a launch may reach."""
        binder = candidate.binder
        supplied = [
            self._common.constants.on(device, buffer.name, buffer.buffer) for buffer in binder.buffers
        ]
        return Memory(self._common.checks, binder.kernel, binder.parameters, values, [*arguments, *supplied])

    def _candidate_known(self, device: int, values: Sequence[Any]) -> Candidate | None:
        return self._tuner.only or self._tuner.chosen.get(self._tuning_key(device, values))

    def _tuning_key(self, device: int, values: Sequence[Any]) -> tuple[Any, ...]:
        return device, *(values[position] for position in self._key_positions)

    def _is_final(self, launch: Launch) -> bool:
        """Whether the next such call would get the same candidate, with arguments of the same
        declarations."""
        candidate = launch.candidate
        if candidate.binder is not self.first.binder or candidate.written != self.first.written:
            return False
        return self._candidate_known(launch.device, launch.values) is candidate

    def _make_launcher(self, launch: Launch, arguments: Sequence[Any], within: bool) -> None:
        """Make a launcher for calls of this form, if there can be one."""
        binder = self.first.binder
        if (
            launch.device == CPU
            or launch.memory is not None
            or binder.buffers
            or len(self._launchers) >= MAX_FORMS
        ):
            return
        direct = launch.candidate.direct_on(launch.device, launch.specialization)
        form = form_of(binder.parameters, arguments)
        if direct is None or form is None or (within, form) in self._launchers:
            return
        shape = self._shape(form, direct.style, direct.extra, within)
        launcher = launcher_for(shape, partial(self._missed, within, form))
        with self._lock:
            is_first = not any(other == within for other, _ in self._launchers)
            if self._launchers.setdefault((within, form), launcher) is launcher and launcher and is_first:
                if within:
                    self.call_within = launcher.call
                else:
                    self.call = launcher.call

    def _shape(self, form: Form, style: Style, extra: int, within: bool) -> Shape:
        binder, tuned = self.first.binder, () if self._tuner.only else self._key_positions
        given = self._settings.device
        current = given is None or (given.type != "cpu" and given.index is None)
        device = None if current else self._device_without_tensors()
        written = () if within or self._settings.legacy else self.first.written
        return Shape(
            *(binder.parameters, form, tuned, device, style, extra, sole_device()),
            *(not within, written),
        )

    @property
    def chosen(self) -> Candidate:
        """What the last sweep chose; the first candidate where nothing was chosen yet."""
        best = self._latest._tuner.best_config
        return self._latest.first if best is None else self._latest._sweep.candidate(best)

    @property
    def best_config(self) -> Config | None:
        """The config of that; None before anything was chosen."""
        return self._latest._tuner.best_config

    @property
    def timings(self) -> Mapping[Config, float | str]:
        """Each config that was tried: its milliseconds, or the reason why it has none."""
        return self._latest._tuner.timings

    def check_traced(self, at: int, tensor: torch.Tensor, wanting: bool, leaf: bool) -> None:
        """Check a tensor of a traced call, and the gradient that it may require."""
        binder = self.first.binder.own
        binder.check_bits(at, tensor)
        if wanting:
            judge(
                binder,
                {at: "a leaf" if leaf else ""},
                self.written_positions,
                self._settings.legacy,
                self._common.tell,
            )

    @cached_property
    def written_positions(self) -> tuple[int, ...]:
        """The positions of the parameters through which some candidate writes, without constant buffers."""
        return tuple(sorted({at for candidate in self._sweep.translated() for at in candidate.written}))

    def every_candidate(self) -> Sequence[Candidate]:
        """All candidates; raises CompileError if one cannot be translated."""
        return self._sweep.all_translated()

    def _positions_of_key(self) -> tuple[int, ...]:
        """Which arguments' values call for new tuning: ``__retune`` and autotune_key, else all integers."""
        if self._settings.only_named_key:
            return self.named_key
        integers = (at for at, param in enumerate(self.first.binder.parameters) if _is_integer(param.type))
        return self.named_key or tuple(integers)

    @cached_property
    def _numbers(self) -> frozenset[int]:
        """The integers among the defines."""
        values = (value for config in self.configs for value in config.defines.values())
        return frozenset(value for value in map(number_of, values) if isinstance(value, int))

    @cached_property
    def named_key(self) -> tuple[int, ...]:
        """The positions of the parameters that ``__retune`` and autotune_key name."""
        binder = self.first.binder
        positions = {at for at, param in enumerate(binder.parameters) if param.retune}
        for name in self._settings.tune_key:
            position = binder.position(name)
            if position is None:
                names = ", ".join(parameter.name for parameter in binder.parameters)
                raise refusal(
                    f"{binder.kernel}: autotune_key names '{name}', which is not a parameter",
                    "TC516",
                    f"it has {names}",
                )
            positions.add(position)
        return tuple(sorted(positions))

    def _bind(self, candidate: Candidate, arguments: Sequence[Any]) -> Bound:
        """The arguments checked, with the constant buffers of the call's device after them."""
        binder = candidate.binder
        if not binder.buffers:
            return binder.bind(arguments)
        device = binder.own.bind(arguments)[2]
        if device is None:
            device = self._device_without_tensors()
        supplied = [
            self._common.constants.on(device, buffer.name, buffer.buffer).data_ptr()
            for buffer in binder.buffers
        ]
        values, specialization, _ = binder.bind([*arguments, *supplied])
        return values, specialization, device

    def _device_without_tensors(self) -> int:
        """Where a call runs that passes no tensor: the constructor's device, else the current GPU."""
        device = self._settings.device
        if device is not None and device.type == "cpu":
            return CPU
        if device is not None and device.index is not None:
            return device.index
        return torch.cuda.current_device() if torch.cuda.is_available() else CPU


def _is_integer(type_: ScalarType | PointerType) -> bool:
    return isinstance(type_, ScalarType) and type_.kind in ("int", "uint")
