// A CUDA driver for machines without a GPU: it remembers launches and computes nothing. Triton's own launcher is
// linked against it (as libcuda.so.1), so that tests see what the hardware would be given.
#include <cuda.h>

#include "stub.h"

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **given, void **extra) {
  remember(config->gridDimX, config->gridDimY, config->gridDimZ, config->hStream, f, given);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name) {
  *f = (CUfunction)(unsigned long long)(++loaded);
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
