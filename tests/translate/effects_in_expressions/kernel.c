void f(int *X, int *Y, int n) {
  int i = 0, s = 0;
  while (n-- > 0) {
    if (n == 3)
      continue;
    s += n;
  }
  *Y++ = s;
  do {
    s = s + *X++;
    if (s % 4 == 0)
      continue;
    s++;
  } while (++i < 3 && s < 100);
  *(Y + i++) = s;
  int k = (i = 5, i + 1) + (s = 7);
  *Y = *(Y + 5) = k + (i++ > 5 || i == 6);
  if (++i == 8)
    *(Y + 6) = i;
  else if (i-- == 7)
    *(Y + 7) = i;
  for (int j = 3; j-- > 0;)
    *(Y + 8 + j) = j;
  *(Y + 11) = sizeof(i++) + i;
}
