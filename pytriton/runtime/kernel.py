"""``pytriton.kernel``: the object that users hold, with the constructors and calls of all three eras.

2019: ``kernel(src, ['C'])``, and a call with the grid as last positional argument and defines as keywords.
2020: ``kernel(src, defines={...}, num_warps=[2, 4])``, and a call with ``grid=``, ``bench=``.
2021: ``kernel(src, device, defines={...}, autotune_configs=[...], autotune_key=[...])``.

Any style may be used at any time; this file sorts the arguments out, and a ``Plan`` does the work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, SupportsIndex

import torch

from pytriton.boundary import entry, is_mistake, without_frames
from pytriton.compat.torch_names import dispatch_modes, is_jit_tracing
from pytriton.errors import CompileError, PytritonError
from pytriton.lang.preprocess.structure import may_lack_defines
from pytriton.pipeline import Translation
from pytriton.runtime.compile.compiler import assembly, parse_target
from pytriton.runtime.compile.specialize import common_specialization
from pytriton.runtime.errors import from_legacy, refusal
from pytriton.runtime.launch.arguments import Binder
from pytriton.runtime.launch.buffers import Constants, constant_arguments
from pytriton.runtime.launch.candidate import Launch
from pytriton.runtime.launch.device import present_target
from pytriton.runtime.launch.fast_path import Recent, key_of
from pytriton.runtime.locks import Lock
from pytriton.runtime.native.native_kernel import native_module
from pytriton.runtime.options.annotations import (
    Check,
    DefineGiven,
    Defines,
    Device,
    Folders,
    Grid,
    Heuristic,
    KernelSource,
    LaunchCall,
    Names,
    Precisions,
    Real,
    Stages,
    Truth,
    Truths,
    Tune,
    Warps,
)
from pytriton.runtime.options.defines import Config, Configured, configs_of, defines_of
from pytriton.runtime.options.definition import (
    Definition,
    Given,
    Heuristics,
    KernelText,
    PlanSettings,
    by_era,
    device_of,
    read_source,
)
from pytriton.runtime.options.table import option
from pytriton.runtime.options.typos import judge_unused, options_of, refusing_unknown, signed
from pytriton.runtime.pickled import from_state, state_of
from pytriton.runtime.plan import Common, Plan
from pytriton.runtime.show import chart, page
from pytriton.runtime.tensors import bench_registry
from pytriton.runtime.trace.dynamo import (
    call_traced,
    enrol,
    is_dynamo_compiling,
    is_recorded,
    is_traced,
)
from pytriton.runtime.trace.frames import INSIDE, RECORDED, Noted, RequestedLaunch, Shapes, note_elsewhere
from pytriton.runtime.traced import Trace
from pytriton.settings import Settings
from pytriton.tuning.translated_config import copies, raced, traced
from pytriton.tuning.tuner import composed


class Kernel:
    """A Triton-C kernel that can be called. Made by ``pytriton.kernel``."""

    def __init__(self, definition: Definition, constants: Constants | None = None) -> None:
        self._definition = definition
        self._lock = Lock()
        self._plans: dict[Any, Plan] = {}
        self._recent: Recent[Plan] = Recent()
        self._default: Plan | None = None
        self._last: Plan | None = None
        self._binders: dict[Config, Binder] = {}
        self._common = Common(definition.settings, composed, constants)
        self.token = enrol(self)  # by which traced code names it

    @signed(LaunchCall.__call__)
    def __call__(self, /, *arguments: Any, **given: Any) -> int | None:
        """Launch the kernel once, on the device of the tensors and its current stream.

        ``arguments`` come in the order of the kernel's parameters; without ``grid=`` the last one is the grid.
        ``defines=``, ``num_warps=`` and ``num_stages=`` win over the constructor's; other keywords are defines.
        ``bench=n`` returns the best time of a launch, in nanoseconds. Raises LaunchError for wrong arguments,
        CompileError if the text cannot be translated, TuneError if no config of a sweep works.
        """
        __tracebackhide__ = True
        try:
            # The keywords are in one dictionary: Python would compare each of twenty defines with each name of a
            # signature, which takes longer than all that follows.
            grid, defines, num_warps, num_stages, bench = given.pop("grid", None), None, None, None, 0
            if given:
                defines = given.pop("defines", None)
                if defines is not None and type(defines) is not dict:
                    defines = option("defines", defines)
                if given:
                    num_warps, num_stages = given.pop("num_warps", None), given.pop("num_stages", None)
                    if "bench" in given:
                        bench = option("bench", given.pop("bench"))
                    if given:
                        defines = {**defines, **given} if defines else given
            if grid is None:
                if not arguments:
                    raise refusal(f"{self.name}: a call needs a grid", "TC511", _GIVE_A_GRID)
                arguments, grid = arguments[:-1], arguments[-1]
            if is_dynamo_compiling():
                call_traced(self, arguments, grid, defines, num_warps, num_stages, bench)
                return None
            plan = self._default
            if plan is None or defines or num_warps is not None or num_stages is not None:
                recent = self._recent.get(defines, num_warps, num_stages)
                plan = recent or self._plan(arguments, defines, num_warps, num_stages)
            self._last = plan
            if RECORDED:
                note_elsewhere(arguments[at] for at in plan.written_positions if at < len(arguments))
            frame = INSIDE.frame
            if frame is None and not bench and not dispatch_modes() and not is_jit_tracing():
                plan.call(arguments, grid)  # the fast path
                return None
            if isinstance(frame, Noted):
                launch = RequestedLaunch(tuple(arguments), grid, defines, num_warps, num_stages)
                frame.note(self, plan, launch)
                if isinstance(frame, Shapes):
                    frame += [arguments[at] for at in plan.written_positions if at < len(arguments)]
                    return None
            if is_traced(arguments) or (frame is None and is_recorded(plan.first.translation.kernel)):
                call_traced(self, arguments, grid, defines, num_warps, num_stages, bench)
                return None
            time = self._bench(plan, arguments, grid, bench, frame is not None)
            if frame is not None:
                for at in plan.written_positions:
                    frame.append(arguments[at])
            return time
        except PytritonError as error:
            if is_dynamo_compiling() or not is_mistake(error):
                raise
            raise without_frames(error) from None

    def __getitem__(self, grid: Grid) -> LaunchCall:
        """``kernel[grid](*arguments)``: a call with this grid, as today's Triton writes it."""
        return partial(self, grid=grid)

    # Inspected launches.

    @entry
    def trace(
        self,
        /,
        *arguments: Any,
        grid: Grid,
        program: SupportsIndex | Sequence[SupportsIndex] = (0, 0, 0),
        defines: Defines | None = None,
        **more_defines: DefineGiven | Sequence[DefineGiven],
    ) -> Trace:
        """Run one program of a launch on the CPU: every variable after every statement, as NumPy arrays.

        ``program=2`` is program ``(2, 0, 0)``.
        Arguments, grid and defines are those of a call; of a sweep the first possible config is taken. The program
        runs on copies of the tensors, also of GPU tensors, so nothing changes. ``print(trace)`` shows the values
        below the lines of the source. Raises LaunchError for wrong arguments.
        """
        ids = option("program", program)
        launch = self._examined(arguments, grid, defines, more_defines)
        x, y, z = (*ids, 0, 0)[:3]
        if not all(0 <= at < size for at, size in zip((x, y, z), launch.grid, strict=True)):
            message = f"{self.name}: there is no program {ids} in a grid of {launch.grid}"
            raise refusal(message, "TC512", "programs are counted from 0 along each axis")
        assert launch.memory is not None
        return traced(self._definition.text, launch, launch.memory, (x, y, z))

    @entry
    def check_races(
        self,
        /,
        *arguments: Any,
        grid: Grid,
        defines: Defines | None = None,
        **more_defines: DefineGiven | Sequence[DefineGiven],
    ) -> None:
        """Run a launch on the CPU and look for races; raises LaunchError if there are any.

        Two programs that touch one element, one of them writing it, without an order by atomics; two elements of
        one block that store different values to one address. Arguments, grid and defines are those of a call; a
        small grid that has all kinds of programs is enough. It runs on copies of the tensors, so nothing changes.
        """
        for turned in (False, True):
            launch = self._examined(arguments, grid, defines, more_defines)
            assert launch.memory is not None
            if not raced(self._definition.text, launch, launch.memory, turned=turned):
                return  # without atomics, no order shows more than another

    def _examined(
        self, arguments: Sequence[Any], grid: Any, defines: Mapping[str, Any] | None, more: Mapping[str, Any]
    ) -> Launch:
        """The launch of a call on the CPU, on copies of the tensors."""
        copied = copies(arguments)
        warps = {name: more.get(name) for name in ("num_warps", "num_stages")}
        given = {name: value for name, value in more.items() if name not in warps}
        plan = self._plan(copied, {**(option("defines", defines) or {}), **given} or None, *warps.values())
        return plan.examined(copied, grid)

    # Queries.

    @property
    def name(self) -> str:
        """What messages call it: the kernel picked from the text, else the text."""
        return self._definition.text.settings.kernel or self._definition.text.source.name

    @entry
    def source(self, defines: Defines | None = None, kernel: str | None = None) -> str:
        """The modern Python text. ``defines`` add to the constructor's; a list takes its first value."""
        return self.translation(defines, kernel).text

    @entry
    def translation(self, defines: Defines | None = None, kernel: str | None = None) -> Translation:
        """The whole translation for the first config of the sweep; raises CompileError."""
        point = self._definition.configs(defines_of(defines))[0]
        return self._definition.text.for_kernel(option("kernel", kernel)).translate(point)

    @entry
    def asm(
        self,
        mode: str = "ptx",
        target: str | None = None,
        defines: Defines | None = None,
        num_warps: int | None = None,
        kernel: str | None = None,
    ) -> str:
        """What the compiler makes of it: ``ttir``, ``ttgir``, ``llir``, ``ptx``, ``amdgcn``; ``c`` for the CPU.

        ``target`` is ``cuda:80``, ``cuda:90``, ``hip:gfx942`` or the like; None is the present GPU. Works
        without a GPU and before any call, for the common case: aligned pointers, all promises kept,
        integers unknown. For the present GPU and nothing else given, it shows what the last call ran.
        """
        if target is None and mode != "c" and self._last and not (defines or num_warps or kernel):
            compiled = self._last.chosen.last_compiled()
            if compiled is not None:
                return assembly(compiled, mode)
        text = self._definition.text.for_kernel(option("kernel", kernel))
        point = self._definition.configs(defines_of(defines), num_warps)[0]
        if mode == "c":
            return native_module(text, point, checked=False).text
        wanted = present_target() if target is None else parse_target(target)
        candidate = plan_of(text, [point], PlanSettings()).first
        specialization = common_specialization(candidate.translation.parameters)
        return assembly(candidate.compile_for(specialization, wanted), mode)

    @property
    def best_config(self) -> Config | None:
        """What the last sweep chose; the only config if there is no sweep; None before any call."""
        return self._last.best_config if self._last else None

    @property
    def timings(self) -> Mapping[Config, float | str]:
        """What the last sweep measured: milliseconds, or the reason why a config has none."""
        return self._last.timings if self._last else MappingProxyType({})

    @entry
    def set_constant(self, *given: Any) -> None:
        """``set_constant(name, array)`` or ``set_constant(device, name, array)``: fill a constant buffer.

        The array's bytes are copied to the start of the buffer, on every device unless one is named. Raises
        LaunchError for a name that the text does not declare, and for an array longer than the buffer.
        """
        device, name, value = constant_arguments(given)
        buffers: Counter[str] | None = None
        for plan in tuple(self._plans.values()):
            buffers = Counter(plan.first.translation.buffers) | (buffers or Counter())
        self._common.constants.set(name, value, device_of(device), buffers, self.name)

    def __copy__(self) -> Kernel:
        """Copies of a module that holds a kernel share it, as they would share a function."""
        return self

    def __deepcopy__(self, memo: object) -> Kernel:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle: what the constructor was given, and the constant buffers (``pickled.py``)."""
        return unpickled, (state_of(self._definition, self._common.constants),)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - {"checked", "token", "traced_plan"})

    def __repr__(self) -> str:
        """Name, parameters where they are known, and sweep: ``<pytriton.kernel add(float *z), TILE=[32, 64]>``."""
        own, plan = self._definition, self._last or self._default
        name, parameters = self.name, "..."
        if plan is not None:
            translation = plan.first.translation
            name, parameters = (
                translation.kernel,
                ", ".join(item.declaration for item in translation.parameters),
            )
        sweep = {**own.defines, "num_warps": own.num_warps, "num_stages": own.num_stages}
        sweep["autotune_configs"] = own.points or None
        shown = "".join(
            f", {option}={list(value) if isinstance(value, tuple) else value!r}"
            for option, value in sweep.items()
            if value is not None
        )
        return f"<pytriton.kernel {name}({parameters}){shown}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the text, what it becomes, and the times of the last sweep."""
        try:
            translated: str | CompileError = self.source()
        except CompileError as error:
            translated = error
        return page(self.name, self._definition.text.source.text, translated, self.best_config, self.timings)

    def plot(self, axes: Any = None) -> Any:
        """Draw the times of the last sweep on matplotlib ``axes`` (new ones if None), which are returned.

        Raises ImportError without matplotlib.
        """
        return chart(self.name, self.best_config, self.timings, axes)

    def with_heuristics(self, functions: Mapping[str, Heuristic]) -> Kernel:
        """The same kernel with functions that compute defines from the arguments of a call."""
        heuristics = Heuristics({**self._definition.heuristics.functions, **option("heuristics", functions)})
        return Kernel(replace(self._definition, heuristics=heuristics), self._common.constants)

    # Plans.

    def checked(self) -> Kernel:
        """Itself, translated with what the constructor was given, so that a syntax error is raised there.

        Names may come with a call's defines (2019), so a text that may only lack those is not blamed yet.
        """
        definition = self._definition
        computed = definition.heuristics.functions
        try:
            if computed:
                self._before_heuristics(definition.configs({})[0])
            else:
                self._default = self._plan((), None, None, None)
        except CompileError as error:
            if not may_lack_defines(error, definition.text.source, {*definition.defines, *computed}):
                raise
        return self

    def _plan(
        self, arguments: Sequence[Any], defines: Mapping[str, Any] | None, num_warps: Any, num_stages: Any
    ) -> Plan:
        """The plan of a call."""
        definition = self._definition
        if definition.heuristics.functions:
            configs = definition.configs(defines_of(defines, OPTIONS), num_warps, num_stages)
            binder = self._before_heuristics(configs[0])
            try:
                configs = tuple(
                    definition.heuristics.applied(config, binder.names, arguments) for config in configs
                )
            except KeyError:
                if len(arguments) != len(binder.names):
                    binder.refuse_count(len(arguments))
                raise
            return self._plan_of(configs, configs)
        key = key_of(defines, num_warps, num_stages)
        plan = self._plans.get(key) or self._plan_of(
            key, definition.configs(defines_of(defines, OPTIONS), num_warps, num_stages)
        )
        self._recent.put(plan, defines, num_warps, num_stages)
        return plan

    def traced_plan(self, configs: tuple[Config, ...]) -> Plan:
        """The plan under a tracer, where a new size alone calls for no new tuning."""
        if len(configs) == 1:
            return self._plan_of(configs, configs)
        return self._plan_of(("traced", configs), configs, only_named_key=True)

    def _plan_of(self, key: Any, configs: tuple[Config, ...], **changed: Any) -> Plan:
        """The plan for these configs, made once; ``changed`` are settings of it alone."""
        with self._lock:
            if key not in self._plans:
                text, settings = self._definition.text, replace(self._definition.settings, **changed)
                plan = Plan(text, configs, settings, self._common)
                translation = plan.first.translation
                if not self._plans:
                    self._common.constants.check(translation.buffers, translation.kernel)
                given, unused = (
                    configs[0].defines,
                    (translation.mentioned, text.source.text, self._common.tell),
                )
                judge_unused(self.name, given, *unused, OPTIONS, self._constructed)
                self._plans[key] = plan
            return self._plans[key]

    @property
    def _constructed(self) -> Collection[str]:
        """The names of defines that the constructor was given, or computes."""
        own, points = self._definition, self._definition.points
        return {
            *own.defines,
            *own.heuristics.functions,
            *(name for point in points for name in point.defines),
        }

    def _before_heuristics(self, config: Config) -> Binder:
        """The kernel's parameters, by whose names heuristics know the arguments."""
        config = self._definition.heuristics.placeholders(config)
        if config not in self._binders:
            translation = self._definition.text.translate(config)
            self._binders[config] = Binder(translation.kernel, translation.parameters).own
        return self._binders[config]

    def _bench(self, plan: Plan, arguments: Sequence[Any], grid: Any, count: int, within: bool) -> int | None:
        if count < 1:
            (plan.call_within if within else plan.call)(arguments, grid)
            return None
        time = plan.bench(arguments, grid, count, within)
        if time is not None:
            binder = plan.first.binder
            named = [binder.position(name) for name in self._definition.outputs]
            positions = [at for at in named if at is not None] or plan.first.written
            for tensor in [arguments[at] for at in positions[:1]]:
                if isinstance(tensor, torch.Tensor):
                    bench_registry[tensor] = time
        return time


@entry
@refusing_unknown
def kernel(
    src: KernelSource,
    *positional: Device | Defines | Warps | Iterable[Configured] | Names | None,
    device: Device | None = None,
    defines: Defines | None = None,
    num_warps: Warps | None = None,
    num_stages: Stages | None = None,
    autotune_configs: Iterable[Configured] | None = (),
    autotune_vals: Iterable[Configured] | None = (),
    autotune_key: Names | None = (),
    outputs: Names | None = None,
    name: str | None = None,
    kernel: str | None = None,
    include_dirs: Folders | None = (),
    strict_literals: Truth = False,
    heuristics: Mapping[str, Heuristic] | None = None,
    tune_budget: Real | None = None,
    tune: Tune | None = None,
    precision: Precisions | None = "ieee",
    fast_math: Truths | None = False,
    strict_promises: Truth = False,
    check: Check | None = None,
) -> Kernel:
    """Make a kernel from a Triton-C text, and check it as far as its defines are known.

    ``src`` is the text, its bytes, or a path (``os.PathLike``). After it, the positional arguments of the
    constructors of 2019 to 2021 are accepted. A list in ``defines``, ``num_warps``, ``num_stages``, ``precision``
    or ``fast_math`` is a sweep, and so are ``autotune_configs`` and ``autotune_vals``: the first call on a GPU
    measures the configs and keeps the fastest, again for new values of the parameters in ``autotune_key``, and for
    ``tune_budget`` seconds at most. The page docs/options.md has all options and their defaults.

    Raises CompileError if the text cannot be translated, LaunchError if an option is wrong.
    """
    given = by_era(
        positional,
        device=device,
        defines=defines,
        num_warps=num_warps,
        autotune_configs=option("autotune_configs", autotune_configs)
        + option("autotune_vals", autotune_vals),
        autotune_key=option("autotune_key", autotune_key) or (),
        outputs=option("outputs", outputs) or (),
    )
    chosen, folders = option("kernel", kernel), option("include_dirs", include_dirs)
    text = Settings(chosen, folders, option("strict_literals", strict_literals))
    arithmetic = {"precision": precision, "fast_math": fast_math}
    launches = {"tune_budget": tune_budget, "strict_promises": strict_promises, "check": check}
    settings = _settings(given, option("tune", tune), **arithmetic, **launches)
    definition = Definition(
        KernelText(read_source(src, option("name", name)), text),
        *(defines_of(given.defines), given.num_warps, num_stages),
        configs_of(option("autotune_configs", given.autotune_configs)),
        settings,
        given.outputs,
        Heuristics(option("heuristics", heuristics)),
    )
    return Kernel(definition).checked()


def plan_of(text: KernelText, configs: Sequence[Config], settings: PlanSettings) -> Plan:
    """A plan of no kernel object."""
    return Plan(text, configs, settings, Common(settings, composed))


_GIVE_A_GRID: Final = (
    "give grid=(n,), or a function of the options such as lambda opt: (pytriton.cdiv(n, opt.TILE),)"
)


OPTIONS: Final = options_of(kernel)


def _settings(given: Given, tune: str | None, **options: Any) -> PlanSettings:
    return PlanSettings(
        tune_key=option("autotune_key", given.autotune_key),
        device=option("device", given.device),
        tune_fully=tune == "full",
        legacy=from_legacy(),
        **{name: option(name, value) for name, value in options.items()},
    )


def unpickled(state: Mapping[str, Any]) -> Kernel:
    """The kernel that was pickled, checked now; raises LaunchError where another version did, unreadably."""
    return Kernel(*from_state(state)).checked()


def heuristics(functions: Mapping[str, Heuristic]) -> Callable[[Kernel], Kernel]:
    """A decorator of kernels: ``pytriton.heuristics({'EVEN_K': fn})(kernel)`` is a kernel with these."""
    return lambda kernel: kernel.with_heuristics(functions)
