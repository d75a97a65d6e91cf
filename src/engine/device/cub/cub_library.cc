#include "engine/device/cub/cub_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"

namespace diptych {
namespace {

constexpr const char* file_name = "libdiptych_cub.so";

// The folder of the library or program that this function is part of.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::vector<std::string> places() {
  if (const char* path = std::getenv("DIPTYCH_CUB_LIBRARY"); path != nullptr && *path != '\0') return {path};
  std::vector<std::string> all;
  const std::string folder = own_folder();
  if (!folder.empty()) all.push_back(folder + file_name);
  all.emplace_back(file_name);
  return all;
}

template <typename T>
T* pointer(DeviceAddress address) {
  return reinterpret_cast<T*>(address.value);
}

}  // namespace

std::unique_ptr<CubLibrary> CubLibrary::open(std::string& reason) {
  for (const std::string& path : places()) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      reason = dlerror();
      continue;
    }
    std::unique_ptr<CubLibrary> library(new CubLibrary(handle, path));
    if (library->find_functions(reason)) return library;
  }
  return nullptr;
}

CubLibrary::~CubLibrary() { dlclose(handle_); }

bool CubLibrary::find_functions(std::string& reason) {
  const auto version = reinterpret_cast<diptych_cub_version_function*>(dlsym(handle_, "diptych_cub_version"));
  if (version == nullptr || version() != DIPTYCH_CUB_VERSION) {
    reason = path_ + " is of another version of Diptych";
    return false;
  }
  sort_pairs_ = reinterpret_cast<diptych_cub_sort_pairs_function*>(dlsym(handle_, "diptych_cub_sort_pairs"));
  error_text_ = reinterpret_cast<diptych_cub_error_text_function*>(dlsym(handle_, "diptych_cub_error_text"));
  image_ = reinterpret_cast<diptych_cub_image_function*>(dlsym(handle_, "diptych_cub_image"));
  if (sort_pairs_ != nullptr && error_text_ != nullptr && image_ != nullptr) return true;
  reason = path_ + " lacks a function";
  return false;
}

void CubLibrary::check(int error) const {
  if (error != 0) throw Error(SqlState::system_error, std::string("CUB: ") + error_text_(error));
}

int64_t CubLibrary::temporary_bytes(Queue& queue, uint32_t rows, int bits) const {
  size_t bytes = 0;
  int result = 0;
  void* stream = queue.native_handle();
  check(sort_pairs_(nullptr, &bytes, nullptr, nullptr, nullptr, nullptr, rows, 0, bits, stream, &result));
  return static_cast<int64_t>(bytes);
}

int CubLibrary::sort_pairs(Queue& queue, const CubPairs& pairs, uint32_t rows, int bits, DeviceAddress temporary,
                           int64_t temporary_bytes) const {
  auto bytes = static_cast<size_t>(temporary_bytes);
  int result = 0;
  void* stream = queue.native_handle();
  check(sort_pairs_(pointer<void>(temporary), &bytes, pointer<uint64_t>(pairs.keys[0]),
                    pointer<uint64_t>(pairs.keys[1]), pointer<uint32_t>(pairs.values[0]),
                    pointer<uint32_t>(pairs.values[1]), rows, 0, bits, stream, &result));
  return result;
}

}  // namespace diptych
