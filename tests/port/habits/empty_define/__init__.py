"""A define that is the end of an expression, and empty where there is none."""
import torch
import triton

src = """
__global__ void copy(float *Y, float *X, int N) {
    int n[32] = get_program_id(0) * 32 + 0 ... 32;
    *?(n < N) (Y + n) = *?(n < N) (X + n) EPILOGUE;
}
"""
kernel = triton.kernel(src, defines={'EPILOGUE': ''})


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (n,)).float()
    y = torch.empty_like(x)
    kernel(y, x, n, grid=[triton.cdiv(n, 32)])
    return [y]
