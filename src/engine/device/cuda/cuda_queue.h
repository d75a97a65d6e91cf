// A stream of a CUDA device, with its kernels and events.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "engine/device/cuda/cuda_memory.h"
#include "engine/device/device.h"

namespace diptych::cuda {

class CudaKernel final : public Kernel {
 public:
  // Errors: 58000 where the driver does not take the machine code or it has no such entry.
  CudaKernel(std::shared_ptr<const Context> context, const void* cubin, const std::string& entry);
  ~CudaKernel() override;
  int groups_per_unit(int group_size, int64_t shared_room) const override;
  CUfunction function() const { return function_; }
  // Before a launch with so much. Errors: 58000.
  void allow_room(const Entered& api, int64_t shared_room) const;

 private:
  std::shared_ptr<const Context> context_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  mutable std::atomic<int64_t> allowed_room_{0};
};

class CudaEvent final : public DeviceEvent {
 public:
  // Where the stream is now. Errors: 58000.
  CudaEvent(std::shared_ptr<const Context> context, CUstream stream);
  ~CudaEvent() override;
  CUevent event() const { return event_; }

 private:
  std::shared_ptr<const Context> context_;
  CUevent event_ = nullptr;
};

class CudaQueue final : public Queue {
 public:
  explicit CudaQueue(std::shared_ptr<const Context> context);
  ~CudaQueue() override;

  bool has_happened(const DeviceEvent& event) override;
  int64_t nanoseconds_between(const DeviceEvent& first, const DeviceEvent& second) override;

 private:
  void queue_copy_to_device(DeviceAddress to, const void* from, int64_t bytes) override;
  void queue_copy_to_host(void* to, DeviceAddress from, int64_t bytes) override;
  void queue_copy_on_device(DeviceAddress to, DeviceAddress from, int64_t bytes) override;
  void queue_launch(const Kernel& kernel, int64_t groups, int group_size, std::span<const uint64_t> parameters,
                    int64_t shared_room) override;
  void queue_fill(DeviceAddress to, uint8_t value, int64_t bytes) override;
  std::unique_ptr<DeviceEvent> queue_record() override;
  void queue_wait_for(const DeviceEvent& event) override;
  void* queue_handle() override;
  void wait() override;
  bool is_through() override;
  void queue_copy_lines_to_host(std::byte* to, DeviceAddress from, const Lines& lines) override;

  std::shared_ptr<const Context> context_;
  CUstream stream_ = nullptr;
};

}  // namespace diptych::cuda
