#define SQUARE(x) ((x) * (x))
#define LOAD(name, at) *(name##_base + (at))
#define APPLY(f, ...) f(__VA_ARGS__)
#define AXPY(a, x, y) (a) * (x) + (y)
#define EMPTY() 0
void f(float *x_base, float *y_base) {
  int r[T] = EMPTY() ... T;
  float x[T] = LOAD(x, r);
  int SQUARE = 2;
  *(y_base + r) = APPLY(AXPY, SQUARE(x + 1), SQUARE, x);
}
