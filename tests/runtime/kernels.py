"""Kernels for the tests of the runtime: a real source, and translations written by hand."""

from __future__ import annotations

from collections.abc import Mapping

from pytriton.emit.python import KernelFunction
from pytriton.lang.tree.types import BOOL, TYPE_WORDS, PointerType, ScalarType
from pytriton.pipeline import Parameter, Translation
from pytriton.runtime.launch.arguments import Binder

ADD = """\
__global__ void add(float* z, float* x __readonly, float* y __readonly, int n) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool inside[TILE] = r < n;
  *?(inside)(z + r) = *?(inside)(x + r) + *?(inside)(y + r);
}
"""


def greedy(stored: str) -> str:
    """A kernel ``f(float* z, half* x)`` that stores what is said of ``a @ b``, as in ``= a @ b``.

    For T = 2048 the operands take 512 kB, more than the shared memory of any GPU; z has 64 * 64 elements.
    """
    return f"""\
__global__ void f(float* z, half* x) {{
  int r[64] = 0 ... 64;
  int k[T] = 0 ... T;
  half a[64, T] = *(x + r[:, newaxis] * T + k[newaxis, :]);
  half b[T, 64] = *(x + k[:, newaxis] * 64 + r[newaxis, :]);
  *(z + r[:, newaxis] * 64 + r[newaxis, :]) {stored};
}}
"""


def type_of(words: str) -> ScalarType | PointerType:
    """``half*`` -> the type."""
    if words.endswith("*"):
        return PointerType(type_of(words[:-1].strip()))
    return BOOL if words == "bool" else TYPE_WORDS[tuple(sorted(words.split()))]


def parameter(declared: str, *, multiple_of: int = 1, aligned: int = 1, retune: bool = False) -> Parameter:
    """``int n`` -> the parameter; promises stand in its declaration as in a source."""
    words, _, name = declared.rpartition(" ")
    promises = [f"__multipleof({multiple_of})"] * (multiple_of > 1)
    promises += [f"__aligned({aligned})"] * (aligned > 1) + ["__retune"] * retune
    return Parameter(
        name,
        name,
        type_of(words),
        " ".join([declared, *promises]),
        multiple_of,
        aligned,
        retune,
    )


def binder(*parameters: Parameter | str, kernel: str = "f") -> Binder:
    """A binder for parameters, given as such or by their declarations."""
    return Binder(kernel, [parameter(p) if isinstance(p, str) else p for p in parameters])


def handmade(
    text: str,
    *parameters: Parameter | str,
    constexprs: Mapping[str, int | float] | None = None,
    writes: tuple[str, ...] = (),
    mentioned: frozenset[str] = frozenset(),
    lines: Mapping[int, int] | None = None,
) -> Translation:
    """A translation around a module text whose kernel is called ``f``."""
    head = "import triton\nimport triton.language as tl\n\n\n"
    return Translation(
        text=text if text.startswith("import") else head + text,
        tree=KernelFunction("f", (), (), ()),
        kernel="f",
        function="f",
        kernels=("f",),
        parameters=tuple(parameter(p) if isinstance(p, str) else p for p in parameters),
        constexprs=constexprs or {},
        reads=(),
        writes=writes,
        mentioned=mentioned,
        lines=lines or {},
    )
