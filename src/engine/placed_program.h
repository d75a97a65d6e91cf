// A run of a program as Engines has placed it: what was decided, and what it took.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/engines.h"
#include "engine/kept_decisions.h"
#include "engine/run/placed_run.h"

namespace diptych {

class Engines::PlacedProgram final : public PlacedRun {
 public:
  // to_keep: serves the next runs too, if this one goes as it was placed; nothing: it does already, or can't.
  PlacedProgram(Engines& engines, std::shared_ptr<const PlacementDecision> made,
                std::optional<KeptDecisions::Entry> to_keep);
  ~PlacedProgram() override;

  void add_time(int32_t address, int64_t nanoseconds) override {
    if (const auto number = decision->section_at(address))
      times_[decision->facts->sections[*number].chain] += nanoseconds;
  }
  void end() override;

  const std::shared_ptr<const PlacementDecision> decision;
  // By chain: all sections ran as they were placed, by the kernels that they will have.
  std::vector<bool> is_usual;

 private:
  Engines& engines_;
  std::optional<KeptDecisions::Entry> to_keep_;
  bool is_alone_ = false;            // no other program ran when this was placed
  std::map<size_t, int64_t> times_;  // by chain
};

}  // namespace diptych
