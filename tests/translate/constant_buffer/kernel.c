char __constant__* tab = calloc(64);
int __constant__* deltas = calloc(16);
void f(int *Y) {
  int r[T] = 0 ... T;
  *(Y + r) = *(tab + r) + 7 + *(deltas + r / 4);
}
