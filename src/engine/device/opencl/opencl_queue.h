// An in-order command queue of an OpenCL device.
#pragma once

#include <memory>

#include "engine/device/device.h"
#include "engine/device/opencl/opencl_device.h"

namespace diptych::opencl {

class OpenClEvent final : public DeviceEvent {
 public:
  OpenClEvent(std::shared_ptr<const Context> context, cl_event event) : context_(std::move(context)), event_(event) {}
  ~OpenClEvent() override { context_->api->ReleaseEvent(event_); }
  cl_event event() const { return event_; }

 private:
  std::shared_ptr<const Context> context_;
  cl_event event_;
};

class OpenClQueue final : public Queue {
 public:
  OpenClQueue(std::shared_ptr<const Context> context, Memory& memory);
  ~OpenClQueue() override;

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
  void queue_begin() override;
  void queue_wait_for(const DeviceEvent& event) override;
  void wait() override;

  std::shared_ptr<const Context> context_;
  const Api& api_;
  Memory& memory_;
  cl_command_queue queue_ = nullptr;
};

}  // namespace diptych::opencl
