"""The judges of one program: the evaluator, the emitted module on Triton's interpreter, and that module with the
optimising passes switched off. They must leave the same memory: bit for bit, except for floats that the evaluator
says may stray, within the bound it gives.

The interpreter reads memory through raw addresses, so it is watched: every address that a load, a store or an
atomic touches must lie in a buffer of the launch. That finds reads whose value is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np
import torch

import pytriton
import pytriton.passes
from pytriton.errors import Report
from pytriton.lang.check.checker import check
from pytriton.lang.parse.parser import parse
from pytriton.lang.preprocess.directives import preprocess
from pytriton.lang.tree import typed
from pytriton.lang.tree.types import BFLOAT16, BOOL, DOUBLE, FLOAT, HALF, TYPE_WORDS, ScalarType, element_of
from pytriton.lang.tree.walk import bodies
from pytriton.pipeline import Translation
from pytriton.settings import Settings
from pytriton.source import Source
from tests.oracle.evaluator import Address, run
from tests.oracle.memory import Memory
from tests.oracle.threads import Threads
from tests.oracle.values import Array

__all__ = [
    "NEEDED",
    "OUTSIDE",
    "Buffer",
    "Case",
    "Difference",
    "checked",
    "compare",
    "emitted",
    "evaluated",
    "launch",
    "made",
    "misjudged",
    "show",
    "text_of",
    "translation_of",
    "without_passes",
]

# The passes without which there is no module; all others make it better, and the third judge does without them.
NEEDED = {
    "products": "Triton has no product of integers, of few elements, of batches",
    "pad": "Triton has no blocks but of powers of two",
    "jumps": "Triton has no break, continue, do, nor return in a loop",
    "temporaries": "what the emitter says twice would run twice",
}
GUARD = 8192  # bytes on either side of a buffer
OUTSIDE = "touches an address outside every buffer"


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """Memory of one element type before a launch; or of addresses, which are those of ``pointers``."""

    element: ScalarType
    bytes: Array  # uint8
    pointers: tuple[Address, ...] = ()

    def tensor(self, raw: torch.Tensor) -> torch.Tensor:
        return raw.view(getattr(torch, self.element.torch))


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A program and one launch of it. ``arguments``: a number, an ``Address`` or None per parameter.

    ``exact``: variables whose initialisers have exactly the declared type and shape, so no conversion is needed.
    ``strict``: unsuffixed floating literals are double. ``constants``: what constant buffers are set to.
    ``about``: the class of programs that it is of, for the count.
    """

    source: str
    buffers: tuple[Buffer, ...]
    arguments: tuple[Address | int | float | None, ...]
    grid: tuple[int, ...]
    defines: Mapping[str, object] = field(default_factory=dict)
    exact: frozenset[str] = frozenset()
    strict: bool = False
    constants: Mapping[str, Array] = field(default_factory=dict)
    about: str = ""


class Difference(AssertionError):
    """Two judges disagree."""


_ELEMENTS: Mapping[str, ScalarType] = {
    type_.torch: type_ for type_ in (BOOL, HALF, FLOAT, DOUBLE, *TYPE_WORDS.values()) if type_ != BFLOAT16
}


def launch(
    source: str,
    *arguments: Array | int | float | None,
    grid: tuple[int, ...] = (1,),
    defines: Mapping[str, object] | None = None,
) -> Case:
    """A case from NumPy arrays, which become buffers of their type, and numbers.

    A variable called ``exact`` is one of ``Case.exact``.
    """
    buffers: list[Buffer] = []
    passed: list[Address | int | float | None] = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            passed.append(Address(len(buffers)))
            buffers.append(Buffer(_ELEMENTS[str(argument.dtype)], argument.reshape(-1).view(np.uint8)))
        else:
            passed.append(argument)
    return Case(source, tuple(buffers), tuple(passed), grid, defines or {}, frozenset({"exact"}))


def checked(
    source: str, defines: Mapping[str, object] | None = None, strict: bool = False
) -> typed.KernelDef:
    """The typed tree of the first kernel, before any pass."""
    report = Report()
    tokens = preprocess(Source(source, "fuzz.c"), dict(defines or {}), report)
    report.check()
    settings = Settings(strict_literals=strict)
    return check(parse(tokens.tokens, report), report, settings, tokens.numbers)


def misjudged(tree: typed.KernelDef, exact: frozenset[str]) -> list[str]:
    """The variables of ``exact`` whose initialiser the checker converts: it gave the expression another type.

    (``m ? *p : 0.5`` may be one load, which is converted then. A choice of truth values is one to the checker and
    an int to C: every operator promotes it, so nothing can tell.)
    """
    found: list[str] = []
    pending = list(tree.body)
    while pending:
        statement = pending.pop()
        for inner in bodies(statement):
            pending += inner
        if isinstance(statement, typed.Declare) and statement.symbol.name in exact:
            value = statement.value
            folded = isinstance(value, typed.Cast) and (
                isinstance(value.operand, typed.Load)
                or (isinstance(value.operand, typed.Select) and element_of(value.operand.type) == BOOL)
            )
            if isinstance(value, typed.Cast | typed.Broadcast | typed.Reshape) and not folded:
                found.append(f"{statement.symbol.type} {statement.symbol.name} from {value.operand.type}")
    return found


def evaluated(case: Case, tree: typed.KernelDef | None = None, **options: object) -> Memory:
    """The memory after the launch, by the evaluator."""
    tree = tree or checked(case.source, case.defines, case.strict)
    contents = [buffer.bytes for buffer in case.buffers]
    arguments = list(case.arguments)
    for symbol in tree.parameters[
        len(arguments) :
    ]:  # constant buffers that are used, zero behind what they are set to
        arguments.append(Address(len(contents)))
        given = case.constants.get(symbol.name, np.zeros(0, np.uint8))
        contents.append(np.concatenate([given, np.zeros(symbol.buffer - given.size, np.uint8)]))
    places = Memory(contents, 1)
    for index, buffer in enumerate(case.buffers):
        if buffer.pointers:
            addresses = [places.address(pointer.buffer, pointer.offset) for pointer in buffer.pointers]
            contents[index] = np.array(addresses, np.int64).view(np.uint8)
    return run(tree, contents, arguments, case.grid, **options)  # type: ignore[arg-type]


def made(case: Case) -> pytriton.Kernel:
    """The kernel of a case, translated with the passes of the moment; raises CompileError."""
    kernel = pytriton.kernel(case.source, defines=dict(case.defines), strict_literals=case.strict)
    for name, given in case.constants.items():
        kernel.set_constant(name, given)
    return kernel


def text_of(kernel: pytriton.Kernel) -> str:
    """Its module: the one that it translated when it was made, if it did."""
    return kernel._default.first.translation.text if kernel._default else kernel.source()


def translation_of(kernel: pytriton.Kernel, case: Case) -> Translation:
    """What ``text_of`` is the text of."""
    if kernel._default:
        return kernel._default.first.translation
    return pytriton.translate(case.source, case.defines, strict_literals=case.strict)


def emitted(
    case: Case,
    kernel: pytriton.Kernel | None = None,
    *,
    watch: bool = True,
    barriers: bool = True,
    device: str = "cpu",
    run: Callable[..., None] | None = None,
) -> list[Array]:
    """The bytes of every buffer after the launch, by the emitted module on Triton's interpreter or a GPU.

    ``kernel``: ``made(case)``. ``watch``: raise where the interpreter touches memory outside the buffers, and with
    ``barriers`` where threads of one program meet without one. ``run`` is called instead of the kernel.
    """
    kernel = kernel or made(case)
    raws, tensors = [], []
    for buffer in case.buffers:
        raw = torch.full((buffer.bytes.size + 2 * GUARD,), 0x5A, dtype=torch.uint8)
        raw[GUARD : GUARD + buffer.bytes.size] = torch.from_numpy(buffer.bytes.copy())
        raws.append(raw := raw.to(device))
        tensors.append(raw[GUARD : GUARD + buffer.bytes.size])
    for tensor, buffer in zip(tensors, case.buffers, strict=True):
        addresses = [tensors[pointer.buffer].data_ptr() + pointer.offset for pointer in buffer.pointers]
        if addresses:
            tensor.copy_(torch.tensor(addresses).view(torch.uint8))
    passed = [_argument(case, argument, tensors) for argument in case.arguments]
    constants = [] if device != "cpu" else _constants(kernel)
    allowed = [(tensor.data_ptr(), tensor.data_ptr() + tensor.numel()) for tensor in (*tensors, *constants)]
    with (
        _watched(allowed, barriers) if watch and device == "cpu" else nullcontext(),
        np.errstate(all="ignore"),
    ):
        (run or kernel)(*passed, grid=case.grid)
    for raw, buffer in zip(raws, case.buffers, strict=True):
        end = GUARD + buffer.bytes.size
        if (raw[:GUARD] != 0x5A).any() or (raw[end:] != 0x5A).any():
            raise Difference("the emitted module wrote outside a buffer")
    return [tensor.cpu().numpy().copy() for tensor in tensors]


def _constants(kernel: pytriton.Kernel) -> list[torch.Tensor]:
    """The memory of the constant buffers of a kernel on the CPU."""
    buffers = kernel._default.first.translation.buffers if kernel._default else {}
    return [kernel._common.constants.on(-1, name, size) for name, size in buffers.items()]


def _argument(
    case: Case, argument: Address | int | float | None, tensors: Sequence[torch.Tensor]
) -> torch.Tensor | int | float | None:
    if not isinstance(argument, Address):
        return argument
    return case.buffers[argument.buffer].tensor(tensors[argument.buffer][argument.offset :])


@contextmanager
def without_passes() -> Iterator[None]:
    """Inside, translations have the passes that they need (``NEEDED``), and no others."""
    kept = pytriton.passes.PASSES
    pytriton.passes.PASSES = tuple(step for step in kept if step.name in NEEDED)
    try:
        yield
    finally:
        pytriton.passes.PASSES = kept


class _Watch:
    """Triton's interpreter functions, with a look at every address first."""

    def __init__(
        self, real: object, allowed: Sequence[tuple[int, int]], threads: Threads, grid: object
    ) -> None:
        self.real, self.allowed, self.threads, self.grid = real, allowed, threads, grid

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name)

    def _look(self, what: str, addresses: Array, mask: Array, width: int) -> None:
        active = np.asarray(addresses)[np.broadcast_to(mask.astype(bool), addresses.shape)].astype(np.int64)
        if not active.size:
            return
        fine = np.zeros(active.shape, bool)
        for start, stop in self.allowed:
            fine |= (active >= start) & (active + width <= stop)
        if not fine.all():
            raise Difference(f"the emitted module's {what} {OUTSIDE}")
        program = tuple(self.grid.grid_idx)  # type: ignore[attr-defined]
        self.threads.access(what, addresses, mask, width, program, write=what != "load")

    def load(self, pointers: Array, mask: Array, other: Array, dtype: np.dtype) -> Array:
        self._look("load", pointers, mask, np.dtype(dtype).itemsize)
        return self.real.load(pointers, mask, other, dtype)

    def store(self, pointers: Array, value: Array, mask: Array) -> object:
        self._look("store", pointers, mask, value.dtype.itemsize)
        return self.real.store(pointers, value, mask)

    def atomic_cas(self, pointers: Array, compare: Array, value: Array, *rest: object) -> Array:
        self._look("cas", pointers, np.ones(pointers.shape, bool), value.dtype.itemsize)
        return self.real.atomic_cas(pointers, compare, value, *rest)

    def atomic_rmw(
        self, operation: object, pointers: Array, value: Array, mask: Array, *rest: object
    ) -> Array:
        what = "xchg" if getattr(operation, "name", "") == "XCHG" else "atomic"
        self._look(what, pointers, mask, value.dtype.itemsize)
        return self.real.atomic_rmw(operation, pointers, value, mask, *rest)


@contextmanager
def _watched(allowed: Sequence[tuple[int, int]], barriers: bool) -> Iterator[None]:
    from triton.runtime import interpreter

    builder = interpreter.interpreter_builder
    threads = Threads(allowed if barriers else ())
    real, barrier = interpreter._interpreter, interpreter.InterpreterBuilder.create_barrier
    interpreter._interpreter = _Watch(real, allowed, threads, builder)
    interpreter.InterpreterBuilder.create_barrier = lambda _: threads.barrier()
    try:
        yield
    finally:
        interpreter._interpreter, interpreter.InterpreterBuilder.create_barrier = real, barrier


# ---------------------------------------------------------------- comparison


def compare(case: Case, expected: Memory, found: Sequence[Array], who: str = "emitted module") -> None:
    """Raise ``Difference`` at the first element that two judges do not agree on."""
    for index, (buffer, got) in enumerate(zip(case.buffers, found, strict=True)):
        want, error = expected.contents(index)
        if buffer.pointers:
            continue  # addresses here and there; no program writes them
        if not error.any() and (want == got).all():
            continue
        if buffer.element.is_float:
            _compare_floats(index, buffer.element, want, got, error, who)
        else:
            _report(index, _numbers(want, buffer.element), _numbers(got, buffer.element), who)


def _numbers(raw: Array, element: ScalarType) -> Array:
    if element == BFLOAT16:
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if element.is_float:
        return raw.view({16: np.float16, 32: np.float32, 64: np.float64}[element.bits])
    kind = "i" if element.signed else "u"
    return raw.view(f"{kind}{max(element.bits, 8) // 8}")


def _compare_floats(index: int, element: ScalarType, want: Array, got: Array, error: Array, who: str) -> None:
    wanted, found = _numbers(want, element), _numbers(got, element)
    bound = error.reshape(wanted.size, -1).max(axis=1)
    with np.errstate(all="ignore"):
        near = np.abs(found.astype(np.float64) - wanted.astype(np.float64)) <= bound
    same = (found == wanted) & ((np.signbit(found) == np.signbit(wanted)) | (bound > 0))
    fine = same | (np.isnan(found) & np.isnan(wanted)) | (near & (bound > 0))
    if not fine.all():
        _report(index, wanted, found, who, fine, bound)


def _report(
    index: int, want: Array, got: Array, who: str, fine: Array | None = None, bound: Array | None = None
) -> None:
    wrong = np.flatnonzero((want != got) if fine is None else ~fine)
    lines = [f"buffer {index}: {wrong.size} of {want.size} elements differ"]
    for place in map(int, wrong[:8]):
        near = f" (may stray by {bound[place]:.3g})" if bound is not None else ""
        lines.append(f"  [{place}] evaluator {want[place]!r}, {who} {got[place]!r}{near}")
    raise Difference("\n".join(lines))


def show(case: Case) -> str:
    """A case as a person reads it."""
    strict = ", strict_literals" if case.strict else ""
    lines = [case.source.rstrip(), f"grid {case.grid}, defines {dict(case.defines)}{strict}"]
    lines += [
        f"  {name} set to the bytes {given[:12].tolist()} ..." for name, given in case.constants.items()
    ]
    for argument in case.arguments:
        if isinstance(argument, Address):
            buffer = case.buffers[argument.buffer]
            if buffer.pointers:
                lines.append(f"  pointers to {buffer.pointers}")
                continue
            numbers = _numbers(buffer.bytes, buffer.element)
            lines.append(f"  {buffer.element}* of {numbers.size}: {numbers[:12].tolist()} ...")
        else:
            lines.append(f"  {argument!r}")
    return "\n".join(lines)
