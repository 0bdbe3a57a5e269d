"""``pytriton.gradient``: the derived backward of a kernel, and its launches.

The text is derived by ``pytriton/adjoint`` for the facts of a launch: which inputs are read once, so that their
gradient is stored and not added up. These facts are looked at in numbers at each launch, for every point of a sweep
(``adjoint/access.py``); a launch with other facts gets another text. What cannot be right is refused: an output
element that is stored twice, an input that shares memory with an output, a tensor that overlaps itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pytriton.adjoint.access import Accesses
from pytriton.adjoint.again import WAYS, Way
from pytriton.adjoint.command import derivable, usual_ways
from pytriton.adjoint.derive import Derived, derive
from pytriton.adjoint.refuse import refuse
from pytriton.errors import CompileError
from pytriton.lang.tree.types import ScalarType
from pytriton.runtime.errors import refusal
from pytriton.runtime.kernel import Kernel, kernel
from pytriton.runtime.launch.device import sizes_of
from pytriton.runtime.options.defines import Options, defines_of
from pytriton.runtime.trace.frames import INSIDE

__all__ = ["Gradient", "Scratch", "Step", "gradient", "overlaps_itself"]


Ways = frozenset[tuple[str, Way]]  # of each input


@dataclass(frozen=True)
class Step:
    """One launch of a backward: the kernel, the names of its parameters in order, and its grid."""

    kernel: Kernel
    parameters: tuple[str, ...]

    def grid(self, forward_grid: Any, arguments: Mapping[str, Any], options: Options) -> Any:
        """The programs of this step: those of the forward."""
        return forward_grid(options) if callable(forward_grid) else forward_grid


@dataclass(frozen=True)
class Scratch:
    """A buffer that a launch needs beside gradients; ``shape`` is a function of the arguments."""

    name: str
    dtype: torch.dtype
    shape: Callable[[Mapping[str, Any]], tuple[int, ...]]
    zeroed: bool


class Gradient:
    """The backward of a kernel. Made by ``pytriton.gradient``."""

    def __init__(
        self,
        of: Kernel,
        outputs: Collection[str] | None,
        inputs: Collection[str] | None,
        defines: Mapping[str, Any] | None,
    ) -> None:
        self._definition = definition = of._definition
        if definition.heuristics.functions:
            raise refusal(
                f"'{of.name}' has defines that are computed from the arguments of a call",
                "TC755",
                "derive a kernel without heuristics, with these defines given",
            )
        self._kernel = of
        self._constexpr = defines_of(defines)
        self.configs = definition.configs(self._constexpr)
        text = definition.text
        self._forwards = [
            derivable(text.source, config.defines, text.settings, inputs, outputs) for config in self.configs
        ]
        self._forward = self._forwards[0]
        self._made: dict[Ways, tuple[Derived, Kernel]] = {}
        self._facts: dict[Any, Ways] = {}
        self.scratch: tuple[Scratch, ...] = ()
        self.outputs = tuple(symbol.name for symbol in self._forward.outputs)
        self.inputs = tuple(symbol.name for symbol in self._forward.inputs)
        self.parameters = tuple(symbol.name for symbol in self._forward.kernel.parameters)
        self._typical = frozenset(usual_ways(self._forward).items())
        if any(other.refused.keys() != self._forward.refused.keys() for other in self._forwards):
            refuse(
                "TC709",
                "the points of the sweep have gradients of different inputs",
                self._forward.kernel.span,
            )
        self._derived(self._typical)  # so that what cannot be derived is said now

    @property
    def source(self) -> str:
        """The text of the backward, for launches that read what they can once."""
        return self._derived(self._typical)[0].text

    @property
    def steps(self) -> tuple[Step, ...]:
        """The launches of the backward in order."""
        derived, made = self._derived(self._typical)
        return (Step(made, derived.parameters),)

    @property
    def refused(self) -> Mapping[str, CompileError]:
        """Inputs that nobody asked for and that have no gradient, with the reason."""
        return self._forward.refused

    def __call__(
        self, /, *arguments: Any, grid: Any, d_outputs: Mapping[str, torch.Tensor] | None = None
    ) -> dict[str, torch.Tensor]:
        """The gradients of the inputs, by name. ``arguments`` are the forward's, the outputs as it left them.

        Raises LaunchError for launches that have no right answer (TC750 to TC754).
        """
        given = self._named(arguments)
        flowing = dict(d_outputs or {})
        for name in flowing.keys() - set(self.outputs):
            raise refusal(
                f"'{name}' is no output of '{self._kernel.name}'",
                "TC755",
                f"its outputs are {', '.join(self.outputs)}",
            )
        derived, made = self._derived(self._checked(given, grid))
        self._check_order(derived, given)
        frame, INSIDE.frame = INSIDE.frame, []
        try:
            with torch.no_grad():
                return self._launch(derived, made, given, grid, flowing)
        finally:
            INSIDE.frame = frame

    def _launch(
        self,
        derived: Derived,
        made: Kernel,
        given: Mapping[str, Any],
        grid: Any,
        flowing: Mapping[str, torch.Tensor],
    ) -> dict[str, torch.Tensor]:
        values: dict[str, Any] = dict(given)
        for name, parameter in derived.d_outputs.items():
            values[parameter] = _like(given[name], flowing.get(name), given[name].dtype)
        results: dict[str, torch.Tensor] = {}
        for name in self.inputs:
            dtype = torch.float32 if name in derived.floats else given[name].dtype
            results[name] = _like(given[name], None, dtype)
            if name in derived.d_inputs:
                values[derived.d_inputs[name]] = results[name]
        if derived.d_inputs and any(flowing.get(name) is not None for name in self.outputs):
            made(*(values[name] for name in derived.parameters), grid=grid)
        return {name: _own(result.to(given[name].dtype)) for name, result in results.items()}

    # ------------------------------------------------------------ the facts of a launch

    def _named(self, arguments: Sequence[Any]) -> dict[str, Any]:
        if len(arguments) != len(self.parameters):
            raise refusal(
                f"the backward of '{self._kernel.name}' takes the forward's {len(self.parameters)} arguments, "
                f"not {len(arguments)}",
                "TC755",
                f"they are {', '.join(self.parameters)}",
            )
        given = dict(zip(self.parameters, arguments, strict=True))
        for symbol in self._forward.kernel.parameters:
            value = given[symbol.name]
            scalar = isinstance(symbol.type, ScalarType)
            if scalar and isinstance(value, torch.Tensor):
                if value.requires_grad:
                    raise refusal(
                        f"'{symbol.name}' is a number, given as a tensor that requires a gradient",
                        "TC752",
                        "pass it by a pointer, or detach it",
                    )
                given[symbol.name] = value.item()
        for name in (*self.inputs, *self.outputs):
            if not isinstance(given[name], torch.Tensor):
                raise refusal(
                    f"'{name}' is {type(given[name]).__name__}: a gradient is that of a tensor",
                    "TC755",
                    "pass the tensor itself, or leave it out of inputs= and outputs=",
                )
        return given

    def _checked(self, given: Mapping[str, Any], grid: Any) -> Ways:
        """How gradients get to memory in this launch; raises LaunchError."""
        for name in (*self.inputs, *self.outputs):
            if overlaps_itself(given[name]):
                raise refusal(
                    f"elements of '{name}' share memory: their gradients cannot be told apart",
                    "TC753",
                    f"pass {name}.contiguous()",
                )
        self._check_apart(given)
        whole = {name: int(v) for name, v in given.items() if isinstance(v, int | bool)}
        grids = [sizes_of(grid, Options(config), self._kernel.name) for config in self.configs]
        key = (tuple(whole.items()), tuple(grids))
        if key not in self._facts:
            self._facts[key] = self._once(whole, grids)
        return self._facts[key]

    def _check_apart(self, given: Mapping[str, Any]) -> None:
        tensors = {name: value for name, value in given.items() if isinstance(value, torch.Tensor)}
        written = {s.name for f in self._forwards for s in f.flow.parameters_written()}
        for name in written & tensors.keys():
            for other in tensors.keys() - {name}:
                if torch._C._is_alias_of(tensors[name], tensors[other]) and tensors[name].numel():  # type: ignore[attr-defined]
                    raise refusal(
                        f"'{other}' shares memory with '{name}', which the kernel writes: the backward cannot know "
                        "what was there",
                        "TC751",
                        "let the kernel write to a new tensor",
                    )

    def _once(self, whole: Mapping[str, int], grids: Sequence[tuple[int, ...] | None]) -> Ways:
        worst: dict[str, Way] = dict.fromkeys(self.inputs, "store")
        for forward, grid in zip(self._forwards, grids, strict=True):
            if grid is None:
                continue
            accesses = Accesses(forward.items, whole, grid)
            for symbol in forward.outputs:
                for write, touched in accesses.writes.items():
                    if (
                        not write.atomic
                        and symbol in forward.flow.roots(write.pointer)
                        and not accesses.once(touched)
                    ):
                        raise refusal(
                            f"that '{symbol.name}' is stored at most once at each element cannot be shown for this "
                            f"launch (grid {grid})\n{write.statement.span.text.strip()}",
                            "TC750",
                            "check strides, sizes and masks, and the grid; outputs that are added to by atomic_add "
                            "need no proof",
                        )
            for name, way in forward.ways(accesses).items():
                worst[name] = max(worst[name], way, key=WAYS.index)
        return frozenset(worst.items())

    def _check_order(self, derived: Derived, given: Mapping[str, Any]) -> None:
        """Raise LaunchError where sums in any order are not wanted."""
        names = derived.atomic & derived.d_inputs.keys()
        if not names or not torch.are_deterministic_algorithms_enabled():
            return
        if all(given[name].device.type == "cpu" for name in names):
            return
        if not torch.is_deterministic_algorithms_warn_only_enabled():
            raise refusal(
                f"the gradient of {', '.join(sorted(names))} is added up by atomics, in no fixed order",
                "TC754",
                "torch.use_deterministic_algorithms(True) is in force; allow it, or read each element once",
            )

    def _derived(self, ways: Ways) -> tuple[Derived, Kernel]:
        if ways not in self._made:
            made = [derive(forward, dict(ways)) for forward in self._forwards]
            for config, other in zip(self.configs, made, strict=True):
                if other.text != made[0].text:
                    refuse(
                        "TC709",
                        f"the points of the sweep have different backwards, that of {config!r} among them",
                        self._forward.kernel.span,
                        help="derive them one by one: gradient(..., defines={...})",
                    )
            self._made[ways] = (made[0], self._kernel_of(made[0]))
        return self._made[ways]

    def _kernel_of(self, derived: Derived) -> Kernel:
        definition = self._definition
        settings = definition.text.settings
        single = len(self.configs) == 1
        config = self.configs[0]
        return kernel(
            derived.text,
            name=derived.kernel,
            defines=dict(config.defines) if single else {**definition.defines, **self._constexpr},
            num_warps=config.num_warps if single else definition.num_warps,
            num_stages=config.num_stages if single else definition.num_stages,
            autotune_configs=() if single else definition.points,
            autotune_key=definition.settings.tune_key if not single else (),
            strict_literals=settings.strict_literals,
            include_dirs=settings.include_dirs,
            precision=definition.settings.precision,  # type: ignore[arg-type]
            fast_math=definition.settings.fast_math,  # type: ignore[arg-type]
            check=definition.settings.check,
        )


def gradient(
    of: Kernel | str,
    outputs: Collection[str] | None = None,
    inputs: Collection[str] | None = None,
    defines: Mapping[str, Any] | None = None,
) -> Gradient:
    """The backward of a kernel, or of a source text: its text, its launches, and a call that makes them.

    ``outputs`` default to the floating pointers that the text writes, ``inputs`` to those that it reads and does
    not write. Raises CompileError (TC700 to TC709) for what has no derivative here.
    """
    return Gradient(of if isinstance(of, Kernel) else kernel(of, defines=defines), outputs, inputs, defines)


# ---------------------------------------------------------------- tensors


def _like(tensor: torch.Tensor, values: torch.Tensor | None, dtype: torch.dtype) -> torch.Tensor:
    """Memory addressed as the tensor's is: zeros, or these values. What lies around a view is there, too."""
    if values is not None and values.shape != tensor.shape:
        raise refusal(
            f"a gradient of shape {tuple(values.shape)} was given for a tensor of shape {tuple(tensor.shape)}",
            "TC755",
        )
    count = tensor.untyped_storage().nbytes() // tensor.element_size()
    if count == tensor.numel() and tensor.storage_offset() == 0:
        if values is None:
            made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=dtype, device=tensor.device)
            return made.zero_()
        if values.dtype == dtype and values.stride() == tensor.stride():
            return values.detach().resolve_neg()
        made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=dtype, device=tensor.device)
        return made.copy_(values)
    around = torch.zeros(count, dtype=dtype, device=tensor.device)
    view = around.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
    return view if values is None else view.copy_(values)


def _own(tensor: torch.Tensor) -> torch.Tensor:
    """Without the memory around a view."""
    whole = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
    return tensor if whole else tensor.clone()


def overlaps_itself(tensor: torch.Tensor) -> bool:
    """Whether two elements may be one; exact for strides that nest."""
    extent = 0
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size > 1:
            if stride <= extent:
                return True
            extent += stride * (size - 1)
    return False
