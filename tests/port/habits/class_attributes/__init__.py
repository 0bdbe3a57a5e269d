"""An autograd function has its source and its kernels as attributes of the class."""
import torch
import triton


class _Swish(torch.autograd.Function):
    src = """
__global__ void swish(TYPE *Y, TYPE *X, TYPE *DY, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    bool inside[TN] = i < n;
    float x[TN] = inside ? *(X + i) : 0;
    float r[TN] = x < -3 ? 0 : x > 3 ? 1 : x * 0.125 + 0.5;
#ifdef BACKWARD
    float dy[TN] = inside ? *(DY + i) : 0;
    float slope[TN] = x < -3 ? 0 : x > 3 ? 1 : x * 0.25 + 0.5;
    *?(inside)(Y + i) = dy * slope;
#else
    *?(inside)(Y + i) = x * r;
#endif
}
"""
    kernels = dict()

    @classmethod
    def launch(cls, y, x, dy, **defines):
        key = (x.dtype, 'BACKWARD' in defines)
        if key not in cls.kernels:
            cls.kernels[key] = triton.kernel(cls.src, defines=dict(TYPE=x.dtype, TN=32, **defines))
        cls.kernels[key](y, x, dy, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
        return y

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return _Swish.launch(torch.empty_like(x), x, None)

    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensors
        return _Swish.launch(torch.empty_like(x), x, dy, BACKWARD=True)


swish = _Swish.apply


def main(seed, n=40):
    torch.manual_seed(seed)
    x = torch.randint(-40, 40, (n,)).div(8).requires_grad_()
    y = swish(x)
    y.backward(torch.randint(-9, 9, (n,)).float())
    return [y.detach(), x.grad]
