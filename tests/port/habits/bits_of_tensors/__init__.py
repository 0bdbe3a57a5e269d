"""Tensors of another type than the pointers: torch had no uint32, and masks were uint8 before they were bool."""
import torch
import triton

src = """
__global__ void shift(unsigned *X, char *MASK, unsigned char *BYTES, float *SCALE, unsigned *Y, int n) {
  int i[TM] = get_program_id(0) * TM + 0 ... TM;
  bool in[TM] = i < n;
  unsigned x[TM] = in ? *(X + i) : 0;
#ifdef MASKED
  char m[TM] = in ? *(MASK + i) : 0;
  x = m < 1 ? x : x + m;
#endif
  unsigned char b[TM] = in ? *(BYTES + i) : 0;
  float s[TM] = in ? *(SCALE + i) : 1;
  *?(in) (Y + i) = (x >> 1) % 1000 + b / 2 + (unsigned)(s * 4);
}
"""


def shift(x, mask, data, scale):
    y = torch.empty_like(x)
    defines = {"TM": 32} if mask is None else {"TM": 32, "MASKED": True}
    kernel = triton.kernel(src, defines=defines)
    kernel(x.data_ptr(), x.data_ptr() if mask is None else mask.data_ptr(), data.data_ptr(), scale.data_ptr(),
           y.data_ptr(), x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TM)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randint(-2**31, 2**31 - 1, (n,), dtype=torch.int32)
    data = torch.randint(-128, 128, (n,), dtype=torch.int8)
    scale = torch.rand(n)
    masks = [None, data > 0, data.to(torch.uint8), data]
    return [shift(x, mask, data, scale) for mask in masks]
