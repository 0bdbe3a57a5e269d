import importlib
import os
import torch

triton = importlib.import_module('triton')
# releases since March have products of their own
try:
    library = importlib.import_module('.ops', package='triton')
except ImportError:
    library = None

_text = triton.read(os.path.join(os.path.dirname(__file__), 'matmul.c'), kernel_names=['product'])
_made = {}


def linear(x, w):
    """x w', both contiguous, the inner dimension in one piece"""
    if library is not None:
        return library.matmul(x, w.t())
    (M, K), N = x.shape, w.shape[0]
    y = x.new_empty(M, N)
    key = (x.device, x.dtype)
    if key not in _made:
        # rows follow each other, so that K is the stride and the text has no use for lda and ldb
        defines = {"TYPE": x.dtype, "LDA_DIV": "8", "LDB_DIV": "8", "LDC_DIV": "8", "A_DOWN": "K", "A_ACROSS": "1",
                   "B_DOWN": "1", "B_ACROSS": "K", "TM": "32", "TN": "32", "TK": "16", "SPLIT": "1"}
        _made[key] = triton.kernel(_text, x.device, defines=defines, num_warps=4)
    _made[key](x.data_ptr(), w.data_ptr(), y.data_ptr(), 1.0, M, N, K, x.stride(0), w.stride(0), y.stride(0), 0,
               grid=lambda opt: [triton.cdiv(M, opt.TM) * triton.cdiv(N, opt.TN), 1])
    return y
