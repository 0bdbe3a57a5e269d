static const int TM = 4;
static const int TN = TM * 4;
void f(float *X, float *Y) {
  int r[TN] = 0 ... TN;
  *(Y + r) = *(X + r) * TM;
}
