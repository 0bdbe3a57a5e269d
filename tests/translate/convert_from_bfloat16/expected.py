# Translated from Triton-C by pytriton.
import triton
import triton.language as tl


@triton.jit
def f(
    X,  # bfloat16*
    N,  # bfloat16*
    U,  # bfloat16*
    A,  # bool*
    B,  # char*
    C,  # unsigned char*
    D,  # short*
    E,  # unsigned short*
    F,  # int*
    G,  # unsigned int*
    H,  # long*
    I,  # unsigned long*
    J,  # half*
    K,  # bfloat16*
    L,  # float*
    M,  # double*
    T: tl.constexpr,
):
    r = tl.arange(0, T)
    x = tl.load(X + r)
    n = tl.load(N + r)
    u = tl.load(U + r)
    tl.debug_barrier()  # X, read above, may overlap A, written below
    tl.store(A + r, x != 0.0)
    tl.debug_barrier()  # A, written above, may overlap B, written below
    tl.store(B + r, n.to(B.dtype.element_ty))
    c_ = u.to(tl.uint8)
    tl.debug_barrier()  # B, written above, may overlap C, written below
    tl.store(C + r, c_)
    tl.debug_barrier()  # C, written above, may overlap D, written below
    tl.store(D + r, n.to(D.dtype.element_ty))
    tl.debug_barrier()  # D, written above, may overlap E, written below
    tl.store(E + r, u.to(E.dtype.element_ty))
    f_ = n.to(tl.int32)
    tl.debug_barrier()  # E, written above, may overlap F, written below
    tl.store(F + r, f_)
    tl.debug_barrier()  # F, written above, may overlap G, written below
    tl.store(G + r, u.to(G.dtype.element_ty))
    tl.debug_barrier()  # G, written above, may overlap H, written below
    tl.store(H + r, n.to(H.dtype.element_ty))
    i_ = u.to(tl.uint64)
    tl.debug_barrier()  # H, written above, may overlap I, written below
    tl.store(I + r, i_)
    tl.debug_barrier()  # I, written above, may overlap J, written below
    tl.store(J + r, x.to(J.dtype.element_ty))
    tl.debug_barrier()  # J, written above, may overlap K, written below
    tl.store(K + r, x)
    l_ = x.to(tl.float32)
    tl.debug_barrier()  # K, written above, may overlap L, written below
    tl.store(L + r, l_)
    tl.debug_barrier()  # L, written above, may overlap M, written below
    tl.store(M + r, x.to(M.dtype.element_ty))
