// What this machine's profile says of a device's memory and bus, and the time that no query can be faster than.
#pragma once

#include <optional>
#include <string>

#include "diptych.h"

namespace diptych::bench {

// Bytes a second.
struct Bandwidths {
  double memory = 0;                  // a kernel reads the device's memory
  double to_device = 0, to_host = 0;  // copies from and to pinned memory
  double mapped = 0;                  // a kernel reads pinned host memory

  // Seconds that columns of `in` bytes, as stored, and a result of `out` bytes take at least: columns over the bus, or
  // from the device's memory where they are cached; the result over the bus at the same time, or, with serial, after
  // them.
  double least_seconds(const std::string& residency, double in, double out) const;
};

// From the file that `diptych calibrate` wrote; nothing where it has not measured the device.
std::optional<Bandwidths> find_bandwidths(Diptych& diptych, const std::string& device);

}  // namespace diptych::bench
