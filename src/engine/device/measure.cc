#include "engine/device/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "kernel/kernel_library.h"

namespace diptych {
namespace {

constexpr int group_size = 256;
constexpr int tries = 5;
constexpr int64_t multiplies_per_item = 4096;

using Clock = std::chrono::steady_clock;

double nanoseconds_of(const std::function<void()>& action) {
  const auto start = Clock::now();
  action();
  return std::max(1.0, static_cast<double>((Clock::now() - start).count()));
}

double least_nanoseconds(int count, const std::function<void()>& action) {
  double least = nanoseconds_of(action);
  for (int i = 1; i < count; ++i) least = std::min(least, nanoseconds_of(action));
  return least;
}

double rate(int64_t bytes, double nanoseconds) { return static_cast<double>(bytes) / nanoseconds * 1e9; }

uint64_t sum_of(const uint64_t* from, size_t count) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= count; i += 8) {
    for (size_t k = 0; k < 8; ++k) sums[k] += from[i + k];
  }
  uint64_t sum = 0;
  for (const uint64_t part : sums) sum += part;
  return sum;
}

// Each thread reads its part; the slowest one counts. Where the system refuses threads, those that there are measure.
double read_rate(const std::vector<uint64_t>& memory, int threads) {
  const size_t part = memory.size() / static_cast<size_t>(threads);
  std::vector<double> taken(static_cast<size_t>(threads));
  std::vector<uint64_t> sums(taken.size());  // used, so that the reading is not optimised away
  std::barrier start(threads);
  const auto read = [&](size_t number) {
    const uint64_t* from = memory.data() + number * part;
    double least = 0;
    for (int i = 0; i < tries; ++i) {
      start.arrive_and_wait();
      const double once = nanoseconds_of([&] { sums[number] += sum_of(from, part); });
      least = i == 0 ? once : std::min(least, once);
    }
    taken[number] = least;
  };
  std::vector<std::jthread> others;
  others.reserve(taken.size());
  try {
    while (others.size() + 1 < taken.size()) others.emplace_back(read, others.size() + 1);
  } catch (const std::exception&) {
    // No thread, or no memory for one.
    for (size_t missing = others.size() + 1; missing < taken.size(); ++missing) start.arrive_and_drop();
  }
  const size_t reading = others.size() + 1;
  read(0);
  others.clear();
  taken.resize(reading);
  const volatile uint64_t used = sums[0];
  static_cast<void>(used);
  return rate(static_cast<int64_t>(part * sizeof(uint64_t) * reading), *std::max_element(taken.begin(), taken.end()));
}

// Memory on both sides, and the times of copies between them.
class DeviceMeasurement {
 public:
  DeviceMeasurement(Device& device, int64_t bytes)
      : device_(device),
        bytes_(bytes),
        queue_(device.make_queue()),
        memory_(device.allocate(bytes, "calibration")),
        pinned_(device.allocate_pinned(bytes, "calibration")),
        pageable_(static_cast<size_t>(bytes), std::byte{1}) {}

  ~DeviceMeasurement() {
    try {
      queue_->synchronize();
    } catch (const std::exception&) {
      // It was reported where it was met.
    }
  }

  void measure_copies(DeviceCalibration& calibration, int count) {
    std::fill_n(pinned_.data(), bytes_, std::byte{1});
    calibration.to_device_pinned =
        rate_of(count, [&] { queue_->copy_to_device(memory_.address(), pinned_.data(), bytes_); });
    calibration.to_device_pageable =
        rate_of(count, [&] { queue_->copy_to_device(memory_.address(), pageable_.data(), bytes_); });
    calibration.to_host_pinned =
        rate_of(count, [&] { queue_->copy_to_host(pinned_.data(), memory_.address(), bytes_); });
    calibration.to_host_pageable =
        rate_of(count, [&] { queue_->copy_to_host(pageable_.data(), memory_.address(), bytes_); });
    // What a kernel reads over the bus is a little less than what a copy moves.
    calibration.mapped = calibration.to_device_pinned * 0.9;
  }

  // Writing stands in for reading.
  void measure_fill(DeviceCalibration& calibration) {
    calibration.read = rate_of(tries, [&] { queue_->fill(memory_.address(), 0, bytes_); });
    calibration.launch_ns = least_nanoseconds(tries, [&] { fill_and_wait(256); });
  }

  void measure_kernels(DeviceCalibration& calibration) {
    // A text that no cache has; what a usual section's has besides its own lines is in it.
    const std::string text = fmt::format("// {}\n{}", Clock::now().time_since_epoch().count(), measuring_text());
    std::shared_ptr<const Kernel> read, multiply;
    calibration.compile_ns = nanoseconds_of([&] { read = device_.compile({text, "read_memory"}); });
    multiply = device_.compile({text, "multiply"});
    const int64_t groups = groups_of(*read);
    calibration.read = rate_of(tries, [&] { launch(*read, groups, memory_.address(), bytes_ / 16); });
    if (device_.info().can_map)
      calibration.mapped = rate_of(tries, [&] { launch(*read, groups, pinned_.address(), bytes_ / 16); });
    calibration.launch_ns = least_nanoseconds(50, [&] {
      launch(*read, 1, memory_.address(), 0);
      queue_->synchronize();
    });
    const int64_t many = groups_of(*multiply);
    const double taken = least_nanoseconds(tries, [&] {
      launch(*multiply, many, memory_.address(), multiplies_per_item);
      queue_->synchronize();
    });
    const double multiplies = static_cast<double>(many * group_size * multiplies_per_item);
    calibration.multiply_ns = std::max(1e-7, (taken - calibration.launch_ns) / multiplies);
  }

 private:
  double rate_of(int count, const std::function<void()>& action) {
    return rate(bytes_, least_nanoseconds(count, [&] {
                  action();
                  queue_->synchronize();
                }));
  }

  void fill_and_wait(int64_t bytes) {
    queue_->fill(memory_.address(), 0, bytes);
    queue_->synchronize();
  }

  void launch(const Kernel& kernel, int64_t groups, DeviceAddress at, int64_t count) {
    const uint64_t words[] = {at.value, static_cast<uint64_t>(count), memory_.address().value};
    queue_->launch(kernel, groups, group_size, words);
  }

  int64_t groups_of(const Kernel& kernel) const {
    return int64_t{device_.info().compute_units} * std::max(1, kernel.groups_per_unit(group_size));
  }

  Device& device_;
  const int64_t bytes_;
  std::unique_ptr<Queue> queue_;
  DeviceBuffer memory_;
  PinnedBuffer pinned_;
  std::vector<std::byte> pageable_;
};

// Some part of what the device has, on a whole number of pages.
int64_t bytes_within(const Device& device, int64_t wanted) {
  const int64_t has = device.memory_limit() >= 0 ? device.memory_limit() : device.info().memory_bytes;
  return std::max<int64_t>(int64_t{1} << 20, std::min(wanted, has / 8) / 4096 * 4096);
}

}  // namespace

void measure_host_memory(HostCalibration& host, int threads, int64_t bytes) {
  const std::vector<uint64_t> memory(static_cast<size_t>(bytes) / sizeof(uint64_t), 1);
  host.read_one = read_rate(memory, 1);
  host.read_all = std::max(host.read_one, read_rate(memory, std::max(1, threads)));
}

DeviceCalibration calibration_of_host_device(const HostCalibration& host) {
  DeviceCalibration calibration;
  calibration.read = calibration.mapped = host.read_all;
  calibration.to_device_pinned = calibration.to_device_pageable = host.read_one / 2;
  calibration.to_host_pinned = calibration.to_host_pageable = host.read_one / 2;
  calibration.launch_ns = 50e3;
  calibration.compile_ns = 300e6;
  calibration.multiply_ns = 0.3;
  return calibration;
}

DeviceCalibration measure_short(Device& device, const HostCalibration& host) {
  if (device.info().is_host) return calibration_of_host_device(host);
  DeviceCalibration calibration;
  // Eight megabytes: at 5 GB/s, which is slow, a copy takes 1.6 ms.
  DeviceMeasurement measurement(device, bytes_within(device, int64_t{8} << 20));
  measurement.measure_copies(calibration, 2);
  measurement.measure_fill(calibration);
  return calibration;
}

DeviceCalibration measure_device(Device& device, const HostCalibration& host, int64_t bytes) {
  DeviceCalibration calibration = device.info().is_host ? calibration_of_host_device(host) : DeviceCalibration();
  DeviceMeasurement measurement(device, bytes_within(device, bytes));
  measurement.measure_copies(calibration, tries);
  measurement.measure_kernels(calibration);
  calibration.is_short = false;
  return calibration;
}

std::string measuring_text() {
  return fmt::format("#define DK_GROUP_SIZE {}\n#define DK_PARAMETER_WORDS 3\n#define DK_ROWS 4\n", group_size) +
         kernel_text({"device/section.h", "device/block.h", "numeric.h", "text.h"}) +
         R"(DK_KERNEL void read_memory(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_GLOBAL const dk_u8* from = DK_AT(const dk_u8, parameters.word[0]);
  const dk_i64 count = (dk_i64)parameters.word[1];
  const dk_i64 step = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  dk_u32 sum = 0;
  for (dk_i64 i = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; i < count; i += 4 * step) {
    dk_u32 words[16];
    DK_UNROLL
    for (dk_i32 k = 0; k < 4; ++k) {
      if (i + k * step >= count) break;
      DK_LOAD_X4(from + (i + k * step) * 16, words + 4 * k);
      sum += words[4 * k] ^ words[4 * k + 1] ^ words[4 * k + 2] ^ words[4 * k + 3];
    }
  }
  if (sum == 0x9E3779B9U) *DK_AT(dk_u32, parameters.word[2]) = sum;
}
DK_KERNEL void multiply(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  dk_u64 a = (dk_u64)DK_LOCAL_ID, b = a + 1, c = a + 2, d = a + 3;
  for (dk_i64 i = 0; i < (dk_i64)parameters.word[1]; i += 4) {
    a = a * a + 1;
    b = b * b + 3;
    c = c * c + 5;
    d = d * d + 7;
  }
  if ((a ^ b ^ c ^ d) == 12345) *DK_AT(dk_u64, parameters.word[2]) = a;
}
)";
}

}  // namespace diptych
