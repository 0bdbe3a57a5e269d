import importlib
import torch

triton = None

src = '''
__global__ void NAME(TYPE *Y __noalias __aligned(16), TYPE *X __readonly __noalias __aligned(16), int *LUT __readonly,
                     long stride_zy __multipleof(16), long stride_zx __multipleof(16),
                     long stride_hx __multipleof(16), int stride_mx __multipleof(8)) {
  int pid = get_program_id(0);
  int batch = get_program_id(1);
  int head = *(LUT + pid * 3);
  int row = *(LUT + pid * 3 + 1) * BLOCK;
  int column = *(LUT + pid * 3 + 2) * BLOCK;
  int ri[BLOCK] = 0 ... BLOCK;
  int rj[BLOCK] = 0 ... BLOCK;
  TYPE *px[BLOCK, BLOCK] = X + batch * stride_zx + head * stride_hx
                         + (row + ri)[:, newaxis] * stride_mx + (column + rj)[newaxis, :];
  TYPE *py[BLOCK, BLOCK] = Y + batch * stride_zy + pid * BLOCK * BLOCK + ri[:, newaxis] * BLOCK + rj[newaxis, :];
  *py = *px;
}
'''

kernels = dict()


def to_sparse(x, layout, block):
    """the blocks [batch, number, block, block] of a tensor [batch, heads, rows, columns]"""
    # triton needs a GPU, so it is imported when the first kernel is made
    global triton
    if triton is None:
        triton = importlib.import_module('triton')
    lut = layout.nonzero().int().contiguous()
    out = torch.empty(x.size(0), lut.size(0), block, block, dtype=x.dtype, device=x.device)
    key = (block, x.dtype, x.device)
    if key not in kernels:
        defines = {'NAME': 'to_sparse', 'TYPE': x.dtype, 'BLOCK': block}
        kernels[key] = triton.kernel(src, device=x.device, defines=defines, num_warps=4)
    kernels[key](out.data_ptr(), x.data_ptr(), lut.data_ptr(), out.stride(0), x.stride(0), x.stride(1), x.stride(2),
                 grid=lambda opt: [lut.size(0), x.size(0)])
    return out
