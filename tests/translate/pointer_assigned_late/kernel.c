// pointers declared first and assigned on either path, and made of numbers of any width
__global__ void f(int* X, int* Y, int n, unsigned char zero) {
  int* p;
  int* pa[4];
  if (n > 2) {
    p = X;
    pa = X + 0 ... 4;
  } else {
    p = X + 1;
    pa = X + 4 + 0 ... 4;
  }
  *(Y + 0 ... 4) = *pa + *p;
  int* none = (int*)zero;
  *(Y + 4) = none ? 1 : 2;
}
