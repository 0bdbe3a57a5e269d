# %%
# # Fused softmax
#
# Softmax of the rows of a matrix. Written with torch operations it reads and writes the matrix several times:
# once to find the largest element, once to subtract and exponentiate, once to add up, once to divide. A kernel
# that keeps a row in registers reads it once and writes it once.

import torch

import pytriton

softmax_kernel = pytriton.kernel(
    """
__global__ void softmax(TYPE* Y __noalias, TYPE* X, int n, int stride) {
  int row = get_program_id(0);
  int j[TN] = 0 ... TN;
  bool inside[TN] = j < n;
  // what is outside becomes exp(-infinity), which is 0
  float x[TN] = inside ? *(X + row * stride + j) : -INFINITY;
  float e[TN] = exp(x - x[max]);
  *?(inside)(Y + row * n + j) = e / e[+];
}
"""
)

# %%
# Three things are new.
#
# - `TYPE` is a define that names a type, so one source works for all types. The arithmetic is in `float`.
# - `inside ? *p : v` loads only where `inside` holds, and gives `v` elsewhere.
# - `x[max]` and `e[+]` reduce the only axis. The remaining scalar is broadcast to the block.
#
# One program takes one row, and its block must be as long as the row. The defines may come with the call:


def softmax(x: torch.Tensor) -> torch.Tensor:
    """The softmax of each row of a matrix whose rows are contiguous."""
    rows, n = x.shape
    y = torch.empty_like(x)
    defines = {"TYPE": x.dtype, "TN": pytriton.next_power_of_2(n)}
    softmax_kernel(y, x, n, x.stride(0), grid=(rows,), defines=defines)
    return y


device = "cuda" if torch.cuda.is_available() else "cpu"
for dtype in (torch.float32, torch.float16):
    x = torch.randn(16, 300, device=device, dtype=dtype)
    torch.testing.assert_close(softmax(x), x.softmax(dim=1))
    print(f"{dtype}: close to torch")

# %%
# The block need not be a power of two. With `TN` 300 the translation pads it to 512 and hides the padding, so
# the mask in the source could even be removed:

print(softmax_kernel.source({"TYPE": "float", "TN": 300}))

# %%
# ```{measured} softmax
# ```
#
# **Try it.** Write log-softmax: `x - x[max] - log(e[+])`. Then let each program take four rows: the blocks get
# a second axis, `x[:, max]` reduces along a row, and `x[:, max][:, newaxis]` brings it back.
