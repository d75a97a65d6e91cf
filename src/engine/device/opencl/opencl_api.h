// The part of OpenCL 1.2 that the engine calls, declared here and found with dlopen: building needs no OpenCL headers,
// and running needs no OpenCL library. Names and values are those of the specification (Khronos, The OpenCL
// Specification 1.2, and its headers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace diptych::opencl {

using cl_int = int32_t;
using cl_uint = uint32_t;
using cl_ulong = uint64_t;
using cl_bitfield = uint64_t;
using cl_properties = intptr_t;
using cl_platform_id = struct _cl_platform_id*;
using cl_device_id = struct _cl_device_id*;
using cl_context = struct _cl_context*;
using cl_command_queue = struct _cl_command_queue*;
using cl_mem = struct _cl_mem*;
using cl_program = struct _cl_program*;
using cl_kernel = struct _cl_kernel*;
using cl_event = struct _cl_event*;

// What a number asks for or means.
enum Name : cl_uint {
  platform_version = 0x0901,
  platform_name = 0x0902,
  device_max_compute_units = 0x1002,
  device_max_work_group_size = 0x1004,
  device_address_bits = 0x100D,
  device_max_mem_alloc_size = 0x1010,
  device_single_fp_config = 0x101B,
  device_global_mem_size = 0x101F,
  device_local_mem_size = 0x1023,
  device_endian_little = 0x1026,
  device_available = 0x1027,
  device_compiler_available = 0x1028,
  device_name = 0x102B,
  device_vendor = 0x102C,
  driver_version = 0x102D,
  device_version = 0x102F,
  device_extensions = 0x1030,
  device_host_unified_memory = 0x1035,
  program_binary_sizes = 0x1165,
  program_binaries = 0x1166,
  program_build_log = 0x1183,
  kernel_work_group_size = 0x11B0,
  kernel_local_mem_size = 0x11B2,
  event_execution_status = 0x11D3,
  profiling_command_end = 0x1283,
};
constexpr cl_bitfield device_type_all = 0xFFFFFFFF;
constexpr cl_bitfield fp_correctly_rounded_divide_sqrt = 1 << 7;
constexpr cl_bitfield queue_profiling_enable = 1 << 1;
constexpr cl_bitfield mem_read_write = 1 << 0, mem_use_host_ptr = 1 << 3, mem_alloc_host_ptr = 1 << 4;
constexpr cl_bitfield map_read = 1 << 0, map_write = 1 << 1;
constexpr cl_int execution_complete = 0;
constexpr cl_int success = 0, device_not_found = -1, mem_object_allocation_failure = -4, out_of_resources = -5,
                 out_of_host_memory = -6, profiling_info_not_available = -7, build_program_failure = -11,
                 invalid_buffer_size = -61;
using Notify = void (*)(const char*, const void*, size_t, void*);
using BuildNotify = void (*)(cl_program, void*);

// ROW(name without cl, result, parameters)
#define DIPTYCH_OPENCL_FUNCTIONS(ROW)                                                                                 \
  ROW(GetPlatformIDs, cl_int, (cl_uint, cl_platform_id*, cl_uint*))                                                   \
  ROW(GetPlatformInfo, cl_int, (cl_platform_id, cl_uint, size_t, void*, size_t*))                                     \
  ROW(GetDeviceIDs, cl_int, (cl_platform_id, cl_bitfield, cl_uint, cl_device_id*, cl_uint*))                          \
  ROW(GetDeviceInfo, cl_int, (cl_device_id, cl_uint, size_t, void*, size_t*))                                         \
  ROW(CreateContext, cl_context, (const cl_properties*, cl_uint, const cl_device_id*, Notify, void*, cl_int*))        \
  ROW(ReleaseContext, cl_int, (cl_context))                                                                           \
  ROW(CreateCommandQueue, cl_command_queue, (cl_context, cl_device_id, cl_bitfield, cl_int*))                         \
  ROW(ReleaseCommandQueue, cl_int, (cl_command_queue))                                                                \
  ROW(CreateBuffer, cl_mem, (cl_context, cl_bitfield, size_t, void*, cl_int*))                                        \
  ROW(ReleaseMemObject, cl_int, (cl_mem))                                                                             \
  ROW(CreateProgramWithSource, cl_program, (cl_context, cl_uint, const char**, const size_t*, cl_int*))               \
  ROW(CreateProgramWithBinary, cl_program,                                                                            \
      (cl_context, cl_uint, const cl_device_id*, const size_t*, const unsigned char**, cl_int*, cl_int*))             \
  ROW(BuildProgram, cl_int, (cl_program, cl_uint, const cl_device_id*, const char*, BuildNotify, void*))              \
  ROW(GetProgramInfo, cl_int, (cl_program, cl_uint, size_t, void*, size_t*))                                          \
  ROW(GetProgramBuildInfo, cl_int, (cl_program, cl_device_id, cl_uint, size_t, void*, size_t*))                       \
  ROW(ReleaseProgram, cl_int, (cl_program))                                                                           \
  ROW(CreateKernel, cl_kernel, (cl_program, const char*, cl_int*))                                                    \
  ROW(ReleaseKernel, cl_int, (cl_kernel))                                                                             \
  ROW(SetKernelArg, cl_int, (cl_kernel, cl_uint, size_t, const void*))                                                \
  ROW(GetKernelWorkGroupInfo, cl_int, (cl_kernel, cl_device_id, cl_uint, size_t, void*, size_t*))                     \
  ROW(EnqueueWriteBuffer, cl_int,                                                                                     \
      (cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void*, cl_uint, const cl_event*, cl_event*))          \
  ROW(EnqueueReadBuffer, cl_int,                                                                                      \
      (cl_command_queue, cl_mem, cl_uint, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*))                \
  ROW(EnqueueCopyBuffer, cl_int,                                                                                      \
      (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event*, cl_event*))                \
  ROW(EnqueueFillBuffer, cl_int,                                                                                      \
      (cl_command_queue, cl_mem, const void*, size_t, size_t, size_t, cl_uint, const cl_event*, cl_event*))           \
  ROW(EnqueueMapBuffer, void*,                                                                                        \
      (cl_command_queue, cl_mem, cl_uint, cl_bitfield, size_t, size_t, cl_uint, const cl_event*, cl_event*, cl_int*)) \
  ROW(EnqueueUnmapMemObject, cl_int, (cl_command_queue, cl_mem, void*, cl_uint, const cl_event*, cl_event*))          \
  ROW(EnqueueNDRangeKernel, cl_int,                                                                                   \
      (cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, const size_t*, cl_uint, const cl_event*,   \
       cl_event*))                                                                                                    \
  ROW(EnqueueMarkerWithWaitList, cl_int, (cl_command_queue, cl_uint, const cl_event*, cl_event*))                     \
  ROW(Flush, cl_int, (cl_command_queue))                                                                              \
  ROW(Finish, cl_int, (cl_command_queue))                                                                             \
  ROW(GetEventInfo, cl_int, (cl_event, cl_uint, size_t, void*, size_t*))                                              \
  ROW(GetEventProfilingInfo, cl_int, (cl_event, cl_uint, size_t, void*, size_t*))                                     \
  ROW(ReleaseEvent, cl_int, (cl_event))

// The loaded library. Never unloaded: drivers keep threads of their own.
struct Api {
#define DIPTYCH_ROW(name, result, parameters) result(*name) parameters = nullptr;
  DIPTYCH_OPENCL_FUNCTIONS(DIPTYCH_ROW)
#undef DIPTYCH_ROW

  // nullptr where it can't be loaded; `reason` then says why.
  static std::shared_ptr<const Api> load(std::string* reason);
};

// Whether a status says that the device, or the context, is no more.
bool ends_context(cl_int status);

// Throws unless the status is success: 53200 where the driver has no memory, 58000 for the rest, saying what was done.
void check(cl_int status, const char* what);

}  // namespace diptych::opencl
