#define
#define 2D 1
#define LOAD(p, *p
#define TWICE(a, a) a
#define CAT(a, b) ## b
#define STR(a) #b
#define ANY(a) __VA_ARGS__
__global__ void pre(float* X) {
  *X = 1;
}
