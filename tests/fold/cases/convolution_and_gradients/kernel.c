// Three products of a sparse convolution: the result (neither), the gradient of the data (DX), of the weights (DW).
__global__ void NAME(TYPE *X __readonly __noalias __aligned(16), TYPE *W __readonly __noalias __aligned(16),
                     OTYPE *Y __noalias __aligned(16), int *LUT __readonly __noalias,
                     int P, int C, int K, int stride_xp, int stride_wr, int stride_yp
#ifdef BIAS
                     , TYPE *BIAS_PTR __readonly
#endif
                     ) {
  int pid = get_program_id(0);
  int pidk = get_program_id(1);
  // what this program reads, and how often
  int *head = LUT + pid * 4;
  int start = *head;
  int count = *(head + 1);
  int where = *(head + 2);
#ifdef DW
  int taps = 1;
#else
  int taps = count;
#endif
  int rp[TP] = 0 ... TP;
  int rc[TC] = 0 ... TC;
  int rk[TK] = pidk * TK + 0 ... TK;
#if defined(DW)
  float acc[TC, TK] = 0;
  // pixels are summed
  for (int p = 0; p < count; p += TP) {
    int pixel[TP] = *(LUT + start + p + rp);
    bool in[TP] = p + rp < count;
    TYPE x[TC, TP] = in[newaxis, :] ? *(X + rc[:, newaxis] + pixel[newaxis, :] * stride_xp) : 0;
    TYPE y[TP, TK] = in[:, newaxis] && (rk < K)[newaxis, :] ? *(W + pixel[:, newaxis] * stride_wr + rk[newaxis, :]) : 0;
    acc += x @ y;
  }
  OTYPE *py[TC, TK] = Y + where * stride_yp + rc[:, newaxis] * K + rk[newaxis, :];
  bool checky[TC, TK] = (rc < C)[:, newaxis] && (rk < K)[newaxis, :];
#else
  float acc[TP, TK] = 0;
  int offp[TP] = (where + rp) * stride_xp;
  for (int tap = 0; tap < taps; tap += 1) {
    // one tap of the filter
    int shift = *(LUT + start + tap * 2);
    int filter = *(LUT + start + tap * 2 + 1);
    for (int c = 0; c < C; c += TC) {
      TYPE x[TP, TC] = (c + rc < C)[newaxis, :] ? *(X + offp[:, newaxis] + shift + c + rc[newaxis, :]) : 0;
#ifdef DX
      TYPE w[TK, TC] = (rk < K)[:, newaxis] && (c + rc < C)[newaxis, :] ? *(W + filter * stride_wr + rk[:, newaxis] * C + c + rc[newaxis, :]) : 0;
      acc += x @ ^w;
#else
      TYPE w[TC, TK] = (c + rc < C)[:, newaxis] && (rk < K)[newaxis, :] ? *(W + filter * stride_wr + (c + rc)[:, newaxis] * K + rk[newaxis, :]) : 0;
      acc += x @ w;
#endif
    }
  }
#ifdef BIAS
  acc += (rk < K ? *(BIAS_PTR + rk) : 0)[newaxis, :];
#endif
  OTYPE *py[TP, TK] = Y + (where + rp)[:, newaxis] * stride_yp + rk[newaxis, :];
  bool checky[TP, TK] = (where + rp < P)[:, newaxis] && (rk < K)[newaxis, :];
#endif
#ifdef ACCUMULATE
  acc += *?(checky) py;
#endif
  *?(checky) py = acc;
}
