"""Constant memory: set whole, in part, and from an array that changes later; of functions with other lengths."""
import numpy
import torch
import triton

src = """
char __constant__* table = calloc(SIZE);
__global__ void scaled(float *Y, float *X, int N) {
    int i[16] = 0 ... 16;
    float __constant__* t[16] = ((float __constant__*) table) + i;
    *?(i < N) (Y + i) = *?(i < N) (X + i) * *t;
}
"""
either = """
char __constant__* table = calloc(SIZE);
#ifdef WIDE
__global__ void filled(float *Y, float alpha) {
    int i[32] = 0 ... 32;
    *(Y + i) = *(((float __constant__*) table) + i) * alpha;
}
#else
__global__ void filled(int N, float *Y) {
    int i[8] = 0 ... 8;
    *?(i < N) (Y + i) = *(((float __constant__*) table) + i);
}
#endif
"""
wide = triton.kernel(either, defines={"SIZE": 128, "WIDE": True})
narrow = triton.kernel(either, defines={"SIZE": 32})
kernel = triton.kernel(src, defines={"SIZE": 64})
larger = triton.kernel(src, defines={"SIZE": 128})


def scaled(x, of=kernel):
    y = torch.zeros_like(x)
    of(y, x, x.numel(), grid=(1,))
    return y


def main(seed, m=7):
    torch.manual_seed(seed)
    x = torch.randint(-9, 9, (min(m, 16),)).float()
    results = [scaled(x)]
    array = numpy.arange(16, dtype=numpy.float32) + seed
    values = [array, array[:3] * 2, numpy.float32(5), torch.arange(16.)[::2], numpy.ones(1)]
    for value in values:
        kernel.set_constant("table", value)
        array[:] += 1
        results.append(scaled(x))
    larger.set_constant("table", torch.arange(32.))
    y, z = torch.zeros(32), torch.zeros(8)
    wide.set_constant("table", torch.arange(31.))
    wide(y, 2.0, grid=(1,))
    narrow.set_constant("table", torch.arange(8.))
    narrow(min(m, 8), z, grid=(1,))
    return [*results, scaled(x, larger), scaled(x), y, z]
