// A HIP runtime for machines without an AMD GPU, as driver_stub.c is a CUDA driver: it remembers launches and computes
// nothing. Triton's own launcher opens it as libamdhip64.so and asks it for all functions by name.
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include "stub.h"

static hipError_t launch(hipFunction_t f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                         unsigned shared, hipStream_t stream, void **given, void **extra) {
  remember(x, y, z, stream, f, given);
  return hipSuccess;
}

static hipError_t properties(hipDeviceProp_t *given, int device) {
  memset(given, 0, sizeof *given);
  given->sharedMemPerBlock = 65536;
  given->warpSize = 64;
  strcpy(given->gcnArchName, "gfx942");
  return hipSuccess;
}

static hipError_t function(hipFunction_t *f, hipModule_t module, const char *name) {
  *f = (hipFunction_t)(unsigned long long)(++loaded);
  return hipSuccess;
}
static hipError_t attribute(int *value, hipFunction_attribute attribute, hipFunction_t f) {
  *value = attribute == HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return hipSuccess;
}
static hipError_t module(hipModule_t *module) {
  *module = (hipModule_t)(unsigned long long)(1000 + loaded);
  return hipSuccess;
}
static const char *text(void) { return "an error of the stand-in"; }
static hipError_t nothing(void) { return hipSuccess; }

hipError_t hipDriverGetVersion(int *version) {
  *version = 70000000;
  return hipSuccess;
}

hipError_t hipGetProcAddress(const char *name, void **found, int version, uint64_t flags,
                             hipDriverProcAddressQueryResult *result) {
  static const struct {
    const char *name;
    void *function;
  } known[] = {{"hipModuleLaunchKernel", launch},   {"hipGetDeviceProperties", properties},
               {"hipModuleGetFunction", function},  {"hipFuncGetAttribute", attribute},
               {"hipModuleLoadDataEx", module},     {"hipGetErrorString", text}};
  *found = nothing;
  for (unsigned i = 0; i < sizeof known / sizeof *known; ++i)
    if (!strcmp(name, known[i].name)) *found = known[i].function;
  return hipSuccess;
}
