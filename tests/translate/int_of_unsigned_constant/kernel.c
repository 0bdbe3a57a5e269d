void f(int *Y) {
  int r[T] = 0 ... T;
  int v[T] = r < 2 ? (int)~1u : r;
  *(Y + r) = v;
  *(Y + T) = (char)300 + (int)4294967295u;
  *(Y + T + 1) = (unsigned char)-1;
}
