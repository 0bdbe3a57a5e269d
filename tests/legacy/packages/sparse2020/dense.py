import importlib
import torch

triton = importlib.import_module('triton')

src = '''
__global__ void NAME(TYPE *X __readonly __noalias __aligned(16), TYPE *Y __noalias __aligned(16), int *LUT __readonly,
                     int stride_zx __multipleof(16), int stride_zy __multipleof(16),
                     int stride_hy __multipleof(16), int stride_my __multipleof(8)) {
  int pid = get_program_id(0);
  int batch = get_program_id(1);
  // where the block stands in the dense tensor
  int head = *(LUT + pid * 3);
  int row = *(LUT + pid * 3 + 1) * BLOCK;
  int column = *(LUT + pid * 3 + 2) * BLOCK;
  int ri[BLOCK] = 0 ... BLOCK;
  int rj[BLOCK] = 0 ... BLOCK;
  TYPE *px[BLOCK, BLOCK] = X + batch * stride_zx + pid * BLOCK * BLOCK + ri[:, newaxis] * BLOCK + rj[newaxis, :];
  TYPE *py[BLOCK, BLOCK] = Y + batch * stride_zy + head * stride_hy
                         + (row + ri)[:, newaxis] * stride_my + (column + rj)[newaxis, :];
  *py = *px;
}
'''

kernels = dict()


def to_dense(x, layout, block, out=None):
    """blocks [batch, number, block, block] at their places of a tensor [batch, heads, rows, columns]"""
    heads, rows, columns = layout.shape
    if out is None:
        out = torch.zeros(x.size(0), heads, rows * block, columns * block, dtype=x.dtype, device=x.device)
    lut = layout.nonzero().int().contiguous()
    key = (block, x.dtype)
    if key not in kernels:
        kernels[key] = triton.kernel(src, defines={'NAME': 'to_dense', 'TYPE': x.dtype, 'BLOCK': block},
                                     num_warps=[2, 4])
    kernels[key](x, out, lut, x.stride(0), out.stride(0), out.stride(1), out.stride(2),
                 grid=lambda opt: [lut.size(0), x.size(0)])
    return out
