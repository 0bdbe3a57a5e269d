import torch
try:
    import triton
except ImportError:
    triton = None

# Lesson 4: a transposition. The reader who has no triton yet can still read, and ask torch for the result.

code = """
__global__ void transpose(float *out __noalias, float *in_ __noalias __readonly, int M, int N,
                          int ldo __multipleof(8), int ldi __multipleof(8)) {
    int m[TM] = get_program_id(0) * TM + 0 ... TM;
    int n[TN] = get_program_id(1) * TN + 0 ... TN;
    bool inside[TM, TN] = (m < M)[:, newaxis] && (n < N)[newaxis, :];
    float x[TM, TN] = inside ? *(in_ + m[:, newaxis] * ldi + n[newaxis, :]) : 0;
    // what was a row becomes a column
    *?(^inside) (out + n[:, newaxis] * ldo + m[newaxis, :]) = ^x;
}
"""


def transpose(x):
    if triton is None:
        return x.t().contiguous()
    M, N = x.shape
    out = triton.empty([N, M])
    kernel = triton.kernel(code, defines={'TM': [16, 32], 'TN': [16]}, num_warps=[2])
    kernel(out, x, M, N, out.stride(0), x.stride(0),
           grid=lambda opt: (triton.cdiv(M, opt.d('TM')), triton.cdiv(N, opt.d('TN'))))
    return out
