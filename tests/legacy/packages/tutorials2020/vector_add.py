import torch
import triton

# Lesson 1: element-wise addition.
# A program handles BLOCK elements; the compiler takes care of everything below.

_src = """
__global__ void add(float* z, float* x, float* y, int N) {
    // program id
    int pid = get_program_id(0);
    // create arrays of pointers
    int offset[BLOCK] = pid * BLOCK + 0 ... BLOCK;
    float* pz[BLOCK] = z + offset;
    float* px[BLOCK] = x + offset;
    float* py[BLOCK] = y + offset;
    // bounds checking
    bool check[BLOCK] = offset < N;
    // write-back
    *?(check)pz = *?(check)px + *?(check)py;
}
"""


# This function returns a kernel that was compiled for a data type, kept for the next call
def make_add_kernel():
    cache = make_add_kernel.cache
    if 'add' not in cache:
        defines = {'BLOCK': [64, 128, 256]}
        cache['add'] = triton.kernel(_src, defines=defines, num_warps=[2, 4])
    return cache['add']


make_add_kernel.cache = dict()


class _add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        N = x.numel()
        z = triton.empty(x.shape)
        grid = lambda opt: (triton.cdiv(N, opt.d('BLOCK')), )
        make_add_kernel()(z, x, y, N, grid=grid)
        return z

    @staticmethod
    def backward(ctx, dz):
        return dz, dz


add = _add.apply


def bandwidth(N):
    """GB/s of an addition of N elements: a byte in a nanosecond is a GB in a second"""
    x = triton.empty([N])
    y = triton.empty([N])
    z = triton.empty([N])
    ns = make_add_kernel()(z, x, y, N, grid=lambda opt: (triton.cdiv(N, opt.d('BLOCK')), ), bench=100)
    return 3 * N * x.element_size() / ns
