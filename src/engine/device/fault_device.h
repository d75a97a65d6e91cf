// A device for tests: another one underneath, whose calls fail where the test says so, and whose buffers are counted.
// Failing allocations are as on a full device (53200), the others as with a broken driver (58000).
// Thread safety: as Device.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "engine/device/device.h"

namespace diptych {

// Calls that can fail. Copies: fills, too. Waits have waited when they fail.
enum class DeviceCall : uint8_t { Allocation, Copy, Launch, Wait };
inline constexpr DeviceCall all_device_calls[] = {DeviceCall::Allocation, DeviceCall::Copy, DeviceCall::Launch,
                                                  DeviceCall::Wait};

class FaultDevice final : public Device {
 public:
  // The device underneath lives longer. number: among the devices of its API.
  explicit FaultDevice(Device& device, int number = 0) : device_(device), info_(device.info()) {
    info_.number = number;
  }

  // The nth such call from now on, counted from 0, fails; with `all`, every later one, too. -1: none.
  void fail(DeviceCall call, int64_t nth, bool all = false) { countdown(call).set(nth, all); }
  // The nth such call from now on finds that the device is lost.
  void lose_at(DeviceCall call, int64_t nth) {
    countdown(call).set(nth, false);
    loses_ = true;
  }
  // Such calls since fail() was last called for them.
  int64_t calls(DeviceCall call) { return countdown(call).calls(); }
  // As if its kernels saw the device's memory alone. Before anything runs there.
  void forbid_mapping() { info_.can_map = false; }
  // As if its memory were its own. Before anything runs there.
  void be_apart() { info_.is_host = false; }
  // As if its compiler took so many kernels at a time. Before anything runs there.
  void compile_at_once(int kernels) { info_.compiles_at_once = kernels; }
  // Called before the device compiles anything, or finds it compiled. is_ahead: for somebody who asks later. Before
  // anything runs there.
  using Compiling = std::function<void(const KernelText& kernel, bool is_ahead)>;
  void when_compiling(Compiling called) { when_compiling_ = std::move(called); }
  int64_t live_buffers() const { return live_buffers_.load(); }
  int64_t live_pinned() const { return live_pinned_.load(); }

  const DeviceInfo& info() const override { return info_; }
  std::optional<DeviceBuffer> try_allocate(int64_t bytes, uint64_t reservation) override;
  PinnedBuffer allocate_pinned(int64_t bytes, const char* what) override;
  void set_memory_limit(int64_t bytes) override { device_.set_memory_limit(bytes); }
  int64_t memory_limit() const override { return device_.memory_limit(); }
  DeviceMemoryUse memory_use() const override { return device_.memory_use(); }
  std::unique_ptr<Queue> make_queue() override;
  std::shared_ptr<const void> enter() override {
    health_->check();
    return device_.enter();
  }
  std::shared_ptr<const Kernel> compile(const KernelText& kernel, CompileReport* report = nullptr) override {
    note_compiling(kernel, false);
    return device_.compile(kernel, report);
  }
  void prepare(const KernelText& kernel) override {
    note_compiling(kernel, true);
    device_.prepare(kernel);
  }
  std::shared_ptr<const Kernel> find_compiled(const KernelText& kernel) override {
    health_->check();
    return device_.find_compiled(kernel);
  }

 private:
  friend class FaultQueue;
  class Countdown {
   public:
    void set(int64_t nth, bool all) {
      std::lock_guard lock(mutex_);
      nth_ = nth;
      all_ = all;
      calls_ = 0;
    }
    // Counts one; true when it is to fail.
    bool fails() {
      std::lock_guard lock(mutex_);
      const int64_t call = calls_++;
      return nth_ >= 0 && (all_ ? call >= nth_ : call == nth_);
    }
    int64_t calls() {
      std::lock_guard lock(mutex_);
      return calls_;
    }

   private:
    std::mutex mutex_;
    int64_t nth_ = -1, calls_ = 0;
    bool all_ = false;
  };

  void note_compiling(const KernelText& kernel, bool is_ahead) {
    health_->check();
    if (when_compiling_) when_compiling_(kernel, is_ahead);
  }
  Countdown& countdown(DeviceCall call) { return countdowns_[static_cast<size_t>(call)]; }
  // Counts a call. True when it is to fail. Errors: 58000 where that loses the device, and once it is lost.
  bool count(DeviceCall call, const char* what);
  // The same of a queue. Errors: 58000 when it is to fail.
  void count_or_throw(DeviceCall call, const char* what);

  // Not counted: what is set aside is no buffer yet.
  std::optional<uint64_t> reserve(int64_t bytes) override { return device_.try_reserve(bytes, Kept::GivesWay); }
  void release(uint64_t reservation) noexcept override { DeviceReservation(device_, reservation, 0); }
  void free(DeviceAddress address, int64_t bytes) noexcept override;
  void free_pinned(std::byte* data, int64_t bytes) noexcept override;
  void shrink_pinned(std::byte* data, int64_t bytes) noexcept override;

  Device& device_;
  DeviceInfo info_;
  Compiling when_compiling_;
  std::atomic<bool> loses_{false};
  std::array<Countdown, std::size(all_device_calls)> countdowns_;
  std::atomic<int64_t> live_buffers_{0}, live_pinned_{0};
};

}  // namespace diptych
