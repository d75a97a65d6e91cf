// CUDA's compiler, NVRTC, and what nvcc has compiled ahead of time. Kernels are CUDA C++ text without includes, with
//
//   extern "C" __global__ void entry(unsigned char* memory, unsigned char* mapped, const dk_parameters parameters)
//
// where both pointers are null: an address is a pointer.
#pragma once

#include <memory>
#include <string>

#include "engine/device/cub/cub_library.h"
#include "engine/device/cuda/cuda_memory.h"
#include "engine/device/kernel_cache.h"

namespace diptych::cuda {

class CudaCompiler final : public KernelCompiler {
 public:
  // cub: may be null.
  CudaCompiler(std::shared_ptr<const Context> context, std::shared_ptr<const Nvrtc> nvrtc,
               std::shared_ptr<const CubLibrary> cub, const DeviceInfo& info);
  std::string identity() const override;
  Built build(const std::string& text, const std::string& entry) override;
  std::shared_ptr<const Kernel> load(std::span<const std::byte> binary, const std::string& entry) override;
  std::shared_ptr<const Kernel> find_ahead(const std::string& text, const std::string& entry) override;

 private:
  std::shared_ptr<const Kernel> try_load(const void* image, const std::string& entry) const;

  const std::shared_ptr<const Context> context_;
  const std::shared_ptr<const Nvrtc> nvrtc_;
  const std::shared_ptr<const CubLibrary> cub_;
  const DeviceInfo info_;
};

}  // namespace diptych::cuda
