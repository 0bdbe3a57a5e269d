char __constant__* none = calloc(0);
char __constant__* two = calloc(4, 16);
char __constant__* variable = calloc(n);
char __constant__* typed = calloc(int);
float __constant__ tab[16] = calloc(64);
int __constant__* good = calloc(sizeof(int) * 4);
__global__ void lookup(int* X, int n) {
  good = good + 1;
  int* local = calloc(16);
  *X = *(good + n) + *none + *tab;
}
