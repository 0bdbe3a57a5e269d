# %%
# # Vector add
#
# The smallest useful kernel: `z = x + y` for vectors of any length. It introduces programs, blocks and masks,
# and shows how a grid is chosen.
#
# The source is C with blocks. `float v[TILE]` is not an array in memory but a *value* with `TILE` elements, and
# everything happens to all of them at once.

import torch

import pytriton

add_kernel = pytriton.kernel(
    """
__global__ void add(float* z __noalias, float* x, float* y, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;   // my elements
  bool inside[TILE] = i < n;                             // those that exist
  float a[TILE] = *?(inside)(x + i);
  float b[TILE] = *?(inside)(y + i);
  *?(inside)(z + i) = a + b;
}
""",
    defines={"TILE": [256, 512, 1024]},
)

# %%
# `TILE` is a define with three possible values: a sweep. On a GPU the first call measures all three. Here is
# what the source becomes for the first of them:

print(add_kernel.source())

# %%
# A wrapper makes the kernel an ordinary function. It allocates the result and gives the number of programs to
# start. The grid is a function, because the number of programs depends on the tile, which is not known before
# tuning: `opt.TILE` is its value in the config being launched.


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x + y for contiguous float tensors of one shape."""
    z = torch.empty_like(x)
    n = z.numel()
    add_kernel(z, x, y, n, grid=lambda opt: (pytriton.cdiv(n, opt.TILE),))
    return z


# %%
# 1000 is not a multiple of 256. 24 elements of the last program are outside, and the mask skips them.

device = "cuda" if torch.cuda.is_available() else "cpu"
x, y = torch.rand(2, 1000, device=device)
torch.testing.assert_close(add(x, y), x + y, rtol=0, atol=0)
print("equal to torch, bit for bit")

# %%
# Which config was chosen? On a CPU the first, without measuring.

print(add_kernel.best_config)

# %%
# On a GPU such a kernel is limited by memory: it should move bytes as fast as torch does.
#
# ```{measured} vector_add
# ```
#
# **Try it.** Replace `a + b` by `a * b + 1`. Take the mask off the store and run it again on the CPU: the
# message names the program and the element that is out of bounds.
