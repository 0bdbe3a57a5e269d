# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    tl_,  # float*
    lambda_,  # float*
    range_,
    id,
    T: tl.constexpr,
):
    def_ = tl.arange(0, T)
    sum = tl.full((), 0.0, tl.float32)
    max = tl.load(tl_ + def_)
    min = tl.min(max, axis=0)
    sum = tl.sum(max, axis=0)
    in_ = range_ + id
    None_ = sum - min
    print = tl.where(max > min, max, min)
    for triton_ in range(in_):
        None_ += 1.0
    tl.debug_barrier()  # tl, read above, may overlap lambda, written below
    tl.store(
        lambda_ + def_, None_ + tl.exp(print - print) + tl.where(sum < 0.0, sum, 0.0)
    )
