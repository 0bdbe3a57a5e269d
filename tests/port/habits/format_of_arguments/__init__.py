"""The source is a template for str.format, filled in by a class with what its caller gives."""
import torch
import triton


class Unary:
    template = """
__global__ void {name}(float *Y, float *X, int n) {{
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    float x[TN] = i < n ? *(X + i) : 0;
    if (n > 0) {{
        *?(i < n)(Y + i) = {body};
    }}
}}
"""

    def __init__(self, name, body, **defines):
        self.kernel = triton.kernel(self.template.format(name=name, body=body), defines={'TN': 32, **defines})

    def __call__(self, x):
        y = torch.empty_like(x)
        self.kernel(y, x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
        return y


relu = Unary('relu', 'x > 0 ? x : 0')
leaky = Unary('leaky', 'x > 0 ? x : x * SLOPE', SLOPE=0.125)


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randn(n)
    return [relu(x), leaky(x)]
