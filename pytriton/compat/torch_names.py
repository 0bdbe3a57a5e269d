"""Private names of torch, read in torch 2.8 to 2.13."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Final, NoReturn

import torch
from torch._library import utils as _library_utils
from torch._library.autograd import make_autograd_impl as make_autograd_impl
from torch._ops import OpOverload as OpOverload
from torch._subclasses.fake_tensor import FakeTensor as FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor as FunctionalTensor
from torch._subclasses.functional_tensor import FunctionalTensorMode as FunctionalTensorMode
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode as TorchDispatchMode
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves as tree_leaves
from torch.utils._pytree import tree_map_only as tree_map_only

_C: Final[Any] = torch._C  # parts of it have no stubs
_functorch: Final[Any] = _C._functorch

# Tensors.
version_of: Final[Callable[[Any], int]] = attrgetter("_version")  # raises RuntimeError in inference mode
base_of: Final[Callable[[Any], Any]] = attrgetter("_base")
increment_versions: Final[Callable[[Iterable[torch.Tensor]], None]] = _C._increment_version
shares_memory: Final[Callable[[Any, Any], bool]] = _C._is_alias_of
# Of arguments, keyword arguments and results: whether a result shares memory with another one or an argument.
result_shares_memory: Final[Callable[[Any, Any, Any], bool]] = _C._any_output_is_alias_to_input_or_output
any_requires_grad: Final[Callable[..., bool]] = _C._any_requires_grad
is_functorch_wrapped: Final[Callable[[Any], bool]] = _functorch.is_functorch_wrapped_tensor
unwrap_if_dead: Final[Callable[[Any], Any]] = (
    _functorch.unwrap_if_dead
)  # a wrapper that torch.func left behind
is_functional: Final[Callable[[Any], bool]] = torch._is_functional_tensor
from_functional: Final[Callable[[Any], Any]] = torch._from_functional_tensor

# Memory of the current CUDA device as an address, in order with the work of a stream. (torch.empty, which makes a
# tensor, takes twice as long.)
allocate: Final[Callable[[int, int], int]] = getattr(
    _C,
    "_cuda_cudaCachingAllocator_raw_alloc",
    lambda size, stream: torch.cuda.caching_allocator_alloc(size, None, stream),
)
release: Final[Callable[[int], None]] = getattr(
    _C, "_cuda_cudaCachingAllocator_raw_delete", torch.cuda.caching_allocator_delete
)

# Keeps the current stream busy for so many cycles.
wait_on_gpu: Final[Callable[[int], None]] = torch.cuda._sleep

# The dispatcher. Versions are counted at ADInplaceOrView; below it, as in a compiled graph, they are not.
DispatchKey: Final[Any] = _C.DispatchKey
DispatchKeySet: Final[Any] = _C.DispatchKeySet
is_key_excluded: Final[Callable[[Any], bool]] = _C._dispatch_tls_is_dispatch_key_excluded
exclude_key: Final[Callable[[Any, bool], Any]] = (
    _C._SetExcludeDispatchKeyGuard
)  # a context; False includes it
keys_of: Final[Callable[[Any], Any]] = _C._dispatch_keys
key_for_device: Final[Callable[[str], str]] = _C._dispatch_key_for_device
below_autograd: Final[Callable[[], Any]] = _C._AutoDispatchBelowAutograd  # a context
AFTER_AUTOGRAD: Final[Any] = _C._after_autograd_keyset
AFTER_VERSIONS: Final[Any] = _C._after_ADInplaceOrView_keyset
fill_defaults: Final[Any] = _library_utils.fill_defaults
is_tensorlist_like_type: Final[Any] = _library_utils.is_tensorlist_like_type
schema_of: Final[Callable[[Any], Any]] = attrgetter("_schema")  # of an overload
name_of: Final[Callable[[Any], str]] = attrgetter("_opname")  # of an overload

# Modes, tracers and transforms of this thread.
dispatch_modes: Final[Callable[[], int]] = _C._len_torch_dispatch_stack
function_modes: Final[Callable[[], int]] = _C._len_torch_function_stack
without_modes: Final[Callable[[], Any]] = _disable_current_modes
without_functions: Final[Callable[[], Any]] = _C.DisableTorchFunction  # a context without __torch_function__
is_jit_tracing: Final[Callable[[], bool]] = _C._is_tracing
is_profiled: Final[Callable[[], bool]] = _C._autograd._profiler_enabled
is_autocast: Final[Callable[[], bool]] = _C._is_any_autocast_enabled
innermost_transform: Final[Callable[[], Any]] = _functorch.peek_interpreter_stack
transforms_active: Final[Callable[[], bool]] = _C._are_functorch_transforms_active
single_level_allowed: Final[Callable[[], bool]] = _functorch.get_single_level_autograd_function_allowed
allow_single_level: Final[Callable[[bool], None]] = _functorch.set_single_level_autograd_function_allowed

# Which Triton kernels an operator holds, where AOTAutograd looks for them; absent before torch 2.8.
KERNELS_OF: Final[dict[str, list[Any]] | None] = getattr(torch._library.triton, "triton_ops_to_kernels", None)


def forward_mode_active() -> bool:
    """Whether a level of forward-mode derivatives is entered, and operators compute tangents."""
    return forward_ad._current_level >= 0 and _C._is_fwd_grad_enabled()


def used_before_fork() -> bool:
    """Whether this process was forked from one that had used CUDA."""
    return torch.cuda._is_in_bad_fork()


def device_getter() -> Callable[[], int]:
    """What gives the index of the current CUDA device."""
    getter: Callable[[], int] = getattr(_C, "_cuda_getDevice", torch.cuda.current_device)
    return getter


def default_store() -> Any:
    """The store of ``torch.distributed``, once that is initialised."""
    distributed: Any = torch.distributed
    return distributed.distributed_c10d._get_default_store()


def mark_constant(function: Any) -> None:
    """As ``torch.compiler.assume_constant_result``, which would import all of Dynamo."""
    function._dynamo_marked_constant = True


def storage_identity(tensor: torch.Tensor) -> int:
    """The address of the object that holds a tensor's memory, which its views share."""
    return int(tensor.untyped_storage()._cdata)


def destroy(library: Any) -> None:
    """Take back what a ``torch.library.Library`` has defined."""
    library._destroy()


def replace(overload: Any, function: Callable[..., Any]) -> None:
    """Let calls of an overload that was taken back call this."""
    overload._op = overload.redispatch = function


def exporting() -> bool:
    """Whether torch.export runs, which keeps operators whole."""
    asked = getattr(sys.modules.get("torch.export._trace"), "custom_triton_ops_decomposition_disabled", None)
    return asked is not None and bool(asked())


def bypass_autograd_cache(reason: str) -> NoReturn:
    """Raise what makes AOTAutograd leave a graph out of its cache on disk."""
    raise sys.modules["torch._functorch._aot_autograd.autograd_cache"].BypassAOTAutogradCache(reason)
