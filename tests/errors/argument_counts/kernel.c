__global__ void calls(float* X) {
  int pid = get_program_id();
  float a = exp(1.0f, 2.0f);
  float b = max(a);
  float c = select(a > b, a);
  *X = a + b + c + pid + pow(a);
}
