typedef float real;
typedef real *address;
typedef real vector[T];
typedef int index[T];
void f(address X, real *Y, real s) {
  index r = 0 ... T;
  vector x = *(X + r);
  vector y = s;
  *(Y + r) = x + y;
}
