// An NVIDIA GPU through CUDA's driver API as the engine sees it (engine/device/device.h).
#pragma once

#include <memory>
#include <string>

#include "engine/device/cub/cub_library.h"
#include "engine/device/cuda/cuda_memory.h"
#include "engine/device/device.h"
#include "engine/device/kernel_cache.h"
#include "engine/device/memory_pool.h"

namespace diptych::cuda {

class CudaDevice final : public Device {
 public:
  // cub: may be null. Errors: 58000, 53200.
  CudaDevice(std::shared_ptr<const Api> api, std::shared_ptr<const Nvrtc> nvrtc, std::shared_ptr<const CubLibrary> cub,
             DeviceInfo info);
  ~CudaDevice() override;

  const DeviceInfo& info() const override { return info_; }
  std::optional<DeviceBuffer> try_allocate(int64_t bytes, uint64_t reservation) override;
  PinnedBuffer allocate_pinned(int64_t bytes, const char* what) override;
  void set_memory_limit(int64_t bytes) override { pool_.set_limit(bytes < 0 ? default_limit_ : bytes); }
  int64_t memory_limit() const override { return pool_.limit(); }
  DeviceMemoryUse memory_use() const override;
  std::unique_ptr<Queue> make_queue() override;
  std::shared_ptr<const void> enter() override { return std::make_shared<const Entered>(*context_); }
  std::shared_ptr<const Kernel> compile(const KernelText& kernel, CompileReport* report) override {
    health_->check();
    return cache_->compile(kernel, report);
  }
  void prepare(const KernelText& kernel) override {
    health_->check();
    cache_->prepare(kernel);
  }
  std::shared_ptr<const Kernel> find_compiled(const KernelText& kernel) override {
    health_->check();
    return cache_->find(kernel);
  }

 private:
  std::optional<uint64_t> reserve(int64_t bytes) override;
  void release(uint64_t reservation) noexcept override { pool_.release(reservation); }
  void free(DeviceAddress address, int64_t) noexcept override { pool_.free(address.value); }
  void free_pinned(std::byte* data, int64_t) noexcept override { pinned_pool_.free(reinterpret_cast<uint64_t>(data)); }
  void shrink_pinned(std::byte* data, int64_t bytes) noexcept override {
    pinned_pool_.shrink(reinterpret_cast<uint64_t>(data), bytes);
  }

  const DeviceInfo info_;
  std::shared_ptr<const Context> context_;
  const int64_t default_limit_;
  DeviceBlocks blocks_;
  PinnedBlocks pinned_blocks_;
  MemoryPool pool_, pinned_pool_;
  const std::shared_ptr<KernelCache> cache_;
};

}  // namespace diptych::cuda
