"""A number has the type of the elements, so the source becomes two functions; it is stripped, and its holder copied."""
import copy
import pickle
import torch
import triton

SRC = """
__global__ void scaled(TYPE *Y, TYPE *X, TYPE scale, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = scale * *?(i < n)(X + i);
}
""".strip()


class Scaled:
    def __init__(self):
        self.src = SRC
        self.kernels = {}

    def __getstate__(self):
        return {**self.__dict__, 'kernels': {}}

    def __call__(self, x, scale):
        if x.dtype not in self.kernels:
            self.kernels[x.dtype] = triton.kernel(self.src, defines={'TYPE': x.dtype, 'TN': 64})
        y = torch.empty_like(x)
        self.kernels[x.dtype](y, x, scale, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
        return y


def main(seed, n=40):
    torch.manual_seed(seed)
    scaled = Scaled()
    x = torch.randn(n)
    return [copy.deepcopy(scaled)(x, 0.1), pickle.loads(pickle.dumps(scaled))(x.half(), 0.1)]
