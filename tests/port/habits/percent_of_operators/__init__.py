"""A function makes a kernel for an operator: the source is a template for %."""
import torch
import triton

template = """
__global__ void %(name)s(float *Z, float *X, float *Y, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    bool inside[TN] = i %% 1 == 0 && i < n;
    float x[TN] = inside ? *(X + i) : 1;
    float y[TN] = inside ? *(Y + i) : 1;
    *?(inside)(Z + i) = %(what)s;
}
"""


def make(name, what):
    kernel = triton.kernel(template % {'name': name, 'what': what}, defines={'TN': 32}, num_warps=[2])

    def launch(x, y):
        z = torch.empty_like(x)
        kernel(z, x, y, x.numel(), grid=lambda opt: (triton.cdiv(x.numel(), opt.TN),))
        return z
    return launch


add = make('add', 'x + y')
sub = make('sub', 'x - y')
larger = make('larger', 'x > y ? x : y')


def main(seed, n=40):
    torch.manual_seed(seed)
    x, y = torch.randn(n), torch.randn(n)
    return [add(x, y), sub(x, y), larger(x, y)]
