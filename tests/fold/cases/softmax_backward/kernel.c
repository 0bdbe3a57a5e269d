__global__ void NAME(TYPE *Y __readonly __noalias __aligned(16), float scale, TYPE *DY __noalias __aligned(16),
                     int *LUT __readonly, int batch_y, int batch_dy) {
  int line = get_program_id(0) / BLOCK;
  int within = get_program_id(0) % BLOCK;
  int batch = get_program_id(1);
  int count = *(LUT + line * 4);
  int *list = LUT + *(LUT + line * 4 + 1);
  int t[TN] = 0 ... TN;
  bool check[TN] = t / BLOCK < count;
  int block[TN] = *(list + (check ? t / BLOCK * 2 : 0));
  int inside[TN] = (block * BLOCK + within) * BLOCK + t % BLOCK;
  TYPE *pdy[TN] = DY + batch * batch_dy + inside;
  // the gradient is replaced in place
  float y[TN] = check ? *(Y + batch * batch_y + inside) : 0;
  float dy[TN] = check ? *pdy : 0;
  *?(check) pdy = y * (dy - (y * dy)[+]) * scale;
}
