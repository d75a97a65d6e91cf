// NVRTC: where it is, and kernels through it.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "engine/device/cuda/cuda_api.h"

namespace diptych::cuda {
namespace {

namespace fs = std::filesystem;

// -default-device: functions without a qualifier are for the device. --fmad=false: products and sums round apart, as
// they do on the CPU (kernel/dialect.h).
constexpr const char* options[] = {"-default-device", "--fmad=false", "--std=c++17"};

void add_libraries_of(const fs::path& folder, std::vector<std::string>& names) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("libnvrtc.so", 0) == 0) names.push_back(entry.path().string());
  }
}

// lib/python*/site-packages/nvidia/cuda_nvrtc/lib (CUDA 12) and .../nvidia/cu13/lib of the active environment.
void add_wheels(std::vector<std::string>& names) {
  const char* environment = std::getenv("VIRTUAL_ENV");
  if (environment == nullptr) return;
  std::error_code error;
  for (const auto& python : fs::directory_iterator(fs::path(environment) / "lib", error)) {
    const fs::path nvidia = python.path() / "site-packages" / "nvidia";
    add_libraries_of(nvidia / "cu13" / "lib", names);
    add_libraries_of(nvidia / "cuda_nvrtc" / "lib", names);
  }
}

std::vector<std::string> places() {
  std::vector<std::string> names;
  if (const char* chosen = std::getenv("DIPTYCH_NVRTC"); chosen != nullptr && *chosen != '\0') names.push_back(chosen);
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) names.push_back(name);
  add_libraries_of("/usr/local/cuda/lib64", names);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local", error))
    if (entry.path().filename().string().rfind("cuda-", 0) == 0) add_libraries_of(entry.path() / "lib64", names);
  add_wheels(names);
  return names;
}

// Of $DIPTYCH_NVRTC_OPTIONS, separated by blanks.
std::vector<std::string> more_options() {
  const char* chosen = std::getenv("DIPTYCH_NVRTC_OPTIONS");
  std::istringstream words(chosen == nullptr ? "" : chosen);
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace

std::string compiler_options() {
  std::string all;
  for (const char* option : options) all += std::string(option) + " ";
  for (const std::string& option : more_options()) all += option + " ";
  return all;
}

bool has_more_options() { return !more_options().empty(); }

std::shared_ptr<const Nvrtc> Nvrtc::load(std::string* reason) {
  for (const std::string& name : places()) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    auto nvrtc = std::make_shared<Nvrtc>();
    bool complete = true;
#define DIPTYCH_ROW(name, parameters)                                                   \
  nvrtc->name = reinterpret_cast<decltype(nvrtc->name)>(dlsym(library, "nvrtc" #name)); \
  complete = complete && nvrtc->name != nullptr;
    DIPTYCH_NVRTC_FUNCTIONS(DIPTYCH_ROW)
#undef DIPTYCH_ROW
    if (complete) return nvrtc;
  }
  *reason = "no NVRTC library found: CUDA needs libnvrtc.so (of a CUDA toolkit, or named by DIPTYCH_NVRTC)";
  return nullptr;
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  Version(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string Nvrtc::compile(const std::string& text, const std::string& entry, const std::string& architecture) const {
  nvrtcProgram program = nullptr;
  if (CreateProgram(&program, text.c_str(), (entry + ".cu").c_str(), 0, nullptr, nullptr) != 0)
    throw Error(SqlState::system_error, "NVRTC: no program for the kernel " + entry);
  auto destroy = [this](nvrtcProgram* owned) { DestroyProgram(owned); };
  std::unique_ptr<nvrtcProgram, decltype(destroy)> owner(&program, destroy);
  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char*> all(std::begin(options), std::end(options));
  const std::vector<std::string> more = more_options();
  for (const std::string& option : more) all.push_back(option.c_str());
  all.push_back(target.c_str());
  if (const nvrtcResult result = CompileProgram(program, static_cast<int>(all.size()), all.data()); result != 0) {
    size_t size = 0;
    GetProgramLogSize(program, &size);
    std::string log(size, '\0');
    if (size > 0) GetProgramLog(program, log.data());
    throw Error(SqlState::system_error, "NVRTC: the kernel " + entry + " does not compile (" + std::to_string(result) +
                                            ") for " + architecture + ":\n" + log.c_str());
  }
  size_t size = 0;
  std::string cubin;
  if (GetCUBINSize(program, &size) == 0) cubin.resize(size);
  if (size == 0 || GetCUBIN(program, cubin.data()) != 0)
    throw Error(SqlState::system_error, "NVRTC: no machine code for the kernel " + entry);
  return cubin;
}

}  // namespace diptych::cuda
