"""The map: one call per stage, from a text to a module.

    text -> preprocess -> parse -> check -> passes -> emit -> Translation
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pytriton.errors import Diagnostic
from pytriton.lang.types import PointerType, ScalarType

__all__ = ["Parameter", "Translation"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel.

    ``name`` is the user's, ``identifier`` its name in the generated function (they differ where the user's is
    a Python keyword). ``declaration`` is its source text. A promise that was not made is 1 (``multiple_of``,
    the integer; ``aligned``, the address in bytes) or False.
    """

    name: str
    identifier: str
    type: ScalarType | PointerType
    declaration: str
    multiple_of: int = 1
    aligned: int = 1
    retune: bool = False


@dataclass(frozen=True, slots=True)
class Translation:
    """One kernel as modern Python.

    ``text`` is the module, whose function is called ``function`` and takes the ``parameters`` in order, then
    the ``constexprs`` by name (numbers). ``kernels`` are the names of all kernels in the source text.
    ``reads`` and ``writes`` name the pointer parameters through which memory is read and written (an
    atomic does both). ``mentioned``: the given defines that the text mentions at all.
    """

    text: str
    kernel: str
    function: str
    kernels: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    constexprs: Mapping[str, int | float]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    warnings: tuple[Diagnostic, ...] = ()
    mentioned: frozenset[str] = frozenset()
    lines: Mapping[int, int] = MappingProxyType({})  # line of the module -> line of the source
