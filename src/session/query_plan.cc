#include "session/query_plan.h"

#include <algorithm>

#include "base/stack.h"
#include "plan/optimizer.h"
#include "program/compiler.h"
#include "program/source_facts.h"

namespace diptych {

namespace {

// The order of joins goes by estimates that are this good at best. Tables of few rows grow by much and cost nothing.
constexpr int64_t most_growth = 2, few_rows = 1000;

bool is_another_size(int64_t planned, int64_t now) {
  return std::max(planned, now) - few_rows > std::min(planned, now) * most_growth;
}

}  // namespace

size_t PlanKey::bytes() const {
  size_t bytes = text.size();
  for (const Value& value : parameter_values)
    bytes += sizeof(Value) + (!value.is_null() && value.type().is_string() ? value.as_string().size() : 0);
  return bytes;
}

QueryPlan::QueryPlan(std::optional<PlanKey> key, std::vector<ColumnDefinition> columns, LogicalOperatorPtr plan)
    : key_(std::move(key)), columns_(std::move(columns)), plan_(std::move(plan)) {}

void QueryPlan::note(std::shared_ptr<const TabletSource>& place, std::vector<Slot>& slots) {
  // Other sources are VALUES, series and the one row without FROM, whose rows the text has.
  if (const auto* table = dynamic_cast<const TableSnapshot*>(place.get()))
    slots.push_back({&place, table->definition().name, table->row_count()});
}

void QueryPlan::optimize_with(Evaluator& evaluator) {
  plan_ = optimize(std::move(plan_), evaluator);
  is_optimized_ = true;
  if (!key_) return;
  run_at_depth(plan_->depth,
               [&] { for_each_operator(plan_, [&](LogicalOperatorPtr& op) { note(op->source, plan_slots_); }); });
}

void QueryPlan::compile_with(Evaluator& evaluator) {
  program_ = compile(*plan_, evaluator);
  version_ = 0;
  program_slots_.clear();
  if (!key_) return;
  for (std::shared_ptr<const TabletSource>& source : program_->sources) note(source, program_slots_);
}

bool QueryPlan::release_tables() noexcept {
  // Someone who holds the program still reads it.
  if (!key_ || program_ == nullptr || program_.use_count() > 1) return false;
  for (const Slot& slot : plan_slots_) slot.place->reset();
  for (const Slot& slot : program_slots_) slot.place->reset();
  return true;
}

bool QueryPlan::take_tables(const CatalogSnapshot& catalog) {
  for (const Slot& slot : plan_slots_) {
    *slot.place = catalog.find_table(slot.table);
    if (is_another_size(slot.rows, (*slot.place)->row_count())) return false;
  }
  for (const Slot& slot : program_slots_) *slot.place = catalog.find_table(slot.table);
  reused_ = Reused::PlanAndProgram;
  if (version_ == catalog.version()) return true;
  for (size_t i = 0; i < program_->sources.size(); ++i) {
    if (hold(program_->facts[i], *program_->sources[i])) continue;
    program_.reset();
    program_slots_.clear();
    reused_ = Reused::Plan;
    return true;
  }
  version_ = catalog.version();
  return true;
}

size_t QueryPlan::constants() const {
  size_t constants = 0;
  if (program_ == nullptr) return constants;
  for (const LookupTable& lookup : program_->lookups) constants += lookup.values.size();
  for (const ValueSet& set : program_->sets) constants += set.values.size();
  return constants;
}

}  // namespace diptych
