#include "engine/device/opencl/opencl_api.h"

#include <dlfcn.h>

#include <iterator>

#include "base/error.h"

namespace diptych::opencl {
namespace {

// Names of the errors that a defect, a full device or a broken driver can cause; a number says the rest.
const char* name_of(cl_int status) {
  struct Row {
    cl_int status;
    const char* name;
  };
  static constexpr Row rows[] = {
      {-1, "CL_DEVICE_NOT_FOUND"},
      {-2, "CL_DEVICE_NOT_AVAILABLE"},
      {-3, "CL_COMPILER_NOT_AVAILABLE"},
      {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {-5, "CL_OUT_OF_RESOURCES"},
      {-6, "CL_OUT_OF_HOST_MEMORY"},
      {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
      {-11, "CL_BUILD_PROGRAM_FAILURE"},
      {-12, "CL_MAP_FAILURE"},
      {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
      {-30, "CL_INVALID_VALUE"},
      {-34, "CL_INVALID_CONTEXT"},
      {-36, "CL_INVALID_COMMAND_QUEUE"},
      {-38, "CL_INVALID_MEM_OBJECT"},
      {-42, "CL_INVALID_BINARY"},
      {-43, "CL_INVALID_BUILD_OPTIONS"},
      {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
      {-46, "CL_INVALID_KERNEL_NAME"},
      {-48, "CL_INVALID_KERNEL"},
      {-51, "CL_INVALID_ARG_SIZE"},
      {-52, "CL_INVALID_KERNEL_ARGS"},
      {-54, "CL_INVALID_WORK_GROUP_SIZE"},
      {-55, "CL_INVALID_WORK_ITEM_SIZE"},
      {-58, "CL_INVALID_EVENT"},
      {-61, "CL_INVALID_BUFFER_SIZE"},
      {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
      {-9999, "an illegal address in a kernel"},
  };
  for (const Row& row : rows)
    if (row.status == status) return row.name;
  return "error";
}

}  // namespace

std::shared_ptr<const Api> Api::load(std::string* reason) {
  void* library = nullptr;
  for (const char* name : {"libOpenCL.so.1", "libOpenCL.so"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    *reason = "libOpenCL.so.1 not found";
    return nullptr;
  }
  auto api = std::make_shared<Api>();
#define DIPTYCH_ROW(name, result, parameters)                                    \
  api->name = reinterpret_cast<decltype(api->name)>(dlsym(library, "cl" #name)); \
  if (api->name == nullptr) {                                                    \
    *reason = "libOpenCL.so.1 has no cl" #name;                                  \
    return nullptr;                                                              \
  }
  DIPTYCH_OPENCL_FUNCTIONS(DIPTYCH_ROW)
#undef DIPTYCH_ROW
  return api;
}

bool ends_context(cl_int status) {
  switch (status) {
    case -2:     // CL_DEVICE_NOT_AVAILABLE
    case -34:    // CL_INVALID_CONTEXT
    case -36:    // CL_INVALID_COMMAND_QUEUE
    case -9999:  // NVIDIA: an illegal address
      return true;
    default: return false;
  }
}

void check(cl_int status, const char* what) {
  if (status == success) return;
  const bool is_memory = status == mem_object_allocation_failure || status == out_of_host_memory;
  throw Error(is_memory ? SqlState::out_of_memory : SqlState::system_error,
              std::string("OpenCL: ") + name_of(status) + " (" + std::to_string(status) + ") while " + what);
}

}  // namespace diptych::opencl
