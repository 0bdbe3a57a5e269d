// A CUDA driver for machines without a GPU: it remembers launches and computes nothing. Triton's own launcher is
// linked against it (as libcuda.so.1), so that tests see what the hardware would be given.
#include <cuda.h>
#include <string.h>

#define PARAMETERS 16
#define LAUNCHES 65536

typedef struct {
  unsigned long long grid[3], stream, function, parameters[PARAMETERS];
} Launch;

Launch launches[LAUNCHES];
int launched = 0;    // how many there were
int parameters = 0;  // how many each kernel has: a driver would know, this one is told

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **given, void **extra) {
  Launch *launch = &launches[__atomic_fetch_add(&launched, 1, __ATOMIC_SEQ_CST) % LAUNCHES];
  launch->grid[0] = config->gridDimX;
  launch->grid[1] = config->gridDimY;
  launch->grid[2] = config->gridDimZ;
  launch->stream = (unsigned long long)config->hStream;
  launch->function = (unsigned long long)f;
  for (int i = 0; i < parameters && i < PARAMETERS; ++i) memcpy(&launch->parameters[i], given[i], 8);
  return CUDA_SUCCESS;
}

static int loaded = 0;

CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name) {
  *f = (CUfunction)(unsigned long long)(++loaded);  // each loaded kernel has a number
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  *module = (CUmodule)(unsigned long long)(1000 + loaded);
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction f) {
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  *value = 1 << 17;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = (CUcontext)1;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = "an error of the stand-in";
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

// The rest succeeds and does nothing. (Named in assembly, as the header knows their real parameters.)
CUresult nothing(void) { return CUDA_SUCCESS; }
#define NOTHING(name) __asm__(".globl " #name "\n.set " #name ", nothing")
NOTHING(cuCtxGetDevice);
NOTHING(cuCtxGetLimit);
NOTHING(cuCtxSetCurrent);
NOTHING(cuCtxSetLimit);
NOTHING(cuDeviceGet);
NOTHING(cuDevicePrimaryCtxRetain);
NOTHING(cuFuncSetAttribute);
NOTHING(cuFuncSetCacheConfig);
NOTHING(cuModuleUnload);
NOTHING(cuOccupancyMaxActiveClusters);
NOTHING(cuPointerGetAttribute);
NOTHING(cuPointerGetAttributes);
NOTHING(cuStreamIsCapturing);
NOTHING(cuTensorMapEncodeIm2col);
NOTHING(cuTensorMapEncodeTiled);
