"""``pytriton.gradient``: the derived backward of a kernel, and its launches.

The source is derived by ``gradient/derive`` for the facts of a launch: which inputs are read once, so that their
gradient is stored and not added up. They are computed from the numbers of each launch, for every config of a sweep
(``derive/access.py``); a launch with other facts gets other passes. These are refused: an output
element that is stored twice, an input that shares memory with an output, a tensor that overlaps itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final, SupportsIndex

import torch

from pytriton.boundary import entry
from pytriton.errors import CompileError
from pytriton.gradient.derive.access import Accesses
from pytriton.gradient.derive.assemble import Derived
from pytriton.gradient.derive.backward_passes import Point, Sizes
from pytriton.gradient.derive.derive import SUM_BLOCK, Backward, backward, derivable, usual
from pytriton.gradient.derive.graph import refuse
from pytriton.gradient.laid_out import is_whole, like, narrowed, overlaps_itself, own, share_memory, spread
from pytriton.gradient.launches import (
    DTYPES,
    BackwardStep,
    Facts,
    PassLaunch,
    Scratch,
    check_stores,
    dense_of,
    described,
    device_of,
    needs,
    quickest,
    reach_of,
    sharing,
)
from pytriton.lang.tree.types import ScalarType
from pytriton.runtime.errors import refusal
from pytriton.runtime.kernel import Kernel, kernel
from pytriton.runtime.launch.device import sizes_of
from pytriton.runtime.options.annotations import Defines, Grid, KernelSource, Names, Truth
from pytriton.runtime.options.defines import Config, Options, defines_of
from pytriton.runtime.options.table import option
from pytriton.runtime.trace.frames import inside, unseen
from pytriton.tuning.benchmark import may_measure

LEAST_SCRATCH: Final = 1 << 28


class SourceText(str):
    """A text that may be called as ``kernel.source()`` is; earlier programs use ``gradient.source`` itself."""

    __slots__ = ()

    def __call__(self) -> str:
        return str(self)


class Gradient:
    """The backward of a kernel. Made by ``pytriton.gradient``."""

    def __init__(
        self,
        of: Kernel,
        outputs: Collection[str] | None,
        inputs: Collection[str] | None,
        defines: Mapping[str, Any] | None,
        num_warps: Any = None,
        num_stages: Any = None,
        reads_outputs: bool = True,
        checkpoints: bool | None = None,
        scratch_bytes: int | None = None,
        configs: tuple[Config, ...] = (),
    ) -> None:
        self._how = reads_outputs, checkpoints, scratch_bytes
        self._scratch_bytes = scratch_bytes
        self._definition = definition = of._definition
        if definition.heuristics.functions:
            raise refusal(
                f"'{of.name}' has defines that are computed from the arguments of a call",
                "TC755",
                "derive a kernel without heuristics, with these defines given",
            )
        self._kernel = of
        self._chosen = inputs, outputs
        self._constexpr = defines_of(defines)
        self.configs = configs or definition.configs(self._constexpr, num_warps, num_stages)
        text = definition.text
        self._groups: dict[str, list[Config]] = {}
        for config in self.configs:
            self._groups.setdefault(_key_of(config), []).append(config)
        chosen = inputs, outputs, reads_outputs, bool(checkpoints), len(self._groups) == 1
        read = {
            key: derivable(text.source, group[0].defines, text.settings, *chosen)
            for key, group in self._groups.items()
        }
        self._forwards = {config: read[_key_of(config)] for config in self.configs}
        self._options = {config: Options(config) for config in self.configs}
        values: list[set[Any]] = [set(options.defines.items()) for options in self._options.values()]
        self._swept = sorted({name for name, _ in set.union(*values) - set.intersection(*values)})
        self._forward = self._forwards[self.configs[0]]
        self._kernels: dict[Any, Kernel] = {}
        self._facts: dict[Any, Facts | None] = {}
        self._chosen_blocks: dict[int, Gradient | None] = {}  # by the facts of a launch
        written = set[Any]().union(*(forward.flow.written() for forward in read.values()))
        self._written = {symbol.name for symbol in written if symbol is not None}
        self.outputs = tuple(symbol.name for symbol in self._forward.outputs)
        self.inputs = tuple(symbol.name for symbol in self._forward.inputs)
        self.parameters = tuple(symbol.name for symbol in self._forward.kernel.parameters)
        if any(other.refused.keys() != self._forward.refused.keys() for other in self._forwards.values()):
            refuse(
                "TC709",
                "the configs of the sweep have gradients of different inputs",
                self._forward.kernel.span,
            )
        self._usual = usual(self._forward)
        self._same([usual(forward) for forward in read.values()])

    @property
    def source(self) -> SourceText:
        """``source()`` is the source of the backward, for launches that read each input once if they can."""
        return SourceText(self._usual.text)

    @property
    def steps(self) -> tuple[BackwardStep, ...]:
        """The launches of the backward in order. The buffers ``d_<input>`` are zeroed before the first one."""
        steps = [
            BackwardStep(self._kernel_of(derived, None), derived.parameters, partial(self._programs, derived))
            for derived in self._usual.passes
        ]
        for name, (kernel_name, text) in self._usual.sums.items():
            (of,) = (derived for derived in self._usual.passes if name in derived.sizes)
            total = f"d_{name}"
            while total in self.parameters:
                total += "_"
            names = (of.d_inputs[name], total, f"count_{name}", of.sizes[name])
            steps.append(BackwardStep(self._sum_kernel(kernel_name, text), names, _grid_of_sum(name)))
        return tuple(steps)

    @property
    def scratch(self) -> tuple[Scratch, ...]:
        """The memory and the numbers that these launches need besides the forward's arguments and gradients."""
        types = {symbol.name: DTYPES[str(symbol.target)] for symbol in self._forward.inputs}
        return described(self._usual, types, self._point)

    @property
    def refused(self) -> Mapping[str, CompileError]:
        """Inputs that were not chosen and have no gradient, with the reason."""
        return self._forward.refused

    def _programs(
        self, derived: Derived, grid: Any, arguments: Mapping[str, Any], options: Options | None
    ) -> Any:
        point = self._point(arguments, grid, options)
        return (0,) if point is None else point.programs(derived.at, sharing(device_of(arguments)))

    def _point(self, arguments: Mapping[str, Any], grid: Any, options: Options | None) -> Point | None:
        """A launch of the forward; None for an empty grid."""
        config = self.configs[0] if options is None else self._config_of(options)
        if grid is None:
            grid = tuple(arguments[f"grid_{axis}"] for axis in range(3))
        sizes, forward = sizes_of(grid, self._options[config], self._kernel.name), self._forwards[config]
        return (
            None
            if sizes is None
            else Point(forward, Accesses(forward.items, _integers(arguments), sizes), sizes)
        )

    def _config_of(self, options: Options) -> Config:
        """The config of the sweep with these options; raises LaunchError."""
        given = getattr(options, "defines", options)
        defines = dict(given) if isinstance(given, Mapping) else given
        available = {config: dict(settings.defines) for config, settings in self._options.items()}
        for config, swept in available.items():
            if swept == defines:
                return config
        raise refusal(
            f"the backward of '{self._kernel.name}' has no config with defines {defines}",
            "TC755",
            f"its configs have {', '.join(map(str, available.values()))}",
        )

    @entry
    def __call__(
        self, /, *arguments: Any, grid: Grid, d_outputs: Mapping[str, torch.Tensor | None] | None = None
    ) -> dict[str, torch.Tensor]:
        """The gradients of the inputs, by name. ``arguments`` are the forward's, the outputs as it left them.

        Raises LaunchError for launches that have no right answer (TC750 to TC754).
        """
        cotangents = option("d_outputs", d_outputs)
        named = self._named(arguments)
        gradients = self.in_memory(dict(named), grid, cotangents, False)
        return {
            name: spread(own(result.to(named[name].dtype)), named[name]) for name, result in gradients.items()
        }

    def in_memory(
        self,
        arguments: Mapping[str, Any],
        grid: Any,
        cotangents: Mapping[str, torch.Tensor],
        around: bool = True,
    ) -> dict[str, torch.Tensor]:
        """The gradients where they were added up, which may be with the memory around a view, and in float; of an
        expanded tensor, for the elements that have memory of their own.

        ``around``: the cotangent of a view comes with the memory around it.
        """
        for name in cotangents.keys() - set(self.outputs):
            raise refusal(
                f"'{name}' is not an output of '{self._kernel.name}'",
                "TC755",
                f"its outputs are {', '.join(self.outputs)}",
            )
        memory = {name: narrowed(arguments[name]) for name in self.inputs}
        expanded = [name for name in self.inputs if memory[name].shape != arguments[name].shape]
        given, arguments = arguments, {**arguments, **memory}
        facts = self._checked(arguments, grid)
        if facts is not None and facts.backward.atomic:
            chosen = self._of_blocks(facts, given, grid, cotangents, around)
            if chosen is not None:
                return chosen.in_memory(given, grid, cotangents, around)
        if facts is not None:
            self._check_order(facts.backward, arguments)
            for name in expanded:
                self._check_inside(name, arguments[name], facts.reach.get(name))
        with inside(unseen()), torch.no_grad():
            return self._launch(facts, arguments, cotangents, around)

    @cached_property
    def _by_blocks(self) -> tuple[Gradient, ...]:
        """The backward for each set of defines; none where there is only one."""
        inputs, outputs = self._chosen
        return tuple(
            Gradient(self._kernel, outputs, inputs, self._constexpr, None, None, *self._how, tuple(group))
            for group in (self._groups.values() if len(self._groups) > 1 else ())
        )

    def _of_blocks(self, facts: Facts, arguments: Mapping[str, Any], grid: Any, *how: Any) -> Gradient | None:
        """The backward for the defines with which its kernels together are fastest in a launch: one whose kernels
        leave rows for each other has the same defines in all of them (walk/rows.py). None where there is none.
        """
        if id(facts) not in self._chosen_blocks:
            rivals = []
            for rival in self._by_blocks:
                of = rival._checked({**arguments, **{n: narrowed(arguments[n]) for n in self.inputs}}, grid)
                if of is not None and of.leaves_rows and not of.backward.atomic:
                    rivals.append(rival)
            on_gpu = device_of(arguments).type == "cuda"
            if on_gpu and not may_measure():
                return rivals[0] if rivals else None
            runs = {rival: partial(rival.in_memory, arguments, grid, *how) for rival in rivals}
            self._chosen_blocks[id(facts)] = quickest(runs) if on_gpu else next(iter(runs), None)
        return self._chosen_blocks[id(facts)]

    def _check_inside(self, name: str, memory: torch.Tensor, reach: int | None) -> None:
        """Raise LaunchError where a kernel may read an expanded tensor as if each element had memory of its own."""
        extent = sum((size - 1) * step for size, step in zip(memory.shape, memory.stride(), strict=True)) + 1
        if (reach is None or reach > extent) and not is_whole(memory):
            raise refusal(
                f"'{name}' is expanded, and the kernel is not proven to read only its own elements",
                "TC753",
                f"pass {name}.contiguous(), or its strides",
            )

    def _launch(
        self,
        facts: Facts | None,
        arguments: Mapping[str, Any],
        cotangents: Mapping[str, torch.Tensor],
        around: bool,
    ) -> dict[str, torch.Tensor]:
        if facts is None or all(cotangents.get(name) is None for name in self.outputs):
            return {name: torch.zeros_like(arguments[name]) for name in self.inputs}
        values: dict[str, Any] = dict(arguments)
        results: dict[str, torch.Tensor] = {}
        for name in self.inputs:
            dtype = torch.float32 if name in facts.backward.wide else arguments[name].dtype
            results[name] = like(arguments[name], None, dtype, facts.reach.get(name), facts.dense.get(name))
        d_outputs: dict[str, torch.Tensor] = {}
        for launch in facts.launches:
            for name, parameter in launch.of.d_outputs.items():
                if name not in d_outputs:
                    of = arguments[name]
                    d_outputs[name] = like(
                        of, cotangents.get(name), of.dtype, facts.reach.get(name), None, around
                    )
                values[parameter] = d_outputs[name]
            values |= {parameter: results[name] for name, parameter in launch.of.d_inputs.items()}
            self._launch_pass(launch, facts, arguments, values, results)
        return results

    def _launch_pass(
        self,
        launch: PassLaunch,
        facts: Facts,
        arguments: Mapping[str, Any],
        values: dict[str, Any],
        results: Mapping[str, torch.Tensor],
    ) -> None:
        values |= launch.numbers
        parts = {name: launch.of.d_inputs[name] for name in launch.of.sizes}
        device = device_of(arguments)
        for name, parameter in parts.items():
            exact = torch.promote_types(arguments[name].dtype, torch.float32)
            stored = launch.same_parts and facts.dense.get(name) == arguments[name].numel()
            allocate = torch.empty if stored else torch.zeros
            values[parameter] = allocate(launch.shapes[parameter], dtype=exact, device=device)
        for state in launch.of.states:
            if state.capacity is None and state.parameter in values:
                continue  # an earlier pass left it
            shape, dtype = launch.shapes[state.parameter], DTYPES[str(state.element)]
            values[state.parameter] = memory_of_states(shape, dtype, device)
        launch.kernel(*(values[name] for name in launch.names), grid=launch.grid)
        for name, parameter in parts.items():
            total = self._sum_kernel(*facts.backward.sums[name])
            total(values[parameter], results[name], *launch.shapes[parameter], grid=_blocks(results[name]))

    # ------------------------------------------------------------ the facts of a launch

    def _named(self, arguments: Sequence[Any]) -> dict[str, Any]:
        if len(arguments) != len(self.parameters):
            raise refusal(
                f"the backward of '{self._kernel.name}' takes the forward's {len(self.parameters)} arguments, "
                f"not {len(arguments)}",
                "TC755",
                f"they are {', '.join(self.parameters)}",
            )
        named = dict(zip(self.parameters, arguments, strict=True))
        for symbol in self._forward.kernel.parameters:
            value = named[symbol.name]
            scalar = isinstance(symbol.type, ScalarType)
            if scalar and isinstance(value, torch.Tensor):
                if value.requires_grad:
                    raise refusal(
                        f"'{symbol.name}' is a number, given as a tensor that requires a gradient",
                        "TC752",
                        "pass it by a pointer, or detach it",
                    )
                named[symbol.name] = value.item()
            if not scalar and isinstance(value, int) and value:
                raise refusal(
                    f"'{symbol.name}' is an address: the backward cannot know what shares its memory",
                    "TC755",
                    "pass the tensor itself",
                )
        for symbol in (*self._forward.inputs, *self._forward.outputs):
            name, value = symbol.name, named[symbol.name]
            if not isinstance(value, torch.Tensor):
                raise refusal(
                    f"'{name}' is {type(value).__name__}: only tensors have gradients",
                    "TC755",
                    "pass the tensor itself, or leave it out of inputs= and outputs=",
                )
            wanted = DTYPES[str(symbol.target)]
            if value.dtype != wanted:
                raise refusal(
                    f"'{name}' has dtype {value.dtype}, but its gradient is that of '{symbol.declaration.strip()}'",
                    "TC755",
                    f"pass a tensor of {wanted}",
                )
        return named

    def _checked(self, arguments: Mapping[str, Any], grid: Any) -> Facts | None:
        """The facts of this launch; None for an empty grid; raises LaunchError."""
        for name in (*self.inputs, *self.outputs):
            if overlaps_itself(arguments[name]):
                raise refusal(
                    f"elements of '{name}' share memory: their gradients cannot be separated",
                    "TC753",
                    f"pass {name}.contiguous()",
                )
        whole = _integers(arguments)
        sizes = {
            name: arguments[name].numel() if arguments[name].is_contiguous() else -1 for name in self.inputs
        }
        grids = tuple(sizes_of(grid, options, self._kernel.name) for options in self._options.values())
        if (allowed := self._scratch_bytes) is None:
            allowed = max(
                LEAST_SCRATCH, sum(arguments[name].nbytes for name in (*self.inputs, *self.outputs))
            )
        key = (tuple(whole.items()), grids, tuple(sizes.values()), device_of(arguments), allowed)
        if key not in self._facts:
            self._facts[key] = self._new_facts(whole, grids, sizes, device_of(arguments), allowed)
        facts = self._facts[key]
        self._check_disjoint(arguments, {} if facts is None else facts.reach)
        return facts

    def _check_disjoint(self, arguments: Mapping[str, Any], reach: Mapping[str, int]) -> None:
        tensors = {name: value for name, value in arguments.items() if isinstance(value, torch.Tensor)}
        for name in self._written & tensors.keys():
            for other in tensors.keys() - {name}:
                if share_memory(tensors[name], reach.get(name), tensors[other], reach.get(other)):
                    raise refusal(
                        f"'{other}' shares memory with '{name}', which the kernel writes: the backward cannot know "
                        "the overwritten values",
                        "TC751",
                        "let the kernel write to a new tensor",
                    )

    def _new_facts(
        self,
        whole: Mapping[str, int],
        grids: Sequence[Sizes | None],
        sizes: Mapping[str, int],
        device: torch.device,
        allowed: int,
    ) -> Facts | None:
        points: dict[Config, Point] = {}
        for (config, forward), grid in zip(self._forwards.items(), grids, strict=True):
            if grid is not None:
                points[config] = Point(forward, Accesses(forward.items, whole, grid), grid)
                check_stores(points[config], whole, device)
        if not points:
            return None
        if len(points) < len(grids):
            raise refusal(f"some configs of the sweep of '{self._kernel.name}' launch nothing", "TC755")
        facts = self._facts_of(points, sizes, device)
        if facts.scratch > allowed:
            others = {config: point.kept_otherwise() for config, point in points.items()}
            facts = min(facts, self._facts_of(others, sizes, device), key=lambda facts: facts.scratch)
        if facts.scratch > allowed:
            raise refusal(
                f"what the loops of '{self._forward.kernel.name}' carry takes {facts.scratch} bytes, even if not "
                f"all iterations are saved, and {allowed} are allowed",
                "TC708",
                f"allow them by scratch_bytes={facts.scratch}, launch fewer programs at a time, or let the loop "
                "only add to what it carries",
            )
        return facts

    def _facts_of(
        self, points: Mapping[Config, Point], sizes: Mapping[str, int], device: torch.device
    ) -> Facts:
        every = list(points.values())
        reach = reach_of(every)
        inside = {name for name, size in sizes.items() if reach.get(name, size + 1) <= size}
        backwards = backward([every], inside)
        self._same(backwards)
        launches = tuple(
            self._planned([derived.passes[at] for derived in backwards], points, sizes, sharing(device))
            for at in range(len(backwards[0].passes))
        )
        return Facts(backwards[0], launches, dense_of(backwards[0].passes, every), reach)

    def _planned(
        self,
        kernels: Sequence[Derived],
        points: Mapping[Config, Point],
        sizes: Mapping[str, int],
        sharing: int,
    ) -> PassLaunch:
        first = kernels[0]
        axis = first.at.axis
        grids = {
            self._varied(self._options[config]): point.programs(first.at, sharing)
            for config, point in points.items()
        }
        counts = [0 if axis is None else point.grid[axis] for point in points.values()]
        swept = None if len(set(counts)) == 1 or first.count is None else counts
        names = tuple(name for name in first.parameters if swept is None or name != first.count)
        return PassLaunch(
            *(first, self._kernel_of(first, swept), names, lambda opt: grids[self._varied(opt)]),
            *needs(list(points.values()), kernels, sizes, sharing),
            len({point.parts(first.at, sharing) for point in points.values()} if first.sizes else ()) < 2,
        )

    def _varied(self, options: Options) -> tuple[Any, ...]:
        """The values of the defines that differ between configs."""
        return tuple(options.defines.get(name) for name in self._swept)

    def _same(self, backwards: Sequence[Backward]) -> None:
        if len({derived.text for derived in backwards}) > 1:
            refuse(
                "TC709",
                "the configs of the sweep have different backwards",
                self._forward.kernel.span,
                help="derive them one by one: gradient(..., defines={...})",
            )

    def _check_order(self, derived: Backward, arguments: Mapping[str, Any]) -> None:
        """Raise LaunchError for atomics where deterministic algorithms are required."""
        names = derived.atomic
        if not names or not torch.are_deterministic_algorithms_enabled():
            return
        if all(arguments[name].device.type == "cpu" for name in names):
            return
        if not torch.is_deterministic_algorithms_warn_only_enabled():
            raise refusal(
                f"the gradient of {', '.join(sorted(names))} is accumulated by atomics, in no fixed order",
                "TC754",
                "torch.use_deterministic_algorithms(True) is in force; allow it, or read each element once",
            )

    def _kernel_of(self, derived: Derived, counts: list[int] | None) -> Kernel:
        """The kernel of a pass; ``counts``: by config, how many programs are looped over, where these differ."""
        key = (derived.text, None if counts is None else tuple(counts))
        if key not in self._kernels:
            self._kernels[key] = self._compiled(derived, counts)
        return self._kernels[key]

    def _compiled(self, derived: Derived, counts: list[int] | None) -> Kernel:
        definition = self._definition
        settings = definition.text.settings
        counted = [{}] * len(self.configs) if counts is None else [{str(derived.count): n} for n in counts]
        points = [
            Config({**config.defines, **count}, config.num_warps, config.num_stages)
            for config, count in zip(self.configs, counted, strict=True)
        ]
        compiled = kernel(
            derived.text if counts is None else derived.text_of_count,
            name=derived.kernel,
            autotune_configs=tuple(dict.fromkeys(points)),
            autotune_key=definition.settings.tune_key,
            strict_literals=settings.strict_literals,
            include_dirs=settings.include_dirs,
            precision=definition.settings.precision,  # type: ignore[arg-type]
            fast_math=definition.settings.fast_math,  # type: ignore[arg-type]
            check=definition.settings.check,
        )
        compiled._common.checks.outputs = False  # gradients are zeroed, states have unused slots
        parts = (derived.d_inputs[name] for name in derived.sizes)
        compiled._definition.settings.scratch.update(parts, (state.parameter for state in derived.states))
        return compiled

    def _sum_kernel(self, name: str, text: str) -> Kernel:
        if text not in self._kernels:
            self._kernels[text] = kernel(text, name=name, defines=dict(self.configs[0].defines))
        return self._kernels[text]


@entry
def gradient(
    of: Kernel | KernelSource,
    outputs: Names | None = None,
    inputs: Names | None = None,
    defines: Defines | None = None,
    checkpoints: Truth | None = None,
    scratch_bytes: SupportsIndex | None = None,
) -> Gradient:
    """The backward of a kernel, or of a source text: its source, its launches, and a call that makes them.

    ``outputs`` default to the floating pointers that the kernel writes, ``inputs`` to those that it reads and does
    not write. Carried values other than sums are saved for each iteration; with ``checkpoints``, and in
    launches where that would be more than ``scratch_bytes``, for each segment of iterations. These default to
    256 MiB, or the bytes of inputs and outputs where that is more.
    Raises CompileError (TC700 to TC709) for kernels without a derivative here.
    """
    chosen = option("outputs", outputs), option("inputs", inputs), option("defines", defines)
    kept = {
        "checkpoints": option("checkpoints", checkpoints),
        "scratch_bytes": option("scratch_bytes", scratch_bytes),
    }
    return Gradient(of if isinstance(of, Kernel) else kernel(of, defines=defines), *chosen, **kept)


def _grid_of_sum(name: str) -> Callable[[Any, Mapping[str, Any], Options | None], Any]:
    return lambda grid, arguments, options: _blocks(arguments[name])


def _key_of(config: Config) -> str:
    """The same for configs with the same defines."""
    return repr(sorted(config.defines.items()))


def _integers(arguments: Mapping[str, Any]) -> dict[str, int]:
    return {name: int(value) for name, value in arguments.items() if isinstance(value, int | bool)}


def memory_of_states(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Scratch for the states of a loop.

    Each program stores a state in its rerun of the forward before its backward loop, of as many iterations, loads
    it. That is tested, not proven: of what was not stored, the gradient is NaN. Integers may be in addresses: 0.
    """
    return torch.full(shape, math.nan if dtype.is_floating_point else 0, dtype=dtype, device=device)


def _blocks(tensor: torch.Tensor) -> tuple[int]:
    """The programs that add up parts of a gradient."""
    return (-(-tensor.numel() // SUM_BLOCK),)
