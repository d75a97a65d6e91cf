// SHOW devices.
#include <fmt/format.h>

#include "base/machine.h"
#include "session/commands.h"

namespace diptych {
namespace {

const Type text_type{TypeId::Text};

Value text_value(std::string text) { return text.empty() ? Value::null(text_type) : Value::text(std::move(text)); }

std::string gigabytes(double bytes, const char* unit) {
  return bytes > 0 ? fmt::format("{:.1f} {}", bytes * 1e-9, unit) : "";
}

void add_row(std::vector<Value>& cells, std::initializer_list<std::string> row) {
  for (const std::string& cell : row) cells.push_back(text_value(cell));
}

void add_device(std::vector<Value>& cells, const DeviceInfo& device, const std::optional<DeviceCalibration>& profile) {
  const double rate = profile && !profile->is_short ? profile->read : 0;
  add_row(cells, {device.id(), device.name, gigabytes(static_cast<double>(device.memory_bytes), "GB"),
                  gigabytes(rate, "GB/s"), device.driver, device.unusable});
}

}  // namespace

std::vector<Value> device_cells(Connection& connection) {
  Engines& engines = connection.database().engines();
  std::vector<Value> cells;
  const HostCalibration host = engines.calibrations().host();
  add_row(cells, {"cpu", machine_key(), gigabytes(static_cast<double>(machine_memory_bytes()), "GB"),
                  gigabytes(host.is_measured ? host.read_all : 0, "GB/s"), "", ""});
  for (const DeviceInfo& device : engines.devices().infos())
    add_device(cells, device, engines.calibrations().find(device));
  for (const std::string& line : engines.devices().absent()) {
    const size_t colon = line.find(": ");
    add_row(cells, {line.substr(0, colon), "", "", "", "", line.substr(colon + 2)});
  }
  return cells;
}

}  // namespace diptych
