__global__ void mode(int* X) {
  TM = 32;
  TM += 1;
  *X = TM;
}
