__global__ void scaled(float* z, float* x, int n) {
  int i[TILE] = 0 ... TILE;
  float y[TILE] = *?(i < n)(x + i);
#ifdef SCALE
  y *= SCALE;
  printf("scaled %f", y);
#else
  printf("as it is %x: %f", i, y);
#endif
  *?(i < n)(z + i) = y;
}
