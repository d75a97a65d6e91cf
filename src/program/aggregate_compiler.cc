#include "program/aggregate_compiler.h"

#include <algorithm>

#include "base/error.h"
#include "plan/cardinality.h"
#include "tablet/dictionary.h"

namespace diptych {

namespace {

const Type bigint_type{TypeId::BigInt};
const Type double_type{TypeId::Double};

bool is_variance(AggregateFunction function) {
  return function >= AggregateFunction::StddevSamp && function <= AggregateFunction::VarPop;
}

bool is_root(AggregateFunction function) {
  return function == AggregateFunction::StddevSamp || function == AggregateFunction::StddevPop;
}

AggregateState exact_state(AggregateFunction function) {
  switch (function) {
    case AggregateFunction::StddevSamp: return AggregateState::ExactStddevSamp;
    case AggregateFunction::StddevPop: return AggregateState::ExactStddevPop;
    case AggregateFunction::VarSamp: return AggregateState::ExactVarSamp;
    case AggregateFunction::VarPop: return AggregateState::ExactVarPop;
    default: return AggregateState::ExactAvg;
  }
}

RegisterInfo result_of(AggregateState state, const RegisterInfo& argument, const Type& type, int64_t row_bound) {
  switch (state) {
    case AggregateState::CountStar:
    case AggregateState::Count: return {PhysicalType::Int64, bigint_type, false, true, 0, row_bound};
    case AggregateState::SumInt64: {
      const Range range = *mul(*range_of(argument), {0, row_bound});
      return {PhysicalType::Int64, type, true, true, range.low, range.high};
    }
    case AggregateState::SumInt128:
    case AggregateState::SumSquares:
    case AggregateState::ExactAvg:
    case AggregateState::ExactStddevSamp:
    case AggregateState::ExactStddevPop:
    case AggregateState::ExactVarSamp:
    case AggregateState::ExactVarPop: return {PhysicalType::Int128, type, true};
    case AggregateState::SumFloat64:
    case AggregateState::VarianceFloat64: return {PhysicalType::Float64, double_type, true};
    case AggregateState::BoolAnd:
    case AggregateState::BoolOr: return {PhysicalType::Bool, Type{TypeId::Boolean}, true};
    case AggregateState::Min:
    case AggregateState::Max: break;
  }
  RegisterInfo same = argument;
  same.nullable = true;
  return same;
}

}  // namespace

AggregateCompiler::AggregateCompiler(ProgramBuilder& builder, ExpressionCompiler& expressions,
                                     const LogicalOperator& op)
    : builder_(builder), expressions_(expressions), op_(op), calls_(op.aggregates.size()) {}

bool AggregateCompiler::is_distinct(const BoundAggregate& call) const {
  const bool matters = call.function != AggregateFunction::Min && call.function != AggregateFunction::Max &&
                       call.function != AggregateFunction::BoolAnd && call.function != AggregateFunction::BoolOr;
  return call.distinct && matters;
}

int64_t AggregateCompiler::distinct_values(const BoundAggregate& call) const {
  const double values = values_of(op_.input(), *call.argument).values;
  return whole_rows(std::min(op_.input().estimated_rows, op_.estimated_rows * values));
}

void AggregateCompiler::create_tables() {
  auto& tables = builder_.program().hash_tables;
  hash_ = static_cast<int32_t>(tables.size());
  tables.emplace_back().expected_groups = whole_rows(op_.estimated_rows);
  builder_.emit(Opcode::HashTable, hash_);
  for (size_t i = 0; i < op_.aggregates.size(); ++i) {
    if (!is_distinct(op_.aggregates[i])) continue;
    distinct_tables_.push_back({static_cast<int32_t>(tables.size()), i});
    tables.emplace_back().expected_groups = distinct_values(op_.aggregates[i]);
    builder_.emit(Opcode::HashTable, distinct_tables_.back().hash);
  }
}

int32_t AggregateCompiler::compile_keys(InputColumns& input, int32_t hash) {
  const int32_t block = builder_.new_block(op_.expressions.size());
  for (size_t i = 0; i < op_.expressions.size(); ++i) {
    const Expression& key = *op_.expressions[i];
    const int32_t number = block + static_cast<int32_t>(i);
    key_dictionaries_.push_back(ExpressionCompiler::dictionary_of(key, input));
    if (key_dictionaries_.back())
      expressions_.compile_code(key, input, number);
    else
      expressions_.compile_into(key, input, number);
    builder_.program().hash_tables[hash].keys.push_back(builder_.info(number));
  }
  return block;
}

// Where all aggregates are of distinct values, one table of these has all groups if each row comes into it, NULL too.
bool AggregateCompiler::has_all_groups(const DistinctTable& distinct) const {
  const auto is_kept = [&](const DistinctTable& other) { return !op_.aggregates[other.call].filter; };
  return distinct_tables_.size() == op_.aggregates.size() && is_kept(distinct) &&
         std::none_of(distinct_tables_.begin(), distinct_tables_.begin() + (&distinct - distinct_tables_.data()),
                      is_kept);
}

void AggregateCompiler::feed(InputColumns& input) {
  row_bound_ = input.row_bound;
  const int32_t keys = compile_keys(input, hash_);
  int32_t slot = -1;
  const auto key_count = static_cast<int32_t>(op_.expressions.size());
  const bool has_groups_of_distinct =
      std::any_of(distinct_tables_.begin(), distinct_tables_.end(),
                  [&](const DistinctTable& distinct) { return has_all_groups(distinct); });
  if (key_count > 0 && !has_groups_of_distinct) {
    slot = builder_.new_register({PhysicalType::Int32, Type{TypeId::Integer}, false});
    builder_.emit(Opcode::Group, slot, keys, hash_);
  }
  for (size_t i = 0; i < op_.aggregates.size(); ++i)
    if (!is_distinct(op_.aggregates[i])) feed_call(i, input, slot);
  for (const DistinctTable& distinct : distinct_tables_) {
    const BoundAggregate& call = op_.aggregates[distinct.call];
    Label skip;
    const size_t region = builder_.enter_region();
    if (call.filter) expressions_.jump_unless_true(*call.filter, input, skip, jump_keep);
    const int32_t block = builder_.new_block(op_.expressions.size() + 1);
    for (int32_t i = 0; i < key_count; ++i) {
      builder_.info(block + i) = RegisterInfo(builder_.info(keys + i));
      builder_.emit(Opcode::Move, block + i, keys + i);
    }
    expressions_.compile_into(*call.argument, input, block + key_count);
    if (key_count == 0 || !has_all_groups(distinct))
      builder_.emit_jump(Opcode::IfNull, block + key_count, 0, skip, jump_keep);
    HashTableInfo& distinct_table = builder_.program().hash_tables[distinct.hash];
    for (int32_t i = 0; i <= key_count; ++i) distinct_table.keys.push_back(builder_.info(block + i));
    const int32_t entry = builder_.new_register({PhysicalType::Int32, Type{TypeId::Integer}, false});
    builder_.emit(Opcode::Group, entry, block, distinct.hash);
    builder_.leave_region(region);
    builder_.bind(skip);
  }
}

void AggregateCompiler::feed_call(size_t number, InputColumns& input, int32_t slot) {
  const BoundAggregate& call = op_.aggregates[number];
  builder_.set_position(call.position);
  Label skip;
  const size_t region = builder_.enter_region();
  if (call.filter) expressions_.jump_unless_true(*call.filter, input, skip, jump_keep);
  const int32_t argument = call.argument ? expressions_.compile(*call.argument, input) : -1;
  feed_states(number, argument, slot, !call.filter);
  if (call.filter) {
    builder_.leave_region(region);
    builder_.bind(skip);
  }
}

void AggregateCompiler::feed_states(size_t number, int32_t argument, int32_t slot, bool shared) {
  const BoundAggregate& call = op_.aggregates[number];
  Call& states = calls_[number];
  switch (call.function) {
    case AggregateFunction::CountStar:
      states.count = state(AggregateState::CountStar, -1, bigint_type, slot, shared);
      return;
    case AggregateFunction::Count:
      states.count = state(AggregateState::Count, argument, bigint_type, slot, shared);
      return;
    case AggregateFunction::Min: states.other = state(AggregateState::Min, argument, call.type, slot, shared); return;
    case AggregateFunction::Max: states.other = state(AggregateState::Max, argument, call.type, slot, shared); return;
    case AggregateFunction::BoolAnd:
      states.other = state(AggregateState::BoolAnd, argument, call.type, slot, shared);
      return;
    case AggregateFunction::BoolOr:
      states.other = state(AggregateState::BoolOr, argument, call.type, slot, shared);
      return;
    default: break;
  }
  const Type exact = Type::numeric(max_precision, scale_of(builder_.info(argument).type));
  const bool is_float = builder_.info(argument).type.is_float();
  if (call.function != AggregateFunction::Sum && !fits_registers(call.function, argument)) {
    states.other = state(exact_state(call.function), argument, call.type, slot, shared);
    return;
  }
  if (is_variance(call.function) && is_float) {
    if (builder_.info(argument).physical == PhysicalType::Float32) argument = expressions_.cast(argument, double_type);
    states.squares = state(AggregateState::VarianceFloat64, argument, double_type, slot, shared);
  } else {
    states.sum = state(sum_state(argument), argument, exact, slot, shared);
  }
  if (call.function != AggregateFunction::Sum)
    states.count = state(AggregateState::Count, argument, bigint_type, slot, shared);
  if (is_variance(call.function) && !is_float) {
    const Type squared = Type::numeric(max_precision, std::min(2 * exact.scale, max_precision));
    states.squares = state(AggregateState::SumSquares, argument, squared, slot, shared);
  }
}

// 64 bits where the sum of all rows is proven to fit them.
AggregateState AggregateCompiler::sum_state(int32_t argument) const {
  const RegisterInfo& info = builder_.info(argument);
  if (info.type.is_float()) return AggregateState::SumFloat64;
  if (!info.type.is_number())
    throw Error(SqlState::feature_not_supported, "sum and avg of " + info.type.name() + " are not supported",
                builder_.position());
  const auto total = info.physical == PhysicalType::Int128 ? std::nullopt : mul(*range_of(info), {0, row_bound_});
  return total && total->within(int64_range) ? AggregateState::SumInt64 : AggregateState::SumInt128;
}

// Whether the states of an average or variance, and what is computed from them, are proven to fit 38 digits. Deviations
// of exact numbers never do: a root needs more digits of the quotient under it than the quotient shows.
bool AggregateCompiler::fits_registers(AggregateFunction function, int32_t argument) const {
  const RegisterInfo& info = builder_.info(argument);
  if (!range_of(info.type)) return true;
  if (is_root(function)) return false;
  const Range limit = *range_of(Type::numeric(max_precision, 0));
  const auto total = mul(*range_of(info), {0, row_bound_});
  if (!total || !total->within(limit)) return false;
  if (function == AggregateFunction::Avg) return true;
  const auto squared = mul(*total, *total);
  return squared && squared->within(limit) && 2 * scale_of(info.type) <= max_precision;
}

int AggregateCompiler::state(AggregateState kind, int32_t argument, const Type& type, int32_t slot, bool shared) {
  // Counting what is never NULL is counting rows.
  if (kind == AggregateState::Count && !builder_.info(argument).nullable) {
    kind = AggregateState::CountStar;
    argument = -1;
  }
  if (shared)
    for (const SharedState& known : shared_)
      if (known.state == kind && known.argument == argument) return known.position;
  const RegisterInfo argument_info = argument < 0 ? RegisterInfo{} : builder_.info(argument);
  const auto same = std::find_if(shared_.begin(), shared_.end(),
                                 [&](const SharedState& known) { return shared && known.argument == argument; });
  table().aggregates.push_back({kind, argument_info, result_of(kind, argument_info, type, row_bound_),
                                builder_.position(), same == shared_.end() ? -1 : same->position, row_bound_});
  const int position = static_cast<int>(table().aggregates.size()) - 1;
  builder_.emit(Opcode::Aggregate, hash_, argument, slot, static_cast<int64_t>(position));
  if (shared) shared_.push_back({kind, argument, position});
  return position;
}

// The distinct values of one call, grouped with their keys, go into the main table.
void AggregateCompiler::drain(const DistinctTable& distinct) {
  const std::vector<RegisterInfo> columns = builder_.program().hash_tables[distinct.hash].keys;
  const int32_t values = builder_.new_row_set({columns, {}, -1});
  builder_.emit(Opcode::Groups, values, distinct.hash);
  const int32_t cursor = builder_.open_rows(values, "distinct values", {});
  const int32_t parallel = builder_.emit(Opcode::Parallel, cursor);
  const int32_t block = builder_.new_block(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    builder_.info(block + static_cast<int32_t>(i)) = columns[i];
    builder_.emit(Opcode::Column, block + static_cast<int32_t>(i), static_cast<int32_t>(i));
  }
  int32_t slot = -1;
  if (columns.size() > 1) {
    slot = builder_.new_register({PhysicalType::Int32, Type{TypeId::Integer}, false});
    builder_.emit(Opcode::Group, slot, block, hash_);
  }
  feed_states(distinct.call, block + static_cast<int32_t>(columns.size()) - 1, slot, false);
  builder_.program().instructions[parallel].p3 = builder_.emit(Opcode::Converge);
  builder_.emit(Opcode::Drop, values);
}

int32_t AggregateCompiler::make_groups() {
  for (const DistinctTable& distinct : distinct_tables_) drain(distinct);
  RowSetInfo info;
  info.columns = table().keys;
  for (const AggregateInfo& aggregate : table().aggregates) info.columns.push_back(aggregate.result);
  const int32_t groups = builder_.new_row_set(std::move(info));
  builder_.emit(Opcode::Groups, groups, hash_);
  return groups;
}

InputColumns AggregateCompiler::group_columns() {
  std::vector<ColumnId> keys;
  for (size_t i = 0; i < op_.expressions.size(); ++i) keys.push_back(op_.columns[i].id);
  InputColumns input = cursor_columns(builder_, keys, table().keys, key_dictionaries_);
  input.row_bound = op_.expressions.empty() ? 1 : row_bound_;
  for (size_t i = 0; i < calls_.size(); ++i) {
    InputColumn column;
    column.type = op_.aggregates[i].type;
    column.load = [this, i](int32_t target, const PhysicalType*) { return value_of(i, target); };
    input.add(op_.aggregates[i].id, std::move(column));
  }
  return input;
}

int32_t AggregateCompiler::load_state(int position, const PhysicalType* physical) {
  RegisterInfo info = table().aggregates[position].result;
  if (physical) info.physical = *physical;
  const int32_t number = builder_.new_register(info);
  builder_.emit(Opcode::Column, number, static_cast<int32_t>(table().keys.size()) + position);
  return number;
}

int32_t AggregateCompiler::value_of(size_t number, int32_t target) {
  const BoundAggregate& aggregate = op_.aggregates[number];
  const Call& call = calls_[number];
  builder_.set_position(aggregate.position);
  const int32_t value = call.other >= 0 ? load_state(call.other) : value_of_states(call, aggregate);
  if (target < 0) return value;
  builder_.info(target) = RegisterInfo(builder_.info(value));
  builder_.emit(Opcode::Move, target, value);
  return target;
}

int32_t AggregateCompiler::value_of_states(const Call& call, const BoundAggregate& aggregate) {
  switch (aggregate.function) {
    case AggregateFunction::CountStar:
    case AggregateFunction::Count: return load_state(call.count);
    case AggregateFunction::Sum: return expressions_.cast(load_state(call.sum), aggregate.type);
    case AggregateFunction::Avg: return average(call, aggregate.type);
    default: return variance(call, aggregate);
  }
}

int32_t AggregateCompiler::average(const Call& call, const Type& type) {
  const int32_t sum = load_state(call.sum);
  int32_t count = load_state(call.count);
  if (!type.is_float())
    return expressions_.divide_numeric(sum, count, type.scale - scale_of(builder_.info(sum).type), type);
  count = expressions_.cast(count, double_type);
  return expressions_.cast(expressions_.arithmetic(ExpressionKind::Div, sum, count, double_type), type);
}

int32_t AggregateCompiler::variance(const Call& call, const BoundAggregate& aggregate) {
  const bool sample =
      aggregate.function == AggregateFunction::StddevSamp || aggregate.function == AggregateFunction::VarSamp;
  // The count, or NULL when there are too few values: everything computed from it is NULL then.
  const int32_t count = load_state(call.count);
  const RegisterInfo nullable_count{PhysicalType::Int64, bigint_type, true};
  const int32_t guarded = builder_.new_register(nullable_count), null = builder_.new_register(nullable_count);
  builder_.emit(Opcode::Null, null);
  builder_.emit(Opcode::Move, guarded, null);
  const PhysicalType wide = PhysicalType::Int64;
  const int32_t least = expressions_.load_constant(Value::bigint(sample ? 1 : 0), -1, &wide);
  Label too_few;
  builder_.emit_jump(Opcode::Le, count, least, too_few, jump_keep);
  builder_.emit(Opcode::Move, guarded, count);
  builder_.bind(too_few);
  if (!aggregate.type.is_float()) return exact_variance(call, sample, aggregate.type, guarded);
  const int32_t squares = load_state(call.squares);
  const int32_t divisor = sample ? expressions_.arithmetic(ExpressionKind::Sub, guarded, least, bigint_type) : guarded;
  const int32_t quotient =
      expressions_.arithmetic(ExpressionKind::Div, squares, expressions_.cast(divisor, double_type), double_type);
  return is_root(aggregate.function) ? expressions_.call(FunctionId::sqrt_f64, {quotient}, double_type) : quotient;
}

// (n * sum(x^2) - sum(x)^2) / (n * (n - 1)), exact up to the division; sample: n - 1, population: n.
int32_t AggregateCompiler::exact_variance(const Call& call, bool sample, const Type& type, int32_t count) {
  const int32_t sum = load_state(call.sum);
  const int32_t squares = load_state(call.squares);
  const Type exact = builder_.info(squares).type;
  const Type whole = Type::numeric(max_precision, 0);
  const int32_t left = expressions_.arithmetic(ExpressionKind::Mul, count, squares, exact);
  const int32_t right = expressions_.arithmetic(ExpressionKind::Mul, sum, sum, exact);
  const int32_t numerator = expressions_.arithmetic(ExpressionKind::Sub, left, right, exact);
  int32_t factor = count;
  if (sample) {
    const PhysicalType wide = PhysicalType::Int64;
    factor = expressions_.arithmetic(ExpressionKind::Sub, count,
                                     expressions_.load_constant(Value::bigint(1), -1, &wide), bigint_type);
  }
  const int32_t divisor = expressions_.arithmetic(ExpressionKind::Mul, count, factor, whole);
  return expressions_.divide_numeric(numerator, divisor, type.scale - exact.scale, type);
}

int32_t look_up_text(ProgramBuilder& builder, int32_t code, const Dictionary& dictionary, bool nullable,
                     int32_t target) {
  const RegisterInfo text{PhysicalType::Text, Type{TypeId::Text}, nullable};
  auto& lookups = builder.program().lookups;
  lookups.push_back({text, {}, &dictionary});
  if (target < 0)
    target = builder.new_register(text);
  else
    builder.info(target) = text;
  builder.emit(Opcode::Lookup, target, code, static_cast<int32_t>(lookups.size()) - 1);
  return target;
}

InputColumns cursor_columns(ProgramBuilder& builder, const std::vector<ColumnId>& ids,
                            const std::vector<RegisterInfo>& columns,
                            const std::vector<const Dictionary*>& code_columns) {
  InputColumns input;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    const RegisterInfo info = columns[i];
    const auto load = [&builder, info, index](int32_t target, const PhysicalType* physical) {
      RegisterInfo wanted = info;
      if (physical && range_of(info.type)) wanted.physical = *physical;
      if (target < 0)
        target = builder.new_register(wanted);
      else
        builder.info(target) = wanted;
      builder.emit(Opcode::Column, target, index);
      return target;
    };
    InputColumn column;
    column.type = info.type;
    column.reloadable = true;
    column.load = load;
    const Dictionary* dictionary = i < code_columns.size() ? code_columns[i] : nullptr;
    if (dictionary) {  // the cursor shows codes: the string is looked up
      column.type = Type{TypeId::Text};
      column.dictionary = dictionary;
      column.load_code = [load](int32_t target) { return load(target, nullptr); };
      column.load = [&builder, load, dictionary, info](int32_t target, const PhysicalType*) {
        return look_up_text(builder, load(-1, nullptr), *dictionary, info.nullable, target);
      };
    }
    input.add(ids[i], std::move(column));
  }
  return input;
}

}  // namespace diptych
