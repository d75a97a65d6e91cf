// The part of CUDA's driver API and of NVRTC that the engine calls, declared here and found with dlopen: building needs
// no CUDA toolkit, and running needs no GPU. Names, types and values are those of cuda.h and nvrtc.h 13.0; functions of
// which there are several versions are looked up by the name that cuda.h gives them (cuMemAlloc_v2). All of them are in
// drivers from CUDA 11 on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace diptych::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using nvrtcResult = int;
using nvrtcProgram = struct _nvrtcProgram*;

constexpr CUresult success = 0, error_out_of_memory = 2, error_not_ready = 600, error_context_is_destroyed = 709;
// Whether an error ends the device's context for good: all calls give it, or another one, from then on.
bool ends_context(CUresult result);
constexpr unsigned stream_non_blocking = 1, mem_host_register_portable = 1, mem_host_register_device_map = 2;

constexpr unsigned memory_of_host = 1, memory_of_device = 2;  // CUmemorytype
struct CUDA_MEMCPY2D {
  size_t srcXInBytes, srcY;
  unsigned srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  void* srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  unsigned dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  void* dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
};

constexpr int function_most_dynamic_shared = 8;  // CUfunction_attribute

enum Attribute : int {
  max_threads_per_block = 1,
  max_shared_memory_per_block = 8,
  max_shared_memory_per_block_optin = 97,
  multiprocessor_count = 16,
  integrated = 18,
  can_map_host_memory = 19,
  compute_capability_major = 75,
  compute_capability_minor = 76,
};

// ROW(name without cu, its suffix, parameters)
#define DIPTYCH_CUDA_FUNCTIONS(ROW)                                                                                 \
  ROW(Init, , (unsigned))                                                                                           \
  ROW(DriverGetVersion, , (int*))                                                                                   \
  ROW(GetErrorString, , (CUresult, const char**))                                                                   \
  ROW(DeviceGetCount, , (int*))                                                                                     \
  ROW(DeviceGet, , (CUdevice*, int))                                                                                \
  ROW(DeviceGetName, , (char*, int, CUdevice))                                                                      \
  ROW(DeviceGetAttribute, , (int*, int, CUdevice))                                                                  \
  ROW(DeviceTotalMem, _v2, (size_t*, CUdevice))                                                                     \
  ROW(DevicePrimaryCtxRetain, , (CUcontext*, CUdevice))                                                             \
  ROW(DevicePrimaryCtxRelease, _v2, (CUdevice))                                                                     \
  ROW(CtxSetCurrent, , (CUcontext))                                                                                 \
  ROW(CtxGetCurrent, , (CUcontext*))                                                                                \
  ROW(StreamCreate, , (CUstream*, unsigned))                                                                        \
  ROW(StreamDestroy, _v2, (CUstream))                                                                               \
  ROW(StreamSynchronize, , (CUstream))                                                                              \
  ROW(StreamWaitEvent, , (CUstream, CUevent, unsigned))                                                             \
  ROW(EventCreate, , (CUevent*, unsigned))                                                                          \
  ROW(EventRecord, , (CUevent, CUstream))                                                                           \
  ROW(EventQuery, , (CUevent))                                                                                      \
  ROW(StreamQuery, , (CUstream))                                                                                    \
  ROW(EventDestroy, _v2, (CUevent))                                                                                 \
  ROW(EventElapsedTime, , (float*, CUevent, CUevent))                                                               \
  ROW(MemAlloc, _v2, (CUdeviceptr*, size_t))                                                                        \
  ROW(MemFree, _v2, (CUdeviceptr))                                                                                  \
  ROW(MemGetInfo, _v2, (size_t*, size_t*))                                                                          \
  ROW(MemHostRegister, _v2, (void*, size_t, unsigned))                                                              \
  ROW(MemHostUnregister, , (void*))                                                                                 \
  ROW(MemHostGetDevicePointer, _v2, (CUdeviceptr*, void*, unsigned))                                                \
  ROW(MemcpyHtoDAsync, _v2, (CUdeviceptr, const void*, size_t, CUstream))                                           \
  ROW(MemcpyDtoHAsync, _v2, (void*, CUdeviceptr, size_t, CUstream))                                                 \
  ROW(MemcpyDtoDAsync, _v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                                           \
  ROW(Memcpy2DAsync, _v2, (const CUDA_MEMCPY2D*, CUstream))                                                         \
  ROW(MemsetD8Async, , (CUdeviceptr, unsigned char, size_t, CUstream))                                              \
  ROW(ModuleLoadDataEx, , (CUmodule*, const void*, unsigned, int*, void**))                                         \
  ROW(ModuleGetFunction, , (CUfunction*, CUmodule, const char*))                                                    \
  ROW(ModuleUnload, , (CUmodule))                                                                                   \
  ROW(LaunchKernel, ,                                                                                               \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**)) \
  ROW(FuncSetAttribute, , (CUfunction, int, int))                                                                   \
  ROW(OccupancyMaxActiveBlocksPerMultiprocessor, , (int*, CUfunction, int, size_t))

// ROW(name without nvrtc, parameters)
#define DIPTYCH_NVRTC_FUNCTIONS(ROW)                                                                         \
  ROW(Version, (int*, int*))                                                                                 \
  ROW(CreateProgram, (nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*)) \
  ROW(CompileProgram, (nvrtcProgram, int, const char* const*))                                               \
  ROW(GetCUBINSize, (nvrtcProgram, size_t*))                                                                 \
  ROW(GetCUBIN, (nvrtcProgram, char*))                                                                       \
  ROW(GetProgramLogSize, (nvrtcProgram, size_t*))                                                            \
  ROW(GetProgramLog, (nvrtcProgram, char*))                                                                  \
  ROW(DestroyProgram, (nvrtcProgram*))

// The loaded driver, initialised. Never unloaded: it keeps threads of its own.
struct Api {
#define DIPTYCH_ROW(name, suffix, parameters) CUresult(*name) parameters = nullptr;
  DIPTYCH_CUDA_FUNCTIONS(DIPTYCH_ROW)
#undef DIPTYCH_ROW

  // nullptr where it can't be loaded or finds no device; `reason` then says why.
  static std::shared_ptr<const Api> load(std::string* reason);
  // Throws unless the result is success: 53200 where memory is out, 58000 for the rest, with the driver's words and
  // what was done.
  void check(CUresult result, const char* what) const;
};

// The loaded compiler; never unloaded either.
struct Nvrtc {
#define DIPTYCH_ROW(name, parameters) nvrtcResult(*name) parameters = nullptr;
  DIPTYCH_NVRTC_FUNCTIONS(DIPTYCH_ROW)
#undef DIPTYCH_ROW

  // From $DIPTYCH_NVRTC (a file), the loader's path, a toolkit under /usr/local, or NVIDIA's wheels of the active
  // Python environment. nullptr where there is none; `reason` then says so.
  static std::shared_ptr<const Nvrtc> load(std::string* reason);
  std::string version() const;
  // Text to machine code of an architecture ("sm_90"). Errors: 58000 with the compiler's log.
  std::string compile(const std::string& text, const std::string& entry, const std::string& architecture) const;
};

// What Nvrtc::compile asks for besides the architecture: part of what names a kernel on disk.
std::string compiler_options();
// Whether $DIPTYCH_NVRTC_OPTIONS adds some, for tools that want other kernels than usual (test/gpu/sanitize).
bool has_more_options();

}  // namespace diptych::cuda
