"""What tests share in a process and may not leave replaced: Triton's functions, and what variables say of kernels.

While the interpreter runs a kernel it replaces functions of ``triton.language``. If one stayed so, nothing could be
compiled in that process any more.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final

__all__ = ["VARIABLES", "note", "undone"]

# Modules, and classes in them. Only those that are loaded count: many tests need no Triton.
_OWNERS: Final = (
    "triton.language",
    "triton.language.math",
    "triton.language.standard",
    "triton.language.core",
    "triton.language.core:tensor",
    "triton.language.core:tensor_descriptor_base",
    "triton.language.core:dtype",
    "triton.language.core:condition",
    "triton.language.semantic:TritonSemantic",
    "triton.runtime.interpreter",
    "triton.runtime.interpreter:InterpreterBuilder",
    "triton.runtime.interpreter:ReduceOps",
    "triton.runtime.jit:JITFunction",
    "triton.compiler",
    "triton.compiler.compiler",
)
VARIABLES: Final = ("TRITON_INTERPRET", "PYTRITON_CC", "PYTRITON_THREADS")

_ABSENT: Final = object()
_names: dict[str, dict[str, Any]] = {}
_variables: dict[str, str | None] = {}


def note() -> None:
    """Keep how it is before a test, unless that is known."""
    for place in _OWNERS:
        if place not in _names and (owner := _loaded(place)) is not None:
            _names[place] = dict(vars(owner))
    if not _variables:
        _variables.update({name: os.environ.get(name) for name in VARIABLES})


def undone() -> list[str]:
    """What is not as it was, which is put back."""
    left = []
    for place, before in _names.items():
        owner = _loaded(place)
        for name, value in list(vars(owner).items()):
            original = before.get(name, _ABSENT)
            if value is original or (original is _ABSENT and _is_usual(owner, name, value)):
                continue
            left.append(f"{place.replace(':', '.')}.{name}")
            if original is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        for name in before.keys() - vars(owner).keys():
            left.append(f"{place.replace(':', '.')}.{name}")
            setattr(owner, name, before[name])
    for name, given in _variables.items():
        if os.environ.get(name) != given:
            left.append(f"${name}")
            os.environ.pop(name, None)
            os.environ.update({} if given is None else {name: given})
    return left


def _is_usual(owner: Any, name: str, value: Any) -> bool:
    """Of a new name: a module gets those of its parts as they are imported, a class its annotations when they are
    read and its ``__slotnames__`` when one of its instances is pickled, and an inherited method that is put back
    stands in the class itself."""
    kept = not isinstance(owner, type) or name.startswith(("__annot", "__slotnames"))
    return kept or value is getattr(super(owner, owner), name, _ABSENT)


def _loaded(place: str) -> Any:
    module, _, name = place.partition(":")
    loaded = sys.modules.get(module)
    return getattr(loaded, name, None) if name else loaded
