"""The source is a template of the standard library."""
from string import Template
import torch
import triton

template = Template("""
__global__ void ${name}(float *Y, float *X, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = $factor * *?(i < n)(X + i);
}
""")


def make(**values):
    return triton.kernel(template.substitute(values), defines={'TN': 32})


twice, thrice = make(name='twice', factor=2), make(name='thrice', factor=3)


def launch(kernel, x):
    y = torch.empty_like(x)
    kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
    return y


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [launch(twice, x), launch(thrice, x)]
