"""Two kernels are made of one dictionary, which changes in between and after."""
import torch
import triton

src = """
__global__ void times(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = FACTOR * *?(i < n)(X + i);
}
"""
defines = {'TN': 32, 'FACTOR': 2}
twice = triton.kernel(src, defines=defines)
defines['FACTOR'] = 3
thrice = triton.kernel(src, defines=defines)
defines.update(TN=16, FACTOR=4)


def launch(kernel, x):
    y = torch.empty_like(x)
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [launch(twice, x), launch(thrice, x)]
