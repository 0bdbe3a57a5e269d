void f(long int *A, unsigned long long *B, short int *C, unsigned int *D, signed char *E, _Bool *F, unsigned short int *G, signed *H) {
  *A = -1;
  *B = 1;
  *C = -2;
  *D = 3;
  *E = -4;
  *F = 5;
  *G = 6;
  *H = -7;
}
