__global__ void bits(int* X, half h) {
  *X = bitcast<int>(h);
  *X = bitcast<short[4]>((short)h);
}
