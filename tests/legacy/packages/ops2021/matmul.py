import os
import torch
import triton


def _divisor(stride):
    """the largest of 1, 2, 4, 8 that divides it"""
    return min(8, stride & -stride)


class _matmul(torch.autograd.Function):
    text = triton.read(os.path.join(os.path.dirname(__file__), 'matmul.c'), kernel_names=['product'])

    configs = [
        triton.config(defines={"TM": "64", "TN": "64", "TK": "32", "SPLIT": "1"}, num_warps=4),
        triton.config(defines={"TM": "32", "TN": "64", "TK": "16", "SPLIT": "1"}, num_warps=2),
        triton.config(defines={"TM": "32", "TN": "32", "TK": "16", "SPLIT": "2"}, num_warps=4),
        triton.config(defines={"TM": "64", "TN": "32", "TK": "16", "SPLIT": "4"}, num_warps=4),
    ]
    kernels = {}
    locks = {}

    @staticmethod
    def run(a, b, scale):
        (M, K), N = a.shape, b.shape[1]
        assert K % 64 == 0, 'the inner dimension is cut into up to four pieces of 16'
        # rows or columns of an operand must be contiguous
        a, b = [x if 1 in x.stride() else x.contiguous() for x in (a, b)]
        by_row = a.stride(1) == 1, b.stride(1) == 1
        lda, ldb = [max(x.stride()) for x in (a, b)]
        c = a.new_empty(M, N)
        div = _divisor(lda), _divisor(ldb), _divisor(N)
        key = (a.device, a.dtype, by_row, div)
        if key not in _matmul.kernels:
            defines = {"TYPE": a.dtype, "LDA_DIV": div[0], "LDB_DIV": div[1], "LDC_DIV": div[2]}
            for name, row, ld in (("A", by_row[0], "lda"), ("B", by_row[1], "ldb")):
                defines[name + "_DOWN"] = ld if row else "1"
                defines[name + "_ACROSS"] = "1" if row else ld
            _matmul.kernels[key] = triton.kernel(_matmul.text, a.device, defines=defines,
                                                 autotune_configs=_matmul.configs, autotune_key=["M", "N", "K"])
        if a.device not in _matmul.locks:
            _matmul.locks[a.device] = torch.zeros(1 << 17, dtype=torch.int32, device=a.device)
        _matmul.kernels[key](a.data_ptr(), b.data_ptr(), c.data_ptr(), scale, M, N, K, lda, ldb, c.stride(0),
                             _matmul.locks[a.device].data_ptr(),
                             grid=lambda opt: [triton.cdiv(M, opt.TM) * triton.cdiv(N, opt.TN), opt.SPLIT])
        return c

    @staticmethod
    def forward(ctx, a, b, scale):
        ctx.save_for_backward(a, b)
        ctx.scale = scale
        return _matmul.run(a, b, scale)

    @staticmethod
    def backward(ctx, dc):
        a, b = ctx.saved_tensors
        return _matmul.run(dc, b.t(), ctx.scale), _matmul.run(a.t(), dc, ctx.scale), None


def matmul(a, b, scale=1.):
    return _matmul.apply(a, b, scale)
