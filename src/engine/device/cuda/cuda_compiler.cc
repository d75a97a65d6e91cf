#include "engine/device/cuda/cuda_compiler.h"

#include <utility>

#include "base/error.h"
#include "engine/device/cuda/cuda_queue.h"

namespace diptych::cuda {

CudaCompiler::CudaCompiler(std::shared_ptr<const Context> context, std::shared_ptr<const Nvrtc> nvrtc,
                           std::shared_ptr<const CubLibrary> cub, const DeviceInfo& info)
    : context_(std::move(context)), nvrtc_(std::move(nvrtc)), cub_(std::move(cub)), info_(info) {}

std::string CudaCompiler::identity() const {
  return "cuda|" + info_.architecture + "|nvrtc " + nvrtc_->version() + "|" + info_.driver + "|" + compiler_options();
}

KernelCompiler::Built CudaCompiler::build(const std::string& text, const std::string& entry) {
  const std::string cubin = nvrtc_->compile(text, entry, info_.architecture);
  const auto* bytes = reinterpret_cast<const std::byte*>(cubin.data());
  return {std::make_shared<CudaKernel>(context_, cubin.data(), entry), {bytes, bytes + cubin.size()}};
}

std::shared_ptr<const Kernel> CudaCompiler::load(std::span<const std::byte> binary, const std::string& entry) {
  return try_load(binary.data(), entry);
}

std::shared_ptr<const Kernel> CudaCompiler::find_ahead(const std::string& text, const std::string& entry) {
  // What was compiled with Diptych has the usual options.
  const void* image = cub_ == nullptr || has_more_options() ? nullptr : cub_->image_of(text);
  return image == nullptr ? nullptr : try_load(image, entry);
}

// A driver may be too old for what was built elsewhere; then it is built here.
std::shared_ptr<const Kernel> CudaCompiler::try_load(const void* image, const std::string& entry) const {
  try {
    return std::make_shared<CudaKernel>(context_, image, entry);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace diptych::cuda
