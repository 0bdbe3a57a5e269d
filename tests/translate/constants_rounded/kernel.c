void f(float *Y, int *Z) {
  *Y = (KF + 1.0f) * KF;
  *(Y + 1) = KF * 2;
  *(Y + 2) = (KF * 2 + 1) * 0.5f;
  *Z = 1.0f / 3 < 0.33333334f;
  *(Z + 1) = KF < 1.0f;
}
