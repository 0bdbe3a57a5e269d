"""The tape of an operator's body: its launches, and the tensors that it allocates.

The body runs once without launching anything. Only listed operations of torch pass: allocations, views, copies
between floating types, and queries of shapes and types. Anything else is refused, because it has no adjoint here:

    _Functions   sees every call of torch by Python, so also those that read data (``tolist``, ``data_ptr``)
    _Watch       sees every operation that these calls end in, with composite ones decomposed

A launch that writes what an earlier one wrote or read is refused: the backward would read overwritten values.

A run is also described in text, by which a backward is compared with its forward, as a body may depend on random
numbers and globals. ``calls`` are kernels, defines and numbers of launches; ``places`` are memory, shapes and
grids, with the version of tensors that are not arguments. A tracer (``torch.compile``) knows only the calls, and
may have symbols in them: ``name=?`` equals anything.

A derived backward is such a body, too: that is how it is derived again. It also copies into tensors and adds to
them.
"""

from __future__ import annotations

import hashlib
import json
import linecache
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NoReturn
from weakref import WeakKeyDictionary

import torch
from torch.overrides import TorchFunctionMode

from pytriton.compat.torch_names import (
    OpOverload,
    TorchDispatchMode,
    schema_of,
    storage_identity,
    tree_leaves,
    version_of,
    without_functions,
)
from pytriton.errors import CompileError, LaunchError
from pytriton.gradient.derive.forward import forward_of
from pytriton.gradient.laid_out import flat, overlaps_itself, placed
from pytriton.lang.tree.types import PointerType
from pytriton.runtime.errors import caller, refusal
from pytriton.runtime.kernel import Kernel
from pytriton.runtime.launch.device import sizes_of
from pytriton.runtime.options.defines import defines_of, point_of
from pytriton.runtime.plan import Plan
from pytriton.runtime.trace.dynamo import is_traced
from pytriton.runtime.trace.frames import (
    INSIDE,
    Elsewhere,
    Frame,
    RequestedLaunch,
    Shapes,
    inside,
    recording_elsewhere,
)

# Names of torch's functions, methods and attributes, and of its operations below.
_MADE: Final = frozenset(
    "empty empty_like empty_strided empty_permuted new_empty new_empty_strided zeros zeros_like new_zeros "
    "ones ones_like new_ones full full_like new_full arange".split()
)
_VIEWS: Final = frozenset(
    "view _unsafe_view _reshape_alias as_strided expand permute transpose t slice select squeeze unsqueeze split "
    "split_with_sizes unbind diagonal unfold alias".split()
)
_COPIES: Final = frozenset(("clone", "_to_copy"))
# What Python calls, and what is known below as one of these.
_CALLED: Final = (
    _MADE
    | _VIEWS
    | frozenset(
        "clone contiguous reshape reshape_as ravel flatten unflatten to type type_as double float half bfloat16 "
        "int long short bool cpu cuda view_as expand_as broadcast_to narrow chunk movedim moveaxis swapaxes "
        "swapdims T mT __getitem__ shape dtype device ndim is_cuda is_cpu is_meta requires_grad layout nbytes "
        "itemsize is_leaf size stride dim ndimension numel nelement element_size storage_offset is_contiguous "
        "is_floating_point is_complex is_signed get_device __len__ promote_types result_type can_cast is_neg "
        "is_conj".split()
    )
)
_INTO: Final = frozenset(("copy_", "add_"))  # in a backward
_CURE: Final = (
    "a body with gradient=True allocates, views, copies (contiguous, reshape, clone, to) and launches, and nothing "
    "else: do this outside of it, or give the formula with register_autograd"
)
CURE: Final = "let the body depend on its arguments alone: pass what changes as an argument"
_SYMBOLS: Final = (torch.SymInt, torch.SymFloat, torch.SymBool, torch.Tensor)
_TORCH: Final = str(Path(torch.__file__).parent)


@dataclass(frozen=True, eq=False)
class RecordedLaunch:
    """``reads``, ``writes``: the tensors among the arguments, by name of the parameter."""

    kernel: Kernel
    call: RequestedLaunch
    reads: dict[str, torch.Tensor]
    writes: dict[str, torch.Tensor]


@dataclass(frozen=True, eq=False)
class Copy:
    """``adds``: instead of overwriting."""

    result: torch.Tensor
    source: torch.Tensor
    adds: bool = False

    @property
    def reads(self) -> dict[str, torch.Tensor]:
        return {"source": self.source}

    @property
    def writes(self) -> dict[str, torch.Tensor]:
        return {"result": self.result}


Entry = RecordedLaunch | Copy


class Tape(Shapes):
    """Of one run of a body. ``outside``: tensors that the body neither got nor made."""

    def __init__(self, name: str, args: Sequence[Any]) -> None:
        super().__init__()
        self.name = name
        self.entries: list[Entry] = []
        self.calls: list[str] = []
        self.places: list[str] = []
        self.outside: list[torch.Tensor] = []
        self.refused: LaunchError | None = None
        self._memory: dict[int, tuple[str, Any]] = {}  # its name, and where the first tensor in it begins
        self._kept: list[Any] = []  # so that no memory is taken for another that is gone
        self.own(args)

    def own(self, tensors: Any) -> None:
        """Know the memory of these tensors."""
        for tensor in tree_leaves(tensors):
            if isinstance(tensor, torch.Tensor):
                self._kept.append(tensor.untyped_storage())
                named = f"memory {len(self._memory)}", int(tensor.storage_offset())
                self._memory.setdefault(storage_identity(tensor), named)

    def place(self, tensor: torch.Tensor) -> str:
        """Where a tensor lies, from the first one in its memory on: a batch is sliced."""
        key = storage_identity(tensor)
        if key not in self._memory:
            if tensor.requires_grad or tensor.is_inference():
                self.refuse("uses a tensor from outside that requires a gradient or has no version", CURE)
            self.outside.append(tensor)
            self._memory[key] = f"outside {key} version {version_of(tensor)}", 0
        name, start = self._memory[key]
        at = tensor.storage_offset() - start
        return f"{name} at {at} {tuple(tensor.shape)} {tensor.stride()} {tensor.dtype}"

    def check_threads(self, elsewhere: Elsewhere) -> None:
        """Raise LaunchError (TC756) if another thread has written memory of the body by a launch."""
        tensors = [value for value in elsewhere.written if isinstance(value, torch.Tensor)]
        if any(storage_identity(tensor) in self._memory for tensor in tensors if not is_traced((tensor,))):
            raise in_thread(self.name)

    def refuse(self, what: str, cure: str = _CURE) -> NoReturn:
        """Raise TC756; again at the end, if the body catches it."""
        path, line = caller(_TORCH)
        message = f"{self.name}: its body {what}\n{path}:{line}: {linecache.getline(path, line).strip()}"
        self.refused = self.refused or refusal(message, "TC756", cure)
        raise self.refused

    def note(self, kernel: Any, plan: Any, call: RequestedLaunch) -> None:
        """Record a launch, with the tensors that it reads and writes."""
        translation = plan.first.translation
        tensors: dict[str, torch.Tensor] = {}
        with without_functions():
            if translation.buffers:
                self.refuse(f"launches '{kernel.name}', which reads constant buffers")
            for parameter, value in zip(translation.parameters, call.arguments, strict=False):
                pointer, tensor = isinstance(parameter.type, PointerType), isinstance(value, torch.Tensor)
                if (tensor and not pointer) or (pointer and not tensor and value is not None):
                    actual, wanted = (
                        ("a tensor", "a Python number") if tensor else ("an address", "the tensor")
                    )
                    self.refuse(f"passes {actual} for '{parameter.declaration}'", f"pass {wanted}")
                if tensor and value.dim() + value.numel() > 0:
                    tensors[parameter.name] = value
            call, sizes = _frozen(kernel, plan, call)
            self.places += [
                *(f"{name}: {self.place(value)}" for name, value in tensors.items()),
                f"grid {sizes}",
            ]
        self.calls += calls_of(kernel, plan, call)
        reads = {name: tensors[name] for name in translation.reads if name in tensors}
        writes = {name: tensors[name] for name in translation.writes if name in tensors}
        self.entries.append(RecordedLaunch(kernel, call, reads, writes))


def in_thread(name: str) -> LaunchError:
    """The refusal of a launch in a thread that a body has started."""
    cure = "launch in the thread that calls the operator"
    return refusal(f"{name}: its body launches a kernel in another thread", "TC756", cure)


def _frozen(kernel: Kernel, plan: Plan, call: RequestedLaunch) -> tuple[RequestedLaunch, Any]:
    """The call with the sizes that its grid has now, and these."""
    grid = call.grid
    if kernel._definition.heuristics.functions:
        return call, None  # refused when it is derived
    sizes = {point_of(options): sizes_of(grid, options, kernel.name) or (0,) for options in plan.options}
    frozen = (lambda options: sizes.get(point_of(options)) or grid(options)) if callable(grid) else grid
    return call._replace(grid=frozen), list(sizes.values())


def calls_of(kernel: Any, plan: Plan, call: RequestedLaunch) -> list[str]:
    """A launch without its tensors."""
    definition = kernel._definition
    values = {**definition.defines, **(call.defines or {}), "num_warps": call.num_warps}
    names = [parameter.name for parameter in plan.first.translation.parameters]
    values |= {"num_stages": call.num_stages, **dict(zip(names, call.arguments, strict=False))}
    if kernel not in _DIGESTS:
        _DIGESTS[kernel] = hashlib.sha256(repr(definition).encode()).hexdigest()
    return [
        f"kernel '{kernel.name}' {_DIGESTS[kernel]}",
        *(f"{name}={_shown(values[name])}" for name in sorted(values)),
    ]


_DIGESTS: Final[WeakKeyDictionary[Kernel, str]] = WeakKeyDictionary()  # of definitions


def _shown(value: Any) -> str:
    """A constant as text; ``?`` for other values."""
    if isinstance(value, tuple | list):
        parts = [_shown(item) for item in value]
        return "?" if "?" in parts else f"[{', '.join(parts)}]"
    return "?" if isinstance(value, _SYMBOLS) else repr(value)


class ChangedError(LaunchError):
    """A body does something different in the backward than in the forward."""


def difference(recorded: str, tape: Tape) -> str | None:
    """Where a run differs from a recorded one: calls, and places if these were known."""
    calls, places = json.loads(recorded)
    pairs = [*zip_longest(calls, tape.calls), *zip_longest(places or (), tape.places if places else ())]
    for old, new in pairs:
        if old != new and not str(old).endswith("=?"):
            return f"{new or 'nothing'}, was {old or 'nothing'}"
    return None


class _Functions(TorchFunctionMode):
    """Refuses calls of other functions than the listed ones."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", str(func))
        if name == "__get__":
            name = func.__self__.__name__
        if INSIDE.frame is self.tape and name.partition(".")[0] not in _CALLED:
            self.tape.refuse(f"calls torch.{name.partition('.')[0]}, which has no gradient here")
        return func(*args, **(kwargs or {}))


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes allocations and copies, lets views pass, refuses the rest."""

    def __init__(self, tape: Tape, backward: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.tape, self.backward = tape, backward

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tape, kwargs = self.tape, kwargs or {}
        if INSIDE.frame is not tape:  # an inner body, which has a tape of its own
            result = func(*args, **kwargs)
            tape.own(result)
            return result
        name = (schema_of(func).name if isinstance(func, OpOverload) else str(func)).removeprefix("aten::")
        if name in _MADE:
            result = func(*args, **kwargs)
            tape.own(result)
            numbers = [leaf for leaf in tree_leaves((args, kwargs)) if not isinstance(leaf, torch.Tensor)]
            tape.places.append(f"{name} {numbers} {tape.place(result)}")
            return result
        if name in _VIEWS or (self.backward and name == "detach"):
            tape.place(args[0])
            result = func(*args, **kwargs)
            if all(_is_view(leaf, args[0]) for leaf in tree_leaves(result)):
                return result
        elif name in _COPIES:
            place = tape.place(args[0])
            result = func(*args, **kwargs)
            tape.own(result)
            if _is_copy(result, args[0]):
                tape.entries.append(Copy(result, args[0]))
                tape.places.append(f"copy {place} {tape.place(result)}")
                return result
        elif self.backward and name in _INTO and args[0].shape == args[1].shape and len(args) == 2:
            tape.entries.append(Copy(args[0], args[1], name == "add_"))
            return args[0]
        elif self.backward and name == "zero_":
            return func(*args, **kwargs)
        elif isinstance(func, OpOverload):
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        tape.refuse(f"calls torch.{name}, which has no gradient here")


def _is_view(result: Any, tensor: torch.Tensor) -> bool:
    return storage_identity(result) == storage_identity(tensor) and result.dtype == tensor.dtype


def _is_copy(result: torch.Tensor, source: torch.Tensor) -> bool:
    """Whether the cotangent of the result is that of the source, or none has one."""
    floats = source.is_floating_point() and result.is_floating_point()
    whole = not source.is_floating_point() and not source.is_complex() and not result.is_complex()
    return (floats or whole) and result.device == source.device and result.layout == torch.strided


def taped(
    name: str, function: Callable[..., Any], args: Sequence[Any], backward: bool = False
) -> tuple[Any, Tape]:
    """The result of a body whose launches are skipped, and its tape; ``backward``: it is a derived one.
    Raises LaunchError (TC756, TC757).
    """
    tape = Tape(name, args)
    functions = nullcontext() if backward else _Functions(tape)
    with recording_elsewhere() as elsewhere, inside(tape), torch.no_grad(), _Watch(tape, backward), functions:
        result = function(*args)
    if tape.refused is not None:
        raise tape.refused
    results = result if isinstance(result, tuple | list) else (result,)
    tape.places += [tape.place(output) for output in results]
    tape.check_threads(elsewhere)
    _check_order(name, tape.entries)
    return result, tape


def _check_order(name: str, entries: Iterable[Entry]) -> None:
    changed: set[int] = set()
    read: set[int] = set()
    for entry in entries:
        writes = {storage_identity(tensor): parameter for parameter, tensor in entry.writes.items()}
        conflicting = any(
            key in read or (key in changed and not _only_adds(entry, parameter))
            for key, parameter in writes.items()
        )
        if conflicting or len(writes) < len(entry.writes):
            what = "a copy" if isinstance(entry, Copy) else f"kernel '{entry.kernel.name}'"
            raise refusal(
                f"{name}: {what} writes memory that was written or read before",
                "TC757",
                "let each launch write to tensors of its own",
            )
        changed.update(writes)
        read.update(map(storage_identity, entry.reads.values()))


def _only_adds(entry: Entry, parameter: str) -> bool:
    """Whether a launch changes a parameter by atomic additions only, or a copy adds."""
    if isinstance(entry, Copy):
        return entry.adds
    definition = entry.kernel._definition
    defines = definition.configs(defines_of(entry.call.defines))[0].defines
    try:
        forward = forward_of(definition.text.source, defines, definition.text.settings, None, [parameter])
    except CompileError:
        return False
    written = (
        write for write in forward.flow.writes() if set(forward.outputs) & forward.flow.roots(write.pointer)
    )
    return all(write.atomic for write in written)


def replayed(entries: Iterable[Entry], frame: Frame | None) -> None:
    """Run the launches and copies in order; ``frame`` records their writes."""
    with inside(frame), torch.no_grad():
        for entry in entries:
            if isinstance(entry, Copy):
                (entry.result.add_ if entry.adds else entry.result.copy_)(entry.source)
            else:
                call = entry.call
                options = {"num_warps": call.num_warps, "num_stages": call.num_stages}
                entry.kernel(*call.arguments, grid=call.grid, defines=call.defines, **options)


def without_sharing(arguments: Sequence[Any]) -> list[Any]:
    """The same arguments; no tensor shares memory with another one, or with itself."""
    seen: set[int] = set()
    result = []
    for value in arguments:
        if isinstance(value, torch.Tensor):
            value = value.detach()
            if overlaps_itself(value):
                value = value.contiguous().clone()
            elif storage_identity(value) in seen:
                value = placed(flat(value).clone(), value)
            seen.add(storage_identity(value))
        result.append(value)
    return result
