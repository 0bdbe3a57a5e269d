import torch
import triton

# Lesson 1: a sum of two vectors. Each program does BLOCK elements of it; which BLOCK is best, and with how many
# warps, is found out when the kernel runs for the first time.

code = """
__global__ void plus(float *out, float *left, float *right, int length) {
    int i[BLOCK] = get_program_id(0) * BLOCK + 0 ... BLOCK;
    // the last program may reach over the end
    bool valid[BLOCK] = i < length;
    float *po[BLOCK] = out + i;
    *?(valid)po = *?(valid)(left + i) + *?(valid)(right + i);
}
"""

plus = triton.kernel(code, defines={'BLOCK': [64, 128, 256]}, num_warps=[2, 4])


def programs(length):
    return lambda opt: (triton.cdiv(length, opt.d('BLOCK')),)


class Add(torch.autograd.Function):

    @staticmethod
    def forward(ctx, left, right):
        out = triton.empty(left.shape)
        plus(out, left, right, left.numel(), grid=programs(left.numel()))
        return out

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


add = Add.apply


def bandwidth(length):
    """GB/s of an addition: a byte in a nanosecond is a GB in a second"""
    left, right, out = [triton.empty([length]) for _ in range(3)]
    nanoseconds = plus(out, left, right, length, grid=programs(length), bench=100)
    return 3 * length * out.element_size() / nanoseconds
