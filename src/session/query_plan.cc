#include "session/query_plan.h"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "base/error.h"
#include "base/stack.h"
#include "plan/cardinality.h"
#include "plan/optimizer.h"
#include "plan/selectivity.h"
#include "program/compiler.h"
#include "program/parameters.h"
#include "program/source_facts.h"
#include "tablet/values.h"

namespace diptych {

namespace {

// The order of joins goes by estimates that are this good at best. Tables of few rows grow by much and cost nothing.
constexpr int64_t most_growth = 2, few_rows = 1000;

// What a condition leaves is known less well.
constexpr int64_t most_other_rows = 100;

bool is_another_size(int64_t planned, int64_t now, int64_t most_times = most_growth) {
  return std::max(planned, now) - few_rows > std::min(planned, now) * most_times;
}

std::atomic<uint64_t> last_program_number{0};

bool has_parameters(Expression& expression) {
  bool has = false;
  for_each_parameter(expression, [&](Expression&) { has = true; });
  return has;
}

void set_values(Expression& expression, const std::vector<Value>& parameters) {
  for_each_parameter(
      expression, [&](Expression& parameter) { parameter.value = parameters[static_cast<size_t>(parameter.index)]; });
}

// The values of the expressions over parameters; nullopt: one is NULL, raises an error, or a fact does not hold.
std::optional<std::vector<Value>> compute(const std::vector<ExpressionPtr>& expressions,
                                          const std::vector<PlanFact>& facts, const std::vector<Value>& parameters,
                                          Evaluator& evaluator) {
  for (const ExpressionPtr& expression : expressions) set_values(*expression, parameters);
  for (const PlanFact& fact : facts) set_values(*fact.expression, parameters);
  std::vector<const Expression*> all;
  for (const ExpressionPtr& expression : expressions) all.push_back(expression.get());
  for (const PlanFact& fact : facts)
    if (fact.value) all.push_back(fact.expression.get());
  std::vector<Value> values;
  try {
    if (!all.empty()) values = evaluator.evaluate(all, make_value_source({}, {}, 1), {});
  } catch (const Error&) {
    return std::nullopt;
  }
  size_t place = expressions.size();
  for (const PlanFact& fact : facts) {
    const bool holds = fact.value ? values[place++] == *fact.value : !try_evaluate(*fact.expression, evaluator);
    if (!holds) return std::nullopt;
  }
  values.resize(expressions.size());
  if (std::any_of(values.begin(), values.end(), [](const Value& value) { return value.is_null(); }))
    return std::nullopt;
  return values;
}

}  // namespace

size_t PlanKey::bytes() const {
  size_t bytes = text.size();
  for (const std::optional<Value>& value : parameter_values) {
    const bool is_text = value && !value->is_null() && value->type().is_string();
    bytes += sizeof(value) + (is_text ? value->as_string().size() : 0);
  }
  return bytes;
}

QueryPlan::QueryPlan(std::optional<PlanKey> key, std::optional<RowChange> change, std::vector<ColumnDefinition> columns,
                     LogicalOperatorPtr plan, std::vector<Value> parameters)
    : key_(std::move(key)),
      change_(std::move(change)),
      columns_(std::move(columns)),
      plan_(std::move(plan)),
      values_(std::move(parameters)),
      given_(values_.size()) {}

void QueryPlan::note(std::shared_ptr<const TabletSource>& place, std::vector<Slot>& slots) {
  // Other sources are VALUES, series and the one row without FROM, whose rows the text has.
  if (const auto* table = dynamic_cast<const TableSnapshot*>(place.get()))
    slots.push_back({&place, address_of(*table), table->live_rows()});
}

void QueryPlan::optimize_with(Evaluator& evaluator) {
  plan_ = optimize(std::move(plan_), evaluator);
  facts_ = evaluator.take_facts();
  is_optimized_ = true;
  run_at_depth(plan_->depth, [&] {
    for_each_expression_in_plan(*plan_, [&](ExpressionPtr& expression) {
      for_each_parameter(*expression, [&](Expression& parameter) { note(parameter); });
    });
  });
  if (!key_) return;
  bool has_joins = false;
  run_at_depth(plan_->depth, [&] {
    for_each_operator(plan_, [&](LogicalOperatorPtr& op) {
      note(op->source, plan_slots_);
      has_joins = has_joins || op->kind == OperatorKind::Join;
      if (op->kind == OperatorKind::Filter && has_parameters(*op->predicate)) filters_.push_back(op.get());
    });
  });
  if (!has_joins) filters_.clear();
}

// Gives it a number, if it is computed from others.
void QueryPlan::note(Expression& parameter) {
  parameters_.push_back(&parameter);
  if (parameter.args.empty()) return;
  const auto known = std::find_if(computed_.begin(), computed_.end(),
                                  [&](const auto& one) { return one->equals(*parameter.args.front()); });
  parameter.index = static_cast<int32_t>(given_) + static_cast<int32_t>(known - computed_.begin());
  if (known != computed_.end()) return;
  computed_.push_back(parameter.args.front()->clone());
  values_.push_back(parameter.value);
}

bool QueryPlan::replaces(const QueryPlan& other) const {
  return *key_ == *other.key_ && std::equal(facts_.begin(), facts_.end(), other.facts_.begin(), other.facts_.end(),
                                            [](const PlanFact& a, const PlanFact& b) { return a.value == b.value; });
}

bool QueryPlan::take_values(const std::vector<Value>& parameters, Evaluator& evaluator) {
  std::vector<Value> values = parameters;
  if (!computed_.empty() || !facts_.empty()) {
    std::optional<std::vector<Value>> computed = compute(computed_, facts_, parameters, evaluator);
    if (!computed) return false;
    std::move(computed->begin(), computed->end(), std::back_inserter(values));
  }
  values_ = std::move(values);
  return true;
}

void QueryPlan::tell_values() {
  for (Expression* parameter : parameters_) parameter->value = values_[static_cast<size_t>(parameter->index)];
}

bool QueryPlan::estimates_hold() {
  if (filters_.empty()) return true;
  tell_values();
  return std::none_of(filters_.begin(), filters_.end(), [](const LogicalOperator* filter) {
    const double now = filter->input().estimated_rows * part_of(*filter->predicate, filter->input());
    return is_another_size(whole_rows(filter->estimated_rows), whole_rows(std::max(1.0, now)), most_other_rows);
  });
}

void QueryPlan::compile_with(Evaluator& evaluator) {
  tell_values();
  preparation_.reset();
  program_ = compile(*plan_, evaluator);
  program_values_ = values_;
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
    *slot.place = find_table(catalog, slot.table);
    if (is_another_size(slot.rows, (*slot.place)->live_rows())) return false;
  }
  if (!estimates_hold()) return false;
  for (const Slot& slot : program_slots_) *slot.place = find_table(catalog, slot.table);
  reused_ = Reused::PlanAndProgram;
  const bool is_same = version_ == catalog.version() && values_ == program_values_;
  if (is_same || (program_holds(catalog) && put_parameters(*program_, values_))) {
    if (values_ != program_values_) preparation_.reset();
    number_program(is_same);
    version_ = catalog.version();
    program_values_ = values_;
    return true;
  }
  preparation_.reset();
  program_.reset();
  program_slots_.clear();
  reused_ = Reused::Plan;
  return true;
}

// Only what comes again with the same constants has something to keep.
void QueryPlan::number_program(bool is_same) {
  uint64_t &text = program_->text_number, &number = program_->number;
  if (values_ != program_values_)
    text = number = 0;
  else if (!is_same || number == 0)
    number = ++last_program_number;
  if (text == 0) text = number;
}

bool QueryPlan::program_holds(const CatalogSnapshot& catalog) const {
  if (version_ == catalog.version()) return true;
  for (size_t i = 0; i < program_->sources.size(); ++i)
    if (!hold(program_->facts[i], *program_->sources[i])) return false;
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
