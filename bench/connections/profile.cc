#include "profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace bench {

void Profile::add(const std::string& document) {
  const nlohmann::json run = nlohmann::json::parse(document).at("run");
  std::lock_guard guard(mutex_);
  for (const auto& [key, value] : run.items()) add(key, value);
}

void Profile::add(const std::string& path, const nlohmann::json& value) {
  if (value.is_number()) sums_[path] += value.get<double>();
  if (value.is_object())
    for (const auto& [key, member] : value.items()) add(path + '.' + key, member);
  if (value.is_array())
    for (const auto& element : value) add(path + "[]", element);
}

void print_profiles(const Profile& alone, const Profile& together) {
  const auto of = [](const Profile& profile, const std::string& key) {
    const auto found = profile.sums().find(key);
    return found == profile.sums().end() ? 0.0 : found->second;
  };
  const double all = std::max(of(alone, "time.total_ns"), of(together, "time.total_ns"));
  std::map<std::string, double> keys = alone.sums();
  keys.insert(together.sums().begin(), together.sums().end());
  for (const auto& [key, sum] : keys) {
    const double before = of(alone, key), after = of(together, key);
    if (key.ends_with("_ns")) {
      if (std::max(before, after) >= all / 100)
        fmt::print("    {:<48}{:>12.1f} ms{:>12.1f} ms\n", key, before / 1e6, after / 1e6);
    } else if (before != after && !key.ends_with("per_second")) {
      fmt::print("    {:<48}{:>15.0f}{:>15.0f}\n", key, before, after);
    }
  }
}

}  // namespace bench
