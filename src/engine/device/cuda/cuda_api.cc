#include "engine/device/cuda/cuda_api.h"

#include <dlfcn.h>

#include "base/error.h"

namespace diptych::cuda {

// CUDA driver API, CUresult: of most of these it says that "the process must be terminated and relaunched".
bool ends_context(CUresult result) {
  switch (result) {
    case 4:    // deinitialized: the process ends
    case 201:  // invalid context: it was destroyed
    case 214:  // ECC uncorrectable
    case 220:  // NVLink uncorrectable
    case 226:  // contained: an ECC error that another context's memory is spared
    case 700:  // illegal address
    case 702:  // launch timeout
    case 709:  // context is destroyed
    case 710:  // assert
    case 714:  // hardware stack error
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // invalid address space
    case 718:  // invalid PC
    case 719:  // launch failed
    case 721:  // tensor memory leak
    case 808:  // the MPS client was terminated
    case 999:  // unknown: the GPU is gone, or the driver does not know what happened
      return true;
    default: return false;
  }
}

std::shared_ptr<const Api> Api::load(std::string* reason) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *reason = "libcuda.so.1 not found";
    return nullptr;
  }
  auto api = std::make_shared<Api>();
#define DIPTYCH_ROW(name, suffix, parameters)                                            \
  api->name = reinterpret_cast<decltype(api->name)>(dlsym(library, "cu" #name #suffix)); \
  if (api->name == nullptr) {                                                            \
    *reason = "libcuda.so.1 has no cu" #name #suffix;                                    \
    return nullptr;                                                                      \
  }
  DIPTYCH_CUDA_FUNCTIONS(DIPTYCH_ROW)
#undef DIPTYCH_ROW
  if (const CUresult result = api->Init(0); result != success) {
    const char* text = nullptr;
    api->GetErrorString(result, &text);
    *reason = std::string("cuInit says: ") + (text != nullptr ? text : "unknown error");
    return nullptr;
  }
  return api;
}

void Api::check(CUresult result, const char* what) const {
  if (result == success) return;
  const char* text = nullptr;
  GetErrorString(result, &text);
  throw Error(result == error_out_of_memory ? SqlState::out_of_memory : SqlState::system_error,
              std::string("CUDA: ") + (text != nullptr ? text : "unknown error") + " (" + std::to_string(result) +
                  ") while " + what);
}

}  // namespace diptych::cuda
