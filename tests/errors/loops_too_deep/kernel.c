__global__ void deep(float* X, int n) {
  for (int i0 = 0; i0 < n; i0 += 1)
  for (int i1 = 0; i1 < n; i1 += 1)
  for (int i2 = 0; i2 < n; i2 += 1)
  for (int i3 = 0; i3 < n; i3 += 1)
  for (int i4 = 0; i4 < n; i4 += 1)
  for (int i5 = 0; i5 < n; i5 += 1)
  for (int i6 = 0; i6 < n; i6 += 1)
  for (int i7 = 0; i7 < n; i7 += 1)
  for (int i8 = 0; i8 < n; i8 += 1)
  for (int i9 = 0; i9 < n; i9 += 1)
  for (int i10 = 0; i10 < n; i10 += 1)
    *X = 1;
}
