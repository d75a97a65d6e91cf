// Where the pools of a CUDA device get their blocks: device memory, and host memory that is pinned and mapped.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "engine/device/cuda/cuda_api.h"
#include "engine/device/device_health.h"
#include "engine/device/memory_pool.h"

namespace diptych::cuda {

// Of the device's primary context, which is one for the process, and so is what ends it.
std::shared_ptr<DeviceHealth> health_of(int number);

// The device's primary context, which other users of CUDA in this process share. Retained as long as this lives.
class Context {
 public:
  // Errors: 58000, 53200.
  Context(std::shared_ptr<const Api> api, int number);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Api& api() const { return *api_; }
  const std::shared_ptr<DeviceHealth>& health() const { return health_; }
  // As Api::check(), and notes that the device is lost where the result says so.
  void check(CUresult result, const char* what) const;
  // For libraries that work in the thread's context.
  void make_current() const { check(api_->CtxSetCurrent(context_), "entering a context"); }
  // An event, a given back one where there is any: making one takes as long as a short kernel. It may be recorded anew
  // while streams wait for where it was before. In the context; thread-safe. Errors: 58000.
  CUevent take_event() const;
  void give_back(CUevent event) const noexcept;

 private:
  friend class Entered;
  const std::shared_ptr<const Api> api_;
  const std::shared_ptr<DeviceHealth> health_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::vector<CUevent> free_events_;
};

// The context is the calling thread's as long as this lives. Then the one that was it before is it again: the thread
// may be an application's with work of its own on another device.
class Entered {
 public:
  // Errors: 58000, also where the device is lost.
  explicit Entered(const Context& context) : Entered(context, std::nothrow) {
    context.health()->check();
    check(result_, "entering a context");
  }
  // Where errors can't be told to anyone.
  Entered(const Context& context, std::nothrow_t) noexcept;
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered();
  const Api* operator->() const { return &context_.api(); }
  // False: nothing can be done there, since the device is lost.
  explicit operator bool() const { return result_ == success; }
  void check(CUresult result, const char* what) const { context_.check(result, what); }

 private:
  const Context& context_;
  CUcontext before_ = nullptr;
  bool is_changed_ = false;
  CUresult result_ = success;
};

// Device memory: the more is held, the larger a block, up to 512 MiB.
class DeviceBlocks final : public RawMemory {
 public:
  explicit DeviceBlocks(const Context& context) : context_(context) {}
  std::optional<RawBlock> allocate_block(int64_t at_least, int64_t at_most) override;
  void free_block(RawBlock block) noexcept override;

 private:
  const Context& context_;
  int64_t held_ = 0;  // bytes of all blocks; used under the pool's lock
};

// Large pages that are pinned and mapped; the more there are, the larger. Addresses are host pointers. For a pool
// without a limit.
class PinnedBlocks final : public RawMemory {
 public:
  explicit PinnedBlocks(const Context& context) : context_(context) {}
  std::optional<RawBlock> allocate_block(int64_t at_least, int64_t at_most) override;
  void free_block(RawBlock block) noexcept override;

 private:
  const Context& context_;
  int64_t held_ = 0;  // bytes of all blocks; used under the pool's lock
};

}  // namespace diptych::cuda
