#include "engine/device/opencl/opencl_memory.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/error.h"

namespace diptych::opencl {
namespace {

constexpr int64_t pinned_block_bytes = int64_t{16} << 20;
constexpr int64_t pinned_kept_bytes = int64_t{1} << 30;
// Of host memory that is only taken as it is touched.
constexpr int64_t host_arena_bytes = int64_t{4} << 30;

}  // namespace

Arena::~Arena() { release(); }

void Arena::release() noexcept {
  if (memory_ != nullptr) api_.ReleaseMemObject(std::exchange(memory_, nullptr));
  if (data_ != nullptr) munmap(std::exchange(data_, nullptr), static_cast<size_t>(bytes_));
}

void Arena::set_bytes(int64_t bytes) {
  std::lock_guard lock(mutex_);
  wanted_bytes_ = bytes;
  if (memory_ == nullptr) bytes_ = bytes;
}

int64_t Arena::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

std::optional<RawBlock> Arena::allocate_block(int64_t at_least, int64_t /*at_most*/) {
  std::lock_guard lock(mutex_);
  const auto first = static_cast<int64_t>(first_);
  if (taken_ || at_least > bytes_ - first) return std::nullopt;
  if (memory_ == nullptr) {
    if (host_) {
      void* data = mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (data == MAP_FAILED) return std::nullopt;
      data_ = static_cast<std::byte*>(data);
    }
    cl_int status = success;
    memory_ = api_.CreateBuffer(context_, mem_read_write | (host_ ? mem_use_host_ptr : 0), static_cast<size_t>(bytes_),
                                data_, &status);
    if (status != success) memory_ = nullptr;
    if (memory_ == nullptr) {
      if (data_ != nullptr) munmap(std::exchange(data_, nullptr), static_cast<size_t>(bytes_));
      return std::nullopt;
    }
  }
  taken_ = true;
  return RawBlock{first_, bytes_ - first};
}

void Arena::free_block(RawBlock) noexcept {
  std::lock_guard lock(mutex_);
  taken_ = false;
  if (bytes_ == wanted_bytes_) return;
  release();
  bytes_ = wanted_bytes_;
}

cl_mem Arena::memory() const {
  std::lock_guard lock(mutex_);
  return memory_;
}

MappedBlocks::~MappedBlocks() {
  if (queue_ != nullptr) api_.ReleaseCommandQueue(queue_);
}

std::optional<RawBlock> MappedBlocks::allocate_block(int64_t at_least, int64_t at_most) {
  std::lock_guard lock(mutex_);
  cl_int status = success;
  if (queue_ == nullptr) {
    queue_ = api_.CreateCommandQueue(context_, device_, 0, &status);
    check(status, "making a queue");
  }
  const int64_t bytes = std::clamp(pinned_block_bytes, at_least, at_most);
  cl_mem block =
      api_.CreateBuffer(context_, mem_read_write | mem_alloc_host_ptr, static_cast<size_t>(bytes), nullptr, &status);
  if (status != success) return std::nullopt;
  void* data = api_.EnqueueMapBuffer(queue_, block, 1, map_read | map_write, 0, static_cast<size_t>(bytes), 0, nullptr,
                                     nullptr, &status);
  if (status != success) {
    api_.ReleaseMemObject(block);
    return std::nullopt;
  }
  const auto address = reinterpret_cast<uint64_t>(data);
  blocks_[address] = block;
  return RawBlock{address, bytes};
}

void MappedBlocks::free_block(RawBlock block) noexcept {
  std::lock_guard lock(mutex_);
  auto found = blocks_.find(block.address);
  if (found == blocks_.end()) return;
  api_.EnqueueUnmapMemObject(queue_, found->second, reinterpret_cast<void*>(block.address), 0, nullptr, nullptr);
  api_.Finish(queue_);
  api_.ReleaseMemObject(found->second);
  blocks_.erase(found);
}

Memory::Memory(const Api& api, cl_context context, cl_device_id device, bool is_host, int64_t most_bytes)
    : is_host_(is_host),
      most_bytes_(most_bytes),
      limit_(most_bytes),
      memory_(api, context, false, 256),
      mapped_(api, context, true, 4096),
      blocks_(api, context, device),
      // An arena may be as large as the device. With memory from its far end, NVIDIA's driver was seen to report an
      // illegal address in tests that begin by filling some; why is not known.
      pool_(memory_, {.alignment = 256, .limit = most_bytes, .uses_ends = false}),
      pinned_pool_(is_host ? static_cast<RawMemory&>(mapped_) : blocks_,
                   {.alignment = 4096, .keep_bytes = is_host ? INT64_MAX : pinned_kept_bytes}) {
  memory_.set_bytes(most_bytes);
  mapped_.set_bytes(std::min(most_bytes, host_arena_bytes));
}

std::optional<DeviceAddress> Memory::try_allocate(int64_t bytes, uint64_t reservation) {
  auto address = pool_.try_allocate(bytes, reservation);
  if (!address) return std::nullopt;
  return DeviceAddress{*address};
}

std::optional<std::pair<std::byte*, DeviceAddress>> Memory::try_allocate_pinned(int64_t bytes) {
  auto address = pinned_pool_.try_allocate(bytes);
  if (!address) return std::nullopt;
  if (!is_host_) return std::pair{reinterpret_cast<std::byte*>(*address), DeviceAddress{}};
  return std::pair{mapped_.data() + *address, DeviceAddress{mapped_bit | *address}};
}

uint64_t Memory::pinned_address(const std::byte* data) const {
  return is_host_ ? static_cast<uint64_t>(data - mapped_.data()) : reinterpret_cast<uint64_t>(data);
}

void Memory::free_pinned(std::byte* data) noexcept { pinned_pool_.free(pinned_address(data)); }

void Memory::shrink_pinned(std::byte* data, int64_t bytes) noexcept {
  pinned_pool_.shrink(pinned_address(data), bytes);
}

void Memory::set_limit(int64_t bytes) {
  limit_ = bytes < 0 ? most_bytes_ : std::min(bytes, most_bytes_);
  // The unused bytes at the start don't count.
  memory_.set_bytes(std::min(limit_ + 256, most_bytes_));
  is_outgrown_ = true;
  renew_arena();
}

void Memory::release(uint64_t reservation) noexcept {
  pool_.release(reservation);
  if (is_outgrown_) renew_arena();
}

void Memory::free(DeviceAddress address) noexcept {
  pool_.free(address.value);
  if (is_outgrown_) renew_arena();
}

void Memory::renew_arena() noexcept {
  if (pool_.used_bytes() == 0) pool_.trim();
  const int64_t bytes = memory_.bytes();
  is_outgrown_ = bytes < std::min(limit_ + 256, most_bytes_);
  pool_.set_limit(std::min<int64_t>(limit_, bytes));
}

DeviceMemoryUse Memory::use() const {
  const int64_t used = pool_.used_bytes();
  return {.used_bytes = used,
          .pooled_bytes = pool_.pooled_bytes(),
          .peak_bytes = pool_.peak_bytes(),
          .pinned_bytes = pinned_pool_.used_bytes(),
          .set_aside_bytes = pool_.set_aside_bytes()};
}

std::pair<cl_mem, size_t> Memory::at(DeviceAddress address) const {
  const bool is_mapped = (address.value & mapped_bit) != 0;
  cl_mem memory = (is_mapped ? mapped_ : memory_).memory();
  check_invariant(memory != nullptr, "an address is in memory that was allocated");
  return {memory, static_cast<size_t>(address.value & ~mapped_bit)};
}

void Memory::make_arena() {
  if (memory_.is_there()) return;
  if (auto address = pool_.try_allocate(1)) pool_.free(*address);
  if (!memory_.is_there()) throw Error(SqlState::out_of_memory, "the OpenCL device has no memory for its arena");
}

}  // namespace diptych::opencl
