// A device for tests: another one underneath, whose allocations and launches fail where the test says so, and whose
// buffers are counted. Failing buffers are as on a full device (53200), launches as with a broken driver (58000).
// Thread safety: as Device.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "engine/device/device.h"

namespace diptych {

class FaultDevice final : public Device {
 public:
  // The device underneath lives longer.
  explicit FaultDevice(Device& device) : device_(device) {}

  // The nth allocation or launch from now on, counted from 0, fails; with `all`, every later one, too. -1: none.
  void fail_allocation(int64_t nth, bool all = false) { allocations_.set(nth, all); }
  void fail_launch(int64_t nth, bool all = false) { launches_.set(nth, all); }
  int64_t live_buffers() const { return live_buffers_.load(); }
  int64_t live_pinned() const { return live_pinned_.load(); }

  const DeviceInfo& info() const override { return device_.info(); }
  std::optional<DeviceBuffer> try_allocate(int64_t bytes) override;
  PinnedBuffer allocate_pinned(int64_t bytes, const char* what) override;
  void set_memory_limit(int64_t bytes) override { device_.set_memory_limit(bytes); }
  int64_t memory_limit() const override { return device_.memory_limit(); }
  DeviceMemoryUse memory_use() const override { return device_.memory_use(); }
  std::unique_ptr<Queue> make_queue() override;
  std::shared_ptr<const Kernel> compile(const std::string& text, const std::string& entry,
                                        CompileReport* report = nullptr) override {
    return device_.compile(text, entry, report);
  }
  std::shared_ptr<const Kernel> find_compiled(const std::string& text, const std::string& entry) override {
    return device_.find_compiled(text, entry);
  }

 private:
  friend class FaultQueue;
  class Countdown {
   public:
    void set(int64_t nth, bool all) {
      std::lock_guard lock(mutex_);
      left_ = nth;
      all_ = all;
    }
    // Counts one; true when it is to fail.
    bool fails() {
      std::lock_guard lock(mutex_);
      if (left_ != 0) {
        if (left_ > 0) left_--;
        return false;
      }
      if (!all_) left_ = -1;
      return true;
    }

   private:
    std::mutex mutex_;
    int64_t left_ = -1;
    bool all_ = false;
  };

  void free(DeviceAddress address, int64_t bytes) noexcept override;
  void free_pinned(std::byte* data, int64_t bytes) noexcept override;

  Device& device_;
  Countdown allocations_, launches_;
  std::atomic<int64_t> live_buffers_{0}, live_pinned_{0};
};

}  // namespace diptych
