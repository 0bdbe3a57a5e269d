__global__ void sign(float* X) {
  float x = *X;
  if (x > 0);
    *X = 1;
  else
    *X = -1;
}
