"""The sweep that one set of defines means, and the way of a call through it.

A kernel object makes one plan for each set of defines, ``num_warps`` and ``num_stages`` that it is called
with, and keeps it. A call on a known plan goes *the long way* at first: it binds its arguments, picks the candidate
(the only one, or the one that was tuned for these argument values), evaluates the grid and launches. On a GPU the
second call of a form finds a generated launcher (``launch/fast_path.py``), and the third one its record: that is
the fast path, and all that is not proved there comes back here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final

import torch

from pytriton.lang.tree.types import PointerType, ScalarType
from pytriton.runtime.compile.specialize import reads_parameter
from pytriton.runtime.errors import refusal, warn_once
from pytriton.runtime.launch.arguments import Binder, Bound
from pytriton.runtime.launch.constants import Constants
from pytriton.runtime.launch.device import Style, sole_device, style_here
from pytriton.runtime.launch.fast_path import Call, Form, Launcher, Shape, form_of, launcher_text
from pytriton.runtime.launch.gradients import Tell, check_gradients, count_changes, judge, tell_once
from pytriton.runtime.launch.promises import Promises
from pytriton.runtime.launch.strides import tell_of_strides, unexplained
from pytriton.runtime.locks import Lock, renew_in_children
from pytriton.runtime.options.defines import Config, number_of
from pytriton.runtime.options.definition import PlanSettings
from pytriton.runtime.options.source_text import KernelText
from pytriton.runtime.sweep.candidate import CPU, Candidate
from pytriton.runtime.sweep.sweep import Sweep
from pytriton.runtime.tune.benchmark import Launch, bench
from pytriton.runtime.tune.measure import grid_of, save_written, written_by
from pytriton.runtime.tune.tuner import Tuner

__all__ = ["Plan"]

_MOST_FORMS: Final = 16

_Bound = tuple[list[Any], tuple[int, ...], int]  # ``Bound`` on a device that is known


class Plan:
    """All candidates for one set of defines, and which of them serves a call."""

    def __init__(
        self,
        text: KernelText,
        configs: Sequence[Config],
        settings: PlanSettings,
        constants: Constants | None = None,
        promises: Promises | None = None,
        tell: Tell = tell_once,
    ) -> None:
        """Translates the first config that can be; raises CompileError or TuneError if none can.

        ``tell`` is given the warnings about a call's arguments.
        """
        self._constants = constants or Constants()
        self.text = text
        self._settings = settings
        self._promises = promises or Promises()
        self._tell = tell
        self._sweep = Sweep(text, configs)
        self.first = self._sweep.first
        self.configs = self._sweep.configs
        for warning in self.first.translation.warnings:
            warn_once(warning.render())
        self._key_positions = self._positions_of_key()
        self._tuner = Tuner(self._sweep, settings, self._constants, self._key_positions, self._bind)
        self._only = self._tuner.only
        self._best = self._tuner.known
        self._lock = Lock()
        self._launchers: dict[tuple[bool, Form], Launcher] = {}
        self._others: dict[tuple[int, ...], Plan] = {}  # by the parameters whose promises they do without
        self._latest: Plan = self  # of these and this one, what the last call on the long way took
        self.call: Call = self._long_way
        """Launch once: takes the arguments and the grid. The shortest way that is known."""
        self.call_within: Call = partial(self._long_way, within=True)
        """The same within an operator, whose business are gradients, and versions of what is written."""
        renew_in_children(self)

    def renew(self) -> None:
        """In a forked child the short ways lead to the parent's GPUs: forget them."""
        self._launchers = {}
        self.call = self._long_way
        self.call_within = partial(self._long_way, within=True)

    def bench(
        self, arguments: Sequence[Any], grid: Any, repetitions: int, within: bool = False
    ) -> int | None:
        """Launch once, and measure: the best time in nanoseconds, None where there is nothing to launch."""
        plan, bound = self._bound(arguments)
        if plan is not self:
            return plan.bench(arguments, grid, repetitions, within)
        ready = self._checked(bound, arguments, grid, within)
        if ready is None:
            return None
        saved = save_written([ready.candidate], arguments, ready.device, self._constants)
        return bench(ready, saved, repetitions)

    # The long way, and what shortens it.

    def _long_way(self, arguments: Sequence[Any], grid: Any, within: bool = False) -> None:
        """Launch once, where no launcher of the fast path is known."""
        plan, bound = self._bound(arguments)
        if plan is not self:
            return (plan.call_within if within else plan.call)(arguments, grid)
        ready = self._checked(bound, arguments, grid, within)
        if ready is not None:
            ready()
            self._shorten(ready, arguments, within)

    def _missed(
        self, kind: tuple[bool, Form], arguments: Sequence[Any], grid: Any, key: tuple[Any, ...] | None = None
    ) -> None:
        """Launch once, after a launcher for calls of this kind (whether ``within``, and the form) could not;
        ``key`` if that alone was not known."""
        within, form = kind
        if key is None:
            actual = form_of(self.first.binder.parameters, arguments)
            other = None if actual is None or actual == form else self._launchers.get((within, actual))
            if other is not None:
                return other.call(arguments, grid)
            return self._long_way(arguments, grid, within)
        plan, bound = self._bound(arguments)
        if plan is not self:
            return (plan.call_within if within else plan.call)(arguments, grid)
        ready = self._checked(bound, arguments, grid, within)
        if ready is not None:
            ready()
            direct = ready.candidate.direct_on(ready.device, ready.specialization)
            if direct is not None and key[0] == ready.device and self._is_final(ready):
                self._launchers[kind].keep(key, ready.specialization, ready.candidate.options, direct)
        return None

    def _bound(self, arguments: Sequence[Any]) -> tuple[Plan, _Bound]:
        """The arguments checked, and the plan that serves them: none whose promises they break."""
        values, specialization, device = self._bind(self.first, arguments)
        if device is None:
            device = self._device_without_tensors()
        broken: dict[int, int] = {}
        for binder in (self.first.binder,) if self._only or device == CPU else self._binders:
            broken |= binder.broken(values)
        self._latest = self.without(broken, values) if broken else self
        return self._latest, (values, specialization, device)

    @cached_property
    def _binders(self) -> tuple[Binder, ...]:
        """Of all candidates, which may promise different things (``__multipleof(TK)``)."""
        return tuple({candidate.binder: None for candidate in self._sweep.translated()})

    def without(self, broken: Mapping[int, int], values: Sequence[Any] | None = None) -> Plan:
        """The same plan, but for what some parameters promise.

        ``broken`` maps their positions to what the arguments are no multiples of; ``values``, if known, are those
        of all arguments. Warns of each parameter once; raises LaunchError if promises are strict. A parameter that
        no candidate reads is not worth a word.
        """
        plan = self._others.get(tuple(broken))
        if plan is not None:
            return plan
        binder = self.first.binder
        for at, number in broken.items():
            if any(reads_parameter(each.translation, at) for each in self._sweep.translated()):
                self._promises.tell(binder.place(at), number, None if values is None else values[at])
        settings = self.text.settings
        names = {binder.parameters[at].name for at in broken}.union(settings.without_promises)
        text = replace(self.text, settings=replace(settings, without_promises=tuple(sorted(names))))
        plan = Plan(text, self.configs, self._settings, self._constants, self._promises, self._tell)
        return self._others.setdefault(tuple(broken), plan)

    def _checked(self, bound: _Bound, arguments: Sequence[Any], grid: Any, within: bool) -> Launch | None:
        """The launch that a call means; what gradients and strides say against it is said, and the change of
        what it writes is counted."""
        ready = self._ready(bound, arguments, grid)
        if ready is not None:
            binder, written = ready.candidate.binder.own, ready.candidate.written
            if not within:
                check_gradients(binder, arguments, written, self._settings.legacy, self._tell)
            at = unexplained(
                arguments, self._numbers.union(each for each in ready.values if type(each) is int)
            )
            if at is not None:
                tell_of_strides(str(binder.place(at)), arguments[at], self._tell)
            if not within and not self._settings.legacy:
                count_changes(arguments, written)
        return ready

    def _ready(self, bound: _Bound, arguments: Sequence[Any], grid: Any) -> Launch | None:
        """The launch that a call means, all decided; None where the grid has a zero in it."""
        values, specialization, device = bound
        candidate = self._only
        if candidate is None:
            key = self._tuned_for(device, values)
            candidate = self._best.get(key) or self._tuner.choose(key, device, arguments, grid)
            if candidate is None:
                return None
            if candidate.binder is not self.first.binder:
                values, specialization, _ = self._bind(candidate, arguments)
        sizes = grid_of(candidate, grid)
        return None if sizes is None else Launch(candidate, device, sizes, values, specialization)

    def _tuned_for(self, device: int, values: Sequence[Any]) -> tuple[Any, ...]:
        return device, *(values[position] for position in self._key_positions)

    def _is_final(self, ready: Launch) -> bool:
        """Whether the next such call would get the same candidate, with arguments of the same
        declarations."""
        if ready.candidate.binder is not self.first.binder or ready.candidate.written != self.first.written:
            return False
        known = self._only or self._best.get(self._tuned_for(ready.device, ready.values))
        return known is ready.candidate

    def _shorten(self, ready: Launch, arguments: Sequence[Any], within: bool) -> None:
        """Make a launcher for calls of this form, if there can be one."""
        binder = self.first.binder
        if ready.device == CPU or binder.buffers or len(self._launchers) >= _MOST_FORMS:
            return
        direct = ready.candidate.direct_on(ready.device, ready.specialization)
        form = form_of(binder.parameters, arguments)
        if direct is None or form is None or (within, form) in self._launchers:
            return
        shape = self._shape(form, direct.style, direct.extra, within)
        made = Launcher(shape, partial(self._missed, (within, form)))
        with self._lock:
            first = not any(kind[0] == within for kind in self._launchers)
            if self._launchers.setdefault((within, form), made) is made and first:
                if within:
                    self.call_within = made.call
                else:
                    self.call = made.call

    def _shape(self, form: Form, style: Style, extra: int, within: bool) -> Shape:
        binder, tuned = self.first.binder, () if self._only else self._key_positions
        given = self._settings.device
        current = given is None or (given.type != "cpu" and given.index is None)
        device = None if current else self._device_without_tensors()
        written = () if within or self._settings.legacy else self.first.written
        return Shape(
            *(binder.kernel, binder.parameters, form, tuned, device, style, extra, sole_device()),
            *(not within, written),
        )

    @property
    def launcher_text(self) -> str:
        """The generated launchers; before any launch, that for tensors only, as it would be here."""
        if self._launchers:
            return "\n\n".join(launcher.text for launcher in self._launchers.values())
        parameters = self.first.binder.parameters
        form: Form = tuple("tensor" for each in parameters if isinstance(each.type, PointerType))
        extra = len(self.first.translation.constexprs)
        return launcher_text(self._shape(form, style_here() or "packed", extra, within=False))

    @property
    def chosen(self) -> Candidate:
        """What the last sweep chose; the first candidate where nothing was chosen yet."""
        best = self._latest._tuner.best_config
        return self._latest.first if best is None else self._latest._sweep.made(best)

    @property
    def best_config(self) -> Config | None:
        """The config of that; None before anything was chosen."""
        return self._latest._tuner.best_config

    @property
    def timings(self) -> Mapping[Config, float | str]:
        """Each config that was tried: its milliseconds, or the reason why it has none."""
        return self._latest._tuner.timings

    def written(self, arguments: Sequence[Any]) -> list[Any]:
        """The arguments through which the first candidate writes."""
        return [written.argument for written in written_by([self.first], arguments)]

    def check_traced(self, at: int, tensor: torch.Tensor, wanting: bool, leaf: bool) -> None:
        """What is said against a tensor of a traced call, and against the gradient that it may require."""
        binder = self.first.binder.own
        binder.check_bits(at, tensor)
        if wanting:
            found = {at: "a leaf" if leaf else ""}
            judge(binder, found, self.written_positions, self._settings.legacy, self._tell)

    @cached_property
    def written_positions(self) -> tuple[int, ...]:
        """Where the parameters stand through which some candidate writes; constant buffers are none."""
        names = {name for candidate in self._sweep.translated() for name in candidate.translation.writes}
        own = self.first.binder.own.parameters
        return tuple(at for at, parameter in enumerate(own) if parameter.name in names)

    def every_candidate(self) -> list[Candidate]:
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
        """Where the parameters stand that ``__retune`` and autotune_key name."""
        binder = self.first.binder
        positions = {at for at, param in enumerate(binder.parameters) if param.retune}
        for name in self._settings.tune_key:
            position = binder.position(name)
            if position is None:
                known = ", ".join(parameter.name for parameter in binder.parameters)
                raise refusal(
                    f"{binder.kernel}: autotune_key names '{name}', which is no parameter",
                    "TC516",
                    f"it has {known}",
                )
            positions.add(position)
        return tuple(sorted(positions))

    def _bind(self, candidate: Candidate, arguments: Sequence[Any]) -> Bound:
        """The arguments checked, with the constant buffers of the call's device behind them."""
        binder = candidate.binder
        if not binder.buffers:
            return binder.bind(arguments)
        device = binder.own.bind(arguments)[2]
        if device is None:
            device = self._device_without_tensors()
        supplied = [self._constants.on(device, each.name, each.buffer).data_ptr() for each in binder.buffers]
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
