"""Generated text -> functions that Triton can compile or interpret.

Triton wants to see a function's source lines, and torch.compile wants its module in ``sys.modules``, so each
text lies in a real file (``module_cache.py``) under a module of that name. The text that is executed is the one in
memory, after the gate (``gate.py``) has read it; ``linecache`` is given the same lines, so that what Triton
reads cannot differ from what runs. Texts that are equal share one module.
"""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from triton.runtime.jit import JITFunction

from pytriton.runtime.compile.module_cache import module_name, store
from pytriton.runtime.gate import check_module
from pytriton.runtime.locks import Lock

__all__ = ["LoadedModule", "load"]


@dataclass(frozen=True)
class LoadedModule:
    """A generated module and the one kernel in it."""

    module: ModuleType
    function: str
    path: Path

    @property
    def compiled(self) -> Any:
        """The kernel as Triton's compiler takes it, a ``JITFunction``."""
        kernel = getattr(self.module, self.function)
        # With TRITON_INTERPRET set, @triton.jit makes something that cannot be compiled.
        return kernel if isinstance(kernel, JITFunction) else JITFunction(kernel.fn)

    @property
    def python(self) -> Any:
        """The kernel as Python sees it, undecorated."""
        return getattr(self.module, self.function).fn


_lock: Final = Lock()
_loaded: Final[dict[tuple[str, str], LoadedModule]] = {}


def load(function: str, text: str) -> LoadedModule:
    """The module of a generated text; raises LaunchError for text that the gate refuses."""
    with _lock:
        module = _loaded.get((function, text))
        if module is None:
            module = _loaded[function, text] = _execute(function, text)
        return module


def _execute(function: str, text: str) -> LoadedModule:
    name = f"pytriton_{module_name(function, text)}"
    check_module(text, f"{name}.py")
    path = store(function, text)
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        exec(compile(text, str(path), "exec"), vars(module))
        return LoadedModule(module, function, path)
    except BaseException:
        del sys.modules[name]
        raise
