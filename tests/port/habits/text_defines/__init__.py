"""Defines are texts: subscripts, strides that are names or 1, expressions."""
import torch
import triton

src = """
__global__ void spread(float *Y, float *X, int M, int N, int ldm, int ldn) {
    int m[TM] = get_program_id(0) * TM + 0 ... TM;
    int n[TN] = get_program_id(1) * TN + 0 ... TN;
    bool inside[TM, TN] = (m < M)[:, newaxis] && (n < N)[newaxis, :];
    float x[TT] = WHICH < LIMIT ? *(X + WHICH) : 0;
    float *py[TM, TN] = Y + m[:, newaxis] * STRIDE_M + n[newaxis, :] * STRIDE_N;
    *?(inside)py = (float[TM, TN])x[AXES] * (FACTOR);
}
"""


def spread(x, other, rows, order='C', factor='1'):
    """x along the rows or columns of a matrix, which is stored by rows (C) or by columns (F)"""
    M, N = (other, x.numel()) if rows else (x.numel(), other)
    y = torch.empty(M, N) if order == 'C' else torch.empty(N, M).t()
    defines = {
        'TM': 16, 'TN': 32, 'TT': 'TN' if rows else 'TM',
        'AXES': 'newaxis, :' if rows else ':, newaxis',
        'WHICH': 'n' if rows else 'm', 'LIMIT': 'N' if rows else 'M',
        'STRIDE_M': 'ldm' if order == 'C' else '1', 'STRIDE_N': '1' if order == 'C' else 'ldn',
        'FACTOR': factor,
    }
    kernel = triton.kernel(src, defines=defines)
    kernel(y, x, M, N, y.stride(0), y.stride(1),
           grid=lambda opt: [triton.cdiv(M, opt.TM), triton.cdiv(N, opt.TN)])
    return y


def main(seed, m=20, n=40):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (n,)).float()
    return [spread(x, m, True), spread(x, m, False), spread(x, m, True, 'F'),
            spread(x, m, False, 'F', 'm[:, newaxis] + 1')]
