# %%
# # Dropout
#
# Each element of `x` becomes zero with probability `p`; the others are divided by `1 - p`.

import torch

import pytriton

SOURCE = """
// four numbers for each of TILE counters: Philox 4x32-10, of Salmon et al., 2011
__global__ void dropout(TYPE *Y __noalias, TYPE *X __readonly, float p, float scale, long seed, long n) {
  long counter[TILE] = (long)get_program_id(0) * TILE + 0 ... TILE;
  unsigned c0[TILE] = counter, c1[TILE] = counter >> 32, c2[TILE] = 0, c3[TILE] = 0;
  unsigned k0 = seed, k1 = seed >> 32;
  for (int round = 0; round < 10; round++) {
    unsigned long a[TILE] = (unsigned long[TILE])c0 * 0xD2511F53;
    unsigned long b[TILE] = (unsigned long[TILE])c2 * 0xCD9E8D57;
    c0 = (unsigned[TILE])(b >> 32) ^ c1 ^ k0;
    c1 = b;
    c2 = (unsigned[TILE])(a >> 32) ^ c3 ^ k1;
    c3 = a;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  int word[TILE, 4] = 0 ... 4;
  unsigned low[TILE, 4] = word == 0 ? c0[:, newaxis] : c1[:, newaxis];
  unsigned high[TILE, 4] = word == 2 ? c2[:, newaxis] : c3[:, newaxis];
  long r[TILE, 4] = counter[:, newaxis] * 4 + word;
  float x[TILE, 4] = r < n ? *(X + r) : 0;
  // numbers of 24 bits, which a float holds
  *?(r < n) (Y + r) = (float[TILE, 4])((word < 2 ? low : high) >> 8) >= p * 16777216 ? x * scale : 0;
}
"""

kernel = pytriton.kernel(SOURCE, defines={"TILE": [128, 256, 512, 1024]}, num_warps=[4, 8])

# %%
# The four numbers of a counter belong to four elements in a row, whatever `TILE` is: forward and backward may
# use different tiles, and a thread loads four elements at once. The derived backward draws the same numbers
# again: no mask is saved, and `x` is not read.


@pytriton.op("gallery::dropout", gradient=True)
def dropout(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """Dropout of x, which depends on the seed and on nothing else."""
    x = x.contiguous()
    y, n = torch.empty_like(x), x.numel()
    scale = 1 / (1 - p) if p < 1 else 0.0
    kernel(
        y, x, p, scale, seed, n, grid=lambda opt: (pytriton.cdiv(n, 4 * opt.TILE),), defines={"TYPE": x.dtype}
    )
    return y


# %%
# Of a million elements close to a quarter are zero, and the gradient is the same mask:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.ones(2**20, device=device, requires_grad=True)
    y = dropout(x, 0.25, 7)
    y.sum().backward()
    assert torch.equal(x.grad, y)
    print(f"zero: {(y == 0).float().mean():.3f}, mean: {y.mean():.3f}")
