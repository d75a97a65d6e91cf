// Measures what a calibration holds, apart from the CPU's cost of opcodes (session/calibration.h, which has SQL to
// run).
//
// Each figure is the best of several tries: what the machine can do when nothing disturbs it.
#pragma once

#include <string>

#include "cost/calibration.h"
#include "engine/device/device.h"

namespace diptych {

// Reads `bytes` of memory with one thread and with `threads`.
void measure_host_memory(HostCalibration& host, int threads, int64_t bytes);

// Copies and fills alone, a few milliseconds: nothing is compiled.
DeviceCalibration measure_short(Device& device, const HostCalibration& host);

// All of it, with kernels: about a second. `bytes` on either side, or as many as the device can spare; by default well
// beyond the caches (60 MB of L2 on an H200). Errors: 53200, 58000.
DeviceCalibration measure_device(Device& device, const HostCalibration& host, int64_t bytes = int64_t{512} << 20);

// Of a device whose memory is the host's: nothing to measure.
DeviceCalibration calibration_of_host_device(const HostCalibration& host);

// The text of the kernels that measure_device() runs.
std::string measuring_text();

}  // namespace diptych
