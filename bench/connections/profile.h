// What EXPLAIN (ANALYZE, FORMAT JSON) tells of many runs, added up.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace bench {

// Thread safety: add() may be called by many threads at once.
class Profile {
 public:
  // A document. Numbers of all elements of an array are one sum: "sections[].time.wait_ns".
  void add(const std::string& document);
  const std::map<std::string, double>& sums() const { return sums_; }

 private:
  void add(const std::string& path, const nlohmann::json& value);
  std::mutex mutex_;  // guards sums_
  std::map<std::string, double> sums_;
};

// A line for each sum that matters: times of at least a hundredth of all, and counts that differ.
void print_profiles(const Profile& alone, const Profile& together);

}  // namespace bench
