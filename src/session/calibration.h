// Measures what opcodes cost on the CPU, by statements that are made of them.
#pragma once

#include "engine/device/calibration_store.h"
#include "engine/device/device_list.h"
#include "engine/device/measure.h"

namespace diptych {

// Memory, and nanoseconds a row by kind of work, on this machine: about two seconds. Errors: those of the statements.
void calibrate_host(HostCalibration& host);

// Compiles what every database needs on the device, the interpreter, into its cache: some seconds. Errors: 58000.
void prepare_device(Device& device);

}  // namespace diptych
