// adds two vectors
__global__ void add(float *x __noalias, float *y, float *z __noalias, int n /* elements */) {
  int rx[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool check[TILE] = rx < n;
  // both operands
  float a[TILE] = check ? *(x + rx) : 0;
  float b[TILE] = *?(check)(y + rx);
  *?(check)(z + rx) = a + b;  // the sum
}
