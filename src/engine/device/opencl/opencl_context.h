// A device's context, which the databases of a process share, and its health.
#pragma once

#include <memory>

#include "engine/device/device.h"
#include "engine/device/opencl/opencl_api.h"

namespace diptych::opencl {

// Of a device, for the process: what ends a context of a device may have ended the device.
std::shared_ptr<DeviceHealth> health_of(cl_device_id device);

// A context of a device, for all databases of the process, as CUDA's primary context is: making one takes a GPU's
// driver 0.1 s. The last that uses it releases it.
struct Context {
  static std::shared_ptr<const Context> of(std::shared_ptr<const Api> api, cl_device_id device);

  std::shared_ptr<const Api> api;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  std::shared_ptr<DeviceHealth> health;
  bool is_nvidia = false;

  // Errors: 58000, 53200.
  Context(std::shared_ptr<const Api> api, cl_device_id device);
  ~Context() { api->ReleaseContext(context); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // As the function check(), and notes that the device is lost where the status says so.
  void check(cl_int status, const char* what) const;
  // The same of what reports how kernels before have ended.
  void check_done(cl_int status, const char* what) const;

 private:
  void check(cl_int status, const char* what, bool is_lost) const;
};

// Its compiler takes one kernel at a time, behind a lock, and the cores that run the kernels.
inline bool is_pocl(const DeviceInfo& info) { return info.driver.starts_with("Portable Computing Language"); }

}  // namespace diptych::opencl
