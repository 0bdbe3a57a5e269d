"""Sizes of blocks come from the environment, with defaults."""
import os
import torch
import triton

TM = int(os.environ.get("HABITS_TM", "16"))
TN = int(os.getenv("HABITS_TN") or 32)
src = """
__global__ void transposed(float *Y, float *X, int M, int N, int ldy, int ldx) {
    int m[TM] = get_program_id(0) * TM + 0 ... TM;
    int n[TN] = get_program_id(1) * TN + 0 ... TN;
    bool inside[TM, TN] = (m < M)[:, newaxis] && (n < N)[newaxis, :];
    float x[TM, TN] = inside ? *(X + m[:, newaxis] * ldx + n[newaxis, :]) : 0;
    *?(^inside)(Y + n[:, newaxis] * ldy + m[newaxis, :]) = ^x;
}
"""
kernel = triton.kernel(src, defines={'TM': TM, 'TN': TN})


def transposed(x):
    M, N = x.shape
    y = torch.empty(N, M)
    kernel(y, x, M, N, y.stride(0), x.stride(0), grid=lambda opt: [triton.cdiv(M, TM), triton.cdiv(N, TN)])
    return y


def main(seed, m=20, n=40):
    torch.manual_seed(seed)
    return [transposed(torch.randn(m, n))]
