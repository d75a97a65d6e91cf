#include "cost/calibration.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/machine.h"

namespace diptych {
namespace {

using nlohmann::json;

constexpr int format_version = 1;

struct WorkInfo {
  const char* name;
  double row_ns, device_work;
};
constexpr WorkInfo work_infos[] = {
#define DIPTYCH_WORK_INFO(name, nanoseconds, device_work) {#name, nanoseconds, device_work},
    DIPTYCH_WORK_KINDS(DIPTYCH_WORK_INFO)
#undef DIPTYCH_WORK_INFO
};

// The figures of a device and their names in the file.
template <typename Calibration, typename Visit>
void for_each_figure(Calibration& calibration, const Visit& visit) {
  visit("read_bytes_per_second", calibration.read);
  visit("to_device_pinned_bytes_per_second", calibration.to_device_pinned);
  visit("to_device_pageable_bytes_per_second", calibration.to_device_pageable);
  visit("to_host_pinned_bytes_per_second", calibration.to_host_pinned);
  visit("to_host_pageable_bytes_per_second", calibration.to_host_pageable);
  visit("mapped_bytes_per_second", calibration.mapped);
  visit("launch_ns", calibration.launch_ns);
  visit("compile_ns", calibration.compile_ns);
  visit("multiply_ns", calibration.multiply_ns);
}

// A figure that is no positive number makes the file one that nobody trusts.
double positive(const json& object, const char* name) {
  const double value = object.at(name).get<double>();
  if (!(value > 0 && value < 1e18)) throw std::runtime_error(name);
  return value;
}

json to_json(const MachineCalibration& calibration) {
  json work = json::object(), devices = json::object();
  for (size_t kind = 0; kind < work_kind_count; ++kind) work[work_infos[kind].name] = calibration.host.row_ns[kind];
  for (const auto& [key, device] : calibration.devices) {
    json& entry = devices[key] = {{"is_short", device.is_short}};
    for_each_figure(device, [&](const char* name, double value) { entry[name] = value; });
  }
  return {{"host",
           {{"is_measured", calibration.host.is_measured},
            {"read_one_bytes_per_second", calibration.host.read_one},
            {"read_all_bytes_per_second", calibration.host.read_all},
            {"row_ns", work}}},
          {"devices", devices}};
}

MachineCalibration from_json(const json& machine) {
  MachineCalibration calibration;
  const json& host = machine.at("host");
  calibration.host.is_measured = host.at("is_measured").get<bool>();
  calibration.host.read_one = positive(host, "read_one_bytes_per_second");
  calibration.host.read_all = positive(host, "read_all_bytes_per_second");
  for (size_t kind = 0; kind < work_kind_count; ++kind)
    calibration.host.row_ns[kind] = positive(host.at("row_ns"), work_infos[kind].name);
  for (const auto& item : machine.at("devices").items()) {
    DeviceCalibration& device = calibration.devices[item.key()];
    device.is_short = item.value().at("is_short").get<bool>();
    for_each_figure(device, [&](const char* name, double& value) { value = positive(item.value(), name); });
  }
  return calibration;
}

// The whole file; an empty object when it can't be read.
json read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return json::object();
  json content = json::parse(file, nullptr, false);
  if (!content.is_object() || content.value("version", json()) != format_version) return json::object();
  return content;
}

// A file beside the calibration, of a name that no other writer has. Errors of all members: 58030.
class Draft {
 public:
  // Makes the folder, too, where it is missing.
  Draft(const std::string& path, const std::string& text) : target_(path), path_(name_beside(path)) {
    try {
      if (target_.has_parent_path()) std::filesystem::create_directories(target_.parent_path());
      if (std::filesystem::is_directory(target_)) throw Error(SqlState::io_error, path + " is a folder");
    } catch (const std::filesystem::filesystem_error& error) {
      throw Error(SqlState::io_error, error.what());
    }
    std::ofstream file(path_);
    file << text;
    file.close();
    if (file) return;
    remove();
    throw Error(SqlState::io_error, "cannot write " + path_.string());
  }
  ~Draft() { remove(); }
  Draft(const Draft&) = delete;

  void replace_file() const {
    std::error_code error;
    std::filesystem::rename(path_, target_, error);
    if (error) throw Error(SqlState::io_error, "cannot replace " + target_.string() + ": " + error.message());
  }

 private:
  static std::string name_beside(const std::string& path) {
    static std::atomic<int> drafts{0};
    return fmt::format("{}.{}.{}", path, getpid(), drafts++);
  }
  // What was renamed is not there any more.
  void remove() const {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }

  const std::filesystem::path target_, path_;
};

}  // namespace

HostCalibration::HostCalibration() {
  for (size_t kind = 0; kind < work_kind_count; ++kind) row_ns[kind] = work_infos[kind].row_ns;
}

const char* name_of(WorkKind kind) { return work_infos[static_cast<size_t>(kind)].name; }
double device_work_of(WorkKind kind) { return work_infos[static_cast<size_t>(kind)].device_work; }

std::string machine_key() {
  std::ifstream cpus("/proc/cpuinfo");
  std::string name = "processor";
  for (std::string line; std::getline(cpus, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) name = line.substr(colon + 2);
    break;
  }
  return fmt::format("{}, {} threads", name, machine_threads());
}

std::string calibration_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (const std::string path = variable("DIPTYCH_CALIBRATION"); !path.empty()) return path;
  if (const std::string folder = variable("XDG_CONFIG_HOME"); !folder.empty())
    return folder + "/diptych/calibration.json";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.config/diptych/calibration.json";
  return "";
}

std::optional<MachineCalibration> read_calibration(const std::string& path) {
  if (path.empty()) return std::nullopt;
  try {
    return from_json(read_file(path).at("machines").at(machine_key()));
  } catch (const std::exception&) {
    return std::nullopt;  // measured anew by whoever needs it
  }
}

// Another process, or another database of this one, may write at the same time: the file is replaced whole, so that
// readers see one or the other.
void write_calibration(const std::string& path, const MachineCalibration& calibration) {
  json content = read_file(path);
  content["version"] = format_version;
  if (!content["machines"].is_object()) content["machines"] = json::object();
  content["machines"][machine_key()] = to_json(calibration);
  const Draft draft(path, content.dump(2) + '\n');
  draft.replace_file();
}

void check_calibration_writable(const std::string& path) { const Draft draft(path, ""); }

}  // namespace diptych
