#define T 8
#define SCALE 3
void f(float *X, float *Y) {
  int r[T] = 0 ... T;
  *(Y + r) = *(X + r) * SCALE;
}
