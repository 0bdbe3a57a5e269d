"""``legacy_imports``: inside chosen packages ``import triton`` gives pytriton, and nowhere else.

Python looks ``__import__`` up in the ``__builtins__`` of the module whose code imports. So a finder ahead of
all others lets the usual ones find the modules of a legacy package, and has each of them executed with
``__builtins__`` whose ``__import__`` knows what ``triton`` means there. ``sys.modules`` is never touched: torch
and everybody else get the real triton, in every thread, before, meanwhile and after. A module that was loaded
in this way stays so: what its functions import later, its submodules, and its reloads, also after the context
has ended.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType
from typing import Any, Final

from pytriton.legacy.ready_made import PACKAGES, explain

__all__ = ["legacy_builtins", "legacy_imports"]

_MARK: Final = "__pytriton_legacy__"  # a name in the __builtins__ of legacy modules
_REFUSED: Final = frozenset({"triton", "pytriton", "torch"})


class legacy_imports:
    """``import triton`` inside these packages means pytriton.

    A call is enough (``pytriton.legacy_imports("torch_blocksparse")`` before the package's first import); as a
    context it ends with the block, for packages that were not imported by then. A dotted name is a part of a
    package. Raises ImportError for a package that is imported already, ValueError for what is no name of one,
    and for no names.
    ``importlib.import_module("triton")`` is no import statement, and gives the real triton.
    """

    def __init__(self, *packages: str) -> None:
        if not packages:
            raise ValueError("legacy_imports takes the names of packages, and got none")
        for name in packages:
            _check_name(name)
        self._packages = packages
        with _lock:
            _active.extend(packages)
            if _finder in sys.meta_path:
                sys.meta_path.remove(_finder)
            sys.meta_path.insert(0, _finder)

    def __enter__(self) -> legacy_imports:
        return self

    def __exit__(self, *_: object) -> None:
        with _lock:
            for name in self._packages:
                if name in _active:
                    _active.remove(name)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(f"legacy_imports takes names of packages, such as 'torch_blocksparse', not {name!r}")
    if name.split(".")[0] in _REFUSED:
        raise ValueError(f"'{name}' needs the real triton: name the package that was written for the old one")
    for known, module in list(sys.modules.items()):
        if _is_within(known, name) and not _is_legacy(module):
            raise ImportError(
                f"'{known}' is imported already, with the real triton: "
                f"call pytriton.legacy_imports('{name}') before the first import of '{name}'",
                name=known,
            )


_lock: Final = threading.Lock()
_active: Final[list[str]] = []  # a name stands here once for each call that named it


class _Finder:
    """Ahead of all finders: finds modules of legacy packages as they do, and changes how they are executed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _is_wanted(name):
            return None
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module") and not isinstance(spec.loader, ExtensionFileLoader):
                    spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """Another loader, but that modules get legacy ``__builtins__`` before their code runs."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        create = getattr(self._loader, "create_module", None)
        made: ModuleType | None = None if create is None else create(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = legacy_builtins(module.__name__)
        self._loader.exec_module(module)

    def __getattr__(self, name: str) -> Any:
        if name == "_loader":
            raise AttributeError(name)
        return getattr(self._loader, name)


_finder: Final = _Finder()


def _is_wanted(name: str) -> bool:
    """Whether a module is to be legacy: its package was named, or was loaded as legacy before."""
    parts = name.split(".")
    above = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(known in _active or _is_legacy(sys.modules.get(known)) for known in above)


def _is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _is_legacy(module: object) -> bool:
    if not isinstance(module, ModuleType):
        return False
    # Past the module's own __getattribute__, which would load a lazy one.
    found = object.__getattribute__(module, "__dict__").get("__builtins__")
    return isinstance(found, dict) and _MARK in found


def legacy_builtins(module: str) -> dict[str, Any]:
    """``__builtins__`` for a module of this name, whose ``import triton`` gives pytriton."""

    def legacy_import(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if level == 0 and _is_within(name, "triton"):
            return _pytriton_as(name, tuple(fromlist or ()), module)
        return builtins.__import__(name, globals, locals, fromlist, level)

    return {**vars(builtins), "__import__": legacy_import, _MARK: True}


def _pytriton_as(name: str, wanted: tuple[str, ...], module: str) -> ModuleType:
    """What ``import triton``, ``import triton.testing`` or ``from triton.testing import x`` evaluates to.

    Raises ImportError for a module that was ready-made kernels, and for one that never was.
    """
    package = import_module("pytriton")
    for full in [f"{name}.{word}" for word in wanted if word != "*"] or [name]:
        if full.split(".")[1:2] and full.split(".")[1] in PACKAGES:
            raise ImportError(explain(full), name=name)
    found: Any = package
    for word in name.split(".")[1:]:
        found = getattr(found, word, None)
        if not isinstance(found, ModuleType):
            raise ModuleNotFoundError(
                f"there is no '{name}': inside '{module}', triton means pytriton (legacy_imports)", name=name
            )
    return found if wanted else package
