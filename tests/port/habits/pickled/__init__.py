"""A torch module that holds its source and defines, and makes its kernels when it has to: it can be pickled."""
import copy
import pickle
import torch
import triton

SRC = """
__global__ void norm(float *Y, float *X, float *W, int N) {
    int row = get_program_id(0);
    int n[TN] = 0 ... TN;
    bool inside[TN] = n < N;
    float x[TN] = inside ? *(X + row * N + n) : 0;
    float w[TN] = inside ? *(W + n) : 0;
    float top = (x < 0 ? -x : x)[max];
    *?(inside)(Y + row * N + n) = x / top * w;
}
"""


class Norm(torch.nn.Module):
    def __init__(self, n, src=SRC):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(n))
        self.src = src
        self.defines = {'TN': triton.next_power_of_2(n)}
        self._kernel = None

    def __getstate__(self):
        return {**self.__dict__, '_kernel': None}

    @torch.no_grad()
    def forward(self, x):
        if self._kernel is None:
            self._kernel = triton.kernel(self.src, defines=self.defines)
        y = torch.empty_like(x)
        self._kernel(y, x, self.weight, x.shape[1], grid=lambda opt: [x.shape[0]])
        return y


def main(seed, m=3, n=20):
    torch.manual_seed(seed)
    x = torch.randint(1, 9, (m, n)).float()
    norm = Norm(n)
    first = norm(x)
    return [first, pickle.loads(pickle.dumps(norm))(x), copy.deepcopy(norm)(x)]
