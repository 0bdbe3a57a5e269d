# Ported from Triton-C by pytriton: add.c, line 1 [00b8cc9532c6]
import contextlib
import operator

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(
    x,  # half*, float*, bfloat16* or double*
    z,  # half*, float*, bfloat16* or double*
    n,
    TILE: tl.constexpr,
    STEP: tl.constexpr,
):
    # one block per program, the last one ragged
    off = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(z + off, tl.load(x + off, mask=off < n, other=0.0) + STEP, mask=off < n)


# Kernels with one config are launched with it
ADD_CONFIG = triton.Config({"TILE": 16, "STEP": 3}, num_warps=2)


# The kernel for each dtype of x and z
ADD_KERNELS = {
    (torch.float16,): ((add_kernel, ADD_CONFIG),),
    (torch.float32,): ((add_kernel, ADD_CONFIG),),
    (torch.bfloat16,): ((add_kernel, ADD_CONFIG),),
    (torch.float64,): ((add_kernel, ADD_CONFIG),),
}


def add(
    x,
    z,
    n,
    *,
    config=None,
):
    """Launch add, which was declared in Triton-C as

        void add(
            TYPE* x __readonly,
            TYPE* z __noalias,
            int n)

    Pointers take tensors (None: address 0), numbers are checked as C would hold them.
    config: one of the configs above, perhaps with another num_warps.
    """
    some = [one for one in (x, z) if one is not None]
    device = some[0].device
    dtype = next(one.dtype for one in (x, z) if one is not None)
    key = (dtype,)
    if key not in ADD_KERNELS:
        known = list(ADD_KERNELS)
        raise ValueError(f"no kernel was ported for {key}: {known}")
    kernels = ADD_KERNELS[key]
    x = _tensor("x", x, dtype, device)
    z = _tensor("z", z, dtype, device)
    n = _integer("n", n)

    def grid(meta):
        return (triton.cdiv(n, meta["TILE"]),)

    _launch(kernels, config, grid, device, (x, z, n), {})


def _launch(kernels, config, grid, device, arguments, numbers):
    """Launch the first kernel, or the one that has this config."""
    on = contextlib.nullcontext() if device.type == "cpu" else torch.cuda.device(device)
    for kernel, own in kernels:
        if config is None or config.kwargs == own.kwargs:
            with on:
                kernel[grid](*arguments, **numbers, **(config or own).all_kwargs())
            return
    raise ValueError(f"{config} is none of the configs above")


def _tensor(name, tensor, dtype, device, alignment=1):
    """The tensor for a pointer to dtype; for None, an empty one, whose address is 0."""
    if tensor is None:
        return torch.empty(0, dtype=dtype, device=device)
    if tensor.dtype != dtype:
        integers = not (tensor.dtype.is_floating_point or dtype.is_floating_point)
        if not integers or tensor.dtype.itemsize != dtype.itemsize:
            raise TypeError(f"{name} is a tensor of {tensor.dtype}, not of {dtype}")
        tensor = tensor.view(dtype)
    if tensor.data_ptr() % alignment:
        raise ValueError(f"{name} does not start at a multiple of {alignment} bytes")
    return tensor


def _integer(name, value, bits=32, multiple=1, signed=True):
    """An integer that a C type of so many bits holds."""
    value = operator.index(value)
    if not -(1 << bits - 1) <= value < 1 << bits - signed:
        raise ValueError(f"{name} is {value}, which {bits} bits do not hold")
    if value % multiple:
        raise ValueError(f"{name} is {value}, which is not a multiple of {multiple}")
    return value if signed or value >= 0 else value + (1 << bits)
