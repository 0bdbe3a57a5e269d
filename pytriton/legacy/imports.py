"""``legacy_imports``: inside chosen packages ``import triton`` gives pytriton, and nowhere else.

Python looks ``__import__`` up in the ``__builtins__`` of the module whose code imports. So a finder ahead of
all others lets the usual ones find the modules of a legacy package, and has each of them executed with
``__builtins__`` whose ``__import__`` knows what ``triton`` means there.

``importlib.import_module("triton")`` is a call, and a function does not know who calls it. But the caller got it
from somewhere: in a legacy module ``import importlib`` and ``from importlib import import_module as load`` go
through that ``__import__`` too, which hands out importlib with an ``import_module`` of this module's own. Whatever
name it is kept under, in a ``partial`` or in another module, it means what it means where it was imported; no
frame is looked at.

``sys.modules`` and importlib itself are never touched: torch and everybody else get the real triton, in every
thread, before, meanwhile and after. A module that was loaded in this way stays so: what its functions import
later, its submodules, and its reloads, also after the context has ended.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType
from typing import Any, Final

# triton.ops and triton.nn were ready-made kernels, not the language. An import of one is refused with the cure.


PACKAGES: Final = ("ops", "nn")

# The replacement of today, by the last word of the name.
_TODAY: Final = {
    "matmul": "torch.matmul",
    "dot": "torch.matmul",
    "einsum": "torch.einsum",
    "bmm": "torch.bmm",
    "conv": "torch.nn.functional.conv2d",
    "conv2d": "torch.nn.functional.conv2d",
    "Conv2d": "torch.nn.Conv2d",
    "Linear": "torch.nn.Linear",
    "softmax": "torch.softmax",
    "cross_entropy": "torch.nn.functional.cross_entropy",
    "batchnorm": "torch.nn.functional.batch_norm",
    "batch_norm": "torch.nn.functional.batch_norm",
    "blocksparse": "torch.nn.attention.flex_attention",
    "attention": "torch.nn.functional.scaled_dot_product_attention",
}


def explain(name: str) -> str:
    """Why there is no ``triton.ops.matmul`` (or the like) here, and what to do."""
    last = name.rpartition(".")[2]
    today = f"use {_TODAY[last]}, or " if last in _TODAY else ""
    return (
        f"{name} was a ready-made operator of old Triton, not part of the language; pytriton does not provide it: "
        f"{today}copy the operator's Python and Triton-C files from that release into your package, "
        "where pytriton.kernel runs them"
    )


_MARK: Final = "__pytriton_legacy__"  # a name in the __builtins__ of legacy modules
_REFUSED: Final = frozenset({"triton", "pytriton", "torch"})


class legacy_imports:
    """Make ``import triton`` mean pytriton inside these packages.

    Call it before the first import of a package; as a context manager it ends with the block. A dotted name is a
    part of a package. Raises ImportError if a package is already imported, ValueError if there are no names or a
    name cannot be that of a package.
    """

    def __init__(self, *packages: str) -> None:
        if not packages:
            raise ValueError("legacy_imports takes the names of packages, got none")
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
    for loaded, module in list(sys.modules.items()):
        if _is_within(loaded, name) and not _is_legacy(module):
            raise ImportError(
                f"'{loaded}' is imported already, with the real triton: "
                f"call pytriton.legacy_imports('{name}') before the first import of '{name}'",
                name=loaded,
            )


_lock: Final = threading.Lock()
_active: Final[list[str]] = []  # each name once per call


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
        module: ModuleType | None = None if create is None else create(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = legacy_builtins(module.__name__)
        self._loader.exec_module(module)

    def __getattr__(self, name: str) -> Any:
        if name == "_loader":
            raise AttributeError(name)
        return getattr(self._loader, name)


_finder: Final = _Finder()


def _is_wanted(name: str) -> bool:
    """Whether a module is legacy: its package was named, or was loaded as legacy before."""
    parts = name.split(".")
    above = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(ancestor in _active or _is_legacy(sys.modules.get(ancestor)) for ancestor in above)


def _is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _is_legacy(module: object) -> bool:
    if not isinstance(module, ModuleType):
        return False
    # Past the module's own __getattribute__, which would load a lazy one.
    builtins_ = object.__getattribute__(module, "__dict__").get("__builtins__")
    return isinstance(builtins_, dict) and _MARK in builtins_


def legacy_builtins(module: str) -> dict[str, Any]:
    """``__builtins__`` for a module of this name, in which triton means pytriton, however it is imported."""

    def legacy_import(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if level == 0 and _is_within(name, "triton"):
            return _pytriton_as(name, tuple(fromlist or ()), module)
        return seen(builtins.__import__(name, globals, locals, fromlist, level))

    def import_module(name: str, package: str | None = None) -> Any:
        full = _absolute(name, package)
        if _is_within(full, "triton"):
            return _pytriton_as(full, ("*",), module)
        return seen(importlib.import_module(name, package))

    def find_spec(name: str, package: str | None = None) -> ModuleSpec | None:
        full = _absolute(name, package)
        if not _is_within(full, "triton"):
            return importlib.util.find_spec(name, package)
        try:
            return _pytriton_as(full, ("*",), module).__spec__
        except ImportError:
            return None

    util = _View(importlib.util, find_spec=find_spec)
    views = (
        util,
        _View(importlib, import_module=import_module, __import__=legacy_import, util=util),
        _View(builtins, __import__=legacy_import),
    )

    def seen(imported: Any) -> Any:
        return next((view for view in views if view._module is imported), imported)

    return {**vars(builtins), "__import__": legacy_import, _MARK: True}


class _View(ModuleType):
    """A module that imports for its users, as a legacy module gets it: itself, but for the functions given."""

    _module: ModuleType

    def __init__(self, module: ModuleType, **own: Callable[..., Any] | ModuleType) -> None:
        vars(self).update(own, _module=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._module, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._module, name)

    def __dir__(self) -> list[str]:
        return dir(self._module)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return importlib.import_module, (self._module.__name__,)


def _absolute(name: str, package: str | None) -> str:
    return importlib.util.resolve_name(name, package) if package and name.startswith(".") else name


def _pytriton_as(name: str, wanted: tuple[str, ...], module: str) -> ModuleType:
    """What ``import triton``, ``import triton.testing`` or ``from triton.testing import x`` evaluates to.

    Raises ImportError for a module that was ready-made kernels, and for one that never was.
    """
    package = importlib.import_module("pytriton")
    for full in [f"{name}.{word}" for word in wanted if word != "*"] or [name]:
        if full.split(".")[1:2] and full.split(".")[1] in PACKAGES:
            raise ImportError(explain(full), name=name)
    inner: Any = package
    for word in name.split(".")[1:]:
        inner = getattr(inner, word, None)
        if not isinstance(inner, ModuleType):
            raise ModuleNotFoundError(
                f"there is no '{name}': inside '{module}', triton means pytriton (legacy_imports)", name=name
            )
    return inner if wanted else package
