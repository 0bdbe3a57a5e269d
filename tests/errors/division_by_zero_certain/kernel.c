static const int S = 1 / TM;
__global__ void bits(int* X, int n) {
  *X = TM == 0 ? n / TM : 3;
  *X = (1 / TM && n) + (1 && n % TM);
  if (1)
    *X = n / TM;
  if (n)
    *X = n / TM;
  else
    *X = undeclared;
}
