// Owned bytes that start on a cache line and may be read (not written) up to the next multiple of 64 past their end, so
// that vector loads need no tail case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace diptych {

class AlignedBuffer {
 public:
  static constexpr size_t alignment = 64;

  AlignedBuffer() = default;
  // The bytes are not initialised, those past the end are zero.
  explicit AlignedBuffer(size_t bytes) { resize(bytes); }
  AlignedBuffer(AlignedBuffer&& other) noexcept { *this = std::move(other); }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(bytes_.get());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes_.get());
  }
  std::span<const std::byte> span() const { return {bytes_.get(), size_}; }

  // Keeps the first min(old, new) bytes. Grows by doubling, so repeated resizing costs amortised constant time a byte.
  void resize(size_t bytes) {
    if (bytes > capacity_) reallocate(bytes > 2 * capacity_ ? bytes : 2 * capacity_);
    size_ = bytes;
    if (capacity_ > 0) std::memset(bytes_.get() + size_, 0, padded(size_) - size_);
  }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  static size_t padded(size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

  void reallocate(size_t bytes) {
    size_t capacity = padded(bytes);
    std::unique_ptr<std::byte, Free> grown(static_cast<std::byte*>(std::aligned_alloc(alignment, capacity)));
    if (!grown) throw std::bad_alloc();
    if (size_ > 0) std::memcpy(grown.get(), bytes_.get(), size_);
    bytes_ = std::move(grown);
    capacity_ = capacity;
  }

  std::unique_ptr<std::byte, Free> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;  // a multiple of the alignment
};

}  // namespace diptych
