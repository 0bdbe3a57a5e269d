#include "common.h"
#include <stdint.h>
__global__ void pre(float* X) {
  *X = 1;
}
