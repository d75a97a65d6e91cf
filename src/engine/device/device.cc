#include "engine/device/device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/error.h"

namespace diptych {
namespace {

thread_local DeviceReservation* innermost_reservation = nullptr;

std::atomic<uint64_t> last_queue{0};

}  // namespace

std::string DeviceInfo::id() const { return (api == DeviceApi::Cuda ? "cuda:" : "opencl:") + std::to_string(number); }

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  if (this == &other) return *this;
  if (device_ != nullptr) device_->free(address_, bytes_);
  device_ = std::exchange(other.device_, nullptr);
  address_ = std::exchange(other.address_, {});
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (device_ != nullptr) device_->free(address_, bytes_);
}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  if (this == &other) return *this;
  if (device_ != nullptr) device_->free_pinned(data_, bytes_);
  device_ = std::exchange(other.device_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  address_ = std::exchange(other.address_, {});
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

PinnedBuffer::~PinnedBuffer() {
  if (device_ != nullptr) device_->free_pinned(data_, bytes_);
}

void PinnedBuffer::shrink(int64_t bytes) {
  if (bytes >= bytes_) return;
  device_->shrink_pinned(data_, bytes);
  bytes_ = bytes;
}

DeviceReservation::DeviceReservation(Device& device, uint64_t number, int64_t room)
    : device_(device), before_(std::exchange(innermost_reservation, this)), number_(number), room_(room) {}

DeviceReservation::~DeviceReservation() {
  innermost_reservation = before_;
  if (number_ != 0) device_.release(number_);
}

void DeviceReservation::replace(uint64_t number, int64_t room) {
  if (const uint64_t before = std::exchange(number_, number); before != 0) device_.release(before);
  room_ = room;
}

const DeviceReservation* Device::reservation_here() const {
  const DeviceReservation* here = innermost_reservation;
  while (here != nullptr && &here->device_ != this) here = here->before_;
  return here;
}

int64_t Device::room() const {
  const DeviceReservation* here = reservation_here();
  return here != nullptr ? here->room() : memory_limit();
}

template <typename Take>
auto Device::take_or_make_room(int64_t bytes, Take&& take) -> decltype(take()) {
  if (auto taken = take()) return taken;
  std::function<bool(int64_t)> give_way;
  {
    std::lock_guard guard(give_way_mutex_);
    give_way = give_way_;
  }
  // What gives way may not have lain in one piece.
  while (give_way && give_way(bytes))
    if (auto taken = take()) return taken;
  return std::nullopt;
}

DeviceBuffer Device::allocate(int64_t bytes, const char* what) {
  const DeviceReservation* here = reservation_here();
  const uint64_t number = here != nullptr ? here->number_ : 0;
  if (auto buffer = take_or_make_room(bytes, [&] { return try_allocate(bytes, number); })) return std::move(*buffer);
  raise_no_room(bytes, what);
}

DeviceBuffer Device::allocate_to_stay(int64_t bytes, const char* what) {
  if (auto buffer = take_or_make_room(bytes, [&] { return try_allocate(bytes, 0); })) return std::move(*buffer);
  raise_no_room(bytes, what);
}

std::optional<uint64_t> Device::try_reserve(int64_t bytes, Kept kept) {
  if (kept == Kept::Stays) return reserve(bytes);
  return take_or_make_room(bytes, [&] { return reserve(bytes); });
}

void Device::raise_no_room(int64_t bytes, const char* what) const {
  throw Error(SqlState::out_of_memory, info().id() + " has no room for " + what, -1,
              std::to_string(bytes) + " bytes were asked for, and " + std::to_string(memory_use().used_bytes) + " of " +
                  std::to_string(memory_limit()) + " are in use");
}

Queue::Queue() : number_(++last_queue) {}

void Queue::copy_to_device(DeviceAddress to, const void* from, int64_t bytes) {
  const PartScope scope(clock(), TimePart::Copy);
  if (report_ != nullptr) report_->work.bytes_to_device += bytes;
  is_idle_ = false;
  queue_copy_to_device(to, from, bytes);
}

void Queue::copy_to_host(void* to, DeviceAddress from, int64_t bytes) {
  const PartScope scope(clock(), TimePart::Copy);
  if (report_ != nullptr) report_->work.bytes_to_host += bytes;
  is_idle_ = false;
  queue_copy_to_host(to, from, bytes);
}

void Queue::copy_on_device(DeviceAddress to, DeviceAddress from, int64_t bytes) {
  is_idle_ = false;
  queue_copy_on_device(to, from, bytes);
}

void Queue::copy_lines_to_host(void* to, DeviceAddress from, const Lines& lines) {
  const PartScope scope(clock(), TimePart::Copy);
  if (report_ != nullptr) report_->work.bytes_to_host += lines.count * lines.bytes;
  is_idle_ = false;
  queue_copy_lines_to_host(static_cast<std::byte*>(to), from, lines);
}

void Queue::launch(const Kernel& kernel, int64_t groups, int group_size, std::span<const uint64_t> parameters,
                   int64_t shared_room) {
  if (report_ != nullptr && groups > 0) ++report_->work.launches;
  is_idle_ = false;
  queue_launch(kernel, groups, group_size, parameters, shared_room);
}

void Queue::fill(DeviceAddress to, uint8_t value, int64_t bytes) {
  is_idle_ = false;
  queue_fill(to, value, bytes);
}

std::unique_ptr<DeviceEvent> Queue::record() {
  is_idle_ = false;
  return queue_record();
}

void Queue::wait_for(const DeviceEvent& event) {
  is_idle_ = false;
  queue_wait_for(event);
}

void* Queue::native_handle() {
  is_idle_ = false;
  return queue_handle();
}

void Queue::synchronize() {
  if (!is_idle_) is_idle_ = is_through();
  if (!is_idle_) wait_and_count([] {});
  held_.clear();
}

void Queue::synchronize_watching(const DeviceEvent& last, const std::function<void()>& watch) {
  // A statement that may take seconds is not held up by that.
  constexpr std::chrono::microseconds pause(50);
  wait_and_count([&] {
    while (!has_happened(last)) {
      watch();
      std::this_thread::sleep_for(pause);
    }
  });
  held_.clear();
}

template <typename WaitBefore>
void Queue::wait_and_count(WaitBefore&& wait_before) {
  const PartScope scope(clock(), TimePart::Wait);
  const auto start = std::chrono::steady_clock::now();
  wait_before();
  wait();
  is_idle_ = true;
  if (report_ == nullptr) return;
  ++report_->work.waits;
  report_->work.wait_nanoseconds += nanoseconds_since(start);
}

void Queue::count_in_place(int64_t read, int64_t written) {
  if (report_ == nullptr) return;
  report_->work.bytes_read_in_place += read;
  report_->work.bytes_written_in_place += written;
}

void Queue::queue_copy_lines_to_host(std::byte* to, DeviceAddress from, const Lines& lines) {
  for (int64_t line = 0; line < lines.count; ++line)
    queue_copy_to_host(to + line * lines.to_pitch, from + line * lines.from_pitch, lines.bytes);
}

PinnedBuffer send(Device& device, Queue& queue, DeviceAddress to, const void* from, int64_t bytes) {
  PinnedBuffer pinned = device.allocate_pinned(std::max<int64_t>(bytes, 1), "what kernels are told");
  if (bytes > 0) std::memcpy(pinned.data(), from, static_cast<size_t>(bytes));
  queue.copy_to_device(to, pinned.data(), bytes);
  return pinned;
}

}  // namespace diptych
