// `diptych calibrate`: measures the machine, writes the profile and prints what it holds.
#pragma once

#include <iosfwd>
#include <string>

namespace diptych::shell {

// device: "all" that are no part of the host, "cpu" for the CPU alone, or one device. Returns the exit status; an error
// is printed: 22023 for a device that is not there, 58030 when the profile can't be written.
int calibrate(const std::string& device, std::ostream& out, std::ostream& errors);

}  // namespace diptych::shell
