# %%
# # Rotary embedding
#
# The first and the second half of each head are the coordinates of points, which are rotated by angles that
# depend on the position in the sequence.

import torch

import pytriton

SOURCE = """
// X [batch, length, heads, 2 * d]; COS and SIN [length, d]; a program has TH heads of one position
__global__ void rotary(TYPE *Y __noalias, TYPE *X __readonly, float *COS __readonly, float *SIN __readonly,
                       int length, int heads, int d) {
  int position = get_program_id(1);
  int rh[TH] = get_program_id(0) * TH + 0 ... TH;
  int rd[TD] = 0 ... TD;
  int side[2] = 0 ... 2;
  bool inside[TH, 2, TD] = (rh < heads)[:, newaxis, newaxis] && (rd < d)[newaxis, newaxis, :];
  long r[TH, 2, TD] = ((long)position * heads + rh)[:, newaxis, newaxis] * (2 * d)
                    + (side[:, newaxis] * d + rd[newaxis, :])[newaxis, :, :];
  float c[TD] = rd < d ? *(COS + position % length * d + rd) : 0;
  float s[TD] = rd < d ? *(SIN + position % length * d + rd) : 0;
  float x[TH, 2, TD] = inside ? *(X + r) : 0;
  bool first[TH, 2, TD] = (side == 0)[newaxis, :, newaxis];
  float a[TH, TD] = (first ? x : 0)[:, +, :];
  float b[TH, TD] = (first ? 0 : x)[:, +, :];
  float turned[TH, TD] = a * c[newaxis, :] - b * s[newaxis, :];
  float other[TH, TD] = b * c[newaxis, :] + a * s[newaxis, :];
  *?(inside) (Y + r) = first ? turned[:, newaxis, :] : other[:, newaxis, :];
}
"""

kernel = pytriton.kernel(SOURCE, defines={"TH": [2, 4, 8, 16]}, num_warps=[1, 2, 4])

# %%
# The heads of a position share one load of its angles. Both halves of a head are one block, with an axis of
# their own, on which a sum picks one of them. So `X` is loaded at one place and `Y` stored at one, and the
# derived backward is one kernel as well: the rotation by the opposite angle. With two loads it would be two
# kernels, the second of which adds to what the first has stored.


@pytriton.op("gallery::rotary", gradient=True)
def rotary(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """x [batch, length, heads, d], rotated by angles whose cosine and sine are [length, d / 2], in float."""
    x = x.contiguous()
    batch, length, heads, d = x.shape
    y = torch.empty_like(x)
    defines = {"TYPE": x.dtype, "TD": pytriton.next_power_of_2(d // 2)}
    kernel(
        y,
        x,
        cos.contiguous(),
        sin.contiguous(),
        length,
        heads,
        d // 2,
        grid=lambda opt: (pytriton.cdiv(heads, opt.TH), batch * length),
        defines=defines,
    )
    return y


# %%
# Against torch, as it is written in most models:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.randn(2, 9, 5, 12, device=device, requires_grad=True)
    angles = torch.outer(torch.arange(9.0, device=device), 1e4 ** -(torch.arange(6.0, device=device) / 6))
    cos, sin = angles.cos(), angles.sin()
    ours = rotary(x, cos, sin)
    a, b = x.chunk(2, dim=-1)
    theirs = (
        torch.cat([a, b], -1) * cos.repeat(1, 2)[:, None] + torch.cat([-b, a], -1) * sin.repeat(1, 2)[:, None]
    )
    torch.testing.assert_close(ours, theirs)
    flowing = torch.randn_like(ours)
    torch.testing.assert_close(*(torch.autograd.grad(y, x, flowing)[0] for y in (ours, theirs)))
    print("agrees with torch")
