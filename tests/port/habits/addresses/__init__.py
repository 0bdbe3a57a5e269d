"""Addresses in the place of tensors, as in 2021: as arguments, under a condition, in a list; and on the host."""
import torch
import triton

src = """
__global__ void linear(float *Y, float *X, int *rows, float *B, int N) {
    int n[TN] = get_program_id(1) * TN + 0 ... TN;
    int m = get_program_id(0);
    bool inside[TN] = n < N;
    float x[TN] = inside ? *(X + *(rows + m) * N + n) : 0;
    bool has[TN] = B;
    float b[TN] = (has && inside) ? *(B + n) : 0;
    *?(inside)(Y + m * N + n) = x + b;
}
"""
kernel = triton.kernel(src, defines={'TN': 32})
alignments = []


def note(address):
    alignments.append(address % 4)


def linear(x, rows, bias=None):
    y = torch.empty(len(rows), x.shape[1])
    note(x.data_ptr())
    kernel(y.data_ptr(), x.data_ptr(), rows.data_ptr(), 0 if bias is None else bias.data_ptr(), x.shape[1],
           grid=lambda opt: [len(rows), triton.cdiv(x.shape[1], opt.TN)])
    return y


def linear_of_list(x, rows, bias):
    M, N = x.shape
    y = torch.empty(len(rows), N)
    arguments = [y.data_ptr(), x[1:].data_ptr(), rows.data_ptr(), bias[::2].data_ptr()]
    kernel(*arguments, N, grid=lambda opt: [len(rows), triton.cdiv(N, opt.TN)])
    return y


def main(seed, m=3, n=40):
    torch.manual_seed(seed)
    x, bias = (torch.randint(-9, 9, shape).float() for shape in ((m + 1, n), (n,)))
    rows = torch.randint(0, m, (5,), dtype=torch.int32)
    return [linear(x, rows), linear(x, rows, bias), linear_of_list(x, rows, bias), torch.tensor(alignments)]
