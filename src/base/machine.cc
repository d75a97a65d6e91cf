#include "base/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

namespace diptych {
namespace {

template <typename T>
void lower(std::optional<T>& limit, T other) {
  limit = limit ? std::min(*limit, other) : other;
}

// The first line of a file; empty where there is none.
std::string line_of(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

// A number that is no limit ("max", -1) or can't be read is none.
std::optional<int64_t> number_of(const std::string& text) {
  std::istringstream stream(text);
  int64_t number = 0;
  if (stream >> number && number >= 0) return number;
  return std::nullopt;
}

void lower_processors(ControlGroupLimits& limits, std::optional<int64_t> quota, std::optional<int64_t> period) {
  if (quota && period && *quota > 0 && *period > 0)
    lower(limits.processors, static_cast<double>(*quota) / static_cast<double>(*period));
}

// Version 2: one tree; cpu.max holds "quota period", in microseconds.
void read_unified(const std::string& folder, ControlGroupLimits& limits) {
  if (const auto bytes = number_of(line_of(folder + "/memory.max"))) lower(limits.memory_bytes, *bytes);
  const std::string time = line_of(folder + "/cpu.max");
  const size_t space = time.find(' ');
  if (space != std::string::npos) lower_processors(limits, number_of(time), number_of(time.substr(space)));
}

// Version 1: a tree for each controller.
void read_memory(const std::string& folder, ControlGroupLimits& limits) {
  if (const auto bytes = number_of(line_of(folder + "/memory.limit_in_bytes"))) lower(limits.memory_bytes, *bytes);
}
void read_processors(const std::string& folder, ControlGroupLimits& limits) {
  lower_processors(limits, number_of(line_of(folder + "/cpu.cfs_quota_us")),
                   number_of(line_of(folder + "/cpu.cfs_period_us")));
}

// Calls `read` for the group at `path` of the tree at `mount` and for each around it. In a container the path is often
// that on the host, of which there are no folders here, while the tree's own is the container's group.
template <typename Read>
void for_each_group(const std::string& mount, std::string path, ControlGroupLimits& limits, Read read) {
  for (;;) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    read(mount + path, limits);
    if (path.empty()) return;
    path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

bool has_controller(std::string_view controllers, std::string_view name) {
  for (size_t from = 0; from <= controllers.size();) {
    const size_t to = std::min(controllers.find(',', from), controllers.size());
    if (controllers.substr(from, to - from) == name) return true;
    from = to + 1;
  }
  return false;
}

int processors_of_affinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

const ControlGroupLimits& own_limits() {
  static const ControlGroupLimits limits = control_group_limits("/");
  return limits;
}

// Of a list of processors: "0-3,8".
int64_t processors_in(const std::string& list) {
  int64_t count = 0;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    const size_t dash = range.find('-');
    const auto first = number_of(range);
    const auto last = dash == std::string::npos ? first : number_of(range.substr(dash + 1));
    if (first && last && *last >= *first) count += *last - *first + 1;
  }
  return count;
}

// "1024K", "32M"
int64_t bytes_of_size(const std::string& text) {
  const int64_t number = number_of(text).value_or(0);
  if (text.ends_with('K')) return number << 10;
  return text.ends_with('M') ? number << 20 : number;
}

}  // namespace

int64_t machine_memory_bytes() {
  static const int64_t bytes = std::min(static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE),
                                        own_limits().memory_bytes.value_or(INT64_MAX));
  return bytes;
}

int machine_threads() {
  static const int threads = [] {
    const double allowed = std::ceil(own_limits().processors.value_or(processors_of_affinity()));
    return static_cast<int>(std::clamp<double>(allowed, 1, std::max(1, processors_of_affinity())));
  }();
  return threads;
}

int64_t machine_cache_bytes() {
  static const int64_t bytes = cache_bytes_of_processor("/");
  return bytes;
}

int64_t cache_bytes_of_processor(const std::string& root) {
  constexpr int most_caches = 8;
  int64_t bytes = 0;
  for (int i = 0; i < most_caches; ++i) {
    const std::string cache = root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    if (number_of(line_of(cache + "/level")).value_or(0) < 2) continue;
    const int64_t sharing = processors_in(line_of(cache + "/shared_cpu_list"));
    bytes += bytes_of_size(line_of(cache + "/size")) / std::max<int64_t>(1, sharing);
  }
  return bytes;
}

ControlGroupLimits control_group_limits(const std::string& root) {
  ControlGroupLimits limits;
  const std::string groups = root + "/sys/fs/cgroup";
  // Lines are "number:controllers:path"; version 2 has no controllers there.
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) for_each_group(groups, path, limits, read_unified);
    if (has_controller(controllers, "memory")) for_each_group(groups + "/memory", path, limits, read_memory);
    if (has_controller(controllers, "cpu")) for_each_group(groups + "/cpu", path, limits, read_processors);
  }
  return limits;
}

}  // namespace diptych
