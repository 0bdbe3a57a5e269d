#define KERNEL(name, direction) __global__ void name##_##direction
#define OF(x, y) TYPE *x __noalias, TYPE *y __noalias

KERNEL(twice, forward)(OF(X, Y)) {
  *(Y + 0 ... 16) = 2 * *(X + 0 ... 16);
}

KERNEL(twice, backward)(OF(DY, DX)) {
  *(DX + 0 ... 16) = *(DY + 0 ... 16) / 2;
}

__global__ void NAME(TYPE *X) { *X = 0; }
