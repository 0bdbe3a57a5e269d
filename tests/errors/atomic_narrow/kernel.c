__global__ void count(char* C, short* S, int* I) {
  int r[16] = 0 ... 16;
  atomic_add(C, 1);
  atomic_add(S + r, 1, r < 3);
  atomic_add(I, 1);
}
