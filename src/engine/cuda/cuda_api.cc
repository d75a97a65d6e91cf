#include "engine/cuda/cuda_api.h"

#include <dlfcn.h>

#include "base/error.h"

namespace diptych::cuda {

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
