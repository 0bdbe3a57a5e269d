#if T > 1024
#error too large
#endif
#ifdef NEVER
#include <never.h>
#error never
  "unbalanced
#endif
void f(float *X) {
  *X = T;
}
