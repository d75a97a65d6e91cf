#include "engine/device/fault_device.h"

#include "base/error.h"

namespace diptych {

class FaultQueue final : public Queue {
 public:
  FaultQueue(FaultDevice& device, std::unique_ptr<Queue> queue) : device_(device), queue_(std::move(queue)) {}

  bool has_happened(const DeviceEvent& event) override {
    device_.health().check();
    return queue_->has_happened(event);
  }
  int64_t nanoseconds_between(const DeviceEvent& first, const DeviceEvent& second) override {
    device_.health().check();
    return queue_->nanoseconds_between(first, second);
  }

 private:
  void queue_copy_to_device(DeviceAddress to, const void* from, int64_t bytes) override {
    device_.count_or_throw(DeviceCall::Copy, "copy");
    queue_->copy_to_device(to, from, bytes);
  }
  void queue_copy_to_host(void* to, DeviceAddress from, int64_t bytes) override {
    device_.count_or_throw(DeviceCall::Copy, "copy");
    queue_->copy_to_host(to, from, bytes);
  }
  void queue_copy_on_device(DeviceAddress to, DeviceAddress from, int64_t bytes) override {
    device_.count_or_throw(DeviceCall::Copy, "copy");
    queue_->copy_on_device(to, from, bytes);
  }
  void queue_copy_lines_to_host(std::byte* to, DeviceAddress from, const Lines& lines) override {
    device_.count_or_throw(DeviceCall::Copy, "copy");
    queue_->copy_lines_to_host(to, from, lines);
  }
  void queue_launch(const Kernel& kernel, int64_t groups, int group_size, std::span<const uint64_t> parameters,
                    int64_t shared_room) override {
    device_.count_or_throw(DeviceCall::Launch, "launch");
    queue_->launch(kernel, groups, group_size, parameters, shared_room);
  }
  void queue_fill(DeviceAddress to, uint8_t value, int64_t bytes) override {
    device_.count_or_throw(DeviceCall::Copy, "fill");
    queue_->fill(to, value, bytes);
  }
  std::unique_ptr<DeviceEvent> queue_record() override {
    device_.health().check();
    return queue_->record();
  }
  void queue_begin() override {
    device_.health().check();
    queue_->begin();
  }
  void queue_wait_for(const DeviceEvent& event) override {
    device_.health().check();
    queue_->wait_for(event);
  }
  void wait() override {
    queue_->synchronize();
    device_.count_or_throw(DeviceCall::Wait, "wait");
  }

  FaultDevice& device_;
  std::unique_ptr<Queue> queue_;
};

bool FaultDevice::count(DeviceCall call, const char* what) {
  const bool fails = countdown(call).fails();
  if (fails && loses_) health_->lose(std::string("a ") + what + " that a test made fail");
  health_->check();
  return fails;
}

void FaultDevice::count_or_throw(DeviceCall call, const char* what) {
  if (count(call, what)) throw Error(SqlState::system_error, std::string("a ") + what + " that a test made fail");
}

std::unique_ptr<Queue> FaultDevice::make_queue() {
  health_->check();
  return std::make_unique<FaultQueue>(*this, device_.make_queue());
}

std::optional<DeviceBuffer> FaultDevice::try_allocate(int64_t bytes, uint64_t reservation) {
  if (count(DeviceCall::Allocation, "buffer")) return std::nullopt;
  auto buffer = device_.try_allocate(bytes, reservation);
  if (!buffer) return std::nullopt;
  live_buffers_++;
  return DeviceBuffer(this, buffer->release(), bytes);
}

PinnedBuffer FaultDevice::allocate_pinned(int64_t bytes, const char* what) {
  if (count(DeviceCall::Allocation, "pinned buffer"))
    throw Error(SqlState::out_of_memory, "pinned memory that a test made fail");
  PinnedBuffer buffer = device_.allocate_pinned(bytes, what);
  live_pinned_++;
  const DeviceAddress address = buffer.address();
  return PinnedBuffer(this, buffer.release(), address, bytes);
}

void FaultDevice::free(DeviceAddress address, int64_t bytes) noexcept {
  live_buffers_--;
  DeviceBuffer back(&device_, address, bytes);
}

void FaultDevice::free_pinned(std::byte* data, int64_t bytes) noexcept {
  live_pinned_--;
  PinnedBuffer back(&device_, data, {}, bytes);
}

void FaultDevice::shrink_pinned(std::byte* data, int64_t bytes) noexcept {
  PinnedBuffer buffer(&device_, data, {}, bytes + 1);
  buffer.shrink(bytes);
  buffer.release();
}

}  // namespace diptych
