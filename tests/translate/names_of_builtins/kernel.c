void f(float *tl, float *lambda, int range, int id) {
  int def[T] = 0 ... T;
  float sum = 0;
  float max[T] = *(tl + def);
  float min = max[min];
  sum = max[+];
  int in = range + id;
  float None = sum - min;
  float print[T] = max(max, min);
  for (int triton = 0; triton < in; triton++)
    None += 1;
  *(lambda + def) = None + exp(print - print) + min(sum, 0);
}
