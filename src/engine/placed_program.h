// A run of a program as Engines has placed it: what was asked, what was decided, and what it took.
#pragma once

#include <vector>

#include "engine/engines.h"
#include "engine/placement/place.h"
#include "engine/run/placed_run.h"

namespace diptych {

class Engines::PlacedProgram final : public PlacedRun {
 public:
  explicit PlacedProgram(Engines& engines);
  ~PlacedProgram() override;

  void add_time(int32_t address, int64_t nanoseconds) override {
    if (const auto number = section_at(address)) times_[facts->sections[*number].chain] += nanoseconds;
  }
  void end() override;

  std::optional<size_t> section_at(int32_t address) const {
    for (size_t i = 0; i < facts->sections.size(); ++i)
      if (facts->sections[i].address == address) return i;
    return std::nullopt;
  }

  std::shared_ptr<const ProgramFacts> facts;
  Placement placement;
  std::vector<Device*> devices;  // that sections were placed on, by number
  std::string not_found;         // why there is none of those that were asked for; empty: there is
  std::vector<uint64_t> chain_keys;
  // By chain: all sections ran as they were placed, by the kernels that they will have.
  std::vector<bool> is_usual;

 private:
  Engines& engines_;
  bool is_alone_ = false;            // no other program ran when this was placed
  std::map<size_t, int64_t> times_;  // by chain
};

}  // namespace diptych
