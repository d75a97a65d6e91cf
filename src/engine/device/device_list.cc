#include "engine/device/device_list.h"

#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/exit_hold.h"
#include "engine/device/cuda/cuda_driver.h"
#include "engine/device/opencl/opencl_device.h"

namespace diptych {
namespace {

constexpr std::string_view api_names[] = {"cuda", "opencl"};  // in the order of drivers_

[[noreturn]] void refuse(std::string_view id, const std::string& why) {
  throw Error(SqlState::invalid_parameter_value, "device \"" + std::string(id) + "\" can't be used: " + why);
}

// Digits without leading zeros.
bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos &&
         (text.size() == 1 || text.front() != '0');
}

std::string count_text(std::string_view api, int count) {
  if (count == 0) return "there is no such device";
  if (count == 1) return "there is one such device, " + std::string(api) + ":0";
  return "there are " + std::to_string(count) + " such devices, counted from 0";
}

}  // namespace

void DeviceList::load() {
  if (!drivers_.empty()) return;
  drivers_.push_back(std::make_unique<cuda::CudaDriver>());
  drivers_.push_back(std::make_unique<opencl::OpenClDriver>());
  ExitHold::note_libraries();
}

std::vector<DeviceInfo> DeviceList::infos() {
  std::lock_guard lock(mutex_);
  load();
  std::vector<DeviceInfo> all;
  for (const auto& driver : drivers_) {
    for (const DeviceInfo& info : driver->infos()) {
      all.push_back(info);
      if (info.unusable.empty()) all.back().unusable = driver->why_lost(info.number);
    }
  }
  return all;
}

std::vector<std::string> DeviceList::absent() {
  std::lock_guard lock(mutex_);
  load();
  std::vector<std::string> lines;
  for (size_t i = 0; i < drivers_.size(); i++)
    if (!drivers_[i]->absent().empty()) lines.push_back(std::string(api_names[i]) + ": " + drivers_[i]->absent());
  return lines;
}

DeviceList::Place DeviceList::locate(std::string_view id) const {
  const size_t colon = id.find(':');
  size_t api = 0;
  while (api < drivers_.size() && api_names[api] != id.substr(0, colon)) api++;
  const char* const names = "devices are called cuda, cuda:0, opencl, opencl:0 and so on";
  if (api == drivers_.size()) refuse(id, names);
  const DeviceDriver& driver = *drivers_[api];
  if (!driver.absent().empty()) refuse(id, driver.absent());
  const auto count = static_cast<int>(driver.infos().size());
  if (colon != std::string_view::npos) {
    const std::string_view digits = id.substr(colon + 1);
    if (!is_number(digits)) refuse(id, names);
    int number = 0;
    const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), number).ec;
    if (error != std::errc() || number >= count) refuse(id, count_text(api_names[api], count));
    const std::string& why = driver.infos()[static_cast<size_t>(number)].unusable;
    if (!why.empty()) refuse(id, why);
    return {api, number, driver.why_lost(number)};
  }
  std::string why = "there is no such device";
  std::optional<Place> first_lost;
  for (int number = 0; number < count; number++) {
    const DeviceInfo& info = driver.infos()[static_cast<size_t>(number)];
    if (number == 0) why = info.unusable;
    if (!info.unusable.empty()) continue;
    Place place{api, number, driver.why_lost(number)};
    if (place.lost.empty()) return place;
    if (!first_lost) first_lost = std::move(place);
  }
  if (first_lost) return *first_lost;
  refuse(id, why);
}

Device* DeviceList::find(std::string_view id) {
  std::string lost;
  Device* device = find_working(id, lost);
  if (device == nullptr) refuse(id, lost);
  return device;
}

Device* DeviceList::find_working(std::string_view id, std::string& lost) {
  std::lock_guard lock(mutex_);
  load();
  const Place place = locate(id);
  DeviceDriver& driver = *drivers_[place.driver];
  const std::string full_id = driver.infos()[static_cast<size_t>(place.number)].id();
  if (!place.lost.empty()) {
    lost = full_id + " is " + place.lost;
    return nullptr;
  }
  auto& device = open_[full_id];
  if (device == nullptr) device = driver.open(place.number);
  return device.get();
}

}  // namespace diptych
