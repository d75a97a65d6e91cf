// The memory of an OpenCL device. OpenCL 1.2 knows no addresses, only buffer objects; so one large buffer, the arena,
// holds everything, and an address is an offset into it:
//
//   memory:  | 256 bytes unused, so that 0 is no address |  pool of DeviceBuffers ...  |
//   mapped:  | 4096 unused |  pool of PinnedBuffers ...  |    host devices only; addresses have the top bit set
//
// On a host device (PoCL, an integrated GPU) the second arena is host memory that kernels use in place. Elsewhere
// pinned memory is blocks that the driver allocated and mapped, good for fast copies and nothing else. Arenas are made
// when the first buffer is. Thread safety: all members may be called by many threads at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/device/device.h"
#include "engine/device/memory_pool.h"
#include "engine/device/opencl/opencl_api.h"

namespace diptych::opencl {

constexpr uint64_t mapped_bit = uint64_t{1} << 63;

// One cl_mem for all of a device's buffers.
class Arena final : public RawMemory {
 public:
  // host: made of host memory, which kernels use in place.
  Arena(const Api& api, cl_context context, bool host, uint64_t first)
      : api_(api), context_(context), host_(host), first_(first) {}
  ~Arena() override;
  // What the buffer that is made for the next block has. One that is there stays as long as its block is in use.
  void set_bytes(int64_t bytes);
  // What there is; before the first block what there will be.
  int64_t bytes() const;
  // The whole arena, once.
  std::optional<RawBlock> allocate_block(int64_t at_least, int64_t at_most) override;
  // The buffer stays for the next block, unless that is to be of another size.
  void free_block(RawBlock) noexcept override;
  // nullptr before the first block.
  cl_mem memory() const;
  std::byte* data() const { return data_; }
  bool is_there() const { return memory() != nullptr; }

 private:
  const Api& api_;
  cl_context context_;
  const bool host_;
  const uint64_t first_;
  void release() noexcept;

  mutable std::mutex mutex_;  // guards all below
  int64_t bytes_ = 0, wanted_bytes_ = 0;
  cl_mem memory_ = nullptr;
  std::byte* data_ = nullptr;  // host only
  bool taken_ = false;
};

// Blocks of the driver's own host memory, mapped for as long as they live. Addresses are host pointers.
class MappedBlocks final : public RawMemory {
 public:
  MappedBlocks(const Api& api, cl_context context, cl_device_id device)
      : api_(api), context_(context), device_(device) {}
  ~MappedBlocks() override;
  std::optional<RawBlock> allocate_block(int64_t at_least, int64_t at_most) override;
  void free_block(RawBlock block) noexcept override;

 private:
  const Api& api_;
  cl_context context_;
  cl_device_id device_;
  cl_command_queue queue_ = nullptr;
  std::mutex mutex_;
  std::map<uint64_t, cl_mem> blocks_;
};

class Memory {
 public:
  // most_bytes: what one buffer object can have.
  Memory(const Api& api, cl_context context, cl_device_id device, bool is_host, int64_t most_bytes);

  std::optional<DeviceAddress> try_allocate(int64_t bytes, uint64_t reservation);
  std::optional<uint64_t> try_reserve(int64_t bytes) { return pool_.try_reserve(bytes); }
  void release(uint64_t reservation) noexcept;
  void free(DeviceAddress address) noexcept;
  // nullopt where there is no room.
  std::optional<std::pair<std::byte*, DeviceAddress>> try_allocate_pinned(int64_t bytes);
  void free_pinned(std::byte* data) noexcept;
  // Frees all but the first so many bytes.
  void shrink_pinned(std::byte* data, int64_t bytes) noexcept;
  // -1: as much as there is. While there are buffers the arena does not grow: a higher limit holds once all are freed.
  void set_limit(int64_t bytes);
  int64_t limit() const { return pool_.limit(); }
  DeviceMemoryUse use() const;

  // The buffer object that an address is in, and the offset there.
  std::pair<cl_mem, size_t> at(DeviceAddress address) const;
  // What kernels get; the mapped one may be null.
  cl_mem memory() { return memory_.memory(); }
  cl_mem mapped() { return mapped_.memory(); }
  // So that a kernel that uses no memory has an argument all the same.
  void make_arena();

 private:
  // Makes the arena as large as the limit asks for, which takes that no buffer is in use.
  void renew_arena() noexcept;
  // As the pool of pinned memory has it.
  uint64_t pinned_address(const std::byte* data) const;

  const bool is_host_;
  const int64_t most_bytes_;
  std::atomic<int64_t> limit_;
  std::atomic<bool> is_outgrown_ = false;  // the limit is higher than the arena allows
  Arena memory_, mapped_;
  MappedBlocks blocks_;
  MemoryPool pool_, pinned_pool_;
};

}  // namespace diptych::opencl
