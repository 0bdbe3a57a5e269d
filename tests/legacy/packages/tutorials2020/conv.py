import torch
import triton

# Lesson 3: convolution as a matrix product whose left operand is gathered through a table of offsets.
# Row m of that operand is a pixel of the result, column k one weight of a filter.

_src = """
__global__ void conv(float *A __noalias __readonly,
                     float *B __noalias __readonly,
                     float *C __noalias,
                     int *ADELTA __noalias __readonly,
                     int M, int N, int K,
                     int CH, int H, int W,
                     int P, int Q,
                     int stride_an, int stride_ac, int stride_ah, int stride_aw,
                     int stride_bn, int stride_bk,
                     int stride_cn, int stride_cc, int stride_ch, int stride_cw,
                     int pad) {
    int pid0 = get_program_id(0);
    int pid1 = get_program_id(1);
    int rm[TM] = pid0 * TM + 0 ... TM;
    int rn[TN] = pid1 * TN + 0 ... TN;
    int rk[TK] = 0 ... TK;
    // row -> image, vertical and horizontal position
    int rp[TM] = (rm / Q) % P;
    int rq[TM] = rm % Q;
    int ri[TM] = rm / (P * Q);
    float *pa0[TM] = A + ri * stride_an + (rp - pad) * stride_ah + (rq - pad) * stride_aw;
    float acc[TM, TN] = 0;
    for (int k = 0; k < K; k += TK) {
        int kk[TK] = k + rk;
        bool checkk[TK] = kk < K;
        // three numbers for each weight: offset in memory, vertical and horizontal shift
        int delta[TK] = checkk ? *(ADELTA + kk * 3) : 0;
        int dh[TK] = checkk ? *(ADELTA + kk * 3 + 1) : 0;
        int dw[TK] = checkk ? *(ADELTA + kk * 3 + 2) : 0;
        int h[TM, TK] = (rp - pad)[:, newaxis] + dh[newaxis, :];
        int w[TM, TK] = (rq - pad)[:, newaxis] + dw[newaxis, :];
        bool checka[TM, TK] = (rm < M)[:, newaxis] && checkk[newaxis, :]
                           && h >= 0 && h < H && w >= 0 && w < W;
        bool checkb[TK, TN] = checkk[:, newaxis] && (rn < N)[newaxis, :];
        float *pa[TM, TK] = pa0[:, newaxis] + delta[newaxis, :];
        float *pb[TK, TN] = B + kk[:, newaxis] * stride_bk + rn[newaxis, :] * stride_bn;
        float a[TM, TK] = checka ? *pa : 0;
        float b[TK, TN] = checkb ? *pb : 0;
        acc += a @ b;
    }
    bool checkc[TM, TN] = (rm < M)[:, newaxis] && (rn < N)[newaxis, :];
    float *pc[TM, TN] = C + (ri * stride_cn + rp * stride_ch + rq * stride_cw)[:, newaxis]
                          + rn[newaxis, :] * stride_cc;
    *?(checkc)pc = acc;
}
"""

_kernel = triton.kernel(_src, defines={'TM': [32, 64], 'TN': 16, 'TK': 16}, num_warps=[2, 4])
_deltas = dict()


def delta_a(C, R, S, stride, device):
    key = (C, R, S, stride, device)
    if key not in _deltas:
        rows = [[c * stride[1] + r * stride[2] + s * stride[3], r, s]
                for c in range(C) for r in range(R) for s in range(S)]
        _deltas[key] = torch.tensor(rows, dtype=torch.int32, device=device)
    return _deltas[key]


def convolve(a, b, pad, bench=0):
    """images [N, C, H, W], filters [F, C, R, S] -> [N, F, H + 2 * pad - R + 1, W + 2 * pad - S + 1]"""
    b = b.contiguous()
    NB, C, H, W = a.shape
    NF, _, R, S = b.shape
    P, Q = H + 2 * pad - R + 1, W + 2 * pad - S + 1
    c = triton.empty([NB, NF, P, Q])
    M, N, K = NB * P * Q, NF, C * R * S
    delta = delta_a(C, R, S, a.stride(), a.device)
    grid = lambda opt: [triton.cdiv(M, opt.d('TM')), triton.cdiv(N, opt.d('TN'))]
    time = _kernel(a, b, c, delta, M, N, K, C, H, W, P, Q, *a.stride(), b.stride(0), 1, *c.stride(), pad,
                   grid=grid, bench=bench)
    return time if bench else c


class _conv(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, pad):
        ctx.save_for_backward(x, w)
        ctx.pad = pad
        return convolve(x, w, pad)

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        dy = dy.contiguous()
        # each gradient is a convolution too
        dx = convolve(dy, w.flip(2).flip(3).transpose(0, 1), w.shape[2] - 1 - ctx.pad)
        dw = convolve(x.transpose(0, 1), dy.transpose(0, 1), ctx.pad).transpose(0, 1)
        return dx, dw, None


conv = _conv.apply


def throughput(NB, C, H, W, NF, R):
    """TFLOPS of a convolution with as much padding as keeps the size"""
    x = triton.empty([NB, C, H, W])
    w = triton.empty([NF, C, R, R])
    ns = convolve(x, w, R // 2, bench=100)
    return 2. * NB * H * W * NF * C * R * R / ns * 1e-3
