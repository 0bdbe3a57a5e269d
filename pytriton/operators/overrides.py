"""``pytriton.override``: an operator of PyTorch replaced by one of ours, for one device.

The replacement is registered at a dispatch key below autograd, so gradients, shapes and everything else that
PyTorch knows about its operator stay as they are, and no model needs a change. It runs the *body* of our
operator, never a kernel registered for a device: that might call the very operator that is replaced.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any, Final, Literal, get_args

import torch

from pytriton.boundary import entry
from pytriton.compat.torch_names import destroy, schema_of, tree_leaves, tree_map_only
from pytriton.operators.operator import Operator
from pytriton.runtime.errors import refusal

_Key = Literal["CPU", "CUDA"]

_lock: Final = threading.Lock()
_active: Final[dict[tuple[str, str], Override]] = {}


class Override:
    """One replacement; undone by ``undo()``, or at the end of a ``with`` block."""

    def __init__(self, name: str, operator: Operator[..., Any], dispatch_key: str) -> None:
        self.name = name
        self.operator = operator
        self.dispatch_key = dispatch_key
        self._running = threading.local()
        self._compared: set[tuple[torch.dtype, ...]] = set()
        space, _, short = name.partition("::")
        library: Any = torch.library.Library  # its methods have no types
        self._lib = library(space, "IMPL")
        with warnings.catch_warnings():
            # PyTorch warns that a kernel is replaced, which is what is wanted here.
            warnings.filterwarnings("ignore", category=UserWarning)
            self._lib.impl(short, self._run, dispatch_key)

    def undo(self) -> None:
        """Put PyTorch's own kernel back; a second time does nothing."""
        with _lock:
            if _active.get((self.name, self.dispatch_key)) is self:
                del _active[self.name, self.dispatch_key]
                destroy(self._lib)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        if getattr(self._running, "now", False):
            raise refusal(
                f"{self.operator.name}: its body calls {self.name}, which it replaces",
                "TC544",
                "compute it in the kernel",
            )
        self._running.now = True
        try:
            result = self.operator.body.launch(*args, **kwargs)
        finally:
            self._running.now = False
        kinds = tuple(leaf.dtype for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor))
        if kinds not in self._compared:
            self._compare(result, args, kwargs)
            self._compared.add(kinds)
        return result

    def _compare(self, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Refuse results of other shapes or dtypes than PyTorch's, once for each combination of dtypes."""
        meta = tree_map_only(
            torch.Tensor, lambda tensor: torch.empty_like(tensor, device="meta"), (args, kwargs)
        )
        wanted = tree_leaves(_native(self.name)(*meta[0], **meta[1]))
        for mine, theirs in zip(tree_leaves(result), wanted, strict=True):
            if (mine.shape, mine.dtype) != (theirs.shape, theirs.dtype):
                raise refusal(
                    f"{self.operator.name} gives {tuple(mine.shape)} of {mine.dtype}, but {self.name} "
                    f"gives {tuple(theirs.shape)} of {theirs.dtype}",
                    "TC544",
                    "let the operator convert its arguments as PyTorch does",
                )

    def __enter__(self) -> Override:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()

    def __repr__(self) -> str:
        return f"<pytriton.override {self.name} by {self.operator.name} on {self.dispatch_key}>"


@entry
def override(name: str, operator: Operator[..., Any], dispatch_key: _Key = "CUDA") -> Override:
    """Run ``operator`` wherever PyTorch would run its own ``name`` ("aten::sin") on a device.

    ``dispatch_key`` is "CUDA" or "CPU". It takes effect at once, until ``undo()`` or the end of a ``with``.
    ``torch.compile`` ignores it, as it has its own code for PyTorch's operators. Raises LaunchError (TC544) if the
    operator or key is unknown, its parameters differ, or it is overridden already.
    """
    if dispatch_key not in get_args(_Key):
        raise refusal(f"override: there is no dispatch key {dispatch_key!r}", "TC544", "'CPU' or 'CUDA'")
    if not isinstance(operator, Operator):
        raise refusal(f"override: {operator!r} is not an operator", "TC544", "make it one with pytriton.op")
    native = _native(name)
    mine, theirs = _shape(schema_of(operator.overload)), _shape(schema_of(native))
    if mine != theirs:
        raise refusal(
            f"override: {operator.name} takes {mine}, but {schema_of(native).name} takes {theirs}",
            "TC544",
            f"define it as in {schema_of(native)}",
        )
    key = (str(schema_of(native).name) + _suffix(native), dispatch_key)
    with _lock:
        former = _active.get(key)
        if former is not None:
            raise refusal(
                f"override: {key[0]} on {dispatch_key} is overridden by {former.operator.name} already",
                "TC544",
                "undo() that one first",
            )
        _active[key] = Override(key[0], operator, dispatch_key)
        return _active[key]


def _native(name: str) -> Any:
    """The overload that a name like ``aten::sin`` or ``aten::add.Tensor`` means."""
    space, _, short = name.partition("::")
    base, _, overload = short.partition(".")
    native = getattr(getattr(getattr(torch.ops, space, None), base, None), overload or "default", None)
    if native is None:
        raise refusal(
            f"override: PyTorch has no operator '{name}'", "TC544", "write 'aten::sin' or 'aten::add.Tensor'"
        )
    return native


def _suffix(overload: Any) -> str:
    name = schema_of(overload).overload_name
    return f".{name}" if name else ""


def _shape(schema: Any) -> str:
    """Types of arguments and results, and which are written."""
    written = (
        argument.alias_info is not None and argument.alias_info.is_write for argument in schema.arguments
    )
    taken = ", ".join(
        f"{argument.type}{'!' if write else ''}"
        for argument, write in zip(schema.arguments, written, strict=True)
    )
    return f"({taken}) -> ({', '.join(str(returned.type) for returned in schema.returns)})"
