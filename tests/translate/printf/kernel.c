void f(int *Y, half *X, int n) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  // what was loaded
  printf("pid %d, n = %d: x = %f\n", get_program_id(0), n, x);
  printf("%x" " T %d", r, T);
  printf("the sum\n");
  for (int k = n; k > 0; k -= 1)
    printf("%u", n);
  *(Y + r) = r + (int)x;
}
