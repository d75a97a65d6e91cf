#include "engine/device/auto_devices.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/exit_hold.h"

namespace diptych {
namespace {

// Loading drivers takes some hundred milliseconds of another core; less work than this is not worth it.
constexpr int64_t least_work_ns = 5'000'000;
// Of so much the thread takes little, and the next statement may be as long.
constexpr double long_work_ns = 50e6;

}  // namespace

void AutoDevices::note_work(double cpu_ns) {
  if (!may_exist_ || started_.load(std::memory_order_relaxed)) return;
  work_ns_ += static_cast<int64_t>(cpu_ns);
  if (cpu_ns >= long_work_ns) search_if_due();
}

void AutoDevices::search_if_due() noexcept {
  if (!may_exist_ || started_.load(std::memory_order_relaxed)) return;
  if (work_ns_.load(std::memory_order_relaxed) < least_work_ns || started_.exchange(true)) return;
  try {
    thread_ = std::jthread([this] { search(); });
  } catch (const std::system_error&) {
    done_.store(true, std::memory_order_release);  // without a thread there are no devices
  }
}

std::span<const AutoDevice> AutoDevices::ready() const {
  if (!done_.load(std::memory_order_acquire)) return {};
  return found_;
}

void AutoDevices::search() {
  const ExitHold hold;
  if (!hold.is_held()) return;
  try {
    for (const DeviceInfo& info : devices_.infos()) {
      if (!info.unusable.empty() || info.is_host) continue;
      // The same GPU through two APIs: the first one, CUDA, knows it better.
      const bool is_known = std::any_of(found_.begin(), found_.end(), [&](const AutoDevice& known) {
        return known.device->info().api != info.api && known.device->info().name == info.name;
      });
      if (is_known) continue;
      try {
        Device* device = devices_.find(info.id());
        found_.push_back({device, calibrations_.of(*device)});
      } catch (const Error&) {
        // One that can't be opened is as good as none.
      }
    }
  } catch (const std::exception&) {
    // Drivers that break are no reason for a statement to fail that never asked for a device.
  }
  done_.store(true, std::memory_order_release);
}

bool system_shows_gpu() {
  for (const char* node : {"/dev/nvidiactl", "/dev/kfd", "/dev/dxg", "/dev/dri"})
    if (access(node, F_OK) == 0) return true;
  return false;
}

}  // namespace diptych
