# %%
# # An operator with gradients
#
# A kernel can be more than a function on tensors: an *operator*, which works with `torch.compile`,
# autograd and `torch.export`. This page makes one for the smooth activation `x * sigmoid(x)`, with its gradient.

import torch

import pytriton

swish_kernel = pytriton.kernel(
    """
#define S(x) (1 / (1 + exp(-(x))))

__global__ void forward(float* y, float* x, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  float v[TILE] = *?(i < n)(x + i);
  *?(i < n)(y + i) = v * S(v);
}
""",
    defines={"TILE": 512},
)
gradient_kernel = pytriton.kernel(
    """
#define S(x) (1 / (1 + exp(-(x))))

__global__ void backward(float* dx, float* dy, float* x, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  float v[TILE] = *?(i < n)(x + i);
  float s[TILE] = S(v);
  *?(i < n)(dx + i) = *?(i < n)(dy + i) * (s + v * s * (1 - s));
}
""",
    defines={"TILE": 512},
)

# %%
# `pytriton.op` registers a function with torch. It writes none of its arguments, so there is nothing to declare;
# each run is checked for that. The second function is an operator too: its launch is what autograd will call.


@pytriton.op("tutorial::swish")
def swish(x: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    y = torch.empty_like(x)
    swish_kernel(y, x, x.numel(), grid=(pytriton.cdiv(x.numel(), 512),))
    return y


@pytriton.op("tutorial::swish_gradient")
def swish_gradient(dy: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    dy, x = dy.contiguous(), x.contiguous()
    dx = torch.empty_like(x)
    gradient_kernel(dx, dy, x, x.numel(), grid=(pytriton.cdiv(x.numel(), 512),))
    return dx


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def backward(ctx, dy):
    (x,) = ctx.saved_tensors
    return swish_gradient(dy, x)


swish.register_autograd(backward, setup_context=setup_context)

print(swish.schema)

# %%
# Compare with torch, the value and the gradient:

x = torch.randn(1000, requires_grad=True)
again = x.detach().clone().requires_grad_()
swish(x).sum().backward()
torch.nn.functional.silu(again).sum().backward()
torch.testing.assert_close(x.grad, again.grad)
print("the gradient agrees with torch")

# %%
# torch has its own test for operators: the schema must be correct, shapes must be traceable, and the gradient
# must be registered correctly.

torch.library.opcheck(swish.overload, (torch.randn(8, requires_grad=True),))

# %%
# ## Let it be derived
#
# You need not write the backward by hand. `pytriton.gradient` derives it from the source, as Triton-C, with your
# names in it. Read it, keep it and edit it, or launch it as it is:

derived = pytriton.gradient(swish_kernel)
print(derived.source())

# %%
# It takes the arguments of the forward and the gradients of its outputs, and returns those of its inputs:

x = torch.randn(1000)
y = torch.empty_like(x)
swish_kernel(y, x, 1000, grid=(2,))
found = derived(y, x, 1000, grid=(2,), d_outputs={"y": torch.ones(1000)})
torch.testing.assert_close(found["x"], swish_gradient(torch.ones(1000), x))
print("the derived gradient agrees with the one written by hand")

# %%
# From here on it is an operator like any other: `torch.compile(fullgraph=True)` keeps it in the graph and fuses
# what is around it, and it may be part of an `nn.Module`. [Gradients](../gradients.md) lists what can be
# derived and what is refused. [PyTorch](../pytorch.md) has the table of what works
# where.
