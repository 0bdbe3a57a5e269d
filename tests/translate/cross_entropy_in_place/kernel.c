void xent(float *L, long *idx, float *N, int cols) {
  int row = get_program_id(0);
  int r[T] = 0 ... T;
  bool check[T] = r < cols;
  float *p[T] = L + row * cols + r;
  float x[T] = check ? *p : -INFINITY;
  x = x - x[max];
  float s = log(exp(x)[+]);
  *?(check)p = s - x;
  *(N + row) = *(L + row * cols + *(idx + row));
}
