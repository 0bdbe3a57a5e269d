#ifdef SDD
__global__ void sdd(float* X) { *X = 1; }
#elif defined DSD
__global__ void dsd(float* X) { *X = 2; }
#endif
