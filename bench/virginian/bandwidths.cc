#include "bandwidths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace diptych::bench {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// docs/devices.md says where it is.
std::string calibration_path() {
  if (const std::string path = variable("DIPTYCH_CALIBRATION"); !path.empty()) return path;
  if (const std::string folder = variable("XDG_CONFIG_HOME"); !folder.empty())
    return folder + "/diptych/calibration.json";
  return variable("HOME") + "/.config/diptych/calibration.json";
}

}  // namespace

double Bandwidths::least_seconds(const std::string& residency, double in, double out) const {
  if (residency == "serial") return in / to_device + out / to_host;
  const double rate = residency == "cached" ? memory : residency == "mapped" ? mapped : to_device;
  return std::max(in / rate, out / to_host);
}

std::optional<Bandwidths> find_bandwidths(Diptych& diptych, const std::string& device) {
  std::string machine, key;
  for (const auto& row : diptych.rows("show devices")) {
    if (row[0] == "cpu") machine = row[1];
    if (row[0] == device) key = fmt::format("{}, driver {}", row[1], row[4]);
  }
  std::ifstream file(calibration_path());
  const auto calibration = nlohmann::json::parse(file, nullptr, false);
  const auto path = nlohmann::json::json_pointer() / "machines" / machine / "devices" / key;
  if (calibration.is_discarded() || !calibration.contains(path)) return std::nullopt;
  const auto& entry = calibration.at(path);
  if (entry.at("is_short").get<bool>()) return std::nullopt;
  return Bandwidths{entry.at("read_bytes_per_second"), entry.at("to_device_pinned_bytes_per_second"),
                    entry.at("to_host_pinned_bytes_per_second"), entry.at("mapped_bytes_per_second")};
}

}  // namespace diptych::bench
