#include "shell/calibrate.h"

#include <fmt/format.h>

#include <ostream>

#include "base/error.h"
#include "session/calibration.h"

namespace diptych::shell {
namespace {

double gigabytes(double bytes) { return bytes * 1e-9; }

void print_host(const HostCalibration& host, std::ostream& out) {
  out << fmt::format("cpu: {}\n  memory read by one thread {:.1f} GB/s, by all {:.1f} GB/s\n", machine_key(),
                     gigabytes(host.read_one), gigabytes(host.read_all));
  for (size_t kind = 0; kind < work_kind_count; ++kind)
    out << fmt::format("  {}: {:.3f} ns a row on one core\n", name_of(static_cast<WorkKind>(kind)), host.row_ns[kind]);
}

void print_device(const DeviceInfo& info, const DeviceCalibration& device, std::ostream& out) {
  out << fmt::format("{}: {}\n  device memory read {:.1f} GB/s, host memory read by a kernel {:.1f} GB/s\n", info.id(),
                     device_key(info), gigabytes(device.read), gigabytes(device.mapped));
  out << fmt::format("  to the device {:.1f} GB/s pinned, {:.1f} pageable; back {:.1f} pinned, {:.1f} pageable\n",
                     gigabytes(device.to_device_pinned), gigabytes(device.to_device_pageable),
                     gigabytes(device.to_host_pinned), gigabytes(device.to_host_pageable));
  out << fmt::format("  launch and wait {:.1f} us, compile {:.1f} ms, multiply-adds {:.1f} thousand million a second\n",
                     device.launch_ns * 1e-3, device.compile_ns * 1e-6, 1 / device.multiply_ns);
}

void measure(const std::string& device, std::ostream& out) {
  const std::string path = calibration_path();
  if (path.empty()) throw Error(SqlState::io_error, "neither DIPTYCH_CALIBRATION, XDG_CONFIG_HOME nor HOME is set");
  DeviceList devices;
  // Before anything is measured: whether the device is there, and whether the calibration can be written.
  if (device != "all" && device != "cpu") devices.find(device);
  check_calibration_writable(path);
  MachineCalibration calibration = read_calibration(path).value_or(MachineCalibration());
  calibrate_host(calibration.host);
  print_host(calibration.host, out);
  int measured = 0;
  for (const DeviceInfo& info : devices.infos()) {
    const bool is_named = device == info.id() || (device == "all" && !info.is_host && info.unusable.empty());
    const bool is_api = device == info.id().substr(0, info.id().find(':'));
    if (!is_named && !is_api) continue;
    DeviceCalibration& entry = calibration.devices[device_key(info)];
    entry = measure_device(*devices.find(info.id()), calibration.host);
    print_device(info, entry, out);
    if (!info.is_host) prepare_device(*devices.find(info.id()));
    ++measured;
  }
  if (measured == 0 && device == "all") out << "no usable device that is no part of the host\n";
  write_calibration(path, calibration);
  out << "written to " << path << '\n';
}

}  // namespace

int calibrate(const std::string& device, std::ostream& out, std::ostream& errors) {
  try {
    measure(device, out);
    return 0;
  } catch (const Error& error) {
    errors << fmt::format("ERROR {}: {}\n", code_of(error.state()), error.message());
    return 1;
  }
}

}  // namespace diptych::shell
