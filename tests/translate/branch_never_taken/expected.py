# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


# equal whatever the arguments are: Triton folds these conditions late, and fails on the loads behind them
@triton.jit
def f(
    X,  # float*
    Y,  # int*
    lda,
    K,
    c: tl.int8,
):
    r = tl.arange(0, 16)
    # what a macro may leave
    tl.store(X + r, 2.0)
    # the first and the third are decided, and K is not
    if K > 3:
        tl.debug_barrier()  # X, written above, may overlap Y, written below
        tl.store(Y + r, r)
    for i in range(K):
        pass
