void mm(TYPE *A, TYPE *B, float *C, int K, int SPLIT) {
  int i[T] = 0 ... T;
  int z = get_program_id(0);
  int full = K;
  K = K / SPLIT;
  long off = (long)z * K;
  TYPE *pa[T, T] = A + off + i[:, newaxis] * full + i[newaxis, :];
  TYPE *pb[T, T] = B + off * T + i[:, newaxis] * T + i[newaxis, :];
  float c[T, T] = 0;
  TYPE a[T, T] = *pa;
  TYPE b[T, T] = *pb;
  for (int k = K; k > 0; k -= T) {
    c += a @ b;
    pa += T;
    pb += T * T;
    a = *?(k > T)pa;
    b = *?(k > T)pb;
  }
  atomic_add(C + i[:, newaxis] * T + i[newaxis, :], c);
}
