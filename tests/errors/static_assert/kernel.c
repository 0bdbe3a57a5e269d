_Static_assert(TM >= 16, "TM is too small for tensor cores");
__global__ void mode(int* X) {
  *X = TM;
}
