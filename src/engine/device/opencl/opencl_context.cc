#include "engine/device/opencl/opencl_context.h"

#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace diptych::opencl {

std::shared_ptr<DeviceHealth> health_of(cl_device_id device) {
  struct All {
    std::mutex mutex;
    std::map<cl_device_id, std::shared_ptr<DeviceHealth>> by_device;
  };
  static All& all = *new All;  // as the contexts
  std::lock_guard lock(all.mutex);
  auto& health = all.by_device[device];
  if (!health) health = std::make_shared<DeviceHealth>();
  return health;
}

Context::Context(std::shared_ptr<const Api> loaded, cl_device_id id)
    : api(std::move(loaded)), device(id), health(health_of(id)) {
  char vendor[64] = {};
  if (api->GetDeviceInfo(device, device_vendor, sizeof(vendor) - 1, vendor, nullptr) == success)
    is_nvidia = std::string_view(vendor).starts_with("NVIDIA");
  cl_int status = success;
  context = api->CreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "making a context");
}

void Context::check(cl_int status, const char* what) const { check(status, what, ends_context(status)); }

// NVIDIA's driver says it has no resources after a kernel that failed, and then for ever.
void Context::check_done(cl_int status, const char* what) const {
  check(status, what, ends_context(status) || (is_nvidia && status == out_of_resources));
}

void Context::check(cl_int status, const char* what, bool is_lost) const {
  if (status == success) return;
  try {
    opencl::check(status, what);
  } catch (const Error& error) {
    if (is_lost) health->lose(error.message());
    throw;
  }
}

std::shared_ptr<const Context> Context::of(std::shared_ptr<const Api> api, cl_device_id device) {
  struct Contexts {
    std::mutex mutex;
    std::map<cl_device_id, std::weak_ptr<const Context>> open;
  };
  static Contexts& all = *new Contexts;  // databases may be opened and closed while the process ends
  std::lock_guard lock(all.mutex);
  std::shared_ptr<const Context> context = all.open[device].lock();
  if (context == nullptr) all.open[device] = context = std::make_shared<Context>(std::move(api), device);
  return context;
}

}  // namespace diptych::opencl
