// A device that runs kernels: an NVIDIA GPU through CUDA's driver API, or whatever an OpenCL driver offers.
//
//   Device        one GPU: its memory, its compiled kernels
//    |- DeviceBuffer   owns a piece of its memory; host code sees an address, never a pointer
//    |- PinnedBuffer   owns host memory that copies at full bus speed and, where can_map, is read by kernels in place
//    |- Kernel         compiled text
//    `- Queue          work in order: copies, fills, launches, events; several queues overlap
//
// Every kernel has one signature, so that launching is the same everywhere:
//
//   void entry(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters)
//
// parameters is a struct of 64-bit words by value, as many as the launch has. An address in a word (or in device
// memory) is turned into a pointer by DK_AT (kernel/device/platform.h): with CUDA it is the pointer; with OpenCL it is
// an offset into `memory`, or into `mapped` when its top bit is set.
//
// Thread safety: Device's members may be called by many threads at once; a Queue is for one thread at a time. A buffer
// may only be freed once the work that uses it is finished, which its user makes sure of by Queue::synchronize().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/device/device_health.h"
#include "engine/device/kernel_text.h"
#include "engine/run/queue_work.h"

namespace diptych {

enum class DeviceApi : uint8_t { Cuda, OpenCl };

// Of DeviceInfo::compiles_at_once, also on a large machine: a statement has few kernels.
inline constexpr int most_compiles_at_once = 8;

struct DeviceInfo {
  DeviceApi api = DeviceApi::Cuda;
  int number = 0;            // among the devices of its API: cuda:0, opencl:1
  std::string name;          // as the driver gives it
  std::string driver;        // its version, and the platform's name with OpenCL
  std::string architecture;  // "sm_90"; empty with OpenCL
  int64_t memory_bytes = 0;
  int compute_units = 0;
  int64_t shared_bytes = 0;       // that one work-group can have without asking for more
  int64_t most_shared_bytes = 0;  // ... and as room that a launch asks for
  int max_group_size = 0;
  bool is_host = false;  // its memory is the host's (PoCL, an integrated GPU): copying gains nothing
  bool can_map = false;  // kernels can read and write PinnedBuffers
  std::string unusable;  // why no statement can run there; empty: usable
  // Kernels that its compiler takes at the same time, so that threads gain something; 1: they would hinder each other.
  int compiles_at_once = 1;

  // "cuda:0"
  std::string id() const;
};

// Where something is in a device's memory (or in pinned memory, as the device sees it).
struct DeviceAddress {
  uint64_t value = 0;
  DeviceAddress operator+(int64_t bytes) const { return {value + static_cast<uint64_t>(bytes)}; }
  bool operator==(const DeviceAddress&) const = default;
};

// Of device memory that is divided: every part starts on such a multiple.
inline constexpr int64_t device_alignment = 256;
inline int64_t padded(int64_t bytes) { return (bytes + device_alignment - 1) / device_alignment * device_alignment; }

class Device;

// Owns device memory; starts on a multiple of device_alignment and is not initialised.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(Device* device, DeviceAddress address, int64_t bytes)
      : device_(device), address_(address), bytes_(bytes) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  DeviceAddress address() const { return address_; }
  int64_t bytes() const { return bytes_; }
  // Leaves the memory to the caller, who gives it to another owner.
  DeviceAddress release() {
    device_ = nullptr;
    return address_;
  }

 private:
  Device* device_ = nullptr;
  DeviceAddress address_;
  int64_t bytes_ = 0;
};

// Owns pinned host memory; starts on a multiple of 4096.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(Device* device, std::byte* data, DeviceAddress address, int64_t bytes)
      : device_(device), data_(data), address_(address), bytes_(bytes) {}
  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  ~PinnedBuffer();

  std::byte* data() const { return data_; }
  // For kernels; meaningful where the device can_map.
  DeviceAddress address() const { return address_; }
  int64_t bytes() const { return bytes_; }
  // Gives back what is behind the first so many bytes.
  void shrink(int64_t bytes);
  // Leaves the memory to the caller, who gives it to another owner.
  std::byte* release() {
    device_ = nullptr;
    return data_;
  }

 private:
  Device* device_ = nullptr;
  std::byte* data_ = nullptr;
  DeviceAddress address_;
  int64_t bytes_ = 0;
};

// Compiled text, loaded and ready. Lives at most as long as its device.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Work-groups of so many items that one compute unit runs at once; for the size of a persistent grid. shared_room: as
  // for Queue::launch().
  virtual int groups_per_unit(int group_size, int64_t shared_room = 0) const = 0;
};

// A place in a queue's work that can be waited for, and timed.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
};

class Queue {
 public:
  Queue();
  virtual ~Queue() = default;
  // No other queue of the process has it, or had it.
  uint64_t number() const { return number_; }
  // All of these only queue the work; its errors come out of any later call. Host memory must stay until the work is
  // done. Copies overlap with other queues' work only from and to pinned memory.
  void copy_to_device(DeviceAddress to, const void* from, int64_t bytes);
  void copy_to_host(void* to, DeviceAddress from, int64_t bytes);
  // From one place in the device's memory to another; the two do not overlap.
  void copy_on_device(DeviceAddress to, DeviceAddress from, int64_t bytes);
  // Lines of so many bytes, which lie as far apart there as the pitches say. A driver takes microseconds for each copy,
  // so these are one where it can.
  struct Lines {
    int64_t count = 0, bytes = 0;
    int64_t to_pitch = 0, from_pitch = 0;
  };
  void copy_lines_to_host(void* to, DeviceAddress from, const Lines& lines);
  void fill(DeviceAddress to, uint8_t value, int64_t bytes);
  // groups * group_size work-items; one-dimensional. shared_room: bytes of the kernel's DK_SHARED_ROOM with CUDA; with
  // OpenCL its text says how many.
  void launch(const Kernel& kernel, int64_t groups, int group_size, std::span<const uint64_t> parameters,
              int64_t shared_room = 0);
  std::unique_ptr<DeviceEvent> record();
  // Has the driver begin with what is queued, where it would wait for more.
  void begin() { queue_begin(); }
  // What is queued from now on begins once that place has been reached, in whichever queue of the device it is.
  void wait_for(const DeviceEvent& event);
  // Has what queued work uses stay until synchronize() finds that work done.
  void hold(std::shared_ptr<const void> used) { held_.push_back(std::move(used)); }
  size_t held() const { return held_.size(); }
  // Whether everything queued is known to be done.
  bool is_idle() const { return is_idle_; }
  // Waits until everything queued is done; where it is by now, nothing is waited for, nor counted. Errors: 58000 with
  // the driver's message.
  void synchronize();
  // The same, of work that ends with the event; calls watch() now and then until it has happened. Errors: the watch's,
  // too.
  void synchronize_watching(const DeviceEvent& last, const std::function<void()>& watch);
  // Errors: 58000.
  virtual bool has_happened(const DeviceEvent& event) = 0;
  // Between two events that have happened; 0 where the driver cannot tell.
  virtual int64_t nanoseconds_between(const DeviceEvent& first, const DeviceEvent& second) = 0;
  // For libraries that queue work of their own: the CUstream, whose context is made current on the calling thread;
  // nullptr with OpenCL.
  void* native_handle();

  // Where the work from now on is counted, which outlives its use; null: nowhere.
  void report_to(WorkReport* report) { report_ = report; }
  PartClock* clock() const { return report_ != nullptr ? report_->clock : nullptr; }
  // Bytes of the host's memory that kernels of this queue read and write where they are.
  void count_in_place(int64_t read, int64_t written);

 protected:
  // One copy for each line.
  virtual void queue_copy_lines_to_host(std::byte* to, DeviceAddress from, const Lines& lines);

 private:
  virtual void queue_copy_to_device(DeviceAddress to, const void* from, int64_t bytes) = 0;
  virtual void queue_copy_to_host(void* to, DeviceAddress from, int64_t bytes) = 0;
  virtual void queue_copy_on_device(DeviceAddress to, DeviceAddress from, int64_t bytes) = 0;
  virtual void queue_launch(const Kernel& kernel, int64_t groups, int group_size, std::span<const uint64_t> parameters,
                            int64_t shared_room) = 0;
  virtual void queue_fill(DeviceAddress to, uint8_t value, int64_t bytes) = 0;
  virtual std::unique_ptr<DeviceEvent> queue_record() = 0;
  virtual void queue_wait_for(const DeviceEvent& event) = 0;
  virtual void queue_begin() {}
  virtual void* queue_handle() { return nullptr; }
  virtual void wait() = 0;
  // Whether everything queued is done; false, too, where the driver does not tell without waiting. Errors: 58000.
  virtual bool is_through() { return false; }

  template <typename WaitBefore>
  void wait_and_count(WaitBefore&& wait_before);

  const uint64_t number_;
  WorkReport* report_ = nullptr;
  bool is_idle_ = true;
  std::vector<std::shared_ptr<const void>> held_;
};

struct DeviceMemoryUse {
  int64_t used_bytes = 0;    // in buffers
  int64_t pooled_bytes = 0;  // freed, kept for the next buffer
  int64_t peak_bytes = 0;    // of used
  int64_t pinned_bytes = 0;
  int64_t set_aside_bytes = 0;  // of the pooled ones, by reservations
};

struct CompileReport {
  int64_t nanoseconds = 0;
  bool from_disk = false, from_memory = false, is_ahead = false;  // is_ahead: compiled ahead of time
  const char* origin() const { return from_memory ? "memory" : is_ahead ? "build" : from_disk ? "disk" : "compiler"; }
};

// Memory of a device that is set aside for the work of the thread that makes this, until it ends: allocate() takes from
// it first there. What is in use at its end stays with its owners. Thread safety: that thread's.
class DeviceReservation {
 public:
  // number: of Device::try_reserve(); 0: nothing is set aside. room: bytes that the work plans with.
  DeviceReservation(Device& device, uint64_t number, int64_t room);
  DeviceReservation(const DeviceReservation&) = delete;
  DeviceReservation& operator=(const DeviceReservation&) = delete;
  ~DeviceReservation();
  // Takes another's place, which has more.
  void replace(uint64_t number, int64_t room);
  int64_t room() const { return room_; }

 private:
  friend class Device;
  Device& device_;
  DeviceReservation* const before_;  // of this thread
  uint64_t number_;
  int64_t room_;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  // Once it is lost, members that need the driver throw 58000; buffers, kernels and queues may still be destroyed.
  const DeviceHealth& health() const { return *health_; }

  // Of this thread's reservation, or, where that has no room or there is none, of what is left of the device. Errors:
  // 53200 naming the device, the bytes and `what`, when the device or the limit has no room, and nothing gives way.
  DeviceBuffer allocate(int64_t bytes, const char* what);
  // For what stays when the reservation ends: apart from it. Errors: as above.
  DeviceBuffer allocate_to_stay(int64_t bytes, const char* what);
  // What work on this thread may plan with: of its reservation, or the limit.
  int64_t room() const;
  // Whether memory that is only kept, of columns, is given back where there is no room without.
  enum class Kept : uint8_t { Stays, GivesWay };
  // Sets so many bytes aside, and returns a number for them; nullopt where there is no room.
  std::optional<uint64_t> try_reserve(int64_t bytes, Kept kept);
  // Gives back device memory that is only kept, about so many bytes at a time; false: nothing was left. Called while
  // allocate() finds no room. To be reset (null) before what it uses ends.
  void when_short(std::function<bool(int64_t bytes)> give_way) {
    std::lock_guard guard(give_way_mutex_);
    give_way_ = std::move(give_way);
  }
  // reservation: taken from first; 0: there is none.
  virtual std::optional<DeviceBuffer> try_allocate(int64_t bytes, uint64_t reservation) = 0;
  // From a pool of fixed blocks. Errors: 53200.
  virtual PinnedBuffer allocate_pinned(int64_t bytes, const char* what) = 0;
  // Bytes that buffers may take together; -1: nine tenths of what the device has.
  virtual void set_memory_limit(int64_t bytes) = 0;
  virtual int64_t memory_limit() const = 0;
  virtual DeviceMemoryUse memory_use() const = 0;

  virtual std::unique_ptr<Queue> make_queue() = 0;
  // Spares the calls that follow on this thread, as long as what is returned lives, what each does to make the device
  // the thread's and to undo it.
  virtual std::shared_ptr<const void> enter() { return nullptr; }

  // From memory, from what was compiled ahead of time, from the disk cache, or from the compiler, in this order.
  // Errors: 58000 with the compiler's log, and what the thread's StopCheck throws while the compiler runs.
  virtual std::shared_ptr<const Kernel> compile(const KernelText& kernel, CompileReport* report = nullptr) = 0;
  // Has it compiled for somebody who asks later. Does nothing where it is there, or another thread makes it. Errors: as
  // compile().
  virtual void prepare(const KernelText& kernel) { compile(kernel); }
  // The same as compile(), but nullptr where the compiler would have to run.
  virtual std::shared_ptr<const Kernel> find_compiled(const KernelText& kernel) = 0;

 protected:
  explicit Device(std::shared_ptr<DeviceHealth> health = std::make_shared<DeviceHealth>())
      : health_(std::move(health)) {}

  friend class DeviceBuffer;
  friend class PinnedBuffer;
  friend class DeviceReservation;
  // See MemoryPool.
  virtual std::optional<uint64_t> reserve(int64_t bytes) = 0;
  virtual void release(uint64_t reservation) noexcept = 0;
  virtual void free(DeviceAddress address, int64_t bytes) noexcept = 0;
  virtual void free_pinned(std::byte* data, int64_t bytes) noexcept = 0;
  virtual void shrink_pinned(std::byte* data, int64_t bytes) noexcept = 0;

  const std::shared_ptr<DeviceHealth> health_;

 private:
  const DeviceReservation* reservation_here() const;
  // Calls `take` until it returns something, or nothing gives way any more.
  template <typename Take>
  auto take_or_make_room(int64_t bytes, Take&& take) -> decltype(take());
  [[noreturn]] void raise_no_room(int64_t bytes, const char* what) const;

  std::mutex give_way_mutex_;  // guards give_way_
  std::function<bool(int64_t bytes)> give_way_;
};

// Copies host memory that need not stay, from pinned memory that has to, and is returned. Drivers wait for copies from
// and to other memory, and with them for everything queued before. Errors: 53200.
PinnedBuffer send(Device& device, Queue& queue, DeviceAddress to, const void* from, int64_t bytes);

}  // namespace diptych
