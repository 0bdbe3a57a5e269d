"""Types and numbers of defines that are chosen, or made as texts, where the kernel object is made."""
import torch
import triton

SRC = """
__global__ void rowsum(TYPE *Y, TYPE *X, int n) {
    int row = get_program_id(0);
    ACC acc[TN] = 0;
    for (int k = 0; k < n; k += TN) {
        int r[TN] = k + 0 ... TN;
        bool inside[TN] = r < n && row < MASK;
        acc += *?(inside)(X + row * n + r);
    }
    *(Y + row) = acc[+];
}
"""


def rowsum(x, acc=None, mask=255):
    y = torch.empty(x.shape[0], dtype=x.dtype)
    kernel = triton.kernel(SRC, defines={'TYPE': x.dtype, 'ACC': acc or torch.float32, 'TN': 32, 'MASK': hex(mask)})
    kernel(y, x, x.shape[1], grid=lambda opt: [x.shape[0]])
    return y


def main(seed, m=3, n=50):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (m, n)).float()
    return [rowsum(x), rowsum(x, torch.float64), rowsum(x, mask=2)]
