void f(int *Y, int n, int m) {
  int s = 0;
  for (int i = 0; i < n; i++) s = s * 10 + i;
  *Y = s;
  s = 0;
  for (int i = n; i > 0; i--) s = s * 10 + i;
  *(Y + 1) = s;
  s = 0;
  for (int i = 1; i <= n; i += 2) s = s * 10 + i;
  *(Y + 2) = s;
  s = 0;
  for (int i = 8; i >= m + 5; i -= 3) s = s * 10 + i;
  *(Y + 3) = s;
  s = 0;
  for (int i = 0; i != 6; i += 2) s = s * 10 + i;
  *(Y + 4) = s;
  s = 0;
  for (int i = 1; i < 100; i *= n) s = s * 10 + i;
  *(Y + 5) = s;
  s = 0;
  for (int i = 100; i; i /= 3) s++;
  *(Y + 6) = s;
  s = 0;
  for (int i = 3; 7 > i; i = i + 1) s = s * 10 + i;
  *(Y + 7) = s;
}
