#include "engine/kept_decisions.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace diptych {
namespace {

// Texts come and go; a decision more costs little.
constexpr size_t most_kept = 1024;

// A table that has changed by less than one of so many rows is as large as it was.
constexpr int64_t rows_a_change = 64;

KeptDecisions::Entry::Table size_of(const TabletSource& source) {
  // A file would be read to say so.
  if (source.read_by_cpu() != nullptr) return {};
  return {source.tablet_count() > 0 ? source.tablet_id(0) : 0, source.row_count()};
}

bool are_as_large(const std::vector<std::shared_ptr<const TabletSource>>& sources,
                  const std::vector<KeptDecisions::Entry::Table>& before) {
  return std::ranges::equal(sources, before, [](const auto& source, const KeptDecisions::Entry::Table& table) {
    const KeptDecisions::Entry::Table now = size_of(*source);
    return now.first_tablet == table.first_tablet && std::abs(now.rows - table.rows) <= table.rows / rows_a_change;
  });
}

}  // namespace

std::optional<size_t> PlacementDecision::section_at(int32_t address) const {
  for (size_t i = 0; i < facts->sections.size(); ++i)
    if (facts->sections[i].address == address) return i;
  return std::nullopt;
}

bool may_serve_again(const PlacementDecision& decision, bool is_asked_for) {
  if (!decision.not_found.empty()) return false;
  return std::ranges::all_of(decision.placement.chains, [is_asked_for](const ChainPlace& chain) {
    if (is_asked_for) return true;
    const bool is_settled = !chain.way || chain.way->is_settled;
    return is_settled && chain.is_known && !chain.is_trial && !chain.pays_rent;
  });
}

std::optional<KeptDecisions::Entry> KeptDecisions::entry_for(const ProgramRun& run, const PlacementChoice& choice,
                                                             uint64_t changes,
                                                             std::shared_ptr<const PlacementDecision> decision) {
  if (run.program.text_number == 0) return std::nullopt;
  Entry entry{std::move(decision), run.program.text_number, changes,           run.wanted, run.context.threads,
              choice.device,       choice.residency,        choice.gpu_engine, {}};
  for (const auto& source : run.program.sources) entry.tables.push_back(size_of(*source));
  return entry;
}

void KeptDecisions::keep(Entry entry) {
  const uint64_t number = entry.text_number;
  std::lock_guard guard(mutex_);
  if (entries_.size() >= most_kept && !entries_.contains(number)) entries_.clear();
  entries_.insert_or_assign(number, std::move(entry));
}

std::shared_ptr<const PlacementDecision> KeptDecisions::find(const ProgramRun& run, const PlacementChoice& choice,
                                                             uint64_t changes) {
  if (run.program.text_number == 0) return nullptr;
  std::lock_guard guard(mutex_);
  const auto found = entries_.find(run.program.text_number);
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  const bool serves = entry.changes == changes && entry.wanted == run.wanted && entry.threads == run.context.threads &&
                      entry.device == choice.device && entry.residency == choice.residency &&
                      entry.gpu_engine == choice.gpu_engine && are_as_large(run.program.sources, entry.tables);
  if (serves && entry.uses_left-- > 0) return entry.decision;
  entries_.erase(found);
  return nullptr;
}

void KeptDecisions::forget(uint64_t text_number) {
  std::lock_guard guard(mutex_);
  entries_.erase(text_number);
}

void KeptDecisions::clear() {
  std::lock_guard guard(mutex_);
  entries_.clear();
}

}  // namespace diptych
